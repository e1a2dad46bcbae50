"""Thresholds in use, period by period: has the prior moved, has more, do they still hold?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_factors, check_share, check_whole
from polaroc.base.columns import (
    OVER_ENDS,
    PRIOR_LIMITS,
    as_lazy,
    column_name,
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
from polaroc.priors.grids import range_of
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.fixed import Numbers, are_numbers
from polaroc.typing import Table

# Each look may raise a false alarm by the prior, by the shape, and by labels.
QUESTIONS = 3
# Below this p-value labels are no random sample.
NOT_RANDOM = 0.001
SHIFTED = (
    "more than the prior has shifted: no mixture of the reference's positives and negatives gives "
    "the scores"
)
NOT_DRAWN = (
    "Alarms and other cases are labelled at different rates: what labels show is not about all "
    "cases, and raises no alarm. Label a random sample."
)
ALIKE = (
    "Alarms take it that periods differ by chance and in the prior only. If scores shift a little "
    "from day to day, give a reference of several days and name them: batch='day'."
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
        The number of periods that will be looked at: false alarms in any of them have a chance of
        at most 1 − `level`.
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
    [(1, 0.1, None), (2, 0.5, 'the prior left the range 5 % to 20 %: it is at least 43.1 %')]
    """
    check_share("level", level)
    check_whole("looks", looks, 1)
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    time = column_name(time, "time")
    with errors_named("reference"):
        known = as_cases(reference, columns, function="monitor", refuses=["weight"]).collect()
    with errors_named("deployed"):
        declared = same_columns(
            known, deployed, labelled=False, keep=[time], function="monitor", refuses=["weight"]
        )
        used = by_period(declared, time, every)
    periods = used.rows[time].n_unique()
    if periods > looks:
        raise InvalidArgument(
            f"deployed: {time!r} has {periods:,} periods, and looks is {looks:,}.",
            hint="give the number of periods that will be looked at, or longer ones: every='1d'.",
        )
    thresholds = apply_thresholds(
        known, points, same_table=True, intervals=True, level=1 - (1 - level) / QUESTIONS / looks
    )
    keys = known.keys
    count = max(thresholds.select(keys).n_unique() if keys else 1, 1)
    if thresholds.height > count or thresholds["share"].null_count():
        raise InvalidTable(
            "the points have no threshold, or several, for a key of the reference.",
            hint="keep one row per key, such as that of one prior: points.filter(prior=0.1).",
        )
    error = (1 - level) / QUESTIONS / looks / count
    rates = apply_thresholds(known, points, same_table=True, intervals=True, level=1 - error)
    rates = joined(rates, ranges_of(points, over, rates))
    estimates = estimated_priors(known, used, batch, 1 - error, error)
    estimates = estimates.filter(pl.col(time).is_not_null())
    of_reference = ("threshold", "tpr", "tpr_lower", "tpr_upper", "fpr", "fpr_lower", "fpr_upper")
    found = joined(estimates, rates.select(*keys, *of_reference, *OVER_ENDS))
    low, high = OVER_ENDS
    all_keys = used.keys
    left = pl.format("the prior left the range {} % to {} %: it is ", *map(percents, (low, high)))
    prior = found.select(
        *all_keys, "deployed", "prior", "lower", "upper", "level", "assumes", low, high,
        pl.when(pl.col("lower") > pl.col(high))
        .then(left + pl.format("at least {} %", percents("lower")))
        .when(pl.col("upper") < pl.col(low))
        .then(left + pl.format("at most {} %", percents("upper")))
        .alias("alarm"),
    )  # fmt: skip
    shape = found.select(
        *all_keys, "deployed", "shift_p",
        pl.when(pl.col("shift_p") < error).then(pl.lit(SHIFTED)).alias("alarm"),
    )  # fmt: skip
    called = with_threshold(used, rates)
    shares = called.group_by(all_keys).agg(
        posfrac=(pl.col("score") >= pl.col("threshold")).fill_null(False).mean()
    )
    found = found.join(shares, on=all_keys, how="left", nulls_equal=True, maintain_order="left")
    by_scores = found.select(
        *all_keys, pl.lit("scores").alias("source"), "threshold", "posfrac",
        *expected(cost_fn, cost_fp), pl.lit(None, pl.String).alias("alarm"),
    )  # fmt: skip
    warnings = [*noted_by_kind(_notes(estimates, keys))]
    if rates["note"].str.contains("as on the tuning table").any():
        warnings.insert(0, TUNED_HERE)
    by_labels = by_scores.clear()
    if labelled is not None:
        with errors_named("labelled"):
            of_labels = same_columns(known, labelled, without=["cluster"], keep=[time])
            labels = by_period(of_labels, time, every)
        by_labels, is_random = judged(labels, points, rates, called, error)
        warnings += [] if is_random else [NOT_DRAWN]
    if batch is None and prior["alarm"].count() + shape["alarm"].count():
        warnings.append(ALIKE)
    both = pl.concat([by_scores, by_labels.select(by_scores.columns)])
    order = [time, *(key for key in all_keys if key != time)]
    tables = [
        table.sort(order, nulls_last=True, maintain_order=True)
        for table in (prior, shape, with_level(both, 1 - error))
    ]
    return Monitor(*tables, time, tuple(warnings), level)


