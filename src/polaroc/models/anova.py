"""P-ROC's analyses of variance, with notes on the validity of their p-values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polaroc.base.checks import check_ratio, check_text
from polaroc.base.columns import RESPONSE, as_lazy, column_names, join_by_key
from polaroc.base.text import number, p_in_words, p_value
from polaroc.base.text_tables import Result, noted, table_of
from polaroc.errors import InvalidArgument, example, quoted
from polaroc.inference.evidence import evidence_from_folds
from polaroc.models.compare import f_test, rounding_floor
from polaroc.models.inputs import copied_folds
from polaroc.models.measure_rows import refuse_rows, rows_of
from polaroc.predictions.columns import check_columns
from polaroc.priors.grids import is_among
from polaroc.typing import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

ANOVA = {
    "term": pl.String, "df": pl.Int64,
    **dict.fromkeys(("sum_sq", "mean_sq", "F", "p_value"), pl.Float64), "note": pl.String,
}  # fmt: skip
# Names of columns that a formula can hold; others are numbered.
PLAIN = re.compile("[a-z][a-z0-9_]+")


@dataclass(frozen=True, eq=False, repr=False)
class Anova(Result):
    """An analysis of variance; made by `anova`.

    Attributes
    ----------
    answer
        The F and the p-value of the first factor, in one sentence.
    table
        One row per factor, the residual last: `term` String, `df` Int64, `sum_sq`, `mean_sq`, `F`,
        `p_value` Float64, `note` String. Only the first factor has a p-value.
    warnings
        How far that is to be trusted, what the F of folds is, and whether folds are copies of
        others, in sentences.
    fit
        The fitted model, a `RegressionResults` of statsmodels.
    """

    answer: str
    table: pl.DataFrame
    warnings: tuple[str, ...]
    fit: Any

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The table, by its name."""
        return {"anova": self.table}

    @property
    def shown(self) -> list[RenderableType]:
        """The answer, the table and notes."""
        forms: dict[str, Any] = {
            "term": str, "df": str, "sum_sq": number, "F": number, "p_value": p_value
        }  # fmt: skip
        return [self.answer, "", table_of("", self.table, forms), *noted(self.warnings)]


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
        Tidy measures as `evaluate` gives them, or any table with one row per combination of the
        factors; a lazy frame is collected.
    response
        A measure of the table such as "auprec" or "iauprec", or a numeric column.
    factors
        Two or more columns; the first is what is compared, the others are folds and, called
        "prior", the priors at which a measure is taken.
    test_train_ratio
        Test over training cases of a fold, as in `compare`: `warnings` then have the F that is
        corrected for overlapping training sets.

    Returns
    -------
    Anova
        Its `table`, an `answer`, `warnings`, and the fitted linear model of statsmodels, `fit`,
        for contrasts, residuals and diagnostics.

    Raises
    ------
    InvalidArgument, InvalidTable
        For unknown columns or measures; for combinations that are missing (with their list),
        repeated or null.

    Notes
    -----
    P-ROC §5. Let F₂ be the two-way F on means over the priors, of I models, J folds and K priors.
    The three-way F of the models is F₂·c·S/(S + W), where c = (IJK − I − J − K + 2)/((I−1)(J−1)),
    S is K times the residual sum of squares of those means, and W ≥ 0 what is left of each model
    and fold across the priors. Where the priors tell the same, W is near 0 and the three-way F near
    c·F₂: priors add degrees of freedom, not information. Each combination of the factors has one
    number, so that sums of squares of type I, II and III are equal.

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
    frame, factors = as_lazy(table).collect(), column_names(factors, "factors")
    if len(factors) < 2:
        raise InvalidArgument(
            f"factors are {quoted(factors) or 'none'}, allowed are two or more columns.",
            hint=example("factors", ["model", "fold"]),
        )
    check_columns(frame.columns, factors)
    cells = _cells(frame, response, factors)
    folds = [factor for factor in factors[1:] if factor != "prior"]
    warnings = _validity(cells, factors, folds, test_train_ratio)
    rows, fit = _fitted(cells, factors, warnings[0])
    if folds and "estimate" in frame.columns:
        copies, note = copied_folds(frame, folds)
        warnings += [f"{note}: the p-value takes them for evidence."] * bool(copies.height)
    df, statistic, p = rows.select("df", "F", "p_value").row(0)
    answer = "The numbers show no variation, so there is no test."
    if statistic is not None:
        freedom = f"{df} and {rows['df'][-1]} degrees of freedom"
        answer = f"The F of {factors[0]!r} is {statistic:.4g} on {freedom}, {p_in_words(p)}."
    return Anova(answer, rows, tuple(warnings), fit)


