"""The question of a report, and its columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from polaroc.base.checks import check_factor, check_ratio, check_share
from polaroc.base.columns import column_name, column_names
from polaroc.comparison.design import Incomplete
from polaroc.errors import InvalidArgument, spelling
from polaroc.predictions.balance import model_key
from polaroc.priors.beliefs import Belief, resolve_belief

NAMELESS = "the model"


@dataclass(frozen=True)
class Question:
    """The arguments of `report` of the same names.

    Attributes
    ----------
    between
        The column that tells the models apart.
    blocks
        The columns of the blocks, none where each model was measured once.
    """

    between: str
    blocks: tuple[str, ...]
    over: tuple[float, float] | Belief | None
    test_train_ratio: float | None
    alpha: float
    level: float
    cost_fn: float
    cost_fp: float
    incomplete: Incomplete
    case: str | None

    def __post_init__(self) -> None:
        check_share("alpha", self.alpha)
        check_share("level", self.level)
        check_factor("cost_fn", self.cost_fn)
        check_factor("cost_fp", self.cost_fp)
        if self.test_train_ratio is not None:
            check_ratio(self.test_train_ratio)
        if self.over is not None:
            resolve_belief(self.over)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The range of priors, None where it is a belief or not given."""
        return None if self.over is None or isinstance(self.over, Belief) else self.over

    @property
    def keys(self) -> list[str]:
        """The columns that tell the rows of one measure apart."""
        return [self.between, *self.blocks]


def roles(
    keys: Sequence[str], between: str | None, block: str | Sequence[str] | None
) -> tuple[str, tuple[str, ...]]:
    """The column of the models and those of the blocks among the keys.

    Examples
    --------
    >>> roles(["model", "fold"], None, None)
    ('model', ('fold',))
    """
    models = model_key(keys) if between is None else column_name(between, "between")
    blocks = [key for key in keys if key != models] if block is None else block
    chosen = tuple(column_names(blocks, "block"))
    strange = [name for name in (models, *chosen) if name not in keys]
    if strange or models in chosen:
        different = "name different keys for between and block, all of them among by."
        raise InvalidArgument(
            f"between is {models!r} and block is {list(chosen)!r}; the keys are "
            f"{', '.join(map(repr, keys))}.",
            hint=spelling(strange, keys, different),
        )
    return models, chosen
