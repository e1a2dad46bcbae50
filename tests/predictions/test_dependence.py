import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app
from polaroc.errors import InvalidPredictions

RNG = np.random.default_rng(8)
UNIT = np.arange(240) // 4
TRUTH = UNIT % 3 == 0
ONE = pl.DataFrame({"row": range(240), "patient": UNIT, "truth": TRUTH, "day": 1})


def scored(model):
    odds = RNG.normal(size=60)[UNIT] + RNG.normal(size=240) + 1.5 * TRUTH - 1
    return ONE.with_columns(model=pl.lit(model), score=1 / (1 + np.exp(-odds)))


BOTH = pl.concat([scored("A"), scored("B")])
A = BOTH.filter(model="A")
OTHER = BOTH.with_columns(row=pl.col("row") + 240, score=pl.col("score") ** 1.1)
NAMES = {"truth": "truth", "score": "score"}
POINTS = pr.operating_points(pr.curve(OTHER, **NAMES), "cost", priors=0.1)
MODELS = {**NAMES}
GATE = {"champion": "A", "challenger": "B", "case": "row", **NAMES}
EXPECTED_COST = {"measure": "expected_cost", "over": (0.1, 0.2), "tuning": OTHER.drop("patient")}
SAID = "rows with the same 'patient' are not independent (60 values on 240 rows)"


def reported(table, **arguments):
    told = []
    pr.report(table, path="page.html", **NAMES, over=(0.05, 0.2), tell=told.append, **arguments)
    return told


def notes(table):
    return [note for note in table["note"] if note is not None]


CALLS = {
    "check": lambda table: notes(pr.check(table, **MODELS)),
    "evaluate": lambda table: notes(pr.evaluate(table, **MODELS, intervals=True)),
    "compare": lambda table: pr.compare(
        table, "auc", target="trained", case="row", **NAMES
    ).warnings,
    "gate": lambda table: pr.gate(table, **GATE, measure="auc").warnings,
    "choose": lambda table: pr.choose(table, **NAMES, case="row", over=(0.05, 0.2)).warnings,
    "choose, without cases": lambda table: pr.choose(table, **NAMES, over=(0.05, 0.2)).warnings,
    "choose, cost": lambda table: pr.choose(table, **NAMES, case="row", **EXPECTED_COST).warnings,
    "report": partial(reported, case="row"),
    "apply_thresholds": lambda table: notes(
        pr.apply_thresholds(table, POINTS, **MODELS, intervals=True)
    ),
    "calibration": lambda table: notes(pr.calibration(table, **MODELS).table),
    "estimate_prior": lambda table: notes(
        pr.estimate_prior(OTHER.drop("patient"), table, **MODELS, method="confusion")
    ),
    "monitor": lambda table: pr.monitor(
        OTHER.drop("patient"), table, **MODELS, time="day", points=0.5
    ).warnings,
}  # fmt: skip


