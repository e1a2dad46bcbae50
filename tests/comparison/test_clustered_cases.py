"""Rows of one cluster are not independent: models are compared by sums over clusters."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidPredictions

RNG = np.random.default_rng(7)
ROWS = 240
OVER = (0.05, 0.2)


def scored(rows=ROWS, share=0.3):
    truth = RNG.random(rows) < share
    shared = RNG.normal(size=rows) + truth
    scores = {name: (shared + RNG.normal(size=rows) + lead * truth).round(1)
              for name, lead in (("A", 1.0), ("B", 0.5), ("C", 0.4))}  # fmt: skip
    return pl.DataFrame(
        {"patient": np.arange(rows), "truth": truth}
        | {name: 1 / (1 + np.exp(-score)) for name, score in scores.items()}
    )


TABLE = scored()
TUNING = scored()
WIDE = {"truth": "truth", "score": ["A", "B", "C"]}


def copies(table, times):
    """Each row so many times; what tells rows apart, is new."""
    return pl.concat([table] * times).with_row_index("row")


def rows_of(table, case):
    """A row per case and model, shuffled."""
    long = table.unpivot(["A", "B", "C"], index=[case, "patient", "truth"],
                         variable_name="model", value_name="score")  # fmt: skip
    return long.sample(fraction=1, shuffle=True, seed=3)


def in_clusters(rows=200, clusters=30):
    """Cases of both classes in clusters of several sizes."""
    table = scored(rows)
    own = RNG.integers(0, clusters, rows)
    return table.with_columns(patient=pl.Series(own), row=pl.int_range(rows))


def test_the_variance_of_areas_in_clusters_is_that_of_obuchowski():
    table = in_clusters()
    found = pr.delong(table, **WIDE, case="row", cluster="patient")
    truth, cluster = (table[name].to_numpy() for name in ("truth", "patient"))
    sums = {}
    for model in "ABC":
        score = table[model].to_numpy()
        wins = (score[truth][:, None] > score[~truth]) + 0.5 * (
            score[truth][:, None] == score[~truth]
        )
        own = [np.zeros(30), np.zeros(30)]
        np.add.at(own[0], cluster[truth], (wins.mean(axis=1) - wins.mean()) / truth.sum())
        np.add.at(own[1], cluster[~truth], (wins.mean(axis=0) - wins.mean()) / (~truth).sum())
        sums[model] = np.array(own)
    sizes = [np.unique(cluster[own]).size for own in (truth, ~truth)]
    whole = np.unique(cluster).size
    freedom = min(sizes) - 1
    for row in found.iter_rows(named=True):
        pos, neg = sums[row["model_a"]] - sums[row["model_b"]]
        variance = (
            sizes[0] / (sizes[0] - 1) * pos @ pos
            + sizes[1] / (sizes[1] - 1) * neg @ neg
            + 2 * whole / (whole - 1) * pos @ neg
        )
        assert row["std_error"] == pytest.approx(variance**0.5)
        low, high = stats.t.interval(0.95, freedom, row["difference"], variance**0.5)
        assert (row["lower"], row["upper"]) == pytest.approx((low, high))
        p = 2 * stats.t.sf(abs(row["difference"]) / variance**0.5, freedom)
        assert row["p_value"] == pytest.approx(p)


def test_rows_of_any_order_and_any_kind_of_table_are_paired():
    table = in_clusters().with_columns(pl.format("p{}", "patient").alias("patient"))
    wide = pr.delong(table, **WIDE, case="row", cluster="patient")
    long = rows_of(table, "row")
    found = pr.delong(long, truth="truth", score="score", case="row", cluster="patient")
    assert_frame_equal(found, wide, rel_tol=1e-9)
    # Rows of a wide table need no column that tells them apart.
    assert_frame_equal(pr.delong(table.drop("row"), **WIDE, cluster="patient"), wide)


@pytest.mark.parametrize("kind", ["cluster", "null"])
def test_clusters_that_do_not_fit_are_refused(kind):
    long = rows_of(in_clusters(), "row")
    first = (pl.col("row") == 3) & (pl.col("model") == "B")
    other = None if kind == "null" else 1000
    wrong = long.with_columns(patient=pl.when(first).then(other).otherwise("patient"))
    message = "1 cases have no cluster" if kind == "null" else "have a cluster that differs"
    with pytest.raises(InvalidPredictions, match=message):
        pr.delong(wrong, truth="truth", score="score", case="row", cluster="patient")


def test_few_clusters_are_as_few_cases():
    table = copies(TABLE.head(60), 8)
    few = pr.gate(table, **WIDE, champion="B", challenger="A", measure="auc", case="row",
                  cluster=pl.col("patient") // 4)  # fmt: skip
    assert few.verdict == "undecided"
    assert any("clusters, 20 are needed" in line for line in few.warnings)


def test_rates_of_independent_cases_are_not_quoted_of_clusters():
    roles = {**WIDE, "case": "row"}
    of_cases, of_clusters = (
        pr.compare(in_clusters(), "auc", **roles, **more).warnings
        for more in ({}, {"cluster": "patient"})
    )
    assert any("was measured where" in line for line in of_cases)
    assert not any("was measured where" in line for line in of_clusters)
    asked = {"measure": "auc", "champion": "B", "challenger": "A", "cluster": "patient"}
    said = pr.gate(in_clusters(), **roles, **asked).warnings
    assert any("for independent cases only" in line for line in said)
    assert not any("in simulation" in line for line in said)


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
