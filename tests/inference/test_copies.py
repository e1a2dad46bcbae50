"""Rows that are given several times: as copies in clusters, by a count, by a weight."""

from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl
import pytest
from polars import selectors as cs
from polars.testing import assert_frame_equal

import polaroc as pr

CASES = 150
NAMES = {"truth": "truth", "score": "score", "model": "model"}
OVER = (0.1, 0.3)
# Rows with their number as cluster, and in clusters of three.
EACH, THREES = "row", "three"


def drawn(seed: int) -> pl.DataFrame:
    """Two models on the same cases, with ties."""
    rng = np.random.default_rng(seed)
    truth = rng.random(CASES) < 0.3
    shared = rng.normal(size=CASES)
    return pl.concat(
        pl.DataFrame(
            {
                "model": model,
                "row": np.arange(CASES),
                "three": np.arange(CASES) // 3,
                "truth": truth,
                "score": 1.7 * truth + shared + noise * rng.normal(size=CASES),
            }
        )
        for model, noise in (("A", 1.0), ("B", 1.4))
    ).with_columns(
        (1 / (1 + (1.2 - pl.col("score")).exp())).round(2).clip(0.01, 0.99).alias("score")
    )


TABLE, TUNING = drawn(1), drawn(2)


def copies(times: int) -> pl.DataFrame:
    """The rows so many times; `case` tells the copies apart."""
    return pl.concat(TABLE.with_columns(case=pl.col("row") * times + copy) for copy in range(times))


def evaluated(asked: dict) -> Callable[..., pl.DataFrame]:
    return lambda table, **roles: pr.evaluate(table, **NAMES, **roles, **asked).drop(COUNTS)


def chosen(measure: str, **asked) -> Callable[..., pl.DataFrame]:
    return lambda table, **roles: (
        pr.choose(table, measure, **NAMES, **roles, over=OVER, **asked).models
    )


def compared(measure: str, **asked) -> Callable[..., pl.DataFrame]:
    return lambda table, **roles: pr.compare(table, measure, **NAMES, **roles, **asked).pairs


def gated(measure: str, **asked) -> Callable[..., pl.DataFrame]:
    def function(table: pl.DataFrame, **roles: object) -> pl.DataFrame:
        found = pr.gate(
            table, **NAMES, **roles, champion="B", challenger="A", measure=measure, margin=0.02,
            **asked,
        )  # fmt: skip
        return pl.DataFrame({name: [getattr(found, name)] for name in ("difference", *ENDS)})

    return function


def applied(table: pl.DataFrame, **roles: object) -> pl.DataFrame:
    found = pr.apply_thresholds(table, POINTS, **NAMES, **roles, intervals=True)
    return found.select("model", "tpr", "fpr", cs.matches("lower|upper"))


def of_one_model(function: Callable, **asked) -> Callable[..., pl.DataFrame]:
    """Without the names by which rows are paired."""

    def called(table: pl.DataFrame, **roles: object) -> pl.DataFrame:
        roles.pop("case")
        return function(table, **NAMES, **roles, **asked).drop(*COUNTS, "notes", strict=False)

    return called


POINTS = pr.operating_points(pr.curve(TUNING, **NAMES), "cost", priors=0.2)
ENDS = "lower", "upper"
COUNTS = "positives", "negatives", "note"
RANGE, AT = {"over": OVER}, {"priors": 0.1}
# All but those corrected for a bias that depends on the number of cases.
AREAS = ["auc", "auprec", "iauprec", "sens", "auc_range", "accsens", "equal_error"]
MEASURES = {
    "areas": {"measure": AREAS, "over": OVER, "priors": [0.5, 0.1]},
    "areas at many priors": {
        "measure": "auprec",
        "priors": ["observed", *np.linspace(0.1, 0.8, 30)],
    },
    "losses": {"measure": ["brier", "log_loss", "brier_skill"], "priors": 0.2},
    "losses over a range": {"measure": ["brier_range", "log_loss_range"], "over": OVER},
}
FUNCTIONS: dict[str, Callable[..., pl.DataFrame]] = {
    **{
        f"evaluate, {kind}": evaluated({"intervals": True, **asked})
        for kind, asked in MEASURES.items()
    },
    "decision_curve": of_one_model(pr.decision_curve, thresholds=5, intervals=True),
    "apply_thresholds": applied,
    "calibration": lambda table, **roles: pr.calibration(table, **NAMES, **roles).estimates.drop(
        *COUNTS, "statistic", "freedom", "p_value"
    ),
    "compare, auc": compared("auc"),
    "compare, auprec": compared("auprec", **AT),
    "compare, iauprec": compared("iauprec", **RANGE),
    "compare, brier": compared("brier", **AT),
    "choose, iauprec": chosen("iauprec"),
    "choose, brier": chosen("brier"),
    "choose, costs": chosen(
        "expected_cost", cost_fn=4, tuning=pr.cases(TUNING, **NAMES, case="row")
    ),
    "gate, auc": gated("auc"),
    "gate, iauprec": gated("iauprec", **RANGE),
    "gate, brier": gated("brier", **AT),
}
# Whose limits begin with those of counts, or with folds of the cases.
BY_COUNTS = {"choose, costs", "apply_thresholds", "decision_curve"}


