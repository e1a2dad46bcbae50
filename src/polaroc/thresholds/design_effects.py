"""Design effects: how many rows of a cluster say as much of a rate as one independent case."""

from collections.abc import Collection
from dataclasses import replace
from math import inf
from typing import Any, TypeVar

import polars as pl

from polaroc.base.columns import CLUSTER, COUNT, ROWS, TRUTH, WEIGHT, private
from polaroc.base.statistics import ROUNDING
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import read

_T = TypeVar("_T")
# The effects of positives and of negatives, and how many cases have no cluster.
EFFECTS = POS_EFFECT, NEG_EFFECT = private("pos_effect"), private("neg_effect")
MISSING, MEAN, UPTO = (private(name) for name in ("missing", "mean", "upto"))
# The cases of a cluster that score at least thresholds at even shares of a class.
ABOVE = [private(f"above_{i}") for i in range(1, 8)]
# Clusters of equal size that a class needs, or unequal ones that count as many
# (`just simulate promises_clusters`).
FEWEST = 7
FEW_CLUSTERS = (
    f"a class has fewer than {FEWEST} clusters, or a few clusters or weights are most of it: too "
    "few to know how alike rows are"
)


def with_effects(
    rows: pl.LazyFrame, cases: Cases[Any] | None, keys: Collection[str]
) -> pl.LazyFrame:
    """Rows with the `EFFECTS` of the clusters of cases, for each of their keys; 1 without any."""
    if cases is None or not cases.in_clusters:
        return rows.with_columns(pl.lit(1.0).alias(name) for name in EFFECTS)
    effects = design_effects(cases)
    on = [name for name in effects.collect_schema() if name in keys]
    joined = rows.join(
        effects, on=on or pl.lit(0), how="left", nulls_equal=True, maintain_order="left"
    )

    def checked(frame: pl.DataFrame) -> pl.DataFrame:
        missing: Any = frame[MISSING].max()
        check_clusters(missing or 0)
        return frame.select(*schema)

    schema: Any = {**rows.collect_schema(), **dict.fromkeys(EFFECTS, pl.Float64)}
    return joined.map_batches(checked, schema=schema)


def design_effects(cases: Cases[Any]) -> pl.LazyFrame:
    """The design effect of the clusters and sampling weights of each key, class by class.

    It is the variance of a rate between clusters over that of as many independent cases (Kish
    1965): 1 for clusters of one row, m for m copies of each row. The largest of some thresholds,
    since few clusters hardly tell it at one (there promises would be broken in up to .13 of
    samples); not below 1; infinite where there are too few clusters.

    Returns
    -------
    One row per key: the keys, `EFFECTS`, and `MISSING`.

    Examples
    --------
    >>> from polaroc.predictions.cases import cases
    >>> score = [*range(12)] * 3
    >>> rows = pl.DataFrame({"truth": [True] * 36, "score": score, "patient": score})
    >>> round(design_effects(cases(rows, cluster="patient")).select(POS_EFFECT).collect().item(), 9)
    3.0
    """
    table = read(cases, clustered=True)
    of_class, size, score = [*table.keys, TRUTH], pl.col(WEIGHT), pl.col(SCORE)
    weight = size if table.weighted else pl.lit(1.0).alias(WEIGHT)
    # Of sampling weights only the ratios matter.
    mean = size.mean().over(of_class) if table.sampled else pl.lit(1.0)
    upto = size.cum_sum().over(of_class, order_by=SCORE) / size.sum().over(of_class)
    places = [pl.col(UPTO) >= i / 8 * (1 - ROUNDING) for i in range(1, 8)]
    above = {
        name: (score >= score.filter(place).min().over(of_class)) * size
        for name, place in zip(ABOVE, places, strict=True)
    }
    clusters = (
        table.valid_rows.with_columns(weight)
        .filter(size > 0)
        .with_columns(mean.alias(MEAN), upto.alias(UPTO))
        .with_columns(size / pl.col(MEAN))
        .with_columns(**above)
        .group_by(*of_class, CLUSTER)
        .agg(pl.col(WEIGHT, *ABOVE).sum(), pl.len().alias(ROWS), pl.first(MEAN))
    )
    ratios = []
    for called in map(pl.col, ABOVE):
        share = called.sum() / size.sum()
        between = ((called - share * size) ** 2).sum()
        ratio = between / (size.sum() * share * (1 - share))
        ratios.append(pl.when(ratio.is_finite()).then(ratio))
    copies = (size**2).sum() / size.sum()
    equal = (size**2).sum() ** 2 / (size**4).sum() if table.sampled else size.sum() / copies
    is_clustered = pl.lit(table.sampled) | (pl.col(ROWS).sum() > pl.len())
    # Where no threshold tells the cases of a class apart, they count as its clusters.
    effect = pl.coalesce(pl.max_horizontal(ratios), copies).clip(1.0) * pl.first(MEAN)
    of_classes = clusters.group_by(of_class).agg(
        pl.when(is_clustered & (equal < FEWEST)).then(inf).otherwise(effect).alias(COUNT),
        pl.col(ROWS).filter(pl.col(CLUSTER).is_null()).sum().alias(MISSING),
    )
    of_keys = [
        pl.col(COUNT).filter(pl.col(TRUTH).cast(pl.Boolean) == is_so).first().alias(name)
        for name, is_so in zip(EFFECTS, (True, False), strict=True)
    ]
    return of_classes.group_by(table.keys or pl.lit(0)).agg(*of_keys, pl.col(MISSING).sum())


def read_once(given: _T) -> _T:
    """Cases whose lazy table is read once, for rates and for the design effects of clusters.

    Another reading of a plan may give other rows.
    """
    if isinstance(given, Cases) and given.in_clusters and isinstance(given.rows, pl.LazyFrame):
        return replace(given, rows=given.rows.cache())
    return given
