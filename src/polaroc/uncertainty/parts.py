"""Evidence on disjoint parts of a test set, whose rows may share clusters."""

from collections.abc import Sequence
from math import inf

from polaroc.base.lazy import np
from polaroc.typing import Array
from polaroc.uncertainty.evidence import Evidence, Moved, pair_places
from polaroc.uncertainty.test_sets import UNKNOWN


def of_parts(parts: Sequence[Evidence]) -> Evidence:
    """The evidence on several parts of a test set, from that on each of them.

    Parts that have clusters in common vary together: a patient with rows in two of them moves
    both. Each part holds one model, and numbers its clusters as the others do. The covariance is
    taken as known: limits of each part allow for its degrees of freedom, of which parts have their
    own.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.base.arrays import ARRAYS
    >>> from polaroc.measures.areas import auc_measure
    >>> from polaroc.uncertainty.scored_cases import ScoredCases
    >>> from polaroc.uncertainty.test_sets import of_test_set
    >>> score, truth = np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False])
    >>> own = ScoredCases((), ["all"], [score], [truth], [[np.arange(4)]], True)
    >>> evidence = of_test_set(own, [auc_measure(backend=ARRAYS)])
    >>> of_parts([evidence, evidence]).covariance[0].tolist()
    [[0.125, 0.125], [0.125, 0.125]]
    """
    count, measures = len(parts), parts[0].estimates.shape[0]
    covariance = np.zeros((measures, count, count))
    for place, part in enumerate(parts):
        covariance[:, place, place] = part.covariance[:, 0, 0]
    for first, second in zip(*pair_places(count), strict=True):
        shared = _shared(parts[first].moved, parts[second].moved)
        covariance[:, first, second] = covariance[:, second, first] = shared
    return Evidence(
        [part.models[0] for part in parts],
        np.concatenate([part.estimates for part in parts], axis=1),
        covariance,
        inf,
        parts[0].about,
        () if np.isfinite(covariance).all() else (UNKNOWN,),
    )


def _shared(first: Moved | None, second: Moved | None) -> "Array | float":
    """The covariance of two parts, which is that of the clusters that both have."""
    # Without clusters no case is in two parts.
    if first is None or second is None or not first.joint:
        return 0.0
    pairs = [
        (own[:, 0, : other.shape[-1]], other[:, 0, : own.shape[-1]])
        for own, other in zip(first.parts, second.parts, strict=True)
    ]
    # Each part has factors of its own.
    found = [one.products(*zip(*pairs, strict=True)) for one in (first, second)]
    by_clustering = [np.asarray(sum(own) / 2) for own in zip(*found, strict=True)]
    shared: Array = by_clustering[0]
    if len(by_clustering) > 1:
        shared = shared + by_clustering[1] - by_clustering[2]
    return shared


def of_classes(classes: Sequence[Evidence]) -> Evidence:
    """The evidence on several classes of the same cases, from that on each against the rest.

    What a case, or a cluster, moves is summed: it is a positive of one class and a negative of the
    others. Each has one model, and numbers its clusters as the others do.

    Examples
    --------
    >>> from polaroc.base.arrays import ARRAYS
    >>> from polaroc.measures.areas import auc_measure
    >>> from polaroc.uncertainty.scored_cases import ScoredCases
    >>> from polaroc.uncertainty.test_sets import of_test_set
    >>> score, truth = np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False])
    >>> own = ScoredCases((), ["a"], [score], [truth], [[np.arange(4)]], True)
    >>> other = ScoredCases((), ["b"], [1 - score], [~truth], [[np.arange(4)]], True)
    >>> both = of_classes([of_test_set(one, [auc_measure(backend=ARRAYS)]) for one in (own, other)])
    >>> both.correlation.tolist()
    [[[1.0, 1.0], [1.0, 1.0]]]
    """
    known = [one.moved for one in classes if one.moved is not None and one.moved.joint]
    estimates = np.concatenate([one.estimates for one in classes], axis=1)
    moved = None
    covariance = np.full((*estimates.shape, len(classes)), np.nan)
    if len(known) == len(classes):
        parts = tuple(_summed(own) for own in zip(*map(_by_clustering, known), strict=True))
        fewest = min(part.shape[-1] for part in parts)
        moved = Moved(parts, known[0].joint, (fewest,), units=known[0].units)
        covariance = moved.covariance()
    names = [one.models[0] for one in classes]
    doubts = () if moved is not None else (UNKNOWN,)
    return Evidence(names, estimates, covariance, inf, classes[0].about, doubts, moved)


def _by_clustering(moved: Moved) -> "list[Array]":
    """What each cluster moves the only model, as positives and as negatives together."""
    pairs = zip(moved.parts[::2], moved.parts[1::2], strict=True)
    return [(of_pos + of_neg)[:, 0] for of_pos, of_neg in pairs]


def _summed(classes: "Sequence[Array]") -> "Array":
    """What each cluster moves each class, from that of every class: measures × classes × units."""
    units = max(own.shape[-1] for own in classes)
    return np.stack([np.pad(own, ((0, 0), (0, units - own.shape[-1]))) for own in classes], axis=1)


def gap_limits(first: "Array", second: "Array", correlation: "Array") -> "tuple[Array, Array]":
    """Limits of a difference, from the estimate and the limits of both parts (Zou and Donner 2008).

    They are as wide to either side as those of the parts are there, so that they hold for shares
    near 0 or 1 and for few cases, too.

    Either part has its estimate, lower and upper limit on the first axis; their errors have this
    correlation.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = gap_limits(np.array([0.5, 0.4, 0.6]), np.array([0.3, 0.2, 0.4]), np.zeros(()))
    >>> round(float(low), 3), round(float(high), 3)
    (0.059, 0.341)
    """
    (one, low, high), (other, least, most) = first, second

    def reach(of_one: "Array", of_other: "Array") -> "Array":
        square = of_one**2 + of_other**2 - 2 * correlation * of_one * of_other
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    difference = one - other
    return (
        difference - reach(one - low, most - other),
        difference + reach(high - one, other - least),
    )


def mean_limits(values: "Array", correlation: "Array", shares: "Array") -> "Array":
    """Limits and standard errors of means of parts, from those of the parts (Zou and Donner 2008).

    As in `gap_limits`, they are as wide to either side as those of the parts are there.

    The values are estimates, lower and upper limits and standard errors, on the first axis, of
    measures × parts. Of these the errors have a correlation: measures × parts × parts. The shares
    of the parts sum to 1.

    Examples
    --------
    >>> values = np.array([[[0.5, 0.7]], [[0.4, 0.6]], [[0.6, 0.8]], [[0.05, 0.05]]])
    >>> mean_limits(values, np.eye(2)[None], np.array([0.5, 0.5])).ravel().round(3).tolist()
    [0.529, 0.671, 0.035]
    """
    estimate, lower, upper, error = values

    def reach(of_parts: "Array") -> "Array":
        own = of_parts * shares
        square = np.einsum("mp,mpq,mq->m", own, correlation, own)
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    mean = estimate @ shares
    return np.stack([mean - reach(estimate - lower), mean + reach(upper - estimate), reach(error)])
