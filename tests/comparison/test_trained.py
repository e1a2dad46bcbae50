import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import binom, norm
from sizes import replicates

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1)
NAMES = {"truth": "truth", "score": "score", "case": "case"}
MEASURES = {
    "auc": {},
    "auprec": {"prior": 0.1},
    "iauprec": {"over": (0.05, 0.2)},
    "sens": {"over": (0.05, 0.2)},
    "accsens": {"over": (0.05, 0.2)},
}


def compare(table=TABLE, measure="auc", **kwargs):
    return pr.compare(table, measure=measure, target="trained", **{**NAMES, **kwargs})


def test_pairs_are_delongs_with_limits_as_wide_as_the_adjusted_p_value_says():
    found = compare(level=0.95).pairs
    assert_frame_equal(
        found.drop("adjusted_lower", "adjusted_upper"),
        pr.delong(TABLE, **NAMES, fold=None).drop("note"),
    )
    # Holm: the least p-value counts three times, the next twice.
    counts = 4 - found["p_value"].rank("ordinal").to_numpy()
    reach = norm.isf(0.05 / counts / 2) * found["std_error"].to_numpy()
    assert (found["adjusted_upper"] - found["difference"]).to_list() == pytest.approx(reach)
    assert (found["difference"] - found["adjusted_lower"]).to_list() == pytest.approx(reach)


@pytest.mark.parametrize(
    ("measure", "prior", "said"),
    [("auc", None, False), ("sens", None, False), ("auprec", 0.1, True)],
)
def test_a_prior_is_named_where_the_measure_has_one(measure, prior, said):
    over = (0.1, 0.5) if measure == "sens" else None
    summary = compare(measure=measure, prior=prior, over=over).summary()
    assert ("at prior" in summary) is said


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), models=st.integers(2, 5), cases=st.integers(8, 40))
def test_an_interval_leaves_out_zero_where_the_pair_is_told_apart(seed, models, cases):
    rng = np.random.default_rng(seed)
    truth = np.arange(cases) % 2
    merits = rng.uniform(0, 2, size=models)
    table = pl.concat(
        pl.DataFrame({
            "model": f"m{i}", "case": np.arange(cases), "truth": truth,
            "score": truth * merit + rng.normal(size=cases),
        })
        for i, merit in enumerate(merits)
    )  # fmt: skip
    found = compare(table, level=0.8)
    letters = dict(found.letters.select("model", "letters").iter_rows())
    for row in found.pairs.iter_rows(named=True):
        outside = row["adjusted_lower"] > 0 or row["adjusted_upper"] < 0
        assert outside == (row["p_adjusted"] < 0.2)
        assert outside == (not set(letters[row["model_a"]]) & set(letters[row["model_b"]]))


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(("measure", "asked"), MEASURES.items(), ids=MEASURES)
def test_estimates_and_errors_are_those_of_each_model(measure, asked):
    found = compare(measure=measure, **asked)
    priors = asked.get("prior", "observed")
    alone = pr.evaluate(
        TABLE, truth="truth", score="score", measures=measure, priors=priors,
        over=asked.get("over"), intervals="wald",
    )  # fmt: skip
    means = {model: (mean, sd) for model, mean, sd, _ in found.letters.iter_rows()}
    told = alone.select("model", "estimate", "std_error").iter_rows()
    assert means == {
        model: pytest.approx((estimate, error), rel=1e-12) for model, estimate, error in told
    }
    for a, b, difference in found.pairs.select("model_a", "model_b", "difference").iter_rows():
        assert difference == pytest.approx(means[a][0] - means[b][0], abs=1e-12)
    best_first = [mean for mean, _ in means.values()]
    assert best_first == sorted(best_first, reverse=measure not in ("sens", "accsens"))


def test_of_losses_less_is_better():
    probable = 1 / (1 + (-pl.col("score")).exp())
    asked = {"target": "trained", "truth": "truth", "score": probable, "case": "case"}
    found = pr.compare(TABLE, "log_loss", prior=0.1, **asked)
    means = found.letters["mean"].to_list()
    assert means == sorted(means)
    assert found.measure == "log_loss at prior 0.1"
    assert "(less is better)" in found.summary()
    with pytest.raises(InvalidArgument, match="no standard error on one test set"):
        pr.compare(TABLE, "refinement_loss", prior=0.1, **asked)


def test_scores_are_right_at_the_prior_given():
    probable = 1 / (1 + (-pl.col("score")).exp())
    asked = {"prior": 0.1, "score": probable}
    own = TABLE["truth"].mean()
    moved = pr.expr.at_prior(probable, prior=0.5, to=own)
    expected = compare(measure="brier", **asked | {"score": moved})
    assert_frame_equal(
        compare(measure="brier", **asked, score_prior=0.5).pairs, expected.pairs, rel_tol=1e-9
    )
    measures = pr.evaluate(TABLE, truth="truth", score=probable, priors=0.1,
                           measures="brier", score_prior=0.5)  # fmt: skip
    with pytest.raises(InvalidArgument, match="'score_prior' is for predictions"):
        pr.compare(measures, "brier", test_train_ratio=0.25, score_prior=0.5)


