"""How often `gate` passes a challenger that misses positives, and so is worse by just the margin.

``python tests/benchmarks/gate_missed.py [--replicates N] [--seed S] [--sizes 20+80 …]``: of `gate`
at a level of 95 %, so that a pass may have the rate 0.025. Scores of the champion are normal, those
of the two models correlated by 0.5, 0.9 or 0.999; they are continuous, or five levels. The
challenger's positives are

normal
    normal, too, with an AUC that is 0.03 less;
hidden 1, 3, 5, 10, 20 %
    that many of them like negatives, the others as good as the champion's;
lowest 1, 3, 5, 10, 20 %
    that many of them below all negatives.

Beside the largest rates of passes stands the power: the share of passes where the models are
equal, for margins of 0.05 and 0.1, with AUCs of 0.9 and 0.94. ``without`` is the same interval
without the likelihood of a positive that is not seen.

``--design folds``: the same cases in ten folds, or ten times ten, by the corrected t-test of folds.
``--design clusters``: patients of ten cases each; of the challenger's some are missed wholly.
``--design "uneven clusters"``: of those with positives every tenth has twenty cases, others one.

With ``--write`` the counts go to ``tests/benchmarks/gate_rates.csv``, and the tables to
``docs/concepts/tests.md``; else they are printed.
"""

import argparse
import re
import runpy
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm, t

import polaroc as pr

HERE = Path(__file__).parent
SMALL = runpy.run_path(str(HERE / "gate_small.py"), run_name="gate_small")
sys.path.append(str(HERE.parent / "support"))
import binormal  # noqa: E402

RATES = HERE / "gate_rates.csv"
PAGE = HERE.parents[1] / "docs" / "concepts" / "tests.md"
MARKED = re.compile(r"<!-- gate rates -->\n.*?<!-- end -->", re.DOTALL)
SIZES = ("20+80", "40+200", "70+300", "100+400", "150+600", "200+2000")
AUCS, POWER_AUCS, CORRELATIONS = (0.9, 0.94, 0.97), (0.9, 0.94), (0.5, 0.9, 0.999)
SHARES = (0.01, 0.03, 0.05, 0.1, 0.2)
SHAPES = (
    "normal",
    *(f"{kind} {100 * share:g} %" for kind in ("hidden", "lowest") for share in SHARES),
)
MARGINS = (0.05, 0.1)
ALPHA, WORSE = 0.05, 0.03
MEASURES = ("auc", "iauprec")
# Where scores are five levels they are cut here.
CUTS = np.array([0.3, 1.0, 1.7, 2.4])
LOWEST = -40.0
# Scores at a time.
BATCH = 400_000
FOLDS, PER_PATIENT = 10, 10
STEP = 1e-6


