"""The pictures of the README and the site, made from the embedded predictions by our charts.

`just pictures` writes each as SVG; on the site the same charts are drawn live.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import polaroc as pr

if TYPE_CHECKING:
    import altair as alt

HERE = Path(__file__).parent / "images"


def main() -> None:
    for name, chart in CHARTS.items():
        pr.charts.export(chart(), HERE, name, ["svg"])


@cache
def predictions() -> pl.DataFrame:
    return pr.datasets.satellite_predictions()


@cache
def curves_of_first_fold() -> pl.DataFrame:
    first = predictions().filter(pl.col("fold") == 1)
    return first.pipe(pr.curve, truth="truth", score="score", by="model")


def satellite() -> "alt.TopLevelMixin":
    priors = pr.prior_grid(0.01, 0.5, 25, spacing="log")
    measures = predictions().pipe(
        pr.evaluate, truth="truth", score="score", by=["model", "fold"], priors=priors
    )
    return pr.charts.auprec_by_prior(measures, "Satellite images: area under precision-recall")


def roc_with_iso_lines() -> "alt.TopLevelMixin":
    iso = pr.iso_lines("precision", [0.2, 0.5, 0.8], priors=0.1)
    return pr.charts.roc(curves_of_first_fold(), "Three models, one hold-out", iso=iso)


def pr_at_three_priors() -> "alt.TopLevelMixin":
    of_a = curves_of_first_fold().filter(pl.col("model") == "A")
    surface = of_a.pipe(pr.surface, priors=[0.5, 0.1, 0.01])
    return pr.charts.pr(surface, "One ROC curve at three priors")


CHARTS: dict[str, Callable[[], "alt.TopLevelMixin"]] = {
    chart.__name__: chart for chart in (satellite, roc_with_iso_lines, pr_at_three_priors)
}


if __name__ == "__main__":
    main()