def by_period(cases: Cases[Any], time: str, every: str | None) -> Cases[pl.DataFrame]:
    """The cases with their period as a key."""
    rows = cases.source.lazy().collect()
    if rows[time].dtype == pl.String:
        text = rows[time]
        dates = text.str.to_date("%Y-%m-%d", strict=False)
        if dates.null_count() > text.null_count():
            dates = text.str.to_datetime(strict=False)
        if dates.null_count() > text.null_count():
            raise InvalidPredictions(
                f"{time!r} has texts that are no dates, such as {text.drop_nulls()[0]!r}.",
                hint="write dates as 2026-11-30, or make them dates first.",
            )
        rows = rows.with_columns(dates)
    if missing := rows[time].null_count():
        raise InvalidPredictions(
            f"{missing:,} {'row has' if missing == 1 else 'rows have'} no {time!r}.",
            hint="give each row its time, or leave such rows out.",
        )
    if every is not None:
        rows = rows.with_columns(pl.col(time).dt.truncate(every))
    by = {"by": [*cases.by, time]}
    return as_cases(rows, {**cases.columns, **by}, needs=["score"]).collect()


def with_threshold(cases: Cases[pl.DataFrame], rates: pl.DataFrame) -> pl.DataFrame:
    """The rows of cases with the threshold of their key."""
    return joined(cases.rows, rates.select(*rates.columns[: rates.columns.index("rule")], "threshold"))