class Positives(NamedTuple):
    """The challenger's positives: a share in another place, and the mean of the rest."""

    share: float
    place: float
    mean: float

    def drawn(self, rng: np.random.Generator, noise: np.ndarray) -> np.ndarray:
        """Their scores, from noise."""
        is_missed = rng.random(noise.shape) < self.share
        return np.where(is_missed, self.place + noise, self.mean + noise)

    def above(self, cuts: np.ndarray) -> np.ndarray:
        """The share of them above each cut."""
        return self.share * norm.sf(cuts - self.place) + (1 - self.share) * norm.sf(
            cuts - self.mean
        )

    def area(self, measure: str, *, levels: bool = False) -> float:
        """The measure of the population."""
        if levels:
            t, f = (np.diff(own, prepend=0, append=1)[None] for own in self._rates(CUTS[::-1]))
            return float(area_of_levels(t, f, measure)[0])
        t, f = self._rates(np.linspace(12, -8, 40_001))
        # Up to the last positive all negatives have been called.
        last = np.linspace(t[-1], 1, 1000)
        f, t = np.append(f, np.ones(1000)), np.append(t, last)
        if measure == "auc":
            return float(np.trapezoid(t, f))
        return sum(
            weight * float(np.trapezoid(t / (t + skew * f), t))
            for skew, weight in SMALL["NODES"][measure]
        )

    def _rates(self, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.above(cuts), norm.sf(cuts)


def positives_of(shape: str, auc: float) -> Positives:
    """The challenger's, beside a champion with this AUC."""
    if shape in ("normal", "equal"):
        return Positives(0.0, 0.0, binormal.shift(auc - WORSE if shape == "normal" else auc))
    kind, share, _ = shape.split()
    return Positives(int(share) / 100, 0.0 if kind == "hidden" else LOWEST, binormal.shift(auc))


def area_of_levels(t: np.ndarray, f: np.ndarray, measure: str) -> np.ndarray:
    """The measure from shares of either class at the levels, the highest first, by row."""
    tp, fp = (np.cumsum(own, axis=1) - own for own in (t, f))
    if measure == "auc":
        return (f * (tp + t / 2)).sum(axis=1)
    total = np.zeros(len(t))
    for skew, weight in SMALL["NODES"][measure]:
        start, rise = tp + skew * fp, (t + skew * f).clip(1e-300)
        grown = np.log1p(rise / start.clip(1e-300))
        part = t / rise + (tp - start * t / rise) / rise * np.where(start > 0, grown, 0)
        total += weight * (t * part).sum(axis=1)
    return total


def measured(scores: np.ndarray, positives: int, measure: str, *, levels: bool) -> object:
    """As `measured` of ``gate_small.py``, or of five levels, by steps along each level's share."""
    if not levels:
        return SMALL["measured"](scores, positives, measure)
    at = len(CUTS) - (scores[:, :, None] > CUTS).sum(axis=2)
    own = at[:, :positives], at[:, positives:]
    size = len(CUTS) + 1
    shares = [np.stack([(one == k).mean(axis=1) for k in range(size)], axis=1) for one in own]
    estimate = area_of_levels(*shares, measure)
    influence = []
    for number, one in enumerate(own):
        slopes = []
        for level in range(size):
            moved = [share.copy() for share in shares]
            moved[number] = (1 - STEP) * moved[number] + STEP * (np.arange(size) == level)
            slopes.append((area_of_levels(*moved, measure) - estimate) / STEP)
        influence.append(np.take_along_axis(np.stack(slopes, axis=1), one, axis=1))
    return SMALL["Measured"](estimate, SMALL["centred"](tuple(influence)))


def samples(
    sizes: tuple[int, int], own: Positives, auc: float, correlation: float, replicates: int,
    rng: np.random.Generator,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """Scores of champion and challenger, replicates × cases, positives first."""
    batch = max(BATCH // sum(sizes), 50)
    for start in range(0, replicates, batch):
        shared = rng.normal(size=(min(batch, replicates - start), sum(sizes)))
        champion, challenger = (
            correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.normal(size=shared.shape)
            for _ in range(2)
        )
        champion[:, : sizes[0]] += binormal.shift(auc)
        challenger[:, : sizes[0]] = own.drawn(rng, challenger[:, : sizes[0]])
        yield champion, challenger


def counts(
    sizes: tuple[int, int], shape: str, auc: float, correlation: float, *, levels: bool,
    replicates: int, seed: int, margin: float | None = None, alpha: float = ALPHA,
    measures: tuple[str, ...] = MEASURES,
) -> Iterator[dict[str, object]]:  # fmt: skip
    """In how many samples of a kind the challenger passes, and fails, by measure."""
    kind = [*sizes, ("equal", *SHAPES).index(shape), int(1000 * auc), int(10 * correlation), levels]
    rng, own = np.random.default_rng([seed, *kind]), positives_of(shape, auc)
    champions = Positives(0.0, 0.0, binormal.shift(auc))
    found = {one: np.zeros(3, int) for one in measures if not SMALL["refused"](*sizes, one)}
    margins = {
        one: champions.area(one, levels=levels) - own.area(one, levels=levels)
        if margin is None else margin for one in found
    }  # fmt: skip
    for pair in samples(sizes, own, auc, correlation, replicates, rng):
        for measure, total in found.items():
            models = [measured(one, sizes[0], measure, levels=levels) for one in pair]
            tried = SMALL["verdicts"](*models, margins[measure], measure, alpha)
            (_, passed, failed), (_, without, _) = next(tried), next(tried)
            total += [int(own.sum()) for own in (passed, failed, without)]
    for measure, (passed, failed, without) in found.items():
        yield {
            "design": "cases", "measure": measure, "positives": sizes[0], "negatives": sizes[1],
            "shape": shape, "auc": auc, "correlation": correlation, "levels": levels,
            "margin": round(margins[measure], 6), "passed": passed, "failed": failed,
            "without": without, "of": replicates,
        }  # fmt: skip


def folds_of(
    pair: tuple[np.ndarray, np.ndarray], positives: int, rng: np.random.Generator,
    measure: str = "auc",
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The lead of the challenger in each of ten folds, and of each positive within its own."""
    cases = pair[0].shape[1]
    order = rng.permutation(positives), positives + rng.permutation(cases - positives)
    leads, apart = [], np.empty((len(pair[0]), positives))
    for fold in range(FOLDS):
        own, other = (one[fold::FOLDS] for one in order)
        tested = np.append(own, other)
        champion, challenger = (
            SMALL["measured"](scores[:, tested], len(own), measure) for scores in pair
        )
        leads.append(challenger.estimate - champion.estimate)
        apart[:, own] = challenger.influence[0] - champion.influence[0] + leads[-1][:, None]
    return np.stack(leads, axis=1), apart


def bias_on_folds(
    pair: tuple[np.ndarray, np.ndarray], positives: int, measure: str, repeats: int, seed: int
) -> np.ndarray | float:
    """How far the limits of so many times ten folds are wider for want of negatives."""
    fold = pair[0].shape[1] - positives
    if not SMALL["refused"](repeats * positives, fold // FOLDS, measure, SMALL["MAX_BIAS"]):
        return 0.0
    rng, folds = np.random.default_rng([seed, 9]), []
    for _ in range(repeats):
        order = rng.permutation(positives), positives + rng.permutation(fold)
        folds += [[one[k::FOLDS] for one in order] for k in range(FOLDS)]
    changes = [
        SMALL["by_halves"](
            tuple(scores[:, np.append(*own)] for scores in pair),
            len(own[0]),
            measure,
            rng,
            max(SMALL["DIVISIONS"] // repeats, 1),
        )
        for own in folds
    ]
    return SMALL["TIMES_CHANGE"] * np.abs(np.mean(changes, axis=0))


def counts_on_folds(
    sizes: tuple[int, int], shape: str, auc: float, correlation: float, *, repeats: int,
    replicates: int, seed: int, margin: float | None = None, measure: str = "auc",
) -> dict[str, object]:  # fmt: skip
    """The same of ten folds of the cases, or of so many times ten."""
    kind = [
        *sizes,
        ("equal", *SHAPES).index(shape),
        int(1000 * auc),
        int(10 * correlation),
        repeats,
    ]
    rng, own = np.random.default_rng([seed, *kind]), positives_of(shape, auc)
    if margin is None:
        margin = Positives(0.0, 0.0, binormal.shift(auc)).area(measure) - own.area(measure)
    total = np.zeros(2, int)
    for pair in samples(sizes, own, auc, correlation, replicates, rng):
        both = [folds_of(pair, sizes[0], rng, measure) for _ in range(repeats)]
        leads = np.concatenate([one for one, _ in both], axis=1)
        apart, count = np.mean([one for _, one in both], axis=0), leads.shape[1]
        error = leads.std(axis=1, ddof=1) * (1 / count + 1 / (FOLDS - 1)) ** 0.5
        reach = t.ppf(1 - ALPHA / 2, count - 1) * error
        without = (leads.mean(axis=1) - reach >= -margin) & (error > 0)
        left = margin
        if measure != "auc":
            left = margin - bias_on_folds(pair, sizes[0], measure, repeats, seed)
        passed = (leads.mean(axis=1) - reach >= -left) & (error > 0)
        ratio = SMALL["unseen"](apart, np.full(len(apart), 1e-12), left)
        missed = sizes[0] * apart.var(axis=1)
        passed &= ratio >= SMALL["bar_of"](missed, 1 - ALPHA)
        total += [int(passed.sum()), int(without.sum())]
    return {
        "design": f"{repeats} × 10 folds", "measure": measure, "positives": sizes[0],
        "negatives": sizes[1], "shape": shape, "auc": auc, "correlation": correlation,
        "levels": False, "margin": round(margin, 6), "passed": int(total[0]), "failed": None,
        "without": int(total[1]), "of": replicates,
    }  # fmt: skip


def counts_of_clusters(
    sizes: tuple[int, int], shape: str, auc: float, correlation: float, *, replicates: int,
    seed: int, margin: float | None = None, uneven: bool = False,
) -> dict[str, object]:  # fmt: skip
    """The same of so many patients of each class, each with ten cases that share half a variance.

    Uneven ones have one case each, but every tenth with positives has twenty: of these alone some
    are missed. By the interval of the package, sample by sample.
    """
    kind = [*sizes, ("equal", *SHAPES).index(shape), int(1000 * auc), int(10 * correlation)]
    rng, own = np.random.default_rng([seed, 10, *kind]), positives_of(shape, auc)
    per_patient = np.full(sum(sizes), PER_PATIENT)
    if uneven:
        is_large = (np.arange(sum(sizes)) % 10 == 0) & (np.arange(sum(sizes)) < sizes[0])
        per_patient = np.where(is_large, 2 * PER_PATIENT, 1)
    may_miss = per_patient == per_patient.max()
    if margin is None:
        mass = per_patient[may_miss][: sizes[0]].sum() / per_patient[: sizes[0]].sum()
        least = own._replace(share=own.share * min(mass, 1.0))
        margin = Positives(0.0, 0.0, binormal.shift(auc)).area("auc") - least.area("auc")
    patients = np.repeat(np.arange(sum(sizes)), per_patient)
    passed = failed = 0
    for _ in range(replicates):
        is_missed = (may_miss & (rng.random(sum(sizes)) < own.share))[patients]
        shared = _in_patients(rng, patients)
        noise = [correlation**0.5 * shared + (1 - correlation) ** 0.5 * _in_patients(rng, patients)
                 for _ in range(2)]  # fmt: skip
        truth = patients < sizes[0]
        means = np.full(len(truth), binormal.shift(auc)), np.where(is_missed, own.place, own.mean)
        table = pl.DataFrame(
            {"id": np.arange(len(truth)), "patient": patients, "truth": truth}
            | {name: one + mean * truth
               for name, one, mean in zip("AB", noise, means, strict=True)}
        )  # fmt: skip
        verdict = pr.gate(
            table, truth="truth", score=["A", "B"], case="id", cluster="patient", champion="A",
            challenger="B", measure="auc", margin=margin, level=1 - ALPHA,
        ).verdict  # fmt: skip
        passed, failed = passed + (verdict == "pass"), failed + (verdict == "fail")
    return {
        "design": f"{'uneven ' if uneven else ''}clusters", "measure": "auc",
        "positives": sizes[0], "negatives": sizes[1],
        "shape": shape, "auc": auc, "correlation": correlation, "levels": False,
        "margin": round(margin, 6), "passed": passed, "failed": failed, "without": None,
        "of": replicates,
    }  # fmt: skip


def _in_patients(rng: np.random.Generator, patients: np.ndarray) -> np.ndarray:
    """Noise of which the cases of a patient share half."""
    own = rng.normal(size=patients[-1] + 1)
    return 0.5**0.5 * (own[patients] + rng.normal(size=len(patients)))


def simulated(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """The counts of all kinds of samples, at the margin and, of equal models, the power."""
    for given in options.sizes:
        sizes = tuple(map(int, given.split("+")))
        print(f"{options.design}, {given}", file=sys.stderr, flush=True)
        at_margin = product(SHAPES, options.aucs, CORRELATIONS, [None])
        for shape, auc, correlation, margin in (
            *at_margin, *product(["equal"], POWER_AUCS, CORRELATIONS, MARGINS)
        ):  # fmt: skip
            kind = sizes, shape, auc, correlation
            asked = {"replicates": options.replicates, "seed": options.seed, "margin": margin}
            if "clusters" in options.design:
                yield counts_of_clusters(*kind, **asked, uneven=options.design != "clusters")
            elif options.design == "folds":
                for own, measure in product((1, 10), MEASURES):
                    yield counts_on_folds(*kind, repeats=own, **asked, measure=measure)
            else:
                for levels in (False, True):
                    yield from counts(*kind, **asked, levels=levels, alpha=options.alpha)


def page_table(rates: pl.DataFrame) -> str:
    """The largest rates of passes by size and kind of shape, and the power, for the page."""
    kinds = ("normal", "hidden", "lowest")
    of = rates.with_columns(
        kind=pl.col("shape").str.split(" ").list.first(), rate=pl.col("passed") / pl.col("of"),
        was=pl.col("without") / pl.col("of"),
    )  # fmt: skip
    lines = [
        "| cases | measure | normal | hidden | lowest | without | power at 0.05 | at 0.1 |",
        "|---" * 8 + "|",
    ]
    rows = of.select("design", "measure", "positives", "negatives").unique(maintain_order=True)
    for row in rows.sort("design", "measure", maintain_order=True).iter_rows(named=True):
        own = of.filter(*(pl.col(name) == value for name, value in row.items()))
        wrong = own.filter(pl.col("kind") != "equal")
        cells = [f"{wrong.filter(kind=one)['rate'].max():.3f}" for one in kinds]
        cells.append("–" if wrong["was"].null_count() else f"{wrong['was'].max():.3f}")
        for margin in MARGINS:
            equal = own.filter((pl.col("margin") - margin).abs() < 1e-9, kind="equal")
            was = equal["was"].mean()
            cells.append(f"{equal['rate'].mean():.2f}" + ("" if was is None else f" ({was:.2f})"))
        design = "" if row["design"] == "cases" else f", {row['design']}"
        size = f"{row['positives']} + {row['negatives']:,}{design}"
        lines.append(f"| {size} | {row['measure'].upper()} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the rates, or write the counts and the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--aucs", nargs="+", type=float, default=AUCS)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--design", choices=("cases", "folds", "clusters", "uneven clusters"),
                        default="cases")  # fmt: skip
    parser.add_argument("--write", action="store_true", help="write the counts and the page")
    options = parser.parse_args()
    found = pl.DataFrame([*simulated(options)], infer_schema_length=None)
    if not options.write:
        print(page_table(found))
        return
    key = ["design", "positives", "negatives"]
    if RATES.exists():
        found = pl.concat(
            [pl.read_csv(RATES).join(found, on=key, how="anti"), found], how="vertical_relaxed"
        )
    found.sort(*key, maintain_order=True).write_csv(RATES)
    table = f"<!-- gate rates -->\n{page_table(pl.read_csv(RATES))}<!-- end -->"
    PAGE.write_text(MARKED.sub(table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
