"""How `monitor` and `estimate_prior` do on simulated days.

Scores of negatives are normal, those of positives two standard deviations higher; there are 2,000
cases a day. "200 + 1,800" is a reference of so many positives and negatives.

quiet
    1,000 days on which nothing changes but the prior within its range: runs with a false alarm,
    and runs of which every limit of every day holds. Beside it a z-test of each day that takes the
    rates of the reference for exact.
days
    Years of days that differ: each shifts all its scores by a normal number, as those of the
    reference do. Years with a false alarm where the prior moves within its range, with the days of
    the reference named or not; and the days until an alarm after the prior left its range.
detection
    What changes on day 31, by how much, and the days until an alarm of the 90 that follow.
labels
    Limits from the labels of a random sample of 5,000 cases: how often they hold, and their width
    beside that of Clopper and Pearson's from the labels alone.
samples
    How often labels are said to be no random sample, by how they were drawn.
carried
    Limits of thresholds and areas at an estimated prior, from the estimate to the threshold that
    was chosen at it and is judged on other cases.
priors
    Intervals of `estimate_prior`: coverage over classes one and two standard
    deviations apart, references with 5 and 50 % positives, and 1, 10 and 50 % in use.
"""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr
from polaroc.base.statistics import binomial_band
from polaroc.deployment.alarms import BETTER_THRESHOLD, LEFT_RANGE, OTHER_SHIFT, Assessment, Terms
from polaroc.deployment.label_samples import Sample, why_not_random
from polaroc.deployment.labelled import Bins, Labels, labelled_estimates
from polaroc.deployment.limits import WINDOWS, Looks, Reference, Threshold
from simulations.design import Design

DISTANCE, THRESHOLD, LEVEL = 2.0, 1.8, 0.95
CASES = 2_000
REFERENCES = ("200 + 1,800", "1,000 + 9,000")
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


def two_sizes(cases: str) -> tuple[int, int]:
    """Positives and negatives."""
    positives, negatives = (int(one.replace(",", "")) for one in cases.split(" + "))
    return positives, negatives


def reference(rng: np.random.Generator, sizes: tuple[int, int]) -> Reference:
    """Labelled cases, and the threshold in use."""
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
    """What `monitor` finds on each day."""
    called, sizes = windows(called, cases)
    looks = Looks(known, range(1, len(called) + 1), called, sizes, sizes * cases)
    return Assessment(looks, Terms(over, 1, 1), np.zeros(len(called)))


def first(alarms: list[object]) -> int | None:
    """The first day with an alarm, from 1 on."""
    return next((day for day, alarm in enumerate(alarms, 1) if alarm is not None), None)


def of_quiet(replicates: int, seed: int, reference_of: str, prior: str) -> dict[str, object]:
    """Shares of runs with a false alarm, and with limits that all hold."""
    days, over, sizes = np.arange(1_000), (0.05, 0.2), two_sizes(reference_of)
    rng = np.random.default_rng(seed)
    priors = 0.1 + (0.04 * np.sin(days / 30) if "moves" in prior else 0 * days)
    alarms, held, daily = 0, 0, 0
    for _ in range(replicates):
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
        daily += ((estimate - 1.96 * error > over[1]) | (estimate + 1.96 * error < over[0])).any()
    return {"alarm": alarms / replicates, "all limits hold": held / replicates,
            "daily z-test alarms": daily / replicates}  # fmt: skip


def reference_of_days(
    rng: np.random.Generator, sizes: tuple[int, int], sd: float, named: bool, number: int
) -> Reference:  # fmt: skip
    """A reference of a number of days, which differ."""
    codes = [rng.integers(0, number, n) for n in sizes]
    shift = rng.normal(scale=sd, size=number)
    positive, negative = (
        rng.normal(size=n) + d + shift[code]
        for n, d, code in zip(sizes, (DISTANCE, 0), codes, strict=True)
    )
    days = (codes[0], codes[1]) if named else None
    return Reference.from_scores(
        positive, negative, Threshold(THRESHOLD, 1.0, 0.1), 1 - LEVEL, days
    )


