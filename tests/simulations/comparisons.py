"""How often tests of `compare` and `anova` find a difference where there is none, and their power.

folds
    Samples, and algorithms that are equal over the population, each with five features of its own
    whose class means are 0.75 standard deviations apart. By `compare` on the AUC of folds and
    hold-outs of each sample, at two levels; the oracle is a normal test of the mean of ten
    10-folds that knows its true standard deviation. With a lead the first algorithm is better:
    shares are then power.
anova
    Three linear discriminants that are equal on the dataset (each draws its five features of
    fifteen anew in each fold) or over the population, in 20 hold-outs 80/20 of 150 + 450 cases:
    P-ROC's analyses of variance, and `compare`, on areas under precision-recall curves.
test_set
    Two fitted models with the same true area on one test set, scores of which correlate:
    ``compare(target="trained")``.
"""

from itertools import product

import binormal
import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr
from simulations.design import Design

FEATURES, SHIFT = 5, 0.75
LEVELS = (0.05, 0.005)
PROTOTYPES = (4, 11)
OVER = (0.05, 0.20)
Fits = tuple[np.ndarray, np.ndarray]  # training cases and test cases, fits × cases


def k_folds(rng: np.random.Generator, truth: np.ndarray, folds: int, repeats: int) -> list[Fits]:
    """Cases to train on and to test on of stratified folds."""
    fits = []
    for _ in range(repeats):
        place = np.empty(len(truth), dtype=int)
        for own in (truth, ~truth):
            place[own] = rng.permutation(np.arange(own.sum()) % folds)
        fits += [(np.flatnonzero(place != fold), np.flatnonzero(place == fold))
                 for fold in range(folds)]  # fmt: skip
    return fits


def hold_outs(rng: np.random.Generator, truth: np.ndarray, count: int) -> list[Fits]:
    """The same of stratified hold-outs 80/20."""
    return [fit for _ in range(count) for fit in k_folds(rng, truth, 5, 1)[:1]]


