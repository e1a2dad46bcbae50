from math import inf, nan

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from sizes import replicates

import polaroc as pr
from polaroc.deployment.estimate_prior import COLUMNS
from polaroc.errors import InvalidArgument, InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
METHODS = ["em", "confusion"]
PRIORS = [0.01, 0.05, 0.1, 0.3, 0.5]
RUNS = replicates(300, 100)
# What a coverage of 0.95 gives in 999 of 1000 such trials.
WITHIN = stats.binom.interval(0.999, RUNS, 0.95)


def cases(seed: int, rows: int, prior: float, runs: int = 1, posterior: float = 0.3):
    """Binormal cases: `score` is their posterior at a prior, `odd` a distortion of it."""
    rng = np.random.default_rng(seed)
    truth = rng.random(runs * rows) < prior
    raw = rng.normal(size=truth.size) + 2 * truth
    odds = posterior / (1 - posterior) * np.exp(2 * raw - 2)
    return pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), rows),
            "truth": truth,
            "score": odds / (1 + odds),
            "odd": np.sign(raw) * np.abs(raw) ** 3 * 40 - 7,
        }
    )


def of_models(models, seed: int, rows: int, prior: float) -> pl.DataFrame:
    tables = [
        cases(seed + i, rows, prior).with_columns(model=pl.lit(model, pl.String))
        for i, model in enumerate(models)
    ]
    return pl.concat(tables)


@pytest.mark.alike(2)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("method", "score"), [("em", "score"), ("confusion", "odd")])
def test_the_prior_of_a_shifted_deployment_is_found(method, score, prior):
    reference, deployed = cases(1, 4_000, 0.3), cases(2, 20_000, prior)
    found = pr.estimate_prior(
        reference, deployed.drop("truth"), truth="truth", score=score, method=method
    )
    row = found.row(0, named=True)
    assert abs(row["prior"] - prior) <= 3 * row["std_error"]
    assert row["std_error"] < 0.02
    assert row["lower"] < row["prior"] < row["upper"]
    assert row["reference_prior"] == reference["truth"].mean()
    assert (row["method"], row["deployed"], row["note"]) == (method, 20_000, None)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS[::2])
@pytest.mark.parametrize(("method", "score"), [("em", "score"), ("confusion", "odd")])
def test_the_interval_holds_the_prior_as_often_as_it_says(method, score, prior):
    reference, deployed = cases(3, 400, 0.3, RUNS), cases(4, 1_000, prior, RUNS)
    found = pr.estimate_prior(
        reference, deployed, truth="truth", score=score, by="run", method=method
    )
    held = found.filter(pl.lit(prior).is_between("lower", "upper")).height
    assert WITHIN[0] <= held <= WITHIN[1]


def test_a_higher_level_gives_a_wider_interval():
    reference, deployed = cases(5, 400, 0.3), cases(6, 1_000, 0.2)
    for method in METHODS:
        wide, narrow = (
            pr.estimate_prior(reference, deployed, **NAMES, method=method, level=level)
            for level in (0.99, 0.5)
        )
        assert wide["lower"].item() < narrow["lower"].item() < narrow["prior"].item()
        assert narrow["upper"].item() < wide["upper"].item()


def test_scores_that_are_no_posteriors_are_said_to_be():
    reference, deployed = cases(7, 2_000, 0.3), cases(8, 2_000, 0.1)
    calibrated = pr.estimate_prior(reference, deployed, **NAMES)
    assert calibrated["note"].item() is None
    sharper = pl.col("score") ** 2 / (pl.col("score") ** 2 + (1 - pl.col("score")) ** 2)
    doubted = pr.estimate_prior(
        reference.with_columns(sharper), deployed.with_columns(sharper), **NAMES
    )
    note = doubted["note"].item()
    assert note.startswith("scores seem not to be posteriors (calibration slope 0.5")
    assert note.endswith("use method='confusion'")
    assert doubted.select("lower", "upper", "std_error").row(0) == (None, None, None)


