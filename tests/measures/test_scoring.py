import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.integrate import quad
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.evaluation import sums
from polaroc.files import memory
from polaroc.measures.catalog import higher_is_better
from polaroc.measures.scoring import INFINITE, NOT_PROBABILITIES

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


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("score_prior", [None, 0.5, 0.01])
@pytest.mark.parametrize("prior", [None, 0.5, 0.01, 0.999])
@pytest.mark.parametrize("digits", [1, 8])
@pytest.mark.parametrize("weighted", [True, False])
def test_they_are_those_of_scikit_learn(prior, score_prior, digits, weighted):
    table = predictions(3, digits=digits)
    if not weighted:
        table = table.with_columns(weight=1.0)
    asked = {
        "priors": prior or "observed", "score_prior": score_prior or "observed",
        "measures": [*AT_PRIORS, "brier_skill"], "weight": "weight" if weighted else None,
    }  # fmt: skip
    for frame in (table, table.lazy()):
        found = pr.evaluate(frame, **NAMES, **asked).lazy().collect()
        by_name = dict(found.select("measure", "estimate").iter_rows())
        assert by_name == pytest.approx(expected(table, prior, score_prior), rel=1e-9, abs=1e-13)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("name", AT_PRIORS)
def test_the_mean_over_a_range_is_an_integral(name):
    table = predictions(4)

    def at(prior: float) -> float:
        return pr.evaluate(table, **NAMES, measures=name, priors=prior)["estimate"].item()

    found = pr.evaluate(table, **NAMES, measures=f"{name}_range", over=OVER)
    assert found["over"].item() == "0.05 to 0.2"
    mean = quad(at, *OVER, limit=4, epsrel=1e-6)[0] / (OVER[1] - OVER[0])
    assert found["estimate"].item() == pytest.approx(mean, rel=1e-6)
    belief = pr.beta(2, 18)
    found = pr.evaluate(table, **NAMES, measures=f"{name}_range", over=belief)
    at_nodes = pr.evaluate(table, **NAMES, measures=name, priors=list(belief.priors))["estimate"]
    assert found["estimate"].item() == pytest.approx(np.dot(belief.weights, at_nodes), rel=1e-9)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("lazy", [True, False])
def test_many_priors_are_as_one_by_one(lazy):
    table = predictions(5)
    frame = table.lazy() if lazy else table
    asked = {**NAMES, "model": "model", "measures": ["auc", "auprec", *AT_PRIORS, "brier_skill"]}
    priors = [*np.geomspace(1e-5, 0.99, 45).tolist(), "observed"]
    found = pr.evaluate(frame, **asked, priors=priors).lazy().collect()
    parts = [pr.evaluate(table, **asked, priors=priors[i::2]) for i in (0, 1)]
    joined = found.join(
        pl.concat(parts).unique(["model", "measure", "prior"]),
        on=["model", "measure", "prior"], nulls_equal=True, suffix="_alone",
    )  # fmt: skip
    assert joined.height == found.height == 2 * (1 + 46 * 6)
    assert found["measure"].unique(maintain_order=True).to_list() == asked["measures"]
    off = joined.select((pl.col("estimate") - pl.col("estimate_alone")).abs().max()).item()
    assert off < 1e-11
    # The note on AUPREC rounds.
    rest = joined.filter(pl.col("measure") != "auprec")
    assert rest.select(pl.col("note").eq_missing(pl.col("note_alone")).all()).item()


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "losses", "note"),
    [
        ([0.9, 0.2, 1.1], {"refinement_loss"}, NOT_PROBABILITIES),
        ([-1e-9, 0.2, 1], {"refinement_loss"}, NOT_PROBABILITIES),
        ([0.0, 0.2, 0.1], {*AT_PRIORS, "brier_skill"} - {"log_loss"}, INFINITE),
        ([0.9, 0.2, 1.0], {*AT_PRIORS, "brier_skill"} - {"log_loss"}, INFINITE),
        ([1.0, 0.2, 0.0], {*AT_PRIORS, "brier_skill"}, None),
    ],
)
@pytest.mark.parametrize("priors", [[0.1], np.linspace(0.1, 0.9, 30).tolist()], ids=len)
def test_what_is_no_probability_is_null_with_a_note(scores, losses, note, priors):
    table = pl.DataFrame({"truth": [1, 1, 0], "score": scores})
    found = pr.evaluate(table, **NAMES, priors=priors, measures=[*AT_PRIORS, "brier_skill"])
    defined = found.drop_nulls("estimate")
    assert set(defined["measure"]) == losses
    assert defined["note"].null_count() == defined.height
    if note:
        assert found.filter(pl.col("estimate").is_null())["note"].unique().to_list() == [note]


