"""Simultaneous bands of the curves of one test set."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, Unpack

import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_share, check_whole, refuse_unused
from polaroc.base.columns import GRID, HAS_BOTH, as_lazy, curve_keys, refuse_clash, with_level
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.curves.curve import curves_of
from polaroc.curves.mean import surface_keys
from polaroc.curves.surface import with_rates
from polaroc.curves.whole import OF_CURVES
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns, RoleName
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.thresholds.all_thresholds import limits_of_counts
from polaroc.thresholds.design_effects import EFFECTS, cases_in, why_no_limits, with_effects
from polaroc.typing import Array, Priors

BAND = ("lower", "upper", "interval", "note")
# Keeps a grid point on the side of a vertical or horizontal step that is asked for.
NUDGE, TINY = 1e-12, 1e-9
NO_BEARING: list[RoleName] = [role for role in BESIDE if role != "cluster"]
OwnCurve: TypeAlias = Callable[[Array, Array, float, Array], Array]
Limits: TypeAlias = tuple[Array, Array]
Given: TypeAlias = Cases[Any] | pl.LazyFrame | pl.DataFrame
Band: TypeAlias = Callable[[Limits, Limits, float, Array], Limits]


@described_as(OF_CURVES)
@frame_of_cases([*COUNTED_BY, "cluster"], no_bearing=NO_BEARING, or_table=True)
def roc_band(
    curve: Given, n: int = 201, *, level: float = 0.95, **columns: Unpack[Columns]
) -> pl.LazyFrame:
    """A band that holds the whole true ROC curve, from one test set.

    Parameters
    ----------
    curve
        The result of `curve`, of independent test cases; or predictions, of which it is made: the
        result of `cases`, or any table that it takes. From these alone a band knows the `cluster`,
        and a `weight` as what it is.
    **columns
    n
        How many false positive rates, evenly spaced from 0 to 1, at least 2.
    level
        The probability, in (0, 1), with which the whole curve lies in the band.

    Returns
    -------
    Frame of the kind given
        One row per key and rate, sorted: the keys; `fpr`; `tpr` of the curve; `lower` and
        `upper`, from 0 to 1, and `level`: Float64; `interval` in words; `note`, null, or that
        a curve has weights, or that clusters are too few: then there is no
        band; or that rows seem to come in clusters. Keys without positives, without
        negatives or with rows that cannot be ranked have no rows. Between two rows the band is that
        of the one before for `lower`, of the one after for `upper`.

    Notes
    -----
    The scores of each class have a distribution function of which limits with the same
    probability at every case hold all at once with probability √level (Aldor-Noiman et al.
    2013); that probability is exact, by recursion (Moscovich and Nadler 2017). The rectangles
    of the two classes' limits bound the curve: a band without assumptions, also with ties, that
    is wider than need be. With 20 to 500 positives it held smooth, tied and stepped curves in
    0.99 to 1.00 of samples at level 0.95 (``just applied-intervals``). Cases of a `cluster`, or
    with a `weight`, count as so many independent ones as tell rates as well, by their design
    effect (Kish 1965).

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> band = pr.roc_band(curves, 3)
    >>> band.select(pl.col("fpr", "tpr", "lower", "upper").round(2)).rows()
    [(0.0, 0.2, 0.0, 0.7), (0.5, 0.8, 0.01, 1.0), (1.0, 1.0, 1.0, 1.0)]

    Ten cases of each class say little.
    """
    curves = curves_of(curve)
    keys = curve_keys(curves)

    def own(tp: Array, fp: Array, _: float, grid: Array) -> Array:
        return _at(grid + NUDGE, fp / fp[-1], tp / tp[-1])

    def band(tpr: Limits, fpr: Limits, _: float, grid: Array) -> Limits:
        (t_low, t_high), (f_low, f_high) = tpr, fpr
        below = _steps(f_high, t_low, grid)
        # The least upper limit among thresholds whose rate is surely greater.
        above = 1 - _steps(-f_low[::-1], 1 - t_high[::-1], -grid - NUDGE)
        last = grid == 1
        return np.where(last, 1.0, below), np.where(last, 1.0, above)

    asked = _Asked(("fpr", "tpr"), n, level, own, band)
    return _bands(with_effects(curves, cases_in(curve), keys), curve, keys, asked)


@described_as(roc_band)
@frame_of_cases([*COUNTED_BY, "cluster"], no_bearing=NO_BEARING, or_table=True)
def pr_band(
    surface: Given,
    n: int = 201,
    *,
    priors: Priors | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """A band that holds the whole true precision-recall curve, at all priors at once.

    Parameters
    ----------
    surface
        The result of `surface`, of independent test cases; or predictions, of which it is made, as
        in `roc_band`.
    **columns
    n
        How many recalls, evenly spaced from 0 to 1, at least 2.
    priors
        Of predictions, as in `evaluate`; a surface has its own.

    Returns
    -------
    Frame of the kind given
        As from `roc_band`, with a row per key, `prior` and recall (`tpr`): the keys; `prior`,
        `skew`; `tpr`; `precision`, interpolated as in D&G; `lower`, `upper`, `level`, `interval`,
        `note`.

    Raises
    ------
    InvalidArgument, InvalidTable
        As `roc_band`; where the columns of a surface are missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> band = pr.surface(curves, [0.5, 0.1]).pipe(pr.pr_band, 3)
    >>> band.select(pl.col("prior", "tpr", "precision", "lower").round(2)).rows()[1]
    (0.1, 0.5, 0.36, 0.05)
    """
    if isinstance(surface, Cases):
        surfaces = with_rates(curves_of(surface), DEFAULT_PRIORS if priors is None else priors)
    else:
        refuse_unused("for predictions", "surface has its own", priors=priors)
        surfaces = as_lazy(surface)
    keys = surface_keys(surfaces)

    def precision(recall: Array, fpr: Array, skew: float) -> Array:
        # At recall 0 the limit.
        return recall.clip(TINY) / (recall.clip(TINY) + skew * fpr)

    def own(tp: Array, fp: Array, skew: float, grid: Array) -> Array:
        fpr = _at((grid - NUDGE).clip(TINY), tp / tp[-1], fp / fp[-1])
        return precision(grid, fpr, skew)

    def band(tpr: Limits, fpr: Limits, skew: float, grid: Array) -> Limits:
        (t_low, t_high), (f_low, f_high) = tpr, fpr
        # False positive rates that a recall needs, at least and at most.
        least = _steps(t_high, f_low, grid - NUDGE)
        most = 1 - _steps(-t_low[::-1], 1 - f_high[::-1], -grid)
        low, high = (precision(grid, fpr, skew) for fpr in (most, least))
        first = grid == 0
        return np.where(first, 0.0, low), np.where(first, 1.0, high)

    asked = _Asked(("tpr", "precision"), n, level, own, band)
    surfaces = with_effects(surfaces, cases_in(surface), keys)
    return _bands(surfaces, surface, [*keys, *GRID], asked)


class _Asked(NamedTuple):
    """The axes, grid and level of bands, and how curve and band follow from limits of rates."""

    axes: tuple[str, str]
    n: int
    level: float
    own: OwnCurve
    band: Band


def _bands(curve: pl.LazyFrame, given: Given, keys: Sequence[str], asked: _Asked) -> pl.LazyFrame:
    """The bands of curves with `EFFECTS`, which are those of what was given."""
    (x, y), n, level, own, band = asked
    check_whole("n", n, 2, MAX_NUMBER)
    check_share("level", level)
    refuse_clash(keys, BAND)
    sampled = isinstance(given, Cases) and given.weight is not None
    grouped = (
        curve.filter(HAS_BOTH)
        .sort(*keys, pl.col("tp") + pl.col("fp"), nulls_last=True)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("tp", "fp").cast(pl.Float64), pl.col(EFFECTS).first())
        # Without keys there is a row even where no curve has both classes.
        .filter(pl.col("tp").list.len() > 0)
    )
    kinds = curve.collect_schema()
    values = {name: pl.List(pl.Float64) for name in (x, y, "lower", "upper")}
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        **{key: kinds[key] for key in keys},
        **values,
        "note": pl.String,
    }
    caption = f"band: the whole true curve, with {100 * level:.4g} % confidence"

    def computed(frame: pl.DataFrame) -> pl.DataFrame:
        grid = np.arange(n) / (n - 1)
        rows: dict[str, list[object]] = {name: [] for name in (*values, "note")}
        for i in range(frame.height):
            tp, fp = frame["tp"][i].to_numpy(), frame["fp"][i].to_numpy()
            skew = frame["skew"][i] if "skew" in keys else 0.0
            effects = [frame[name][i] for name in EFFECTS]
            why = why_no_limits(effects, counted=sampled or kinds["tp"].is_integer())
            ends: list[list[float | None]] = [[None] * n] * 2
            if why is None:
                tpr, fpr = (
                    limits_of_counts(counts, level, effect)
                    for counts, effect in zip((tp, fp), effects, strict=True)
                )
                ends = [end.tolist() for end in band(tpr, fpr, skew, grid)]
            at_grid = own(tp, fp, skew, grid).tolist()
            record = [grid.tolist(), at_grid, *ends, why]
            for name, value in zip(rows, record, strict=True):
                rows[name].append(value)
        columns = pl.DataFrame(rows, schema={**values, "note": pl.String})
        return pl.concat([frame.select(keys), columns], how="horizontal") if keys else columns

    found = (
        grouped.map_batches(computed, schema=schema)
        .explode(*values)
        .with_columns(pl.lit(caption).alias("interval"))
        .select(*keys, x, y, *BAND)
    )
    doubt = dependence(given) if isinstance(given, Cases) else None
    return with_level(with_note(found, doubt, pl.col("lower").is_not_null()), level)


def _at(grid: Array, x: Array, y: Array) -> Array:
    values: Array = np.interp(grid, x, y)
    return values


def _steps(x: Array, y: Array, grid: Array) -> Array:
    """The greatest y of the points with x at most each grid point, 0 of none; x ascends."""
    reached = np.concatenate(([0.0], np.maximum.accumulate(y)))
    steps: Array = reached[np.searchsorted(x, grid, side="right")]
    return steps
