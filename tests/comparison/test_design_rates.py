import re
import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from sizes import replicates
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import polaroc as pr
from polaroc.comparison import measured_rates
from polaroc.comparison.design import Plan
from polaroc.comparison.layout import Layout

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "design_rates.py"))
COUNTS = pl.read_csv(SCRIPT["COUNTS"])
CASES = (20, 40)
TRUTH = np.arange(60) < 20
REPLICATES = replicates(110, 60)


def test_the_page_has_what_was_counted():
    page = SCRIPT["PAGE"].read_text(encoding="utf-8")
    assert SCRIPT["MARKED"].search(page)[0] == (
        f"<!-- design rates -->\n{SCRIPT['page_table'](COUNTS)}<!-- end -->"
    )


def test_the_rates_that_are_quoted_are_those_counted():
    rates = SCRIPT["with_rates"](COUNTS).filter(positives=80)
    equal, quoted = rates.filter(models=2, ahead=0.0), list(measured_rates.QUOTED)
    for test, given in measured_rates.RATES.items():
        own = equal.filter(pl.col("test") == test, pl.col("learner").is_in(quoted))
        for place, alpha in enumerate((0.05, 0.005)):
            counted = dict(own.filter(alpha=alpha).select("learner", "rate").iter_rows())
            assert [one[place] for one in given] == pytest.approx(
                [counted[name] for name in quoted], abs=0.00051
            )
        above = set(own.filter("above")["learner"])
        assert set(measured_rates.ABOVE.get(test, ())) == above
    assert set(measured_rates.MORE_MODELS) == set(measured_rates.RATES)
    for test, by_models in measured_rates.MORE_MODELS.items():
        assert list(by_models) == [3, 10]
        for models, (learner, rate) in by_models.items():
            own = rates.filter(test=test, models=models, alpha=0.05, ahead=0.0)
            assert learner in own.filter(rate=own["rate"].max())["learner"].to_list()
            assert rate == pytest.approx(own["rate"].max(), abs=0.0055)
    leads = rates.filter(pl.col("ahead") > 0, learner="discriminant")
    for test, given in measured_rates.POWER.items():
        counted = leads.filter(test=test).sort("alpha", descending=True)
        assert given == pytest.approx(counted["rate"].to_list(), abs=0.0051)
    assert leads["lead"].round(2).unique().to_list() == [0.07]


def test_the_rates_of_fitted_models_are_those_of_the_page():
    rows = re.findall(
        r"\| (\d+) \+ ([\d,]+) cases, 0\.\d \| (\w+) \| ([\d.]+) \([\d.]+\) \| ([\d.]+) ",
        SCRIPT["PAGE"].read_text(encoding="utf-8"),
    )
    assert len(rows) == 12
    for measure, by_cases in measured_rates.TRAINED.items():
        for (positives, negatives), quoted in by_cases.items():
            cases = str(positives), f"{negatives:,}"
            own = [row[3:] for row in rows if row[:2] == cases and row[2].lower() == measure]
            most = [max(float(rate) for rate in rates) for rates in zip(*own, strict=True)]
            assert quoted == pytest.approx(most, abs=0.0006)


def test_the_rates_on_one_dataset_are_those_of_the_page():
    cell = r" ([\d.]+) / ([\d.]+) \|"
    rows = re.findall(
        rf"\| ([^|]+) \| ([^|]+) \| [\d,]+ \|{cell}{cell}{cell}{cell}\n",
        SCRIPT["PAGE"].read_text(encoding="utf-8"),
    )
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for folds, learner, *cells in rows:
        name = {"5×2 folds": "5x2"}.get(folds, folds)
        found.setdefault(name, {})[learner] = (float(cells[2]), float(cells[3]))
    assert set(found) == set(measured_rates.DATASET)
    for name, (learners, *rates) in measured_rates.DATASET.items():
        assert {measured_rates.LEARNERS[one] for one in learners} == set(found[name])
        assert rates == [max(one[place] for one in found[name].values()) for place in (0, 1)]


def test_whatever_is_surely_above_is_named_by_the_result():
    # Of all numbers of cases and models, at both levels.
    above = SCRIPT["with_rates"](COUNTS).filter("above", pl.col("test").is_in(measured_rates.RATES))
    cells = above.select("test", "learner", "models").unique().rows()
    assert cells
    of_two, of_more = measured_rates.ABOVE, measured_rates.ABOVE_OF_MORE
    for test, learner, models in cells:
        named = (*of_two.get(test, ()), *(of_more.get(test, ()) if models > 2 else ()))
        assert learner in named
    layout, plan = Layout(blocks=10, kind="k-fold", folds=10), Plan(halves=True)
    said = "So it errs too often with more than two models of pickers of one feature."
    assert said in measured_rates.measured_rates(plan, layout, 3)
    assert said not in measured_rates.measured_rates(plan, layout, 2)


def test_with_halves_only_three_pickers_on_one_10_fold_are_surely_above():
    rates = SCRIPT["with_rates"](COUNTS).filter("above", pl.col("test").str.contains("halves"))
    above = rates.filter(pl.col("test") != "ten 10-folds, halves, less noise")
    assert above.select("test", "learner", "models").unique().rows() == [
        ("one 10-fold, halves", "picker", 3)
    ]
    powers = COUNTS.filter(pl.col("ahead") > 0, learner="discriminant", alpha=0.05)
    found = dict(powers.select("test", pl.col("below") / pl.col("of")).iter_rows())
    assert found["ten 10-folds, halves"] >= 0.8 * found["oracle"]


