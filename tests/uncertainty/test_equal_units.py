"""Unit weights and clusters of one case each are as no weights and no clusters."""

import numpy as np
import polars as pl
import pytest
from polars import selectors as cs
from polars.testing import assert_frame_equal

import polaroc as pr

CASES = 300
NAMES = {"truth": "truth", "score": "score", "model": "model"}
PAIRED = NAMES | {"case": "case"}
OVER = (0.05, 0.2)
TWO = {"champion": "A", "challenger": "B"}


def predictions() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    truth, shared = rng.random(CASES) < 0.3, rng.normal(size=CASES)
    parts = [
        pl.DataFrame(
            {
                "model": name, "case": range(CASES), "truth": truth,
                "score": 1 / (1 + np.exp(1.5 - distance * truth - shared - rng.normal(size=CASES))),
            }
        )
        for name, distance in (("A", 1.2), ("B", 2.4), ("C", 1.5))
    ]  # fmt: skip
    return pl.concat(parts).with_columns(
        fold=pl.col("case") % 4,
        one=pl.lit(1.0),
        # Negatives were drawn at a rate of 1 in 50.
        of_class=pl.when("truth").then(1.0).otherwise(49.75),
        patient=pl.format("patient {}", "case"),
    )


TABLE = predictions()
FITTED = TABLE.drop("fold")
UNPAIRED = FITTED.drop("case")
# What leaves all numbers as they are.
SAME = {
    "unit weights": {"weight": "one"},
    "weights by class": {"weight": "of_class"},
    "clusters": {"cluster": "patient"},
    "both": {"weight": "one", "cluster": "patient"},
}


def gated(table: pl.DataFrame, **asked) -> pl.DataFrame:
    found = pr.gate(table, **TWO, **asked)
    names = ("difference", "lower", "upper")
    return pl.DataFrame({name: [getattr(found, name)] for name in names})


CALLS = {
    "auc": lambda own: pr.compare(FITTED, "auc", **PAIRED, **own).pairs,
    "auprec": lambda own: pr.compare(FITTED, "auprec", prior=0.1, **PAIRED, **own).pairs,
    "iauprec": lambda own: pr.compare(FITTED, over=OVER, **PAIRED, **own).pairs,
    "omnibus": lambda own: pr.compare(FITTED, over=OVER, **PAIRED, **own).omnibus,
    "folds": lambda own: pr.compare(
        TABLE, "auc", fold="fold", test_train_ratio=1 / 3, **PAIRED, **own
    ).pairs,
    "gate": lambda own: gated(FITTED, over=OVER, **PAIRED, **own),
    "gate of folds": lambda own: gated(
        TABLE, over=OVER, fold="fold", test_train_ratio=1 / 3, **PAIRED, **own
    ),
    "choose": lambda own: pr.choose(FITTED, over=OVER, **PAIRED, **own).models,
    "choose by cost": lambda own: pr.choose(
        FITTED.filter(pl.col("case") % 2 == 0), tuning=FITTED.filter(pl.col("case") % 2 == 1),
        over=OVER, cost_fn=10, **PAIRED, **own,
    ).models,
    "evaluate": lambda own: limits(intervals=True, **own),
}  # fmt: skip


def limits(**own) -> pl.DataFrame:
    asked = {"over": OVER, "priors": [0.5, 0.1]}
    return pr.evaluate(UNPAIRED, **NAMES, **asked, **own).drop("positives", "negatives")


@pytest.mark.parametrize(
    "same",
    [
        "weights by class",
        "clusters",
        *(pytest.param(own, marks=pytest.mark.slow) for own in ("unit weights", "both")),
    ],
)
@pytest.mark.parametrize("call", CALLS)
def test_they_change_no_number(call, same):
    expected = CALLS[call]({}).select(cs.float())
    found = CALLS[call](SAME[same]).select(expected.columns)
    assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-12)


def test_clusters_of_two_cases_and_unequal_weights_do_change_them():
    plain = pr.compare(FITTED, over=OVER, **PAIRED).pairs
    shared = FITTED.with_columns(patient=pl.col("case") // 2)
    unequal = FITTED.with_columns(one=1 + pl.col("case") % 3)
    for table, roles in ((shared, {"cluster": "patient"}), (unequal, {"weight": "one"})):
        found = pr.compare(table, over=OVER, **PAIRED, **roles).pairs
        assert found["std_error"].to_list() != pytest.approx(plain["std_error"].to_list(), rel=1e-6)


@pytest.mark.parametrize("same", [own for own in SAME if own != "weights by class"])
def test_calibration_is_tested_as_that_of_cases(same):
    expected = pr.calibration(UNPAIRED, **NAMES).table
    found = pr.calibration(UNPAIRED, **NAMES, **SAME[same]).table
    counts = ["positives", "negatives"]
    assert_frame_equal(found.drop(counts), expected.drop(counts), rel_tol=1e-9)
    assert found["p_value"].null_count() == 0
