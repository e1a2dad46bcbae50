import numpy as np
import polars as pl
import pytest
from hypothesis import given
from oracles import delong_placements
from strategies import tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
OVER = (0.1, 0.6)
rng = np.random.default_rng(3)
TABLE = pl.DataFrame({"truth": rng.random(60) < 0.4}).with_columns(
    score=(pl.col("truth") * 1.2 + pl.Series(rng.normal(size=60))).round(1)
)
# Measures that are smooth in the weights of the cases, and what asks for each.
SMOOTH = {
    "auc": {"measure": "auc"},
    "auprec, exact": {"priors": 0.1},
    "auprec, exact, observed": {"priors": "observed"},
    "auprec, linear": {"priors": 0.1, "interpolation": "linear"},
    "auprec, step": {"priors": 0.3, "interpolation": "step"},
    "iauprec, exact": {"over": OVER},
    "iauprec, linear": {"over": OVER, "interpolation": "linear"},
    "iauprec, step": {"over": pr.beta(2, 18), "interpolation": "step"},
    "auc_range": {"over": OVER},
}


def measured(table: pl.DataFrame, name: str, **more: object) -> pl.DataFrame:
    asked = {"priors": [], **SMOOTH[name], "measure": name.split(",")[0], **more}
    return pr.evaluate(table, **NAMES, **asked)


def std_error(table: pl.DataFrame, name: str, **more: object) -> float:
    return measured(table, name, intervals=True, **more)["std_error"].item()


@given(tables(kinds=("none",), max_rows=30))
def test_the_variance_of_the_auc_is_delongs(table):
    on_positives, on_negatives = delong_placements(table)
    found = std_error(table, "auc")
    if min(on_positives.size, on_negatives.size) < 2:
        assert found is None
    else:
        shares = (values.var(ddof=1) / values.size for values in (on_positives, on_negatives))
        assert found**2 == pytest.approx(sum(shares), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", SMOOTH)
def test_influence_is_the_derivative_by_the_weight_of_a_case(name):
    step = 1e-5
    rows = TABLE.with_row_index("case")
    weighted = [
        rows.with_columns(
            pl.lit(case).alias("moved"),
            pl.lit(sign).alias("sign"),
            weight=1 + sign * step * (pl.col("case") == case),
        )
        for case in range(TABLE.height)
        for sign in (-1.0, 1.0)
    ]
    # "observed" is the prior of the test set, whatever the weight of one case.
    prior = {"priors": TABLE["truth"].mean()} if "observed" in name else {}
    found = measured(pl.concat(weighted), name, by=["moved", "sign"], weight="weight", **prior)
    change = found.sort("moved", "sign")["estimate"].to_numpy().reshape(-1, 2)
    truth = TABLE["truth"].to_numpy()
    variance = 0.0
    for label in (True, False):
        influence = np.diff(change[truth == label])[:, 0] / (2 * step) * (truth == label).sum()
        assert influence.mean() == pytest.approx(0, abs=1e-8)
        variance += influence.var(ddof=1) / influence.size
    assert std_error(TABLE, name) == pytest.approx(np.sqrt(variance), rel=1e-8)


@pytest.mark.parametrize("name", ["sens", "accsens", "auc_range"])
def test_classes_that_change_places_leave_the_standard_error_of_tied_scores(name):
    own = np.random.default_rng(5)
    rows = pl.DataFrame({"truth": own.random(200) < 0.4}).with_columns(
        score=(pl.col("truth") * 1.2 + pl.Series(own.normal(size=200))).round(1)
    )
    turned = rows.select(~pl.col("truth"), -pl.col("score"))
    errors = [
        pr.evaluate(
            table, **NAMES, measure=name, priors=[], over=over, intervals=True
        )["std_error"].item()
        for table, over in ((rows, (0.1, 0.6)), (turned, (0.4, 0.9)))
    ]  # fmt: skip
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
