import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polaroc as pr
from polaroc import rates
from polaroc.errors import InvalidArgument

PRIORS = st.sampled_from([0.001, 0.05, 0.2, 0.5, 0.9])
LEVELS = st.floats(0.01, 0.99)
POSITIVE = st.floats(0.2, 5)


def value(rate: str, points: pl.DataFrame, prior: float, **options: float) -> np.ndarray:
    """The rate at each point, whichever of the two spaces it is in."""
    t = points["tpr"].to_numpy()
    if "fpr" in points.columns:
        f = points["fpr"].to_numpy()
    else:
        f, _ = pr.roc_from_pr(t, points["precision"].to_numpy(), prior)
    return getattr(rates, rate)(t, f, (1 - prior) / prior, **options)


def put_back(found: pl.DataFrame, rate: str, level: float, prior: float, **options: float):
    # At recall 0 neither precision nor, in precision-recall space, the point of
    # the ROC is defined.
    whole = found.filter(pl.col("tpr") > 1e-9)
    assert value(rate, whole, prior, **options) == pytest.approx(level, abs=1e-8)


@pytest.mark.parametrize("space", ["roc", "pr"])
@given(prior=PRIORS, level=LEVELS, n=st.sampled_from([2, 3, 10, 101]))
def test_every_point_has_the_precision(space, prior, level, n):
    found = pr.iso_lines("precision", level, prior, space, n)
    assert found.height == n
    put_back(found, "precision", level, prior)


@pytest.mark.parametrize("space", ["roc", "pr"])
@given(prior=PRIORS, level=LEVELS, beta=POSITIVE, n=st.sampled_from([2, 11]))
def test_every_point_has_the_f_measure(space, prior, level, beta, n):
    found = pr.iso_lines("f_measure", level, prior, space, n, beta=beta)
    assert found.height == n
    put_back(found, "f_measure", level, prior, beta=beta)


@pytest.mark.parametrize("space", ["roc", "pr"])
@given(
    prior=PRIORS, share=LEVELS, theta=LEVELS, cost_fn=POSITIVE, cost_fp=POSITIVE,
    n=st.sampled_from([2, 11]),
)  # fmt: skip
def test_every_point_has_the_loss(space, prior, share, theta, cost_fn, cost_fp, n):
    options = {"theta": theta, "cost_fn": cost_fn, "cost_fp": cost_fp}
    worst = theta * cost_fn * prior + (1 - theta) * cost_fp * (1 - prior)
    found = pr.iso_lines("loss", share * worst, prior, space, n, **options)
    assert found.height == n
    put_back(found, "loss", share * worst, prior, **options)
    assert pr.iso_lines("loss", 1.01 * worst, prior, space, n, **options).is_empty()


@pytest.mark.parametrize("space", ["roc", "pr"])
@pytest.mark.parametrize("rate", ["error", "accuracy"])
@given(prior=PRIORS, level=LEVELS)
def test_every_point_has_the_error(space, rate, prior, level):
    found = pr.iso_lines(rate, level, prior, space, 11)
    put_back(found, rate, level, prior)


@pytest.mark.parametrize("rate", ["precision", "f_measure", "loss", "accuracy"])
@given(prior=PRIORS, level=LEVELS)
def test_lines_run_from_edge_to_edge_of_the_square(rate, prior, level):
    # Half of a level of loss, so that it is one that calls can have.
    level = level * min(prior, 1 - prior) / 2 if rate == "loss" else level
    roc = pr.iso_lines(rate, level, prior, n=5)
    f, t = roc.select("fpr", "tpr").to_numpy().T
    assert ((f >= 0) & (f <= 1) & (t >= 0) & (t <= 1)).all()
    for at in (0, -1):
        assert min(abs(x - edge) for x in (f[at], t[at]) for edge in (0, 1)) <= 1e-12
    # They are straight, and evenly dotted.
    assert np.diff(f) == pytest.approx(np.full(4, (f[-1] - f[0]) / 4), abs=1e-12)
    assert np.diff(t) == pytest.approx(np.full(4, (t[-1] - t[0]) / 4), abs=1e-12)
    assert (np.diff(t) > -1e-12).all()
    both = pr.iso_lines(rate, level, prior, "pr", n=40).select("tpr", "precision").to_numpy()
    assert ((both >= 0) & (both <= 1)).all()
    assert both[[0, -1], 0] == pytest.approx(t[[0, -1]], abs=1e-12)


