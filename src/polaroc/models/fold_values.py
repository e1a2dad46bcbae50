"""One number per fold, model and prior, complete and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.private_columns import HAVE, PLACE, SPREAD
from polaroc.base.text import capitalised, listed_rows
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.measures.table import humanize_note
from polaroc.models.measure_rows import Rows
from polaroc.predictions.audit import differs, unusual
from polaroc.priors.grids import SAME, is_among
from polaroc.typing import Array, Prior

MAX_NOTES = 5


@dataclass(frozen=True, eq=False)
class FoldValues:
    """One number per fold, model and prior, complete."""

    models: pl.Series  # sorted
    values: "Array"  # folds × models × priors
    warnings: tuple[str, ...] = ()

    @property
    def at_first(self) -> "Array":
        """The numbers at the one prior, folds × models."""
        return self.values[:, :, 0]

    def check_folds(self) -> None:
        """Raise on fewer than two folds."""
        if len(self.values) < 2:
            raise InvalidArgument(
                f"there is {len(self.values)} fold, allowed are two or more.",
                hint="evaluate on several folds, with fold='fold'.",
            )

    def check_models(self) -> None:
        """Raise on fewer than two models."""
        if len(self.models) < 2:
            raise InvalidArgument(
                f"'model' has {len(self.models)} value(s), allowed are two or more.",
                hint="compare at least two models on the same folds.",
            )


def fold_values(
    rows: Rows, priors: Sequence[Prior | None], noted: Sequence[float] | None = None
) -> FoldValues:
    """The numbers of one measure per fold, model and prior; raise where any is missing.

    Warnings are those of the priors `noted`, by default of all.
    """
    folds = [key for key in rows.keys if key == "fold"]
    cell, found, estimate = ["model", *folds], rows.at(priors), pl.col("estimate")
    numbers = found.group_by(*cell, PLACE).agg(
        estimate.first(), (estimate.max() - estimate.min()).alias(SPREAD), pl.len().alias(HAVE),
        pl.col("note").first().fill_null("no note"),
    )  # fmt: skip
    models = found.select("model").unique().sort("model", nulls_last=True)
    full = models.join(pl.DataFrame({PLACE: range(len(priors))}, {PLACE: pl.UInt32}), how="cross")
    if folds:
        full = found.select(folds).unique().sort(folds, nulls_last=True).join(full, how="cross")
    numbers = full.join(
        numbers, on=[*cell, PLACE], how="left", nulls_equal=True, maintain_order="left"
    )
    cells, is_missing = numbers.height // len(priors), pl.col(HAVE).is_null()
    others = [key for key in rows.keys if key not in cell]
    refuse_rows(
        {
            "key(s) have two different estimates": numbers.filter(pl.col(SPREAD) > SAME)[cell],
            f"of {cells} cells are missing": numbers.filter(is_missing)[cell],
            f"of {cells} estimates are null": numbers.filter(~is_missing, estimate.is_null())[
                [*cell, "note"]
            ],
        },
        "evaluate every model on every fold, once, or leave such folds out"
        + (f"; keep one value of {quoted(others)}, or make it a fold, too." if others else "."),
    )
    prior = pl.col("prior")
    in_fold = found.group_by(*folds, PLACE).agg((prior.max() - prior.min()).alias(SPREAD))
    if (in_fold[SPREAD].fill_null(0) > SAME).any():
        raise InvalidTable(
            "models of one fold are measured at different priors.",
            hint="their test sets differ: take one prior for all, for example priors=0.1.",
        )
    is_noted = pl.lit(True) if noted is None else is_among(prior, noted)
    by_cell = found.group_by(cell).agg(
        pl.col("positives", "negatives").max(), pl.col("note").filter(is_noted).drop_nulls()
    )
    return FoldValues(
        models["model"],
        numbers["estimate"].to_numpy().reshape(-1, len(models), len(priors)),
        tuple(_warnings(by_cell, folds)),
    )


def refuse_rows(problems: Mapping[str, pl.DataFrame], hint: str) -> None:
    """Refuse rows, by problem, with their number and the first of them."""
    distinct = {problem: rows.unique(maintain_order=True) for problem, rows in problems.items()}
    found = [
        f"{rows.height} {problem}: {listed_rows(rows)}"
        for problem, rows in distinct.items()
        if rows.height
    ]
    if found:
        raise InvalidTable(f"{'; '.join(found)}.", hint=hint)


def _warnings(by_cell: pl.DataFrame, folds: Sequence[str]) -> list[str]:
    """Warnings on test sets that differ, and the notes of measures."""
    warnings = []
    uneven = by_cell.filter(differs(folds))
    if uneven.height:
        where = f"In {uneven.select(folds).n_unique()} fold(s) the" if folds else "The"
        warnings.append(
            f"{where} models were tested on different numbers of cases: pairs need the same "
            "test set."
        )
    odd = by_cell.select(*folds, unusual("model").alias("found")).drop_nulls("found").unique()
    if odd.height:
        first = listed_rows(odd.sort(folds or "found", nulls_last=True), 3)
        warnings.append(
            f"{odd.select(folds).n_unique()} fold(s) clearly differ from the others, but count as "
            f"much: {first}."
        )
    note = humanize_note(pl.col("note").list.join("; ")).str.split("; ").list.unique()
    kinds = by_cell.select(note.explode()).filter(pl.col("note") != "").to_series().value_counts()
    # Groups have no defined order: sort, so that the text is the same in every run.
    ordered = kinds.sort("count", "note", descending=[True, False])
    more = f"; {ordered.height - MAX_NOTES} more kinds" if ordered.height > MAX_NOTES else ""
    for text, count in ordered.head(MAX_NOTES).rows():
        # What holds for all of them needs no count.
        of_some = f"{count} of {by_cell.height} estimates carry a note: {text}"
        warnings.append(f"{capitalised(text) if count == by_cell.height else of_some}{more}.")
    return warnings
