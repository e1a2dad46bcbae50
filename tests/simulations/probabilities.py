"""Intervals of scoring rules and of calibration, and probabilities once the prior moved.

Scores are log-odds of binormal data, right (slope 1) or twice too extreme (slope 2).

losses
    Intervals of the Brier score and the log loss of `evaluate`, over test sets of 20 to 500
    positives with 1 to 200 negatives per positive and the priors 0.5, 0.1 and 0.01: mean and least
    coverage.
calibration
    Intervals of the observed over the expected number of positives, of calibration in the large
    and of the slope, of independent cases and of clusters of ten cases of one class that share
    half the variance of their scores; and how often the test at 0.05 rejects scores that are
    right.
moved
    How far probabilities are off at other priors than that of the tuning cases, of which one in
    five is positive: of scores re-weighted and calibrated by the hull. The truth is known, so that
    no cases are drawn to judge them.
differences
    Intervals of the difference of two models of one test set, of which one expects too many
    positives and one too few, or one is right and one too extreme, by `compare` and by `gate`.
"""

from itertools import product

import numpy as np
import polars as pl
from scipy.special import expit, logit
from scipy.stats import norm

import polaroc as pr
from simulations.design import Design

PRIORS = (0.5, 0.1, 0.01)
SEPARATIONS = {0.8: 1.19, 0.9: 1.812, 0.995: 3.643}
POSITIVES, RATIOS, SLOPES = (20, 50, 100, 500), (1, 4, 20, 200), (1.0, 2.0)
ROWS = 600_000
# Kinds with fewer samples are not judged one by one.
ENOUGH = 140
NODES = np.linspace(-9, 9, 4001)
WEIGHTS = norm.pdf(NODES) * (NODES[1] - NODES[0])


def log_odds(x: np.ndarray, separation: float, prior: float, slope: float) -> np.ndarray:
    """Results for a score that is right at a prior where the slope is 1."""
    return slope * (separation * x - separation**2 / 2 + logit(prior))


def true_loss(
    measure: str, prior: float, separation: float, own: float, slope: float, moved: float = 0.0
) -> float:
    """The Brier score or log loss at a prior, of log-odds that are `moved`."""
    total = 0.0
    for shift, share, is_pos in ((separation, prior, True), (0.0, 1 - prior, False)):
        odds = log_odds(NODES + shift, separation, own, slope) + moved + logit(prior) - logit(own)
        of_truth = odds if is_pos else -odds
        loss = expit(-of_truth) ** 2 if measure == "brier" else np.logaddexp(0, -of_truth)
        total += float(share * WEIGHTS @ loss)
    return total


