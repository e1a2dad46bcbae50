"""Confidence limits of rates at a threshold, for independent cases and for clusters of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.columns import (
    CLUSTER,
    COUNT,
    PRIOR_LIMITS,
    ROWS,
    TRUTH,
    WEIGHT,
    join_by_key,
    private,
)
from polaroc.base.statistics import ROUNDING, binomial_band
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES, RATES
from polaroc.predictions.audit import dependence
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import read
from polaroc.priors.in_use import MIN_PRIOR, NO_INTERVAL
from polaroc.typing import Array

# The cases of each class that a threshold calls positive.
COUNTS = (private("tp"), private("fp"))
COST_FN, COST_FP = private("cost_fn"), private("cost_fp")
FALL_WITH_TPR = ("cost", "error", "likelihood_ratio_negative")
RISE_WITH_FPR = (*FALL_WITH_TPR, "posfrac")
# The number of quantiles of a rate, and of rows that are in memory at once.
QUANTILES, CHUNK = 2048, 500
# Normal scores at which quantiles are computed; quantiles between them are interpolated.
SCORES = np.linspace(-3.5, 3.5, 71)
GOLDEN = (5**0.5 - 1) / 2
# The design effects of positives and of negatives.
EFFECTS = POS_EFFECT, NEG_EFFECT = private("pos_effect"), private("neg_effect")
MEAN, UPTO = private("mean"), private("upto")
# The cases of a cluster that score at least thresholds at even shares of a class.
ABOVE = [private(f"above_{i}") for i in range(1, 8)]
# Clusters of equal size that a class needs, or unequal ones that count as many
# (`just simulate promises_clusters`).
FEWEST = 7
FEW_CLUSTERS = (
    f"a class has fewer than {FEWEST} clusters, or a few clusters or weights are most of it: too "
    "few to know how alike rows are"
)


def rate_at(name: str, t: Any, f: Any, skewed: Any, cost_fn: Any = 1, cost_fp: Any = 1) -> Any:
    """A rate, or the cost per case, at the true and false positive rates and a skew."""
    if name == "cost":
        # A loss counts each of the two kinds of error with a weight of one half.
        return 2 * rates.loss(t, f, skewed, cost_fn=cost_fn, cost_fp=cost_fp)
    return RATES[name](t, f, skewed)


def limit_columns(names: Iterable[str]) -> list[str]:
    """The columns of the limits of rates."""
    return [f"{name}_{end}" for name in names for end in ("lower", "upper")]


def with_limits(
    judged: pl.LazyFrame,
    cases: Cases[Any] | None,
    keys: Collection[str],
    names: Sequence[str],
    level: float,
    cost_fn: float = 1,
    cost_fp: float | pl.Expr = 1,
) -> pl.LazyFrame:
    """Thresholds with `COUNTS`, totals, prior and its limits: with limits of rates and `EFFECTS`.

    Limits of a rate of one class are those of Clopper and Pearson, from the cases of this class.
    Limits of another rate are quantiles of the rate at pairs of quantiles of the distributions
    behind the limits of both classes (Fay, Proschan and Brittain 2015): the widest of those at the
    prior and at the ends of its interval. There are none without cases of a class, if its effect is
    infinite, or if the prior has none.
    """
    costs = {COST_FN: pl.lit(cost_fn, pl.Float64), COST_FP: cost_fp + pl.lit(0.0)}
    rows = with_effects(judged.with_columns(**costs), cases, keys)
    added = dict.fromkeys(limit_columns(names), pl.Float64())

    def limited(frame: pl.DataFrame) -> pl.DataFrame:
        # In parts, since each row has thousands of quantiles.
        parts = [_limits(part, names, level) for part in frame.iter_slices(CHUNK)]
        ends = np.concatenate([np.empty((0, len(added))), *parts])
        return frame.hstack(pl.DataFrame(ends, added, nan_to_null=True, orient="row"))

    return rows.map_batches(
        limited, schema={**rows.collect_schema(), **added}, predicate_pushdown=False,
        projection_pushdown=False, slice_pushdown=False,
    )  # fmt: skip


def notes_on_limits(cases: Cases[Any] | None, is_limited: pl.Expr) -> list[pl.Expr]:
    """Notes on why thresholds have no limits, and on cases that may not be independent."""
    has_rate = pl.any_horizontal(pl.col("tpr", "fpr").is_not_null())
    has_few = has_rate & pl.any_horizontal(pl.col(EFFECTS).is_infinite())
    has_prior = pl.col("prior").is_not_null()
    unsure = has_prior & pl.any_horizontal(pl.col(PRIOR_LIMITS).is_null())
    doubt = None if cases is None else dependence(cases)
    return [
        pl.when(has_few)
        .then(pl.lit(f"{FEW_CLUSTERS}: no interval of what depends on it"))
        .when(unsure)
        .then(pl.lit(f"{NO_INTERVAL}: none at it")),
        pl.when(is_limited).then(pl.lit(doubt, pl.String)),
    ]


def _limits(judged: pl.DataFrame, names: Sequence[str], level: float) -> Array:
    """Lower and upper limits of each rate, side by side."""
    from scipy.special import ndtr

    tail = (1 - level) / 2
    costs = [judged[name].to_numpy()[:, None] for name in (COST_FN, COST_FP)]
    counts = [
        # Clustered or weighted rows count as the effective number of independent cases.
        judged.select(pl.col(of_class).cast(pl.Float64).fill_null(nan) / pl.col(effect)).to_numpy()
        for *of_class, effect in zip(COUNTS, ("positives", "negatives"), EFFECTS, strict=True)
    ]
    of_tpr, of_fpr = (_clopper_pearson(count, np.array([2 * tail]))[..., 0] for count in counts)
    nodes, order = _nodes()
    true_rates, false_rates = (
        # The upper ones are in the order of their shares, as the lower ones are.
        np.stack([low, high[:, ::-1]]) @ nodes
        for low, high in (_clopper_pearson(count, 2 * ndtr(SCORES)) for count in counts)
    )
    false_rates = false_rates[..., order]
    # The ends of the interval of a prior that is known are the prior.
    of_prior = judged.select("prior", *PRIOR_LIMITS).to_numpy().clip(MIN_PRIOR, 1 - MIN_PRIOR)
    priors = np.unique(of_prior, axis=1).T[..., None]
    ends = []
    for name in names:
        if name in (*OF_POSITIVES, *OF_NEGATIVES):
            low, high = of_tpr if name in OF_POSITIVES else of_fpr
            ends += [1 - high, 1 - low] if name in ("fnr", "specificity", "tnr") else [low, high]
            continue
        rises_with_tpr, rises_with_fpr = name not in FALL_WITH_TPR, name in RISE_WITH_FPR
        for is_upper in (False, True):
            t = true_rates[int(is_upper == rises_with_tpr)]
            f = false_rates[int(is_upper == rises_with_fpr)]
            with np.errstate(divide="ignore"):
                # A likelihood ratio may be infinite, and is not interpolated.
                at_priors = [
                    np.quantile(
                        rate_at(name, t, f, (1 - prior) / prior, *costs),
                        1 - tail if is_upper else tail,
                        axis=1,
                        method="higher" if is_upper else "lower",
                    )
                    for prior in priors
                ]
            ends.append(np.max(at_priors, axis=0) if is_upper else np.min(at_priors, axis=0))
    return np.stack(ends, axis=1)


def _clopper_pearson(counts: Array, errors: Array) -> Array:
    """Lower and upper limits of a rate for each row and error rate; NaN without cases."""
    called, total = counts.T[..., None]
    band = binomial_band(called, total, errors)
    return np.where((total > 0) & np.isfinite(called), (band.lower, band.upper), nan)


@cache
def _nodes() -> tuple[Array, Array]:
    """The weights that interpolate quantiles at even shares, and an order that pairs them."""
    from scipy.special import ndtri

    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    weights = [np.interp(ndtri(shares), SCORES, one) for one in np.eye(len(SCORES))]
    return np.stack(weights), np.argsort(np.arange(QUANTILES) * GOLDEN % 1).argsort()


def with_effects(
    rows: pl.LazyFrame, cases: Cases[Any] | None, keys: Collection[str]
) -> pl.LazyFrame:
    """Rows with the `EFFECTS` of the clusters of cases, for each of their keys; 1 without any."""
    if cases is None or not cases.in_clusters:
        return rows.with_columns(pl.lit(1.0).alias(name) for name in EFFECTS)
    effects = _design_effects(cases)
    on = [name for name in effects.collect_schema() if name in keys]
    return join_by_key(rows, effects, on)


def _design_effects(cases: Cases[Any]) -> pl.LazyFrame:
    """The design effect of the clusters and sampling weights of each key, class by class.

    It is the variance of a rate between clusters over that of as many independent cases (Kish
    1965): 1 for clusters of one row, m for m copies of each row. The largest of some thresholds,
    since few clusters hardly tell it at one (there promises would be broken in up to .13 of
    samples); not below 1; infinite where there are too few clusters.
    """
    table = read(cases, clustered=True)
    of_class, size, score = [*table.keys, TRUTH], pl.col(WEIGHT), pl.col(SCORE)
    weight = table.weight.cast(pl.Float64).alias(WEIGHT)
    # Of sampling weights only the ratios matter.
    mean = size.mean().over(of_class) if table.sampled else pl.lit(1.0)
    upto = size.cum_sum().over(of_class, order_by=SCORE) / size.sum().over(of_class)
    above = [
        (score >= score.filter(pl.col(UPTO) >= i / 8 * (1 - ROUNDING)).min().over(of_class))
        .mul(size)
        .alias(name)
        for i, name in enumerate(ABOVE, 1)
    ]
    clusters = (
        table.valid_rows.with_columns(weight)
        .filter(size > 0)
        .with_columns(mean.alias(MEAN), upto.alias(UPTO))
        .with_columns(size / pl.col(MEAN))
        .with_columns(above)
        .group_by(*of_class, CLUSTER)
        .agg(pl.col(WEIGHT, *ABOVE).sum(), pl.len().alias(ROWS), pl.first(MEAN))
    )
    # The variance of each share between clusters over that between independent cases.
    shares = [pl.col(name).sum() / size.sum() for name in ABOVE]
    ratios = [
        ((pl.col(name) - share * size) ** 2).sum() / (size.sum() * share * (1 - share))
        for name, share in zip(ABOVE, shares, strict=True)
    ]
    copies = (size**2).sum() / size.sum()
    equal = (size**2).sum() ** 2 / (size**4).sum() if table.sampled else size.sum() / copies
    is_clustered = pl.lit(table.sampled) | (size.sum() > pl.len())
    # If no threshold divides the cases of a class, its clusters count as one case each.
    largest = pl.max_horizontal(pl.when(ratio.is_finite()).then(ratio) for ratio in ratios)
    effect = pl.coalesce(largest, copies).clip(1.0) * pl.first(MEAN)
    of_classes = clusters.group_by(of_class).agg(
        pl.when(is_clustered & (equal < FEWEST)).then(inf).otherwise(effect).alias(COUNT),
        pl.col(ROWS).filter(pl.col(CLUSTER).is_null()).sum(),
    )
    truth = pl.col(TRUTH).cast(pl.Boolean)
    effects = of_classes.group_by(table.keys or pl.lit(0)).agg(
        pl.col(COUNT).filter(truth).first().alias(POS_EFFECT),
        pl.col(COUNT).filter(~truth).first().alias(NEG_EFFECT),
        pl.col(ROWS).sum(),
    )

    def checked(frame: pl.DataFrame) -> pl.DataFrame:
        check_clusters(int(frame[ROWS].sum()))
        return frame.select(*table.keys, *EFFECTS)

    schema = {name: effects.collect_schema()[name] for name in (*table.keys, *EFFECTS)}
    return effects.map_batches(checked, schema=schema, projection_pushdown=False)


def read_once(source: Any) -> Any:
    """Cases whose lazy table is read once, for rates and for the design effects of clusters.

    Another reading of a plan may give other rows.
    """
    if isinstance(source, Cases) and source.in_clusters and isinstance(source.rows, pl.LazyFrame):
        return replace(source, rows=source.rows.cache())
    return source
