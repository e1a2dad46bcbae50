from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import polaroc as pr
from polaroc.errors import InvalidArgument

NAMES = {"truth": "truth", "score": "score"}
DATA = Path(__file__).parent / "reference" / "data"
TWENTY = pr.datasets.twenty_scores()


def curve(table: pl.DataFrame, **by) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, **NAMES, weight=weight, **by)


@given(tables(), st.sampled_from([0.0, 0.1, 0.5, 0.77, 1.0]))
def test_the_envelope_is_the_least_of_all_lines(table, x):
    roc = curve(table)
    row = pr.cost_curve(roc, [x]).row(0, named=True)
    lines = [(1 - t) * x + f * (1 - x) for t, f in roc.select("tpr", "fpr").rows()]
    assert row["cost"] == pytest.approx(min(lines), abs=1e-12)
    assert (1 - row["tpr"]) * x + row["fpr"] * (1 - x) == pytest.approx(row["cost"], abs=1e-12)


def test_cost_curves_per_key():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    roc = curve(table, by=["model", "fold"])
    found = pr.cost_curve(roc, 11)
    assert found.height == 6 * 11
    assert found.filter(probability_cost=0.0)["cost"].to_list() == [0.0] * 6
    lazy = pr.cost_curve(roc.lazy(), 11)
    assert lazy.collect_schema() == found.schema
    assert lazy.collect().equals(found)


# dcurves: a marker for cancer, as observed and at a stated prior (see reference/cases.jsonl).
@pytest.mark.parametrize(
    ("file", "truth", "prior", "model", "treat_all"),
    [
        ("dcurves_df_binary.csv", "cancer", "observed", 0.064, -0.1466667),
        ("dcurves_df_case_control.csv", "casecontrol", 0.15, 0.01495671, -0.13333333),
    ],
)
def test_net_benefit_is_that_of_dcurves(file, truth, prior, model, treat_all):
    table = pl.read_csv(DATA / file).with_columns(
        pl.col(truth).cast(pl.String).str.to_lowercase().is_in(["true", "1"])
    )
    roc = pr.curve(table, truth=truth, score="cancerpredmarker")
    row = pr.decision_curve(roc, [0.25], priors=prior).row(0, named=True)
    assert row["net_benefit"] == pytest.approx(model, abs=1e-5)
    assert row["treat_all"] == pytest.approx(treat_all, abs=1e-5)


@given(tables(), st.floats(0, 0.99), st.sampled_from([0.01, 0.5, 0.9]))
def test_net_benefit_by_counting(table, p, prior):
    row = pr.decision_curve(curve(table), [p], priors=prior).row(0, named=True)
    weights = table["weight"] if "weight" in table.columns else [1.0] * len(table)
    rows = list(zip(table["truth"], table["score"], weights, strict=True))
    t, f = (
        sum(w for y, s, w in rows if y is truth and s >= p)
        / sum(w for y, _, w in rows if y is truth)
        for truth in (True, False)
    )
    assert row["net_benefit"] == pytest.approx(prior * t - (1 - prior) * f * p / (1 - p), abs=1e-12)


def test_decision_curves_per_key_and_prior():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    roc = curve(table, by=["model", "fold"])
    found = pr.decision_curve(roc, 20, priors=[0.5, 0.1])
    assert found.height == 6 * 20 * 2
    assert set(found["prior"]) == {0.5, 0.1}
    lazy = pr.decision_curve(roc.lazy(), 20, priors=[0.5, 0.1])
    assert lazy.collect_schema() == found.schema
    assert lazy.collect().equals(found)


@pytest.mark.parametrize("step", [pr.cost_curve, pr.decision_curve])
def test_a_key_without_a_class_has_no_rows(step):
    table = pl.DataFrame({"truth": [1, 1], "score": [0.2, 0.1]})
    assert step(curve(table), [0.5]).is_empty()


@pytest.mark.parametrize("step", [pr.cost_curve, pr.decision_curve])
@pytest.mark.parametrize("values", [1, [], [1.5], [-0.1], "half"])
def test_values_out_of_range_are_refused(step, values):
    with pytest.raises(InvalidArgument, match="Hint:"):
        step(curve(TWENTY), values)
