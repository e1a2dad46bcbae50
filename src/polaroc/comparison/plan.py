"""Validated options of a comparison."""

from dataclasses import dataclass
from typing import Literal

from polaroc.base.checks import MOST_NUMBER, check_ratio, check_share, check_whole
from polaroc.errors import Hint, InvalidArgument, check_choice

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
                hint=Hint("Tukey's test is for {target} only.", target="dataset"),
            )
        if self.target == "algorithm":
            check_ratio(self.test_train_ratio)
        elif self.test_train_ratio is not None:
            raise InvalidArgument(
                f"test_train_ratio is given with target {self.target!r}, which does not use it.",
                hint=Hint("leave it out, or take {target}.", target="algorithm"),
            )
        check_whole("permutations", self.permutations, 1, MOST_NUMBER)
        check_whole("seed", self.seed, 0)

    @property
    def confidence(self) -> float:
        """One minus the adjusted p-value at which an interval of a pair just reaches zero."""
        return 1 - self.alpha if self.level is None else self.level
