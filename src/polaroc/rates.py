"""Rates of a classifier at one operating point, under any class prior.

Every function is plain arithmetic on the true positive rate ``tpr`` (recall),
the false positive rate ``fpr`` and the ``skew`` λ = (1−π)/π, where π is the
prior probability of a positive; so each works alike on floats, numpy arrays
and Polars expressions. Rates are between 0 and 1 unless said otherwise, and
0/0 is NaN.
"""

from math import copysign, inf, nan

from polaroc.typing import Quantity


def ratio(numerator: Quantity, denominator: Quantity) -> Quantity:
    """A quotient that is NaN at 0/0 for plain numbers too, as it is for arrays.

    Examples
    --------
    >>> ratio(1, 4), ratio(0.0, 0.0), ratio(1.0, 0.0)
    (0.25, nan, inf)
    """
    plain = isinstance(denominator, int | float) and isinstance(numerator, int | float)
    if plain and denominator == 0:
        return nan if numerator == 0 or numerator != numerator else copysign(inf, numerator)
    return numerator / denominator


def precision(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of positives among the cases called positive: t/(t + λf), P-ROC Eq. 3.

    Examples
    --------
    >>> precision(0.8, 0.1, skew=9)
    0.47...
    """
    return ratio(tpr, tpr + skew * fpr)


def recall(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of positives that are called positive: t, whatever the prior.

    Examples
    --------
    >>> recall(0.8, 0.1, skew=9)
    0.8
    """
    return tpr


def specificity(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of negatives that are called negative, the true negative rate: 1 − f.

    Examples
    --------
    >>> specificity(0.8, 0.25, skew=9)
    0.75
    """
    return 1 - fpr


tnr = specificity


def fnr(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of positives that are missed, the false negative rate: 1 − t.

    Examples
    --------
    >>> fnr(0.75, 0.1, skew=9)
    0.25
    """
    return 1 - tpr


def npv(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of negatives among the cases called negative: λ(1−f)/(λ(1−f) + (1−t)).

    Examples
    --------
    >>> npv(0.8, 0.1, skew=1)
    0.81...
    """
    return ratio(skew * (1 - fpr), skew * (1 - fpr) + (1 - tpr))


def error(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of cases called wrongly: π(1−t) + (1−π)f, P-ROC §2.

    Examples
    --------
    >>> round(error(0.8, 0.1, skew=1), 12)
    0.15
    """
    return ((1 - tpr) + skew * fpr) / (1 + skew)


def accuracy(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of cases called rightly: 1 − error, P-ROC §2.

    Examples
    --------
    >>> round(accuracy(0.8, 0.1, skew=1), 12)
    0.85
    """
    return (tpr + skew * (1 - fpr)) / (1 + skew)


def posfrac(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Share of cases called positive: πt + (1−π)f, P-ROC §2.

    Examples
    --------
    >>> round(posfrac(0.8, 0.1, skew=1), 12)
    0.45
    """
    return (tpr + skew * fpr) / (1 + skew)


def f_measure(tpr: Quantity, fpr: Quantity, skew: Quantity, *, beta: float = 1) -> Quantity:
    """Weighted harmonic mean of precision and recall: (1+β²)t/(t + λf + β²).

    At β = 1 and λ = 1 it is the F-measure of P-ROC §2.

    Examples
    --------
    >>> round(f_measure(0.8, 0.1, skew=1), 6)
    0.842105
    """
    return ratio((1 + beta**2) * tpr, tpr + skew * fpr + beta**2)


def lift(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Precision as a multiple of the prior: precision/π, from 0 to 1/π.

    Examples
    --------
    >>> round(lift(0.8, 0.1, skew=1), 6)
    1.777778
    """
    return precision(tpr, fpr, skew) * (1 + skew)


def likelihood_ratio_positive(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Factor by which a positive call multiplies the odds of a positive: t/f, from 0 to ∞.

    Examples
    --------
    >>> likelihood_ratio_positive(0.8, 0.1, skew=9)
    8.0
    """
    return ratio(tpr, fpr)


def likelihood_ratio_negative(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Factor by which a negative call multiplies the odds of a positive: (1−t)/(1−f), 0 to ∞.

    Examples
    --------
    >>> likelihood_ratio_negative(0.75, 0.5, skew=9)
    0.5
    """
    return ratio(1 - tpr, 1 - fpr)


def informedness(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Youden's J, the height above the chance line: t − f, from −1 to 1.

    Examples
    --------
    >>> round(informedness(0.8, 0.1, skew=9), 12)
    0.7
    """
    return tpr - fpr


def matthews(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Matthews correlation of call and truth at the prior: √λ(t−f)/√((t+λf)((1−t)+λ(1−f))).

    From −1 to 1; undefined where all cases are called alike.

    Examples
    --------
    >>> round(matthews(0.8, 0.2, skew=1), 12)
    0.6
    """
    called = (tpr + skew * fpr) * ((1 - tpr) + skew * (1 - fpr))
    return ratio(skew**0.5 * (tpr - fpr), called**0.5)


def loss(
    tpr: Quantity,
    fpr: Quantity,
    skew: Quantity,
    *,
    theta: float = 0.5,
    cost_fn: float = 1,
    cost_fp: float = 1,
) -> Quantity:
    """Expected loss per case: θ c₁ π(1−t) + (1−θ) c₂ (1−π)f, AccSens §2.

    `theta` is the balance between the two kinds of error (0 to 1), `cost_fn`
    and `cost_fp` are the costs of a missed positive and of a false alarm, in
    any one unit.

    Examples
    --------
    >>> round(loss(0.8, 0.1, skew=1, cost_fn=10), 12)
    0.525
    """
    return (theta * cost_fn * (1 - tpr) + (1 - theta) * cost_fp * skew * fpr) / (1 + skew)


def net_benefit(
    tpr: Quantity, fpr: Quantity, skew: Quantity, *, threshold: Quantity = 0.5
) -> Quantity:
    """True positives per case, less false positives weighed by odds: πt − (1−π)f·p/(1−p).

    `threshold` is p, the probability at which a case is worth calling positive
    (0 ≤ p < 1). At most π; negative where treating nobody is better.

    Examples
    --------
    >>> round(net_benefit(0.8, 0.1, skew=1, threshold=0.2), 12)
    0.3875
    """
    return (tpr - skew * fpr * threshold / (1 - threshold)) / (1 + skew)


def recall_gain(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Recall on the scale of precision-recall-gain curves: 1 − (1−t)/(λt).

    Flach and Kull (2015): 0 at the recall of calling as many positive as there
    are, 1 at full recall; negative, down to −∞, below.

    Examples
    --------
    >>> recall_gain(0.5, 0.1, skew=4)
    0.75
    """
    return 1 - ratio(1 - tpr, skew * tpr)


def precision_gain(tpr: Quantity, fpr: Quantity, skew: Quantity) -> Quantity:
    """Precision on the scale of precision-recall-gain curves: 1 − f/t, whatever the prior.

    Flach and Kull (2015): 0 at the precision of chance, 1 at full precision;
    negative, down to −∞, below.

    Examples
    --------
    >>> precision_gain(0.5, 0.125, skew=4)
    0.75
    """
    return 1 - ratio(fpr, tpr)
