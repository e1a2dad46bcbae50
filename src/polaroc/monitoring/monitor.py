"""Thresholds in use, period by period: has the prior moved, has more, do they still hold?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share, check_whole
from polaroc.base.columns import (
    OVER_ENDS,
    PRIOR_LIMITS,
    column_name,
    join_by_key,
    private,
    refuse_clash,
    with_key_types,
    with_level,
)
from polaroc.base.statistics import binomial_band, normal
from polaroc.base.text import noted_by_kind
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable
from polaroc.monitoring.estimate_prior import errors_named, estimated_priors
from polaroc.monitoring.result import Monitor
from polaroc.predictions.cases import Cases, as_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.table import each_counted
from polaroc.priors.grids import range_of
from polaroc.thresholds.apply_thresholds import Numbers, apply_thresholds, points_of
from polaroc.typing import Table

RATES = ("tpr", "tpr_lower", "tpr_upper", "fpr", "fpr_lower", "fpr_upper")
# Whether a case is called positive; without a threshold nothing is.
IS_CALLED = (pl.col("score") >= pl.col("threshold")).fill_null(False)
# The note on the rates of a threshold on the reference.
RATES_NOTE = private("rates_note")
ISO_8601 = r"^\d{4}-\d{2}-\d{2}([T ]|$)"
# At each look, the prior, the shape and labels may each raise a false alarm.
QUESTIONS = 3
SHIFTED = (
    "more than the prior has shifted: no mixture of the reference's positives and negatives gives "
    "the scores"
)
NOT_DRAWN = (
    "Alarms and other cases are labelled at different rates: what labels show is not about all "
    "cases, and raises no alarm. Label a random sample."
)
ALIKE = (
    "Alarms assume that only the prior changes from period to period. If scores also shift a "
    "little from day to day, give a reference of several days and name them: batch='day'."
)
TUNED_HERE = (
    "The threshold has exactly the same rates on the reference as where it was chosen. On the "
    "cases it was chosen on, they are too good: give other labelled cases as the reference."
)


def monitor(
    reference: Table | Cases[Any],
    deployed: Table | Cases[Any],
    *,
    points: Table | Numbers,
    time: str,
    over: tuple[float, float] | None = None,
    every: str | None = None,
    batch: str | None = None,
    labelled: Table | Cases[Any] | None = None,
    looks: int = 365,
    cost_fn: float = 1,
    cost_fp: float = 1,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> Monitor:
    """Estimate the prior in each period of use, and raise an alarm if a threshold should change.

    Scores in use come without labels. Limits allow for many `looks`, so that one may look every
    day. A period has the same result whether it is given alone or with others: no state is kept.

    Parameters
    ----------
    reference
        Predictions with their truth, one row per case: any table that `cases` takes, or its result.
        Neither was the model fitted nor the threshold chosen on these cases, and they were not
        selected by their score.
    deployed
        Scores of the same models in use with their time, one row per case: a table with the same
        columns but for the truth, or the result of `cases`.
    points
        The thresholds in use, one per key: the result of `operating_points` at one prior or over
        a range, or of `apply_thresholds`; one number, or a mapping from model to number.
    time
        The column of `deployed`, and of `labelled`, with the day or another period: a date, a time,
        a number, or text that is a date in ISO 8601.
    over
        The range of priors that the thresholds were chosen for, (low, high). By default that of
        `points`.
    every
        The length of a period, as in Polars: "1d", "1w", "1mo". By default each value of `time` is
        one.
    batch
        A column of the reference with its days, or other batches: limits have room for how much
        they differ, as in `estimate_prior`.
    labelled
        Some of the cases in use with their truth: a table with the columns of `deployed` and the
        truth of the reference, or the result of `cases`. They have to be all cases of a period, or
        a random sample of them. Their rows are taken as independent.
    looks
        The number of periods that will be looked at, such as 52 of ``every="1w"``: false alarms in
        any of them have a chance of at most 1 − `level`.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm.
    level
        Chance in (0, 1) that there is no false alarm for any key at any look.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Monitor
        `answer`, `alarms`, and three tables, one for each question: `prior` (where is the prior?),
        `shape` (has more than the prior moved?) and `thresholds` (what do the thresholds do?).

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `estimate_prior`; for more periods than `looks`; for text that is no date.
    InvalidTable
        If `points` has no threshold for a key, or several.
    NotSupported
        For a `weight`.

    Notes
    -----
    The prior is that of `estimate_prior` in each period, with limits that each fail with a
    probability of (1 − `level`)/3 over `looks` and the number of keys. Alarms of the shape and of
    labels have as much. An alarm is raised if the limits of the prior are outside `over`; if the
    scores are no mixture of the positives and negatives of the reference; and if labels show a
    recall below, or a false positive rate above, all that the reference allows.

    Precision and cost follow from the limits of the prior and of the two rates on the reference,
    and assume that only the prior has moved. Labels assume nothing.

    Longer periods have narrower limits, but show a change later: try ``every="1w"``. For a better
    threshold give the estimate of the last period to `operating_points` as `priors`.

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
    >>> watched.prior.select("day", pl.col("prior").round(2), "alarm").rows()
    [(1, 0.1, None), (2, 0.5, 'the prior left the range 5 % to 20 %: it is more than 43.7 %')]
    """
    check_share("level", level)
    check_whole("looks", looks, 1)
    cost_fn, cost_fp = check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    time = column_name(time, "time")
    known, used = _read(reference, deployed, columns, time, every)
    if (periods := used.rows[time].n_unique()) > looks:
        raise InvalidArgument(
            f"deployed: {time!r} has {periods:,} periods, and looks is {looks:,}.",
            hint="give the number of periods that will be looked at, or longer ones: every='1w'.",
        )
    keys, all_keys = known.keys, used.keys
    # Columns of the tables and of the alarms.
    refuse_clash(all_keys, ("source", "alarm", "table", "quantity"))
    count = max(known.rows.select(keys).n_unique(), 1)
    error = (1 - level) / (QUESTIONS * looks * count)

    points = points_of(points)
    ranges = _range_by_key(points, over, known)
    # Limits of the prior are those of the reference.
    points = points.drop(*PRIOR_LIMITS, "level", strict=False)
    rates = joined(_rates_on_reference(known, points, count, error), ranges)
    thresholds_of_keys = rates.select(*keys, "threshold")
    estimates = estimated_priors(known, used, batch, 1 - error, error)
    called = joined(used.valid_rows, thresholds_of_keys).group_by(all_keys).agg(
        posfrac=IS_CALLED.mean()
    )  # fmt: skip
    rows = joined(joined(estimates.filter(pl.col(time).is_not_null()), rates), called)
    _refuse_unknown_rates(rows, keys)

    prior = rows.select(
        *all_keys, "deployed", "prior", "lower", "upper", "level", "assumes", *OVER_ENDS,
        alarm=_alarm_of_prior(),
    )  # fmt: skip
    is_shifted = pl.col("shift_p") < error
    shape = rows.select(
        *all_keys, "deployed", "shift_p", alarm=pl.when(is_shifted).then(pl.lit(SHIFTED))
    )
    # Where more than the prior has moved, nothing limits the rates.
    limits = [name for name in RATES if name not in ("tpr", "fpr")]
    has_limits = ~is_shifted.fill_null(False)
    thresholds = rows.with_columns(pl.when(has_limits).then(pl.col(limits))).select(
        *all_keys, pl.lit("scores").alias("source"), "threshold", "posfrac", *RATES,
        **_precision_and_cost(cost_fn, cost_fp), alarm=pl.lit(None, pl.String),
    )  # fmt: skip
    is_tuning_table = rates[RATES_NOTE].str.contains("as on the tuning table").any()
    warnings = [TUNED_HERE] * bool(is_tuning_table) + _notes_but_alarms(estimates, keys)
    if labelled is not None:
        with errors_named("labelled"):
            of_labels = same_columns(known, labelled, without=["cluster"], keep=[time])
            labels = _by_period(of_labels, time, every)
        is_random = _are_drawn_at_random(labels, used, thresholds_of_keys)
        warnings += [] if is_random else [NOT_DRAWN]
        by_labels = _judged_by_labels(labels, points, rates, error, raises_alarms=is_random)
        # Labels show no cost: it is null.
        names = thresholds.columns
        thresholds = pl.concat([thresholds, by_labels], how="diagonal").select(names)
    if batch is None and prior["alarm"].count() + shape["alarm"].count():
        warnings.append(ALIKE)
    order = [time, *(key for key in all_keys if key != time)]
    prior, shape, thresholds = (
        table.sort(order, nulls_last=True, maintain_order=True)
        for table in (prior, shape, with_level(thresholds, 1 - error))
    )
    return Monitor(prior, shape, thresholds, time, tuple(warnings), level)


def _read(
    reference: Any, deployed: Any, columns: Mapping[str, Any], time: str, every: str | None
) -> tuple[Cases[pl.DataFrame], Cases[pl.DataFrame]]:
    """The cases of the reference, and those in use by period."""
    options: Any = {"function": "monitor", "refuses": ["weight"]}
    with errors_named("reference"):
        known = as_cases(reference, columns, **options).collect()
    with errors_named("deployed"):
        in_use = same_columns(known, deployed, labelled=False, keep=[time], **options)
        return known, _by_period(in_use, time, every)


def _by_period(cases: Cases[Any], time: str, every: str | None) -> Cases[pl.DataFrame]:
    """The cases, each a row, with their period as a key."""
    rows = cases.source.lazy().collect()
    if rows[time].dtype == pl.String:
        text = rows[time]
        if not text.str.contains(ISO_8601).all():
            raise InvalidPredictions(
                f"{time!r} has texts that are no dates, such as {text.drop_nulls()[0]!r}.",
                hint="write dates as 2026-11-30, or make them dates first.",
            )
        is_date = (text.str.len_chars() == 10).all()
        rows = rows.with_columns(text.str.to_date() if is_date else text.str.to_datetime())
    if missing := rows[time].null_count():
        raise InvalidPredictions(
            f"{missing:,} {'row has' if missing == 1 else 'rows have'} no {time!r}.",
            hint="give each row its time, or leave such rows out.",
        )
    if every is not None:
        try:
            rows = rows.with_columns(pl.col(time).dt.truncate(every))
        except pl.exceptions.PolarsError:
            raise InvalidArgument(
                f"every is {every!r} and {time!r} is {rows[time].dtype}, allowed are lengths such "
                "as '1d', '1w' and '1mo', for dates and times.",
                hint="for other types leave it out, and name a column of the periods as time.",
            ) from None
    columns = {**cases.columns, "by": [*cases.by, time]}
    return each_counted(as_cases(rows, columns, needs=["score"])).collect()


def _range_by_key(
    points: pl.LazyFrame, over: tuple[float, float] | None, known: Cases[pl.DataFrame]
) -> pl.DataFrame:
    """The range of priors of each key: the one given, or the one that its point was chosen for."""
    ends = (None, None) if over is None else range_of(over)
    present = points.collect_schema()
    for names in (OVER_ENDS, PRIOR_LIMITS) if over is None else ():
        if {*names} <= {*present}:
            shared = [key for key in known.keys if key in present]
            ends_of_keys = [
                pl.col(name).cast(pl.Float64).alias(end)
                for name, end in zip(names, OVER_ENDS, strict=True)
            ]
            ranges = points.select(*shared, *ends_of_keys)
            return with_key_types(ranges, known.rows.schema, shared).unique().collect()
    return pl.DataFrame([ends], schema=dict.fromkeys(OVER_ENDS, pl.Float64), orient="row")


def _rates_on_reference(
    known: Cases[pl.DataFrame], points: pl.LazyFrame, count: int, error: float
) -> pl.DataFrame:
    """The threshold of each key with its rates and a note; raise unless there is one per key."""
    rates = apply_thresholds(known, points, same_table=True, intervals=True, level=1 - error)
    if rates.height != count:
        raise InvalidTable(
            "the points have several thresholds for a key of the reference, or it has no rows.",
            hint="keep one row per key, such as that of one prior: points.filter(prior=0.1).",
        )
    return rates.select(*known.keys, "threshold", *RATES, pl.col("note").alias(RATES_NOTE))


def _refuse_unknown_rates(rows: pl.DataFrame, keys: Sequence[str]) -> None:
    """Raise for thresholds that cannot be judged on the reference."""
    is_unknown = pl.any_horizontal(pl.col("tpr", "fpr").is_null())
    why = pl.col(RATES_NOTE).fill_null("the reference has no cases of it")
    unknown = rows.filter(is_unknown).select(*keys, why).unique().sort(pl.all())
    if unknown.height:
        reasons = noted_by_kind((", ".join(map(str, key)), note) for *key, note in unknown.rows())
        raise InvalidPredictions(
            f"the reference shows no rates of a threshold: {' '.join(reasons)}",
            hint="give a threshold and labelled cases of both classes for each key, or leave its "
            "scores out.",
        )


def _alarm_of_prior() -> pl.Expr:
    """An alarm if the limits of the prior are outside the range of the threshold, else null."""
    low, high = OVER_ENDS
    left = pl.format(
        "the prior left the range {} % to {} %: it is ", _percents(low), _percents(high)
    )
    above = left + pl.format("more than {} %", _percents("lower"))
    below = left + pl.format("less than {} %", _percents("upper"))
    is_above, is_below = pl.col("lower") > pl.col(high), pl.col("upper") < pl.col(low)
    return pl.when(is_above).then(above).when(is_below).then(below)


def _notes_but_alarms(estimates: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The notes of estimates, but for those of the shape, which are alarms."""
    return noted_by_kind(
        (", ".join(str(row[key]) for key in keys) or "scores in use", note)
        for row in estimates.drop_nulls("note").iter_rows(named=True)
        for note in row["note"].split("; ")
        if not note.startswith("more than the prior")
    )


