"""Charts of measures against the prior: the area under the precision-recall curve, and any mean."""

from collections.abc import Mapping
from typing import Any

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
from polaroc.charts.theme import SIZE, folds_name, measure_name, share_axis, style
from polaroc.comparison.measure_rows import fold_means, rows_of
from polaroc.errors import Hint, InvalidArgument

LIMITS = ("lower", "upper")
# Bands of more models than these are paler.
FEW = 4


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


@checked
def interaction(
    measures: pl.LazyFrame | pl.DataFrame,
    title: str = "Models by prior",
    *,
    measure: str = "auprec",
    colours: Mapping[str, str] | None = None,
) -> "alt.LayerChart":
    """Mean of a measure per model and prior, and how far the folds spread around it.

    Parameters
    ----------
    measures
        Tidy measures that hold `measure` at several priors. The first key tells
        the models apart, the others are folds; a prior that not all folds of a
        model share is left out.
    measure
        A measure taken at priors.

    Returns
    -------
    altair.LayerChart
        A line per model over the prior, on a logarithmic axis, with a band of one
        standard deviation over the folds to either side, prior by prior.

    Notes
    -----
    What P-ROC calls the interaction of model and prior: lines that are not
    parallel. `compare` with `contrast` tests it.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score",
    ...     priors=[0.05, 0.1, 0.2],
    ... )
    >>> pr.charts.interaction(measures).to_dict()["title"]["text"]
    'Models by prior'
    """
    rows = rows_of(measures, measure)
    if not rows.has_prior:
        raise InvalidArgument(
            f"measure is {measure!r}, which has no prior.", hint=Hint.example("measure", "auprec")
        )
    known = rows.frame.select(*rows.keys, same_prior(), "estimate").drop_nulls(
        ["prior", "estimate"]
    )
    means = fold_means(known.unique(), rows.keys)
    first = rows.keys[:1]
    drawn = lines_by_prior(means, first)
    encoding = [
        alt.X("x:Q", **prior_axis(means["prior"].to_list())),
        alt.Y("y:Q", **_value_axis(means, measure_name(measure))),
        *style(drawn.series, drawn.title, colours),
    ]
    layers = [prior_lines(drawn, encoding, measure_name(measure))]
    subtitle = "lines that are not parallel: an interaction of model and prior"
    spread = means.drop_nulls(["lower", "upper"])
    if spread.height:
        pale = 0.18 if len(drawn.series) <= FEW else 0.08
        layers.insert(0, prior_bands(spread, first, encoding, opacity=pale))
        subtitle = (
            f"bands: mean ± SD over {folds_name(rows.keys[1:])}; not parallel: an interaction"
        )
    return finished(layers, title, [subtitle], width=1.3 * SIZE)


def _value_axis(means: pl.DataFrame, title: str) -> dict[str, Any]:
    """An axis from 0 to 1 for shares, and over the values for anything else."""
    values = means["estimate"]
    if values.is_empty() or (values.min() >= 0 and values.max() <= 1):  # type: ignore[operator]
        return share_axis(title)
    return {"title": title, "scale": alt.Scale(zero=False)}
