import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy.stats import beta, norm

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.thresholds import all_thresholds
from polaroc.thresholds.all_thresholds import limits_of_counts, simultaneous_coverage

NAMES = {"truth": "truth", "score": "score"}
SATELLITE = pr.datasets.satellite_predictions().filter(fold=1)


def test_fourier_transforms_give_the_coverage_that_sums_give(monkeypatch):
    by_transforms = simultaneous_coverage(300_000, 1e-3)
    monkeypatch.setattr(all_thresholds, "LONG", 300_000)
    assert simultaneous_coverage(300_000, 1e-3) == pytest.approx(by_transforms, abs=1e-12)


@pytest.mark.parametrize("local", [0.3, 0.05])
def test_two_order_statistics_in_closed_form(local):
    (a, c), (b, d) = (beta.ppf(share, [1, 2], [2, 1]) for share in (local / 2, 1 - local / 2))
    # Of the unit square, twice the part above the diagonal with a ≤ u ≤ b and c ≤ v ≤ d.
    u = np.linspace(a, b, 2_000_001)
    expected = 2 * np.trapezoid(np.clip(d - np.maximum(u, c), 0, None), u)
    assert simultaneous_coverage(2, local) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [7, 60])
def test_coverage_of_order_statistics_by_simulation(n):
    order = np.arange(1, n + 1)
    drawn = np.sort(np.random.default_rng(n).random((40_000, n)), axis=1)
    low, high = (beta.ppf(share, order, n + 1 - order) for share in (0.005, 0.995))
    held = ((low <= drawn) & (drawn <= high)).all(axis=1).mean()
    error = (held * (1 - held) / 40_000) ** 0.5
    assert simultaneous_coverage(n, 0.01) == pytest.approx(held, abs=4 * error)


def test_limits_hold_at_once_for_many_cases_too():
    n, runs = 1500, 1000
    counts = np.arange(n + 1)
    low, high = limits_of_counts(counts, 0.81)
    drawn = np.sort(np.random.default_rng(0).random((runs, n)), axis=1)
    held = ((low[1:] <= drawn) & (drawn <= high[:-1])).all(axis=1).mean()
    assert held == pytest.approx(0.9, abs=4 * (0.9 * 0.1 / runs) ** 0.5)


def test_the_band_holds_its_curve():
    curve = pr.curve(SATELLITE, **NAMES, fold=None)
    band = pr.roc_band(curve, 101)
    assert band.height == 3 * 101
    assert band.select(pl.col("tpr").is_between("lower", "upper").all()).item()
    mean = pr.mean_curve(curve.with_columns(fold=pl.lit(1)), n=101)
    assert band["tpr"].to_list() == pytest.approx(mean["tpr"].to_list())
    assert band.select("lower", "upper").max().row(0) == (1, 1)


def test_precision_follows_from_the_roc():
    curve = pr.curve(SATELLITE.filter(model="A"), **NAMES, model=None, fold=None)
    at = pr.surface(curve, [0.5, 0.1])
    band = pr.pr_band(at, 101)
    assert band.select(pl.col("precision").is_between("lower", "upper").all()).item()
    mean = pr.mean_curve(
        at.with_columns(pl.lit(1).alias("fold")).select("fold", *at.columns), n=101
    )
    assert band["precision"].to_list() == pytest.approx(mean["precision"].to_list(), abs=1e-6)
    # Every corner of the ROC band is one of the PR band.
    roc = pr.roc_band(curve, 101)
    for prior, skew in ((0.5, 1), (0.1, 9)):
        lower = band.filter(pl.col("prior") == prior)["lower"].to_numpy()
        for f, t in roc.filter(pl.col("lower") > 0).select("fpr", "lower").rows():
            recall = int(t * 100 + 1e-9)
            assert lower[recall] >= recall / 100 / (recall / 100 + skew * f) - 1e-9


@pytest.mark.parametrize("distance", [1.0, 2.5])
def test_the_true_curve_lies_within(distance):
    runs, positives, negatives, n = 150, 30, 60, 51
    truth = np.tile(np.arange(positives + negatives) < positives, runs)
    score = np.random.default_rng(1).normal(size=truth.size) + distance * truth
    run = np.repeat(np.arange(runs), positives + negatives)
    curves = pr.curve({"truth": truth, "score": score, "run": run}, **NAMES, by="run")
    grid = np.arange(n) / (n - 1)
    with np.errstate(divide="ignore"):
        true_tpr = norm.sf(norm.isf(grid) - distance)
        true_fpr = norm.sf(norm.isf(grid) + distance)
    recall = np.maximum(grid, 1e-12)
    expected = {"roc": true_tpr, "pr": recall / (recall + 9 * true_fpr)}
    expected["pr"][0] = 1.0
    bands = {"roc": pr.roc_band(curves, n), "pr": pr.surface(curves, 0.1).pipe(pr.pr_band, n)}
    for name, band in bands.items():
        low, high = (band[end].to_numpy().reshape(runs, n) for end in ("lower", "upper"))
        inside = (low - 1e-9 <= expected[name]) & (expected[name] <= high + 1e-9)
        assert inside.all(axis=1).mean() >= 0.95


