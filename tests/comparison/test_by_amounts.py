import re

import amounts
import numpy as np
import polars as pl
import pytest
from amounts import ALARM
from evidences import evidence
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.comparison.posterior import posterior
from polaroc.errors import InvalidArgument, InvalidPredictions

MONEY, OVER, PRIOR = {"cost_fn": "amount", "cost_fp": ALARM}, (0.02, 0.3), 0.16
ROLES = {"truth": "truth", "score": ["A", "B"], "case": "id", "over": OVER}
TUNING, TEST = amounts.cases(1), amounts.cases(2)
KNOWN = ["expected", "probability_best", "expected_loss"]


def choose(table=TEST, **changed):
    return pr.choose(table, **{**ROLES, **MONEY, "tuning": TUNING} | changed)


def losses(model, at):
    """What each case costs at its class's share, per case of the class."""
    truth, called = TEST["truth"].to_numpy(), TEST[model].to_numpy() >= at
    missed, alarm = PRIOR * TEST["amount"].to_numpy() * ~called, (1 - PRIOR) * ALARM * called
    return missed[truth], alarm[~truth]


def test_on_one_test_set_as_by_brute_force():
    models = choose().models.sort("model")
    means, covariance = [], np.zeros((2, 2))
    found = [amounts.cheapest(TUNING, name, PRIOR)[0] for name in "AB"]
    assert models["threshold"].to_list() == found
    of_classes = zip(*(losses(*one) for one in zip("AB", found, strict=True)), strict=True)
    for own in map(np.array, of_classes):
        means.append(own.mean(axis=1))
        moved = own - own.mean(axis=1, keepdims=True)
        covariance += moved @ moved.T / (own.shape[1] - 1) / own.shape[1]
    assert models["mean"].to_list() == pytest.approx(list(sum(means)))
    # It is linear in the prior.
    ends = [
        np.mean([amounts.cost(TEST, "A", found[0], prior) for prior in OVER]),
        np.mean([amounts.cost(TEST, "B", found[1], prior) for prior in OVER]),
    ]
    assert models["mean"].to_list() == pytest.approx(ends)
    # Degrees of freedom, by which Student's t is wider, move it little here.
    normal = posterior(evidence(sum(means), covariance), higher=False)
    for name in ("expected", "probability_best"):
        assert models[name].to_list() == pytest.approx(getattr(normal, name).tolist(), rel=0.05)
    assert choose().bayes == "A"


def test_the_cost_has_the_limits_that_savings_gives():
    choice = choose(level=0.9)
    for model, at, low, high in choice.models.select(
        "model", "threshold", "cost_lower", "cost_upper"
    ).rows():
        saved = pr.savings(TEST, at, truth="truth", score=model, priors=PRIOR, level=0.9, **MONEY)
        assert saved.select("lower", "upper").row(0) == pytest.approx((low, high))
    none, every = (amounts.cost(TEST, "A", at, PRIOR) for at in (None, -np.inf))
    said = f"Acting on no case would cost {none:.4g} per case, acting on all {every:.4g}."
    assert said in choice.warnings
    (told,) = re.findall(r"a cost of (\S+) per case", choice.answer)
    assert told == f"{choice.models['mean'][0]:.4g}"


def test_equal_amounts_are_a_number():
    numbers, columns = choose(cost_fn=7, cost_fp=2), choose(cost_fn=pl.lit(7), cost_fp=2)
    shown = ["model", "mean", "mean_regret", "worst_regret", "threshold", "tpr", "fpr"]
    assert_frame_equal(columns.models.select(shown), numbers.models.select(shown), rel_tol=1e-9)
    assert_frame_equal(columns.priors, numbers.priors, rel_tol=1e-9)


def test_weights_counts_and_clusters():
    for role in ("weight", "count"):
        tuning = TUNING.with_columns(times=pl.lit(2))
        own = choose(tuning=tuning, **{role: "times"}).models
        for model, mean, at in own.select("model", "mean", "threshold").rows():
            expected = amounts.cost(TEST, model, at, PRIOR, weight="times")
            assert mean == pytest.approx(expected)
    plain = choose(cluster="customer")
    assert plain.models["cost_lower"][0] != choose().models["cost_lower"][0]


def test_a_case_has_one_cost():
    torn, tuning = (
        table.unpivot(["A", "B"], index=["id", "truth", "amount"], value_name="score").with_columns(
            pl.col("amount") + (pl.col("variable") == "B")
        )
        for table in (TEST, TUNING)
    )
    with pytest.raises(InvalidPredictions, match="cases have a cost that differs by model"):
        choose(torn, score="score", model="variable", tuning=tuning)


