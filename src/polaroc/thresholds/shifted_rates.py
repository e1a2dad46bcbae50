"""What fixed operating points do at other priors than they were chosen for."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import lazily, require
from polaroc.curves.surface import at_priors, select_rates
from polaroc.thresholds.operating_points import POINTS
from polaroc.typing import Priors


@lazily
def shifted_rates(points: pl.LazyFrame, priors: Priors, rates: Sequence[str]) -> pl.LazyFrame:
    """The rates of fixed operating points at other priors than they were chosen for (P-ROC Fig. 1).

    One row per key with a point and prior: the keys, `prior`, `skew` and a column per rate, null
    where it is undefined.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> point = curves.pipe(pr.operating_points, "threshold", target=0.54)
    >>> shifted_rates(point, [0.5, 0.1], ["accuracy"])["accuracy"].round(2).to_list()
    [0.7, 0.86]
    """
    keys = require(points, POINTS, source="operating_points(...)")
    chosen = select_rates(rates, keys)
    t, f, skew = pl.col("tpr"), pl.col("fpr"), pl.col("skew")
    fixed = points.filter(t.is_not_null()).select(*keys, t, f, "positives", "negatives")
    values = {name: rate(t, f, skew).fill_nan(None) for name, rate in chosen.items()}
    return at_priors(fixed, priors).select(*keys, "prior", "skew", **values)
