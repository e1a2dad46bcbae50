"""Read, audit and validate a table of predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar, cast

import polars as pl

from polaroc.base.columns import Engine, check_keys, engine_for
from polaroc.base.private_columns import (
    CLUSTER,
    COUNT,
    LABEL,
    ROW_ERROR,
    TRUTH,
    WEIGHT,
)
from polaroc.base.text import is_missing_text, joined_notes, listed_rows
from polaroc.errors import Hint, InvalidPredictions, quoted
from polaroc.predictions.cases import Cases, columns_of, with_cluster
from polaroc.predictions.column_checks import check_columns
from polaroc.predictions.row_checks import (
    DROP_ROWS,
    NULL_TRUTH,
    ROW_ERROR_HINTS,
    ROW_ERRORS,
    SCORE,
    UNKNOWN_LABEL,
    WRONG,
    check_labels,
    column_in_words,
    first_labels,
    read_labels,
    score_column,
    truth_column,
    weight_column,
)
from polaroc.predictions.wide import MODEL, rows_by_model
from polaroc.typing import Label, Nulls

_F = TypeVar("_F", pl.DataFrame, pl.LazyFrame)

# Distinct labels up to which they may be those of classes.
MAX_CLASSES = 50
WRITE_NUMBERS = "write all of them as numbers; a missing one is null, in CSV an empty field or NA."
DECIMAL_COMMA = Hint(
    "is that a decimal comma? Read it with pl.read_csv(..., decimal_comma=True).",
    command_line="is that a decimal comma? Of a text file give --decimal ,.",
)


@dataclass(frozen=True)
class Predictions:
    """A prediction table in private columns: keys, score, truth, weight, row error.

    `rows` has every input row; its `ROW_ERROR` is null for a valid row, else the code of
    the error. Rows are `weighted` by counts or, where they are `sampled`, by sampling weights.
    `possible_errors` are the codes that can occur: those of columns of these types,
    less those that an audit has excluded; without any, all rows are valid. `score_type` is
    that of the score as given; `repeatable` whether every reading of `rows` is the same.
    `engine` is the one by which they are collected.
    """

    rows: pl.LazyFrame
    keys: list[str]
    weighted: bool
    sampled: bool
    nulls: Nulls
    possible_errors: list[int]
    score_type: pl.DataType
    repeatable: bool = False
    engine: Engine = "auto"

    @property
    def fatal(self) -> list[int]:
        """Codes of errors for which no result is computed."""
        return [kind for kind in self.possible_errors if self.nulls == "raise" or kind in WRONG]

    @property
    def valid_rows(self) -> pl.LazyFrame:
        """Rows without errors."""
        rows = self.rows.filter(pl.col(ROW_ERROR).is_null()) if self.possible_errors else self.rows
        return rows.drop(ROW_ERROR)

    @property
    def cases(self) -> pl.LazyFrame:
        """Valid rows, one for each case that they count; of sampled ones those that weigh any."""
        if not self.weighted:
            return self.valid_rows
        weighing = self.valid_rows.filter(pl.col(WEIGHT) > 0)
        return weighing if self.sampled else each_case(weighing)

    @property
    def validated(self) -> "Predictions":
        """The same predictions once an audit has excluded fatal errors."""
        possible = [kind for kind in self.possible_errors if kind not in self.fatal]
        if possible:
            return replace(self, possible_errors=possible)
        none = self.rows.with_columns(pl.lit(None, pl.UInt8).alias(ROW_ERROR))
        return replace(self, rows=none, possible_errors=possible)

    def count_invalid(self) -> int:
        """Number of rows with errors."""
        count: int = self.rows.select(pl.col(ROW_ERROR).count().cast(pl.Int64)).collect().item()
        return count


@dataclass(frozen=True)
class Unaudited:
    """Predictions, and plans of the tables by which they are validated."""

    predictions: Predictions
    named: pl.LazyFrame
    truth: str
    positive: Label | Sequence[Label] | None

    @property
    def row_errors(self) -> pl.LazyFrame:
        """Number of rows by key and fatal error."""
        rows = self.predictions.rows.filter(pl.col(ROW_ERROR).is_in(self.predictions.fatal))
        return rows.group_by(ROW_ERROR, *self.predictions.keys).agg(pl.len().alias(COUNT))

    @property
    def labels(self) -> pl.LazyFrame:
        """Distinct labels of the truth, unordered."""
        return self.named.select(pl.col(TRUTH).drop_nulls().unique())

    def collected_with(self, table: pl.LazyFrame) -> pl.DataFrame:
        """Collect a table of the same rows from the audited reading."""
        row_errors, labels, collected = pl.collect_all([self.row_errors, self.labels, table])
        self.audited(row_errors, lambda: labels)
        return collected

    def audited(self, row_errors: pl.DataFrame, labels: Callable[[], pl.DataFrame]) -> Predictions:
        """The predictions; raise on fatal `row_errors`, raise or warn on `labels`."""
        if self.positive is not None:
            check_labels(labels()[TRUTH], self.truth, self.positive)
        if row_errors.height:
            self._refuse(row_errors, labels()[TRUTH])
        return self.predictions.validated

    def _refuse(self, row_errors: pl.DataFrame, labels: pl.Series) -> None:
        counts = row_errors.group_by(ROW_ERROR).agg(pl.col(COUNT).cast(pl.Int64).sum())
        kinds = dict(counts.sort(ROW_ERROR).iter_rows())
        read = read_labels(labels, self.truth, self.positive)
        known, column = read.drop_nulls()[LABEL], column_in_words("truth", self.truth)
        missing = read.filter(pl.col(TRUTH).is_null())[LABEL].drop_nans()
        details = {
            NULL_TRUTH: f" (texts of missing values in {column}: {first_labels(missing)})"
            if len(missing)
            else "",
            UNKNOWN_LABEL: f" ({column} has the labels {first_labels(known)})",
        }
        problems = ", ".join(
            f"{count} {ROW_ERRORS[code]}{'' if count == 1 else 's'}{details.get(code, '')}"
            for code, count in kinds.items()
        )
        hints: list[str] = [ROW_ERROR_HINTS[code] for code in ROW_ERROR_HINTS if code in kinds]
        hints = hints or [DROP_ROWS]
        if UNKNOWN_LABEL in kinds:
            hints += self._on_labels(known)
        raise InvalidPredictions(
            problems + first_keys(row_errors, self.predictions.keys) + ".",
            hint=reduce(lambda first, second: first + " " + second, hints),
        )

    def _on_labels(self, labels: pl.Series) -> list[str]:
        """Hints at swapped columns and at more than two classes."""
        if labels.dtype.is_float() and len(labels) > MAX_CLASSES:
            scores = self.named.select(pl.col(SCORE).n_unique()).collect().item()
            return ["are truth and score swapped?"] if scores <= 2 else []
        if 2 < len(labels) <= MAX_CLASSES:
            return ["pr.one_vs_rest(...) makes one problem of each of several classes."]
        return []


def read(
    cases: Cases[Any],
    *,
    also: Sequence[str] = (),
    audited: bool = False,
    collected: bool = False,
    clustered: bool = False,
) -> Predictions:
    """Read cases into private columns.

    An eager table is always audited, a lazy one where `audited` is set: invalid rows
    then raise, else they are noted in the result. Columns of a lazy table are `collected`
    where they are needed more than once, since another reading may give other rows.
    Several scores are those of as many models, which the first key tells apart. The columns
    `also` are kept as the last keys. Where rows are `clustered` they have a `CLUSTER`, each its own
    where none is named.
    """
    if clustered and cases.cluster is not None:
        # The column of a cluster may have other roles.
        cases, clusters = with_cluster(cases)
        unread = unaudited(cases, also=clusters, collected=collected)
        *keys, cluster = unread.predictions.keys
        rows = unread.predictions.rows.rename({cluster: CLUSTER})
        unread = replace(unread, predictions=replace(unread.predictions, rows=rows, keys=keys))
    else:
        unread = unaudited(cases, also=also, collected=collected)
        if clustered:
            rows = unread.predictions.rows.with_row_index(CLUSTER)
            unread = replace(unread, predictions=replace(unread.predictions, rows=rows))
    if unread.predictions.repeatable:
        row_errors = unread.row_errors.collect(engine=unread.predictions.engine)
        return unread.audited(row_errors, unread.labels.collect)
    if not audited:
        return unread.predictions
    row_errors, labels = pl.collect_all([unread.row_errors, unread.labels])
    return unread.audited(row_errors, lambda: labels)


def unaudited(
    cases: Cases[Any],
    *,
    also: Sequence[str] = (),
    collected: bool = False,
    once: bool = False,
) -> Unaudited:
    """Like `read`, before any row is audited.

    Rows that are read `once` are not held, and have their label in `LABEL`.
    """
    table = cases.table
    lazy = table.lazy()
    scores, counted_by, positive = cases.scores, cases.counted_by, cases.positive
    # Scores in use, which have no labels, are read as one class.
    truth = cases.truth or "truth"
    keys = [*cases.keys, *also]
    check_columns(lazy.collect_schema(), also)
    check_keys(keys)
    label = pl.lit(True) if cases.truth is None else pl.col(cases.truth)
    chosen = [*map(pl.col, keys), label.alias(TRUTH)]
    if counted_by is not None:
        chosen.append(pl.col(counted_by[1]).alias(WEIGHT))
    eager = isinstance(table, pl.DataFrame)
    wide_errors: list[tuple[int, pl.Expr]] = []
    if scores:
        keys = [MODEL, *keys]
        named, wide_errors = rows_by_model(table, scores, chosen)
    else:
        named = table.select(*chosen, pl.col(cast(str, cases.score)).alias(SCORE)).lazy()
    score_names = columns_of(cases.score)
    schema = named.collect_schema()
    if schema[SCORE] == pl.String:
        _refuse_words(named, column_in_words("score", score_names))
    value, score_errors = score_column(schema[SCORE], score_names)
    label, truth_errors = truth_column(schema[TRUTH], truth, positive)
    columns = [value, label]
    row_errors = [*score_errors, *truth_errors, *wide_errors]
    if counted_by is not None:
        role, weight = counted_by
        counted, weight_errors = weight_column(schema[WEIGHT], weight, role)
        columns.append(counted)
        row_errors += weight_errors
    row_error = pl.coalesce(
        *(pl.when(is_so).then(pl.lit(code, pl.UInt8)) for code, is_so in row_errors)
    ).alias(ROW_ERROR)
    # The next reading of a plan may give other rows; counts and ranks must agree.
    repeatable = eager or collected
    if once:
        columns.append(pl.col(TRUTH).alias(LABEL))
    elif not repeatable:
        named = named.cache()
    elif not eager:
        named = named.collect().lazy()
    rows = named.select(*keys, *columns, row_error)
    predictions = Predictions(
        rows if repeatable or once else rows.cache(),
        keys,
        counted_by is not None,
        cases.weight is not None,
        cases.nulls,
        [code for code, _ in row_errors],
        schema[SCORE],
        repeatable,
        engine_for(table),
    )
    return Unaudited(predictions, named, truth, positive)


def each_case(counted: pl.LazyFrame) -> pl.LazyFrame:
    """A row for each case, of valid rows that count several."""
    copies = pl.int_ranges(pl.col(WEIGHT).cast(pl.Int64)).alias(WEIGHT)
    return counted.with_columns(copies).explode(WEIGHT, empty_as_null=False).drop(WEIGHT)


def each_counted(cases: Cases[Any]) -> Cases[Any]:
    """The cases with a row for each, where a row stands for several."""
    if cases.count is None:
        return cases
    read(cases, audited=True)
    counted = cases.table.lazy().with_columns(pl.col(cases.count).alias(WEIGHT))
    rows = each_case(counted.filter(pl.col(WEIGHT) > 0)).collect()
    return replace(cases, table=rows, count=None)


def one_class_note(positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Note on an absent class, else null."""
    return joined_notes(
        pl.when(positives == 0).then(pl.lit("no positives")),
        pl.when(negatives == 0).then(pl.lit("no negatives")),
        separator=", ",
    )


