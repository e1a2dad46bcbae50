"""How often each test finds a difference between models where there is none.

``python tests/benchmarks/error_rates.py [--replicates N] [--json FILE]``: each
replicate draws a sample of 150 positives and 450 negatives, 20 stratified 80/20
hold-outs of it (or folds, with ``--folds``), and three models that are equal in
one of two senses:

procedures equal on the dataset
    Every model is the same procedure with luck of its own: in each hold-out it
    draws its five features of fifteen anew.
algorithms equal over the population
    Each model has five features of its own, all fifteen alike in the population:
    on one sample one model is better, over all samples none is.

Models are a linear discriminant (the default), the nearest neighbour of either
class, the nearest of 15 prototypes drawn at random from the training cases, or a
decision tree.
AUPREC and IAUPREC are those of `polaroc.evaluate`, tests those of `polaroc.compare`.
A rate is printed with its standard error. ``--spreads 1 1 5`` tries Tukey's and
Holm's pairs on normal values of equal means and these SDs, 20 blocks.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import f

import polaroc as pr
from polaroc import omnibus
from polaroc.pairs import paired_t, tukey

POSITIVES, NEGATIVES = 150, 450
MODELS, FEATURES = 3, 5
SHIFT = 0.75
OVER = (0.05, 0.20)
FEW = (0.5, 0.1, 0.01)
MANY = pr.prior_grid(*OVER, 16)["prior"].to_list()
PRIORS = sorted({*FEW, *MANY})
ALPHAS = (0.005, 0.05)
NULLS = ("dataset", "population")
LEARNERS = ("linear", "nearest", "prototypes", "tree")
BATCH = 25
TRUTH = np.arange(POSITIVES + NEGATIVES) < POSITIVES


def hold_outs(rng: np.random.Generator, count: int, share: float) -> np.ndarray:
    """Which cases are tested, hold-outs × cases, stratified."""
    ranks = rng.random((count, len(TRUTH)))
    tested = np.zeros_like(ranks, dtype=bool)
    for own in (TRUTH, ~TRUTH):
        order = ranks[:, own].argsort(axis=1).argsort(axis=1)
        tested[:, own] = order < round(share * own.sum())
    return tested


def k_folds(rng: np.random.Generator, count: int) -> np.ndarray:
    """Which cases are tested, folds × cases, stratified: each case once."""
    place = np.empty(len(TRUTH), dtype=int)
    for own in (TRUTH, ~TRUTH):
        place[own] = rng.permutation(np.arange(own.sum()) % count)
    return place == np.arange(count)[:, None]


def scores(
    rng: np.random.Generator, cases: np.ndarray, tested: np.ndarray, null: str, learner: str
) -> Iterator[np.ndarray]:
    """The scores of the tested cases of each hold-out, models × cases."""
    fixed = np.arange(MODELS * FEATURES).reshape(MODELS, FEATURES)
    score = {
        "linear": discriminant, "nearest": nearest, "prototypes": prototypes, "tree": tree,
    }[learner]  # fmt: skip
    for test in tested:
        if null == "population":
            chosen = fixed
        else:
            chosen = [rng.permutation(MODELS * FEATURES)[:FEATURES] for _ in range(MODELS)]
        yield np.array(
            [score(rng, cases[~test][:, own], TRUTH[~test], cases[test][:, own]) for own in chosen]
        )


def discriminant(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Fisher's linear discriminant."""
    means = train[truth].mean(axis=0), train[~truth].mean(axis=0)
    centred = train - np.where(truth[:, None], *means)
    return test @ np.linalg.solve(centred.T @ centred, means[0] - means[1])


