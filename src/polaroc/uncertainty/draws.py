"""Bootstrap draws: resampled segments from the counts of cells."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, DRAW, TRUTH, WEIGHT
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array
from polaroc.uncertainty.pseudo_cases import BEST, NONE, PSEUDO, WORST, counts_with_pseudo_cases

# Counts in memory at once, over all draws of a block.
BLOCK = 4_000_000
MANY_PER_GROUP = 20


def generator(seed: int, key: Sequence[object]) -> "np.random.Generator":
    """Random numbers of one key, independent of other keys."""
    digest = blake2b(repr(tuple(key)).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])


def draws_of_cells(
    curve: pl.DataFrame, rng: "np.random.Generator", count: int, place: int = NONE
) -> Iterator[pl.DataFrame]:
    """Stratified bootstrap draws of one curve of integer counts, sorted with the best score first.

    Yields blocks of several draws each: segments with `DRAW` and the counts and totals of a
    curve. Only cells with positives have area: the negatives between two of them are drawn as
    one number, so that the cost of a draw is proportional to the number of segments.
    Pseudo-cases at a `place` may be drawn too.
    """
    cells = curve.filter(pl.col("pos") > 0)
    pos, neg, fp = (cells[name].to_numpy().astype(np.int64) for name in ("pos", "neg", "fp"))
    positives, negatives = int(pos.sum()), int(curve["negatives"][0])
    level = np.diff(fp - neg, prepend=0) - np.append(0, neg[:-1])
    pos, level, neg, rest = counts_with_pseudo_cases(pos, level, neg, negatives - fp[-1], place)
    # Per segment the level run before it and its own negatives; the rest comes last.
    groups = np.append(np.stack([level, neg], axis=1).ravel(), rest)
    for first, size in blocks_of_draws(count, 2 * pos.size):
        drawn_pos = _drawn(pos, positives, rng, size)
        drawn_neg = _drawn(groups, negatives, rng, size)
        ends = drawn_neg.cumsum(axis=1)[:, 1:-1:2]
        yield segments_of_draws(first, drawn_pos, drawn_neg[:, 1:-1:2], ends, positives, negatives)


def draws_of_clusters(
    cases: pl.DataFrame, rng: "np.random.Generator", count: int, place: int = NONE
) -> Iterator[pl.DataFrame]:
    """Bootstrap draws of whole clusters, in which class totals vary.

    Otherwise as `draws_of_cells`; a pseudo-cluster is a fraction of a `whole_cluster`. Cases with a
    column `WEIGHT` count as much as it says.
    """
    ordered = cases.sort(SCORE, descending=True)
    member = ordered[CLUSTER].rank("dense").to_numpy().astype(np.int64) - 1
    truth, score = ordered[TRUTH].to_numpy(), ordered[SCORE].to_numpy()
    last = np.append(score[1:] != score[:-1], True)
    clusters = int(member.max()) + 1
    shares = np.append(np.ones(clusters), 0 if place == NONE else PSEUDO)
    mass, means = _masses(ordered), whole_cluster(ordered)
    for first, size in blocks_of_draws(count, 2 * truth.size):
        times = rng.multinomial(clusters, shares / shares.sum(), size=size)
        weight = times[:, member] * mass
        tp, fp = ((weight * mask).cumsum(axis=1)[:, last] for mask in (truth, ~truth))
        # Positives of the pseudo-cluster come first if best, last if worst.
        more_pos, more_neg = (times[:, -1:] * mean for mean in means)
        all_pos, all_neg = tp[:, -1:] + more_pos, fp[:, -1:] + more_neg
        if place == BEST:
            tp = np.hstack([more_pos, tp + more_pos])
            fp = np.hstack([np.zeros_like(more_neg), fp])
        elif place == WORST:
            tp, fp = np.hstack([tp, all_pos]), np.hstack([fp + more_neg, all_neg])
        pos, neg = (np.diff(totals, axis=1, prepend=0) for totals in (tp, fp))
        if place == WORST:
            neg[:, 0] -= more_neg[:, 0]
        yield segments_of_draws(first, pos, neg, fp, all_pos[:, 0], all_neg[:, 0])


def whole_cluster(cases: pl.DataFrame) -> list[float]:
    """The positives and negatives of the mean cluster that has some.

    Where clusters are single cases: the heaviest case of each class.
    """
    mass, truth, clusters = _masses(cases), cases[TRUTH].to_numpy(), cases[CLUSTER]
    of_classes = truth, ~truth
    if clusters.n_unique() == cases.height:
        return [mass[own].max(initial=0) for own in of_classes]
    return [mass[own].sum() / max(clusters.filter(own).n_unique(), 1) for own in of_classes]


def _masses(cases: pl.DataFrame) -> "Array":
    """What each case counts."""
    if WEIGHT in cases.columns:
        return cases[WEIGHT].to_numpy()
    return np.ones(cases.height, np.int64)


def _drawn(groups: "Array", total: int, rng: "np.random.Generator", size: int) -> "Array":
    """Draws of `total` cases, counted by group; shape (size, groups)."""
    filled = np.flatnonzero(groups)
    drawn = np.zeros((size, groups.size), dtype=np.int64)
    if total > MANY_PER_GROUP * filled.size:
        drawn[:, filled] = rng.multinomial(total, groups[filled] / groups.sum(), size=size)
        return drawn
    # For small groups drawing case by case is faster, after the pseudo-cases, which are
    # fractions of a case.
    whole = np.floor(groups).astype(np.int64)
    part = groups - whole
    pseudo = np.flatnonzero(part)
    if pseudo.size:
        shares = np.append(part[pseudo], whole.sum()) / groups.sum()
        drawn[:, pseudo] = rng.multinomial(total, shares, size=size)[:, :-1]
    left = total - drawn.sum(axis=1)
    filled = np.flatnonzero(whole)
    group_of = np.repeat(filled, whole[filled])
    small = np.int32 if total < 2**31 else np.int64
    for counts, own in zip(drawn, left, strict=True):
        cases = rng.integers(0, group_of.size, size=own, dtype=small)
        counts += np.bincount(group_of[cases], minlength=groups.size)
    return drawn


def segments_of_draws(
    first: int,
    pos: "Array",
    neg: "Array",
    fp: "Array",
    positives: "Array | int",
    negatives: "Array | int",
) -> pl.DataFrame:
    """The segments with positives of a block of draws, numbered from `first`.

    Counts have the shape (draws, cells), best score first; totals are one for all draws or
    one for each.
    """
    kept = np.flatnonzero(pos)
    draw = kept // pos.shape[1]
    totals = {"positives": positives, "negatives": negatives}
    counts = {"pos": pos, "neg": neg, "tp": pos.cumsum(axis=1), "fp": fp}
    return pl.DataFrame(
        {
            DRAW: first + draw,
            **{name: own.ravel()[kept] for name, own in counts.items()},
            **{name: np.broadcast_to(total, pos.shape[0])[draw] for name, total in totals.items()},
        }
    )


def blocks_of_draws(count: int, width: int) -> Iterator[tuple[int, int]]:
    """The first draw and the number of draws of each block, for draws of `width` counts."""
    size = max(1, BLOCK // max(1, width))
    for first in range(0, count, size):
        yield first, min(size, count - first)
