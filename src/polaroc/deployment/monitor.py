"""Rates of a deployed threshold, day by day, from scores without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_factors, check_share
from polaroc.base.columns import column_name, refuse_clash, with_level
from polaroc.base.private_columns import PLACE
from polaroc.deployment.alarms import Assessed, Assessment, Terms, model_alarms
from polaroc.deployment.history import (
    RESULT,
    STATE,
    History,
    check_same_time,
    history_table,
    instants,
    read_histories,
)
from polaroc.deployment.input_warnings import (
    dependent_rows,
    dropped_rows,
    moments,
    other_range,
    reference_days,
)
from polaroc.deployment.label_samples import (
    LABELLED,
    Sample,
    samples_of,
    together,
    why_not_random,
)
from polaroc.deployment.labelled import TOLD, UNKNOWN, labelled_estimates
from polaroc.deployment.limits import Reference
from polaroc.deployment.monitor_result import SAME_DAYS, TUNED_HERE, Monitor
from polaroc.deployment.tables import (
    DEPLOYED,
    REFERENCE,
    Key,
    counts_of,
    errors_named,
    for_key,
    read_with_time,
    references_of,
    refuse_other_keys,
    rows_by_key,
    widest_range,
)
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.cases import Cases, as_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, each_counted
from polaroc.priors.grids import range_of
from polaroc.thresholds.fixed import Numbers
from polaroc.typing import Table

# The order of rows of a time.
QUANTITIES = ("prior", "precision", "posfrac", "cost", *TOLD)


def monitor(
    reference: Table | Cases[Any],
    deployed: Table | Cases[Any],
    *,
    points: Table | Numbers,
    time: str,
    over: Sequence[float] | None = None,
    every: str | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    level: float = 0.95,
    labelled: Table | Cases[Any] | None = None,
    state: Table | None = None,
    **columns: Unpack[Columns],
) -> Monitor:
    """Rates of deployed thresholds at each time, and whether they should change.

    Scores in use come without labels. Limits hold at all times at once, so that one
    may look every day, and however the share of positives drifts.

    Parameters
    ----------
    reference
        Predictions with their truth, one row per case: any table that `cases` takes, or its result.
        Neither was the model fitted nor the threshold chosen on these cases, and they were not
        selected by their score, such as alarms only. Models are compared where the other keys are
        equal: they score the same cases.

        Days are assumed to differ by chance only, unless the reference has its own days, or other
        batches, as `cluster`. There should be twenty or more, as they show how much the scores of a
        class differ from day to day. Limits are then wider: "no alarm" says less, and the answer
        does not say how much less.
    deployed
        Scores of the same models in use with their time, one row per case, of new
        times: all that are not in `state`. A table with the same columns but for truth and cluster,
        or the result of `cases` with columns of its own.
    points
        The thresholds in use, one per key: the result of `operating_points` at one prior or over
        a range, of `expected_cost` or of `apply_thresholds`, a table of `threshold` and the keys
        that it depends on, one number, or a mapping from model to number.
    time
        The column of `deployed`, and of `labelled`, with the day or another period that is judged
        as one: a date, a time, a number or text that sorts. It may have gaps.
    over
        The range of priors that the thresholds were chosen for: (low, high). By default that of
        `points`.
    every
        The length of the periods that are judged as one, as in Polars: "1d", "1w", for integers
        "10i". By default each value of `time` is one. A `cluster` of the reference is cut into
        periods only if its column is `time`.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm.
    level
        Chance in (0, 1) that all limits of all keys and times hold; of those from labels,
        that each does.
    labelled
        Some of the cases in use with their truth, of times that are given or in
        `state`: a table with the columns of `deployed` and the truth of the reference, or the
        result of `cases`. They have to be all cases of a time, or a random sample of them,
        drawn neither by their score nor because their truth came to light.
    state
        The `state` of the monitor of earlier times.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Monitor
        `table` and `state`, `alarms`, the rows with an alarm, and `history`, the table of
        all times in the state.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`, for both tables; for keys that only one of them has, and values of keys
        that the reference has not, or has with one class only.
        For times in use that are moments of about one case each, without `every`.
        For a `cluster` of the scores in use other than `time`.
    InvalidTable
        Where `points` has no threshold for a key, or several; where `state` is of another
        reference, threshold or level, or has a time that is given again with
        other scores.
    NotSupported
        For a `weight`.

    Notes
    -----
    The assumption is prior shift: within positives, and within negatives, scores have the
    same distribution at all times as on the reference. It is tested: scores that no
    mixture of the two classes gives raise an alarm, and have no limits for what
    depends on the prior. Drift that looks like such a mixture only labels can show.

    With the days of the reference the scores of a class may differ from day to day as they do
    on these days: independently, normally on the scale of normal quantiles. Limits
    have room for the difference of a day, and of a mean of last days; so have those of a
    better threshold. Changes are then detected later or never: with thirty days of 200
    positives in all, a prior that grew from 10 to 30 %, beyond a range of 5 to 20 %, was not
    found within a year, and without these days mostly within 15 days. Limits of several
    days take it that the share of positives differs between these days by a factor of four at
    most.

    One minus the level is divided among keys; 80 % of each part goes to the reference,
    whose rates at about twenty scores are bounded once (Clopper and Pearson 1934), 20 % to the
    shares of cases at or above these scores in use, at the n-th look 1/log₂(n+1) − 1/log₂(n+2)
    of it, for the time itself and for the last 2, 4, … 64 times together. Priors at which no
    score contradicts the shares are within the limits; precision and cost follow. A time
    alone has the limits in the table, alarms are raised on any number of last times.

    With `labelled`, "prior_labelled", "precision_labelled", "recall_labelled" and
    "cost_labelled" are estimates that assume nothing of the drift: the mean of what the
    reference lets expect of all scores, corrected by its mean error on the labels (Angelopoulos
    et al. 2023). Limits of the recall are those of the positives on either side of the threshold,
    each known with half of the error. All are of one time each, at the level, and raise no alarm;
    `labelled` of the result has those of all these times together. They are null, and a warning
    says so, where alarms and other cases of a key are labelled at rates that fewer than one random
    sample in a thousand has.

    "Better" is a threshold, among the same scores, or a model that costs less at every prior
    within the limits, and by more than the estimates of the reference showed anywhere
    in `over`: at the prior of the points, or of the reference, where there is no range. Of points
    that were chosen as low as a capacity or a constraint allows, such as alerts a day, no lower
    threshold is better.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({
    ...     "truth": [1, 0] * 500, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 50,
    ... })
    >>> deployed = pl.DataFrame({
    ...     "day": [1] * 5_000 + [2] * 5_000,
    ...     "score": [0.9] * 900 + [0.1] * 4_100 + [0.9] * 2_500 + [0.1] * 2_500,
    ... })
    >>> watched = pr.monitor(reference, deployed, points=0.9, time="day", over=(0.05, 0.2))
    >>> priors = watched.table.filter(quantity="prior")
    >>> priors.select("day", pl.col("estimate").round(2), "alarm").rows()
    [(1, 0.1, None), (2, 0.5, 'the prior left the range 5 % to 20 %: it is at least 42.2 %')]
    """
    check_share("level", level)
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    terms = Terms(None if over is None else range_of(over), cost_fn, cost_fp)
    time = column_name(time, "time")
    with errors_named(REFERENCE):
        known_cases = as_cases(reference, columns, function="monitor", refuses=["weight"])
    with errors_named(DEPLOYED):
        of_use = same_columns(
            known_cases, deployed, without=["cluster"], labelled=False, keep=[time],
            function="monitor", refuses=["weight"],
        )  # fmt: skip
    if of_use.cluster is not None and of_use.names["cluster"] != [time]:
        raise InvalidArgument(
            f"deployed: cluster is {quoted(of_use.names['cluster'])} and time is {time!r}: no "
            "limits allow for both.",
            hint="in use, rows of a cluster have to be of one time: leave cluster out.",
        )
    of_use = replace(of_use, cluster=None)
    # Batches may be hospitals; only days are cut into periods, like those in use.
    batch, batch_name = known_cases.cluster, known_cases.names.get("cluster", [""])[0]
    known_cases = replace(known_cases, cluster=None)
    known = read_with_time(known_cases, REFERENCE, batch, every if batch_name == time else None)
    used = read_with_time(of_use, DEPLOYED, time, every)
    with errors_named(DEPLOYED):
        refuse_clash(used.keys, [*RESULT, *STATE])
    keys = known.keys if batch is None else known.keys[:-1]
    refuse_other_keys(keys, used.keys[:-1], DEPLOYED)
    references = references_of(known, points, level, batch)
    chosen_for = widest_range(references)
    schema = used.rows.collect_schema()
    labels = None
    if labelled is not None:
        with errors_named(LABELLED):
            of_labels = same_columns(known_cases, labelled, without=["cluster"], keep=[time])
        labels = _labels(of_labels, time, every, keys, schema[time])
    histories = read_histories(state, keys, time, references, schema[time], terms)
    rows = rows_by_key(used, keys, references)
    assessed = {
        key: _assessed(references[key], histories.setdefault(key, History()), frame, time, terms)
        for key, frame in rows.items()
    }
    types = {key: schema[key] for key in (*keys, time)}
    samples = {} if labels is None else samples_of(labels, keys, references, histories)
    why = {key: why_not_random(sample, for_key(keys, key)) for key, sample in samples.items()}
    models = [] if known_cases.model is None else [known_cases.model]
    _say_alarms(assessed, histories, keys, models, terms)
    for key, sample in samples.items():
        for one in sample:
            estimates = dict.fromkeys(TOLD, UNKNOWN)
            if why[key] is None:
                estimates = labelled_estimates(one.bins, one.labels, terms, level)
            for name, limits in estimates.items():
                histories[key].say(one.time, name, *limits, None)
    random_samples = {key: sample for key, sample in samples.items() if why[key] is None}
    table = _table(histories, types)
    # By time, too: in use a patient may come on several days.
    doubts = dependent_rows(known_cases, replace(of_use, by=(*of_use.by, time)))
    warnings = [
        *([TUNED_HERE] if any(one.is_tuning_table for one in references.values()) else []),
        *other_range(chosen_for, terms.over),
        *dropped_rows(known, used),
        *(f"{note}." for note in doubts),
        *moments(rows, time),
        *([] if batch is None else reference_days(known.cases.collect(), batch, batch_name)),
        *(one for one in why.values() if one is not None),
        *([SAME_DAYS] if batch is None and table["alarm"].count() else []),
    ]
    states = history_table(histories, references, keys, types, terms)
    pooled = with_level(_together(random_samples, types, terms, level), level)
    ends = terms.over or chosen_for
    return Monitor(with_level(table, level), states, pooled, ends, tuple(warnings), level)


def _labels(
    labelled: Cases[Any], time: str, every: str | None, keys: Sequence[str], times: pl.DataType
) -> Predictions:
    """The labelled cases, refused where their keys or times are not those of the scores in use."""
    labels = read_with_time(each_counted(labelled), LABELLED, time, every)
    refuse_other_keys(keys, labels.keys[:-1], LABELLED)
    check_same_time(time, labels.rows.collect_schema()[time], times, "the labelled cases")
    return labels


def _assessed(
    reference: Reference, history: History, rows: pl.DataFrame, time: str, terms: Terms
) -> tuple[list[Any], Assessment]:
    """The times of new rows, and what is known of them."""
    place = (pl.col(time).rank("dense") - 1).cast(pl.Int64).alias(PLACE)
    rows = rows.with_columns(instants(rows[time]))
    times = rows[time].unique().sort().to_list()
    code = rows.select(place).to_series().to_numpy()
    count = counts_of(rows)
    counts = reference.counts(rows[SCORE].to_numpy(), code, len(times), count)
    cases = np.bincount(code, count, len(times))
    for one, size, called in zip(times, cases, counts, strict=True):
        history.add(one, int(size), called)
    reach = rows.group_by(time).agg(pl.col(SCORE).abs().max()).sort(time)[SCORE].to_list()
    return times, Assessment(history.at(times, reference), terms, reach)


def _say_alarms(
    assessed: Assessed,
    histories: Mapping[Key, History],
    keys: Sequence[str],
    models: Sequence[str],
    terms: Terms,
) -> None:
    """Add the estimates and alarms of new rows to the histories."""
    of_models = model_alarms(assessed, keys, models, terms)
    for key, (times, assessment) in assessed.items():
        costs = [
            _joined(threshold, of_models.get((key, at)))
            for at, threshold in enumerate(assessment.threshold_alarms())
        ]
        alarms = {"prior": assessment.prior_alarms(), "cost": costs}
        for name, (estimate, band) in assessment.quantities().items():
            of_name = alarms.get(name, [None] * len(times))
            for time, *values in zip(times, estimate, *band, of_name, strict=True):
                histories[key].say(time, name, *values)


def _together(
    samples: Mapping[Key, Sequence[Sample]], types: Mapping[str, Any], terms: Terms, level: float
) -> pl.DataFrame:
    """Estimates from the labels of all times of a key together."""
    *keys, time = types
    spans = {"first": types[time], "last": types[time], "times": pl.Int64}
    counts = {"cases": pl.Int64, "labels": pl.Int64}
    numbers = dict.fromkeys(("estimate", "lower", "upper"), pl.Float64)
    schema = {**{key: types[key] for key in keys}, "quantity": pl.String, **spans, **counts}
    rows = []
    for key, sample in samples.items():
        bins, labels = together(sample)
        span = (
            sample[0].time,
            sample[-1].time,
            len(sample),
            int(bins.count.sum()),
            labels.place.size,
        )
        for name, limits in labelled_estimates(bins, labels, terms, level).items():
            rows.append((*key, name, *span, *limits))
    table = pl.DataFrame(rows, schema=schema | numbers, orient="row")
    return table.with_columns(pl.col(*numbers).fill_nan(None))


def _table(histories: Mapping[Key, History], types: Mapping[str, Any]) -> pl.DataFrame:
    """The table of the results of this time."""
    rows = [
        (*key, time, QUANTITIES.index(name), *row.values())
        for key, history in histories.items()
        for time, found in history.found.items()
        for name, row in found.items()
    ]
    table = pl.DataFrame(rows, schema={**types, PLACE: pl.Int64, **RESULT}, orient="row")
    return table.sort(*types, PLACE, nulls_last=True).drop(PLACE)


def _joined(threshold: tuple[float, str] | None, model: tuple[float, str] | None) -> str | None:
    """The alarms for another threshold and another model, the one that saves more first."""
    alarms = [alarm for alarm in (threshold, model) if alarm is not None]
    return "; ".join(text for _, text in sorted(alarms, reverse=True)) or None
