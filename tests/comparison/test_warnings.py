import re

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

pytestmark = pytest.mark.usefixtures("words_only")

# Model A ranks all but perfectly, model B the other way round; of 32 cases a fold one has no score.
SOUND = pl.DataFrame(
    [
        {"model": model, "fold": fold, "case": 100 * fold + case, "truth": case < 8,
         "score": (1.0 if model == "A" else -1.0) * ((case < 8) + (case * 7 + fold) % 13 / 20)}
        for model in "AB" for fold in (1, 2, 3) for case in range(32)
    ]
)  # fmt: skip
MISSING = SOUND.with_columns(score=pl.when(pl.col("case") % 100 != 20).then("score"))
# Of one fold of a model all cases are negative.
ONE_CLASS = SOUND.with_columns(
    truth=pl.col("truth") & ~((pl.col("model") == "B") & (pl.col("fold") == 2))
)
UNCLEAR = SOUND.with_columns(truth=pl.when("truth").then(pl.lit("yes")).otherwise(pl.lit("no")))
LOW = ["--over", "0.001", "0.002"]
KEYS = ["--model", "model", "--fold", "fold"]
# λ/N is 999 / 23 here at the least.
COMMANDS = {
    "evaluate": [*LOW, *KEYS],
    "compare": [*LOW, "--test-train-ratio", "0.5"],
    "choose": LOW,
    "report": [*LOW, "--out", "OUT"],
    "pairs": [*LOW, *KEYS, "--test-train-ratio", "0.5", "--out", "OUT"],
    "auprec_by_prior": [*LOW, *KEYS, "--out", "OUT"],
}
CHARTS = ("pairs", "auprec_by_prior")
LEFT_OUT = "cases were left out of all models, which are compared on the same"
DROPPED = {
    "evaluate": "dropped 1 null score",
    **dict.fromkeys(("compare", "choose", "report", "pairs"), LEFT_OUT),
    "auprec_by_prior": "6 rows were left out: their score, truth, count or weight is null or NaN",
}  # fmt: skip


def run(command, table, folder, *more):
    table.write_parquet(folder / "predictions.parquet")
    words = ["chart", command] if command in CHARTS else [command]
    words += [str(folder / "predictions.parquet"), "--truth", "truth", "--score", "score"]
    named = [str(folder / "out.html") if word == "OUT" else word for word in COMMANDS[command]]
    result = CliRunner().invoke(app, [*words, *named, *more])
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_to_be_doubted_is_said_on_the_terminal(tmp_path, command):
    code, said = run(command, MISSING, tmp_path, "--nulls", "drop")
    assert code == 0, said
    # A report explains it in a sentence of its own.
    words = "reas are biased upward:" if command == "report" else "biased upward, the test set has"
    assert words in said
    assert DROPPED[command] in said
    if command == "auprec_by_prior":
        return
    assert "below chance: are the scores reversed?" in said
    if command != "evaluate":
        reversed_ = "reversed? model='B', fold=1; model='B', fold=2; model='B', fold=3."
        assert f"3 of 6 AUCs are below chance: are the scores {reversed_}" in said
    if command == "report":
        page = " ".join((tmp_path / "out.html").read_text(encoding="utf-8").split())
        assert "3 of 6 AUCs are below chance" in page
        assert DROPPED[command] in page


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("table", "found"),
    [(MISSING, "6 null scores"), (UNCLEAR, "has the labels 'no', 'yes'")],
    ids=["missing", "unclear"],
)
def test_rows_that_cannot_be_ranked_are_refused(tmp_path, command, table, found):
    code, said = run(command, table, tmp_path)
    assert code == 2
    assert found in said
    assert {file.name for file in tmp_path.iterdir()} == {"predictions.parquet"}


@pytest.mark.parametrize("command", ["compare", "choose", "report", "pairs"])
def test_a_key_of_one_class_is_refused_where_models_are_compared(tmp_path, command):
    code, said = run(command, ONE_CLASS, tmp_path)
    assert code == 2
    assert "1 of 6 estimates are null: model='B', fold=2, note='no positives'" in said


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "auprec_by_prior"])
def test_a_key_of_one_class_is_said(tmp_path, command):
    code, said = run(command, ONE_CLASS, tmp_path)
    assert code == 0, said
    assert "estimate(s): no positives" in said


@pytest.mark.slow
def test_of_one_model_all_is_said_too(tmp_path):
    alone = MISSING.filter(pl.col("model") == "B", (pl.col("fold") < 3) | (pl.col("case") < 310))
    told = []
    pr.report(
        alone, truth="truth", score="score", over=(0.1, 0.5), nulls="drop", tell=told.append,
        path=tmp_path / "page.html",
    )  # fmt: skip
    said = " ".join(told)
    assert "2 of 74 cases were left out" in said
    assert "below chance: are the scores reversed?" in said.lower()


@pytest.mark.parametrize("measure", ["auc", "iauprec"])
def test_fitted_models_too(measure):
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1)
    turned = table.with_columns(
        score=pl.when(pl.col("model") == "B").then(-pl.col("score")).otherwise("score")
    )
    found = pr.compare(
        turned, measure, target="trained", truth="truth", score="score", case="case",
        over=(0.001, 0.002) if measure == "iauprec" else None,
    )  # fmt: skip
    said = " ".join(found.warnings)
    assert said.count("below chance: are the scores reversed?") == 1
    assert ("biased upward" in said) == (measure == "iauprec")


@pytest.mark.slow
@pytest.mark.parametrize("folds", [1, 3])
def test_no_error_rates_of_another_design_are_quoted(tmp_path, folds):
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= folds)
    if folds == 1:
        table = table.drop("fold")
    asked = {"truth": "truth", "score": "score", "case": "case", "over": (0.001, 0.01)}
    if folds > 1:
        asked |= {"test_train_ratio": 0.25}
    said = []
    path = pr.report(table, path=tmp_path / "page.html", tell=said.append, **asked)
    texts = [
        *said, path.read_text(encoding="utf-8"), *pr.compare(table, **asked).warnings,
        *pr.choose(table, **asked).warnings,
    ]  # fmt: skip
    # Neither other priors, nor other numbers of cases, nor another AUC than those at hand.
    for text in texts:
        assert not re.search(r"5 to 20 %|AUC of 0\.9|\d+ \+ [\d,]+ cases|discriminants", text)


@pytest.mark.parametrize("positives", [40, 250])
def test_few_positives_are_said_where_areas_are_compared_on_one_test_set(positives):
    truth = [True] * positives + [False] * 600
    table = pl.DataFrame(
        {"truth": truth, **{name: [(i * k) % 101 + 30 * one for i, one in enumerate(truth)]
                            for name, k in (("A", 17), ("B", 37))}}
    )  # fmt: skip
    asked = {"truth": "truth", "score": ["A", "B"], "target": "trained"}
    for measure, over in (("iauprec", (0.05, 0.2)), ("auc", None)):
        said = " ".join(pr.compare(table, measure, **asked, over=over).warnings)
        assert (f"With {positives} positives the test" in said) == (
            positives < 200 and measure == "iauprec"
        )
