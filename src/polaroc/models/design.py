"""The design of a comparison: validated options, and one number per model and fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from polaroc.base.checks import (
    check_ratio,
    check_share,
)
from polaroc.base.columns import column_name
from polaroc.base.private_columns import HAVE, LEVEL, SPREAD
from polaroc.base.text import capitalised, listed_rows
from polaroc.errors import InvalidArgument, InvalidTable, check_choice, quoted, spelled
from polaroc.measures.table import humanize_note
from polaroc.models.measure_rows import Rows, refuse_rows, value_columns
from polaroc.predictions.audit import differs, unusual
from polaroc.priors.grids import SAME
from polaroc.typing import Array, Prior

MAX_NOTES = 5
Target = Literal["algorithm", "trained"]
REPEAT = "repeat"
# Share by which the cases of two repeats of a k-fold may differ: sums of weights are rounded.
SAME_CASES = 1e-9


@dataclass(frozen=True, eq=False)
class FoldValues:
    """One number per fold, model and prior, complete."""

    models: pl.Series  # sorted
    folds: pl.DataFrame  # their keys, sorted
    values: "Array"  # folds × models × priors
    warnings: tuple[str, ...] = ()
    # Folds of a repeat that tests all cases once; None where no key `repeat` tells.
    folds_per_repeat: int | None = None

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases, where the folds tell."""
        return None if self.folds_per_repeat is None else 1 / (self.folds_per_repeat - 1)

    @property
    def is_one_k_fold(self) -> bool:
        """Whether the folds are known to test each case once."""
        return self.folds_per_repeat == len(self.values)

    @property
    def at_first(self) -> "Array":
        """The numbers at the one prior, folds × models."""
        return self.values[:, :, 0]


def balanced(
    rows: Rows,
    priors: Sequence[Prior | None],
    model: str,
    folds: Sequence[str],
    noted: Sequence[float] | None = None,
) -> FoldValues:
    """The numbers of one measure per fold, model and prior; raise where any is missing."""
    _check_columns(rows.keys, model, folds)
    wide = rows.at(priors, noted)
    _refuse_repeated(wide, rows.keys, model, folds)
    _refuse_incomplete(wide, model, folds, len(priors))
    models = wide.select(model).unique().sort(model, nulls_last=True)
    if models.height < 2:
        raise InvalidArgument(
            f"{model!r} has {models.height} value(s), allowed are two or more.",
            hint="compare at least two models on the same folds.",
        )
    _refuse_mixed_priors(wide, folds)
    keys = wide.select(folds).unique().sort(folds, nulls_last=True) if folds else pl.DataFrame()
    axes = [keys, models] if folds else [models]
    values = filled_array(wide, axes, value_columns(len(priors)))
    return FoldValues(
        models[model],
        keys,
        values if folds else values[None],
        tuple(_warnings(wide, model, folds)),
        _folds_per_repeat(rows, keys, model),
    )


def check_folds(table: FoldValues) -> None:
    """Raise on fewer than two folds."""
    count = table.values.shape[0]
    if count < 2:
        raise InvalidArgument(
            f"there is {count} fold, allowed are two or more.",
            hint="one test set cannot show how much a difference varies: evaluate on several "
            "folds, with fold='fold'.",
        )


def _check_columns(keys: Sequence[str], model: str, folds: Sequence[str]) -> None:
    unknown = [name for name in (column_name(model, "model"), *folds) if name not in keys]
    if unknown:
        raise InvalidArgument(
            f"the table has no key {quoted(unknown)}; its keys are {quoted(keys) or 'none'}.",
            hint="evaluate with it as model= or fold=, or name others.",
        )
    named = [model, *folds]
    if len(set(named)) < len(named):
        raise InvalidArgument(
            f"model and fold name a column twice: {quoted(named)}.",
            hint="models and folds are told apart by different columns.",
        )


def _refuse_repeated(
    wide: pl.DataFrame, keys: Sequence[str], model: str, folds: Sequence[str]
) -> None:
    others = [key for key in keys if key not in (model, *folds)]
    cells = wide.group_by(model, *folds).agg(pl.col(others).n_unique())
    varying = [key for key in others if cells.select((pl.col(key) > 1).any()).item()]
    if varying:
        raise InvalidTable(
            f"cells are repeated: within one {quoted((model, *folds))} the key "
            f"{quoted(varying)} varies.",
            hint="keep one value of it, or, where models were fitted anew for each, evaluate with "
            f"it as a fold: {spelled('fold', [*folds, *varying])}.",
        )


