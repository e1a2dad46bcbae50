"""Probabilities moved from one prior to another."""

from polaroc.typing import Quantity


def reweighted(probability: Quantity, skew_from: Quantity, skew_to: Quantity) -> Quantity:
    """A probability that is right where the skew is `skew_from`, where it is `skew_to`.

    Its odds are multiplied by the ratio of the skews; 0 and 1 stay what they are.

    Examples
    --------
    >>> reweighted(0.5, 1.0, 99.0)
    0.01
    """
    up = probability * skew_from
    return up / (up + (1 - probability) * skew_to)
