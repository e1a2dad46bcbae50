"""What is compared: predictions of several models, or measures of them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.columns import collect_like
from polaroc.base.joins import join_on
from polaroc.base.private_columns import CASE, CLUSTER, HAVE, SIZE, TRUTH, WEIGHT
from polaroc.comparison.copied_folds import without_copies
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted
from polaroc.predictions.cases import Cases, with_cluster
from polaroc.predictions.resolved import keyed
from polaroc.predictions.row_checks import SCORE, check_clusters, left_out
from polaroc.predictions.table import read
from polaroc.predictions.wide import with_row_cases
from polaroc.typing import Frame
from polaroc.uncertainty.scored_cases import (
    common_cases_of,
    model_column,
    refuse_lacking,
    refuse_twice,
    share_cases,
)

# Two million pairs take a minute.
MAX_MODELS = 2_000


@dataclass(frozen=True, eq=False)
class Compared:
    """Predictions, or measures without truth and score, in memory, and the columns of their roles.

    The folds of predictions have several values. Each row of a wide table without folds is a case
    where no column tells cases apart.
    """

    cases: Cases[pl.DataFrame]
    model: str
    folds: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # what is to be said of cases left out, and of leaks

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
        return self.cases.table

    @property
    def keys(self) -> list[str]:
        """The column of the models, then those of the folds."""
        return [self.model, *self.folds]

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases of a fold: as said, or of predictions as the cases tell.

        Cases tell it where several folds test the same. Where each is tested once, a column that
        has the role because of its name may number rows of hold-outs: then nothing tells.
        """
        cases = self.cases
        if cases.test_train_ratio is not None:
            return cases.test_train_ratio
        if self.are_measures or cases.case is None or not self.folds:
            return None
        case, models = cases.case, [] if cases.scores else [self.model]
        number, of_model = self.table[case].n_unique(), self.table.group_by(models or pl.lit(0))
        tested = of_model.agg(pl.len().alias(HAVE), pl.col(case).n_unique().alias(SIZE))
        is_shared = (tested[HAVE] > tested[SIZE]).any()
        is_common = tested[SIZE].sum() > number or tested.height < 2
        if not is_common or not (is_shared or "case" not in cases.found):
            return None
        # All cases that a fold does not test are trained on.
        folds = self.table.group_by(*models, *self.folds).agg(pl.len().cast(pl.Float64).alias(HAVE))
        per_fold = folds.select(pl.col(HAVE).mean()).item()
        return per_fold / (number - per_fold) if per_fold < number else None


FOUND_CASE = (
    "The column {0!r} is used because of its name: say case={0!r} if its values are the cases of "
    "one cross-validation. Until then a fold is taken to have as many test cases as training cases."
)
# Where every case that a fold does not test is trained on, as by any way to split them.
LEAK = (
    "{} values of {} have cases on both sides of a fold, for training and for testing, which makes "
    "its scores too good. Keep each value in one fold, as scikit-learn's StratifiedGroupKFold does."
)


def compared(cases: Cases[Any]) -> Compared:
    """The table in memory, with the columns of its models and folds; raise where there is no model.

    Of each test set with ``nulls="drop"`` those cases are left that all models scored, where cases
    can be told apart.
    """
    model = model_column(cases)
    if cases.truth is None:
        folds = cases.fold
        measures = cases.collect()
        _refuse_many(measures, model)
        measures, copies = without_copies(measures, model, folds)
        return Compared(measures, model, folds, tuple(copies))
    own = cases.collect()
    _refuse_many(own, model)
    if own.table.is_empty():
        raise InvalidPredictions(
            "there are no rows, so that there is nothing to choose by.", hint="check the table."
        )
    columns = [*own.fold]
    own, copies = without_copies(own, model, columns)
    # A fold of one value, as of a table that was filtered, divides nothing.
    several = columns and own.table.select(columns).n_unique() > 1
    folds = tuple(columns) if several else ()
    own = replace(own, fold=folds)
    if folds:
        without = own.table.select(pl.any_horizontal(pl.col(folds).is_null()).sum()).item()
        if without:
            raise InvalidPredictions(
                f"{without} rows have no fold.", hint="fill it in, or leave these rows out."
            )
        if own.case is not None:
            # A case that a model has twice in a fold.
            case = own.case
            known = own.table.drop_nulls(case)
            key = [*folds, case, *([] if own.scores else [model])]
            refuse_twice(known.select(key), key)
            is_paired = not own.scores and share_cases(known, [*folds, case], model)
            if is_paired and own.nulls != "drop":
                refuse_lacking(known, folds, model, case)
    if own.scores and own.case is None and not folds:
        numbered, case = with_row_cases(own.table)
        own = replace(own, table=numbered.lazy().collect(), case=case)
    leaks = (*copies, *(_leaks(own, folds) if folds else ()))
    if "case" in own.found and Compared(own, model, folds).test_train_ratio is None:
        trusted = Compared(replace(own, found=own.found - {"case"}), model, folds)
        if trusted.test_train_ratio is not None:
            leaks = (*leaks, FOUND_CASE.format(own.case))
    said = None
    if own.nulls == "drop":
        own, said = common_cases_of(own, model)
    if own.cluster is not None:
        named, (cluster,) = with_cluster(own)
        check_clusters(named.table[cluster].null_count())
    return Compared(own, model, folds, leaks if said is None else (*leaks, said))


