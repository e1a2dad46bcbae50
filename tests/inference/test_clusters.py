import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.special import expit, logit

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.3)
rng = np.random.default_rng(6)
ROWS = 240
TABLE = pl.DataFrame({"truth": rng.random(ROWS) < 0.4, "site": rng.integers(0, 2, ROWS)})
TABLE = TABLE.with_columns(
    score=pl.Series(expit(rng.normal(size=ROWS) + TABLE["truth"].to_numpy())).round(2),
    patient=pl.Series(rng.integers(0, 30, ROWS)),
).with_row_index("row")
# All but those corrected for a bias that depends on the number of cases.
SURE = [
    "auc", "auprec", "iauprec", "sens", "auc_range", "accsens", "equal_error", "brier", "log_loss",
    "brier_skill", "brier_range", "log_loss_range",
]  # fmt: skip


def sure(table, **asked):
    return pr.evaluate(table, **NAMES, **{"intervals": True, "measure": SURE, "over": OVER} | asked)


def test_limits_have_students_quantile_of_the_clusters_of_the_rarer_class():
    # So many cases that half a cluster more does not matter, in few clusters.
    generator = np.random.default_rng(1)
    truth = np.arange(40_000) % 2 == 0
    table = pl.DataFrame({"truth": truth, "patient": np.arange(40_000) // 4_000})
    effect = generator.normal(size=10)[table["patient"].to_numpy()] * 0.1
    table = table.with_columns(score=generator.normal(size=40_000) + truth + effect)
    found = sure(table, cluster="patient", measure="auc").row(0, named=True)
    estimate, error = found["estimate"], found["std_error"]
    width = stats.t.ppf(0.975, 9) * error / (estimate * (1 - estimate))
    assert found["lower"] <= expit(logit(estimate) - width) + 1e-9
    assert found["upper"] >= expit(logit(estimate) + width) - 1e-9


def test_a_mean_loss_has_the_variance_of_sums_over_clusters():
    prior = 0.3
    found = sure(TABLE, cluster="patient", measure="brier", priors=prior, score_prior=prior)
    truth, p = TABLE["truth"].to_numpy(), TABLE["score"].to_numpy()
    patients = TABLE["patient"].to_numpy()
    sums = []
    for own, weight in ((truth, prior), (~truth, 1 - prior)):
        loss = weight * (truth - p) ** 2
        centred = np.where(own, loss - loss[own].mean(), 0) / own.sum()
        sums.append(np.array([centred[patients == one].sum() for one in np.unique(patients)]))
    numbers = [np.unique(patients[own]).size for own in (truth, ~truth, truth | ~truth)]
    factors = [number / (number - 1) for number in numbers]
    variance = sum(
        factor * (a @ b)
        for factor, a, b in zip(factors, (*sums, 2 * sums[0]), (*sums, sums[1]), strict=True)
    )
    assert found["std_error"].item() == pytest.approx(variance**0.5, rel=1e-9)


def test_a_class_that_moves_nothing_has_no_covariance_with_the_other():
    # The balanced point of site 1 is on a rise of the curve, so that its negatives move nothing,
    # but for what the sums over the rows of other sites lose in rounding.
    truth = np.isin(np.arange(11), (0, 2, 10))
    score = np.linspace(0.9, 0.1, 11)
    clusters = pl.Series([1, 2, 3, 4, 1, 5, 6, 7, 8, 9, 10])
    alone = pl.DataFrame({"truth": truth, "score": score, "site": 1, "patient": clusters})
    asked = {"cluster": "patient", "by": "site", "measure": "equal_error"}
    expected = sure(alone, **asked)
    for rows in range(5, 60):
        others = TABLE.head(rows).select("truth", "score", site=pl.lit(0), patient="patient")
        found = sure(pl.concat([others, alone], how="vertical_relaxed"), **asked)
        assert_frame_equal(found.filter(site=1), expected, rel_tol=1e-9)


def test_keys_that_fill_several_blocks_have_limits_of_their_own():
    # More than 65,536 positives in all.
    rng, rows = np.random.default_rng(8), 60_000
    truth = rng.random(3 * rows) < 0.5
    many = pl.DataFrame(
        {
            "key": np.repeat([0, 1, 2], rows), "truth": truth,
            "score": rng.normal(size=3 * rows) + truth, "patient": rng.integers(0, 9_000, 3 * rows),
        }
    )  # fmt: skip
    asked = {"cluster": "patient", "by": "key", "measure": ["auc", "iauprec"], "over": OVER}
    each = pl.concat([sure(own, **asked) for own in many.partition_by("key")])
    assert_frame_equal(sure(many, **asked), each, rel_tol=1e-9, check_row_order=False)


POINTS = pr.operating_points(pr.curve(TABLE, **NAMES), priors=0.2)
OF_CLUSTERS = {
    "evaluate": lambda rows, **how: pr.evaluate(rows, **NAMES, **how, intervals=True),
    "apply_thresholds": lambda rows, **how: pr.apply_thresholds(
        rows, POINTS, **NAMES, **how, intervals=True, same_table=True
    ),
    "operating_points": lambda rows, **how: pr.operating_points(
        rows, "recall", **NAMES, **how, target=0.5, confidence=0.9
    ),
    "decision_curve": lambda rows, **how: pr.decision_curve(
        rows, 9, 0.2, **NAMES, **how, intervals=True
    ),
}


@pytest.mark.parametrize("name", OF_CLUSTERS)
def test_a_plan_is_read_once_for_rates_and_their_limits(name):
    # Another reading may give other rows.
    readings = []
    source = TABLE.lazy().map_batches(lambda rows: readings.append(1) or rows, schema=TABLE.schema)
    OF_CLUSTERS[name](source, cluster="patient").collect()
    assert readings == [1]
