"""Rates of thresholds from the labels of some cases in use."""

from __future__ import annotations

import polars as pl

from polaroc.base.statistics import binomial_band, normal
from polaroc.monitoring.tables import joined, percents
from polaroc.predictions.cases import Cases
from polaroc.thresholds.apply_thresholds import Numbers, apply_thresholds
from polaroc.typing import Table

# Below this p-value labels are no random sample.
NOT_RANDOM = 0.001


def judged_by_labels(
    labels: Cases[pl.DataFrame],
    points: Table | Numbers,
    rates: pl.DataFrame,
    error: float,
    *,
    raises_alarms: bool,
) -> pl.DataFrame:
    """The thresholds on labelled cases by period, with an alarm if `rates` are out of reach."""
    found = apply_thresholds(labels, points, intervals=True, level=1 - error)
    hits, false = pl.col("tpr") * pl.col("positives"), pl.col("fpr") * pl.col("negatives")
    found = found.select(
        *labels.keys, "threshold", "tpr", "tpr_lower", "tpr_upper", "fpr", "fpr_lower", "fpr_upper",
        hits.fill_null(0).alias("hits"), (hits.fill_null(0) + false.fill_null(0)).alias("called"),
        (pl.col("positives") + pl.col("negatives")).alias("cases"),
    )  # fmt: skip
    limits = binomial_band(found["hits"].to_numpy(), found["called"].to_numpy(), error)
    ends = {"precision_lower": limits.lower, "precision_upper": limits.upper}
    found = found.with_columns(
        posfrac=pl.col("called") / pl.col("cases"),
        precision=pl.col("hits") / pl.col("called"),
        **{name: pl.Series(values) for name, values in ends.items()},
    ).with_columns(pl.when(pl.col("called") > 0).then(pl.col("precision", *ends)))
    least = {"tpr_lower": "least_tpr", "fpr_upper": "most_fpr"}
    keys = [key for key in labels.keys if key in rates.columns]
    known = rates.select(*keys, *least).rename(least)
    recall = pl.format(
        "by labels the recall is at most {} %, by the reference at least {} %",
        percents("tpr_upper"), percents("least_tpr"),
    )  # fmt: skip
    false_alarms = pl.format(
        "by labels at least {} % of negatives are called positive, by the reference at most {} %",
        percents("fpr_lower"), percents("most_fpr"),
    )  # fmt: skip
    worse = (
        pl.when(pl.col("tpr_upper") < pl.col("least_tpr")).then(recall)
        .when(pl.col("fpr_lower") > pl.col("most_fpr")).then(false_alarms)
    )  # fmt: skip
    nothing = pl.lit(None, pl.Float64)
    return joined(found, known).with_columns(
        (worse if raises_alarms else pl.lit(None, pl.String)).alias("alarm"),
        pl.lit("labels").alias("source"),
        cost=nothing, cost_lower=nothing, cost_upper=nothing,
    )  # fmt: skip


def are_drawn_at_random(
    labels: Cases[pl.DataFrame], used: Cases[pl.DataFrame], thresholds: pl.DataFrame
) -> bool:
    """Whether alarms and other cases are labelled at the same rate (Mantel and Haenszel 1959)."""
    is_called = (pl.col("score") >= pl.col("threshold")).fill_null(False)
    called, cases = is_called.sum().cast(pl.Float64), pl.len().cast(pl.Float64)
    drawn, present = (
        joined(one.rows, thresholds).group_by(one.keys).agg(called=called, cases=cases)
        for one in (labels, used)
    )
    both = drawn.join(present, on=labels.keys, nulls_equal=True, suffix="_in_use")
    size, total = pl.col("cases"), pl.col("cases_in_use")
    share = pl.col("called_in_use") / total
    unlabelled = (total - size).clip(0) / (total - 1).clip(1)
    difference, variance = both.select(
        (pl.col("called") - size * share).sum(), (size * share * (1 - share) * unlabelled).sum()
    ).row(0)
    # Counts are whole numbers: half a case is no difference.
    return bool(max(abs(difference) - 0.5, 0.0) <= normal(1 - NOT_RANDOM) * variance**0.5)
