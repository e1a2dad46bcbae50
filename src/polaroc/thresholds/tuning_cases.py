"""Refuse thresholds that would be judged on cases that they were chosen on."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import single_column
from polaroc.base.joins import join_on
from polaroc.errors import InvalidTable
from polaroc.thresholds.saved import fingerprint
from polaroc.typing import IntoExpr

# Scores tell cases apart where most of them differ and there are enough cases: that other cases
# have the same scores and classes by chance is then less likely than one in a million.
DISTINCT, ENOUGH = 0.9, 10
OTHERS = "give other cases as tuning."
JUDGED = "the thresholds would be judged on the cases they were chosen on."


def refuse_tuning_cases(judging: pl.DataFrame, tuning: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse curves of the same cases, and of cases one of which are all among the other's.

    Examples
    --------
    >>> import polaroc as pr
    >>> rows = pr.datasets.twenty_scores()
    >>> some, all_rows = (pr.curve(one, truth="truth", score="score") for one in (rows[::2], rows))
    >>> refuse_tuning_cases(all_rows, some, [])
    Traceback (most recent call last):
        ...
    polaroc.errors.InvalidTable: all cases of tuning are among the predictions: ...
    """
    if fingerprint(tuning, keys) == fingerprint(judging, keys):
        raise InvalidTable(f"predictions and tuning are the same cases: {JUDGED}", hint=OTHERS)
    judged, tuned = _cells(judging), _cells(tuning)
    if _tells_apart(judged) and _tells_apart(tuned):
        _refuse_contained(judged, tuned, [*keys, "threshold"], ["pos", "neg"])


def refuse_tuning_rows(
    judging: pl.LazyFrame, tuning: pl.LazyFrame, case: str, columns: Sequence[IntoExpr]
) -> None:
    """Refuse rows of the same case that are alike in `columns`, such as truth and scores."""
    if not all(case in table.collect_schema() for table in (judging, tuning)):
        return
    names = [f"column_{i}" for i in range(len(columns) + 1)]
    parts = [
        single_column(column, "score").alias(name)
        for name, column in zip(names, (case, *columns), strict=True)
    ]
    judged, tuned = (table.select(*parts, rows=1).collect() for table in (judging, tuning))
    if judged.schema == tuned.schema:
        _refuse_contained(judged, tuned, names, ["rows"])


def _cells(curves: pl.DataFrame) -> pl.DataFrame:
    return curves.filter(pl.col("threshold").is_not_null())


def _tells_apart(cells: pl.DataFrame) -> bool:
    cases = cells.select(pl.col("pos", "neg").sum()).row(0)
    return bool(sum(cases) >= ENOUGH and cells.height >= DISTINCT * sum(cases))


def _refuse_contained(
    judging: pl.DataFrame, tuning: pl.DataFrame, on: Sequence[str], counts: Sequence[str]
) -> None:
    for part, whole, names in (
        (tuning, judging, ("tuning", "the predictions")),
        (judging, tuning, ("the predictions", "tuning")),
    ):
        of_whole = whole.select(*on, pl.col(counts).name.suffix("_whole"))
        matched = join_on(part, of_whole, on, "left")
        among = pl.all_horizontal(pl.col(name) <= pl.col(f"{name}_whole") for name in counts)
        if matched.height and matched.select(among.fill_null(False).all()).item():
            raise InvalidTable(
                f"all cases of {names[0]} are among {names[1]}: {JUDGED}", hint=OTHERS
            )
