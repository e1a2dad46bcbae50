"""How often 0.95 intervals of areas hold the true value, and what is decided by them.

cases
    Binormal test sets with AUC 0.8, 0.9 and 0.995, continuous scores and five levels, 1 to 200
    negatives per positive: the AUC, AUPREC at four priors and IAUPREC over 5 to 20 %. Mean and
    least coverage over these 24 kinds, by measure and number of positives.
balanced
    The same for the measures of balanced points, over test sets of 20 to 100 positives.
clusters
    Two models, whose scores share half of their variance; rows of a patient share a part of the
    variance of each. How often equal models differ at 0.05 by `compare`, how often `gate` passes a
    challenger that is worse by exactly the margin on the AUC (0.025 are right), and how often
    intervals hold: those of the AUC and IAUPREC of a model by `evaluate`, and that of the model
    that `choose` picks. With the patients as `cluster`, and in every fourth sample with rows taken
    as independent.
weights
    The same where rows have sampling weights of 1 to 20 that say nothing of the score, or low
    scores were drawn with a chance of one in 5 or 20 and weigh so much; and with the weights taken
    for counts of equal rows. Also the limits of the recall at a fixed threshold.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product

import binormal
import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr
from simulations.design import Design

OVER, LEVEL = (0.05, 0.20), 0.95
PRIORS = [0.5, 0.2, 0.1, 0.01]
POSITIVES, RATIOS, AUCS = (20, 50, 100, 500), (1, 4, 20, 200), (0.8, 0.9, 0.995)
BALANCED = ("sens", "auc_range", "accsens", "equal_error")
BALANCED_SIZES = ((20, 1), (20, 4), (20, 20), (50, 1), (50, 4), (50, 20), (100, 1), (100, 20))
AUC, WORSE = 0.90, 0.87
# Of the variance of a row that is shared by both models, beside what its patient shares.
BOTH = 0.5
# Samples of which one is counted in the wrong way, which is soon known to be wrong.
APART = 4
ROLES = {"truth": "truth", "score": "score", "model": "model", "case": "row"}
WHAT = ("auc differs", "iauprec differs", "gate passes", "auc holds", "iauprec holds",
        "choose holds")  # fmt: skip
THRESHOLD = 1.0


def covered(
    kinds: list[tuple[float, bool, tuple[int, int]]], sizes: list[tuple[int, int]],
    replicates: int, seed: int, measures: tuple[str, ...],
) -> pl.DataFrame:  # fmt: skip
    """How often limits hold, by measure, prior and kind; of the kinds only these sizes."""
    parts = []
    for place, (auc, rounded, (positives, ratio)) in enumerate(kinds, seed):
        if (positives, ratio) not in sizes:
            continue
        table = binormal.samples(
            replicates, positives, positives * ratio, auc, rounded=rounded, seed=place
        )
        found = pr.evaluate(
            table, truth="truth", score="score", count="count", by="replication", over=OVER,
            measure=list(measures), intervals=True,
            **({"priors": PRIORS} if "auprec" in measures else {}),
        ).drop_nulls("lower")  # fmt: skip
        true = true_values(auc, rounded, measures)
        held = found.join(true, on=["measure", "prior"], nulls_equal=True)
        parts.append(
            held.group_by("measure", "prior", maintain_order=True).agg(
                coverage=pl.col("true").is_between("lower", "upper").mean()
            )
        )
    return pl.concat(parts)


def true_values(auc: float, rounded: bool, measures: tuple[str, ...]) -> pl.DataFrame:
    """The true values of the measures."""
    if measures == BALANCED:
        known = binormal.balanced_values(OVER, auc, rounded=rounded)
        rows = [(name, None, value) for name, value in known.items()]
    else:
        rows = [("auc", None, binormal.true_auc(auc, rounded=rounded)),
                ("iauprec", None, binormal.iauprec(OVER, auc, rounded=rounded))]  # fmt: skip
        rows += [("auprec", at, binormal.auprec(at, auc, rounded=rounded)) for at in PRIORS]
    schema = {"measure": pl.String, "prior": pl.Float64, "true": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def summary(found: pl.DataFrame) -> list[dict[str, object]]:
    """Mean and least coverage over the kinds of test sets."""
    found = found.group_by("measure", "prior", maintain_order=True).agg(
        mean=pl.col("coverage").mean(), least=pl.col("coverage").min()
    )
    return found.with_columns(pl.col("prior").cast(pl.String)).rows(named=True)


def of_cases(replicates: int, seed: int, positives: int) -> list[dict[str, object]]:
    """Coverage of areas with so many positives."""
    kinds = list(product(AUCS, (False, True), product(POSITIVES, RATIOS)))
    sizes = [(positives, ratio) for ratio in RATIOS]
    count = replicates // 4 if positives == max(POSITIVES) else replicates
    return summary(covered(kinds, sizes, max(count, 1), seed, ("auc", "auprec", "iauprec")))


def of_balanced(replicates: int, seed: int, positives: str) -> list[dict[str, object]]:
    """Coverage of the measures of balanced points."""
    kinds = list(product(AUCS, (False, True), BALANCED_SIZES))
    return summary(covered(kinds, list(BALANCED_SIZES), replicates, seed, BALANCED))


def in_clusters(
    rng: np.random.Generator, positive: int, negative: int, uneven: bool, correlation: float,
    aucs: tuple[float, float],
) -> pl.DataFrame:  # fmt: skip
    """Rows of patients of one class each, or without `negative` of both, as two models score."""
    count = positive + negative
    sizes = rng.integers(1, 42, count) if uneven else np.full(count, 10)
    patient = np.repeat(np.arange(count), sizes)
    truth = patient < positive if negative else rng.random(patient.size) < 0.3
    row = rng.normal(size=patient.size)
    parts = []
    for name, auc in zip(("champion", "challenger"), aucs, strict=True):
        own = rng.normal(size=patient.size)
        within = BOTH**0.5 * row + (1 - BOTH) ** 0.5 * own
        noise = correlation**0.5 * rng.normal(size=count)[patient]
        noise += (1 - correlation) ** 0.5 * within
        columns = {"model": name, "row": np.arange(patient.size), "patient": patient,
                   "truth": truth, "score": binormal.shift(auc) * truth + noise}  # fmt: skip
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


@cache
def truths() -> dict[str, float]:
    """The true areas of a model."""
    return {"auc": AUC, "iauprec": binormal.iauprec(OVER, AUC)}


def outcomes(equal: pl.DataFrame, worse: pl.DataFrame, **roles: str) -> Iterator[tuple[str, bool]]:
    """Each of `WHAT` that has an answer, and whether it was found."""
    roles, true = ROLES | roles, truths()
    for measure, over in (("auc", None), ("iauprec", OVER)):
        p = pr.compare(equal, measure, **roles, over=over).pairs["p_value"].item()
        yield f"{measure} differs", p is not None and p < 1 - LEVEL
    gate = pr.gate(
        worse, **roles, champion="champion", challenger="challenger", measure="auc",
        margin=AUC - WORSE,
    )  # fmt: skip
    yield "gate passes", gate.verdict == "pass"
    found = pr.evaluate(
        equal.filter(model="champion"), **roles, measure=["auc", "iauprec"], over=OVER,
        intervals=True, level=LEVEL,
    )  # fmt: skip
    for name, low, high in found.select("measure", "lower", "upper").drop_nulls().iter_rows():
        yield f"{name} holds", low <= true[name] <= high
    picked = pr.choose(equal, **roles, over=OVER, level=LEVEL).models.row(0, named=True)
    low, high = picked["expected_lower"], picked["expected_upper"]
    if low is not None:
        yield "choose holds", low <= true["iauprec"] <= high


def rates(
    found: dict[str, Counter[str]], of: dict[str, Counter[str]], what: tuple[str, ...]
) -> list[dict[str, object]]:
    """A row per way to take the rows, with the share of each."""
    return [
        {"rows as": way, "samples": max(of[way].values(), default=0)}
        | {name: found[way][name] / of[way][name] if of[way][name] else None for name in what}
        for way in found
    ]


KINDS = (
    (10, 30, False), (10, 30, True), (20, 60, False), (40, 0, False), (40, 0, True), (20, 60, True),
    (50, 150, False), (50, 150, True), (200, 0, False), (10, 0, False), (10, 0, True),
)  # fmt: skip


def of_clusters(
    replicates: int, seed: int, patients: str, rows: str, correlation: float
) -> list[dict[str, object]]:
    """Results with clusters and without."""
    positive, _, negative = patients.removesuffix(" of both classes").partition(" + ")
    kind = int(positive), int(negative or 0), rows != "10"
    rng = np.random.default_rng([seed, KINDS.index(kind), round(10 * correlation)])
    found, of = ({way: Counter[str]() for way in ("clusters", "independent")} for _ in range(2))
    for sample in range(replicates):
        equal = in_clusters(rng, *kind, correlation, (AUC, AUC))
        worse = in_clusters(rng, *kind, correlation, (AUC, WORSE))
        for way, roles in (("clusters", {"cluster": "patient"}), ("independent", {})):
            if way == "independent" and sample % APART:
                continue
            for name, is_found in outcomes(equal, worse, **roles):
                of[way][name] += 1
                found[way][name] += is_found
    return rates(found, of, WHAT)


WEIGHTS = {
    "any, 1 to 20": (20, False), "low scores 5": (5, True), "low scores 20": (20, True),
}  # fmt: skip
WEIGHTED = [
    {"cases": cases, "weights": weights}
    for cases, weights in (
        ("30 + 170", "any, 1 to 20"), ("60 + 240", "any, 1 to 20"), ("200 + 800", "any, 1 to 20"),
        ("60 + 240", "low scores 5"), ("200 + 800", "low scores 5"), ("200 + 800", "low scores 20"),
    )
]  # fmt: skip


def weighted(
    rng: np.random.Generator, cases: str, weights: str, aucs: tuple[float, float]
) -> pl.DataFrame:
    """One sample, as two models score it."""
    heaviest, by_score = WEIGHTS[weights]
    truth = np.repeat([True, False], [int(one) for one in cases.split(" + ")])
    if by_score:
        # About half of a class has a low score, of which few are kept.
        truth = np.repeat(truth, 2)
    row = rng.normal(size=truth.size)
    noise = [BOTH**0.5 * row + (1 - BOTH) ** 0.5 * rng.normal(size=truth.size) for _ in aucs]
    scores = [binormal.shift(auc) * truth + own for auc, own in zip(aucs, noise, strict=True)]
    kept, weight = np.full(truth.size, True), heaviest ** rng.random(truth.size)
    if by_score:
        is_low = noise[0] < 0
        kept = ~is_low | (rng.random(truth.size) < 1 / heaviest)
        weight = np.where(is_low, float(heaviest), 1.0)
    return pl.concat(
        pl.DataFrame(
            {"model": model, "row": np.arange(truth.size), "truth": truth, "score": score,
             "weight": weight, "count": np.ceil(weight).astype(int)}
        ).filter(kept)
        for model, score in zip(("champion", "challenger"), scores, strict=True)
    )  # fmt: skip


def of_weights(replicates: int, seed: int, cases: str, weights: str) -> list[dict[str, object]]:
    """Results with weights, and with these taken for counts."""
    rng = np.random.default_rng([seed, WEIGHTED.index({"cases": cases, "weights": weights})])
    recall = float(norm.sf(THRESHOLD - binormal.shift(AUC)))
    found, of = ({way: Counter[str]() for way in ("weight", "count")} for _ in range(2))
    for sample in range(replicates):
        equal, worse = (weighted(rng, cases, weights, (AUC, auc)) for auc in (AUC, WORSE))
        for way in ("weight", "count"):
            if way == "count" and sample % APART:
                continue
            judged = pr.apply_thresholds(
                equal.filter(model="champion"), THRESHOLD, **ROLES, **{way: way}, intervals=True
            )
            low, high = judged.select("tpr_lower", "tpr_upper").row(0)
            held = [] if low is None else [("recall holds", low <= recall <= high)]
            for name, is_found in [*outcomes(equal, worse, **{way: way}), *held]:
                of[way][name] += 1
                found[way][name] += is_found
    return rates(found, of, (*WHAT, "recall holds"))


CLUSTERED = [
    {"patients": f"{pos} + {neg}" if neg else f"{pos} of both classes",
     "rows": "1 to 41" if uneven else "10", "correlation": correlation}
    for (pos, neg, uneven), correlation in product(KINDS, (0.0, 0.2, 0.5))
]  # fmt: skip
DESIGNS = {
    "cases": Design([{"positives": count} for count in POSITIVES], of_cases, 800),
    "balanced": Design([{"positives": "20 to 100"}], of_balanced, 300),
    "clusters": Design(CLUSTERED, of_clusters, 300),
    "weights": Design(WEIGHTED, of_weights, 400),
}
