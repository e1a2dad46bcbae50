"""The measures as aggregating expressions, for `agg`, `over` and `select`.

Each takes `truth` (a column name or expression, Boolean or 0/1), `score` and an
optional `weight`, gives one Float64 per group, and equals the function of the
same name. It is null where a class is absent, or where a truth, score or weight
is missing, unclear or out of range. The frame functions are faster on large
tables and say why an estimate is null.
"""

import polars as pl

from polaroc.areas import STARTS, segment_area, segment_auc
from polaroc.beliefs import Belief, resolve_belief
from polaroc.cells import Cells
from polaroc.columns import expression
from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors import OBSERVED, check_prior, check_range, skew
from polaroc.sensitivity import crossing, distance, ends_beyond
from polaroc.surfaces import RATES
from polaroc.trouble import GREATEST_WEIGHT
from polaroc.typing import Interpolation, IntoExpr, Prior, Start

INTERPOLATIONS = ("exact", "linear", "step")


def auc(truth: IntoExpr, score: IntoExpr, *, weight: IntoExpr | None = None) -> pl.Expr:
    """Area under the ROC curve, as `polaroc.auc`.

    Parameters
    ----------
    truth, score, weight
        Columns or expressions; see the module.

    Returns
    -------
    Expr
        One Float64 from 0 to 1, or null.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> round(table.select(pr.expr.auc("truth", "score")).item(), 12)
    0.68
    """
    cells, sound = _cells(truth, score, weight)
    return _where(sound, segment_auc(cells).sum(), "auc")


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
        As in `polaroc.auprec`.

    Returns
    -------
    Expr
        One Float64 from 0 to 1, or null.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> area = pr.expr.auprec("truth", "score", interpolation="linear", start="drop")
    >>> round(table.select(area).item(), 6)
    0.619124
    """
    _check_choices(interpolation, start)
    cells, sound = _cells(truth, score, weight)
    skewed = _skew(prior, cells.positives, cells.negatives)
    return _where(sound, segment_area(skewed, interpolation, start, cells=cells).sum(), "auprec")


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
        One Float64 from 0 to 1, or null.

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
    interpolation, start
        As in `auprec`.

    Returns
    -------
    Expr
        One Float64 from 0 to 1, or null.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> round(table.select(pr.expr.iauprec("truth", "score", (0.05, 0.20))).item(), 2)
    0.38
    """
    _check_choices(interpolation, start)
    belief = resolve_belief(over)
    cells, sound = _cells(truth, score, weight)
    return _where(sound, _mean_area(cells, belief, interpolation, start), "iauprec")


def _mean_area(cells: Cells, belief: Belief, interpolation: Interpolation, start: Start) -> pl.Expr:
    """AUPREC under a belief: every cell once per node, so that the cells are made once only."""
    count = len(belief.skews)
    numbers = list(range(count))
    first = cells.tp.is_null().cast(pl.Int64) * 0
    node = pl.int_ranges(first, first + count).explode()
    pos, neg, tp, fp = (
        part.repeat_by(count).explode() for part in (cells.pos, cells.neg, cells.tp, cells.fp)
    )
    skewed, share = (
        node.replace_strict(numbers, list(values), return_dtype=pl.Float64)
        for values in (belief.skews, belief.weights)
    )
    repeated = Cells(pos, neg, tp, fp, cells.positives, cells.negatives)
    area: pl.Expr = share * segment_area(skewed, interpolation, start, cells=repeated)
    return area.sum()


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
        Priors (lo, hi).

    Returns
    -------
    Expr
        One Float64 from 0 to 1, or null.

    Examples
    --------
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "score": [0.5, 0.5]})
    >>> round(guess.select(pr.expr.sens("truth", "score", (0.1, 0.9))).item(), 12)
    0.8
    """
    check_range(*over)
    cells, sound = _cells(truth, score, weight)
    names = [[f"{i}_{end}" for end in range(4)] for i in range(2)]
    ends = [
        end.min().alias(name)
        for prior, own in zip(over, names, strict=True)
        for name, end in zip(own, ends_beyond(prior, cells), strict=True)
    ]
    # As fields the ends are made once each, not wherever the formula has them:
    # the streaming engine took many seconds to plan that.
    low, high = (
        crossing(prior, *map(pl.field, own)) for prior, own in zip(over, names, strict=True)
    )
    moved = pl.struct(ends).struct.with_fields(distance(low, high).alias("sens"))
    return _where(sound, moved.struct.field("sens"), "sens")


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
        A number.
    prior
        In (0, 1), or ``"observed"`` for the group's own.

    Returns
    -------
    Expr
        One Float64, null also where the rate is undefined.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> table.select(pr.expr.rate("recall", "truth", "score", 0.5)).item()
    0.6
    """
    if name not in RATES:
        raise InvalidArgument(
            f"there is no rate {name!r}; there are {', '.join(RATES)}.", hint="choose one of them."
        )
    value, pos, neg, sound = _read(truth, score, weight)
    positives, negatives = pos.sum(), neg.sum()
    called = value >= threshold
    t, f = pos.filter(called).sum() / positives, neg.filter(called).sum() / negatives
    skewed = _skew(prior, positives, negatives)
    both = sound & (positives > 0) & (negatives > 0)
    return _where(both, RATES[name](t, f, skewed), name)


def _read(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Score, positives and negatives of each case, and whether all cases of the group are sound."""
    value = expression(score).cast(pl.Float64)
    label = expression(truth).cast(pl.Int64)
    counted = pl.lit(1, pl.Int64) if weight is None else expression(weight).cast(pl.Float64)
    clear = value.is_not_nan() & ((label == 0) | (label == 1))
    if weight is not None:
        clear = clear & counted.is_between(0, GREATEST_WEIGHT)
    return value, label * counted, (1 - label) * counted, clear.fill_null(False).all()


def _cells(truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None) -> tuple[Cells, pl.Expr]:
    """The cells with positives of each group, and whether its measures are defined."""
    value, pos, neg, sound = _read(truth, score, weight)
    tp, fp = (counts.sort_by(value, descending=True).cum_sum() for counts in (pos, neg))
    ranked = value.sort(descending=True)
    last = (ranked != ranked.shift(-1)).fill_null(True)
    ends = [counts.filter(last) for counts in (tp, fp)]
    rises = [end - end.shift(1, fill_value=0) for end in ends]
    kept = rises[0] > 0
    positives, negatives = tp.last(), fp.last()
    pos, neg, tp, fp = (part.filter(kept) for part in (*rises, *ends))
    cells = Cells(pos, neg, tp, fp, positives, negatives)
    return cells, sound & (positives > 0) & (negatives > 0)


def _skew(prior: Prior, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    if prior == OBSERVED:
        return negatives / positives
    check_prior(prior)
    return pl.lit(skew(float(prior)))


def _where(sound: pl.Expr, value: pl.Expr, name: str) -> pl.Expr:
    return pl.when(sound).then(value.fill_nan(None)).alias(name)


def _check_choices(interpolation: str, start: str) -> None:
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("start", start, STARTS)
