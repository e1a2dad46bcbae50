"""A table of predictions in canonical columns, with which every function begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import chain
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    get_args,
    overload,
)

import polars as pl

from polaroc.base.columns import COUNT, LABEL, PRIVATE, TEXTUAL, collect_like
from polaroc.base.tables import as_polars
from polaroc.base.text import listed_rows
from polaroc.errors import (
    InvalidArgument,
    InvalidPredictions,
    NotSupported,
    check_choice,
    quoted,
    warn,
)
from polaroc.predictions.columns import (
    IDENTIFYING,
    NEEDED,
    ROLES,
    Columns,
    canonical_rows,
    named_columns,
)
from polaroc.predictions.row_checks import (
    DROP_ROWS,
    NULL_TRUTH,
    ROW_ERROR_HINTS,
    ROW_ERRORS,
    UNKNOWN_LABEL,
    WRONG,
    check_labels,
    label_details,
)
from polaroc.typing import EagerTable, Held, Nulls, PolarsFrame, Prior, Table

_R = TypeVar("_R")
_P = ParamSpec("_P")
# Names of parts of the data, such as "train" and "test_set", which are not folds.
DATA_PART = re.compile(
    r"(?i)(train(ing)?|test(ing)?|val(id(ation)?)?|dev|hold[-_ ]?out|tun(e|ing))([-_ ]?(set|data))?"
)
# Columns by which a table of measures is recognised.
MEASURED = ("measure", "estimate")


class FrameOfCases(Protocol[_P]):
    """A function of predictions: of a LazyFrame it returns one, of any other table a DataFrame."""

    @overload
    def __call__(
        self, table: pl.LazyFrame | Cases[pl.LazyFrame], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> pl.LazyFrame: ...

    @overload
    def __call__(
        self, table: EagerTable | Cases[pl.DataFrame], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> pl.DataFrame: ...


def frame_of_cases(function: Callable[Concatenate[Any, _P], Any]) -> FrameOfCases[_P]:
    """The function as it is; type checkers learn which kind of frame it returns."""
    return cast(FrameOfCases[_P], function)


@dataclass(frozen=True, eq=False, repr=False)
class Cases(Generic[Held]):
    """Predictions in canonical columns, as `cases` returns them.

    Attributes
    ----------
    rows
        One row per prediction: the columns of `by` under their own names; `model`, `fold`, `case`
        and `cluster`, where there are such columns; `truth` Boolean; `score` Float64; `weight` or
        `count` Float64. If some rows cannot be ranked and were not refused, `error` UInt8 is the
        code of the reason, null for the others.
    truth, score, model, case, cluster, weight, count
        The name of the canonical column, or None where there is none.
    fold, by
        The names of the columns, if any.
    nulls
        Whether rows with missing values raise or are dropped.
    source, columns
        The table and the keywords that the cases were made from.

    Examples
    --------
    >>> import polaroc as pr
    >>> cases = pr.cases(pr.datasets.twenty_scores())
    >>> print(cases)
    20 rows, 10 positives
    truth  'truth' (by default)
    score  'score' (by default)
    >>> cases.pipe(pr.evaluate, measure="auc")["estimate"].item()
    0.68
    """

    rows: Held
    _: KW_ONLY
    truth: str | None = None
    score: str | None = None
    model: str | None = None
    fold: tuple[str, ...] = ()
    case: str | None = None
    cluster: str | None = None
    weight: str | None = None
    count: str | None = None
    by: tuple[str, ...] = ()
    nulls: Nulls = "raise"
    source: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    # Arguments of a function of cases, kept with them.
    score_prior: Prior = "observed"
    test_train_ratio: float | None = None
    # The user's columns of each role.
    names: Mapping[str, list[str]] = field(default_factory=dict)
    # Codes of the errors that rows may have, and whether the rows were checked for fatal ones.
    errors: tuple[int, ...] = ()
    is_valid: bool = False

    @property
    def in_clusters(self) -> bool:
        """Whether standard errors are summed by cluster; a row with a sampling weight is one."""
        return self.cluster is not None or self.weight is not None

    @property
    def counted_by(self) -> str | None:
        """The column by which rows count more or less than once, if any."""
        return self.count or self.weight

    @property
    def keys(self) -> list[str]:
        """The key columns in order: each combination of their values has its own results."""
        return [*self.by, *([] if self.model is None else [self.model]), *self.fold]

    @property
    def is_numbered(self) -> bool:
        """Whether `case` numbers the rows, and is no column of the table."""
        return self.case is not None and "case" not in self.names

    def is_default(self, role: str) -> bool:
        """Whether a column has the role by its name alone, without a keyword."""
        return role in self.names and role not in self.columns

    @property
    def fatal(self) -> list[int]:
        """Codes of errors for which no result is computed."""
        return [code for code in self.errors if self.nulls == "raise" or code in WRONG]

    @property
    def valid_rows(self) -> Held:
        """The rows that can be ranked."""
        rows: Any = self.rows
        has_errors = "error" in rows.collect_schema()
        return rows.filter(pl.col("error").is_null()) if has_errors else rows

    def collect(self) -> Cases[pl.DataFrame]:
        """The cases in memory; raise for rows that cannot be ranked, and for unclear labels."""
        cases: Any = self
        if self.is_valid and isinstance(self.rows, pl.DataFrame):
            return cases
        rows = self.rows.lazy().collect()
        held: Cases[pl.DataFrame] = replace(
            cases, rows=rows.drop(LABEL, strict=False), is_valid=True
        )
        if "error" not in rows:
            return held
        warn_of_parts(held, rows)
        check_labels_of(held, rows[LABEL].unique() if LABEL in rows else None)
        if rows["error"].null_count() == rows.height:
            return replace(held, rows=held.rows.drop("error"), errors=())
        wrong = rows.lazy().drop_nulls("error").group_by("error", *self.keys)
        refuse_errors(held, wrong.agg(pl.len().alias(COUNT)).collect())
        return replace(held, errors=tuple(code for code in self.errors if code not in WRONG))

    def like(self, result: pl.LazyFrame) -> PolarsFrame:
        """A result as a LazyFrame where the cases are lazy, else as a DataFrame."""
        rows: Any = self.rows
        return collect_like(rows, result)

    def pipe(
        self, function: Callable[Concatenate[Cases[Held], _P], _R], /,
        *args: _P.args, **kwargs: _P.kwargs,
    ) -> _R:  # fmt: skip
        """The result of a function of these cases."""
        return function(self, *args, **kwargs)

    def __repr__(self) -> str:
        names, rows, lines = self.names, self.rows, ["a lazy table"]
        if isinstance(rows, pl.DataFrame):
            valid: Any = self.valid_rows
            if len(names.get("score", ())) > 1:
                # Each row of the table has a score of each model.
                valid = valid.filter(model=names["score"][0])
            positives = "" if self.truth is None else f", {valid['truth'].sum():,} positives"
            lines = [f"{self.source.height:,} rows{positives}"]
        width = max(map(len, names))
        for role in dict.fromkeys((*NEEDED, *ROLES, "by")):
            if role in names:
                words = quoted(names[role]) + " (by default)" * self.is_default(role)
                if isinstance(rows, pl.DataFrame) and role in IDENTIFYING:
                    words += f": {rows.select(self.by if role == 'by' else role).n_unique():,}"
                if role == "score" and len(names[role]) > 1:
                    words += f": {len(names[role]):,} models"
                lines.append(f"{role:<{width}}  {words}")
        for keyword in ("positive", "nulls"):
            if self.columns.get(keyword) not in (None, "raise"):
                lines.append(f"{keyword:<{width}}  {self.columns[keyword]!r}")
        used = {*chain(*names.values())}
        columns = [name for name in self.source.collect_schema() if not name.startswith(PRIVATE)]
        if unused := [name for name in columns if name not in used]:
            lines.append(f"not used: {quoted(unused)}")
        return "\n".join(lines)


@overload
def cases(
    table: pl.LazyFrame | Cases[pl.LazyFrame], **columns: Unpack[Columns]
) -> Cases[pl.LazyFrame]: ...


@overload
def cases(
    table: EagerTable | Cases[pl.DataFrame], **columns: Unpack[Columns]
) -> Cases[pl.DataFrame]: ...


def cases(table: Table | Cases[Any], **columns: Unpack[Columns]) -> Cases[Any]:
    """Say what the columns of a table of predictions mean, once for all functions.

    Every function that takes predictions takes a table with these keywords, or the result.

    Parameters
    ----------
    table
        Predictions, one row per case (and model and fold): a Polars frame; a table of pandas,
        PyArrow, DuckDB or another library with Arrow streams; a mapping of column names to arrays;
        or cases, of which the columns that are named change. Files are read with `polars.scan_csv`
        and the like.
    **columns
        Names of columns, and how their values are read:

        truth
            Labels: Boolean, 0/1, or any when `positive` names the positive one(s). By default the
            column "truth".
        score
            Numeric; higher means more likely positive; ±inf is allowed. By default the column
            "score". A list of columns has the scores of as many models, each named as its column;
            each row is then a case.
        model
            The model that gave the score; each has its own results. By default the column "model",
            if there is one; None: the rows are of one model.
        fold
            The fold of a resampling, for which the models were fitted anew; each has its own
            results. Several columns, such as repeat and fold, are joined into one. By default the
            column "fold", if there is one; None: there are none.
        case
            The case: rows of different models with the same value are the same case. By default the
            column "case", if there is one; None: there is none.
        cluster
            Rows with the same value are not independent: patient, customer, day.
        weight
            Sampling weights, finite and ≥ 0: how many cases of the population a row stands for. A
            row of weight k is one observation.
        count
            The number of equal cases that a row stands for, a whole number ≥ 0.
        by
            Further columns; each combination of their values has its own results. Null is a value;
            NaN in a key is an error, and null in a lazy frame.
        positive
            The label(s) that count as positive, needed unless the labels are 0 and 1, or false and
            true. Texts such as "NA" or "" are missing truths unless they are named here.
        nulls
            ``"raise"``: null or NaN scores and null truths, counts or weights are an error.
            ``"drop"``: such rows are left out; the `note` or the `warnings` of a result say how
            many (a curve has neither).

    Returns
    -------
    Cases
        The predictions in canonical columns. Of these `by`, `model` and `fold` are also in results.
        Printed, it shows what each column means, which are used by default, and which are not used.

    Raises
    ------
    InvalidArgument
        For columns that are missing, that have two roles which exclude each other, or that have
        the name of a column of results.
    InvalidPredictions
        For scores that are not numbers. If the table is in memory, also for missing values and
        unclear labels, with their number and the first keys that have them; rows of a lazy frame
        are checked by the functions that read them.
    TypeError
        For keywords that are not listed above.

    Examples
    --------
    >>> import polaroc as pr
    >>> print(pr.cases(pr.datasets.sonar_predictions()))
    5,040 rows, 2,640 positives
    truth  'truth' (by default)
    score  'score' (by default)
    model  'model' (by default): 4
    fold   'fold' (by default): 30
    case   'case' (by default): 208
    """
    return as_cases(table, columns, needs=())


def as_cases(
    table: Any,
    columns: Mapping[str, Any],
    *,
    needs: Collection[str] = NEEDED,
    function: str = "",
    refuses: Collection[str] = (),
    keep: Sequence[str] = (),
    validate: bool = True,
) -> Cases[Any]:
    """The cases of a table, for a `function` that `needs` some roles and `refuses` others.

    Further columns to `keep`, such as the time, stay under their own names. Without `validate` rows
    in memory that cannot be ranked do not raise.
    """
    if isinstance(table, Cases) and not columns and not keep and validate:
        cases = table
    else:
        table, columns = source_and_columns(table, columns)
        nulls = columns.get("nulls", "raise")
        check_choice("nulls", nulls, get_args(Nulls))
        names = named_columns(columns, table.collect_schema(), keep)
        rows, errors = canonical_rows(table, columns, names, keep)
        present = rows.collect_schema()
        fields: Any = {role: role for role in ROLES if role in present and role != "fold"}
        cases = Cases(
            rows, **fields, fold=("fold",) if "fold" in names else (),
            by=tuple(names.get("by", ())), nulls=nulls, source=table, columns=deepcopy(columns),
            names=names, errors=errors,
        )  # fmt: skip
        if validate and isinstance(rows, pl.DataFrame):
            cases = cases.collect()
    refuse_roles(cases.columns, refuses, function)
    lacking = [role for role in needs or NEEDED if role not in cases.names]
    # Without `needs` one of truth and score is enough.
    if lacking and (needs or len(lacking) == len(NEEDED)):
        present = [*cases.source.collect_schema()]
        hint = f"name its column, {lacking[0]}=."
        if {"threshold", "tp", "fp"} <= {*present}:
            hint = "the table is a curve: give the predictions, or the curve without other columns."
        raise InvalidArgument(
            f"{lacking[0]} has no column; the table has {quoted(present) or 'no columns'}.",
            hint=hint,
        )
    return cases


def source_and_columns(
    table: Any, columns: Mapping[str, Any]
) -> tuple[PolarsFrame, dict[str, Any]]:
    """A table and its keywords; of cases the table and the keywords they were made from, too."""
    if isinstance(table, Cases):
        return table.source, {**table.columns, **columns}
    return as_polars(table), {**columns}


def refuse_roles(columns: Mapping[str, Any], roles: Collection[str], function: str) -> None:
    """Refuse keywords for roles that a function cannot use."""
    for role in roles:
        if columns.get(role) not in (None, (), []):
            raise NotSupported(
                f"{function} does not support {role}.",
                hint="leave it out, and take the rows of each value, or one of each cluster.",
            )


def cases_or_measures(table: Any, columns: Mapping[str, Any]) -> Cases[Any]:
    """The cases of a table; those of a table of measures have neither truth nor score."""
    if isinstance(table, Cases):
        return as_cases(table, columns) if table.names else table
    frame = as_polars(table)
    present = {*frame.collect_schema()}
    if {*NEEDED} & {*columns} or not present >= {*MEASURED} or present >= {*NEEDED}:
        return as_cases(frame, columns)
    if columns:
        raise InvalidArgument(
            f"the table holds measures, to which {quoted([*columns])} does not apply.",
            hint="leave it out: models and folds have the columns 'model' and 'fold'.",
        )
    model = "model" if "model" in present else None
    return Cases(frame, model=model, fold=("fold",) * ("fold" in present), source=frame)


def same_columns(
    cases: Cases[Any],
    other: Any,
    *,
    without: Collection[str] = (),
    may_lack: Collection[str] = ("model", "fold", "case"),
    labelled: bool = True,
    **options: Any,
) -> Cases[Any]:
    """The cases of a second table: as declared, or else with the columns of the first.

    Roles in `without` are not taken from the first, nor those that the second `may_lack` if it has
    no such column. Scores in use, which are not `labelled`, have no truth. The other `options` are
    those of `as_cases`.
    """
    table, columns = other, dict[str, Any]()
    if not isinstance(other, Cases):
        table = as_polars(other)
        present = {*table.collect_schema()}
        columns = {
            role: value
            for role, value in cases.columns.items()
            if role not in without
            and (
                role not in may_lack
                or {*([value] if isinstance(value, str) else value or ())} <= present
            )
        }
    if not labelled:
        columns |= {"truth": None, "positive": None}
        options["needs"] = ["score"]
    return as_cases(table, columns, **options)


def check_labels_of(cases: Cases[Any], labels: pl.Series | None = None) -> None:
    """Raise where no label is positive, warn where some may be misspelt."""
    positive = cases.columns.get("positive")
    if positive is not None and cases.truth is not None:
        distinct = _labels(cases) if labels is None else labels.drop_nulls()
        check_labels(distinct, cases.names["truth"][0], positive)


def refuse_errors(cases: Cases[Any], counts: pl.DataFrame) -> None:
    """Raise for rows with errors, `COUNT` by `error` and key, unless all of them may be dropped."""
    refused = counts.filter(pl.col("error").is_in(cases.fatal))
    if refused.is_empty():
        return
    kinds = dict(refused.group_by("error").agg(pl.col(COUNT).sum()).sort("error").iter_rows())
    details, hints = dict[int, str](), [ROW_ERROR_HINTS[code] for code in kinds if code in WRONG]
    if {NULL_TRUTH, UNKNOWN_LABEL} & {*kinds}:
        details, hint = label_details(
            _labels(cases), cases.names["truth"][0], cases.columns.get("positive")
        )
        hints += [hint] if UNKNOWN_LABEL in kinds and hint else []
    problems = ", ".join(
        f"{count:,} {ROW_ERRORS[code]}{'' if count == 1 else 's'}{details.get(code, '')}"
        for code, count in kinds.items()
    )
    raise InvalidPredictions(
        problems + first_keys(refused, cases.keys) + ".", hint=" ".join(hints or [DROP_ROWS])
    )


def _labels(cases: Cases[Any]) -> pl.Series:
    """The distinct labels of the truth, as in the source."""
    distinct = cases.source.lazy().select(pl.col(cases.names["truth"][0]).drop_nulls().unique())
    return distinct.collect().to_series()


def first_keys(rows: pl.DataFrame, keys: Sequence[str]) -> str:
    """The number of keys of the rows, and the first, as the end of a message; "" without keys."""
    if not keys:
        return ""
    distinct = rows.select(keys).unique().sort(keys)
    return f" in {distinct.height} key(s): {listed_rows(distinct, 3)}"


def warn_of_parts(cases: Cases[Any], rows: pl.DataFrame) -> None:
    """Warn if the values of a fold are names of parts of the data, such as "train" and "test"."""
    if rows.schema.get("fold") not in TEXTUAL:
        return
    values = rows["fold"].drop_nulls().unique().cast(pl.String).sort().to_list()
    if len(values) > 1 and any(DATA_PART.fullmatch(value.strip()) for value in values):
        warn(
            f"The column {cases.names.get('fold', ['fold'])[0]!r} has the values "
            f"{quoted(values, 5)}, which are parts of data, not folds, as it seems: if so, keep "
            "the rows of one part."
        )
