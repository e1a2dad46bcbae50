import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

GRID = pr.prior_grid(0.05, 0.20, 16)
PREDICTIONS = pr.datasets.satellite_predictions()


def evaluated(**arguments):
    return pr.evaluate(PREDICTIONS, truth="truth", score="score", **arguments)


def at_priors(values: dict[float, np.ndarray], **names) -> pl.DataFrame:
    tables = [tidy(v, measure="auprec", prior=p, **names) for p, v in values.items()]
    return pl.concat(tables).sample(fraction=1, shuffle=True, seed=0)


def crossing(blocks: int = 6, seed: int = 0) -> dict[float, np.ndarray]:
    """A is better at rare positives, B at common ones, C never."""
    rng = np.random.default_rng(seed)
    means = {0.1: (0.6, 0.5, 0.4), 0.2: (0.65, 0.64, 0.5), 0.4: (0.7, 0.8, 0.6)}
    return {p: np.array(m) + rng.normal(size=(blocks, 3)) * 0.03 for p, m in means.items()}


def by_model(choice, column):
    between = choice.models.columns[0]
    return dict(choice.models.select(between, column).iter_rows())


def test_at_a_few_priors_by_hand():
    values, weights = crossing(), np.full(3, 1 / 3)
    choice = pr.choose(at_priors(values))
    means = np.array([v.mean(0) for v in values.values()])
    regrets = means.max(1, keepdims=True) - means
    expected = np.einsum("p,pjm->jm", weights, np.array(list(values.values())))
    for i, model in enumerate("ABC"):
        assert by_model(choice, "mean")[model] == pytest.approx(weights @ means[:, i])
        assert by_model(choice, "worst_regret")[model] == pytest.approx(regrets[:, i].max())
        best = (expected.argmax(1) == i).mean()
        assert by_model(choice, "share")[model] == pytest.approx(best)
        for p, v in values.items():
            row = choice.priors.filter(prior=p, model=model).row(0, named=True)
            assert row["mean"] == pytest.approx(v.mean(0)[i])
            assert row["share"] == pytest.approx((v.argmax(1) == i).mean())
            assert row["best"] == (v.mean(0).argmax() == i)
    assert choice.bayes == "ABC"[int((weights @ means).argmax())]
    assert choice.minimax == "ABC"[int(regrets.max(0).argmin())]
    assert any("best depends on the share of positives" in line for line in choice.warnings)


def test_bayes_choice_and_minimax_choice_may_differ():
    values = {0.1: [[0.9, 0.82]] * 3, 0.2: [[0.9, 0.95]] * 3, 0.4: [[0.9, 0.95]] * 3}
    choice = pr.choose(at_priors({p: np.array(v) for p, v in values.items()}))
    assert (choice.bayes, choice.minimax) == ("B", "A")


def test_worst_regret_is_found_at_the_ends_of_a_range_too():
    # The mean over the range is worked out from its nodes, and those outside do not count.
    nodes = dict.fromkeys(pr.uniform(0.15, 0.4).priors, (0.9, 0.9))
    values = nodes | {0.1: (0.9, 0.1), 0.15: (0.9, 0.5), 0.4: (0.9, 0.9)}
    table = at_priors({p: np.array([v] * 2) for p, v in values.items()})
    choice = pr.choose(table, over=(0.15, 0.4))
    assert by_model(choice, "mean") == pytest.approx({"A": 0.9, "B": 0.9})
    assert by_model(choice, "worst_regret") == pytest.approx({"A": 0, "B": 0.4})
    without_end = pr.choose(table.filter(pl.col("prior") != 0.15), over=(0.15, 0.4))
    assert without_end.models["worst_regret"].null_count() == 2
    assert without_end.minimax is None


def test_wins_are_shared_among_ties():
    values = np.array([[0.5, 0.5, 0.1], [0.2, 0.3, 0.3], [0.1, 0.2, 0.9], [0.4, 0.4, 0.4]])
    # Of the four folds A has 1/2, 0, 0 and 1/3, and so on.
    choice = pr.choose(at_priors({0.1: values, 0.2: values}))
    assert by_model(choice, "share") == pytest.approx({"A": 5 / 24, "B": 8 / 24, "C": 11 / 24})


def test_of_identical_models_nothing_says_which_is_the_best():
    values = np.repeat(draw(5, 1), 2, axis=1)
    choice = pr.choose(at_priors({0.1: values, 0.2: values}), test_train_ratio=0.25)
    assert by_model(choice, "share") == {"A": 0.5, "B": 0.5}
    assert by_model(choice, "worst_regret") == {"A": 0, "B": 0}
    assert by_model(choice, "probability_best") == {"A": None, "B": None}
    assert by_model(choice, "expected_loss") == {"A": None, "B": None}
    assert "do not differ in any fold" in " ".join(choice.warnings)
    assert choice.answer.startswith("Take A or B: the area (AUPREC)")
    assert choice.answer.endswith(". They are equal in the area (AUPREC).")


