"""Rows of one cluster are not independent: models are compared by sums over clusters."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.special import expit

import polaroc as pr

RNG = np.random.default_rng(7)
ROWS = 240
OVER = (0.05, 0.2)


def scored(rows=ROWS, share=0.3, rng=RNG):
    truth = rng.random(rows) < share
    shared = rng.normal(size=rows) + truth
    scores = {name: (shared + rng.normal(size=rows) + lead * truth).round(1)
              for name, lead in (("A", 1.0), ("B", 0.5), ("C", 0.4))}  # fmt: skip
    return pl.DataFrame(
        {"patient": np.arange(rows), "truth": truth}
        | {name: 1 / (1 + np.exp(-score)) for name, score in scores.items()}
    )


TABLE = scored()
TUNING = scored()
WIDE = {"truth": "truth", "score": ["A", "B", "C"]}


def in_clusters(rows=200, clusters=30, rng=RNG):
    """Cases of both classes in clusters of several sizes."""
    table = scored(rows, rng=rng)
    own = rng.integers(0, clusters, rows)
    return table.with_columns(patient=pl.Series(own), row=pl.int_range(rows))


def test_promises_of_a_choice_know_the_clusters_of_the_tuning_cases():
    alike = [
        pl.concat([TABLE if own is None else own] * 4).with_row_index("row")
        for own in (None, TUNING)
    ]
    asked = {"over": OVER, "constraints": {"recall": 0.5}, "confidence": 0.9}

    def thresholds(table, tuning, cluster=None):
        choice = pr.choose(table, "expected_cost", **WIDE, **asked, tuning=tuning, cluster=cluster,
                           case="row")  # fmt: skip
        return choice.models.select("model", "threshold").sort("model")

    of_rows = thresholds(*(table.with_row_index("row") for table in (TABLE, TUNING)))
    assert_frame_equal(thresholds(*alike, "patient"), of_rows)
    assert not thresholds(*alike).equals(of_rows)


def test_a_difference_has_students_quantile_of_the_clusters_of_the_rarer_class():
    # All negatives are of a few patients.
    table = in_clusters().with_columns(
        patient=pl.when("truth").then("patient").otherwise(pl.col("patient") % 7)
    )
    roles = {**WIDE, "score": ["A", "B"], "case": "row", "cluster": "patient"}
    row = pr.compare(table, "auc", **roles).pairs.row(0, named=True)
    limits = stats.t.interval(0.95, 7 - 1, row["difference"], row["std_error"])
    assert (row["lower"], row["upper"]) == pytest.approx(limits, rel=1e-9)
    p_value = 2 * stats.t.sf(abs(row["difference"] / row["std_error"]), 7 - 1)
    assert row["p_value"] == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize(("measure", "over"), [("auprec", (0.05, 0.2)), ("brier", (0.1, 0.1))])
def test_limits_on_many_cases_are_about_those_of_each_model(measure, over):
    # From 100,000 rows on they need no cases that were not seen.
    rng, truth = np.random.default_rng(0), np.arange(60_000) < 9_000
    shared = rng.normal(size=truth.size)
    table = pl.DataFrame({"truth": truth, "id": np.arange(truth.size)}).with_columns(
        pl.Series(name, expit(0.7 * (shared + rng.normal(size=truth.size)) + gap * truth - 2))
        for name, gap in (("A", 2.0), ("B", 1.8))
    )
    roles = {"truth": "truth", "score": ["A", "B"], "score_prior": 0.15}
    models = pr.choose(table, measure, over=over, case="id", **roles).models.sort("model")
    at = {"measure": "iauprec", "over": over}
    if measure == "brier":
        at = {"measure": measure, "priors": 0.1}
    limits = pr.evaluate(table, **at, intervals=True, **roles).sort("model")
    moved = models["expected"] - models["mean"]
    width = (limits["upper"] - limits["lower"]).min()
    for end, correction in (("lower", moved.clip(None, 0)), ("upper", moved.clip(0, None))):
        found = (models[f"expected_{end}"] - correction).to_list()
        assert found == pytest.approx(limits[end].to_list(), abs=0.06 * width)


@pytest.mark.parametrize("over", [OVER, (0.1, 0.1), pr.beta(2, 18)], ids=str)
@pytest.mark.parametrize("measure", ["auprec", "brier"])
def test_limits_of_a_choice_reach_as_far_as_those_of_each_model(over, measure):
    table = in_clusters(rng=np.random.default_rng(3))
    roles = {**WIDE, "case": "row", "cluster": "patient"}
    choice = pr.choose(table, measure=measure, **roles, over=over)
    at = over[0] if over == (0.1, 0.1) else None
    name = measure if at else {"auprec": "iauprec", "brier": "brier_range"}[measure]
    asked = {"over": over} if at is None else {"priors": at}
    each = pr.evaluate(table, measure=name, **roles, **asked, intervals=True)
    both = choice.models.join(each.select("model", "lower", "upper"), on="model")
    assert both.height == 3
    # They reach no farther than they have to at one end or the other.
    ends = (("expected_lower", "lower", 1), ("expected_upper", "upper", -1))
    beyond = [(both[own] - both[other]) * sign for own, other, sign in ends]
    # Sums may differ in the last digit.
    assert all((one <= 1e-14).all() for one in beyond)
    assert any((one.abs() < 1e-14).any() for one in beyond)
