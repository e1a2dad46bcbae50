"""Charts of the rates of one operating point against the skew."""

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.charts.layers import data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.lines import lines
from polaroc.charts.options import checked
from polaroc.charts.over_prior import marks
from polaroc.charts.theme import DASHES, SIZE, colour, share_axis
from polaroc.curves.surface import RATES
from polaroc.errors import InvalidTable

DEFAULT_RATES = ("accuracy", "precision", "tnr")
NAMES = {"tnr": "true negative rate", "tpr": "true positive rate", "fpr": "false positive rate"}


@checked
def skew_effect(
    table: pl.LazyFrame | pl.DataFrame,
    rates: Sequence[str] | None = None,
    title: str = "What the skew does to accuracy and precision",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.LayerChart":
    """Rates of one operating point against the skew, as in P-ROC Fig. 1.

    Parameters
    ----------
    table
        One row per key and skew: `skew` and columns named after rates, from 0 to 1,
        such as a `surface` filtered to one point of each curve. All other columns are
        keys; the first gives the colour.
    rates
        The columns to draw, distinguished by dashes; by default those of "accuracy",
        "precision" and "tnr" that the table has.

    Returns
    -------
    altair.LayerChart
        The skew on a logarithmic axis.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> priors = [pr.prior(skew) for skew in (1.0, 10.0, 100.0)]
    >>> rates = curves.pipe(pr.surface, priors, rates=["accuracy", "precision", "tnr"])
    >>> pr.charts.skew_effect(rates.filter(threshold=0.54)).to_dict()["title"]
    'What the skew does to accuracy and precision'
    """
    lazy = as_lazy(table)
    others = require(lazy, ("skew",), source="surface(..., rates=[...]), of one point each")
    selected = _selected_rates(lazy.collect_schema().names(), rates)
    keys = [name for name in others if name not in RATES and name not in selected]
    points = _points(lazy, keys)
    drawn = {
        rate: lines(points.filter(pl.col(rate).is_not_null()), keys, "skew", rate)
        for rate in selected
    }
    records = [
        {**record, "rate": _rate_name(rate), "id": f"{rate} {record['id']}"}
        for rate, rate_lines in drawn.items()
        for record in rate_lines.records
    ]
    # The series of all rates, since a rate may be null for all rows of a series.
    series = list(
        dict.fromkeys(name for rate_lines in drawn.values() for name in rate_lines.series)
    )
    skews = points["skew"].to_list()
    ends = (min(skews), max(skews)) if skews else ()
    chart = (
        data(records)
        .transform_flatten(["x", "y", "at"])
        .transform_calculate(prior="1 / (1 + datum.x)")
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            alt.X(
                "x:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~g", values=marks(*ends) if ends else []),
                title="skew λ: negatives per positive",
            ),
            alt.Y("y:Q", **share_axis("rate")),
            colour(series, keys[0] if keys else "", colours),
            _dashes(list(map(_rate_name, selected))),
            alt.Detail("id:N"),
            alt.Order("at:Q"),
            [
                *([alt.Tooltip("line:N", title="key")] if keys else []),
                alt.Tooltip("rate:N", title="rate"),
                alt.Tooltip("x:Q", title="skew (negatives per positive)", format=".4~g"),
                alt.Tooltip("prior:Q", title="prior", format=".3~p"),
                alt.Tooltip("y:Q", title="value", format=".4f"),
            ],
        )
    )
    return finished([chart], title, width=1.2 * SIZE, height=0.8 * SIZE)


def _selected_rates(present: Sequence[str], rates: Sequence[str] | None) -> list[str]:
    """The rates to draw; raise where the table has none of them."""
    selected = [name for name in DEFAULT_RATES if name in present] if rates is None else list(rates)
    missing = [name for name in selected if name not in present]
    if missing or not selected:
        raise InvalidTable(
            f"the table has no column {', '.join(map(repr, missing or DEFAULT_RATES))}; it has "
            f"{', '.join(map(repr, present))}.",
            hint="make it with surface(curve, priors, rates=['accuracy', 'precision', 'tnr']).",
        )
    return selected


def _points(table: pl.LazyFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Sorted rows; raise where a key has several at one skew."""
    points = table.sort(*keys, "skew", nulls_last=True).collect()
    if points.select(*keys, "skew").is_duplicated().any():
        raise InvalidTable(
            "the table has several rows of a key at one skew.",
            hint="filter it to one point of each curve, such as one threshold.",
        )
    return points


def _rate_name(rate: str) -> str:
    return NAMES.get(rate, rate)


def _dashes(names: Sequence[str]) -> "alt.StrokeDash":
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    legend = alt.Legend(title="rate", symbolType="stroke", symbolStrokeColor="#333333")
    return alt.StrokeDash("rate:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
