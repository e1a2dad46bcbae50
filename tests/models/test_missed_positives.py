"""A challenger that misses positives: what one that is not seen does."""

import math
import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from simulations import gates

import polaroc as pr

NAMES = {"champion": "A", "challenger": "B", "truth": "truth", "score": "score", "case": "id"}
RNG = np.random.default_rng(5)


def table(champion, challenger, positives):
    cases = len(champion)
    return pl.concat(
        pl.DataFrame({"model": name, "id": range(cases), "truth": np.arange(cases) < positives,
                      "score": scores})
        for name, scores in {"A": champion, "B": challenger}.items()
    )  # fmt: skip


def alike(positives, negatives, seed=0):
    """Two models that are equally good, and all but alike."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=positives + negatives) + 3 * (
        np.arange(positives + negatives) < positives
    )
    return table(*(shared + 0.05 * rng.normal(size=shared.size) for _ in range(2)), positives)


def gate(predictions, **arguments):
    folds = {"fold": ["repeat", "fold"]} if "repeat" in predictions.columns else {}
    return pr.gate(predictions, **NAMES, **folds, **{"measure": "auc", **arguments})


def differing(positives=60, negatives=240):
    truth = np.arange(positives + negatives) < positives
    own = RNG.normal(size=(3, truth.size))
    return table(own[0] + own[1] + 3 * truth, own[0] + own[2] + 3 * truth, positives)


def test_where_no_positive_moves_the_difference_as_many_may_be_missed_as_leave_none_seen():
    # Only negatives are ranked differently, far below all positives.
    scores = np.append(np.full(40, 9.0), np.arange(400.0))
    other = np.append(np.full(40, 9.0), np.append([1.0, 0.0], np.arange(2.0, 400)))
    scores[:40] = other[:40] = 500.0
    # A pair that changes places across one positive, so that there is a variance.
    scores[0], other[1] = 398.5, 398.5
    result = gate(table(scores, other, 40))
    assert result.difference == pytest.approx(0)
    # A share that 40 positives do not show with the chance 0.025 has 1 − share = 0.025^(1/40).
    assert result.lower == pytest.approx(0.025 ** (1 / 40) - 1, abs=2e-3)
    assert result.upper == pytest.approx(-result.lower, abs=1e-3)


def test_the_largest_clusters_may_hide_what_small_ones_would_show():
    # 30 patients have 20 positives each, and 270 have one; only negatives are ranked differently.
    sizes = np.repeat([20, 1], [30, 270])
    positives = int(sizes.sum())
    patient = np.append(np.repeat(np.arange(300), sizes), 300 + np.arange(400))
    scores = np.append(np.full(positives, 360.5), np.arange(400.0))
    other = scores.copy()
    scores[0], other[21] = 358.5, 358.5
    rows = table(scores, other, positives).with_columns(patient=np.tile(patient, 2))
    share = max(sizes[:k].sum() / sizes.sum() * (1 - 0.025 ** (1 / k)) for k in range(1, 301))
    result = gate(rows, cluster="patient")
    assert result.lower == pytest.approx(-share, abs=3e-3)
    # As with so heavy a row of each.
    weights = np.append(sizes, np.ones(400)).astype(float)
    few = table(*(np.append(np.full(300, 360.5), own[positives:]) for own in (scores, other)), 300)
    few = few.with_columns(weight=np.tile(weights, 2))
    # More of them move, or Student's t has one degree of freedom.
    moves = pl.col("id").is_between(100, 299) & (
        (pl.col("id") % 2 == 0) == (pl.col("model") == "A")
    )
    moved = few.with_columns(score=pl.when(moves).then(358.5).otherwise("score"))
    heavy = gate(moved, weight="weight")
    assert heavy.lower == pytest.approx(-share, abs=6e-3)


def test_negatives_of_a_kind_not_seen_count_for_the_auc():
    # The same two models with all scores turned around and labels swapped.
    predictions = alike(400, 30)
    turned = predictions.with_columns(~pl.col("truth"), -pl.col("score"))
    result, expected = gate(predictions), gate(turned)
    assert (result.lower, result.upper) == pytest.approx((expected.lower, expected.upper))
    assert result.lower == pytest.approx((1 + result.difference) * 0.025 ** (1 / 30) - 1)


@pytest.mark.parametrize(("cases", "margin"), [((30, 400), 0.08), ((60, 400), 0.02)])
def test_few_positives_leave_it_open_and_as_many_as_are_asked_for_decide(cases, margin):
    predictions = alike(*cases)
    result = gate(predictions, margin=margin)
    assert result.verdict == "undecided"
    assert result.lower < -margin
    times = int(re.match(r"About (\d+) times as many cases would", result.warnings[0])[1])
    # Half the width is so many times as far as the margin, squared.
    gap = result.difference + margin
    assert times == math.ceil(((result.difference - result.lower) / gap) ** 2)
    # The same rows so many times, as if they were other cases.
    more = pl.concat(
        predictions.with_columns(pl.col("id") + copy * sum(cases)) for copy in range(times)
    )
    assert gate(more, margin=margin).verdict == "pass"


def test_where_the_difference_is_the_margin_no_number_of_cases_decides():
    predictions = alike(60, 400)
    lead = gate(predictions).difference
    if lead > 0:
        predictions = predictions.with_columns(pl.col("model").replace({"A": "B", "B": "A"}))
    result = gate(predictions, margin=abs(lead))
    assert "No number of cases would decide it" in result.warnings[0]


# --- Folds ---------------------------------------------------------------------------------------


def in_folds(predictions, repeats=2):
    """Ten folds of each class, the scores as they are."""
    rows = predictions.filter(model="A").select("id", "truth")
    folds = pl.concat(
        rows.with_columns(
            repeat=pl.lit(repeat),
            fold=pl.int_range(pl.len()).shuffle(repeat).over("truth") % 10,
        )
        for repeat in range(repeats)
    )
    return folds.join(predictions.drop("truth"), on="id")


def test_on_folds_few_positives_leave_it_open_too():
    few, names = in_folds(alike(40, 400)), {key: NAMES[key] for key in ("truth", "score", "case")}
    roles = {**names, "fold": ["repeat", "fold"]}
    for asked in (
        {"measure": "auc"}, {"measure": "auprec", "priors": 0.5},
        {"measure": "iauprec", "over": (0.05, 0.2)},
    ):  # fmt: skip
        result = gate(few, margin=0.05, **asked)
        # The folds alone would let it pass.
        assert pr.compare(few, **roles, **asked).pairs["lower"].item() > -0.02
        assert result.verdict == "undecided"
        assert result.lower == pytest.approx(0.025 ** (1 / 40) - 1, abs=6e-3)
        assert "times as many cases" in result.warnings[0]
        assert gate(few, margin=0.1, **asked).verdict == "pass"


def test_on_folds_each_positive_counts_once():
    predictions = differing(40, 400)
    one, ten = (gate(in_folds(predictions, repeats)) for repeats in (1, 10))
    assert ten.lower < ten.difference - 0.05
    assert ten.lower == pytest.approx(one.lower, abs=0.03)


def test_without_cases_or_of_measures_the_number_of_positives_is_what_is_known():
    few = in_folds(alike(40, 400), 1)
    roles = {**NAMES, "fold": ["repeat", "fold"], "test_train_ratio": 1 / 9, "measure": "auc"}
    bound = 0.025 ** (1 / 40)
    unknown = pr.gate(few.drop("id"), **{**roles, "case": None})
    measured = pr.gate(
        pr.evaluate(few, truth="truth", score="score", model="model", fold=["repeat", "fold"]),
        **{name: roles[name] for name in ("champion", "challenger", "test_train_ratio", "measure")},
    )
    for result in (unknown, measured):
        assert result.lower == pytest.approx((1 + result.difference) * bound - 1)
        assert result.upper == pytest.approx(1 - (1 - result.difference) * bound)


def test_weights_do_not_count_as_so_many_positives():
    few = in_folds(alike(40, 400), 1).with_columns(weight=pl.lit(10.0))
    roles = {**NAMES, "fold": ["repeat", "fold"], "test_train_ratio": 1 / 9, "measure": "auc"}
    weighted = pr.gate(few, **{**roles, "case": None}, weight="weight")
    assert (weighted.verdict, weighted.lower) == ("undecided", None)
    named = [pr.gate(few, **roles, **more).lower for more in ({}, {"weight": "weight"})]
    assert named[0] == pytest.approx(named[1])
    measures = pr.evaluate(few, truth="truth", score="score", model="model",
                           fold=["repeat", "fold"], weight="weight")  # fmt: skip
    result = pr.gate(measures, champion="A", challenger="B", measure="auc", test_train_ratio=1 / 9)
    assert (result.verdict, result.lower) == ("undecided", None)
    assert "give predictions with case='id'" in " ".join(result.warnings)


# --- In samples ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_challenger_that_misses_positives_passes_as_rarely_as_promised():
    runs = 100
    passed = gates.counted(np.random.default_rng(7), runs, "100 + 400", "lowest 3 %", 0.97, 0.9)
    assert max(passed.values()) <= binom.ppf(0.999, runs, 0.03)
