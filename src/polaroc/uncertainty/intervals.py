"""Standard errors and confidence intervals of the measures of one curve."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import get_args

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.backend import POLARS
from polaroc.base.checks import check_share
from polaroc.base.columns import curve_keys
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE, ROW
from polaroc.curves.cell_arrays import CellArrays, RankedCells, ScoredCells
from polaroc.curves.curve import in_order
from polaroc.curves.whole import takes_curve
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.functions import measures_of_curves
from polaroc.measures.spec import Measure, ingredients, measures_by_row
from polaroc.measures.table import without_repeats
from polaroc.priors.beliefs import Belief
from polaroc.typing import Array, Interpolation, Prior, Priors
from polaroc.uncertainty.cells import cells_of_curves, ranked_clusters, with_positives
from polaroc.uncertainty.limits import (
    Limits,
    Sureness,
    area_limits,
    beside,
    columns_of_limits,
    limits_by_row,
    loss_limits,
)
from polaroc.uncertainty.spread import spread_of_areas, spread_of_losses
from polaroc.uncertainty.units import cases_as_units, clusters_as_units

METHODS = ("logit", "wald")
TOTALS = ("positives", "negatives")


@takes_curve
def intervals(
    curve: pl.LazyFrame,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    method: str = "logit",
    level: float = 0.95,
    score_prior: Prior = "observed",
) -> pl.LazyFrame:
    """The measures of each curve with standard errors and confidence intervals.

    The intervals are for the sampling error of the test set, for a fitted model:
    cases are taken as independent, class totals and priors as fixed (``"observed"``
    too, at its value). Dependent cases, such as those of one patient, need `evaluate` with
    `cluster`, and sampling weights need it with `weight`: a curve has only their sums.

    Parameters
    ----------
    curve
        The result of `curve`; one of weights has no limits, which `note` says.
    priors, over, interpolation, measures, score_prior
        As in `evaluate`; interpolation ``"hull"`` has no interval.
    method
        ``"wald"``: estimate ± z standard errors, cut at 0 and 1; ``"logit"``:
        the same of its log-odds, so that limits stay within (0, 1), with the
        quantile of Student's t at one degree of freedom less than there are
        cases of the rarer class. Both are computed for the sample as it is, and with
        half a case of each class added at the worst or at the best rank; the widest
        limits are returned.
    level
        Nominal coverage, in (0, 1).

    Returns
    -------
    Frame of the kind given
        Tidy measures as from `evaluate`, with `lower`, `upper`, `level` and `std_error`,
        Float64, after `estimate`. Limits are null with one positive or one
        negative, of a curve of weights, and where all cases
        have the same influence; `note` says so. For areas of exactly 1, of a
        perfect score, `lower` is a bound from the numbers of cases alone.

    Notes
    -----
    Standard errors are those of the infinitesimal jackknife with the divisors
    n − 1 per class, from the cells; for the AUC they are those of
    DeLong, DeLong and Clarke-Pearson (1988), and limits are wider, by what the half
    cases change. At the balanced points of `sens`, `accsens` and `equal_error` the slope of the
    ROC is estimated by a chord over about two standard errors, so that their
    standard errors are approximate: limits at level 0.95 held in 0.85 of samples at worst,
    in 0.96 on average (``tests/benchmarks/coverage.py --balanced``).

    A sample has no information on scores beyond its best and its worst case. The
    half cases, as many as Jeffreys' prior adds to either side of a share, represent
    them: without them intervals are too narrow where negatives are few for the
    prior, where positives are few and where a score is nearly perfect. With many
    cases they make no difference.

    In simulations, intervals at level 0.95 covered the true value in 92.5 to 100 % of
    samples, 98 % on average, for 20 to 500 positives, 1 to 200 negatives per
    positive, AUC 0.8 to 0.995, continuous scores and five levels, for the AUC,
    AUPREC at priors 0.5 to 0.01 and IAUPREC (``tests/benchmarks/coverage.py``; 200
    to 800 samples each). With few cases they are rather too wide.

    The Brier score, the log loss and the Brier skill are means of the losses of single
    cases. Their limits are symmetric in the logarithm of the mean loss, and the widest of
    those of the sample as it is and with one more case of either class, of no loss or of a
    great one (the greatest there can be; for the log loss, which has no bound, two nats more
    than the greatest loss of the class). Where `score_prior` is ``"observed"``, the error of
    that prior is in them. The losses after calibration by the hull, "calibration_loss" and
    "refinement_loss", have no interval: they are biased by the hull, and the former is
    irregular at 0. Of cases `evaluate` has limits of "refinement_loss", as
    `expected_cost` has of costs.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> limits = curves.pipe(pr.intervals, measures="auc")
    >>> limits.select(pl.col("estimate", "lower", "upper", "std_error").round(3)).row(0)
    (0.68, 0.307, 0.903, 0.127)
    """
    keys = curve_keys(curve)
    check_choice("method", method, METHODS)
    check_share("level", level)
    check_interpolation(interpolation)
    selected = [
        select_measures(
            measures, priors, over, interpolation, backend, score_prior=score_prior
        ).measures
        for backend in (POLARS, ARRAYS)
    ]
    # Cache: measures and limits must come from the same rows.
    curves = in_order(curve, keys).cache()
    measured = measures_of_curves(curves, selected[0])
    limits = with_limits(measured, curves, keys, selected[1], method, level)
    return without_repeats(limits, selected[0])


def with_limits(
    measured: pl.LazyFrame,
    source: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.LazyFrame:
    """Tidy measures with limits, from their curves; the measures are written for `ARRAYS`."""
    made = partial(_limits, keys=keys, measures=measures, method=method, level=level)
    return beside(measured, source, keys, made, level)


def _limits(
    source: pl.DataFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.DataFrame:
    """The limits of each row of each key, from sorted curves."""
    number = source.select(
        pl.struct(keys).rle_id() if keys else pl.int_range(pl.len()) * 0
    ).to_series()
    firsts = np.flatnonzero(number.is_first_distinct().to_numpy())
    cells = cells_of_curves(source, firsts)
    of_keys = source.select(pl.col(TOTALS).cast(pl.Float64).fill_null(0))[firsts]
    totals = {name: of_keys[name].to_numpy() for name in TOTALS}
    counted = source.schema["positives"].is_integer()
    sureness = Sureness(method, level, counted, cases_as_units(**totals))
    rows = limits_of_cells(with_positives(cells), cells, totals, measures, sureness)
    placed = columns_of_limits(rows, np.arange(len(firsts))).with_columns(
        pl.Series(PLACE, np.tile(np.arange(len(rows)), len(firsts)))
    )
    if not keys:
        return placed
    of_rows = source.select(keys)[np.repeat(firsts, len(rows))]
    return pl.concat([of_rows, placed], how="horizontal")


def limits_of_ranked(
    ranked: RankedCells,
    wide: pl.DataFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
    *,
    sampled: bool = False,
) -> pl.DataFrame:
    """The limits of rows in memory, in the order of their tidy measures.

    Rows count cases, or are `sampled` with weights and have clusters.
    """
    totals = {name: wide[name].cast(pl.Float64).to_numpy() for name in TOTALS}
    cases = ranked_clusters(ranked, totals)
    units = cases_as_units(**totals)
    if cases is not None:
        units = clusters_as_units(cases, weighted=sampled)
    sureness = Sureness(method, level, counted=True, units=units)
    _, *of_curves = ingredients([measure for measure in measures if measure.is_area])
    sums = totals | {name: wide[name].to_numpy() for own in of_curves for name in own}
    rows = limits_of_cells(ranked, ranked.scored, totals, measures, sureness, sums)
    place = wide.with_row_index(ROW)
    order = place.sort(keys, nulls_last=True)[ROW] if keys else place[ROW]
    return columns_of_limits(rows, order.to_numpy())


def limits_of_cells(
    areas: CellArrays,
    scored: CellArrays | ScoredCells | None,
    totals: "dict[str, Array]",
    measures: Sequence[Measure],
    sureness: Sureness,
    sums: "dict[str, Array] | None" = None,
) -> list[Limits]:
    """The limits of each row of a key, by key, from cells with positives and, for losses, all.

    `totals` are the `positives` and `negatives` of each key, `sums` the columns that areas are
    written with, where they are known.
    """
    of_areas = [measure for measure in measures if measure.is_area]
    of_losses = [measure for measure in measures if not measure.is_area]
    rows: dict[bool, Iterator[Limits]] = {}
    if of_areas:
        spread = spread_of_areas(areas, of_areas, sureness.units, sums)
        rows[True] = limits_by_row(of_areas, spread, sureness, area_limits)
    if of_losses:
        spread = spread_of_losses(scored, of_losses, totals, sureness.units)
        rows[False] = limits_by_row(of_losses, spread, sureness, loss_limits)
    return [next(rows[one.is_area]) for one, _ in measures_by_row(measures)]


def check_interpolation(interpolation: str) -> None:
    """Raise for the hull, which is not a smooth function of the cases."""
    check_choice("interpolation", interpolation, get_args(Interpolation))
    if interpolation == "hull":
        raise InvalidArgument(
            "interpolation is 'hull': the hull is fitted to the test data, and no interval "
            "of it is valid.",
            hint=Hint("use {interpolation}.", interpolation="exact"),
        )
