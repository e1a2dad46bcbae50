"""What thresholds cost and save, where each case may have its own cost, and how sure that is."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import PRIOR_LIMITS, as_lazy, refuse_clash
from polaroc.base.joins import as_key
from polaroc.base.lazy import np
from polaroc.predictions.cases import Cases
from polaroc.predictions.costs import constant_costs
from polaroc.predictions.deferred import deferred
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Belief
from polaroc.priors.in_use import is_estimate
from polaroc.thresholds.amounts import check_worth
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.fixed import Numbers, are_numbers
from polaroc.thresholds.interval_columns import NO_PRIOR_LIMITS
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.typing import Array, Cost, Priors, Table
from polaroc.uncertainty.evidence import FITTED, Evidence, quantile
from polaroc.uncertainty.parts import gap_limits
from polaroc.uncertainty.scored_cases import ScoredCases, scored_by_key
from polaroc.uncertainty.test_sets import ALL_ALIKE, costs_of_calls, of_influences, of_means

# What is said of a threshold, and what each is the sum, or the difference, of.
MEASURES = (EXPECTED_COST, "saving_over_none", "saving_over_all")
SUMS = (("missed", "false", 1), ("found", "false", -1), ("quiet", "missed", -1))
# What each is a part of, by its place in the sums over cases: all that a class holds.
WHOLES = {"missed": -2, "found": -2, "false": -1, "quiet": -1}
WORDS = {
    "missed": "what is missed", "found": "what is found", "false": "what false alarms cost",
    "quiet": "what it saves not to act",
}  # fmt: skip
COLUMNS = {
    "measure": pl.String(), "prior": pl.Float64(), "rule": pl.String(), "threshold": pl.Float64(),
    "estimate": pl.Float64(), "lower": pl.Float64(), "upper": pl.Float64(), "level": pl.Float64(),
    "std_error": pl.Float64(),
}  # fmt: skip
# Cases that add to a sum below which nothing tells how it varies.
FEWEST = 5
# The spread of logarithms of costs above which limits hold too rarely (`just amounts`).
WIDEST = 1.75
NO_INTERVAL_ENDING = ": no interval"
TOO_WIDE = "costs spread too widely (their logarithms by {:.2g}, above {})" + NO_INTERVAL_ENDING
# As few amounts as are said to decide, and as small a part of all.
FEW, FEW_OF = 10, 4
WITHOUT = dict.fromkeys(("lower", "upper", "std_error"), float("nan"))


class Saving(NamedTuple):
    """A number with its limits and standard error, NaN where there are none, and what to say."""

    estimate: float
    lower: float
    upper: float
    std_error: float
    note: str | None = None

    def times(self, factor: float) -> "Saving":
        """The same times a factor, which may be negative."""
        lower, upper = sorted((self.lower * factor, self.upper * factor))
        return Saving(self.estimate * factor, lower, upper, self.std_error * abs(factor))

    def plus(self, other: "Saving", related: float = 0.0) -> "Saving":
        """The sum of two whose errors are `related`: one less the negative of the other."""
        turned = other.times(-1)
        lower, upper = gap_limits(np.array(self[:3]), np.array(turned[:3]), np.array(-related))
        squares = self.std_error**2 + other.std_error**2
        square = squares + 2 * related * self.std_error * other.std_error
        error = float(np.sqrt(max(square, 0.0)))
        return Saving(self.estimate + other.estimate, float(lower), float(upper), error)


@frame_of_cases([*COUNTED_BY, "cluster"], no_bearing=[role for role in BESIDE if role != "cluster"])
def savings(
    cases: Cases[Any],
    points: Table | Numbers,
    *,
    cost_fn: Cost = 1,
    cost_fp: Cost = 1,
    priors: Priors | Belief | None = None,
    same_table: bool = False,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame | pl.DataFrame:
    """What thresholds, chosen on another table, cost on these cases, and what acting on them saves.

    Parameters
    ----------
    cases
        Predictions on cases that the thresholds were not chosen on: the result of `cases`, or
        any table that it takes.
    **columns
    points
        As in `apply_thresholds`: the result of `operating_points` on a tuning table; or of
        thresholds in use one number, or a mapping from model to number.
    cost_fn, cost_fp
        What a missed positive and a false alarm cost: a number > 0, or the column that has what
        each case costs, such as its amount, or an expression, ≥ 0: of positives for the one
        and of negatives for the other.
    priors
        As in `apply_thresholds`: the prior in use, in place of that the thresholds were chosen for.
    level
        Coverage of the limits, in (0, 1); an estimated prior must have an interval of the same.

    Returns
    -------
    Frame of the kind of the cases
        Three rows per key, point and prior, sorted as in `apply_thresholds`: the keys; `measure`,
        String: "expected_cost", π·(mean cost of positives that are missed) + (1−π)·(mean cost of
        negatives that raise an alarm), per case, "saving_over_none", how much less that is than
        acting on no case, and "saving_over_all", than acting on all; `prior`; `rule`, `threshold`;
        `estimate`, `lower`, `upper`, `level`, `std_error` Float64, in the unit of the costs;
        `positives`, `negatives`; `note`, null, or how few amounts make half of a sum, or why
        there are no limits.

    Raises
    ------
    InvalidTable
        As in `apply_thresholds`.
    InvalidPredictions, InvalidArgument
        As in `curve`; for costs that are negative, missing, infinite or not numbers.

    Notes
    -----
    Classes are weighted to the prior; amounts within a class stay as they are. Limits come from
    the influence of each case, summed by `cluster`, and a `weight` counts as what it is. Those of
    what each class adds are symmetric in its logarithm, and Student's, with as many degrees of
    freedom as the amounts tell (Satterthwaite 1946): few where a few amounts decide. No upper
    limit is above that of all that the class holds. Those of the two together follow from them
    (Zou and Donner 2008). There are none where
    fewer than five cases add to a sum, nor where the logarithms of the costs of a class have a
    standard deviation that may be above 1.75: there they held too rarely. Elsewhere they held in
    0.92 to 1.00 of samples (``just amounts``), but where amounts have no finite variance, which no
    sample shows: there in 0.85 to 1.00. At an estimated
    prior, or a belief, they are the widest of those over its interval. Where both costs are
    numbers, limits are those of `apply_thresholds`.

    Examples
    --------
    >>> import polaroc as pr
    >>> rows = pr.datasets.twenty_scores().with_columns(amount=pl.int_range(1, 21) * 10)
    >>> saved = pr.savings(
    ...     rows, 0.5, truth="truth", score="score", cost_fn="amount", cost_fp=20, priors=0.1
    ... )
    >>> saved.select("measure", pl.col("estimate").round(2)).rows()
    [('expected_cost', 13.2), ('saving_over_none', -4.5), ('saving_over_all', 4.8)]
    """
    check_share("level", level)
    costs = constant_costs(cases, cost_fn, cost_fp)
    predictions = read(cases)
    refuse_clash(predictions.keys, COLUMNS)
    made = partial(_savings, cases, points, costs, priors, level, same_table=same_table)
    if isinstance(cases.table, pl.DataFrame):
        return made()
    schema = predictions.rows.collect_schema()
    counts = pl.Float64() if predictions.weighted else pl.Int64()
    of_classes = {"positives": counts, "negatives": counts, "note": pl.String()}
    return deferred(made, {key: schema[key] for key in predictions.keys} | COLUMNS | of_classes)


def _savings(
    cases: Cases[Any],
    points: Table | Numbers,
    costs: tuple[float, float],
    priors: Priors | Belief | None,
    level: float,
    *,
    same_table: bool,
) -> pl.DataFrame:
    held = cases.collect()
    is_uncertain = isinstance(priors, Belief) or is_estimate(priors)
    if priors is None and not are_numbers(points):
        is_uncertain = PRIOR_LIMITS[0] in as_lazy(points).collect_schema()
    more: dict[str, Any] = {"level": level} if is_uncertain else {}
    if held.costs is None:
        more = {"level": level, "intervals": "exact", "cost_fn": costs[0], "cost_fp": costs[1]}
    applied = apply_thresholds(held, points, priors=priors, same_table=same_table, **more)
    keys = applied.columns[: applied.columns.index("rule")]
    scored = scored_by_key(held, keys)
    check_costs([*scored.values()])
    rows = []
    for one in applied.iter_rows(named=True):
        key = as_key(one[name] for name in keys)
        prior: Any = one["prior"]
        ends = [one[name] for name in ("prior", *PRIOR_LIMITS) if one.get(name) is not None]
        found: Sequence[Saving | None] = [None] * len(MEASURES)
        if not (prior is None or one["tpr"] is None or one["fpr"] is None):
            found = saved(scored[key], one["threshold"], ends, costs, level, share=one["share"])
            if is_uncertain and len(ends) <= len(PRIOR_LIMITS):
                found = [own._replace(**WITHOUT, note=NO_PRIOR_LIMITS) for own in found]
            elif held.costs is None:
                trivial = () if is_uncertain else (prior * costs[0], (1 - prior) * costs[1])
                found = _exact(found, one["cost_lower"], one["cost_upper"], trivial)
        for measure, own in zip(MEASURES, found, strict=True):
            said = _notes(one["note"], own)
            rows.append(
                (*key, measure, prior, one["rule"], one["threshold"],
                 *([None] * 3 if own is None else own[:3]), level,
                 None if own is None else own.std_error, one["positives"], one["negatives"],
                 said)
            )  # fmt: skip
    classes = {name: applied.schema[name] for name in ("positives", "negatives")}
    schema = {name: applied.schema[name] for name in keys} | COLUMNS | classes
    table = pl.DataFrame(rows, schema=schema | {"note": pl.String()}, orient="row")
    table = table.with_columns(pl.col("estimate", "lower", "upper", "std_error").fill_nan(None))
    if held.costs is None:
        # Applied thresholds have said it.
        return table
    return with_note(table.lazy(), dependence(held), pl.col("lower").is_not_null()).collect()


def _notes(applied: str | None, own: Saving | None) -> str | None:
    """What is said of applied thresholds and of a number, once."""
    more = [] if own is None or own.note is None or own.note in (applied or "") else [own.note]
    return "; ".join([*([applied] if applied else []), *more]) or None


def _exact(
    found: Sequence[Saving], low: float | None, high: float | None, trivial: Sequence[float]
) -> list[Saving]:
    """Savings where both costs are numbers, with exact limits of the cost.

    What acting on none, or on all, costs is known, but where the prior is not: `trivial` is empty.
    """
    cost, *others = found
    limits = [np.nan if end is None else end for end in (low, high)]
    cost = cost._replace(lower=limits[0], upper=limits[1], note=None)
    # Why the cost has no limits, applied thresholds say.
    others = [
        own if np.isnan(own.lower) and low is not None else own._replace(note=None)
        for own in others
    ]
    known = [Saving(one, one, one, 0.0).plus(cost.times(-1)) for one in trivial]
    return [cost, *(known or others)]


def saved(
    cases: ScoredCases,
    threshold: float | None,
    priors: Sequence[float],
    costs: tuple[float, float],
    level: float,
    *,
    share: float = 1.0,
) -> list[Saving]:
    """`MEASURES` of one model at the first prior, with the widest limits of those at all priors.

    Of cases that score just the threshold this share is called positive. The costs, of a missed
    positive and of a false alarm, are 1 where cases have their own.
    """
    ((_, truth, weight),) = cases.by_model
    missed, false = costs_of_calls(cases, 0, threshold, share)
    all_missed, all_false = costs_of_calls(cases, 0, None)[0], costs_of_calls(cases, 0, -np.inf)[1]
    own = {
        "missed": missed, "found": all_missed - missed,
        "false": false, "quiet": all_false - false,
    }  # fmt: skip
    nothing = np.zeros(missed.size), np.zeros(false.size)
    of_pos = [missed, own["found"], *[nothing[0]] * 2, missed, own["found"], -missed]
    of_neg = [*[nothing[1]] * 2, false, own["quiet"], false, -false, own["quiet"]]
    # All that each class holds is last.
    of_pos, of_neg = [*of_pos, all_missed, nothing[0]], [*of_neg, nothing[1], all_false]
    moved = of_means(of_pos, of_neg, truth, weight)
    evidence = of_influences(cases, [moved], FITTED, ALL_ALIKE)
    parts = _parts(evidence, moved.estimates, level)
    why = too_wide(cases)
    if evidence.moved is None:
        why = evidence.why_no_limits
    widest: list[Saving] = []
    for place, (first, second, sign) in enumerate(SUMS, len(own)):
        among = [one for one in (first, second) if one != "false" or threshold is not None]
        note, unknown = _remarks(own, among, why)
        # The two belong to different classes, which clusters may share.
        a, b = parts[first], parts[second]
        product = 2 * a.std_error * b.std_error
        apart = evidence.covariance[place, 0, 0] - a.std_error**2 - b.std_error**2
        related = float(apart / product) if product > 0 else 0.0
        at_priors = []
        for prior in priors:
            of = {"missed": costs[0] * prior, "false": costs[1] * (1 - prior)}
            of |= {"found": of["missed"], "quiet": of["false"]}
            at_priors.append(a.times(of[first]).plus(b.times(sign * of[second]), related))
        ends = {"lower": min(one.lower for one in at_priors),
                "upper": max(one.upper for one in at_priors)}  # fmt: skip
        widest.append(at_priors[0]._replace(**(WITHOUT if unknown else ends), note=note))
    return widest


def _parts(evidence: Evidence, estimates: Array, level: float) -> dict[str, Saving]:
    """The means by their names: of none the upper limit is above that of all its class holds."""
    parts = {}
    for place, (name, whole) in enumerate(WHOLES.items()):
        own, most = (_part(evidence, at, float(estimates[at]), level) for at in (place, whole))
        parts[name] = own._replace(upper=max(own.estimate, min(own.upper, most.upper)))
    return parts


def _part(evidence: Evidence, place: int, value: float, level: float) -> Saving:
    """A mean of one class, with limits that are symmetric in its logarithm."""
    if evidence.moved is None or not value > 0:
        return Saving(value, value, value, 0.0)
    error = float(np.sqrt(evidence.covariance[place, 0, 0]))
    units = [part[place, 0] for part in evidence.moved.parts]
    freedom = min(evidence.freedom, evidence.moved.freedom(units))
    far = float(np.exp(quantile(level, freedom) * error / value))
    return Saving(value, value / far, value * far, error)


def _remarks(
    own: "Mapping[str, Array]", among: Sequence[str], why: str | None
) -> tuple[str | None, bool]:
    """How few amounts decide, and why there are no limits; whether there are none."""
    lacking = [WORDS[one] for one in among if np.count_nonzero(own[one]) < FEWEST]
    if lacking and why is None:
        why = f"fewer than {FEWEST} cases add to {lacking[0]}{NO_INTERVAL_ENDING}"
    said = [*(few_amounts(own[one], WORDS[one]) for one in among), why]
    return "; ".join(one for one in said if one) or None, why is not None


def check_costs(cases: Sequence[ScoredCases]) -> None:
    """Refuse costs of a class that are all zero."""
    known = [(own.costs[0], own.truths[0]) for own in cases if own.costs is not None]
    if known:
        cost, truth = map(np.concatenate, zip(*known, strict=True))
        check_worth(cost[truth].sum(), cost[~truth].sum(), truth.sum(), (~truth).sum())


def too_wide(cases: ScoredCases) -> str | None:
    """Why costs of cases that spread too widely have no limits.

    Their spread, in the class where it is wider, is taken for as large as it may well be.
    """
    if cases.costs is None:
        return None
    costs, truth = cases.costs[0], cases.truths[0]
    known = (np.log(costs[among & (costs > 0)]) for among in (truth, ~truth))
    spread = max(one.std() * (1 + (2 * one.size) ** -0.5) if one.size else 0.0 for one in known)
    return TOO_WIDE.format(spread, WIDEST) if spread > WIDEST else None


def few_amounts(amounts: Array, what: str) -> str | None:
    """How many amounts make half of their sum, where they are few.

    Examples
    --------
    >>> import numpy as np
    >>> few_amounts(np.array([900.0, *[10.0] * 40]), "what is missed")
    'the largest of 41 amounts is half of what is missed'
    >>> few_amounts(np.ones(41), "what is missed")
    """
    some = np.sort(amounts[amounts > 0])[::-1]
    if not some.size:
        return None
    number = int(np.searchsorted(np.cumsum(some), some.sum() / 2)) + 1
    if number > FEW or number * FEW_OF > some.size:
        return None
    who = "largest of" if number == 1 else f"{number} largest of"
    verb = "is" if number == 1 else "are"
    return f"the {who} {some.size:,} amounts {verb} half of {what}"
