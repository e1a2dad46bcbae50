"""Predictions, or measures, of several models in memory, checked so that they can be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import polars as pl

from polaroc.base.checks import check_ratio, none_if, one_or_several, refuse_unused
from polaroc.base.columns import HAVE, collect_like, join_by_key, private
from polaroc.base.text import listed_rows
from polaroc.errors import InvalidArgument, InvalidPredictions, NotSupported, quoted
from polaroc.measures.scoring import check_score_prior
from polaroc.models.paired_cases import aligned_rows, common_cases
from polaroc.predictions.cases import Cases, cases_or_measures, warn_of_parts
from polaroc.predictions.row_checks import check_clusters
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Frame, Prior

# So many models have two million pairs, which take a minute.
MAX_MODELS = 2_000
FINGERPRINT = private("fingerprint")
# The second column of folds that were made several times, as scikit-learn names it.
REPEAT = "repeat"
# What makes a row of predictions, or of measures.
CONTENT = (
    "model", "case", "truth", "score", "count", "weight", "measure", "prior", "estimate",
)  # fmt: skip
# Fewer distinct scores, estimates or cases of a class may be alike in two folds by chance.
DISTINCT, FEWEST = 10, 20


class Inputs(NamedTuple):
    """Predictions, or measures, of several models in memory.

    Predictions can be ranked, and have a `fold` only if it has several values. The test-train ratio
    of the cases is as given, or as it follows from them. The `warnings` are about copied folds,
    leaks, and cases that were left out.
    """

    cases: Cases[pl.DataFrame]
    warnings: tuple[str, ...]

    @property
    def are_measures(self) -> bool:
        """Whether the table holds measures."""
        return self.cases.truth is None

    @property
    def on_cases(self) -> bool:
        """Whether these are predictions of fitted models on one test set."""
        return not (self.are_measures or self.cases.fold)


def compared_cases(
    table: Any, columns: Mapping[str, Any], score_prior: Prior, test_train_ratio: float | None
) -> Cases[Any]:
    """The cases of a table of predictions or measures, with checked arguments."""
    check_score_prior(score_prior)
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    cases = cases_or_measures(table, columns)
    if cases.truth is None:
        given = none_if(score_prior, OBSERVED)
        refuse_unused("for predictions", "the table holds measures", score_prior=given)
    if cases.by:
        raise NotSupported(
            f"models are compared on all rows, not by {quoted(cases.by)}.",
            hint="take the rows of each value on their own.",
        )
    return replace(cases, score_prior=score_prior, test_train_ratio=test_train_ratio)


def with_model(cases: Cases[Any]) -> Cases[Any]:
    """The cases, with a column that names the only model if there is no column of models."""
    if cases.model is not None:
        return cases
    return replace(cases, rows=cases.rows.with_columns(model=pl.lit("the model")), model="model")


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
    check_model(cases)
    held = cases.collect()
    if (models := held.rows["model"].n_unique()) > MAX_MODELS:
        raise InvalidArgument(
            f"'model' has {models:,} values, allowed are {MAX_MODELS:,} models.",
            hint="name the column that tells the models apart, for example model='model'.",
        )
    held, warnings = without_copies(held)
    if held.truth is None:
        warn_of_parts(held, held.rows)
        return Inputs(held, tuple(warnings))
    if held.rows.is_empty():
        raise InvalidPredictions("there are no rows.", hint="check the table.")
    # A column of folds with one value, as in a filtered table, is no fold.
    if held.fold and held.rows["fold"].n_unique() < 2:
        held = replace(held, fold=())
    if held.nulls == "drop":
        held, left_out = common_cases(held)
        warnings += left_out
    if held.cluster is not None:
        check_clusters(held.rows["cluster"].null_count())
    warnings += _repeats_left_out(held)
    if held.fold and held.case is not None:
        aligned_rows(held)
        warnings += _leaks(held)
        if held.test_train_ratio is None:
            held = replace(held, test_train_ratio=_ratio_of_folds(held))
    return Inputs(held, tuple(warnings))


def _repeats_left_out(cases: Cases[pl.DataFrame]) -> list[str]:
    """A warning about a column `repeat` that is not used, where folds are numbered anew in each."""
    names = cases.source.collect_schema().names()
    if not cases.fold or REPEAT not in names or any(REPEAT in own for own in cases.names.values()):
        return []
    folds = cases.source.lazy().group_by(cases.names["fold"]).agg(pl.col(REPEAT).n_unique())
    if folds.select(pl.col(REPEAT).max()).collect().item() < 2:
        return []
    named = quoted([REPEAT, *cases.names["fold"]])
    return [
        f"The column {REPEAT!r} is not used, so that folds of all repeats with the same number are "
        f"taken as one. If models were fitted anew in each repeat, give fold=[{named}]."
    ]


def _ratio_of_folds(cases: Cases[pl.DataFrame]) -> float | None:
    """Test over training cases of a fold, as it follows from `case`.

    It does not if a column that is a case by its name may just number the rows of hold-outs: where
    each case is tested once, those of a fold all before those of the next.
    """
    rows, by_model = cases.rows, cases.rows.group_by("model")
    number, sizes = rows["case"].n_unique(), by_model.agg(pl.len(), pl.col("case").n_unique())
    is_common = sizes["case"].sum() > number or sizes.height == 1
    is_repeated = (sizes["len"] > sizes["case"]).any()
    spans = rows.group_by("fold").agg(first=pl.col("case").min(), last=pl.col("case").max())
    spans = spans.sort("first")
    is_in_order = (spans["first"] > spans["last"].shift()).all()
    is_numbering = cases.is_default("case") and not is_repeated and is_in_order
    if cases.is_numbered or not is_common or is_numbering:
        return None
    # All cases that a fold does not test are trained on.
    tested = rows.height / rows.select(cases.keys).n_unique()
    if number / 2 < tested < number:
        raise InvalidArgument(
            f"a fold tests {tested:.4g} of {number:,} cases on average, so that it would test on "
            "more than it trains on. That was worked out from case, as if the table had all cases.",
            hint="give test_train_ratio=0.25 for 80/20 hold-outs, 1/(k-1) for k folds.",
        )
    return tested / (number - tested) if tested < number else None


def check_model(cases: Cases[Any]) -> None:
    """Raise where there is no column of models."""
    if cases.model is None:
        names = [*cases.source.collect_schema()]
        raise InvalidArgument(
            f"nothing tells the models apart; the table has {quoted(names)}.",
            hint="rename the column that does to 'model'; of predictions it may be named, "
            "model=..., or each model may have a column, score=['p_logreg', 'p_forest'].",
        )


def _leaks(cases: Cases[pl.DataFrame]) -> list[str]:
    """A warning about clusters of which a fold tests some cases and has trained on others."""
    if cases.cluster is None:
        return []
    # A fold is taken to train on every case that it does not test.
    number = pl.col("case").n_unique()
    tested = cases.rows.group_by("cluster", "fold").agg(tested=number)
    whole = cases.rows.group_by("cluster").agg(whole=number)
    torn = tested.join(whole, on="cluster").filter(pl.col("tested") < pl.col("whole"))
    if torn.is_empty():
        return []
    return [
        f"{torn['cluster'].n_unique():,} of {whole.height:,} values of "
        f"{cases.names['cluster'][0]!r} have cases on both sides of a fold, for training and for "
        "testing, which makes its scores too good. Keep each value in one fold, as scikit-learn's "
        "StratifiedGroupKFold does."
    ]


def two_models(cases: Cases[Any], champion: object, challenger: object) -> Cases[pl.DataFrame]:
    """The cases of the two models alone; raise where either has none."""
    check_model(cases)
    held, pair = cases.collect(), [champion, challenger]
    present = held.rows["model"].unique().sort()
    if unknown := [model for model in pair if model not in present.to_list()]:
        raise InvalidArgument(
            f"'model' has no {quoted(unknown)}; it has {quoted(present.to_list())}.",
            hint="name two of these as champion= and challenger=.",
        )
    if champion == challenger:
        raise InvalidArgument(
            f"champion and challenger are both {quoted([champion])}.", hint="name two models."
        )
    return cases_among(held, present.filter(present.is_in(pair)).to_frame())


def cases_among(cases: Cases[pl.DataFrame], keys: pl.DataFrame) -> Cases[pl.DataFrame]:
    """The cases of some models or folds."""
    return replace(cases, rows=rows_among(cases.rows, keys))


def rows_among(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = join_by_key(rows.lazy(), keys.lazy(), keys.columns, "semi")
    return collect_like(rows, kept)


# --- Folds that are copies of others, such as a repeat with the same seed ---


def without_copies(cases: Cases[pl.DataFrame]) -> tuple[Cases[pl.DataFrame], list[str]]:
    """Predictions, or measures, with each fold once, and a warning where some are copies."""
    if not cases.fold:
        return cases, []
    # Row numbers differ between folds even if the cases are the same.
    content = cases.rows.drop("case") if cases.is_numbered else cases.rows
    is_named = cases.case is not None and not (cases.is_numbered or cases.is_default("case"))
    copies, note = copied_folds(content, cases.fold, is_named=is_named)
    kept = join_by_key(cases.rows, copies, ["fold"], "anti")
    return replace(cases, rows=kept), [f"{note}. Each is used once."] * bool(copies.height)


def copied_folds(
    rows: pl.DataFrame, folds: Sequence[str], *, is_named: bool = False
) -> tuple[pl.DataFrame, str]:
    """The folds with the rows, in any order, of an earlier one, and a note that counts them.

    Folds of few distinct scores count as copies only if their cases are named.
    """
    are_scores = "score" in rows.columns
    number = pl.col("score" if are_scores else "estimate").cast(pl.Float64, strict=False)
    distinct = number if are_scores else number.filter((number != 0) & (number != 1))
    enough = pl.lit(is_named) | (distinct.n_unique() >= DISTINCT)
    for name in {"positives", "negatives"} & {*rows.columns}:
        enough &= pl.col(name).min() >= FEWEST
    # The sum of the hashes of rows is that of the rows in any order.
    row = pl.struct(name for name in CONTENT if name in rows.columns).hash()
    by_fold = rows.group_by(folds).agg(row.sum().alias(FINGERPRINT), enough.alias(HAVE))
    by_fold = by_fold.sort(folds, nulls_last=True)
    is_copy = pl.col(HAVE) & ~pl.col(FINGERPRINT).is_first_distinct()
    copies = by_fold.filter(is_copy).select(folds)
    same = "cases and scores" if are_scores else "estimates of all models"
    return copies, (
        f"{copies.height} of {by_fold.height} folds are copies of others, with the same {same}, as "
        f"where a repeat had the same seed: {listed_rows(copies, 3)}"
    )