def of_losses(replicates: int, seed: int, auc: float, slope: float) -> list[dict[str, object]]:
    """Coverage over kinds of test sets."""
    kinds, separation = list(product(SEPARATIONS, POSITIVES, RATIOS, SLOPES)), SEPARATIONS[auc]
    parts = []
    for place, (own_auc, positives, ratio, own_slope) in enumerate(kinds, seed):
        cases = positives * (1 + ratio)
        if (own_auc, own_slope) != (auc, slope):
            continue
        count = min(replicates, max(50, ROWS // cases))
        rng, own = np.random.default_rng(place), 1 / (1 + ratio)
        truth = np.tile(np.arange(cases) < positives, count)
        x = rng.normal(size=truth.size) + separation * truth
        table = pl.DataFrame(
            {"sample": np.repeat(np.arange(count), cases), "truth": truth,
             "score": expit(log_odds(x, separation, own, slope))}
        )  # fmt: skip
        found = pr.evaluate(
            table, truth="truth", score="score", by="sample", priors=list(PRIORS),
            measure=["brier", "log_loss"], intervals=True,
        ).drop_nulls("lower")  # fmt: skip
        for (measure, prior), part in found.group_by("measure", "prior", maintain_order=True):
            true = true_loss(str(measure), float(prior), separation, own, slope)
            held = part.select(pl.lit(true).is_between("lower", "upper").mean()).item()
            parts.append({"measure": measure, "coverage": held, "judged": count >= ENOUGH})
    judged = pl.col("coverage").filter("judged")
    of = pl.DataFrame(parts).group_by("measure", maintain_order=True)
    return of.agg(mean=pl.col("coverage").mean(), least=judged.min()).rows(named=True)


def of_calibration(
    replicates: int, seed: int, positives: int, prior: float, slope: float, members: int
) -> dict[str, object]:
    """Coverage of three limits, and the size of the test."""
    separation, cell = SEPARATIONS[0.9], {
        "positives": positives, "prior": prior, "slope": slope, "members": members
    }  # fmt: skip
    rng = np.random.default_rng(seed + CALIBRATED.index(cell))
    clusters = round(positives / prior / members)
    # The same in all cases of a cluster, which are of one class.
    shape = replicates, clusters
    of_cluster = rng.random(shape) < prior, rng.normal(size=shape)
    truth, shared = (np.repeat(one, members, axis=1) for one in of_cluster)
    own = rng.normal(size=truth.shape)
    noise = own if members == 1 else (shared + own) / 2**0.5
    odds = log_odds(noise + separation * truth, separation, prior, slope)
    table = pl.DataFrame(
        {"sample": np.repeat(np.arange(replicates), clusters * members), "truth": truth.ravel(),
         "cluster": np.tile(np.repeat(np.arange(clusters), members), replicates),
         "score": expit(odds).ravel()}
    )  # fmt: skip
    roles = {"cluster": "cluster"} if members > 1 else {}
    found = pr.calibration(table, truth="truth", score="score", by="sample", **roles).estimates
    # Scores that are too extreme are not right on average, either.
    true = {"observed_over_expected": 1.0, "calibration_in_the_large": 0.0} if slope == 1 else {}
    result: dict[str, object] = dict.fromkeys(LIMITS)
    for name, value in (true | {"slope": 1 / slope}).items():
        given = found.drop_nulls(f"{name}_lower")
        within = pl.lit(value).is_between(f"{name}_lower", f"{name}_upper")
        result[name + " holds"] = given.select(within.mean()).item()
    if slope == 1 and members == 1:
        p_values = found["p_value"].drop_nulls()
        result["test rejects"] = (p_values < 0.05).mean()
    return result


LIMITS = ("observed_over_expected holds", "calibration_in_the_large holds", "slope holds",
          "test rejects")  # fmt: skip
CALIBRATED = [
    {"positives": count, "prior": prior, "slope": slope, "members": members}
    for count, prior, slope, members in (
        *((count, prior, slope, 1) for count, prior in product((15, 50, 500), (0.1, 0.3))
          for slope in SLOPES),
        *((count, 0.3, 1.0, 10) for count in (100, 400)),
    )
]  # fmt: skip

MOVED_TO = (0.01, 0.05, 0.2, 0.5)
# Of a score, even steps.
STEPS = np.linspace(-6, 8, 1401)


def off(said: pl.DataFrame, separation: float) -> pl.DataFrame:
    """How far probabilities are off at each prior, from those said of the `STEPS`.

    Those with the same probability are as often right as their scores are, on average: the error is
    the mean distance of what is said from this, in parts of the prior; `ratio` is the mean of what
    is said, in parts of the prior.
    """
    x, prior, p = pl.col("x"), pl.col("prior"), pl.col("probability")
    positive = prior * (-((x - separation) ** 2) / 2).exp()
    negative = (1 - prior) * (-(x**2) / 2).exp()
    weighed = said.with_columns(weight=positive + negative, true=positive / (positive + negative))
    each, weight = ["sample", "prior"], pl.col("weight")
    alike = weighed.group_by(*each, "probability").agg(
        ((weight * pl.col("true")).sum() / weight.sum()).alias("true"), weight.sum()
    )
    return alike.group_by(each).agg(
        error=(weight * (p - pl.col("true")).abs()).sum() / weight.sum() / prior.first(),
        ratio=(weight * p).sum() / weight.sum() / prior.first(),
    ).sort(each)  # fmt: skip


def of_moved(
    replicates: int, seed: int, probabilities: str, tuning: str
) -> list[dict[str, object]]:
    """Error and ratio at each prior, with the range of the ratio in nine tables of ten."""
    separation = SEPARATIONS[0.9]
    if not tuning:
        slope = 2.0 if "extreme" in probabilities else 1.0
        p = expit(log_odds(STEPS, separation, 0.5, slope))
        grid = pl.DataFrame({"sample": 0, "x": STEPS, "p": p})
        said = pl.concat(
            grid.with_columns(
                pl.lit(prior).alias("prior"),
                pr.expr.at_prior("p", prior=0.5, to=prior).alias("probability"),
            )
            for prior in MOVED_TO
        )
    else:
        positives = int(tuning.partition(" + ")[0].replace(",", ""))
        # The hull does not depend on how scores are spread out.
        rng = np.random.default_rng(seed + TUNED_ON.index(tuning))
        truth = np.tile(np.arange(5 * positives) < positives, replicates)
        table = pl.DataFrame(
            {"sample": np.repeat(np.arange(replicates), 5 * positives), "truth": truth,
             "x": rng.normal(size=truth.size) + separation * truth}
        )  # fmt: skip
        curves = pr.curve(table, truth="truth", score="x", by="sample")
        samples = pl.DataFrame({"sample": np.arange(replicates)})
        use = samples.join(pl.DataFrame({"x": STEPS}), how="cross")
        said = pr.probabilities(use, curves, score="x", by="sample", priors=list(MOVED_TO))
    ratio = pl.col("ratio")
    return off(said, separation).group_by("prior", maintain_order=True).agg(
        pl.col("error").mean(), ratio.mean(), lowest=ratio.quantile(0.05),
        highest=ratio.quantile(0.95),
    ).with_columns(pl.col("prior").cast(pl.String)).rows(named=True)  # fmt: skip


TUNED_ON = ["15 + 60", "50 + 200", "200 + 800", "1,000 + 4,000"]
# What log-odds of two models are moved by, and their slopes.
PAIRS = {
    "too many, too few": ((0.8, -0.8), (1.0, 1.0)), "right, too extreme": ((0.0, 0.0), (1.0, 2.0)),
}  # fmt: skip


def of_differences(
    replicates: int, seed: int, cases: int, prior: float, models: str, measure: str
) -> dict[str, object]:
    """Coverage of test sets with one positive in five on average."""
    moved, slopes = PAIRS[models]
    rng = np.random.default_rng([cases, int(100 * prior), [*PAIRS].index(models)])
    separation, held = SEPARATIONS[0.8], np.zeros(2)
    both = [
        true_loss(measure, prior, separation, 0.2, *one) for one in zip(slopes, moved, strict=True)
    ]
    true = both[0] - both[1]
    for _ in range(replicates):
        truth, shared = rng.random(cases) < 0.2, rng.normal(size=cases)
        table = {"truth": truth, "case": np.arange(cases)}
        for name, slope, by in zip("AB", slopes, moved, strict=True):
            x = 0.5**0.5 * (shared + rng.normal(size=cases)) + separation * truth
            table[name] = expit(log_odds(x, separation, 0.2, slope) + by)
        asked = {"truth": "truth", "score": [*"AB"], "case": "case", "measure": measure,
                 "priors": prior}  # fmt: skip
        one = pr.compare(table, **asked).pairs.row(0, named=True)
        gate = pr.gate(table, **asked, champion="B", challenger="A", margin=0.1)
        ends = (one["lower"], one["upper"]), (gate.lower, gate.upper)
        held += [low is not None and bool(low <= true <= high) for low, high in ends]
    return dict(zip(("compare holds", "gate holds"), (held / replicates).tolist(), strict=True))


DESIGNS = {
    "losses": Design([{"auc": auc, "slope": slope} for auc, slope in product(SEPARATIONS, SLOPES)],
                     of_losses, 1000),
    "calibration": Design(CALIBRATED, of_calibration, 200),
    "moved": Design(
        [{"probabilities": f"re-weighted, {name}", "tuning": ""}
         for name in ("right when balanced", "too extreme")]
        + [{"probabilities": "calibrated by the hull", "tuning": tuning} for tuning in TUNED_ON],
        of_moved, 400,
    ),
    "differences": Design(
        [{"cases": cases, "prior": prior, "models": models, "measure": measure}
         for cases, prior, models, measure in product(
             (200, 500, 1500), (0.02, 0.2, 0.6), PAIRS, ("brier", "log_loss"))],
        of_differences, 500,
    ),
}  # fmt: skip
