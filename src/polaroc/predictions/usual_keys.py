"""Default key columns, by usual names."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from polaroc.base.columns import RESERVED, column_name, column_names, not_among_keys
from polaroc.base.private_columns import PRIVATE
from polaroc.errors import Hint, InvalidArgument, quoted

MODELS = (
    "model", "classifier", "clf", "estimator", "algorithm", "algo", "method", "learner",
)  # fmt: skip
FOLDS = (
    "fold", "split", "half", "repeat", "repetition", "replicate", "resample", "holdout", "seed",
    "run",
)  # fmt: skip
# Words that may accompany a usual name, as in "Model Name" or "outer_cv_split".
BESIDE = {
    "name", "id", "no", "nr", "num", "number", "index", "idx", "key", "cv", "cross", "validation",
    "val", "test", "train", "outer", "inner",
}  # fmt: skip
CASES = {
    "id", "uid", "uuid", "index", "idx", "case", "row", "sample", "example", "instance",
    "observation", "obs", "record", "item",
}  # fmt: skip
# Units of which a table may hold several rows, and words that may accompany these names.
UNITS = {
    "patient", "customer", "subject", "user", "person", "client", "account", "device", "household",
    "participant", "member", "individual", "employee", "student", "visitor", "family", "animal",
}  # fmt: skip
BESIDE_UNITS = BESIDE | {"uid", "uuid", "hash", "code", "ref"}
# Of cases names that number the rows of a file, and so start again in the next.
ROW_NUMBERS = {"index", "idx", "row"}
TRUTHS = ("truth", "y_true", "label", "target", "actual", "outcome", "y")
SCORES = ("score", "y_score", "probability", "proba", "prob", "y_prob", "p", "prediction", "pred")


@dataclass(frozen=True)
class UsualKeys:
    """The columns of a table with a usual name of models, and of folds."""

    models: list[str]
    folds: list[str]

    @property
    def keys(self) -> list[str]:
        """All columns with usual names, models first."""
        return [*self.models, *self.folds]


def usual_name(name: str) -> Literal["model", "fold"] | None:
    """The role of a key column, models or folds, by its name; None where the name is unusual.

    Examples
    --------
    >>> [usual_name(name) for name in ("Model Name", "clf", "cv_fold", "score")]
    ['model', 'model', 'fold', None]
    """
    words = _words(name)
    own = [word for word in words if word not in BESIDE]
    if not own and "cv" in words:
        return "fold"
    # Two words may be one, such as in "hold-out".
    word = re.sub(r"^cv|(name|id|no|s)$", "", "".join(own)) if len(own) <= 2 else ""
    if "".join(own) in MODELS or word in MODELS:
        return "model"
    return "fold" if "".join(own) in FOLDS or word in FOLDS else None


def usual_case(names: Iterable[str]) -> str | None:
    """The first column that by its name tells cases apart.

    Examples
    --------
    >>> usual_case(["model", "Case ID", "score"]), usual_case(["model", "score"])
    ('Case ID', None)
    """
    return next((name for name in names if _words(name) and CASES.issuperset(_words(name))), None)


def usual_units(names: Iterable[str]) -> list[str]:
    """The columns that by their names tell cases apart, or patients and the like.

    Examples
    --------
    >>> usual_units(["model", "Patient ID", "userid", "device_type", "case", "score"])
    ['Patient ID', 'userid', 'case']
    """
    return [name for name in names if _is_unit(name) or _is_numbered_case(name)]


def usual_columns(names: Collection[str]) -> tuple[str, str] | None:
    """The columns that by their names hold truth and score, None where one lacks.

    Examples
    --------
    >>> usual_columns(["id", "label", "score"]), usual_columns(["model", "estimate"])
    (('label', 'score'), None)
    """
    truth, score = (
        next((name for usual in those for name in names if name.lower() == usual), None)
        for those in (TRUTHS, SCORES)
    )
    return None if truth is None or score is None else (truth, score)


def usual_names(names: Iterable[str]) -> UsualKeys:
    """Default keys by name alone, for columns such as those of a measure table."""
    roles = {name: usual_name(name) for name in names}
    models = [name for name, what in roles.items() if what == "model"]
    models.sort(key=lambda name: name != "model")
    return UsualKeys(models, [name for name, what in roles.items() if what == "fold"])


def keys_named(
    role: Literal["model", "fold"], said: str | Sequence[str] | None, keys: Sequence[str]
) -> list[str]:
    """The keys of a table that tell its models or its folds apart: as said, else by usual names.

    Examples
    --------
    >>> keys_named("model", None, ["clf", "cv fold"]), keys_named("fold", "site", ["clf", "site"])
    (['clf'], ['site'])
    """
    usual = usual_names(keys)
    if role == "model":
        named = usual.models[:1] if said is None else [column_name(said, role)]
    else:
        named = usual.folds if said is None else column_names(said, role)
    if not named or any(name not in keys for name in named):
        raise not_among_keys(role, said, keys)
    return named


def found_by_name(schema: Mapping[str, pl.DataType], roles: Collection[str]) -> dict[str, Any]:
    """Those of the roles model, fold and case whose columns have usual names, by name and type.

    Examples
    --------
    >>> schema = {"clf": pl.String(), "cv fold": pl.Int64(), "p": pl.Float64()}
    >>> found_by_name(schema, ["model", "fold"])
    {'model': 'clf', 'fold': ('cv fold',)}
    """
    named = _named(schema)
    models, folds = named.models, tuple(named.folds)
    for role, names in (("model", models), ("fold", folds)):
        for name in names if role in roles else ():
            kind = schema[name]
            if kind.is_float() or kind.is_nested() or kind in (pl.Object, pl.Binary):
                raise InvalidArgument(
                    f"{name!r} may by its name tell the {role}s apart, and is {kind}.",
                    hint=Hint(
                        f"say whether it does, {{{role}}}, or that nothing does, {role}=None.",
                        **{role: name},
                    ),
                )
    if "model" in roles and len(models) > 1:
        raise InvalidArgument(
            f"{quoted(models)} may all tell the models apart.",
            hint=Hint("name the one that does, {model}, or none.", model=models[0]),
        )
    case = usual_case(name for name, kind in schema.items() if may_be_key(kind))
    found = {"model": next(iter(models), None), "fold": folds, "case": case}
    return {role: column for role, column in found.items() if role in roles and column}


def column_names_of(columns: Iterable[object]) -> list[str]:
    """The names of columns, and of those that expressions read.

    Of which columns a selector is, only the table tells.
    """
    names: list[str] = []
    for one in columns:
        if isinstance(one, pl.Expr):
            names += [] if one.meta.has_multiple_outputs() else one.meta.root_names()
        elif isinstance(one, str):
            names.append(one)
    return names


def _named(schema: Mapping[str, pl.DataType]) -> UsualKeys:
    """The columns with a usual name whose type may fit it."""
    named = usual_names(
        name
        for name, kind in schema.items()
        if name not in RESERVED and not name.startswith(PRIVATE) and kind != pl.Null
    )
    models = [name for name in named.models if not schema[name].is_temporal()]
    return UsualKeys(models, named.folds)


def _is_unit(name: str) -> bool:
    own = [word for word in _words(name) if word not in BESIDE_UNITS]
    return len(own) == 1 and not UNITS.isdisjoint({own[0], re.sub(r"(id|no|s)$", "", own[0])})


def _is_numbered_case(name: str) -> bool:
    words = set(_words(name))
    return bool(words) and words <= CASES and not words & ROW_NUMBERS


def may_be_key(dtype: pl.DataType) -> bool:
    """Whether a column of this type may tell models, folds or cases apart."""
    return dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum)


def _words(name: str) -> list[str]:
    """The words of a name, in small letters.

    Examples
    --------
    >>> _words("Model Name"), _words("cvFold")
    (['model', 'name'], ['cv', 'fold'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]