@given(prior=PRIORS, level=st.floats(0.02, 0.98))
def test_f_in_precision_recall_space_does_not_depend_on_the_prior(prior, level):
    found = pr.iso_lines("f_measure", level, prior, "pr", 30)
    recall, precision = found["tpr"].to_numpy(), found["precision"].to_numpy()
    assert 2 / (1 / recall + 1 / precision) == pytest.approx(level, rel=1e-9)


def test_slopes_by_hand():
    def slope(found: pl.DataFrame) -> float:
        (f0, t0), (f1, t1) = found.select("fpr", "tpr").rows()
        return (t1 - t0) / (f1 - f0)

    # Precision ½ needs t = λf, F = ½ needs 3t = λf + 1 and cost the slope λc₂/c₁.
    assert slope(pr.iso_lines("precision", 0.5, 0.2, n=2)) == pytest.approx(4)
    assert slope(pr.iso_lines("f_measure", 0.5, 0.2, n=2)) == pytest.approx(4 / 3)
    for level in (0.02, 0.1):
        found = pr.iso_lines("loss", level, 0.2, n=2, cost_fn=10, cost_fp=5)
        assert slope(found) == pytest.approx(2)
    assert pr.iso_lines("f_measure", 0.5, 0.2, n=2).row(0)[3:] == pytest.approx((0, 1 / 3))


def test_bent_lines_have_no_wide_gaps():
    found = pr.iso_lines("f_measure", [0.05, 0.5, 0.9], 0.05, "pr", 101)
    for _, line in found.group_by("level"):
        steps = line.select(pl.col("tpr", "precision").diff().abs().max()).row(0)
        assert max(steps) <= 1 / 45


def test_a_table_of_several_lines():
    found = pr.iso_lines("accuracy", [0.9, 0.5], [0.5, 0.1], n=2)
    assert found.schema == {
        "rate": pl.String, "level": pl.Float64, "prior": pl.Float64, "fpr": pl.Float64,
        "tpr": pl.Float64,
    }  # fmt: skip
    lines = found.select("rate", "level", "prior").unique(maintain_order=True).rows()
    assert lines == [("accuracy", level, prior) for prior in (0.5, 0.1) for level in (0.9, 0.5)]
    grid = pr.prior_grid(0.1, 0.5, 3)
    assert pr.iso_lines("precision", 0.5, grid)["prior"].n_unique() == 3
    nothing = pr.iso_lines("loss", 5, 0.5)
    assert nothing.is_empty()
    assert nothing.schema == found.schema


@pytest.mark.parametrize(
    ("rate", "level", "prior", "options"),
    [
        ("gain", 0.5, 0.1, {}), ("precision", 0, 0.1, {}), ("precision", 1, 0.1, {}),
        ("f_measure", [0.5, 1.2], 0.1, {}), ("loss", -1, 0.1, {}), ("precision", [], 0.1, {}),
        ("precision", "half", 0.1, {}), ("precision", 0.5, 1, {}), ("precision", 0.5, [], {}),
        ("precision", 0.5, "observed", {}), ("precision", 0.5, [0.1, "observed"], {}),
        ("precision", 0.5, 0.1, {"space": "det"}), ("precision", 0.5, 0.1, {"n": 1}),
        ("f_measure", 0.5, 0.1, {"beta": 0}), ("loss", 0.5, 0.1, {"cost_fn": float("inf")}),
        ("loss", 0.5, 0.1, {"theta": 1}),
    ],
)  # fmt: skip
def test_arguments_out_of_range_are_refused(rate, level, prior, options):
    with pytest.raises(InvalidArgument, match="Hint:"):
        pr.iso_lines(rate, level, prior, **options)
