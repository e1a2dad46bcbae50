"""One measure of a tidy table: its rows at priors or over a range, and its numbers per fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.checks import check_text, refuse_unused
from polaroc.base.columns import (
    AT,
    HAVE,
    OVER,
    PLACE,
    RESERVED,
    SHARE,
    SPREAD,
    as_lazy,
    join_by_key,
    require,
)
from polaroc.base.text import MAX_NAMED, capitalised, listed_rows
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.measures.areas import BELOW_CHANCE
from polaroc.measures.catalog import CATALOG, label, mean_name
from polaroc.predictions.audit import differs, unusual
from polaroc.predictions.row_checks import THE_TRUTH
from polaroc.priors.beliefs import Belief, Over, discrete, labelled_range, resolve_belief
from polaroc.priors.grids import OBSERVED, TOLERANCE, is_among
from polaroc.typing import Array, PolarsFrame, Prior

MAX_NOTES = 5
IS_AUC = pl.col("measure").cast(pl.String) == "auc"
# Marks rows of the mean over the whole range, in the place of a prior.
WHOLE_RANGE = -1.0
# Columns that a table of measures may lack, with their types.
OPTIONAL = {
    "prior": pl.Float64, "positives": pl.Float64, "negatives": pl.Float64, "note": pl.String,
}  # fmt: skip
# Whether a row is at the prior of the cases of its key.
IS_OBSERVED = ((pl.col("prior") - SHARE).abs() <= TOLERANCE).fill_null(False)


@dataclass(frozen=True, eq=False)
class MeasureRows:
    """The rows of one measure, of every key."""

    frame: pl.DataFrame  # keys, prior, estimate, positives, negatives, note
    keys: list[str]
    measure: str

    @property
    def fixed_priors(self) -> list[float]:
        """The priors of the table, ascending, without those that are only some key's own prior."""
        least, most = self.frame.select(least=SHARE.min(), most=SHARE.max()).row(0)
        if least is None or most - least <= TOLERANCE:
            return distinct(self.frame["prior"])
        fixed = self.frame.filter((~IS_OBSERVED).any().over("prior"))
        return distinct(fixed["prior"])

    def at(self, priors: Sequence[Prior | None]) -> pl.DataFrame:
        """The rows at these priors, each with the `PLACE` of its prior.

        A single None selects all rows, and "observed" those at the prior of their key.
        """
        if priors[0] is None or priors[0] == OBSERVED:
            rows = self.frame if priors[0] is None else self.frame.filter(IS_OBSERVED)
            return rows.with_columns(pl.lit(0, pl.UInt32).alias(PLACE))
        places = pl.DataFrame({AT: priors}, schema={AT: pl.Float64}).with_row_index(PLACE)
        matched = self.frame.sort("prior").join_asof(
            places.sort(AT), left_on="prior", right_on=AT, strategy="nearest", tolerance=TOLERANCE
        )
        return matched.drop_nulls(PLACE)

    def check_prior(self, prior: Prior | None) -> None:
        """Raise where the table lacks the measure at a prior, or has it at several without one."""
        known = distinct(self.frame["prior"])
        listed = quoted([float(f"{one:.6g}") for one in known], 20)
        if prior is None:
            counts = self.frame.group_by(self.keys).agg(pl.col("prior").n_unique())
            if counts["prior"].max() != 1:
                raise InvalidArgument(
                    f"{self.measure!r} is in the table at several priors: {listed}.",
                    hint="say which one, for example priors=0.1.",
                )
        elif self.at([prior]).is_empty():
            raise InvalidArgument(
                f"the table has no {self.measure!r} at prior {prior!r}; it has it at "
                f"{listed or 'no prior'}.",
                hint="evaluate with it among priors=, or choose one of these.",
            )


def rows_of(measures: PolarsFrame, measure: str) -> MeasureRows:
    """The rows of one measure; raise where the table has none."""
    check_text("measure", measure, "auprec")
    lazy = as_lazy(measures)
    keys = require(lazy, ("measure", "estimate"), source="evaluate(...)")
    lacking = {name: pl.lit(None, kind) for name, kind in OPTIONAL.items()
               if name not in lazy.collect_schema()}  # fmt: skip
    name, estimate = pl.col("measure").cast(pl.String), pl.col("estimate").cast(pl.Float64)
    rows = lazy.with_columns(**lacking).filter(name == measure)
    frame = rows.select(
        *keys, pl.col("prior").cast(pl.Float64), pl.when(estimate.is_finite()).then(estimate),
        "positives", "negatives", pl.col("note").cast(pl.String),
    ).collect()  # fmt: skip
    if frame.is_empty():
        known = lazy.select(name.drop_nulls().unique().sort()).collect()["measure"].to_list()
        raise InvalidArgument(
            f"the table has no measure {measure!r}; it has {quoted(known) or 'no rows'}.",
            hint="choose one of these, or evaluate again. 'iauprec' and 'sens' need "
            "over=(0.05, 0.20).",
        )
    return MeasureRows(frame, keys, measure)


