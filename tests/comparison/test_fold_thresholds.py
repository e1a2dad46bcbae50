import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import ASKED, OVER, Page, models, satellite
from scipy.stats import norm
from sizes import replicates

import polaroc as pr
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.comparison.fold_thresholds import (
    compare_scales,
    rates_across_folds,
    rates_within_folds,
    read_folds,
)
from polaroc.predictions.resolved import keyed
from polaroc.predictions.row_checks import SCORE
from polaroc.thresholds.need import Need

pytestmark = pytest.mark.usefixtures("words_only")

PRIORS = (0.1, 0.5)
COSTS = [Need("cost", (prior,), cost_fn=10, cost_fp=3) for prior in PRIORS]


def read(table: pl.DataFrame, case: str | None = None):
    own = table.rename({"truth": TRUTH, "score": SCORE, "weight": WEIGHT}, strict=False)
    weight = WEIGHT if WEIGHT in own.columns else None
    return read_folds(keyed(own, truth=TRUTH, score=SCORE, fold="fold", case=case, weight=weight))


@st.composite
def fold_tables(draw):
    row = st.tuples(
        st.integers(0, 6), st.integers(0, 7), st.booleans(), st.sampled_from([-1.0, 0.0, 0.5, 2.0]),
        st.sampled_from([0.5, 1.0, 3.0]),
    )  # fmt: skip
    rows = draw(st.lists(row, min_size=2, max_size=30, unique_by=lambda r: (r[0], r[1])))
    return pl.DataFrame(rows, schema=["fold", "case", "truth", "score", "weight"], orient="row")


def rate(rows: list[dict], truth: bool, threshold: float) -> float | None:
    own = [row for row in rows if row["truth"] is truth]
    called = sum(row["weight"] for row in own if row["score"] >= threshold)
    return called / sum(row["weight"] for row in own) if own else None


def cheapest(rows: list[dict], prior: float) -> float:
    """The threshold of least mean cost over folds, by trying all; inf for none."""
    tried = [float("inf"), *sorted({row["score"] for row in rows}, reverse=True)]
    folds = [[row for row in rows if row["fold"] == fold] for fold in {r["fold"] for r in rows}]
    costs = []
    for at in tried:
        t, f = (
            [r for fold in folds if (r := rate(fold, y, at)) is not None] for y in (True, False)
        )
        missed = 1 - sum(t) / len(t) if t else 1
        alarms = sum(f) / len(f) if f else 0
        costs.append(prior * 10 * missed + (1 - prior) * 3 * alarms)
    return next(at for at, c in zip(tried, costs, strict=True) if c <= min(costs) + 1e-9)


def costs(judged) -> np.ndarray:
    return COSTS[1].cost(judged.tpr[1], judged.fpr[1])


@given(fold_tables())
def test_a_threshold_has_the_least_mean_cost_over_folds(table):
    found = read(table, "case").thresholds(COSTS)
    expected = [cheapest(table.to_dicts(), prior) for prior in PRIORS]
    assert [np.inf if at is None else at for at in found] == expected


@given(fold_tables(), st.booleans())
def test_rows_are_judged_at_thresholds_of_other_folds_and_cases(table, known):
    judged = rates_across_folds(read(table, "case" if known else None), COSTS)
    rows = table.to_dicts()
    folds = sorted({row["fold"] for row in rows})
    cases = sorted({row["case"] for row in rows})
    shared = known and table["case"].is_duplicated().any()
    group = {fold: i % 5 for i, fold in enumerate(folds)}
    part = {case: i % 5 if shared else 0 for i, case in enumerate(cases)}
    for k, prior in enumerate(PRIORS):
        for row in rows:
            held = [
                r
                for r in rows
                if group[r["fold"]] == group[row["fold"]] and part[r["case"]] == part[row["case"]]
            ]
            seen = {r["case"] for r in held} if known else set()
            tuning = [
                r for r in rows if group[r["fold"]] != group[row["fold"]] and r["case"] not in seen
            ]
            row["called"] = row["score"] >= (cheapest(tuning, prior) if tuning else np.inf)
        for j, fold in enumerate(folds):
            for truth, found in ((True, judged.tpr), (False, judged.fpr)):
                own = [r for r in rows if r["fold"] == fold and r["truth"] is truth]
                called = sum(r["weight"] for r in own if r["called"])
                if own:
                    assert found[k, j] == pytest.approx(called / sum(r["weight"] for r in own))
                else:
                    assert np.isnan(found[k, j])


