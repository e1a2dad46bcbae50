import re

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from evidences import evidence
from paired import paired_test
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.comparison.choice_measures import of_one_test_set
from polaroc.comparison.posterior import posterior
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

TABLE = pr.datasets.satellite_predictions()
ONE = TABLE.filter(fold=1)
OVER = (0.05, 0.20)
COLUMNS = {"truth": "truth", "score": "score"}
SURE = ["expected", "expected_lower", "expected_upper", "probability_best", "expected_loss"]


def by_model(choice):
    return choice.models.sort("model")


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("over", [OVER, (0.1, 0.1), pr.beta(2, 18)])
@pytest.mark.parametrize("folds", [True, False])
def test_of_predictions_is_of_their_measures(over, folds):
    table, by = (TABLE, ["model", "fold"]) if folds else (ONE, ["model"])
    choice = pr.choose(table, **COLUMNS, over=over, case=None)
    one = isinstance(over, tuple) and over[0] == over[1]
    grid = pr.prior_grid(*OVER, 25)
    priors = [0.1] if one else grid if isinstance(over, tuple) else over.priors
    measures = pr.evaluate(table, **COLUMNS, by=by, priors=priors, over=None if one else over)
    of_measures = pr.choose(measures, over=over)
    assert choice.models["mean"].to_list() == pytest.approx(of_measures.models["mean"].to_list())
    if folds:
        sure = (one.models.select(SURE) for one in (choice, of_measures))
        assert_frame_equal(*sure, abs_tol=1e-3)
    assert choice.models.select(SURE).drop_nulls().height == 3
    name = "auprec" if one else "iauprec"
    expected = measures.filter(measure=name, prior=0.1) if one else measures.filter(measure=name)
    means = dict(expected.group_by("model").agg(pl.col("estimate").mean()).iter_rows())
    assert dict(choice.models.select("model", "mean").iter_rows()) == pytest.approx(means)
    assert one == ("at 10 % positives" in choice.answer)


@pytest.mark.slow
def test_one_test_set_is_judged_case_by_case():
    choice = pr.choose(ONE, **COLUMNS, over=OVER)
    # Pairs of the covariance are those of the paired test.
    known, _ = of_one_test_set(pr.cases(ONE, **COLUMNS, fold=None), "auprec", OVER, 0.95)
    pairs = paired_test(ONE, **COLUMNS, case="case", measure="iauprec", over=OVER)
    c = known.covariance[0]
    errors = [(c[a, a] + c[b, b] - 2 * c[a, b]) ** 0.5 for a, b in ((0, 1), (0, 2), (1, 2))]
    assert pairs["std_error"].to_list() == pytest.approx(errors)
    means = by_model(choice)["mean"].to_numpy()
    expected, reach = posterior(evidence(means, c)), stats.norm.ppf(0.975) * np.sqrt(c.diagonal())
    # What loses is moved half as far, and not past the winner.
    first = means.argmax()
    half = np.minimum((expected.expected + means) / 2, expected.expected[first])
    half[first] = expected.expected[first]
    expected = expected._replace(
        expected=half,
        lower=np.minimum(expected.lower, means - reach),
        upper=np.maximum(expected.upper, means + reach),
    )
    for name, values in zip(SURE, expected, strict=True):
        assert by_model(choice)[name].to_list() == pytest.approx(values.tolist())
    assert "at least" not in choice.answer
    assert "other cases like these" in " ".join(choice.warnings)
    # Errors that models share do not part them.
    unpaired = pr.choose(ONE, **COLUMNS, over=OVER, case=None)
    assert unpaired.models["expected_loss"][0] > choice.models["expected_loss"][0]
    assert "at least" in unpaired.answer
    assert "give predictions with case='id'" in " ".join(unpaired.warnings)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"over": None}, InvalidArgument, "without a range of priors"),
        ({"over": (0.1, 0.05)}, InvalidArgument, "allowed is lo < hi"),
        ({"over": (1.0, 1.0)}, InvalidArgument, "prior is 1.0"),
        ({"score": None}, InvalidArgument, "score is not given"),
        ({"truth": None, "score": None}, InvalidTable, "holds no measures"),
        ({"case": "nope"}, InvalidArgument, "no column 'nope'"),
        ({"model": "clf"}, InvalidArgument, "no column 'clf'"),
        ({"by": "model"}, InvalidArgument, "does not honour 'by'"),
        ({"level": 2}, InvalidArgument, "level is 2"),
        ({"measure": "auc"}, InvalidArgument, "does not depend on the share of positives"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, said):
    call = {**COLUMNS, "over": OVER} | arguments
    with pytest.raises(error, match=said.replace("(", r"\(")):
        pr.choose(ONE, **call)


