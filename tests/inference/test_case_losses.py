import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import expit, logit
from scored import binormal

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
MEASURES = ["brier", "log_loss", "brier_skill"]


def predictions(seed: int, rows: int = 300, sets: int = 1) -> pl.DataFrame:
    log_odds, truth = binormal(np.random.default_rng(seed), rows * sets, 0.3, 1.5, 0.3)
    return pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), rows), "truth": truth == 1, "score": expit(log_odds),
        }
    )  # fmt: skip


def losses(table: pl.DataFrame, prior: float, score_prior: float) -> dict[str, np.ndarray]:
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    p = expit(logit(score) + logit(prior) - logit(score_prior))
    return {"brier": (truth - p) ** 2, "log_loss": -np.log(np.where(truth, p, 1 - p))}


@pytest.mark.parametrize("prior", [0.3, 0.01])
def test_standard_errors_are_those_of_two_means(prior):
    table = predictions(1)
    truth = table["truth"].to_numpy()
    found = pr.evaluate(
        table, **NAMES, priors=prior, measure=MEASURES, intervals=True, score_prior=0.2
    )
    errors = dict(found.select("measure", "std_error").iter_rows())
    for name, loss in losses(table, prior, 0.2).items():
        variance = sum(
            weight**2 * loss[of].var(ddof=1) / of.sum()
            for of, weight in ((truth, prior), (~truth, 1 - prior))
        )
        assert errors[name] == pytest.approx(variance**0.5, rel=1e-9)
    skill = errors["brier"] / (prior * (1 - prior))
    assert errors["brier_skill"] == pytest.approx(skill, rel=1e-9)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
