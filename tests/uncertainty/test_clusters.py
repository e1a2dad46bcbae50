from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.special import expit, logit

import polaroc as pr
from polaroc.base.columns import INTERVAL
from polaroc.errors import InvalidPredictions

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
MANY = [0.01, 0.1, *np.linspace(0.2, 0.8, 30).tolist()]


def sure(table, **asked):
    return pr.evaluate(
        table, **NAMES, **{"intervals": "logit", "measures": SURE, "over": OVER} | asked
    )


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize("priors", [["observed", 0.1], MANY], ids=["few", "many"])
@pytest.mark.parametrize("score_prior", ["observed", 0.2])
@pytest.mark.parametrize("method", ["logit", "wald"])
def test_copies_of_a_row_tell_no_more_than_the_row(method, score_prior, priors):
    asked = {"by": "site", "intervals": method, "score_prior": score_prior, "priors": priors}
    expected = sure(TABLE, cluster="row", **asked).drop("positives", "negatives", "note")
    for copies in (2, 5):
        several = pl.concat([TABLE] * copies)
        found = sure(several, cluster="row", **asked)
        assert_frame_equal(found.select(expected.columns), expected, rel_tol=1e-9)
        lazy = sure(several.lazy(), cluster="row", **asked).collect()
        assert_frame_equal(lazy.select(expected.columns), expected, rel_tol=1e-9)
        weighted = sure(TABLE.with_columns(w=float(copies)), cluster="row", weight="w", **asked)
        assert_frame_equal(weighted.select(expected.columns), expected, rel_tol=1e-9)
    # Taken for independent they tell more.
    independent = sure(several, **asked)
    assert (independent["std_error"] < 0.7 * expected["std_error"]).all()


@pytest.mark.parametrize("method", ["percentile", "logit"])
def test_so_they_do_where_clusters_are_drawn(method):
    asked = {"measures": ["auc", "auprec"], "priors": 0.1, "draws": 200, "method": method}
    found, expected = (
        pr.bootstrap(table, **NAMES, cluster="row", **asked).select("estimate", *INTERVAL)
        for table in (pl.concat([TABLE] * 3), TABLE)
    )
    assert_frame_equal(found, expected, rel_tol=1e-9)


@pytest.mark.parametrize("measures", [["auc", "auprec"], ["brier"]], ids=len)
def test_clusters_of_one_case_are_cases(measures):
    plain, single = (
        sure(TABLE.drop("patient"), priors=0.1, measures=measures, **more)
        for more in ({}, {"cluster": "row"})
    )
    assert_frame_equal(single, plain, rel_tol=1e-9)


def obuchowskis_variance(table: pl.DataFrame) -> tuple[float, int]:
    """Of the AUC, by her formula of 1997, from placements case by case; degrees of freedom."""
    cases = table.select("truth", "score", "patient").rows()
    positives = [(score, patient) for truth, score, patient in cases if truth]
    negatives = [(score, patient) for truth, score, patient in cases if not truth]
    wins = {
        (i, j): (x > y) + (x == y) / 2
        for (i, (x, _)), (j, (y, _)) in product(enumerate(positives), enumerate(negatives))
    }
    area = sum(wins.values()) / len(wins)
    sums: dict[int, list[float]] = {patient: [0.0, 0.0] for _, _, patient in cases}
    for i, (_, patient) in enumerate(positives):
        placed = sum(wins[i, j] for j in range(len(negatives))) / len(negatives)
        sums[patient][0] += placed - area
    for j, (_, patient) in enumerate(negatives):
        placed = sum(wins[i, j] for i in range(len(positives))) / len(positives)
        sums[patient][1] += placed - area
    of_pos, of_neg = (len({patient for _, patient in own}) for own in (positives, negatives))
    m, n, clusters = len(positives), len(negatives), len(sums)
    squares = [sum(one[i] * one[j] for one in sums.values()) for i, j in ((0, 0), (1, 1), (0, 1))]
    variance = (
        of_pos / ((of_pos - 1) * m * m) * squares[0]
        + of_neg / ((of_neg - 1) * n * n) * squares[1]
        + 2 * clusters / ((clusters - 1) * m * n) * squares[2]
    )
    return variance, min(of_pos, of_neg) - 1


