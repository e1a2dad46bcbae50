"""How often a promised threshold breaks its promise, and what recall the promise costs.

``python tests/benchmarks/promises.py [--tunings N] [--only N]``: tuning tables are drawn from
curves whose true rates have a closed form, normal scores or the same in five levels, and, ten
times as many, from the least favourable curve of the constraints, just short of keeping them. For
each table the rule "max_recall" chooses among the thresholds that are promised at 95 %.

Printed per constraints, prior and number of positives (nine negatives to each): the share of
tunings in which the chosen threshold, and in which any promised threshold, breaks the constraints,
in the worst cell, with its standard error; the true recall of an oracle that knows the curve, of
the promised threshold (0 where there is none), and of the threshold that keeps the constraints on
the table; and how often that one breaks them.

``--constructions`` compares recall and broken promises of other ways to promise a precision: ten
order statistics with two exact bounds each, uniform bands of both rates, and testing in a fixed
sequence from five starts, given as much power as it could have.

``--clusters``: rows of a patient share a part of the variance of their scores. How often the recall
that is promised is not kept, with patients as `cluster` and with rows taken as independent; how
often a precision is promised, with patients and with rows, of a curve that is a hair short of it
everywhere (a tenth of the tunings, half of the variance shared); and the recall of a promised
precision of normal scores (AUC 0.94), with patients and with rows, of which the last is bolder
than may be.

``--weights``: why a promise refuses sampling weights. The recall of .8 that is promised if each
class counts as so many cases as its weights are worth, (Σw)²/Σw² (Kish 1965): of weights that have
nothing to do with scores, and of samples that have all cases above a score and one in twenty below
it. How often it is not kept, and how often there is no threshold, with standard errors.

``--conformal`` compares with the risk control of MAPIE (extra ``bench``) at the prior of the tuning
table, the only one that it knows: its default, and five starts in a fixed sequence. Its scores are
the true probabilities.
"""

import argparse
import itertools
import time
import warnings

import numpy as np
import polars as pl
from scipy.special import expit, logit
from scipy.stats import beta, norm

import polaroc as pr
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample, boundary, index_grid, promised

POSITIVES, PER_POSITIVE, AUCS, DELTA = (20, 100, 500), 9, (0.8, 0.9, 0.97, 0.995), 0.05
EDGE_TIMES = 10
CUTS = (-0.5, 0.5, 1.5, 2.5)
LIMITS = (
    {"precision": 0.5},
    {"recall": 0.8},
    {"precision": 0.5, "recall": 0.5},
    {"precision": 0.3, "recall": 0.3, "posfrac": 0.25},
)
ENDS = {"at 10 %": (0.1, 0.1), "5 to 20 %": (0.05, 0.2)}
FINE = np.linspace(-6, 9, 4001)


class Normal:
    """Normal scores, negatives around 0; in levels where cuts are given."""

    def __init__(self, auc, cuts=None):
        self.shift, self.cuts = 2**0.5 * norm.ppf(auc), cuts

    def draw(self, rng, n, positive):
        score = rng.normal(self.shift * positive, 1, n)
        return score if self.cuts is None else np.digitize(score, self.cuts).astype(float)

    def rates(self, threshold):
        at = threshold
        if self.cuts is not None:
            edges = np.array([-np.inf, *self.cuts, np.inf])
            at = edges[np.clip(np.ceil(threshold), 0, len(edges) - 1).astype(int)]
        return norm.sf(at - self.shift), norm.sf(at)

    def possible(self):
        return FINE if self.cuts is None else np.arange(len(self.cuts) + 1.0)


class Edge:
    """The curve t = g(f) less a hair: every threshold breaks the constraints."""

    def __init__(self, constraints):
        f = np.linspace(0, 1, 20_001)
        lines = constraints.lines(9.0)
        least = np.max([m * f + c for m, c in lines], axis=0).clip(0, 1)
        least[-1] = 1
        self.f, self.t = f, least * (1 - 1e-6)

    def draw(self, rng, n, positive):
        u = rng.random(n)
        return -(np.interp(u, self.t, self.f) if positive else u)

    def rates(self, threshold):
        f = np.clip(-threshold, 0, 1)
        return np.interp(f, self.f, self.t), f

    def possible(self):
        return np.array([])