@pytest.mark.parametrize(("scores", "ends"), [([-0.1, 0.5], "-0.1 to"), ([0.2, 1.5], "to 1.5")])
@pytest.mark.parametrize("table", ["reference", "deployed"])
def test_em_needs_probabilities(scores, ends, table):
    wrong = pl.DataFrame({"truth": [0, 1], "score": scores})
    tables = {"reference": TWENTY, "deployed": TWENTY} | {table: wrong}
    with pytest.raises(InvalidPredictions, match=rf"{table}: .*{ends}.*(?s:.*)'confusion'"):
        pr.estimate_prior(**tables, **NAMES)


TWENTY = pr.datasets.twenty_scores()


@pytest.mark.parametrize("method", METHODS)
def test_infinite_scores(method):
    ends = TWENTY.with_columns(
        pl.when(pl.col("score") > 0.7)
        .then(inf)
        .when(pl.col("score") < 0.35)
        .then(-inf)
        .otherwise("score")
        .alias("score")
    )
    if method == "em":
        with pytest.raises(InvalidPredictions, match="-inf to inf"):
            pr.estimate_prior(ends, ends, **NAMES, method=method)
        return
    finite = ends.with_columns(pl.col("score").clip(-9, 9))
    found, expected = (
        pr.estimate_prior(table, table, **NAMES, method=method) for table in (ends, finite)
    )
    assert_frame_equal(found, expected)


@pytest.mark.parametrize("score", [None, nan])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("table", ["reference", "deployed"])
def test_scores_that_are_missing(score, lazy, table):
    spoilt = pl.concat([TWENTY, pl.DataFrame({"truth": [True, False], "score": [score, 0.5]})])
    tables = {"reference": TWENTY, "deployed": TWENTY} | {table: spoilt}
    if lazy:
        tables = {name: frame.lazy() for name, frame in tables.items()}
    with pytest.raises(InvalidPredictions, match=rf"{table}: 1 (null|NaN) score\.\nHint: "):
        pr.estimate_prior(**tables, **NAMES, method="confusion")
    found = pr.estimate_prior(**tables, **NAMES, method="confusion", nulls="drop").lazy().collect()
    assert found["note"].item().startswith(f"{table}: dropped 1 ")
    sound = tables | {table: spoilt.drop_nulls().drop_nans()}
    kept = pr.estimate_prior(**sound, **NAMES, method="confusion").lazy().collect()
    assert_frame_equal(found.drop("note"), kept.drop("note"))


