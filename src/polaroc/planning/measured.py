"""The chance of narrow limits, also with a promise, and of a difference, by drawing studies."""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from polaroc.base.lazy import np
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.spec import Measure
from polaroc.planning.chances import Outcome, of_distances, of_shares
from polaroc.planning.promised import PromiseWish
from polaroc.planning.scores import CLUSTER, SCORE, STUDY, TRUTH, Assumed, Size
from polaroc.predictions.resolved import keyed
from polaroc.priors.beliefs import Over
from polaroc.typing import Array, Prior
from polaroc.uncertainty.evidence import contrasts
from polaroc.uncertainty.scored_cases import ScoredCases
from polaroc.uncertainty.small_samples import (
    bias_of_few_negatives,
    difference_limits,
    why_no_promise,
)
from polaroc.uncertainty.test_sets import of_test_set

# Rows in all that are drawn for one number of cases, of limits and of two models, and studies.
ROWS, PAIRED_ROWS, FEWEST, MOST = 600_000, 2_500_000, 24, 400
# Two models are looked at in so many studies, and then in as many as tell the chance at least as
# well as the most tell an even one.
AT_FIRST = 100
# With fewer studies the difference is taken as normal, about that of ideal cases.
ENOUGH, STEPS, IDEAL = 200, 400, Size(5_000, 50_000)