def _precision_and_cost(cost_fn: float, cost_fp: float) -> dict[str, pl.Expr]:
    """Precision and cost at the prior, with the widest limits that the rates allow.

    Both move with the prior and the two rates in one direction each.
    """

    def precision(prior: str, t: str, f: str) -> pl.Expr:
        hits = pl.col(prior) * pl.col(t)
        return (hits / (hits + (1 - pl.col(prior)) * pl.col(f))).fill_nan(None)

    def cost(prior: str, t: str, f: str) -> pl.Expr:
        missed = cost_fn * pl.col(prior) * (1 - pl.col(t))
        return missed + cost_fp * (1 - pl.col(prior)) * pl.col(f)

    worst, best = ("tpr_lower", "fpr_upper"), ("tpr_upper", "fpr_lower")
    ends = "lower", "upper"
    return {
        "precision": precision("prior", "tpr", "fpr"),
        "precision_lower": precision("lower", *worst),
        "precision_upper": precision("upper", *best),
        "cost": cost("prior", "tpr", "fpr"),
        "cost_lower": pl.min_horizontal(cost(end, *best) for end in ends),
        "cost_upper": pl.max_horizontal(cost(end, *worst) for end in ends),
    }


def _judged_by_labels(
    labels: Cases[pl.DataFrame],
    points: pl.LazyFrame,
    rates: pl.DataFrame,
    error: float,
    *,
    raises_alarms: bool,
) -> pl.DataFrame:
    """The thresholds on labelled cases by period, with an alarm if `rates` are out of reach."""
    judged = apply_thresholds(labels, points, intervals=True, level=1 - error)
    hits = (pl.col("tpr") * pl.col("positives")).fill_null(0)
    false = (pl.col("fpr") * pl.col("negatives")).fill_null(0)
    judged = judged.select(
        *labels.keys, "threshold", *RATES, hits=hits, called=hits + false,
        cases=pl.col("positives") + pl.col("negatives"),
    )  # fmt: skip
    limits = binomial_band(judged["hits"].to_numpy(), judged["called"].to_numpy(), error)
    ends = {"precision_lower": limits.lower, "precision_upper": limits.upper}
    judged = judged.with_columns(
        posfrac=pl.col("called") / pl.col("cases"),
        precision=pl.col("hits") / pl.col("called"),
        **{name: pl.Series(values) for name, values in ends.items()},
    ).with_columns(pl.when(pl.col("called") > 0).then(pl.col("precision", *ends)))
    least = {"tpr_lower": "least_tpr", "fpr_upper": "most_fpr"}
    keys = [key for key in labels.keys if key in rates.columns]
    known = rates.select(*keys, *least).rename(least)
    recall = pl.format(
        "by labels the recall is at most {} %, by the reference at least {} %",
        _percents("tpr_upper"), _percents("least_tpr"),
    )  # fmt: skip
    false_alarms = pl.format(
        "by labels at least {} % of negatives are called positive, by the reference at most {} %",
        _percents("fpr_lower"), _percents("most_fpr"),
    )  # fmt: skip
    worse = (
        pl.when(pl.col("tpr_upper") < pl.col("least_tpr")).then(recall)
        .when(pl.col("fpr_lower") > pl.col("most_fpr")).then(false_alarms)
    )  # fmt: skip
    return joined(judged, known).with_columns(
        alarm=worse if raises_alarms else pl.lit(None, pl.String), source=pl.lit("labels")
    )  # fmt: skip


