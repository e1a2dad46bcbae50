"""P-ROC's analyses of variance, with notes on the validity of their p-values."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import polars as pl

from polaroc.base.checks import check_ratio, check_text, listed_values
from polaroc.base.columns import as_lazy, column_names
from polaroc.base.joins import join_on
from polaroc.base.private_columns import LEVEL, RESPONSE
from polaroc.comparison import caveats, omnibus
from polaroc.comparison.design import filled_array
from polaroc.comparison.measure_rows import refuse_rows, rows_of
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.typing import Array, Table
from polaroc.uncertainty.evidence import of_folds

ANOVA = {
    "term": pl.String, "df": pl.Int64, "sum_sq": pl.Float64, "mean_sq": pl.Float64,
    "F": pl.Float64, "p_value": pl.Float64, "note": pl.String,
}  # fmt: skip
PRIOR = "prior"


@dataclass(frozen=True, eq=False)
class Crossed:
    """One number per combination of the levels of some factors."""

    factors: tuple[str, ...]  # the first is compared
    values: "Array"  # one axis per factor

    @property
    def views(self) -> tuple[str, ...]:
        """The factors whose levels are views of one number: priors, else those past the second."""
        return (PRIOR,) if PRIOR in self.factors[1:] else self.factors[2:]

    @property
    def folds(self) -> tuple[str, ...]:
        """The factors whose levels are test sets."""
        return tuple(factor for factor in self.factors[1:] if factor not in self.views)

    @property
    def per_fold(self) -> "Array":
        """The means over the views, folds × what is compared."""
        axes = tuple(self.factors.index(view) for view in self.views)
        means = self.values.mean(axis=axes) if axes else self.values
        table: Array = means.reshape(len(means), -1).T
        return table

    def degrees(self, term: tuple[str, ...]) -> int:
        """The degrees of freedom of a term."""
        sizes = dict(zip(self.factors, self.values.shape, strict=True))
        return prod(sizes[factor] - 1 for factor in term)


def anova(
    table: Table,
    response: str = "auprec",
    factors: Sequence[str] = ("model", "fold", "prior"),
    interactions: Sequence[Sequence[str]] = (),
    *,
    test_train_ratio: float | None = None,
) -> pl.DataFrame:
    """Analysis of variance over models, folds and priors, as in P-ROC; `compare` is to decide by.

    Parameters
    ----------
    table
        Tidy measures as `evaluate` gives them, or any table with one row per
        combination of the factors; a lazy frame is collected.
    response
        A measure of the table such as "auprec" or "iauprec", or a numeric column.
    factors
        Two or more columns; the first is what is compared, the others are folds
        and, called "prior", the priors at which a measure is taken.
    interactions
        Factors whose joint effect is a term of its own: ``[("model", "prior")]``.
    test_train_ratio
        Test over training cases of a fold, as in `compare`: adds the F that is
        corrected for overlapping training sets to the note.

    Returns
    -------
    DataFrame
        One row per term, the residual last: `term` String (interactions joined
        by ":"), `df` Int64, `sum_sq` (type II), `mean_sq`, `F`, `p_value`
        Float64, `note` String: how far the p-value is to be trusted, and the
        equivalent two-way F. Terms without the first factor have no p-value.

    Raises
    ------
    InvalidArgument, InvalidTable
        For unknown columns or measures; for combinations that are missing (with
        their list), repeated or null; where nothing is left for the residual.

    Notes
    -----
    P-ROC §5. Let F₂ be the two-way F on means over the priors, of I models, J folds
    and K priors. With main effects only, the three-way F of the models is
    F₂·c·S/(S + W), where c = (IJK − I − J − K + 2)/((I−1)(J−1)), S is K times the
    residual sum of squares of those means, and W ≥ 0 what is left of each model and
    fold across the priors. Where the priors tell the same, W is near 0 and the
    three-way F near c·F₂: priors add degrees of freedom, not information.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", over=(0.05, 0.20)
    ... )
    >>> pr.anova(measures, "iauprec", ["model", "fold"]).select("term", "df").rows()
    [('model', 2), ('fold', 19), ('residual', 38)]
    """
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    frame = as_lazy(table).collect()
    named = _checked(frame, factors)
    terms: list[tuple[str, ...]] = [(factor,) for factor in named]
    values: list[Any] | None = listed_values(interactions)
    for together in [()] if values is None else values:
        terms.append(_interaction(together, named, terms))
    cells = _cells(frame, response, named)
    levels = [cells.select(factor).unique().sort(factor, nulls_last=True) for factor in named]
    _check_complete(cells, levels, named)
    crossed = Crossed(named, filled_array(cells, levels, [RESPONSE])[..., 0])
    if crossed.values.size - 1 - sum(crossed.degrees(term) for term in terms) <= 0:
        raise InvalidArgument(
            "the terms leave no degrees of freedom for the residual.",
            hint="leave an interaction out.",
        )
    sums = _sums_of_squares(crossed, terms)
    return _frame(crossed, terms, sums, test_train_ratio)


def _checked(frame: pl.DataFrame, factors: Sequence[str]) -> tuple[str, ...]:
    named = tuple(column_names(factors, "factors"))
    if len(named) < 2 or len(set(named)) < len(named):
        raise InvalidArgument(
            f"factors are {quoted(named) or 'none'}, allowed are two or more columns, each once.",
            hint=Hint.example("factors", ["model", "fold"]),
        )
    unknown = [factor for factor in named if factor not in frame.columns]
    if unknown:
        raise InvalidArgument(
            f"there is no column {quoted(unknown)}; the table has {quoted(frame.columns)}.",
            hint="check the spelling of factors.",
        )
    return named


def _interaction(
    together: Sequence[str], factors: Sequence[str], terms: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    named = listed_values(together) or []
    ordered = tuple(factor for factor in factors if factor in named)
    if len(named) < 2 or len(ordered) < len(named) or ordered in terms:
        raise InvalidArgument(
            f"the interaction {quoted([together])} is not allowed: it must name two or "
            f"more of the factors {quoted(factors)}, each once, and not repeat another.",
            hint=Hint.example("interactions", [("model", "prior")]),
        )
    lacking = [part for part in combinations(ordered, len(ordered) - 1) if part not in terms]
    if lacking:
        raise InvalidArgument(
            f"the interaction {together!r} is given without {lacking[0]!r}, a part of it.",
            hint="give the smaller interactions first.",
        )
    return ordered


def _sums_of_squares(crossed: Crossed, terms: Sequence[tuple[str, ...]]) -> list[float]:
    """Type II sums of squares of the terms and the residual: every cell has one number."""
    rest = crossed.values - crossed.values.mean()
    sums = []
    for term in terms:
        others = [at for at, factor in enumerate(crossed.factors) if factor not in term]
        # The parts of an interaction, which come before it, are taken off already.
        effect = rest.mean(axis=tuple(others), keepdims=True)
        rest = rest - effect
        sums.append(float((effect**2).sum()) * rest.size / effect.size)
    least = omnibus.rounding_floor(crossed.values)
    return [one if one > least else 0.0 for one in (*sums, float((rest**2).sum()))]


def _frame(
    crossed: Crossed,
    terms: Sequence[tuple[str, ...]],
    sums: Sequence[float],
    test_train_ratio: float | None,
) -> pl.DataFrame:
    from scipy.special import fdtrc

    degrees = [crossed.degrees(term) for term in terms]
    left = crossed.values.size - 1 - sum(degrees)
    error = sums[-1] / left
    rows: list[tuple[object, ...]] = []
    for term, df, sum_sq in zip(terms, degrees, sums, strict=False):
        ratio = omnibus.f_ratio(sum_sq / df, error)
        compared = crossed.factors[0] in term
        p_value = float(fdtrc(df, left, ratio)) if compared else None
        note = _remark(crossed, term, terms, test_train_ratio)
        rows.append((":".join(term), df, sum_sq, sum_sq / df, ratio, p_value, note))
    rows.append(("residual", left, sums[-1], error, None, None, None))
    return pl.DataFrame(rows, schema=ANOVA, orient="row")


def _remark(
    crossed: Crossed,
    term: tuple[str, ...],
    terms: Sequence[tuple[str, ...]],
    test_train_ratio: float | None,
) -> str:
    """Note on a term and its p-value."""
    if crossed.factors[0] not in term:
        if PRIOR in term:
            return "no p-value: precision falls with the skew by definition"
        return "no p-value: folds are no hypothesis"
    folds = len(crossed.per_fold) if crossed.folds else 1
    views = " and ".join("priors" if view == PRIOR else repr(view) for view in crossed.views)
    if len(term) > 1:
        return (
            f"its error mixes folds and {views}: for how models depend on the prior take "
            "compare(..., contrast=(lo, hi))"
        )
    if not crossed.folds:
        doubt = caveats.views(views, folds)
        return f"no folds, so nothing shows how much test sets differ; {doubt}"
    notes = [caveats.views(views, folds) if views else caveats.two_way(folds)]
    if views:
        notes.append(_describe_two_way(crossed, views, main_only=max(map(len, terms)) == 1))
    if test_train_ratio is None:
        notes.append("give test_train_ratio for the F that is corrected for overlap")
    else:
        evidence = of_folds(crossed.per_fold, test_train_ratio)
        notes.append(_describe_outcome(omnibus.f_test("Nadeau-Bengio corrected F", evidence)))
    return "; ".join(notes)


def _describe_two_way(crossed: Crossed, views: str, *, main_only: bool) -> str:
    two_way = _describe_outcome(
        omnibus.f_test("repeated-measures F", of_folds(crossed.per_fold, 0))
    )
    if not main_only or len(crossed.factors) != 3:
        return f"{two_way} on means over {views}"
    models, folds = crossed.per_fold.shape[::-1]
    size, sides = crossed.values.size, sum(crossed.values.shape)
    most = (size - sides + 2) / ((models - 1) * (folds - 1))
    return (
        f"{two_way} on means over {views}: this F is up to {most:.3g} times that one by its "
        "degrees of freedom alone"
    )


def _describe_outcome(outcome: omnibus.Outcome) -> str:
    return (
        f"{outcome.test} = {outcome.statistic:.4g} on {outcome.df1:.4g} and "
        f"{outcome.df2:.4g} degrees of freedom, p = {outcome.p_value:.2g}"
    )


def _cells(frame: pl.DataFrame, response: str, factors: Sequence[str]) -> pl.DataFrame:
    """The factors and the response of every used row."""
    check_text("response", response, "auprec")
    if response in frame.columns:
        if not frame.schema[response].is_numeric():
            raise InvalidArgument(
                f"response {response!r} is {frame.schema[response]}, allowed are numbers.",
                hint="name a measure or a numeric column.",
            )
        rows, column = frame, pl.col(response)
    elif "measure" in frame.columns:
        selected = rows_of(frame, response)
        rows, column = selected.frame, pl.col("estimate")
        if PRIOR in factors:
            rows = rows.filter(pl.col(PRIOR).is_in(selected.fixed_priors))
    else:
        raise InvalidArgument(
            f"there is no column {response!r}; the table has {quoted(frame.columns)}.",
            hint="name the numeric column to analyse as response.",
        )
    return rows.select(*factors, column.cast(pl.Float64).alias(RESPONSE))


def _check_complete(
    cells: pl.DataFrame, levels: Sequence[pl.DataFrame], factors: tuple[str, ...]
) -> None:
    single = [factor for factor, level in zip(factors, levels, strict=True) if level.height < 2]
    if single:
        raise InvalidArgument(
            f"{quoted(single)} has fewer than two values.",
            hint="leave it out of the factors.",
        )
    counts = cells.group_by(factors).agg(pl.len().alias(LEVEL))
    repeated = counts.filter(pl.col(LEVEL) > 1).sort(factors)
    full = levels[0]
    for level in levels[1:]:
        full = full.join(level, how="cross")
    missing = join_on(full, cells, factors, "anti").sort(factors)
    null = cells.filter(~pl.col(RESPONSE).is_finite().fill_null(False)).sort(factors)
    problems = {
        f"of {full.height} cells are missing": missing,
        "estimates are null": null.select(factors),
        "cells have several rows": repeated.select(factors),
    }
    refuse_rows(
        problems,
        "each combination of the factors needs one number: filter, or name as a factor what tells "
        "rows apart.",
    )