def distinct(priors: pl.Series) -> list[float]:
    """The different priors, ascending."""
    ordered = priors.drop_nulls().unique().sort()
    return ordered.filter((ordered.diff() > TOLERANCE).fill_null(True)).to_list()


# --- Numbers per fold, model and prior -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldValues:
    """One number per fold, model and prior, complete."""

    models: pl.Series  # sorted
    values: Array  # folds × models × priors
    warnings: tuple[str, ...] = ()

    @property
    def at_first(self) -> Array:
        """The numbers at the one prior, folds × models."""
        return self.values[:, :, 0]

    def check_folds(self) -> None:
        """Raise on fewer than two folds."""
        if len(self.values) < 2:
            raise InvalidArgument(
                f"there is {len(self.values)} fold, allowed are two or more.",
                hint="evaluate on several folds, with fold='fold'.",
            )


def fold_values(
    rows: MeasureRows, priors: Sequence[Prior | None], noted: Sequence[float] | None = None
) -> FoldValues:
    """The numbers of one measure per fold, model and prior; raise where any is missing.

    Warnings are those of the priors `noted`, by default of all.
    """
    folds = [key for key in rows.keys if key == "fold"]
    cell, selected, estimate = ["model", *folds], rows.at(priors), pl.col("estimate")
    numbers = selected.group_by(*cell, PLACE).agg(
        estimate.first(), (estimate.max() - estimate.min()).alias(SPREAD), pl.len().alias(HAVE),
        pl.col("note").first().fill_null("no note"),
    )  # fmt: skip
    models = selected.select("model").unique().sort("model", nulls_last=True)
    full = models.join(pl.DataFrame({PLACE: range(len(priors))}, {PLACE: pl.UInt32}), how="cross")
    if folds:
        full = selected.select(folds).unique().sort(folds, nulls_last=True).join(full, how="cross")
    numbers = join_by_key(full, numbers, [*cell, PLACE])
    cells, is_missing = numbers.height // len(priors), pl.col(HAVE).is_null()
    others = [key for key in rows.keys if key not in cell]
    refuse_rows(
        {
            "key(s) have two different estimates": numbers.filter(pl.col(SPREAD) > TOLERANCE)[cell],
            f"of {cells} cells are missing": numbers.filter(is_missing)[cell],
            f"of {cells} estimates are null": numbers.filter(~is_missing, estimate.is_null())[
                [*cell, "note"]
            ],
        },
        "evaluate every model on every fold, once, or leave such folds out"
        + (f"; keep one value of {quoted(others)}, or make it a fold, too." if others else "."),
    )
    prior = pl.col("prior")
    in_fold = selected.group_by(*folds, PLACE).agg((prior.max() - prior.min()).alias(SPREAD))
    if (in_fold[SPREAD].fill_null(0) > TOLERANCE).any():
        raise InvalidTable(
            "models of one fold are measured at different priors.",
            hint="their test sets differ: take one prior for all, for example priors=0.1.",
        )
    is_noted = pl.lit(True) if noted is None else is_among(prior, noted)
    by_cell = selected.group_by(cell).agg(
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
    sentences = [
        f"{rows.height} {problem}: {listed_rows(rows)}"
        for problem, rows in distinct.items()
        if rows.height
    ]
    if sentences:
        raise InvalidTable(f"{'; '.join(sentences)}.", hint=hint)


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
    odd = by_cell.select(*folds, found=unusual("model")).drop_nulls("found").unique()
    if odd.height:
        first = listed_rows(odd.sort(folds or "found", nulls_last=True), 3)
        warnings.append(
            f"{odd.select(folds).n_unique()} fold(s) clearly differ from the others, but count as "
            f"much: {first}."
        )
    note = pl.col("note").list.join("; ").str.split("; ").list.unique()
    kinds = by_cell.select(note.explode()).filter(pl.col("note") != "").to_series().value_counts()
    # Groups have no defined order: sort, so that the text is the same in every run.
    ordered = kinds.sort("count", "note", descending=[True, False])
    more = f"; {ordered.height - MAX_NOTES} more kinds" if ordered.height > MAX_NOTES else ""
    for text, count in ordered.head(MAX_NOTES).rows():
        # A note on all estimates needs no count.
        of_some = f"{count} of {by_cell.height} estimates carry a note: {text}"
        warnings.append(f"{capitalised(text) if count == by_cell.height else of_some}{more}.")
    return warnings


# --- Measures over a range of priors or under a belief -------------------------------------------


def needs_range(measure: str) -> bool:
    """Whether a measure is over a range of priors or a belief."""
    return measure in CATALOG and CATALOG[measure].over is not None


def refuse_places(measure: str, over: object, prior: Prior | None) -> None:
    """Refuse a range of priors, or a prior, where a measure has none."""
    if measure in CATALOG and prior is not None and not CATALOG[measure].at_priors:
        raise InvalidArgument(
            f"prior is {prior!r}, but {measure!r} has no prior.", hint="leave it out."
        )
    if measure in CATALOG and not needs_range(measure):
        refuse_unused("for measures over a range of priors", f"measure is {measure!r}", over=over)


def over_labels(measures: pl.DataFrame, measure: str, over: Over | None = None) -> list[str]:
    """The ranges and beliefs of the rows of a measure; of these `over`, if it is given.

    Empty where the table does not name them.
    """
    if OVER not in measures.columns:
        return []
    rows = measures.filter(pl.col("measure").cast(pl.String) == measure)
    labels = rows[OVER].cast(pl.String).drop_nulls().unique().sort().to_list()
    return [label for label in labels if over is None or label == resolve_belief(over).name]


def range_rows(measures: pl.DataFrame, measure: str, over: Over) -> MeasureRows | None:
    """The rows of a measure that are known to be over a range or belief, if any."""
    same = over_labels(measures, measure, over)
    return rows_of(measures.filter(pl.col(OVER).is_in(same)), measure) if same else None


def of_one_range(
    measures: pl.DataFrame, measure: str, over: Over | None
) -> tuple[pl.DataFrame, Over | str | None]:
    """The rows of one measure and of the AUC, and the range or belief they are over."""
    if not needs_range(measure):
        return measures, None
    labels, same = over_labels(measures, measure), over_labels(measures, measure, over)
    if len(same) == 1:
        kept = (pl.col("measure") != measure) | (pl.col(OVER) == same[0])
        return measures.filter(kept), labelled_range(same[0]) or same[0]
    if labels or over is not None:
        wanted = "" if over is None else f", not over {over!r}"
        raise InvalidArgument(
            f"the table has {measure!r} over {quoted(labels) or 'a range that it does not tell'}"
            f"{wanted}.",
            hint="evaluate again with the range, or name one of these as over=.",
        )
    return measures, None


def describe_priors(over: Over | str | None, grid: Sequence[float] = ()) -> str:
    """The range or the belief, else the priors, at which a measure is taken, as a phrase.

    Examples
    --------
    >>> describe_priors((0.05, 0.2)), describe_priors(None, [0.1]), describe_priors(None)
    ('over 5 to 20 % positives', 'at 10 % positives', '')
    """
    over = labelled_range(str(over)) or over
    if isinstance(over, tuple):
        return f"over {100 * over[0]:.3g} to {100 * over[1]:.3g} % positives"
    if isinstance(over, Belief) and over.is_estimate:
        return f"at {over!r}"
    if isinstance(over, Belief) and len(over.priors) == 1:
        grid = over.priors
    elif over is not None:
        return f"under {over}"
    if len(grid) > MAX_NAMED:
        return f"at {len(grid)} priors from {grid[0]:.3g} to {grid[-1]:.3g}, equally likely"
    if len(grid) > 1:
        return f"at the priors {', '.join(f'{prior:.3g}' for prior in grid)}, equally likely"
    return f"at {100 * grid[0]:.3g} % positives" if grid else ""


class UnderBelief(NamedTuple):
    """A measure under a belief about the prior, from a tidy table."""

    means: FoldValues  # under the belief
    at_priors: Array  # folds × models × priors
    priors: Sequence[float]  # where models are compared one by one, ascending
    belief: Belief
    over: Over | None
    warnings: tuple[str, ...]
    regrets_known: bool  # whether the priors reach the ends of the range


def under_belief(measures: pl.DataFrame, measure: str, over: Over | None) -> UnderBelief:
    """The measure of a tidy table under a belief; raise where the table does not have it there.

    The default of `over` is the range of the table's mean of the measure (for "auprec" its
    IAUPREC), if the table names one, or else the priors of the table, equally likely.
    """
    mean, whole = mean_name(measure), None
    if mean is not None and over is None and len(known := over_labels(measures, mean)) == 1:
        over = labelled_range(known[0])
    if mean is not None and over is not None:
        whole = range_rows(measures, mean, over)
    if whole is not None and measure not in measures["measure"].cast(pl.String):
        rows = replace(whole, frame=whole.frame.clear(), measure=measure)
    else:
        rows = rows_of(measures, measure)
    grid = np.array(rows.fixed_priors)
    if over is None and not grid.size:
        raise InvalidArgument(
            f"the table has {measure!r} at 0 fixed prior(s), needed are one or more.",
            hint="evaluate with priors=prior_grid(0.05, 0.20, 16), or compare(...) at one prior.",
        )
    belief = discrete(grid.tolist()) if over is None else resolve_belief(over)
    are_nodes = _are_same(belief.priors, grid)
    if whole is None and not are_nodes.any(axis=1).all():
        either = "" if mean is None else f"neither {mean!r} over {over!r} nor "
        raise InvalidArgument(
            f"the table has {either}{measure!r} at all {len(belief.priors)} priors that stand for "
            f"{over!r}.",
            hint=_call_of_evaluate(over, mean),
        )
    low, high = belief.range
    priors = grid[(low - TOLERANCE <= grid) & (grid <= high + TOLERANCE)]
    inner = [node for node in belief.priors if low <= node <= high]
    needed = [low, high] if isinstance(over, tuple) else inner
    regrets_known = bool(_are_same(needed, priors).any(axis=1).all())
    warnings = []
    if len(distinct(rows.frame["prior"])) != len(grid):
        warnings.append("Left out the rows at each key's own prior, which differs from key to key.")
    if not regrets_known:
        warnings.append(
            f"The table has {label(measure)} at {len(priors)} prior(s) of the range, not from end "
            f"to end: regrets are not known. To know them: {_call_of_evaluate(over, mean)}"
        )
    if whole is None:
        used, weights = grid, np.bincount(are_nodes.argmax(axis=1), belief.weights, len(grid))
    else:
        of_range = whole.frame.with_columns(prior=pl.lit(WHOLE_RANGE))
        rows = replace(rows, frame=pl.concat([rows.frame, of_range], how="vertical_relaxed"))
        used, weights = np.append(priors, WHOLE_RANGE), np.eye(len(priors) + 1)[-1]
    table = fold_values(rows, used.tolist(), noted=[*priors, WHOLE_RANGE])
    means = replace(table, values=(table.values @ weights)[..., None])
    return UnderBelief(
        means, table.values[..., np.isin(used, priors)], priors.tolist(), belief, over,
        tuple(warnings), regrets_known,
    )  # fmt: skip


def _are_same(priors: Sequence[float], grid: Array) -> Array:
    """Whether each of some priors is each of a grid, but for rounding."""
    return np.abs(np.subtract.outer(priors, grid)) <= TOLERANCE


def _call_of_evaluate(over: Over | None, mean: str | None) -> str:
    """Hint: the call that makes a sufficient table."""
    if isinstance(over, Belief):
        return f"pr.evaluate(..., over=belief, priors=belief.priors) with belief = {over!r}."
    assert over is not None
    lo, hi = (f"{float(end)!r}" for end in over)
    if mean is None:
        return f"pr.evaluate(..., priors=pr.uniform({lo}, {hi}).priors)."
    return f"pr.evaluate(..., over=({lo}, {hi}), priors=pr.prior_grid({lo}, {hi}, 16))."


# --- Scores that cannot be right -----------------------------------------------------------------


def below_chance(measures: pl.DataFrame, measure: str) -> list[str]:
    """Warning on AUCs below chance, where the table has the AUC."""
    areas = measures.filter(IS_AUC)
    below = _noted(areas, BELOW_CHANCE)
    if measure == "auc" or below.is_empty():
        return []
    return [f"{below.height} of {areas.height} AUCs are {BELOW_CHANCE} {listed_rows(below, 3)}."]


def score_warnings(measures: pl.DataFrame, measure: str) -> list[str]:
    """Warnings on scores that cannot be right or tell nothing, which come before any answer."""
    of_truth = _noted(measures, THE_TRUTH).unique(maintain_order=True)
    areas = measures.filter(IS_AUC)["estimate"]
    warnings = below_chance(measures, measure)
    if of_truth.height:
        warnings.insert(0, f"{capitalised(THE_TRUTH)}: {listed_rows(of_truth, 3)}.")
    if len(areas) and ((areas - 0.5).abs() <= TOLERANCE).fill_null(False).all():
        warnings.append(
            "No model is better than chance: all AUCs are 0.5, so that the scores do not tell the "
            "classes apart."
        )
    return warnings


def _noted(measures: pl.DataFrame, text: str) -> pl.DataFrame:
    """The sorted keys of the rows whose note has a text."""
    if "note" not in measures.columns:
        return pl.DataFrame()
    noted = pl.col("note").cast(pl.String).str.contains(text, literal=True)
    keys = measures.filter(noted).select(pl.exclude(RESERVED))
    return keys.sort(keys.columns, nulls_last=True)
