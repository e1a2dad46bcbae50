"""What the columns of predictions may mean: each role and fact, declared once.

Every function that takes predictions takes these as keywords, by `takes_cases`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

from polaroc.base.docstrings import entries, put_in
from polaroc.typing import By, Label, Nulls, Prior, Score

RoleName: TypeAlias = Literal[
    "truth", "score", "positive", "nulls", "model", "fold", "case", "cluster",
    "count", "weight", "by", "test_train_ratio", "score_prior",
]  # fmt: skip


@dataclass(frozen=True)
class Role:
    """The meaning of a role, or of a fact that is no column."""

    text: str
    example: Any
    names_columns: bool = True
    only: bool = False  # its column may have no other role


class RowColumns(TypedDict, total=False):
    """The same for functions that have an option `score_prior`."""

    truth: Annotated[
        str,
        Role(
            "Labels: Boolean, 0/1, or any when `positive` names the positive one(s). By default "
            'the column "truth".',
            "truth",
            only=True,
        ),
    ]
    score: Annotated[
        Score,
        Role(
            'Numeric; higher means more likely positive. By default the column "score". ±inf is '
            "allowed. A list of columns has the scores of as many models, each named as its "
            "column in the first key, `model`.",
            "score",
            only=True,
        ),
    ]
    positive: Annotated[
        Label | Sequence[Label] | None,
        Role(
            "The label(s) that count as positive, needed unless the labels are 0 and 1, or false "
            'and true. Texts such as "NA" or "" are missing truths unless they are named here.',
            "yes",
            names_columns=False,
        ),
    ]
    nulls: Annotated[
        Nulls,
        Role(
            '``"raise"``: null or NaN scores and null truths, counts or weights are an error. '
            '``"drop"``: such rows are left out.',
            "drop",
            names_columns=False,
        ),
    ]
    model: Annotated[
        str | None,
        Role(
            'Which model gave the score: one answer for each. By default the column "model", if '
            "there is one; ``None``: the rows are of one model.",
            "model",
        ),
    ]
    fold: Annotated[
        By,
        Role(
            "One or several columns, such as repeat and fold: rows of different folds were scored "
            'by models fitted anew. One answer for each. By default the column "fold", if there is '
            "one; ``None``: there are none.",
            "fold",
        ),
    ]
    case: Annotated[
        str | None,
        Role(
            "What tells the cases apart: equal values in different models are the same case. By "
            'default the column "case", if there is one; ``None``: there is none.',
            "case",
        ),
    ]
    cluster: Annotated[
        str | None,
        Role(
            "Rows with the same value are not independent: patient, customer, day.",
            "patient",
        ),
    ]
    count: Annotated[
        str | None,
        Role(
            "How many equal cases a row stands for: whole numbers ≥ 0. All results are those of "
            "so many rows.",
            "cases",
            only=True,
        ),
    ]
    weight: Annotated[
        str | None,
        Role(
            "Sampling weights, finite and ≥ 0: how many cases of the population a row stands for, "
            "such as one over the chance that it was drawn. A row of weight k is still one "
            "observation; k equal rows are a `count`.",
            "weight",
            only=True,
        ),
    ]
    by: Annotated[
        By,
        Role(
            "Key columns: a separate answer for each combination of their values.",
            "hospital",
        ),
    ]
    test_train_ratio: Annotated[
        float | None,
        Role(
            "Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds.",
            0.25,
            names_columns=False,
        ),
    ]


class Columns(RowColumns, total=False):
    """The roles of columns, and facts about the table, as keywords."""

    score_prior: Annotated[
        Prior,
        Role(
            "The prior at which scores are right as they stand: a prior in (0, 1), or "
            '``"observed"``, each key\'s own.',
            0.1,
            names_columns=False,
        ),
    ]


_TYPES: Mapping[str, Any] = get_type_hints(Columns, include_extras=True)
ANNOTATIONS: dict[str, Any] = {
    name: get_args(kind)[0] for name, kind in _TYPES.items() if get_origin(kind) is Annotated
}
ROLES: dict[str, Role] = {name: get_args(kind)[1] for name, kind in _TYPES.items()}
COLUMN_ROLES = [name for name, role in ROLES.items() if role.names_columns]
# Roles without which there is nothing to compute.
NEEDED = ("truth", "score")
# Other roles that by default have the column of their name, if there is one.
FOUND = ("model", "fold", "case")
# What rows are counted by, the same for curves, bins and measures.
COUNTED_BY: tuple[RoleName, ...] = (
    "truth", "score", "positive", "nulls", "model", "fold", "count", "weight", "by",
)  # fmt: skip
# The same where sampling weights are not honoured.
OF_COUNTS: tuple[RoleName, ...] = tuple(role for role in COUNTED_BY if role != "weight")
# Roles that add no rows to curves and measures.
BESIDE: tuple[RoleName, ...] = (
    "case", "cluster", "score_prior", "test_train_ratio",
)  # fmt: skip
# What models are compared by.
COMPARED_BY: tuple[RoleName, ...] = (
    "truth", "score", "positive", "nulls", "model", "fold", "case", "cluster", "count",
    "weight", "score_prior", "test_train_ratio",
)  # fmt: skip
# What a table of measures may have.
OF_MEASURES = ("model", "fold", "test_train_ratio")
# Pairs of roles that one column may not have, beside those that may have no other role.
APART = (("model", "fold"), ("model", "case"))
# Where the roles stand in a docstring.
PLACE = "**columns\n"


def parameters(roles: Collection[str], needed: Collection[str] = NEEDED) -> list[Parameter]:
    """The roles as parameters; those that are `needed` have a default, their own name, as well."""
    defaults: dict[str, Any] = {role: role for role in FOUND}
    defaults |= {"nulls": "raise", "score_prior": "observed"}
    defaults |= {"by": ()}
    defaults |= {role: role for role in needed}
    return [
        Parameter(
            role, Parameter.KEYWORD_ONLY, default=defaults.get(role), annotation=ANNOTATIONS[role]
        )
        for role in ROLES
        if role in roles
    ]


def documented(text: str | None, roles: Collection[str], no_bearing: Collection[str] = ()) -> str:
    """A docstring with the roles in the place of ``**columns``."""
    used = {role: one.text for role, one in ROLES.items() if role in roles}
    beside = [role for role in used if role in no_bearing]
    texts = {role: words for role, words in used.items() if role not in beside}
    if beside:
        texts[", ".join(beside)] = "As in `cases`; no bearing on the result."
    return put_in(text, PLACE, entries(texts))
