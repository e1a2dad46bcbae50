"""Promises for all subgroups at once, and gaps between subgroups, by simulation.

``python tests/benchmarks/subgroups.py [promises] [clusters] [gaps] [--tables N] [--seed N]``

*promises*: tuning tables of several subgroups of normal scores. How often the threshold chosen by
"max_recall" (of a recall alone: the highest that is promised), and any promised threshold, breaks
its promise in any subgroup; and its recall, beside that of δ over the number of subgroups
throughout (Bonferroni), and beside a promise for all cases, of which the last column says how often
it is broken in some subgroup.

*clusters*: ten rows per patient, half of the variance shared, patients in one subgroup or in all.

*gaps*: subgroups of no true difference: how often `subgroups` tells any two apart, measure by
measure; and, of subgroups that differ, how often its limits hold for all gaps of the AUC and of
the recall at once.
"""

import argparse
import time

import numpy as np
import polars as pl
from scipy.special import expit
from scipy.stats import norm

import polaroc as pr
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample, promised
from polaroc.thresholds.subgroup_promises import is_nested

CONFIDENCE, LEVEL, NAMES = 0.95, 0.95, {"truth": "y", "score": "p", "subgroup": "g"}
LIMITS = {
    "recall ≥ .8": ({"recall": 0.8}, (0.1, 0.1)),
    "false alarms ≤ .1": ({"fpr": 0.1}, (0.1, 0.1)),
    "at most .2 called positive at 10 %": ({"posfrac": 0.2}, (0.1, 0.1)),
    "precision ≥ .4 at 5 to 20 %": ({"precision": 0.4}, (0.05, 0.2)),
    "precision ≥ .3, recall ≥ .5 at 10 %": ({"precision": 0.3, "recall": 0.5}, (0.1, 0.1)),
}
# Positives of each subgroup, nine negatives to each, their d’, and by how much all scores of it
# are higher.
GROUPS = {
    "2 × 100": ((100, 2.4, 0),) * 2,
    "5 × 100": ((100, 2.4, 0),) * 5,
    "400, 100, 40": ((400, 2.4, 0), (100, 2.4, 0), (40, 2.4, 0)),
    "100, d′ 2, 2.4, 2.8": ((100, 2.0, 0), (100, 2.4, 0), (100, 2.8, 0)),
    "3 × 100, one .5 higher, one lower": ((100, 2.4, 0.5), (100, 2.4, 0), (100, 2.4, -0.5)),
}
PER_POSITIVE = 9


def drawn(rng, groups):
    """Truth, score and subgroup of a table, and the true rates of each subgroup at a threshold."""
    parts = [np.repeat([True, False], [n, PER_POSITIVE * n]) for n, _, _ in groups]
    drawn_scores = [rng.normal(d * own + up) for own, (_, d, up) in zip(parts, groups, strict=True)]
    group = np.repeat(np.arange(len(groups)), [own.size for own in parts])

    def rates(threshold):
        return [(norm.sf(threshold - d - up), norm.sf(threshold - up)) for _, d, up in groups]

    return np.concatenate(parts), np.concatenate(drawn_scores), group, rates


def counts(truth, score, thresholds):
    """The cases of both classes that score at least each threshold."""
    pos, neg = (np.sort(score[own]) for own in (truth, ~truth))
    at = [one.size - np.searchsorted(one, thresholds) for one in (pos, neg)]
    return Sample(*at, pos.size, neg.size)


def promised_at(table, constraints, delta):
    """The distinct scores, and whether each is promised in every subgroup at an error rate."""
    truth, score, group = table
    thresholds = np.unique(score)
    own = [
        promised(counts(truth[group == g], score[group == g], thresholds), constraints, 9.0, delta)
        for g in range(group.max() + 1)
    ]
    return thresholds, np.logical_and.reduce(own)


def breaks(rates, constraints):
    """Whether a threshold, or any of several, breaks the constraints in any subgroup."""
    return any(not np.all(kept) for t, f in rates for kept in constraints.kept(t, f, 9.0))


def chosen(thresholds, is_promised, rule, found):
    """The threshold that is taken: the highest for a recall, else that of the most recall."""
    kept = thresholds[is_promised]
    if not kept.size:
        return None
    if rule == "recall":
        return kept.max()
    # Of those that find as many positives the highest.
    least = found[found >= kept.min()].min()
    return kept[kept <= least].max()


