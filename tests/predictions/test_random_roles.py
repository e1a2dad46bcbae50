"""Random tables with every role, under hostile names, against loops over their rows."""

from math import inf, isnan

import crowds
import polars as pl
import pytest
import role_tables
from role_tables import PATHS, classes, of_calls
from statsmodels.stats.proportion import proportion_confint

import polaroc as pr
from polaroc.errors import InvalidPredictions

WEIGHTINGS = (None, "count", "weight")
COSTS = {"cost_fn": 5.0, "cost_fp": 2.0}
PRIOR = 0.1

FEW, MANY = range(2), range(2, 30)
weighted = pytest.mark.parametrize("weighting", WEIGHTINGS)
sweeps = pytest.mark.parametrize(
    ("path", "seeds"),
    [
        ("frame", FEW),
        pytest.param("frame", MANY, marks=pytest.mark.slow),
        *(pytest.param(path, FEW, marks=pytest.mark.slow) for path in PATHS if path != "frame"),
    ],
)


def tables(seeds, weighting):
    return (role_tables.table(seed, weighting) for seed in seeds)


def called(function, table, path, roles, *arguments, **options):
    given, roles = PATHS[path](table, roles)
    result = function(given, *arguments, **roles, **options)
    return result.collect() if isinstance(result, pl.LazyFrame) else result


