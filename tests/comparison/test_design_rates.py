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


def test_designs_divide_the_cases():
    designs = SCRIPT["designs"](np.random.default_rng(0), *CASES)
    for name, folds in {"folds": 10, "5x2": 2}.items():
        fits = designs[name]
        test = fits.test.reshape(-1, folds * fits.test.shape[1])
        train = np.sort(fits.train.reshape(len(test), folds, -1)[:, 0], axis=1)
        assert all(len(set(row)) == len(row) for row in test)
        assert not any(set(a) & set(b) for a, b in zip(fits.train, fits.test, strict=True))
        assert train.shape[1] == test.shape[1] * (folds - 1) // folds


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
    found = SCRIPT["outcomes"](values)

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
    for name, own in {"ten 10-folds": whole, "one 10-fold": whole.filter(repeat=0)}.items():
        same = pr.compare(own, "auc")
        assert found[name] == pytest.approx(same.pairs["p_adjusted"].item())


@pytest.mark.long
@pytest.mark.slow
def test_one_10_fold_keeps_its_size_where_ten_do_not():
    runs = SCRIPT["simulate"](40, 120, "nearest", 2, 0.0, REPLICATES, seed=7)
    below = {
        name: (runs.filter(learner="nearest")[name] < 0.05).sum()
        for name in ("ten 10-folds", "one 10-fold")
    }
    # Counts that rates of 0.0625, and of 0.05, would pass once in 1,000 times.
    assert below["one 10-fold"] <= binom.isf(1e-3, REPLICATES, 0.0625)
    assert below["ten 10-folds"] > binom.isf(0.05, REPLICATES, 0.05)


def test_rates_at_the_level_of_compare_are_those_counted():
    rows = re.findall(
        r"^\| ((?:one|ten|20) [^|]+) \| ([\d.]+) \| ([\d.]+) \|$",
        SCRIPT["PAGE"].read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 3
    rates = SCRIPT["with_rates"](COUNTS).filter(positives=80, models=2, ahead=0.0, alpha=0.05)
    for test, *shown in rows:
        own = rates.filter(test=test.removesuffix(" 80/20"))
        counted = dict(own.select("learner", "rate").iter_rows())
        assert [float(rate) for rate in shown] == pytest.approx(
            [counted["discriminant"], counted["nearest"]], abs=0.00051
        )
