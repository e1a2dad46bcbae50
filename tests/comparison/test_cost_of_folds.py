import re

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

OVER, COSTS = (0.1, 0.3), {"cost_fn": 10, "cost_fp": 2}
ROLES = {"truth": "truth", "score": "score"}
PRIOR = 0.2


def out_of_fold(folds=4, cases=240, drift=0.0) -> pl.DataFrame:
    """Scores of two models, each case in one fold, as of `cross_val_predict`."""
    rng = np.random.default_rng(5)
    truth = rng.random(cases) < 0.3
    fold = np.arange(cases) % folds
    return pl.concat(
        pl.DataFrame({
            "model": name, "fold": fold, "case": range(cases), "truth": truth,
            "score": (rng.normal(size=cases) + gap * truth + drift * fold).round(1),
        })
        for name, gap in (("A", 2.0), ("B", 1.2))
    )  # fmt: skip


TABLE = out_of_fold()


def rates(rows, at):
    called, truth = rows["score"].to_numpy() >= at, rows["truth"].to_numpy()
    return called[truth].mean(), called[~truth].mean()


def cost(tpr, fpr, prior=PRIOR):
    return 10 * prior * (1 - tpr) + 2 * (1 - prior) * fpr


def cheapest(rows):
    """The threshold of least mean cost over the folds, the highest among equals."""
    tried = [np.inf, *sorted(rows["score"].unique(), reverse=True)]
    costs = [
        np.mean([cost(*rates(rows.filter(fold=k), at)) for k in rows["fold"].unique()])
        for at in tried
    ]
    return tried[int(np.argmax(np.array(costs) <= min(costs) + 1e-9))]


def by_hand(model):
    """The threshold of all folds, and each fold's rates at the threshold of the others."""
    own = TABLE.filter(model=model)
    held = [rates(own.filter(fold=k), cheapest(own.filter(pl.col("fold") != k))) for k in range(4)]
    return cheapest(own), np.array(held)


def test_as_by_brute_force():
    choice = pr.choose(TABLE, **ROLES, over=OVER, **COSTS, test_train_ratio=1 / 3)
    assert (choice.measure, choice.fold_count, choice.folds) == ("expected_cost", 4, ("fold",))
    spread = []
    for row in choice.models.iter_rows(named=True):
        threshold, held = by_hand(row["model"])
        costs = cost(*held.T)
        assert row["threshold"] == threshold
        assert (row["tpr"], row["fpr"]) == pytest.approx(tuple(held.mean(axis=0)))
        assert row["mean"] == pytest.approx(costs.mean())
        # Nadeau and Bengio: the variance of a mean of folds that share training cases.
        error = np.sqrt((1 / 4 + 1 / 3) * costs.var(ddof=1))
        reach = 3.182446305284263 * error
        limits = np.maximum([costs.mean() - reach, costs.mean() + reach], 0)
        assert [row["cost_lower"], row["cost_upper"]] == pytest.approx(limits)
        spread.append((costs.mean(), row["model"]))
    assert choice.bayes == min(spread)[1]
    at = choice.priors.filter(pl.col("prior") == 0.3, model="B")["mean"].item()
    assert at == pytest.approx(cost(*by_hand("B")[1].T, prior=0.3).mean())


def test_the_answer_says_that_the_final_model_is_another_one():
    choice = pr.choose(TABLE, **ROLES, over=OVER, cost_fn=10)
    assert "Set it on cases that this model was not trained on." in choice.answer
    # The thresholds of the folds' models are not that of the final one.
    assert choice.threshold is None
    assert not re.search(rf"{choice.models['threshold'][0]:g}\b", choice.answer)
    assert any("The final model is another one" in line for line in choice.warnings)


def test_scales_that_differ_are_told():
    choice = pr.choose(out_of_fold(drift=30.0), **ROLES, over=OVER, cost_fn=10)
    assert any("their models cannot be compared" in line for line in choice.warnings)
    assert choice.threshold is None


def test_counts_stand_for_rows():
    counted = TABLE.with_columns(n=1 + pl.col("case") % 3)
    repeated = counted.select(pl.exclude("n").repeat_by("n").explode())
    found = pr.choose(counted, **ROLES, case=None, over=OVER, **COSTS, count="n")
    rows = pr.choose(repeated, **ROLES, case=None, over=OVER, **COSTS)
    assert found.models["threshold"].equals(rows.models["threshold"])
    assert found.models["mean"].to_list() == pytest.approx(rows.models["mean"].to_list())


def test_folds_that_a_model_lacks_are_refused():
    lacking = TABLE.filter(~((pl.col("model") == "B") & (pl.col("fold") == 3)))
    with pytest.raises(InvalidTable, match="cells are missing"):
        pr.choose(lacking, **ROLES, over=OVER, cost_fn=10)


@pytest.mark.parametrize(
    "option",
    [{"confidence": 0.9}, {"constraints": {"recall": 0.8}}],
    ids=lambda option: next(iter(option)),
)  # fmt: skip
def test_what_folds_cannot_honour_is_refused(option):
    with pytest.raises(InvalidArgument, match=f"{next(iter(option))} is for"):
        pr.choose(TABLE, "expected_cost", **ROLES, over=OVER, **option)
