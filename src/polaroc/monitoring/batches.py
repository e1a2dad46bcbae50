"""How much batches of the reference, such as days or sites, differ beyond the prior."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from polaroc.monitoring.mixture import Fit, Reference, Sample
from polaroc.typing import Array

LEVEL = 0.95


class Spread(NamedTuple):
    """How much batches differ: by number, mean size, error of the prior, and misfit."""

    batches: int
    size: float
    deviation: float
    misfit: float

    def limits(self, fit: Fit, level: float) -> tuple[float, float]:
        """The limits of a fit, with room for how a further batch may differ."""
        from scipy.stats import t

        room = t.ppf((1 + level) / 2, self.batches - 1) * self.deviation if self.deviation else 0.0
        below, above = fit.prior - fit.lower, fit.upper - fit.prior
        lower, upper = fit.prior - sqrt(below**2 + room**2), fit.prior + sqrt(above**2 + room**2)
        return max(lower, 0.0), min(upper, 1.0)


def spread_of_batches(reference: Reference, codes: Sequence[Array]) -> Spread | None:
    """Estimate the prior of each batch from all others, and compare it with its true share.

    `codes` are the batches of positives and of negatives. Errors beyond sampling are what batches
    differ by (DerSimonian and Laird 1986). None if fewer than two batches can be left out.
    """
    from scipy.stats import f

    samples = reference.positives, reference.negatives
    errors, variances, misfits, sizes = [], [], [], []
    for batch in np.unique(np.concatenate(codes)):
        inside = [code == batch for code in codes]
        if any(mask.all() for mask in inside):
            continue
        rest = Reference(*(_part(one, ~mask) for one, mask in zip(samples, inside, strict=True)))
        parts = [_part(one, mask) for one, mask in zip(samples, inside, strict=True)]
        fit = rest.fit(_joined(parts), LEVEL)
        sizes.append(parts[0].score.size + parts[1].score.size)
        errors.append(fit.prior - parts[0].score.size / sizes[-1])
        half = (fit.upper - fit.lower) / 2
        variances.append(half**2 / f.ppf(LEVEL, 1, rest.freedom))
        misfits.append(fit.misfit)
    if len(errors) < 2:
        return None
    weight = 1 / np.array(variances)
    square = float(weight @ np.array(errors) ** 2 / weight.sum())
    excess = max(square - weight.size / float(weight.sum()), 0.0)
    # One standard error more, since sampling may hide that batches differ.
    excess += square * sqrt(2 / weight.size)
    return Spread(weight.size, float(np.mean(sizes)), sqrt(excess), float(np.mean(misfits)))


def shape_p_value(
    fit: Fit, reference: Reference, used: Sample, spread: Spread | None
) -> float | None:
    """The p-value of a test that the scores in use are a mixture of the reference's classes.

    Misfits of batches that fit badly, too, are the scale: they grow with the number of cases, and
    may all be in one direction, so that the test has one degree of freedom.
    """
    from scipy.stats import f

    if not fit.freedom:
        return None
    p_value = float(f.sf(fit.misfit, fit.freedom, reference.freedom))
    if spread is not None and spread.misfit > 1:
        scale = 1 + (spread.misfit - 1) * max(used.score.size / spread.size, 1)
        p_value = max(p_value, float(f.sf(fit.misfit / scale, 1, spread.batches - 1)))
    return p_value


def _part(sample: Sample, mask: Array) -> Sample:
    cluster = None if sample.cluster is None else sample.cluster[mask]
    return Sample(sample.score[mask], cluster)


def _joined(samples: Sequence[Sample]) -> Sample:
    clusters = [one.cluster for one in samples if one.cluster is not None]
    cluster = np.concatenate(clusters) if clusters else None
    return Sample(np.concatenate([one.score for one in samples]), cluster)
