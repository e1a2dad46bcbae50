"""Thresholds of one model for what was asked, with their rates on cases that did not set them."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.statistics import binomial_band
from polaroc.inference.evidence import evidence_from_folds
from polaroc.models.choice import Choice
from polaroc.models.fold_thresholds import (
    Folds,
    HeldOutRates,
    rates_across_folds,
    rates_within_folds,
    read_folds,
    warnings_on_folds,
)
from polaroc.predictions.audit import check
from polaroc.predictions.cases import Cases
from polaroc.reports.request import Request
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rules import Need
from polaroc.thresholds.saved import threshold_texts

LIMITS = ("tpr_lower", "tpr_upper", "fpr_lower", "fpr_upper")
# Share of the error rate at which exact limits hold for the rates of a threshold that was picked
# on the same cases (`just simulate rates_picked`).
PICKED = 1 / 3


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Thresholds of one model, a row of `points` for each need.

    A null threshold calls nothing positive; rates are null where they are not known.
    """

    points: pl.DataFrame
    needs: tuple[Need, ...]
    texts: tuple[str | None, ...]  # in as few digits as select the same cases
    folds: int
    sizes: tuple[int, int]  # positives and negatives that the rates are of
    cautions: tuple[str, ...] = ()
    tuned_on: tuple[int, int] | None = None  # positives and negatives of cases of its own
    promise: str | None = None
    why_none: str | None = None

    @property
    def need(self) -> Need:
        """The goal of the threshold that the report acts on."""
        return self.needs[len(self.needs) // 2]

    @property
    def text(self) -> str | None:
        """The threshold that the report acts on, as it is written."""
        return self.texts[len(self.needs) // 2]

    @property
    def taken(self) -> dict[str, float | None]:
        """The threshold that the report acts on, with its rates."""
        return self.points.row(len(self.needs) // 2, named=True)

    @property
    def rates(self) -> tuple[float, float] | None:
        """Its recall and false alarm rate; None where they are not known."""
        recall, alarms = self.taken["tpr"], self.taken["fpr"]
        return None if recall is None or alarms is None else (recall, alarms)

    @property
    def to_act_on(self) -> float | None:
        """The exact threshold; of folds, whose models are not the final one, there is none."""
        return None if self.folds > 1 else self.taken["threshold"]


def thresholds_of(cases: Cases[pl.DataFrame], request: Request) -> Thresholds:
    """Thresholds that were set on the cases of one model: all, other folds, or other fifths."""
    folds, needs = read_folds(cases), request.needs
    count = int(folds.fold.max(initial=0)) + 1
    names = ("threshold", "tpr", "fpr", *LIMITS)
    columns: dict[str, Any] = {name: [None] * len(needs) for name in names}
    columns["threshold"] = folds.thresholds(needs)
    if count > 1 or not all(need.fixes_count for need in needs):
        held_out = (rates_across_folds if count > 1 else rates_within_folds)(folds, needs)
        with warnings.catch_warnings():
            # A class that is in no fold has no rate.
            warnings.simplefilter("ignore", RuntimeWarning)
            columns["tpr"] = np.nanmean(held_out.tpr, axis=1).tolist()
            columns["fpr"] = np.nanmean(held_out.fpr, axis=1).tolist()
        if count > 1:
            columns |= _limits_over_folds(held_out, cases.test_train_ratio, request.level)
    cautions = warnings_on_folds(folds, has_case=cases.case is not None) if count > 1 else []
    points = pl.DataFrame(columns, dict.fromkeys(columns, pl.Float64), nan_to_null=True)
    if count == 1:
        # Exact limits are those of independent cases.
        points = _of_one_test_set(
            points, folds, needs, None if cases.in_clusters else request.level
        )
    size = np.ones(len(folds.truth)) if cases.weight is not None else folds.weight
    sizes = round(size[folds.truth].sum()), round(size[~folds.truth].sum())
    texts = threshold_texts(points, [], pl.DataFrame({"threshold": folds.score}))
    return Thresholds(points, needs, tuple(texts), count, sizes, tuple(cautions))


def tuned_threshold(
    cases: Cases[pl.DataFrame], tuned: Cases[pl.DataFrame], request: Request, choice: Choice | None
) -> Thresholds:
    """The threshold of one model that `choose` set on other cases, with its rates on these."""
    why = None
    if choice is None:
        at: dict[str, Any] = {"over": request.over}
        if len(request.belief.priors) == 1:
            at = {"priors": request.belief.mean}
        found = operating_points(tuned, request.needs[0].kind, **at, **request.of_costs)
        point = found.row(0, named=True)
        threshold, promise = point["threshold"], point.get("promise")
        why = None if threshold is not None or point["tpr"] is not None else f"{point['note']}."
    else:
        threshold, promise = choice.threshold, choice.promise
        why = choice.answer if choice.bayes is None else None
    rates: dict[str, Any] = dict.fromkeys(("tpr", "fpr"), None if why else 0.0)
    if threshold is not None:
        rates = apply_thresholds(cases, threshold, intervals=True, level=request.level).row(
            0, named=True
        )
    names = ("threshold", "tpr", "fpr", *LIMITS)
    row = {name: rates.get(name) for name in names} | {"threshold": threshold}
    sizes, tuned_on = (check(one).select("positives", "negatives").row(0) for one in (cases, tuned))
    points = pl.DataFrame([row], dict.fromkeys(names, pl.Float64))
    texts = threshold_texts(
        points, [], *(one.rows.select(threshold="score") for one in (cases, tuned))
    )
    return Thresholds(
        points, request.needs, tuple(texts), 1, sizes, tuned_on=tuned_on, promise=promise,
        why_none=why,
    )  # fmt: skip


def _of_one_test_set(
    points: pl.DataFrame, folds: Folds, needs: tuple[Need, ...], level: float | None
) -> pl.DataFrame:
    """Points of one test set with the limits of their rates, although they were set on its cases.

    A need that fixes how many cases lie above the threshold makes it an order statistic of the
    cases: its rates are those of the same cases, and exact binomial limits hold. Other rates are
    means over held-out fifths, which exact limits at `PICKED` of the error are widened to. Without
    a level there are no limits.
    """
    rows = []
    for need, row in zip(needs, points.rows(named=True), strict=True):
        at = row["threshold"]
        for name, in_class in (("tpr", folds.truth), ("fpr", ~folds.truth)):
            weight = folds.weight[in_class]
            total = float(weight.sum())
            if not total:
                continue
            if at is None:
                # Parts of the cases may have a threshold, all together have none.
                row[name] = 0.0
                continue
            k = float(weight[folds.score[in_class] >= at].sum())
            if need.fixes_count:
                row[name] = k / total
            if level is None:
                continue
            if need.fixes_count and name == "tpr":
                # The threshold is the score of a positive: the mean of the beta distribution.
                row[name] = k / (total + 1)
            error = (1 if need.fixes_count else PICKED) * (1 - level)
            lower, upper = binomial_band(k, total, error)
            row[f"{name}_lower"] = min(float(lower), row[name])
            row[f"{name}_upper"] = max(float(upper), row[name])
        rows.append(row)
    return pl.DataFrame(rows, schema=points.schema)


def _limits_over_folds(
    held_out: HeldOutRates, ratio: float | None, level: float
) -> dict[str, list[float]]:
    """Limits of the mean rates over folds, by the correction for training sets that overlap."""
    limits: dict[str, list[float]] = {}
    for name, rates in (("tpr", held_out.tpr), ("fpr", held_out.fpr)):
        known = [values[~np.isnan(values), None] for values in rates]
        if ratio is None or min(map(len, known)) < 2:
            return {}
        evidence = [evidence_from_folds(values, ratio) for values in known]
        lower, upper = np.array([one.limits(level) for one in evidence])[..., 0, 0].T
        limits[f"{name}_lower"] = np.maximum(lower, 0).tolist()
        limits[f"{name}_upper"] = np.minimum(upper, 1).tolist()
    return limits