def _cells(frame: pl.DataFrame, response: str, factors: Sequence[str]) -> pl.DataFrame:
    """The factors and the response, one row per combination; raise where this is not so."""
    check_text("response", response, "auprec")
    column = response
    if response not in frame.columns and "measure" in frame.columns:
        rows, column = rows_of(frame, response), "estimate"
        frame = rows.frame.drop("note")
        if "prior" in factors:
            # The observed priors of keys are no levels of a factor.
            frame = frame.filter(is_among(pl.col("prior"), rows.fixed_priors))
    check_columns(frame.columns, [column])
    if not frame.schema[column].is_numeric():
        raise InvalidArgument(
            f"response {response!r} is {frame.schema[column]}, allowed are numbers.",
            hint="name a measure or a numeric column.",
        )
    if "prior" in factors:
        # Priors may differ by rounding; a row that occurs twice counts once.
        prior = pl.col("prior").cast(pl.Float64).round(9)
        frame = frame.with_columns(prior).unique(maintain_order=True)
    cells = frame.select(*factors, pl.col(column).cast(pl.Float64).alias(RESPONSE))
    full = cells.select(factors[0]).unique()
    for factor in factors[1:]:
        full = full.join(cells.select(factor).unique(), how="cross")
    full = full.sort(factors, nulls_last=True)
    if single := [factor for factor in factors if full[factor].n_unique() < 2]:
        raise InvalidArgument(
            f"{quoted(single)} has fewer than two values.", hint="leave it out of the factors."
        )
    refuse_rows(
        {
            f"of {full.height} cells are missing": join_by_key(full, cells, factors, "anti"),
            "estimates are null": cells.filter(pl.col(RESPONSE).is_null())[factors],
            "cells have several rows": cells.filter(cells[factors].is_duplicated())[factors],
        },
        "each combination of the factors needs one number: filter, or name as a factor what tells "
        "rows apart.",
    )
    return cells


def _fitted(cells: pl.DataFrame, factors: Sequence[str], note: str) -> tuple[pl.DataFrame, Any]:
    """The analysis of variance as a tidy frame, and the linear model fitted by statsmodels."""
    import pandas as pd
    from scipy.special import fdtrc
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    are_plain = all(map(PLAIN.fullmatch, factors))
    terms = factors if are_plain else [f"factor_{i}" for i in range(len(factors))]
    # To convert a Polars frame, statsmodels would need pyarrow, which may not be installed.
    levels = (cells[factor].cast(pl.String).fill_null("null").to_list() for factor in factors)
    data = pd.DataFrame({"Y": cells[RESPONSE].to_list(), **dict(zip(terms, levels, strict=True))})
    fit = ols(f"Y ~ {' + '.join(f'C({term})' for term in terms)}", data).fit()
    table = anova_lm(fit, typ=2)
    sums, df = table["sum_sq"].to_numpy(), table["df"].to_numpy()
    sums = np.where(sums > rounding_floor(data["Y"].to_numpy()), sums, 0.0)
    *means, residual = sums / df
    statistics = [mean / residual if residual else None for mean in means]
    p_value = float(fdtrc(df[0], df[-1], statistics[0])) if residual else None
    columns = {
        "term": [*factors, "residual"],
        "df": df.round(),
        "sum_sq": sums,
        "mean_sq": [*means, residual],
        "F": [*statistics, None],
        "p_value": [p_value, *[None] * len(factors)],
        "note": [
            note,
            *(
                "no p-value: precision falls with the skew by definition"
                if name == "prior"
                else "no p-value: folds are no hypothesis"
                for name in factors[1:]
            ),
            None,
        ],
    }
    return pl.DataFrame(columns, schema=ANOVA, strict=False), fit


def _validity(
    cells: pl.DataFrame, factors: Sequence[str], folds: Sequence[str], ratio: float | None
) -> list[str]:
    """Notes on what makes the p-value too small, and on the F of means per fold."""
    reason = "The p-value is too small if folds share cases, and so are not independent."
    if "prior" in factors[1:]:
        reason = "The p-value is too small: priors are views of one number, not observations."
    if not folds:
        return [reason, "There are no folds, so nothing shows how much test sets differ."]
    by_fold = [*folds, factors[0]]
    means = cells.group_by(by_fold).agg(pl.col(RESPONSE).mean()).sort(by_fold, nulls_last=True)
    per_fold = means[RESPONSE].to_numpy().reshape(-1, cells[factors[0]].n_unique())
    statistic, df1, df2, p = f_test(evidence_from_folds(per_fold, ratio or 0))
    if statistic is None or p is None:
        return [reason, "The differences of the means per fold show no variation."]
    name = "Nadeau-Bengio corrected F" if ratio else "repeated-measures F"
    numbers = f"{statistic:.4g} on {df1:g} and {df2:g} degrees of freedom, {p_in_words(p)}"
    hint = "; test_train_ratio corrects it for folds that share cases" if ratio is None else ""
    return [reason, f"Of the means per fold the {name} = {numbers}{hint}."]
