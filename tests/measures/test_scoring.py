"""Losses of probabilities at a prior, beside scikit-learn and quadrature."""

import numpy as np
import polars as pl
import pytest
from scipy import special, stats
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

import polaroc as pr

NAMES = {"truth": "truth", "score": "score", "model": None, "fold": None}
AT_PRIORS = ["brier", "log_loss", "calibration_loss", "refinement_loss"]
RANGES = [f"{name}_range" for name in AT_PRIORS]
OVER = (0.05, 0.2)


def predictions(seed: int, rows: int = 200, digits: int = 2) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    score = 1 / (1 + np.exp(-(random.normal(size=rows) + 1.5 * truth - 1)))
    return pl.DataFrame(
        {
            "model": random.choice(["a", "b"], rows), "truth": truth,
            "score": score.round(digits).clip(0.01, 0.99),
            "weight": random.choice([0.0, 0.5, 1.0, 2.0], rows),
        }
    )  # fmt: skip


def expected(table: pl.DataFrame, prior: float | None, score_prior: float | None) -> dict:
    """The measures by scikit-learn, with class weights that make the prior."""
    table = table.filter(pl.col("weight") > 0)
    truth, score, weight = (table[name].to_numpy() for name in ("truth", "score", "weight"))
    pos, neg = weight[truth].sum(), weight[~truth].sum()
    own = pos / (pos + neg)
    prior, right_at = prior or own, score_prior or own
    odds = score / (1 - score) * (1 - right_at) / right_at * prior / (1 - prior)
    p = odds / (1 + odds)
    weight = weight * np.where(truth, prior / pos, (1 - prior) / neg)
    fitted = IsotonicRegression().fit(score, truth, sample_weight=weight).predict(score)
    brier = brier_score_loss(truth, p, sample_weight=weight)
    refinement = brier_score_loss(truth, fitted, sample_weight=weight)
    return {
        "brier": brier,
        "log_loss": log_loss(truth, p, sample_weight=weight),
        "calibration_loss": brier - refinement,
        "refinement_loss": refinement,
        "brier_skill": 1 - brier / (prior * (1 - prior)),
    }


