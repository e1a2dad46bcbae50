"""How often `gate` passes a challenger that is worse by exactly the margin, and its power.

At a level of 0.95 a pass may have the rate 0.025. Scores of the champion are normal, with an AUC
of 0.9, 0.94 or 0.97; those of the two models correlate by 0.5, 0.9 or 0.999, and are continuous or
five levels. The challenger's positives are

normal
    normal, too, with an AUC that is 0.03 less;
hidden 5, 20 %
    that many of them like negatives, the others as good as the champion's;
lowest 3, 5, 10 %
    that many of them below all negatives;
equal
    as good as the champion's, for margins of 0.05 and 0.1: passes are then the power.

Of all kinds of samples those with most passes in one eighth of the samples are drawn again; their
share is reported.

cases
    One test set; by the limits of `gate` alone, since it takes ten times as long to read a table.
clusters
    The same with patients of 1 to 10 or of 10 rows each, of which models miss all rows or none, and
    with rows that weigh 1 to 10.
negatives
    A share of the negatives scores above all cases; the positives are as the champion's.
folds
    Cases with continuous scores in ten folds or ten times ten.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import binormal
import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr
from polaroc.base.statistics import equal_units
from polaroc.inference.influence import influence_of_cases
from polaroc.models.gate_limits import DifferenceInfluences, difference_limits, why_too_few
from polaroc.models.paired_cases import single_measure
from simulations.comparisons import k_folds
from simulations.design import Design

OVER, WORSE, LOWEST = (0.05, 0.20), 0.03, -40.0
PLACES, WEIGHTS = np.polynomial.legendre.leggauss(4)
# The skews that IAUPREC is a weighted mean over.
NODES = [(1 / prior - 1, weight) for prior, weight in zip(
    np.mean(OVER) + np.ptp(OVER) / 2 * PLACES, WEIGHTS / 2, strict=True)]  # fmt: skip
SHAPES = ("normal", "hidden 5 %", "hidden 20 %", "lowest 3 %", "lowest 5 %", "lowest 10 %")
CORRELATIONS = (0.5, 0.9, 0.999)
# Where scores are five levels they are cut here.
CUTS = np.array([0.3, 1.0, 1.7, 2.4])
MEASURES = [single_measure("auc", "observed", None), single_measure("iauprec", "observed", OVER)]
BY_NAME = {measure.name: measure for measure in MEASURES}
ROLES = {"truth": "truth", "score": "score", "model": "model", "case": "id"}


class Positives(NamedTuple):
    """The challenger's positives: a share in another place, and the mean of the rest."""

    share: float
    place: float
    mean: float

    def area(self, measure: str, *, levels: bool = False, ranked_high: float = 0.0) -> float:
        """The measure of the population, where a share of the negatives is above all cases."""
        cuts = CUTS[::-1] if levels else np.linspace(12, -8, 40_001)
        t = self.share * norm.sf(cuts - self.place) + (1 - self.share) * norm.sf(cuts - self.mean)
        f = ranked_high + (1 - ranked_high) * norm.sf(cuts)
        if levels:
            t, f = (np.concatenate([[0], own, [1]]) for own in (t, f))
            # The chords between the levels, in steps.
            steps = np.linspace(0, len(t) - 1, 20_001)
            t, f = (np.interp(steps, np.arange(len(t)), own) for own in (t, f))
        else:
            # Up to the last positive all negatives have been called.
            f, t = np.append(f, np.ones(1000)), np.append(t, np.linspace(t[-1], 1, 1000))
        if measure == "auc":
            return float(np.trapezoid(t, f))
        t, f = t[t > 0], f[t > 0]
        return sum(w * float(np.trapezoid(t / (t + skew * f), t)) for skew, w in NODES)


def positives_of(shape: str, auc: float) -> Positives:
    """The challenger's, beside a champion with this AUC."""
    if shape in ("normal", "equal"):
        return Positives(0.0, 0.0, binormal.shift(auc - WORSE if shape == "normal" else auc))
    kind, share, _ = shape.split()
    return Positives(int(share) / 100, 0.0 if kind == "hidden" else LOWEST, binormal.shift(auc))


