"""Precision-recall space: points in it and in ROC space, and curves at every prior of a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from polaroc import rates
from polaroc.base.checks import one_or_several
from polaroc.base.columns import (
    CURVE,
    GRID,
    HAS_BOTH,
    RESERVED,
    as_lazy,
    collect_like,
    curve_keys,
    private,
    require,
    within,
)
from polaroc.curves.curve import whole_curves
from polaroc.errors import InvalidArgument, quoted
from polaroc.priors.grids import is_among, is_estimate, prior, skew, some_priors
from polaroc.priors.in_use import with_estimates
from polaroc.typing import Frame, Priors, Quantity

Rate = Callable[[Quantity, Quantity, Quantity], Quantity]
RATES: dict[str, Rate] = {
    name: getattr(rates, name)
    for name in (
        "precision", "recall", "specificity", "tnr", "fnr", "npv", "error", "accuracy", "posfrac",
        "f_measure", "lift", "likelihood_ratio_positive", "likelihood_ratio_negative",
        "informedness", "matthews", "loss", "net_benefit", "recall_gain", "precision_gain",
    )
}  # fmt: skip
# Rates of one class, which are defined without cases of the other.
OF_POSITIVES, OF_NEGATIVES = ("tpr", "recall", "fnr"), ("fpr", "specificity", "tnr")
# Rates that depend on f/t alone: at the origin they take their value along the first segment.
LIMIT_AT_ORIGIN = frozenset({"precision", "lift", "likelihood_ratio_positive"})


def pr_from_roc(tpr: Quantity, fpr: Quantity, prior: Quantity) -> tuple[Quantity, Quantity]:
    """The precision-recall point of a ROC point at a prior.

    Parameters
    ----------
    tpr, fpr
        True and false positive rate, from 0 to 1: floats, numpy arrays or
        Polars expressions.
    prior
        Probability of a positive, in (0, 1).

    Returns
    -------
    recall, precision
        Of the same kind; precision is NaN where both rates are 0.

    Raises
    ------
    InvalidArgument
        For a prior that is a float outside (0, 1).

    Notes
    -----
    D&G Theorem 3.1: one-to-one where recall > 0.

    Examples
    --------
    >>> pr_from_roc(0.5, 0.125, prior=0.2)
    (0.5, 0.5)
    """
    return tpr, rates.precision(tpr, fpr, skew(prior))


def roc_from_pr(
    recall: Quantity, precision: Quantity, prior: Quantity
) -> tuple[Quantity, Quantity]:
    """The ROC point of a precision-recall point at a prior: t is recall, f = t(1−p)/(λp).

    Parameters
    ----------
    recall, precision
        From 0 to 1: floats, numpy arrays or Polars expressions. Where recall
        is 0, precision does not tell the false positive rate: it comes out as 0,
        or NaN where precision is 0 too.
    prior
        Probability of a positive, in (0, 1).

    Returns
    -------
    fpr, tpr
        Of the same kind. Above 1 where no classifier has such a precision at
        such a recall.

    Raises
    ------
    InvalidArgument
        For a prior that is a float outside (0, 1).

    Notes
    -----
    D&G Theorem 3.1.

    Examples
    --------
    >>> roc_from_pr(0.5, 0.5, prior=0.2)
    (0.125, 0.5)
    """
    return rates.ratio(recall * (1 - precision), skew(prior) * precision), recall


def surface(
    curve: Frame,
    priors: Priors,
    rates: Sequence[str] | Mapping[str, Rate] = ("precision",),
) -> Frame:
    """Every point of the curve at every prior, with its rates there.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or a prior grid.
        Where the own prior of a key is, up to rounding, another one of them, it counts once.
    rates
        Names from the module `rates`, or a mapping from column name to a
        function of (tpr, fpr, skew) such as
        ``{"f2": partial(rates.f_measure, beta=2)}``.

    Returns
    -------
    Frame of the kind given
        The columns of the curve; `prior` Float64 in (0, 1), `skew` Float64; one
        Float64 column per rate, null where it is undefined. Precision, lift and
        the positive likelihood ratio are, at recall 0, their limit along the
        first segment. Rows in the order of the curve, then of the priors.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    P-ROC §4, Eq. 3.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.curve(table, truth="truth", score="p").pipe(pr.surface, 0.2)
    >>> points.select("tpr", "precision").rows()
    [(0.0, 1.0), (0.5, 1.0), (0.5, 0.2), (1.0, 0.33...), (1.0, 0.2)]
    """
    return collect_like(curve, with_rates(whole_curves(curve), priors, rates))


def with_rates(
    curves: pl.LazyFrame, priors: Priors, rates: Sequence[str] | Mapping[str, Rate] = ("precision",)
) -> pl.LazyFrame:
    """The `surface` of whole curves."""
    keys = curve_keys(curves)
    selected = select_rates(rates, keys)
    # The end of the first segment gives the limit at the origin.
    is_anchor = pl.col("threshold").is_null()
    is_first = (pl.col("tp") == pl.col("pos")) & (pl.col("fp") == pl.col("neg")) & ~is_anchor
    t_first, f_first = private("t"), private("f")
    ends = [
        within(pl.when(is_first).then(name).max(), keys).alias(end)
        for name, end in (("tpr", t_first), ("fpr", f_first))
    ]
    points = at_priors(curves.with_columns(ends), priors)
    values = {}
    for name, rate in selected.items():
        value = rate(pl.col("tpr"), pl.col("fpr"), pl.col("skew"))
        if name in LIMIT_AT_ORIGIN and rate is RATES[name]:
            limit = rate(pl.col(t_first), pl.col(f_first), pl.col("skew"))
            value = pl.when(is_anchor).then(limit).otherwise(value)
        values[name] = value.fill_nan(None)
    return points.with_columns(**values).drop(t_first, f_first)


def at_priors(frame: pl.LazyFrame, priors: Priors) -> pl.LazyFrame:
    """Each row of a frame at every prior, in the columns `prior` and `skew`.

    If the observed prior of a key is also a given one, its rows are at the given one only. With
    estimated priors each row is at that of its key, with its limits; the skew of what is no prior
    is null.
    """
    if is_estimate(priors):
        return with_estimates(frame, priors, frame.collect_schema().names())
    resolved = some_priors(priors)
    grid = pl.LazyFrame(
        {"prior": resolved, "skew": [None if p is None else skew(p) for p in resolved]},
        schema={"prior": pl.Float64, "skew": pl.Float64},
    )
    rows = frame.join(grid, how="cross", maintain_order="left_right")
    if None not in resolved:
        # Filters of the user on the prior are pushed down to the grid.
        return rows
    observed = pl.when(HAS_BOTH).then(pl.col("negatives") / pl.col("positives"))
    if len(resolved) > 1:
        rows = rows.filter(pl.col("prior").is_not_null() | ~is_among(prior(observed), resolved))
    return rows.with_columns(
        prior=pl.coalesce("prior", prior(observed)), skew=pl.coalesce("skew", observed)
    )


def select_rates(
    requested: Sequence[str] | Mapping[str, Rate], keys: Sequence[str]
) -> dict[str, Rate]:
    """Rates by the name of their column."""
    if isinstance(requested, Mapping):
        selected = dict(requested)
    else:
        names = one_or_several(requested)
        unknown = [name for name in names if name not in RATES]
        if unknown:
            raise InvalidArgument(
                f"there is no rate {quoted(unknown, 3)}; there are {', '.join(RATES)}.",
                hint="give a mapping from a name to a function for a rate of your own.",
            )
        selected = {name: RATES[name] for name in names}
    clash = [name for name in selected if name in keys or name in RESERVED - {"precision"}]
    if clash:
        raise InvalidArgument(
            f"a rate would overwrite the column {quoted(clash)}.",
            hint="rename the key column, or name the rate otherwise with a mapping.",
        )
    return selected


def is_surface(table: object) -> bool:
    """Whether a table is a surface: curves at priors."""
    return set(GRID) <= set(as_lazy(table).collect_schema())


def surface_keys(surface: pl.LazyFrame) -> list[str]:
    """Keys of a surface, the columns before its priors."""
    others = require(surface, (*CURVE, *GRID), source="surface(...)")
    names = surface.collect_schema().names()
    return [name for name in others if names.index(name) < names.index("prior")]