def discriminant(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Fisher's linear discriminant."""
    lead, within = moments(train, truth)
    return test @ np.linalg.solve(within, lead)


def moments(train: np.ndarray, truth: np.ndarray) -> Fits:
    """Difference of the classes' means, and the pooled sums of squares."""
    means = train[truth].mean(axis=0), train[~truth].mean(axis=0)
    centred = train - np.where(truth[:, None], *means)
    return means[0] - means[1], centred.T @ centred


def picker(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """The one feature whose means are farthest apart in its standard deviations."""
    lead, within = moments(train, truth)
    best = np.abs(lead / np.sqrt(np.diag(within))).argmax()
    return test[:, best] * np.sign(lead[best])


def nearest(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """How much nearer the nearest positive is than the nearest negative."""
    apart = (test**2).sum(axis=1)[:, None] - 2 * test @ train.T + (train**2).sum(axis=1)
    to_pos, to_neg = (apart[:, own].clip(0).min(axis=1) for own in (truth, ~truth))
    return to_neg / (to_neg + to_pos)


def nearest_label(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """The class of the nearest neighbour."""
    return (nearest(rng, train, truth, test) > 0.5).astype(float)


def prototypes(
    rng: np.random.Generator, train: np.ndarray, truth: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """The nearest of 15 training cases drawn at random."""
    few = np.concatenate([
        rng.choice(np.flatnonzero(own), size, replace=False)
        for own, size in zip((truth, ~truth), PROTOTYPES, strict=True)
    ])  # fmt: skip
    return nearest(rng, train[few], truth[few], test)


LEARNERS = {
    "linear discriminants": discriminant, "nearest neighbours": nearest,
    "labels of nearest neighbours": nearest_label, "pickers of one feature": picker,
    "random prototypes": prototypes,
}  # fmt: skip


def auc(truth: np.ndarray, score: np.ndarray) -> float:
    """The area of one fold."""
    lead = score[truth][:, None] - score[~truth]
    return float((np.sign(lead).mean() + 1) / 2)


def of_folds(
    replicates: int, seed: int, learner: str, cases: str, models: int, ahead: float
) -> list[dict[str, object]]:
    """Shares of samples in which `compare` found a difference."""
    positives, negatives = (int(one) for one in cases.split(" + "))
    truth = np.arange(positives + negatives) < positives
    p_values: dict[str, list[float]] = {}
    leads = []
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, replicate, positives, negatives, models])
        x = rng.normal(size=(len(truth), models, FEATURES)) + SHIFT * truth[:, None, None]
        x[:, 0] += ahead * truth[:, None]
        ten, thirty = k_folds(rng, truth, 10, 10), hold_outs(rng, truth, 30)
        areas = [
            np.array([
                [auc(truth[test], LEARNERS[learner](rng, own[train], truth[train], own[test]))
                 for own in x.transpose(1, 0, 2)] for train, test in fits
            ])
            for fits in (ten, thirty, k_folds(rng, truth, 2, 5))
        ]  # fmt: skip
        leads.append(np.subtract(*areas[0].mean(axis=0)[:2]))
        for name, values, ratio in (
            ("one 10-fold", areas[0][:10], 1 / 9), ("ten 10-folds", areas[0], 1 / 9),
            ("5 hold-outs", areas[1][:5], 0.25), ("20 hold-outs", areas[1][:20], 0.25),
            ("30 hold-outs", areas[1], 0.25), ("5x2 folds", areas[2], 1.0),
        ):  # fmt: skip
            p_values.setdefault(name, []).append(compared(values, ratio))
    lead = np.array(leads)
    return [
        {"lead": float(lead.mean()) if ahead else 0.0, "level": str(level), "samples": replicates}
        | {name: float(np.mean(np.array(own) < level)) for name, own in p_values.items()}
        | {"oracle": float(np.mean(np.abs(lead) > norm.isf(level / 2) * lead.std(ddof=1)))}
        for level in LEVELS
    ]


def compared(values: np.ndarray, ratio: float) -> float:
    """The least adjusted p-value of the pairs, of folds × models."""
    pairs = pr.compare(in_rows(values), "auc", test_train_ratio=ratio).pairs
    return float(pairs["p_adjusted"].min())


def in_rows(values: np.ndarray) -> pl.DataFrame:
    """Values of folds × models as a table of measures."""
    folds, models = values.shape
    return pl.DataFrame(
        {"fold": np.repeat(np.arange(folds), models), "model": np.tile(np.arange(models), folds),
         "measure": ["auc"] * values.size, "estimate": values.ravel()}
    )  # fmt: skip


FEW, MANY = (0.5, 0.1, 0.01), pr.prior_grid(*OVER, 16)["prior"].to_list()
DRAWN, BLOCKS, ON_DATASET = 150 + 450, 20, "on the dataset"


def of_anova(replicates: int, seed: int, equal: str) -> list[dict[str, object]]:
    """Shares of samples with a difference by analyses of variance and `compare`, at 0.005."""
    truth, below = np.arange(DRAWN) < DRAWN // 4, dict.fromkeys(ANALYSES, 0)
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, equal != ON_DATASET, replicate])
        x = rng.normal(size=(DRAWN, 3 * FEATURES)) + SHIFT * truth[:, None]
        parts = []
        for fold, (train, test) in enumerate(hold_outs(rng, truth, BLOCKS)):
            chosen = np.arange(3 * FEATURES).reshape(3, FEATURES)
            for model, own in enumerate(chosen):
                if equal == ON_DATASET:
                    own = rng.permutation(3 * FEATURES)[:FEATURES]
                score = discriminant(rng, x[train][:, own], truth[train], x[test][:, own])
                parts.append(pl.DataFrame({"truth": truth[test], "score": score}).with_columns(
                    model=pl.lit(model), fold=pl.lit(fold)
                ))  # fmt: skip
        measures = pr.evaluate(
            pl.concat(parts), truth="truth", score="score", priors=sorted({*FEW, *MANY}), over=OVER,
            measure=["auprec", "iauprec"],
        )  # fmt: skip
        for name, analysis in ANALYSES.items():
            below[name] += analysis(measures) < min(LEVELS)
    return [{"analysis": name, "samples": replicates, "differs": count / replicates}
            for name, count in below.items()]  # fmt: skip


def three_way(measures: pl.DataFrame, priors: list[float] | tuple[float, ...]) -> float:
    """The p-value of the models in P-ROC's 3-way analysis."""
    own = measures.filter(measure="auprec").filter(pl.col("prior").is_in(list(priors)))
    return float(pr.anova(own).table.filter(term="model")["p_value"].item())


ANALYSES = {
    "anova, 3-way, 3 priors": lambda measures: three_way(measures, FEW),
    "anova, 3-way, 16 priors": lambda measures: three_way(measures, MANY),
    "anova, 2-way on iauprec": lambda measures: float(
        pr.anova(measures, "iauprec", ("model", "fold"))
        .table.filter(term="model")["p_value"]
        .item()
    ),
    "compare": lambda measures: float(
        pr.compare(measures, "iauprec", test_train_ratio=0.25).omnibus["p_value"].item()
    ),
}


def pair(
    rng: np.random.Generator, sizes: tuple[int, int], correlation: float, aucs: tuple[float, float]
) -> pl.DataFrame:
    """Cases of one test set, as two models score them."""
    truth, shared = np.arange(sum(sizes)) < sizes[0], rng.normal(size=sum(sizes))
    return pl.concat(
        pl.DataFrame({"id": np.arange(sum(sizes)), "model": name, "truth": truth,
                      "score": binormal.shift(auc) * truth + correlation**0.5 * shared
                      + (1 - correlation) ** 0.5 * rng.normal(size=sum(sizes))})
        for name, auc in zip(("champion", "challenger"), aucs, strict=True)
    )  # fmt: skip


def of_test_set(
    replicates: int, seed: int, cases: str, correlation: float
) -> list[dict[str, object]]:
    """Shares of test sets on which equal models differ."""
    positives, negatives = (int(one.replace(",", "")) for one in cases.split(" + "))
    rng = np.random.default_rng([seed, 1, positives, negatives, int(100 * correlation)])
    roles = {"truth": "truth", "score": "score", "model": "model", "case": "id"}
    p_values: dict[str, list[float]] = {"auc": [], "iauprec": []}
    for _ in range(replicates):
        table = pair(rng, (positives, negatives), correlation, (0.9, 0.9))
        for measure, found in p_values.items():
            over = None if measure == "auc" else OVER
            found.append(pr.compare(table, measure, **roles, over=over).pairs["p_value"].item())
    return [
        {"measure": measure, "samples": replicates}
        | {f"at {level}": float(np.mean(np.array(found) < level)) for level in LEVELS}
        for measure, found in p_values.items()
    ]


STABLE, UNSTABLE = "linear discriminants", "nearest neighbours"
LABELS, PICKERS, PROTOTYPE = list(LEARNERS)[2:]
FOLDS = [
    {"learner": learner, "cases": cases, "models": models, "ahead": ahead}
    for learner, cases, models, ahead in (
        *((one, "80 + 240", 2, 0.0) for one in LEARNERS),
        *product((STABLE, UNSTABLE, LABELS, PICKERS), ["80 + 240"], (3, 10), [0.0]),
        *((one, "80 + 240", 2, 0.3) for one in (STABLE, UNSTABLE, LABELS)),
        (PICKERS, "80 + 240", 2, 0.6), (PROTOTYPE, "80 + 240", 2, 0.25),
        (STABLE, "20 + 180", 2, 0.0),
        *((one, "40 + 120", 2, 0.0) for one in (STABLE, UNSTABLE, LABELS, PICKERS)),
    )
]  # fmt: skip
DESIGNS = {
    "folds": Design(FOLDS, of_folds, 1000),
    "anova": Design(
        [{"equal": where} for where in (ON_DATASET, "over the population")], of_anova, 2000
    ),
    "test_set": Design(
        [{"cases": cases, "correlation": correlation} for cases, correlation in product(
            ("20 + 80", "50 + 450", "200 + 1,800"), (0.5, 0.9))],
        of_test_set, 400,
    ),
}  # fmt: skip