def test_the_best_comes_first_where_models_differ_by_rounding_only():
    # A little better at two priors, a little more worse at the third.
    ahead = {0.1: 3e-14, 0.2: 3e-14, 0.3: -4e-14}
    choice = pr.choose(at_priors({p: np.tile([0.7, 0.7 - d], (4, 1)) for p, d in ahead.items()}))
    assert choice.bayes == choice.minimax == "A"


@pytest.mark.parametrize("one", ["none", "single"])
def test_without_folds_nothing_is_sure(one):
    table = at_priors({p: v[:1] for p, v in crossing().items()})
    table = table.drop("fold") if one == "none" else table
    choice = pr.choose(table, test_train_ratio=0.25)
    assert choice.answer.startswith("Take B, though nothing says how sure that is: the area")
    assert "each model was measured once; give predictions with case='id'" in " ".join(
        choice.warnings
    )
    for column in (
        "expected",
        "expected_lower",
        "expected_upper",
        "probability_best",
        "expected_loss",
    ):
        assert choice.models[column].null_count() == 3
    assert choice.comparison is None
    assert choice.models["share"].null_count() == 3
    assert choice.priors["share"].null_count() == 9


def test_without_a_ratio_no_test_is_made():
    choice = pr.choose(at_priors(crossing()))
    assert choice.comparison is None
    known = pr.choose(at_priors(crossing()), test_train_ratio=0.25)
    assert "with a probability of at least" in choice.answer
    assert "at least" not in known.answer
    assert choice.models["probability_best"][0] < known.models["probability_best"][0]
    # Test sets as large as training sets.
    assert_same_numbers(
        choice.models, pr.choose(at_priors(crossing()), test_train_ratio=1.0).models
    )
    assert "give test_train_ratio=0.25" in " ".join(choice.warnings)


def test_priors_that_are_each_keys_own_are_not_used():
    table = at_priors(crossing())
    own = (
        table.filter(prior=0.1)
        .with_columns(pl.col("fold").alias("negatives"), estimate=pl.lit(0.99))
        .with_columns(prior=10 / (10 + pl.col("negatives")))
    )
    with_own = pl.concat([table.with_columns(pl.col("fold").alias("negatives")), own])
    choice = pr.choose(with_own)
    assert_same_numbers(choice.models, pr.choose(table).models)
    assert any("own prior" in line for line in choice.warnings)
    with pytest.raises(InvalidArgument, match=r"at 0 fixed prior\(s\)"):
        pr.choose(own)


def test_priors_outside_the_range_do_not_stand_for_those_within():
    measures = evaluated(priors=[0.01, 0.1, 0.5], over=(0.3, 0.5))
    with pytest.raises(
        InvalidArgument, match=r"neither 'iauprec' over \(0.05, 0.2\) nor"
    ) as caught:
        pr.choose(measures, over=(0.05, 0.2))
    hint = caught.value.hint
    assert hint == "pr.evaluate(..., over=(0.05, 0.2), priors=pr.prior_grid(0.05, 0.2, 16))."
    again = eval(hint.rstrip(".").replace("pr.evaluate(..., ", "evaluated("))
    assert pr.choose(again, over=(0.05, 0.2)).bayes == "A"


def mean_iauprec(over):
    means = evaluated(over=over, measure="iauprec").group_by("model").agg(pl.col("estimate").mean())
    return dict(means.iter_rows())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("priors", "over", "asked"),
    [
        (GRID, (0.05, 0.2), False), ([0.3], (1 / 30, 0.11), False),
        ([0.5, 0.1, 0.01], pr.beta(2, 18), True),
    ],
)  # fmt: skip
def test_expected_auprec_over_the_range_of_the_table_is_its_iauprec(priors, over, asked):
    measures = evaluated(priors=priors, over=over)
    asked = asked or not isinstance(over, tuple)
    choice = pr.choose(measures, over=over if asked else None, test_train_ratio=0.25)
    expected = mean_iauprec(over)
    assert by_model(choice, "mean") == pytest.approx(expected, abs=1e-12)
    means = dict(choice.comparison.models.select("model", "estimate").iter_rows())
    assert means == pytest.approx(expected, abs=1e-12)
    tested = pr.compare(measures, test_train_ratio=0.25)
    assert tested.pairs["p_value"].to_list() == pytest.approx(
        choice.comparison.pairs["p_value"].to_list(), rel=1e-9
    )


def test_where_few_priors_lie_within_the_range_regrets_are_not_known():
    choice = pr.choose(evaluated(over=(0.02, 0.1)), over=(0.02, 0.1), test_train_ratio=0.25)
    assert choice.models["worst_regret"].null_count() == 3
    assert choice.minimax is None
    assert choice.priors["prior"].unique().to_list() == [0.1]
    assert "regrets are not known" in " ".join(choice.warnings)
    assert choice._repr_html_()
    none = pr.choose(evaluated(over=(0.02, 0.09), measure=["iauprec"]))
    assert none.priors.is_empty()
    assert none.priors.schema == choice.priors.schema
    # Its probability is at least 48 %.
    assert none.answer.startswith("If you must choose now, take A: the area (AUPREC) over 2 to 9 ")


