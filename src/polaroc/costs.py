"""What errors cost: cost curves and decision curves."""

from collections.abc import Iterable, Sequence

import polars as pl

from polaroc import rates
from polaroc.columns import PRIVATE, curve_keys, lazily
from polaroc.errors import InvalidArgument
from polaroc.hulls import hull
from polaroc.priors import is_number
from polaroc.surfaces import at_priors
from polaroc.typing import Priors

PROBABILITY_COST = "probability_cost"


@lazily
def cost_curve(curve: pl.LazyFrame, probability_cost: int | Sequence[float] = 101) -> pl.LazyFrame:
    """The least normalised expected cost of each curve, over all priors and costs at once.

    Prior and costs act together through the probability cost
    x = πc₁/(πc₁ + (1−π)c₂), with c₁ the cost of a missed positive and c₂ that of
    a false alarm. A point of the ROC is the line (1−t)x + f(1−x); the least of
    all of them is the lower envelope, in the shape of the ROC hull.

    Parameters
    ----------
    curve
        The result of `curve`.
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
    InvalidArgument, InvalidTable
        For values outside what is allowed; where the columns of a curve are
        missing.

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
    keys = curve_keys(curve)
    grid = pl.LazyFrame(
        {PROBABILITY_COST: _shares(probability_cost, "probability_cost")},
        schema={PROBABILITY_COST: pl.Float64},
    )
    x, t, f = pl.col(PROBABILITY_COST), pl.col("tpr"), pl.col("fpr")
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    order = PRIVATE + "order"
    return (
        hull(curve)
        .filter(both)
        .join(grid, how="cross")
        .with_columns(
            ((1 - t) * x + f * (1 - x)).alias("cost"), (pl.col("tp") + pl.col("fp")).alias(order)
        )
        .group_by(*keys, PROBABILITY_COST)
        .agg(pl.col("cost", "threshold", "tpr", "fpr").sort_by("cost", order).first())
        .sort(*keys, PROBABILITY_COST, nulls_last=True)
    )


@lazily
def decision_curve(
    curve: pl.LazyFrame,
    thresholds: int | Sequence[float] = 100,
    priors: Priors = "observed",
) -> pl.LazyFrame:
    """Net benefit of acting on scores, read as probabilities, above each threshold.

    Parameters
    ----------
    curve
        The result of `curve`, of scores that are probabilities.
    thresholds
        Threshold probabilities p with 0 ≤ p < 1, or how many of them, evenly
        spaced from 0.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or
        a prior grid. Recall and false positive rate stay as they are at p.

    Returns
    -------
    Frame of the kind given
        One row per key, prior and p, sorted: the keys; `prior`; `threshold` (p);
        `tpr`, `fpr` of calling positive where score ≥ p; `net_benefit` =
        πt − (1−π)f·p/(1−p), in true positives per case; `treat_all`, that of
        calling all positive (calling none has 0); all Float64. Keys without
        positives, without negatives or with rows that cannot be ranked have no
        rows.

    Raises
    ------
    InvalidArgument, InvalidTable
        For thresholds or priors outside what is allowed; where the columns of a
        curve are missing.

    Notes
    -----
    Vickers and Elkin (2006).

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.decision_curve(curves, [0.5]).select("tpr", "fpr").row(0)
    (0.6, 0.4)
    """
    keys = curve_keys(curve)
    asked = _shares(thresholds, "thresholds", closed=False)
    names = {f"{PRIVATE}{i}": p for i, p in enumerate(asked)}
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    called = [
        pl.struct(
            pl.lit(p).alias("threshold"),
            *(
                pl.col(rate).filter(pl.col("threshold") >= p).max().fill_null(0.0).alias(rate)
                for rate in ("tpr", "fpr")
            ),
        ).alias(name)
        for name, p in names.items()
    ]
    t, f, skewed, p = (pl.col(name) for name in ("tpr", "fpr", "skew", "threshold"))
    at = PRIVATE + "at"
    called_at = (
        curve.filter(both)
        .group_by(keys)
        .agg(pl.col("positives", "negatives").max(), *called)
        .filter(pl.col("positives").is_not_null())
        .select(*keys, "positives", "negatives", pl.concat_list(list(names)).alias(at))
        .explode(at)
        .unnest(at)
    )
    return (
        at_priors(called_at, priors)
        .with_columns(
            rates.net_benefit(t, f, skewed, threshold=p).alias("net_benefit"),
            rates.net_benefit(pl.lit(1.0), pl.lit(1.0), skewed, threshold=p).alias("treat_all"),
        )
        .select(*keys, "prior", "threshold", "tpr", "fpr", "net_benefit", "treat_all")
        .sort(*keys, "prior", "threshold", nulls_last=True)
    )


def _shares(given: int | Sequence[float], name: str, *, closed: bool = True) -> list[float]:
    """Shares from 0 to 1, which is among them where the range is closed."""
    if isinstance(given, int) and not isinstance(given, bool) and given >= 2:
        return [i / (given - 1 if closed else given) for i in range(given)]
    wanted = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    inside = all(
        is_number(value) and (0 <= value < 1 or (closed and value == 1)) for value in wanted
    )
    if not wanted or not inside:
        end = "≤ 1" if closed else "< 1"
        raise InvalidArgument(
            f"{name} is {given!r}, allowed are values ≥ 0 and {end}, or their number ≥ 2.",
            hint=f"for example {name}=[0.1, 0.2].",
        )
    return sorted({float(value) for value in wanted})
