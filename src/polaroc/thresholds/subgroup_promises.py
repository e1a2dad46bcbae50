"""Thresholds whose true rates keep constraints in each subgroup and for each model, all at once.

A model may be picked because its promise is broken: each of several models gets δ, the error rate,
over their number (`just promises-picked`).

With subgroups a threshold is promised where it is promised in every one. How far the error rate has
to be spread depends on which thresholds break the constraints. Where they are those above one of
them in each subgroup, as of a recall, or those below one, as of false alarms, the thresholds that
are bad in any subgroup are those that are bad in one: the test of that subgroup alone keeps δ,
whatever the others do (an intersection-union test). Of a precision they may be other ones in each
subgroup: each gets δ over their number.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polaroc.base.columns import (
    collect_like,
    free_name,
    key_expressions,
    key_names,
    single_column,
    within,
)
from polaroc.base.joins import attach, join_on
from polaroc.base.private_columns import PLACE, TRUTH, private
from polaroc.base.text import has_csv_form, text_of
from polaroc.curves.curve import curve as curve_of
from polaroc.errors import InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE, truth_column
from polaroc.predictions.table import one_class_note
from polaroc.predictions.wide import MODEL
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.design_effects import EFFECTS, with_effects
from polaroc.thresholds.promises import LACK, PARTS, PROMISED, marked

SUBGROUP, COLUMN, ORDER = private("subgroup"), private("column"), private("order")
POS, NEG, SHARED = map(private, ("has_pos", "has_neg", "shared"))
KEY = "subgroup"
NONE_IN_ALL = "no threshold is promised in all subgroups at once"


def is_nested(constraints: Constraints) -> bool:
    """Whether the thresholds that break constraints are all above one, or all below one.

    Limits of the share called positive have a part of the error rate of their own, and are broken
    below a threshold.

    Examples
    --------
    >>> is_nested(Constraints({"recall": 0.8})), is_nested(Constraints({"precision": 0.8}))
    (True, False)
    >>> is_nested(Constraints({"recall": 0.8, "fpr": 0.1}))
    False
    """
    lines = constraints.lines(1.0)
    if constraints.cap < 1:
        return not lines
    return all(slope == 0 for slope, _ in lines)


def subgroup_columns(cases: Cases[Any]) -> dict[str, pl.Expr]:
    """The columns of the subgroups by their names."""
    table = cases.table.lazy()
    columns = [single_column(one, "subgroup", table) for one in cases.subgroup]
    return dict(zip(key_names(columns, table), columns, strict=True))


def divided(cases: Cases[Any], column: pl.Expr) -> tuple[Cases[Any], str]:
    """The cases with a column of subgroups as the last of `by`, and its name there."""
    own = free_name(KEY, cases.table.collect_schema())
    ((name, kind),) = cases.table.lazy().select(column).collect_schema().items()
    if not has_csv_form(kind):
        raise InvalidPredictions(
            f"the subgroup {name!r} is {kind}, of which there are no names of subgroups.",
            hint=text_of(kind),
        )
    table = cases.table.with_columns(column.alias(own))
    return replace(cases, table=table, by=(*cases.by, own), subgroup=()), own


def names_of_models(cases: Cases[Any] | None) -> list[str]:
    """The name of the column that tells the models apart, if any."""
    if cases is None or cases.scores:
        return [] if cases is None else [MODEL]
    return [] if cases.model is None else [*cases.table.lazy().select(cases.model).collect_schema()]


def models_among(cases: Cases[Any] | None, keys: Sequence[str]) -> pl.Expr:
    """How many models each key has, whose promises hold all at once: any may be picked."""
    models = names_of_models(cases)
    rest = [name for name in keys if name not in models]
    return within(pl.struct(models).n_unique(), rest) if models else pl.lit(1)


def with_promises(
    points: pl.LazyFrame,
    cases: Cases[Any] | None,
    keys: list[str],
    groups: list[str],
    constraints: Constraints,
    confidence: float,
) -> pl.LazyFrame:
    """Whether each point of a surface keeps the constraints for sure enough, and why none does.

    `points` are the curves of all cases at their priors, told apart by `keys`, and with the priors
    by `groups`. Known cases keep the promises of all their models, and in every subgroup, at once.
    """
    among = models_among(cases, keys)
    if cases is not None and cases.subgroup:
        return _in_subgroups(points, cases, keys, groups, constraints, 1 - confidence, among)
    with_clusters = with_effects(points, cases, keys)
    schema = with_clusters.drop(EFFECTS).collect_schema()

    def mark(rows: pl.DataFrame) -> pl.DataFrame:
        shared = rows.with_columns(among.alias(PARTS))
        return marked(shared, groups, constraints, 1 - confidence).drop(*EFFECTS, PARTS)

    # One curve is needed as a whole.
    return with_clusters.map_batches(
        mark, schema={**schema, PROMISED: pl.Boolean, LACK: pl.String},
        predicate_pushdown=False, projection_pushdown=False,
    )  # fmt: skip


def _in_subgroups(
    points: pl.LazyFrame,
    cases: Cases[Any],
    keys: list[str],
    groups: list[str],
    constraints: Constraints,
    delta: float,
    among: pl.Expr,
) -> pl.LazyFrame:
    """Whether each point is promised in every subgroup, and why none is."""
    priors = points.select(groups).unique()
    parts = [
        _surface(cases, name, one, priors, keys) for name, one in subgroup_columns(cases).items()
    ]
    all_parts = pl.concat(parts, how="diagonal_relaxed")
    own = [*groups, COLUMN, SUBGROUP]
    schema: Any = {**all_parts.collect_schema(), PROMISED: pl.Boolean, LACK: pl.String}

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        subgroups = within(pl.struct(COLUMN, SUBGROUP).n_unique(), keys)
        parts = among if is_nested(constraints) else among * subgroups
        shared = rows.with_columns(parts.alias(PARTS))
        absent = one_class_note(pl.col("positives"), pl.col("negatives"))
        promised = marked(shared, own, constraints, delta).drop(PARTS)
        return promised.with_columns(pl.coalesce(LACK, absent).alias(LACK))

    verdicts = all_parts.map_batches(
        check, schema=schema, predicate_pushdown=False, projection_pushdown=False
    ).cache()
    rows = points.select(*groups, SCORE, (pl.col("tp") + pl.col("fp")).alias(ORDER))
    whose = verdicts.select(own).unique()
    crossed = attach(rows, whose, groups)
    # No case of a subgroup scores between two of its thresholds, so that the higher one holds.
    at = [*own, SCORE]
    known = join_on(crossed, verdicts.select(*at, PROMISED), at, "left").sort(*own, ORDER)
    filled = known.with_columns(pl.col(PROMISED).forward_fill().over(own))
    in_all = filled.group_by([*groups, SCORE]).agg(pl.col(PROMISED).fill_null(False).all())
    lacking = verdicts.filter(pl.col(LACK).is_not_null())
    reasons = lacking.group_by(groups).agg(
        pl.concat_str(pl.lit("in "), COLUMN, pl.lit("="), SUBGROUP, pl.lit(": "), LACK)
        .unique(maintain_order=True)
        .sort()
        .first()
        .alias(LACK)
    )
    marked_points = join_on(points, in_all, [*groups, SCORE], "left")
    with_reasons = join_on(marked_points, reasons, groups, "left")
    return with_reasons.with_columns(
        pl.col(PROMISED).fill_null(False), pl.col(LACK).fill_null(NONE_IN_ALL)
    )


def _surface(
    cases: Cases[Any], name: str, column: pl.Expr, priors: pl.LazyFrame, keys: list[str]
) -> pl.LazyFrame:
    """The curves of the subgroups of a column at the priors of their keys, with `EFFECTS`."""
    parts, own = divided(cases, column)
    rows = _with_whole_classes(parts.table.lazy(), cases, own)
    parts = replace(parts, table=collect_like(cases.table, rows))
    curves = curve_of(replace(parts, cluster=())).lazy()
    at_priors = attach(curves, priors, keys)
    with_clusters = with_effects(at_priors, parts, [*keys, own])
    return with_clusters.with_columns(
        pl.lit(name).alias(COLUMN),
        pl.col(own).cast(pl.String).fill_null("null").alias(SUBGROUP),
    ).drop(own)


def _with_whole_classes(rows: pl.LazyFrame, cases: Cases[Any], own: str) -> pl.LazyFrame:
    """The rows, of which those of a subgroup that is all of a class count in every other one.

    So it is where the subgroups are the kinds that make up the negatives: each is set against the
    same positives.
    """
    expressions = key_expressions(cases.keys)
    keys = [private(f"key_{i}") for i in range(len(expressions))]
    truth: Any = cases.truth
    named = rows.with_columns(
        *(one.alias(key) for one, key in zip(expressions, keys, strict=True)),
        single_column(truth, "truth", rows).alias(TRUTH),
    )
    label, _ = truth_column(named.collect_schema()[TRUTH], truth, cases.positive)
    labelled = named.with_columns(label).cache()
    parts = labelled.group_by(*keys, own).agg(
        pl.col(TRUTH).any().alias(POS), pl.col(TRUTH).not_().any().alias(NEG)
    )
    pos, neg = pl.col(POS), pl.col(NEG)
    all_pos, all_neg = (
        class_of & ~other & (within(class_of.sum(), keys) == 1) & (within(pl.len(), keys) > 1)
        for class_of, other in ((pos, neg), (neg, pos))
    )
    # Of two subgroups that are a class each, one stays.
    is_shared = all_pos | (all_neg & ~within(all_pos.any(), keys))
    known = parts.with_columns(is_shared.alias(SHARED)).cache()
    others = known.filter(~pl.col(SHARED)).select(*keys, own, pl.col(own).alias(PLACE))
    shared = known.filter(SHARED).select(*keys, own)
    beside = attach(shared, others.select(*keys, PLACE), keys)
    homes = pl.concat([others, beside.select(others.collect_schema().names())])
    placed = join_on(labelled, homes, [*keys, own])
    # The labels may be a column of the rows.
    made = [name for name in (*keys, TRUTH, PLACE) if name not in rows.collect_schema()]
    return placed.with_columns(pl.col(PLACE).alias(own)).drop(made)
