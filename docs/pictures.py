"""Make the pictures of the README from the embedded Satellite predictions."""

from pathlib import Path

import polaroc as pr

HERE = Path(__file__).parent / "images"


def main() -> None:
    predictions = pr.datasets.satellite_predictions()
    priors = pr.prior_grid(0.01, 0.5, 25, spacing="log")
    measures = predictions.pipe(
        pr.evaluate, truth="truth", score="score", by=["model", "fold"], priors=priors
    )
    chart = pr.charts.auprec_by_prior(measures, "Satellite images: area under precision-recall")
    pr.charts.export(chart, HERE, "satellite", ["svg"])


if __name__ == "__main__":
    main()