@pytest.mark.parametrize(("positives", "negatives"), [(4, 9), (12, 5), (30, 200)])
def test_limits_are_the_widest_with_one_case_more(name, positives, negatives):
    prior, rng = 0.2, np.random.default_rng(positives)
    truth = np.arange(positives + negatives) < positives
    table = pl.DataFrame({"truth": truth, "score": rng.beta(2 + truth, 3 - truth)})
    loss = losses(table, prior, 0.3)[name]
    # A log loss has no bound: the case more has a score e² times as wrong as the worst one.
    worst = [1.0, 1.0] if name == "brier" else [loss[truth].max() + 2, loss[~truth].max() + 2]
    quantile = stats.t.ppf(0.975, min(positives, negatives) - 1)
    ends = []
    for more in ((), (0, worst[0]), (0, 0.0), (1, worst[1]), (1, 0.0)):
        by_class = [loss[truth], loss[~truth]]
        if more:
            by_class[more[0]] = np.append(by_class[more[0]], more[1])
        weights = prior, 1 - prior
        mean = sum(w * one.mean() for w, one in zip(weights, by_class, strict=True))
        error = (
            sum(w**2 * one.var(ddof=1) / one.size for w, one in zip(weights, by_class, strict=True))
            ** 0.5
        )
        factor = np.exp(quantile * error / mean)
        ends += [mean / factor, mean * factor]
    found = pr.evaluate(
        table, **NAMES, priors=prior, measure=name, intervals=True, score_prior=0.3
    ).row(0, named=True)
    assert found["lower"] == pytest.approx(min(ends), rel=1e-9)
    most = 1.0 if name == "brier" else np.inf
    assert found["upper"] == pytest.approx(min(max(ends), most), rel=1e-9)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_an_observed_score_prior_adds_its_own_error(name):
    table = predictions(2).with_columns(pl.col("score") ** 2)
    own = table["truth"].mean()
    asked = {**NAMES, "priors": 0.1, "measure": name, "intervals": True}
    fixed, observed = (
        pr.evaluate(table, **asked, score_prior=at).row(0, named=True) for at in (own, "observed")
    )
    assert observed["estimate"] == pytest.approx(fixed["estimate"], rel=1e-12)
    moved = [
        pr.evaluate(table, **asked, score_prior=float(expit(logit(own) + step)))["estimate"].item()
        for step in (1e-4, -1e-4)
    ]
    slope = (moved[0] - moved[1]) / 2e-4
    positives = table["truth"].sum()
    extra = slope**2 * (1 / (positives - 1) + 1 / (299 - positives))
    assert observed["std_error"] ** 2 - fixed["std_error"] ** 2 == pytest.approx(extra, rel=1e-3)
    # At the observed prior scores stay as they are, whatever it is.
    same = [
        pr.evaluate(table, **asked | {"priors": "observed"}, score_prior=at)["std_error"].item()
        for at in (own, "observed")
    ]
    assert same[0] == pytest.approx(same[1], rel=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_clusters_move_losses_and_the_observed_score_prior_together(name):
    # The scores of clusters with more positives are far too low: these clusters raise the prior
    # and the losses.
    rng = np.random.default_rng(6)
    clusters, size = 120, 6
    level = np.repeat(rng.normal(0, 1.5, clusters), size)
    truth = rng.random(clusters * size) < expit(level - 0.5)
    table = pl.DataFrame(
        {
            "truth": truth, "score": expit(2 * truth - 3 - level + rng.normal(0, 0.5, truth.size)),
            "cluster": np.repeat(np.arange(clusters), size),
        }
    )  # fmt: skip
    asked = {**NAMES, "priors": 0.1, "measure": name}
    found = pr.evaluate(table, **asked, cluster="cluster", intervals=True)["std_error"].item()
    left_out = pl.concat(
        table.filter(pl.col("cluster") != one).with_columns(run=one) for one in range(clusters)
    )
    values = pr.evaluate(left_out, **asked, by="run")["estimate"].to_numpy()
    jackknife = (clusters - 1) * values.var()
    assert found**2 == pytest.approx(jackknife, rel=0.03)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_a_difference_has_the_error_of_the_score_prior_too(name):
    # One model expects too many positives, the other one too few.
    wide = predictions(2).with_columns(high=pl.col("score") ** 0.5, low=pl.col("score") ** 2)
    positives = wide["truth"].sum()
    own = positives / wide.height

    def lead(at, **changed):
        asked = {"truth": "truth", "score": ["high", "low"], "priors": 0.1} | changed
        pair = pr.compare(wide, name, **asked, score_prior=at).pairs
        return pair.select("difference", "std_error").row(0)

    (difference, fixed), (same, observed) = lead(own), lead("observed")
    assert same == pytest.approx(difference, rel=1e-12)
    up, down = (lead(float(expit(logit(own) + step)))[0] for step in (1e-4, -1e-4))
    extra = ((up - down) / 2e-4) ** 2 * (1 / positives + 1 / (wide.height - positives))
    assert extra > 0.1 * fixed**2
    # What a case that is not seen adds depends on it, too.
    assert observed**2 - fixed**2 == pytest.approx(extra, rel=0.1)
    natural = [lead(at, priors="observed")[1] for at in (own, "observed")]
    assert natural[0] == pytest.approx(natural[1], rel=1e-9)


@pytest.mark.parametrize("prior", [0.3, 0.02])
def test_intervals_hold_the_truth_as_often_as_stated(prior):
    sets = 400
    found = pr.evaluate(
        predictions(3, 100, sets), **NAMES, by="set", priors=prior, measure=MEASURES,
        intervals=True, score_prior=0.3,
    )  # fmt: skip
    many = predictions(4, 1_000_000)
    true = {
        name: float(
            prior * loss[many["truth"].to_numpy()].mean()
            + (1 - prior) * loss[~many["truth"].to_numpy()].mean()
        )
        for name, loss in losses(many, prior, 0.3).items()
    }
    true["brier_skill"] = 1 - true["brier"] / (prior * (1 - prior))
    for name in MEASURES:
        held = found.filter(measure=name).select(
            pl.lit(true[name]).is_between("lower", "upper").sum()
        )
        assert held.item() >= stats.binom.ppf(0.001, sets, 0.93)


@pytest.mark.slow
def test_a_few_cases_that_are_most_of_a_difference_do_not_decide_it():
    # Of a prior far from that of the cases; normal limits miss in 0.13 of samples.
    runs, prior, missed = 300, 0.02, 0
    shapes = {"high": lambda p: expit(logit(p) + 0.8), "low": lambda p: expit(logit(p) - 0.8)}

    def wide(seed, rows):
        log_odds, truth = binormal(np.random.default_rng(seed), rows, 0.2, 1.5, 0.2)
        both = {name: own(expit(log_odds)) for name, own in shapes.items()}
        return pl.DataFrame({"truth": truth == 1, **both})

    asked = {"truth": "truth", "score": ["high", "low"], "priors": prior, "score_prior": 0.2}
    true = pr.compare(wide(10**6, 500_000), "brier", **asked).pairs["difference"].item()
    for seed in range(runs):
        pair = pr.compare(wide(seed, 200), "brier", **asked).pairs.row(0, named=True)
        missed += not pair["lower"] <= true <= pair["upper"]
    assert missed <= stats.binom.ppf(0.999, runs, 0.05)


def test_what_has_no_interval_says_why():
    table = predictions(5)
    asked = {"priors": [0.1, 0.3], "over": (0.1, 0.2)}
    names = ["auc", "calibration_loss", "refinement_loss", "refinement_loss_range"]
    found = pr.evaluate(table, **NAMES, **asked, measure=names, intervals=True)
    assert found["measure"].unique(maintain_order=True).to_list() == names
    assert found["lower"].is_null().to_list() == [False] + 5 * [True]
    assert found["note"].is_null().to_list() == [True] + 5 * [False]
    assert found["note"].str.contains("hull").drop_nulls().all()


@pytest.mark.parametrize(("positives", "negatives"), [(2, 2), (2, 1), (1, 2), (3, 2)])
def test_two_cases_of_each_class_are_enough_and_one_is_not(positives, negatives):
    score = np.linspace(0.2, 0.8, positives + negatives)
    table = {"truth": np.arange(score.size) < positives, "score": score}
    found = pr.evaluate(table, **NAMES, measure="brier", priors=[0.3], intervals=True)
    has_limits = found.select(pl.all_horizontal(pl.col("lower", "upper").is_not_null())).item()
    assert has_limits is (min(positives, negatives) > 1)
