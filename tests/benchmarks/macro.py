"""Coverage of the limits of means over classes, by simulation.

``python tests/benchmarks/macro.py [--samples N] [--seed N]``

Cases of three classes have three normal scores, of which that of the own class is higher. The mean
of the areas of one class against the rest is known from many cases. How often do limits of `macro`
hold it, where classes count alike and by their positives? Of single cases, of patients with three
rows that share half of the variance, and of samples with weights 1 : 4.
"""

import argparse
import time

import numpy as np
import polars as pl

import polaroc as pr

CLASSES, LEVEL, MANY, ROWS = ["a", "b", "c"], 0.95, 200_000, 3
MEASURES, PRIOR = ["auc", "auprec"], 0.2
SHARES = {"alike": (1 / 3, 1 / 3, 1 / 3), ".2, .3, .5": (0.2, 0.3, 0.5)}
# How much the score of the own class is higher, and its correlation with the others.
SCORES = {"d′ 1": (1.0, 0.0), "d′ 2.5": (2.5, -0.4)}
SIZES = (60, 150, 300)
# Of cases with a weight: their share of the sample and of the population, and how much less their
# own score is higher.
HEAVY, IN_POPULATION, WORSE = 0.2, 0.5, 0.5


def drawn(rng, size, shares, scores, kind="single"):
    """Cases of three classes."""
    height, correlation = scores
    patients = -(-size // ROWS) if kind == "patients" else size
    rows = ROWS if kind == "patients" else 1
    patient = np.repeat(np.arange(patients), rows)
    own = rng.choice(3, patients, p=shares)[patient]
    covariance = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)
    noise = rng.multivariate_normal(np.zeros(3), covariance, patients)[patient]
    if kind == "patients":
        single = rng.multivariate_normal(np.zeros(3), covariance, len(patient))
        noise = (noise + single) / np.sqrt(2)
    heavy = rng.random(len(patient)) < (HEAVY if kind == "weighted" else IN_POPULATION)
    higher = np.where(heavy & (kind in ("weighted", "population")), height * WORSE, height)
    noise[np.arange(len(own)), own] += higher
    weight = np.where(heavy, IN_POPULATION / HEAVY, (1 - IN_POPULATION) / (1 - HEAVY))
    return pl.DataFrame({
        "kind": np.array(CLASSES)[own], "patient": patient, "weight": weight,
        **dict(zip(CLASSES, noise.T, strict=True)),
    }).with_row_index("case")  # fmt: skip


def cases_of(table, kind="single"):
    """The same as cases, one class against the rest."""
    role = {"patients": {"cluster": "patient"}, "weighted": {"weight": "weight"}}.get(kind, {})
    given = pr.cases(table, truth="kind", by=[one for one in ("sample",) if one in table], **role)
    return given.pipe(pr.one_vs_rest, scores=CLASSES)


def truths(rng, shares, scores, kind):
    """The areas of each class: measure × class."""
    table = drawn(rng, MANY, shares, scores, "population" if kind == "weighted" else kind)
    found = cases_of(table).pipe(pr.evaluate, measures=MEASURES, priors=PRIOR)
    return {name: found.filter(measure=name)["estimate"].to_numpy() for name in MEASURES}


def held(rng, samples, size, shares, scores, kind="single"):
    """The share of samples whose limits hold the mean, by measure and whether it is weighted."""
    truth = truths(rng, shares, scores, kind)
    tables = [
        drawn(rng, size, shares, scores, kind).with_columns(sample=pl.lit(i))
        for i in range(samples)
    ]
    cases = cases_of(pl.concat(tables), kind)
    sizes = cases.pipe(pr.evaluate, measures="auc").partition_by("sample", maintain_order=True)
    found = {}
    for weighted in (False, True):
        means = cases.pipe(
            pr.macro, measures=MEASURES, priors=PRIOR, weighted=weighted, level=LEVEL
        )
        for name in MEASURES:
            own = means.filter(measure=name).sort("sample")
            counts = np.stack([one["positives"].to_numpy() for one in sizes])
            shares_of = counts if weighted else np.ones_like(counts)
            right = shares_of @ truth[name] / shares_of.sum(axis=1)
            lower, upper = (own[end].fill_null(np.nan).to_numpy() for end in ("lower", "upper"))
            known = ~np.isnan(lower)
            within = (lower <= right) & (right <= upper)
            found[name, weighted] = (
                within[known].mean(),
                (upper - lower)[known].mean(),
                known.mean(),
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=42)
    asked = parser.parse_args()
    error = (LEVEL * (1 - LEVEL) / asked.samples) ** 0.5
    print(f"{asked.samples} samples, level {LEVEL}, standard error {error:.4f}")
    print("kind, cases, shares, scores: coverage (mean width; share with limits) of the mean AUC "
          "and AUPREC(.2), then of those weighted")  # fmt: skip
    least, begun = 1.0, time.perf_counter()
    for kind in ("single", "patients", "weighted"):
        for size in SIZES[kind != "single" :]:
            for named, shares in SHARES.items():
                for how, scores in SCORES.items():
                    rng = np.random.default_rng([asked.seed, size, len(named), len(how), len(kind)])
                    found = held(rng, asked.samples, size, shares, scores, kind)
                    words = "; ".join(
                        f"{one:.3f} ({wide:.3f}; {some:.3f})" for one, wide, some in found.values()
                    )
                    print(f"{kind}, {size}, {named}, {how}: {words}", flush=True)
                    least = min(least, *(one for one, _, _ in found.values()))
    print(f"least {least:.3f}; {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
