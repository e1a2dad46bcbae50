"""AUPREC and IAUPREC, corrected for the bias that few negatives bring."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polaroc import rates
from polaroc.base.columns import PRIVATE
from polaroc.base.formula import Columns, clip, least, root, total, where
from polaroc.curves.segments import Segments, segments_in
from polaroc.measures.areas import auprec_measures, iauprec_measure
from polaroc.measures.spec import Measure
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import resolve_priors, skew
from polaroc.typing import Priors, Quantity

# Gauss-Legendre nodes within a segment.
NODES = 4


def corrected_auprec_measures(priors: Priors, column: Columns = pl.col) -> list[Measure]:
    """AUPREC at each prior, less its estimated bias."""
    measures = []
    for i, prior in enumerate(resolve_priors(priors)):
        own: Priors = "observed" if prior is None else prior
        (plain,) = auprec_measures(own, "exact", "limit", column=column)
        observed = column("negatives") / column("positives")
        skewed = observed if prior is None else skew(prior)
        measures.append(_corrected(plain, f"auprec_{i}", [(skewed, 1.0)], column))
    return measures


def corrected_iauprec_measure(
    over: tuple[float, float] | Belief, column: Columns = pl.col
) -> Measure:
    """IAUPREC, less its estimated bias."""
    belief = resolve_belief(over, "prior")
    nodes = list(zip(belief.skews, belief.weights, strict=True))
    plain = iauprec_measure(over, "exact", "limit", column=column)
    return _corrected(plain, "iauprec", nodes, column)


def _corrected(
    plain: Measure, label: str, nodes: Sequence[tuple[Quantity, float]], column: Columns
) -> Measure:
    """A measure whose one sum is less the bias, under names of its own."""
    (area,) = plain.sums.values()
    summed = f"{PRIVATE}corrected_{label}"
    cells = segments_in(column)
    bias = total(
        weight * segment_bias(skewed, column("negatives"), cells) for skewed, weight in nodes
    )
    parts = tuple(replace(part, name=summed) for part in plain.parts)
    name = f"{plain.name}_corrected"
    return replace(
        plain, name=name, estimate=clip(column(summed), 0.0, 1.0), sums={summed: area - bias},
        parts=parts, straight=False,
    )  # fmt: skip


def segment_bias(skewed: Quantity, negatives: Quantity, cells: Segments) -> Quantity:
    """What the segment that ends at a cell adds to the bias of AUPREC.

    Precision is convex in the false positive rate f, so its mean over samples
    lies above what it is at the mean rate. It is taken at the two points one
    standard error of f to either side: like a random half of the negatives, of
    which Richardson's extrapolation is made, they never lead to f < 0.
    """
    (t0, f0), _, (dt, df) = cells.segment
    fewer = where(negatives > 1, negatives - 1, 1.0)
    terms = []
    for share, weight in _nodes():
        t, f = t0 + share * dt, f0 + share * df
        # Of a point between two cells: both rates are known, f lies between them.
        variance = (f * (1 - f) - share * (1 - share) * df) / fewer
        error = least(root(clip(variance, 0.0, 1.0)), f)
        low, middle, high = (rates.precision(t, at, skewed) for at in (f - error, f, f + error))
        terms.append(weight * ((low + high) / 2 - middle))
    return dt * total(terms)


def _nodes() -> list[tuple[float, float]]:
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(NODES)
    return list(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))
