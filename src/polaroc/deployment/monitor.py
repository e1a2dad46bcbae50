"""What a deployed threshold does, day by day, from scores without labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polaroc.base.checks import check_factor, check_share
from polaroc.base.columns import as_lazy, check_keys, column_name, key_columns
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE, TRUTH, WEIGHT
from polaroc.base.statistics import Band
from polaroc.deployment.alarms import Assessment, Plan, better_model
from polaroc.deployment.history import (
    RESULT,
    STATE,
    History,
    check_same_time,
    history_table,
    instants,
    read_histories,
)
from polaroc.deployment.input_warnings import chosen_labels, dependent_rows, dropped_rows, moments
from polaroc.deployment.labelled import Bins, Labels, labelled_estimates
from polaroc.deployment.limits import Reference
from polaroc.deployment.monitor_result import TUNED_HERE, Monitor
from polaroc.deployment.tables import (
    DEPLOYED,
    INCLUSION,
    REFERENCE,
    Key,
    by_key,
    errors_named,
    named,
    references_of,
    rows_by_key,
)
from polaroc.errors import InvalidPredictions
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.predictions.usual_keys import usual_names
from polaroc.priors.grids import range_of
from polaroc.thresholds.fixed import Numbers
from polaroc.typing import Array, By, IntoExpr, Label, Nulls, Score, Table

LABELLED = "labelled"
QUANTITIES = (
    "prior", "precision", "posfrac", "cost", "prior_labelled", "precision_labelled",
    "cost_labelled",
)  # fmt: skip


def monitor(
    reference: Table,
    deployed: Table,
    *,
    truth: IntoExpr,
    score: Score,
    by: By = (),
    time: str,
    points: Table | Numbers,
    over: Sequence[float] | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    level: float = 0.95,
    labelled: Table | None = None,
    state: Table | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
) -> Monitor:
    """What deployed thresholds do at each time, and whether they should change.

    Scores in use come without labels. Limits hold at all times at once, so that one
    may look every day, and however the share of positives drifts.

    Parameters
    ----------
    reference
        Predictions with their truth, one row per case, on which neither the model
        was fitted nor the threshold chosen: any table that `curve` takes.
    deployed
        Scores of the same models in use with their time, one row per case, of new
        times: all that are not in `state`.
    truth, positive
        Of the reference, as in `curve`.
    score, nulls
        Of both tables, as in `curve`.
    by
        Key columns of both tables, such as the model. Models, told apart by a key with
        a usual name such as "model", are compared where the other keys are equal: they
        score the same cases.
    time
        The column of the deployed scores with the day, or another time: what is
        judged at once. Its values have an order, and may have gaps.
    points
        The thresholds in use, one per key: the result of `operating_points` at one
        prior, of `expected_cost` or of `apply_thresholds`, a table of `threshold` and the
        keys among `by` that it depends on, one number, or a mapping from model to number.
    over
        The range of priors that the thresholds were chosen for: (low, high).
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm.
    level
        Chance in (0, 1) that all limits of all keys and times hold; of those from labels,
        that each does.
    labelled
        Some of the cases in use with their truth, of times that are given or in
        `state`: the same columns, and `inclusion`, the chance in (0, 1] with which each
        was drawn among those of its time. Without it, they were drawn at random.
    state
        The `state` of the monitor of earlier times.

    Returns
    -------
    Monitor
        `table` and `state`, `alarms`, the rows with an alarm, and `history`, the table of
        all times in the state.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`, for both tables; for keys that the reference has not, or has
        with one class only.
    InvalidTable
        Where `points` has no threshold for a key, or several; where `state` is of another
        reference, threshold or level, or has a time that is given again with
        other scores.

    See Also
    --------
    estimate_prior : The share of positives of one deployment, with a narrower interval.
    operating_points : The threshold that a rule chooses.

    Notes
    -----
    The assumption is prior shift: within positives, and within negatives, scores have the
    same distribution at all times as on the reference. It is tested: scores that no
    mixture of the two classes gives raise an alarm, and have no limits for what
    depends on the prior. Drift that looks like such a mixture only labels can show.

    One minus the level is divided among keys; 80 % of each part goes to the reference,
    whose rates at about twenty scores are bounded once (Clopper and Pearson), 20 % to the
    shares of cases at or above these scores in use, at the n-th look 1/log₂(n+1) − 1/log₂(n+2)
    of it, for the time itself and for the last 2, 4, … 64 times together. Priors at which no
    score contradicts the shares are within the limits; precision and cost follow. A time
    alone has the limits in the table, alarms are raised on any number of last times.

    With `labelled`, "prior_labelled", "precision_labelled" and "cost_labelled" are estimates
    that assume nothing of the drift: the mean of what the reference lets expect of all
    scores, corrected by its mean error on the labels (prediction-powered). Their limits are
    of one time each, at the level, and raise no alarm.

    "Better" is a threshold, among the same scores, or a model that costs less at every prior
    within the limits, and by more than the estimates of the reference showed anywhere
    in `over`: at the prior of the points, or of the reference, where there is no range.

    References
    ----------
    Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of
    the binomial", 1934.

    Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, "Prediction-powered inference", 2023.

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
    >>> names = {"truth": "truth", "score": "score", "time": "day"}
    >>> watched = pr.monitor(reference, deployed, points=0.9, over=(0.05, 0.2), **names)
    >>> priors = watched.table.filter(quantity="prior")
    >>> priors.select("day", pl.col("estimate").round(2), "alarm").rows()
    [(1, 0.1, None), (2, 0.5, 'the prior left the range 5 % to 20 %: it is at least 42.2 %')]
    """
    check_share("level", level)
    for name, cost in (("cost_fn", cost_fn), ("cost_fp", cost_fp)):
        check_factor(name, cost)
    ends = None if over is None else range_of(over)
    plan = Plan(ends, cost_fn, cost_fp)
    own: list[IntoExpr] = key_columns(by)
    with errors_named(REFERENCE):
        known = read(
            reference, truth=truth, score=score, by=own, positive=positive, nulls=nulls,
            collected=True,
        )  # fmt: skip
    labels = None
    if labelled is not None:
        labels = _read_labels(
            labelled, truth=truth, score=score, by=[*own, column_name(time, "time")],
            positive=positive, nulls=nulls,
        )  # fmt: skip
    with errors_named(DEPLOYED):
        # Unlabelled scores are read as one class.
        used = read(
            deployed, truth=pl.lit(True), score=score, by=[*own, column_name(time, "time")],
            nulls=nulls, collected=True,
        )  # fmt: skip
        check_keys(used.keys, also=[*RESULT, *STATE])
    keys = known.keys
    references = references_of(known, points, level)
    _check_times(used, time)
    schema = used.rows.collect_schema()
    if labels is not None:
        check_same_time(
            time, labels.rows.collect_schema()[time], schema[time], "the labelled cases"
        )
    histories = read_histories(state, keys, time, references, schema[used.keys[-1]])
    rows = rows_by_key(used, keys, references)
    assessed = {
        key: _assessed(references[key], histories.setdefault(key, History()), frame, time, plan)
        for key, frame in rows.items()
    }
    types = {key: schema[key] for key in used.keys}
    blocks = _blocks(assessed, keys)
    if labels is not None:
        blocks += _labelled_blocks(labels, keys, time, references, histories, plan, level)
    for block in blocks:
        block.keep(histories[block.key])
    table = _table(blocks, types)
    warnings = [
        *([TUNED_HERE] if any(one.is_tuning_table for one in references.values()) else []),
        *dropped_rows(known, used),
        *(f"{note}." for note in dependent_rows(reference, deployed, own, truth, score, [time])),
        *moments(rows, time),
        *([] if labels is None else chosen_labels(labels, keys, time, references, histories)),
    ]
    return Monitor(table, history_table(histories, references, keys, types), ends, tuple(warnings))


def _check_times(used: Predictions, time: str) -> None:
    kind = used.rows.collect_schema()[time]
    text = (pl.String, pl.Categorical)
    if not (kind.is_numeric() or kind.is_temporal() or kind in (*text, pl.Boolean)):
        raise InvalidPredictions(
            f"deployed: the time {time!r} is {kind}, allowed are dates, times, numbers and text.",
            hint="give the day as a date or a number.",
        )
    is_missing = pl.col(time).is_null() | (pl.col(time).is_nan() if kind.is_float() else False)
    missing = used.rows.select(is_missing.sum()).collect().item()
    if missing:
        raise InvalidPredictions(
            f"deployed: {missing:,} {'row has' if missing == 1 else 'rows have'} no {time!r}.",
            hint="give each row its time, or leave such rows out.",
        )


def _assessed(
    reference: Reference, history: History, rows: pl.DataFrame, time: str, plan: Plan
) -> tuple[list[Any], Assessment]:
    """The times of new rows, and what is known of them."""
    place = (pl.col(time).rank("dense") - 1).cast(pl.Int64).alias(PLACE)
    rows = rows.with_columns(instants(rows[time]))
    times = rows[time].unique().sort().to_list()
    code = rows.select(place).to_series().to_numpy()
    counts = reference.counts(rows[SCORE].to_numpy(), code, len(times))
    cases = np.bincount(code, minlength=len(times))
    for one, size, called in zip(times, cases, counts, strict=True):
        history.add(one, int(size), called)
    reach = rows.group_by(time).agg(pl.col(SCORE).abs().max()).sort(time)[SCORE].to_list()
    return times, Assessment(history.at(times, reference), plan, reach)


@dataclass(frozen=True)
class _Block:
    """Rows of the result of one key and quantity."""

    key: Key
    times: Sequence[Any]
    quantity: str
    estimate: "Array"
    band: Band
    alarm: Sequence[str | None]

    def keep(self, history: History) -> None:
        """Keep the rows in the history of the key."""
        for time, *said in zip(self.times, self.estimate, *self.band, self.alarm, strict=True):
            history.say(time, self.quantity, *said)


def _blocks(
    assessed: Mapping[Key, tuple[list[Any], Assessment]], keys: Sequence[str]
) -> list[_Block]:
    models = _model_alarms(assessed, keys)
    blocks = []
    for key, (times, assessment) in assessed.items():
        costs = [
            _joined(threshold, models.get((key, at)))
            for at, threshold in enumerate(assessment.threshold_alarms())
        ]
        alarms = {"prior": assessment.prior_alarms(), "cost": costs}
        for name, (estimate, band) in assessment.quantities().items():
            of_name = alarms.get(name, [None] * len(times))
            blocks.append(_Block(key, times, name, estimate, band, of_name))
    return blocks


def _read_labels(
    labelled: Table, *, positive: Label | Sequence[Label] | None, **columns: Any
) -> Predictions:
    """Labelled cases in use, with their chance of inclusion as the weight where it is given."""
    table = as_lazy(labelled)
    chance = INCLUSION if INCLUSION in table.collect_schema().names() else None
    with errors_named(LABELLED):
        labels = read(labelled, **columns, positive=positive, weight=chance, collected=True)
    if chance is not None:
        lowest, highest = labels.rows.select(
            pl.col(WEIGHT).min().alias("lowest"), pl.col(WEIGHT).max().alias("highest")
        ).collect().row(0)  # fmt: skip
        if lowest is not None and not 0 < lowest <= highest <= 1:
            raise InvalidPredictions(
                f"labelled: {INCLUSION!r} runs from {lowest:g} to {highest:g}, allowed are chances "
                "above 0 and at most 1.",
                hint="give the chance with which each case was drawn among those of its time.",
            )
    return labels


def _labelled_blocks(
    labels: Predictions,
    keys: Sequence[str],
    time: str,
    references: Mapping[Key, Reference],
    histories: Mapping[Key, History],
    plan: Plan,
    level: float,
) -> list[_Block]:
    blocks = []
    rows = labels.valid_rows.collect()
    rows = rows.with_columns(instants(rows[time]))
    for (*own, at), frame in by_key(rows, [*keys, time]).items():
        key = tuple(own)
        history = histories.get(key, History())
        if at not in history.looks:
            raise InvalidPredictions(
                f"labelled: there are no scores of {at}{named(keys, key)}.",
                hint="give all scores of the times of labelled cases, now or in the state.",
            )
        _, cases, above = history.looks[at]
        if frame.height > cases:
            raise InvalidPredictions(
                f"labelled: {frame.height:,} cases of {at}{named(keys, key)}, and "
                f"{cases:,} scores.",
                hint="labelled cases are among those in use; give their scores, too.",
            )
        reference = references[key]
        prior = float(history.at([at], reference).prior()[0])
        drawn = (
            frame[WEIGHT].to_numpy()
            if labels.weighted
            else np.full(frame.height, frame.height / cases)
        )
        place = np.searchsorted(np.sort(reference.cuts), frame[SCORE].to_numpy(), side="right")
        estimates = labelled_estimates(
            Bins.at_prior(reference, above, cases, prior),
            Labels(place, frame[TRUTH].to_numpy(), drawn),
            plan,
            level,
        )
        for name, (estimate, lower, upper) in estimates.items():
            band = Band(np.array([lower]), np.array([upper]))
            blocks.append(_Block(key, [at], name, np.array([estimate]), band, [None]))
    return blocks


def _table(blocks: Sequence[_Block], types: Mapping[str, Any]) -> pl.DataFrame:
    schema = {**types, PLACE: pl.Int64, **RESULT}
    *keys, time = types
    frames = [
        pl.DataFrame(
            {
                **{k: [v] * len(block.times) for k, v in zip(keys, block.key, strict=True)},
                time: block.times,
                PLACE: [QUANTITIES.index(block.quantity)] * len(block.times),
                "quantity": [block.quantity] * len(block.times),
                "estimate": block.estimate, "lower": block.band.lower, "upper": block.band.upper,
                "alarm": block.alarm,
            },
            schema=schema,
            nan_to_null=True,
        )
        for block in blocks
    ]  # fmt: skip
    table = pl.concat([pl.DataFrame(schema=schema), *frames])
    return table.sort(*types, PLACE, nulls_last=True).drop(PLACE)


def _joined(threshold: tuple[float, str] | None, model: tuple[float, str] | None) -> str | None:
    """The alarm of what saves more: another threshold, or another model."""
    alarms = [alarm for alarm in (threshold, model) if alarm is not None]
    return "; ".join(text for _, text in sorted(alarms, reverse=True)) or None


def _model_alarms(
    assessed: Mapping[Key, tuple[list[Any], Assessment]], keys: Sequence[str]
) -> dict[tuple[Key, int], tuple[float, str]]:
    """The other model with the greatest lower limit of savings, by key and place of its time."""
    names = usual_names(keys).models[:1]
    if not names:
        return {}
    place = keys.index(names[0])
    alarms: dict[tuple[Key, int], tuple[float, str]] = {}
    for key, other in _rivals(list(assessed), place):
        (times, one), (other_times, rival) = assessed[key], assessed[other]
        for at, time in enumerate(times):
            if time not in other_times:
                continue
            saving = one.against(rival, at, other_times.index(time))
            if saving is not None and saving[0] > alarms.get((key, at), (0.0, ""))[0]:
                alarms[key, at] = saving[0], better_model(str(other[place]), *saving)
    return alarms


def _rivals(keys: Sequence[Key], place: int) -> Iterator[tuple[Key, Key]]:
    """Pairs of keys that differ in the model alone."""
    for key in keys:
        for other in keys:
            apart = [i for i, pair in enumerate(zip(key, other, strict=True)) if pair[0] != pair[1]]
            if apart == [place]:
                yield key, other
