"""Every table that has limits says their level."""

import inspect
from functools import cache

import ibis
import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

rng = np.random.default_rng(4)
ROWS = 240
NAMES = {"truth": "y", "score": "p"}
TABLE = pl.DataFrame({
    "y": rng.random(ROWS) < 0.4, "p": rng.integers(1, 60, ROWS) / 60,
    "model": ["A", "B"] * (ROWS // 2), "fold": [1, 1, 2, 2] * (ROWS // 4),
    "case": np.arange(ROWS) // 2, "day": np.arange(ROWS) % 3,
}).with_columns(y=pl.col("y").first().over("case"))  # fmt: skip
TABLE = TABLE.with_columns(p=0.6 * pl.col("p") + 0.3 * pl.col("y"))
ONE = TABLE.drop("fold")
CURVES = pr.curve(TABLE, **NAMES)
POINTS = pr.operating_points(pr.curve(ONE, **NAMES), priors=0.1)
OVER = (0.1, 0.3)


def estimated(**asked) -> pl.DataFrame:
    return pr.estimate_prior(ONE, ONE, **NAMES, **asked)


# What each function with a level gives at one: a result, or a mapping of its tables.
CALLS = {
    "evaluate": lambda **at: pr.evaluate(TABLE, **NAMES, over=OVER, intervals=True, **at),
    "compare": lambda **at: (
        pr.compare(TABLE, "auc", **NAMES, case=None, test_train_ratio=0.5, **at).pairs
    ),
    "choose": lambda **at: pr.choose(ONE, **NAMES, over=OVER, **at).models,
    "apply_thresholds": lambda **at: pr.apply_thresholds(
        ONE, POINTS, **NAMES, same_table=True, intervals=True, **at
    ),
    "calibration": lambda **at: pr.calibration(ONE, **NAMES, **at).estimates,
    "decision_curve": lambda **at: pr.decision_curve(
        ONE.with_columns(pl.col("p").rank() / ONE.height), [0.2], **NAMES, intervals=True, **at
    ),
    "mean_curve": lambda **at: pr.mean_curve(CURVES, n=5, spread="t", **at),
    "estimate_prior": estimated,
    "warehouse.evaluate": lambda **at: pr.warehouse.evaluate(
        ibis.memtable(TABLE), **NAMES, intervals=True, measure="auc", **at
    ),
}
# The same function, asked for limits of another kind.
MORE = {
    "calibration, curve": lambda **at: pr.calibration(ONE, **NAMES, draws=100, **at).curve,
    "compare, one test set": lambda **at: pr.compare(ONE, "auc", **NAMES, **at).pairs,
    "choose, costs": lambda **at: pr.choose(
        ONE.filter(pl.col("case") % 2 == 0), tuning=ONE.filter(pl.col("case") % 2 == 1), **NAMES,
        over=OVER, measure="expected_cost", **at,
    ).models,
    "evaluate, estimates": lambda **at: pr.evaluate(
        ONE, **NAMES, priors=estimated(**at), intervals=True, **at
    ),
}  # fmt: skip
# Functions whose results hold no limits, say the level in words, or allow for many looks.
WITHOUT_TABLES = {"gate", "report", "monitor"}
CALLS |= MORE


def with_a_level():
    names = ("charts", "datasets", "sklearn", "warehouse")
    modules = {f"{name}.": getattr(pr, name) for name in names}
    for prefix, module in {"": pr, **modules}.items():
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isfunction(one) and "level" in inspect.signature(one).parameters:
                yield prefix + name


def test_every_function_with_a_level_is_here():
    assert set(with_a_level()) == (set(CALLS) - set(MORE)) | WITHOUT_TABLES


@cache
def found(name: str, level: float) -> pl.DataFrame:
    return CALLS[name](level=level)


@pytest.mark.parametrize("name", CALLS)
def test_a_table_with_limits_says_their_level(name):
    narrow, wide = found(name, 0.8), found(name, 0.95)
    names = narrow.columns
    ends = [name for name in names if name.split("_")[-1] in ("lower", "upper")]
    assert ends
    assert narrow.schema["level"] == pl.Float64
    assert names[names.index(ends[-1]) + 1] == "level"
    assert narrow["level"].unique().to_list() == [0.8]
    assert wide["level"].unique().to_list() == [0.95]
    # It is the level of these very limits.
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        widths = [(table[high] - table[low]).drop_nulls().sum() for table in (narrow, wide)]
        assert widths[0] < widths[1], (low, high)


def test_a_spread_has_no_level():
    spread = pr.mean_curve(CURVES, n=5, spread="sd")
    assert spread["level"].null_count() == spread.height


def test_results_without_tables_have_their_level():
    asked = {"champion": "A", "challenger": "B", "measure": "auc"}
    results = [pr.gate(ONE, **NAMES, **asked, level=level) for level in (0.8, 0.95)]
    assert [one.level for one in results] == [0.8, 0.95]
    assert results[0].upper - results[0].lower < results[1].upper - results[1].lower


def test_an_estimated_prior_has_the_level_of_what_is_said_at_it():
    low, usual = estimated(level=0.8), estimated()
    at = {**NAMES, "intervals": True, "measure": "auprec"}
    asked = {
        "evaluate": lambda priors: pr.evaluate(ONE, **at, priors=priors),
        "choose": lambda over: pr.choose(ONE, **NAMES, over=over.filter(model="A").drop("model")),
        "apply_thresholds": lambda priors: pr.apply_thresholds(
            ONE, POINTS, **NAMES, same_table=True, priors=priors
        ),
        "of points": lambda priors: pr.apply_thresholds(
            ONE, pr.operating_points(pr.curve(ONE, **NAMES), "cost", priors=priors), **NAMES,
            same_table=True, intervals=True,
        ),
    }  # fmt: skip
    for call in asked.values():
        with pytest.raises(InvalidArgument, match=r"level is 0\.95, and the interval.*at 0\.8"):
            call(low)
        call(usual)
        # Of a table that does not say it, it is taken for the same.
        call(low.drop("level"))
    # Without limits of its own nothing is mixed up.
    assert pr.evaluate(ONE, **NAMES, priors=low, measure="auprec").height == 2
    with pytest.raises(InvalidTable, match=r"intervals at 0\.8, 0\.95, needed is one level"):
        pr.evaluate(ONE, **at, priors=pl.concat([low.head(1), usual.tail(1)]))


def test_a_belief_in_an_estimate_is_that_of_its_level():
    curves = pr.curve(ONE.filter(model="A").drop("model"), **NAMES)
    one = estimated().filter(model="A").drop("model")
    told = one.select("prior", "lower", "upper")
    costs = [
        pr.expected_cost(curves, over=told.with_columns(level=pl.lit(level)))["cost_following"]
        for level in (0.5, 0.95)
    ]
    usual = pr.expected_cost(curves, over=told)["cost_following"]
    assert costs[1].item() == pytest.approx(usual.item(), rel=1e-12)
    assert costs[0].item() != pytest.approx(usual.item(), rel=1e-6)
