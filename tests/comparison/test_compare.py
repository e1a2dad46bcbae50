import html
import re
from itertools import combinations
from math import sqrt

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from hypothesis import given
from hypothesis import strategies as st
from layouts import draw, tidy
from scipy.stats import t
from statsmodels.stats.multitest import multipletests

import polaroc as pr
from polaroc.base.text import escape_control
from polaroc.errors import InvalidArgument, InvalidPredictions

HOSTILE = "[bold]<script>alert('x')</script>\x1b[31m & " + "x" * 100


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


def test_tables_have_the_columns_of_the_contract(measures):
    found = pr.compare(measures, test_train_ratio=0)
    assert found.omnibus.schema == {
        "test": pl.String, "statistic": pl.Float64, "df1": pl.Float64, "df2": pl.Float64,
        "p_value": pl.Float64,
    }  # fmt: skip
    numbers = [
        "difference", "std_error", "lower", "upper", "adjusted_lower", "adjusted_upper", "level",
        "statistic", "p_value", "p_adjusted",
    ]  # fmt: skip
    assert found.pairs.schema == {"model_a": pl.String, "model_b": pl.String} | dict.fromkeys(
        numbers, pl.Float64
    )
    assert found.letters.schema == {
        "model": pl.String, "mean": pl.Float64, "sd": pl.Float64, "letters": pl.String,
    }  # fmt: skip
    assert all(isinstance(line, str) and line.endswith(".") for line in found.warnings)


ADJUSTED = [{"test_train_ratio": 0.25}, {"test_train_ratio": 0}]


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("arguments", ADJUSTED)
@given(
    level=st.sampled_from([0.6, 0.95]),
    seed=st.integers(0, 10**6),
    models=st.integers(2, 6),
    blocks=st.integers(2, 12),
)
def test_an_interval_leaves_out_zero_where_the_pair_is_told_apart(
    arguments, level, seed, models, blocks
):
    rng = np.random.default_rng(seed)
    values = 0.7 + rng.normal(size=(blocks, models)) * 0.05 + rng.normal(size=models) * 0.08
    found = pr.compare(tidy(values), level=level, **arguments)
    letters = dict(found.letters.select("model", "letters").iter_rows())
    assert found.letters["mean"].is_sorted(descending=True)
    for row in found.pairs.iter_rows(named=True):
        assert row["p_adjusted"] >= row["p_value"] - 1e-12
        outside = row["adjusted_lower"] > 0 or row["adjusted_upper"] < 0
        alone = row["lower"] > 0 or row["upper"] < 0
        assert alone == (row["p_value"] < 1 - level)
        assert outside == (row["p_adjusted"] < 1 - level)
        assert outside == (not set(letters[row["model_a"]]) & set(letters[row["model_b"]]))
    assert f"adjusted {100 * level:g} % interval leaves out 0 only" in " ".join(
        found.summary().split()
    )


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


def test_order_of_models_only_turns_signs():
    values = draw(8, 3)
    forth = pr.compare(tidy(values), test_train_ratio=0.2)
    back = pr.compare(tidy(values[:, ::-1]), test_train_ratio=0.2)
    assert forth.omnibus["p_value"].to_list() == pytest.approx(back.omnibus["p_value"].to_list())
    assert forth.pairs["difference"].to_list() == pytest.approx(
        [-d for d in back.pairs["difference"].to_list()[::-1]]
    )


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


def test_a_measure_at_a_prior(measures):
    found = pr.compare(measures, "auprec", prior=0.1, test_train_ratio=0.25)
    auprec = measures.filter(measure="auprec")
    mean = auprec.filter(model="C", prior=0.1)["estimate"].mean()
    assert dict(found.letters.select("model", "mean").iter_rows())["C"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("priors", "asked", "told"),
    [
        ([0.1, 0.5], 0.1, "auprec at prior 0.1"),
        ([0.1], None, "auprec at prior 0.1"),
        (["observed", 0.5], "observed", "auprec at each fold's own prior"),
    ],
)
def test_the_prior_is_named(priors, asked, told):
    found = pr.compare(
        pr.evaluate(
            pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2),
            truth="truth",
            score="score",
            priors=priors,
        ),
        "auprec",
        prior=asked,
        test_train_ratio=0.25,
    )
    assert found.measure == told


