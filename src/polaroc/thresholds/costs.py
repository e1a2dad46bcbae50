"""Cost curves and decision curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.checks import check_bool, check_share, refuse_unused, shares, unless
from polaroc.base.columns import (
    HAS_BOTH,
    collect_like,
    curve_keys,
    refuse_clash,
    with_level,
    within,
)
from polaroc.base.private_columns import SHARES, SOUGHT, private
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.curve import cases_or_curve, curves_of, like
from polaroc.curves.hull import hulls_of
from polaroc.curves.surface import at_priors
from polaroc.curves.whole import whole_curves
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.dependence import dependence, with_note
from polaroc.priors.grids import skew_at
from polaroc.priors.in_use import KnownPrior
from polaroc.thresholds.design_effects import EFFECTS, read_once, why_no_limits, with_effects
from polaroc.thresholds.rate_intervals import Calls, Costs, limits
from polaroc.typing import Array, Frame, Priors, Table

PROBABILITY_COST = "probability_cost"
LIMITS = ("lower", "upper", "note")
DECISIONS = ("prior", "threshold", "tpr", "fpr", "net_benefit", "treat_all", "note")
GIVEN = ("tpr", "fpr", "positives", "negatives", *EFFECTS, "prior", "threshold")
ENDS = dict.fromkeys(("lower", "upper"), pl.Float64())


def cost_curve(curve: Frame, probability_cost: int | Sequence[float] = 101) -> Frame:
    """The least normalised expected cost of each curve, for all priors and costs.

    Prior and costs act together through the probability cost
    x = πc₁/(πc₁ + (1−π)c₂), with c₁ the cost of a missed positive and c₂ that of
    a false alarm. A point of the ROC is the line (1−t)x + f(1−x); the least of
    all of them is the lower envelope, in the shape of the ROC hull.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    probability_cost
        Values from 0 to 1, or how many of them, evenly spaced, at least 2.

    Returns
    -------
    Frame of the kind given
        One row per key and value, sorted: the keys; `probability_cost`; `cost`,
        from 0 to 0.5; `threshold` (null for calling nothing positive), `tpr` and
        `fpr` of the point that reaches it; all Float64. Keys without positives,
        without negatives or with rows that cannot be ranked have no rows.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    Drummond and Holte (2006). Like `hull`, the plan holds a Python function.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(pr.cost_curve(curves, [0.5])["cost"].item(), 12)
    0.3
    """
    curves = whole_curves(curve)
    keys = curve_keys(curves)
    grid = _grid(probability_cost)
    x, t, f = pl.col(PROBABILITY_COST), pl.col("tpr"), pl.col("fpr")
    order = private("order")
    least = (
        hulls_of(curves)
        .filter(HAS_BOTH)
        .join(grid, how="cross")
        .with_columns(
            ((1 - t) * x + f * (1 - x)).alias("cost"), (pl.col("tp") + pl.col("fp")).alias(order)
        )
        .group_by(*keys, PROBABILITY_COST)
        .agg(pl.col("cost", "threshold", "tpr", "fpr").sort_by("cost", order).first())
        .sort(*keys, PROBABILITY_COST, nulls_last=True)
    )
    return collect_like(curve, least)


@frame_of_cases
def decision_curve(
    curve: Table | Cases[Any],
    thresholds: int | Sequence[float] = 100,
    priors: Priors = "observed",
    *,
    score_prior: float | Literal["observed"] | None = "observed",
    intervals: bool = False,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
    """Net benefit of acting on scores, read as probabilities, above each threshold.

    A probability that is calibrated at one prior is not at another. So scores are
    re-weighted to each prior before they are compared with a threshold: their odds
    are multiplied by π/(1−π) of that prior over that of `score_prior`, as in the rule
    "posterior" of `operating_points`.

    Parameters
    ----------
    curve
        The result of `curve`, of scores that are probabilities; or predictions, one row per case:
        any table that `cases` takes, or its result. Only with predictions do limits allow for the
        `cluster` and the `weight`.
    thresholds
        Threshold probabilities p with 0 ≤ p < 1, or how many of them, evenly
        spaced from 0.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or a prior grid.
        Where the own prior of a key is, up to rounding, another one of them, it counts once.
    score_prior
        The prior at which scores are right as they stand: a prior in (0, 1);
        ``"observed"``, each key's own; or None, every prior asked for, which leaves
        scores as they are.
    intervals
        Whether to give limits of the net benefit at each threshold.
    level
        Coverage of the limits, in (0, 1).
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        One row per key, prior and p, sorted: the keys; `prior`; `threshold` (p);
        `tpr`, `fpr` of calling positive where the re-weighted score is at least p;
        `net_benefit` = πt − (1−π)f·p/(1−p), in true positives per case;
        `treat_all`, that of calling all positive (calling none has 0); all Float64;
        `note` String, null, or that the scores of the key are not probabilities:
        then its rates and net benefit are null. With intervals also `lower`, `upper` and `level`
        Float64; `note` says where there are none, as of few clusters. Keys without positives,
        without negatives or with rows that cannot be ranked have no rows.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    Vickers and Elkin (2006). For case-control data with a given prevalence, dcurves
    takes scores as right in the population: `score_prior=None` does.

    Priors, the observed one too, are taken as known. Limits at each threshold are those of the cost
    of a threshold in `apply_thresholds`, of which the net benefit is a linear function
    (``just simulate rates_decisions``). Cases of a `cluster` count by their design effect, as in
    `apply_thresholds`.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.decision_curve(curves, [0.5]).select("tpr", "fpr").row(0)
    (0.6, 0.4)

    At 20 % positives a score of 0.8 on these balanced cases stands for even odds:

    >>> pr.decision_curve(curves, [0.5], priors=0.2).select("tpr", "fpr").row(0)
    (0.2, 0.0)

    How sure that is:

    >>> sure = pr.decision_curve(curves, [0.5], intervals=True)
    >>> sure.select(pl.col("net_benefit", "lower", "upper").round(2)).row(0)
    (0.1, -0.16, 0.32)
    """
    check_bool("intervals", intervals)
    if not intervals:
        refuse_unused("for intervals", "intervals is False", level=unless(0.95, level))
    check_share("level", level)
    given = cases_or_curve(curve, columns)
    given = read_once(given) if intervals else given
    cases = given if isinstance(given, Cases) else None
    curves = curves_of(given)
    keys = curve_keys(curves)
    requested = pl.LazyFrame({"threshold": shares("thresholds", thresholds, closed=False)})
    ranked, totals = _classes(curves, keys)
    thresholds_by_prior = at_priors(totals.join(requested, how="cross"), priors).with_columns(
        _raw_threshold(score_prior).alias(SOUGHT)
    )
    t, f, skewed, p = (pl.col(name) for name in ("tpr", "fpr", "skew", "threshold"))
    lack = pl.when(~pl.col(SHARES)).then(pl.lit("scores are not probabilities"))
    decided = (
        _rates_at_thresholds(ranked, thresholds_by_prior, keys)
        .with_columns(pl.when(SHARES).then(rate).alias(rate) for rate in ("tpr", "fpr"))
        .with_columns(
            rates.net_benefit(t, f, skewed, threshold=p).alias("net_benefit"),
            # In this form it is 0, not nearly 0, where the threshold is the prior.
            ((pl.col("prior") - p) / (1 - p)).alias("treat_all"),
            lack.alias("note"),
        )
    )
    order = (*keys, "prior", "threshold")
    if not intervals:
        return like(given, decided.select(*keys, *DECISIONS).sort(order, nulls_last=True))
    refuse_clash(keys, LIMITS)
    sampled = cases is not None and cases.weight is not None
    sure = with_benefit_limits(with_effects(decided, cases, keys), level, sampled=sampled)
    shown = [*keys, *(name for name in DECISIONS if name != "note"), *LIMITS]
    doubt = None if cases is None else dependence(cases)
    noted = with_note(sure.select(shown), doubt, pl.col("lower").is_not_null())
    return like(given, with_level(noted.sort(order, nulls_last=True), level))


def _grid(probability_cost: int | Sequence[float]) -> pl.LazyFrame:
    costs = shares("probability_cost", probability_cost)
    return pl.LazyFrame({PROBABILITY_COST: costs}, schema={PROBABILITY_COST: pl.Float64})


def _raw_threshold(score_prior: float | Literal["observed"] | None) -> pl.Expr:
    """The raw score whose probability is `threshold` at the prior."""
    p, skewed = pl.col("threshold"), pl.col("skew")
    if score_prior is None:
        return p
    odds_ratio = skewed / skew_at(
        score_prior, pl.col("positives"), pl.col("negatives"), "score_prior"
    )
    weighted = p * odds_ratio / (1 - p + p * odds_ratio)
    # A score that equals p up to rounding is called positive.
    return pl.when((odds_ratio - 1).abs() <= ROUNDING).then(p).otherwise(weighted * (1 - ROUNDING))


def _classes(curve: pl.LazyFrame, keys: Sequence[str]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Curves with both classes, and per key the totals and whether scores are from 0 to 1."""
    ranked = curve.filter(HAS_BOTH)
    lowest, highest = pl.col("threshold").min(), pl.col("threshold").max()
    totals = (
        ranked.group_by(keys)
        .agg(
            pl.col("positives", "negatives").max(),
            ((lowest >= 0) & (highest <= 1)).alias(SHARES),
        )
        .filter(pl.col("positives").is_not_null())
    )
    return ranked, totals


