from itertools import combinations
from math import sqrt

import numpy as np
import polars as pl
import pytest
from layouts import draw, tidy
from scipy.stats import t
from statsmodels.stats.multitest import multipletests

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


def test_satellite_by_hand(measures):
    found = pr.compare(measures, test_train_ratio=0.25)
    iauprec = measures.filter(measure="iauprec").sort("fold")
    wide = {model: iauprec.filter(model=model)["estimate"] for model in "ABC"}
    # Of p-values so small that none is cut to 1.
    small = found.pairs["p_value"].to_numpy() / 1000
    factors = multipletests(small, method="holm")[1] / small
    for row, factor in zip(found.pairs.rows(), factors, strict=True):
        a, b, difference, error, *limits, level, statistic, p, _ = row
        lead = (wide[a] - wide[b]).to_list()
        mean = sum(lead) / 20
        by_hand = sqrt(sum((x - mean) ** 2 for x in lead) / 19 * (1 / 20 + 0.25))
        assert (difference, error) == pytest.approx((mean, by_hand))
        assert statistic == pytest.approx(mean / by_hand)
        assert p == pytest.approx(2 * t.sf(abs(mean) / by_hand, 19))
        alone, adjusted = (t.isf(0.05 / one / 2, 19) * by_hand for one in (1, factor))
        expected = [mean - alone, mean + alone, mean - adjusted, mean + adjusted]
        assert limits == pytest.approx(expected)
        assert level == 0.95
    assert found.letters["model"].to_list() == ["A", "C", "B"]
    assert found.letters["mean"][0] == pytest.approx(wide["A"].mean())
    assert found.letters["sd"][2] == pytest.approx(wide["B"].std())


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
    letters = dict(found.letters.select("model", "letters").iter_rows())
    assert found.letters["mean"].is_sorted(descending=True)
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
    letters = pr.compare(tidy(values, models=list(range(60))), test_train_ratio=0).letters[
        "letters"
    ]
    assert letters.n_unique() == 60
    assert all(len(one) == 1 and one.isalpha() for one in letters)


def test_models_that_are_not_told_apart_within_a_group_have_one_letter():
    # Three clear groups of models.
    values = draw(10, 1) + np.repeat([0, 0.1, 0.2], 20) + 1e-4 * np.tile(draw(10, 20, 1), 3)
    letters = pr.compare(tidy(values, models=list(range(60))), test_train_ratio=0).letters
    assert letters.sort("model")["letters"].to_list() == ["c"] * 20 + ["b"] * 20 + ["a"] * 20


def test_a_pair_told_apart_is_named_where_the_test_of_all_finds_nothing():
    # One pair differs by a hair in every block; the third model varies so much that the
    # common error hides it.
    rng = np.random.default_rng(3)
    first = 0.7 + rng.normal(size=8) * 1e-3
    values = np.c_[first, first + 1e-3 + rng.normal(size=8) * 1e-5, 0.7 + rng.normal(size=8) * 0.1]
    found = pr.compare(tidy(values), test_train_ratio=0, level=0.995)
    assert found.omnibus["p_value"][0] > 0.005
    said = " ".join(found.summary().split())
    assert "1 pair is told apart by tests of two models at a time, such as A and B" in said
    assert "no difference among all models" not in said


def test_two_models_have_one_test():
    found = pr.compare(tidy(draw(8, 2)), test_train_ratio=1 / 7)
    assert found.omnibus["p_value"].item() == pytest.approx(found.pairs["p_value"].item())
    assert found.omnibus["statistic"].item() == pytest.approx(found.pairs["statistic"].item() ** 2)


@pytest.mark.parametrize("arguments", [{"test_train_ratio": 0.25}, {"test_train_ratio": 0}])
def test_identical_models_are_not_told_apart(arguments):
    values = draw(10, 2)
    values = np.c_[values, values[:, 1] + 1e-16]
    found = pr.compare(tidy(values), level=0.5, **arguments)
    row = found.pairs.filter(model_a="B", model_b="C").row(0, named=True)
    zeros = ["difference", "lower", "upper", "adjusted_lower", "adjusted_upper"]
    assert [row[name] for name in zeros] == [0] * 5
    assert (row["p_value"], row["p_adjusted"]) == (1, 1)
    letters = dict(found.letters.select("model", "letters").iter_rows())
    assert letters["B"] == letters["C"]


def test_differences_that_never_vary_are_said():
    values = draw(10, 1) + np.array([0, 0.1])
    found = pr.compare(tidy(values), test_train_ratio=0.25)
    assert "'A' and 'B' differ by the same amount" in " ".join(found.warnings)
    assert found.pairs["p_value"].item() == 0


@pytest.mark.parametrize("measure", ["sens", "accsens", "equal_error"])
def test_where_low_is_good_the_lowest_is_first(measure):
    found = pr.compare(tidy(draw(10, 3), measure=measure), measure, test_train_ratio=0.25)
    assert found.letters["mean"].to_list() == sorted(found.letters["mean"])


@pytest.mark.parametrize("wide", [False, True])
def test_predictions_on_folds_give_what_their_measures_give(measures, wide):
    predictions = pr.datasets.satellite_predictions()
    names = {"truth": "truth", "score": "score"}
    if wide:
        parts = [
            predictions.filter(model=m).rename({"score": m}).drop("model") for m in ("A", "B", "C")
        ]
        on = ["fold", "case", "truth"]
        predictions = parts[0].join(parts[1], on=on).join(parts[2], on=on)
        names = {"truth": "truth", "score": ["A", "B", "C"]}
    found = pr.compare(predictions, **names, case="case", over=(0.05, 0.20))
    # Each fold tests some cases, and its models were fitted on all others.
    sizes = predictions.group_by(*(["fold"] if wide else ["fold", "model"])).len()["len"]
    cases = predictions["case"].n_unique()
    ratio = sizes.mean() / (cases - sizes.mean())
    expected = pr.compare(measures, test_train_ratio=ratio)
    columns = ["difference", "lower", "upper", "adjusted_lower", "adjusted_upper", "p_adjusted"]
    assert found.pairs["model_a"].to_list() == expected.pairs["model_a"].to_list()
    np.testing.assert_allclose(found.pairs.select(columns), expected.pairs.select(columns))
    apart = pr.compare(predictions, "auprec", **names, prior=0.1, test_train_ratio=0)
    known = pr.compare(measures, "auprec", prior=0.1, test_train_ratio=0)
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
        with pytest.raises(InvalidArgument, match=r"(?s)test_train_ratio is None.*case="):
            pr.compare(rows, **asked)
    # Models that share no case say nothing of folds, whoever says so.
    with pytest.raises(InvalidArgument, match="test_train_ratio is None"):
        pr.compare(numbered, **asked, case="id")
    said = pr.compare(by_fold, **asked, case="case")
    assert said.plan.test_train_ratio == pytest.approx(1 / 3, rel=0.05)
    shared = pr.compare(table, **asked)
    assert shared.plan.test_train_ratio > 0.25