def _refuse_words(named: pl.LazyFrame, score: str) -> None:
    """Raise on scores that are text, naming the first that is no number that a float holds.

    One that is none with a decimal comma either is named before one that has such a comma.
    """
    word = pl.col(SCORE)
    number, in_commas = (
        one.cast(pl.Float64, strict=False)
        for one in (word, word.str.replace(",", ".", literal=True))
    )
    too_large = number.is_infinite() & ~word.str.contains("(?i)inf")
    is_none = word.is_not_null() & (number.is_null() | too_large)
    # A text such as "NA" is none either, and likely not what is wrong.
    no_number = is_none & ~is_missing_text(word)
    found = named.select(
        *(
            value.alias(f"{name}_{i}")
            for i, wrong in enumerate(
                (no_number & (in_commas.is_null() | too_large), no_number, is_none)
            )
            for name, value in (
                ("word", word.filter(wrong).first()),
                ("row", pl.arg_where(wrong).first()),
            )
        ),
        rows=pl.len(),
    )
    *pairs, rows = found.collect().row(0)
    if not rows:
        raise InvalidPredictions(
            f"there are no rows, and {score} is String.",
            hint="an empty table needs a column of numbers, too.",
        )
    first, row = next((pairs[i : i + 2] for i in (0, 2) if pairs[i] is not None), pairs[4:])
    if first is not None:
        raise InvalidPredictions(
            f"{score} is String, allowed are numbers up to 1.8e308; {quoted([first])} in row "
            f"{row + 1:,} is none.",
            hint=WRITE_NUMBERS if pairs[0] is not None else DECIMAL_COMMA,
        )


def first_keys(rows: pl.DataFrame, keys: Sequence[str], most: int = 3) -> str:
    """How many keys the rows have, and which, as the end of a message; empty without keys."""
    if not keys:
        return ""
    distinct = rows.select(keys).unique().sort(keys)
    return f" in {distinct.height} key(s): {listed_rows(distinct, most)}"