def test_the_truth_of_the_deployed_is_never_read():
    deployed = cases(9, 500, 0.2)
    without = deployed.select("score")
    strange = deployed.with_columns(truth=pl.lit("unknown"))
    for other in (deployed, strange):
        assert_frame_equal(
            pr.estimate_prior(TWENTY, other, **NAMES), pr.estimate_prior(TWENTY, without, **NAMES)
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("truth", "note"), [([True] * 3, "reference: no negatives"), ([False] * 3, "no positives")]
)
def test_a_class_that_is_absent_is_said(method, truth, note):
    reference = pl.DataFrame({"truth": truth, "score": [0.2, 0.5, 0.7]})
    row = pr.estimate_prior(reference, TWENTY, **NAMES, method=method).row(0, named=True)
    assert row["prior"] is None
    assert row["reference_prior"] == float(truth[0])
    assert note in row["note"]


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [[], ["a"], ["a", "b"]], ids=len)
@pytest.mark.parametrize("count", [None, "n"])
def test_empty_tables_have_the_same_schema(method, by, count):
    table = TWENTY.with_columns(a=pl.lit("x"), b=pl.lit(1), n=pl.lit(2.0))
    arguments = {**NAMES, "by": by, "method": method, "count": count}
    whole = pr.estimate_prior(table, table, **arguments)
    assert whole.drop("level").schema == {name: table.schema[name] for name in by} | COLUMNS
    for lazy in (False, True):
        empty = table.clear().lazy() if lazy else table.clear()
        found = pr.estimate_prior(empty, empty, **arguments)
        assert isinstance(found, pl.LazyFrame) == lazy
        assert found.lazy().collect_schema() == whole.schema
        assert found.lazy().collect().is_empty()
    assert pr.estimate_prior(table, table.clear(), **arguments)["note"].to_list() == [
        "no deployed scores"
    ]
    assert pr.estimate_prior(table.clear(), table, **arguments)["note"].to_list() == [
        "not in the reference"
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_key_of_either_table_has_a_row(method):
    reference = of_models(["A", "B", None], 0, 300, 0.3)
    deployed = of_models([None, "A", "C"], 3, 900, 0.1)
    found = pr.estimate_prior(reference, deployed, **NAMES, fold=None, method=method)
    assert found["model"].to_list() == ["A", "B", "C", None]
    assert found["note"].to_list() == [None, "no deployed scores", "not in the reference", None]
    assert found["deployed"].to_list() == [900, 0, 900, 900]
    for model in ("A", None):
        same = pl.col("model").eq_missing(pl.lit(model))
        alone = pr.estimate_prior(
            reference.filter(same), deployed.filter(same), **NAMES, fold=None, method=method
        )
        assert_frame_equal(found.filter(same), alone)


@pytest.mark.parametrize("method", METHODS)
def test_deployed_scores_may_have_further_keys(method):
    reference = cases(1, 500, 0.3).with_columns(model=pl.lit("A"))
    days = [cases(10 + day, 800, 0.1 * day).with_columns(day=day) for day in (1, 2, 3)]
    deployed = pl.concat(days).with_columns(model=pl.lit("A"))
    in_use = pr.cases(deployed, score="score", by="day", fold=None)
    found = pr.estimate_prior(reference, in_use, **NAMES, fold=None, method=method)
    assert found.columns[:2] == ["day", "model"]
    assert found["day"].to_list() == [1, 2, 3]
    for i, day in enumerate(days):
        day = day.with_columns(model=pl.lit("A"))
        alone = pr.estimate_prior(reference, day, **NAMES, fold=None, method=method)
        assert_frame_equal(found[i : i + 1].drop("day"), alone)


def test_a_key_of_the_reference_that_lacks_in_use_is_said():
    reference = of_models(["A", "B"], 0, 300, 0.3)
    for lacking in ("model", "run"):
        with pytest.raises(InvalidArgument, match=rf"deployed: there is no key '{lacking}'"):
            pr.estimate_prior(reference, reference.drop(lacking), **NAMES)
    in_use = pr.cases(reference.drop("model"), score="score", fold=None)
    with pytest.raises(InvalidArgument, match="deployed: there is no key 'model', 'run'"):
        pr.estimate_prior(reference, in_use, **NAMES)
    with pytest.raises(InvalidArgument, match="deployed: estimate_prior does not honour 'cluster'"):
        pr.estimate_prior(reference, pr.cases(reference, score="score", cluster="run"), **NAMES)
    with pytest.raises(InvalidArgument, match="deployed: score is not given"):
        pr.estimate_prior(reference, pr.cases(reference, truth="truth"), **NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_count_stands_for_so_many_rows(method):
    reference, deployed = (
        cases(i, 300, 0.3).with_columns(pl.col("score").round(2), count=pl.int_range(pl.len()) % 4)
        for i in (1, 2)
    )
    several = [
        table.select(pl.all().repeat_by("count").explode()).drop_nulls()
        for table in (reference, deployed)
    ]
    found = pr.estimate_prior(reference, deployed, **NAMES, count="count", method=method)
    expected = pr.estimate_prior(*several, **NAMES, method=method)
    assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-9)


def test_an_estimate_can_be_given_as_priors():
    reference, deployed = cases(1, 500, 0.3), cases(2, 500, 0.1)
    found = pr.estimate_prior(reference, deployed, **NAMES)
    for priors in (found, found.lazy()):
        measures = pr.evaluate(reference, **NAMES, priors=priors, measures="auprec")
        assert measures["prior"].to_list() == found["prior"].to_list()


def test_estimates_of_keys_meet_the_measures_of_their_key():
    reference, deployed = of_models("AB", 0, 400, 0.3), of_models("AB", 2, 400, 0.1)
    found = pr.estimate_prior(reference, deployed, **NAMES, model="model")
    measures = pr.evaluate(reference, **NAMES, model="model", priors=found, measures="auprec")
    own = measures.join(found, on=["model", "prior"], how="semi")
    assert own.select("model", "prior").sort("model").rows() == (
        found.select("model", "prior").rows()
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_prior_is_not_taken_for_one(method):
    none = TWENTY.with_columns(score=pl.lit(0.01))
    found = pr.estimate_prior(TWENTY, none, **NAMES, method=method)
    assert found["prior"].item() in (0, None)
    measured = pr.evaluate(TWENTY, **NAMES, priors=found).filter(measure="auprec")
    assert measured["estimate"].to_list() == [None]
    assert measured["note"].item() in (
        "the estimated prior is 0 or 1",
        "the prior was not estimated",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"method": "acc"}, "method is 'acc'"), ({"level": 1}, "level is 1"),
        ({"level": "high"}, "level is 'high'"), ({"level": 0.0}, "level is 0"),
        ({"score": "p"}, "there is no column 'p'"), ({"by": "day"}, "no column 'day'"),
        ({"by": pl.col("truth").alias("method")}, "'method'"),
        ({"by": pl.col("truth").alias("deployed")}, "deployed: .* apart is 'deployed'"),
        ({"nulls": "keep"}, "nulls is"),
    ],
)  # fmt: skip
def test_arguments_out_of_range_are_refused(arguments, said):
    with pytest.raises(InvalidArgument, match=rf"(?s){said}.*\nHint: "):
        pr.estimate_prior(TWENTY, TWENTY, **(NAMES | arguments))


