"""The measures as aggregating expressions, for `agg`, `over` and `select`.

Each takes `truth` (a column name or expression, Boolean or 0/1), `score` (numbers)
and an optional `weight`, gives one Float64 per group, and equals the function of
the same name. It is null where a class is absent, or where a truth, score or weight
is missing, unclear or out of range; a truth is unclear where it is neither 0 nor 1,
such as 0.9. Polars refuses a plan in which one of them is of another type: "could
not determine supertype", or "`sign` operation not supported". The frame functions are
faster on large tables and say why an estimate is null.
"""

from __future__ import annotations

from functools import partial
from math import inf, isnan, nan

import polars as pl

from polaroc.base.checks import is_number
from polaroc.curves.hull import hull_vertices
from polaroc.curves.in_groups import (
    FIELDS,
    RAW_SCORE,
    cases,
    column,
    group_constant,
    group_curve,
    group_sum,
    with_fields,
)
from polaroc.curves.segments import CELLS, segment_columns
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES, RATES
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures.areas import STARTS
from polaroc.measures.catalog import select_measures
from polaroc.measures.spec import ingredients
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED, check_prior, reweighted, skew_at
from polaroc.typing import Interpolation, IntoExpr, Prior, Start

INTERPOLATIONS = ("exact", "linear", "step")


