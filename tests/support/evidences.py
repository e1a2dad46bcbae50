"""Evidence by its numbers, for the tests of what is a function of it."""

import numpy as np

from polaroc.uncertainty.evidence import Evidence


def evidence(means, covariance, freedom=np.inf) -> Evidence:
    """Evidence on one measure."""
    return Evidence(list(range(len(means))), means[None], covariance[None], freedom, "models")