def test_folds_of_the_same_cases_are_judged_on_cases_left_out():
    rng = np.random.default_rng(3)
    one = pl.DataFrame({"case": range(60), "truth": rng.random(60) < 0.4, "score": rng.random(60)})
    table = pl.concat([one.with_columns(fold=pl.lit(fold)) for fold in range(4)])
    in_sample = min(
        COSTS[1].cost((one["score"].to_numpy()[one["truth"].to_numpy()] >= at).mean(),
                 (one["score"].to_numpy()[~one["truth"].to_numpy()] >= at).mean())
        for at in [*one["score"], np.inf]
    )  # fmt: skip
    unknown, known = (rates_across_folds(read(table, case), COSTS) for case in (None, "case"))
    assert costs(unknown) == pytest.approx([in_sample] * 4)
    assert (costs(known) > in_sample + 0.01).all()


FEATURES, SHIFT = 5, 0.75
PRIOR = 0.2
# A loss takes half of each cost: these make it the share of errors.
COST = Need("cost", (PRIOR,), cost_fn=2, cost_fp=2)
HOLD_OUTS = 20


def fitted(rng: np.random.Generator, positives: int, negatives: int):
    """Hold-outs 80/20 as a discriminant scores them, its weights and what it subtracts."""
    truth = np.arange(5 * (positives + negatives)) < 5 * positives
    cases = rng.normal(size=(len(truth), FEATURES)) + SHIFT * truth[:, None]
    parts, weights = [], []
    for fold in range(HOLD_OUTS):
        test = np.zeros(len(truth), dtype=bool)
        for own in map(np.flatnonzero, (truth, ~truth)):
            test[rng.choice(own, len(own) // 5, replace=False)] = True
        train, own = cases[~test], truth[~test]
        means = train[own].mean(axis=0), train[~own].mean(axis=0)
        centred = train - np.where(own[:, None], *means)
        pooled = centred.T @ centred / (len(train) - 2)
        direction = np.linalg.solve(pooled, means[0] - means[1])
        middle = sum(means) / 2 @ direction
        weights.append(np.append(direction, middle))
        score = cases[test] @ direction - middle
        table = {"case": np.flatnonzero(test), TRUTH: truth[test], SCORE: score}
        parts.append(pl.DataFrame(table).with_columns(pl.lit(fold).alias("fold")))
    return pl.concat(parts), np.array(weights)


def true_cost(weights: np.ndarray, thresholds: list[float | None]) -> float:
    """The mean cost of thresholds for fitted models, over the population."""
    size = np.linalg.norm(weights[:, :-1], axis=1)
    ahead = SHIFT * weights[:, :-1].sum(axis=1)
    costs = []
    for threshold in thresholds:
        at = (np.inf if threshold is None else threshold) + weights[:, -1]
        costs.append(COST.cost(norm.sf((at - ahead) / size), norm.sf(at / size)))
    return float(np.mean(costs))


def differences(case: str | None, samples: int) -> np.ndarray:
    """Samples × (cost shown, it less the true cost as judged, it less that as printed)."""
    found = []
    for sample in range(samples):
        table, weights = fitted(np.random.default_rng([1, 30, 0, sample]), 30, 120)
        rows = read_folds(keyed(table, truth=TRUTH, score=SCORE, fold="fold", case=case))
        judged = rates_across_folds(rows, [COST])
        shown = float(COST.cost(judged.tpr, judged.fpr).mean())
        judged_at = true_cost(weights, judged.thresholds[0])
        printed = true_cost(weights, rows.thresholds([COST]))
        found.append((shown, shown - judged_at, shown - printed))
    return np.array(found)


@pytest.mark.long
@pytest.mark.slow
def test_optimism_is_gone_where_cases_are_known():
    samples = replicates(50, 25)
    unknown, known = (differences(case, samples) for case in (None, "case"))
    shown = known[:, 0] - unknown[:, 0]
    assert shown.mean() > 4 * shown.std(ddof=1) / samples**0.5
    for column in (1, 2):
        left, gone = unknown[:, column], known[:, column]
        assert abs(gone.mean()) < 3 * gone.std(ddof=1) / samples**0.5
        assert left.mean() < gone.mean() - 0.002


def test_the_true_cost_of_the_simulation_is_that_of_many_cases():
    rng = np.random.default_rng(0)
    weights = np.array([[1.0, -0.2, 0.4, 0.0, 2.0, 0.3]])
    n = 200_000
    scores = [
        (rng.normal(size=(n, 5)) + shift) @ weights[0, :-1] - weights[0, -1] for shift in (SHIFT, 0)
    ]
    prior = PRIOR
    expected = prior * (scores[0] < 0.7).mean() + (1 - prior) * (scores[1] >= 0.7).mean()
    assert true_cost(weights, [0.7]) == pytest.approx(expected, abs=0.003)
    assert true_cost(weights, [None]) == pytest.approx(prior)


def shifted(by: float) -> pl.DataFrame:
    return models(1, folds=6).with_columns(
        pl.col("score") + 3 * pl.col("truth") + by * pl.col("fold")
    )


@pytest.mark.parametrize("shift", [0, 20])
def test_scales_of_their_own_are_found(shift):
    folds = read(shifted(shift), "id")
    common, own = (costs(judge(folds, COSTS)) for judge in (rates_across_folds, rates_within_folds))
    assert compare_scales(common, own) == (shift == 0)


def test_thresholds_within_a_fold_do_not_depend_on_the_others_scores():
    table = models(1, folds=4)
    scaled = table.with_columns(pl.col("score") * (1 + pl.col("fold")) - 7 * pl.col("fold"))
    found, again = (rates_within_folds(read(each, "id"), COSTS) for each in (table, scaled))
    assert np.array_equal(found.tpr, again.tpr)
    assert np.array_equal(found.fpr, again.fpr)


def test_scales_differ_where_most_folds_are_clearly_dearer_with_one_threshold():
    own = np.array([0.1, 0.2, 0.3])
    assert compare_scales(own * 1.2, own)
    assert not compare_scales(own * 1.3, own)
    assert compare_scales(np.array([0.1, 0.2, 9]), own)
    assert not compare_scales(np.array([0.2, 0.3, np.nan]), own)
    assert compare_scales(np.array([np.nan]), np.array([0.1]))


@pytest.mark.slow
@pytest.mark.parametrize("case", [None, "case"])
def test_a_report_says_whether_cases_are_known(tmp_path, case):
    told = []
    table = satellite().filter(model="A")
    made = pr.report(
        table, **ASKED, over=OVER, case=case, cost_fn=1, path=tmp_path / "r.html", tell=told.append
    )
    page = Page(made)
    unknown = [
        line for line in told if line.startswith("No column says which rows are the same case")
    ]
    assert len(unknown) == (case is None)
    assert "Set it on cases that this model was not trained on" in page.text()
    folds = read(table, case)
    needs = [Need("cost", (prior,)) for prior in (0.05, 0.125, 0.2)]
    judged = rates_across_folds(folds, needs)
    # With the cases the overlap of training sets is known, and so is a margin of error.
    shown = page.table("Thresholds of A")["alarms of 100 positives"].to_list()
    assert all(("(" in text) == (case is not None) for text in shown)
    assert [text.split()[0] for text in shown] == [
        f"{100 * recall:.0f}" for recall in judged.tpr.mean(axis=1)
    ]


@pytest.mark.slow
def test_a_report_says_where_scores_do_not_compare(tmp_path):
    made = pr.report(shifted(20), **ASKED, over=OVER, case="id", path=tmp_path / "r.html")
    assert "the scores of their models cannot be compared" in Page(made).text()


def test_rows_without_a_case_are_refused(tmp_path):
    table = models(2).with_columns(pl.when(pl.col("id") > 2).then("id").alias("id"))
    with pytest.raises(pr.errors.InvalidPredictions, match=r"have no case[^$]*Hint:"):
        pr.report(table, **ASKED, over=OVER, case="id", path=tmp_path / "r.html")