def test_hundreds_of_models():
    found = pr.compare(tidy(draw(3, 180), models=list(range(180))), test_train_ratio=0)
    assert found.omnibus["p_value"].is_between(0, 1).all()
    assert found.pairs.height == 180 * 179 / 2


@pytest.mark.parametrize(("ratio", "said"), [(4, True), (1.5, True), (1, False), (0.25, False)])
def test_a_ratio_turned_around_is_said(ratio, said):
    found = pr.compare(tidy(draw(20, 3)), test_train_ratio=ratio)
    assert any("turned around" in line for line in found.warnings) is said


def test_many_pairs_are_cut_short_in_the_summary():
    found = pr.compare(tidy(draw(10, 10)), test_train_ratio=0.25)
    assert found.pairs.height == 45
    assert "of 45" not in found.summary()
    more = pr.compare(tidy(draw(10, 11), models=list("ABCDEFGHIJK")), test_train_ratio=0.25)
    assert more.pairs.height == 55
    said = " ".join(more.summary().split())
    assert "45 of 55: the best model and those next to it" in said
    best = more.letters["model"][0]
    table = more.summary().partition("p_adjusted")[2]
    rows = [line.split()[:2] for line in table.splitlines()[2:47]]
    assert sum(best in row for row in rows) == 10
    assert all(best in row for row in rows[:10])


