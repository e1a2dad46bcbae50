from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.experiments import satellite


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


def test_twenty_scores_roc_auc_is_exact():
    curve = pr.curve(pr.datasets.twenty_scores(), truth="truth", score="score")
    assert pr.auc(curve)["estimate"].item() == pytest.approx(0.68, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "features", "classes"),
    [
        ("sonar", 60, {"mine": 111, "rock": 97}),
        ("ionosphere", 34, {"good": 225, "bad": 126}),
    ],
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


ROWS = [
    (f"{i % 7 / 7:.3f}", "-0.205", "1.24e0", str(i), "0", code)
    for code, count in (("0", 3818), ("1", 1586))
    for i in range(count)
]
KEEL = "@relation phoneme\n@attribute Aa real [-1.7, 4.107]\n@attribute Class {0, 1}\n@data\n"
ARFF = "% nasal and oral\n@RELATION phoneme\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE Class {1,2}\n@DATA\n"


def lines(separator: str, rename: dict[str, str] | None = None) -> str:
    return "\n".join(
        separator.join([*row[:-1], (rename or {}).get(row[-1], row[-1])]) for row in ROWS
    )


@pytest.mark.parametrize(
    "text",
    [
        lines(" "),
        "\n".join("  " + line for line in lines("   ").splitlines()) + "\n\n",
        KEEL + lines(", "),
        ARFF + lines(",", {"0": "1", "1": "2"}),
        "V1,V2,V3,V4,V5,Class\n" + lines(",", {"0": "1", "1": "2"}),
        '"V1","V2","V3","V4","V5","Class"\n' + lines(",", {"0": '"1"', "1": '"2"'}),
        lines(","),
        (KEEL + lines(", ")).replace("\n", "\r\n"),
        "\ufeff" + lines(","),
    ],
    ids=[
        "elena",
        "elena indented",
        "keel",
        "arff",
        "csv",
        "csv quoted",
        "csv bare",
        "windows",
        "byte order mark",
    ],
)
def test_phoneme_is_read_from_every_format(tmp_path, text):
    file = tmp_path / "phoneme"
    file.write_bytes(text.encode())
    table = pr.datasets.phoneme(file)
    assert table.columns == ["x1", "x2", "x3", "x4", "x5", "class"]
    assert table.row(1) == (0.143, -0.205, 1.24, 1.0, 0.0, "nasal")
    assert dict(table["class"].value_counts().iter_rows()) == {"nasal": 3818, "oral": 1586}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not rows of 5 numbers"),
        (b"\xff\xfe\x00", "is not text"),
        (lines(",").replace("-0.205", "?", 1).encode(), "not rows of 5 numbers"),
        (lines(",").replace("-0.205", "nan", 1).encode(), "not rows of 5 numbers"),
        ("\n".join(lines(",").splitlines()[1:]).encode(), "5403 rows with the labels '0' 3817"),
        (lines(",", {"1": "0"}).encode(), "labels '0' 5404"),
        (b"1,2,3\n4,5,6\n", "not rows of 5 numbers"),
    ],
)
def test_what_is_not_phoneme_is_refused(tmp_path, content, said):
    file = tmp_path / "phoneme.dat"
    file.write_bytes(content)
    with pytest.raises(pr.errors.InvalidTable, match=rf"{said}(.|\n)*Hint: give the ELENA"):
        pr.datasets.phoneme(file)


def test_a_missing_phoneme_file_is_refused(tmp_path):
    with pytest.raises(pr.errors.InvalidTable, match="cannot be read"):
        pr.datasets.phoneme(tmp_path / "none.dat")