@pytest.mark.parametrize("method", ["em", "confusion"])
@pytest.mark.parametrize("chosen", ["reference", "deployed"])
def test_alarms_alone_on_either_side_give_no_interval(method, chosen):
    rng = np.random.default_rng(3)
    truth = rng.random((2, 20_000)) < [[0.05], [0.02]]
    # Posteriors at the prior of the reference.
    logit = 2 * (rng.normal(size=truth.shape) + 2 * truth) - 2 + np.log(0.05 / 0.95)
    tables = {
        name: pl.DataFrame({"truth": one, "score": 1 / (1 + np.exp(-z))})
        for name, one, z in zip(("reference", "deployed"), truth, logit, strict=True)
    }
    tables[chosen] = tables[chosen].filter(pl.col("score") >= 0.3)
    found = pr.estimate_prior(
        tables["reference"], tables["deployed"].drop("truth"), truth="truth", score="score",
        method=method,
    ).row(0, named=True)  # fmt: skip
    assert found["lower"] is found["upper"] is None
    assert "more than the prior has shifted" in found["note"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-99, 1e-160, 1e-310, 5e-324])
@pytest.mark.parametrize("deployed_too", [True, False])
def test_scores_that_are_almost_zero_end_in_no_error(method, scale, deployed_too):
    tiny = pl.col("score") * scale
    reference, deployed = cases(1, 1_000, 0.3), cases(2, 1_000, 0.1).drop("truth")
    found = pr.estimate_prior(
        reference.with_columns(tiny), deployed.with_columns(tiny if deployed_too else "score"),
        **NAMES, method=method,
    ).row(0, named=True)  # fmt: skip
    if method == "em":
        assert "posteriors" in found["note"]
    elif deployed_too and scale > 1e-305:
        # Their order alone matters.
        (prior,) = pr.estimate_prior(reference, deployed, **NAMES, method=method)["prior"]
        assert found["prior"] == pytest.approx(prior)
