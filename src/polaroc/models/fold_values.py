"""One number per model and fold, complete and checked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from polaroc.base.private_columns import HAVE, LEVEL, SPREAD
from polaroc.base.text import capitalised, listed_rows
from polaroc.errors import InvalidArgument, InvalidTable, quoted, spelled
from polaroc.measures.table import humanize_note
from polaroc.models.measure_rows import Rows, refuse_rows, value_columns
from polaroc.predictions.audit import differs, unusual
from polaroc.priors.grids import SAME
from polaroc.typing import Array, Prior

MAX_NOTES = 5
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
        """Test over training cases, if it follows from the folds."""
        return None if self.folds_per_repeat is None else 1 / (self.folds_per_repeat - 1)

    @property
    def is_one_k_fold(self) -> bool:
        """Whether the folds are known to test each case once."""
        return self.folds_per_repeat == len(self.values)

    @property
    def at_first(self) -> "Array":
        """The numbers at the one prior, folds × models."""
        return self.values[:, :, 0]

    def check_folds(self) -> None:
        """Raise on fewer than two folds."""
        if len(self.values) < 2:
            raise InvalidArgument(
                f"there is {len(self.values)} fold, allowed are two or more.",
                hint="one test set cannot show how much a difference varies: evaluate on several "
                "folds, with fold='fold'.",
            )

    def check_models(self) -> None:
        """Raise on fewer than two models."""
        if len(self.models) < 2:
            raise InvalidArgument(
                f"{self.models.name!r} has {len(self.models)} value(s), allowed are two or more.",
                hint="compare at least two models on the same folds.",
            )


def fold_values(
    rows: Rows,
    priors: Sequence[Prior | None],
    model: str,
    folds: Sequence[str],
    noted: Sequence[float] | None = None,
) -> FoldValues:
    """The numbers of one measure per fold, model and prior; raise where any is missing."""
    named = [model, *folds]
    unknown = [name for name in named if name not in rows.keys]
    if unknown:
        raise InvalidArgument(
            f"the table has no key {quoted(unknown)}; its keys are {quoted(rows.keys) or 'none'}.",
            hint="evaluate with it as model= or fold=, or name others.",
        )
    wide = rows.at(priors, noted)
    others = [key for key in rows.keys if key not in named]
    cells = wide.group_by(named).agg(pl.col(others).n_unique())
    varying = [key for key in others if (cells[key] > 1).any()]
    if varying:
        raise InvalidTable(
            f"cells are repeated: within one {quoted(named)} the key {quoted(varying)} varies.",
            hint="keep one value of it, or, where models were fitted anew for each, evaluate with "
            f"it as a fold: {spelled('fold', [*folds, *varying])}.",
        )
    models = wide.select(model).unique().sort(model, nulls_last=True)
    keys = wide.select(folds).unique().sort(folds, nulls_last=True) if folds else pl.DataFrame()
    full = models.join(keys, how="cross") if folds else models
    columns = value_columns(len(priors))
    missing = full.join(wide, on=named, how="anti", nulls_equal=True).sort(named, nulls_last=True)
    null = wide.filter(pl.any_horizontal(pl.col(columns).is_null())).sort(named, nulls_last=True)
    refuse_rows(
        {
            f"of {full.height} cells are missing": missing,
            f"of {full.height} estimates are null": null.select(
                *named, pl.col("note").fill_null("no note")
            ),
        },
        "evaluate every model on every fold, or leave such folds out.",
    )
    spread = wide.group_by(folds).agg((pl.col("prior").max() - pl.col("prior").min()).alias(SPREAD))
    if (spread[SPREAD].fill_null(0) > SAME).any():
        raise InvalidTable(
            "models of one fold are measured at different priors.",
            hint="their test sets differ: take one prior for all, for example priors=0.1.",
        )
    values = filled_array(wide, [keys, models] if folds else [models], columns)
    return FoldValues(
        models[model], keys, values if folds else values[None],
        tuple(_warnings(wide, model, folds)), _folds_per_repeat(rows, keys),
    )  # fmt: skip


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
        warnings.append(f"{capitalised(note) if count == wide.height else of_some}{more}.")
    return warnings


def _folds_per_repeat(rows: Rows, folds: pl.DataFrame) -> int | None:
    """How many folds test all cases once, by the key `repeat` and the numbers of cases."""
    names = folds.columns
    if not names or REPEAT not in rows.keys:
        return None
    lacking = [name for name in (REPEAT, "positives", "negatives") if name not in names]
    sizes = rows.frame.group_by(names).agg(pl.col(lacking).max())
    per = sizes.group_by(REPEAT).agg(pl.len().alias(HAVE), pl.col("positives", "negatives").sum())
    count: int = per[HAVE][0]
    if per[HAVE].n_unique() > 1 or count < 2:
        return None
    for name in ("positives", "negatives"):
        totals = per[name].fill_null(0).to_numpy()
        if totals.min() <= 0 or np.ptp(totals) > SAME_CASES * totals.max():
            return None
    return count


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
