"""Areas over a range of one of the two rates, compared on one test set."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument

SCORES = {"truth": "truth", "score": ["a", "b"]}
RANGES = [
    {"fpr": (0, 0.2)}, {"fpr": (0.13, 0.41)}, {"tpr": (0.6, 1)}, {"tpr": (0.33, 0.77)},
]  # fmt: skip


def drawn(positives=60, negatives=140, seed=0, digits=9) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    shared, *own = rng.normal(size=(3, truth.size))
    a, b = ((shared + one) / 2**0.5 for one in own)
    table = pl.DataFrame({"truth": truth, "a": a + 1.2 * truth, "b": b + 1.6 * truth})
    return table.with_columns(pl.col("a", "b").round(digits))


def areas(table, **at):
    found = pr.auc(pr.curve(table, **SCORES), **at).sort("model")["estimate"].to_list()
    return found[0] - found[1]


@pytest.mark.parametrize("digits", [0, 9])
@pytest.mark.parametrize("at", RANGES, ids=str)
def test_differences_are_those_of_the_areas_with_the_variance_of_small_changes_of_weight(
    at, digits
):
    table = drawn(digits=digits)
    found = pr.compare(table, "auc", **SCORES, **at).pairs
    assert found["difference"].item() == pytest.approx(areas(table, **at))
    step, total = 1e-5, 0.0
    influence = (areas_weighted(table, step, at) - found["difference"].item()) / step
    for truth in (True, False):
        moved = influence[table["truth"].to_numpy() == truth]
        total += moved.size / (moved.size - 1) * ((moved - moved.mean()) ** 2).sum()
    # One case more of each class for each model, with its largest influence.
    error = found["std_error"].item()
    assert total**0.5 < error < 1.25 * total**0.5
    doubled = pl.concat([table.with_row_index("patient")] * 20).with_row_index("row")
    many = pr.compare(doubled, "auc", **SCORES, **at, case="row").pairs["std_error"].item()
    assert many == pytest.approx((total / 20) ** 0.5, rel=0.03)


def areas_weighted(table, step, at):
    """The difference where each row in turn has a little more weight."""
    weights = 1 + step * np.eye(table.height)
    moved = pl.concat(table.with_columns(w=own, moved=row) for row, own in enumerate(weights))
    found = pr.auc(pr.curve(moved, **SCORES, by="moved", weight="w"), **at).sort("moved")
    first, second = (found.filter(model=model)["estimate"] for model in "ab")
    return (first - second).to_numpy()


def test_over_all_rates_they_are_whole_areas():
    whole = pr.compare(drawn(), "auc", **SCORES).pairs
    for at in ({"fpr": (0, 1)}, {"tpr": (0, 1)}):
        found = pr.compare(drawn(), "auc", **SCORES, **at).pairs
        assert found["difference"].item() == pytest.approx(whole["difference"].item())
        assert 1 < found["std_error"].item() / whole["std_error"].item() < 1.25


def test_gate_takes_them():
    asked = {"champion": "a", "challenger": "b", "measure": "auc", "fpr": (0, 0.2)}
    result = pr.gate(drawn(), **SCORES, **asked, margin=0.05)
    assert "AUC over false positive rates from 0 to 0.2" in result.answer
    pairs = pr.compare(drawn(), "auc", **SCORES, fpr=(0, 0.2)).pairs
    assert result.difference == pytest.approx(-pairs["difference"].item())
    assert result.lower == pytest.approx(-pairs["upper"].item())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"measure": "auprec", "prior": 0.1, "fpr": (0, 0.2)}, "fpr is for measure='auc'"),
        ({"fpr": (0, 0.2), "tpr": (0.8, 1)}, "allowed is one of them"),
        ({"fpr": (0.2, 0.1)}, "allowed are two rates"),
        ({"fpr": (0, 0.025)}, r"fpr, \(0, 0\.025\), has 3\.5 negatives of 140, needed are 5"),
        ({"tpr": (0.95, 1)}, r"tpr, \(0\.95, 1\), has 3 positives of 60"),
    ],
)
def test_what_is_refused(asked, message):
    with pytest.raises(InvalidArgument, match=message):
        pr.compare(drawn(), **SCORES, **{"measure": "auc"} | asked)


def test_folds_have_no_ranges():
    table = drawn().with_columns(fold=pl.int_range(pl.len()) % 3)
    with pytest.raises(InvalidArgument, match="fpr is for models on one test set"):
        pr.compare(table, "auc", **SCORES, fold="fold", fpr=(0, 0.2))


def test_models_that_are_perfect_in_the_range_are_undecided():
    truth = np.repeat([True, False], [60, 200])
    rng = np.random.default_rng(0)
    scores = {name: truth + width * rng.random(260) for name, width in (("a", 0.5), ("b", 0.4))}
    table = pl.DataFrame({"y": truth, "id": range(260)} | scores)
    cases = pr.cases(table, truth="y", score=["a", "b"], case="id")
    asked = {"champion": "a", "challenger": "b", "measure": "auc"}
    for part in ({}, {"fpr": (0, 0.2)}, {"tpr": (0.5, 1)}):
        assert pr.gate(cases, **asked, **part).verdict == "undecided"
