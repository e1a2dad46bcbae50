"""Predictions, or measures, of several models in memory, checked so that they can be compared."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from polaroc.base.checks import check_ratio, one_or_several, refuse_unused, unless
from polaroc.base.columns import collect_like
from polaroc.base.private_columns import HAVE, SIZE
from polaroc.errors import InvalidArgument, InvalidPredictions, NotSupported, quoted
from polaroc.inference.scored_cases import (
    common_cases_of,
    model_column,
    refuse_lacking,
    refuse_twice,
    share_cases,
)
from polaroc.measures.scoring import check_score_prior
from polaroc.models.copied_folds import without_copies
from polaroc.predictions.cases import Cases, cases_or_measures, warn_of_parts
from polaroc.predictions.row_checks import check_clusters, left_out
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Frame, Prior

# The only model of a table without a column of models.
NAMELESS = "the model"
# So many models have two million pairs, which take a minute.
MAX_MODELS = 2_000
CASE_BY_DEFAULT = (
    "The column 'case' is used because of its name: say case='case' if its values are the cases of "
    "one cross-validation. Until then a fold is taken to have as many test cases as training cases."
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Predictions, or measures, of several models in memory.

    There are `folds` only if they have several values. The `warnings` are about copied folds,
    leaks, and cases that were left out.
    """

    cases: Cases[pl.DataFrame]
    model: str
    folds: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def are_measures(self) -> bool:
        """Whether the table holds measures."""
        return self.cases.truth is None

    @property
    def on_cases(self) -> bool:
        """Whether these are predictions of fitted models on one test set."""
        return not (self.are_measures or self.folds)

    @property
    def table(self) -> pl.DataFrame:
        """The table."""
        return self.cases.rows

    @property
    def keys(self) -> list[str]:
        """The column of the models, then those of the folds."""
        return [self.model, *self.folds]

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases of a fold, as given, or as it follows from cases.

        It follows if several folds test the same cases. If each case is tested once, `case` must
        have been given: a column with that name may just number the rows of hold-outs.
        """
        cases = self.cases
        if cases.test_train_ratio is not None:
            return cases.test_train_ratio
        if self.are_measures or cases.case is None or cases.is_numbered or not self.folds:
            return None
        cases_of = self.table.group_by(self.model).agg(
            pl.len().alias(HAVE), pl.col("case").n_unique().alias(SIZE)
        )
        number = self.table["case"].n_unique()
        is_shared = (cases_of[HAVE] > cases_of[SIZE]).any()
        is_common = cases_of[SIZE].sum() > number or cases_of.height < 2
        if not is_common or not (is_shared or not cases.is_default("case")):
            return None
        # All cases that a fold does not test are trained on.
        folds = self.table.group_by(self.keys).agg(pl.len().cast(pl.Float64).alias(HAVE))
        per_fold = folds.select(pl.col(HAVE).mean()).item()
        return per_fold / (number - per_fold) if per_fold < number else None


def compared_cases(
    table: Any, columns: Mapping[str, Any], score_prior: Prior, test_train_ratio: float | None
) -> Cases[Any]:
    """The cases of a table of predictions or measures, with checked arguments."""
    check_score_prior(score_prior)
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    cases = cases_or_measures(table, columns)
    if cases.truth is None:
        given = unless(OBSERVED, score_prior)
        refuse_unused("for predictions", "the table holds measures", score_prior=given)
    if cases.by:
        raise NotSupported(
            f"models are compared on all rows, not by {quoted(cases.by)}.",
            hint="take the rows of each value on their own.",
        )
    return replace(cases, score_prior=score_prior, test_train_ratio=test_train_ratio)


def with_model(cases: Cases[Any]) -> Cases[Any]:
    """The cases, with a column that names the only model where none tells models apart."""
    if cases.model is not None:
        return cases
    return replace(cases, rows=cases.rows.with_columns(model=pl.lit(NAMELESS)), model="model")


def single_prior(priors: Prior | Sequence[Prior] | None) -> Prior | None:
    """The prior at which models are compared, if one is given."""
    if priors is None:
        return None
    listed = one_or_several(priors)
    if len(listed) != 1:
        raise InvalidArgument(
            f"priors is {quoted(listed, 5)}, allowed is one: models are compared at one prior.",
            hint="compare them at each in turn, or over a range, over=(0.05, 0.20).",
        )
    return cast(Prior, listed[0])


def read_inputs(cases: Cases[Any]) -> Inputs:
    """The cases in memory, with their models and folds; raise where there is no model.

    With ``nulls="drop"`` only those cases of each test set are kept that all models scored, if
    there is a column of cases.
    """
    model, folds = model_column(cases), cases.fold
    held = cases.collect()
    if cases.truth is None:
        warn_of_parts(held, held.rows)
        _refuse_many(held, model)
        held, copies = without_copies(held, model, folds)
        return Inputs(held, model, folds, tuple(copies))
    if cases.nulls == "raise":
        held = without_errors(held)
    _refuse_many(held, model)
    if held.rows.is_empty():
        raise InvalidPredictions(
            "there are no rows, so that there is nothing to choose by.", hint="check the table."
        )
    held, warnings = without_copies(held, model, folds)
    # A fold of one value, as of a table that was filtered, divides nothing.
    if not folds or held.rows.select(folds).n_unique() < 2:
        folds = ()
    held = replace(held, fold=folds)
    if folds:
        no_fold = held.rows.select(pl.any_horizontal(pl.col(folds).is_null()).sum()).item()
        if no_fold:
            raise InvalidPredictions(
                f"{no_fold} rows have no fold.", hint="fill it in, or leave these rows out."
            )
        if held.case is not None:
            known = held.rows.drop_nulls("case")
            refuse_twice(known.select(*folds, "case", model), [*folds, "case", model])
            if held.nulls != "drop" and share_cases(known, [*folds, "case"], model):
                refuse_lacking(known, folds, model, "case")
        warnings += _leaks(held, folds)
    if held.is_default("case") and Inputs(held, model, folds).test_train_ratio is None:
        named = replace(held, columns={**held.columns, "case": held.names["case"][0]})
        if Inputs(named, model, folds).test_train_ratio is not None:
            warnings.append(CASE_BY_DEFAULT)
    if held.nulls == "drop":
        held, lacking = common_cases_of(held, model)
        warnings += [] if lacking is None else [lacking]
    if held.cluster is not None:
        check_clusters(held.rows["cluster"].null_count())
    return Inputs(held, model, folds, tuple(warnings))


def _refuse_many(cases: Cases[pl.DataFrame], model: str) -> None:
    """Refuse too many models for all pairs, such as where the column of cases is given as model."""
    count = cases.rows[model].n_unique()
    if count > MAX_MODELS:
        raise InvalidArgument(
            f"{model!r} has {count:,} values, allowed are {MAX_MODELS:,} models, of which every "
            "two are compared.",
            hint="name the column that tells the models apart, for example model='model', or leave "
            "out models that do not matter.",
        )


def _leaks(cases: Cases[pl.DataFrame], folds: Sequence[str]) -> list[str]:
    """A warning about clusters of which a fold tests some cases and has trained on others."""
    if cases.case is None or cases.cluster is None:
        return []
    # A fold is taken to train on every case that it does not test.
    rows, size = cases.rows.drop_nulls("cluster"), pl.col("case").n_unique()
    whole = rows.group_by("cluster").agg(size.alias(SIZE))
    tested = rows.group_by("cluster", *folds).agg(size.alias(HAVE))
    parts = tested.join(whole, on=["cluster"], nulls_equal=True).filter(pl.col(HAVE) < pl.col(SIZE))
    if parts.is_empty():
        return []
    return [
        f"{parts['cluster'].n_unique():,} of {whole.height:,} values of "
        f"{cases.names['cluster'][0]!r} have cases on both sides of a fold, for training and for "
        "testing, which makes its scores too good. Keep each value in one fold, as scikit-learn's "
        "StratifiedGroupKFold does."
    ]


def two_models(cases: Cases[Any], champion: object, challenger: object) -> Cases[pl.DataFrame]:
    """The cases of the two models alone; raise where either has none."""
    held, model = cases.collect(), model_column(cases)
    models = held.rows[model].unique().sort()
    present = models.to_list()
    unknown = [
        one for one in (champion, challenger) if not isinstance(one, Hashable) or one not in present
    ]
    # NaN equals no NaN.
    if any(isinstance(one, float) and one != one for one in unknown):
        raise InvalidArgument(
            "champion or challenger is NaN, allowed are values that are equal to themselves.",
            hint=f"make names of them first: pl.col({model!r}).cast(pl.String).",
        )
    if unknown:
        raise InvalidArgument(
            f"{model!r} has no {quoted(unknown)}; it has {quoted(present)}.",
            hint="name two of these as champion= and challenger=.",
        )
    if champion == challenger:
        raise InvalidArgument(
            f"champion and challenger are both {quoted([champion])}.", hint="name two models."
        )
    kept = models.gather([present.index(champion), present.index(challenger)])
    is_one = pl.col(model).is_in(kept.implode(), nulls_equal=True)
    return replace(held, rows=held.rows.filter(is_one))


def ranked_rows(inputs: Inputs) -> tuple[Inputs, tuple[str, ...]]:
    """The valid predictions, and warnings about rows that were left out."""
    rows = inputs.cases.rows
    invalid = rows["error"].count() if "error" in rows else 0
    warnings = (*inputs.warnings, *([left_out(invalid)] if invalid else []))
    return replace(inputs, cases=without_errors(inputs.cases)), warnings


def without_errors(cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The cases without the rows that cannot be ranked."""
    if "error" not in cases.rows:
        return cases
    rows = cases.rows.filter(pl.col("error").is_null()).drop("error")
    return replace(cases, rows=rows, errors=())


def of_keys(cases: Cases[pl.DataFrame], keys: pl.DataFrame) -> Cases[pl.DataFrame]:
    """The cases of some models or folds."""
    return replace(cases, rows=rows_among(cases.rows, keys))


def rows_among(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = rows.lazy().join(
        keys.lazy(), on=keys.columns, how="semi", nulls_equal=True, maintain_order="left"
    )
    collected: Frame = collect_like(rows, kept)
    return collected
