"""Numbers of cases that are tried, and the fewest that are enough."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import Any

from polaroc.base.checks import check_factors, check_whole, one_or_several
from polaroc.base.rounding import rounded_up
from polaroc.errors import Hint, InvalidArgument
from polaroc.files.progress import Progress
from polaroc.planning.chances import Outcome
from polaroc.planning.scores import Size

# Positives of the smallest study that is tried, and how often they are doubled.
FIRST, DOUBLINGS = 25, 10
# Most cases of a study, and where they are drawn one by one.
MAX_ROWS, DRAWN = 3_000_000, 400_000
# So sure, more cases buy nothing that shows.
SURE = 0.95
# Chances nearer to 0 and 1 are not told apart.
CLOSE = 1e-3
# Sizes that differ by less are one, and how often one is sought that has the chance itself.
NEAR, TIMES = 0.03, 4
# Shares of a budget that go to positives.
SPLITS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
Tried = tuple[Size, Outcome]


@dataclass(frozen=True)
class Sizes:
    """Which numbers of positives go with which of negatives."""

    skew: float  # negatives per positive
    negatives: int | None  # where their number is fixed
    rows: int
    alike: float
    max_rows: int
    unit: str = ""  # the column of the clusters

    def whole(self, positives: int, up: Callable[[float], int] = ceil) -> Size:
        """The size with about so many positives, of whole clusters whose number is rounded up."""
        found = self.of(up(positives / self.rows) * self.rows)
        if self.negatives is not None:
            return found
        return replace(found, negatives=-(-found.negatives // self.rows) * self.rows)

    def of(self, positives: int, negatives: int | None = None) -> Size:
        """The size with so many positives."""
        fixed = self.negatives if negatives is None else negatives
        others = ceil(positives * self.skew - 1e-9) if fixed is None else fixed
        return Size(positives, max(others, 1), self.rows, self.alike, unit=self.unit)

    def doubled(self) -> Iterator[Size]:
        """Ever larger sizes, up to what can be drawn."""
        for power in range(DOUBLINGS + 1):
            size = self.whole(FIRST * 2**power)
            if power and size.cases > self.max_rows:
                return
            yield size


def sought(
    sizes: Sizes, outcome: Callable[[Size], Outcome], chance: float, progress: Progress | None
) -> tuple[list[Tried], Size | None]:
    """Sizes that were tried, in order, and the least that has the chance, None where none has."""
    tried: list[Tried] = []
    planned = [*sizes.doubled()]
    for size in planned:
        tried.append((size, outcome(size)))
        _say(progress, len(tried), len(planned) + 2)
        if tried[-1][1].chance >= max(SURE, chance):
            break
    for _ in range(2):
        between = _crossing(tried, chance)
        if between is None or any(
            abs(one.positives - between) <= NEAR * between for one, _ in tried
        ):
            break
        tried = _with(tried, sizes.whole(between), outcome)
    _say(progress, 1, 1)
    # What is proposed is tried, too; where it just fails, the next that should have the chance is.
    for _ in range(TIMES):
        least = _crossing(tried, chance)
        if least is None:
            break
        size = sizes.whole(least, rounded_up)
        if any(one == size for one, _ in tried):
            break
        tried = _with(tried, size, outcome)
    return tried, enough(tried, chance)


def _with(tried: Sequence[Tried], size: Size, outcome: Callable[[Size], Outcome]) -> list[Tried]:
    """The sizes that were tried and one more, in order."""
    return sorted([*tried, (size, outcome(size))], key=lambda one: one[0].positives)


def _say(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


def _crossing(tried: Sequence[Tried], chance: float) -> int | None:
    """Positives at which the chance is reached, between those of two sizes that were tried."""
    from scipy.special import ndtri

    enough = [place for place, (_, own) in enumerate(tried) if own.chance >= chance]
    if not enough:
        return None
    (first, *_) = enough
    size, high = tried[first]
    if not first:
        return size.positives
    before, low = tried[first - 1]
    low_z, high_z, wanted = (
        float(ndtri(min(max(one, CLOSE), 1 - CLOSE))) for one in (low.chance, high.chance, chance)
    )
    share = (wanted - low_z) / (high_z - low_z) if high_z > low_z else 1.0
    ends = log(before.positives), log(size.positives)
    return ceil(exp(ends[0] + min(max(share, 0.0), 1.0) * (ends[1] - ends[0])) - 1e-9)


def tried_at(
    sizes: Sequence[Size], outcome: Callable[[Size], Outcome], progress: Progress | None
) -> list[Tried]:
    """The outcomes of given sizes."""
    tried: list[Tried] = []
    for size in sizes:
        tried.append((size, outcome(size)))
        _say(progress, len(tried), len(sizes))
    return tried


def enough(tried: Sequence[Tried], chance: float) -> Size | None:
    """The first size that has the chance, None where none has."""
    return next((size for size, own in tried if own.chance >= chance), None)


def given_sizes(positives: object, negatives: object, sizes: Sizes) -> list[Size]:
    """The sizes to look at; none where they are sought."""
    of_pos, of_neg = (
        counts(name, given, sizes.max_rows)
        for name, given in (("positives", positives), ("negatives", negatives))
    )
    if not of_pos:
        # One number of negatives goes with all positives that are tried.
        several = of_neg if len(of_neg) > 1 else []
        return [sizes.of(max(round(one / sizes.skew), 2), one) for one in several]
    of_neg = of_neg or [None]
    if min(len(of_pos), len(of_neg)) > 1 and len(of_pos) != len(of_neg):
        raise InvalidArgument(
            f"positives has {len(of_pos)} numbers and negatives {len(of_neg)}.",
            hint="give as many of both, or one of either.",
        )
    number = max(len(of_pos), len(of_neg))
    pairs = (own * (number if len(own) == 1 else 1) for own in (of_pos, of_neg))
    found = [sizes.of(*pair) for pair in zip(*pairs, strict=True)]
    most = max(found, key=lambda one: one.cases)
    if most.cases > sizes.max_rows:
        raise InvalidArgument(
            f"{most.positives:,} positives go with {most.negatives:,} negatives, and at most "
            f"{sizes.max_rows:,} cases can be drawn.",
            hint=Hint("ask for fewer, or say how many negatives there are, {negatives}.",
                      negatives=1_000),
        )  # fmt: skip
    return found


def counts(name: str, given: Any, most: int) -> list[Any]:
    """Whole numbers from 2, one or several; none where none is given."""
    values = [] if given is None else one_or_several(given)
    for one in values:
        check_whole(name, one, 2, most)
    return values


def splits(budget: float, costs: tuple[float, float], sizes: Sizes, is_divided: bool) -> list[Size]:
    """Sizes that spend a budget on labels that cost so much each.

    More or less of it goes to positives; or, of both classes as they are, to tuning.
    """
    check_factors(budget=budget, cost_positive=costs[0], cost_negative=costs[1])
    # Where the smallest share pays for more than can be drawn, it is too many, however many more.
    most_paid = (sizes.max_rows + 1) / min(SPLITS)
    paid = [min(budget / one, most_paid) for one in costs]
    if is_divided:
        positives = budget / (costs[0] + costs[1] * sizes.skew)
        most = sizes.of(int(min(positives, paid[0])))
        tried = [replace(most, tuning=share) for share in SPLITS]
    else:
        tried = [
            sizes.of(*(int(part * own) // sizes.rows * sizes.rows
                       for part, own in zip((share, 1 - share), paid, strict=True)))
            for share in SPLITS
        ]  # fmt: skip
    paid_for = [one for one in tried if one.fewest >= 2]
    if not paid_for:
        raise InvalidArgument(
            f"budget is {budget:g}, which pays for fewer than two cases of a class.",
            hint=Hint.example("budget", 100 * max(costs)),
        )
    found = [one for one in paid_for if one.cases <= sizes.max_rows]
    if not found:
        raise InvalidArgument(
            f"budget is {budget:g}, and pays for more than the {sizes.max_rows:,} cases that can "
            "be drawn.",
            hint=Hint(
                "say what labels cost, such as {cost_positive} and {cost_negative}.",
                cost_positive=20,
                cost_negative=5,
            ),
        )
    return found
