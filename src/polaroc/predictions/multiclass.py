"""More than two classes: one key per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import LABEL, column_name, column_names, refuse_clash
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.cases import Cases, as_cases, refuse_roles, source_and_columns
from polaroc.predictions.columns import (
    NEEDED,
    Columns,
    check_columns,
    named_columns,
    one_row_per_score,
)
from polaroc.typing import Label, Table

# Columns that are made here.
ADDED = ("class", "truth", "score")
WORDS = {"true": True, "false": False}


def one_vs_rest(
    table: Table | Cases[Any],
    *,
    scores: Sequence[str] | Mapping[Label, str],
    **columns: Unpack[Columns],
) -> Cases[Any]:
    """One score column per class, as predictions with the class as a further key.

    Parameters
    ----------
    table
        One row per case, with its class as the truth and a score for each class: any table that
        `cases` takes.
    scores
        The score columns, named as their classes, with or without a beginning or an end
        that all of them share, such as "p_healthy" and "p_ill"; or a mapping from class
        to score column.
    **columns
        What the other columns mean, as in `cases`.

    Returns
    -------
    Cases
        One row per case and class: `class`, of the type of the labels, is the last of `by`; `truth`
        is whether the case is of that class. Where there is neither a case nor a model, `case`
        numbers the rows of the table.

    Raises
    ------
    InvalidArgument
        Where columns are missing, there are fewer than two classes, a role has a column with
        the name of one that is made here, or a name is no class while a label has no column.
    NotSupported
        For a score or a positive label.
    InvalidPredictions
        If the table is in memory, for classes that are null or have no scores: ``nulls="drop"``
        leaves such rows out.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"kind": ["a", "b"], "a": [0.9, 0.2], "b": [0.1, 0.8]})
    >>> by_class = pr.one_vs_rest(table, truth="kind", scores=["a", "b"])
    >>> by_class.pipe(pr.evaluate, measure="auc").select("class", "estimate").rows()
    [('a', 1.0), ('b', 1.0)]
    >>> by_class.rows.filter(pl.col("class") == "a").select("case", "truth", "score").rows()
    [(0, True, 0.9), (1, False, 0.2)]
    """
    frame, keywords = source_and_columns(table, columns)
    refuse_roles(keywords, ["score", "positive"], "one_vs_rest")
    named = column_names([*scores.values()] if isinstance(scores, Mapping) else scores, "scores")
    by_class = scores if isinstance(scores, Mapping) else dict(zip(named, named, strict=True))
    label = column_name(keywords.get("truth", "truth"), "truth")
    schema = frame.collect_schema()
    check_columns(schema, [label, *named])
    if len(by_class) < 2:
        raise InvalidArgument(
            f"scores is {scores!r}, needed are two classes or more.",
            hint="give one column per class.",
        )
    roles = named_columns(keywords, schema)
    refuse_clash([name for role in roles if role not in NEEDED for name in roles[role]], ADDED)
    if "case" not in {*keywords, *roles} and "model" not in roles:
        frame = frame.with_row_index("case")
    others = [name for name in frame.collect_schema() if name not in (label, *named, *ADDED)]
    labels = frame.lazy().select(pl.col(label).unique()).collect().to_series()
    classes = _classes(by_class, labels, may_strip=by_class is not scores)
    # By a selector, since names may be patterns to Polars, such as "*".
    chosen = [pl.selectors.by_name(*others), pl.col(label).alias(LABEL)]
    has_scores = pl.col(LABEL).is_in(classes.implode())
    rows = (
        one_row_per_score(frame, chosen, named, "class")
        .with_columns(pl.col("class").replace_strict(named, classes))
        .with_columns(truth=pl.when(has_scores).then(pl.col(LABEL) == pl.col("class")))
        .drop(LABEL)
    )
    by = column_names(keywords.get("by"), "by")
    return as_cases(rows, keywords | {"truth": "truth", "score": "score", "by": [*by, "class"]})


def _classes(columns: Mapping[Any, str], labels: pl.Series, *, may_strip: bool) -> pl.Series:
    """The label of each score column; raise where names and labels do not match."""
    known = labels.drop_nulls().drop_nans() if labels.dtype.is_float() else labels.drop_nulls()
    names, present = [*columns], {*known}
    candidates = [names]
    if may_strip:
        shortest = min(map(len, names))
        for first, last in product(range(shortest), repeat=2):
            ends = {(name[:first], name[len(name) - last :]) for name in names}
            if first + last < shortest and len(ends) == 1:
                candidates.append([name[first : len(name) - last] for name in names])
    matches: dict[tuple[Any, ...], pl.Series] = {}
    for candidate in candidates:
        classes = _of_type(candidate, labels.dtype)
        distinct = {*classes}
        # Some classes may lack cases, or some labels scores.
        fits = distinct <= present or present <= distinct
        if fits and None not in distinct and len(distinct) == len(classes):
            matches[tuple(classes)] = classes
            if candidate is names:
                break
    if len(matches) == 1:
        return matches.popitem()[1]
    raise InvalidArgument(
        f"scores has the classes {quoted(names)}, and truth {labels.name!r} the labels "
        f"{quoted(known.sort().to_list())}: which column is whose cannot be told.",
        hint="give a mapping from each label to its column, scores={label: column}; rows of labels "
        "without a column are to be left out before.",
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
