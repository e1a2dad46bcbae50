"""How models are to be compared, and what of it is allowed."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors.grids import is_number

Target = Literal["algorithm", "dataset", "trained"]
Adjust = Literal["holm", "tukey"]
TARGETS = ("algorithm", "dataset", "trained")


@dataclass(frozen=True)
class Plan:
    """How models are to be compared; the arguments of `compare` of the same names."""

    target: Target = "algorithm"
    test_train_ratio: float | None = None
    alpha: float = 0.005
    level: float | None = None
    adjust: Adjust = "holm"
    permutations: int = 9_999
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("target", self.target, TARGETS)
        check_choice("adjust", self.adjust, ("holm", "tukey"))
        check_share("alpha", self.alpha)
        if self.level is not None:
            check_share("level", self.level)
        if self.adjust == "tukey" and self.target != "dataset":
            raise InvalidArgument(
                f"adjust is 'tukey' with target {self.target!r}, allowed is 'holm'.",
                hint="Tukey's test is for target='dataset' only.",
            )
        if self.target == "algorithm":
            check_ratio(self.test_train_ratio)
        elif self.test_train_ratio is not None:
            raise InvalidArgument(
                f"test_train_ratio is given with target {self.target!r}, which does not use it.",
                hint="leave it out, or take target='algorithm'.",
            )
        _check_whole("permutations", self.permutations, 1)
        _check_whole("seed", self.seed, 0)

    @property
    def confidence(self) -> float:
        """One minus the adjusted p-value at which an interval of a pair just reaches zero."""
        return 1 - self.alpha if self.level is None else self.level


def check_share(name: str, value: object) -> None:
    """Refuse what is not a number strictly between 0 and 1."""
    if not is_number(value) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise InvalidArgument(
            f"{name} is {value!r}, allowed is 0 < {name} < 1.", hint=f"for example {name}=0.05."
        )


def check_ratio(ratio: object) -> None:
    """Refuse what is not a number of test cases per training case."""
    sound = is_number(ratio) and isfinite(ratio) and ratio >= 0
    if not sound or isinstance(ratio, bool):
        raise InvalidArgument(
            f"test_train_ratio is {ratio!r}, needed is a number ≥ 0: test over training cases of "
            "a block, which the table does not tell.",
            hint="test_train_ratio=0.25 for 80/20 hold-outs, 1/(k-1) for k folds; "
            "compare(target='dataset') needs none.",
        )


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise InvalidArgument(
            f"{name} is {value!r}, allowed are whole numbers ≥ {least}.",
            hint="the default of 9999 permutations tells p-values down to 0.0001.",
        )