@pytest.mark.parametrize(
    ("prior", "score_prior", "digits", "weighted"),
    [
        (None, None, 1, False), (None, None, 8, True), (0.5, None, 8, False), (0.01, 0.5, 1, True),
        (0.999, 0.01, 8, True), (0.01, None, 1, True),
    ],
)  # fmt: skip
def test_losses_are_those_of_scikit_learn(prior, score_prior, digits, weighted):
    table = predictions(3, digits=digits)
    if not weighted:
        table = table.with_columns(weight=1.0)
    names = [*AT_PRIORS, "brier_skill"]
    asked = {
        "score_prior": score_prior or "observed", "weight": "weight" if weighted else None,
    }  # fmt: skip
    found = [
        pr.evaluate(frame, **NAMES, **asked, priors=prior or "observed", measure=names)
        for frame in (table, table.lazy())
    ]
    by_way = [dict(one.lazy().collect().select("measure", "estimate").rows()) for one in found]
    each = [
        pr.expr.measure(name, "truth", "score", prior=prior or "observed", **asked)
        for name in names
    ]
    by_way.append(table.select(each).row(0, named=True))
    for values in by_way:
        assert values == pytest.approx(expected(table, prior, score_prior), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("way", ["frame", "lazy"])
def test_losses_of_many_keys_are_those_of_each_key_alone(way):
    rng = np.random.default_rng(6)
    key, truth = rng.integers(0, 7, 900), rng.random(900) < 0.4
    # One key has no positives, one no negatives, in one a positive has the score 0.
    truth = (truth & (key != 2)) | (key == 3)
    score = 1 / (1 + np.exp(-rng.normal(size=900) - truth))
    score[np.flatnonzero(truth & (key == 4))[0]] = 0
    table = pl.DataFrame({"key": key, "truth": truth, "score": score, "weight": 1.0})
    measures = [*AT_PRIORS, "brier_skill"]
    frame = table if way == "frame" else table.lazy()
    found = pr.evaluate(frame, **NAMES | {"by": "key"}, priors=0.3, measure=measures).lazy()
    for name, values in found.collect().group_by("measure"):
        for one, estimate in values.select("key", "estimate").rows():
            if one in (2, 3) or (one == 4 and name == ("log_loss",)):
                assert estimate is None
            else:
                own = expected(table.filter(key=one), 0.3, None) if one != 4 else {}
                assert one == 4 or estimate == pytest.approx(own[name[0]], rel=1e-9)


def test_the_mean_over_a_range_or_belief_is_an_integral():
    table = predictions(4)
    on_range, on_beta = special.roots_legendre(20), special.roots_jacobi(40, 179, 19)
    rules = {
        OVER: (OVER[0] + (OVER[1] - OVER[0]) * (1 + on_range[0]) / 2, on_range[1]),
        pr.beta(20, 180): ((1 + on_beta[0]) / 2, on_beta[1]),
    }
    for over, (nodes, weights) in rules.items():
        found = pr.evaluate(table, **NAMES, measure=RANGES, over=over)
        at = pr.evaluate(table, **NAMES, measure=AT_PRIORS, priors=nodes.tolist())
        for name in AT_PRIORS:
            mean = np.average(at.filter(measure=name)["estimate"], weights=weights)
            estimate = found.filter(measure=f"{name}_range")["estimate"].item()
            assert estimate == pytest.approx(mean, rel=1e-9)


def test_losses_at_many_priors_are_as_one_by_one():
    table = predictions(5)
    asked = {**NAMES, "model": "model", "measure": ["auc", "auprec", *AT_PRIORS, "brier_skill"]}
    priors = [*np.geomspace(1e-5, 0.99, 45).tolist(), "observed"]
    found = pr.evaluate(table.lazy(), **asked, priors=priors).collect()
    parts = [pr.evaluate(table, **asked, priors=priors[i::2]) for i in (0, 1)]
    joined = found.join(
        pl.concat(parts).unique(["model", "measure", "prior"]),
        on=["model", "measure", "prior"], nulls_equal=True, suffix="_alone",
    )  # fmt: skip
    assert joined.height == found.height == 2 * (1 + 46 * 6)
    off = joined.select((pl.col("estimate") - pl.col("estimate_alone")).abs().max()).item()
    assert off < 1e-11


@pytest.mark.parametrize(
    ("scores", "losses", "word"),
    [
        ([0.9, 0.2, 1.1], {"refinement_loss"}, "probabilities"),
        ([-1e-9, 0.2, 1], {"refinement_loss"}, "probabilities"),
        ([0.0, 0.2, 0.1], {*AT_PRIORS, "brier_skill"} - {"log_loss"}, "infinite"),
        ([0.9, 0.2, 1.0], {*AT_PRIORS, "brier_skill"} - {"log_loss"}, "infinite"),
        ([1.0, 0.2, 0.0], {*AT_PRIORS, "brier_skill"}, None),
    ],
)
@pytest.mark.parametrize("priors", [[0.1], np.linspace(0.1, 0.9, 30).tolist()], ids=len)
def test_what_is_no_probability_is_null_with_a_note(scores, losses, word, priors):
    table = pl.DataFrame({"truth": [1, 1, 0], "score": scores})
    found = pr.evaluate(table, **NAMES, priors=priors, measure=[*AT_PRIORS, "brier_skill"])
    defined = found.drop_nulls("estimate")
    assert set(defined["measure"]) == losses
    assert defined["note"].null_count() == defined.height
    if word:
        assert found.filter(pl.col("estimate").is_null())["note"].str.contains(word).all()


@pytest.mark.parametrize("prior", [1e-9, 0.3, 1 - 1e-9])
def test_losses_at_extreme_priors_are_those_by_hand(prior):
    table = pl.DataFrame({"truth": [1, 0], "score": [0.5, 0.5]})
    asked = {**NAMES, "priors": prior, "score_prior": 0.5, "measure": [*AT_PRIORS, "brier_skill"]}
    found = dict(pr.evaluate(table, **asked).select("measure", "estimate").rows())
    # The probability of both cases is the prior.
    variance, entropy = prior * (1 - prior), special.entr(prior) + special.entr(1 - prior)
    assert found == pytest.approx(
        {"brier": variance, "log_loss": entropy, "calibration_loss": 0, "brier_skill": 0,
         "refinement_loss": variance}, rel=1e-12, abs=1e-14,
    )  # fmt: skip


def test_losses_are_taken_by_name_only():
    by_default = pr.evaluate(predictions(1), **NAMES, over=OVER)["measure"].unique()
    assert not {*by_default} & {*AT_PRIORS, *RANGES, "brier_skill"}


def test_models_of_one_test_set_are_compared():
    random = np.random.default_rng(3)
    truth = random.random(400) < 0.4
    right = 1 / (1 + np.exp(-(random.normal(size=400) + 2 * truth - 1.4)))
    both = {"truth": truth, "case": np.arange(400), "right": right, "wrong": right**2}
    tested = pr.compare(
        both, "brier", truth="truth", score=["right", "wrong"], case="case", priors=0.4,
        target="trained",
    ).pairs  # fmt: skip
    share = np.where(truth, 0.4 / truth.sum(), 0.6 / (~truth).sum())
    odds = 0.4 / 0.6 * (~truth).sum() / truth.sum()

    def loss(score: np.ndarray, log_step: float = 0.0) -> np.ndarray:
        step = odds * np.exp(log_step)
        return (truth - score * step / (score * step + 1 - score)) ** 2

    # The prior that the scores are right at is observed, and has an error of its own.
    slopes = [share @ (loss(one, 1e-5) - loss(one, -1e-5)) / 2e-5 for one in (right, right**2)]
    moved, variance, units = loss(right) - loss(right**2), 0.0, []
    difference = tested.row(0, named=True)
    assert difference["difference"] == pytest.approx(share @ moved)
    for of, weight, sign in ((truth, 0.4, -1), (~truth, 0.6, 1)):
        count = of.sum()
        by_model = [
            weight * (loss(one) - loss(one)[of].mean())[of] + sign * slope
            for one, slope in zip((right, right**2), slopes, strict=True)
        ]
        # And for each model a case that is not seen, which moves it as far as any does.
        unseen = [np.abs(one).max() for one in by_model]
        own = np.append(by_model[0] - by_model[1], unseen) / count
        variance += count / (count - 1) * (own**2).sum()
        units.append(own)
    squares = np.concatenate(units) ** 2
    freedom = squares.sum() ** 2 / (squares**2).sum() - 1
    reach = stats.t.ppf(0.975, freedom) * difference["std_error"]
    assert difference["upper"] - difference["difference"] == pytest.approx(reach)
    assert difference["std_error"] == pytest.approx(variance**0.5)
