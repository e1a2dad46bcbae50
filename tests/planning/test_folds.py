import numpy as np
import polars as pl
import pytest
from scipy.stats import nct, t
from trained_anew import ROLES, folded, said_and_done

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

PAIR = {"champion": "A", "challenger": "B"}


def pilot(gains=(0.2, 1.4), **size):
    return folded(np.random.default_rng(3), gains, **size)


@pytest.mark.long
@pytest.mark.slow
def test_models_trained_anew_are_told_apart_as_often_as_said():
    said, done = np.array([said_and_done([2, seed]) for seed in range(80)]).T
    # Large differences of pilots had luck (`just plan --folds`).
    assert done.mean() - 0.02 < said.mean() < done.mean() + 0.12
    assert done[said > np.median(said)].mean() > done[said <= np.median(said)].mean()


def test_with_many_folds_the_chance_is_that_of_a_noncentral_t():
    # So many that hardly anything of the difference is unknown: folds are taken as independent.
    table = pilot(repeats=60, cases=40)
    found = pr.compare(table, "auc", **ROLES, test_train_ratio=0).pairs
    spread = found["std_error"].item() * np.sqrt(300)
    for folds in (5, 20):
        planned = pr.plan(table, **ROLES, **PAIR, folds=folds, test_train_ratio=0).table
        ahead = -found["difference"].item() / spread * np.sqrt(folds)
        power = nct.sf(t.isf(0.025, folds - 1), folds - 1, ahead)
        assert planned["chance"].item() == pytest.approx(power, abs=0.04)
        assert planned["folds"].item() == folds


def test_more_folds_help_while_they_share_few_cases():
    table = pilot(gains=(0.4, 1.0))
    chances = pr.plan(table, **ROLES, **PAIR)
    assert chances.table["folds"].to_list() == [5, 10, 25, 50]
    assert chances.table["chance"].is_sorted()
    apart = pr.plan(table, **ROLES, **PAIR, folds=50, test_train_ratio=0).table["chance"].item()
    assert apart > chances.table["chance"][-1] + 0.05
    lower, upper = chances.table.select("chance_lower", "chance_upper").row(0)
    assert lower < chances.table["chance"][0] < upper
    assert "25 folds of 12 positives and 12 negatives" in chances.answer
    lower = chances.table.filter(folds=25)["chance_lower"].item()
    assert f"it is {100 * lower:.0f} % to" in chances.answer


def test_a_gate_on_folds_passes_within_a_margin_and_not_where_positives_are_too_few():
    table = pilot(gains=(0.6, 0.9), cases=200)
    narrow, wide = (
        pr.plan(table, **ROLES, **PAIR, folds=50, measure="auprec", prior=0.3, margin=margin).table
        for margin in (0.01, 0.2)
    )
    assert wide["chance"].item() > narrow["chance"].item()
    few = pr.plan(pilot(gains=(1.2, 1.2), cases=40), **ROLES, **PAIR, folds=500, margin=0.05).table
    assert few["chance"].item() < 0.2
    assert pr.gate(
        pilot(gains=(1.2, 1.2), cases=40), **ROLES, **PAIR, margin=0.05, measure="auc"
    ).verdict == "undecided"  # fmt: skip


def test_less_may_be_better():
    asked = {"measure": "sens", "over": (0.2, 0.4), "folds": 20}
    table = pilot()
    ahead = pr.plan(table, **ROLES, **PAIR, **asked).table["difference"].item()
    means = pr.evaluate(table, **ROLES, over=(0.2, 0.4), measures="sens")
    a, b = (means.filter(model=model)["estimate"].mean() for model in "AB")
    assert ahead == pytest.approx(a - b)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"positives": 30}, "(?s)positives is of one test set.*has folds"),
        ({"budget": 30}, "(?s)budget is of one test set"),
        ({"folds": 1}, "folds is 1"),
        ({"fold": None}, "(?s)folds is of a pilot with several folds"),
        ({"case": None}, "test_train_ratio is None"),
        ({"champion": None, "challenger": None, "margin": 0.1}, "name them"),
        ({"champion": None, "challenger": None, "width": 0.1, "model": None}, "fold=None pools"),
    ],
)
def test_what_folds_do_not_tell_is_refused(asked, words):
    table = pilot()
    if asked.get("fold", 1) is None:
        table = table.unique(["model", "case"])
    with pytest.raises(InvalidArgument, match=words):
        pr.plan(table, **{**ROLES, **PAIR, "folds": 20} | asked)


def test_halves_and_models_without_a_difference_are_refused():
    halves = pilot().with_columns(split=pl.col("fold") // 4, half=pl.col("fold") % 2)
    with pytest.raises(InvalidArgument, match=r"(?s)has halves.*folds of all cases"):
        pr.plan(halves, **ROLES, **PAIR, fold=["split", "half", "fold"])
    same = pilot().filter(model="A")
    twins = pl.concat([same, same.with_columns(model=pl.lit("B"))])
    with pytest.raises(InvalidPredictions, match="differ by as much in each fold"):
        pr.plan(twins, **ROLES, **PAIR)


def test_a_choice_with_fewer_folds_departs_from_the_plan():
    table = pilot()
    plan = pr.plan(table, **ROLES, **PAIR, over=(0.2, 0.4), folds=10)
    chosen = pr.choose(table, **ROLES, over=(0.2, 0.4))
    assert plan.check(chosen) == ["There are 5 folds, and 10 were planned."]
