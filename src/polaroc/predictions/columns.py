"""The keywords that say what the columns of a table of predictions mean."""

from collections.abc import Sequence
from typing import TypedDict

from polaroc.typing import Label, Nulls

# Roles without which there is nothing to compute.
NEEDED = ("truth", "score")
# Roles that a column has by its name, where no other is named.
BY_DEFAULT = (*NEEDED, "model", "fold", "case")
# Roles that name columns, in the order of the canonical table.
ROLES = ("model", "fold", "case", "cluster", "truth", "score", "weight", "count")
# Names of the canonical columns, which no column of `by` may have.
CANONICAL = frozenset((*ROLES, "error"))


class Columns(TypedDict, total=False):
    """The keywords, which the docstring of `cases` explains."""

    truth: str | None
    score: str | Sequence[str] | None
    model: str | None
    fold: str | Sequence[str] | None
    case: str | None
    cluster: str | None
    weight: str | None
    count: str | None
    by: str | Sequence[str] | None
    positive: Label | Sequence[Label] | None
    nulls: Nulls


KEYWORDS = (*Columns.__annotations__,)
