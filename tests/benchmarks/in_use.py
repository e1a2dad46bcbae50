"""How `monitor`, `shift_p` and `labelled` do on simulated days.

``python tests/benchmarks/in_use.py PART [--runs N]``, where PART is one of PARTS: scores of
negatives are normal, those of positives are two standard deviations higher, except in drifts.
A share has the standard error √(share (1 − share) / runs).
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from time import perf_counter

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

import polaroc as pr
from polaroc.base.statistics import binomial_band
from polaroc.deployment.alarms import Assessment, Terms
from polaroc.deployment.estimators import Labelled, Unlabelled, mixture_p_value
from polaroc.deployment.label_samples import Sample, why_not_random
from polaroc.deployment.labelled import Bins, Labels, labelled_estimates
from polaroc.deployment.limits import FOR_REFERENCE, WINDOWS, Looks, Reference, Threshold, spent

DISTANCE, THRESHOLD, LEVEL = 2.0, 1.8, 0.95
CASES = 2_000
REFERENCES = ((200, 1_800), (1_000, 9_000))
MANY = 10**9
Cdf = Callable[[np.ndarray], np.ndarray]
# Of each drift the shares at or above scores of positives and of negatives.
DRIFTS: dict[str, tuple[Cdf, Cdf]] = {
    "none": (lambda s: norm.sf(s - DISTANCE), norm.sf),
    "all scores 0.5 higher": (lambda s: norm.sf(s - DISTANCE - 0.5), lambda s: norm.sf(s - 0.5)),
    "negatives 0.4 higher": (lambda s: norm.sf(s - DISTANCE), lambda s: norm.sf(s - 0.4)),
    "positives 1 lower": (lambda s: norm.sf(s - DISTANCE + 1), norm.sf),
    "scores 1.3 times as wide": (
        lambda s: norm.sf((s - DISTANCE) / 1.3), lambda s: norm.sf(s / 1.3),
    ),
}  # fmt: skip


def reference(rng: np.random.Generator, sizes: tuple[int, int]) -> Reference:
    positive, negative = (rng.normal(size=n) + d for n, d in zip(sizes, (DISTANCE, 0), strict=True))
    return Reference.from_scores(positive, negative, Threshold(THRESHOLD, 1.0, 0.1), 1 - LEVEL)


def above(
    rng: np.random.Generator, known: Reference, priors: np.ndarray, drift: str, cases: int = CASES
) -> np.ndarray:
    """Counts at or above each cut of cases of as many days as there are priors."""
    order = np.argsort(known.cuts)
    edges = known.cuts[order]
    tails = [np.concatenate([[1.0], tail(edges), [0.0]]) for tail in DRIFTS[drift]]
    t, f = (-np.diff(tail) for tail in tails)
    counts = rng.multinomial(cases, priors[:, None] * t + (1 - priors[:, None]) * f)
    counted = np.empty((len(priors), edges.size), dtype=int)
    counted[:, order] = counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return counted


def windows(called: np.ndarray, cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the last days, as `monitor` has them."""
    total = np.concatenate([np.zeros_like(called[:1]), called.cumsum(axis=0)])
    days = np.arange(1, len(called) + 1)
    sums, sizes = [], []
    for size in WINDOWS:
        there = days >= size
        sums.append(np.where(there[:, None], total[days] - total[np.maximum(days - size, 0)], 0))
        sizes.append(np.where(there, size * cases, 0))
    return np.stack(sums, axis=1), np.stack(sizes, axis=1)


def assessed(
    known: Reference, called: np.ndarray, over: tuple[float, float], cases: int = CASES
) -> Assessment:
    called, sizes = windows(called, cases)
    looks = Looks(known, range(1, len(called) + 1), called, sizes, sizes * cases)
    return Assessment(looks, Terms(over, 1, 1), np.zeros(len(called)))


