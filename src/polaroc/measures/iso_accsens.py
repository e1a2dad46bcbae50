"""Lines of equal AccSens in the plane of error and prior sensitivity."""

from collections.abc import Sequence
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.errors import Hint, InvalidArgument
from polaroc.measures.sensitivity import check_weights

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

STEPS = 60
SCHEMA = pl.Schema(dict.fromkeys(("level", "error", "sens"), pl.Float64))


def accsens_arcs(levels: Sequence[float], weights: tuple[float, float] = (1, 1)) -> pl.DataFrame:
    """Lines of equal AccSens: `error`, 1 − area, against `sens`, at each `level` > 0.

    AccSens Eq. 4 solved for its level: an ellipse with half-axes √2·level/√w, from where Sens
    is 0 to where the error is 0; where a weight is 0, a straight line across 0 to 1.

    Examples
    --------
    >>> accsens_arcs([0.1]).select(pl.all().round(6)).row(0)
    (0.1, 0.141421, 0.0)
    """
    check_arc_weights(weights)
    arcs = [
        pl.DataFrame({"level": [level] * (STEPS + 1), **_arc(level, *weights)}) for level in levels
    ]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *arcs])


def check_arc_weights(weights: Sequence[float]) -> None:
    """Refuse weights of which none counts."""
    check_weights(weights)
    if not any(weights):
        raise InvalidArgument(
            "weights are both 0, and so is AccSens.", hint=Hint.example("weights", (1, 1))
        )


def _arc(level: float, by_error: float, by_sens: float) -> "dict[str, Array]":
    import numpy as np

    share = np.linspace(0, 1, STEPS + 1)
    level *= sqrt(2)
    if not by_error:
        return {"error": 1 - share, "sens": np.full(len(share), level / sqrt(by_sens))}
    if not by_sens:
        return {"error": np.full(len(share), level / sqrt(by_error)), "sens": share}
    # The ends are exact: the sine of a rounded multiple of π is not 0.
    across = np.sin(share[::-1] * pi / 2)
    return {"error": level / sqrt(by_error) * across, "sens": level / sqrt(by_sens) * across[::-1]}