@dataclass(frozen=True)
class WidthWish:
    """That the limits of a measure are at most `width` from their middle."""

    measure: str
    prior: Prior
    over: Over | None
    level: float
    width: float

    def outcome(self, assumed: Assumed, size: Size, generator: Any) -> Outcome:
        """The chance, and the half width that is expected, with so many cases."""
        many = len(assumed.curves)
        studies = -(-_studies(size, ROWS) // many)
        halves = [self._halves(assumed, which, size, studies, generator) for which in range(many)]
        with np.errstate(divide="ignore"):
            distances = [np.log(self.width) - np.log(own) for own in halves]
        known = np.concatenate(halves)
        known = known[np.isfinite(known)]
        expected = {"width": float(known.mean()) if known.size else None}
        return of_distances(distances, expected, assumed.are_ends)

    def _halves(
        self, assumed: Assumed, which: int, size: Size, studies: int, generator: Any
    ) -> Array:
        """Half the width in each study; infinite where there are no limits."""
        table = assumed.tables(which, size, studies, generator)
        clusters = [CLUSTER] if size.rows > 1 else []
        found = evaluate(
            keyed(table, truth=TRUTH, score=SCORE, by=STUDY, cluster=clusters),
            measures=self.measure,
            priors=self.prior,
            over=self.over,
            intervals="logit",
            level=self.level,
        )
        halves = (found["upper"] - found["lower"]) / 2
        widths: Array = halves.fill_null(np.inf).to_numpy()
        return widths


@dataclass(frozen=True)
class DifferenceWish:
    """That a challenger is found better than the champion, or not worse by more than a margin."""

    measure: Measure
    level: float
    higher: bool  # is better
    margin: float | None  # of the gate; None for the test of `compare`

    def outcome(self, assumed: Assumed, size: Size, generator: Any) -> Outcome:
        """The chance, and that the better one has the better measure, with so many cases."""
        many = len(assumed.curves)
        studies = max(-(-_studies(size, PAIRED_ROWS) // many), 2)

        def drawn(number: int) -> list[Array]:
            return [
                np.array([
                    self._found(assumed.draw(one, size, generator), size) for _ in range(number)
                ])
                for one in range(many)
            ]  # fmt: skip

        first = min(studies, max(-(-AT_FIRST // many), 2))
        found = drawn(first)
        share = float(np.mean([own[:, 0] > 0 for own in found]))
        by_luck = 2 * sqrt(share * (1 - share) / (first * many))
        uneven = max(abs(share - 0.5) - by_luck, 0.0)
        more = min(studies, ceil((1 - 4 * uneven**2) * MOST / many)) - first
        if more > 0:
            found = [np.append(a, b, axis=0) for a, b in zip(found, drawn(more), strict=True)]
        if studies * many < ENOUGH and all(np.isfinite(own).all() for own in found):
            found = [
                self._normal(own, assumed.ideal(which, IDEAL)) for which, own in enumerate(found)
            ]
        means = [float(own[:, 1].mean()) for own in found]
        better = [
            own[:, 1] if mean > 0 else -own[:, 1] for mean, own in zip(means, found, strict=True)
        ]
        are_equal = all(own[0] is own[1] for own in assumed.curves)
        expected = {
            "difference": float(np.mean(means)),
            "better": None if are_equal else of_distances(better, {}).chance,
        }
        return of_distances([own[:, 0] for own in found], expected, assumed.are_ends)

    def _normal(self, found: Array, ideal: list[Array]) -> Array:
        """Studies as they would be found, from how far limits reach in a few large ones.

        Far less chance is in that than in the differences of these few.
        """
        from scipy.special import ndtri

        distance, ahead, wider = found.T
        reach = float(np.mean(ahead + (self.margin or 0.0) - distance - wider))
        _, middle, _ = self._found(ideal, IDEAL)
        error = reach / float(ndtri((1 + self.level) / 2))
        drawn = middle + error * ndtri((np.arange(STEPS) + 0.5) / STEPS)
        bias = float(wider.mean())
        far = drawn + (self.margin or 0.0) - reach - bias
        return np.stack([far, drawn, np.full(STEPS, bias)], axis=1)

    def _found(self, scores: list[Array], size: Size) -> tuple[float, float, float]:
        """How far a study is from failing, how far the challenger is ahead, and a bias in between.

        Limits are wider by the bias where negatives are few. Scores are those of the champion and
        of the challenger.
        """
        truth, cluster = size.truth, [size.clusters]
        cases = ScoredCases(
            (), ["challenger", "champion"], scores[::-1], [truth, truth],
            [cluster, cluster] if size.rows > 1 else None, paired=True,
        )  # fmt: skip
        evidence = of_test_set(cases, [self.measure])
        first, second = np.array([0]), np.array([1])
        lead, sign = contrasts(evidence, first, second), 1 if self.higher else -1
        ahead, wider = sign * float(lead.difference[0]), 0.0
        if evidence.moved is None or not lead.std_error[0] > 0:
            return -np.inf, ahead, 0.0
        if self.margin is None:
            lower, upper = (float(own[0]) for own in lead.limits(self.level))
        else:
            few, units = min(evidence.moved.counts), evidence.moved.units
            if why_no_promise(self.measure, *cases.of_class, few, units) is not None:
                return -np.inf, ahead, 0.0
            wider = bias_of_few_negatives(cases, self.measure, (0, 1))
            lower, upper = difference_limits(
                evidence, (0, 1), self.level, self.measure.name, bias=wider
            )
        return (lower if self.higher else -upper) + (self.margin or 0.0), ahead, wider


def _studies(size: Size, rows: int) -> int:
    """How many studies are drawn, of so many rows in all."""
    return min(max(rows // size.cases, FEWEST), MOST)


@dataclass(frozen=True)
class DividedWish:
    """That a threshold can be promised by some cases, and that the others give narrow limits."""

    promise: PromiseWish
    width: WidthWish

    def outcome(self, assumed: Assumed, size: Size, generator: Any) -> Outcome:
        """The chance of both, and what is expected of either, with so many cases."""
        of_tuning, of_test = size.parts
        tuned = self.promise.outcome(assumed, of_tuning, generator)
        tested = self.width.outcome(assumed, of_test, generator)
        # For one curve the two are independent: no case is in both parts.
        shares = [a * b for a, b in zip(tuned.shares, tested.shares, strict=True)]
        expected = {"tuning": size.tuning, **tuned.expected, **tested.expected}
        return of_shares(shares, tested.studies, expected, assumed.are_ends)
