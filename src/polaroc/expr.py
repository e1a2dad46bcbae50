"""The measures as aggregating expressions, for `agg`, `over` and `select`.

Each takes `truth` (a column name or expression, Boolean or 0/1), `score` and an
optional `weight`, gives one Float64 per group, and equals the function of the
same name. It is null where a class is absent, or where a truth, score or weight
is missing, unclear or out of range. The frame functions are faster on large
tables and say why an estimate is null.
"""

import polars as pl

from polaroc.area_measures import STARTS, segment_area, segment_auc
from polaroc.balanced_points import crossing, distance, ends_beyond
from polaroc.beliefs import Belief, resolve_belief
from polaroc.cells import counted, held, segment_columns
from polaroc.columns import PRIVATE, expression
from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors import OBSERVED, check_prior, check_range, skew
from polaroc.surfaces import RATES
from polaroc.trouble import GREATEST_WEIGHT
from polaroc.typing import Interpolation, IntoExpr, Prior, Start

INTERPOLATIONS = ("exact", "linear", "step")
# A group's rows, best score first, are a struct: what is a field of it is computed
# once, and not anew wherever a formula has it.
SCORE, LAST, VALUE = (PRIVATE + name for name in ("score", "last", "value"))
COUNTS, SEGMENTS = counted(pl.field), held(pl.field)


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
    rows, defined = _curve(truth, score, weight)
    return _where(defined, _summed(rows, segment_auc(SEGMENTS)), "auc")


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
    rows, defined = _curve(truth, score, weight)
    skewed = _skew(prior, COUNTS.positives, COUNTS.negatives)
    area = segment_area(skewed, interpolation, start, cells=SEGMENTS)
    return _where(defined, _summed(rows, area), "auprec")


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
    rows, defined = _curve(truth, score, weight)
    area = sum(
        (
            weight * segment_area(pl.lit(skewed), interpolation, start, cells=SEGMENTS)
            for skewed, weight in zip(belief.skews, belief.weights, strict=True)
        ),
        start=pl.lit(0.0),
    )
    return _where(defined, _summed(rows, area), "iauprec")


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
    rows, defined = _curve(truth, score, weight)
    names = [[f"{i}_{end}" for end in range(4)] for i in range(2)]
    ends = [
        end.min().alias(name)
        for prior, own in zip(over, names, strict=True)
        for name, end in zip(own, ends_beyond(prior, SEGMENTS), strict=True)
    ]
    low, high = (
        crossing(prior, *map(pl.field, own)) for prior, own in zip(over, names, strict=True)
    )
    moved = _with(_with(rows, *ends), distance(low, high).alias(VALUE))
    return _where(defined, _values(moved).list.first(), "sens")


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


def _curve(truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None) -> tuple[pl.Expr, pl.Expr]:
    """The rows of each group as a struct with `COUNTS`, `SEGMENTS`; whether measures are defined.

    Only the last row of a tie has positives: those of the tie.
    """
    value, pos, neg, sound = _read(truth, score, weight)
    rows = pl.struct(value.alias(SCORE), pos.alias("pos"), neg.alias("neg"))
    ranked = _with(
        rows.sort_by(value, descending=True),
        pl.field("pos").cum_sum().alias("tp"),
        pl.field("neg").cum_sum().alias("fp"),
        (pl.field(SCORE) != pl.field(SCORE).shift(-1)).fill_null(True).alias(LAST),
    )
    tied = _with(
        ranked,
        _risen("tp").alias("pos"),
        _risen("fp").alias("neg"),
        pl.field("tp").last().alias("positives"),
        pl.field("fp").last().alias("negatives"),
    )
    segments = _with(tied, *(end.alias(name) for name, end in segment_columns(COUNTS).items()))
    return segments, sound & (pos.sum() > 0) & (neg.sum() > 0)


def _risen(total: str) -> pl.Expr:
    """What a total rose by since the last row of the tie before."""
    so_far = pl.field(total)
    before = pl.when(pl.field(LAST)).then(so_far).shift(1).forward_fill().fill_null(0)
    return pl.when(pl.field(LAST)).then(so_far - before).otherwise(0)


def _summed(rows: pl.Expr, area: pl.Expr) -> pl.Expr:
    """The sum of an area over the segments that have positives."""
    return _values(_with(rows, area.alias(VALUE))).list.sum()


def _values(rows: pl.Expr) -> pl.Expr:
    # As a list: the streaming engine cannot aggregate fields itself.
    return rows.struct.field(VALUE).implode()


def _with(rows: pl.Expr, *fields: pl.Expr) -> pl.Expr:
    return rows.struct.with_fields(*fields)


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
