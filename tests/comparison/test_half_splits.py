import numpy as np
import polars as pl
import pytest
from layouts import draw, tidy
from scipy.stats import t

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.uncertainty.evidence import of_halves, split_noise

MODELS = list("ABC")


def half_table(values, sizes=(10, 40), cases=None):
    """The measures of an array splits × halves × repeats × folds × models."""
    rows = [
        {"model": MODELS[m], "split": s + 1, "half": h + 1, "repeat": r + 1, "fold": f + 1,
         "estimate": v, "positives": sizes[0], "negatives": sizes[1]}
        for (s, h, r, f, m), v in np.ndenumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows).with_columns(measure=pl.lit("iauprec"))


def fold_table(values):
    """The measures of an array repeats × folds × models, folds counted on."""
    _, folds, models = values.shape
    table = tidy(values.reshape(-1, models), models=MODELS[:models])
    return table.with_columns(repeat=(pl.col("fold") - 1) // folds + 1)


@pytest.fixture
def folds():
    # The repeats do not differ in their means, and are no copies of one another.
    values = np.tile(draw(10, 3, seed=3), (3, 1, 1))
    moved = np.random.default_rng(6).normal(size=values.shape) * 0.01
    return fold_table(values + moved - moved.mean(axis=1, keepdims=True))


@pytest.fixture
def halves():
    rng = np.random.default_rng(4)
    shared = rng.normal(size=(25, 2, 1, 1, 3)) * 0.03
    # As many cases as ten folds of 10 + 40 have.
    return half_table(0.7 + shared + rng.normal(size=(25, 2, 2, 5, 3)) * 0.01)


def leads(table, *index):
    """The differences of the models A and B."""
    return lead_of(table, "A", "B", *index)


def lead_of(table, a, b, *index):
    wide = table.pivot("model", index=index, values="estimate", aggregate_function="mean")
    return wide.with_columns(lead=pl.col(a) - pl.col(b)).sort(index)


def differences(halves, a, b):
    """The differences of the two halves of each split, by hand."""
    lead = lead_of(halves, a, b, "split", "half")
    first, second = (lead.filter(half=half)["lead"] for half in (1, 2))
    return (first - second).to_numpy()


def test_two_models_by_hand(folds, halves):
    two = folds.filter(pl.col("model") != "C")
    found = pr.compare(two, halves=halves, level=0.95)
    lead = leads(two, "fold")["lead"]
    variance = (differences(halves, "A", "B") ** 2).mean() / 4
    df = 1 / (1 / 25 + 1 / 99)
    error, mean = variance**0.5, lead.mean()
    row = found.pairs.row(0, named=True)
    assert row["difference"] == pytest.approx(mean)
    assert row["std_error"] == pytest.approx(error)
    assert row["p_value"] == row["p_adjusted"] == pytest.approx(2 * t.sf(abs(mean) / error, df))
    reach = t.isf(0.025, df) * error
    for kind in ("", "adjusted_"):
        limits = row[f"{kind}lower"], row[f"{kind}upper"]
        assert limits == pytest.approx((mean - reach, mean + reach))
    omnibus = found.omnibus.row(0, named=True)
    assert omnibus["test"] == "largest |t|, half-split variance"
    assert omnibus["df2"] == pytest.approx(df)
    assert omnibus["p_value"] == row["p_value"]
    assert "with 20 degrees of freedom" in found.warnings[0]


def test_three_models_obey_one_rule(folds, halves):
    for scale in (0.2, 1, 3):
        own = halves.with_columns(0.7 + scale * (pl.col("estimate") - 0.7))
        found = pr.compare(folds, halves=own, level=0.9)
        letters = dict(found.letters.select("model", "letters").iter_rows())
        for row in found.pairs.iter_rows(named=True):
            error = (differences(own, row["model_a"], row["model_b"]) ** 2).mean() ** 0.5 / 2
            assert row["std_error"] == pytest.approx(error)
            apart = row["p_adjusted"] < 0.1
            assert row["p_value"] <= row["p_adjusted"] <= min(1, 3 * row["p_value"])
            assert (row["adjusted_lower"] > 0 or row["adjusted_upper"] < 0) == apart
            reach = t.isf(0.05, 1 / (1 / 25 + 1 / 99)) * error
            assert row["upper"] - row["difference"] == pytest.approx(reach)
            assert apart != bool(set(letters[row["model_a"]]) & set(letters[row["model_b"]]))
        assert found.omnibus["p_value"].item() == found.pairs["p_adjusted"].min()


def test_halves_may_be_one_number_each(halves):
    folds = fold_table(draw(30, 3, seed=3).reshape(3, 10, 3))
    means = halves.group_by("model", "split", "half", "measure").agg(pl.col("estimate").mean())
    means = means.with_columns(positives=50, negatives=200)
    found = pr.compare(folds.filter(pl.col("model") != "C"), halves=means)
    # Nothing tells how far their repeats vary, so that of the folds is added.
    least = (differences(halves, "A", "B") ** 2).mean() / 4
    expected = least + leads(folds, "repeat")["lead"].var() / 3
    assert found.pairs["std_error"].item() ** 2 == pytest.approx(expected)


def test_guarded_takes_the_greater_variance_of_a_pair(folds, halves):
    overlap = pr.compare(folds, test_train_ratio=1 / 9).pairs["std_error"].to_numpy()
    for scale in (0.1, 10):
        own = halves.with_columns(0.7 + scale * (pl.col("estimate") - 0.7))
        plain = pr.compare(folds, halves=own).pairs["std_error"].to_numpy()
        found = pr.compare(folds, halves=own, guarded=True)
        assert found.pairs["std_error"].to_numpy() == pytest.approx(np.maximum(plain, overlap))
        assert found.omnibus["test"].item().endswith(", guarded")


def test_folds_that_vary_more_than_the_halves_add_to_the_variance(folds, halves):
    two, pair = folds.filter(pl.col("model") != "C"), halves.filter(pl.col("model") != "C")
    one = two.filter(pl.col("repeat") == 1)
    lead = leads(one, "fold")["lead"]
    of_repeats = leads(pair, "split", "half", "repeat")
    noise = of_repeats.group_by("split", "half").agg(pl.col("lead").var())["lead"].mean()
    least = (differences(halves, "A", "B") ** 2).mean() / 4
    # One repeat adds W/2 where that of the halves holds W/4.
    error = pr.compare(one, halves=halves).pairs["std_error"].item()
    assert error**2 == pytest.approx(least + noise / 4)
    # Hold-outs add what they vary by.
    outs = one.with_columns(repeat=pl.col("fold"))
    error = pr.compare(outs, halves=halves).pairs["std_error"].item()
    expected = least + max(0, lead.var() / 10 - noise / 4)
    assert error**2 == pytest.approx(expected)
    # Unnamed folds may be such.
    found = pr.compare(one.drop("repeat"), halves=halves)
    assert found.pairs["std_error"].item() == pytest.approx(error)
    assert "Name their repeats in a key 'repeat'" in " ".join(found.warnings)


def half_split_covariance(halves, noise=None):
    return of_halves(np.zeros(halves.shape[-1]), halves, 40, noise).covariance[0]


def test_covariance_and_noise_of_arrays():
    rng = np.random.default_rng(0)
    halves = rng.normal(size=(30_000, 2, 4, 2)) * [1, 2]
    # Of four repeats: a quarter of the variance of one, and half of that.
    least = half_split_covariance(halves, np.zeros((2, 2)))
    assert least == pytest.approx(np.diag([1, 4]) / 8, abs=0.02)
    assert split_noise(halves) == pytest.approx(np.diag([1, 4]), abs=0.05)
    assert (split_noise(halves[:, :, :1]) == 0).all()
    # Of cases that were split once: half that of one in a half.
    once = half_split_covariance(halves)
    assert once == pytest.approx(np.diag([1, 4]) / 2, abs=0.02)
    more = half_split_covariance(halves, np.eye(2))
    assert more == pytest.approx(np.diag([1 / 8 + 7 / 8, 4 / 8 + 4 / 8]), abs=0.02)


# Sums of influences that are normal: the relative variance of V is 2 over the degrees of freedom.
def test_degrees_of_freedom_by_simulation():
    rng = np.random.default_rng(1)
    cases, splits = 40, 25
    drawn = []
    for _ in range(3000):
        influence = rng.normal(size=cases)
        order = rng.random((splits, cases)).argsort(axis=1)
        lead = influence[order].reshape(splits, 2, -1).mean(axis=2)
        drawn.append(half_split_covariance(lead[:, :, None, None]).item())
    drawn = np.array(drawn)
    assert drawn.mean() == pytest.approx(1 / cases, rel=0.03)
    freedom = 2 * drawn.mean() ** 2 / drawn.var()
    assert freedom == pytest.approx(
        of_halves(np.zeros(1), lead[:, :, None, None], cases).freedom, rel=0.12
    )


def test_priors(folds, halves):
    def at_two(table):
        low = table.with_columns(pl.col("estimate") / 2, prior=pl.lit(0.05))
        high = table.with_columns(prior=pl.lit(0.2))
        return pl.concat([low, high]).with_columns(measure=pl.lit("auprec"))

    one = at_two(folds.drop("prior")).filter(prior=0.2)
    with pytest.raises(InvalidArgument, match="several priors"):
        pr.compare(one, "auprec", halves=at_two(halves))
    with pytest.raises(InvalidTable, match=r"at prior 0\.05 in the halves, at 0\.2 in the folds"):
        pr.compare(one, "auprec", halves=at_two(halves).filter(prior=0.05))


def test_another_range_is_refused(folds, halves):
    own = folds.with_columns(over=pl.lit("0.05 to 0.2"))
    with pytest.raises(InvalidTable, match=r"over '0\.1 to 0\.2' in the halves"):
        pr.compare(own, halves=halves.with_columns(over=pl.lit("0.1 to 0.2")))


FIRST = (pl.col("split") == 1) & (pl.col("half") == 1)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        (lambda h: h.drop("half"), "the halves have no key 'half'"),
        (lambda h: h.filter(pl.col("model") != "B"), "the halves have no model 'B'"),
        (lambda h: h.filter(~FIRST), "with 1, 2 halves, needed are two or more splits"),
        (lambda h: h.filter(pl.col("split") == 1), "there are 1 splits"),
        (lambda h: h.filter(~FIRST | (pl.col("repeat") == 1)), "same number of repeats"),
        (lambda h: h.filter(~FIRST | (pl.col("model") != "A")), "cells are missing"),
        (lambda h: h.drop("positives"), "lack their numbers of positives and negatives"),
        (lambda h: h.with_columns(positives=20), "100 positives and 400 negatives, the halves 200"),
        (lambda h: h.with_columns(positives=10 + 6 * (pl.col("half") - 1)),
         "halves of a split have different numbers"),
        (lambda h: h.with_columns(measure=pl.lit("auc")), "the table has no measure 'iauprec'"),
    ],
)  # fmt: skip
def test_halves_that_do_not_fit_are_refused(folds, halves, changed, found):
    with pytest.raises((InvalidTable, InvalidArgument), match=found) as error:
        pr.compare(folds, halves=changed(halves))
    assert "Hint:" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"halves": None, "guarded": True}, "guarded is True without halves"),
        ({"guarded": "yes"}, "guarded is 'yes'"),
        ({"test_train_ratio": -1}, "test_train_ratio is -1"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(folds, halves, arguments, found):
    with pytest.raises(InvalidArgument, match=found):
        pr.compare(folds, **{"halves": halves} | arguments)


def test_more_models_than_were_tried_are_named():
    rng = np.random.default_rng(0)
    names = [f"m{i:02}" for i in range(11)]
    half = pl.DataFrame(
        [
            {"model": name, "split": s, "half": h, "measure": "auc", "estimate": rng.normal(),
             "positives": 20, "negatives": 20}
            for name in names for s in range(5) for h in (1, 2)
        ]
    )  # fmt: skip
    whole = tidy(rng.normal(size=(4, 11)), models=names, measure="auc")
    whole = whole.with_columns(repeat=1, positives=10, negatives=10)
    said = " ".join(pr.compare(whole, "auc", halves=half).warnings)
    assert "tried with up to 10 models, not with 11" in said