def _rates_at_thresholds(
    ranked: pl.LazyFrame, thresholds_by_prior: pl.LazyFrame, keys: Sequence[str]
) -> pl.LazyFrame:
    """The requested thresholds with the rates of calling positive from each on."""
    at, is_requested = pl.col("threshold").fill_null(float("inf")), pl.col(SHARES).is_not_null()
    points = ranked.select(*keys, "tpr", "fpr", at.alias(SOUGHT))
    last = within(pl.col("tpr", "fpr").forward_fill().fill_null(0.0), keys)
    # In descending order, the last point before a request has the least threshold not below it.
    return (
        pl.concat([points, thresholds_by_prior], how="diagonal")
        .sort(
            *keys, SOUGHT, is_requested, nulls_last=True, maintain_order=True,
            descending=[*[False] * len(keys), True, False],
        )
        .with_columns(last)
        .filter(is_requested)
    )  # fmt: skip


def with_benefit_limits(decided: pl.LazyFrame, level: float, *, sampled: bool) -> pl.LazyFrame:
    """Rates at thresholds, with the `EFFECTS` of their curve, with limits of the net benefit.

    A curve of fractional counts has limits only where its cases are `sampled`, with weights.
    """
    schema = decided.collect_schema()

    def computed(frame: pl.DataFrame) -> pl.DataFrame:
        distinct = frame.select(GIVEN).unique(maintain_order=True)
        of_curves = distinct.drop_nulls().partition_by(GIVEN[2:6], maintain_order=True)
        parts = [_with_limits(own, level, sampled=sampled) for own in of_curves]
        empty = distinct.clear().with_columns(
            *(pl.lit(None, kind).alias(name) for name, kind in ENDS.items()), why=pl.lit("")
        )
        found = frame.join(
            pl.concat([empty, *parts]),
            on=GIVEN,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return found.with_columns(joined_notes("note", "why")).drop("why")

    return decided.map_batches(computed, schema={**schema, **ENDS})


def _with_limits(rows: pl.DataFrame, level: float, *, sampled: bool) -> pl.DataFrame:
    """The rows of one curve with limits, and why they have none."""
    t, f, positives, negatives, *effects, prior, threshold = (rows[n].to_numpy() for n in GIVEN)
    counts = [_counts(t, positives[0]), _counts(f, negatives[0])]
    own = [float(effect[0]) for effect in effects]
    counted = sampled or rows.schema["positives"].is_integer()
    why = why_no_limits(own, counted=counted)
    lower, upper = np.full((2, rows.height), np.nan)
    if why is None:
        lower, upper = _limits(counts, own, prior, threshold / (1 - threshold), level)
    return rows.with_columns(
        pl.Series("lower", lower).fill_nan(None), pl.Series("upper", upper).fill_nan(None),
        why=pl.lit(why, pl.String),
    )  # fmt: skip


def _counts(rate: Array, total: float) -> Array:
    """The cases called at each threshold, and all of them."""
    counts = np.append(rate * total, total)
    nearest = counts.round()
    return np.where(np.isclose(counts, nearest, rtol=1e-9), nearest, counts)


def _limits(
    counts: Sequence[Array], effects: Sequence[float], prior: Array, odds: Array, level: float
) -> tuple[Array, Array]:
    # Up to a factor the net benefit is what cases of another prior cost less at equal costs.
    scale = prior + odds * (1 - prior)
    of_pos, of_neg = (
        Calls(own[:-1] / effect, own[:-1] / effect, np.full(len(prior), own[-1] / effect))
        for own, effect in zip(counts, effects, strict=True)
    )
    least, most = limits("cost", of_pos, of_neg, KnownPrior(prior / scale), level, Costs())
    return prior - scale * most, prior - scale * least
