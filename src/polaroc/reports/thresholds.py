"""Thresholds of one model that meet what is needed, with their rates on held-out cases."""

import warnings
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.statistics import binomial_band
from polaroc.curves.curve import curve
from polaroc.errors import InvalidTable
from polaroc.inference.evidence import evidence_from_folds
from polaroc.models.fold_thresholds import (
    OWN_SCALES,
    Folds,
    HeldOutRates,
    doubts_of_folds,
    rates_across_folds,
    rates_within_folds,
    read_folds,
)
from polaroc.models.inputs import of_keys
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief, discrete, resolve_belief
from polaroc.reports.inputs import Question
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.need import Need
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.texts import threshold_text
from polaroc.typing import Array

# The text of a threshold that calls nothing positive.
NONE = "none"
# Share of the error rate at which exact limits hold for the rates of a threshold that was picked
# on the same cases (`just simulate rates_picked`).
PICKED = 1 / 3
# Tail of a belief at each end whose priors are not shown.
TAIL = 0.05


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Thresholds of one model, a row of `points` for each need.

    A null threshold calls nothing positive; `lowest` and `highest` are those that parts of the
    cases give. Limits of the rates are null where they are not known.
    """

    points: pl.DataFrame
    needs: tuple[Need, ...]
    priors: tuple[float, ...]  # the lowest, the middle and the highest
    folds: int
    positives: int
    negatives: int
    cautions: tuple[str, ...] = ()
    tuned_on: tuple[int, int] = (0, 0)  # positives and negatives of cases of its own
    # What each threshold that was set on cases of its own promises, or why there is none.
    promises: tuple[str | None, ...] = ()
    lacking: tuple[str | None, ...] = ()
    # Each threshold in as few digits as select the same cases, here and where it was set.
    texts: tuple[str, ...] = ()
    # The least and the greatest threshold that other folds set.
    spreads: tuple[str | None, ...] = ()

    @property
    def is_tuned(self) -> bool:
        """Whether thresholds were set on cases of their own."""
        return bool(self.promises)

    @property
    def promise(self) -> str | None:
        """The promise of the threshold that the report acts on."""
        return self.promises[len(self.needs) // 2] if self.promises else None

    @property
    def why_none(self) -> str | None:
        """Why there is no threshold to act on."""
        return self.lacking[len(self.needs) // 2] if self.lacking else None

    @property
    def need(self) -> Need:
        """The goal of the threshold that the report acts on."""
        return self.needs[len(self.needs) // 2]

    @property
    def text(self) -> str:
        """The threshold that the report acts on, as it is written."""
        return self.texts[len(self.needs) // 2]

    @property
    def written(self) -> float | None:
        """The same as a number, which calls the same cases positive; None where there is none."""
        return None if self.taken["threshold"] is None else float(self.text)

    @property
    def is_comparable(self) -> bool:
        """Whether scores of different folds can be compared."""
        return OWN_SCALES not in self.cautions

    @property
    def taken(self) -> dict[str, float | None]:
        """The threshold that the report acts on, with its rates."""
        return self.points.row(len(self.needs) // 2, named=True)

    @property
    def rates(self) -> tuple[float, float] | None:
        """Its recall and false alarm rate; None where the cases lack a class."""
        recall, alarms = self.taken["tpr"], self.taken["fpr"]
        return None if recall is None or alarms is None else (recall, alarms)

    @property
    def rates_in_use(self) -> tuple[float, float] | None:
        """The same; None where nothing is acted on, too."""
        return None if self.taken["threshold"] is None else self.rates


def thresholds(
    cases: Cases[pl.DataFrame],
    question: Question,
    model: pl.Series,
) -> Thresholds:
    """The thresholds of a model; those of least cost at the ends and in the middle of the range."""
    one = model.alias(question.model).to_frame()
    cases = of_keys(cases, one)
    priors = tuple(shown_priors(question.over))
    needs = tuple(question.needs.at(priors))
    if question.tuning is not None:
        tuning = of_keys(question.tuning, one)
        return _tuned(cases, tuning, question, needs, priors)
    folds = read_folds(cases)
    count = int(folds.fold.max(initial=0)) + 1
    held_out = (rates_across_folds if count > 1 else rates_within_folds)(folds, needs)
    columns = {"threshold": folds.thresholds(needs), **_summary(held_out)}
    cautions: list[str] = []
    if count > 1:
        cautions = doubts_of_folds(folds, has_case=cases.case is not None)
        columns |= _limits_over_folds(held_out, question)
    schema = dict.fromkeys((*columns, *LIMITS), pl.Float64)
    missing = {name: [None] * len(needs) for name in LIMITS if name not in columns}
    points = pl.DataFrame(columns | missing, schema=schema, nan_to_null=True)
    if count == 1:
        # Both kinds of limits are those of independent cases.
        level = None if cases.in_clusters else question.level
        points = _of_one_test_set(points, folds, needs, level)
    return Thresholds(
        points, needs, priors, count, *_totals(folds, cases), tuple(cautions),
        texts=_texts(points["threshold"], folds.score), spreads=_spreads(points, folds.score),
    )  # fmt: skip


def _tuned(
    judging: Cases[pl.DataFrame],
    tuning: Cases[pl.DataFrame],
    question: Question,
    needs: tuple[Need, ...],
    priors: tuple[float, ...],
) -> Thresholds:
    """Thresholds with a promise, from cases of their own, with their rates on the others."""
    curves = curve(tuning)
    if curves.is_empty():
        model = judging.rows[question.model][0]
        raise InvalidTable(
            f"tuning has no cases of {model!r}.",
            hint="give predictions of the same models as tuning.",
        )
    points = []
    for need in needs:
        chosen = operating_points(
            # A promise needs the clusters.
            tuning if tuning.cluster is not None else curves,
            **_asked(need, question.confidence),
        )  # fmt: skip
        judged = apply_thresholds(
            judging, chosen, same_table=True, intervals=True, level=question.level,
        )  # fmt: skip
        said = chosen["promise"][0] if "promise" in chosen.columns else None
        points.append((judged.row(0, named=True), said, chosen["note"][0]))
    names = ("threshold", "tpr", "fpr", *LIMITS)
    empty = dict.fromkeys(("lowest", "highest"))
    table = pl.DataFrame(
        [{name: row[name] for name in names} | empty for row, _, _ in points],
        schema=dict.fromkeys((*names, *empty), pl.Float64),
    )
    first = points[0][0]
    return Thresholds(
        table, needs, priors, 1, first["positives"], first["negatives"],
        tuned_on=curves.select("positives", "negatives").row(0),
        promises=tuple(said for _, said, _ in points),
        lacking=tuple(why if row["threshold"] is None else None for row, _, why in points),
        texts=_texts(
            table["threshold"], *(one.rows["score"].to_numpy() for one in (judging, tuning))
        ),
    )  # fmt: skip


def _asked(need: Need, confidence: float) -> dict[str, Any]:
    """The arguments of `operating_points` that say what is needed; costs have no promise."""
    is_cost, ends = need.kind == "cost", need.priors
    asked: dict[str, Any] = {
        "rule": need.kind, "target": None if is_cost else need.value,
        "confidence": None if is_cost else confidence,
        "cost_fn": need.cost_fn, "cost_fp": need.cost_fp,
    }  # fmt: skip
    low, high = ends[0], ends[-1]
    if low == high or need.kind == "recall":
        return asked | {"priors": ends[:1]}
    if not is_cost:
        return asked | {"over": (low, high)}
    # Costs are linear in the prior: they are those of two priors with this mean.
    share = (need.priors[0] - low) / (high - low)
    return asked | {"over": discrete([low, high], [1 - share, share])}


def _texts(thresholds: pl.Series, *scores: "Array") -> tuple[str, ...]:
    """Each threshold as it is written, beside the highest scores below it."""
    texts = []
    for threshold in thresholds:
        if threshold is None:
            texts.append(NONE)
            continue
        below = [float(own[own < threshold].max()) for own in scores if (own < threshold).any()]
        texts.append(threshold_text(threshold, max(below, default=-inf)))
    return tuple(texts)


def _spreads(points: pl.DataFrame, scores: "Array") -> tuple[str | None, ...]:
    ends = (_texts(points[name], scores) for name in ("lowest", "highest"))
    return tuple(None if NONE in pair else " to ".join(pair) for pair in zip(*ends, strict=True))


LIMITS = ("tpr_lower", "tpr_upper", "fpr_lower", "fpr_upper")


def shown_priors(over: tuple[float, float] | Belief | None) -> list[float]:
    """A low, a middle and a high prior: the ends and the mean of a range, or of a belief.

    Examples
    --------
    >>> [round(prior, 6) for prior in shown_priors((0.05, 0.2))]
    [0.05, 0.125, 0.2]
    >>> from polaroc.priors.beliefs import beta
    >>> [round(prior, 2) for prior in shown_priors(beta(2, 18))]
    [0.02, 0.1, 0.22]
    """
    belief = resolve_belief(over)
    mean = sum(p * w for p, w in zip(belief.priors, belief.weights, strict=True))
    if isinstance(over, Belief):
        ends = over.ends or (0.0, 1.0)
        low = ends[0] if ends[0] > 0 else _quantile(belief, TAIL)
        high = ends[1] if ends[1] < 1 else _quantile(belief, 1 - TAIL)
        # The mean stays between them, also of a belief with a long tail.
        low = low if low < mean else min(belief.priors)
        high = high if high > mean else max(belief.priors)
    else:
        assert over is not None
        low, high = over
    return sorted({low, mean, high})


def _quantile(belief: Belief, share: float) -> float:
    """The least prior with at least such a share of the belief up to it."""
    total = 0.0
    nodes = sorted(zip(belief.priors, belief.weights, strict=True))
    for prior, weight in nodes:
        total += weight
        if total >= share - 1e-12:
            return prior
    return nodes[-1][0]


def _totals(folds: Folds, cases: Cases[Any]) -> tuple[int, int]:
    """The positives and negatives: a row counts as often as its `count` says, else once."""
    size = np.ones(len(folds.truth)) if cases.weight is not None else folds.weight
    return round(size[folds.truth].sum()), round(size[~folds.truth].sum())


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
            if need.fixes_count:
                if name == "tpr":
                    # The threshold is the score of a positive: the mean of the beta distribution.
                    row[name] = k / (total + 1)
                lower, upper = binomial_band(k, total, 1 - level)
            else:
                lower, upper = binomial_band(k, total, PICKED * (1 - level))
            row[f"{name}_lower"] = min(float(lower), row[name])
            row[f"{name}_upper"] = max(float(upper), row[name])
        rows.append(row)
    return pl.DataFrame(rows, schema=points.schema)


def _limits_over_folds(held_out: HeldOutRates, question: Question) -> dict[str, list[float | None]]:
    """Limits of the mean rates over folds, by the correction for training sets that overlap."""
    if question.test_train_ratio is None:
        return {}
    limits: dict[str, list[float | None]] = {}
    for name, rates in (("tpr", held_out.tpr), ("fpr", held_out.fpr)):
        known = [values[~np.isnan(values), None] for values in rates]
        if min(map(len, known)) < 2:
            return {}
        evidence = [evidence_from_folds(values, question.test_train_ratio) for values in known]
        lower, upper = np.array([one.limits(question.level) for one in evidence])[..., 0, 0].T
        limits[f"{name}_lower"] = np.maximum(lower, 0).tolist()
        limits[f"{name}_upper"] = np.minimum(upper, 1).tolist()
    return limits


def _summary(held_out: HeldOutRates) -> dict[str, list[float | None]]:
    """Means over the folds, and the ends of their thresholds."""
    columns: dict[str, list[float | None]] = {}
    with warnings.catch_warnings():
        # A class that is in no fold has no rate.
        warnings.simplefilter("ignore", RuntimeWarning)
        for name, values in (("tpr", held_out.tpr), ("fpr", held_out.fpr)):
            columns[name] = np.nanmean(values, axis=1).tolist()
    set_to = [[value for value in some if value is not None] for some in held_out.thresholds]
    columns["lowest"] = [min(some, default=None) for some in set_to]
    columns["highest"] = [max(some, default=None) for some in set_to]
    return columns
