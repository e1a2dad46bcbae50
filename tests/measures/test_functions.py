from fractions import Fraction

import oracles
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FINITE_SCORES, priors, tables

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.measures.areas import INTERPOLATIONS, STARTS

EXTREMES = (1e-4, 1 - 1e-4)
RANGES = [(0.05, 0.20), (0.1, 0.9), (0.30, 0.31), EXTREMES]
BETAS = [(2, 18), (1, 1), (0.5, 0.5), (0.7, 3), (200, 1800)]


def curve(table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, truth="truth", score="score", weight=weight, **kwargs)


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


# --- auprec ------------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(table=tables(), prior=priors())
def test_auprec_is_the_integral_of_precision_over_recall(interpolation, start, table, prior):
    expected = oracles.auprec(oracles.roc(table), interpolation, start)((1 - prior) / prior)
    found = area(table, pr.auprec, prior, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(table=tables())
def test_observed_is_the_share_of_positives(interpolation, table):
    points = oracles.roc(table)
    expected = oracles.auprec(points, interpolation)(float(points.fp[-1] / points.tp[-1]))
    found = table.pipe(curve).pipe(pr.auprec, "observed", interpolation=interpolation)
    assert found["estimate"].item() == pytest.approx(expected, abs=1e-9)
    share = float(points.tp[-1] / (points.tp[-1] + points.fp[-1]))
    assert found["prior"].item() == pytest.approx(share, rel=1e-12)


# 3/5 and 3 times 1/5 differ in the last digit, and Polars takes either for a quotient.
@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize(("tied", "negatives"), [(3, 5), (6, 7), (7, 10), (5, 11), (47, 49)])
def test_rounded_rates_do_not_hide_where_a_curve_starts(interpolation, start, tied, negatives):
    table = pl.DataFrame(
        {
            "truth": [True, True] + [False] * negatives,
            "score": [2.0, 1.0] + [2.0] * tied + [1.0] * (negatives - tied),
        }
    )
    expected = oracles.auprec(oracles.roc(table), interpolation, start)(1.0)
    found = area(table, pr.auprec, 0.5, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


# Three weights whose sum depends on the order of adding, tied at the best score.
TIED_FIRST = [(True, 9.0, w) for w in (0.1, 0.2, 0.3)] + [(False, 9.0, w) for w in (0.7, 0.2, 0.1)]
REST = [(False, 5.0, 0.3), (True, 4.0, 0.4), (False, 3.0, 0.6)]


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("copies", [1, 2, 7, 40])
def test_rounded_sums_of_weights_do_not_hide_where_a_curve_starts(interpolation, start, copies):
    table = pl.DataFrame(
        TIED_FIRST * copies + REST, schema=["truth", "score", "weight"], orient="row"
    )
    expected = oracles.auprec(oracles.roc(table), interpolation, start)(9.0)
    found = area(table, pr.auprec, 0.1, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("prior", [1e-4, 0.1, 0.5, 0.99])
def test_a_constant_score_has_precision_equal_to_the_prior(interpolation, prior):
    table = pl.DataFrame({"truth": [True, False, False, True, False], "score": 0.3})
    assert area(table, pr.auc) == 0.5
    found = area(table, pr.auprec, prior, interpolation=interpolation)
    assert found == pytest.approx(prior, rel=1e-12)


@pytest.mark.product
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("prior", [1e-4, 0.1, 0.5, 0.99])
def test_a_perfect_score_has_area_one(interpolation, prior):
    table = pl.DataFrame({"truth": [True, True, False, False], "score": [4.0, 3.0, 2.0, 1.0]})
    assert area(table, pr.auc) == 1
    assert area(table, pr.auprec, prior, interpolation=interpolation) == 1


def test_priors_come_once_in_the_order_asked():
    curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    asked = curves.pipe(pr.auprec, [0.5, 0.1, 0.5, 0.2])
    assert asked["prior"].to_list() == [0.5, 0.1, 0.2]
    grid = pr.prior_grid(0.1, 0.5, 3)
    assert curves.pipe(pr.auprec, grid)["prior"].to_list() == grid["prior"].to_list()


# The walk through twenty rows prints 0.68 and 0.619124; the others are in PAPERS.md.
@pytest.mark.parametrize(
    ("interpolation", "start", "expected"),
    [
        ("linear", "drop", 0.619124),
        ("linear", "limit", 0.719124),
        ("step", "limit", 0.7357),
        ("exact", "limit", 0.7200),
        ("hull", "limit", 0.7883),
    ],
)
def test_the_walk_through_twenty_rows(interpolation, start, expected):
    curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    found = curves.pipe(pr.auprec, interpolation=interpolation, start=start)["estimate"].item()
    assert found == pytest.approx(expected, abs=5e-7 if interpolation == "linear" else 5e-5)
    assert curves.pipe(pr.auc)["estimate"].item() == pytest.approx(0.68, abs=1e-14)


# --- iauprec -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(table=tables(), over=st.sampled_from(RANGES), start=st.sampled_from(STARTS))
def test_iauprec_is_the_mean_over_the_prior(interpolation, over, table, start):
    by_definition = oracles.auprec(oracles.roc(table), interpolation, start)
    expected = oracles.mean_over_prior(by_definition, *over)
    found = area(table, pr.iauprec, over, interpolation=interpolation, start=start)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(
    table=tables(),
    over=st.sampled_from([(0.05, 0.20), (0.1, 0.9), EXTREMES]),
    start=st.sampled_from(STARTS),
)
def test_iauprec_is_the_mean_over_the_skew(interpolation, over, table, start):
    by_definition = oracles.auprec(oracles.roc(table), interpolation, start)
    expected = oracles.mean_over_skew(by_definition, *over)
    how = {"interpolation": interpolation, "start": start}
    curves = curve(table)
    found = curves.pipe(pr.iauprec, over, measure="skew", **how)["estimate"].item()
    assert found == pytest.approx(expected, abs=1e-9)
    belief = pr.uniform(*over, measure="skew")
    # Approximately: two runs may add the same numbers in another order.
    by_belief = curves.pipe(pr.iauprec, belief, **how)["estimate"].item()
    assert by_belief == pytest.approx(found, rel=1e-12)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(table=tables(), shape=st.sampled_from(BETAS))
def test_iauprec_is_the_mean_under_a_beta_belief(interpolation, shape, table):
    by_definition = oracles.auprec(oracles.roc(table), interpolation)
    expected = oracles.mean_under_beta(by_definition, *shape)
    found = area(table, pr.iauprec, pr.beta(*shape), interpolation=interpolation)
    assert found == pytest.approx(expected, abs=1e-9)


# --- what every measure keeps --------------------------------------------------------------------

ALL = {
    "auc": (pr.auc, ()),
    "iauprec": (pr.iauprec, ((0.05, 0.20),)),
    **{name: (pr.auprec, ([0.3, 0.01], name)) for name in INTERPOLATIONS},
}


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@given(
    scale=st.sampled_from([1e-200, 1e-9, 0.1, 3.0, 1e12, 1e200]),
    table=tables(kinds=["whole", "real"]),
)
def test_the_scale_of_weights_does_not_matter(name, scale, table):
    measure, arguments = ALL[name]
    scaled = table.with_columns(pl.col("weight") * scale)
    first, second = (
        curve(rows).pipe(measure, *arguments)["estimate"].to_list() for rows in (table, scaled)
    )
    assert second == pytest.approx(first, rel=1e-11)


@given(table=tables(), prior=priors())
def test_areas_are_ordered_and_between_zero_and_one(table, prior):
    curves = curve(table)
    exact, hull = (
        curves.pipe(pr.auprec, prior, interpolation=name)["estimate"].item()
        for name in ("exact", "hull")
    )
    assert 0 <= exact <= 1 + 1e-12
    assert exact <= hull + 1e-12
    assert hull >= prior - 1e-12


# --- notes, nulls and refusals -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("negatives", "prior", "note"),
    [
        (100, 0.5, None),
        (100, 0.1, "λ/N = 0.09: biased upward"),
        (50, 0.5, None),
        (49, 0.5, "λ/N = 0.02: biased upward"),
        (100, 0.01, "λ/N = 0.99: biased upward"),
    ],
)
def test_too_few_negatives_for_a_prior_are_noted(negatives, prior, note):
    table = pl.DataFrame({"truth": [True] * 5 + [False] * negatives})
    curves = table.with_row_index("score").pipe(pr.curve, truth="truth", score="score")
    assert curves.pipe(pr.auprec, prior)["note"].item() == note
    assert curves.pipe(pr.iauprec, (prior, prior + 1e-6))["note"].item() == note
    assert curves.pipe(pr.auc)["note"].item() is None


@pytest.mark.parametrize(
    ("measure", "arguments", "said"),
    [
        (pr.auprec, {"priors": 0}, "prior is 0,"),
        (pr.auprec, {"priors": [0.1, 1.2]}, "prior is 1.2,"),
        (pr.auprec, {"priors": pl.DataFrame({"p": [0.1]})}, "needs 'prior'"),
        (pr.auprec, {"interpolation": "spline"}, "interpolation is 'spline', allowed are 'exact'"),
        (pr.auprec, {"start": "two"}, "start is 'two', allowed are 'limit'"),
        (pr.iauprec, {"over": (0.2, 0.1)}, "lo < hi"),
        (pr.iauprec, {"over": (0, 0.2)}, "prior is 0,"),
        (pr.iauprec, {"over": 0.2}, "a pair"),
        (pr.iauprec, {"over": (0.1, 0.2), "measure": "odds"}, "measure is 'odds'"),
        (pr.iauprec, {"over": pr.beta(2, 18), "measure": "skew"}, "measure='skew'"),
        (pr.iauprec, {"over": (0.1, 0.2), "start": "two"}, "start is 'two'"),
        (pr.iauprec, {"over": (0.1, 0.2), "interpolation": "spline"}, "interpolation is 'spline'"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_arguments_out_of_range_are_refused(measure, arguments, said, lazy):
    curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    with pytest.raises(InvalidArgument) as caught:
        (curves.lazy() if lazy else curves).pipe(measure, **arguments)
    assert said in str(caught.value)
    assert "\nHint: " in str(caught.value)


@pytest.mark.parametrize("label", [0, 1])
def test_a_key_with_one_class_has_no_prior_of_its_own(label):
    table = pl.DataFrame({"truth": [label, label], "score": [0.1, 0.9]})
    found = table.pipe(pr.curve, truth="truth", score="score").pipe(pr.auprec, "observed")
    assert found.select("prior", "estimate").row(0) == (None, None)


def test_keys_without_a_hull_keep_their_row_and_note():
    table = pl.DataFrame(
        {
            "model": list("aaaabbcc"),
            "truth": [1, 0, 1, 0, 1, 1, 1, 0],
            "score": [0.9, 0.1, 0.4, 0.5, 0.3, 0.2, None, 0.1],
        }
    )
    curves = pr.curve(table.lazy(), truth="truth", score="score")
    # Of a lazy table a row that cannot be ranked is known only once it is read.
    found = pr.auprec(curves.collect(), 0.5, interpolation="hull").sort("model")
    assert found["model"].to_list() == ["a", "b", "c"]
    assert found["estimate"].is_null().to_list() == [False, True, True]
    assert found["note"][1] == "no negatives"
    assert found["note"][2].startswith("null, NaN or unclear")
