"""How sure `choose` is: its probabilities, corrected means, limits and losses."""

import chances
import numpy as np
import polars as pl
import pytest
from layouts import tidy
from scipy import stats

import polaroc as pr

SURE = ("expected", "expected_lower", "expected_upper", "probability_best", "expected_loss")
MANY = 2001  # folds of which the covariance is all but known


def chosen(values, ratio=0.0, measure="auprec", order=None):
    """The results for each model, in the order of the columns of folds × models."""
    names = [f"m{i:03}" for i in range(values.shape[1])]
    table = tidy(values, models=names, measure=measure, prior=0.1)
    models = pr.choose(table, measure, test_train_ratio=ratio).models.sort("model")
    return {name: models[name].to_numpy() for name in ("mean", *SURE)}


def folds_of(means, covariance, folds=MANY):
    """Folds whose means have exactly these values and, if independent, this covariance."""
    drawn = np.random.default_rng(0).normal(size=(folds, len(means)))
    drawn, _ = np.linalg.qr(drawn - drawn.mean(axis=0))
    root = np.linalg.cholesky(np.asarray(covariance) * folds * (folds - 1))
    return np.asarray(means) + drawn @ root.T


@pytest.mark.parametrize("lead", [0.3, 1.0, 2.0, 4.0])
def test_two_models_have_the_documented_posterior_by_integration(lead):
    error = 0.01
    found = chosen(folds_of([0.5 + lead * error, 0.5], np.eye(2) * error**2 / 2))
    expected = chances.of_two(lead)
    assert found["probability_best"][0] == pytest.approx(expected.probability_best, abs=0.01)
    assert found["probability_best"].sum() == pytest.approx(1)
    assert found["expected_loss"] / error == pytest.approx(expected.loss, abs=0.03 * (1 + lead))
    # Both are moved towards their middle.
    off = (1 - expected.kept) * lead / 2
    moved = lead - off, off
    assert (found["expected"] - 0.5) / error == pytest.approx(moved, abs=5e-3 * (1 + lead))


@pytest.mark.parametrize("folds", [MANY, 8])
def test_where_models_differ_widely_nothing_is_corrected(folds):
    covariance, means = (np.eye(3) + 1) * 1e-8, np.array([0.5, 0.9, 0.7])
    found = chosen(folds_of(means, covariance, folds))
    assert found["expected"] == pytest.approx(means, abs=1e-4)
    assert found["probability_best"] == pytest.approx([0, 1, 0], abs=1e-9)
    assert found["expected_loss"] == pytest.approx([0.4, 0, 0.2], abs=3e-4)
    reach = stats.t.ppf(0.975, folds - 1) * np.sqrt(np.diag(covariance))
    assert (found["expected_upper"] - found["expected_lower"] >= 2 * reach - 1e-12).all()
    if folds == MANY:
        assert found["expected_upper"] - found["expected_lower"] == pytest.approx(
            2 * reach, rel=0.01
        )


def test_shift_scale_and_order_of_models_do_not_matter():
    values = 0.5 + np.random.default_rng(1).normal(size=(10, 4)) * 0.02
    one, moved = chosen(values), chosen(0.3 + values / 10)
    for name in ("probability_best", "expected_loss"):
        assert moved[name] * (10 if "loss" in name else 1) == pytest.approx(one[name])
    for name in ("expected", "expected_lower", "expected_upper"):
        assert moved[name] == pytest.approx(0.3 + one[name] / 10)
    order = [2, 0, 3, 1]
    turned = chosen(values[:, order])
    for name in SURE:
        assert turned[name] == pytest.approx(one[name][order], abs=1e-12)
    again = chosen(values)
    assert all((again[name] == one[name]).all() for name in SURE)


def test_models_that_are_the_same_share_the_probability():
    values = folds_of([0.8, 0.78], [[2e-4, 1e-4], [1e-4, 3e-4]])
    found = chosen(values[:, [0, 1, 0]])
    for name in SURE:
        assert found[name][0] == pytest.approx(found[name][2], abs=0.01)
    assert found["probability_best"].sum() == pytest.approx(1)
    alike = chosen(np.repeat(values[:, :1], 4, axis=1))
    assert np.isnan(alike["probability_best"]).all()


@pytest.mark.parametrize("folds", [10, MANY])
def test_a_model_far_behind_does_not_make_the_others_surer(folds):
    means, covariance = [0.72, 0.70, 0.40], np.eye(3) * 1e-4
    two = chosen(folds_of(means[:2], covariance[:2, :2], folds))
    three = chosen(folds_of(means, covariance, folds))
    for name in ("probability_best", "expected", "expected_loss"):
        assert three[name][:2] == pytest.approx(two[name], abs=0.015)
    assert three["probability_best"].sum() == pytest.approx(1)
    assert three["probability_best"][2] < 1e-3
    assert three["expected_loss"][2] > 0.2


def test_many_models_that_are_equal_are_about_equally_likely_on_few_folds():
    values = 0.5 + np.random.default_rng(0).normal(size=(5, 100)) * 0.02
    found = chosen(values)
    assert found["probability_best"].sum() == pytest.approx(1)
    assert found["probability_best"].max() < 0.2
    assert (found["expected_lower"] < found["expected"]).all()
    assert (found["expected"] < found["expected_upper"]).all()
    picked = found["mean"].argmax()
    assert found["expected"][picked] - 0.5 < 0.5 * (found["mean"][picked] - 0.5)


