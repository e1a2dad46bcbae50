"""Cost curves and decision curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_bool, check_share, shares
from polaroc.base.columns import HAS_BOTH, collect_like, curve_keys, private, with_level, within
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.curve import cases_or_curve, curves_of, like
from polaroc.curves.hull import hulls_of
from polaroc.curves.surface import at_priors
from polaroc.curves.whole import whole_curves
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.priors.grids import reweighted, skew_at
from polaroc.thresholds.rate_limits import COUNTS, notes_on_limits, read_once, with_limits
from polaroc.typing import Frame, Priors, Table

PROBABILITY_COST = "probability_cost"
DECISIONS = ("prior", "threshold", "tpr", "fpr", "net_benefit", "treat_all", "note")
# Whether the scores of a key are from 0 to 1, and the score at which a positive call pays.
ARE_SHARES, SOUGHT = private("shares"), private("sought")


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
    grid = pl.LazyFrame({PROBABILITY_COST: shares("probability_cost", probability_cost)})
    x, t, f = pl.col(PROBABILITY_COST), pl.col("tpr"), pl.col("fpr")
    cost, called = (1 - t) * x + f * (1 - x), pl.col("tp") + pl.col("fp")
    least = (
        hulls_of(curves)
        .filter(HAS_BOTH)
        .join(grid.cast(pl.Float64), how="cross")
        .with_columns(cost=cost)
        .group_by(*keys, PROBABILITY_COST)
        .agg(pl.col("cost", "threshold", "tpr", "fpr").sort_by("cost", called).first())
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
    (0.1, -0.16, 0.31)
    """
    check_bool("intervals", intervals)
    check_share("level", level)
    given = cases_or_curve(curve, columns)
    given = read_once(given) if intervals else given
    curves = curves_of(given)
    keys = curve_keys(curves)
    requested = pl.LazyFrame({"threshold": shares("thresholds", thresholds, closed=False)})
    ranked, scores = curves.filter(HAS_BOTH), pl.col("threshold")
    totals = (
        ranked.group_by(keys)
        .agg(
            pl.col("positives", "negatives").max(),
            ((scores.min() >= 0) & (scores.max() <= 1)).alias(ARE_SHARES),
        )
        # Without keys there is a row even if no curve has both classes.
        .filter(pl.col("positives").is_not_null())
    )
    sought = at_priors(totals.join(requested, how="cross"), priors).with_columns(
        _raw_threshold(score_prior).alias(SOUGHT)
    )
    t, f, skewed, p = (pl.col(name) for name in ("tpr", "fpr", "skew", "threshold"))
    decided = (
        _rates_at_thresholds(ranked, sought, keys)
        .with_columns(pl.when(ARE_SHARES).then(pl.col("tpr", "fpr")))
        .with_columns(
            net_benefit=rates.net_benefit(t, f, skewed, threshold=p),
            # In this form it is 0, not nearly 0, where the threshold is the prior.
            treat_all=(pl.col("prior") - p) / (1 - p),
            note=pl.when(~pl.col(ARE_SHARES)).then(pl.lit("scores are not probabilities")),
        )
    )
    shown = [*keys, *DECISIONS]
    if intervals:
        cases = given if isinstance(given, Cases) else None
        decided = _with_limits(decided, cases, keys, level)
        shown[-1:] = ["lower", "upper", "note"]
    result = decided.select(shown).sort(*keys, "prior", "threshold", nulls_last=True)
    return like(given, with_level(result, level) if intervals else result)


def _raw_threshold(score_prior: float | Literal["observed"] | None) -> pl.Expr:
    """The raw score whose probability is `threshold` at the prior."""
    p, skewed = pl.col("threshold"), pl.col("skew")
    if score_prior is None:
        return p
    right_at = skew_at(score_prior, pl.col("positives"), pl.col("negatives"), "score_prior")
    # A score that equals p up to rounding is called positive.
    raw = reweighted(p, skewed, right_at) * (1 - ROUNDING)
    return pl.when((skewed / right_at - 1).abs() <= ROUNDING).then(p).otherwise(raw)


def _rates_at_thresholds(
    ranked: pl.LazyFrame, sought: pl.LazyFrame, keys: Sequence[str]
) -> pl.LazyFrame:
    """The requested thresholds with the rates of calling positive from each on."""
    at, is_requested = pl.col("threshold").fill_null(float("inf")), pl.col(ARE_SHARES).is_not_null()
    points = ranked.select(*keys, "tpr", "fpr", at.alias(SOUGHT))
    last = within(pl.col("tpr", "fpr").forward_fill().fill_null(0.0), keys)
    # In descending order, the last point before a request has the least threshold not below it.
    return (
        pl.concat([points, sought], how="diagonal")
        .sort(
            *keys, SOUGHT, is_requested, nulls_last=True, maintain_order=True,
            descending=[*[False] * len(keys), True, False],
        )
        .with_columns(last)
        .filter(is_requested)
    )  # fmt: skip


def _with_limits(
    decided: pl.LazyFrame, cases: Cases[Any] | None, keys: Sequence[str], level: float
) -> pl.LazyFrame:
    """Limits of the net benefit: the prior less those of the cost, with false alarms at p/(1 − p).

    Sums of weights in a curve are no numbers of cases, and have none.
    """
    prior, p = pl.col("prior"), pl.col("threshold")
    are_sums = cases is None and not decided.collect_schema()["positives"].is_integer()
    called = ((pl.col("tpr") * pl.col("positives")), (pl.col("fpr") * pl.col("negatives")))
    rows = decided.with_columns(
        pl.when(not are_sums).then(one.round(9)).alias(name)
        for name, one in zip(COUNTS, called, strict=True)
    ).with_columns(prior_lower=prior, prior_upper=prior)
    rows = with_limits(rows, cases, keys, ["cost"], level, cost_fp=p / (1 - p))
    no_counts = pl.when(are_sums).then(pl.lit("weights are not counts of cases: no interval"))
    return rows.with_columns(
        joined_notes(
            "note", no_counts, *notes_on_limits(cases, pl.col("cost_lower").is_not_null())
        ),
        lower=prior - pl.col("cost_upper"),
        upper=prior - pl.col("cost_lower"),
    )
