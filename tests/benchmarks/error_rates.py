"""How often each test finds a difference between models where there is none.

``python tests/benchmarks/error_rates.py [--replicates N] [--json FILE]``: each
replicate draws a sample of 150 positives and 450 negatives, 20 stratified 80/20
hold-outs of it (or folds, with ``--folds 10``, and ``--repeats 10`` for ten times
ten), and three models that are equal in one of two senses:

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
A rate is printed with its standard error, and how many independent test sets would
give a mean difference of two models as precise. ``--ahead 0.2`` puts the classes of
the first model's features farther apart: then rates are the tests' power.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import f

import polaroc as pr
from polaroc.comparison import omnibus
from polaroc.uncertainty.adjusted import by_holm
from polaroc.uncertainty.evidence import all_pairs, of_folds

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


def k_folds(rng: np.random.Generator, count: int, repeats: int = 1) -> np.ndarray:
    """Which cases are tested, folds × cases, stratified: each case once per repeat."""
    parts = []
    for _ in range(repeats):
        place = np.empty(len(TRUTH), dtype=int)
        for own in (TRUTH, ~TRUTH):
            place[own] = rng.permutation(np.arange(own.sum()) % count)
        parts.append(place == np.arange(count)[:, None])
    return np.concatenate(parts)


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
    few: np.ndarray, many: np.ndarray, overall: np.ndarray, ratio: float
) -> dict[str, float]:
    """The p-value of each test, of AUPREC at the priors and of IAUPREC."""
    found = {"3-way, K = 3": three_way(few), "3-way, K = 16": three_way(many)}
    plain, corrected = of_folds(overall, 0), of_folds(overall, ratio)
    found["2-way on IAUPREC"] = omnibus.f_test("", plain).p_value
    least = by_holm(all_pairs(corrected), 0.95).p_value.min()
    found["Nadeau-Bengio t + Holm"] = float(least)
    found["F_NB"] = omnibus.f_test("", corrected).p_value
    return found


@dataclass(frozen=True)
class Setting:
    """What is simulated: the options of the command line of the same names."""

    learner: str = "linear"
    blocks: int = 20
    folds: int | None = None
    repeats: int = 1
    ahead: float = 0.0

    @property
    def count(self) -> int:
        """The number of test sets."""
        return self.blocks if self.folds is None else self.folds * self.repeats

    @property
    def ratio(self) -> float:
        """Test cases per training case."""
        return 0.25 if self.folds is None else 1 / (self.folds - 1)

    @property
    def split(self) -> str:
        """The design in words."""
        if self.folds is None:
            return f"{self.blocks} hold-outs 80/20"
        return f"{self.repeats} x {self.folds} folds" if self.repeats > 1 else f"{self.folds} folds"

    def tested(self, rng: np.random.Generator) -> np.ndarray:
        """Which cases are tested, test sets × cases."""
        if self.folds is None:
            return hold_outs(rng, self.blocks, 0.2)
        return k_folds(rng, self.folds, self.repeats)


def estimates(null: str, setting: Setting, replicates: int, seed: int = 0) -> np.ndarray:
    """AUPREC at each prior and IAUPREC: replicates × test sets × models × measures."""
    found = []
    for start in range(0, replicates, BATCH):
        parts = []
        for replicate in range(start, min(start + BATCH, replicates)):
            rng = np.random.default_rng([seed, NULLS.index(null), replicate])
            cases = rng.normal(size=(len(TRUTH), MODELS * FEATURES)) + SHIFT * TRUTH[:, None]
            cases[:, :FEATURES] += setting.ahead * TRUTH[:, None]
            tested = setting.tested(rng)
            drawn = scores(rng, cases, tested, null, setting.learner)
            for fold, (test, by_model) in enumerate(zip(tested, drawn, strict=True)):
                parts.append((replicate, fold, TRUTH[test], by_model))
        table = measured(parts).sort("replicate", "fold", "model", maintain_order=True)
        values = table["estimate"].to_numpy()
        found.append(values.reshape(-1, setting.count, MODELS, len(PRIORS) + 1))
    return np.concatenate(found)


def simulate(
    null: str,
    setting: Setting = Setting(),
    replicates: int = 100,
    seed: int = 0,
) -> pl.DataFrame:
    """One row per replicate, one column of p-values per test."""
    return tested_values(estimates(null, setting, replicates, seed), setting.ratio)


def tested_values(values: np.ndarray, ratio: float) -> pl.DataFrame:
    """One row per replicate, one column of p-values per test."""
    rows = []
    for one in values:
        few, many = (one[:, :, [PRIORS.index(p) for p in asked]] for asked in (FEW, MANY))
        rows.append(p_values(few, many, one[:, :, -1], ratio))
    return pl.DataFrame(rows)


def worth(overall: np.ndarray) -> tuple[float, float]:
    """How many independent test sets the mean difference of two models is worth, and its SE.

    It is the variance of the differences over the test sets of a replicate, over that of
    their mean over the replicates. Replicates × test sets × models; the SE is a jackknife's.
    """
    differences = overall[:, :, [0, 0, 1]] - overall[:, :, [1, 2, 2]]
    within = differences.var(axis=1, ddof=1).mean(axis=1)
    means = differences.mean(axis=1)
    between = ((means - means.mean(axis=0)) ** 2).mean(axis=1)
    count = len(within)
    left_out = (within.sum() - within) / (between.sum() - between)
    return float(within.sum() / between.sum()), float(left_out.std() * (count - 1) ** 0.5)


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


def main() -> None:
    """Print the rates under both nulls."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--blocks", type=int, default=20, help="hold-outs")
    parser.add_argument("--folds", type=int, help="k-fold instead of hold-outs")
    parser.add_argument("--repeats", type=int, default=1, help="of the k-fold")
    parser.add_argument(
        "--ahead", type=float, default=0.0, help="how much farther apart the first model's classes"
    )
    parser.add_argument("--learner", choices=LEARNERS, default="linear")
    parser.add_argument("--null", choices=NULLS, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the counts")
    asked = parser.parse_args()
    started, results, worths = time.perf_counter(), {}, []
    setting = Setting(asked.learner, asked.blocks, asked.folds, asked.repeats, asked.ahead)
    for null in asked.null or NULLS:
        values = estimates(null, setting, asked.replicates, asked.seed)
        results[null] = rates(tested_values(values, setting.ratio))
        count, error = worth(values[:, :, :, -1])
        lead = (values[:, :, 0, -1] - values[:, :, 1:, -1].mean(axis=2)).mean()
        worths.append(
            f"{null}: the {setting.count} test sets are worth {count:.1f} ({error:.1f}) "
            f"independent ones; the first model is ahead by {lead:.3f}"
        )
    kind = "False-positive rate" if asked.ahead == 0 else "Share of replicates with p below α"
    title = f"{kind} (SE): {asked.learner}, {setting.split}, {asked.replicates} replicates"
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
    Console(width=120).print(drawn, *worths, f"{time.perf_counter() - started:.0f} s", sep="\n")
    if asked.json:
        counts = {null: one.to_dicts() for null, one in results.items()}
        asked.json.write_text(
            json.dumps({"asked": vars(asked) | {"json": None}} | counts, indent=1)
        )


if __name__ == "__main__":
    main()
