"""Random tables with every role, under hostile names, against loops over their rows."""

import os
from math import inf, isnan

import numpy as np
import polars as pl
import pytest
import role_tables
from role_tables import PATHS, classes, of_calls
from scipy import optimize, stats

import polaroc as pr
from polaroc.errors import InvalidPredictions

# CI and `just differential` take more tables, the latter other seeds too.
SEED = 1000 * int(os.environ.get("POLAROC_SEED", "0"))
COUNT = max(1, int(os.environ.get("POLAROC_TABLES", "600")) // 1200)
WEIGHTINGS = (None, "count", "weight")
TABLES = {
    weighting: [role_tables.table(SEED + seed, weighting) for seed in range(COUNT)]
    for weighting in WEIGHTINGS
}
COSTS = {"cost_fn": 5.0, "cost_fp": 2.0}
PRIOR = 0.1

paths = pytest.mark.parametrize(
    "path", [pytest.param(one, marks=() if one == "frame" else pytest.mark.slow) for one in PATHS]
)
weighted = pytest.mark.parametrize("weighting", WEIGHTINGS)
counted = pytest.mark.parametrize("weighting", [None, "count"])


def called(function, table, path, roles, *arguments, **asked):
    given, roles = PATHS[path](table, roles)
    found = function(given, *arguments, **roles, **asked)
    return found.collect() if isinstance(found, pl.LazyFrame) else found


def same(found, expected, **tolerance):
    """Whether the numbers under the keys are those, of which NaN are those that there are not."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isnan(value):
            assert found[key] is None, key
        else:
            assert found[key] == pytest.approx(value, **{"rel": 1e-9, "abs": 1e-12} | tolerance), (
                key
            )


def keyed(frame, *keys, value="estimate"):
    numbers = dict(zip(frame.select(keys).rows(), frame[value], strict=True))
    assert len(numbers) == frame.height
    return numbers


@paths
@weighted
def test_evaluate(path, weighting):
    for table in TABLES[weighting]:
        asked = {"measures": ["auc", "auprec", "brier"], "priors": [PRIOR, 0.5]}
        model = "model" if path == "wide" else table.names["model"]
        site = table.names["site"]
        found = called(pr.evaluate, table, path, table.roles() | {"by": site}, **asked)
        expected = {}
        for (site_, model_), rows in table.by("site", "model").items():
            key = (site_, model_)
            expected[*key, "auc", None] = role_tables.auc(rows)
            for prior in asked["priors"]:
                expected[*key, "auprec", prior] = role_tables.auprec(rows, prior)
                expected[*key, "brier", prior] = role_tables.brier(rows, prior)
        same(keyed(found, site, model, "measure", "prior"), expected)


@weighted
def test_evaluate_out_of_core(weighting):
    for table in TABLES[weighting]:
        asked = {"measures": ["auc", "auprec"], "priors": PRIOR, "memory": "500MB"}
        found = pr.evaluate(table.frame.lazy(), **table.roles(), **asked).collect()
        expected = {}
        for model, rows in table.by("model").items():
            expected[model, "auc"] = role_tables.auc(rows)
            expected[model, "auprec"] = role_tables.auprec(rows, PRIOR)
        same(keyed(found, table.names["model"], "measure"), expected)


@pytest.mark.parametrize("path", ["frame", "lazy", "pandas", "cases", "wide"])
@pytest.mark.parametrize("clustered", [False, True])
@weighted
def test_standard_errors_of_areas(path, clustered, weighting):
    for table in TABLES[weighting]:
        roles = table.roles("case", *["cluster"] * clustered)
        found = called(pr.evaluate, table, path, roles, measures="auc", intervals=True)
        model = "model" if path == "wide" else table.names["model"]
        errors = keyed(found, model, value="std_error")
        for one, rows in table.by("model").items():
            unit = "cluster" if clustered else "case" if weighting == "weight" else None
            least = role_tables.standard_error(role_tables.placements(rows), unit)
            # Cases with unequal weights are as many as tell as much, of which one is taken off.
            most = (4 / 3) ** 0.5 if weighting == "weight" else 1
            if errors[one,] is None:
                assert (
                    "no interval"
                    in found.row(by_predicate=pl.col(model) == one, named=True)["note"]
                )
            else:
                assert least * (1 - 1e-9) <= errors[one,] <= least * most * (1 + 1e-9)


RATES = ["accuracy", "npv", "f_measure", "specificity", "fnr", "error"]


@paths
@weighted
def test_apply_thresholds(path, weighting):
    names = ["tpr", "fpr", "precision", "posfrac", "cost", *RATES]
    for table in TABLES[weighting]:
        at = {"A": 0.5, "B": 0.3}
        asked = {"priors": [PRIOR, 0.4], "rates": RATES, "intervals": True, **COSTS}
        found = called(pr.apply_thresholds, table, path, table.roles(), at, **asked)
        model = "model" if path == "wide" else table.names["model"]
        for one, rows in table.by("model").items():
            for prior in asked["priors"]:
                row = found.row(by_predicate=(pl.col(model) == one) & (pl.col("prior") == prior),
                                named=True)  # fmt: skip
                expected = of_calls(rows, at[one], prior, **COSTS)
                same({name: row[name] for name in names}, {name: expected[name] for name in names})
                for name in names:
                    if row[name] is None:
                        continue
                    if row[f"{name}_lower"] is None:
                        assert "no interval" in row["note"]
                    else:
                        assert row[f"{name}_lower"] <= row[name] + 1e-12
                        assert row[f"{name}_upper"] >= row[name] - 1e-12


@counted
def test_limits_of_counts_are_those_of_clopper_and_pearson(weighting):
    for table in TABLES[weighting]:
        found = pr.apply_thresholds(table.frame, 0.5, **table.roles(), intervals=True, level=0.9)
        for (model,), one in found.group_by(table.names["model"]):
            for own, rate in zip(classes(table.by("model")[model]), ("tpr", "fpr"), strict=True):
                n, k = (sum(row.weight for row in own if row.score >= at) for at in (-inf, 0.5))
                lower = 0.0 if k == 0 else stats.beta.ppf(0.05, k, n - k + 1)
                upper = 1.0 if k == n else stats.beta.ppf(0.95, k + 1, n - k)
                limits = one.select(f"{rate}_lower", f"{rate}_upper").row(0)
                assert limits == pytest.approx((lower, upper), abs=1e-9)


@paths
@weighted
def test_cheapest_thresholds(path, weighting):
    for table in TABLES[weighting]:
        asked = {"priors": [PRIOR, 0.5], **COSTS}
        found = called(pr.operating_points, table, path, table.roles(), "cost", **asked)
        model = "model" if path == "wide" else table.names["model"]
        for one, rows in table.by("model").items():
            for prior in asked["priors"]:
                least = min(of_calls(rows, at, prior, **COSTS)["cost"]
                            for at in role_tables.thresholds(rows))  # fmt: skip
                row = found.row(by_predicate=(pl.col(model) == one) & (pl.col("prior") == prior),
                                named=True)  # fmt: skip
                own = inf if row["threshold"] is None else row["threshold"]
                assert of_calls(rows, own, prior, **COSTS)["cost"] == pytest.approx(least)


def compared(cases, **roles):
    return pr.compare(cases, "auc", **roles).pairs


@paths
@weighted
def test_models_by_their_areas(path, weighting):
    for table in TABLES[weighting]:
        roles = table.roles("case", "cluster")
        try:
            found = called(compared, table, path, roles)
        except InvalidPredictions:
            # The effective number of clusters is below 5.
            assert weighting == "weight"
            continue
        by_model = {one: dict(placements_by_case(rows)) for one, rows in table.by("model").items()}
        areas = [role_tables.auc(rows) for rows in table.by("model").values()]
        lead = abs(areas[0] - areas[1])
        assert abs(found["difference"].item()) == pytest.approx(lead, abs=1e-12)
        rows = {row.case: row for row in table.by("model")["A"]}
        moved = [(row, by_model["A"][case] - by_model["B"][case]) for case, row in rows.items()]
        error = role_tables.standard_error(moved, "cluster")
        if weighting == "weight":
            # Of clusters with unequal weights as many are counted as tell as much.
            assert error * (1 - 1e-9) <= found["std_error"].item() <= error * (5 / 4) ** 0.5
        else:
            assert found["std_error"].item() == pytest.approx(error)


def placements_by_case(rows):
    return ((row.case, value) for row, value in role_tables.placements(rows))


@weighted
def test_positives_beside_those_that_scores_expect(weighting):
    for table in TABLES[weighting]:
        found = pr.calibration(table.frame, **table.roles("cluster")).table
        for one, rows in table.by("model").items():
            row = found.row(by_predicate=pl.col(table.names["model"]) == one, named=True)
            expected = role_tables.mean(rows, lambda row: row.score)
            observed = role_tables.mean(rows, lambda row: row.truth)
            assert row["mean_score"] == pytest.approx(expected)
            assert row["observed_over_expected"] == pytest.approx(observed / expected)
            # At slope 1, the intercept has the least log loss.
            at = row["calibration_in_the_large"]
            loss = [log_loss(rows, at + a, 1.0) for a in (0, 1e-3, -1e-3)]
            assert min(loss[1:]) >= loss[0] - 1e-12
            if row["slope"] is None:
                # No line where scores tell the classes apart.
                assert row["note"]
                continue
            # With the best intercept for each, the slope has the least log loss.
            loss = [
                optimize.minimize_scalar(lambda a, s=slope, r=rows: log_loss(r, a, s)).fun
                for slope in (row["slope"], row["slope"] + 1e-3, row["slope"] - 1e-3)
            ]
            assert min(loss[1:]) >= loss[0] - 1e-9


def log_loss(rows, intercept, slope):
    def loss(row):
        z = intercept + slope * np.log(row.score / (1 - row.score))
        return np.logaddexp(0, -z if row.truth else z)

    return role_tables.mean(rows, loss)
