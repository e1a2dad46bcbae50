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
from polaroc.models.compare import f_test, rounding_floor
from polaroc.models.copied_folds import copied_measures
from polaroc.models.fold_values import filled_array
from polaroc.models.measure_rows import distinct, refuse_rows, rows_of
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
    named = [*column_names(factors, "factors")]
    if len(named) < 2 or len(set(named)) < len(named):
        raise InvalidArgument(
            f"factors are {quoted(named) or 'none'}, allowed are two or more columns, each once.",
            hint=example("factors", ["model", "fold"]),
        )
    if unknown := [factor for factor in named if factor not in frame.columns]:
        raise InvalidArgument(
            f"there is no column {quoted(unknown)}; the table has {quoted(frame.columns)}.",
            hint="check the spelling of factors.",
        )
    cells = _cells(frame, response, named)
    values = _values(cells, named)
    fit = _fitted(cells, named)
    validity = [_validity(named, values, test_train_ratio)]
    if folds := [factor for factor in named[1:] if factor != PRIOR]:
        measures = frame if "estimate" in frame.columns else cells.rename({RESPONSE: "estimate"})
        copies, note = copied_measures(measures, folds)
        if copies.height:
            validity.insert(0, f"{note}: leave them out, the p-value takes them for evidence")
    return Anova(_table(fit, named, rounding_floor(values), "; ".join(validity)), fit)


def _cells(frame: pl.DataFrame, response: str, factors: Sequence[str]) -> pl.DataFrame:
    """The factors and the response of every used row."""
    check_text("response", response, "auprec")
    column = pl.col(response)
    if response in frame.columns:
        if not frame.schema[response].is_numeric():
            raise InvalidArgument(
                f"response {response!r} is {frame.schema[response]}, allowed are numbers.",
                hint="name a measure or a numeric column.",
            )
    elif "measure" in frame.columns:
        selected, column = rows_of(frame, response), pl.col("estimate")
        frame = selected.frame
        if PRIOR in factors:
            # At fixed priors only; an estimate that is there twice counts once.
            fixed = is_among(pl.col(PRIOR), selected.fixed_priors)
            frame = _same_priors(frame.filter(fixed))
            cell = [*selected.keys, PRIOR]
            spread = within(column.max() - column.min(), cell)
            frame = frame.filter(pl.struct(cell).is_first_distinct() | (spread > SAME))
    else:
        raise InvalidArgument(
            f"there is no column {response!r}; the table has {quoted(frame.columns)}.",
            hint="name the numeric column to analyse as response.",
        )
    if PRIOR in factors and frame.schema[PRIOR].is_numeric():
        frame = _same_priors(frame)
    return frame.select(*factors, column.cast(pl.Float64).alias(RESPONSE))