def promises(rng, tables):
    print("| constraints | subgroups | chosen breaks | any breaks | recall: promised | Bonferroni |"
          " for all cases | and breaks in one |")  # fmt: skip
    for words, (limits, ends) in LIMITS.items():
        constraints = Constraints(limits, ends)
        for name, groups in GROUPS.items():
            report(words, name, constraints, tables, lambda g=groups: drawn(rng, g))


def report(words, name, constraints, tables, draw):
    delta, rule = 1 - CONFIDENCE, "recall" if [*constraints.limits] == ["recall"] else "max_recall"
    found = {way: [] for way in ("chosen", "any", "own", "bonferroni", "pooled", "pooled breaks")}
    for number in range(tables):
        truth, score, group, rates = draw()
        count = group.max() + 1
        spread = {"own": 1 if is_nested(constraints) else count, "bonferroni": count}
        taken = {}
        for way, over in spread.items():
            thresholds, is_so = promised_at((truth, score, group), constraints, delta / over)
            taken[way] = chosen(thresholds, is_so, rule, score[truth])
            if way == "own":
                found["any"].append(breaks(rates(thresholds[is_so]), constraints))
                if number < 3:
                    same_as_public(truth, score, group, constraints, rule, taken[way])
        pooled = (truth, score, np.zeros_like(group))
        at_pooled = promised_at(pooled, constraints, delta)
        taken["pooled"] = chosen(*at_pooled, rule, score[truth])
        sizes = np.bincount(group[truth])
        for way, threshold in taken.items():
            true = None if threshold is None else rates(threshold)
            found[way].append(
                0 if true is None else np.average([t for t, _ in true], weights=sizes)
            )
        for way, key in (("own", "chosen"), ("pooled", "pooled breaks")):
            at = taken[way]
            found[key].append(at is not None and breaks(rates(at), constraints))
    means = {way: np.mean(values) for way, values in found.items()}
    errors = {way: (means[way] * (1 - means[way]) / tables) ** 0.5 for way in ("chosen", "any")}
    print(f"| {words} | {name} | {means['chosen']:.3f} ({errors['chosen']:.3f}) | "
          f"{means['any']:.3f} ({errors['any']:.3f}) | {means['own']:.3f} | "
          f"{means['bonferroni']:.3f} | {means['pooled']:.3f} | {means['pooled breaks']:.3f} |",
          flush=True)  # fmt: skip


def same_as_public(truth, score, group, constraints, rule, threshold):
    """What is simulated is what users get."""
    limit = constraints.limits.get("recall")
    asked = {"rule": rule, "target": limit} if rule == "recall" else {
        "rule": rule, "constraints": constraints.limits,
    }  # fmt: skip
    table = pl.DataFrame({"y": truth, "p": score, "g": group})
    low, high = constraints.ends
    at = {"priors": low} if low == high else {"over": (low, high)}
    point = pr.operating_points(table, **NAMES, **asked, **at, confidence=CONFIDENCE)
    assert point["threshold"].item() == threshold, (point, threshold)


def patients(rng, groups, *, crossing, rows=10, alike=0.5):
    """A table whose rows of a patient are alike; patients are in one subgroup, or in all."""
    truth, _, group, rates = drawn(rng, groups)
    by = [truth] if crossing else [truth, group]
    order = np.lexsort([rng.random(truth.size), *by])
    patient = np.empty(truth.size, int)
    patient[order] = np.arange(truth.size) // rows
    d, up = np.array([own[1:] for own in groups]).T[:, group]
    shared, own = rng.normal(size=truth.size)[patient], rng.normal(size=truth.size)
    score = d * truth + up + alike**0.5 * shared + (1 - alike) ** 0.5 * own
    table = pl.DataFrame({"y": truth, "p": score, "g": group, "patient": patient})
    return table, rates


