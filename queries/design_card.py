"""One lazy pipe from predictions to a chart: curve, surface, hull, areas, ANOVA, Vega-Lite.

``python queries/design_card.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`. It prints the ANOVA table and the chart as JSON.
"""

import sys

import polars as pl
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import polaroc as pr

GRID = pr.prior_grid(0.05, 0.20, 4)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    """The areas of each model and fold: of the curves, and of their hulls, over the priors."""
    curve = predictions.pipe(pr.curve, truth="truth", score="score")
    return pl.concat(
        [
            curve.pipe(pr.iauprec, over=(0.05, 0.20)).with_columns(of=pl.lit("curve")),
            curve.pipe(pr.surface, GRID).pipe(pr.auprec).with_columns(of=pl.lit("curve")),
            curve.pipe(pr.hull)
            .pipe(pr.surface, GRID)
            .pipe(pr.auprec)
            .with_columns(of=pl.lit("hull")),
        ]
    ).sort("of", "measure", "prior", "model", "fold", nulls_last=True)


if __name__ == "__main__":
    source = sys.argv[1:]
    table = pl.scan_parquet(source[0]) if source else pr.datasets.satellite_predictions().lazy()
    areas = table.pipe(query).collect()
    iauprec = areas.filter(of="curve", measure="iauprec")
    print(anova_lm(ols("estimate ~ C(model) + C(fold)", data=iauprec).fit(), typ=2))
    print(pr.charts.auprec_by_prior(areas.filter(of="curve", measure="auprec")).to_json())
