"""The chance that a threshold can be promised, by drawing studies."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from polaroc import rates
from polaroc.base.lazy import np
from polaroc.planning.chances import Outcome, of_shares
from polaroc.planning.scores import CLUSTER, SCORE, STUDY, TRUTH, Assumed, Size
from polaroc.predictions.resolved import keyed
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.design_effects import EFFECTS, design_effects
from polaroc.thresholds.promises import (
    DRAWS,
    ROUGH_DRAWS,
    Sample,
    counts_within,
    index_grid,
    order_statistics,
    promised,
)
from polaroc.typing import Array

# Studies in all, and rows of those that are drawn row by row.
STUDIES, CLUSTERED, ROWS = 2_000, 240, 1_000_000
# Design effects within this factor are taken as one, so that few boundaries are computed.
SAME = 1.1


@dataclass(frozen=True)
class PromiseWish:
    """That a threshold can be promised to keep constraints."""

    constraints: Constraints
    delta: float  # one less the confidence
    skew: float  # of the prior, or of the mean of the range
    # Where costs differ from 1 the threshold is that of the least cost, else of the highest recall.
    cost_fn: float = 1.0
    cost_fp: float = 1.0

    @property
    def by_cost(self) -> bool:
        """Whether the threshold is that of the least cost."""
        return not self.cost_fn == self.cost_fp == 1

    def outcome(self, assumed: Assumed, size: Size, generator: Any) -> Outcome:
        """The chance, and the recall and cost of what is promised, with so many cases."""
        many = len(assumed.curves)
        draw = self._of_cases
        if size.alike and size.rows > 1:
            draw = self._in_clusters
        elif assumed.curves[0][0].levels:
            draw = self._of_levels
        found = [draw(assumed, which, size, generator) for which in range(many)]
        shares = [float(one.kept.any(axis=1).mean()) for one in found]
        recalls, costs = zip(*(self._chosen(one, size) for one in found), strict=True)
        expected = {"recall": _mean(recalls)} | ({"cost": _mean(costs)} if self.by_cost else {})
        studies = sum(len(one.kept) for one in found)
        return of_shares(shares, studies, expected, assumed.are_ends)

    def _of_cases(self, assumed: Assumed, which: int, size: Size, generator: Any) -> "Promises":
        """What is promised of independent cases: only order statistics of negatives are drawn."""
        columns = _columns(size.negatives)
        rate = order_statistics(columns, -(-STUDIES // len(assumed.curves)), generator)
        recall = assumed.curves[which][0].recall(rate)
        tp = counts_within(recall, size.positives, generator)
        fp = np.broadcast_to(columns - 1, tp.shape)
        return self._promises(tp, fp, _half_a_gap_before(recall, size), rate, size)

    def _of_levels(self, assumed: Assumed, which: int, size: Size, generator: Any) -> "Promises":
        """The same of scores with few values, of which the counts are drawn."""
        from scipy.special import ndtr

        curve, studies = assumed.curves[which][0], -(-STUDIES // len(assumed.curves))
        recall, rate = (ndtr(own) for own in (curve.tpr, curve.fpr))
        tp, fp = (
            generator.multinomial(cases, np.diff(own, prepend=0).clip(0), studies).cumsum(axis=1)
            for cases, own in ((size.positives, recall), (size.negatives, rate))
        )
        recall, rate = (np.broadcast_to(own, tp.shape) for own in (recall, rate))
        return self._promises(tp, fp, recall, rate, size)

    def _promises(self, tp: Array, fp: Array, recall: Array, rate: Array, size: Size) -> "Promises":
        sample = Sample(tp.ravel(), fp.ravel(), size.positives, size.negatives)
        kept = promised(sample, self.constraints, self.skew, self.delta, DRAWS)
        return Promises(kept.reshape(tp.shape) & (tp > 0), tp, fp, recall, rate)

    def _in_clusters(self, assumed: Assumed, which: int, size: Size, generator: Any) -> "Promises":
        """The same of clusters, whose rows are drawn and whose design effects are estimated."""
        studies = max(min(CLUSTERED, ROWS // size.cases) // len(assumed.curves), 5)
        table = assumed.tables(which, size, studies, generator)
        cases = keyed(table, truth=TRUTH, score=SCORE, cluster=CLUSTER, by=STUDY)
        effects = design_effects(cases).sort(STUDY).select(EFFECTS)
        rows = -table[SCORE].to_numpy().reshape(studies, -1)
        of_pos, of_neg = (
            np.sort(own) for own in (rows[:, : size.positives], rows[:, size.positives :])
        )
        columns = _columns(size.negatives) - 1
        below = np.append(of_neg, np.full((studies, 1), np.inf), axis=1)[:, columns]
        tp, fp = (
            np.stack([np.searchsorted(a, at) for a, at in zip(own, below, strict=True)])
            for own in (of_pos, of_neg)
        )
        kept = np.zeros(tp.shape, dtype=bool)
        for place, both in enumerate(effects.collect().rows()):
            if np.isfinite(both).all():
                near = tuple(SAME ** round(np.log(one) / np.log(SAME)) for one in both)
                sample = Sample(tp[place], fp[place], size.positives, size.negatives, near)
                kept[place] = promised(sample, self.constraints, self.skew, self.delta, ROUGH_DRAWS)
        curve = assumed.curves[which][0]
        rate = curve.rate_above(-below)
        recall = curve.recall(rate)
        if not curve.levels:
            recall = _half_a_gap_before(recall, size)
        return Promises(kept & (tp > 0), tp, fp, recall, rate)

    def _chosen(self, found: "Promises", size: Size) -> tuple[Array, Array]:
        """The true recall and cost of the threshold of each study that has one."""
        counted = self._cost(found.tp / size.positives, found.fp / size.negatives)
        worth = np.where(found.kept, -counted if self.by_cost else found.tp, -np.inf)
        at, has = worth.argmax(axis=1)[:, None], found.kept.any(axis=1)
        t, f = (np.take_along_axis(own, at, axis=1)[has, 0] for own in (found.recall, found.rate))
        return t, self._cost(t, f)

    def _cost(self, t: Array, f: Array) -> Array:
        """The expected cost per case."""
        cost: Array = 2 * rates.loss(t, f, self.skew, cost_fn=self.cost_fn, cost_fp=self.cost_fp)
        return cost


class Promises(NamedTuple):
    """What is promised in each study, by threshold."""

    kept: Array  # whether the constraints are
    tp: Array
    fp: Array
    recall: Array  # the true ones
    rate: Array


def _half_a_gap_before(recall: Array, size: Size) -> Array:
    """The recall at the score of the last positive above a negative, which is the threshold."""
    before: Array = (recall - 0.5 / (size.positives + 1)).clip(0)
    return before


def _mean(of_each: tuple[Array, ...]) -> float | None:
    values = np.concatenate(of_each)
    return float(values.mean()) if values.size else None


def _columns(negatives: int) -> Array:
    """Ranks of negatives at which thresholds are tried, the ends of each step of the boundary."""
    grid = index_grid(negatives)
    middle = (grid[:-1] + grid[1:]) // 2
    return np.unique(np.concatenate([grid, (grid + 1).clip(max=negatives + 1), middle]))
