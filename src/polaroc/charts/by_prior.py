"""Chart of the area under the precision-recall curve against the prior."""

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import COVERAGE, MEASURE_COLUMNS, as_lazy, require
from polaroc.charts.layers import finished
from polaroc.charts.libraries import alt
from polaroc.charts.options import checked
from polaroc.charts.over_prior import (
    lines_by_prior,
    prior_axis,
    prior_bands,
    prior_lines,
    same_prior,
)
from polaroc.charts.theme import SIZE, share_axis, style
from polaroc.comparison.measure_rows import fold_means

LIMITS = ("lower", "upper")


@checked
def auprec_by_prior(
    measures: pl.LazyFrame | pl.DataFrame,
    title: str = "Area under the precision-recall curve by prior",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.LayerChart":
    """AUPREC against the prior: how much a model loses as positives get rarer.

    Parameters
    ----------
    measures
        Tidy measures with rows of "auprec" at several priors. The first key
        gives the colour; with more keys, such as folds, each has a thin line
        and their mean a thick one, at the priors they share. Where the table has
        `lower` and `upper`, a key of its own colour has a band between them; the
        limits of single folds, which are none of their mean, are not drawn.

    Returns
    -------
    altair.LayerChart
        The prior on a logarithmic axis.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(
    ...     pr.evaluate, truth="truth", score="score", priors=[0.5, 0.1], intervals="logit"
    ... )
    >>> pr.charts.auprec_by_prior(measures).to_dict()["title"]["subtitle"]
    'band: 95 % interval'
    """
    lazy = as_lazy(measures)
    keys = require(lazy, MEASURE_COLUMNS, source="evaluate(...) or auprec(...)")
    points = _points(lazy, keys)
    single = lines_by_prior(points, keys)
    many = len(single.records) > len(single.series)
    encoding = [
        alt.X("x:Q", **prior_axis(points["prior"].to_list())),
        alt.Y("y:Q", **share_axis("AUPREC")),
        *style(single.series, single.title, colours),
    ]
    subtitle = ""
    if many:
        means = lines_by_prior(fold_means(points, keys), keys[:1])
        thin = prior_lines(single, encoding, "AUPREC", bold=False)
        layers = [thin, prior_lines(means, encoding, "AUPREC")]
        subtitle = f"thin: each {' · '.join(keys[1:])}; thick: their mean"
    else:
        layers = [prior_lines(single, encoding, "AUPREC")]
        if LIMITS[0] in points.columns:
            layers.insert(0, prior_bands(points, keys, encoding))
            subtitle = f"band: {_limits_in_words(lazy)}"
    return finished(layers, title, [subtitle], width=1.3 * SIZE)


def _limits_in_words(measures: pl.LazyFrame) -> str:
    """What the limits of a table are: intervals of one level, where it says so."""
    if COVERAGE in measures.collect_schema():
        levels = measures.select(pl.col(COVERAGE).unique()).collect().to_series()
        if len(levels) == 1 and levels[0] is not None:
            return f"{100 * levels[0]:.4g} % interval"
    return "from lower to upper limit"


def _points(measures: pl.LazyFrame, keys: list[str]) -> pl.DataFrame:
    """Each key's AUPREC by prior, with its limits where the table has them."""
    present = measures.collect_schema().names()
    limits = list(LIMITS) if all(name in present for name in LIMITS) else []
    numbers = {name: pl.col(name).cast(pl.Float64) for name in limits}
    finite = [pl.when(one.is_finite()).then(one).alias(name) for name, one in numbers.items()]
    return (
        measures.filter(
            (pl.col("measure") == "auprec")
            & pl.col("estimate").is_finite()
            & pl.col("prior").is_not_null()
        )
        .select(*keys, same_prior(), "estimate", *finite)
        .unique()
        .sort(*keys, "prior", nulls_last=True)
        .collect()
    )
