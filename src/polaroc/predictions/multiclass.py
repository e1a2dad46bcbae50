"""More than two classes: one key per class, and averages over the classes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_flag
from polaroc.base.columns import (
    MEASURE_COLUMNS,
    OVER,
    check_keys,
    column_name,
    column_names,
    key_expressions,
    key_names,
    lazily,
    refuse_clash,
    require,
    single_column,
    within,
)
from polaroc.base.private_columns import HAVE, LABEL, PLACE, VALUE, WEIGHT, private
from polaroc.errors import Hint, InvalidArgument, nearest, quoted
from polaroc.predictions.cases import Cases, check_columns
from polaroc.predictions.roles import Columns
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.typing import Label

ADDED = ("class", "truth", "score")
WORDS = {"true": True, "false": False}
# Labels of an example in a hint.
MAX_LABELS = 5


@frame_of_cases(
    ["truth", "model", "fold", "count", "weight", "by"],
    no_bearing=[
        "nulls", "case", "cluster", "subgroup", "time", "score_prior", "test_train_ratio",
    ],
    needed=["truth"],
    whole=True,
)  # fmt: skip
def one_vs_rest(
    cases: Cases[Any],
    *,
    scores: Sequence[str] | Mapping[Label, str],
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
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
    Frame of the kind given
        Predictions for `curve` and `evaluate`: the keys (`by`, model and fold); `class`, of the
        type of the truth; `truth` Boolean, whether the case is of that class, null where
        its class is null or has no score; `score`; `count` or `weight` if given; the other
        columns, such as the case and the cluster, save those of these names.

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
    >>> pr.one_vs_rest(table, truth="kind", scores=["a", "b"]).filter(pl.col("class") == "a").rows()
    [('a', True, 0.9), ('a', False, 0.2)]
    """
    column_by_class = scores.values() if isinstance(scores, Mapping) else scores
    named = column_names(column_by_class, "scores")
    by_class = dict(zip(scores if isinstance(scores, Mapping) else named, named, strict=True))
    frame: pl.LazyFrame = cases.table.lazy()
    truth = cases.truth
    role, weight = cases.counted_by or ("weight", None)
    check_columns(frame, named)
    if len(by_class) < 2:
        raise InvalidArgument(
            f"scores is {scores!r}, needed are two classes or more.",
            hint="give one column per class.",
        )
    keys, own = key_expressions(cases.keys), single_column(truth, "truth", frame)
    names = key_names(keys, frame)
    check_keys(names, also=[*ADDED, role])
    kept = [*keys, own.alias(LABEL)]
    made = [*ADDED]
    if weight is not None:
        kept.append(single_column(weight, role, frame).alias(WEIGHT))
        made.append(role)
    refuse_clash(cases.used_but("truth", role, "by", "model", "fold"), made)
    wanted = {private(str(i)): name for i, name in enumerate(by_class.values())}
    used = {*names, *made, str(truth), str(weight), *named}
    others = [name for name in frame.collect_schema() if name not in used]

    def of_labels(labels: pl.DataFrame) -> pl.DataFrame:
        known = labels[LABEL].alias(str(truth))
        classes = _classes(by_class, known, may_strip=not isinstance(scores, Mapping))
        return pl.DataFrame({VALUE: list(wanted), "class": classes})

    # The rows are read once, also where the source is not the same twice.
    rows, label = frame.cache(), pl.col(LABEL)
    labels = rows.select(own.alias(LABEL).unique())
    schema = {VALUE: pl.String(), "class": labels.collect_schema()[LABEL]}
    classes = labels.map_batches(of_labels, schema=schema)
    has_score = classes.select(pl.col("class").alias(LABEL), pl.lit(True).alias(HAVE))
    long = (
        rows.select(*kept, *others, *(pl.col(name).alias(at) for at, name in wanted.items()))
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
    return long.select(*names, "class", is_own, "score", *weights, *others)


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
    pairs = {label: (nearest(str(label), [*columns.values()]) or ["…"])[0] for label in present}
    raise InvalidArgument(
        f"scores has the classes {quoted([*columns])}, and truth {labels.name!r} the labels "
        f"{quoted(present)}: which column is whose cannot be told.",
        hint=Hint(
            "give a mapping from each label to its column, such as {scores}; rows of labels "
            "without a column are to be left out before.",
            scores=dict(list(pairs.items())[:MAX_LABELS]),
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


@lazily
def macro(measures: pl.LazyFrame, over: str = "class", *, weighted: bool = False) -> pl.LazyFrame:
    """The mean of each measure over the classes, for every other key.

    Parameters
    ----------
    measures
        The result of `evaluate`, or of a single measure, with `over` among its
        keys.
    over
        The key to average over.
    weighted
        Whether a class counts by its positives, or all count alike.

    Returns
    -------
    Frame of the kind given
        Tidy measures without the key `over`: `estimate` is null where it is null
        for a class, and `note` says so; `prior` is null where the classes have
        their own; `positives` and `negatives` are sums, null where they are null
        for a class.

    Raises
    ------
    InvalidArgument, InvalidTable
        Where `over` is not a key; where the columns of measures are missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"kind": ["a", "b"], "a": [0.9, 0.2], "b": [0.1, 0.8]})
    >>> cases = pr.one_vs_rest(table, truth="kind", scores=["a", "b"])
    >>> measures = cases.pipe(pr.evaluate, truth="truth", score="score", by="class")
    >>> pr.macro(measures).select("measure", "estimate").row(0)
    ('auc', 1.0)
    """
    keys = require(measures, MEASURE_COLUMNS, source="evaluate(...)")
    check_flag("weighted", weighted)
    if column_name(over, "over") not in keys:
        raise InvalidArgument(
            f"over is {over!r}, allowed are the keys {quoted(keys) or '(none)'}.",
            hint="evaluate by the class too.",
        )
    others = [key for key in keys if key != over]
    estimate, size = pl.col("estimate"), pl.col("positives")
    mean = (estimate * size).sum() / size.sum() if weighted else estimate.mean()
    lacking = estimate.null_count()
    ranged = [OVER] if OVER in measures.collect_schema() else []
    return (
        measures.with_columns(within(pl.int_range(pl.len()), keys).alias(PLACE))
        .group_by(*others, PLACE, "measure")
        .agg(
            pl.when(pl.col("prior").n_unique() == 1).then(pl.col("prior").first()).alias("prior"),
            pl.when(lacking == 0).then(mean).alias("estimate"),
            *(
                pl.when(pl.col(total).null_count() == 0).then(pl.col(total).sum()).alias(total)
                for total in ("positives", "negatives")
            ),
            pl.when(lacking > 0)
            .then(pl.format("null for {} of {} {}", lacking, pl.len(), pl.lit(over)))
            .alias("note"),
            pl.col(ranged).first(),
        )
        .sort(*others, PLACE, nulls_last=True)
        .select(*others, *MEASURE_COLUMNS, *ranged)
    )