def first(alarms: list[object]) -> int | None:
    """The first day with an alarm, from 1 on."""
    return next((day for day, alarm in enumerate(alarms, 1) if alarm is not None), None)


def false_alarms(runs: int) -> Iterator[dict[str, object]]:
    """1,000 days on which nothing changes but the prior within its range, looked at each day."""
    days = np.arange(1_000)
    for sizes, moves in product(REFERENCES, (False, True)):
        rng, over = np.random.default_rng(1), (0.05, 0.2)
        priors = 0.1 + (0.04 * np.sin(days / 30) if moves else 0 * days)
        alarms, held, daily = 0, 0, 0
        for _ in range(runs):
            known = reference(rng, sizes)
            found = assessed(known, above(rng, known, priors, "none"), over)
            alarms += any(first(a) for a in (found.prior_alarms(), found.threshold_alarms()))
            t, f = norm.sf(THRESHOLD - DISTANCE), norm.sf(THRESHOLD)
            share = priors * t + (1 - priors) * f
            true = {
                "prior": priors, "precision": priors * t / share, "posfrac": share,
                "cost": priors * (1 - t) + (1 - priors) * f,
            }  # fmt: skip
            all_held = [
                (low <= true[name]) & (true[name] <= high)
                for name, (_, (low, high)) in found.quantities().items()
            ]
            held += all(inside.all() for inside in all_held)
            # What looking at an interval of one day each would do.
            rate = known.tp[0] / known.positives, known.fp[0] / known.negatives
            estimate = (found.looks.called[:, 0, 0] / CASES - rate[1]) / (rate[0] - rate[1])
            error = np.sqrt(share * (1 - share) / CASES) / (rate[0] - rate[1])
            daily += (
                (estimate - 1.96 * error > over[1]) | (estimate + 1.96 * error < over[0])
            ).any()
        yield {
            "reference": sizes, "prior": "moves, 6–14 %" if moves else "10 %", "runs": runs,
            "alarm in 1,000 days": alarms / runs, "all limits hold": held / runs,
            "daily z-test alarms": daily / runs,
        }  # fmt: skip


def oracle(rng: np.random.Generator, priors: np.ndarray, over: tuple[float, float]) -> int | None:
    """The first alarm of the same limits on the share of positives, if all labels were known."""
    called, cases = windows(rng.binomial(CASES, priors)[:, None], CASES)
    part = np.full(len(WINDOWS), 0.5 / (len(WINDOWS) - 1))
    part[0] = 0.5
    error = (1 - LEVEL) * np.array([spent(look) for look in range(1, len(priors) + 1)])[:, None]
    band = binomial_band(called[..., 0], np.maximum(cases, 1), error * part)
    beyond = ((band.lower > over[1]) | (band.upper < over[0])) & (cases > 0)
    return first([True if any_ else None for any_ in beyond.any(axis=1)])


def with_known_curves(known: Reference) -> Reference:
    """The same cuts with their true rates, and the whole error rate for the shares in use."""
    rates = norm.sf(known.cuts - DISTANCE), norm.sf(known.cuts)
    tp, fp = (np.rint(rate * MANY).astype(int) for rate in rates)
    error = known.error / (1 - FOR_REFERENCE)
    return replace(known, tp=tp, fp=fp, positives=MANY, negatives=MANY, error=error)


SHIFTS = (0.0, 0.05, 0.15)
REFERENCE_DAYS = 30
# What is drawn anew each day: shifts of positives and of negatives, and the width of scores.
DIFFERENCES = {
    "all scores shift": lambda rng, sd, n: (*[rng.normal(scale=sd, size=n)] * 2, np.ones(n)),
    "each class shifts": lambda rng, sd, n: (*rng.normal(scale=sd, size=(2, n)), np.ones(n)),
    "scores widen": lambda rng, sd, n: (0.0, 0.0, np.exp(rng.normal(scale=sd, size=n))),
}


