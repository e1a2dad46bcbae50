"""How often `gate` passes a challenger that is worse by exactly the margin, and its power.

At a level of 0.95 a pass may have the rate 0.025. Scores of the champion are normal, with an AUC
of 0.9, 0.94 or 0.97; those of the two models correlate by 0.5, 0.9 or 0.999, and are continuous or
five levels. The challenger's positives are

normal
    normal, too, with an AUC that is 0.03 less;
hidden 1, 3, 5, 10, 20 %
    that many of them like negatives, the others as good as the champion's;
lowest 1, 3, 5, 10, 20 %
    that many of them below all negatives;
equal
    as good as the champion's, for margins of 0.05 and 0.1: passes are then the power.

cases
    One test set.
folds
    The same cases, scores continuous, in ten folds or ten times ten.
"""

from itertools import product
from typing import NamedTuple

import binormal
import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr
from simulations.comparisons import k_folds
from simulations.design import Design

OVER, WORSE, LOWEST = (0.05, 0.20), 0.03, -40.0
PLACES, WEIGHTS = np.polynomial.legendre.leggauss(4)
# The skews that IAUPREC is a weighted mean over.
NODES = [(1 / prior - 1, weight) for prior, weight in zip(
    np.mean(OVER) + np.ptp(OVER) / 2 * PLACES, WEIGHTS / 2, strict=True)]  # fmt: skip
SHARES = (0.01, 0.03, 0.05, 0.1, 0.2)
SHAPES = (
    "normal",
    *(f"{kind} {100 * share:g} %" for kind in ("hidden", "lowest") for share in SHARES),
)
CORRELATIONS = (0.5, 0.9, 0.999)
# Where scores are five levels they are cut here.
CUTS = np.array([0.3, 1.0, 1.7, 2.4])
ROLES = {"truth": "truth", "score": "score", "model": "model", "case": "id"}


class Positives(NamedTuple):
    """The challenger's positives: a share in another place, and the mean of the rest."""

    share: float
    place: float
    mean: float

    def drawn(self, rng: np.random.Generator, noise: np.ndarray) -> np.ndarray:
        """Their scores, from noise."""
        is_missed = rng.random(noise.shape) < self.share
        return np.where(is_missed, self.place + noise, self.mean + noise)

    def area(self, measure: str, *, levels: bool = False) -> float:
        """The measure of the population."""
        cuts = CUTS[::-1] if levels else np.linspace(12, -8, 40_001)
        t = self.share * norm.sf(cuts - self.place) + (1 - self.share) * norm.sf(cuts - self.mean)
        f = norm.sf(cuts)
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


def verdicts(table: pl.DataFrame, margins: dict[str, float], **roles: object) -> dict[str, str]:
    """What `gate` says by each measure."""
    return {
        measure: pr.gate(
            table, **ROLES, **roles, champion="champion", challenger="challenger", measure=measure,
            over=OVER if measure == "iauprec" else None, margin=margin,
        ).verdict
        for measure, margin in margins.items()
    }  # fmt: skip


def counted(
    rng: np.random.Generator, replicates: int, cases: str, shape: str, auc: float,
    correlation: float, *, levels: bool = False, margin: float | None = None, repeats: int = 0,
) -> dict[str, int]:  # fmt: skip
    """In how many samples the challenger passes, by measure; of folds with `repeats`."""
    sizes = [int(one.replace(",", "")) for one in cases.split(" + ")]
    truth, own = np.arange(sum(sizes)) < sizes[0], positives_of(shape, auc)
    champions = Positives(0.0, 0.0, binormal.shift(auc))
    margins = {
        one: champions.area(one, levels=levels) - own.area(one, levels=levels)
        if margin is None else margin for one in ("auc", "iauprec")
    }  # fmt: skip
    passed = dict.fromkeys(margins, 0)
    for _ in range(replicates):
        shared = rng.normal(size=truth.size)
        scores = {
            name: correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.normal(size=truth.size)
            for name in ("champion", "challenger")
        }
        scores["champion"][truth] += champions.mean
        scores["challenger"][truth] = own.drawn(rng, scores["challenger"][truth])
        if levels:
            scores = {name: np.digitize(one, CUTS).astype(float) for name, one in scores.items()}
        table = pl.concat(
            pl.DataFrame({"model": name, "id": np.arange(truth.size), "truth": truth, "score": one})
            for name, one in scores.items()
        )
        roles = {}
        if repeats:
            fits = enumerate(k_folds(rng, truth, 10, repeats))
            table = pl.concat(
                table.filter(pl.col("id").is_in(test.tolist())).with_columns(fold=pl.lit(fold))
                for fold, (_, test) in fits
            )
            roles = {"fold": "fold"}
        for measure, verdict in verdicts(table, margins, **roles).items():
            passed[measure] += verdict == "pass"
    return passed


def largest(
    rng: np.random.Generator, replicates: int, cases: str, aucs: tuple[float, ...], shape: str,
    scores: tuple[bool, ...], repeats: int = 0,
) -> list[dict[str, object]]:  # fmt: skip
    """The largest share of passes over kinds of samples, or of equal models the mean power."""
    equal = shape == "equal"
    rates: dict[tuple[str, float | None], list[float]] = {}
    for auc, correlation, levels, margin in product(
        aucs, CORRELATIONS, scores, (0.05, 0.1) if equal else (None,)
    ):
        kind = {"levels": levels, "margin": margin, "repeats": repeats}
        found = counted(rng, replicates, cases, shape, auc, correlation, **kind)
        for measure, count in found.items():
            rates.setdefault((measure, margin), []).append(count / replicates)
    return [
        {"measure": measure, "margin": "the true one" if margin is None else str(margin),
         "samples": replicates, "passes": float(np.mean(own) if equal else np.max(own))}
        for (measure, margin), own in rates.items()
    ]  # fmt: skip


def of_cases(replicates: int, seed: int, cases: str, shape: str) -> list[dict[str, object]]:
    """Passes on one test set."""
    rng = np.random.default_rng([seed, SIZES.index(cases), (*SHAPES, "equal").index(shape)])
    aucs = (0.9, 0.94) if shape == "equal" else (0.9, 0.94, 0.97)
    return largest(rng, replicates, cases, aucs, shape, (False, True))


def of_folds(
    replicates: int, seed: int, cases: str, repeats: int, shape: str
) -> list[dict[str, object]]:
    """Passes on so many times ten folds."""
    rng = np.random.default_rng([seed, repeats, int(cases[:2]), (*SHAPES, "equal").index(shape)])
    aucs = (0.9, 0.94) if shape == "equal" else (0.9, 0.94, 0.97)
    return largest(rng, replicates, cases, aucs, shape, (False,), repeats)


SIZES = ("20 + 80", "40 + 200", "70 + 300", "100 + 400", "150 + 600", "200 + 2,000")
DESIGNS = {
    "cases": Design(
        [{"cases": cases, "shape": shape} for cases, shape in product(SIZES, (*SHAPES, "equal"))],
        of_cases, 1000, 2,
    ),
    "folds": Design(
        [{"cases": cases, "repeats": repeats, "shape": shape} for cases, repeats, shape in product(
            ("40 + 160", "100 + 400"), (1, 10), (*SHAPES, "equal"))],
        of_folds, 300, 2,
    ),
}  # fmt: skip