def kept(constraints, t, f):
    return np.all(np.broadcast_arrays(*constraints.kept(t, f, 9.0)), axis=0) & (t > 0)


def table(rng, curve, positives, negatives):
    """Thresholds of a tuning table, best first, and the cases called positive at each."""
    scores = [curve.draw(rng, n, y) for n, y in ((positives, True), (negatives, False))]
    thresholds = np.unique(np.concatenate(scores))[::-1]
    called = [np.searchsorted(np.sort(-own), -thresholds, side="right") for own in scores]
    return thresholds, Sample(called[0], called[1], positives, negatives)


def run(rng, curve, constraints, positives, tunings):
    negatives = PER_POSITIVE * positives
    broken, any_broken, recall, plug_broken, plug_recall = (np.zeros(tunings) for _ in range(5))
    for i in range(tunings):
        thresholds, sample = table(rng, curve, positives, negatives)
        t, f = curve.rates(thresholds)
        sound = kept(constraints, t, f)
        at = np.flatnonzero(promised(sample, constraints, 9.0, DELTA) & (sample.tp > 0))
        if at.size:
            broken[i], recall[i] = not sound[at[-1]], t[at[-1]]
            any_broken[i] = not sound[at].all()
        naive = np.flatnonzero(kept(constraints, sample.tp / positives, sample.fp / negatives))
        if naive.size:
            plug_broken[i], plug_recall[i] = not sound[naive[-1]], t[naive[-1]]
    t, f = curve.rates(curve.possible())
    within = kept(constraints, t, f)
    oracle = t[within].max() if within.any() else 0.0
    means = [x.mean() for x in (broken, any_broken, recall, plug_recall, plug_broken)]
    return [oracle, *means]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunings", type=int, default=2000)
    parser.add_argument("--only", type=int, help="the number of the constraints, from 0")
    parser.add_argument("--constructions", action="store_true")
    parser.add_argument("--clusters", action="store_true")
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--conformal", action="store_true")
    arguments = parser.parse_args()
    start, rng = time.time(), np.random.default_rng(1)
    if arguments.constructions:
        compare_constructions(rng, min(arguments.tunings, 400))
        return
    if arguments.clusters:
        promise_clusters(rng, arguments.tunings)
        return
    if arguments.weights:
        promise_weights(rng, arguments.tunings)
        return
    if arguments.conformal:
        compare_conformal(rng, min(arguments.tunings, 400))
        return
    tunings = arguments.tunings
    chosen = LIMITS if arguments.only is None else LIMITS[arguments.only :][:1]
    for limits, (label, ends) in itertools.product(chosen, ENDS.items()):
        constraints = Constraints(limits, ends)
        for positives in POSITIVES:
            curves = [Normal(auc, cuts) for auc in AUCS for cuts in (None, CUTS)]
            cells = np.array([run(rng, curve, constraints, positives, tunings) for curve in curves])
            edge = (
                run(rng, Edge(constraints), constraints, positives, EDGE_TIMES * tunings)
                if "posfrac" not in limits
                else [np.nan] * 6
            )
            worst = cells[:, 1:3].max(axis=0)
            errors = (worst * (1 - worst) / tunings) ** 0.5
            mean = cells.mean(axis=0)
            print(
                f"{limits} {label}, {positives} positives: chosen breaks {worst[0]:.4f} "
                f"({errors[0]:.4f}), any {worst[1]:.4f} ({errors[1]:.4f}), at the edge "
                f"{edge[2]:.4f}; recall: oracle {mean[0]:.3f}, promised {mean[3]:.3f}, on the "
                f"table {mean[4]:.3f}, which breaks in {mean[5]:.3f}", flush=True,
            )  # fmt: skip
    print(f"{tunings} tunings a cell, {time.time() - start:.0f} s")


