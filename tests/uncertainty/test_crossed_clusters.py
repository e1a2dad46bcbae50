"""Rows of two crossed clusterings: the variance by either, less that by both at once."""

import numpy as np
import polars as pl
import pytest
from crossed import rows_of_both
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

TABLE = rows_of_both(np.random.default_rng(3)).with_columns(
    pl.struct("customer", "day").alias("both"),
    pl.col("A", "B").map_batches(lambda score: 1 / (1 + (-score).exp())),
    site=pl.col("row") % 2,
    copy=pl.format("c{}", "customer"),
    one=pl.lit(1),
    week=pl.struct("customer", pl.col("day") // 10),
    weight=1.0 + pl.col("row") % 3,
)
CROSSED = ["customer", "day"]
# Chords of balanced points are longer where there are fewer clusters, so these have none.
SURE = ["auc", "auprec", "iauprec", "auc_range", "brier", "log_loss", "brier_skill", "brier_range"]
PAIR = {"truth": "truth", "score": ["A", "B"], "case": "row"}


def sure(cluster, table=TABLE, **asked):
    usual = {"intervals": True, "measures": SURE, "over": (0.05, 0.3), "priors": 0.1}
    roles = {"truth": "truth", "score": "A", "cluster": cluster}
    return pr.evaluate(table, **roles, **usual | asked)


def differences(cluster):
    """The standard errors of differences of models, by function."""
    roles = PAIR | {"cluster": cluster}
    pairs = [pr.compare(TABLE, measure, **roles, **asked).pairs
             for measure, asked in (("auc", {}), ("iauprec", {"over": (0.05, 0.2)}),
                                    ("brier", {"prior": 0.2}))
             ]  # fmt: skip
    return pl.concat(one.select("std_error") for one in pairs)


def crossed(by_way):
    first, second, both = (one["std_error"].to_numpy() ** 2 for one in by_way)
    return np.sqrt(first + second - both)


@pytest.mark.parametrize("more", [{}, {"weight": "weight"}, {"by": "site"}], ids=str)
def test_the_variance_of_a_measure_is_that_by_either_less_that_by_both(more):
    ways = [sure(way, **more) for way in ("customer", "day", "both")]
    found = sure(CROSSED, **more)
    assert found["std_error"].to_numpy() == pytest.approx(crossed(ways), rel=1e-9)
    lazy = sure(CROSSED, TABLE.lazy(), **more).collect()
    assert_frame_equal(lazy, found, rel_tol=1e-9)


def test_so_is_that_of_a_difference():
    # That of a loss has a unit that is not seen, too, and only of the clustering with fewer.
    ways = [differences(way)[:2] for way in ("customer", "day", "both")]
    found = differences(CROSSED)[:2]
    assert found["std_error"].to_numpy() == pytest.approx(crossed(ways), rel=1e-9)


def test_degrees_of_freedom_are_those_of_the_clustering_with_fewer_clusters():
    few = TABLE.with_columns(day=pl.col("day") // 5)
    found = pr.compare(few, "auc", **PAIR, cluster=CROSSED).pairs.row(0, named=True)
    low, high = stats.t.interval(0.95, 5, found["difference"], found["std_error"])
    assert (found["lower"], found["upper"]) == pytest.approx((low, high))
    assert found["p_value"] == pytest.approx(2 * stats.t.sf(abs(found["statistic"]), 5))


@pytest.mark.parametrize("inner", ["copy", "week", "row"])
def test_clusters_within_clusters_are_those_without(inner):
    within = pl.struct("customer", inner).alias("inner")
    alone, apart = sure("customer"), differences("customer")
    for cluster in (["customer", within], [within, "customer"]):
        assert_frame_equal(sure(cluster), alone, rel_tol=1e-9)
        assert_frame_equal(differences(cluster), apart, rel_tol=1e-9)
    gates = [pr.gate(TABLE, **PAIR, champion="A", challenger="B", measure="auc", cluster=cluster)
             for cluster in ("customer", ["customer", within])]  # fmt: skip
    ends = [(one.lower, one.upper) for one in gates]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_rows_that_share_nothing_are_independent():
    rows = ["row", (pl.col("row") + 1_000).alias("other")]
    independent = sure(None, TABLE.select("truth", "A"))
    assert_frame_equal(sure(rows), independent, rel_tol=1e-9)


def test_one_cluster_of_all_rows_tells_nothing():
    found = sure(["customer", "one"])
    assert found["std_error"].is_null().all()
    assert found["note"].str.contains("fewer than 5 clusters have positives").all()
    with pytest.raises(InvalidPredictions, match="too few cases or clusters"):
        pr.compare(TABLE, "auc", **PAIR, cluster=["customer", "one"])


def test_a_negative_variance_is_the_larger_one_of_either():
    # Rows of a pair of customer and day are alike, and cancel in either: negative by the formula.
    corner = np.tile(np.arange(4), 40)
    cell = np.arange(160) // 4 % 10
    sign = np.where(np.isin(corner, (0, 3)), 1, -1)
    noise = np.random.default_rng(0).normal(size=160) * 0.01
    truth = np.arange(160) // 80 == 0
    sign = np.where(truth, sign, -sign)
    table = pl.DataFrame({"truth": truth, "A": sign + noise, "B": -sign + noise,
                          "customer": 2 * cell + corner // 2, "day": 2 * cell + corner % 2,
                          })  # fmt: skip
    table = table.with_row_index("row").with_columns(both=pl.struct(CROSSED))
    for answer in (
        lambda cluster: pr.compare(table, "auc", **PAIR, cluster=cluster).pairs,
        lambda cluster: sure(cluster, table, measures="auc"),
    ):
        first, second, both = (
            answer(way)["std_error"].item() ** 2 for way in ("customer", "day", "both")
        )
        assert first + second < both
        assert answer(CROSSED)["std_error"].item() ** 2 == pytest.approx(max(first, second))


def test_customers_and_days_are_both_seen():
    samples, level = 60, 0.05
    rng = np.random.default_rng(1)
    found = dict.fromkeys(("customer", "day", "either"), 0)
    for _ in range(samples):
        table = rows_of_both(rng, 400, 20, 20, 0.35, 0.35)
        for way in found:
            cluster = CROSSED if way == "either" else way
            pairs = pr.compare(table, "auc", **PAIR, cluster=cluster).pairs
            found[way] += pairs["p_value"].item() < level
    rates = {way: count / samples for way, count in found.items()}
    error = (level * (1 - level) / samples) ** 0.5
    assert rates["either"] <= level + 2 * error
    assert min(rates["customer"], rates["day"]) > level + 2 * error


ONE_ALONE = {
    "operating_points": lambda **roles: pr.operating_points(
        TABLE, "recall", target=0.5, priors=0.1, confidence=0.9, **roles
    ),
    "apply_thresholds": lambda **roles: pr.apply_thresholds(
        TABLE, points=0.5, intervals=True, **roles
    ),
    "monitor": lambda **roles: pr.monitor(
        pr.cases(TABLE, **roles), pr.cases(TABLE, score="A", time="day"), points=0.5
    ),
    "choose": lambda **roles: pr.choose(
        TABLE.filter(site=0), "expected_cost", **roles | PAIR, tuning=TABLE.filter(site=1),
        over=(0.1, 0.3), constraints={"recall": 0.5}, confidence=0.9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_ALONE)
def test_what_knows_one_clustering_alone_refuses_two(name):
    roles = {"truth": "truth", "score": "A"}
    with pytest.raises(InvalidArgument, match=r"cluster is 'customer', 'day'.*need one"):
        ONE_ALONE[name](**roles, cluster=CROSSED)
    assert ONE_ALONE[name](**roles, cluster=["day"]) is not None


@pytest.mark.usefixtures("words_only")
def test_a_report_refuses_two_clusterings_of_its_tuning_cases(tmp_path):
    asked = PAIR | {"cluster": CROSSED, "over": (0.1, 0.3)}
    judged, tuning = (TABLE.filter(site=site) for site in (0, 1))
    assert pr.report(judged, path=tmp_path / "page.html", **asked).exists()
    with pytest.raises(InvalidArgument, match=r"cluster is 'customer', 'day'.*need one"):
        pr.report(judged, path=tmp_path / "tuned.html", **asked, tuning=tuning)


def test_more_clusterings_are_refused_and_so_is_one_twice():
    for wrong in (["customer", "day", "site"], pl.selectors.integer()):
        with pytest.raises(InvalidArgument, match="allowed are up to 2 that cross"):
            pr.cases(TABLE, truth="truth", score="A", cluster=wrong)
    with pytest.raises(InvalidArgument, match="names a column twice"):
        pr.cases(TABLE, truth="truth", score="A", cluster=["day", "day"])


@pytest.mark.parametrize("lacking", CROSSED)
def test_a_row_without_one_of_them_is_refused(lacking):
    table = TABLE.with_columns(pl.when(pl.col("row") > 2).then(lacking).alias(lacking))
    with pytest.raises(InvalidPredictions, match="3 cases have no cluster"):
        sure(CROSSED, table)
    with pytest.raises(InvalidPredictions, match="3 cases have no cluster"):
        pr.compare(table, "auc", **PAIR, cluster=CROSSED)


def test_a_column_may_be_a_key_and_a_cluster():
    renamed = TABLE.with_columns(own="site")
    for cluster, other in ((["customer", "site"], ["customer", "own"]), ("site", "own")):
        found, expected = sure(cluster, by="site"), sure(other, renamed, by="site")
        assert_frame_equal(found, expected, rel_tol=1e-9)
