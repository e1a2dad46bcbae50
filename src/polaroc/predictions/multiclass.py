"""More than two classes: one key per class."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Unpack, cast

import polars as pl

from polaroc.base.columns import check_keys, column_names, refuse_clash
from polaroc.base.private_columns import HAVE, LABEL, VALUE, WEIGHT, private
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.predictions.cases import Cases
from polaroc.predictions.column_checks import check_columns
from polaroc.predictions.roles import Columns
from polaroc.predictions.takes_cases import makes_cases
from polaroc.predictions.wide import with_row_cases
from polaroc.typing import Label

ADDED = ("class", "truth", "score")
WORDS = {"true": True, "false": False}
# Labels of an example in a hint.
MAX_LABELS = 5


@makes_cases(
    ["truth", "model", "fold", "case", "count", "weight", "by"],
    no_bearing=["nulls", "cluster", "score_prior", "test_train_ratio"],
    needed=["truth"],
)
def one_vs_rest(
    cases: Cases[Any],
    *,
    scores: Sequence[str] | Mapping[Label, str],
    **columns: Unpack[Columns],
) -> Cases[pl.LazyFrame]:
    """One score column per class, as predictions with the class as a further key.

    Parameters
    ----------
    cases
        One row per case, with its class as the truth and a score for each class: the result of
        `cases`, or any table that it takes.
    **columns
    scores
        The score columns, named as their classes, with or without a beginning or an end
        that all of them share, such as "p_healthy" and "p_ill"; or a mapping from class
        to score column.

    Returns
    -------
    Cases
        With all roles of those given, so that functions take them as they are; `class` is the last
        of `by`. Their `table`, a frame of the kind given, has the keys (`by`, model and fold);
        `class`, of the type of the truth; `truth` Boolean, whether the case is of that class,
        null where its class is null or has no score; `score`; `count` or `weight` if given; the
        other columns, such as the cluster, save those of these names. Where
        nothing tells cases or models apart, `id` numbers the rows given.

    Raises
    ------
    InvalidArgument
        Where columns are missing, there are fewer than two classes, a role has a column with
        the name of one that is made here, or a name is no class while a label has no column (of
        a lazy frame when it is collected).

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"kind": ["a", "b"], "a": [0.9, 0.2], "b": [0.1, 0.8]})
    >>> by_class = pr.one_vs_rest(table, truth="kind", scores=["a", "b"])
    >>> by_class.pipe(pr.evaluate, measures="auc").select("class", "estimate").rows()
    [('a', 1.0), ('b', 1.0)]
    >>> by_class.table.filter(pl.col("class") == "a").rows()
    [('a', True, 0.9, 0), ('a', False, 0.2, 1)]
    """
    column_by_class = [*scores.values()] if isinstance(scores, Mapping) else scores
    named = column_names(column_by_class, "scores")
    by_class = dict(zip(scores if isinstance(scores, Mapping) else named, named, strict=True))
    cases = _with_cases(cases)
    frame, truth = cases.table, cast(str, cases.truth)
    role, weight = cases.counted_by or ("weight", None)
    check_columns(frame.collect_schema(), named)
    if len(by_class) < 2:
        raise InvalidArgument(
            f"scores is {scores!r}, needed are two classes or more.",
            hint="give one column per class.",
        )
    names, own = cases.keys, pl.col(truth)
    check_keys(names, also=[*ADDED, role])
    kept = [*map(pl.col, names), own.alias(LABEL)]
    made = [*ADDED]
    if weight is not None:
        kept.append(pl.col(weight).alias(WEIGHT))
        made.append(role)
    of_keys = ("truth", "score", role, "by", "model", "fold")
    beside = [name for one, own in cases.columns.items() if one not in of_keys for name in own]
    refuse_clash(beside, made)
    wanted = {private(str(i)): name for i, name in enumerate(by_class.values())}
    dropped = {truth, weight, *named} - {*beside}
    others = [name for name in frame.collect_schema() if name not in {*names, *made, *dropped}]
    # Names may be patterns to Polars, such as "*".
    beside_these = pl.selectors.by_name(*others)

    def of_labels(labels: pl.DataFrame) -> pl.DataFrame:
        known = labels[LABEL].alias(truth)
        classes = _classes(by_class, known, may_strip=not isinstance(scores, Mapping))
        return pl.DataFrame({VALUE: list(wanted), "class": classes})

    # The rows are read once, also where the source is not the same twice.
    rows, label = frame.cache(), pl.col(LABEL)
    labels = rows.select(own.alias(LABEL).unique())
    schema = {VALUE: pl.String(), "class": labels.collect_schema()[LABEL]}
    classes = labels.map_batches(of_labels, schema=schema)
    has_score = classes.select(pl.col("class").alias(LABEL), pl.lit(True).alias(HAVE))
    long = (
        rows.select(*kept, beside_these, *(pl.col(name).alias(at) for at, name in wanted.items()))
        .join(has_score, on=LABEL, how="left", maintain_order="left")
        .unpivot(
            list(wanted),
            index=[*names, LABEL, HAVE, *([WEIGHT] if weight is not None else []), *others],
            variable_name=VALUE,
            value_name="score",
        )
        .join(classes, on=VALUE, maintain_order="left")
    )
    is_own = pl.when(pl.col(HAVE)).then(label == pl.col("class")).alias("truth")
    weights = [] if weight is None else [pl.col(WEIGHT).alias(role)]
    table = long.select(*names, "class", is_own, "score", *weights, beside_these)

    roles: dict[str, Any] = {} if weight is None else {role: role}
    return replace(cases, table=table, truth="truth", score="score", positive=None,
                   by=(*cases.by, "class"), **roles)  # fmt: skip


def _with_cases(cases: Cases[Any]) -> Cases[pl.LazyFrame]:
    """The cases as a lazy table, with numbers of its rows where nothing tells cases apart."""
    table, case = cases.table.lazy(), cases.case
    if case is None and cases.model is None and "case" not in cases.absent:
        table, case = with_row_cases(table)
    return replace(cases, table=table, case=case)


def _classes(columns: Mapping[Any, str], labels: pl.Series, *, may_strip: bool) -> pl.Series:
    """The label of each score column; raise where a name is no label and a label has no name."""
    known = labels.drop_nulls().drop_nans() if labels.dtype.is_float() else labels.drop_nulls()
    as_named = _of_type(list(columns), labels.dtype)
    if _fit(as_named, known):
        return as_named
    found = {
        tuple(one): one
        for names in (_without_shared_ends(list(columns)) if may_strip else ())
        if _fit(one := _of_type(names, labels.dtype), known)
    }
    if len(found) == 1:
        return next(iter(found.values()))
    present = known.sort().to_list()
    raise InvalidArgument(
        f"scores has the classes {quoted([*columns])}, and truth {labels.name!r} the labels "
        f"{quoted(present)}: which column is whose cannot be told.",
        hint=Hint(
            "give a mapping from each label to its column, such as {scores}; rows of labels "
            "without a column are to be left out before.",
            scores=dict.fromkeys(present[:MAX_LABELS], "…"),
        ),
    )


def _of_type(names: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """Names as labels, null where they are none of that type."""
    named = pl.Series(names, strict=False)
    if kind == pl.Boolean and named.dtype == pl.String:
        return named.str.to_lowercase().replace_strict(WORDS, default=None, return_dtype=kind)
    if kind.is_temporal() and named.dtype == pl.String:
        # Days and times have many ways to be written.
        return pl.Series([None] * len(named), dtype=kind)
    return named.cast(kind, strict=False)


def _fit(classes: pl.Series, labels: pl.Series) -> bool:
    """Whether all classes are labels, or all labels classes: some may lack scores or cases."""
    own, there = set(classes), set(labels)
    is_named = not classes.null_count() and len(own) == len(classes)
    return is_named and (own <= there or there <= own)


def _without_shared_ends(names: Sequence[str]) -> Iterator[list[str]]:
    """The names without a beginning, and an end, that all of them share."""
    begin, end = (
        sum(
            1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*turned, strict=False))
        )
        for turned in (names, [name[::-1] for name in names])
    )
    shortest = min(map(len, names))
    for first in range(begin + 1):
        for last in range(min(end, shortest - first - 1) + 1):
            yield [name[first : len(name) - last] for name in names]