@pytest.mark.alike(8)
@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_rows_that_share_a_patient_are_said_by_what_says_how_sure(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (said,) = {line[line.lower().find("rows with") :] for line in call(BOTH) if "patient" in line}
    assert f"r{said[1:]}".startswith(SAID)
    # Here, and where each model has one row of each, nothing is said.
    (tmp_path / "page.html").unlink(missing_ok=True)
    assert not [line for line in call(BOTH.with_columns(patient="row")) if "patient" in line]


@pytest.mark.parametrize(
    ("column", "values", "is_said"),
    [
        ("Customer ID", UNIT, True),
        ("userid", [f"u{one}" for one in UNIT], True),
        ("case", UNIT, True),
        ("patient", np.where(UNIT < 8, UNIT, None), False),
        ("device", UNIT % 3, False),
        ("device_type", UNIT, False),
        ("index", UNIT, False),
        ("region", UNIT, False),
        ("account", UNIT / 7, False),
        ("fold", UNIT, False),
    ],
    ids=str,
)
def test_columns_are_known_by_their_names_and_many_values(column, values, is_said):
    table = A.drop("patient", "model").with_columns(pl.Series(column, list(values)))
    (note,) = pr.evaluate(table, **NAMES, fold=None, measures="auc", intervals=True)["note"]
    said = f"rows with the same {column!r} are not independent (60 values on 240 rows)"
    assert (note is not None and note.startswith(said)) == is_said


def test_a_patient_may_be_in_several_folds_and_repeats():
    # Each fold of each repeat has one row of each.
    place = pl.col("row") % 4
    table = A.with_columns(fold=place % 2, repeat=place // 2)
    keys = ["repeat", "fold"]
    for by in ([], "fold", keys):
        found = pr.evaluate(table, **NAMES, by=by, measures="auc", intervals=True)
        assert notes(found) == []
    (note,) = notes(pr.evaluate(table.drop(keys), **NAMES, measures="auc", intervals=True))
    assert note.startswith(SAID)


@pytest.mark.parametrize("are_scattered", [False, True])
def test_of_many_rows_values_are_counted_roughly(are_scattered):
    table = pl.concat(
        pl.DataFrame({"model": name, "user": np.arange(60_000) // 2, "case": range(60_000),
                      "truth": np.arange(60_000) % 5 == 0, "score": RNG.random(60_000)})
        for name in "AB"
    ).sample(fraction=1, shuffle=are_scattered, seed=3)  # fmt: skip
    asked = {**MODELS, "measures": "auc", "intervals": True}
    (note,) = set(notes(pr.evaluate(table, **asked)))
    assert note.startswith("rows with the same 'user' are not independent (about ")
    values, rows = note.partition("about ")[2].partition(" rows")[0].split(" values on ")
    assert int(values.replace(",", "")) == pytest.approx(30_000, rel=0.05)
    assert rows == "60,000"
    assert notes(pr.evaluate(table.drop("user"), **asked)) == []


def test_the_key_and_the_cluster_are_not_doubted():
    asked = {**NAMES, "measures": "auc"}
    few = A.filter(pl.col("patient") < 12).with_columns(truth=pl.col("row") % 2 == 0)
    own = pr.evaluate(few, **asked, by="patient", intervals=True)
    assert not [one for one in notes(own) if "independent" in one]
    assert notes(pr.evaluate(A, **asked, cluster="patient", intervals=True)) == []
    assert notes(pr.evaluate(A, **asked)) == []


def test_rows_of_a_plan_are_doubted_as_those_of_a_frame():
    asked = {**NAMES, "measures": "auc", "intervals": True}
    found = notes(pr.evaluate(A.lazy(), **asked).collect())
    assert found == notes(pr.evaluate(A, **asked)) != []


def test_scores_of_several_models_are_one_row_per_case():
    wide = BOTH.pivot(
        "model", index=["row", "patient", "truth"], values="score", aggregate_function="first"
    )
    named = {"truth": "truth", "score": ["A", "B"]}
    found = notes(pr.evaluate(wide, **named, intervals=True))
    assert found
    assert all(SAID in note for note in found)
    said = SAID.replace("rows", "Rows", 1)
    assert said in str(pr.compare(wide, "auc", **named).warnings)
    assert said not in str(pr.compare(wide.unique("patient"), "auc", **named).warnings)


def test_the_data_of_the_package_are_not_doubted():
    for table in (
        pr.datasets.satellite_predictions(),
        pr.datasets.sonar_predictions(),
        pr.datasets.ionosphere_predictions(),
    ):
        found = pr.evaluate(table, **NAMES, measures="auc", intervals=True)
        assert not [one for one in notes(found) if "independent" in one]


COMMANDS = {
    "gate": ["--champion", "A", "--challenger", "B", "--measure", "auc"],
    "choose": ["--over", "0.05", "0.2"],
    "compare": ["--target", "trained", "--measure", "auc"],
    "report": ["--over", "0.05", "0.2", "--out", "page.html"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_looks_at_the_column_of_the_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    BOTH.write_parquet("predictions.parquet")
    words = [command, "predictions.parquet", "--truth", "truth", "--score", "score"]
    result = CliRunner().invoke(app, [*words, "--case", "row", *COMMANDS[command]])
    said = " ".join(result.output.split()).lower()
    assert SAID in said
    assert "--by patient" not in said
    if command == "report":
        return
    told = CliRunner().invoke(app, [*words, "--case", "row", *COMMANDS[command], "--json"])
    assert [line for line in json.loads(told.stdout)["warnings"] if SAID in line.lower()]


def test_a_threshold_that_is_promised_on_the_command_line_says_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    BOTH.write_csv("tuning.csv")
    words = ["threshold", "tuning.csv", "--truth", "truth", "--score", "score"]
    asked = [*words, "--min-recall", "0.5", "--json"]
    for more, is_said in ((["--confidence", "0.9"], True), ([], False)):
        told = json.loads(CliRunner().invoke(app, [*asked, *more]).stdout)
        assert {SAID in (row["note"] or "") for row in told} == {is_said}


def test_the_audit_of_files_says_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    BOTH.write_parquet("predictions.parquet")
    words = ["check", "predictions.parquet", "--truth", "truth", "--score", "score"]
    assert SAID in " ".join(CliRunner().invoke(app, words).output.split())
    told = json.loads(CliRunner().invoke(app, [*words, "--fold", "", "--json"]).stdout)
    assert SAID in str(told)


@pytest.mark.parametrize("call", ["compare", "gate", "choose"])
def test_a_patient_named_as_the_case_is_refused_with_clusters_as_a_way_out(call):
    calls = {
        "compare": partial(
            pr.compare, measure="auc", target="trained", case="patient", **NAMES
        ),
        "gate": partial(pr.gate, **{**GATE, "case": "patient"}, measure="auc"),
        "choose": partial(pr.choose, case="patient", over=(0.05, 0.2), **NAMES),
    }  # fmt: skip
    with pytest.raises(InvalidPredictions, match=r"cluster='patient'"):
        calls[call](BOTH)