@pytest.mark.parametrize("rows", [20, 80, ROWS])
def test_the_variance_of_the_auc_is_obuchowskis(rows):
    table = TABLE.head(rows)
    found = sure(table, cluster="patient", measures="auc", intervals="wald")
    variance, freedom = obuchowskis_variance(table)
    assert found["std_error"].item() == pytest.approx(variance**0.5, rel=1e-10)
    # Limits are the widest of three, and not far from those of the estimate alone.
    reach = stats.t.ppf(0.975, freedom) * variance**0.5
    assert found["lower"].item() <= max(found["estimate"].item() - reach, 0) + 1e-9
    assert found["upper"].item() >= min(found["estimate"].item() + reach, 1) - 1e-9


def test_limits_have_students_quantile_of_the_clusters_of_the_rarer_class():
    # So many cases that half a cluster more does not matter, in few clusters.
    generator = np.random.default_rng(1)
    truth = np.arange(40_000) % 2 == 0
    table = pl.DataFrame({"truth": truth, "patient": np.arange(40_000) // 4_000})
    effect = generator.normal(size=10)[table["patient"].to_numpy()] * 0.1
    table = table.with_columns(score=generator.normal(size=40_000) + truth + effect)
    found = sure(table, cluster="patient", measures="auc").row(0, named=True)
    estimate, error = found["estimate"], found["std_error"]
    width = stats.t.ppf(0.975, 9) * error / (estimate * (1 - estimate))
    assert found["lower"] <= expit(logit(estimate) - width) + 1e-9
    assert found["upper"] >= expit(logit(estimate) + width) - 1e-9


def test_a_mean_loss_has_the_variance_of_sums_over_clusters():
    prior = 0.3
    found = sure(TABLE, cluster="patient", measures="brier", priors=prior, score_prior=prior)
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


def test_one_cluster_of_a_class_has_no_limits():
    table = TABLE.with_columns(patient=pl.when("truth").then(pl.lit(-1)).otherwise("patient"))
    found = sure(table, cluster="patient", measures=["auc", "brier"], priors=0.1)
    assert found.select(pl.col(INTERVAL).is_null().all()).row(0) == (True, True, True)
    assert found["note"].str.contains("fewer than 5 clusters have positives").all()


@pytest.mark.parametrize(("clusters", "said"), [(4, "fewer than 5 clusters"), (5, "no spread")])
def test_five_clusters_are_as_many_as_are_needed(clusters, said):
    # All negatives are before all positives.
    rows = {
        "truth": [True, False] * clusters, "score": [0.1, 0.9] * clusters,
        "patient": [one for one in range(clusters) for _ in range(2)],
    }  # fmt: skip
    found = pr.evaluate(
        rows, truth="truth", score="score", cluster="patient", measures="auc", intervals="logit"
    )
    assert said in found["note"].item()


def test_clusters_that_are_missing_are_refused():
    table = TABLE.with_columns(patient=pl.when(pl.col("row") > 2).then("patient"))
    with pytest.raises(InvalidPredictions, match="3 cases have no cluster"):
        sure(table, cluster="patient", measures="auc")


def test_without_intervals_clusters_have_no_bearing():
    asked = {"intervals": None, "measures": "auc"}
    assert_frame_equal(sure(TABLE, cluster="patient", **asked), sure(TABLE, **asked))


def test_a_column_of_patients_is_doubted_until_it_is_their_cluster():
    asked = {"measures": "auc", "by": "site"}
    assert sure(TABLE, **asked)["note"].str.contains("'patient' are not independent").all()
    assert sure(TABLE, cluster="patient", **asked)["note"].is_null().all()


def test_a_class_that_moves_nothing_has_no_covariance_with_the_other():
    # The balanced point of site 1 is on a rise of the curve, so that its negatives move nothing,
    # but for what the sums over the rows of other sites lose in rounding.
    truth = np.isin(np.arange(11), (0, 2, 10))
    score = np.linspace(0.9, 0.1, 11)
    clusters = pl.Series([1, 2, 3, 4, 1, 5, 6, 7, 8, 9, 10])
    alone = pl.DataFrame({"truth": truth, "score": score, "site": 1, "patient": clusters})
    asked = {"cluster": "patient", "by": "site", "measures": "equal_error"}
    expected = sure(alone, **asked)
    for rows in range(5, 60):
        others = TABLE.head(rows).select("truth", "score", site=pl.lit(0), patient="patient")
        found = sure(pl.concat([others, alone], how="vertical_relaxed"), **asked)
        assert_frame_equal(found.filter(site=1), expected, rel_tol=1e-9)
