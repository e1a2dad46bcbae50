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
from polaroc.typing import By, IntoExpr, Label, Nulls, Prior, Score

RoleName: TypeAlias = Literal[
    "truth", "score", "positive", "nulls", "model", "fold", "case", "cluster", "time",
    "count", "weight", "by", "test_train_ratio", "score_prior",
]  # fmt: skip


@dataclass(frozen=True)
class Role:
    """What a role, or a fact that is no column, means."""

    text: str
    example: Any
    names_columns: bool = True
    only: bool = False  # its column may have no other role
    several: bool = False  # it may have several values
    others: tuple[str, ...] = ()  # the names that other libraries have for it
    in_words: str = ""  # of the command line, where it is written in another way there


class RowColumns(TypedDict, total=False):
    """The same for functions that have an option `score_prior`."""

    truth: Annotated[
        IntoExpr,
        Role(
            "Labels: Boolean, 0/1, or any when `positive` names the positive one(s).",
            "truth",
            only=True,
            others=("y_true", "label", "labels", "target_column", "y"),
        ),
    ]
    score: Annotated[
        Score,
        Role(
            "Numeric; higher means more likely positive. ±inf is allowed. Several columns, in a "
            "list or as ``{model: column}``, are the scores of as many models, which the first "
            "key, `model`, then tells apart.",
            "score",
            only=True,
            several=True,
            others=(
                "y_score",
                "y_prob",
                "y_proba",
                "prob",
                "proba",
                "probability",
                "prediction",
                "predictions",
                "scores",
            ),
            in_words="Numeric; higher means more likely positive. Repeated, as COLUMN or "
            "MODEL=COLUMN, each is the column of a model.",
        ),
    ]
    positive: Annotated[
        Label | Sequence[Label] | None,
        Role(
            "The label(s) that count as positive, needed unless the labels are 0 and 1, or false "
            'and true. Texts such as "NA" or "" are missing truths unless they are named here.',
            "yes",
            names_columns=False,
            several=True,
            others=("pos_label", "positive_label", "event_level"),
            in_words="A label that counts as positive.",
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
        IntoExpr | None,
        Role(
            "Which model gave the score: one answer for each. By default the column with a usual "
            'name, such as "model" or "clf"; ``None``: the rows are of one model.',
            "model",
            others=("models", "between"),
        ),
    ]
    fold: Annotated[
        By,
        Role(
            "One or several columns, such as repeat and fold: rows of different folds were scored "
            "by models fitted anew. One answer for each. By default the columns with a usual name, "
            'such as "fold", "split" or "repeat"; ``None``: there are none.',
            "fold",
            several=True,
            others=("folds", "block", "blocks", "cv"),
        ),
    ]
    case: Annotated[
        IntoExpr | None,
        Role(
            "What tells the cases apart: equal values in different models are the same case. By "
            'default the column with a usual name, such as "id" or "case".',
            "id",
            others=("id", "case_id", "cases"),
        ),
    ]
    cluster: Annotated[
        IntoExpr | None,
        Role(
            "Rows with the same value are not independent: patient, customer, day.",
            "patient",
            others=("clusters", "groups"),
        ),
    ]
    time: Annotated[IntoExpr | None, Role("When the case was: a date, a number.", "day")]
    count: Annotated[
        IntoExpr | None,
        Role(
            "How many equal cases a row stands for: whole numbers ≥ 0. All results are those of "
            "so many rows.",
            "cases",
            only=True,
            others=("counts", "freq", "frequency", "n"),
        ),
    ]
    weight: Annotated[
        IntoExpr | None,
        Role(
            "Sampling weights, finite and ≥ 0: how many cases of the population a row stands for, "
            "such as one over the chance that it was drawn. A row of weight k is still one "
            "observation; k equal rows are a `count`.",
            "weight",
            only=True,
            others=("sample_weight", "weights"),
        ),
    ]
    by: Annotated[
        By,
        Role(
            "Key columns: a separate answer for each combination of their values.",
            "hospital",
            several=True,
            others=("group", "group_by", "keys", "key"),
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
# Roles whose columns are found by their usual names where nothing is said of them.
FOUND = ("model", "fold", "case")
# What rows are counted by, the same for curves, bins and measures.
COUNTED_BY: tuple[RoleName, ...] = (
    "truth", "score", "positive", "nulls", "model", "fold", "count", "weight", "by",
)  # fmt: skip
# The same where sampling weights are not honoured.
OF_COUNTS: tuple[RoleName, ...] = tuple(role for role in COUNTED_BY if role != "weight")
# Roles that add no rows to curves and measures.
BESIDE: tuple[RoleName, ...] = (
    "case", "cluster", "time", "score_prior", "test_train_ratio",
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
# Names that other libraries have for an option that is no role.
OTHER_OPTIONS = {
    "cost_fn": ("false_negative", "cost_false_negative", "miss_cost"),
    "cost_fp": ("false_positive", "cost_false_positive", "false_alarm_cost"),
    "force": ("overwrite", "clobber", "exist_ok"),
    "level": ("confidence", "confidence_level", "alpha", "significance", "significance_level"),
    "measure": ("metric", "metrics", "scoring"),
    "out": ("output", "output_dir", "outfile", "save", "dest"),
    "over": ("range", "prior_range"),
    "prior": ("prevalence", "base_rate", "pi"),
    "priors": ("prior", "prevalence", "base_rate", "pi"),
    "quiet": ("silent",),
}  # fmt: skip
# Where the roles stand in a docstring.
PLACE = "**columns\n"


def parameters(roles: Collection[str], needed: Collection[str] = NEEDED) -> list[Parameter]:
    """The roles as parameters; ``...`` is the default of those that are found by name."""
    defaults: dict[str, Any] = dict.fromkeys(FOUND, ...)
    defaults |= {"nulls": "raise", "score_prior": "observed"}
    defaults |= {"by": ()}
    defaults |= dict.fromkeys(needed, Parameter.empty)
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
