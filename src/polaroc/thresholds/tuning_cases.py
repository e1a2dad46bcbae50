"""Refuse thresholds that would be judged on cases that they were chosen on."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import single_column
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
    cells = [_cells(curves) for curves in (judging, tuning)]
    if all(_tells_apart(of) for of in cells):
        _refuse_contained(*cells, [*keys, "threshold"], ["pos", "neg"])


def refuse_tuning_rows(
    judging: pl.LazyFrame, tuning: pl.LazyFrame, case: str, columns: Sequence[IntoExpr]
) -> None:
    """Refuse rows of the same case that are alike in `columns`, such as truth and scores."""
    schemas = [table.collect_schema() for table in (judging, tuning)]
    if not all(case in schema for schema in schemas):
        return
    rows = [
        table.select(
            pl.col(case), *(single_column(column, "score").alias(f"column_{i}")
                            for i, column in enumerate(columns)),
        ).with_columns(pl.lit(1).alias("rows")).collect()
        for table in (judging, tuning)
    ]  # fmt: skip
    if rows[0].schema == rows[1].schema:
        _refuse_contained(*rows, [name for name in rows[0].columns if name != "rows"], ["rows"])


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
        found = part.join(whole, on=on, how="left", suffix="_whole", nulls_equal=True)
        among = pl.all_horizontal(pl.col(name) <= pl.col(f"{name}_whole") for name in counts)
        if found.height and found.select(among.fill_null(False).all()).item():
            raise InvalidTable(
                f"all cases of {names[0]} are among {names[1]}: {JUDGED}", hint=OTHERS
            )
