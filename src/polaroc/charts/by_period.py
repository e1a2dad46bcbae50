"""Chart of measures by period."""

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import INTERVAL, MEASURE_COLUMNS, as_lazy, require
from polaroc.charts.libraries import alt
from polaroc.charts.monitoring import over_time
from polaroc.charts.options import checked
from polaroc.errors import InvalidTable
from polaroc.measures.catalog import label

PERIOD = "period"
NEEDED = ("measure", "prior", "estimate", "lower", "upper")


@checked
def periods(
    table: pl.LazyFrame | pl.DataFrame,
    title: str = "Measures by period",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.VConcatChart":
    """Measures by period, one panel for each measure and prior.

    Parameters
    ----------
    table
        The `table` of `periods`, or that of `walk_forward`.

    Returns
    -------
    altair.VConcatChart
        The estimates of each key with their limits as bands, which end where there are none.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of the table are missing; for more than 20,000 points.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "month": [1, 2] * 8, "truth": [1, 1, 0, 0] * 4, "score": [*range(16)],
    ... })
    >>> found = pr.periods(table, truth="truth", score="score", time="month", measures="auc")
    >>> len(pr.charts.periods(found.table).to_dict()["vconcat"])
    1
    """
    lazy = as_lazy(table)
    others = require(lazy, NEEDED, source="periods(...).table")
    own = (PERIOD, *MEASURE_COLUMNS, *INTERVAL, "level", "threshold", "promised")
    if PERIOD not in others:
        raise InvalidTable("the table has no column 'period'.", hint="pass periods(...).table.")
    keys = [key for key in others if key not in own]
    rows = lazy.collect()
    # Of priors that are those of the periods there is one for each.
    several = rows.group_by(*keys, PERIOD, "measure").len().filter(pl.col("len") > 1)["measure"]
    named = [
        f"{name} {prior}" if name in several else name
        for name, prior in rows.select("measure", "prior").iter_rows()
    ]
    titles: dict[str, set[tuple[str, float | None]]] = {}
    for panel, name, prior in zip(named, rows["measure"], rows["prior"], strict=True):
        titles.setdefault(panel, set()).add((name, prior))
    drawn = rows.select(
        *keys, PERIOD, pl.Series("quantity", named, pl.String), "estimate", "lower", "upper",
        pl.lit(None, pl.String).alias("alarm"),
    )  # fmt: skip
    in_words = {panel: _title(*own) for panel, own in titles.items()}
    return over_time(drawn, [*keys, PERIOD], in_words, title, colours)


def _title(*own: tuple[str, float | None]) -> str:
    """The measure of a panel, and its prior where it has one."""
    name, prior = own[0]
    return label(name) if prior is None or len(own) > 1 else f"{label(name)} at {prior:.3g}"
