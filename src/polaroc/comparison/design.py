"""What is compared and how: validated options, and the table of one number per model and fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from polaroc.base.checks import (
    check_flag,
    check_ratio,
    check_share,
    check_whole,
    refuse_unused,
    unless,
)
from polaroc.base.columns import column_name
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import HAVE, LEVEL, PLACE, SPREAD
from polaroc.base.text import capitalised, listed_rows
from polaroc.comparison.measure_rows import Rows, refuse_rows, value_columns
from polaroc.errors import Hint, InvalidArgument, InvalidTable, check_choice, quoted, spelling
from polaroc.measures.table import humanize_note
from polaroc.predictions.audit import differs, unusual
from polaroc.priors.grids import SAME
from polaroc.typing import Array, Prior
from polaroc.uncertainty.evidence import of_folds

MAX_NOTES = 5
Target = Literal["algorithm", "trained"]
REPEAT = "repeat"
# Share by which the cases of two repeats of a k-fold may differ: sums of weights are rounded.
SAME_CASES = 1e-9


@dataclass(frozen=True, eq=False)
class Layout:
    """The folds of a comparison."""

    folds: int  # how many there are
    # "k-fold" where each repeat tests all cases once; None where no key `repeat` tells.
    kind: Literal["k-fold", "hold-outs"] | None = None
    repeats: tuple[int, ...] = ()  # of each fold, from 0; empty where it is not known
    per_repeat: int = 1  # folds, where all repeats have as many
    cases: tuple[float, float] | None = None  # of both classes, of a repeat of a k-fold

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases, where the folds tell."""
        return 1 / (self.per_repeat - 1) if self.kind == "k-fold" else None

    def noise(self, values: "Array") -> "Array | None":
        """The covariance of means of folds × models that is due to how the cases were split.

        None where the cases were split once, which does not tell.
        """
        if self.kind == "k-fold":
            places = np.array(self.repeats)
            repeats = [values[places == place].mean(axis=0) for place in set(places)]
            if len(repeats) < 2:
                return None
            values = np.stack(repeats)
        noise: Array = of_folds(values, 0).covariance[0]
        return noise


@dataclass(frozen=True, eq=False)
class FoldValues:
    """One number per fold, model and prior, complete."""

    models: pl.Series  # sorted
    folds: pl.DataFrame  # their keys, sorted
    layout: Layout
    values: "Array"  # folds × models × priors
    warnings: tuple[str, ...] = ()

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
        layout_of(rows, keys, model),
        values if folds else values[None],
        tuple(_warnings(wide, model, folds)),
    )


def check_folds(table: FoldValues) -> None:
    """Raise on fewer than two folds."""
    count = table.values.shape[0]
    if count < 2:
        raise InvalidArgument(
            f"there is {count} fold, allowed are two or more.",
            hint=Hint(
                "one test set cannot show how much a difference varies: evaluate on several "
                "folds, with {fold}.",
                fold="fold",
            ),
        )


def _check_columns(keys: Sequence[str], model: str, folds: Sequence[str]) -> None:
    unknown = [name for name in (column_name(model, "model"), *folds) if name not in keys]
    if unknown:
        raise InvalidArgument(
            f"the table has no key {quoted(unknown)}; its keys are {quoted(keys) or 'none'}.",
            hint=spelling(
                unknown,
                keys,
                Hint(
                    "evaluate with it as {model} or {fold}, or name others.",
                    model=None,
                    fold=None,
                ),
            ),
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
            hint=Hint(
                "keep one value of it, or, where models were fitted anew for each, name it as a "
                "fold: {fold}.",
                fold=[*folds, *varying],
            ),
        )


def _refuse_incomplete(wide: pl.DataFrame, model: str, folds: Sequence[str], priors: int) -> None:
    """Raise where a model lacks a number in a fold."""
    named = [model, *folds]
    models = wide.select(model).unique()
    full = models.join(wide.select(folds).unique(), how="cross") if folds else models
    lacking = pl.any_horizontal(pl.col(value_columns(priors)).is_null())
    missing = join_on(full, wide, named, "anti").sort(named, nulls_last=True)
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
            hint=Hint(
                "their test sets differ: take one prior for all, for example {prior}.", prior=0.1
            ),
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


def layout_of(rows: Rows, folds: pl.DataFrame, model: str) -> Layout:
    """The layout of folds with these keys, by the key `repeat` and the numbers of cases."""
    names = folds.columns
    if not names or REPEAT not in rows.keys or model == REPEAT:
        return Layout(max(folds.height, 1))
    lacking = [name for name in (REPEAT, "positives", "negatives") if name not in names]
    sizes = rows.frame.group_by(names).agg(pl.col(lacking).max())
    numbered = join_on(folds, sizes, names, "left", order="left").with_columns(
        (pl.col(REPEAT).rank("dense") - 1).alias(PLACE)
    )
    per = numbered.group_by(PLACE).agg(
        pl.len().alias(HAVE), pl.col("positives").sum(), pl.col("negatives").sum()
    )
    repeats = tuple(numbered[PLACE].fill_null(0).to_list())
    count = per[HAVE][0]
    if per[HAVE].n_unique() > 1 or count < 2 or not _equal(per, ("positives", "negatives")):
        return Layout(folds.height, "hold-outs", repeats)
    cases = per["positives"][0], per["negatives"][0]
    return Layout(folds.height, "k-fold", repeats, count, cases)


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
        rows = join_on(rows, numbered, levels.columns, "left")
    values = np.full([*(levels.height for levels in axes), len(columns)], np.nan)
    values[tuple(rows[place].to_numpy() for place in places)] = rows.select(columns).to_numpy()
    return values


@dataclass(frozen=True)
class Plan:
    """How models are to be compared; the arguments of `compare` of the same names."""

    target: Target = "algorithm"
    test_train_ratio: float | None = None
    level: float = 0.95
    halves: bool = False  # whether the variance is that of halves
    guarded: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("target", self.target, get_args(Target))
        check_share("level", self.level)
        check_flag("guarded", self.guarded)
        if self.guarded and not self.halves:
            raise InvalidArgument(
                "guarded is True without halves: it is the greater one of their variance and that "
                "of the folds.",
                hint=Hint("give {halves}, or leave {guarded} out.", halves=None, guarded=None),
            )
        if self.target != "algorithm":
            refuse_unused(
                "for target 'algorithm'", f"target is {self.target!r}",
                hint=Hint("leave it out, or take {target}.", target="algorithm"),
                halves=self.halves or None,
            )  # fmt: skip
        elif self.test_train_ratio is not None or self.guarded or not self.halves:
            check_ratio(self.test_train_ratio)
        check_whole("seed", self.seed, 0)
        if not self.halves:
            refuse_unused("for halves", "there are none", seed=unless(0, self.seed))
