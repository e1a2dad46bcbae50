"""What is assumed of scores and clusters where the arguments of `plan` say it."""

from collections.abc import Sequence
from typing import Any

from polaroc.base.checks import (
    LEAST_SHARE,
    check_factors,
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
# of a range, of it or of the AUC, are tried.
USUAL, BETWEEN = 0.5, 3


def of_one(auc: object, shape: float) -> Assumed:
    """Normal scores of one model, with an AUC or a range of it."""
    if auc is None:
        raise InvalidArgument(
            "neither a pilot nor auc is given.",
            hint=Hint("give the AUC to expect, {auc}, or a table of predictions.", auc=0.8),
        )
    check_factors(shape=shape)
    spread = "equal spread in both classes"
    if shape != 1:
        spread = f"negatives {shape:g} times as spread as positives"
    values = _values("auc", auc, least=LEAST_SHARE, example=(0.75, 0.85))
    about = f"Scores are taken as normal, with an AUC of {_ends(values)} and {spread}."
    curves = [[of_auc(one, shape)] for one in values]
    return Assumed(curves, [0.0] * len(values), (about,), are_ends=True)


def of_two(
    auc: object, shape: float, difference: float | None, correlation: object, margin: float | None,
) -> Assumed:  # fmt: skip
    """Normal scores of a champion, and of a challenger with another AUC."""
    champion = of_one(auc, shape)
    aucs = _values("auc", auc)
    ahead = 0.0 if difference is None else difference
    if not is_number(ahead) or not 0 < aucs[0] + ahead <= aucs[-1] + ahead < 1:
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
    # What may be true are all pairs of an AUC and a correlation.
    alike = _values("correlation", USUAL if correlation is None else correlation)
    curves = [
        [curve, of_auc(one + ahead, shape) if ahead else curve]
        for one, (curve,) in zip(aucs, champion.curves, strict=True)
        for _ in alike
    ]
    both = (
        f"The challenger's AUC is {_ends([one + ahead for one in aucs])}; both models' scores "
        f"correlate with {_ends(alike)}."
    )
    return Assumed(curves, alike * len(aucs), (*champion.about, both), are_ends=True)


def _values(
    name: str, given: object, least: float = 0.0, example: tuple[float, float] = (0.3, 0.7)
) -> list[float]:
    """The values that may be true, from one or a range."""
    one: Any = given
    ends: tuple[Any, Any] = pair_of(given) or (one, one)
    if not all(is_number(end) and least <= end < 1 for end in ends) or ends[0] > ends[1]:
        raise InvalidArgument(
            f"{name} is {shortened(given)}, allowed are {least:g} ≤ {name} < 1 and a range of it.",
            hint=Hint.example(name, example),
        )
    number = BETWEEN if ends[0] < ends[1] else 1
    return [float(value) for value in np.linspace(*ends, number)]


def _ends(values: Sequence[float]) -> str:
    return " to ".join(f"{one:g}" for one in sorted({values[0], values[-1]}))


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
