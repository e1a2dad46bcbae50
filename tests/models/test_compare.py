from itertools import combinations

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument


@pytest.fixture(scope="module")
def measures():
    return pr.evaluate(
        pr.datasets.satellite_predictions(),
        truth="truth",
        score="score",
        priors=[0.5, 0.1],
        over=(0.05, 0.20),
    )


def letters_of(found):
    """The letters of each model, as the chart shows them."""
    rows = pr.charts.pairs(found).to_dict()["vconcat"][0]["data"]["values"]
    return {one["series"]: one["letters"] for one in rows}


def test_models_have_their_means_and_intervals_best_first(measures):
    models = pr.compare(measures, test_train_ratio=0.25, level=0.9).models
    of_model = {
        model: measures.filter(measure="iauprec", model=model)["estimate"] for model in "ACB"
    }
    assert models["model"].to_list() == [*of_model]
    for values, row in zip(of_model.values(), models.iter_rows(named=True), strict=True):
        # Nadeau and Bengio 2003.
        error = values.std() * (1 / 20 + 0.25) ** 0.5
        lower, upper = stats.t.interval(0.9, 19, values.mean(), error)
        expected = [values.mean(), error, lower, min(upper, 1), 0.9]
        names = ["estimate", "std_error", "lower", "upper", "level"]
        assert [row[name] for name in names] == pytest.approx(expected)


@pytest.mark.parametrize("named", [True, False])
def test_one_model_over_folds_has_its_mean_with_its_interval(named):
    table = pr.datasets.satellite_predictions().filter(model="A")
    several = pr.compare(
        pr.datasets.satellite_predictions(), "auc", case=None, test_train_ratio=0.25
    )
    found = pr.compare(table if named else table.drop("model"), "auc", test_train_ratio=0.25)
    expected = several.models.filter(model="A")
    assert_same_numbers(found.models.drop("model"), expected.drop("model"))
    assert (found.omnibus.height, found.pairs.height) == (0, 0)
    assert "Mean over folds with its 95 % interval" in found.summary()
    # Of its measures the same.
    measures = pr.evaluate(table, measure="auc")
    of_measures = pr.compare(measures, "auc", test_train_ratio=0.25)
    assert_same_numbers(of_measures.models, expected)


def largest_groups(models, apart):
    """The largest sets of models of which none is told apart from another, by trying all sets."""
    sets = [
        {*chosen}
        for size in range(1, len(models) + 1)
        for chosen in combinations(models, size)
        if not any(pair in apart for pair in combinations(sorted(chosen), 2))
    ]
    return [one for one in sets if not any(one < other for other in sets)]


@pytest.mark.parametrize("ratio", [0.25, 0])
@pytest.mark.parametrize("level", [0.6, 0.95])
@pytest.mark.parametrize("seed", range(8))
def test_intervals_adjusted_p_values_and_letters_agree(ratio, level, seed):
    rng = np.random.default_rng(seed)
    models, blocks = rng.integers(2, 7), rng.integers(2, 13)
    values = 0.7 + rng.normal(size=(blocks, models)) * 0.05 + rng.normal(size=models) * 0.08
    found = pr.compare(tidy(values), level=level, test_train_ratio=ratio)
    letters = letters_of(found)
    assert found.models["estimate"].is_sorted(descending=True)
    apart = set()
    for row in found.pairs.iter_rows(named=True):
        assert row["p_adjusted"] >= row["p_value"] - 1e-12
        outside = row["adjusted_lower"] > 0 or row["adjusted_upper"] < 0
        alone = row["lower"] > 0 or row["upper"] < 0
        assert alone == (row["p_value"] < 1 - level)
        assert outside == (row["p_adjusted"] < 1 - level)
        assert outside == (not {*letters[row["model_a"]]} & {*letters[row["model_b"]]})
        if outside:
            apart.add((row["model_a"], row["model_b"]))
    # Each letter is of as many models as it may be.
    for letter in {*"".join(letters.values())}:
        own = {model for model, of_model in letters.items() if letter in of_model}
        assert own in largest_groups(list(letters), apart)


def test_each_of_more_models_than_the_alphabet_has_letters_has_a_letter_of_its_own():
    values = 0.001 * np.random.default_rng(0).normal(size=(20, 60)) + np.linspace(0, 0.9, 60)
    letters = [*letters_of(
        pr.compare(tidy(values, models=list(range(60))), test_train_ratio=0)
    ).values()]  # fmt: skip
    assert len({*letters}) == 60
    assert all(len(one) == 1 and one.isalpha() for one in letters)


