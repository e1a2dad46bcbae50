"""What a pilot says of scores: smooth curves, and others that it may as well come from."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from polaroc.base.lazy import np
from polaroc.base.statistics import mean_squares, normal_scores, usual_size
from polaroc.comparison.compared import compared, two_models
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted
from polaroc.planning.scores import FURTHEST, Assumed, ScoreCurve
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import read
from polaroc.predictions.usual_keys import column_names_of
from polaroc.typing import Array
from polaroc.uncertainty.scored_cases import ScoredCases, read_cases, scored_by_key

# Curves that may be the true one; points of each; scores of a class that stand for more.
CURVES, POINTS, KEPT = 24, 301, 1_000
# The fewest cases of a class with which a pilot tells a curve.
FEWEST = 5
# The width of a kernel on normal scores that is best for their distribution (Silverman 1986).
KERNEL = 0.9
# Up to so many different scores, each of so many cases or more, are levels that a study has too.
LEVELS, ALIKE = 20, 3
# Scores that are the same but for rounding would have a correlation of 1, which has no draws.
MOST_ALIKE = 0.999


def of_pilot(cases: Cases[Any], pair: tuple[object, object] | None, generator: Any) -> Assumed:
    """What a pilot lets assume of one model, or of a champion and a challenger."""
    scored = _one_model(cases) if pair is None else _two_models(cases, pair)
    truth = scored.truths[0]
    of_class = tuple(int(np.count_nonzero(own)) for own in (truth, ~truth))
    if min(of_class) < FEWEST:
        raise InvalidPredictions(
            f"the pilot has {of_class[0]} positives and {of_class[1]} negatives, needed are "
            f"{FEWEST} of each class.",
            hint=Hint("leave it out, and give {auc}.", auc=0.8),
        )
    numbers = None if scored.clusters is None else scored.clusters[0][0]
    weights = [_weights(own, numbers, generator) for own in (truth, ~truth)]
    normal = [normal_scores(score) for score in scored.scores]
    curves = [_curves(one, truth, weights) for one in normal]
    within = [[normal_scores(score[own]) for score in scored.scores] for own in (truth, ~truth)]
    between = [0.0] * CURVES
    if pair is not None:
        between = np.mean([
            _correlation(own, weight) for own, weight in zip(within, weights, strict=True)
        ], axis=0).clip(0, MOST_ALIKE).tolist()  # fmt: skip
    rows, alike, unit = 1, 0.0, ""
    if numbers is not None:
        found = [
            _alike(own[0], numbers[mine]) for own, mine in zip(within, (truth, ~truth), strict=True)
        ]
        rows = max(1, round(float(np.mean([one[0] for one in found]))))
        alike = float(np.mean([one[1] for one in found]))
        unit = " and ".join(column_names_of(cases.cluster))
    about = (
        f"Scores are as in a pilot of {of_class[0]:,} positives and {of_class[1]:,} negatives; "
        f"ranges hold for 9 of 10 true curves that the pilot may come from.",
        *(
            f"A study has the {len(one[0].fpr)} different scores of the pilot, and no others."
            for one in curves if one[0].levels
        ),
    )  # fmt: skip
    return Assumed(
        [*zip(*curves, strict=True)], between, about, rows, unit, alike, of_class[1] / of_class[0]
    )


def _one_model(cases: Cases[Any]) -> ScoredCases:
    """The pilot of one model on one test set."""
    sets = scored_by_key(cases, read(cases).keys)
    if len(sets) != 1:
        named = quoted([*sets]) or "no rows"
        raise InvalidArgument(
            f"the pilot has {len(sets)} curves, of {named}, and needed is one.",
            hint=Hint(
                "keep the rows of one; fold=None pools folds; for a difference name two models, "
                "{champion} and {challenger}.",
                champion="A", challenger="B",
            ),
        )  # fmt: skip
    ((_, one),) = sets.items()
    return one


def _two_models(cases: Cases[Any], pair: tuple[object, object]) -> ScoredCases:
    """The pilot of a champion and a challenger, paired by case."""
    given = compared(two_models(cases, *pair))
    if not given.on_cases:
        raise InvalidArgument(
            f"the pilot has several folds, {quoted(given.folds)}, and needed is one test set.",
            hint=Hint("keep the rows of one fold, or pool them: fold=None."),
        )
    scored = read_cases(given.cases).only
    if not scored.paired:
        raise InvalidArgument(
            "nothing tells which rows of the pilot are the same case.",
            hint=Hint("name the column of the cases, {case}.", case="id"),
        )
    return scored.of([scored.models.index(one) for one in pair])


def _weights(own: Array, clusters: "Array | None", generator: Any) -> Array:
    """How often each case of a class is in samples of clusters, or cases, with replacement.

    The first sample is that of the pilot. Rows are samples, and sum to 1.
    """
    size = int(np.count_nonzero(own))
    unit = np.arange(size)
    if clusters is not None:
        unit = np.unique(clusters[own], return_inverse=True)[1]
    units = int(unit.max()) + 1
    # Smooth weights, with the variance of samples (Rubin 1981): none loses a class.
    drawn = generator.standard_exponential((CURVES, units))
    weights = drawn[:, unit]
    found: Array = weights / weights.sum(axis=1, keepdims=True)
    return found


def _curves(normal: Array, truth: Array, weights: Sequence[Array]) -> list[ScoreCurve]:
    """Curves of a model: weighted kernel estimates of the distribution of each class, or levels."""
    from scipy.special import ndtri

    at = np.unique(normal)[::-1]
    levels = at.size <= min(LEVELS, normal.size / ALIKE)
    above: Callable[[Array, Array, Array], Array] = _above
    if levels:
        above = partial(_above_levels, of_all=(normal[:, None] >= at).mean(axis=0))
    else:
        at = np.linspace(normal.max() + 3, normal.min() - 3, POINTS)
    of_pos, of_neg = (
        ndtri(above(at, normal[own], of_class).clip(1e-16, 1 - 1e-16)).clip(-FURTHEST, FURTHEST)
        for own, of_class in zip((truth, ~truth), weights, strict=True)
    )
    # Rates that differ by less than floats tell still rise.
    rising = 1e-9 * np.arange(at.size)
    return [ScoreCurve(f + rising, t + rising, levels) for t, f in zip(of_pos, of_neg, strict=True)]


def _above_levels(at: Array, values: Array, weights: Array, of_all: Array) -> Array:
    """The share of values of a class in each level or a better one, by sample.

    One more case, of any level as often as cases of both classes are, leaves none without any.
    """
    found: Array = (values.size * (weights @ (values[:, None] >= at)) + of_all) / (values.size + 1)
    return found


def _above(at: Array, values: Array, weights: Array) -> Array:
    """The smoothed share of values above each point, by sample.

    The kernel leaves mean and variance of the pilot as they are (Silverman and Young 1987).
    """
    from scipy.special import ndtr

    quartiles = np.quantile(values, [0.25, 0.75])
    spread = float(values.std()) or 1.0
    width = KERNEL * min(spread, float(np.ptp(quartiles)) / 1.34 or spread)
    width *= values.size**-0.2
    if values.size > KEPT:
        order = np.argsort(values)
        starts = np.linspace(0, values.size, KEPT + 1).astype(int)[:-1]
        sums = np.add.reduceat(weights[:, order], starts, axis=1)
        values = np.add.reduceat(values[order], starts) / np.diff(starts, append=values.size)
        weights = sums
    shrunk = 1 / np.sqrt(1 + (width / spread) ** 2)
    values = values.mean() + (values - values.mean()) * shrunk
    kernel = ndtr((values[:, None] - at) / (width * shrunk))
    found: Array = weights @ kernel
    return found


def _correlation(pair: Sequence[Array], weights: Array) -> Array:
    """The correlation of two models' scores, by sample."""
    mean = [weights @ own for own in pair]
    product = [
        [weights @ (a * b) - mean[i] * mean[j] for j, b in enumerate(pair)]
        for i, a in enumerate(pair)
    ]
    found: Array = product[0][1] / np.sqrt(product[0][0] * product[1][1])
    return found


def _alike(normal: Array, clusters: Array) -> tuple[float, float]:
    """The rows of a cluster and their correlation, from an analysis of variance."""
    unit = np.unique(clusters, return_inverse=True)[1]
    size = np.bincount(unit)
    rows = float(size @ size / normal.size)
    if size.size in (1, normal.size):
        return rows, 0.0
    between, inside = mean_squares(normal, unit)
    total = between + (usual_size(size) - 1) * inside
    # Scores that are all equal do not vary.
    share = (between - inside) / total if total > 0 else 0.0
    return rows, min(max(share, 0.0), MOST_ALIKE)
