import re

import numpy as np
import polars as pl
import pytest

import polaroc as pr

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


def test_a_model_without_a_name_keeps_its_threshold_and_rates():
    # Of models by name null comes last, as any name after "B" does.
    named = TABLE.with_columns(pl.col("model").replace("A", "C"))
    nameless = named.with_columns(pl.col("model").replace("C", None))
    asked = {**ROLES, **COSTS, "over": OVER, "test_train_ratio": 1 / 3}
    found, expected = (pr.choose(table, **asked).models for table in (nameless, named))
    assert found.with_columns(pl.col("model").fill_null("C")).equals(expected)


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


def random_folds(seed, weighted):
    """Two models on six folds that share cases, with ties; each has both classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(14) % 3 == 0
    return pl.concat(
        pl.DataFrame({
            "model": model, "fold": fold, "case": cases, "truth": truth[cases],
            "weight": rng.choice([0.5, 1.0, 3.0], cases.size) if weighted else 1.0,
            "score": (rng.normal(size=cases.size) + truth[cases]).round(1),
        })
        for fold in range(6)
        for cases in [np.sort(np.append([0, 1], 2 + rng.choice(12, 3, replace=False)))]
        for model in "AB"
    ).with_columns(weight=pl.col("weight").first().over("fold", "case"))  # fmt: skip


def weighted_rate(rows, truth, at):
    own = [row for row in rows if row["truth"] is truth]
    total = sum(row["weight"] for row in own)
    return sum(row["weight"] for row in own if row["score"] >= at) / total if own else None


def cheapest_of_rows(rows):
    """The threshold of least mean cost over the folds, where a fold may lack a class."""
    folds = [[row for row in rows if row["fold"] == fold] for fold in {r["fold"] for r in rows}]

    def mean_cost(at):
        t, f = (
            [r for fold in folds if (r := weighted_rate(fold, y, at)) is not None]
            for y in (True, False)
        )
        return cost(np.mean(t) if t else 0, np.mean(f) if f else 0)

    tried = [np.inf, *sorted({row["score"] for row in rows}, reverse=True)]
    costs = [mean_cost(at) for at in tried]
    return next(at for at, own in zip(tried, costs, strict=True) if own <= min(costs) + 1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_rows_are_judged_at_thresholds_of_other_folds_and_other_cases(seed, weighted, known):
    table = random_folds(seed, weighted)
    roles = {"case": "case" if known else None, "weight": "weight" if weighted else None}
    choice = pr.choose(table, **ROLES, **roles, over=(PRIOR, PRIOR), **COSTS, test_train_ratio=0.2)
    group = {case: place % 5 for place, case in enumerate(sorted(table["case"].unique()))}
    for model in "AB":
        rows = table.filter(model=model).to_dicts()
        for row in rows:
            # Folds are held out in five groups, and known cases that they share in five, too.
            held = [
                other for other in rows
                if other["fold"] % 5 == row["fold"] % 5
                and (not known or group[other["case"]] == group[row["case"]])
            ]  # fmt: skip
            seen = {other["case"] for other in held} if known else set()
            tuning = [
                other for other in rows
                if other["fold"] % 5 != row["fold"] % 5 and other["case"] not in seen
            ]  # fmt: skip
            row["called"] = float(row["score"] >= cheapest_of_rows(tuning))
        found = choice.models.row(by_predicate=pl.col("model") == model, named=True)
        at = np.inf if found["threshold"] is None else found["threshold"]
        assert at == cheapest_of_rows(rows)
        for name, truth in (("tpr", True), ("fpr", False)):
            called = [row | {"score": row["called"]} for row in rows]
            folds = [[row for row in called if row["fold"] == fold] for fold in range(6)]
            expected = np.mean([weighted_rate(fold, truth, 1.0) for fold in folds])
            assert found[name] == pytest.approx(expected), (model, name)


def test_folds_of_the_same_cases_are_judged_on_cases_left_out():
    rng = np.random.default_rng(3)
    one = pl.DataFrame({"case": range(60), "truth": rng.random(60) < 0.4, "score": rng.random(60)})
    repeats = [
        one.with_columns(fold=pl.lit(fold), model=pl.lit(model), score=(pl.col("score") + add) % 1)
        for fold in range(4)
        for model, add in (("A", 0.0), ("B", 0.5))
    ]
    # Copies of folds are used once: a little noise makes them others.
    table = pl.concat(repeats).with_columns(pl.col("score") + 1e-9 * pl.col("fold"))
    asked = {**ROLES, "over": (PRIOR, PRIOR), **COSTS, "test_train_ratio": 0.25}
    unknown, known = (
        pr.choose(table, **asked, case=case).models.sort("model")["mean"].to_numpy()
        for case in (None, "case")
    )
    assert (known > unknown + 0.01).all()
