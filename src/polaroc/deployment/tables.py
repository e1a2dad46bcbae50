"""The two tables of a deployment: the labelled reference, and the scores in use."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from polaroc.base.columns import (
    OF_THRESHOLDS,
    OVER_ENDS,
    PRIOR_LIMITS,
    as_lazy,
    check_shared_keys,
    parts_by_key,
    require,
)
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.deployment.calendar import cut, dates_of, no_time
from polaroc.deployment.limits import Reference, Threshold
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable, NotSupported, quoted
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.thresholds.fixed import (
    Numbers,
    are_numbers,
    model_key,
    refuse_unknown_models,
    threshold_table,
)
from polaroc.typing import Array, Table

Key: TypeAlias = tuple[Any, ...]

# Columns of points by which their tuning table is recognised.
TUNED = ("tpr", "fpr", "positives", "negatives")
REFERENCE, DEPLOYED = "reference", "deployed"
# Days or months before the year, as text.
DAY_FIRST = r"^\s*\d{1,2}[./ -]\d{1,2}[./ -]\d{2,4}\b"
# Rules that give the lowest threshold that a constraint allows.
LOWEST = ("max_recall", "capacity")


@contextmanager
def errors_named(table: str) -> Iterator[None]:
    """Begin the messages of errors with the name of the table."""
    try:
        yield
    except (InvalidPredictions, InvalidArgument, NotSupported) as error:
        raise type(error)(f"{table}: {error.problem}", hint=error.hint) from None


def read_with_time(
    cases: Cases[Any], table: str, time: str | None, every: str | None = None
) -> Predictions:
    """Cases with their `time`, if any, as the last key, cut into periods of length `every`.

    Text in the format of ISO 8601, as in CSV files, is read as dates.
    """
    with errors_named(table):
        if time is None:
            return read(cases, collected=True)
        held = cases.collect()
        if every is not None or held.rows.schema[time] == pl.String:
            times = cut(dates_of(held.rows[time]), every)
            held = replace(held, rows=held.rows.with_columns(times))
        rows = read(held, also=[time])
    check_times(rows, time, table)
    return rows


def refuse_other_keys(
    keys: Sequence[str], given: Sequence[str], table: str, *, may_have_more: bool = False
) -> None:
    """Refuse a table whose keys are not those of the reference."""
    lacking = [key for key in keys if key not in given]
    more = [] if may_have_more else [key for key in given if key not in keys]
    if lacking or more:
        raise InvalidArgument(
            f"{table}: there is no key {quoted(lacking)}, which the reference has."
            if lacking
            else f"reference: there is no key {quoted(more)}, which the {table} cases have.",
            hint="say fold=None or model=None where the rows are of one model, or keep in the "
            "reference the model in use alone.",
        )


def references_of(
    known: Predictions, points: Table | Numbers, level: float, day: str | None = None
) -> dict[Key, Reference]:
    """The reference of each key; some limit of any key is wrong with probability ≤ 1 − level.

    `day` is the column of the days, or other batches, of the reference, if it has any.
    """
    keys = [key for key in known.keys if key != day]
    thresholds = _thresholds(points, keys)
    frames = by_key(known.cases.collect(), keys)
    if are_numbers(points) and isinstance(points, Mapping):
        place = keys.index(model_key(points, keys))
        refuse_unknown_models([*points], list(dict.fromkeys(key[place] for key in frames)))
    references = {}
    for key, frame in frames.items():
        scores = {
            "positives": frame.filter(pl.col(TRUTH))[SCORE].to_numpy(),
            "negatives": frame.filter(~pl.col(TRUTH))[SCORE].to_numpy(),
        }
        absent = [name for name, one in scores.items() if not one.size]
        if absent:
            raise InvalidPredictions(
                f"reference: no {' and no '.join(absent)}{for_key(keys, key)}.",
                hint="give labelled cases of both classes for each key.",
            )
        error = (1 - level) / len(frames)
        references[key] = Reference.from_scores(
            scores["positives"], scores["negatives"], thresholds(key), error,
            None if day is None else _codes(frame, day, for_key(keys, key)),
        )  # fmt: skip
    if not references:
        raise InvalidPredictions(
            "reference: there are no rows.", hint="give labelled cases of both classes."
        )
    return references


def _codes(frame: pl.DataFrame, day: str, of_key: str) -> tuple["Array", "Array"]:
    """The codes of the days of positives and of negatives."""
    code = frame[day].rank("dense").to_numpy().astype(int) - 1
    if code.max() == 0:
        raise InvalidPredictions(
            f"reference: all rows are of {frame[day][0]}{of_key}: one day does not tell how much "
            "days differ.",
            hint="give a reference of 20 days or more, or do not name its days.",
        )
    truth = frame[TRUTH].to_numpy()
    return code[truth], code[~truth]


def _thresholds(points: Table | Numbers, keys: Sequence[str]) -> Callable[[Key], Threshold]:
    """The threshold of each key, by the keys that it depends on."""
    lazy = as_lazy(threshold_table(points, keys) if are_numbers(points) else points)
    given = require(lazy, ["threshold"], source="operating_points(...)")
    # Judged points and those of `expected_cost` have further columns, which are no keys.
    shared = [key for key in given if key in keys or key not in OF_THRESHOLDS]
    check_shared_keys(shared, keys, "the points")
    table = lazy.collect().with_columns(pl.selectors.decimal().cast(pl.Float64))
    if table["threshold"].null_count():
        raise InvalidTable(
            "a threshold is null: nothing is called positive, or no point was chosen.",
            hint="keep points with a threshold: points.drop_nulls('threshold').",
        )
    _check_numbers(table)
    known: dict[Key, list[Threshold]] = {}
    for row in table.iter_rows(named=True):
        tuned = [row[name] for name in TUNED] if set(TUNED) <= row.keys() else None
        lowest = row.get("rule") in LOWEST
        threshold = Threshold(
            row["threshold"], row.get("share", 1.0), row.get("prior"), tuned, lowest,
            _chosen_for(row),
        )  # fmt: skip
        known.setdefault(tuple(row[key] for key in shared), []).append(threshold)

    def of_key(key: Key) -> Threshold:
        of_this = known.get(tuple(key[keys.index(name)] for name in shared), [])
        if len(of_this) != 1:
            one = "keep one row per key, such as that of one prior: points.filter(prior=0.1)."
            raise InvalidTable(
                f"the points have {len(of_this) or 'no'} rows{for_key(keys, key)}, needed is one.",
                hint=one if of_this else "choose a threshold for each key of the reference.",
            )
        return of_this[0]

    return of_key


def _chosen_for(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """The range of priors that a threshold was chosen for, if its row has one."""
    for lower, upper in (OVER_ENDS, PRIOR_LIMITS):
        least, most = row.get(lower), row.get(upper)
        if least is not None and most is not None:
            return least, most
    return None


def widest_range(references: Mapping[Key, Reference]) -> tuple[float, float] | None:
    """From the least to the greatest prior that any of the thresholds was chosen for."""
    ranges = [one.threshold.over for one in references.values() if one.threshold.over is not None]
    return (min(lo for lo, _ in ranges), max(hi for _, hi in ranges)) if ranges else None


def _check_numbers(points: pl.DataFrame) -> None:
    """Refuse thresholds that are no numbers, and shares of tied cases that are no shares."""
    for name, least, most in (("threshold", -inf, inf), ("share", 0, 1)):
        values = points[name] if name in points else pl.Series([most])
        inside = values.dtype.is_numeric() and values.is_between(least, most).fill_null(False).all()
        if not inside:
            raise InvalidTable(
                f"the points have a {name} that is no number{' from 0 to 1' * (most == 1)}.",
                hint="give thresholds as numbers; without a share all cases at the threshold are "
                "called positive.",
            )


def check_times(used: Predictions, time: str, table: str) -> None:
    """Refuse times without an order, and rows without one, of a table."""
    kind = used.rows.collect_schema()[time]
    text = (pl.String, pl.Categorical)
    if not (kind.is_numeric() or kind.is_temporal() or kind in (*text, pl.Boolean)):
        raise no_time(time, kind, f"{table}: ")
    is_missing = pl.col(time).is_null() | (pl.col(time).is_nan() if kind.is_float() else False)
    missing = used.rows.select(is_missing.sum()).collect().item()
    if missing:
        raise InvalidPredictions(
            f"{table}: {missing:,} {'row has' if missing == 1 else 'rows have'} no {time!r}.",
            hint="give each row its time, or leave such rows out.",
        )
    if kind in text:
        word = pl.col(time).cast(pl.String)
        unordered = used.rows.select(word.filter(word.str.contains(DAY_FIRST)).first()).collect()
        if (first := unordered.item()) is not None:
            raise InvalidPredictions(
                f"{table}: the time {time!r} is text such as {first!r}, which does not sort by "
                "day.",
                hint="write the year first, as in 2026-11-30, or give a date.",
            )


def by_key(rows: pl.DataFrame, keys: Sequence[str]) -> dict[Key, pl.DataFrame]:
    """The rows of each key, in order."""
    if not rows.height:
        return {}
    return parts_by_key(rows.sort(keys, nulls_last=True) if keys else rows, keys)


def rows_by_key(
    used: Predictions,
    keys: Sequence[str],
    references: Mapping[Key, Reference],
) -> dict[Key, pl.DataFrame]:
    """The rows of the scores in use of each key, all of which have a reference."""
    rows = used.valid_rows
    frames = by_key((rows.filter(pl.col(WEIGHT) > 0) if used.weighted else rows).collect(), keys)
    unknown = [key for key in frames if key not in references]
    if unknown:
        raise InvalidPredictions(
            f"deployed: there is no reference{for_key(keys, unknown[0])}"
            + (f" and {len(unknown) - 1} more." if len(unknown) > 1 else "."),
            hint="give labelled cases of each key, or leave its scores out.",
        )
    return frames


def counts_of(frame: pl.DataFrame) -> "Array":
    """How many cases each row stands for."""
    if WEIGHT not in frame:
        return np.ones(frame.height, dtype=int)
    return frame[WEIGHT].cast(pl.Int64).to_numpy()


def for_key(keys: Sequence[str], key: Key) -> str:
    """Which key is meant, at the end of a message."""
    named = ", ".join(f"{name}={quoted([value])}" for name, value in zip(keys, key, strict=True))
    return f" for {named}" if named else ""
