"""What is wrong with the scores or the question is said first, in `choose` and in `report`."""

import re

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from pages import Page

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

pytestmark = pytest.mark.usefixtures("words_only")

OVER = (0.05, 0.20)
ROWS = pr.datasets.satellite_predictions().filter(fold=1)
SCORES = (ROWS.filter(model=model).sort("case") for model in "AB")
WIDE = pl.concat(
    [
        ROWS.filter(model="A").sort("case").select("truth"),
        *(
            rows.select(pl.col("score").alias(model))
            for model, rows in zip("AB", SCORES, strict=True)
        ),
    ],
    how="horizontal",
)
COLUMNS = {"truth": "truth", "score": ["A", "B"]}
LONG = WIDE.unpivot(["A", "B"], index="truth", variable_name="which", value_name="p")


def headline(table, path, **options):
    told = []
    page = pr.report(table, path=path / "page.html", tell=told.append, over=OVER, **options)
    return told[0], Page(page).text()


def answers(table, path, **options):
    return (
        pr.choose(table, over=OVER, **options).answer,
        headline(table, path, **options)[0],
    )


@pytest.mark.long
@pytest.mark.slow
def test_constant_scores_are_no_better_than_chance(tmp_path):
    constant = WIDE.with_columns(A=pl.lit(0.5), B=pl.lit(0.3))
    for answer in answers(constant, tmp_path, **COLUMNS):
        assert answer.startswith("No model is better than chance")
    text = headline(constant, tmp_path, **COLUMNS)[1]
    assert "perfectly" not in text
    assert "is that of A." not in text


@pytest.mark.slow
def test_reversed_scores_are_doubted_first(tmp_path):
    turned = WIDE.with_columns(A=-pl.col("A"), B=-pl.col("B"))
    for answer in answers(turned, tmp_path, **COLUMNS):
        assert answer.startswith("2 of 2 AUCs are below chance: are the scores reversed?")


@pytest.mark.slow
def test_the_truth_as_a_score_is_doubted_first(tmp_path):
    known = WIDE.with_columns(known=pl.col("truth").cast(pl.Int64))
    for answer in answers(known, tmp_path, truth="truth", score=["A", "known"]):
        assert answer.startswith("The score is the truth itself: model='known'.")


@pytest.mark.slow
def test_sound_scores_are_not_doubted(tmp_path):
    for answer in answers(WIDE, tmp_path, **COLUMNS):
        assert answer.startswith("Take A")


@pytest.mark.product
@pytest.mark.parametrize(
    ("kept", "wrong"),
    [
        (pl.col("truth"), "no row is negative"),
        (~pl.col("truth"), "no row is positive"),
        (pl.lit(False), "there are no rows"),
    ],
)
@pytest.mark.parametrize("table", [WIDE, LONG.rename({"which": "model"})], ids=["wide", "long"])
def test_what_the_table_lacks_is_said_in_words(table, kept, wrong, tmp_path):
    columns = COLUMNS if "A" in table.columns else {"truth": "truth", "score": "p"}
    few = table.filter(kept)
    with pytest.raises(InvalidPredictions, match=wrong):
        pr.choose(few, over=OVER, **columns)
    with pytest.raises(InvalidPredictions, match=wrong):
        pr.report(few, over=OVER, path=tmp_path / "page.html", **columns)


def test_a_measure_without_a_prior_is_no_choice_over_priors():
    with pytest.raises(InvalidArgument, match=r"share of positives[\s\S]*gate\(measure='auc'\)"):
        pr.choose(WIDE, over=OVER, measure="auc", **COLUMNS)


def test_the_models_alone_can_be_named():
    named = {"truth": "truth", "score": "p", "over": OVER}
    alone = pr.choose(LONG, model="which", **named)
    usual = pr.choose(LONG.rename({"which": "model"}), **named)
    assert_same_numbers(alone.models, usual.models.rename({"model": "which"}))
    folds = pl.concat(LONG.with_columns(pl.col("p") / i, cvSplit=pl.lit(i)) for i in (1, 2))
    found = pr.choose(folds, model="which", **named)
    assert found.folds == ("cvSplit",)
    measures = pr.evaluate(WIDE, over=OVER, **COLUMNS)
    assert pr.choose(measures, over=OVER).folds == ()


@pytest.mark.parametrize(("ratio", "is_said"), [(0.25, False), (4, True)])
def test_a_ratio_upside_down_is_doubted(ratio, is_said):
    choice = pr.choose(
        pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3),
        truth="truth", score="score", over=OVER, test_train_ratio=ratio,
    )  # fmt: skip
    assert any("turned around" in line for line in choice.warnings) == is_said


@pytest.mark.slow
def test_a_report_works_out_the_ratio_from_the_cases(tmp_path):
    # Three folds of as many cases each: a fold tests half as many as it trains on.
    cv = ROWS.with_columns(fold=pl.col("case").rank("dense").mod(3))
    cv = cv.filter(pl.col("case").rank("dense") <= cv["case"].n_unique() // 3 * 3)
    asked = {"truth": "truth", "score": "score"}
    cases = headline(cv, tmp_path, case="case", **asked)[0]
    ratio = headline(cv, tmp_path, test_train_ratio=0.5, **asked)[0]
    chance = [re.search(r"probability of [^,.]*", said)[0] for said in (cases, ratio)]
    assert chance[0] == chance[1]
    assert "at least" not in chance[0]


def test_a_report_ranks_by_cost_or_says_which_model_costs_less(tmp_path):
    # Of A the worst negatives rank high, of B all positives lie above most negatives.
    rng = np.random.default_rng(1)
    truth = np.repeat([True, False], [100, 400])
    sharp = np.where(truth, np.where(rng.random(500) < 0.6, 5.0, 0.0), 0.0)
    broad = np.where(truth, 3.0, np.where(rng.random(500) < 0.15, 3.0, 0.0))
    noise = rng.normal(scale=0.01, size=(2, 500))
    table = pl.DataFrame({"truth": truth, "A": sharp + noise[0], "B": broad + noise[1]})
    columns = {**COLUMNS, "over": (0.1, 0.1), "cost_fn": 20}
    test, tuning = table[::2], table[1::2]
    costs = pr.choose(test, tuning=tuning, measure="expected_cost", **columns)
    told = []
    pr.report(test, tuning=tuning, path=tmp_path / "x.html", tell=told.append, **columns)
    assert costs.bayes == "B"
    assert told[0].startswith("Take B")
    cost = costs.models["mean"][0]
    total = re.search(r"which costs as much as about (\d+) false alarms", told[0])[1]
    assert float(total) == pytest.approx(1000 * cost, rel=0.005)
    # Thresholds that are set on the same cases: ranked by area.
    pr.report(test, path=tmp_path / "y.html", tell=told.append, **columns)
    (ranked,) = (line for line in told[1:] if line.startswith("Take"))
    assert ranked.startswith("Take A")
    less, more = re.search(r"B costs less than A: (\S+) per case, not (\S+)\. ", ranked).groups()
    assert float(less) < float(more)
