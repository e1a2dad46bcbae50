"""Whether the model that is chosen decays, and whether another one overtakes it."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import column_name
from polaroc.base.lazy import np
from polaroc.base.private_columns import TRUTH
from polaroc.base.rounding import number
from polaroc.comparison.choice_measures import measure_over, one_prior
from polaroc.deployment.periods import has_both, line_of_periods, rows_of_periods
from polaroc.deployment.periods_result import PER, slope_in_words
from polaroc.measures.catalog import higher_is_better, in_words, mean_name
from polaroc.measures.spec import Measure
from polaroc.predictions.calendar import PERIOD, usual_every, with_periods
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import OBSERVED
from polaroc.uncertainty.influence import CaseInfluence, of_cases
from polaroc.uncertainty.trends import Trend

OF_FOLDS = "A comparison over folds does not look at changes over time: periods(...) does."
NOT_BY_COST = (
    "A choice by expected cost does not look at changes over time: walk_forward(...) shows what "
    "thresholds did."
)
NOT_KNOWN = "What changes over time is not known: {}."
# Rows of a model in a period, and how they move the measure.
Own = tuple[list[pl.DataFrame], list[CaseInfluence | None]]


def over_time(
    cases: Cases[pl.DataFrame],
    model: str,
    best: object,
    measure: str,
    over: Over | None,
    level: float,
) -> list[str]:
    """What is to be said where cases of one test set have a time; nothing where they have none."""
    if cases.time is None:
        return []
    if cases.fold:
        return [OF_FOLDS]
    if cases.weight is not None or (one_prior(over) is None and mean_name(measure) is None):
        return [
            NOT_KNOWN.format(
                "it takes cases without sampling weights, and a measure with a mean over priors"
            )
        ]
    every = usual_every(cases)
    held = with_periods(cases, every)
    case = [] if held.case is None else [column_name(held.case, "case")]
    rows = rows_of_periods(held, [model], case)
    share = float(rows[TRUTH].mean() or 0)  # type: ignore[arg-type]
    score_prior = held.score_prior
    if score_prior == OBSERVED and 0 < share < 1:
        score_prior = share
    one = measure_over(measure, over, score_prior)
    if not (one.gradient_terms or one.case_loss):
        return [NOT_KNOWN.format("the cases do not tell by how much this measure varies")]
    by_model = {
        name: _moved(part, one)
        for (name,), part in rows.partition_by(model, as_dict=True, maintain_order=True).items()
    }
    higher, name = higher_is_better(measure), in_words(measure)
    said = [
        *_decay(by_model[best], best, name, every, level, higher=higher),
        *_overtaken(by_model, best, case, every, level, higher=higher),
    ]
    if said:
        return said
    periods = rows[PERIOD].n_unique()
    return [f"Nothing shows that {best} gets worse, or is overtaken, over {periods} periods."]


def _moved(rows: pl.DataFrame, measure: Measure) -> Own:
    usable = [one for one in rows.partition_by(PERIOD, maintain_order=True) if has_both(one, None)]
    influences: list[CaseInfluence | None] = []
    for one in usable:
        own = of_cases(one[SCORE].to_numpy(), one[TRUTH].to_numpy(), [measure])
        known = np.isfinite(own.estimates[0]) and all(np.isfinite(part).all() for part in own[1:])
        influences.append(own if known else None)
    return usable, influences


def _decay(
    own: Own, model: object, name: str, every: str | None, level: float, *, higher: bool
) -> list[str]:
    """A sentence on the trend of a model, where it has one."""
    line = line_of_periods(*own, every, level)
    if isinstance(line, str):
        return [NOT_KNOWN.format(line)]
    found, per = line
    if found.p_value >= 1 - level:
        return []
    worse = (found.estimate < 0) == higher
    way = "falls" if found.estimate < 0 else "grows"
    so = "expect it to be worse than over all rows" if worse else "expect more than over all rows"
    verdict = "decays" if worse else "gets better"
    return [f"{model} {verdict}: its {name} {way} by {_size(found)} {PER[per]}; {so}."]


def _overtaken(
    by_model: Mapping[Any, Own],
    best: object,
    case: Sequence[str],
    every: str | None,
    level: float,
    *,
    higher: bool,
) -> list[str]:
    """A sentence on the model that is ahead of the best one in the end, where one is."""
    others = [name for name in by_model if name != best]
    if not case or not others:
        return []
    found: list[tuple[float, object, Trend, str]] = []
    for name in others:
        apart = _apart(by_model[name], by_model[best], case[0])
        known = None if apart is None else line_of_periods(*apart, every, level)
        if known is None or isinstance(known, str):
            continue
        line, per = known
        last = float(line.fitted[-1]) * (1 if higher else -1)
        # As many tests as there are rivals.
        if last > 0 and line.p_value * len(others) < 1 - level:
            found.append((last, name, line, per))
    if not found:
        return []
    lead, name, line, per = max(found, key=lambda one: one[0])
    return [
        f"{name} has overtaken {best}: it is {number(lead)} ahead in the last period, and its lead "
        f"grows by {_size(line)} {PER[per]}."
    ]


def _apart(own: Own, best: Own, case: str) -> Own | None:
    """The difference of two models on the same cases; None where they have others."""
    rows: list[pl.DataFrame] = []
    influences: list[CaseInfluence | None] = []
    if len(own[0]) != len(best[0]):
        return None
    for mine, its, first, second in zip(own[0], best[0], own[1], best[1], strict=True):
        if not mine.select(case, TRUTH).equals(its.select(case, TRUTH)):
            return None
        rows.append(mine)
        if first is None or second is None:
            influences.append(None)
        else:
            apart = (a - b for a, b in zip(first, second, strict=True))
            influences.append(CaseInfluence(*apart))
    return rows, influences


def _size(line: Trend) -> str:
    return slope_in_words(line.estimate, line.lower, line.upper)