def test_of_models_as_many_errors_behind_the_imprecise_one_is_not_the_likelier():
    # B is five times as far behind as C, with five times the error: nothing tells them apart.
    means, errors = np.array([0.80, 0.60, 0.76]), np.array([1e-4, 0.1, 0.02])
    found = chosen(folds_of(means, np.diag(errors**2)))
    a, b, c = found["probability_best"]
    assert a > 0.6
    assert b == pytest.approx(c, abs=0.03)
    assert found["expected"][0] == pytest.approx(0.80, abs=1e-3)


def test_no_model_is_expected_to_lose_more_than_a_measure_can():
    found = chosen(folds_of([0.9, 0.5], [[0.2, 0.1], [0.1, 0.4]], folds=2))
    assert (found["expected_loss"] < 1).all()


# --- How often answers are right, in samples -----------------------------------------------------


def sampled(rng, runs, models, spread, folds=10, ratio=0.0):
    """Runs × (said, right, bias of the picked model, what is left of it, whether limits hold).

    Models differ by so many standard errors of a difference; folds share training cases, whose
    errors are as correlated as the correction takes them to be.
    """
    error = 0.05 * np.sqrt(1 / folds + ratio)
    found = []
    for _ in range(runs):
        true = 0.5 + spread * error * rng.normal(size=models)
        shared = rng.normal(size=models) * 0.05 * np.sqrt(ratio)
        values = true + shared + rng.normal(size=(folds, models)) * 0.05
        known = chosen(values, ratio=ratio)
        first = known["mean"].argmax()
        lower, upper = known["expected_lower"][first], known["expected_upper"][first]
        found.append((
            known["probability_best"][first], first == true.argmax(),
            known["mean"][first] - true[first], known["expected"][first] - true[first],
            lower <= true[first] <= upper,
        ))  # fmt: skip
    return np.array(found).T


@pytest.mark.slow
@pytest.mark.parametrize(("folds", "ratio"), [(10, 0.0), (20, 0.25)])
def test_the_picked_model_is_the_best_as_often_as_is_said(folds, ratio):
    rng = np.random.default_rng(0)
    drawn = [sampled(rng, 150, 3, spread, folds, ratio) for spread in (1.0, 2.0)]
    said, right = np.concatenate([own[:2] for own in drawn], axis=1)
    error = np.sqrt((said * (1 - said)).sum()) / said.size
    assert said.mean() < right.mean() + 3.5 * error
    assert right.mean() < said.mean() + 0.06 + 3.5 * error


@pytest.mark.slow
@pytest.mark.parametrize("models", [3, 10])
def test_the_corrected_mean_of_equal_models_keeps_little_of_the_bias_of_picking(models):
    _, _, bias, left, held = sampled(np.random.default_rng(1), 200, models, 0.0)
    assert left.mean() < bias.mean() / 3 + 3 * (left - bias / 3).std() / left.size**0.5
    assert held.sum() >= stats.binom.ppf(1e-3, held.size, 0.93)


@pytest.mark.slow
@pytest.mark.parametrize("folds", [2, 4])
@pytest.mark.parametrize("sds", [(0.03, 0.03), (0.015, 0.06)])
def test_limits_of_the_better_of_two_models_hold_on_few_folds(folds, sds):
    rng, runs = np.random.default_rng(5), 80
    covariance = np.outer(sds, sds) * [[1, 0.6], [0.6, 1]]
    spread = 2 * np.sqrt((covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]) / 2 / folds)
    held = 0
    for _ in range(runs):
        true = 0.5 + spread * rng.normal(size=2)
        found = chosen(rng.multivariate_normal(true, covariance, size=folds))
        first = found["mean"].argmax()
        held += found["expected_lower"][first] <= true[first] <= found["expected_upper"][first]
        assert found["mean"].min() - 1e-12 <= found["expected"].min()
        assert found["expected"].max() <= found["mean"].max() + 1e-12
    assert held >= stats.binom.ppf(0.001, runs, 0.95)


@pytest.mark.slow
def test_limits_of_the_cost_of_the_picked_model_hold_its_true_cost():
    # Of equal models on few positives.
    rng, prior, gap, held, runs = np.random.default_rng(3), 0.2, 2.0, 0, 120

    def drawn(positives, negatives):
        truth = np.arange(positives + negatives) < positives
        scores = {name: rng.normal(size=truth.size) + gap * truth for name in "ABCDE"}
        return pl.DataFrame({"truth": truth, **scores})

    for _ in range(runs):
        models = pr.choose(
            drawn(20, 80), truth="truth", score=list("ABCDE"), tuning=drawn(100, 400), case=None,
            over=(prior, prior), cost_fn=5,
        ).models.row(0, named=True)  # fmt: skip
        at = models["threshold"]
        true = 5 * prior * stats.norm.cdf(at - gap) + (1 - prior) * stats.norm.sf(at)
        held += models["expected_lower"] <= true <= models["expected_upper"]
    assert held >= stats.binom.ppf(0.01, runs, 0.95)