def _refuse_many(cases: Cases[pl.DataFrame], model: str) -> None:
    """Refuse more models than every two can be compared of, as where a column of cases is named."""
    is_there = not cases.scores and model in cases.table.columns
    count = cases.table[model].n_unique() if is_there else len(cases.scores)
    if count > MAX_MODELS:
        raise InvalidArgument(
            f"{model!r} has {count:,} values, allowed are {MAX_MODELS:,} models, of which every "
            "two are compared.",
            hint=Hint(
                "name the column that tells the models apart, for example {model}, or leave out "
                "models that do not matter.",
                model="model",
            ),
        )


def _leaks(cases: Cases[pl.DataFrame], folds: Sequence[str]) -> list[str]:
    """A sentence on clusters of which a fold tests some cases, and has trained on the others."""
    if cases.case is None or cases.cluster is None:
        return []
    case = pl.col(cases.case).alias(CASE)
    named, (cluster,) = with_cluster(cases)
    rows = named.table.select(*folds, case, pl.col(cluster).alias(CLUSTER)).drop_nulls(CLUSTER)
    whole, tested = (
        rows.group_by(CLUSTER, *also).agg(pl.col(CASE).n_unique().alias(name))
        for also, name in (((), SIZE), (folds, HAVE))
    )
    parts = join_on(tested, whole, [CLUSTER]).filter(pl.col(HAVE) < pl.col(SIZE))
    torn = parts[CLUSTER].n_unique()
    return [LEAK.format(f"{torn:,} of {whole.height:,}", repr(cases.cluster))] if torn else []


def two_models(cases: Cases[Any], champion: object, challenger: object) -> Cases[pl.DataFrame]:
    """The cases of the two models alone; raise where either has none."""
    own, model = cases.collect(), model_column(cases)
    models = pl.Series([*own.scores]) if own.scores else own.table[model].unique().sort()
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
            hint=Hint(
                "name two of these as {champion} and {challenger}.",
                champion=None,
                challenger=None,
            ),
        )  # fmt: skip
    if champion == challenger:
        raise InvalidArgument(
            f"champion and challenger are both {quoted([champion])}.",
            hint="name two models.",
        )
    if own.scores:
        return replace(own, score=[str(champion), str(challenger)])
    kept = models.gather([present.index(champion), present.index(challenger)])
    is_one = pl.col(model).is_in(kept.implode(), nulls_equal=True)
    return replace(own, table=own.table.filter(is_one))


def ranked_rows(given: Compared) -> tuple[Compared, tuple[str, ...]]:
    """The valid predictions, a row per case and model, and remarks on the rows."""
    rows, invalid = valid_rows(given.cases, given)
    invalid_rows = [left_out(invalid)] if invalid else []
    return replace(given, cases=rows), (*given.left_out, *invalid_rows)


def valid_rows(cases: Cases[Any], like: Compared) -> tuple[Cases[pl.DataFrame], int]:
    """The valid rows in private columns, named as in `like`, and how many others there are."""
    case = cases.case
    cases, cluster = with_cluster(cases)
    also = [*([] if case is None else [case]), *cluster]
    predictions = read(cases, also=also, collected=True)
    names = {predictions.keys[0]: like.model}
    if case is not None and like.cases.case is not None:
        names[case] = case = like.cases.case
    rows = keyed(
        predictions.valid_rows.collect().rename(names),
        truth=TRUTH, score=SCORE, model=like.model, fold=like.folds, case=case,
        cluster=cases.cluster,
        count=None if cases.count is None else WEIGHT,
        weight=None if cases.weight is None else WEIGHT, score_prior=cases.score_prior,
        test_train_ratio=cases.test_train_ratio,
    )  # fmt: skip
    return rows, predictions.count_invalid()


def pooled(cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The cases, with the rows of all folds of a model together."""
    return replace(cases, fold=())


def of_keys(cases: Cases[pl.DataFrame], keys: pl.DataFrame) -> Cases[pl.DataFrame]:
    """The cases of some models or folds."""
    return replace(cases, table=rows_among(cases.table, keys))


def rows_among(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = join_on(rows.lazy(), keys.lazy(), keys.columns, "semi", order="left")
    return collect_like(rows, kept)
