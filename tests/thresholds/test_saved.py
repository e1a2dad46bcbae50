import polars as pl

import polaroc as pr
from polaroc.cli.pipes import plain_rows
from polaroc.thresholds.saved import SavedThresholds


def test_thresholds_without_bound_are_those_that_were_saved(tmp_path):
    # A score may be infinite: for what is certain, or what nothing is known of.
    table = pl.DataFrame(
        {
            "model": ["A"] * 4 + ["B"] * 4,
            "truth": [1, 0, 1, 0] * 2,
            "score": [float("inf"), -float("inf"), 0.5, 0.4, 0.9, 0.1, 0.5, 0.4],
        }
    )
    curves = pr.curve(table, truth="truth", score="score", by="model")
    points = pr.operating_points(curves, "fpr", target=0.0, priors=0.3)
    strict = points.with_columns(
        pl.when(model="A").then(float("inf")).otherwise("threshold").alias("threshold")
    )
    for rows in (points, strict):
        saved = SavedThresholds(["model"], "score", None, None, {}, "", plain_rows(rows))
        saved.write(tmp_path / "thresholds.json", force=True)
        read = SavedThresholds.read(tmp_path / "thresholds.json").table(rows.schema)
        assert read.equals(rows.select(read.columns))
        assert set(read.columns) == set(rows.columns)
