"""Probabilities and scoring rules by simulation: intervals, bias, the test, and what to use.

``python tests/benchmarks/calibration.py [intervals] [size] [line] [use] [moved]
[differences] [--json FILE] [--runs N] [--write]``:
scores are log-odds of binormal data, right (slope 1) or twice too extreme (slope 2), from seeds.

* intervals: how often those of the Brier score and the log loss hold what is true, at a
  nominal 0.95 (an interval that is not given counts neither way), and the mean of each
  estimate: the calibration loss of calibrated scores, at slope 1, is truly 0;
* size: how often `calibration` rejects calibrated scores at level 0.05;
* line: how often its limits hold the true ratio, calibration in the large and slope, of
  independent cases and of clusters of ten cases of one class that share half the variance of
  their scores;
* moved: how far probabilities are off once the prior moved, by the number of tuning cases, which
  are one fifth positive: of scores re-weighted, and calibrated by the hull (``--runs`` tuning
  tables). The truth is known, so that no cases are drawn to judge them;
* use: log loss of held-out cases at other priors, of scores as they are, re-weighted, and
  calibrated by the hull of tuning cases, on simulated and on embedded data;
* differences: how often limits of the difference of two models, of which one expects too many and
  one too few positives, or one is right and one too extreme, hold the true one, at 0.95.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import expit, logit
from scipy.stats import norm

import polaroc as pr
from polaroc.comparison.fitted import single_measure
from polaroc.uncertainty.evidence import all_pairs
from polaroc.uncertainty.scored_cases import ScoredCases
from polaroc.uncertainty.small_samples import difference_limits
from polaroc.uncertainty.test_sets import of_test_set

HERE = Path(__file__).parent
sys.path.append(str(HERE))
from clusters import as_page_table, write_table  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "concepts" / "probabilities.md"
PRIORS = (0.5, 0.1, 0.01)
SEPARATIONS = {0.8: 1.19, 0.9: 1.812, 0.995: 3.643}
POSITIVES, RATIOS, SLOPES = (20, 50, 100, 500), (1, 4, 20, 200), (1.0, 2.0)
ROWS, SAMPLES = 600_000, 1_000
# Kinds with fewer samples are not judged one by one.
ENOUGH = 140
MEASURES = ["brier", "log_loss", "brier_skill", "calibration_loss", "refinement_loss"]
NODES = np.linspace(-9, 9, 4001)
WEIGHTS = norm.pdf(NODES) * (NODES[1] - NODES[0])


def log_odds(x: np.ndarray, separation: float, prior: float, slope: float) -> np.ndarray:
    """Of a score that is right at a prior where the slope is 1."""
    return slope * (separation * x - separation**2 / 2 + logit(prior))


def scores(x: np.ndarray, separation: float, prior: float, slope: float) -> np.ndarray:
    """The score itself."""
    return expit(log_odds(x, separation, prior, slope))


def samples(
    count: int, positives: int, negatives: int, separation: float, slope: float, seed: int
) -> pl.DataFrame:
    """Predictions of many test sets of these numbers of cases, right at their share."""
    rng = np.random.default_rng(seed)
    truth = np.tile(np.repeat([True, False], [positives, negatives]), count)
    x = rng.normal(size=truth.size) + separation * truth
    prior = positives / (positives + negatives)
    return pl.DataFrame(
        {
            "sample": np.repeat(np.arange(count), positives + negatives),
            "truth": truth,
            "score": scores(x, separation, prior, slope),
        }
    )


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


def true_values(separation: float, own: float, slope: float) -> dict[tuple[str, float], float]:
    """Brier score, log loss and skill at each prior."""
    values = {
        (name, prior): true_loss(name, prior, separation, own, slope)
        for prior, name in product(PRIORS, ("brier", "log_loss"))
    }
    for prior in PRIORS:
        values["brier_skill", prior] = 1 - values["brier", prior] / (prior * (1 - prior))
    return values


def kinds() -> Iterator[tuple[int, float, int, int, float]]:
    """Seed, AUC, positives, negatives and slope of each kind of test set."""
    for seed, (auc, positives, ratio, slope) in enumerate(
        product(SEPARATIONS, POSITIVES, RATIOS, SLOPES)
    ):
        yield seed, auc, positives, positives * ratio, slope


def intervals() -> pl.DataFrame:
    """Coverage of each interval, and the mean of each estimate, in every kind of test set."""
    rows = []
    for seed, auc, positives, negatives, slope in kinds():
        count = min(SAMPLES, max(50, ROWS // (positives + negatives)))
        separation = SEPARATIONS[auc]
        table = samples(count, positives, negatives, separation, slope, seed)
        true = true_values(separation, positives / (positives + negatives), slope)
        found = pr.evaluate(
            table, truth="truth", score="score", by="sample", priors=list(PRIORS),
            measures=MEASURES, intervals=True,
        )  # fmt: skip
        for (measure, prior), part in found.group_by("measure", "prior", maintain_order=True):
            value = true.get((measure, prior))
            given = part.drop_nulls("lower")
            held = given.filter(pl.lit(value).is_between("lower", "upper"))
            rows.append(
                {
                    "auc": auc, "positives": positives, "negatives": negatives, "slope": slope,
                    "measure": measure, "prior": prior, "samples": count, "given": given.height,
                    "coverage": held.height / given.height if given.height else None,
                    "mean": part["estimate"].mean(), "true": value,
                }
            )  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def covered(found: pl.DataFrame) -> pl.DataFrame:
    """Per measure, AUC and slope: how often limits hold on average and in the worst kind.

    Kinds with too few samples to be judged one by one are pooled.
    """
    given = found.filter(pl.col("given") > 0).sort("coverage")
    enough = pl.col("samples") >= ENOUGH
    held = pl.col("coverage") * pl.col("given")
    return given.group_by("measure", "auc", "slope").agg(
        mean=pl.col("coverage").mean(),
        least=pl.col("coverage").filter(enough).first(),
        of=pl.col("given").filter(enough).first(),
        positives=pl.col("positives").filter(enough).first(),
        negatives=pl.col("negatives").filter(enough).first(),
        prior=pl.col("prior").filter(enough).first(),
        pooled=held.filter(~enough).sum() / pl.col("given").filter(~enough).sum(),
    ).sort("measure", "auc", "slope")  # fmt: skip


SIZES = [*product((0.8, 0.9), (50, 200, 1000), (0.5, 0.1)), (0.8, 500, 0.03), (0.9, 500, 0.03)]


def size(samples_each: int = 2000) -> pl.DataFrame:
    """How often the test rejects scores that are right, by how it was asked."""
    rows = []
    for seed, (auc, cases, own) in enumerate(SIZES):
        rng = np.random.default_rng(seed)
        separation = SEPARATIONS[auc]
        count = min(samples_each, 1_000_000 // cases)
        truth = rng.random((count, cases)) < own
        x = rng.normal(size=truth.shape) + separation * truth
        table = pl.DataFrame(
            {
                "sample": np.repeat(np.arange(count), cases),
                "truth": truth.ravel(),
                "score": scores(x, separation, own, 1.0).ravel(),
                "balanced": scores(x, separation, 0.5, 1.0).ravel(),
            }
        )
        for asked, column, at in (
            ("as they stand", "score", "observed"),
            ("right at 0.5", "balanced", 0.5),
        ):
            result = pr.calibration(table, truth="truth", score=column, by="sample", score_prior=at)
            found = result.table["p_value"].drop_nulls()
            rows.append(
                {
                    "auc": auc, "cases": cases, "share": own, "scores": asked,
                    "tests": len(found), "rejected": (found < 0.05).mean(),
                }
            )  # fmt: skip
    return pl.DataFrame(rows)


LINES = [
    *((count, prior, slope, 1) for count, prior in product((15, 50, 500), (0.01, 0.1, 0.3))
      for slope in SLOPES),
    *((count, 0.3, 1.0, 10) for count in (100, 200, 400, 1000)),
]  # fmt: skip


def line(count: int = 400, cells: slice = slice(None)) -> pl.DataFrame:
    """How often limits of calibration hold what is true, of samples of so many positives."""
    rows = []
    separation = SEPARATIONS[0.9]
    for seed, (positives, prior, slope, members) in list(enumerate(LINES))[cells]:
        rng = np.random.default_rng(seed)
        clusters = round(positives / prior / members)
        size = clusters * members
        # The same in all cases of a cluster, which are of one class.
        of_cluster = rng.random((count, clusters)) < prior, rng.normal(size=(count, clusters))
        truth, shared = (np.repeat(one, members, axis=1) for one in of_cluster)
        own = rng.normal(size=truth.shape)
        noise = own if members == 1 else (shared + own) / 2**0.5
        table = pl.DataFrame(
            {
                "sample": np.repeat(np.arange(count), size), "truth": truth.ravel(),
                "cluster": np.tile(np.repeat(np.arange(clusters), members), count),
                "score": scores(noise + separation * truth, separation, prior, slope).ravel(),
            }
        )  # fmt: skip
        roles = {"truth": "truth", "score": "score", "by": "sample"}
        roles |= {"cluster": "cluster"} if members > 1 else {}
        found = pr.calibration(table, **roles).table
        # Scores that are too extreme are not right on average, either.
        average = {"observed_over_expected": 1.0, "calibration_in_the_large": 0.0}
        true = average if slope == 1 else {}
        held = {}
        for name, value in (true | {"slope": 1 / slope}).items():
            given = found.drop_nulls(f"{name}_lower")
            within = pl.lit(value).is_between(f"{name}_lower", f"{name}_upper")
            held |= {name: given.select(within.mean()).item(), f"{name}_of": given.height}
        rows.append(
            {"positives": positives, "prior": prior, "extreme": slope, "members": members} | held
        )
    return pl.DataFrame(rows, infer_schema_length=None)


USED_AT, TUNED = (0.01, 0.05, 0.1, 0.2, 0.5), (50, 200, 1000)
DRAWS, HELD_OUT = 40, 4000
KINDS = ("raw", "re-weighted", "hull")


def log_losses(tuning: pl.DataFrame, test: pl.DataFrame, own: float) -> dict[str, list[float]]:
    """Log loss on the test cases, weighted to each prior, of three kinds of probabilities."""
    curve = pr.curve(tuning, truth="truth", score="score")
    truth = test["truth"].to_numpy()
    of_hull = pr.probabilities(
        test.select("score"), curve, score="score", priors=list(USED_AT), same_table=True
    )["probability"].to_numpy().reshape(-1, len(USED_AT))  # fmt: skip
    losses: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for i, prior in enumerate(USED_AT):
        raw = test["score"].to_numpy()
        moved = test.select(pr.expr.at_prior("score", prior=own, to=prior)).to_series().to_numpy()
        for kind, p in zip(KINDS, (raw, moved, of_hull[:, i]), strict=True):
            with np.errstate(divide="ignore"):
                positive, negative = -np.log(p[truth]).mean(), -np.log1p(-p[~truth]).mean()
            losses[kind].append(prior * positive + (1 - prior) * negative)
    return losses


def use() -> pl.DataFrame:
    """Log loss at priors in use, of scores that a balanced set, or the data, has made."""
    rows = []

    def add(data: str, tuned: str, losses: list[dict[str, list[float]]]) -> None:
        means = {kind: np.mean([loss[kind] for loss in losses], axis=0) for kind in KINDS}
        errors = {
            kind: np.std([loss[kind] for loss in losses], axis=0) / len(losses) ** 0.5
            for kind in KINDS
        }
        for kind in KINDS:
            at = {
                f"{prior:g}": float(value)
                for prior, value in zip(USED_AT, means[kind], strict=True)
            }
            rows.append(
                {"data": data, "tuning": tuned, "scores": kind, **at, "error": errors[kind].max()}
            )

    separation = SEPARATIONS[0.9]
    for slope, name in ((1.0, "right when balanced"), (2.0, "too extreme")):
        test = samples(1, HELD_OUT, HELD_OUT, separation, slope, seed=99)
        for positives in TUNED:
            losses = []
            for seed in range(DRAWS):
                drawn = samples(1, positives, 4 * positives, separation, slope, seed)
                # They come out right at the share of the tuning cases; here at 0.5.
                share = 0.2
                tuning = drawn.with_columns(
                    score=pl.Series(expit(logit(drawn["score"].to_numpy()) - slope * logit(share)))
                )
                losses.append(log_losses(tuning, test, 0.5))
            add(f"simulated, {name}", f"{positives} + {4 * positives}", losses)
    satellite = pr.datasets.satellite_predictions().with_columns(
        score=pl.when(pl.col("model") == "A")
        .then(1 / (1 + (-pl.col("score")).exp()))
        .otherwise("score")
    )
    own = satellite["truth"].mean()
    for model, table in satellite.sort("model").group_by("model", maintain_order=True):
        losses = []
        for _, fold in table.sort("fold").group_by("fold", maintain_order=True):
            half = pl.col("case").rank("dense") % 2 == 0
            scores = fold.drop("model", "fold").with_columns(half.alias("half"))
            parts = scores.partition_by("half", include_key=False)
            losses.append(log_losses(parts[0], parts[1], own))
        add(f"Satellite, model {model[0]}", f"{len(parts[0])} cases", losses)
    return pl.DataFrame(rows)


MOVED_TO, TUNED_ON = (0.01, 0.05, 0.2, 0.5), (15, 50, 200, 1000)
# Of a score, even steps.
STEPS = np.linspace(-6, 8, 1401)


def of_said(said: pl.DataFrame, separation: float) -> pl.DataFrame:
    """How far probabilities are off at each prior, from those said of the `STEPS`.

    Those with the same probability are as often right as their scores are, on average: the error is
    the mean distance of what is said from this, in parts of the prior; `ratio` is the mean of what
    is said, in parts of the prior.
    """
    x, prior = pl.col("x"), pl.col("prior")
    positive, negative = (prior * (-((x - separation) ** 2) / 2).exp(),
                          (1 - prior) * (-(x**2) / 2).exp())  # fmt: skip
    weighed = said.with_columns(
        (positive + negative).alias("weight"), (positive / (positive + negative)).alias("true")
    )
    each = ["sample", "prior"]
    weight, p = pl.col("weight"), pl.col("probability")
    alike = weighed.group_by(*each, "probability").agg(
        ((weight * pl.col("true")).sum() / weight.sum()).alias("true"), weight.sum()
    )
    off = (p - pl.col("true")).abs()
    return alike.group_by(each).agg(
        error=(weight * off).sum() / weight.sum() / prior.first(),
        ratio=(weight * p).sum() / weight.sum() / prior.first(),
    ).sort(each)  # fmt: skip


def moved(count: int = 200) -> pl.DataFrame:
    """Calibration errors after the prior moved, by tuning cases, of so many tuning tables."""
    rows, separation = [], SEPARATIONS[0.9]

    def add(scores_are: str, tuned: str, found: pl.DataFrame) -> None:
        for (prior,), part in found.group_by("prior", maintain_order=True):
            error, ratio = part["error"], part["ratio"]
            rows.append(
                {"scores": scores_are, "tuning": tuned, "prior": prior, "error": error.mean(),
                 "se": (error.std() or 0.0) / part.height**0.5, "ratio": ratio.mean(),
                 "least": ratio.quantile(0.05), "most": ratio.quantile(0.95)}
            )  # fmt: skip

    for slope, name in ((1.0, "right when balanced"), (2.0, "too extreme")):
        grid = pl.DataFrame({"sample": 0, "x": STEPS, "p": scores(STEPS, separation, 0.5, slope)})
        parts = [
            grid.with_columns(
                pl.lit(prior).alias("prior"),
                pr.expr.at_prior("p", prior=0.5, to=prior).alias("probability"),
            )
            for prior in MOVED_TO
        ]
        add(f"re-weighted, {name}", "", of_said(pl.concat(parts), separation))
    for seed, positives in enumerate(TUNED_ON):
        # The hull does not depend on how scores are spread out.
        rng = np.random.default_rng(seed)
        truth = np.tile(np.repeat([True, False], [positives, 4 * positives]), count)
        tuning = pl.DataFrame(
            {"sample": np.repeat(np.arange(count), 5 * positives), "truth": truth,
             "x": rng.normal(size=truth.size) + separation * truth}
        )  # fmt: skip
        curves = pr.curve(tuning, truth="truth", score="x", by="sample")
        use = pl.DataFrame({"sample": np.arange(count)}).join(
            pl.DataFrame({"x": STEPS}), how="cross"
        )
        said = pr.probabilities(use, curves, score="x", by="sample", priors=list(MOVED_TO))
        add("calibrated by the hull", f"{positives:,} + {4 * positives:,}",
            of_said(said, separation))  # fmt: skip
    return pl.DataFrame(rows)


def moved_on_page(found: pl.DataFrame) -> str:
    """The calibration errors as a table of the page, with the range of nine tables in ten."""
    rows = []
    for (scores_are, tuned), part in found.group_by("scores", "tuning", maintain_order=True):
        cells = {"probabilities": scores_are, "tuning cases": tuned}
        for one in part.iter_rows(named=True):
            cells[f"{one['prior']:.0%} positives: error (SE)".replace("%", " %")] = (
                f"{one['error']:.3f}" + (f" ({one['se']:.3f})" if tuned else "")
            )
            cells["said over true" + " " * len(cells)] = f"{one['ratio']:.2f}" + (
                f" ({one['least']:.2f} to {one['most']:.2f})" if tuned else ""
            )
        rows.append(cells)
    return re.sub(" +", " ", as_page_table(rows))


# What log-odds of two models are moved by, and their slopes.
PAIRS = {
    "too many, too few": ((0.8, -0.8), (1.0, 1.0)), "right, too extreme": ((0.0, 0.0), (1.0, 2.0)),
}  # fmt: skip


def differences(count: int = 500) -> pl.DataFrame:
    """How often limits of differences hold, of test sets with one positive in five on average.

    By `compare`, by `gate`, and by the normal distribution; the prior of the scores is observed.
    """
    rows, separation = [], SEPARATIONS[0.8]
    for size, prior, (pair, (moved, slopes)), name in product(
        (200, 500, 1500), (0.02, 0.2, 0.6), PAIRS.items(), ("brier", "log_loss")
    ):
        rng = np.random.default_rng([size, int(100 * prior), [*PAIRS].index(pair)])
        measure = single_measure(name, prior, None)
        both = [
            true_loss(name, prior, separation, 0.2, *one) for one in zip(slopes, moved, strict=True)
        ]
        true, held = both[0] - both[1], np.zeros(3)
        for _ in range(count):
            truth, shared = rng.random(size) < 0.2, rng.normal(size=size)
            given = []
            for slope, by in zip(slopes, moved, strict=True):
                x = 0.5**0.5 * (shared + rng.normal(size=size)) + separation * truth
                given.append(expit(log_odds(x, separation, 0.2, slope) + by))
            cases = ScoredCases([*"AB"], given, [truth] * 2, None, True)
            evidence = of_test_set(cases, [measure], unseen=True)
            plain = of_test_set(cases, [measure])
            normal = all_pairs(replace(plain, freedom=np.inf))
            ends = (
                all_pairs(evidence).limits(0.95),
                difference_limits(evidence, (0, 1), 0.95, name),
                normal.limits(0.95),
            )
            held += [bool(low <= true <= high) for low, high in ends]
        rates = (f"{one:.3f}" for one in held / count)
        rows.append(
            {"cases": size, "prior": prior, "models": pair, "measure": name}
            | dict(zip(("`compare`", "`gate`", "normal"), rates, strict=True))
        )
    return pl.DataFrame(rows)


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["intervals", "size"])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", type=int, default=200, help="of the part moved")
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    arguments = parser.parse_args()
    given = {"moved": (arguments.runs,)}
    results = {part: globals()[part](*given.get(part, ())) for part in arguments.parts}
    if arguments.write and "moved" in results:
        write_table("moved", moved_on_page(results["moved"]), PAGE)
    if arguments.write and "differences" in results:
        table = as_page_table(results["differences"].to_dicts())
        write_table("differences of losses", table, PAGE)
    if "intervals" in results:
        results["coverage"] = covered(results["intervals"])
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160):
        for part, table in results.items():
            print(part, table, sep="\n")
    if arguments.json:
        written = {part: table.to_dicts() for part, table in results.items()}
        arguments.json.write_text(json.dumps(written, indent=1))


if __name__ == "__main__":
    main()