def _same_priors(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with one number for priors that are equal up to rounding."""
    firsts = pl.DataFrame({PRIOR: distinct(rows[PRIOR])}, schema={PRIOR: pl.Float64})
    numbers = rows.select(pl.col(PRIOR).cast(pl.Float64)).unique().drop_nulls().sort(PRIOR)
    nearest = numbers.join_asof(firsts, on=PRIOR, coalesce=False)
    first = pl.col(PRIOR).cast(pl.Float64).replace(nearest[PRIOR], nearest[f"{PRIOR}_right"])
    return rows.with_columns(first)


def _values(cells: pl.DataFrame, factors: Sequence[str]) -> Array:
    """The responses with one axis per factor; raise where any is missing, null or repeated."""
    levels = [cells.select(factor).unique().sort(factor, nulls_last=True) for factor in factors]
    if single := [level.columns[0] for level in levels if level.height < 2]:
        raise InvalidArgument(
            f"{quoted(single)} has fewer than two values.", hint="leave it out of the factors."
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
        {problem: rows.sort(factors) for problem, rows in problems.items()},
        "each combination of the factors needs one number: filter, or name as a factor what tells "
        "rows apart.",
    )
    return filled_array(cells, levels, [RESPONSE])[..., 0]


def _fitted(cells: pl.DataFrame, factors: Sequence[str]) -> Any:
    """The linear model of the main effects, fitted by statsmodels."""
    import pandas as pd
    from statsmodels.formula.api import ols

    # A formula holds names of variables only.
    taken = {"C", "Q", "I", "estimate", *keyword.kwlist}
    is_usable = all(name.isidentifier() and name.isascii() for name in factors)
    terms = [*factors]
    if not is_usable or taken & {*factors}:
        terms = [f"factor_{i}" for i in range(1, len(factors) + 1)]
    columns = {
        term: cells[factor].cast(pl.String).fill_null("null").to_list()
        for term, factor in zip(terms, factors, strict=True)
    }
    # statsmodels would convert the frame itself, by way of pyarrow, which it does not bring.
    data = pd.DataFrame({"estimate": cells[RESPONSE].to_numpy(), **columns})
    return ols(f"estimate ~ {' + '.join(f'C({term})' for term in terms)}", data).fit()


def _table(fit: Any, factors: Sequence[str], least: float, validity: str) -> pl.DataFrame:
    """The analysis of variance of statsmodels as a tidy frame, with notes.

    Sums of squares up to `least` are due to rounding.
    """
    from scipy.special import fdtrc
    from statsmodels.stats.anova import anova_lm

    table = anova_lm(fit, typ=2)
    *sums, residual = (float(value) if value > least else 0.0 for value in table["sum_sq"])
    *degrees, left = (round(value) for value in table["df"])
    rows: list[tuple[object, ...]] = []
    for factor, df, sum_sq in zip(factors, degrees, sums, strict=True):
        statistic = p_value = None
        if residual > 0:
            statistic = sum_sq / df / (residual / left)
        note = "no p-value: folds are no hypothesis"
        if factor == factors[0]:
            p_value = None if statistic is None else float(fdtrc(df, left, statistic))
            note = validity
        elif factor == PRIOR:
            note = "no p-value: precision falls with the skew by definition"
        rows.append((factor, df, sum_sq, sum_sq / df, statistic, p_value, note))
    rows.append(("residual", left, residual, residual / left, None, None, None))
    return pl.DataFrame(rows, schema=ANOVA, orient="row")


def _validity(factors: Sequence[str], values: Array, test_train_ratio: float | None) -> str:
    """How far the p-value of what is compared is to be trusted."""
    # Levels of these factors are views of one number; those of the others are test sets.
    views = [PRIOR] if PRIOR in factors[1:] else factors[2:]
    in_words = " and ".join("priors" if view == PRIOR else repr(view) for view in views)
    # A printed table cuts notes off after some 30 characters.
    notes = [
        f"p too small: {in_words} are views of one number, not observations"
        if views
        else "p too small if folds are related: those that share cases are not independent"
    ]
    if len(views) == len(factors) - 1:
        return f"{notes[0]}; no folds, so nothing shows how much test sets differ"
    means = values.mean(axis=tuple(factors.index(view) for view in views))
    per_fold = means.reshape(len(means), -1).T
    if views:
        more = ""
        if len(factors) == 3:
            models, folds = per_fold.shape[1], per_fold.shape[0]
            most = (values.size - sum(values.shape) + 2) / ((models - 1) * (folds - 1))
            more = f": this F is up to {most:.3g} times that one by its degrees of freedom alone"
        two_way = _f_in_words("repeated-measures F", per_fold, 0)
        notes.append(f"{two_way} on means over {in_words}{more}")
    if test_train_ratio is None:
        notes.append("give test_train_ratio for the F that is corrected for overlap")
    else:
        notes.append(_f_in_words("Nadeau-Bengio corrected F", per_fold, test_train_ratio))
    return "; ".join(notes)


def _f_in_words(name: str, per_fold: Array, ratio: float) -> str:
    """The F of means per fold and model, with its degrees of freedom and p-value."""
    statistic, df1, df2, p_value = f_test(evidence_from_folds(per_fold, ratio))
    if statistic is None or p_value is None:
        return f"no {name}: the differences show no variation"
    return (
        f"{name} = {statistic:.4g} on {df1:.4g} and {df2:.4g} degrees of freedom, "
        f"{p_in_words(p_value)}"
    )
