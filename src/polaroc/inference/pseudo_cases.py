"""Curves with half a pseudo-case of each class at an end of the ranking.

A sample does not show false positive rates below one over the number of negatives,
nor recalls below one over the number of positives. Pseudo-cases at the worst ranks widen
the lower limit of a measure, those at the best ranks its upper limit.
"""

import numpy as np

from polaroc.inference.moved_segments import Segments
from polaroc.typing import Array

# No pseudo-cases, ranked worst, ranked best.
NONE, WORST, BEST = PLACES = range(3)
# As much as Jeffreys' prior adds to either side of a share.
PSEUDO = 0.5


def with_pseudo_cases(
    segments: Segments, place: int, positive: "Array", negative: "Array"
) -> Segments:
    """Segments with so many pseudo-cases of each class in each key, at a place.

    Totals do not change, since they give the observed prior: the other counts are scaled down
    by the pseudo-cases.
    """
    if place == NONE:
        return segments
    positives, negatives = segments.positives, segments.negatives
    by_pos, by_neg = positives / (positives + positive), negatives / (negatives + negative)
    nothing = np.zeros(len(positives))
    tp, fp = segments.tp, segments.fp
    if place == BEST:
        tp, at = tp + segments.each(positive), segments.starts
        cells = {"pos": positive, "neg": nothing, "tp": positive, "fp": nothing}
    else:
        fp, at = fp + segments.each(negative), segments.ends + 1
        cells = {"pos": positive, "neg": nothing, "tp": positives + positive,
                 "fp": negatives + negative}  # fmt: skip
    counts = {"pos": segments.pos, "neg": segments.neg, "tp": tp, "fp": fp}
    starts = segments.starts + np.arange(len(positives))
    sizes = segments.sizes + 1
    return Segments(
        **{
            name: np.insert(own, at, cells[name])
            * np.repeat(by_pos if name in ("pos", "tp") else by_neg, sizes)
            for name, own in counts.items()
        },
        positives=positives, negatives=negatives, starts=starts, units=segments.units,
    )  # fmt: skip
