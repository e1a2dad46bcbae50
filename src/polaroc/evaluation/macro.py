"""Averages of measures over classes, with limits from cases that all classes have."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.checks import check_flag, refuse_unused, unless
from polaroc.base.columns import (
    INTERVAL,
    MEASURE_COLUMNS,
    OVER,
    column_name,
    parts_by_key,
    require,
    within,
)
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.errors import InvalidArgument, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.evaluation.request import Request
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.measures.spec import Measure, values_by_row
from polaroc.predictions.cases import Cases
from polaroc.predictions.deferred import deferred
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.predictions.usual_keys import column_names_of
from polaroc.priors.beliefs import Belief
from polaroc.priors.in_use import is_estimate
from polaroc.typing import Array, Interpolation, Priors
from polaroc.uncertainty.evidence import Evidence
from polaroc.uncertainty.parts import mean_limits, of_classes
from polaroc.uncertainty.scored_cases import scored_by_key
from polaroc.uncertainty.test_sets import of_test_set

OF_FOLDS = "folds share training cases: no interval of their mean"
NO_CASES = "nothing tells which rows are the same case: no interval"


@frame_of_cases(
    [*COUNTED_BY, "case", "cluster", "score_prior"],
    no_bearing=[role for role in BESIDE if role not in ("case", "cluster", "score_prior")],
    or_table=True,
)
def macro(
    cases: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    classes: str = "class",
    *,
    weighted: bool = False,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """The mean of each measure over the classes, for every other key.

    For cases, as `one_vs_rest` gives them, the mean has limits. For measures alone it has none,
    because they do not tell how correlated the errors of the classes are.

    Parameters
    ----------
    cases
        Predictions with the class in `by`: the result of `one_vs_rest`, or any table that `cases`
        takes; or measures, the result of `evaluate` or of a single measure.
    classes
        The key to average over.
    weighted
        Whether a class counts by its positives, or all count alike.
    priors, over, interpolation, measures, level
        Of predictions, as in `evaluate`; not at estimated priors.
    **columns

    Returns
    -------
    Frame of the kind given
        Tidy measures without the key `classes`: `estimate` is null where it is null
        for a class, and `note` says so; `prior` is null where the classes have
        their own; `positives` and `negatives` are sums, null where they are null
        for a class. For predictions also `lower`, `upper`, `level` and `std_error`, Float64. They
        are null, and `note` says why, where a class has none, where neither `case` nor `cluster`
        tells which rows of the classes belong together, and of means over folds.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        Where `classes` is not a key; where the columns of measures are missing; as in `evaluate`.

    Notes
    -----
    The limits are those of the mean of the classes (Zou and Donner 2008): of each class the limits
    of `evaluate` with ``intervals="logit"``, and between classes the correlation of their
    errors, from the influences of the cases on all classes: a case that is a positive of one class
    is a negative of the others. Influences are summed by `cluster`, where there is one. As in
    `evaluate`, the numbers of cases of each class are taken as fixed, and so are the weights of
    `weighted`.

    In simulations of three classes with 60 to 300 cases, also in patients and with weights, limits
    at level 0.95 held in 0.95 to 1 of samples (400 each; ``just macro``).

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"kind": ["a", "b", "c"] * 10}).with_row_index("case")
    >>> table = table.with_columns(
    ...     (pl.col("case").mul(7 + i).mod(11) / 22 + 0.3 * (pl.col("kind") == kind)).alias(kind)
    ...     for i, kind in enumerate("abc")
    ... )
    >>> flowers = pr.cases(table, truth="kind").pipe(pr.one_vs_rest, scores=["a", "b", "c"])
    >>> mean = flowers.pipe(pr.macro, measures="auc")
    >>> mean.select(pl.col("estimate", "lower", "upper").round(3)).row(0)
    (0.923, 0.741, 0.954)

    Of measures:

    >>> pr.macro(flowers.pipe(pr.evaluate, measures="auc"))["estimate"].round(3).item()
    0.923
    """
    check_flag("weighted", weighted)
    key = column_name(classes, "classes")
    if not isinstance(cases, Cases):
        asked = None if priors is DEFAULT_PRIORS else priors
        refuse_unused(
            "for predictions", "cases are measures", priors=asked, over=over,
            interpolation=unless("exact", interpolation), measures=measures,
            level=unless(0.95, level),
        )  # fmt: skip
        table = cases.lazy()
        keys = _checked(key, require(table, MEASURE_COLUMNS, source="evaluate(...)"))
        return _averaged(table, keys, key, weighted=weighted)
    if is_estimate(priors):
        raise InvalidArgument(
            "priors are estimates, allowed are numbers.",
            hint="macro(evaluate(...)) is at estimated priors, too, without limits.",
        )
    options: dict[str, Any] = {
        "priors": priors, "over": over, "interpolation": interpolation, "measures": measures,
    }  # fmt: skip
    measured = evaluate(cases, **options, intervals="logit", level=level)
    schema = measured.collect_schema()
    keys = _checked(key, require(measured.lazy(), MEASURE_COLUMNS, source="evaluate(...)"))
    made = partial(_with_limits, cases, key, keys, weighted=weighted, options=options, level=level)
    if isinstance(measured, pl.DataFrame):
        return made(measured).lazy()
    return deferred(made, {name: kind for name, kind in schema.items() if name != key})


def _checked(key: str, keys: list[str]) -> list[str]:
    if key not in keys:
        raise InvalidArgument(
            f"classes is {key!r}, allowed are the keys {quoted(keys) or '(none)'}.",
            hint="evaluate by the class too.",
        )
    return keys


def _averaged(
    measures: pl.LazyFrame, keys: Sequence[str], key: str, *, weighted: bool
) -> pl.LazyFrame:
    """The means of tidy measures over a key, sorted."""
    others = [name for name in keys if name != key]
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
            .then(pl.format("null for {} of {} {}", lacking, pl.len(), pl.lit(key)))
            .alias("note"),
            pl.col(ranged).first(),
        )
        .sort(*others, PLACE, nulls_last=True)
        .select(*others, *MEASURE_COLUMNS, *ranged)
    )


def _with_limits(
    cases: Cases[Any],
    key: str,
    keys: Sequence[str],
    measured: pl.DataFrame | None = None,
    *,
    weighted: bool,
    options: dict[str, Any],
    level: float,
) -> pl.DataFrame:
    """The means of the measures of cases, with limits."""
    held = cases.collect()
    if measured is None:
        measured = evaluate(held, **options, intervals="logit", level=level)
    means = _averaged(measured.lazy(), keys, key, weighted=weighted).collect()
    if key in column_names_of(cases.fold):
        limits, why = np.full((3, means.height), np.nan), OF_FOLDS
    elif cases.case is None and not cases.cluster:
        limits, why = np.full((3, means.height), np.nan), NO_CASES
    else:
        rows = Request(**options, score_prior=cases.score_prior).select(ARRAYS).measures
        limits = _limits(held, measured, keys, key, rows, weighted=weighted)
        why = f"a {key} has no interval"
    columns = [
        pl.Series(name, own, pl.Float64).fill_nan(None)
        for name, own in zip(INTERVAL, limits, strict=True)
    ]
    known = pl.col("estimate").is_not_null()
    found = means.with_columns(*columns, pl.lit(level).alias("level")).with_columns(
        pl.when(known).then(pl.col(*INTERVAL)).name.keep()
    )
    found = found.select(name for name in measured.columns if name != key)
    noted = with_note(found.lazy(), why, known & pl.col("lower").is_null())
    return with_note(noted, dependence(held), pl.col("lower").is_not_null()).collect()


def _limits(
    cases: Cases[pl.DataFrame],
    measured: pl.DataFrame,
    keys: Sequence[str],
    key: str,
    measures: Sequence[Measure],
    *,
    weighted: bool,
) -> "Array":
    """Lower and upper limits and standard errors of the means, NaN where a class has none."""
    others = [name for name in keys if name != key]
    scored = scored_by_key(cases, [*others, key], units=True)
    ordered = measured.sort(*others, nulls_last=True, maintain_order=True) if others else measured
    groups = [one for one in parts_by_key(ordered, others).values() if one.height]
    found = []
    for group in groups:
        parts = parts_by_key(group, [*others, key])
        values = np.stack(
            [one.select("estimate", *INTERVAL).to_numpy() for one in parts.values()], axis=1
        )
        sizes = np.array([one["positives"][0] if weighted else 1 for one in parts.values()], float)
        with np.errstate(invalid="ignore"):
            shares = sizes / sizes.sum()
        correlation = np.broadcast_to(np.eye(len(parts)), (len(values), len(parts), len(parts)))
        if all(place in scored for place in parts):
            joint = of_classes([
                _by_row(of_test_set(scored[place], measures), measures) for place in parts
            ])  # fmt: skip
            correlation = joint.correlation
            # How the errors of classes go together is not known of what hulls are fitted for.
            unknown = ~np.isfinite(joint.covariance).all(axis=(1, 2))
            values[unknown, :, 1:] = np.nan
        found.append(mean_limits(np.moveaxis(values, -1, 0), correlation, shares))
    return np.concatenate(found, axis=1) if found else np.empty((3, 0))


def _by_row(evidence: Evidence, measures: Sequence[Measure]) -> Evidence:
    """Evidence on measures as that on the rows that they make."""

    def rows_of(values: "Array") -> "Array":
        return np.stack([*values_by_row(measures, np.moveaxis(values, 0, -1))])

    moved = evidence.moved
    if moved is not None:
        moved = moved._replace(parts=tuple(map(rows_of, moved.parts)))
    estimates = rows_of(evidence.estimates)
    covariance = np.full((len(estimates), 1, 1), np.nan) if moved is None else moved.covariance()
    return replace(evidence, estimates=estimates, covariance=covariance, moved=moved)