def test_measures_take_no_weights():
    measures = pr.evaluate(ONE, **COLUMNS, priors=0.1)
    with pytest.raises(InvalidArgument, match="for predictions"):
        pr.choose(measures, weight="w")
    with pytest.raises(InvalidArgument, match="'case' is for predictions"):
        pr.choose(measures, case="case")
    with pytest.raises(InvalidArgument, match="has it at"):
        pr.choose(measures, over=(0.2, 0.2))


def test_cases_that_a_model_lacks_are_refused():
    with pytest.raises(InvalidPredictions, match="lack a score by some model"):
        pr.choose(ONE.slice(1), **COLUMNS, over=OVER)


def test_perfect_models_leave_nothing_to_judge_by():
    perfect = pl.DataFrame({"y": [0, 0, 1, 1], "a": [1, 2, 3, 4], "b": [1, 2, 5, 6]})
    choice = pr.choose(perfect, truth="y", score=["a", "b"], over=OVER)
    assert choice.models["probability_best"].null_count() == 2
    assert choice.answer.startswith("Take a or b: the area (AUPREC) over 5 to 20 % positives is 1")


def test_paired_covariance_of_many_models_is_a_covariance():
    rng = np.random.default_rng(0)
    table = {"y": rng.random(300) < 0.3} | {f"m{i}": rng.normal(size=300) for i in range(30)}
    scores = [name for name in table if name != "y"]
    cases = pr.cases(pl.DataFrame(table).with_row_index("id"), truth="y", score=scores)
    known, _ = of_one_test_set(cases, "auprec", OVER, 0.95)
    assert known.covariance.shape == (1, 30, 30)
    assert np.linalg.eigvalsh(known.covariance[0]).min() > -1e-12


PROBABLE = {"truth": "truth", "score": 1 / (1 + (-pl.col("score")).exp())}
LOSSES = ["brier", "log_loss", "calibration_loss", "refinement_loss"]


@pytest.mark.alike
@pytest.mark.parametrize("measure", LOSSES)
def test_of_losses_less_is_better(measure):
    grid = pr.prior_grid(*OVER, 25)
    losses = pr.evaluate(
        TABLE, **PROBABLE, priors=grid, measures=measure
    )  # fmt: skip
    loss = pr.choose(losses, measure=measure, over=OVER, test_train_ratio=0.25)
    # Of an unknown measure more is better.
    negative = losses.with_columns(pl.lit("gain").alias("measure"), -pl.col("estimate"))
    gain = pr.choose(negative, measure="gain", over=OVER, test_train_ratio=0.25)
    same = ["model", "probability_best", "expected_loss", "mean_regret", "worst_regret", "share"]
    assert_frame_equal(loss.models.select(same), gain.models.select(same))
    turned = gain.models.select(
        -pl.col("mean", "expected"),
        expected_lower=-pl.col("expected_upper"),
        expected_upper=-pl.col("expected_lower"),
    )
    turned = turned.with_columns(pl.col("expected_lower", "expected_upper").clip(0))
    assert_frame_equal(loss.models.select(turned.columns), turned)
    assert_frame_equal(loss.priors.drop("mean"), gain.priors.drop("mean"), abs_tol=1e-15)
    assert (loss.bayes, loss.minimax) == (gain.bayes, gain.minimax) == ("A", "A")
    assert not loss.higher_is_better
    assert gain.higher_is_better
    best, second = loss.models["mean"][:2]
    assert f"is {best:.3g}, {second - best:.2g} less than that of" in loss.answer
    assert "too low, because it was picked for being the lowest of 3" in " ".join(loss.warnings)
    assert "less is better" in loss.summary()
    assert "less is better" in loss.comparison.summary()
    assert loss.comparison.letters["model"][0] == "A"


