from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from math import cos, pi

import exact
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc import warehouse
from polaroc.priors.chebyshev import DIRECT, TOLERANCE, condensed, many_priors, nodes_needed

TABLE = pr.datasets.twenty_scores()
ROWS = [(bool(truth), score, 1.0) for truth, score in TABLE.select("truth", "score").rows()]
NARROW = np.linspace(0.05, 0.20, 400).tolist()
WIDE = np.linspace(0.001, 0.999, 600).tolist()
# To the ends of what a float can be below 1, and above 0.
ENDS = np.unique(
    [*np.geomspace(1e-300, 0.5, 1200), *(1 - np.geomspace(1.2e-16, 0.4, 300))]
).tolist()
GRIDS = [NARROW, WIDE, ENDS]
LENGTHS = (1e-6, 0.01, 0.5, 1.56, 4.0, 8.0, 14.0)


def areas(priors, interpolation, start="limit"):
    curve = pr.curve(TABLE, truth="truth", score="score")
    return pr.auprec(curve, priors, interpolation, start)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("centre", [-3.0, 0.0, 0.4])
def test_nodes_needed_keep_a_precision_within_the_tolerance(length, centre):
    count = nodes_needed(length)
    half = length / 2
    nodes = np.array([cos((2 * k + 1) * pi / (2 * count)) for k in range(count)])
    at = np.linspace(-1, 1, 500)

    def precision(x):
        return 1 / (1 + np.exp(centre + half * x))

    found = np.polynomial.Chebyshev.interpolate(lambda x: precision(x), count - 1)(at)
    assert nodes.size == count
    assert found == pytest.approx(precision(at), abs=TOLERANCE + 1e-14)


def test_fewer_nodes_than_needed_would_not_do():
    count = nodes_needed(8.0) // 2
    at = np.linspace(-1, 1, 500)
    coarse = np.polynomial.Chebyshev.interpolate(lambda x: 1 / (1 + np.exp(4 * x)), count - 1)
    assert np.abs(coarse(at) - 1 / (1 + np.exp(4 * at))).max() > 100 * TOLERANCE


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("interpolation", ["exact", "linear", "step", "hull"])
@pytest.mark.parametrize("grid", GRIDS)
def test_many_priors_have_the_areas_of_rational_arithmetic(interpolation, grid):
    found = areas(grid, interpolation)
    some = range(0, len(grid), 29)
    curve = exact.curve(ROWS)
    expected = [exact.auprec(curve, exact.skew(grid[i]), interpolation) for i in some]
    assert found["prior"].to_list() == grid
    assert found["estimate"].gather(list(some)).to_list() == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["one", "zero", "drop"])
@pytest.mark.parametrize("interpolation", ["exact", "linear", "step"])
def test_many_priors_have_the_areas_of_every_start(interpolation, start):
    found = areas(WIDE, interpolation, start)["estimate"].to_list()
    curve = exact.curve(ROWS)
    expected = [exact.auprec(curve, exact.skew(p), interpolation, start) for p in WIDE[::29]]
    assert found[::29] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_constant_score_has_the_prior_as_area_and_a_perfect_one_has_one(grid):
    table = pl.DataFrame({"k": list("ccpp"), "truth": [1, 0, 1, 0], "score": [1, 1, 2, 1]})
    found = pr.evaluate(table, truth="truth", score="score", by="k", priors=grid, measures="auprec")
    of = found.partition_by("k", as_dict=True)
    assert of["c",]["estimate"].to_list() == pytest.approx(grid, abs=1e-12)
    assert of["p",]["estimate"].to_list() == [1.0] * len(grid)


def few(priors, **asked):
    """The same in calls with a few priors each, row by row."""
    cuts = [*range(0, len(priors), DIRECT), len(priors)]
    return pl.concat([pr.evaluate(**asked, priors=priors[i:j]) for i, j in pairwise(cuts)])


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("nulls", ["raise", "drop"])
def test_rows_and_notes_of_many_priors_are_those_of_a_few(eager, nulls):
    rows = {
        "k": ["a"] * 20 + ["one class"] * 2 + ["null"] * 3,
        "truth": [*TABLE["truth"].cast(pl.Int64), 1, 1, 1, 0, 1],
        "score": [*TABLE["score"], 0.1, 0.2, 0.3, None, 0.4],
    }
    table = pl.DataFrame(rows)
    table = table if eager else table.lazy()
    asked = {"truth": "truth", "score": "score", "by": "k", "nulls": nulls}
    if nulls == "raise":
        table = table.filter(pl.col("k") != "null")
    priors = [*NARROW[:40], "observed", *NARROW[40:60]]
    found = pr.evaluate(table, **asked, priors=priors, over=(0.05, 0.2)).lazy().collect()
    expected = few(priors, cases=table.lazy().collect(), **asked, measures="auprec")
    by_key = pl.col("k").replace_strict(["a", "null", "one class"], [0, 1, 2])
    assert_frame_equal(
        found.filter(measure="auprec").drop("over"),
        expected.sort(by_key, maintain_order=True),
        abs_tol=1e-12,
    )
    assert found["measure"].unique(maintain_order=True).to_list() == [
        "auc", "auprec", "iauprec", "sens", "auc_range", "accsens", "equal_error",
    ]  # fmt: skip


