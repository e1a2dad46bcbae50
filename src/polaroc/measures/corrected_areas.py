"""AUPREC and IAUPREC, corrected for the bias that few negatives cause."""

from collections.abc import Sequence
from dataclasses import replace

from polaroc import rates
from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import quadrature
from polaroc.curves.segments import segments_in
from polaroc.measures.areas import auprec_measures, iauprec_measure
from polaroc.measures.spec import Measure, MeasureDefinition
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import resolve_priors
from polaroc.typing import Priors, Quantity

# Gauss-Legendre nodes within a segment.
NODES = 4


def corrected_auprec_measures(priors: Priors, backend: Backend = POLARS) -> list[Measure]:
    """AUPREC at each prior, less its estimated bias."""
    measures = []
    for i, prior in enumerate(resolve_priors(priors)):
        at_prior: Priors = "observed" if prior is None else prior
        # Its intermediate columns are named after it, so that no other prior's take their place.
        (plain,) = auprec_measures(
            at_prior, "exact", "limit", backend=backend, label=f"corrected_{i}"
        )
        measures.append(_corrected(plain, f"auprec_{i}", [(plain.bias_skew, 1.0)], backend))
    return measures


def corrected_iauprec_measure(
    over: tuple[float, float] | Belief, backend: Backend = POLARS
) -> Measure:
    """IAUPREC, less its estimated bias."""
    belief = resolve_belief(over, "prior")
    nodes = list(zip(belief.skews, belief.weights, strict=True))
    plain = iauprec_measure(over, "exact", "limit", backend=backend)
    return _corrected(plain, "iauprec", nodes, backend)


def _corrected(
    plain: Measure, label: str, nodes: Sequence[tuple[Quantity, float]], backend: Backend
) -> Measure:
    """A measure with its estimated bias subtracted, and new names for it and its sum."""
    (area,) = plain.sums.values()
    summed = f"{PRIVATE}corrected_{label}"
    bias = backend.total(weight * segment_bias(skewed, backend) for skewed, weight in nodes)
    name = f"{plain.name}_corrected"
    return replace(
        plain, name=name, estimate=backend.clip(backend.column(summed), 0.0, 1.0),
        sums={summed: area - bias}, mergeable_segments=False,
    )  # fmt: skip


def segment_bias(skewed: Quantity, backend: Backend) -> Quantity:
    """Contribution of the segment that ends at a cell to the bias of AUPREC.

    Precision is convex in the false positive rate f, so its mean over samples exceeds its
    value at the mean rate. The excess is estimated from the two points one standard error
    of f to either side, a step limited to f so that neither is negative.
    """
    (t0, f0), _, (dt, df) = segments_in(backend).segment
    negatives = backend.column("negatives")
    fewer = backend.where(negatives > 1, negatives - 1, 1.0)
    terms = []
    for share, weight in quadrature(NODES):
        t, f = t0 + share * dt, f0 + share * df
        # f is interpolated between two cells, of which the rates are known: less variance.
        variance = (f * (1 - f) - share * (1 - share) * df) / fewer
        error = backend.minimum(backend.clip(variance, 0.0, 1.0) ** 0.5, f)
        low, middle, high = (rates.precision(t, at, skewed) for at in (f - error, f, f + error))
        terms.append(weight * ((low + high) / 2 - middle))
    return dt * backend.total(terms)


AUPREC_CORRECTED = MeasureDefinition(
    name="auprec_corrected",
    label="corrected AUPREC",
    description="AUPREC less the bias that few negatives bring, as far as the spread of the "
    "false positive rates tells it",
    build=lambda given: corrected_auprec_measures(given.priors, given.backend),
    at_priors=True,
    on_hull=True,
    interpolations=("exact",),
    by_default=False,
)
IAUPREC_CORRECTED = MeasureDefinition(
    name="iauprec_corrected",
    label="corrected IAUPREC",
    description="IAUPREC less that bias",
    build=lambda given: [corrected_iauprec_measure(given.over, given.backend)],
    over="belief",
    mean_of="auprec_corrected",
    on_hull=True,
    interpolations=("exact",),
    by_default=False,
)
