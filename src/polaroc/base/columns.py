"""Names of columns, private and reserved, and checks of names, keys and their types."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from polaroc.base.tables import as_polars
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.typing import Frame, PolarsFrame

# Columns of intermediate tables begin with this, and no column of a user may.
PRIVATE = "__polaroc_"


def private(name: str) -> str:
    """The private column of this name."""
    return PRIVATE + name


def _columns(names: str) -> list[str]:
    return [private(name) for name in names.split()]


# Predictions and their keys.
TRUTH, WEIGHT, ROW_ERROR, CLUSTER, LABEL = _columns("truth weight row_error cluster label")
LEAST_LABEL, GREATEST_LABEL = _columns("least_label greatest_label")
# Sorted rows and curves.
KEY_INDEX, SORT_CODE, PLACE, NEG_SQUARES = _columns("index code place neg_squares")
# Tables, and what is counted of them.
ROW, ROWS, COUNT, SIZE, RANGE, IS_SAME = _columns("row rows count size range same")
VALUE, AT, HAVE, SPREAD, RESPONSE = _columns("value at have spread response")
LIMITS_NOTE, ERROR, SENS, PANEL = _columns("limits_note error sens panel")

# Columns of results.
CURVE = (
    "threshold", "pos", "neg", "tp", "fp", "positives", "negatives", "tpr", "fpr",
)  # fmt: skip
# The effective number of negatives (Kish), in curves of sampling weights.
EFFECTIVE = "effective_negatives"
GRID = ("prior", "skew")
MEASURE_COLUMNS = ("measure", "prior", "estimate", "positives", "negatives", "note")
INTERVAL = ("lower", "upper", "std_error")
# The coverage of the limits of a table.
COVERAGE = "level"
# The range of priors, or the belief, that a measure is taken over.
OVER = "over"
# The ends of the range of priors, or of the belief, that a threshold was chosen over.
OVER_ENDS = ("over_lower", "over_upper")
# Limits of a prior that was estimated or is believed.
PRIOR_LIMITS = ("prior_lower", "prior_upper")
# The promise of a threshold, in one sentence.
PROMISE = "promise"
WITH_INTERVAL = (*MEASURE_COLUMNS[:3], *INTERVAL, *MEASURE_COLUMNS[3:])
# Whether a curve has both classes.
HAS_BOTH = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
# The share of positives, which is the observed prior; NaN without cases.
SHARE = pl.col("positives") / (pl.col("positives") + pl.col("negatives"))
RESERVED = frozenset(
    (
        *CURVE, *GRID, *MEASURE_COLUMNS, *INTERVAL, COVERAGE, "rule", OVER, *OVER_ENDS, PROMISE,
        *PRIOR_LIMITS, "precision", EFFECTIVE,
    )
)  # fmt: skip
# Columns of judged thresholds, most of them with limits, and of expected costs.
FURTHER = (
    "specificity", "fnr", "npv", "likelihood_ratio_positive", "likelihood_ratio_negative",
    "f_measure", "accuracy", "error", "informedness",
)  # fmt: skip
JUDGED = ("tpr", "fpr", "precision", "posfrac", "cost", *FURTHER)
EXPECTED_COSTS = (
    "cost_fixed", "cost_following", "cost_informed", "worth_of_prior", "cost_trivial",
)  # fmt: skip
# Names that no key may have, since tables of thresholds have columns of these names.
OF_THRESHOLDS = frozenset({
    *JUDGED, *EXPECTED_COSTS, "net_benefit", "treat_all", "probability_cost",
    *(f"{name}_{end}" for name in JUDGED for end in ("lower", "upper")),
})  # fmt: skip
# Hint for keys that hold lists, structs, bytes or durations.
AS_TEXT = (
    'make text of it first: pl.col(...).list.join(","), .struct.json_encode(), '
    '.bin.encode("hex") or .dt.to_string("iso").'
)
RENAME = "rename it first."
# Types of text.
TEXTUAL = (pl.String, pl.Categorical, pl.Enum)
Engine = Literal["auto", "in-memory"]


def as_lazy(frame: object) -> pl.LazyFrame:
    """Convert a table to a LazyFrame, or raise."""
    return as_polars(frame).lazy()


def collect_like(frame: Frame, result: Any) -> Frame:
    """`result`, collected unless `frame` is a LazyFrame."""
    if isinstance(frame, pl.LazyFrame):
        return result
    return result.collect(engine=engine_for(frame))


def engine_for(frame: object) -> Engine:
    """The engine by which results of a table are collected."""
    # For few rows, starting the streaming engine takes longer than the in-memory engine in all.
    few = isinstance(frame, pl.DataFrame) and frame.height <= 10_000
    return "in-memory" if few else "auto"


def column_name(name: object, argument: str) -> str:
    """The name of a column; raise for anything else."""
    if not isinstance(name, str):
        raise InvalidArgument(
            f"{argument} is a column name (str), found {type(name).__qualname__}.",
            hint="compute the column with with_columns first, and give its name.",
        )
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        raise InvalidArgument(
            f"{argument}: the column is named {name!r}, a pattern of several columns to Polars.",
            hint=RENAME,
        )
    return name


def column_names(names: object, argument: str) -> list[str]:
    """The names of an argument that takes none, one or a list of columns."""
    if names is None:
        return []
    several = names if isinstance(names, list | tuple) else [names]
    listed = [column_name(name, argument) for name in several]
    if len(set(listed)) < len(listed):
        raise InvalidArgument(
            f"{argument} names a column twice: {quoted(listed)}.", hint="name each once."
        )
    return listed


def parts_by_key(table: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    """The rows of each combination of values of the keys, in order of appearance."""
    for key in keys:
        if table.schema[key].is_nested():
            raise InvalidArgument(
                f"{key!r} holds lists or structs, by which cases are not divided here.",
                hint=AS_TEXT,
            )
    return table.partition_by(keys, maintain_order=True, as_dict=True) if keys else {(): table}


def refuse_clash(names: Sequence[str], added: Iterable[str]) -> None:
    """Refuse keys and other columns with the name of one that the result adds."""
    if clash := [name for name in names if name in added]:
        raise InvalidArgument(
            f"the column {quoted(clash)} is also a column of the result.", hint=RENAME
        )


def require(frame: pl.LazyFrame, needed: Collection[str], *, source: str) -> list[str]:
    """Raise unless a table has all columns `needed`, which `source` makes; return its keys."""
    present = [*frame.collect_schema()]
    if missing := [name for name in needed if name not in present]:
        raise InvalidTable(
            f"the table has no column {quoted(missing)}; it has {quoted(present) or 'no columns'}.",
            hint=f"pass the result of {source}.",
        )
    return [name for name in present if name not in RESERVED and name not in needed]


def curve_keys(frame: pl.LazyFrame) -> list[str]:
    """The keys of a curve table; raise for a surface, which has each curve at several priors."""
    keys, schema = require(frame, CURVE, source="curve(...)"), frame.collect_schema()
    if {*GRID} & {*schema}:
        raise InvalidTable(
            "the table has a column 'prior' or 'skew': it is a surface, and a curve is needed.",
            hint="pass the result of curve(...) or hull(...), and the priors as an argument.",
        )
    wrong = [name for name in CURVE if not (schema[name].is_numeric() or schema[name] == pl.Null)]
    if wrong:
        raise InvalidTable(
            f"the column {quoted(wrong)} has other values, allowed are numbers.",
            hint="cast it first: pl.col(...).cast(pl.Float64).",
        )
    refuse_clash(keys, OF_THRESHOLDS)
    return keys


def effective_column(table: PolarsFrame) -> list[str]:
    """The column `EFFECTIVE`, where a curve, or a table of totals, has it."""
    return [name for name in [EFFECTIVE] if name in table.collect_schema()]


def with_key_types(
    table: pl.LazyFrame, kinds: Mapping[str, pl.DataType], keys: Sequence[str]
) -> pl.LazyFrame:
    """The table with its text keys cast to the types of another table, to be joined to it.

    Rows with values that those types do not have, such as other categories, are left out.
    """
    schema = table.collect_schema()
    for key in keys:
        pair = (kinds[key], schema[key])
        if pair[0] == pair[1] or all(kind.is_numeric() for kind in pair):
            continue
        if not all(kind in TEXTUAL for kind in pair):
            raise InvalidTable(
                f"the key {key!r} is {pair[0]} in one table and {pair[1]} in the other.",
                hint="cast one of them first, for example pl.col(...).cast(pl.String).",
            )
        as_other = pl.col(key).cast(kinds[key], strict=False)
        # Values that do not fit become null, and would match null keys.
        table = table.filter(as_other.is_null() == pl.col(key).is_null()).with_columns(as_other)
    return table


def check_shared_keys(
    keys: Sequence[str], of_cases: Sequence[str], table: str, hint: str | None = None
) -> None:
    """Refuse keys of a table that are not keys of the cases; `table` is its name in the message."""
    if unknown := [key for key in keys if key not in of_cases]:
        raise InvalidTable(
            f"the rows of {table} differ by {quoted(unknown)}, which is no key of the cases.",
            hint=hint or "name it with model=, fold= or by=.",
        )


def with_level(table: Frame, level: float | None) -> Frame:
    """The table with the coverage of its limits as a column after the last upper one."""
    names = table.collect_schema().names()
    ends = [at for at, name in enumerate(names) if name == "upper" or name.endswith("_upper")]
    after = ends[-1] + 1
    coverage = pl.lit(level, pl.Float64).alias(COVERAGE)
    return table.with_columns(coverage).select(*names[:after], COVERAGE, *names[after:])


def join_by_key(
    rows: Frame,
    table: Frame,
    keys: Iterable[str],
    how: Literal["left", "inner", "semi", "anti"] = "left",
    **options: Any,
) -> Frame:
    """The rows, in their order, with those of a table that have the same keys; null equals null.

    Without keys all rows match.
    """
    options = {"maintain_order": "left"} | options
    return rows.join(table, on=[*keys] or pl.lit(0), how=how, nulls_equal=True, **options)


def within(expr: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """`expr` per key, or over the whole table where there are no keys."""
    return expr.over(keys) if keys else expr
