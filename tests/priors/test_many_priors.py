"""Areas at hundreds of priors, which are as exact as those at a few."""

import exact
import numpy as np
import oracles
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

TABLE = pr.datasets.twenty_scores()
NAMES = {"truth": "truth", "score": "score"}
EXACT = exact.curve((truth, score, 1) for truth, score in TABLE.select("truth", "score").rows())
NARROW = np.linspace(0.05, 0.20, 400).tolist()
WIDE = np.linspace(0.001, 0.999, 600).tolist()
# To the ends of what a float can be below 1, and above 0.
ENDS = np.unique(
    [*np.geomspace(1e-300, 0.5, 1200), *(1 - np.geomspace(1.2e-16, 0.4, 300))]
).tolist()
GRIDS = {"narrow": NARROW, "wide": WIDE, "to the ends": ENDS}
WAYS = [
    ("exact", "limit"), ("exact", "drop"), ("linear", "limit"), ("linear", "one"),
    ("linear", "zero"), ("step", "limit"), ("step", "drop"), ("hull", "limit"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("grid", "way"),
    [*(("wide", way) for way in WAYS), ("narrow", WAYS[0]), ("to the ends", WAYS[0])],
)
def test_areas_are_those_of_rational_arithmetic(way, grid):
    priors = GRIDS[grid]
    found = pr.auprec(pr.curve(TABLE, **NAMES), priors, *way)
    assert found["prior"].to_list() == priors
    some = range(0, len(priors), 97)
    expected = [exact.auprec(EXACT, exact.skew(priors[i]), *way) for i in some]
    assert found["estimate"].gather(list(some)).to_list() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_constant_score_has_the_prior_as_area_and_a_perfect_one_has_one(grid):
    table = pl.DataFrame({"k": list("ccpp"), "truth": [1, 0, 1, 0], "score": [1, 1, 2, 1]})
    found = pr.evaluate(table, **NAMES, by="k", priors=GRIDS[grid], measure="auprec")
    of = found.partition_by("k", as_dict=True)
    assert of["c",]["estimate"].to_list() == pytest.approx(GRIDS[grid], abs=1e-12)
    assert of["p",]["estimate"].to_list() == [1.0] * len(GRIDS[grid])


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_rows_and_notes_of_many_priors_are_those_of_a_few(kind):
    rows = {
        "k": ["a"] * 20 + ["one class"] * 2 + ["null"] * 3,
        "truth": [*TABLE["truth"].cast(pl.Int64), 1, 1, 1, 0, 1],
        "score": [*TABLE["score"], 0.1, 0.2, 0.3, None, 0.4],
    }
    asked = {**NAMES, "by": "k", "nulls": "drop"}
    priors = [*NARROW[:40], "observed", *NARROW[40:60]]
    found = pr.evaluate(kind(rows), **asked, priors=priors, over=(0.05, 0.2)).lazy().collect()
    few = [
        pr.evaluate(rows, **asked, priors=priors[i : i + 7], measure="auprec")
        for i in range(0, len(priors), 7)
    ]
    assert_frame_equal(
        found.filter(measure="auprec").drop("over"),
        pl.concat(few).sort("k", maintain_order=True),
        abs_tol=1e-12,
    )
    assert found["measure"].unique(maintain_order=True).to_list() == [
        "auc", "auprec", "iauprec", "sens", "auc_range", "accsens", "equal_error",
    ]  # fmt: skip


def test_intervals_at_many_priors_are_those_at_a_few():
    asked = {**NAMES, "intervals": True, "measure": "auprec"}
    found = pr.evaluate(TABLE, priors=[*WIDE[::12], "observed"], **asked)
    some = [0, 13, 29]
    expected = pr.evaluate(TABLE, priors=[WIDE[12 * i] for i in some], **asked)
    assert_frame_equal(found[some], expected, abs_tol=1e-9)


@pytest.mark.parametrize("belief", [(0.05, 0.20), pr.beta(2, 18), pr.uniform(0.001, 0.9)], ids=str)
@pytest.mark.parametrize("priors", [np.geomspace(0.01, 0.5, 16).tolist(), [0.5, 1e-9], WIDE])
def test_a_mean_over_a_range_does_not_depend_on_the_priors_beside_it(belief, priors):
    table = TABLE.with_columns(weight=pl.when("truth").then(1.0).otherwise(1e-3))
    asked = {**NAMES, "weight": "weight", "over": belief}
    for interpolation in ("exact", "linear"):
        alone = pr.evaluate(table, **asked, measure="iauprec", interpolation=interpolation)
        beside = pr.evaluate(table, **asked, priors=priors, interpolation=interpolation)
        found = beside.filter(measure="iauprec")["estimate"].item()
        assert found == pytest.approx(alone["estimate"].item(), abs=3e-12)
    if isinstance(belief, tuple):
        mean = oracles.mean_over_prior(oracles.auprec(oracles.roc(TABLE), "linear"), *belief)
        assert found == pytest.approx(mean, abs=1e-10)
