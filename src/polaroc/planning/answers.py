"""The result of planning, from the sizes that were tried."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from polaroc.base.rounding import probability
from polaroc.planning.chances import Outcome
from polaroc.planning.scores import Size
from polaroc.planning.sizes import Tried
from polaroc.planning.study_plan import StudyPlan
from polaroc.planning.wishes import Aim

HEAD = ("positives", "negatives", "chance", "chance_lower", "chance_upper")


def planned(
    wanted: Aim,
    tried: Sequence[Tried],
    enough: Size | None,
    chance: float,
    about: Sequence[str],
) -> StudyPlan:
    """The plan with the size that is `enough`, None where none of those given is."""
    size, best = max(tried, key=lambda one: one[1].chance)
    said = f"With {size.words} the chance is {probability(best.chance)}"
    if enough is not None:
        size = enough
        best = min(tried, key=lambda one: (one[0] != size, abs(one[0].positives - size.positives)))[
            1
        ]
        take = "Take" if size.folds else "Label"
        said = f"{take} about {size.words}: then the chance is {100 * chance:g} % or more"
    taken = size if len(tried) == 1 else enough
    return _plan(wanted, tried, said, best, taken, chance, about)


def split(
    wanted: Aim, tried: Sequence[Tried], budget: float, chance: float, about: Sequence[str]
) -> StudyPlan:
    """The plan with the best split of a budget."""
    size, best = max(tried, key=lambda one: _worth(one[1]))
    shown = probability(best.chance)
    said = f"Of the splits of {budget:,g}, {size.words} are the best: the chance is {shown}"
    return _plan(wanted, tried, said, best, size, chance, about)


def _plan(
    wanted: Aim, tried: Sequence[Tried], said: str, best: Outcome, size: Size | None,
    chance: float, about: Sequence[str],
) -> StudyPlan:  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(HEAD[:2], pl.Int64)
    kinds |= dict.fromkeys((*HEAD[2:], *tried[0][1].expected), pl.Float64)
    kinds |= {"folds": pl.Int64} if "folds" in kinds else {}
    rows = [(one.positives, one.negatives, *own[:3], *own.expected.values()) for one, own in tried]
    positives, negatives = (None, None) if size is None else (size.positives, size.negatives)
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    facts = {**wanted.facts, "chance": chance, "positives": positives, "negatives": negatives}
    if tried[0][0].folds:
        # Cases of a fold are not those of a study.
        facts |= {"positives": None, "negatives": None, "fold_count": size and size.folds}
    answer = " ".join([f"{said} that {wanted.words}.", *_beside(best)])
    return StudyPlan(answer, table, positives, negatives, chance, facts, tuple(about))


def _worth(outcome: Outcome) -> tuple[float, float]:
    """What a split is worth: the chance, of equal ones what is expected."""
    width, recall = outcome.expected.get("width"), outcome.expected.get("recall")
    return round(outcome.chance, 2), (recall or 0.0) - (width or 0.0)


def _beside(outcome: Outcome) -> Iterator[str]:
    """Sentences on what else is expected."""
    recall, cost = outcome.expected.get("recall"), outcome.expected.get("cost")
    if recall is not None:
        costs = "" if cost is None else f", and costs {cost:.3g} per case"
        yield f"The threshold then finds about {probability(recall)} of the positives{costs}."
    if outcome.lower is not None and outcome.upper is not None:
        ends = f"{probability(outcome.lower)} to {probability(outcome.upper)}"
        yield f"With what is unknown about the scores it is {ends}."
