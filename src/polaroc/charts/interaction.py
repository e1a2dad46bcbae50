"""Chart of the interaction of models with the prior."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.charts.options import checked
from polaroc.charts.over_prior import (
    lines_by_prior,
    prior_axis,
    prior_bands,
    prior_lines,
    same_prior,
)
from polaroc.charts.theme import SIZE, finished, share_axis, style
from polaroc.charts.wording import folds_name, measure_name
from polaroc.comparison.fold_means import fold_means
from polaroc.comparison.measure_rows import rows_of
from polaroc.errors import Hint, InvalidArgument

if TYPE_CHECKING:
    import altair as alt

# Bands of more models than these are paler.
FEW = 4


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
    title
        Heading of the chart.
    measure
        A measure taken at priors.
    colours
        From name to colour, as `palette` gives them, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        A line per model over the prior, on a logarithmic axis, with a band of one
        standard deviation over the folds to either side, prior by prior.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a measure table are missing; for a measure without
        priors; for more than 300 models.

    Notes
    -----
    What P-ROC's 3-way analysis of variance calls the interaction of model and
    prior (`anova`): lines that are not parallel.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", by=["model", "fold"],
    ...     priors=[0.05, 0.1, 0.2],
    ... )
    >>> pr.charts.interaction(measures).to_dict()["title"]["text"]
    'Models by prior'
    """
    import altair as alt

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
    heading = alt.TitleParams(title, subtitle=subtitle)
    return finished(alt.layer(*layers).properties(width=1.3 * SIZE, height=SIZE, title=heading))


def _value_axis(means: pl.DataFrame, title: str) -> dict[str, Any]:
    """From 0 to 1 for shares, as wide as it must be for anything else."""
    import altair as alt

    values = means["estimate"]
    if values.is_empty() or (values.min() >= 0 and values.max() <= 1):  # type: ignore[operator]
        return share_axis(title)
    return {"title": title, "scale": alt.Scale(zero=False)}
