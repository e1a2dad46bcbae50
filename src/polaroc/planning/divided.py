"""The chance of a promise and of narrow limits, from a budget that is divided between them."""

from dataclasses import dataclass
from typing import Any

from polaroc.planning.chances import Outcome, of_shares
from polaroc.planning.measured import WidthWish
from polaroc.planning.promised import PromiseWish
from polaroc.planning.scores import Assumed, Size


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
        # Of one curve they are independent: no case is in both parts.
        shares = [a * b for a, b in zip(tuned.shares, tested.shares, strict=True)]
        expected = {"tuning": size.tuning, **tuned.expected, **tested.expected}
        return of_shares(shares, tested.studies, expected, assumed.are_ends)