def test_a_prior_of_scores_is_for_predictions_and_losses():
    losses = pr.evaluate(ONE, **PROBABLE, priors=0.1, measures="brier")
    for given, words in (
        (lambda: pr.choose(losses, measure="brier", score_prior=0.5), "is for predictions"),
        (
            lambda: pr.choose(ONE, **PROBABLE, measure="expected_cost", score_prior=0.5),
            "score_prior is for measures of probabilities",
        ),
        (
            lambda: pr.choose(ONE, **PROBABLE, measure="brier", over=OVER, score_prior=2),
            "score_prior is 2, allowed is 0 < prior < 1",
        ),
    ):
        with pytest.raises(InvalidArgument, match=words):
            given()


def test_limits_are_those_of_the_measure():
    choice = pr.choose(ONE, **PROBABLE, over=(0.1, 0.1), measure="brier_skill")
    skill = by_model(choice)
    # B and C are worse than no score at all.
    assert skill["expected_upper"].to_list()[1:] < [0, 0]
    assert skill.select((pl.col("expected_lower") < pl.col("expected")).all()).item()


@pytest.mark.parametrize(
    ("measure", "over", "why"),
    [
        ("refinement_loss", OVER, "several folds do"),
        ("calibration_loss", (0.1, 0.1), "several folds do"),
        ("brier_skill", OVER, "known at a single prior"),
    ],
)
def test_measures_without_errors_say_so(measure, over, why):
    choice = pr.choose(ONE, **PROBABLE, over=over, measure=measure)
    assert choice.models["probability_best"].null_count() == 3
    assert "nothing says how sure that is" in choice.answer
    assert why in " ".join(choice.warnings)


def drawn(seed: int, cases: int = 240) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(cases) % 4 == 0
    scores = {name: rng.normal(size=cases) + gap * truth for name, gap in (("a", 1.5), ("b", 1))}
    return pl.DataFrame({"id": np.arange(cases) + 1_000 * seed, "truth": truth} | scores)


PAIRED = {
    "choose": lambda table, **asked: pr.choose(table, over=OVER, **asked),
    "choose, costs": lambda table, **asked: pr.choose(
        table, "expected_cost", over=OVER, tuning=drawn(2), **asked
    ),
    "compare": lambda table, **asked: pr.compare(table, "auc", **asked),
    "gate": lambda table, **asked: pr.gate(
        table, measure="auc", champion="a", challenger="b", **asked
    ),
}


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("name", PAIRED)
def test_models_are_paired_on_the_cases_that_all_of_them_scored(name, is_long):
    asked = {"truth": "truth", "score": ["a", "b"], "case": "id"}
    whole = drawn(1)
    holes = whole.with_columns(
        a=pl.when(pl.col("id") != 1_040).then("a").otherwise(float("nan")),
        b=pl.when(pl.col("id") > 1_001).then("b"),
    )
    kept = PAIRED[name](whole.filter(~pl.col("id").is_in([1_000, 1_001, 1_040])), **asked)
    if is_long and name != "choose, costs":
        holes = holes.unpivot(
            ["a", "b"], index=["id", "truth"], variable_name="model", value_name="score"
        )
        asked["score"] = "score"
    found = PAIRED[name](holes, nulls="drop", **asked)
    if name == "gate":
        assert (found.lower, found.upper) == pytest.approx((kept.lower, kept.upper))
    else:
        tables = "pairs" if name == "compare" else "models"
        assert_same_numbers(getattr(found, tables), getattr(kept, tables))
    said = " ".join(found.warnings)
    assert "3 of 240 cases were left out of all models, which are compared on the same 237" in said
    assert "different numbers of cases" not in said
    unscored = holes.with_columns(
        pl.exclude("id", "truth", "model").replace_strict({}, default=None)
    )
    with pytest.raises(InvalidPredictions, match="no case is left that all models scored"):
        PAIRED[name](unscored, nulls="drop", **asked)