def compare_constructions(rng, tunings):
    """Recall and broken promises of several constructions, for precision at one prior."""
    cells = (
        (50, 450, 0.1, 0.5, 0.9), (100, 900, 0.05, 0.6, 0.92), (200, 4000, 0.05, 0.5, 0.92),
        (500, 4500, 0.1, 0.8, 0.95), (20, 180, 0.1, 0.3, 0.95), (50, 450, 0.1, 0.8, 0.98),
    )  # fmt: skip
    for positives, negatives, prior, precision, auc in cells:
        constraints = Constraints({"precision": precision}, (prior, prior))
        ((slope, _),) = constraints.lines(0.0)
        curve = Normal(auc)
        ways = {
            "one curve": one_curve(positives, negatives, constraints),
            "ten bounds": ten_bounds(positives, negatives, slope),
            "bands": bands(rng, positives, negatives, slope),
            "sequence": sequence(rng, positives, negatives, slope),
        }
        results = {name: np.zeros((tunings, 2)) for name in ways}
        for i in range(tunings):
            thresholds, sample = table(rng, curve, positives, negatives)
            t, f = curve.rates(thresholds)
            for name, way in ways.items():
                at = np.flatnonzero(way(sample))
                if at.size:
                    results[name][i] = t[at[-1]], t[at[-1]] < slope * f[at[-1]]
        t, f = curve.rates(FINE)
        text = [
            f"{name} {r[:, 0].mean():.3f} ({r[:, 0].std() / tunings**0.5:.3f}), breaks "
            f"{r[:, 1].mean():.3f}"
            for name, r in results.items()
        ]
        oracle = t[t >= slope * f].max(initial=0)
        print(f"{positives} + {negatives}, precision {precision} at {prior}, AUC {auc}: oracle "
              f"{oracle:.3f}; {'; '.join(text)}", flush=True)  # fmt: skip


def one_curve(positives, negatives, constraints):
    index, least = boundary(positives, negatives, tuple(constraints.lines(0.0)), 1.0, DELTA)
    return lambda sample: sample.tp >= least[np.searchsorted(index, sample.fp + 1)]


def ten_bounds(positives, negatives, slope):
    index = np.unique(np.geomspace(1, max(negatives / slope, 12), 10).astype(int))
    level = DELTA / (2 * len(index))
    upper = beta.ppf(1 - level, index, negatives + 1 - index)

    def way(sample):
        fits = np.zeros(len(sample.tp), dtype=bool)
        for j, most in zip(index, upper, strict=True):
            at = np.flatnonzero(sample.fp < j)
            if at.size:
                count = sample.tp[at[-1]]
                lower = beta.ppf(level, count, positives - count + 1) if count else 0.0
                fits[at[-1]] |= lower >= slope * most
        return fits

    return way


def bands(rng, positives, negatives, slope):
    limits = []
    for n in (positives, negatives):
        k = np.arange(1, n + 1)
        ordered = np.sort(rng.random((2000, n)), axis=1)
        level = np.quantile(beta.sf(ordered, k, n + 1 - k).min(axis=1), DELTA / 2)
        limits.append(beta.isf(level, k, n + 1 - k))
    upper = np.append(limits[1], 1.0)
    # By symmetry the lower limit of a recall is one less the upper limit of the missed.
    lower = 1 - np.append(limits[0], 1.0)[::-1]
    return lambda sample: (lower[sample.tp] >= slope * upper[sample.fp]) & (sample.tp > 0)


def sequence(rng, positives, negatives, slope):
    """Each index at the pointwise level of the last start that was passed, starts adding up."""
    index = index_grid(negatives)
    gaps = np.diff(index, prepend=0)
    order = rng.standard_gamma(gaps, (20_000, len(index))).cumsum(axis=1)
    recalls = (slope * order / order[:, -1:]).clip(0, 1)
    counts = rng.binomial(positives, recalls)
    starts = set(np.searchsorted(index, np.geomspace(1, max(negatives / slope, 6), 6)[1:]))
    p_value = [
        np.append(np.bincount(own, minlength=positives + 1)[::-1].cumsum()[::-1], 0) / len(own)
        for own in counts.T
    ]

    def way(sample):
        fits, level = np.zeros(len(sample.tp), dtype=bool), 0.0
        for column, j in enumerate(index):
            level += DELTA / len(starts) if column in starts else 0.0
            at = np.searchsorted(sample.fp, j) - 1
            if level and at >= 0 and p_value[column][sample.tp[at]] <= level:
                fits[at] = True
            else:
                level = 0.0
        return fits

    return way


