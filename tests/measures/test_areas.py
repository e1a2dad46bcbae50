"""auc, auprec and iauprec, beside brute force and quadrature of their definitions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import roc_auc_score
from strategies import FINITE_SCORES, priors, tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
INTERPOLATIONS = ("exact", "linear", "step", "hull")
STARTS = ("limit", "one", "zero", "drop")
WAYS = [(how, start) for how in INTERPOLATIONS for start in STARTS]
EXTREMES = (1e-4, 1 - 1e-4)
RANGES = [(0.05, 0.20), (0.1, 0.9), (0.30, 0.31), EXTREMES]
BETAS = [(2, 18), (1, 1), (0.5, 0.5), (0.7, 3), (200, 1800)]
TWENTY = pr.curve(pr.datasets.twenty_scores(), **NAMES)


def curve(table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, **NAMES, weight=weight, **kwargs)


def area(table: pl.DataFrame, measure, *args, **kwargs) -> float:
    return table.pipe(curve).pipe(measure, *args, **kwargs)["estimate"].item()


# --- auc ---------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(FINITE_SCORES), min_size=8, max_size=8),
    st.lists(st.sampled_from(FINITE_SCORES), min_size=4, max_size=4),
)
def test_auc_has_no_rounding_where_the_counts_are_powers_of_two(of_positives, of_negatives):
    table = pl.DataFrame({"truth": [True] * 8 + [False] * 4, "score": of_positives + of_negatives})
    assert Fraction(area(table, pr.auc)) == oracles.auc(table)


# --- auc over a range of rates -----------------------------------------------------------------

ENDS = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)
BOUNDS = ENDS.filter(lambda ends: ends[1] - ends[0] > 1e-3)


def below(x: np.ndarray, y: np.ndarray, lo: float, hi: float) -> float:
    """Area under a polyline between two abscissae, clipping each of its pieces."""
    area = 0.0
    for x0, x1, y0, y1 in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
        a, b = max(x0, lo), min(x1, hi)
        if b > a:
            at = [y0 + (y1 - y0) * (c - x0) / (x1 - x0) for c in (a, b)]
            area += (b - a) * sum(at) / 2
    return area


@given(tables(), BOUNDS)
def test_area_over_a_range_of_fpr_and_of_tpr(table, bounds):
    roc = curve(table)
    over_fpr, over_tpr = (
        pr.auc(roc, **{rate: tuple(bounds)})["estimate"].item() for rate in ("fpr", "tpr")
    )
    assert over_fpr == pytest.approx(below(roc["fpr"], roc["tpr"], *bounds), abs=1e-12)
    assert over_tpr == pytest.approx(below(roc["tpr"], 1 - roc["fpr"], *bounds), abs=1e-12)


# A step straight up whose ends, 5/6 and 5/6, were divided in two ways.
STRAIGHT_UP = pl.DataFrame(
    {"truth": [True, False, False, True], "score": [-3.0, 0.0, -3.0, -1.0], "weight": [1, 5, 1, 1]}
)


@given(tables())
@example(STRAIGHT_UP)
def test_the_whole_range_is_the_whole_area(table):
    roc = curve(table)
    whole = pytest.approx(pr.auc(roc)["estimate"].item(), abs=1e-12)
    for bounds in ({"fpr": (0, 1)}, {"tpr": (0, 1)}, {"fpr": (0, 1), "standardise": True}):
        found = pr.auc(roc, **bounds)
        if found["note"].item() is None:
            assert found["estimate"].item() == whole


@pytest.mark.parametrize("most", [0.01, 0.1, 0.9])
def test_the_standardised_area_is_that_of_scikit_learn(most):
    rng = np.random.default_rng(5)
    truth = rng.random(3_000) < 0.3
    table = pl.DataFrame({"truth": truth, "score": (rng.normal(size=3_000) + truth).round(1)})
    expected = roc_auc_score(truth, table["score"], max_fpr=most)
    found = pr.auc(curve(table), fpr=(0, most), standardise=True)["estimate"].item()
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("bounds", [{"fpr": (0.1, 0.4)}, {"tpr": (0.6, 1.0)}])
def test_the_standardised_area_is_one_half_by_chance_and_one_at_best(bounds):
    estimates, notes = [], []
    for score in ([4, 3, 2, 1], [1, 1, 1, 1], [1, 2, 3, 4]):
        roc = curve(pl.DataFrame({"truth": [1, 1, 0, 0], "score": score}))
        found = pr.auc(roc, **bounds, standardise=True)
        estimates.append(found["estimate"].item())
        notes.append(found["note"].item())
    assert estimates == [pytest.approx(1, abs=1e-12), pytest.approx(0.5, abs=1e-12), None]
    assert "below the diagonal" in notes[-1]


# --- auprec ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("interpolation", "start"), WAYS)
@given(table=tables(), prior=priors())
def test_auprec_is_the_integral_of_precision_over_recall(interpolation, start, table, prior):
    expected = oracles.auprec(oracles.roc(table), interpolation, start)((1 - prior) / prior)
    found = area(table, pr.auprec, prior, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


# Three weights whose sum depends on the order of adding, tied at the best score.
TIED_FIRST = [(True, 9.0, w) for w in (0.1, 0.2, 0.3)] + [(False, 9.0, w) for w in (0.7, 0.2, 0.1)]
REST = [(False, 5.0, 0.3), (True, 4.0, 0.4), (False, 3.0, 0.6)]


def starts_with(tied: int, negatives: int) -> pl.DataFrame:
    score = [2.0, 1.0] + [2.0] * tied + [1.0] * (negatives - tied)
    return pl.DataFrame({"truth": [True, True] + [False] * negatives, "score": score})


def starts_with_weights(copies: int) -> pl.DataFrame:
    schema = ["truth", "score", "weight"]
    return pl.DataFrame(TIED_FIRST * copies + REST, schema=schema, orient="row")


@pytest.mark.parametrize(("interpolation", "start"), WAYS)
def test_rounded_rates_and_sums_do_not_hide_where_a_curve_starts(interpolation, start):
    # 3/5 and 3 times 1/5 differ in the last digit, and Polars takes either for a quotient.
    rounded = [starts_with(*sizes) for sizes in ((3, 5), (6, 7), (7, 10), (5, 11), (47, 49))]
    for table in [*rounded, *map(starts_with_weights, (1, 2, 7, 40))]:
        at = oracles.auprec(oracles.roc(table), interpolation, start)
        found = pr.auprec(curve(table), [0.5, 0.1], interpolation, start)["estimate"].to_list()
        assert found == pytest.approx([at(1), at(9)], abs=1e-9)


@given(table=tables())
def test_observed_is_the_share_of_positives(table):
    points = oracles.roc(table)
    for interpolation in INTERPOLATIONS:
        by_skew = oracles.auprec(points, interpolation)
        found = curve(table).pipe(pr.auprec, "observed", interpolation=interpolation)
        expected = by_skew(float(points.fp[-1] / points.tp[-1]))
        assert found["estimate"].item() == pytest.approx(expected, abs=1e-9)
        share = float(points.tp[-1] / (points.tp[-1] + points.fp[-1]))
        assert found["prior"].item() == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_a_constant_score_has_the_prior_as_area_and_a_perfect_one_has_one(interpolation):
    constant = pl.DataFrame({"truth": [True, False, False, True, False], "score": 0.3})
    perfect = pl.DataFrame({"truth": [True, True, False, False], "score": [4.0, 3.0, 2.0, 1.0]})
    asked = {"priors": [1e-4, 0.1, 0.5, 0.99], "interpolation": interpolation}
    found = pr.auprec(curve(constant), **asked)["estimate"].to_list()
    assert found == pytest.approx(asked["priors"], rel=1e-12)
    assert pr.auprec(curve(perfect), **asked)["estimate"].to_list() == [1] * 4


# The walk through twenty rows prints 0.68 and 0.619124; the others are in the papers.
@given(tables(), BOUNDS, st.sampled_from(INTERPOLATIONS), st.sampled_from([0.1, 1.0, 9.0, 999.0]))
def test_precision_over_a_range_of_recall(table, bounds, interpolation, skew):
    lo, hi = bounds
    roc = curve(table)
    prior = 1 / (1 + skew)
    found = pr.auprec(roc, prior, interpolation, recall=(lo, hi))["estimate"].item()
    points = pr.hull(roc) if interpolation == "hull" else roc
    expected = 0.0
    for (t0, f0), (t1, f1) in pairwise(points.select("tpr", "fpr").rows()):
        a, b = max(t0, lo), min(t1, hi)
        if b <= a:
            continue

        def precision(t, t0=t0, f0=f0, t1=t1, f1=f1):
            end = t1 / (t1 + skew * f1)
            if interpolation == "step" or t0 == f0 == 0:
                return end
            begin = t0 / (t0 + skew * f0)
            share = (t - t0) / (t1 - t0)
            f = f0 + share * (f1 - f0)
            return (
                begin + share * (end - begin) if interpolation == "linear" else t / (t + skew * f)
            )

        expected += quad(precision, a, b, epsabs=1e-12, limit=200)[0]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("interpolation", "start"), WAYS)
def test_ranges_of_recall_add_up(interpolation, start):
    areas = [
        pr.auprec(TWENTY, 0.2, interpolation, start, recall=bounds)["estimate"].item()
        for bounds in ((0, 0.05), (0.05, 0.62), (0.62, 1))
    ]
    whole = pr.auprec(TWENTY, 0.2, interpolation, start)["estimate"].item()
    assert sum(areas) == pytest.approx(whole, abs=1e-12)


# --- iauprec -----------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(table=tables(), over=st.sampled_from(RANGES), start=st.sampled_from(STARTS))
def test_iauprec_is_the_mean_over_the_prior(interpolation, over, table, start):
    by_definition = oracles.auprec(oracles.roc(table), interpolation, start)
    expected = oracles.mean_over_prior(by_definition, *over)
    found = area(table, pr.iauprec, over, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


@given(
    table=tables(),
    over=st.sampled_from([(0.05, 0.20), (0.1, 0.9), EXTREMES]),
    way=st.sampled_from(WAYS),
)
def test_iauprec_is_the_mean_over_the_skew(table, over, way):
    expected = oracles.mean_over_skew(oracles.auprec(oracles.roc(table), *way), *over)
    found = pr.iauprec(curve(table), over, *way, scale="skew")["estimate"].item()
    assert found == pytest.approx(expected, abs=1e-9)


@given(table=tables(), shape=st.sampled_from(BETAS), interpolation=st.sampled_from(INTERPOLATIONS))
def test_iauprec_is_the_mean_under_a_beta_belief(table, shape, interpolation):
    by_definition = oracles.auprec(oracles.roc(table), interpolation)
    expected = oracles.mean_under_beta(by_definition, *shape)
    found = area(table, pr.iauprec, pr.beta(*shape), interpolation=interpolation)
    assert found == pytest.approx(expected, abs=1e-9)


# --- what every measure keeps ------------------------------------------------------------------

ALL = {
    "auc": (pr.auc, ()),
    "iauprec": (pr.iauprec, ((0.05, 0.20),)),
    **{name: (pr.auprec, ([0.3, 0.01], name)) for name in INTERPOLATIONS},
}


@given(
    scale=st.sampled_from([1e-200, 1e-9, 0.1, 3.0, 1e12, 1e120]),
    table=tables(kinds=["whole", "real"]),
)
def test_the_scale_of_weights_does_not_matter(scale, table):
    scaled = table.with_columns(pl.col("weight") * scale)
    for measure, arguments in ALL.values():
        first, second = (
            curve(rows).pipe(measure, *arguments)["estimate"].to_list() for rows in (table, scaled)
        )
        assert second == pytest.approx(first, rel=1e-11)


@pytest.mark.parametrize("label", [0, 1])
def test_a_key_with_one_class_has_no_prior_of_its_own(label):
    roc = curve(pl.DataFrame({"truth": [label, label], "score": [0.1, 0.9]}))
    assert pr.auprec(roc, "observed").select("prior", "estimate").row(0) == (None, None)


def test_keys_without_a_hull_keep_their_row_and_note():
    table = pl.DataFrame({
        "model": list("aaaabbcc"), "truth": [1, 0, 1, 0, 1, 1, 1, 0],
        "score": [0.9, 0.1, 0.4, 0.5, 0.3, 0.2, None, 0.1],
    })  # fmt: skip
    # Of a lazy table a row that cannot be ranked is known only once it is read.
    curves = pr.curve(table.lazy(), **NAMES).collect()
    found = pr.auprec(curves, 0.5, interpolation="hull").sort("model")
    assert found["model"].to_list() == ["a", "b", "c"]
    assert found["estimate"].is_null().to_list() == [False, True, True]
    assert found["note"][1] == "no negatives"
    assert found["note"][2].startswith("null, NaN or unclear")


@pytest.mark.parametrize(("cases", "is_reversed"), [(50, True), (2, False)])
@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e6])
def test_the_scale_of_weights_does_not_decide_whether_scores_are_reversed(
    cases, is_reversed, weight
):
    table = pl.DataFrame({
        "truth": [1] * cases + [0] * cases, "score": range(2 * cases), "w": [weight] * 2 * cases,
    })  # fmt: skip
    for note in (
        pr.evaluate(table, weight="w", measure="auc")["note"].item(),
        pr.auc(pr.curve(table, weight="w"))["note"].item(),
    ):
        assert (note is not None and "reversed" in note) == is_reversed
