"""Test whether scores in use are a mixture of the two classes of the reference."""

from collections.abc import Sequence

from polaroc.base.lazy import np
from polaroc.deployment.estimators import Labelled, Unlabelled
from polaroc.typing import Array

# Below this p-value an estimate of the prior has no interval.
SHIFTED = 0.01
BINS = 20
EM_STEPS = 60
# Where the steps start, of a prior at its end: from there they would not move.
MIN_SHARE = 1e-3
# Sizes of the batches of draws, 999 in all; ten draws beyond the observed fit end the test.
BATCHES = (49, 200, 750)
ENOUGH = 10
# Draws that equal the observed fit but for rounding count as beyond it.
NEARLY = 1 - 1e-9


def shift_note(p_value: float) -> str:
    """Why an estimate has no interval."""
    return (
        "more than the prior has shifted: no mixture of the positives and negatives of the "
        f"reference gives these scores (p = {p_value:.2g}), so there is no interval"
    )


def mixture_p_value(labelled: Labelled, unlabelled: Unlabelled) -> float | None:
    """How often a mixture of the classes fits worse; None where all scores are one.

    The Anderson-Darling distance between the binned distribution of the unlabelled scores and
    the nearest mixture. Its null distribution is drawn from the mixture of greatest likelihood,
    the reference anew each time, until ten draws fit worse (Besag and Clifford, 1991).
    """
    counts = _binned(labelled, unlabelled)
    if counts[0].size < 2:
        return None
    observed = float(mixture_distance(*counts))
    positive, negative, prior = _fitted(*counts)
    shares = positive, negative, prior * positive + (1 - prior) * negative
    # The same tables have the same p-value.
    rng = np.random.default_rng(0)
    worse, drawn = 0, 0
    for size in BATCHES:
        samples = [_drawn(rng, n, share, size) for n, share in zip(counts, shares, strict=True)]
        beyond = mixture_distance(*samples) >= observed * NEARLY
        if worse + beyond.sum() >= ENOUGH:
            last = int(np.flatnonzero(beyond)[ENOUGH - worse - 1])
            return ENOUGH / (drawn + last + 1)
        worse, drawn = worse + int(beyond.sum()), drawn + size
    return (worse + 1) / (drawn + 1)


def mixture_distance(positive: "Array", negative: "Array", unlabelled: "Array") -> "Array":
    """The distance of counts in bins, the last axis, from the nearest mixture of two others.

    Squared differences of cumulative shares, each over its variance, of the reference too.
    """
    sizes = [counts.sum(axis=-1, keepdims=True) for counts in (positive, negative, unlabelled)]
    t, f, share = (
        counts.cumsum(axis=-1)[..., :-1] / size
        for counts, size in zip((positive, negative, unlabelled), sizes, strict=True)
    )
    prior, weight = np.full((*share.shape[:-1], 1), 0.5), np.ones_like(share)
    # The variance depends on the prior: two steps are enough.
    for _ in range(2):
        mixture = prior * t + (1 - prior) * f
        weight = 1 / (
            smoothed_variance(mixture, sizes[2])
            + prior**2 * smoothed_variance(t, sizes[0])
            + (1 - prior) ** 2 * smoothed_variance(f, sizes[1])
        )
        prior = nearest_prior(t, f, share, weight)
    squares: Array = (weight * (share - prior * t - (1 - prior) * f) ** 2).mean(axis=-1)
    return squares


def nearest_prior(t: "Array", f: "Array", share: "Array", weight: "Array") -> "Array":
    """The prior in [0, 1] with the least weighted squares of the shares' distance from it."""
    apart = weight * (t - f)
    spread = (apart * (t - f)).sum(axis=-1, keepdims=True)
    fitted = (apart * (share - f)).sum(axis=-1, keepdims=True) / np.maximum(spread, 1e-300)
    prior: Array = np.clip(fitted, 0.0, 1.0)
    return prior


def smoothed_variance(share: "Array", size: "Array | int") -> "Array":
    """The variance of a share, with half a case more of either kind so that none is zero."""
    smoothed = (share * size + 0.5) / (size + 1)
    variance: Array = smoothed * (1 - smoothed) / size
    return variance


def _drawn(rng: "np.random.Generator", counts: "Array", share: "Array", draws: int) -> "Array":
    sample: Array = rng.multinomial(round(counts.sum()), share / share.sum(), draws).astype(float)
    return sample


def _binned(labelled: Labelled, unlabelled: Unlabelled) -> list["Array"]:
    """Numbers of positives, negatives and unlabelled cases, in bins that share all three."""
    samples: Sequence[tuple[Array, Array]] = (
        (labelled.score, labelled.pos),
        (labelled.score, labelled.neg),
        (unlabelled.score, unlabelled.count),
    )
    score = np.concatenate([score for score, _ in samples])
    share = np.concatenate([count / count.sum() for _, count in samples])
    order = np.argsort(score, kind="stable")
    cumulative = share[order].cumsum() / len(samples)
    edges = np.unique(score[order][np.searchsorted(cumulative, np.arange(1, BINS) / BINS)])
    counts = [
        np.bincount(np.searchsorted(edges, s, side="right"), n, edges.size + 1) for s, n in samples
    ]
    used = sum(counts) > 0
    return [count[used] for count in counts]


def _fitted(
    positive: "Array", negative: "Array", unlabelled: "Array"
) -> tuple["Array", "Array", float]:
    """Shares of the bins in either class, and the prior, of greatest likelihood together."""
    sizes = [float(counts.sum()) for counts in (positive, negative, unlabelled)]
    p, q = ((counts + 0.5) / (counts + 0.5).sum() for counts in (positive, negative))
    # The steps are slow where few cases are labelled: from a far prior they would not arrive.
    t, f, share = (of.cumsum()[:-1] for of in (p, q, unlabelled / sizes[2]))
    nearest = float(nearest_prior(t, f, share, np.ones_like(share))[0])
    prior = min(max(nearest, MIN_SHARE), 1 - MIN_SHARE)
    for _ in range(EM_STEPS):
        density = np.maximum(prior * p + (1 - prior) * q, 1e-300)
        members = unlabelled * (prior * p / density)
        total = float(members.sum())
        p = (positive + members) / (sizes[0] + total)
        # Rounding may leave less than none.
        q = (negative + np.maximum(unlabelled - members, 0)) / (sizes[1] + sizes[2] - total)
        prior = total / sizes[2]
    return p, q, prior