def same(found, expected):
    """Check the numbers of each key; NaN is expected where a number is null."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isnan(value):
            assert found[key] is None, key
        else:
            assert found[key] == pytest.approx(value, rel=1e-9, abs=1e-12), key


def keyed(frame, *keys, value="estimate"):
    numbers = dict(zip(frame.select(keys).rows(), frame[value], strict=True))
    assert len(numbers) == frame.height
    return numbers


def at(frame, **key):
    return frame.row(by_predicate=pl.all_horizontal(pl.col(k) == v for k, v in key.items()),
                     named=True)  # fmt: skip


@sweeps
@weighted
def test_evaluate(path, weighting, seeds):
    options = {"measure": ["auc", "auprec", "brier"], "priors": [PRIOR, 0.5]}
    for table in tables(seeds, weighting):
        site = table.names["site"]
        found = called(pr.evaluate, table, path, table.roles() | {"by": site}, **options)
        expected = {}
        for (place, model), rows in table.by("site", "model").items():
            expected[place, model, "auc", None] = role_tables.auc(rows)
            for prior in options["priors"]:
                expected[place, model, "auprec", prior] = role_tables.auprec(rows, prior)
                expected[place, model, "brier", prior] = role_tables.brier(rows, prior)
        same(keyed(found, site, "model", "measure", "prior"), expected)


@sweeps
@weighted
@pytest.mark.parametrize("clustered", [False, True])
def test_standard_errors_of_areas(path, clustered, weighting, seeds):
    for table in tables(seeds, weighting):
        roles = table.roles("case", *["cluster"] * clustered)
        found = called(pr.evaluate, table, path, roles, measure="auc", intervals=True)
        for model, rows in table.by("model").items():
            unit = "cluster" if clustered else "case" if weighting == "weight" else None
            least = role_tables.standard_error(role_tables.placements(rows), unit)
            # The degrees of freedom of unequal weights are fewer than those of rows.
            most = least * ((4 / 3) ** 0.5 if weighting == "weight" else 1)
            row = at(found, model=model)
            if row["std_error"] is None:
                assert "no interval" in row["note"]
            else:
                assert least * (1 - 1e-9) <= row["std_error"] <= most * (1 + 1e-9)


RATES = ["accuracy", "npv", "f_measure", "specificity", "fnr", "error"]


@sweeps
@weighted
def test_apply_thresholds(path, weighting, seeds):
    names = ["tpr", "fpr", "precision", "posfrac", "cost", *RATES]
    points = {"A": 0.5, "B": 0.3}
    for table in tables(seeds, weighting):
        options = {"priors": [PRIOR, 0.4], "rates": RATES, "intervals": True, **COSTS}
        found = called(pr.apply_thresholds, table, path, table.roles(), points, **options)
        for model, rows in table.by("model").items():
            for prior in options["priors"]:
                row = at(found, model=model, prior=prior)
                expected = of_calls(rows, points[model], prior, **COSTS)
                same({name: row[name] for name in names}, {name: expected[name] for name in names})
                for name in names:
                    if row[name] is not None and row[f"{name}_lower"] is None:
                        assert "no interval" in row["note"]
                    elif row[name] is not None:
                        assert row[f"{name}_lower"] <= row[name] + 1e-12
                        assert row[f"{name}_upper"] >= row[name] - 1e-12


@pytest.mark.parametrize("weighting", [None, "count"])
def test_limits_of_counts_are_those_of_clopper_and_pearson(weighting):
    for table in tables(range(3), weighting):
        found = pr.apply_thresholds(table.frame, 0.5, **table.roles(), intervals=True, level=0.9)
        for model, rows in table.by("model").items():
            for own, rate in zip(classes(rows), ("tpr", "fpr"), strict=True):
                n, k = (
                    sum(row.weight for row in own if row.score >= least) for least in (-inf, 0.5)
                )
                row = at(found, model=model)
                limits = row[f"{rate}_lower"], row[f"{rate}_upper"]
                exact = proportion_confint(k, n, alpha=0.1, method="beta")
                assert limits == pytest.approx(exact, abs=1e-9)


@sweeps
@weighted
def test_cheapest_thresholds(path, weighting, seeds):
    options = {"priors": [PRIOR, 0.5], **COSTS}
    for table in tables(seeds, weighting):
        found = called(pr.operating_points, table, path, table.roles(), "cost", **options)
        for model, rows in table.by("model").items():
            for prior in options["priors"]:
                threshold = at(found, model=model, prior=prior)["threshold"]
                own = of_calls(rows, inf if threshold is None else threshold, prior, **COSTS)
                least = min(of_calls(rows, score, prior, **COSTS)["cost"]
                            for score in role_tables.thresholds(rows))  # fmt: skip
                assert own["cost"] == pytest.approx(least)


def pairs(cases, **roles):
    return pr.compare(cases, "auc", **roles).pairs


@sweeps
@weighted
def test_models_by_their_areas(path, weighting, seeds):
    for table in tables(seeds, weighting):
        try:
            found = called(pairs, table, path, table.roles("case", "cluster"))
        except InvalidPredictions:
            # The effective number of clusters is below 5.
            assert weighting == "weight"
            continue
        by_model = table.by("model")
        lead = abs(role_tables.auc(by_model["A"]) - role_tables.auc(by_model["B"]))
        assert abs(found["difference"].item()) == pytest.approx(lead, abs=1e-12)
        placed = {
            model: {row.case: value for row, value in role_tables.placements(rows)}
            for model, rows in by_model.items()
        }
        moved = [(row, placed["A"][row.case] - placed["B"][row.case]) for row in by_model["A"]]
        error = role_tables.standard_error(moved, "cluster")
        most = error * ((5 / 4) ** 0.5 if weighting == "weight" else 1)
        assert error * (1 - 1e-9) <= found["std_error"].item() <= most * (1 + 1e-9)


@pytest.mark.parametrize("kind", crowds.WEIGHTS)
def test_crowds_are_counted_exactly(kind):
    crowd = crowds.crowd(kind, 100, 1)
    weight = None if kind == "none" else "weight"
    found = pr.check(crowd, truth="truth", score="score", by="table", weight=weight)
    totals = [curve.totals for curve in crowds.curves(crowd)]
    assert found.select("positives", "negatives").rows() == totals
    shares = [float(p / (p + n)) if p + n else None for p, n in totals]
    assert found["prior"].to_list() == pytest.approx(shares)
    rows = (
        crowd.group_by("table")
        .agg(rows=pl.len().cast(pl.Int64), lowest=pl.min("score"), highest=pl.max("score"))
        .sort("table")
        .drop("table")
        .rows()
    )
    assert found.select("rows", "lowest", "highest").rows() == rows