def clusters(rng, tables):
    print("| constraints | patients | chosen breaks | recall |")
    groups = ((300, 2.0, 0), (300, 2.4, 0.5), (300, 2.4, 0))
    asked = {
        "recall ≥ .8": ({"rule": "recall", "target": 0.8}, Constraints({"recall": 0.8})),
        "false alarms ≤ .1": ({"constraints": {"fpr": 0.1}}, Constraints({"fpr": 0.1})),
        "precision ≥ .4 at 10 %": (
            {"constraints": {"precision": 0.4}, "priors": 0.1},
            Constraints({"precision": 0.4}, (0.1, 0.1)),
        ),
    }
    for words, (given, constraints) in asked.items():
        for crossing in (False, True):
            broken, recall = 0, 0.0
            for _ in range(tables):
                table, rates = patients(rng, groups, crossing=crossing)
                found = pr.operating_points(
                    table, **NAMES, cluster="patient", confidence=CONFIDENCE, **given
                )
                threshold = found["threshold"].item()
                if threshold is not None:
                    broken += breaks(rates(threshold), constraints)
                    recall += np.mean([t for t, _ in rates(threshold)])
            share = broken / tables
            print(f"| {words} | {'in all subgroups' if crossing else 'in one subgroup'} | "
                  f"{share:.3f} ({(share * (1 - share) / tables) ** 0.5:.3f}) | "
                  f"{recall / tables:.3f} |", flush=True)  # fmt: skip


GAPS = {
    # Positives and d' of each subgroup, share of variance that rows of a patient share, and
    # whether patients are in all subgroups.
    "2 × 20": (((20, 1.8, 0),) * 2, 0, False),
    "2 × 100": (((100, 1.8, 0),) * 2, 0, False),
    "4 × 50": (((50, 1.8, 0),) * 4, 0, False),
    "8 × 50": (((50, 1.8, 0),) * 8, 0, False),
    "200, 20, 10": (((200, 1.8, 0), (20, 1.8, 0), (10, 1.8, 0)), 0, False),
    "3 × 50, d′ 2.6": (((50, 2.6, 0),) * 3, 0, False),
    "3 × 200, patients in one": (((200, 1.8, 0),) * 3, 0.5, False),
    "3 × 200, patients in all": (((200, 1.8, 0),) * 3, 0.5, True),
    "2 × 200, patients in all": (((200, 1.8, 0),) * 2, 0.5, True),
    "3 × 100, d′ 1.4, 1.8, 2.4": (((100, 1.4, 0), (100, 1.8, 0), (100, 2.4, 0)), 0, False),
}


def gaps(rng, samples):
    prior = 1 / (1 + PER_POSITIVE)
    for name, (groups, alike, crossing) in GAPS.items():
        told, held, size = {}, {}, samples
        for _ in range(samples):
            table, rates = patients(rng, groups, crossing=crossing, alike=alike)
            mean = np.mean([d for _, d, _ in groups])
            odds = mean * pl.col("p") - mean**2 / 2 + np.log(prior / (1 - prior))
            given = table.with_columns(p=1 / (1 + (-odds).exp()))
            cut = mean * 0.6
            point = float(expit(mean * cut - mean**2 / 2 + np.log(prior / (1 - prior))))
            found = pr.subgroups(
                given, **NAMES, points=point, priors=prior, cluster="patient" if alike else None,
            )  # fmt: skip
            apart = found.gaps.group_by("measure").agg(pl.col("apart").any())
            for measure, is_so in apart.iter_rows():
                told[measure] = told.get(measure, 0) + is_so
            true = {"auc": [norm.cdf(d / 2**0.5) for _, d, _ in groups],
                    "recall": [t for t, _ in rates(cut)]}  # fmt: skip
            for measure, values in true.items():
                rows = found.gaps.filter(measure=measure).select(
                    "subgroup_a", "subgroup_b", "lower", "upper"
                )
                held[measure] = held.get(measure, 0) + all(
                    low <= values[int(a)] - values[int(b)] <= high
                    for a, b, low, high in rows.iter_rows()
                )
        different = len({d for _, d, _ in groups}) > 1
        if different:
            shares = {measure: f"{count / size:.3f}" for measure, count in held.items()}
            print(f"{name}: limits of all gaps hold: {shares}", flush=True)
            continue
        shares = ", ".join(f"{one} {count / size:.3f}" for one, count in sorted(told.items()))
        print(f"{name}: told apart: {shares}", flush=True)
    print(f"standard error at .05: {(0.05 * 0.95 / samples) ** 0.5:.3f}")


# Each part, and how many tables it draws for a cell.
PARTS = {"promises": (promises, 400), "clusters": (clusters, 300), "gaps": (gaps, 400)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PARTS])
    parser.add_argument("--tables", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.parts:
        start = time.perf_counter()
        part, tables = PARTS[name]
        tables = options.tables or tables
        print(f"\n{name}: {tables} tables, seed {options.seed}")
        part(np.random.default_rng(options.seed), tables)
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