def test_iauprec_and_sens_of_another_range_are_not_used():
    two = pl.concat([evaluated(priors=GRID, over=over) for over in ((0.3, 0.5), (0.05, 0.2))])
    choice = pr.choose(two, over=(0.05, 0.2))
    assert by_model(choice, "mean") == pytest.approx(mean_iauprec((0.05, 0.2)), abs=1e-12)
    sens = evaluated(over=(0.05, 0.2), measure="sens").filter(model="C")["estimate"].mean()
    assert by_model(choice, "prior_sensitivity")["C"] == pytest.approx(sens)


def test_errors_limits_and_the_test_are_those_of_compare():
    measures = evaluated(over=(0.05, 0.2), priors=GRID)
    asked = {"over": (0.05, 0.2), "test_train_ratio": 0.25}
    choice = pr.choose(measures, **asked)
    compared = pr.compare(measures, "iauprec", **asked)
    models, own = choice.models.sort("model"), compared.models.sort("model")
    assert models["std_error"].to_list() == pytest.approx(own["std_error"].to_list(), rel=1e-9)
    # Limits are wider to one side, by as much as the mean is corrected.
    moved = models["expected"] - models["mean"]
    lower, upper = own["lower"] + moved.clip(None, 0), own["upper"] + moved.clip(0, None)
    assert models["expected_lower"].to_list() == pytest.approx(lower.clip(0, 1).to_list())
    assert models["expected_upper"].to_list() == pytest.approx(upper.clip(0, 1).to_list())
    pairs = compared.pairs.filter((pl.col("model_a") == "A") | (pl.col("model_b") == "A"))
    p = pairs["p_adjusted"].max()
    assert p > 0.05
    assert f"the test does not confirm it (p = {p:.2g})" in choice.answer
    sure = pr.choose(measures, **asked, level=0.8)
    assert f"the test confirms it (p = {p:.2g})" in sure.answer


def test_tables_are_the_models_and_the_priors():
    choice = pr.choose(at_priors(crossing()))
    assert list(choice.tables) == ["models", "priors"]
    assert choice.tables["models"] is choice.models
    assert choice.tables["priors"] is choice.priors


# --- Summaries -----------------------------------------------------------------------------------

ONE = PREDICTIONS.filter(fold=1).drop("fold")
HALVES = [ONE.filter(pl.col("case") % 2 == half) for half in (0, 1)]


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        (PREDICTIONS, {"test_train_ratio": 0.25}),
        (PREDICTIONS, {}),
        (PREDICTIONS, {"cost_fn": 5}),
        (ONE, {}),
        (HALVES[0], {"tuning": HALVES[1], "cost_fn": 10}),
        (HALVES[0], {"tuning": HALVES[1], "constraints": {"precision": 0.4}, "confidence": 0.9}),
    ],
)
def test_a_summary_is_the_answer_a_table_and_three_notes_on_thirty_lines(table, asked):
    choice = pr.choose(table, over=(0.05, 0.2), **asked)
    lines = choice.summary().splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert " ".join(lines).startswith(choice.answer)
    assert sum("\u2500" in line for line in lines) == 1
    assert sum(line.startswith("Note: ") for line in lines) <= 4
    for model in choice.models["model"]:
        assert any(line.split()[:1] == [model] for line in lines)


def test_a_summary_of_many_models_shows_the_first_of_them():
    values = {p: draw(6, 40, int(10 * p)) for p in (0.1, 0.2, 0.4)}
    choice = pr.choose(at_priors(values, models=list(range(40))))
    assert len(choice.summary().splitlines()) <= 30
    assert "the first 8 of 40 models" in " ".join(choice.summary().split())


def test_a_uniform_belief_is_its_range():
    table = PREDICTIONS.filter(fold=1).drop("fold")
    of_range, of_belief = (
        pr.choose(table, over=over) for over in ((0.05, 0.2), pr.uniform(0.05, 0.2))
    )
    assert of_belief.answer == of_range.answer
    for name in ("models", "priors"):
        assert_frame_equal(getattr(of_belief, name), getattr(of_range, name))


def test_only_an_estimate_is_called_one():
    words = pr.choose(
        pr.datasets.satellite_predictions(),
        truth="truth",
        score="score",
        over=pr.uniform(0.05, 0.2),
    ).answer
    assert "the area (AUPREC) over 5 to 20 % positives is" in words


@pytest.mark.parametrize(
    ("over", "measure", "place"),
    [((0.05, 0.2), "iauprec", {"over": (0.05, 0.2)}), ((0.1, 0.1), "auprec", {"priors": 0.1})],
)
def test_the_comparison_of_one_test_set_is_that_of_compare(over, measure, place):
    table = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
    roles = {"truth": "truth", "score": "score"}
    choice, compared = pr.choose(table, **roles, over=over), pr.compare(
        table, measure, **roles, **place
    )  # fmt: skip
    assert choice.comparison.pairs.equals(compared.pairs)
    assert choice.comparison.models.equals(compared.models)
    assert pr.choose(table, **roles, case=None, over=over).comparison is None