def _are_drawn_at_random(
    labels: Cases[pl.DataFrame], used: Cases[pl.DataFrame], thresholds: pl.DataFrame
) -> bool:
    """Whether alarms and other cases are labelled at the same rate (Mantel and Haenszel 1959)."""
    called, cases = IS_CALLED.sum().cast(pl.Float64), pl.len().cast(pl.Float64)
    drawn, present = (
        joined(one.valid_rows, thresholds).group_by(one.keys).agg(called=called, cases=cases)
        for one in (labels, used)
    )
    both = drawn.join(present, on=labels.keys, nulls_equal=True, suffix="_in_use")
    size, total = pl.col("cases"), pl.col("cases_in_use")
    share = pl.col("called_in_use") / total
    unlabelled = (total - size).clip(0) / (total - 1).clip(1)
    difference, variance = both.select(
        (pl.col("called") - size * share).sum(), (size * share * (1 - share) * unlabelled).sum()
    ).row(0)
    # Below this p-value, labels are taken not to be a random sample; 0.5 corrects for counts.
    return bool(max(abs(difference) - 0.5, 0.0) <= normal(1 - 0.001) * variance**0.5)


def joined(rows: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the columns of a table that has one row per key, in their order."""
    keys = [key for key in table.columns if key in rows.columns]
    return join_by_key(rows, table, keys)


def _percents(column: str) -> pl.Expr:
    """A share in per cent, as text of three digits."""
    text = (100 * pl.col(column)).round_sig_figs(3).cast(pl.String)
    return text.str.strip_suffix(".0")
