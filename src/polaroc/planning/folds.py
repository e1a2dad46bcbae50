"""The chance of finding a difference between models that are trained anew for each fold."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_ratio
from polaroc.base.lazy import np
from polaroc.base.statistics import error_of_mean
from polaroc.comparison.compare import compare
from polaroc.comparison.compared import compared, two_models
from polaroc.comparison.gate import gate
from polaroc.comparison.half_splits import HALF, SPLIT
from polaroc.comparison.measure_rows import needs_range
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG
from polaroc.planning.chances import Outcome, of_distances
from polaroc.planning.measured import DifferenceWish
from polaroc.planning.scores import Size
from polaroc.planning.sizes import counts
from polaroc.planning.wishes import Aim
from polaroc.predictions.cases import Cases
from polaroc.typing import Array
from polaroc.uncertainty.evidence import quantile

# What may be true, and studies of each; times the folds of the pilot that are tried.
TRUTHS, STUDIES, TIMES = 100, 40, (1, 2, 5, 10)


@dataclass(frozen=True)
class FoldsWish:
    """That a challenger is found better on so many folds, or not worse by more than a margin."""

    level: float  # of the test, or of the gate
    margin: float | None
    # The mean over the folds of the pilot, challenger minus champion, turned so that more is
    # better, and the standard deviation.
    difference: float
    spread: float
    ratio: float  # of test to training cases
    least: float  # how far the gate's limits are from the difference with any number of folds
    pilot: Size  # its folds, and the cases that each tests

    @property
    def about(self) -> tuple[str, ...]:
        """Sentences on where this comes from."""
        return (
            f"Models are trained again as in a pilot of {self.pilot.folds} folds, on as many other "
            "cases. Ranges hold for 9 of 10 true differences that the pilot may come from.",
            "A pilot with a large difference was mostly lucky, so a high chance is likely too "
            "high. These folds do not tell what more cases would do.",
        )

    def sizes(self, folds: object) -> list[Size]:
        """The pilot with so many folds, one number or several; else with its own and with more."""
        given = counts("folds", folds, MAX_NUMBER)
        tried = given or [times * self.pilot.folds for times in TIMES]
        return [replace(self.pilot, folds=one) for one in tried]

    def outcome(self, size: Size, generator: Any) -> Outcome:
        """The chance, and that the better one has the better measure, with so many folds.

        Differences of folds are normal and equally correlated, by ρ = r / (1 + r) (Nadeau and
        Bengio 2003), of which the mean of other folds is t-distributed about that of the pilot.
        """
        from scipy.special import ndtr

        def spread(folds: int, studies: int) -> Array:
            """The standard deviation that folds show, over the true one."""
            drawn: Array = generator.chisquare(folds - 1, (TRUTHS, studies))
            return np.sqrt(drawn / (folds - 1))

        own, beyond = self.spread / spread(self.pilot.folds, 1), generator.normal(size=(TRUTHS, 1))
        true = self.difference + error_of_mean(own, self.pilot.folds, self.ratio) * beyond
        error = error_of_mean(own, size.folds, self.ratio)
        found = true + error * generator.normal(size=(TRUTHS, STUDIES))
        reach = error * spread(size.folds, STUDIES) * quantile(self.level, size.folds - 1)
        distances = found + (self.margin or 0.0) - np.maximum(reach, self.least)
        better = float(ndtr(np.abs(true) / error).mean())
        expected = {"folds": size.folds, "difference": self.difference, "better": better}
        return of_distances([*distances], expected)


def pilot_of_folds(
    cases: Cases[Any], pair: tuple[object, object] | None, wanted: Aim
) -> FoldsWish | None:
    """What a pilot with folds says of two models; None where it has none."""
    if pair is None:
        raise InvalidArgument(
            "a margin is about two models, and they are not named.",
            hint=Hint("name them: {champion}, {challenger}.", champion="A", challenger="B"),
        )
    wish = wanted.wish
    assert isinstance(wish, DifferenceWish)
    two = two_models(cases, *pair)
    given = compared(two)
    if given.on_cases:
        return None
    if {SPLIT, HALF} <= set(given.folds):
        raise InvalidArgument(
            "the pilot has halves, which say how models of half the cases vary, and a study has "
            "all.",
            hint="give predictions on the folds of all cases.",
        )
    measure, higher = wish.measure.name, wish.higher
    place = wanted.place
    asked: dict[str, Any] = {
        "level": wish.level,
        "over": place.over if needs_range(measure) else None,
        "prior": place.prior if CATALOG[measure].at_priors else None,
    }
    result = compare(two, measure, **asked)
    check_ratio(result.plan.test_train_ratio)
    ratio = float(result.plan.test_train_ratio or 0.0)
    difference, error = result.pairs.select("difference", "std_error").row(0)
    if not error > 0:
        raise InvalidPredictions(
            "the two models differ by as much in each fold of the pilot, which tells no chance.",
            hint=Hint("leave it out, and give {auc} and {difference}.", auc=0.8, difference=0.02),
        )
    is_ahead = (result.pairs.item(0, 0) == pair[1]) == higher
    least = 0.0
    if wish.margin is not None:
        limits = gate(
            two, champion=pair[0], challenger=pair[1], measure=measure, margin=wish.margin, **asked
        )
        end = limits.lower if higher else limits.upper
        if end is not None:
            reach = abs(limits.difference - end)
            # Where few positives make it wider than the folds do, more folds do not help.
            is_wider = reach > 1.001 * error * float(quantile(wish.level, result.size - 1))
            least = reach if is_wider else 0.0
    folds = evaluate(two, measures="auc")
    positives, negatives = (
        round(folds.select(pl.col(name).mean()).item()) for name in ("positives", "negatives")
    )
    return FoldsWish(
        wish.level, wish.margin, difference if is_ahead else -difference,
        error / error_of_mean(1.0, result.size, ratio), ratio, least,
        Size(positives, negatives, folds=result.size),
    )  # fmt: skip
