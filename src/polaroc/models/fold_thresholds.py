"""Thresholds that meet a need on average over folds, and their rates on held-out cases.

Models are mostly fitted anew in each fold, so scores of different folds are not ranked
together: recall and false positive rate are taken per fold, and a threshold is chosen by
their means over the folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.errors import InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.thresholds.rules import Need
from polaroc.typing import Array

# Groups of the folds that are held out together, and of the cases that folds share.
GROUPS = 5
# Cost of one common threshold over that of thresholds per fold, above which scores of
# different folds are not comparable.
MAX_COST_RATIO = 1.25
MAY_SHARE_CASES = (
    "No column says which rows are the same case (case). If folds share cases, as repeated "
    "hold-outs do, thresholds were judged on cases that they were set on, and will do worse in "
    "use than shown."
)
OWN_SCALES = (
    "One threshold for all folds does clearly worse than one for each: the scores of their models "
    "cannot be compared. Use none of these thresholds. Turn scores into probabilities, or set the "
    "threshold on cases that the model in use was not trained on."
)
# Costs by which scores of folds are compared: both classes count the same.
BALANCED = Need("cost", (0.5,))
# What to do where models were fitted anew in each fold, whose thresholds are not that of the final
# model.
ON_OTHERS = "Set it on cases that this model was not trained on."


def threshold_command(need: Need) -> str:
    """The command that chooses a threshold by a need on other cases."""
    low, high = need.priors[0], need.priors[-1]
    place = f"--over {low:g} {high:g}" if low < high else f"--prior {low:.4g}"
    if need.kind == "cost":
        options = f"--rule cost --cost-fn {need.cost_fn:g} --cost-fp {need.cost_fp:g}"
    else:
        limit = {"recall": "min-recall", "precision": "min-precision", "capacity": "max-posfrac"}
        options = f"--{limit[need.kind]} {need.value:g}"
    return f"polaroc threshold FILE {place} {options}"


class Folds(NamedTuple):
    """The predictions of one model on several folds, sorted with the best score first."""

    score: Array
    truth: Array
    weight: Array
    fold: Array  # numbers from 0
    case: Array  # the same, of whole clusters where there are any

    def where(self, kept: Array | slice) -> Folds:
        """The rows at a mask, or those of a slice."""
        return Folds(*(column[kept] for column in self))

    @property
    def share_cases(self) -> bool:
        """Whether a case is in more than one fold."""
        first = np.full(self.case.max(initial=0) + 1, -1)
        first[self.case] = self.fold
        return bool((first[self.case] != self.fold).any())

    def thresholds(self, needs: Sequence[Need]) -> list[float | None]:
        """The threshold that meets each need best; None for calling nothing positive."""
        if not len(self.score):
            return [None] * len(needs)
        ends = np.append(np.flatnonzero(self.score[1:] != self.score[:-1]), len(self.score) - 1)
        recall, alarms = (
            np.append(0, self._mean_rate(in_class)[ends]) for in_class in (self.truth, ~self.truth)
        )
        best = [need.best(recall, alarms) for need in needs]
        return [None if i == 0 else float(self.score[ends[i - 1]]) for i in best]

    def totals(self, count: int) -> Array:
        """The positives and the negatives of each of so many folds."""
        of_class = np.bincount(self.fold + count * ~self.truth, self.weight, 2 * count)
        return np.reshape(of_class, (2, count))

    def _mean_rate(self, in_class: Array) -> Array:
        """The mean over folds of the share of a class that scores at least as much as each row."""
        counted = np.where(in_class, self.weight, 0.0)
        totals = np.bincount(self.fold, counted)
        share = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        return np.cumsum(counted * share[self.fold]) / max((totals > 0).sum(), 1)


class HeldOutRates(NamedTuple):
    """Rates of thresholds on held-out cases."""

    tpr: Array  # needs × folds, NaN without the class
    fpr: Array


def read_folds(cases: Cases[pl.DataFrame]) -> Folds:
    """Read the predictions of one model with their folds and cases.

    Cases of a cluster count as one, as they are held out together.
    """
    rows, fold, unit = cases.rows, pl.lit(0), cases.case
    if unit is not None and (count := rows[unit].null_count()):
        raise InvalidPredictions(f"{count} rows have no case.", hint=f"fill in {unit!r}.")
    if cases.cluster is not None and rows[cases.cluster].n_unique() >= GROUPS:
        unit = cases.cluster
    if cases.fold:
        fold = _number(cases.fold[0])
    number = pl.int_range(pl.len()) if unit is None else _number(unit)
    weight = pl.lit(1.0) if cases.counted_by is None else pl.col(cases.counted_by)
    table = rows.select(
        "score", "truth", weight=weight, fold=fold.cast(pl.Int64), case=number.cast(pl.Int64)
    ).sort("score", "truth", "fold", "case", descending=[True, False, False, False])
    return Folds(*(column.to_numpy() for column in table))


def _number(name: str) -> pl.Expr:
    """The distinct values of a column as numbers from 0, in their order."""
    return pl.col(name).rank("dense") - 1


def rates_across_folds(folds: Folds, needs: Sequence[Need]) -> HeldOutRates:
    """Rates of each fold at thresholds from other folds that share no case with it."""
    # Cases in one fold only are held out with all others of their group.
    group, part = folds.fold % GROUPS, folds.case % GROUPS * folds.share_cases
    splits = (
        (folds.where(held), folds.where((group != a) & ~np.isin(folds.case, folds.case[held])))
        for a in np.unique(group)
        for b in np.unique(part)
        if (held := (group == a) & (part == b)).any()
    )
    return _held_out_rates(folds, needs, splits)


def rates_within_folds(folds: Folds, needs: Sequence[Need]) -> HeldOutRates:
    """Rates of each fold at thresholds from other cases of the same fold."""
    part = np.random.default_rng(0).permutation(folds.case.max(initial=0) + 1) % GROUPS
    splits = (
        (rows.where(part[rows.case] == b), rows.where(part[rows.case] != b))
        for rows in (folds.where(folds.fold == a) for a in np.unique(folds.fold))
        for b in range(GROUPS)
    )
    return _held_out_rates(folds, needs, splits)


def warnings_on_folds(folds: Folds, *, has_case: bool) -> list[str]:
    """Warnings that thresholds of folds may do worse in use.

    Thresholds per fold are set on fewer cases, and cost more where the scores of all folds are on
    one scale.
    """
    common, per_fold = (
        BALANCED.cost(rates.tpr, rates.fpr)[0]
        for rates in (rates_across_folds(folds, [BALANCED]), rates_within_folds(folds, [BALANCED]))
    )
    known = ~np.isnan(common - per_fold)
    common, per_fold = common[known], per_fold[known]
    mostly = (common > per_fold).sum() > len(per_fold) / 2
    differ = mostly and common.sum() > MAX_COST_RATIO * per_fold.sum()
    return [MAY_SHARE_CASES] * (not has_case) + [OWN_SCALES] * bool(differ)


def judged_on_other_folds(folds: int, margin: str = "") -> str:
    """A warning on the cases of the rates, and on the final model, which has others."""
    return (
        f"The rates are means over {folds} folds, each judged at thresholds set on other "
        f"folds{margin}. The final model is another one: try it on fresh cases."
    )


def _held_out_rates(
    folds: Folds, needs: Sequence[Need], splits: Iterator[tuple[Folds, Folds]]
) -> HeldOutRates:
    """Rates of held-out rows at the thresholds that meet the needs best on the other rows."""
    count = folds.fold.max(initial=0) + 1
    called = np.zeros((len(needs), 2, count))
    for held, tuning in splits:
        for i, threshold in enumerate(tuning.thresholds(needs)):
            if threshold is not None:
                alarms = held.where(slice(np.count_nonzero(held.score >= threshold)))
                called[i] += alarms.totals(count)
    totals = folds.totals(count)
    with np.errstate(invalid="ignore"):
        tpr, fpr = np.moveaxis(called / totals, 1, 0)
    return HeldOutRates(tpr, fpr)