def test_a_plan_of_many_priors_has_its_schema_and_needs_no_python():
    plan = pr.evaluate(TABLE.lazy(), truth="truth", score="score", priors=WIDE)
    assert plan.collect_schema() == plan.collect().schema
    restored = pl.LazyFrame.deserialize(BytesIO(plan.serialize()))
    assert restored.collect().height == 1 + len(WIDE)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("interpolation", ["exact", "linear", "step"])
def test_intervals_at_many_priors_are_those_at_a_few(interpolation):
    priors = [*WIDE[::12], "observed"]
    asked = {"truth": "truth", "score": "score", "interpolation": interpolation,
             "measures": "auprec", "intervals": True}  # fmt: skip
    found = pr.evaluate(TABLE, priors=priors, **asked)
    some = [0, 13, 29, 50]
    expected = pr.evaluate(TABLE, priors=[priors[i] for i in some], **asked)
    assert_frame_equal(found[some], expected, abs_tol=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_the_limit_of_a_perfect_score_is_there_at_many_priors():
    table = pl.DataFrame({"truth": [1, 1, 1, 0, 0, 0], "score": [6, 5, 4, 3, 2, 1]})
    asked = {"truth": "truth", "score": "score", "measures": "auprec", "intervals": True}
    found = pr.evaluate(table, priors=WIDE, **asked)
    expected = pr.evaluate(table, priors=WIDE[::60], **asked)
    assert_frame_equal(found[::60], expected, abs_tol=1e-12)


def test_a_belief_of_many_nodes_needs_no_more_of_them_than_interpolation():
    belief = pr.beta(0.1, 1)
    nodes, condensed_weights = condensed(belief.skews, belief.weights)
    assert len(nodes) < len(belief.skews) / 2
    assert sum(condensed_weights) == pytest.approx(1, abs=1e-12)
    curve = pr.curve(TABLE, truth="truth", score="score")
    values_by_row = exact.curve(ROWS)
    each = [exact.auprec(values_by_row, one, "linear") for one in belief.skews]
    found = pr.iauprec(curve, belief, interpolation="linear")["estimate"].item()
    assert found == pytest.approx(np.average(each, weights=belief.weights), abs=1e-12)
    as_expression = pr.expr.iauprec("truth", "score", belief, interpolation="linear")
    assert TABLE.select(as_expression).item() == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize(
    ("over", "most"), [((1e-300, 0.5), 150), ((1e-300, 1 - 1.2e-16), 250), ((0.5, 1 - 1e-16), 150)]
)
def test_a_range_with_extreme_ends_has_few_nodes_and_the_area_of_its_closed_form(over, most):
    belief = pr.uniform(*over)
    assert len(belief.skews) <= most
    # A constant score has the prior as area, so the middle of the range as mean.
    table = pl.DataFrame({"truth": [1, 0], "score": [1, 1]})
    curve = pr.curve(table, truth="truth", score="score")
    found = pr.iauprec(curve, over)["estimate"].item()
    assert found == pytest.approx(float(sum(map(Fraction, over))) / 2, abs=1e-11)


def test_a_plan_grows_with_the_nodes_and_not_with_the_priors():
    few, more = (many_priors(np.linspace(0.05, 0.20, n).tolist()) for n in (50, 10_000))
    assert len(more.nodes) == len(few.nodes)


@pytest.mark.long
@pytest.mark.slow
def test_a_query_holds_more_priors_without_more_sums():
    table = warehouse.unseen("predictions", ["label", "p"])

    def query(count):
        grid = np.linspace(0.05, 0.20, count).tolist()
        asked = warehouse.evaluate(table, truth="label", score="p", priors=grid)
        return warehouse.sql(asked, "duckdb")

    assert query(5000).count("SUM(") == query(50).count("SUM(") <= query(DIRECT).count("SUM(")
