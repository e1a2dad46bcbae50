"""P-ROC's analyses of variance, with notes on the validity of their p-values."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import polars as pl

from polaroc.base.checks import check_ratio, check_text
from polaroc.base.columns import as_lazy, column_names, within
from polaroc.base.private_columns import LEVEL, RESPONSE
from polaroc.base.rounding import p_in_words
from polaroc.errors import InvalidArgument, example, quoted
from polaroc.inference.evidence import evidence_from_folds
from polaroc.models import omnibus
from polaroc.models.copied_folds import Copies, copied_measures
from polaroc.models.design import filled_array
from polaroc.models.measure_rows import Rows, distinct, refuse_rows, rows_of
from polaroc.priors.grids import SAME, is_among
from polaroc.typing import Array, Table

ANOVA = {
    "term": pl.String, "df": pl.Int64, "sum_sq": pl.Float64, "mean_sq": pl.Float64,
    "F": pl.Float64, "p_value": pl.Float64, "note": pl.String,
}  # fmt: skip
PRIOR = "prior"


@dataclass(frozen=True, eq=False, repr=False)
class Anova:
    """An analysis of variance; made by `anova`.

    Attributes
    ----------
    table
        One row per factor, the residual last, as `anova` describes it.
    fit
        The fitted model, a `RegressionResults` of statsmodels.
    """

    table: pl.DataFrame
    fit: Any

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


@dataclass(frozen=True, eq=False)
class Crossed:
    """One number per combination of the levels of some factors."""

    factors: tuple[str, ...]  # the first is compared
    values: Array  # one axis per factor

    @property
    def views(self) -> tuple[str, ...]:
        """The factors whose levels are views of one number: priors, else those past the second."""
        return (PRIOR,) if PRIOR in self.factors[1:] else self.factors[2:]

    @property
    def folds(self) -> tuple[str, ...]:
        """The factors whose levels are test sets."""
        return tuple(factor for factor in self.factors[1:] if factor not in self.views)

    @property
    def per_fold(self) -> Array:
        """The means over the views, folds × what is compared."""
        axes = tuple(self.factors.index(view) for view in self.views)
        means = self.values.mean(axis=axes) if axes else self.values
        table: Array = means.reshape(len(means), -1).T
        return table


def anova(
    table: Table,
    response: str = "auprec",
    factors: Sequence[str] = ("model", "fold", "prior"),
    *,
    test_train_ratio: float | None = None,
) -> Anova:
    """Analysis of variance over models, folds and priors, as in P-ROC; decide with `compare`.

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
    test_train_ratio
        Test over training cases of a fold, as in `compare`: adds the F that is
        corrected for overlapping training sets to the note.

    Returns
    -------
    Anova
        Its `table` has one row per factor, the residual last: `term` String, `df` Int64,
        `sum_sq`, `mean_sq`, `F`, `p_value` Float64, `note` String: whether folds are copies of
        others, as in `compare`, how far the p-value is to be trusted, and the equivalent two-way
        F. Only the first factor has a p-value. Its `fit` is the fitted linear model of
        statsmodels, for contrasts, residuals and diagnostics.

    Raises
    ------
    InvalidArgument, InvalidTable
        For unknown columns or measures; for combinations that are missing (with
        their list), repeated or null.

    Notes
    -----
    P-ROC §5. Let F₂ be the two-way F on means over the priors, of I models, J folds
    and K priors. The three-way F of the models is
    F₂·c·S/(S + W), where c = (IJK − I − J − K + 2)/((I−1)(J−1)), S is K times the
    residual sum of squares of those means, and W ≥ 0 what is left of each model and
    fold across the priors. Where the priors tell the same, W is near 0 and the
    three-way F near c·F₂: priors add degrees of freedom, not information.

    Each combination of the factors has one number, so that sums of squares of type I, II and III
    are equal.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", over=(0.05, 0.20)
    ... )
    >>> result = pr.anova(measures, "iauprec", ["model", "fold"])
    >>> result.table.select("term", "df").rows()
    [('model', 2), ('fold', 19), ('residual', 38)]
    >>> float(result.fit.df_resid)
    38.0
    """
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    frame = as_lazy(table).collect()
    named = _checked(frame, factors)
    cells = _cells(frame, response, named)
    folds = [factor for factor in named[1:] if factor != PRIOR]
    measures = frame if "estimate" in frame.columns else cells.rename({RESPONSE: "estimate"})
    copies = copied_measures(measures, folds) if folds else None
    crossed = _crossed(cells, named)
    fit = _fitted(cells, named)
    return Anova(_table(fit, crossed, test_train_ratio, copies), fit)


def _checked(frame: pl.DataFrame, factors: Sequence[str]) -> tuple[str, ...]:
    named = tuple(column_names(factors, "factors"))
    if len(named) < 2 or len(set(named)) < len(named):
        raise InvalidArgument(
            f"factors are {quoted(named) or 'none'}, allowed are two or more columns, each once.",
            hint=example("factors", ["model", "fold"]),
        )
    unknown = [factor for factor in named if factor not in frame.columns]
    if unknown:
        raise InvalidArgument(
            f"there is no column {quoted(unknown)}; the table has {quoted(frame.columns)}.",
            hint="check the spelling of factors.",
        )
    return named


def _fitted(cells: pl.DataFrame, factors: Sequence[str]) -> Any:
    """The linear model of the main effects, fitted by statsmodels."""
    import pandas as pd
    from statsmodels.formula.api import ols

    names = _formula_names(factors)
    cells = cells.select(
        pl.col(RESPONSE).alias("estimate"),
        *(pl.col(factor).cast(pl.String).fill_null("null").alias(name)
          for factor, name in names.items()),
    )  # fmt: skip
    # statsmodels would convert the frame itself, by way of pyarrow, which it does not bring.
    data = pd.DataFrame(cells.to_dict(as_series=False))
    return ols(f"estimate ~ {' + '.join(f'C({name})' for name in names.values())}", data).fit()


def _formula_names(factors: Sequence[str]) -> dict[str, str]:
    """Names that a formula can hold: those of the factors, or numbered ones."""
    is_usable = all(name.isidentifier() and name.isascii() for name in factors)
    is_usable &= not {*factors} & {"C", "Q", "I", "estimate", *keyword.kwlist}
    return {name: name if is_usable else f"factor_{i}" for i, name in enumerate(factors, 1)}


def _table(
    fit: Any, crossed: Crossed, test_train_ratio: float | None, copies: Copies | None
) -> pl.DataFrame:
    """The analysis of variance of statsmodels as a tidy frame, with notes."""
    from scipy.special import fdtrc
    from statsmodels.stats.anova import anova_lm

    table = anova_lm(fit, typ=2)
    # Differences that are due to rounding are none.
    least = omnibus.rounding_floor(crossed.values)
    *sums, residual = (float(one) if one > least else 0.0 for one in table["sum_sq"])
    *degrees, left = (round(one) for one in table["df"])
    rows: list[tuple[object, ...]] = []
    for factor, df, sum_sq in zip(crossed.factors, degrees, sums, strict=True):
        ratio, p_value = omnibus.f_ratio(sum_sq / df, residual / left), None
        if factor == crossed.factors[0]:
            p_value, note = float(fdtrc(df, left, ratio)), _remark(crossed, test_train_ratio)
            if copies is not None:
                note = f"{copies.note}: leave them out, the p-value takes them for evidence; {note}"
        elif factor == PRIOR:
            note = "no p-value: precision falls with the skew by definition"
        else:
            note = "no p-value: folds are no hypothesis"
        rows.append((factor, df, sum_sq, sum_sq / df, ratio, p_value, note))
    rows.append(("residual", left, residual, residual / left, None, None, None))
    return pl.DataFrame(rows, schema=ANOVA, orient="row")


def _remark(crossed: Crossed, test_train_ratio: float | None) -> str:
    """How far the p-value of what is compared is to be trusted."""
    folds = len(crossed.per_fold)
    views = " and ".join("priors" if view == PRIOR else repr(view) for view in crossed.views)
    # A printed table cuts notes off after some 30 characters.
    notes = [
        f"p too small: {views} are views of one number, not observations"
        if views
        else "p too small if folds are related: those that share cases are not independent"
    ]
    if not crossed.folds:
        return f"{notes[0]}; no folds, so nothing shows how much test sets differ"
    if views:
        two_way = omnibus.f_test("repeated-measures F", evidence_from_folds(crossed.per_fold, 0))
        more = ""
        if len(crossed.factors) == 3:
            models, size, sides = len(crossed.values), crossed.values.size, crossed.values.shape
            most = (size - sum(sides) + 2) / ((models - 1) * (folds - 1))
            more = f": this F is up to {most:.3g} times that one by its degrees of freedom alone"
        notes.append(f"{_described(two_way)} on means over {views}{more}")
    if test_train_ratio is None:
        notes.append("give test_train_ratio for the F that is corrected for overlap")
    else:
        evidence = evidence_from_folds(crossed.per_fold, test_train_ratio)
        notes.append(_described(omnibus.f_test("Nadeau-Bengio corrected F", evidence)))
    return "; ".join(notes)


def _described(outcome: omnibus.Outcome) -> str:
    return (
        f"{outcome.test} = {outcome.statistic:.4g} on {outcome.df1:.4g} and "
        f"{outcome.df2:.4g} degrees of freedom, {p_in_words(outcome.p_value)}"
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
            rows = _at_fixed_priors(selected)
    else:
        raise InvalidArgument(
            f"there is no column {response!r}; the table has {quoted(frame.columns)}.",
            hint="name the numeric column to analyse as response.",
        )
    if PRIOR in factors and rows.schema[PRIOR].is_numeric():
        rows = _snapped(rows)
    return rows.select(*factors, column.cast(pl.Float64).alias(RESPONSE))


def _at_fixed_priors(selected: Rows) -> pl.DataFrame:
    """The rows at the fixed priors; an estimate that is there twice counts once."""
    rows = _snapped(selected.frame.filter(is_among(pl.col(PRIOR), selected.fixed_priors)))
    cell = [*selected.keys, PRIOR]
    estimate = pl.col("estimate")
    spread = within(estimate.max() - estimate.min(), cell)
    return rows.filter(pl.struct(cell).is_first_distinct() | (spread > SAME))


def _snapped(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with one number for priors that are equal up to rounding."""
    firsts = pl.DataFrame({PRIOR: distinct(rows[PRIOR])}, schema={PRIOR: pl.Float64})
    numbers = rows.select(pl.col(PRIOR).cast(pl.Float64)).unique().drop_nulls().sort(PRIOR)
    nearest = numbers.join_asof(firsts, on=PRIOR, coalesce=False)
    first = pl.col(PRIOR).cast(pl.Float64).replace(nearest[PRIOR], nearest[f"{PRIOR}_right"])
    return rows.with_columns(first)


def _crossed(cells: pl.DataFrame, factors: tuple[str, ...]) -> Crossed:
    """The cells as an array; raise where any is missing, null or repeated."""
    levels = [cells.select(factor).unique().sort(factor, nulls_last=True) for factor in factors]
    single = [level.columns[0] for level in levels if level.height < 2]
    if single:
        raise InvalidArgument(
            f"{quoted(single)} has fewer than two values.",
            hint="leave it out of the factors.",
        )
    full = reduce(lambda one, other: one.join(other, how="cross"), levels)
    counts = cells.group_by(factors).agg(pl.len().alias(LEVEL))
    null = cells.filter(~pl.col(RESPONSE).is_finite().fill_null(False))
    problems = {
        f"of {full.height} cells are missing": full.join(
            cells, on=factors, how="anti", nulls_equal=True
        ),
        "estimates are null": null.select(factors),
        "cells have several rows": counts.filter(pl.col(LEVEL) > 1).select(factors),
    }
    refuse_rows(
        {problem: found.sort(factors) for problem, found in problems.items()},
        "each combination of the factors needs one number: filter, or name as a factor what tells "
        "rows apart.",
    )
    return Crossed(factors, filled_array(cells, levels, [RESPONSE])[..., 0])
