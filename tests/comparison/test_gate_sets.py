"""A challenger and a champion with test sets of their own, such as two sites or two periods."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, norm

import polaroc as pr

ROLES = {"truth": "truth", "score": "score", "model": "site", "case": None}
PAIR = {"champion": "old", "challenger": "new"}


def site(name, positives=120, negatives=360, seed=0, distance=1.8) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = rng.normal(size=truth.size) + distance * truth
    return pl.DataFrame({"truth": truth, "score": score, "site": name})


TABLE = pl.concat([site("old"), site("new", 90, 500, 1, 1.6)])


def gate(table=TABLE, **asked):
    return pr.gate(table, **ROLES | PAIR | {"measure": "auc"} | asked)


def placements(table, name):
    own = table.filter(site=name)
    of_pos, of_neg = (own.filter(truth=one)["score"].to_numpy() for one in (True, False))
    above = of_pos[:, None] > of_neg
    return above.mean(axis=1), above.mean(axis=0)


def test_the_variance_is_that_of_both_sets():
    parts = [one for name in ("new", "old") for one in placements(TABLE, name)]
    error = sum(own.var(ddof=1) / own.size for own in parts) ** 0.5
    result = gate()
    assert result.difference == pytest.approx(parts[0].mean() - parts[2].mean())
    # With as many cases limits are a little wider than normal ones, and not symmetric.
    half = (result.upper - result.lower) / 2
    assert 1.96 * error < half < 1.35 * 1.96 * error
    pairs = pr.compare(TABLE, "auc", **ROLES).pairs
    assert pairs["std_error"].item() == pytest.approx(error)


def test_the_other_way_round_limits_are_mirrored_and_rows_have_no_order():
    one, other = gate(), gate(champion="new", challenger="old")
    assert (one.lower, one.upper) == pytest.approx((-other.upper, -other.lower))
    mixed = gate(TABLE.sample(fraction=1, shuffle=True, seed=3))
    assert (mixed.lower, mixed.upper) == pytest.approx((one.lower, one.upper))


def test_cases_that_are_taken_as_others_tell_less_than_pairs():
    rng = np.random.default_rng(5)
    old = site("old").with_row_index("case")
    noise = pl.Series(0.3 * rng.normal(size=old.height))
    table = pl.concat([old, old.with_columns(score=pl.col("score") + noise, site=pl.lit("new"))])
    apart, paired = gate(table.drop("case")), gate(table, case="case")
    assert apart.difference == pytest.approx(paired.difference)
    assert apart.upper - apart.lower > 1.7 * (paired.upper - paired.lower)


@pytest.mark.parametrize("measure", ["auc", "iauprec", "recall", "expected_cost", "brier"])
def test_measures_of_two_sets(measure):
    at = {"iauprec": {"over": (0.1, 0.3)}, "recall": {"points": 0.8}}.get(measure, {"prior": 0.2})
    at = {} if measure == "auc" else at
    table = TABLE.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    result = gate(table, measure=measure, **at)
    assert result.lower < result.difference < result.upper
    assert result.cases == "590 and 480 cases"
    assert (result.positives, result.negatives) == (90, 360)


@pytest.mark.parametrize("crossing", [False, True])
def test_clusters_of_one_row_are_cases_and_copies_tell_nothing_more(crossing):
    numbered = TABLE.with_row_index("patient").with_columns(day=pl.col("patient"))
    clusters = ["patient", "day"] if crossing else "patient"
    one = gate(numbered, cluster=clusters)
    copies = gate(pl.concat([numbered] * 2), cluster=clusters)
    assert (copies.lower, copies.upper) == pytest.approx((one.lower, one.upper), rel=0.02)
    alone = gate()
    assert (one.lower, one.upper) == pytest.approx((alone.lower, alone.upper), rel=0.05)
    rows = gate(pl.concat([TABLE, TABLE]))
    assert rows.upper - rows.lower < 0.8 * (alone.upper - alone.lower)


def test_what_is_said():
    few = gate(pl.concat([site("old", 10, 60), site("new", 200, 600, 1)]), margin=0.05)
    assert few.verdict == "undecided"
    assert few.lower is None
    assert "a class has 10 cases, 20 are needed" in few.summary().replace("\n", " ")
    unsure = gate(margin=0.02)
    assert unsure.verdict == "undecided"
    assert "of each model would decide it" in unsure.warnings[0]
    same = pl.concat([site("old"), site("new")])
    assert gate(same, margin=0.0).verdict == "undecided"
    assert gate(same).lower < 0


def test_negatives_of_either_set_that_are_too_few_widen_the_limits():
    over = {"measure": "iauprec", "over": (0.02, 0.1)}
    many = gate(pl.concat([site("old", 60, 2_000), site("new", 60, 2_000, 1)]), **over)
    few = gate(pl.concat([site("old", 60, 240), site("new", 60, 2_000, 1)]), **over)
    assert few.lower is None or few.upper - few.lower > many.upper - many.lower


@pytest.mark.parametrize("measure", ["auc", "recall"])
def test_how_often_a_challenger_that_is_worse_passes(measure):
    runs, passed = 50, 0
    distances = [2**0.5 * norm.ppf(auc) for auc in (0.9, 0.85)]
    areas = [0.9, 0.85] if measure == "auc" else [norm.sf(1 - one) for one in distances]
    asked = {} if measure == "auc" else {"points": 1.0}
    for seed in range(runs):
        table = pl.concat(
            [
                site(name, 60, 180, 2 * seed + place, distances[place])
                for place, name in enumerate(("old", "new"))
            ]
        )
        margin = areas[0] - areas[1]
        passed += gate(table, measure=measure, margin=margin, **asked).verdict == "pass"
    assert passed <= binom.isf(0.01, runs, 0.025)