def promise_clusters(rng, tunings):
    """Broken promises and recall where rows of patients are alike."""
    kinds = ((20, 80), (10, 30), (40, 0), (50, 200))
    for (positive, negative), uneven, alike in itertools.product(
        kinds, (False, True), (0.5, 0.0, 0.2, 0.9)
    ):
        cell = {"positive": positive, "negative": negative, "uneven": uneven, "alike": alike}
        asked = {"recall": ({"rule": "recall", "target": 0.8}, tunings)}
        if alike == HALF_SHARED:
            # Each table takes a while, since its effective numbers are its own.
            precision = {"constraints": {"precision": 0.5}, "priors": 0.2}
            asked |= {"edge": (precision, tunings // 10), "normal": (precision, tunings // 10)}
        said = []
        for name, (rule, samples) in asked.items():
            rows = rows_of_patients(rng, samples, edge=name == "edge", **cell)
            of_patients, of_rows = (
                pr.operating_points(
                    rows, **rule, truth="truth", score="score", by="sample", cluster=cluster,
                    confidence=1 - DELTA,
                )["threshold"].to_numpy().astype(float)
                for cluster in ("patient", None)
            )  # fmt: skip
            said.append(f"{name} {REPORTED[name](of_patients)} (rows {REPORTED[name](of_rows)})")
        patients = f"{positive} + {negative}" if negative else f"{positive} of both classes"
        rows_each = "1 to 41" if uneven else "10"
        print(f"{patients}, {rows_each} rows, {alike} shared: {'; '.join(said)}", flush=True)


HALF_SHARED = 0.5
LEAD = 2.2
# Of thresholds: how often a recall of .8 is missed; how often a precision that is never reached is
# promised; the recall at promised precision, and how often there is none.
REPORTED = {
    "recall": lambda own: f"broken {np.mean(own > LEAD - norm.ppf(0.8)):.4f}",
    "edge": lambda own: f"broken {np.mean(~np.isnan(own)):.3f}",
    "normal": lambda own: (
        f"recall {np.nan_to_num(norm.sf(own - LEAD)).mean():.3f}, none {np.isnan(own).mean():.3f}"
    ),
}


def rows_of_patients(rng, samples, *, positive, negative, uneven, alike, edge):
    """Rows of `samples` tables, of patients of one class each or of both."""
    count = positive + negative
    sizes = rng.integers(1, 42, (samples, count)) if uneven else np.full((samples, count), 10)
    patient = np.repeat(np.arange(samples * count), sizes.ravel())
    own = patient % count
    truth = own < positive if negative else rng.random(patient.size) < 0.2
    shared = rng.normal(size=samples * count)[patient]
    noise = alike**0.5 * shared + (1 - alike) ** 0.5 * rng.normal(size=patient.size)
    score = noise + LEAD * truth
    if edge:
        # At the prior 0.2, precision is a hair below one half where recall is four times the rate
        # of false alarms.
        rate = norm.sf(noise)
        score = -np.where(truth, rate / 4 * (1 + 1e-6), rate)
    return pl.DataFrame(
        {"sample": patient // count, "patient": patient, "truth": truth, "score": score}
    )


def promise_weights(rng, tunings):
    """Broken promises of a recall if a class counts as so many cases as its weights are worth."""
    constraints = Constraints({"recall": 0.8})
    for positives, kind in itertools.product(POSITIVES, WEIGHTS):
        broken, none = np.zeros(tunings), np.zeros(tunings)
        for i in range(tunings):
            score, weight = WEIGHTS[kind](rng, positives)
            best_first = np.argsort(-score)
            effect = (weight**2).sum() / weight.sum()
            above = weight[best_first].cumsum()
            no_alarm = np.zeros(positives, dtype=int)
            sample = Sample(above, no_alarm, above[-1], 1, (effect, 1.0))
            at = np.flatnonzero(promised(sample, constraints, 1.0, DELTA))
            none[i] = at.size == 0
            broken[i] = at.size and score[best_first][at[0]] > -norm.ppf(0.8)
        error = (broken.mean() * (1 - broken.mean()) / tunings) ** 0.5
        print(f"{positives} positives, {kind}: broken {broken.mean():.4f} ({error:.4f}), none "
              f"{none.mean():.2f}", flush=True)  # fmt: skip


def unrelated(draw):
    return lambda rng, n: (rng.normal(size=n), draw(rng, n))


def all_above(score):
    """Samples that have all cases above a score, and one in twenty of the others."""

    def draw(rng, n):
        share = norm.sf(score)
        is_above = rng.random(n) < share / (share + (1 - share) / 20)
        place = rng.random(n)
        drawn = np.where(is_above, norm.isf(place * share), norm.ppf(place * (1 - share)))
        return drawn, np.where(is_above, 1.0, 20.0)

    return draw


WEIGHTS = {
    "all weights equal": unrelated(lambda rng, n: np.ones(n)),
    "1 or 20": unrelated(lambda rng, n: rng.choice([1.0, 20.0], n)),
    "log-normal": unrelated(lambda rng, n: rng.lognormal(size=n)),
    "20 below a score that a quarter has": all_above(norm.isf(0.25)),
    "20 below a score that three quarters have": all_above(norm.isf(0.75)),
}


def compare_conformal(rng, tunings):
    """Recall and broken promises beside risk control at the prior of the tuning table."""
    share = 1 / (1 + PER_POSITIVE)
    cells = itertools.product(
        ({"precision": 0.5}, {"precision": 0.8}, {"precision": 0.5, "recall": 0.5}),
        (20, 100, 500),
        (0.9, 0.97),
    )
    for limits, positives, auc in cells:
        constraints, curve = Constraints(limits, (share, share)), Normal(auc)
        ways = ["polaroc", "default"] + ["five starts"] * (len(limits) == 1)
        results = {way: np.zeros((tunings, 3)) for way in ways}
        for i in range(tunings):
            negatives = PER_POSITIVE * positives
            drawn = [curve.draw(rng, n, y) for n, y in ((positives, True), (negatives, False))]
            for way, result in results.items():
                found = (
                    best_promised(drawn, constraints)
                    if way == "polaroc"
                    else controlled(way, drawn, limits, curve.shift, share)
                )
                if found is not None:
                    t, f = curve.rates(found)
                    result[i] = t, not kept(constraints, t, f), 1
        t, f = curve.rates(FINE)
        within = kept(constraints, t, f)
        text = [
            f"{way}: recall {r[:, 0].mean():.3f} ({r[:, 0].std() / tunings**0.5:.3f}), breaks "
            f"{r[:, 1].mean():.3f}, gives a threshold in {r[:, 2].mean():.2f}"
            for way, r in results.items()
        ]
        print(f"{limits}, {positives} positives, AUC {auc}: oracle "
              f"{t[within].max(initial=0):.3f}; {'; '.join(text)}", flush=True)  # fmt: skip


def best_promised(drawn, constraints):
    thresholds = np.unique(np.concatenate(drawn))[::-1]
    called = [np.searchsorted(np.sort(-own), -thresholds, side="right") for own in drawn]
    sample = Sample(*called, *map(len, drawn))
    at = np.flatnonzero(promised(sample, constraints, PER_POSITIVE, DELTA) & (sample.tp > 0))
    return thresholds[at[-1]] if at.size else None


def controlled(way, drawn, limits, shift, share):
    """The threshold that MAPIE controls the risks at, in units of the scores."""
    from mapie.risk_control import BinaryClassificationController, FWERFixedSequenceTesting

    scores = np.concatenate(drawn)
    probability = expit(shift * scores - shift**2 / 2 + logit(share))
    truth = np.repeat([1, 0], [len(drawn[0]), len(drawn[1])])
    starts = FWERFixedSequenceTesting(n_starts=5)
    risks, levels = list(limits), list(limits.values())
    one = len(limits) == 1
    controller = BinaryClassificationController(
        lambda p: np.column_stack([1 - p[:, 0], p[:, 0]]),
        risks[0] if one else risks, levels[0] if one else levels,
        confidence_level=1 - DELTA, best_predict_param_choice="recall",
        fwer_method="bonferroni_holm" if way == "default" else starts,
    )  # fmt: skip
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # It warns where no threshold can be controlled.
        warnings.simplefilter("ignore")
        controller.calibrate(probability[:, None], truth)
    best = controller.best_predict_param
    if best is None:
        return None
    at = float(np.ravel(best)[0])
    return (logit(at) - logit(share) + shift**2 / 2) / shift if at else -np.inf


if __name__ == "__main__":
    main()