def test_models_with_the_same_scores_are_equal():
    twice = TABLE.filter(pl.col("model") == "A")
    both = pl.concat([twice, twice.with_columns(model=pl.lit("copy"))])
    found = compare(both)
    assert found.omnibus["p_value"].item() == 1
    assert found.pairs.select("difference", "lower", "upper", "p_adjusted").row(0) == (0, 0, 0, 1)
    assert found.letters["letters"].to_list() == ["a", "a"]


def test_the_summary_speaks_of_cases_and_a_tiny_p_is_no_zero():
    found = compare()
    assert "on 1287 cases (case), target trained" in found.summary()
    assert "these fitted models" in found.warnings[0]
    assert 0 < found.omnibus["p_value"].item() < 1e-20
    z = found.omnibus["statistic"].item()
    assert found.pairs["p_value"].min() == pytest.approx(2 * norm.sf(z), rel=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_false_positives_are_as_rare_as_asked():
    rng = np.random.default_rng(3)
    wrong, samples = 0, replicates(60, 20)
    for _ in range(samples):
        truth = np.repeat([True, False], [60, 120])
        signal = rng.normal(size=180) + 1.2 * truth
        tables = [
            pl.DataFrame({"model": name, "id": range(180), "truth": truth,
                          "score": signal + rng.normal(size=180)})
            for name in "abc"
        ]  # fmt: skip
        found = compare(pl.concat(tables), case="id", level=0.95)
        wrong += found.omnibus["p_value"].item() < 0.05
    assert wrong <= binom.isf(1e-3, samples, 0.05)


@pytest.mark.parametrize("lacking", ["truth", "score"])
def test_columns_must_be_named(lacking):
    with pytest.raises(InvalidArgument, match=rf"(?s){lacking} is not given.*Hint: "):
        compare(**{lacking: None})


@pytest.mark.parametrize("given", [{"incomplete": "drop"}, {"seed": 1}], ids=str)
def test_what_belongs_to_other_targets_is_refused(given):
    with pytest.raises(InvalidArgument, match=r"trained|seed is for halves"):
        compare(**given)


@pytest.mark.parametrize("role", ["weight", "positive", "case", "score_prior"])
def test_roles_of_predictions_are_refused_for_measures(role):
    measures = pr.datasets.satellite_predictions().pipe(pr.evaluate, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match=f"(?s)'{role}' is for predictions.*Hint: leave"):
        pr.compare(measures, measure="auc", test_train_ratio=0.25, **{role: 0.5})


def test_cases_that_not_all_models_scored_are_left_out_and_said():
    some = TABLE.with_columns(
        score=pl.when(pl.col("model") != "B", pl.col("case") % 7 > 0).then("score")
    ).filter(pl.col("model") != "B")
    found = compare(some, nulls="drop")
    expected = compare(some.filter(pl.col("score").is_not_null()))
    assert_frame_equal(found.pairs, expected.pairs)
    assert "left out of all models" in found.warnings[0]


def test_cases_that_come_twice_are_refused():
    with pytest.raises(InvalidPredictions):
        compare(pr.datasets.satellite_predictions().drop("fold"))


def test_a_class_of_one_case_is_refused():
    one = TABLE.filter(~pl.col("truth") | (pl.col("case") == TABLE.filter("truth")["case"][0]))
    with pytest.raises(InvalidPredictions, match="two cases or more"):
        compare(one)


def test_a_contrast_is_refused():
    with pytest.raises(InvalidArgument, match="contrast is for folds, and target is 'trained'"):
        compare(contrast=(0.1, 0.5))


def test_models_that_were_fitted_anew_are_refused():
    several = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    with pytest.raises(InvalidArgument, match=r"several folds, 'fold'(.|\n)*target='algorithm'"):
        compare(several)
    both = several.rename({"fold": "site"}).with_columns(fold=1)
    with pytest.raises(InvalidArgument, match="several folds, 'fold', 'site'"):
        compare(both, fold=["fold", "site"])


def test_a_difference_has_one_interval():
    for level in (0.8, 0.95):
        limits = ["lower", "upper", "level"]
        found = compare(level=level).pairs.select(limits)
        assert_frame_equal(found, pr.delong(TABLE, **NAMES, fold=None, level=level).select(limits))


def test_groups_of_cases_of_their_own_are_compared_as_the_hint_says():
    of_a = TABLE.filter(model="A").drop("model")
    groups = of_a.with_columns(sex=(pl.col("case") % 2).replace_strict({0: "f", 1: "m"}))
    with pytest.raises(InvalidPredictions, match="case=None for independent test sets"):
        compare(groups, model="sex")
    found = compare(groups, model="sex", case=None)
    alone = pr.evaluate(
        groups, truth="truth", score="score", by="sex", measures="auc", intervals="wald"
    )
    # Errors of independent estimates add.
    error = (alone["std_error"] ** 2).sum() ** 0.5
    difference = alone["estimate"][0] - alone["estimate"][1]
    pair = found.pairs.row(0, named=True)
    assert pair["difference"] == pytest.approx(difference)
    assert pair["std_error"] == pytest.approx(error)
    assert pair["p_value"] == pytest.approx(2 * norm.sf(abs(difference) / error))
    assert found.size == groups.height
    assert "of each model its own" in found.summary()
    assert any(
        "was not measured for models with test sets of their own" in w for w in found.warnings
    )