def measure(
    name: str,
    truth: IntoExpr,
    score: IntoExpr,
    *,
    prior: Prior = "observed",
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    score_prior: Prior = "observed",
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """Any measure of `polaroc.evaluate`, by its name.

    Parameters
    ----------
    name
        The name of a measure, such as "equal_error".
    truth, score, weight
        Columns or expressions; see the module.
    prior, over
        The prior, and the range of priors or the belief, that the measure is taken
        at and over, where it needs them.
    interpolation
        ``"exact"``, ``"linear"`` or ``"step"``; the hull needs `polaroc.hull`.
    start
        Precision at recall 0: the ``"limit"`` along the first segment,
        ``"one"``, ``"zero"``; or ``"drop"``, which leaves the first segment
        out. The first three differ under linear interpolation only.
    score_prior
        As in `polaroc.evaluate`.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Notes
    -----
    The calibration loss and the refinement loss need the hull: their expressions hold a
    Python function.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> error = pr.expr.measure("equal_error", "truth", "score")
    >>> round(table.select(error).item(), 12)
    0.4
    """
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("start", start, STARTS)
    if prior != OBSERVED:
        check_prior(prior)
    selected = select_measures([name], prior, over, interpolation, FIELDS, start, score_prior)
    (built,) = selected.measures
    rows, defined = group_curve(truth, score, weight)
    if built.every_cell:
        rows = with_fields(rows, pl.field(RAW_SCORE).cast(pl.Float64).alias(SCORE))
    if built.hull_sums:
        rows = with_fields(rows, *_hull_sums(rows, name, prior, over))
    columns, sums, least = ingredients([built])
    if columns:
        rows = with_fields(rows, *(value.alias(own) for own, value in columns.items()))
    for own, value in sums.items():
        # A sum over rows takes less time than one that each row of the group has.
        if built.estimate.meta.eq(pl.field(own)):
            return _where(defined, group_sum(rows, value), name)
    rows = with_fields(
        rows,
        *(value.sum().alias(own) for own, value in sums.items()),
        *(value.min().alias(own) for own, value in least.items()),
    )
    return _where(defined, group_constant(rows, built.estimate), name)


def _hull_sums(
    rows: pl.Expr, name: str, prior: Prior, over: tuple[float, float] | Belief | None
) -> list[pl.Expr]:
    """The sums of a measure over the hull of each group's curve."""
    (of_table,) = select_measures([name], prior, over, "exact").on_hull
    return [
        rows.map_batches(
            partial(_hull_sum, value=value), return_dtype=pl.Float64, returns_scalar=True
        ).alias(own)
        for own, value in of_table.sums.items()
    ]


def _hull_sum(rows: pl.Series, value: pl.Expr) -> float | None:
    """The sum of a quantity over the segments of the hull of a curve."""
    curve = rows.struct.unnest()
    # A group with a weight that is missing or out of range may fall, and has no hull.
    rises = pl.col("pos", "neg").is_between(0, inf, closed="left").fill_null(False)
    cells = curve.filter((pl.col("pos") > 0) | (pl.col("neg") > 0))
    if not curve.select(pl.all_horizontal(rises).all()).item() or cells.is_empty():
        return None
    if not cells["positives"][0] or not cells["negatives"][0]:
        return None
    start = cells[:1].with_columns(pl.col("pos", "neg", "tp", "fp") * 0)
    table = pl.concat([start, cells])
    vertices = table[hull_vertices(table["fp"].to_numpy(), table["tp"].to_numpy())]
    segments = vertices.with_columns(
        pl.col("tp").diff().alias("pos"), pl.col("fp").diff().alias("neg")
    )
    sum_: float = segments[1:].with_columns(**segment_columns(CELLS)).select(value.sum()).item()
    return sum_


def auc(truth: IntoExpr, score: IntoExpr, *, weight: IntoExpr | None = None) -> pl.Expr:
    """Area under the ROC curve, as `polaroc.auc`.

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> round(table.select(pr.expr.auc("truth", "score")).item(), 12)
    0.68
    """
    return measure("auc", truth, score, weight=weight)


def auprec(
    truth: IntoExpr,
    score: IntoExpr,
    prior: Prior = "observed",
    *,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """Area under the precision-recall curve at a prior, as `polaroc.auprec`.

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.
    prior
        In (0, 1), or ``"observed"`` for the group's own.
    interpolation
        ``"exact"``, ``"linear"`` or ``"step"``; the hull needs `polaroc.hull`.
    start
        Precision at recall 0: the ``"limit"`` along the first segment,
        ``"one"``, ``"zero"``; or ``"drop"``, which leaves the first segment
        out. The first three differ under linear interpolation only.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> area = pr.expr.auprec("truth", "score", interpolation="linear", start="drop")
    >>> round(table.select(area).item(), 6)
    0.619124
    """
    return measure(
        "auprec", truth, score, prior=prior, interpolation=interpolation, start=start,
        weight=weight,
    )  # fmt: skip


def average_precision(
    truth: IntoExpr, score: IntoExpr, *, weight: IntoExpr | None = None
) -> pl.Expr:
    """Average precision at the observed prior: `auprec` with interpolation "step".

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> round(table.select(pr.expr.average_precision("truth", "score")).item(), 4)
    0.7357
    """
    area = auprec(truth, score, interpolation="step", weight=weight)
    return area.alias("average_precision")


def iauprec(
    truth: IntoExpr,
    score: IntoExpr,
    over: tuple[float, float] | Belief,
    *,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """AUPREC averaged over a range of priors or under a belief, as `polaroc.iauprec`.

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.
    over
        Priors (lo, hi), or a belief.
    interpolation
        ``"exact"``, ``"linear"`` or ``"step"``; the hull needs `polaroc.hull`.
    start
        Precision at recall 0: the ``"limit"`` along the first segment,
        ``"one"``, ``"zero"``; or ``"drop"``, which leaves the first segment
        out. The first three differ under linear interpolation only.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> round(table.select(pr.expr.iauprec("truth", "score", (0.05, 0.20))).item(), 2)
    0.38
    """
    return measure(
        "iauprec", truth, score, over=over, interpolation=interpolation, start=start,
        weight=weight,
    )  # fmt: skip


def sens(
    truth: IntoExpr,
    score: IntoExpr,
    over: tuple[float, float],
    *,
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """How far the balanced operating point moves over a range of priors, as `polaroc.sens`.

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.
    over
        Priors (lo, hi), or a belief.

    Returns
    -------
    Expr
        One Float64, or null.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "score": [0.5, 0.5]})
    >>> round(guess.select(pr.expr.sens("truth", "score", (0.1, 0.9))).item(), 12)
    0.8
    """
    return measure("sens", truth, score, over=over, weight=weight)


def rate(
    name: str,
    truth: IntoExpr,
    score: IntoExpr,
    threshold: float,
    prior: Prior = "observed",
    *,
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """A rate of the confusion matrix where cases with score ≥ threshold are called positive.

    Parameters
    ----------
    name
        One of the rates in `polaroc.rates`, such as "precision" or "recall".
    truth, score, weight
        Columns or expressions; see the module.
    threshold
        A number, also ±inf.
    prior
        In (0, 1), or ``"observed"`` for the group's own.

    Returns
    -------
    Expr
        One Float64, null also where the rate is undefined. Recall and fnr need positives only,
        specificity and tnr negatives only.

    Raises
    ------
    InvalidArgument
        For a prior, a range or a choice outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> table.select(pr.expr.rate("recall", "truth", "score", 0.5)).item()
    0.6
    """
    check_choice("name", name, tuple(RATES))
    limit = _threshold(threshold)
    group = cases(truth, score, weight)
    positives, negatives = group.pos.sum(), group.neg.sum()
    called = group.score >= limit
    t, f = group.pos.filter(called).sum() / positives, group.neg.filter(called).sum() / negatives
    skewed = skew_at(prior, positives, negatives, "prior")
    has_class = (name in OF_NEGATIVES) | (positives > 0), (name in OF_POSITIVES) | (negatives > 0)
    defined = group.valid & has_class[0] & has_class[1] & ~_rounded_to(limit, group.score).any()
    return _where(defined, RATES[name](t, f, skewed), name)


def _threshold(value: object) -> float:
    """The threshold as a float, refused where it is none."""
    number = float(value) if is_number(value) and not isinstance(value, bool) else nan
    if isnan(number) or (isinstance(value, int) and number != value):
        raise InvalidArgument(
            f"threshold is {value!r}, allowed are numbers that fit a 64-bit float.",
            hint="for example threshold=0.5; cases with score ≥ threshold are called positive.",
        )
    return number


def _rounded_to(limit: float, score: pl.Expr) -> pl.Expr:
    """Where a score, too long for a float, is the threshold only once it is rounded to one."""
    rounded = score.cast(pl.Float64)
    same = [number.cast(pl.Int128, strict=False) for number in (score, rounded)]
    return ((rounded == limit) & same[0].ne_missing(same[1])).fill_null(False)


def _where(defined: pl.Expr, value: pl.Expr, name: str) -> pl.Expr:
    return pl.when(defined).then(value.fill_nan(None)).alias(name)


def at_prior(score: IntoExpr, *, prior: float | pl.Expr, to: float | pl.Expr) -> pl.Expr:
    """A probability that was right at one prior, at another.

    Its odds are multiplied by the odds of the new prior over those of the old one (Saerens,
    Latinne and Decaestecker 2002). That is right where only the prior differs: positives look
    as they did, and so do negatives.

    Parameters
    ----------
    score
        A column or expression of probabilities, from 0 to 1.
    prior
        The share of positives, in (0, 1), where they are right, such as that of a
        balanced training set; or an expression, of which only values in (0, 1) count.
    to
        The share of positives where they are to be used, likewise.

    Returns
    -------
    Expr
        One Float64 per row, from 0 to 1; null for scores outside 0 to 1 and priors
        outside (0, 1). Scores of 0 and 1 stay as they are.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"p": [0.5, 0.9]})
    >>> table.select(pr.expr.at_prior("p", prior=0.5, to=0.01).round(4))["p"].to_list()
    [0.01, 0.0833]
    """
    value = column(score, "score")
    old, new = (_prior_expression(*one) for one in (("prior", prior), ("to", to)))
    valid = (
        (value >= 0) & (value <= 1) & old.is_between(0, 1, "none") & new.is_between(0, 1, "none")
    )
    return pl.when(valid).then(reweighted(value, (1 - old) / old, (1 - new) / new))


def _prior_expression(argument: str, value: object) -> pl.Expr:
    if isinstance(value, pl.Expr):
        return value
    check_prior(value, argument)
    return pl.lit(float(value))  # type: ignore[arg-type]
