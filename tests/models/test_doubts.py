"""Warnings on the scores or the question come first."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr

OVER, LOW = (0.05, 0.20), (0.001, 0.002)
ONE = pr.datasets.satellite_predictions().filter(fold=1)
WIDE = ONE.pivot("model", index=["case", "truth"], values="score", aggregate_function="first")
COLUMNS = {"truth": "truth", "score": ["A", "B"]}
NAMES = {"truth": "truth", "score": "score"}

# Model A ranks all but perfectly, model B the other way round; of 32 cases a fold one has no score.
FOLDS = pl.DataFrame(
    [
        {"model": model, "fold": fold, "case": 100 * fold + case, "truth": case < 8,
         "score": None if case == 20 else
         (1.0 if model == "A" else -1.0) * ((case < 8) + (case * 7 + fold) % 13 / 20)}
        for model in "AB" for fold in (1, 2, 3) for case in range(32)
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "begins"),
    [
        ({}, "Take A"),
        ({"A": pl.lit(0.5), "B": pl.lit(0.3)}, "No model is better than chance"),
        ({"A": -pl.col("A"), "B": -pl.col("B")},
         "2 of 2 AUCs are below chance: are the scores reversed?"),
        ({"B": pl.col("truth").cast(pl.Int64)}, "The score is the truth itself: model='B'."),
    ],
    ids=["sound", "constant", "reversed", "the truth"],
)  # fmt: skip
def test_an_answer_begins_with_what_is_wrong_with_the_scores(changed, begins):
    found = pr.choose(WIDE.with_columns(**changed), **COLUMNS, over=OVER)
    assert found.answer.startswith(begins)


@pytest.mark.parametrize(
    "said",
    [
        lambda asked: pr.compare(FOLDS, over=LOW, test_train_ratio=0.5, **asked).warnings,
        lambda asked: pr.choose(FOLDS, over=LOW, **asked).warnings,
        lambda asked: pr.gate(
            FOLDS, over=LOW, test_train_ratio=0.5, champion="A", challenger="B", **asked
        ).warnings,
    ],
    ids=["compare", "choose", "gate"],
)  # fmt: skip
def test_on_folds_missing_reversed_and_biased_scores_are_said(said):
    words = " ".join(said({**NAMES, "nulls": "drop"}))
    assert "cases were left out of all models, which are compared on the same" in words
    reversed_ = "model='B', fold=1; model='B', fold=2; model='B', fold=3."
    assert f"3 of 6 AUCs are below chance: are the scores reversed? {reversed_}" in words
    assert "biased upward" in words


def test_each_estimate_has_the_same_doubts_as_its_note():
    found = pr.evaluate(FOLDS, **NAMES, over=LOW, nulls="drop")
    assert found["note"].str.contains("dropped 1 null score").any()
    assert found.filter(measure="iauprec")["note"].str.contains("biased upward").all()
    below = found.filter(measure="auc", model="B")["note"]
    assert below.str.contains("below chance").all()


@pytest.mark.parametrize("measure", ["auc", "iauprec"])
def test_so_are_those_of_fitted_models(measure):
    turned = ONE.with_columns(
        score=pl.when(pl.col("model") == "B").then(-pl.col("score")).otherwise("score")
    )
    found = pr.compare(turned, measure, **NAMES, case="case",
                       over=LOW if measure == "iauprec" else None)  # fmt: skip
    said = " ".join(found.warnings)
    assert said.count("below chance: are the scores reversed?") == 1
    assert ("biased upward" in said) == (measure == "iauprec")


@pytest.mark.parametrize("positives", [40, 250])
def test_few_positives_are_said_where_areas_are_compared_on_one_test_set(positives):
    truth = np.arange(positives + 600) < positives
    number = np.arange(truth.size)
    scores = {name: (number * k) % 101 + 30 * truth for name, k in (("A", 17), ("B", 37))}
    table = pl.DataFrame({"truth": truth, **scores})
    for measure, over in (("iauprec", OVER), ("auc", None)):
        said = " ".join(pr.compare(table, measure, **COLUMNS, over=over).warnings)
        assert (f"With {positives} positives the test" in said) == (
            positives < 200 and measure == "iauprec"
        )


@pytest.mark.parametrize(("ratio", "is_said"), [(0.25, False), (4, True)])
def test_a_ratio_that_seems_turned_around_is_said(ratio, is_said):
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
    asked = {**NAMES, "over": OVER, "test_train_ratio": ratio}
    for found in (pr.choose(table, **asked), pr.compare(table, **asked)):
        assert any("turned around" in line for line in found.warnings) == is_said