def test_lazy_frames_counts_and_weights():
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.1, 0.4, 0.6], "w": [2, 1, 1, 2]})
    whole = pr.roc_band(pr.curve(table, **NAMES, count="w"), 5)
    repeated = pr.roc_band(pr.curve(table.select(pl.all().repeat_by("w").explode()), **NAMES), 5)
    assert_same_numbers(whole, repeated)
    halves = pr.curve(table.with_columns(w=pl.col("w") / 4), **NAMES, weight="w")
    assert (
        pr.roc_band(halves, 5)["note"].unique().item() == "weights are not counts of cases: no band"
    )
    assert pr.roc_band(halves, 5).select("lower", "upper").null_count().row(0) == (5, 5)
    lazy = pr.roc_band(halves.lazy(), 5)
    assert lazy.collect_schema() == lazy.collect().schema
    one_class = pr.curve(table.filter(truth=1), **NAMES)
    assert pr.expected_cost(one_class, over=0.1)["note"].to_list() == ["no negatives"]
    assert pr.roc_band(one_class, 5).is_empty()
    with pytest.raises(InvalidArgument, match="level is 95"):
        pr.roc_band(halves, level=95)


def test_bands_in_charts():
    curve = pr.curve(SATELLITE, **NAMES)
    roc = pr.charts.roc(curve, band=pr.roc_band(curve, 21)).to_dict()
    at = pr.surface(curve, [0.5, 0.1])
    both = pr.charts.pr(at, band=pr.pr_band(at, 21)).to_dict()
    for chart in (roc, both):
        text = str(chart)
        assert "band: the whole true curve, with 95 % confidence" in text
        assert "mean of" not in text
        assert "'lower'" in text


@pytest.mark.parametrize("total", [1, 2, 30, 2_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_all_limits_hold_at_once_at_least_as_often_as_said(total, level):
    held = simultaneous_coverage(total, all_thresholds._local_level(total, level))
    assert level - 1e-12 < held < level + 0.01


def drawn(clusters=(20, 60), rows=5, correlation=0.5, seed=0, distance=1.5) -> pl.DataFrame:
    """Patients of either class, whose rows are alike."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(sum(clusters)), rows)
    shared = rng.normal(size=sum(clusters))[patient]
    own = rng.normal(size=patient.size)
    truth = patient < clusters[0]
    score = distance * truth + correlation**0.5 * shared + (1 - correlation) ** 0.5 * own
    return pl.DataFrame({"truth": truth, "score": score, "patient": patient})


BANDS = {"roc": pr.roc_band, "pr": pr.pr_band}


@pytest.mark.parametrize("band", BANDS)
def test_of_predictions_the_band_is_that_of_their_curve(band):
    rows = drawn().select("truth", "score")
    curves = pr.curve(rows, **NAMES)
    given, asked = (curves, {}) if band == "roc" else (pr.surface(curves, 0.2), {"priors": 0.2})
    assert_same_numbers(BANDS[band](rows, 21, **NAMES, **asked), BANDS[band](given, 21))


def test_clusters_and_unequal_weights_widen_the_band():
    rows = drawn().with_columns(w=1 + pl.int_range(pl.len()) % 3)
    width = (pl.col("upper") - pl.col("lower")).mean()
    alone = pr.roc_band(rows.drop("patient"), 21, **NAMES).select(width).item()
    for asked in ({"cluster": "patient"}, {"weight": "w"}):
        assert pr.roc_band(rows, 21, **NAMES, **asked).select(width).item() > 1.02 * alone
    doubted = pr.roc_band(rows, 21, **NAMES)
    assert doubted["note"].str.contains("'patient' are not independent").all()


def test_few_clusters_have_no_band():
    found = pr.roc_band(drawn((6, 20)), 5, **NAMES, cluster="patient")
    assert found["lower"].is_null().all()
    assert found["tpr"].is_not_null().all()
    assert found["note"].str.contains("fewer than 7 clusters").all()


def test_the_true_curve_lies_within_the_band_of_clusters():
    grid, runs, held = np.arange(51) / 50, 60, 0
    with np.errstate(divide="ignore"):
        true = norm.sf(norm.isf(grid) - 1.5)
    for seed in range(runs):
        band = pr.roc_band(drawn((10, 30), 10, seed=seed), 51, **NAMES, cluster="patient")
        low, high = band["lower"].to_numpy(), band["upper"].to_numpy()
        held += ((low - 1e-9 <= true) & (true <= high + 1e-9)).all()
    assert held / runs >= 0.93


def test_priors_are_those_of_a_surface():
    surface = pr.surface(pr.curve(drawn().drop("patient"), **NAMES), 0.2)
    with pytest.raises(InvalidArgument, match="priors"):
        pr.pr_band(surface, 5, priors=0.1)
