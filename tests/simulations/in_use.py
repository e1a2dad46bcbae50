"""How `monitor` and `estimate_prior` do on simulated days.

Scores of negatives are normal, those of positives two standard deviations higher; there are 2,000
cases a day. "200 + 1,800" is a reference of so many positives and negatives. The range of priors is
5 to 20 %.

quiet
    720 days on which nothing changes but the prior within its range, and as many looks: runs with
    a false alarm of either kind. Beside it a z-test of each day that takes the rates of the
    reference for exact.
detection
    What changes on day 31, and the days until an alarm of the 90 that follow, looking every day or
    every week, with 365 looks.
carried
    Limits of thresholds and areas at an estimated prior, from the estimate to the threshold that
    was chosen at it and is judged on other cases.
priors
    Intervals of `estimate_prior`: coverage, width and rate of small p-values of the test of shape.
    Classes are one or two standard deviations apart; scores are continuous or have few values.
clusters
    The same with rows in clusters that share an error; of one class each, or of both.
batches
    The same with `batch`, where all scores of a batch are shifted by a normal number.
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import polars as pl
from scipy.stats import f as f_distribution
from scipy.stats import norm

import polaroc as pr
from polaroc.monitoring.mixture import (
    Mixture,
    Reference,
    Sample,
    Spread,
    shape_p_value,
    spread_of_batches,
)
from simulations.design import Design

DISTANCE, LEVEL, CASES, QUESTIONS = 2.0, 0.95, 2_000, 3
OVER = (0.05, 0.2)
REFERENCES = ("200 + 1,800", "1,000 + 9,000")
# By how much positives and negatives score more, and by which factor scores are wider.
Drift = tuple[float, float, float]
NO_DRIFT: Drift = (0.0, 0.0, 1.0)


def two_sizes(cases: str) -> tuple[int, int]:
    """Positives and negatives."""
    positives, negatives = (int(one.replace(",", "")) for one in cases.split(" + "))
    return positives, negatives


def reference(rng: np.random.Generator, sizes: tuple[int, int]) -> Reference:
    """Labelled cases."""
    return Reference(
        *(Sample(rng.normal(size=n) + d) for n, d in zip(sizes, (DISTANCE, 0), strict=True))
    )


def scores(
    rng: np.random.Generator, prior: float, cases: int = CASES, drift: Drift = NO_DRIFT
) -> np.ndarray:
    """Scores in use."""
    truth = rng.random(cases) < prior
    score = drift[2] * (rng.normal(size=cases) + DISTANCE * truth)
    return score + np.where(truth, drift[0], drift[1])


def alarm(known: Reference, used: np.ndarray, looks: int) -> str:
    """The alarm of a look, as of `monitor`, empty if there is none.

    Only the likelihood at the end of the range is needed.
    """
    error, sample = (1 - LEVEL) / QUESTIONS / looks, Sample(used)
    fit = known.fit(sample, LEVEL)
    p_value = shape_p_value(fit, known, sample, None)
    if p_value is not None and p_value < error:
        return "shape"
    if OVER[0] <= fit.prior <= OVER[1]:
        return ""
    mixture = Mixture(*known.counts, sample.counts(known.edges))
    end = OVER[1] if fit.prior > OVER[1] else OVER[0]
    distance = 2 * (mixture.log_likelihood(fit.prior) - mixture.log_likelihood(end))
    return "prior" if distance > f_distribution.ppf(1 - error, 1, known.freedom) else ""


QUIET: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "10 %": lambda days: 0.1 + 0 * days,
    "moves, 6 to 14 %": lambda days: 0.1 + 0.04 * np.sin(days / 30),
    "20 %, the end of the range": lambda days: 0.2 + 0 * days,
}


def of_quiet(replicates: int, seed: int, reference_of: str, prior: str) -> dict[str, object]:
    """Shares of runs with a false alarm."""
    rng, days, sizes = np.random.default_rng(seed), np.arange(720), two_sizes(reference_of)
    alarms, daily = [], []
    for _ in range(replicates):
        known = reference(rng, sizes)
        # A z-test of the share above 1.8 that takes the rates of the reference for exact.
        t, f = ((one.score >= 1.8).mean() for one in (known.positives, known.negatives))
        of_run, of_z = set(), False
        for share in QUIET[prior](days):
            used = scores(rng, share)
            of_run.add(alarm(known, used, days.size))
            called = (used >= 1.8).mean()
            estimate = (called - f) / (t - f)
            half = 1.96 * np.sqrt(called * (1 - called) / CASES) / (t - f)
            of_z |= estimate - half > OVER[1] or estimate + half < OVER[0]
        alarms.append(of_run)
        daily.append(of_z)
    found = {
        f"{kind} alarms": np.mean([kind in one for one in alarms]) for kind in ("prior", "shape")
    }
    return {**found, "daily z-test alarms": float(np.mean(daily))}


CHANGES: dict[str, tuple[float, Drift]] = {
    "prior 10 to 25 %": (0.25, NO_DRIFT),
    "prior 10 to 30 %": (0.3, NO_DRIFT),
    "prior 10 to 50 %": (0.5, NO_DRIFT),
    "prior 10 to 2 %": (0.02, NO_DRIFT),
    "all scores 0.5 higher": (0.1, (0.5, 0.5, 1.0)),
    "negatives 0.4 higher": (0.1, (0.0, 0.4, 1.0)),
    "positives 1 lower": (0.1, (-1.0, 0.0, 1.0)),
    "scores 1.3 times as wide": (0.1, (0.0, 0.0, 1.3)),
}
BEFORE, AFTER = 28, 91


def in_words(days: Sequence[float]) -> str:
    """The median of the days, and how many runs had an alarm."""
    known = [day for day in days if day < np.inf]
    if len(known) * 2 <= len(days):
        return f"{len(known)} of {len(days)}"
    return f"{np.median(days):.0f} ({len(known)} of {len(days)})"


def of_detection(replicates: int, seed: int, what: str, reference_of: str) -> dict[str, object]:
    """The days until an alarm, of a look each day and each week; alarms before the change."""
    rng, (prior, drift) = np.random.default_rng(seed), CHANGES[what]
    found: dict[str, list[float]] = {"daily": [], "weekly": []}
    early, kinds = 0, set()
    for _ in range(replicates):
        known = reference(rng, two_sizes(reference_of))
        days = [scores(rng, 0.1) for _ in range(BEFORE)]
        days += [scores(rng, prior, drift=drift) for _ in range(AFTER)]
        for name, length in (("daily", 1), ("weekly", 7)):
            first = np.inf
            for end in range(length, len(days) + 1, length):
                if kind := alarm(known, np.concatenate(days[end - length : end]), 365):
                    early += end <= BEFORE
                    if end > BEFORE:
                        first = end - BEFORE
                        kinds.add(kind)
                        break
            found[name].append(first)
    return {name: in_words(days) for name, days in found.items()} | {
        "alarm": ", ".join(sorted(kinds)), "early": early
    }  # fmt: skip


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
    """Rates of thresholds among posteriors."""
    odds = scores / (1 - scores) * sizes[1] / sizes[0]
    raw = np.log(odds) / DISTANCE + DISTANCE / 2
    return norm.sf(raw - DISTANCE), norm.sf(raw)


def true_auprec(prior: float) -> float:
    """The area under the precision-recall curve."""
    recall = (np.arange(100_000) + 0.5) / 100_000
    fpr = norm.sf(norm.isf(recall) + DISTANCE)
    return float(np.mean(recall / (recall + (1 - prior) / prior * fpr)))


def carried_once(
    rng: np.random.Generator, runs: int, sizes: tuple[int, int], prior: float
) -> list[pl.DataFrame]:
    """Coverage of limits at estimated priors, by quantity; 1,000 cases in use.

    Thresholds are chosen on the reference at the estimate, and judged on other cases.
    """
    reference, test = (tables(rng, runs, sum(sizes), None, sizes) for _ in range(2))
    used = tables(rng, runs, 1_000, prior, sizes).drop("truth")
    names = {"truth": "truth", "score": "score", "by": "run"}
    estimates = pr.estimate_prior(reference, used, **names)
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


def of_carried(replicates: int, seed: int, reference_of: str, prior: float) -> dict[str, object]:
    """Coverage of what is carried."""
    rng, sizes = np.random.default_rng(seed), two_sizes(reference_of)
    # Areas are taken at the priors of all tables of a part.
    runs = [min(20, replicates)] * max(replicates // 20, 1)
    limits = pl.concat(
        table for one in runs for table in carried_once(rng, one, sizes, prior)
    ).drop_nulls("lower")
    held = limits.group_by("of", maintain_order=True).agg(
        pl.col("true").is_between("lower", "upper").mean()
    )
    return dict(held.iter_rows())


def held(
    replicates: int,
    draw: Callable[[], tuple[Reference, Sample, Spread | None]],
    prior: float,
) -> dict[str, object]:
    """Coverage and width of intervals, and rates of small p-values."""
    inside, widths, p_values = [], [], []
    for _ in range(replicates):
        known, used, spread = draw()
        fit = known.fit(used, LEVEL)
        lower, upper = (fit.lower, fit.upper) if spread is None else spread.limits(fit, LEVEL)
        inside.append(lower <= prior <= upper)
        widths.append(upper - lower)
        p_values.append(shape_p_value(fit, known, used, spread))
    known_p = np.array([1.0 if one is None else one for one in p_values])
    return {
        "samples": replicates, "holds": float(np.mean(inside)), "width": float(np.mean(widths)),
        "p < .05": float((known_p < 0.05).mean()), "p < .01": float((known_p < 0.01).mean()),
    }  # fmt: skip


def of_priors(
    replicates: int, seed: int, reference_of: str, in_use: int, distance: float, prior: float,
    values: str,
) -> dict[str, object]:  # fmt: skip
    """Coverage in one kind of reference and cases in use."""
    rng = np.random.default_rng([seed, in_use, int(100 * prior), int(distance)])

    def sample(truth: np.ndarray) -> Sample:
        score = rng.normal(size=truth.size) + distance * truth
        return Sample(np.round(2 * score) if values == "few" else score)

    def draw() -> tuple[Reference, Sample, None]:
        classes = [
            np.full(n, y) for n, y in zip(two_sizes(reference_of), (True, False), strict=True)
        ]
        return Reference(*map(sample, classes)), sample(rng.random(in_use) < prior), None

    return held(replicates, draw, prior)


def of_clusters(
    replicates: int, seed: int, correlation: float, classes: str, prior: float
) -> dict[str, object]:
    """Coverage with clusters of five rows: 40 of positives and 120 of negatives, or 120 of both."""
    rng = np.random.default_rng(seed)

    def sample(truth: np.ndarray) -> Sample:
        cluster = np.arange(truth.size) // 5
        error = np.sqrt(correlation) * rng.normal(size=cluster[-1] + 1)[cluster]
        noise = np.sqrt(1 - correlation) * rng.normal(size=truth.size)
        return Sample(DISTANCE * truth + error + noise, cluster)

    def draw() -> tuple[Reference, Sample, None]:
        if classes == "one":
            known = Reference(sample(np.ones(200)), sample(np.zeros(600)))
            return known, sample(np.repeat(rng.random(200) < prior, 5)), None
        truth = rng.random(600) < 0.3
        return Reference.of(sample(truth), truth), sample(rng.random(1_000) < prior), None

    return held(replicates, draw, prior)


def of_batches(
    replicates: int, seed: int, batches: int, size: int, jitter: float, prior: float
) -> dict[str, object]:
    """Coverage where batches differ, at priors around 30 %."""
    rng = np.random.default_rng(seed)

    def draw() -> tuple[Reference, Sample, Spread | None]:
        code = np.repeat(np.arange(batches), size)
        truth = (
            rng.random(code.size) < np.clip(0.3 + 0.05 * rng.normal(size=batches), 0.02, 1)[code]
        )
        score = rng.normal(size=code.size) + DISTANCE * truth
        score += jitter * rng.normal(size=batches)[code]
        used = scores(rng, prior) + jitter * rng.normal()
        cases = Sample(score)
        return Reference.of(cases, truth), Sample(used), spread_of_batches(cases, truth, code)

    return held(replicates, draw, prior)


def cells(**values: object) -> list[dict[str, object]]:
    """Every combination of values."""
    return [dict(zip(values, one, strict=True)) for one in product(*values.values())]


# References, and the number of scores in use.
SIZES = (("10 + 190", 500), ("20 + 4,000", 2_000), ("50 + 950", 2_000), ("100 + 100", 500),
         ("1,000 + 9,000", 20_000))  # fmt: skip
DESIGNS = {
    "quiet": Design(cells(reference_of=REFERENCES, prior=QUIET), of_quiet, 5, 1),
    "detection": Design(cells(what=CHANGES, reference_of=REFERENCES), of_detection, 10, 31),
    "carried": Design(
        cells(reference_of=("50 + 450", "200 + 1,800"), prior=(0.05, 0.2)), of_carried, 40, 9
    ),
    "priors": Design(
        [{"reference_of": sizes, "in_use": in_use, **cell} for sizes, in_use in SIZES
         for cell in cells(distance=(1.0, 2.0), prior=(0.01, 0.1, 0.5), values=("many", "few"))],
        of_priors, 400, 20,
    ),
    "clusters": Design(
        cells(correlation=(0.0, 0.3, 0.8), classes=("one", "both"), prior=(0.05, 0.3)),
        of_clusters, 1_000, 7202,
    ),
    "batches": Design(
        [{"batches": number, "size": size, **cell}
         for number, size in ((4, 2_000), (10, 500), (30, 100))
         for cell in cells(jitter=(0.0, 0.1, 0.3), prior=(0.1, 0.5))],
        of_batches, 40, 5,
    ),
}  # fmt: skip
