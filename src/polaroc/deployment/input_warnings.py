"""Warnings of the tables that a monitor is given: what is missing, or not what it is taken for."""

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.deployment.history import History, instants
from polaroc.deployment.limits import Reference
from polaroc.deployment.tables import DEPLOYED, INCLUSION, REFERENCE, Key, by_key, named
from polaroc.predictions.dependence import dependence
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import IntoExpr, Score, Table

# Below this chance labelled cases are not taken for drawn at random.
NOT_BY_CHANCE = 1e-6
# Fewer cases may well be of as many days.
MIN_CASES = 20


def dependent_rows(
    reference: Table,
    deployed: Table,
    by: Sequence[IntoExpr],
    truth: IntoExpr,
    score: Score,
    deployed_by: Sequence[IntoExpr] = (),
) -> list[str]:
    """Notes on rows of either table that are not independent."""
    found = {
        REFERENCE: dependence(reference, by, [truth], score, of_measures=False),
        DEPLOYED: dependence(deployed, [*by, *deployed_by], [truth], score, of_measures=False),
    }
    return [f"{table}: {note}" for table, note in found.items() if note is not None]


def dropped_rows(known: Predictions, used: Predictions) -> list[str]:
    """Warnings of rows that `nulls` left out."""
    counts = ((REFERENCE, known.count_invalid()), (DEPLOYED, used.count_invalid()))
    return [
        f"{table}: {count:,} {'row was' if count == 1 else 'rows were'} dropped, for want of a "
        "score or truth: nothing here is about such cases."
        for table, count in counts
        if count
    ]


def moments(rows: Mapping[Key, pl.DataFrame], time: str) -> list[str]:
    """A warning of times that are moments, where days are needed."""
    cases = sum(frame.height for frame in rows.values())
    times = sum(frame[time].n_unique() for frame in rows.values())
    if cases < MIN_CASES or 2 * times <= cases:
        return []
    return [
        f"{time!r} has {times:,} times for {cases:,} cases, and each is judged alone: of so few "
        "cases nothing is known. Give the day or the week in place of the moment."
    ]


def chosen_labels(
    labels: Predictions,
    keys: Sequence[str],
    time: str,
    references: Mapping[Key, Reference],
    histories: Mapping[Key, History],
) -> list[str]:
    """A warning of labels that were given as drawn at random, and were not."""
    if labels.weighted:
        return []
    from scipy.stats import hypergeom

    rows = labels.valid_rows.collect()
    rows = rows.with_columns(instants(rows[time]))
    told: list[str] = []
    for (*own, at), frame in by_key(rows, [*keys, time]).items():
        key = tuple(own)
        _, cases, above = histories[key].looks[at]
        alarms, drawn = int(above[0]), frame.height
        called = int((frame[SCORE] >= references[key].threshold.value).sum())
        chance = hypergeom(cases, alarms, drawn)
        if min(chance.sf(called - 1), chance.cdf(called)) < NOT_BY_CHANCE:
            told.append(
                f"labelled: {called:,} of {drawn:,} cases of {at}{named(keys, key)} reach the "
                f"threshold, and {alarms:,} of all {cases:,}: they were not drawn at random, and "
                f"their limits may not hold. Give the chance of each in a column {INCLUSION!r}, "
                "and draw from both sides of the threshold."
            )
    more = f" So it is at {len(told) - 1:,} more." if len(told) > 1 else ""
    return [told[0] + more] if told else []