def _refuse_incomplete(wide: pl.DataFrame, model: str, folds: Sequence[str], priors: int) -> None:
    """Raise where a model lacks a number in a fold."""
    named = [model, *folds]
    models = wide.select(model).unique()
    full = models.join(wide.select(folds).unique(), how="cross") if folds else models
    lacking = pl.any_horizontal(pl.col(value_columns(priors)).is_null())
    missing = full.join(wide, on=named, how="anti", nulls_equal=True).sort(named, nulls_last=True)
    null = wide.filter(lacking).sort(named, nulls_last=True)
    cells = null.select(*named, pl.col("note").fill_null("no note"))
    of = f"of {full.height}"
    hint = "evaluate every model on every fold, or leave such folds out."
    refuse_rows({f"{of} cells are missing": missing, f"{of} estimates are null": cells}, hint)


def _refuse_mixed_priors(wide: pl.DataFrame, folds: Sequence[str]) -> None:
    """Raise where models of a fold are measured at different priors."""
    priors = wide.group_by(folds).agg((pl.col("prior").max() - pl.col("prior").min()).alias(SPREAD))
    if (priors[SPREAD].fill_null(0) > SAME).any():
        raise InvalidTable(
            "models of one fold are measured at different priors.",
            hint="their test sets differ: take one prior for all, for example priors=0.1.",
        )


def _warnings(wide: pl.DataFrame, model: str, folds: Sequence[str]) -> list[str]:
    """Warnings on test sets that differ, and the notes of measures."""
    warnings = []
    uneven = wide.filter(differs(folds))
    if uneven.height:
        where = f"In {uneven.select(folds).n_unique()} fold(s) the" if folds else "The"
        warnings.append(
            f"{where} models were tested on different numbers of cases: pairs need the same "
            "test set."
        )
    odd = wide.select(*folds, unusual(model).alias("found")).drop_nulls("found").unique()
    if odd.height:
        first = listed_rows(odd.sort(folds or "found", nulls_last=True), 3)
        warnings.append(
            f"{odd.select(folds).n_unique()} fold(s) clearly differ from the others, but count as "
            f"much: {first}."
        )
    listed = humanize_note(pl.col("note")).str.split("; ").list.unique()
    kinds = wide.drop_nulls("note").select(listed).to_series().explode().value_counts(name="rows")
    # Groups have no defined order: sort, so that the text is the same in every run.
    ordered = kinds.sort("rows", "note", descending=[True, False])
    more = f"; {ordered.height - MAX_NOTES} more kinds" if ordered.height > MAX_NOTES else ""
    for note, count in ordered.head(MAX_NOTES).rows():
        # What holds for all of them needs no count.
        of_some = f"{count} of {wide.height} estimates carry a note: {note}"
        said = capitalised(note) if count == wide.height else of_some
        warnings.append(f"{said}{more}.")
    return warnings


def _folds_per_repeat(rows: Rows, folds: pl.DataFrame, model: str) -> int | None:
    """How many folds test all cases once, by the key `repeat` and the numbers of cases."""
    names = folds.columns
    if not names or REPEAT not in rows.keys or model == REPEAT:
        return None
    lacking = [name for name in (REPEAT, "positives", "negatives") if name not in names]
    sizes = rows.frame.group_by(names).agg(pl.col(lacking).max())
    per = sizes.group_by(REPEAT).agg(pl.len().alias(HAVE), pl.col("positives", "negatives").sum())
    count: int = per[HAVE][0]
    if per[HAVE].n_unique() > 1 or count < 2 or not _equal(per, ("positives", "negatives")):
        return None
    return count


def _equal(table: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether each column has one number, not 0."""
    sums = (table[name] for name in names)
    ends = ((float(one.min() or 0), float(one.max() or 0)) for one in sums)  # type: ignore[arg-type]
    return all(lo > 0 and hi - lo <= SAME_CASES * hi for lo, hi in ends)


def filled_array(
    rows: pl.DataFrame, axes: Sequence[pl.DataFrame], columns: Sequence[str]
) -> "Array":
    """Columns of rows as an array with an axis per table of key values, NaN for missing rows."""
    places = [f"{LEVEL}_{i}" for i in range(len(axes))]
    for place, levels in zip(places, axes, strict=True):
        numbered = levels.with_row_index(place)
        rows = rows.join(numbered, on=levels.columns, how="left", nulls_equal=True)
    values = np.full([*(levels.height for levels in axes), len(columns)], np.nan)
    values[tuple(rows[place].to_numpy() for place in places)] = rows.select(columns).to_numpy()
    return values


@dataclass(frozen=True)
class Plan:
    """How models are to be compared; the arguments of `compare` of the same names."""

    target: Target = "algorithm"
    test_train_ratio: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        check_choice("target", self.target, get_args(Target))
        check_share("level", self.level)
        if self.target == "algorithm":
            check_ratio(self.test_train_ratio)