def test_calibration_repairs_calibration_and_keeps_refinement():
    tuning, use = predictions(8, 3000), predictions(9, 3000)
    use = use.with_columns(pl.col("score") ** 3)
    curve = pr.curve(tuning.with_columns(pl.col("score") ** 3), **NAMES)
    calibrated = pr.probabilities(use, curve, score="score", model=None, priors=0.1)
    asked = {"truth": "truth", "model": None, "priors": 0.1, "measures": AT_PRIORS}
    before = pr.evaluate(use, score="score", **asked)["estimate"]
    after = pr.evaluate(calibrated, score="probability", score_prior=0.1, **asked)["estimate"]
    assert after[2] < before[2] / 5
    assert after[3] == pytest.approx(before[3], rel=0.02)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.05, "observed"])
@pytest.mark.parametrize("score_prior", [0.4, "observed"])
def test_expressions_are_the_frame_functions(prior, score_prior):
    table = predictions(6)
    names = [*AT_PRIORS, "brier_skill", *RANGES]
    at = {"score_prior": score_prior, "over": OVER, "weight": "weight"}
    frame = pr.evaluate(table, **NAMES | {"model": "model"}, measures=names, priors=prior, **at)
    each = [
        pr.expr.measure(name, truth="truth", score="score", prior=prior, **at) for name in names
    ]
    found = table.lazy().group_by("model").agg(each).sort("model").collect()
    for name in names:
        estimates = frame.filter(pl.col("measure") == name)["estimate"].to_list()
        assert found[name].to_list() == pytest.approx(estimates, rel=1e-12)
    windows = table.select("model", *(one.over("model") for one in each)).unique().sort("model")
    assert windows["calibration_loss"].to_list() == pytest.approx(found["calibration_loss"])


@pytest.mark.alike
@pytest.mark.parametrize("digits", [1, 8])
def test_partitions_of_the_score_add_up(monkeypatch, digits):
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(sums, "BASE", 0)
    table = predictions(7, 900, digits)
    asked = {**NAMES, "model": "model", "priors": [0.1, "observed"], "over": OVER}
    asked |= {"measures": ["auc", *AT_PRIORS, *RANGES], "weight": "weight"}
    within = pr.evaluate(table.lazy(), **asked, memory=100 * 100).collect()
    everything = pr.evaluate(table, **asked)
    assert within["estimate"].to_list() == pytest.approx(everything["estimate"].to_list())
    assert_frame_equal(within.drop("estimate"), everything.drop("estimate"))


@pytest.mark.parametrize("score_prior", [0, 1, "half", None])
def test_a_score_prior_is_a_prior(score_prior):
    with pytest.raises(InvalidArgument, match="prior is"):
        pr.evaluate(predictions(1), **NAMES, measures="brier", score_prior=score_prior)


def test_they_are_taken_by_name_only_and_low_is_good():
    table = predictions(1)
    by_default = pr.evaluate(table, **NAMES, over=OVER)["measure"].unique()
    assert not {*by_default} & {*AT_PRIORS, *RANGES, "brier_skill"}
    for name in (*AT_PRIORS, *RANGES):
        assert not higher_is_better(name)
    assert higher_is_better("brier_skill")


def test_compare_and_choose_know_what_is_better():
    table = predictions(1)
    worse = table.with_columns(score=0.5 + (pl.col("score") - 0.5) / 3, model=pl.lit("worse"))
    both = pl.concat([table.with_columns(model=pl.lit("better")), worse])
    both = both.with_columns(fold=pl.int_range(pl.len()) % 5)
    asked = {"by": ["model", "fold"], "measures": ["brier", "brier_skill"], "priors": [0.2, 0.4]}
    measures = pr.evaluate(both, **NAMES, **asked)
    chosen = pr.choose(measures, measure="brier_skill", test_train_ratio=0.25)
    assert chosen.models["model"][0] == "better"
    less = pr.choose(measures, measure="brier", test_train_ratio=0.25)
    assert less.models["model"][0] == "better"
    assert less.models["mean"].is_sorted()
    tested = pr.compare(measures, "brier", prior=0.2, test_train_ratio=0.25)
    assert tested.pairs.select("model_a", "model_b").row(0) == ("better", "worse")
    assert tested.pairs["difference"].item() < 0


def test_models_of_one_test_set_are_compared():
    random = np.random.default_rng(3)
    truth = random.random(400) < 0.4
    right = 1 / (1 + np.exp(-(random.normal(size=400) + 2 * truth - 1.4)))
    both = {"truth": truth, "case": np.arange(400), "right": right, "wrong": right**2}
    tested = pr.compare(
        both, "brier", truth="truth", score=["right", "wrong"], case="case", prior=0.4,
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