def test_models_that_do_not_differ_within_a_group_have_one_letter():
    # Three clear groups of models.
    values = draw(10, 1) + np.repeat([0, 0.1, 0.2], 20) + 1e-4 * draw(10, 60, 1)
    letters = letters_of(pr.compare(tidy(values, models=list(range(60))), test_train_ratio=0))
    assert [letters[str(model)] for model in range(60)] == ["c"] * 20 + ["b"] * 20 + ["a"] * 20


def test_a_pair_told_apart_is_named_where_the_test_of_all_finds_nothing():
    # One pair differs by a hair in every block; the third model varies so much that the
    # common error hides it.
    rng = np.random.default_rng(3)
    first = 0.7 + rng.normal(size=8) * 1e-3
    values = np.c_[first, first + 1e-3 + rng.normal(size=8) * 1e-5, 0.7 + rng.normal(size=8) * 0.1]
    found = pr.compare(tidy(values), test_train_ratio=0, level=0.995)
    assert found.omnibus["p_value"][0] > 0.005
    said = " ".join(found.summary().split())
    assert "1 pair differs significantly, such as A and B" in said
    assert "no difference among all models" not in said


@pytest.mark.parametrize("measure", ["sens", "accsens", "equal_error"])
def test_where_low_is_good_the_lowest_is_first(measure):
    found = pr.compare(tidy(draw(10, 3), measure=measure), measure, test_train_ratio=0.25)
    assert found.models["estimate"].is_sorted()


def test_predictions_on_folds_give_what_their_measures_give(measures):
    predictions = pr.datasets.satellite_predictions()
    names = {"truth": "truth", "score": "score"}
    found = pr.compare(predictions, **names, case="case", over=(0.05, 0.20))
    # Each fold tests some cases, and its models were fitted on all others.
    sizes = predictions.group_by("fold", "model").len()["len"]
    cases = predictions["case"].n_unique()
    ratio = sizes.mean() / (cases - sizes.mean())
    expected = pr.compare(measures, test_train_ratio=ratio)
    columns = ["difference", "lower", "upper", "adjusted_lower", "adjusted_upper", "p_adjusted"]
    assert found.pairs["model_a"].to_list() == expected.pairs["model_a"].to_list()
    np.testing.assert_allclose(found.pairs.select(columns), expected.pairs.select(columns))
    apart = pr.compare(predictions, "auprec", **names, priors=0.1, test_train_ratio=0)
    known = pr.compare(measures, "auprec", priors=0.1, test_train_ratio=0)
    assert apart.pairs["p_value"].to_list() == pytest.approx(known.pairs["p_value"].to_list())
    with pytest.raises(InvalidArgument, match=r"the table has 'iauprec' over '0.05 to 0.2', not"):
        pr.compare(measures, over=(0.05, 0.3), test_train_ratio=0.25)


def test_cases_that_were_merely_found_tell_the_ratio_where_folds_share_them():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
    asked = {"truth": "truth", "score": "score", "measure": "auc"}
    # Hold-outs whose rows are numbered, by row and by fold and case.
    numbered = table.drop("case").with_row_index("id")
    by_fold = table.with_columns(case=pl.format("{}-{}", "fold", "case"))
    for rows in (numbered, by_fold):
        with pytest.raises(InvalidArgument, match=r"(?s)test_train_ratio is needed.*case="):
            pr.compare(rows, **asked)
    # Models that share no case say nothing of folds, whoever says so.
    with pytest.raises(InvalidArgument, match="test_train_ratio is needed"):
        pr.compare(numbered, **asked, case="id")
    said = pr.compare(by_fold, **asked, case="case")
    assert said.test_train_ratio == pytest.approx(1 / 3, rel=0.05)
    shared = pr.compare(table, **asked)
    assert shared.test_train_ratio > 0.25
    # Two of the hold-outs have too few of all cases to tell.
    with pytest.raises(InvalidArgument, match=r"(?s)worked out from case.*test_train_ratio=0.25"):
        pr.compare(table.filter(pl.col("fold") <= 2), **asked)


def test_differences_of_areas_are_between_minus_one_and_one():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    found = pr.compare(
        table, "auc", truth="truth", score="score", test_train_ratio=0.25, level=0.999
    )
    limits = found.pairs.select("lower", "upper", "adjusted_lower", "adjusted_upper").to_numpy()
    assert np.abs(limits).max() == 1


def test_predictions_may_have_columns_named_as_those_of_measures():
    table = pr.datasets.satellite_predictions()
    expected = pr.compare(table, "auc", test_train_ratio=0.25)
    found = table.with_columns(measure=pl.lit("auc"), estimate=0.5)
    assert_same_numbers(pr.compare(found, "auc", test_train_ratio=0.25).pairs, expected.pairs)