def measured(
    truth: np.ndarray, scores: Sequence[np.ndarray], unit: np.ndarray, weight: np.ndarray | None
) -> dict[str, tuple[float, DifferenceInfluences]]:
    """The challenger minus the champion by each measure, and the influences of the units."""
    found = [influence_of_cases(score, truth, MEASURES, weight) for score in scores]
    weights = np.ones(truth.size) if weight is None else weight
    count = unit.max() + 1
    sizes = np.array([np.bincount(unit[own], weights[own], count) for own in (truth, ~truth)])
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    counts = tuple(np.count_nonzero(own) for own in shares)
    classes = int(truth.sum()), int((~truth).sum())
    if weight is not None:
        counts = classes = tuple(equal_units(own[own > 0]) for own in shares)
    by_measure = {}
    for place, measure in enumerate(MEASURES):
        total = np.zeros(count)
        for own, size, part in zip((truth, ~truth), sizes, (1, 2), strict=True):
            moved = found[1][part][place] - found[0][part][place]
            total += np.bincount(unit[own], weights[own] * moved, count) / size.sum()
        lead = float(found[1].estimates[place] - found[0].estimates[place])
        by_measure[measure.name] = lead, DifferenceInfluences(total, shares, counts, classes)
    return by_measure


def in_units(
    rng: np.random.Generator, truth: np.ndarray, rows: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The labels of the rows, their units, and their weights."""
    if rows == "weights":
        return truth, np.arange(truth.size), 10 ** rng.random(truth.size)
    sizes = {"cases": np.ones(truth.size, int), "10 each": np.full(truth.size, 10)}
    size = sizes.get(rows, rng.integers(1, 11, truth.size))
    unit = np.repeat(np.arange(truth.size), size)
    return truth[unit], unit, None


def counted(
    rng: np.random.Generator, replicates: int, cases: str, shape: str, auc: float,
    correlation: float, *, levels: bool = False, margin: float | None = None, repeats: int = 0,
    rows: str = "cases", ranked_high: float = 0.0,
) -> dict[str, int]:  # fmt: skip
    """In how many samples the challenger passes, by measure; of folds with `repeats`."""
    sizes = [int(one.replace(",", "")) for one in cases.split(" + ")]
    patients, own = np.arange(sum(sizes)) < sizes[0], positives_of(shape, auc)
    champions = Positives(0.0, 0.0, binormal.shift(auc))
    margins = {
        one: champions.area(one, levels=levels)
        - own.area(one, levels=levels, ranked_high=ranked_high)
        if margin is None else margin for one in ("auc", "iauprec")
    }  # fmt: skip
    passed = dict.fromkeys(margins, 0)
    for _ in range(replicates):
        truth, unit, weight = in_units(rng, patients, rows)
        # Rows of a patient share a part of the variance, and are missed together.
        within = 0.5 if unit[-1] + 1 < unit.size else 0.0
        part = rng.normal(size=(3, patients.size))[:, unit]
        noise = within**0.5 * part + (1 - within) ** 0.5 * rng.normal(size=(3, unit.size))
        champion, challenger = correlation**0.5 * noise[2] + (1 - correlation) ** 0.5 * noise[:2]
        is_missed = (rng.random(patients.size) < own.share)[unit][truth]
        champion[truth] += champions.mean
        challenger[truth] += np.where(is_missed, own.place, own.mean)
        challenger[~truth & (rng.random(patients.size) < ranked_high)[unit]] -= LOWEST
        scores = [champion, challenger]
        if levels:
            scores = [np.digitize(one, CUTS).astype(float) for one in scores]
        if repeats:
            for measure, is_pass in passes_on_folds(rng, truth, scores, margins, repeats):
                passed[measure] += is_pass
            continue
        for measure, (lead, units) in measured(truth, scores, unit, weight).items():
            if not why_too_few(BY_NAME[measure], units):
                lower, _ = difference_limits(measure, lead, units, 0.95)
                passed[measure] += lower >= -margins[measure]
    return passed


def passes_on_folds(
    rng: np.random.Generator, truth: np.ndarray, scores: Sequence[np.ndarray],
    margins: dict[str, float], repeats: int,
) -> Iterator[tuple[str, bool]]:  # fmt: skip
    """Whether the challenger passes, by measure."""
    table = pl.concat(
        pl.DataFrame({"model": name, "id": np.arange(truth.size), "truth": truth, "score": one})
        for name, one in zip(("champion", "challenger"), scores, strict=True)
    )
    table = pl.concat(
        table.filter(pl.col("id").is_in(test.tolist())).with_columns(fold=pl.lit(fold))
        for fold, (_, test) in enumerate(k_folds(rng, truth, 10, repeats))
    )
    for measure, margin in margins.items():
        result = pr.gate(
            table, **ROLES, fold="fold", champion="champion", challenger="challenger",
            measure=measure, over=OVER if measure == "iauprec" else None, margin=margin,
        )  # fmt: skip
        yield measure, result.verdict == "pass"


def largest(
    rng: np.random.Generator, replicates: int, cases: str, aucs: tuple[float, ...], shape: str,
    scores: tuple[bool, ...], **asked: object,
) -> list[dict[str, object]]:  # fmt: skip
    """Passes of the kind of samples that has most, or of equal models the mean power."""
    equal, few = shape == "equal", max(replicates // 8, 1)
    found = []
    for margin in (0.05, 0.1) if equal else (None,):
        kinds = [*product(aucs, CORRELATIONS, scores)]
        counts = [
            counted(rng, few, cases, shape, auc, correlation, levels=levels, margin=margin, **asked)
            for auc, correlation, levels in kinds
        ]
        for measure in ("auc", "iauprec"):
            passes, samples = sum(own[measure] for own in counts), few * len(kinds)
            if not equal:
                worst = max(range(len(kinds)), key=lambda kind: counts[kind][measure])
                auc, correlation, levels = kinds[worst]
                again = counted(
                    rng, replicates, cases, shape, auc, correlation, levels=levels, **asked
                )
                passes, samples = again[measure], replicates
            shown = "the true one" if margin is None else str(margin)
            found.append({"measure": measure, "margin": shown, "samples": samples,
                          "passes": passes / samples})  # fmt: skip
    return found


def of_cases(replicates: int, seed: int, cases: str, shape: str) -> list[dict[str, object]]:
    """Passes on one test set."""
    rng = np.random.default_rng([seed, SIZES.index(cases), (*SHAPES, "equal").index(shape)])
    aucs = (0.9, 0.94) if shape == "equal" else (0.9, 0.94, 0.97)
    return largest(rng, replicates, cases, aucs, shape, (False, True))


def of_clusters(
    replicates: int, seed: int, patients: str, rows: str, shape: str
) -> list[dict[str, object]]:
    """Passes with several rows of a patient, or with weights."""
    rng = np.random.default_rng([seed, int(patients[:2]), ROWS.index(rows), len(shape)])
    return largest(rng, replicates, patients, (0.9, 0.97), shape, (False,), rows=rows)


def of_negatives(replicates: int, seed: int, cases: str, share: str) -> list[dict[str, object]]:
    """Passes where a share of the negatives is ranked above all cases."""
    high = int(share[:-2]) / 100
    rng = np.random.default_rng([seed, int(cases[:2]), int(share[:-2])])
    return largest(rng, replicates, cases, (0.9, 0.97), "hidden 0 %", (False,), ranked_high=high)


def of_folds(
    replicates: int, seed: int, cases: str, repeats: int, shape: str
) -> list[dict[str, object]]:
    """Passes on so many times ten folds."""
    rng = np.random.default_rng([seed, repeats, int(cases[:2]), (*SHAPES, "equal").index(shape)])
    aucs = (0.9,) if shape == "equal" else (0.9, 0.97)
    return largest(rng, replicates, cases, aucs, shape, (False,), repeats=repeats)


SHOWN = ("normal", "hidden 5 %", "lowest 5 %", "equal")
SIZES = ("20 + 80", "40 + 200", "100 + 400", "200 + 2,000")
ROWS = ("1 to 10", "10 each", "weights")
DESIGNS = {
    "cases": Design(
        [{"cases": cases, "shape": shape} for cases, shape in (
            *product(SIZES, SHOWN), *product(("100 + 400",), (*SHAPES[2:4], SHAPES[5])))],
        of_cases, 320, 3,
    ),
    "clusters": Design(
        [{"patients": patients, "rows": rows, "shape": shape} for patients, rows, shape in product(
            ("30 + 100", "60 + 200"), ROWS, ("normal", "lowest 5 %", "equal"))],
        of_clusters, 240, 3,
    ),
    "negatives": Design(
        [{"cases": cases, "share": share} for cases, share in product(
            ("100 + 100", "100 + 400", "100 + 2,000"), ("1 %", "3 %"))],
        of_negatives, 240, 3,
    ),
    "folds": Design(
        [{"cases": cases, "repeats": 1, "shape": shape} for cases, shape in (
            ("40 + 160", "lowest 5 %"), ("100 + 400", "lowest 5 %"), ("100 + 400", "equal"))],
        of_folds, 96, 3,
    ),
}  # fmt: skip
