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

from math import isnan, nan

import numpy as np
import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.columns import PRIVATE, column_name
from polaroc.curves.hull import hull_vertices
from polaroc.curves.segments import segment_columns
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES, RATES
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures.areas import STARTS
from polaroc.measures.catalog import select_measures
from polaroc.predictions.row_checks import MAX_WEIGHT
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import check_prior, reweighted, skew_at
from polaroc.typing import Interpolation, IntoExpr, Prior, Start

# Fields of the rows of a curve: the score in its own type, and whether a row ends a segment.
SCORE, END, ESTIMATE = (PRIVATE + name for name in ("score", "end", "estimate"))


def measure(
    name: str,
    truth: IntoExpr,
    score: IntoExpr,
    *,
    prior: Prior = "observed",
    over: Over | None = None,
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
    prior
        In (0, 1), or ``"observed"`` for the group's own.
    over
        The range (lo, hi) of priors, or the belief, if the measure is taken over one.
    interpolation, score_prior
        As in `polaroc.evaluate`.
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

    Notes
    -----
    The calibration loss, the refinement loss and interpolation ``"hull"`` need the hull: their
    expressions hold a Python function.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> error = pr.expr.measure("equal_error", "truth", "score")
    >>> round(table.select(error).item(), 12)
    0.4
    """
    check_prior(prior, allow_observed=True)
    check_choice("start", start, STARTS)
    (built,) = select_measures(
        [name], prior, over, interpolation, start=start, score_prior=score_prior, column=pl.field
    )
    case_score, pos, neg, valid = _cases(truth, score, weight)
    rows = _curve(case_score, pos, neg)
    if built.score_sums:
        rows = rows.struct.with_fields(**_sums(built.score_sums))
    if built.hull_sums:
        rows = _joined(rows, rows.map_batches(_is_vertex, return_dtype=pl.Boolean))
    rows = rows.struct.with_fields(**segment_columns(pl.field))
    least = {column: value.min() for column, value in built.least.items()}
    rows = rows.struct.with_fields(**_sums(built.sums | built.hull_sums), **least)
    rows = rows.struct.with_fields(**{ESTIMATE: built.estimate})
    # The streaming engine cannot take the first of a field itself.
    estimate = rows.struct.field(ESTIMATE).implode().list.first()
    return _where(valid & (pos.sum() > 0) & (neg.sum() > 0), estimate, name)


def auc(truth: IntoExpr, score: IntoExpr, *, weight: IntoExpr | None = None) -> pl.Expr:
    """Area under the ROC curve, as `polaroc.auc`.

    Parameters
    ----------
    truth, score, weight
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, or null.

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
    truth, score, prior, interpolation, start, weight
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, or null.

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
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, or null.

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
    over: Over,
    *,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    weight: IntoExpr | None = None,
) -> pl.Expr:
    """AUPREC averaged over a range of priors or under a belief, as `polaroc.iauprec`.

    Parameters
    ----------
    truth, score, over, interpolation, start, weight
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, or null.

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
    truth, score, over, weight
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, or null.

    Examples
    --------
    >>> import polars as pl
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
        As in `measure`.
    threshold
        A number, also ±inf.
    prior
        As in `measure`.

    Returns
    -------
    Expr
        One Float64, null also where the rate is undefined. Recall and fnr need positives only,
        specificity and tnr negatives only.

    Raises
    ------
    InvalidArgument
        For a name, threshold or prior outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> table.select(pr.expr.rate("recall", "truth", "score", 0.5)).item()
    0.6
    """
    check_choice("name", name, tuple(RATES))
    limit = float(threshold) if is_number(threshold) else nan
    if isnan(limit) or (isinstance(threshold, int) and limit != threshold):
        raise InvalidArgument(
            f"threshold is {threshold!r}, allowed are numbers that fit a 64-bit float.",
            hint="for example threshold=0.5; cases with score ≥ threshold are called positive.",
        )
    case_score, pos, neg, valid = _cases(truth, score, weight)
    positives, negatives = pos.sum(), neg.sum()
    called = case_score >= limit
    t, f = pos.filter(called).sum() / positives, neg.filter(called).sum() / negatives
    value = RATES[name](t, f, skew_at(prior, positives, negatives, "prior"))
    if name not in OF_NEGATIVES:
        valid &= positives > 0
    if name not in OF_POSITIVES:
        valid &= negatives > 0
    # A score too long for a float may be the threshold only once it is rounded to one.
    rounded = case_score.cast(pl.Float64)
    exact, inexact = (number.cast(pl.Int128, strict=False) for number in (case_score, rounded))
    unclear = ((rounded == limit) & exact.ne_missing(inexact)).fill_null(False).any()
    return _where(valid & ~unclear, value, name)


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
    value = _column(score, "score")
    valid = value.is_between(0, 1)
    for argument, given in (("prior", prior), ("to", to)):
        if isinstance(given, pl.Expr):
            valid &= given.is_between(0, 1, "none")
        else:
            check_prior(given, argument)
    return pl.when(valid).then(reweighted(value, (1 - prior) / prior, (1 - to) / to))


