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
    titles = {
        _panel(name, prior): _title(name, prior)
        for name, prior in rows.select("measure", "prior").unique(maintain_order=True).iter_rows()
    }
    named = [_panel(name, prior) for name, prior in rows.select("measure", "prior").iter_rows()]
    drawn = rows.select(
        *keys, PERIOD, pl.Series("quantity", named, pl.String), "estimate", "lower", "upper",
        pl.lit(None, pl.String).alias("alarm"),
    )  # fmt: skip
    return over_time(drawn, [*keys, PERIOD], titles, title, colours)


def _panel(name: str, prior: float | None) -> str:
    return f"{name} {prior}"


def _title(name: str, prior: float | None) -> str:
    return label(name) if prior is None else f"{label(name)} at {prior:.3g}"
