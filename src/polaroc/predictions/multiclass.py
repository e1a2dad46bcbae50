"""More than two classes: one key per class, and averages over the classes."""

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.base.checks import check_flag
from polaroc.base.columns import (
    MEASURE_COLUMNS,
    OVER,
    check_keys,
    column_name,
    column_names,
    key_columns,
    key_expressions,
    lazily,
    require,
    single_column,
    within,
)
from polaroc.base.private_columns import LABEL, PLACE, WEIGHT, private
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.table import check_columns
from polaroc.typing import By, IntoExpr, Label


@lazily
def one_vs_rest(
    frame: pl.LazyFrame,
    *,
    truth: str,
    scores: Sequence[str] | Mapping[Label, str],
    by: By = (),
    weight: IntoExpr | None = None,
) -> pl.LazyFrame:
    """One score column per class, as predictions with the class as a further key.

    Parameters
    ----------
    frame
        One row per case, with a score for each class: any table that `curve` takes.
    truth
        Column of the class of a case.
    scores
        The score columns, named as their classes; or a mapping from class to
        score column.
    by
        Key columns to keep.
    weight
        Case weights to keep, as the column `weight`.

    Returns
    -------
    Frame of the kind given
        Predictions for `curve` and `evaluate`: the keys; `class`, of the type of
        `truth`; `truth` Boolean, whether the case is of that class, null where
        its class is null or has no score; `score`; `weight` if given.

    Raises
    ------
    InvalidArgument
        Where columns are missing, there are fewer than two classes, or a name is
        no class of the type of `truth`.

    See Also
    --------
    macro : Means of measures over the classes.
    evaluate : All measures of predictions in one pass.

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
    columns = dict(zip(scores if isinstance(scores, Mapping) else named, named, strict=True))
    present = frame.collect_schema()
    missing = [name for name in (column_name(truth, "truth"), *named) if name not in present]
    if missing or len(columns) < 2:
        raise InvalidArgument(
            f"scores is {scores!r} and truth is {truth!r}; the table has {quoted(list(present))}.",
            hint="give one column per class, at least two, and the column of the classes.",
        )
    check_columns(frame, [*key_columns(by), weight])
    keys = key_expressions(by)
    names = frame.select(keys).collect_schema().names()
    check_keys(names, also=["class", "truth", "score", "weight"])
    kept = [*keys, pl.col(truth).alias(LABEL)]
    if weight is not None:
        kept.append(single_column(weight, "weight", frame).alias(WEIGHT))
    wanted = {private(str(i)): name for i, name in enumerate(columns.values())}
    classes = pl.Series(list(columns)).cast(present[truth], strict=False)
    if classes.null_count():
        raise InvalidArgument(
            f"scores is {scores!r}, and truth {truth!r} is {present[truth]}: no class is named so.",
            hint="give a mapping from each class to its column.",
        )
    label = pl.col(LABEL)
    own = pl.col("class").replace_strict(dict(zip(wanted, classes, strict=True)))
    long = (
        frame.select(*kept, *(pl.col(name).alias(at) for at, name in wanted.items()))
        .unpivot(
            list(wanted),
            index=[*names, LABEL, *([WEIGHT] if weight is not None else [])],
            variable_name="class",
            value_name="score",
        )
        .with_columns(own.cast(present[truth]).alias("class"))
    )
    known = label.is_in(classes.implode())
    is_own = pl.when(known).then(label == pl.col("class")).alias("truth")
    weights = [] if weight is None else [pl.col(WEIGHT).alias("weight")]
    return long.select(*names, "class", is_own, "score", *weights)


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

    See Also
    --------
    one_vs_rest : One table of predictions per class.
    evaluate : All measures of predictions in one pass.

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