def test_costs_that_spread_too_widely_tell_nothing_of_how_sure():
    wild = choose(cost_fn=pl.col("amount") ** 2.5)
    assert wild.models.select(KNOWN).null_count().row(0) == (2, 2, 2)
    assert any("costs spread too widely" in one for one in wild.warnings)
    assert any(re.search(r"largest of \d+ amounts (is|are) half of what", o) for o in wild.warnings)


def test_columns_that_the_tuning_table_lacks_are_named():
    with pytest.raises(InvalidArgument, match="no column 'amount'; tuning has"):
        choose(tuning=TUNING.drop("amount"))
    with pytest.raises(
        InvalidArgument, match="cost_fn and cost_fp are for measure='expected_cost'"
    ):
        choose(measure="auprec", tuning=None)


def folded(folds=4):
    return amounts.cases(5, 480).with_columns(fold=pl.col("id") % folds)


def of_folds(table, **changed):
    asked = {**ROLES, **MONEY, "fold": "fold", "test_train_ratio": 1 / 3} | changed
    return pr.choose(table, **asked)


def mean_cost(rows, model, at, weight=None):
    """The mean over folds of what a threshold costs."""
    parts = rows.partition_by("fold")
    return np.mean([amounts.cost(part, model, at, PRIOR, weight=weight) for part in parts])


@pytest.mark.parametrize("weight", [None, "times"])
def test_on_folds_as_by_brute_force(weight):
    table = folded()
    found = of_folds(table, **({} if weight is None else {"weight": weight}))
    for model, mean, at in found.models.select("model", "mean", "threshold").rows():
        tried = sorted(table[model].unique(), reverse=True)
        costs = [mean_cost(table, model, one, weight) for one in tried]
        assert at == tried[int(np.argmin(costs))]
        held_out = []
        for fold in range(4):
            rest = table.filter(pl.col("fold") != fold)
            own = [mean_cost(rest, model, one, weight) for one in tried]
            chosen = tried[int(np.argmin(own))]
            part = table.filter(fold=fold)
            held_out.append(amounts.cost(part, model, chosen, PRIOR, weight=weight))
        assert mean == pytest.approx(np.mean(held_out))


def test_on_folds_equal_amounts_are_a_number_and_zeros_are_refused():
    table = folded()
    numbers, columns = (of_folds(table, cost_fn=fn, cost_fp=2) for fn in (7, pl.lit(7)))
    assert_frame_equal(columns.models, numbers.models, rel_tol=1e-9)
    # Amounts have a unit of their own; numbers are told as so many false alarms.
    assert f"a cost of {columns.models['mean'][0]:.4g} per case" in columns.answer
    (total,) = re.findall(r"costs as much as about (\d+) false alarms", numbers.answer)
    assert float(total) == pytest.approx(500 * numbers.models["mean"][0], rel=0.005)
    assert "costs as much as" not in columns.answer
    wild = of_folds(table, cost_fn=pl.col("amount") ** 2.5)
    assert any("Costs spread too widely" in one for one in wild.warnings)
    with pytest.raises(InvalidPredictions, match="cost_fn is 0 for all positives"):
        of_folds(table, cost_fn=pl.lit(0.0))


def test_on_folds_costs_and_rates_are_means_over_folds():
    table = folded(5)
    models = of_folds(table).models
    for model, mean, tpr, fpr in models.select("model", "mean", "tpr", "fpr").rows():
        costs, rates = [], []
        for one in range(5):
            part, rest = table.filter(fold=one), table.filter(pl.col("fold") != one)
            at = of_folds_cheapest(rest, model)
            costs.append(amounts.cost(part, model, at, PRIOR))
            rates.append([(part.filter(truth=y)[model] >= at).mean() for y in (True, False)])
        assert mean == pytest.approx(np.mean(costs))
        assert (tpr, fpr) == pytest.approx(tuple(np.mean(rates, axis=0)))


def of_folds_cheapest(table, model):
    """The highest threshold of least cost, of means over the folds that have each class."""
    tried = sorted(table[model].unique(), reverse=True)
    return tried[int(np.argmin([mean_of_classes(table, model, at) for at in tried]))]


def mean_of_classes(table, model, at):
    called = pl.col(model) >= at
    missed = (pl.col("amount") * ~called).filter("truth").mean()
    alarms = (ALARM * called).filter(~pl.col("truth")).mean()
    means = table.group_by("fold").agg(missed=missed, alarms=alarms).mean()
    return PRIOR * means["missed"].item() + (1 - PRIOR) * means["alarms"].item()