def _cases(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """The score of each case, its weight as a positive and as a negative; and if all are valid.

    The score keeps its type, since a cast could make unequal scores tie. Polars refuses a plan
    with columns that are no numbers: only numbers and nulls have a common supertype with Decimal
    on which `sign` is defined, and with Int8 only these and Booleans.
    """
    value, label = _column(score, "score"), _column(truth, "truth")
    typed = [(value, pl.Decimal(38, 0)), (label, pl.Int8())]
    count = pl.lit(1, pl.Int64)
    is_valid = ((label == 1) | (label == 0)) & value.cast(pl.Float64).is_not_nan()
    if weight is not None:
        given = _column(weight, "weight")
        typed.append((given, pl.Decimal(38, 0)))
        count = given.cast(pl.Float64)
        is_valid &= count.is_between(0, MAX_WEIGHT)
    signs = [pl.coalesce(column, pl.lit(None, kind)).sign().is_null() for column, kind in typed]
    # An expression cannot ask for its type: this branch is type-checked but never computed.
    is_valid &= pl.when(pl.lit(False)).then(pl.all_horizontal(signs)).otherwise(True)
    pos, neg = (pl.when(is_valid & (label == of)).then(count).otherwise(0) for of in (1, 0))
    return value, pos, neg, is_valid.fill_null(False).all()


def _curve(score: pl.Expr, pos: pl.Expr, neg: pl.Expr) -> pl.Expr:
    """The curve of each group as structs, one per case, best score first.

    Polars computes a field of a struct once, and an expression anew wherever it is used.
    """
    cases = pl.struct(score.alias(SCORE), pos=pos, neg=neg)
    tp, fp = pl.field("pos").cum_sum(), pl.field("neg").cum_sum()
    rows = cases.sort_by(score, descending=True).struct.with_fields(
        tp=tp, fp=fp, positives=tp.last(), negatives=fp.last(),
        threshold=pl.field(SCORE).cast(pl.Float64),
    )  # fmt: skip
    return _joined(rows, pl.field(SCORE) != pl.field(SCORE).shift(-1))


def _joined(rows: pl.Expr, ends: pl.Expr) -> pl.Expr:
    """The rows of curves joined to segments: rows at `ends` have their counts, others have zero."""
    counts = {}
    for name, total in (("pos", "tp"), ("neg", "fp")):
        reached = pl.when(pl.field(END)).then(pl.field(total))
        counts[name] = (reached - reached.shift(1).forward_fill().fill_null(0)).fill_null(0)
    return rows.struct.with_fields(**{END: ends.fill_null(True)}).struct.with_fields(**counts)


def _is_vertex(rows: pl.Series) -> pl.Series:
    """Whether a row of a curve is a vertex of its hull."""
    cells = np.flatnonzero(rows.struct.field(END))
    tp, fp = (np.append(0, rows.struct.field(name).to_numpy()[cells]) for name in ("tp", "fp"))
    is_vertex = np.zeros(len(rows), bool)
    is_vertex[cells[hull_vertices(fp, tp)[1:] - 1]] = True
    return pl.Series(is_vertex)


def _sums(terms: dict[str, pl.Expr]) -> dict[str, pl.Expr]:
    return {column: term.sum() for column, term in terms.items()}


def _where(defined: pl.Expr, value: pl.Expr, name: str) -> pl.Expr:
    return pl.when(defined).then(value.fill_nan(None)).alias(name)


def _column(value: IntoExpr, argument: str) -> pl.Expr:
    return value if isinstance(value, pl.Expr) else pl.col(column_name(value, argument))
