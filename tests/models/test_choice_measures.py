import chances
import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from paired import paired_test
from polars.testing import assert_frame_equal

import polaroc as pr

TABLE = pr.datasets.satellite_predictions()
ONE = TABLE.filter(fold=1)
OVER = (0.05, 0.20)
COLUMNS = {"truth": "truth", "score": "score"}
SURE = ["expected", "expected_lower", "expected_upper", "probability_best", "expected_loss"]


def by_model(choice):
    return choice.models.sort("model")


@pytest.mark.parametrize(
    ("over", "folds"), [(OVER, False), ((0.1, 0.1), True), (pr.beta(2, 18), False)]
)
def test_of_predictions_is_of_their_measures(over, folds):
    table = TABLE if folds else ONE.drop("fold")
    choice = pr.choose(table, **COLUMNS, over=over, case=None)
    one = isinstance(over, tuple) and over[0] == over[1]
    grid = pr.prior_grid(*OVER, 25)
    priors = [0.1] if one else grid if isinstance(over, tuple) else over.priors
    measures = pr.evaluate(table, **COLUMNS, priors=priors, over=None if one else over)
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


def test_one_test_set_is_judged_case_by_case():
    # A model, and the same one but for some noise, which is a little worse.
    one = ONE.filter(model="A").sort("case")
    noise = np.random.default_rng(2).normal(size=one.height) * 0.05 * one["score"].std()
    other = one.with_columns(pl.col("score") + noise, model=pl.lit("B"))
    two = pl.concat([one, other])
    choice = pr.choose(two, **COLUMNS, over=OVER)
    pair = paired_test(two, **COLUMNS, case="case", measure="iauprec", over=OVER)
    lead, error = pair.select("difference", "std_error").row(0)
    assert 0.5 < abs(lead) / error < 3
    known = chances.of_two(abs(lead) / error)
    first = choice.models.row(0, named=True)
    assert first["probability_best"] == pytest.approx(known.probability_best, abs=0.02)
    assert choice.models["expected_loss"].to_numpy() / error == pytest.approx(known.loss, abs=0.05)
    assert first["mean"] - first["expected"] == pytest.approx(
        (1 - known.kept) * abs(lead) / 2, abs=0.3 * error
    )
    assert "at least" not in choice.answer
    assert "other cases like these" in " ".join(choice.warnings)
    # Rows that are not paired do not tell how models differ.
    unpaired = pr.choose(two, **COLUMNS, over=OVER, case=None)
    assert unpaired.models["expected_loss"].null_count() == 2
    assert "give predictions with case='id'" in " ".join(unpaired.warnings)


def test_perfect_models_leave_nothing_to_judge_by():
    perfect = pl.DataFrame({"y": [0, 0, 1, 1], "a": [1, 2, 3, 4], "b": [1, 2, 5, 6]})
    choice = pr.choose(perfect, truth="y", score=["a", "b"], over=OVER)
    assert choice.models["probability_best"].null_count() == 2
    assert choice.answer.startswith("Take a or b: the area (AUPREC) over 5 to 20 % positives is 1")


PROBABILITY = 1 / (1 + (-pl.col("score")).exp())
PROBABLE = {"truth": "truth", "score": "score"}
LOSSES = ["brier", "calibration_loss"]


@pytest.mark.parametrize("measure", LOSSES)
def test_of_losses_less_is_better(measure):
    grid = sorted({*pr.prior_grid(*OVER, 25)["prior"], *pr.uniform(*OVER).priors})
    losses = pr.evaluate(
        TABLE.with_columns(score=PROBABILITY), **PROBABLE, priors=grid, measure=measure
    )  # fmt: skip
    loss = pr.choose(losses, measure=measure, over=OVER, test_train_ratio=0.25)
    # Of an unknown measure more is better.
    negative = losses.with_columns(pl.lit("gain").alias("measure"), -pl.col("estimate"))
    gain = pr.choose(negative, measure="gain", over=OVER, test_train_ratio=0.25)
    same = ["model", "probability_best", "expected_loss", "worst_regret", "share"]
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
    # The correction is only named where it is seen in three digits.
    is_seen = len({f"{one:.3g}" for one in loss.models.select("mean", "expected").row(0)}) == 2
    picked = "too low, because it was picked as the lowest of 3"
    assert any(picked in warning for warning in loss.warnings) == is_seen
    assert "less is better" in loss.summary()
    assert "less is better" in loss.comparison.summary()
    assert loss.comparison.models["model"][0] == "A"


def test_limits_are_those_of_the_measure():
    one = ONE.with_columns(score=PROBABILITY)
    choice = pr.choose(one, **PROBABLE, over=(0.1, 0.1), measure="brier_skill")
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
    choice = pr.choose(ONE.with_columns(score=PROBABILITY), **PROBABLE, over=over, measure=measure)
    assert choice.models["probability_best"].null_count() == 3
    assert "nothing says how sure that is" in choice.answer
    assert why in " ".join(choice.warnings)


def test_folds_are_found_and_repeats_too():
    few = TABLE.filter(pl.col("fold") <= 2)
    twice = pl.concat(few.with_columns(pl.lit(i).alias("repeat")) for i in (1, 2))
    asked = {"fold": ["fold", "repeat"], "over": OVER, "test_train_ratio": 0.25}
    assert (
        pr.choose(
            twice.with_columns(pl.col("score") * pl.col("repeat") + pl.col("repeat")),
            **COLUMNS,
            **asked,
        ).fold_count
        == 4
    )
    one = few.filter(model="A").drop("model").with_columns(other=-pl.col("score"))
    scores = {"truth": "truth", "score": ["score", "other"]}
    assert pr.choose(one, **scores, over=OVER, test_train_ratio=0.25).fold_count == 2


def test_folds_are_pooled_on_purpose():
    few = TABLE.filter(pl.col("fold") <= 2)
    # Each row of a model is a case of its own, as in cross-validation.
    few = few.with_columns(case=pl.int_range(pl.len()).over("model"))
    pooled = pr.choose(few, **COLUMNS, over=OVER, fold=None)
    assert pooled.folds == ()
    assert_same_numbers(pooled.models, pr.choose(few.drop("fold"), **COLUMNS, over=OVER).models)
