"""What is assumed of scores and clusters where the arguments of `plan` say it."""

from typing import Any

from polaroc.base.checks import (
    check_factor,
    check_share,
    check_whole,
    is_number,
    pair_of,
    refuse_unused,
    shortened,
)
from polaroc.base.lazy import np
from polaroc.errors import Hint, InvalidArgument
from polaroc.planning.scores import Assumed, of_auc

# Correlation of two models' scores within a class where nothing is said of it, and how many values
# of a range are tried.
USUAL, BETWEEN = 0.5, 5


def of_one(auc: float | None, shape: float) -> Assumed:
    """Normal scores of one model."""
    if auc is None:
        raise InvalidArgument(
            "neither a pilot nor auc is given.",
            hint=Hint("give the AUC to expect, {auc}, or a table of predictions.", auc=0.8),
        )
    check_share("auc", auc)
    check_factor("shape", shape)
    spread = "equal spread in both classes"
    if shape != 1:
        spread = f"negatives {shape:g} times as spread as positives"
    about = f"Scores are taken as normal, with an AUC of {auc:g} and {spread}."
    return Assumed([[of_auc(auc, shape)]], about=(about,))


def of_two(
    auc: float | None, shape: float, difference: float | None, correlation: object,
    margin: float | None,
) -> Assumed:  # fmt: skip
    """Normal scores of a champion, and of a challenger with another AUC."""
    champion = of_one(auc, shape)
    assert auc is not None
    ahead = 0.0 if difference is None else difference
    if not is_number(ahead) or not 0 < auc + ahead < 1:
        raise InvalidArgument(
            f"difference is {shortened(difference)}, allowed is 0 < auc + difference < 1.",
            hint=Hint.example("difference", 0.02),
        )
    if margin is None and ahead <= 0:
        raise InvalidArgument(
            f"difference is {ahead:g}, and a challenger that is no better is not found better.",
            hint=Hint("give {margin}, by how much it may be worse; or {difference}.",
                      margin=0.02, difference=0.02),
        )  # fmt: skip
    if margin is not None and ahead <= -margin:
        raise InvalidArgument(
            f"difference is {ahead:g}, and a challenger that is worse by the margin {margin:g} "
            "should not pass.",
            hint=Hint.example("margin", round(0.02 - ahead, 3)),
        )
    ((curve,),) = champion.curves
    values = _correlations(correlation)
    curves = [curve, of_auc(auc + ahead, shape) if ahead else curve]
    ends = " to ".join(f"{one:g}" for one in sorted({values[0], values[-1]}))
    both = f"The challenger's AUC is {auc + ahead:g}; both models' scores correlate with {ends}."
    return Assumed([curves] * len(values), values, (*champion.about, both))


def _correlations(given: object) -> list[float]:
    """The correlations that may be true."""
    one: Any = USUAL if given is None else given
    ends: tuple[Any, Any] = pair_of(given) or (one, one)
    if not all(is_number(end) and 0 <= end < 1 for end in ends) or ends[0] > ends[1]:
        raise InvalidArgument(
            f"correlation is {shortened(given)}, allowed are 0 ≤ correlation < 1 and a range of "
            "it.",
            hint=Hint.example("correlation", (0.3, 0.7)),
        )
    number = BETWEEN if ends[0] < ends[1] else 1
    return [float(value) for value in np.linspace(*ends, number)]


def rows_of_clusters(rows: int | None, alike: float | None, assumed: Assumed) -> tuple[int, float]:
    """How many rows a cluster has, and how alike they are: as said, else as in the pilot."""
    if rows is not None:
        check_whole("cluster_rows", rows, 1)
    if alike is not None and not (is_number(alike) and 0 <= alike < 1):
        raise InvalidArgument(
            f"cluster_correlation is {shortened(alike)}, allowed is 0 ≤ cluster_correlation < 1.",
            hint=Hint.example("cluster_correlation", 0.3),
        )
    number = assumed.rows if rows is None else rows
    if number == 1:
        refuse_unused("of rows of clusters", "a cluster has one row", cluster_correlation=alike)
    elif alike is None and assumed.rows == 1:
        raise InvalidArgument(
            "cluster_rows is given, and not how alike the rows of a cluster are.",
            hint=Hint.example("cluster_correlation", 0.3),
        )
    return number, assumed.alike if alike is None else float(alike)