@pytest.mark.parametrize(
    "call",
    [
        lambda table, **named: pr.choose(table, over=(0.05, 0.2), **named),
        lambda table, **named: pr.choose(table, over=(0.05, 0.2), measure="expected_cost",
                                         tuning=table, **named),
        lambda table, **named: pr.compare(table, "auc", target="trained", **named),
    ],
)  # fmt: skip
def test_one_model_is_no_comparison(call):
    table = {"truth": [0, 1, 0, 1], "p": [0.1, 0.4, 0.3, 0.8]}
    with pytest.raises(InvalidArgument, match="a comparison needs two models") as error:
        call(table, truth="truth", score="p")
    assert "score=['p_logreg', 'p_forest']" in error.value.hint
    assert re.search("(between|model)='model'", error.value.hint)


@pytest.mark.long
def test_rows_of_a_wide_table_are_cases_where_no_column_tells_them_apart():
    rng = np.random.default_rng(9)
    truth = np.arange(80) < 20
    table = pl.DataFrame({"truth": truth, "a": rng.normal(size=80) + truth, "b": truth + 0.0})
    asked = {"truth": "truth", "score": ["a", "b"], "over": (0.05, 0.2)}
    patients = table.with_columns(id=pl.int_range(80) // 2)
    for named in ({}, {"case": "id"}):
        with pytest.raises(InvalidPredictions, match="twice"):
            pr.choose(patients, **named, **asked)
    rows = pr.choose(patients, **asked, case=None)
    assert_same_numbers(rows.models, pr.choose(table, **asked).models)


def test_standard_errors_of_one_test_set_are_refused():
    asked = {"priors": [0.1], "measures": "auprec"}
    with pytest.raises(InvalidArgument, match=r"(?s)measured once.*give predictions with case="):
        pr.choose(pr.evaluate(ONE, **COLUMNS, **asked, intervals=True))
    found = pr.choose(pr.evaluate(ONE, **COLUMNS, **asked))
    assert found.models["probability_best"].null_count() == 3
    assert "give predictions with case='id'" in " ".join(found.warnings)


def test_folds_are_found_and_repeats_too():
    few = TABLE.filter(pl.col("fold") <= 2)
    twice = pl.concat(few.with_columns(pl.lit(i).alias("repeat")) for i in (1, 2))
    assert pr.choose(twice, **COLUMNS, over=OVER).folds == ("fold", "repeat")
    one = few.filter(model="A").drop("model").with_columns(other=-pl.col("score"))
    scores = {"truth": "truth", "score": ["score", "other"]}
    assert pr.choose(one, **scores, over=OVER).fold_count == 2


def test_folds_are_pooled_on_purpose():
    few = TABLE.filter(pl.col("fold") <= 2)
    # Each row of a model is a case of its own, as in cross-validation.
    few = few.with_columns(case=pl.int_range(pl.len()).over("model"))
    pooled = pr.choose(few, **COLUMNS, over=OVER, fold=None)
    assert pooled.folds == ()
    assert_same_numbers(pooled.models, pr.choose(few.drop("fold"), **COLUMNS, over=OVER).models)
