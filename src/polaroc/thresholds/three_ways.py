"""Three ways out: act on a case, review it, or leave it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import (
    check_factors,
    check_share,
    is_number,
    refuse_unused,
    share_hint,
    shortened,
    unless,
)
from polaroc.base.columns import OVER, PRIOR_LIMITS, PROMISE, curve_keys, refuse_clash, with_level
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.curves.curve import curves_of
from polaroc.curves.surface import at_priors
from polaroc.curves.whole import OF_CURVES
from polaroc.errors import Hint, InvalidArgument
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Belief, belief_of_estimate, over_label
from polaroc.priors.in_use import NO_INTERVAL, is_estimate, level_of, multiplied, within_unit
from polaroc.thresholds.alerts import FREE, Capacity, a_day, capacity_of, idle_note
from polaroc.thresholds.constraints import Constraints, checked_limits, ends_of, promise
from polaroc.thresholds.design_effects import EFFECTS, FEW_CLUSTERS, with_effects
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.promises import (
    PARTS,
    Sample,
    cases_needed,
    models_among,
    promising_cases,
    sample_of,
)
from polaroc.thresholds.review_bands import (
    ChosenPlaces,
    Rates,
    ReviewCosts,
    best_band,
    last_reviewed,
    may_act_from,
)
from polaroc.thresholds.rules import lack_of_curve, priors_of
from polaroc.thresholds.ways import (
    CARRIED,
    COSTS,
    PLACES,
    REVIEWS,
    SHOWN,
    WAY_RATES,
    WAYS,
    with_shares,
)
from polaroc.typing import Priors

# What is needed of each point of a curve.
POINT = ("threshold", "tp", "fp")


@described_as(operating_points, OF_CURVES)
@frame_of_cases(
    [*COUNTED_BY, "cluster"],
    no_bearing=[role for role in BESIDE if role not in ("cluster",)],
    or_table=True,
)
def three_ways(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    *,
    priors: Priors | None = None,
    over: tuple[float, float] | Belief | pl.DataFrame | pl.LazyFrame | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    cost_review: float | None = None,
    review_error: float = 0,
    reviews: float | None = None,
    volume: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """Two thresholds of each curve: act from the higher one on, review from the lower one on.

    Cases that score at least `act_from` are acted on, those below `review_from` are left, and
    those between are reviewed by someone who finds the truth. With costs the two are those of
    least expected cost; without, as many positives are acted on as the `constraints` allow, and as
    many cases below are reviewed as can be. Choose them on a tuning table and judge them on
    other cases with `apply_thresholds`.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`; or predictions, of which it is made: the result of `cases`,
        or any table that it takes. From these alone a promise knows the `cluster`.
    **columns
    over
        A range (lo, hi) of priors, for one pair of thresholds with the least expected cost over
        it. Or a belief, or one row of `estimate_prior`, whose interval is the range. Constraints
        and reviews are kept at every prior of it.
    cost_fn, cost_fp
        Costs > 0 of a positive that is left, and of acting on a negative.
    cost_review
        The cost > 0 of a review, in the same unit; without it `reviews` and `constraints` set both
        thresholds.
    review_error
        The share of reviews, from 0 to below 0.5, that come out wrong, for positives and negatives
        alike.
    reviews, volume
        Reviews that can be done a day, and cases that there are a day, both > 0: at most this
        share of cases is reviewed, on an average day.
    constraints
        Limits, in (0, 1), on what is acted on, as in `operating_points`: ``{"precision": 0.95}``.
        Where no threshold keeps them, nothing is acted on, if that breaks none.
    confidence
        In (0, 1): with this probability, over the draw of the tuning table, the *true* rates at
        both thresholds keep the `constraints`, and the true share of reviews is kept, at the
        prior, or at every prior of `over` or of the interval of an estimate.

    Returns
    -------
    Frame of the kind given
        One row per key and prior, sorted by key: the keys; `prior`; the thresholds `act_from` and
        `review_from`, null where no case is acted on, or none is acted on or reviewed; shares of
        all cases: `acted`, `reviewed`, `left`; `precision` of what is acted on; shares of
        positives: `found`, acted on or found by a review, and `missed`; `cost`, the expected cost
        per case, `single`, the best threshold without reviews that keeps the constraints, its
        `cost_single`, and `worth`, what reviewing saves; all Float64, the costs null without
        `cost_review`; `answer` String, the same in words; `positives`, `negatives`; `note`, null,
        or why nothing is acted on, or nothing reviewed, or that a promise leaves more than half of
        the reviews unused. With `over` also `over`, String, and
        `prior` is its mean; with `confidence` also `promise`, String. At estimated priors also
        `prior_lower`, `prior_upper` and `level`. Last, for `apply_thresholds`: recall and false
        positive rate from each threshold on, `act_tpr`, `act_fpr`, `review_tpr`, `review_fpr`,
        `single_tpr` and `single_fpr`; the costs; and `review_error`.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        For a cost, capacity, constraint or prior outside what is allowed, or where nothing says
        what to review; where the columns or rows of a curve are missing; with `confidence`, for a
        `weight`, or for a curve of weights.

    Notes
    -----
    The expected cost per case is cost_fn·π(1−T) + cost_fp·(1−π)f + cost_review·(π(T−t) +
    (1−π)(F−f)), with t and f the rates of acting, T and F those of acting or reviewing; a review
    that goes wrong costs what the error costs besides. It is exact at any prior, as only the prior
    shifts. A review pays on some case only where it costs less than
    (1 − 2·review_error)·cost_fn·cost_fp/(cost_fn + cost_fp), whatever the prior and the scores: a
    dearer one is not used, and `note` says so.

    A promise is one for all pairs of thresholds at once, and takes for granted what that of
    `operating_points` does. Two statements, on what is acted on and on reviews, have half of the
    error rate each (``just reviews``). For several models of predictions all promises hold at
    once, as in `operating_points`.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> ways = curves.pipe(pr.three_ways, cost_fn=10, cost_fp=5, cost_review=1)
    >>> ways.select(pl.col("act_from", "review_from", "acted", "reviewed", "left").round(2)).row(0)
    (0.8, 0.3, 0.1, 0.85, 0.05)
    """
    if isinstance(over, pl.DataFrame | pl.LazyFrame):
        over = belief_of_estimate(over)
    limits, capacity = checked_limits(constraints), capacity_of(reviews, volume, "reviews")
    has_ends = over is not None and (limits or capacity is not None)
    asked = _Asked(
        _costs(cost_fn, cost_fp, cost_review, review_error),
        capacity,
        Constraints(limits, ends_of(over) if has_ends else None),
        confidence,
    )
    asked.check()
    cases = promising_cases(curve, confidence)
    at = priors_of(priors, over)
    curves = curves_of(curve)
    if is_estimate(at):
        curves = multiplied(curves, at)
    keys = curve_keys(curves)
    own = ["prior", *(PRIOR_LIMITS if is_estimate(at) else ())]
    added = [OVER] * (over is not None) + [PROMISE] * (confidence is not None)
    refuse_clash(keys, [*WAYS, *REVIEWS])
    clustered = None if confidence is None else cases
    of_keys = curves.group_by(*keys, "positives", "negatives").agg(POINT)
    points = with_effects(at_priors(of_keys, at), clustered, keys)
    points = points.with_columns(models_among(clustered, keys).alias(PARTS))
    error = pl.lit(float(review_error)).alias(COSTS[-1])
    bands = _bands(points, [*keys, *own, "skew"], asked).with_columns(error)
    if over is not None:
        bands = bands.with_columns(pl.lit(over_label(over)).alias(OVER))
    if asked.capacity is not None:
        added += REVIEWS
        t, f = (pl.col(f"review_{rate}") - pl.col(f"act_{rate}") for rate in ("tpr", "fpr"))
        volume, ends = asked.capacity.volume, asked.constraints.ends
        idle = idle_note("reviews", asked.capacity.alerts, pl.col(REVIEWS[1]), pl.col("review_tpr"))
        bands = bands.with_columns(a_day(REVIEWS, t, f, own, volume, ends)).with_columns(idle)
    result = (
        with_shares(bands.with_columns(pl.coalesce(lack_of_curve(), "note").alias("note")))
        .select(*keys, *own, *SHOWN, *added, *CARRIED)
        .sort(*keys, "prior", nulls_last=True)
    )
    if cases is not None and confidence is not None:
        result = with_note(result, dependence(cases), pl.col("act_tpr").is_not_null())
    return with_level(result, level_of(at)) if is_estimate(at) else result


def _costs(
    cost_fn: float, cost_fp: float, cost_review: float | None, error: object
) -> ReviewCosts | None:
    """The costs, None without that of a review."""
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    if not is_number(error) or isinstance(error, bool) or not 0 <= error < 0.5:
        raise InvalidArgument(
            f"review_error is {shortened(error)}, allowed is 0 ≤ review_error < 0.5: a coin is "
            "wrong in half of cases.",
            hint=share_hint("review_error", error, 0.02),
        )
    if cost_review is None:
        hint = Hint("give {cost_review}.", cost_review=1)
        refuse_unused(
            "for expected costs, beside that of a review", "cost_review is not given", hint=hint,
            cost_fn=unless(1, cost_fn), cost_fp=unless(1, cost_fp),
        )  # fmt: skip
        return None
    check_factors(cost_review=cost_review)
    return ReviewCosts(float(cost_fn), float(cost_fp), float(cost_review), float(error))


@dataclass(frozen=True)
class _Asked:
    """What is asked of both thresholds."""

    costs: ReviewCosts | None
    capacity: Capacity | None
    constraints: Constraints
    confidence: float | None
    parts: int = 1  # among how many models the error rate is shared

    def check(self) -> None:
        """Refuse what does not say which cases to review, and a confidence in nothing."""
        if self.costs is None and self.capacity is None:
            raise InvalidArgument(
                "neither cost_review nor reviews is given, and one says what to review.",
                hint=Hint(
                    "give {reviews} and {volume}, or {cost_review}, with {cost_fn}, {cost_fp}.",
                    reviews=200,
                    volume=200_000,
                    cost_review=1,
                    cost_fn=20,
                    cost_fp=5,
                ),
            )
        if self.costs is None and not self.constraints.limits:
            raise InvalidArgument(
                "neither cost_review nor constraints are given, and one says what to act on.",
                hint=Hint.example("constraints", {"precision": 0.95}),
            )
        if self.confidence is None:
            return
        check_share("confidence", self.confidence)
        if self.capacity is None and not self.constraints.limits:
            raise InvalidArgument(
                "confidence is given, but neither constraints nor reviews, which can be promised.",
                hint=Hint.example("constraints", {"precision": 0.95}),
            )

    @property
    def delta(self) -> float | None:
        """The error rate of each of the statements that are promised."""
        if self.confidence is None:
            return None
        both = self.capacity is not None and self.constraints.limits
        return (1 - self.confidence) / (2 if both else 1) / self.parts

    def band(self, at: Sample, skew: float) -> tuple[ChosenPlaces | None, str | None]:
        """The thresholds on a curve, and why nothing is acted on or reviewed."""
        may_act = may_act_from(at, self.constraints, skew, self.delta)
        share = None if self.capacity is None else self.capacity.share
        last = last_reviewed(at, self.constraints, skew, share, self.delta)
        rates = Rates(at.tp / at.positives, at.fp / at.negatives)
        band = best_band(rates, may_act, last, self.costs, skew)
        notes = []
        if not may_act[1:].any():
            notes.append(self._why_none_acted(at, skew))
        if band is not None and band.act == band.review:
            notes.append(
                "no case is reviewed: " + self._why_none_reviewed(last[band.act] > band.act)
            )
        return band, "; ".join(notes) or None

    def _why_none_acted(self, at: Sample, skew: float) -> str:
        why = "no threshold keeps the constraints"
        if self.delta is not None:
            why = cases_needed(at, self.constraints, skew, self.delta)
        return f"nothing is acted on: {why}"

    def _why_none_reviewed(self, some_fit: bool) -> str:
        if self.capacity is not None and not some_fit:
            sure = "" if self.confidence is None else "for all that can be promised "
            return (
                f"{sure}more than {self.capacity.alerts:,.15g} a day would be, down to the next "
                "score"
            )
        if self.costs is None:
            return "no positive is within reach"
        price, most = self.costs.review, self.costs.break_even
        if price >= most:
            return (
                f"a review costs {price:.4g} and pays only below {most:.4g}, whatever the prior "
                f"and the scores, because a miss costs {self.costs.miss:.4g} and a false alarm "
                f"{self.costs.alarm:.4g}"
            )
        return "at each score of this table it costs less to act or to leave"

    def promise(self, prior: float, acts: bool) -> str | None:
        """What a pair promises, None where it acts on nothing and that is all."""
        limits = self.constraints.limits if acts else {}
        reviews = None
        if self.capacity is not None:
            reviews = (
                f"at most {self.capacity.alerts:,.15g} of {self.capacity.volume:,.15g} cases are "
                "reviewed"
            )
        if self.confidence is None or not (limits or reviews):
            return None
        ends = self.constraints.ends
        return promise(limits, self.confidence, prior if ends is None else ends, reviews=reviews)


def _bands(points: pl.LazyFrame, groups: Sequence[str], asked: _Asked) -> pl.LazyFrame:
    """The thresholds of each curve at each prior, with their rates, the costs and a note."""
    schema = points.collect_schema()
    costs = asked.costs
    of_costs = (None,) * 3 if costs is None else (costs.miss, costs.alarm, costs.review)
    kinds: dict[str, Any] = {
        **{name: schema[name] for name in (*groups, "positives", "negatives")},
        **dict.fromkeys((*PLACES, *WAY_RATES, FREE), pl.Float64), "note": pl.String,
        PROMISE: pl.String, **dict.fromkeys(COSTS[:-1], pl.Float64),
    }  # fmt: skip

    def banded(curves: pl.DataFrame) -> pl.DataFrame:
        rows = [
            (*(one[name] for name in (*groups, "positives", "negatives")),
             *_row(one, points, asked), *of_costs)
            for one, *points in zip(
                curves.drop(POINT).iter_rows(named=True), *curves.select(POINT), strict=True
            )
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=kinds, orient="row")

    return points.map_batches(
        banded, schema=kinds, predicate_pushdown=False, projection_pushdown=False
    )


def _row(one: Mapping[str, Any], points: Sequence[pl.Series], asked: _Asked) -> Sequence[Any]:
    """Thresholds, rates, what is found without a promise, note and promise of one curve."""
    nothing = [None] * (len(PLACES) + len(WAY_RATES))
    skew, effects = one["skew"], tuple(one[name] for name in EFFECTS)
    asked = replace(asked, parts=one[PARTS])
    if skew is None or not one["positives"] or not one["negatives"]:
        return [*nothing, None, None, None]
    if PRIOR_LIMITS[0] in one:
        interval = [one[name] for name in PRIOR_LIMITS]
        if None in interval:
            return [*nothing, None, NO_INTERVAL, None]
        asked = replace(asked, constraints=replace(asked.constraints, ends=within_unit(*interval)))
    if asked.confidence is not None and inf in effects:
        return [*nothing, None, f"no threshold can be promised: {FEW_CLUSTERS}", None]
    make = Sample if asked.confidence is None else sample_of
    tp, fp = (counts.to_numpy() for counts in points[1:])
    # Of points that come in order the stable sort takes no time.
    order = np.argsort(tp + fp, kind="stable")
    sample = make(tp[order], fp[order], one["positives"], one["negatives"], effects)
    band, note = asked.band(sample, skew)
    free = None
    if asked.confidence is not None:
        without, _ = replace(asked, confidence=None).band(sample, skew)
        free = without and sample.tp[without.review] / sample.positives
    if band is None:
        return [*nothing, free, note, None]
    rates = [(sample.tp[at] / sample.positives, sample.fp[at] / sample.negatives) for at in band]
    thresholds = [points[0][int(order[at])] for at in band]
    promised = asked.promise(one["prior"], acts=band.act > 0)
    return [*thresholds, *(rate for pair in rates for rate in pair), free, note, promised]