def widths(table: pl.DataFrame) -> "np.ndarray":
    """How wide limits are, by row and kind of limits."""
    lower = [name for name in table.columns if name.endswith("lower")]
    pairs = [table[name.replace("lower", "upper")] - table[name] for name in lower]
    return np.array([pair.to_numpy() for pair in pairs])


@cache
def of_rows(name: str) -> pl.DataFrame:
    return FUNCTIONS[name](TABLE, case="row")


def tolerance(name):
    # The small-sample factor of the GLM of statsmodels counts rows as well as clusters.
    return {"rel_tol": 1e-7, "abs_tol": 2e-3 if name == "calibration" else 1e-10}


@pytest.mark.parametrize(
    "cluster", [pytest.param(EACH, marks=pytest.mark.slow), THREES], ids=["each", "threes"]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_in_clusters_say_what_the_rows_say(name, cluster):
    function = FUNCTIONS[name]
    # Clusters of one row each count as no clusters, whose tests may take the normal distribution.
    rows, case = (copies(2), "case") if cluster is EACH else (TABLE, "row")
    once = function(rows, case=case, cluster=cluster)
    found = function(copies(3), case="case", cluster=cluster)
    assert np.isfinite(widths(found)).all()
    if name in BY_COUNTS and cluster is THREES:
        # Clusters that vary less than independent rows count as the rows, and copies are more.
        found, once = (table.drop(cs.matches("upper|lower|expected")) for table in (found, once))
    assert_frame_equal(found, once, **tolerance(name))


# What leaves all numbers as they are.
SAME = {
    "clusters": {"cluster": EACH},
    "weights by class": {"weight": "of_class"},
    "unit weights": {"weight": "one"},
    "equal weights": {"weight": "equal"},
    "both": {"cluster": EACH, "weight": "one"},
}
QUICK = ("clusters", "weights by class")
# Weights by class move the share of positives that is observed.
AT_OBSERVED = ("many priors", "losses", "brier", "decision_curve", "calibration")
FOLDS = {"fold": "fold", "test_train_ratio": 1 / 3}
CALLS = FUNCTIONS | {
    "compare, all": lambda table, **roles: pr.compare(
        table, "iauprec", **NAMES, **roles, **RANGE
    ).omnibus,
    "compare, folds": compared("auc", **FOLDS),
    "gate, folds": gated("auc", **FOLDS),
    "calibration, test": lambda table, **roles: pr.calibration(
        table, **NAMES, **roles
    ).estimates.drop(COUNTS),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "same"),
    [
        pytest.param(name, way, marks=() if way in QUICK else pytest.mark.slow)
        for name in CALLS
        for way in SAME
        if way != "weights by class" or not any(word in name for word in AT_OBSERVED)
    ],
)
def test_equal_weights_and_clusters_of_one_row_change_no_number(name, same):
    table = TABLE.with_columns(
        one=1.0, equal=3.7, of_class=pl.when("truth").then(1.0).otherwise(49.75),
        fold=pl.col("row") % 4,
    )  # fmt: skip
    table = table if "folds" in name else table.drop("fold")
    found, rows = (CALLS[name](table, case="row", **roles) for roles in (SAME[same], {}))
    assert_frame_equal(found, rows, rel_tol=1e-7, abs_tol=1e-10)
    assert "p_value" not in rows.columns or rows["p_value"].null_count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_clusters_copies_say_more(name):
    rows, more = of_rows(name), FUNCTIONS[name](copies(4), case="case")
    narrower = widths(more) < 0.8 * widths(rows)
    # Where limits touch the ends of a rate, they are as wide as before.
    assert narrower.mean() > 0.7 if "curve" in name else narrower.all()


@pytest.mark.parametrize(
    ("name", "cluster"),
    [
        *((name, None) for name in FUNCTIONS),
        *(pytest.param(name, THREES, marks=pytest.mark.slow) for name in FUNCTIONS),
    ],
)
def test_a_count_stands_for_so_many_rows(name, cluster):
    function = FUNCTIONS[name]
    times = pl.col("row") % 4
    # Copies of a case are cases of their own.
    rows = (
        TABLE.with_columns(copy=pl.int_ranges(0, times))
        .explode("copy", empty_as_null=False)
        .with_columns(case=4 * pl.col("row") + pl.col("copy"))
    )
    roles = {} if cluster is None else {"cluster": cluster}
    counted = function(TABLE.with_columns(times=times), case="row", count="times", **roles)
    expected = function(rows, case="case", **roles)
    assert_frame_equal(counted, expected, rel_tol=1e-7, abs_tol=1e-10, check_dtypes=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_weights_only_the_ratios_matter(name):
    function = FUNCTIONS[name]
    weight = 1 + pl.col("row") % 7
    table = TABLE.with_columns(weight=weight, thousands=weight * 1024)
    found = function(table, case="row", weight="weight")
    thousands = function(table, case="row", weight="thousands")
    assert np.isfinite(widths(found)).all()
    assert_frame_equal(thousands, found, rel_tol=1e-7, abs_tol=1e-10)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_of_a_weighted_case_in_a_cluster_say_what_it_says(name):
    function = FUNCTIONS[name]
    weight = 1.0 + pl.col("row") % 5
    table, copied = TABLE.with_columns(weight=weight), copies(3).with_columns(weight=weight / 3)
    whole = function(table, case="row", weight="weight", cluster="row")
    parts = function(copied, case="case", weight="weight", cluster="row")
    assert_frame_equal(parts, whole, **tolerance(name))