def nearest(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """How much nearer the nearest positive is than the nearest negative."""
    apart = ((test**2).sum(axis=1)[:, None] - 2 * test @ train.T + (train**2).sum(axis=1)).clip(
        min=0
    )
    to_pos, to_neg = apart[:, truth].min(axis=1), apart[:, ~truth].min(axis=1)
    return to_neg / (to_neg + to_pos)


def prototypes(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """The same with 15 training cases drawn at random, as many of a class as it has a share."""
    kept = [
        rng.choice(np.flatnonzero(own), size, replace=False)
        for own, size in ((truth, 4), (~truth, 11))
    ]
    few = np.concatenate(kept)
    return nearest(rng, train[few], truth[few], test)


def tree(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """A decision tree with at least five cases in a leaf."""
    from sklearn.tree import DecisionTreeClassifier

    grown = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(train, truth)
    return grown.predict_proba(test)[:, 1]


def measured(parts: list[tuple[int, int, np.ndarray, np.ndarray]]) -> pl.DataFrame:
    """AUPREC and IAUPREC of (replicate, fold, truth, models × scores)."""
    table = pl.concat(
        pl.DataFrame({"truth": truth, "score": score}).with_columns(
            pl.lit(replicate, pl.Int32).alias("replicate"),
            pl.lit(fold, pl.Int32).alias("fold"),
            pl.lit(model, pl.Int32).alias("model"),
        )
        for replicate, fold, truth, by_model in parts
        for model, score in enumerate(by_model)
    )
    return pr.evaluate(
        table, truth="truth", score="score", by=["replicate", "fold", "model"],
        priors=PRIORS, over=OVER, measures=["auprec", "iauprec"],
    )  # fmt: skip


def three_way(values: np.ndarray) -> float:
    """The p-value of the models in P-ROC's 3-way analysis, folds × models × priors."""
    blocks, models, priors = values.shape
    centred = values - values.mean(axis=(1, 2), keepdims=True)
    centred = centred - centred.mean(axis=(0, 1))
    means = centred.mean(axis=(0, 2))
    residual = ((centred - means[:, None]) ** 2).sum()
    df = values.size - blocks - models - priors + 2
    ratio = blocks * priors * (means**2).sum() / (models - 1) / (residual / df)
    return float(f.sf(ratio, models - 1, df))


def p_values(
    few: np.ndarray, many: np.ndarray, overall: np.ndarray, ratio: float, draws: int
) -> dict[str, float]:
    """The p-value of each test, of AUPREC at the priors and of IAUPREC."""
    found = {"3-way, K = 3": three_way(few), "3-way, K = 16": three_way(many)}
    found["2-way on IAUPREC"] = omnibus.repeated_measures(overall).p_value
    found["Greenhouse-Geisser"] = omnibus.greenhouse_geisser(overall).p_value
    chi, iman = omnibus.friedman(overall)
    found |= {"Friedman": chi.p_value, "Iman-Davenport": iman.p_value}
    if draws:
        found["within-fold permutation"] = omnibus.permutation(overall, draws, 0).p_value
    found["paired t + Holm"] = paired_t(overall, 0.95).p_adjusted.min()
    found["Nadeau-Bengio t + Holm"] = paired_t(overall, 0.95, ratio).p_adjusted.min()
    found["F_NB"] = omnibus.corrected(overall, ratio).p_value
    return found


def simulate(
    null: str,
    learner: str = "linear",
    replicates: int = 100,
    blocks: int = 20,
    folds: int | None = None,
    draws: int = 999,
    seed: int = 0,
) -> pl.DataFrame:
    """One row per replicate, one column of p-values per test."""  # fmt: skip
    count, ratio = (blocks, 0.25) if folds is None else (folds, 1 / (folds - 1))
    rows = []
    for start in range(0, replicates, BATCH):
        parts = []
        for replicate in range(start, min(start + BATCH, replicates)):
            rng = np.random.default_rng([seed, NULLS.index(null), replicate])
            cases = rng.normal(size=(len(TRUTH), MODELS * FEATURES)) + SHIFT * TRUTH[:, None]
            tested = hold_outs(rng, count, 0.2) if folds is None else k_folds(rng, folds)
            drawn = scores(rng, cases, tested, null, learner)
            for fold, (test, by_model) in enumerate(zip(tested, drawn, strict=True)):
                parts.append((replicate, fold, TRUTH[test], by_model))
        found = measured(parts).sort("replicate", "fold", "model", maintain_order=True)
        estimates = found["estimate"].to_numpy().reshape(-1, count, MODELS, len(PRIORS) + 1)
        for one in estimates:
            few, many = (one[:, :, [PRIORS.index(p) for p in asked]] for asked in (FEW, MANY))
            rows.append(p_values(few, many, one[:, :, -1], ratio, draws))
    return pl.DataFrame(rows)


def rates(found: pl.DataFrame) -> pl.DataFrame:
    """Per test and α: how many of the replicates are below, the rate and its standard error."""
    long = found.unpivot(variable_name="test", value_name="p_value")
    below = [
        long.group_by("test", maintain_order=True)
        .agg((pl.col("p_value") < alpha).sum().cast(pl.Int64).alias("below"), pl.len().alias("of"))
        .select("test", pl.lit(alpha).alias("alpha"), "below", "of")
        for alpha in ALPHAS
    ]
    rate = pl.col("below") / pl.col("of")
    return pl.concat(below).with_columns(
        rate.alias("rate"), (rate * (1 - rate) / pl.col("of")).sqrt().alias("std_error")
    )


def family_wise(spreads: tuple[float, ...], replicates: int, seed: int = 0) -> dict[str, float]:
    """How often the pairs of Tukey and Holm find any difference at 0.05 between equal means."""
    rng = np.random.default_rng([seed, len(spreads)])
    drawn = rng.normal(size=(replicates, 20, len(spreads))) * spreads
    # The critical value is costly and the same for all.
    one = tukey(drawn[0], 0.95)
    critical = one.reach[0] / one.std_error[0]
    below = {"Tukey": 0, "Holm": 0}
    for values in drawn:
        error = np.sqrt(2 * omnibus.two_way(values)[1] / len(values))
        below["Tukey"] += bool(np.ptp(values.mean(axis=0)) > critical * error)
        below["Holm"] += bool(paired_t(values, 0.95).p_adjusted.min() < 0.05)
    return {name: count / replicates for name, count in below.items()}


def main() -> None:
    """Print the rates under both nulls."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--blocks", type=int, default=20, help="hold-outs")
    parser.add_argument("--folds", type=int, help="a single k-fold instead of hold-outs")
    parser.add_argument("--learner", choices=LEARNERS, default="linear")
    parser.add_argument("--null", choices=NULLS, action="append")
    parser.add_argument("--draws", type=int, default=999, help="of the permutation test; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the counts")
    parser.add_argument("--spreads", type=float, nargs="+", help="only Tukey and Holm: SDs")
    asked = parser.parse_args()
    if asked.spreads:
        print(family_wise(tuple(asked.spreads), asked.replicates, asked.seed))
        return
    started, results = time.perf_counter(), {}
    for null in asked.null or NULLS:
        found = simulate(
            null, asked.learner, asked.replicates, asked.blocks, asked.folds, asked.draws,
            asked.seed,
        )  # fmt: skip
        results[null] = rates(found)
    split = f"{asked.folds} folds" if asked.folds else f"{asked.blocks} hold-outs 80/20"
    title = f"False-positive rate (SE): {asked.learner}, {split}, {asked.replicates} replicates"
    drawn = Table(title=title, title_justify="left")
    drawn.add_column("test")
    for null in results:
        for alpha in ALPHAS:
            drawn.add_column(f"{null}, α = {alpha}", justify="right")
    for test in next(iter(results.values()))["test"].unique(maintain_order=True):
        cells = [
            f"{rate:.4f} ({error:.4f})"
            for one in results.values()
            for rate, error in one.filter(test=test).select("rate", "std_error").iter_rows()
        ]
        drawn.add_row(test, *cells)
    Console(width=120).print(drawn, f"{time.perf_counter() - started:.0f} s", sep="\n")
    if asked.json:
        counts = {null: one.to_dicts() for null, one in results.items()}
        asked.json.write_text(
            json.dumps({"asked": vars(asked) | {"json": None}} | counts, indent=1)
        )


if __name__ == "__main__":
    main()
