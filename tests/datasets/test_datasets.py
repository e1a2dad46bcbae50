from pathlib import Path

import numpy as np
import polars as pl
import pytest
from papers import satellite
from polars.testing import assert_frame_equal

import polaroc as pr


def test_satellite_has_the_classes_of_the_source():
    raw = pr.datasets.satellite()
    assert raw.shape == (6435, 37)
    assert raw["class"].is_in(satellite.POSITIVE).sum() == 1329


def test_satellite_predictions_are_stratified_hold_outs():
    table = pr.datasets.satellite_predictions()
    assert table.schema == {
        "model": pl.String,
        "fold": pl.Int64,
        "case": pl.Int64,
        "truth": pl.Boolean,
        "score": pl.Float64,
    }
    assert table.height == 3 * 20 * 1287
    by_key = table.group_by("model", "fold").agg(
        pl.len(), pl.col("truth").sum().alias("positives"), pl.col("case").n_unique().alias("cases")
    )
    assert by_key.height == 60
    assert by_key.select("len", "positives", "cases").unique().row(0) == (1287, 266, 1287)


def test_satellite_predictions_carry_the_labels_of_the_raw_table():
    truth = pr.datasets.satellite()["class"].is_in(satellite.POSITIVE)
    table = pr.datasets.satellite_predictions()
    assert (truth.gather(table["case"]) == table["truth"]).all()


def test_models_are_tested_on_the_same_cases():
    table = pr.datasets.satellite_predictions()
    cases = [table.filter(model=model).select("fold", "case", "truth") for model in "ABC"]
    assert_frame_equal(cases[0], cases[1])
    assert_frame_equal(cases[0], cases[2])


@pytest.mark.slow
def test_the_script_makes_the_embedded_table_again():
    made = satellite.predictions(folds=1)
    kept = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1)
    assert_frame_equal(made.drop("score"), kept.drop("score"))
    for model in "ABC":
        new, old = (t.filter(model=model)["score"].to_numpy() for t in (made, kept))
        assert np.corrcoef(new, old)[0, 1] == pytest.approx(1, abs=1e-3)


def test_twenty_scores():
    table = pr.datasets.twenty_scores()
    assert table.schema == {"truth": pl.Boolean, "score": pl.Float64}
    assert (table.height, table["truth"].sum()) == (20, 10)


@pytest.mark.parametrize(
    ("name", "features", "classes"),
    [("sonar", 60, {"mine": 111, "rock": 97}), ("ionosphere", 34, {"good": 225, "bad": 126})],
)
def test_uci_tables_have_the_sizes_that_uci_states(name, features, classes):
    table = getattr(pr.datasets, name)()
    names = [f"x{i + 1}" for i in range(features)]
    assert table.schema == dict.fromkeys(names, pl.Float64) | {"class": pl.String}
    assert dict(table["class"].value_counts().iter_rows()) == classes


@pytest.mark.parametrize(("name", "tested"), [("sonar", 42), ("ionosphere", 71)])
def test_accsens_predictions_are_hold_outs_of_their_table(name, tested):
    predictions = getattr(pr.datasets, f"{name}_predictions")()
    raw = getattr(pr.datasets, name)()
    assert predictions.schema == pr.datasets.satellite_predictions().schema
    sizes = predictions.group_by("model", "fold").len()
    assert (sizes.height, sizes["len"].unique().to_list()) == (4 * 30, [tested])
    positive = raw["class"] == {"sonar": "mine", "ionosphere": "good"}[name]
    assert (positive.gather(predictions["case"]) == predictions["truth"]).all()


def test_embedded_tables_stay_small():
    folder = Path(pr.datasets.__file__).parent
    assert sum(file.stat().st_size for file in folder.glob("*.parquet")) < 2_000_000
