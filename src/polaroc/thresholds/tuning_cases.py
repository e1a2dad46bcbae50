"""Cases that thresholds were chosen on, among those that they are judged on."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polaroc.base.columns import with_key_types
from polaroc.base.private_columns import private
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import Cases
from polaroc.thresholds.saved import fingerprint

# Scores tell cases apart where most of them differ and there are enough cases: that other cases
# have the same scores and classes by chance is then less likely than one in a million.
DISTINCT, ENOUGH = 0.9, 10
OTHERS = "give other cases as tuning."
SAME = "predictions and tuning are the same cases"
JUDGED = "the thresholds would be judged on the cases they were chosen on."
SHARED = {
    "case": "{}: where they are the same cases, thresholds were judged on cases that they were "
    "chosen on.",
    "cluster": "{}: where they are the same ones, new ones may do worse than the rates say.",
}
AT, ROWS = private("at"), private("rows")


def with_model_type(tuning: Cases[pl.DataFrame], cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The tuning cases, with the names of models in the type that they have in the other cases."""
    if tuning.model is None or cases.model is None:
        return tuning
    rows = with_key_types(tuning.rows.lazy(), cases.rows.schema, [tuning.model])
    return replace(tuning, rows=rows.collect())


def shared_with_tuning(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> list[str]:
    """Warnings of cases, and of clusters, that are in both tables.

    Raises
    ------
    InvalidTable
        Where all cases of one table are in the other, with their truth and scores.
    """
    if "case" in cases.names and "case" in tuning.names:
        _refuse_rows(cases, tuning)
    warnings = []
    for role, warning in SHARED.items():
        judged, tuned = _values(role, cases, tuning), _values(role, tuning, cases)
        if judged is None or tuned is None or not _is_one_type(judged.dtype, tuned.dtype):
            continue
        values = judged.drop_nulls().unique()
        if both := values.is_in(tuned.unique().implode()).sum():
            name = quoted(cases.names.get(role) or tuning.names[role])
            shared = f"{both:,} of the {values.len():,} values of {name} are in tuning, too"
            warnings.append(warning.format(shared))
    return warnings


def _values(role: str, cases: Cases[pl.DataFrame], other: Cases[pl.DataFrame]) -> pl.Series | None:
    """The values of a role, else of the column that has it in the other table, if there are any."""
    if role in cases.names:
        return cases.rows[role]
    (name,) = other.names.get(role, [""])
    if (
        role in cases.columns and cases.columns[role] is None
    ) or name not in cases.source.lazy().collect_schema():
        return None
    values: pl.Series = cases.source.lazy().select(name).collect().to_series()
    return values


def _is_one_type(one: pl.DataType, other: pl.DataType) -> bool:
    return one == other or (one.is_integer() and other.is_integer())


def _refuse_rows(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> None:
    """Refuse tables of which one has all cases of the other, alike in truth and scores."""
    of_both = ("case", "truth", "model", "score")
    judged, tuned = (
        held.rows.select(*(name for name in of_both if name in held.rows), pl.lit(1).alias(ROWS))
        for held in (cases, tuning)
    )
    if judged.schema == tuned.schema:
        _refuse_contained(judged, tuned, judged.columns[:-1], [ROWS])


def refuse_tuning_cases(judging: pl.DataFrame, tuning: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse curves of the same cases, and of cases one of which are all among the other's."""
    if fingerprint(tuning, keys) == fingerprint(judging, keys):
        raise InvalidTable(f"{SAME}: {JUDGED}", hint=OTHERS)
    judged, tuned = _cells(judging), _cells(tuning)
    if _tells_apart(judged) and _tells_apart(tuned):
        _refuse_contained(judged, tuned, [*keys, "threshold"], ["pos", "neg"])


def _cells(curves: pl.DataFrame) -> pl.DataFrame:
    return curves.filter(pl.col("threshold").is_not_null())


def _tells_apart(cells: pl.DataFrame) -> bool:
    cases = cells.select(pl.col("pos", "neg").sum()).row(0)
    return bool(sum(cases) >= ENOUGH and cells.height >= DISTINCT * sum(cases))


def _refuse_contained(
    judging: pl.DataFrame, tuning: pl.DataFrame, on: Sequence[str], counts: Sequence[str]
) -> None:
    """Refuse tables of which one has all cases of the other."""
    sizes = [table.select(pl.col(counts).sum()).row(0) for table in (judging, tuning)]
    for part, whole, words in (
        (tuning, judging, "all cases of tuning are among the predictions"),
        (judging, tuning, "all cases of the predictions are among tuning"),
    ):
        of_whole = whole.select(*on, pl.col(counts).name.suffix("_whole"))
        matched = part.join(of_whole, on=on, how="left", nulls_equal=True)
        among = pl.all_horizontal(pl.col(name) <= pl.col(f"{name}_whole") for name in counts)
        if matched.height and matched.select(among.fill_null(False).all()).item():
            raise InvalidTable(f"{SAME if sizes[0] == sizes[1] else words}: {JUDGED}", hint=OTHERS)