def test_what_is_asked_is_said():
    algorithm = pr.compare(tidy(draw(20, 3)), test_train_ratio=0.25)
    assert "which share cases, count as 3.3 independent ones" in algorithm.warnings[0]
    apart = pr.compare(tidy(draw(20, 3)), test_train_ratio=0)
    assert "test_train_ratio=0 treats the 20 folds as independent" in apart.warnings[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "test_train_ratio is None"),
        ({"test_train_ratio": -0.1}, "test_train_ratio is -0.1"),
        ({"target": "population"}, "allowed are 'algorithm', 'trained'"),
        ({"test_train_ratio": 0.25, "level": 1}, "level is 1"),
        ({"test_train_ratio": 0.25, "prior": 0.1}, "'iauprec' has no prior"),
        ({"test_train_ratio": 0.25, "measure": "auprec"}, "at several priors: 0.1, 0.5"),
        ({"test_train_ratio": 0.25, "measure": "auprec", "prior": 0.2}, "has it at 0.1, 0.5"),
        ({"test_train_ratio": 0.25, "measure": "auprec", "prior": 2}, "prior is 2"),
        ({"test_train_ratio": 0.25, "measure": "nope"}, "no measure 'nope'"),
        ({"test_train_ratio": 0.25, "measure": "auprec", "prior": 0.1, "over": (0.1, 0.5)},
         "over is for measures over a range of priors"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(measures, arguments, said):
    with pytest.raises(InvalidArgument, match="Hint:") as caught:
        pr.compare(measures, **arguments)
    assert said in str(caught.value)


def test_one_fold_and_names_of_the_result_are_refused():
    with pytest.raises(InvalidArgument, match="there is 1 fold"):
        pr.compare(tidy(draw(1, 3)), test_train_ratio=0.25)
    with pytest.raises(InvalidArgument, match="also a column of the result"):
        pr.compare(tidy(draw(4, 3)).rename({"model": "mean"}), model="mean", test_train_ratio=1)


def test_summary_fits_a_terminal_and_tells_what_was_found(measures):
    found = pr.compare(measures, test_train_ratio=0, level=0.95)
    text = found.summary()
    assert max(map(len, text.splitlines())) <= 80
    for (a, b), p in zip(combinations("ABC", 2), found.pairs["p_adjusted"], strict=True):
        shown = "< 0.001" if p < 0.001 else f"{p:.2g}"
        assert re.search(rf"^ *{a} +{b} .* {shown}$", text, re.MULTILINE)
    assert "At a level of 95 % the models differ" in text
    assert all(line in " ".join(text.split()) for line in found.warnings)
    assert repr(found).startswith("Comparison(iauprec: 3 models, 20 folds")


def test_hostile_names_are_text():
    table = tidy(draw(4, 2), models=[HOSTILE, "B"]).rename({"model": "<b>[red]model"})
    found = pr.compare(table, model="<b>[red]model", test_train_ratio=0.25)
    assert found.pairs.columns[:2] == ["<b>[red]model_a", "<b>[red]model_b"]
    text = found.summary()
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "[bold]" in text
    page = found._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "\x1b" not in page
    assert html.escape(escape_control(HOSTILE)) in page


# --- what small changes to the module showed nobody had asked -------------------------------------


def long(values):
    blocks, models = values.shape
    return pl.DataFrame(
        {
            "model": [model for _ in range(blocks) for model in "abcdef"[:models]],
            "fold": np.repeat(np.arange(blocks), models),
            "measure": "auc",
            "prior": pl.Series([None] * (blocks * models), dtype=pl.Float64),
            "estimate": values.ravel(), "positives": 5, "negatives": 7,
            "note": pl.Series([None] * (blocks * models), dtype=pl.String),
        }
    )  # fmt: skip


def test_at_most_five_pairs_without_variation_are_named():
    # Sums of powers of two: the differences are exactly alike.
    alike = np.array([[0.25, 0.5, 0.625, 0.75]]) + np.arange(4)[:, None] / 16
    said = pr.compare(long(alike), measure="auc", test_train_ratio=0.25).warnings[-1]
    named, _ = said.split(" differ by the same amount")
    assert named.split("; ") == [
        f"{a!r} and {b!r}" for a, b in ("ab", "ac", "ad", "bc", "bd")
    ]  # fmt: skip


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


def test_a_case_that_is_twice_in_a_fold_is_refused():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
    twice = pl.concat([table, table.head(2)])
    asked = {"truth": "truth", "score": "score", "measure": "auc"}
    with pytest.raises(InvalidPredictions, match=r"(?s)2 cases are there twice.*case=None"):
        pr.compare(twice, **asked)
    assert pr.compare(twice, **asked, case=None, test_train_ratio=0.25).size == 4


def test_rows_without_a_fold_are_refused():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
    lacking = table.with_columns(fold=pl.when(pl.col("fold") > 1).then("fold"))
    with pytest.raises(InvalidPredictions, match=r"(?s)rows have no fold.*Hint: fill it in"):
        pr.compare(lacking, truth="truth", score="score", measure="auc", test_train_ratio=0.25)


@pytest.mark.parametrize("wide", [False, True])
def test_cases_that_a_model_did_not_score_are_left_out_of_their_fold(wide):
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
    lost = (pl.col("case") % 7 == 0) & (pl.col("fold") == 2)
    names = {"truth": "truth", "score": "score"}
    lacking = table.with_columns(score=pl.when((pl.col("model") != "A") | ~lost).then("score"))
    if wide:
        index = ["fold", "case", "truth"]
        lacking = lacking.pivot("model", index=index, values="score", aggregate_function="first")
        names["score"] = ["A", "B", "C"]
    asked = {"measure": "auc", "test_train_ratio": 0.25}
    found = pr.compare(lacking, **names, **asked, nulls="drop")
    kept = table.filter(~lost)
    expected = pr.compare(kept, truth="truth", score="score", **asked)
    assert_same_numbers(found.pairs, expected.pairs)
    assert "left out of all models" in found.warnings[0]
    assert not any("different numbers of cases" in one for one in found.warnings)


@pytest.mark.parametrize("name", ["len", "count", "found", "models", "kinds", "size"])
def test_a_column_of_models_may_have_any_name(name):
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    renamed, asked = table.rename({"model": name}), {"truth": "truth", "score": "score"}
    for rows, other in ((table, renamed), (table.filter(fold=1), renamed.filter(fold=1))):
        expected = pr.compare(rows, "auc", **asked).pairs
        found = pr.compare(other, "auc", **asked, model=name).pairs
        assert found.columns[:2] == [f"{name}_a", f"{name}_b"]
        assert_same_numbers(found.rename(dict(zip(found.columns, expected.columns, strict=True))),
                            expected)  # fmt: skip


def test_cases_named_as_models_are_refused_before_every_two_are_compared():
    table = pl.DataFrame({"y": [1, 0] * 6_000, "s": [0.5, 0.1] * 6_000, "id": range(12_000)})
    measures = pl.DataFrame({"model": range(3_000), "measure": "auc", "estimate": 0.5})
    names = {"truth": "y", "score": "s", "model": "id", "fold": None}
    for take in (
        lambda: pr.compare(table, "auc", **names),
        lambda: pr.choose(table, over=(0.1, 0.3), **names),
        lambda: pr.compare(measures, "auc"),
    ):
        with pytest.raises(InvalidArgument, match=r"(?s)has \d+,000 values.*Hint: name the"):
            take()
