"""The chance that a threshold can be promised, by drawing studies."""

from dataclasses import dataclass
from typing import Any

from polaroc import rates
from polaroc.base.lazy import np
from polaroc.planning.chances import Outcome, of_shares
from polaroc.planning.scores import CLUSTER, SCORE, STUDY, TRUTH, Assumed, Size
from polaroc.predictions.cases import keyed
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
    """That a threshold can be promised to keep constraints.

    Attributes
    ----------
    constraints
        The constraints.
    delta
        One less the confidence.
    skew
        Of the prior, or of the mean of the range.
    cost_fn, cost_fp
        Of a missed positive and of a false alarm: where they differ from 1 the threshold is that of
        the least cost, else that of the highest recall.
    """

    constraints: Constraints
    delta: float
    skew: float
    cost_fn: float = 1.0
    cost_fp: float = 1.0

    @property
    def by_cost(self) -> bool:
        """Whether the threshold is that of the least cost."""
        return not self.cost_fn == self.cost_fp == 1

    def outcome(self, assumed: Assumed, size: Size, generator: Any) -> Outcome:
        """The chance, and the recall and cost of what is promised, with so many cases."""
        columns = _columns(size.negatives)
        draw = self._in_clusters if size.alike and size.rows > 1 else self._of_cases
        found = [draw(assumed, which, size, columns, generator) for which in range(_many(assumed))]
        shares = [float(kept.any(axis=1).mean()) for kept, *_ in found]
        recalls, costs = zip(*(self._chosen(*one, size, columns) for one in found), strict=True)
        expected = {"recall": _mean(recalls)} | ({"cost": _mean(costs)} if self.by_cost else {})
        studies = sum(len(kept) for kept, *_ in found)
        return of_shares(shares, studies, expected, assumed.are_ends)

    def _of_cases(
        self, assumed: Assumed, which: int, size: Size, columns: Array, generator: Any
    ) -> tuple[Array, Array, Array, Array]:
        """What is promised of independent cases: only order statistics of negatives are drawn."""
        studies = -(-STUDIES // _many(assumed))
        rate = order_statistics(columns, studies, generator)
        recall = assumed.curves[which][0].recall(rate)
        tp = counts_within(recall, size.positives, generator)
        fp = np.broadcast_to(columns - 1, tp.shape)
        sample = Sample(tp.ravel(), fp.ravel(), size.positives, size.negatives)
        kept = promised(sample, self.constraints, self.skew, self.delta, DRAWS)
        return kept.reshape(tp.shape) & (tp > 0), tp, recall, rate

    def _in_clusters(
        self, assumed: Assumed, which: int, size: Size, columns: Array, generator: Any
    ) -> tuple[Array, Array, Array, Array]:
        """The same of clusters, whose rows are drawn and whose design effects are estimated."""
        from scipy.special import ndtr

        studies = max(min(CLUSTERED, ROWS // size.cases) // _many(assumed), 5)
        table = assumed.tables(which, size, studies, generator)
        cases = keyed(table, truth=TRUTH, score=SCORE, cluster=CLUSTER, by=STUDY)
        effects = design_effects(cases).sort(STUDY).select(EFFECTS)
        rows = table[SCORE].to_numpy().reshape(studies, -1)
        negatives = -np.sort(-rows[:, size.positives :], axis=1)
        below = np.append(negatives, np.full((studies, 1), -np.inf), axis=1)[:, columns - 1]
        tp = np.stack([
            size.positives - np.searchsorted(np.sort(own[: size.positives]), at, side="right")
            for own, at in zip(rows, below, strict=True)
        ])  # fmt: skip
        rate = ndtr(-below)
        kept = np.zeros(tp.shape, dtype=bool)
        for place, both in enumerate(effects.collect().rows()):
            if np.isfinite(both).all():
                near = tuple(SAME ** round(np.log(one) / np.log(SAME)) for one in both)
                sample = Sample(tp[place], columns - 1, size.positives, size.negatives, near)
                kept[place] = promised(sample, self.constraints, self.skew, self.delta, ROUGH_DRAWS)
        return kept & (tp > 0), tp, assumed.curves[which][0].recall(rate), rate

    def _chosen(
        self, kept: Array, tp: Array, recall: Array, rate: Array, size: Size, columns: Array
    ) -> tuple[Array, Array]:
        """The true recall and cost of the threshold of each study that has one."""
        counted = self._cost(tp / size.positives, (columns - 1) / size.negatives)
        worth = -counted if self.by_cost else tp
        worth = np.where(kept, worth, -np.inf)
        at = worth.argmax(axis=1)
        has = kept.any(axis=1)
        t, f = (np.take_along_axis(own, at[:, None], axis=1)[has, 0] for own in (recall, rate))
        # The threshold is the score of the last positive above the negative, half a gap before.
        t = (t - 0.5 / (size.positives + 1)).clip(0)
        return t, self._cost(t, f)

    def _cost(self, t: Array, f: Array) -> Array:
        """The expected cost per case."""
        cost: Array = 2 * rates.loss(t, f, self.skew, cost_fn=self.cost_fn, cost_fp=self.cost_fp)
        return cost


def _many(assumed: Assumed) -> int:
    return len(assumed.curves)


def _mean(of_each: tuple[Array, ...]) -> float | None:
    values = np.concatenate(of_each)
    return float(values.mean()) if values.size else None


def _columns(negatives: int) -> Array:
    """Ranks of negatives at which thresholds are tried, the ends of each step of the boundary."""
    grid = index_grid(negatives)
    middle = (grid[:-1] + grid[1:]) // 2
    return np.unique(np.concatenate([grid, (grid + 1).clip(max=negatives + 1), middle]))