def joined(rows: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """The rows with the columns of their key."""
    keys = [key for key in rates.columns if key in rows.columns]
    if not keys:
        return rows.join(rates, how="cross", maintain_order="left")
    return rows.join(rates, on=keys, how="left", nulls_equal=True, maintain_order="left")


def ranges_of(
    points: Table | Numbers, over: tuple[float, float] | None, rates: pl.DataFrame
) -> pl.DataFrame:
    """The range of priors of each key: the one given, or the one that its point was chosen for."""
    keys = rates.columns[: rates.columns.index("rule")]
    if over is not None or are_numbers(points):
        ends = (None, None) if over is None else range_of(over)
        return rates.select(*keys, *map(_literal, OVER_ENDS, ends))
    table = as_lazy(points)
    present = table.collect_schema().names()
    names = next((one for one in (OVER_ENDS, PRIOR_LIMITS) if {*one} <= {*present}), None)
    if names is None:
        return rates.select(*keys, *map(_literal, OVER_ENDS, (None, None)))
    shared = [key for key in keys if key in present]
    ends = [pl.col(old).cast(pl.Float64).alias(new) for old, new in zip(names, OVER_ENDS, strict=True)]
    ranges = with_key_types(table.select(*shared, *ends), rates.schema, shared).unique().collect()
    return joined(rates.select(*keys, "rule"), ranges).drop("rule")


def _literal(name: str, value: float | None) -> pl.Expr:
    return pl.lit(value, pl.Float64).alias(name)


def percents(column: str) -> pl.Expr:
    """A share in per cent, as text of three digits."""
    text = (100 * pl.col(column)).round_sig_figs(3).cast(pl.String)
    return text.str.strip_suffix(".0")


def expected(cost_fn: float, cost_fp: float) -> list[pl.Expr]:
    """Rates on the reference, and precision and cost at the prior, with the widest limits.

    Precision and cost move with the prior and the two rates in one direction each.
    """

    def precision(prior: str, t: str, f: str) -> pl.Expr:
        hits = pl.col(prior) * pl.col(t)
        return (hits / (hits + (1 - pl.col(prior)) * pl.col(f))).fill_nan(None)

    def cost(prior: str, t: str, f: str) -> pl.Expr:
        prior_of = pl.col(prior)
        return cost_fn * prior_of * (1 - pl.col(t)) + cost_fp * (1 - prior_of) * pl.col(f)

    least, most = ("tpr_lower", "fpr_upper"), ("tpr_upper", "fpr_lower")
    ends = "lower", "upper"
    return [
        pl.col("tpr", "tpr_lower", "tpr_upper", "fpr", "fpr_lower", "fpr_upper"),
        precision("prior", "tpr", "fpr").alias("precision"),
        precision("lower", *least).alias("precision_lower"),
        precision("upper", *most).alias("precision_upper"),
        cost("prior", "tpr", "fpr").alias("cost"),
        pl.min_horizontal(cost(end, *most) for end in ends).alias("cost_lower"),
        pl.max_horizontal(cost(end, *least) for end in ends).alias("cost_upper"),
    ]


def judged(
    labels: Cases[pl.DataFrame],
    points: Table | Numbers,
    rates: pl.DataFrame,
    called: pl.DataFrame,
    error: float,
) -> tuple[pl.DataFrame, bool]:
    """The thresholds on labelled cases by period, and whether these can be a random sample."""
    keys = rates.columns[: rates.columns.index("rule")]
    found = apply_thresholds(labels, points, intervals=True, level=1 - error)
    hits, alarms = pl.col("tpr") * pl.col("positives"), pl.col("fpr") * pl.col("negatives")
    counts = found.select(hits.alias("hits"), (hits + alarms).alias("alarms")).fill_null(0)
    limits = binomial_band(counts["hits"].to_numpy(), counts["alarms"].to_numpy(), error)
    # A period without alarms has no precision.
    has_alarms = pl.Series(counts["alarms"] > 0)
    on_reference = rates.select(
        *keys, pl.col("tpr_lower").alias("least_tpr"), pl.col("fpr_upper").alias("most_fpr")
    )
    is_random = drawn_at_random(labels, rates, called)
    worse = (
        pl.when(pl.col("tpr_upper") < pl.col("least_tpr"))
        .then(pl.format("by labels the recall is at most {} %, by the reference at least {} %",
                        percents("tpr_upper"), percents("least_tpr")))
        .when(pl.col("fpr_lower") > pl.col("most_fpr"))
        .then(pl.format("by labels at least {} % of the negatives are called positive, by the "
                        "reference at most {} %", percents("fpr_lower"), percents("most_fpr")))
    )  # fmt: skip
    share = (hits + alarms) / (pl.col("positives") + pl.col("negatives"))
    nothing = [_literal(name, None) for name in ("cost", "cost_lower", "cost_upper")]
    table = joined(found, on_reference).with_columns(
        pl.Series("precision", counts["hits"] / counts["alarms"]).fill_nan(None),
        pl.Series("precision_lower", limits.lower),
        pl.Series("precision_upper", limits.upper),
        pl.lit("labels").alias("source"),
        share.alias("posfrac"),
        *nothing,
    ).with_columns(
        pl.when(has_alarms).then(pl.col("precision_lower", "precision_upper"))
    )
    alarm = worse if is_random else pl.lit(None, pl.String)
    return table.with_columns(alarm.alias("alarm")), is_random


def drawn_at_random(
    labels: Cases[pl.DataFrame], rates: pl.DataFrame, called: pl.DataFrame
) -> bool:
    """Whether alarms and other cases are labelled at the same rate (Mantel and Haenszel)."""
    keys, all_keys = rates.columns[: rates.columns.index("rule")], labels.keys
    is_called = (pl.col("score") >= pl.col("threshold")).fill_null(False)
    counts = [
        rows.group_by(all_keys).agg(is_called.sum().cast(pl.Float64).alias("called"),
                                    pl.len().cast(pl.Float64).alias("cases"))
        for rows in (
            with_threshold(labels, rates),
            called,
        )
    ]  # fmt: skip
    both = counts[0].join(counts[1], on=all_keys, nulls_equal=True, suffix="_used")
    share, drawn = pl.col("called_used") / pl.col("cases_used"), pl.col("cases")
    rest = (pl.col("cases_used") - drawn).clip(0) / (pl.col("cases_used") - 1).clip(1)
    difference, variance = both.select(
        (pl.col("called") - drawn * share).sum(), (drawn * share * (1 - share) * rest).sum()
    ).row(0)
    # One case more or less may be a matter of rounding.
    excess = max(abs(difference) - 0.5, 0.0)
    return bool(excess <= normal(1 - NOT_RANDOM) * np.sqrt(variance))


def _notes(estimates: pl.DataFrame, keys: Sequence[str]) -> list[tuple[object, str]]:
    """The notes on rows that were left out, with their keys."""
    noted = estimates.drop_nulls("note")
    return [
        (", ".join(str(row[key]) for key in keys) or "scores in use", part)
        for row in noted.iter_rows(named=True)
        for part in row["note"].split("; ")
        if not part.startswith("more than the prior")
    ]