def reference_of_days(
    rng: np.random.Generator, sizes: tuple[int, int], sd: float, told: bool, kind: str,
    number: int = REFERENCE_DAYS,
) -> Reference:  # fmt: skip
    """A reference of a number of days, which differ."""
    codes = [rng.integers(0, number, n) for n in sizes]
    *shifts, wide = (np.broadcast_to(one, number) for one in DIFFERENCES[kind](rng, sd, number))
    positive, negative = (
        rng.normal(size=n) * wide[code] + d + shift[code]
        for n, d, code, shift in zip(sizes, (DISTANCE, 0), codes, shifts, strict=True)
    )
    days = (codes[0], codes[1]) if told else None
    return Reference.from_scores(
        positive, negative, Threshold(THRESHOLD, 1.0, 0.1), 1 - LEVEL, days
    )


def above_of_days(
    rng: np.random.Generator,
    known: Reference,
    priors: np.ndarray,
    sd: float,
    kind: str,
    drift: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Counts at or above each cut on days that differ as those of the reference do.

    A `drift` has by how much positives and negatives score more on each day, and by which factor
    scores are wider.
    """
    of_positives, of_negatives, wide = DIFFERENCES[kind](rng, sd, len(priors))
    if drift is not None:
        of_positives, of_negatives = of_positives + drift[0], of_negatives + drift[1]
        wide = wide * drift[2]
    order = np.argsort(known.cuts)
    edges = known.cuts[order, None]
    share = priors * norm.sf((edges - DISTANCE - of_positives) / wide)
    share += (1 - priors) * norm.sf((edges - of_negatives) / wide)
    tails = np.concatenate([np.ones((1, len(priors))), share, np.zeros((1, len(priors)))])
    counts = rng.multinomial(CASES, -np.diff(tails, axis=0).T)
    counted = np.empty((len(priors), known.cuts.size), dtype=int)
    counted[:, order] = counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return counted


def year_of_days(
    rng: np.random.Generator, sizes: tuple[int, int], priors: np.ndarray, sd: float, told: bool,
    kind: str = "all scores shift", number: int = REFERENCE_DAYS,
) -> Assessment:  # fmt: skip
    """A year of days that differ, watched from a reference whose days are told apart or not."""
    known = reference_of_days(rng, sizes, sd, told, kind, number)
    return assessed(known, above_of_days(rng, known, priors, sd, kind), (0.05, 0.2))


def jitter(runs: int) -> Iterator[dict[str, object]]:
    """Years in which days differ as the thirty named days of the reference do.

    The prior is 20 % all the time, the end of its range.
    """
    ends = np.full(365, 0.2)
    plans = [*((sd, "all scores shift") for sd in SHIFTS[1:]),
             *((SHIFTS[-1], kind) for kind in list(DIFFERENCES)[1:])]  # fmt: skip
    for (sd, kind), sizes in product(plans, REFERENCES):
        rng, alarms, held = np.random.default_rng(12), 0, 0
        for _ in range(runs):
            year = year_of_days(rng, sizes, ends, sd, True, kind)
            alarms += any(first(own) for own in (year.prior_alarms(), year.threshold_alarms()))
            (low, high) = year.quantities()["prior"][1]
            held += ((low <= ends) & (high >= ends)).all()
        yield {
            "reference": sizes, "days differ": kind, "SD": sd, "runs": runs,
            "false alarm": alarms / runs, "limits held": held / runs,
        }  # fmt: skip


def samples(runs: int) -> Iterator[dict[str, object]]:
    """How often labels of 5,000 cases, 10 % positive, are taken for no random sample."""
    ways: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]] = {
        "at random": lambda rng, score, _: rng.permutation(score.size) < 200,
        "at random, 2,500": lambda rng, score, _: rng.permutation(score.size) < 2_500,
        "alarms alone": lambda rng, score, _: (score >= THRESHOLD) & (rng.random(score.size) < 0.4),
        "alarms twice as likely": lambda rng, score, _: (
            rng.random(score.size) < np.where(score >= THRESHOLD, 0.08, 0.04)
        ),
        "scores one SD higher": lambda rng, score, _: (
            rng.random(score.size) < 0.04 * np.exp(np.minimum(score, 3) - 0.5)
        ),
        "positives alone": lambda rng, score, truth: truth & (rng.random(score.size) < 0.4),
    }
    for way, draw in ways.items():
        rng, refuted, counts = np.random.default_rng(13), 0, []
        for _ in range(runs):
            known = reference(rng, REFERENCES[0])
            score, truth = _used(rng, 5_000, "none", 0.1)
            drawn = draw(rng, score, truth)
            at_cuts = known.counts(score, np.zeros(score.size, dtype=int), 1)
            bins = Bins.at_prior(known, at_cuts[0], score.size, 0.1)
            place = np.searchsorted(np.sort(known.cuts), score[drawn], side="right")
            labelled = Labels(place, truth[drawn], np.full(drawn.sum(), drawn.mean()))
            refuted += why_not_random([Sample(1, bins, labelled)], "") is not None
            counts.append(drawn.sum())
        yield {
            "drawn": way, "runs": runs, "labels": float(np.mean(counts)),
            "no random sample": f"{refuted / runs:.4f}",
        }  # fmt: skip


def delays(runs: int) -> Iterator[dict[str, object]]:
    """Days until an alarm after the prior changed on day 101; 60, or 400, days are waited.

    One oracle knows the curves of the classes, the other the labels of all cases.
    """
    changes = {"doubled": 2.0, "tenfold": 10.0, "halved": 0.5}
    for sizes, (name, factor) in product(REFERENCES, changes.items()):
        rng, before = np.random.default_rng(2), 0.05 if factor > 2 else 0.1
        over = (before / 1.25, before * 1.25)
        waited = 400 if factor < 1 else 60
        priors = np.where(np.arange(100 + waited) < 100, before, before * factor)
        found, best, of_curves, early = [], [], [], 0
        for _ in range(runs):
            known = reference(rng, sizes)
            called = above(rng, known, priors, "none")
            alarm = first(assessed(known, called, over).prior_alarms())
            early += alarm is not None and alarm <= 100
            found.append(np.inf if alarm is None else alarm - 100)
            at_curves = first(assessed(with_known_curves(known), called, over).prior_alarms())
            of_curves.append((at_curves or np.inf) - 100)
            best.append((oracle(rng, priors, over) or np.inf) - 100)
        yield {
            "reference": sizes, "prior": f"{before:g}, {name}",
            "over": f"{over[0]:.3g}–{over[1]:.3g}",
            "runs": runs, "alarm": np.isfinite(found).mean(), "early": early / runs,
            "median delay": np.median(found),
            "90 % within": np.quantile(found, 0.9, method="higher"),
            "curves known: median": np.median(of_curves),
            "their 90 %": np.quantile(of_curves, 0.9, method="higher"),
            "labels known: median": np.median(best),
            "its 90 %": np.quantile(best, 0.9, method="higher"),
        }  # fmt: skip


def speed(runs: int) -> Iterator[dict[str, object]]:
    """Seconds for one more day of scores after a year, the best of a few runs."""
    rng = np.random.default_rng(8)
    truth = np.repeat([True, False], REFERENCES[1])
    tuned = pl.DataFrame({"truth": truth, "score": rng.normal(size=truth.size) + 2 * truth})
    names = {"truth": "truth", "score": "score", "time": "day", "points": THRESHOLD}
    year = pl.DataFrame({"score": rng.normal(size=365_000), "day": np.arange(365_000) // 1_000})
    state = pr.monitor(tuned, year, **names, over=(0.01, 0.2)).state
    for size in (10_000, 1_000_000, 10_000_000):
        score, _ = _used(rng, size, "none", 0.1)
        day = pl.DataFrame({"score": score, "day": 365})
        seconds = []
        for _ in range(min(runs, 5)):
            begun = perf_counter()
            pr.monitor(tuned, day, **names, over=(0.01, 0.2), state=state)
            seconds.append(perf_counter() - begun)
        yield {"rows of the day": f"{size:,}", "seconds": min(seconds)}


def drifts(runs: int) -> Iterator[dict[str, object]]:
    """Days until "more than the prior has shifted" after a drift on day 101, in 200 days."""
    for sizes, drift in product(REFERENCES, [name for name in DRIFTS if name != "none"]):
        rng, over, found, early = np.random.default_rng(3), (0.05, 0.2), [], 0
        for _ in range(runs):
            known = reference(rng, sizes)
            sound, changed = (
                above(rng, known, np.full(days, 0.1), name)
                for days, name in ((100, "none"), (200, drift))
            )
            shifted = assessed(known, np.concatenate([sound, changed]), over).shifted.any(axis=1)
            early += shifted[:100].any()
            found.append(np.flatnonzero(shifted)[0] - 99 if shifted.any() else np.inf)
        rng, tested = np.random.default_rng(4), []
        for _ in range(runs):
            tested.append(_p_value(rng, sizes, drift) < 0.01)
        yield {
            "reference": sizes, "drift": drift, "runs": runs, "early": early / runs,
            "on the first day": np.mean(np.array(found) <= 1),
            "within 10 days": np.mean(np.array(found) <= 10),
            "within 200 days": np.isfinite(found).mean(),
            "shift_p < .01 on one day": np.mean(tested),
        }  # fmt: skip


def _p_value(rng: np.random.Generator, sizes: tuple[int, int], drift: str) -> float:
    """Of one day at prior 0.1."""
    known = [rng.normal(size=n) + d for n, d in zip(sizes, (DISTANCE, 0), strict=True)]
    score = np.sort(np.concatenate(known))[::-1]
    pos = np.isin(score, known[0]).astype(float)
    truth = rng.random(CASES) < 0.1
    used = rng.normal(size=CASES) + DISTANCE * truth
    moved = {
        "all scores 0.5 higher": used + 0.5, "negatives 0.4 higher": used + 0.4 * ~truth,
        "positives 1 lower": used - truth, "scores 1.3 times as wide": _wider(used, truth),
        "none": used,
    }[drift]  # fmt: skip
    unlabelled = Unlabelled(np.sort(moved)[::-1], np.ones(CASES))
    return float(mixture_p_value(Labelled(score, pos, 1 - pos), unlabelled) or 0)


def _wider(used: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return DISTANCE * truth + 1.3 * (used - DISTANCE * truth)


def sizes_of_the_test(runs: int) -> Iterator[dict[str, object]]:
    """How often shift_p is below a level where only the prior has shifted."""
    for sizes, prior, digits in product(
        ((10, 190), (60, 140), (300, 700)), (0.01, 0.1, 0.5), (None, 0)
    ):
        rng, found = np.random.default_rng(5), []
        for _ in range(runs):
            truth = rng.random(500) < prior
            used, *known = (
                score if digits is None else score.round(digits)
                for score in (
                    rng.normal(size=500) + DISTANCE * truth,
                    *(rng.normal(size=n) + d for n, d in zip(sizes, (DISTANCE, 0), strict=True)),
                )
            )
            score = np.unique(np.concatenate(known))[::-1]
            pos, neg = ((one[:, None] == score).sum(axis=0).astype(float) for one in known)
            values, count = np.unique(used, return_counts=True)
            unlabelled = Unlabelled(values[::-1], count[::-1].astype(float))
            found.append(mixture_p_value(Labelled(score, pos, neg), unlabelled) or 1.0)
        yield {
            "reference": sizes, "prior": prior, "scores": "tied" if digits == 0 else "continuous",
            "runs": runs, "p ≤ .05": np.mean(np.array(found) <= 0.05),
            "p < .01": np.mean(np.array(found) < 0.01),
        }  # fmt: skip


def labels(runs: int) -> Iterator[dict[str, object]]:
    """Coverage and width with labels of a random sample of 5,000 cases."""
    situations = (
        ("none", 0.1), ("none", 0.01), ("none", 0.03), ("none", 0.4), ("covariates", 0.15),
        ("positives 1 lower", 0.15),
    )  # fmt: skip
    for (drift, prior), count in product(situations, (100, 400)):
        rng, inside, widths, few, alone = np.random.default_rng(6), [], [], 0, []
        truths = []
        for _ in range(runs):
            known = reference(rng, REFERENCES[0])
            score, truth = _used(rng, 5_000, drift, prior)
            called = score >= THRESHOLD
            truths.append([truth.mean(), truth[called].mean(), (truth != called).mean()])
            drawn = rng.random(score.size) < count / score.size
            few += called[drawn].sum() < 20
            at_cuts = known.counts(score, np.zeros(score.size, dtype=int), 1)
            looks = Looks(known, [1], *windows(at_cuts, score.size))
            bins = Bins.at_prior(known, at_cuts[0], score.size, float(looks.prior()[0]))
            place = np.searchsorted(np.sort(known.cuts), score[drawn], side="right")
            cases = Labels(place, truth[drawn], np.full(drawn.sum(), count / score.size))
            found = labelled_estimates(bins, cases, Terms(None, 1, 1), LEVEL)
            told = [found[f"{name}_labelled"] for name in ("prior", "precision", "cost")]
            inside.append([one[1:] for one in told])
            widths.append([one[2] - one[1] for one in told])
            # Labels alone: Clopper and Pearson's limits.
            hits = [truth[drawn], truth[drawn & called], (truth != called)[drawn]]
            one = [binomial_band(np.array([h.sum()]), max(h.size, 1), 0.05) for h in hits]
            alone.append([float(band.upper[0] - band.lower[0]) for band in one])
        true = np.mean(truths, axis=0)
        limits = np.array(inside)
        held = ((limits[..., 0] <= true) & (true <= limits[..., 1])).mean(axis=0)
        row: dict[str, object] = {
            "drift": drift, "prior": f"{true[0]:.3f}", "labels": count, "runs": runs,
            "< 20 alarms": few / runs,
        }  # fmt: skip
        for place, name in enumerate(("prior", "precision", "cost")):
            own, others = np.nanmean(np.array(widths)[:, place]), np.mean(np.array(alone)[:, place])
            row |= {f"{name} held": held[place], "width" + " " * place: f"{own:.3f} ({others:.3f})"}
        yield row


def labels_of_many_days(runs: int) -> Iterator[dict[str, object]]:
    """100 of 5,000 cases labelled on each of 30 days: limits of each day, and of all at once."""
    days, count, names = 30, 100, ("prior", "precision", "cost")
    for drift, prior in (("none", 0.1), ("positives 1 lower", 0.15)):
        rng, inside, widths = np.random.default_rng(11), [], []
        for _ in range(runs):
            known = reference(rng, REFERENCES[0])
            for day in range(1, days + 1):
                score, truth = _used(rng, 5_000, drift, prior)
                called = score >= THRESHOLD
                true = truth.mean(), truth[called].mean(), (truth != called).mean()
                drawn = rng.choice(score.size, count, replace=False)
                at_cuts = known.counts(score, np.zeros(score.size, dtype=int), 1)
                looks = Looks(known, [1], *windows(at_cuts, score.size))
                bins = Bins.at_prior(known, at_cuts[0], score.size, float(looks.prior()[0]))
                place = np.searchsorted(np.sort(known.cuts), score[drawn], side="right")
                cases = Labels(place, truth[drawn], np.full(count, count / score.size))
                for error in (1 - LEVEL, (1 - LEVEL) * spent(day) / len(names)):
                    found = labelled_estimates(bins, cases, Terms(None, 1, 1), 1 - error)
                    limits = np.array([found[f"{name}_labelled"][1:] for name in names])
                    # With fewer than two labelled alarms there are no limits of precision.
                    inside.append(~((limits[:, 0] > true) | (limits[:, 1] < true)))
                    widths.append(limits[:, 1] - limits[:, 0])
        held = np.array(inside).reshape(runs, days, 2, len(names))
        wide = np.nanmean(np.array(widths).reshape(runs, days, 2, len(names)), axis=(0, 1))
        for at, limits_of in enumerate(("each day", "all at once")):
            row: dict[str, object] = {
                "drift": drift, "runs": runs, "limits of": limits_of,
                "all of all days held": held[:, :, at].all(axis=(1, 2)).mean(),
            }  # fmt: skip
            for place, name in enumerate(names):
                row |= {
                    f"{name} held": held[:, :, at, place].mean(),
                    "width" + " " * place: wide[at, place],
                }
            yield row


def _used(
    rng: np.random.Generator, size: int, drift: str, prior: float
) -> tuple[np.ndarray, np.ndarray]:
    many = size * 8 if drift == "covariates" else size
    truth = rng.random(many) < prior
    score = rng.normal(size=many) + DISTANCE * truth
    if drift == "covariates":
        # Cases with scores near 1.2 have become more frequent.
        kept = np.flatnonzero(rng.random(many) < np.exp(-0.5 * (score - 1.2) ** 2))[:size]
        return score[kept], truth[kept]
    return (score - truth if drift == "positives 1 lower" else score), truth


def _tables(
    rng: np.random.Generator, runs: int, cases: int, prior: float | None, sizes: tuple[int, int]
) -> pl.DataFrame:
    """Tables of posteriors at the reference's prior, with so many positives or at a prior."""
    truth = np.tile(np.arange(cases) < sizes[0], (runs, 1))
    if prior is not None:
        truth = rng.random(truth.shape) < prior
    raw = rng.normal(size=truth.shape) + DISTANCE * truth
    odds = sizes[0] / sizes[1] * np.exp(DISTANCE * raw - DISTANCE**2 / 2)
    run = np.repeat(np.arange(runs), cases)
    columns = {"truth": truth.ravel(), "score": (odds / (1 + odds)).ravel()}
    return pl.DataFrame({"run": run, **columns})


def _true_rates(scores: np.ndarray, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Of thresholds among posteriors."""
    odds = scores / (1 - scores) * sizes[1] / sizes[0]
    raw = np.log(odds) / DISTANCE + DISTANCE / 2
    return norm.sf(raw - DISTANCE), norm.sf(raw)


def _true_auprec(prior: float) -> float:
    recall = (np.arange(100_000) + 0.5) / 100_000
    fpr = norm.sf(norm.isf(recall) + DISTANCE)
    return float(np.mean(recall / (recall + (1 - prior) / prior * fpr)))


def carried_once(
    rng: np.random.Generator, runs: int, sizes: tuple[int, int], prior: float, method: str
) -> list[pl.DataFrame]:
    """What limits at estimated priors hold, by quantity; 1,000 cases in use.

    Thresholds are chosen on the reference at the estimate, and judged on other cases.
    """
    reference, test = (_tables(rng, runs, sum(sizes), None, sizes) for _ in range(2))
    used = _tables(rng, runs, 1_000, prior, sizes).drop("truth")
    names = {"truth": "truth", "score": "score", "by": "run"}
    estimates = pr.estimate_prior(reference, used, **names, method=method)
    points = pr.operating_points(pr.curve(reference, **names), "cost", priors=estimates)
    judged = pr.apply_thresholds(test, points, **names, intervals=True)
    t, f = _true_rates(judged["threshold"].to_numpy(), sizes)
    true = {
        "precision": prior * t / (prior * t + (1 - prior) * f),
        "posfrac": prior * t + (1 - prior) * f, "cost": prior * (1 - t) + (1 - prior) * f,
    }  # fmt: skip
    limits = [
        judged.select(
            pl.lit(name).alias("of"), pl.Series("true", values),
            pl.col(f"{name}_lower").alias("lower"), pl.col(f"{name}_upper").alias("upper"),
        )
        for name, values in true.items()
    ]  # fmt: skip
    areas = pr.evaluate(test, **names, priors=estimates, intervals=True, measures="auprec").select(
        pl.lit("AUPREC").alias("of"), pl.lit(_true_auprec(prior)).alias("true"), "lower", "upper"
    )
    return [*limits, areas]


def carried(runs: int) -> Iterator[dict[str, object]]:
    """Coverage of limits at estimated priors, from the estimate to the threshold that is judged."""
    for sizes, prior, method in product(
        ((50, 450), (200, 1_800)), (0.05, 0.2), ("em", "confusion")
    ):
        rng = np.random.default_rng(9)
        # Areas are taken at the priors of all tables of a part.
        parts = [carried_once(rng, 20, sizes, prior, method) for _ in range(max(runs // 20, 1))]
        limits = pl.concat(table for part in parts for table in part).drop_nulls("lower")
        row: dict[str, object] = {"reference": sizes, "prior": prior, "method": method}
        for (name,), rows in limits.group_by("of", maintain_order=True):
            held = rows.select(pl.col("true").is_between("lower", "upper").mean()).item()
            row |= {str(name): held}
            tables = rows.height
        yield row | {"tables with an interval": tables}


def carried_to_a_choice(runs: int) -> Iterator[dict[str, object]]:
    """Coverage of the limits of both models of `choose` at an estimated prior."""
    sizes, prior = (50, 450), 0.1
    rng, held = np.random.default_rng(10), {"auprec": [], "expected_cost": []}
    for _ in range(runs):
        reference, tuning, test = (
            pl.concat(
                _tables(rng, 1, 500, None, sizes).with_columns(
                    pl.lit(model).alias("model"), case=pl.int_range(500)
                )
                for model in "AB"
            )
            for _ in range(3)
        )
        used = _tables(rng, 1, 1_000, prior, sizes)
        names = {"truth": "truth", "score": "score"}
        over = pr.estimate_prior(
            reference.filter(model="A"), used.drop("truth"), **names, model=None, fold=None,
            method="confusion",
        )  # fmt: skip
        if over["lower"].null_count():
            continue
        for measure, more in (("auprec", {}), ("expected_cost", {"tuning": tuning})):
            choice = pr.choose(test, **names, over=over, measure=measure, **more)
            models = choice.models.drop_nulls("expected_lower")
            true = np.full(models.height, _true_auprec(prior))
            if measure == "expected_cost":
                t, f = _true_rates(models["threshold"].to_numpy(), sizes)
                true = prior * (1 - t) + (1 - prior) * f
            lower, upper = (models[f"expected_{end}"].to_numpy() for end in ("lower", "upper"))
            held[measure] += ((lower <= true) & (true <= upper)).tolist()
    yield {name: np.mean(one) for name, one in held.items()} | {"limits": len(held["auprec"])}


PARTS = {
    "carried": carried, "carried-to-a-choice": carried_to_a_choice, "false-alarms": false_alarms,
    "jitter": jitter, "delays": delays, "speed": speed, "drifts": drifts,
    "test-size": sizes_of_the_test, "labels": labels, "labels-of-many-days": labels_of_many_days,
    "samples": samples,
}  # fmt: skip


def shown(title: str, rows: Iterable[dict[str, object]]) -> None:
    """Print rows as a table."""
    first_row, *others = rows
    drawn = Table(*first_row, title=title)
    for row in (first_row, *others):
        drawn.add_row(*(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))
    Console(width=170).print(drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    for name in asked.parts or PARTS:
        shown(f"{name}: {PARTS[name].__doc__}", PARTS[name](asked.runs))


if __name__ == "__main__":
    main()