def test_designs_divide_the_cases():
    designs = SCRIPT["designs"](np.random.default_rng(0), *CASES)
    for name, folds in {"folds": 10, "halves": 5, "5x2": 2}.items():
        fits = designs[name]
        test = fits.test.reshape(-1, folds * fits.test.shape[1])
        train = np.sort(fits.train.reshape(len(test), folds, -1)[:, 0], axis=1)
        assert all(len(set(row)) == len(row) for row in test)
        assert not any(set(a) & set(b) for a, b in zip(fits.train, fits.test, strict=True))
        assert train.shape[1] == test.shape[1] * (folds - 1) // folds
    halves = designs["halves"].test.reshape(25, 2, 2, -1)
    for split in halves:
        first, second = (set(half.ravel()) for half in split)
        assert not first & second
        assert len(first | second) == 60


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("trees", "depth", "rate"), [(1, 3, 1.0), (10, 2, 0.3)])
def test_trees_are_those_of_histograms(trees, depth, rate):
    rng, truth = np.random.default_rng(0), np.arange(320) < 80
    X = rng.normal(size=(320, 5)) + 0.75 * truth[:, None]
    fits = SCRIPT["designs"](rng, 80, 240)["folds"]
    edges = np.arange(1, SCRIPT["BINS"]) / SCRIPT["BINS"]
    bins = np.stack([np.searchsorted(np.quantile(own, edges), own) for own in X.T], axis=1)
    model = HistGradientBoostingClassifier(
        max_iter=trees, max_depth=depth, max_leaf_nodes=None, learning_rate=rate,
        min_samples_leaf=SCRIPT["LEAF"], early_stopping=False,
    )  # fmt: skip
    expected = []
    for train, test in zip(fits.train[:8], fits.test[:8], strict=True):
        model.fit(bins[train], truth[train])
        expected.append(roc_auc_score(truth[test], model.decision_function(bins[test])))
    # Where two splits gain the same, rounding decides.
    found = SCRIPT["boosted"](X, fits, trees, depth, rate)[:8]
    assert found == pytest.approx(expected, abs=0.01)


def test_counts_that_were_run_anew_replace_the_old():
    new = COUNTS.filter(learner="tree").with_columns(below=pl.lit(0))
    merged = SCRIPT["merged"](COUNTS, new)
    assert merged.height == COUNTS.height
    assert merged.filter(learner="tree")["below"].sum() == 0
    assert merged.filter(learner="nearest").equals(
        COUNTS.filter(learner="nearest").sort(*SCRIPT["KEYS"], "alpha", "test")
    )


@pytest.mark.parametrize(
    ("learner", "model"),
    [
        ("discriminant", LinearDiscriminantAnalysis()),
        ("logistic", LogisticRegression(C=1.0, tol=1e-8)),
        ("nearest label", KNeighborsClassifier(1)),
    ],
)
def test_learners_are_those_of_scikit_learn(learner, model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) + 0.75 * TRUTH[:, None]
    fits = SCRIPT["designs"](rng, *CASES)["hold-outs"]
    found = SCRIPT["LEARNERS"][learner.split()[0]](rng, X, fits)[learner]
    for area, train, test in zip(found[:5], fits.train, fits.test, strict=False):
        score = model.fit(X[train], TRUTH[train]).predict_proba(X[test])[:, 1]
        assert area == pytest.approx(roc_auc_score(TRUTH[test], score), abs=1e-9)


def test_p_values_are_those_of_the_package():
    rng = np.random.default_rng(2)
    values = SCRIPT["sample_values"](rng, *CASES, "discriminant", 2, 0.4)["discriminant"]
    found = SCRIPT["outcomes"](values, *CASES)

    def table(name, *keys):
        rows = [
            {"model": "AB"[place[-1]], **dict(zip([k for k, _ in keys], place, strict=False))}
            | {"estimate": value}
            for place, value in np.ndenumerate(values[name].reshape(*[n for _, n in keys], 2))
        ]
        return pl.DataFrame(rows)

    whole = table("folds", ("repeat", 10), ("fold", 10)).with_columns(
        positives=2, negatives=4, measure=pl.lit("auc")
    )
    halves = table("halves", ("split", 25), ("half", 2), ("repeat", 2), ("fold", 5)).with_columns(
        positives=2, negatives=4, measure=pl.lit("auc")
    )
    for name, given in {
        "ten 10-folds": {}, "ten 10-folds, halves": {"halves": halves},
        "ten 10-folds, halves, guarded": {"halves": halves, "guarded": True},
    }.items():  # fmt: skip
        same = pr.compare(whole, "auc", **given)
        assert found[name] == pytest.approx(same.pairs["p_adjusted"].item())
    one = whole.filter(repeat=0)
    same = pr.compare(one, "auc", halves=halves).pairs["p_adjusted"].item()
    assert found["one 10-fold, halves"] == pytest.approx(same)


@pytest.mark.long
@pytest.mark.slow
def test_halves_keep_their_size_where_ten_folds_do_not():
    runs = SCRIPT["simulate"](40, 120, "nearest", 2, 0.0, REPLICATES, seed=7)
    below = {
        name: (runs.filter(learner="nearest")[name] < 0.05).sum()
        for name in ("ten 10-folds", "ten 10-folds, halves")
    }
    # Counts that rates of 0.0625, and of 0.05, would pass once in 1,000 times.
    assert below["ten 10-folds, halves"] <= binom.isf(1e-3, REPLICATES, 0.0625)
    assert below["ten 10-folds"] > binom.isf(0.05, REPLICATES, 0.05)
