"""One table with every role, and a call of each function that takes predictions."""

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

import polaroc as pr

RNG = np.random.default_rng(1)
ROWS = 240
CASE = np.arange(ROWS) // 2
TABLE = pl.DataFrame(
    {
        "y": (RNG.random(ROWS // 2) < 0.4)[CASE],
        "other": (RNG.random(ROWS // 2) < 0.4)[CASE],
        "p": RNG.integers(1, 200, ROWS) / 200,
        "q": RNG.integers(1, 100, ROWS) / 120,
        "model": ["A", "B"] * (ROWS // 2),
        "fold": [1, 1, 2, 2] * (ROWS // 4),
        "case": CASE,
        "place": [1, 1, 1, 1, 2, 2, 2, 2] * (ROWS // 8),
        "patient": CASE // 3,
        "day": CASE % 10,
        "weight": RNG.integers(1, 4, ROWS // 2)[CASE],
        "count": RNG.integers(0, 4, ROWS // 2)[CASE],
    }
)
TUNING = TABLE.with_columns(pl.col("case") + 1000, p=1 - pl.col("p"))
ROLES = {"truth": "y", "score": "p", "by": "place", "weight": "weight"}
ONCE = {"truth": "y", "score": "p", "fold": None, "cluster": "patient"}
CURVE = pr.curve(TUNING, **ROLES)
POINTS = pr.operating_points(CURVE, priors=[0.1, 0.5])
# By function, the roles of the table and what the function returns for cases or a table.
CALLS = {
    "curve": (ROLES, pr.curve),
    "check": (ROLES, pr.check),
    "evaluate": (
        ROLES,
        lambda *cases, **roles: pr.evaluate(
            *cases, **roles, measure=["auc", "brier"], priors=[0.1], intervals=True
        ),
    ),
    "calibration": (ONCE, lambda *cases, **roles: pr.calibration(*cases, **roles).estimates),
    "apply_thresholds": (
        ROLES,
        lambda *cases, **roles: pr.apply_thresholds(*cases, POINTS, intervals=True, **roles),
    ),
    "operating_points": (
        ONCE,
        lambda *cases, **roles: pr.operating_points(
            *cases, constraints={"precision": 0.3}, priors=0.5, confidence=0.9, **roles
        ),
    ),
    "expected_cost": (ROLES, lambda *cases, **roles: pr.expected_cost(*cases, over=0.4, **roles)),
    "decision_curve": (
        ONCE,
        lambda *cases, **roles: pr.decision_curve(
            *cases, thresholds=[0.2, 0.5], priors=0.1, intervals=True, **roles
        ),
    ),
    "probabilities": (
        {"score": "p", "by": "place"},
        lambda *cases, **roles: pr.probabilities(*cases, CURVE, priors=0.1, **roles),
    ),
    "estimate_prior": (
        {"truth": "y", "score": "p", "by": "place"},
        lambda *cases, **roles: pr.estimate_prior(
            *cases, deployed=TUNING, **roles
        ),
    ),
    "monitor": (
        {"truth": "y", "score": "p", "by": "place"},
        lambda *cases, **roles: pr.monitor(
            *cases, deployed=TUNING, points=0.5, time="day", **roles
        ).table,
    ),
    "compare": (ONCE, lambda *cases, **roles: pr.compare(*cases, "auc", **roles).pairs),
    "choose": (ONCE, lambda *cases, **roles: pr.choose(*cases, over=(0.1, 0.2), **roles).models),
    "gate": (
        ONCE,
        lambda *cases, **roles: pl.DataFrame(
            [pr.gate(*cases, measure="auc", champion="A", challenger="B", **roles).difference]
        ),
    ),
    "one_vs_rest": (
        {"truth": "y", "by": "place", "weight": "weight"},
        lambda *cases, **roles: pr.one_vs_rest(
            *cases, scores={False: "q", True: "p"}, **roles
        ).pipe(pr.evaluate, measure="auc"),
    ),
}  # fmt: skip


def same(found, expected):
    found, expected = found.lazy().collect(), expected.lazy().collect()
    assert found.columns == expected.columns
    # Rows of a plan come in any order.
    assert_frame_equal(found.sort(found.columns), expected.sort(found.columns), rel_tol=1e-9)