def above_of_days(
    rng: np.random.Generator,
    known: Reference,
    priors: np.ndarray,
    sd: float,
    drift: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Counts at or above each cut on days that differ as those of the reference do.

    A `drift` has by how much positives and negatives score more on each day, and by which factor
    scores are wider.
    """
    shift = rng.normal(scale=sd, size=len(priors))
    of_positives, of_negatives, wide = (shift, shift, np.ones(len(priors)))
    if drift is not None:
        of_positives, of_negatives, wide = shift + drift[0], shift + drift[1], drift[2]
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
    rng: np.random.Generator, sizes: tuple[int, int], priors: np.ndarray, sd: float, named: bool,
    number: int = 30,
) -> Assessment:  # fmt: skip
    """A year of days that differ, watched from a reference whose days are named or not."""
    known = reference_of_days(rng, sizes, sd, named, number)
    return assessed(known, above_of_days(rng, known, priors, sd), (0.05, 0.2))


YEAR = np.arange(365)
MOVES, GROWN = 0.1 + 0.04 * np.sin(YEAR / 30), np.where(YEAR < 100, 0.1, 0.4)


def of_days(
    replicates: int, seed: int, reference_of: str, jitter: float, days: int
) -> dict[str, object]:
    """Shares of years with a false alarm, and the days until a true one."""
    sizes, alarms = two_sizes(reference_of), {}
    for named in (False, True):
        rng, count = np.random.default_rng(seed), 0
        for _ in range(replicates):
            year = year_of_days(rng, sizes, MOVES, jitter, named, days)
            count += any(first(own) for own in (year.prior_alarms(), year.threshold_alarms()))
        alarms[named] = count / replicates
    rng, found = np.random.default_rng(seed), []
    for _ in range(replicates):
        year = year_of_days(rng, sizes, GROWN, jitter, True, days)
        found.append(first(year.prior_alarms()[100:]) or np.inf)
    share = {"false alarms: not named": alarms[False], "false alarms: named": alarms[True]}
    return share | {"found": in_words(found)}


def in_words(days: list[float]) -> str:
    """The share of runs with an alarm, the median of the days until it, and their 90 %."""
    share = np.isfinite(days).mean()
    ends = [f"{end:.0f}" if np.isfinite(end) else "–"
            for end in np.quantile(days, [0.5, 0.9], method="higher")]  # fmt: skip
    return f"{share:.2f}: {ends[0]} ({ends[1]})" if share else "0.00"


PRIOR, CHANGED, WAITED = 0.1, 30, 90
# The standard deviation between days, and whether those of the reference are named.
JITTERS = ((0.0, False), (0.0, True), (0.15, True))
KINDS = {
    LEFT_RANGE[:20]: "the prior", OTHER_SHIFT[:20]: "more than the prior",
    BETTER_THRESHOLD[:20]: "another threshold",
}  # fmt: skip
NARROW, WIDE = (0.08, 0.125), (0.02, 0.5)


class Change(NamedTuple):
    """What changes: the prior by a factor, scores of positives and negatives, and their width."""

    over: tuple[float, float] = WIDE
    prior: float = 1.0
    positives: float = 0.0
    negatives: float = 0.0
    wide: float = 1.0


CHANGES = {
    **{f"prior × {by:g}, leaves the range": Change(NARROW, by) for by in (1.5, 2, 4, 0.5)},
    **{f"prior × {by:g}, within the range": Change(WIDE, by) for by in (1.5, 4)},
    **{f"all scores {by:g} higher": Change(WIDE, 1, by, by) for by in (0.25, 0.5)},
    **{f"negatives {by:g} higher": Change(WIDE, 1, 0, by) for by in (0.2, 0.4)},
    "positives 1 lower": Change(WIDE, 1, -1), "scores 1.3 times as wide": Change(wide=1.3),
}  # fmt: skip


def first_alarm(
    rng: np.random.Generator, change: Change, sizes: tuple[int, int], jitter: float, named: bool
) -> tuple[float, str]:
    """The days from the change until an alarm, infinite without one, and how that begins."""
    known = reference_of_days(rng, sizes, jitter, named, CHANGED)
    after = np.arange(CHANGED + WAITED) >= CHANGED
    priors = np.where(after, PRIOR * change.prior, PRIOR)
    drift = change.positives * after, change.negatives * after, np.where(after, change.wide, 1.0)
    called = above_of_days(rng, known, priors, jitter, drift)
    found = assessed(known, called, change.over)
    alarms = [
        (day - CHANGED, alarm)
        for own in (found.prior_alarms(), [one and one[1] for one in found.threshold_alarms()])
        for day, alarm in enumerate(own, 1)
        if alarm is not None
    ]
    return min(alarms, default=(np.inf, ""))


def of_detection(replicates: int, seed: int, what: str, reference_of: str) -> dict[str, object]:
    """The days until an alarm, which alarm it was, and how many runs had one before the change."""
    row: dict[str, object] = {}
    early, kinds = 0, Counter[str]()
    for jitter, named in JITTERS:
        rng = np.random.default_rng(seed)
        found = [
            first_alarm(rng, CHANGES[what], two_sizes(reference_of), jitter, named)
            for _ in range(replicates)
        ]
        days = f"jitter {jitter:g}{'' if named else ': not named'}"
        row[days] = in_words([days for days, _ in found])
        early += sum(days < 1 for days, _ in found)
        kinds.update(KINDS[alarm[:20]] for _, alarm in found if alarm)
    return row | {"alarm": ", ".join(kind for kind, _ in kinds.most_common()), "early": early}


def of_labels(
    replicates: int, seed: int, drift: str, prior: float, labels: int
) -> dict[str, object]:
    """Coverage and width of limits of the prior, the precision and the cost."""
    count = labels
    rng, inside, widths, alone = np.random.default_rng(seed), [], [], []
    truths = []
    for _ in range(replicates):
        known = reference(rng, two_sizes(REFERENCES[0]))
        score, truth = used(rng, 5_000, drift, prior)
        called = score >= THRESHOLD
        truths.append([truth.mean(), truth[called].mean(), (truth != called).mean()])
        drawn = rng.random(score.size) < count / score.size
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
    row: dict[str, object] = {"positives": float(true[0])}
    for place, name in enumerate(("prior", "precision", "cost")):
        wide, others = np.nanmean(np.array(widths)[:, place]), np.mean(np.array(alone)[:, place])
        row |= {f"{name} holds": float(held[place]), f"width of {name}": float(wide),
                f"width of {name}: labels alone": float(others)}  # fmt: skip
    return row


WAYS: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]] = {
    "at random": lambda rng, score, _: rng.permutation(score.size) < 200,
    "half of all at random": lambda rng, score, _: rng.permutation(score.size) < 2_500,
    "40 % of the alarms": lambda rng, score, _: (
        (score >= THRESHOLD) & (rng.random(score.size) < 0.4)
    ),
    "alarms twice as likely as others": lambda rng, score, _: (
        rng.random(score.size) < np.where(score >= THRESHOLD, 0.08, 0.04)
    ),
    "scores one standard deviation higher": lambda rng, score, _: (
        rng.random(score.size) < 0.04 * np.exp(np.minimum(score, 3) - 0.5)
    ),
    "40 % of the positives": lambda rng, score, truth: truth & (rng.random(score.size) < 0.4),
}


def of_samples(replicates: int, seed: int, drawn: str) -> dict[str, object]:
    """How often labels of 5,000 cases, 10 % positive, are taken for no random sample."""
    rng, refuted, counts = np.random.default_rng(seed), 0, []
    for _ in range(replicates):
        known = reference(rng, two_sizes(REFERENCES[0]))
        score, truth = used(rng, 5_000, "none", 0.1)
        kept = WAYS[drawn](rng, score, truth)
        at_cuts = known.counts(score, np.zeros(score.size, dtype=int), 1)
        bins = Bins.at_prior(known, at_cuts[0], score.size, 0.1)
        place = np.searchsorted(np.sort(known.cuts), score[kept], side="right")
        labelled = Labels(place, truth[kept], np.full(kept.sum(), kept.mean()))
        refuted += why_not_random([Sample(1, bins, labelled)], "") is not None
        counts.append(kept.sum())
    return {"labels": f"{np.mean(counts):.0f}", "said": f"{refuted / replicates:.4f}"}


def used(
    rng: np.random.Generator, size: int, drift: str, prior: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truths of cases in use."""
    many = size * 8 if drift == "covariates" else size
    truth = rng.random(many) < prior
    score = rng.normal(size=many) + DISTANCE * truth
    if drift == "covariates":
        # Cases with scores near 1.2 have become more frequent.
        kept = np.flatnonzero(rng.random(many) < np.exp(-0.5 * (score - 1.2) ** 2))[:size]
        return score[kept], truth[kept]
    return (score - truth if drift == "positives 1 lower" else score), truth


def tables(
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


def true_rates(scores: np.ndarray, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Of thresholds among posteriors."""
    odds = scores / (1 - scores) * sizes[1] / sizes[0]
    raw = np.log(odds) / DISTANCE + DISTANCE / 2
    return norm.sf(raw - DISTANCE), norm.sf(raw)


def true_auprec(prior: float) -> float:
    """The area under the precision-recall curve."""
    recall = (np.arange(100_000) + 0.5) / 100_000
    fpr = norm.sf(norm.isf(recall) + DISTANCE)
    return float(np.mean(recall / (recall + (1 - prior) / prior * fpr)))


def carried_once(
    rng: np.random.Generator, runs: int, sizes: tuple[int, int], prior: float, method: str
) -> list[pl.DataFrame]:
    """What limits at estimated priors hold, by quantity; 1,000 cases in use.

    Thresholds are chosen on the reference at the estimate, and judged on other cases.
    """
    reference, test = (tables(rng, runs, sum(sizes), None, sizes) for _ in range(2))
    used = tables(rng, runs, 1_000, prior, sizes).drop("truth")
    names = {"truth": "truth", "score": "score", "by": "run"}
    estimates = pr.estimate_prior(reference, used, **names, method=method)
    points = pr.operating_points(pr.curve(reference, **names), "cost", priors=estimates)
    judged = pr.apply_thresholds(test, points, **names, intervals=True)
    t, f = true_rates(judged["threshold"].to_numpy(), sizes)
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
    areas = pr.evaluate(test, **names, priors=estimates, intervals=True, measure="auprec").select(
        pl.lit("AUPREC").alias("of"), pl.lit(true_auprec(prior)).alias("true"), "lower", "upper"
    )
    return [*limits, areas]


def of_carried(
    replicates: int, seed: int, reference_of: str, prior: float, method: str
) -> dict[str, object]:
    """Coverage of what is carried."""
    rng, sizes = np.random.default_rng(seed), two_sizes(reference_of)
    # Areas are taken at the priors of all tables of a part.
    runs = [min(20, replicates)] * max(replicates // 20, 1)
    limits = pl.concat(
        table for one in runs for table in carried_once(rng, one, sizes, prior, method)
    ).drop_nulls("lower")
    held = limits.group_by("of", maintain_order=True).agg(
        pl.col("true").is_between("lower", "upper").mean()
    )
    return dict(held.iter_rows())


def of_priors(replicates: int, seed: int, method: str, reference_of: int) -> dict[str, object]:
    """Coverage over the kinds of references and cases in use."""
    rng, held = np.random.default_rng(seed), []

    def cases(rows: int, prior: float, distance: float, posterior: float) -> pl.DataFrame:
        truth = rng.random(replicates * rows) < prior
        raw = rng.normal(size=truth.size) + distance * truth
        odds = posterior / (1 - posterior) * np.exp(distance * raw - distance**2 / 2)
        run = np.repeat(np.arange(replicates), rows)
        return pl.DataFrame({"run": run, "truth": truth, "raw": raw, "score": odds / (1 + odds)})

    for distance, own, prior in product((1, 2), (0.5, 0.05), (0.01, 0.1, 0.5)):
        known = cases(reference_of, own, distance, own)
        deployed = cases(USED_WITH[reference_of], prior, distance, own)
        found = pr.estimate_prior(
            known, deployed, truth="truth", score="score" if method == "em" else "raw", by="run",
            method=method,
        ).drop_nulls("lower")  # fmt: skip
        held.append(found.select(pl.lit(prior).is_between("lower", "upper")).to_series())
    return {"samples": sum(map(len, held)), "holds": float(np.mean(np.concatenate(held)))}


USED_WITH = {200: 500, 1_000: 2_000}
LABELLED = (("none", 0.1), ("none", 0.01), ("none", 0.03), ("none", 0.4), ("covariates", 0.15),
            ("positives 1 lower", 0.15))  # fmt: skip


def cells(**values: object) -> list[dict[str, object]]:
    """Every combination of values."""
    return [dict(zip(values, one, strict=True)) for one in product(*values.values())]


DESIGNS = {
    "quiet": Design(
        cells(reference_of=REFERENCES, prior=("10 %", "moves, 6 to 14 %")), of_quiet, 100, 1
    ),
    "days": Design(
        cells(reference_of=REFERENCES, jitter=(0.0, 0.05, 0.15), days=(10, 30, 100)), of_days, 8, 42
    ),
    "detection": Design(cells(what=CHANGES, reference_of=REFERENCES), of_detection, 20, 31),
    "labels": Design(
        [{"drift": drift, "prior": prior, "labels": count}
         for (drift, prior), count in product(LABELLED, (100, 400))],
        of_labels, 400, 6,
    ),
    "samples": Design(cells(drawn=WAYS), of_samples, 2000, 13),
    "carried": Design(
        cells(reference_of=("50 + 450", "200 + 1,800"), prior=(0.05, 0.2),
              method=("em", "confusion")),
        of_carried, 400, 9,
    ),
    "priors": Design(
        cells(method=("em", "confusion"), reference_of=tuple(USED_WITH)), of_priors, 20
    ),
}  # fmt: skip
