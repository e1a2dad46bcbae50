"""The prior in use of applied thresholds, and the limits of what they do at it, as columns."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from polaroc.base.columns import PRIOR_LIMITS
from polaroc.base.private_columns import private
from polaroc.base.text import joined_notes
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES, at_priors
from polaroc.priors.beliefs import Belief
from polaroc.priors.in_use import (
    METHOD,
    BelievedPrior,
    EstimatedPrior,
    KnownPrior,
    PriorInUse,
    is_estimate,
    with_estimates,
)
from polaroc.thresholds.design_effects import EFFECTS, FEW_CLUSTERS
from polaroc.thresholds.named_rates import WITHOUT_PRIOR
from polaroc.thresholds.rate_intervals import QUANTITIES, Calls, Costs, class_limits, limits
from polaroc.typing import Priors

PriorsInUse: TypeAlias = Priors | Belief
UNKNOWN = "unknown"
IS_EM = pl.col(METHOD).eq_missing("em")
NO_LIMITS = pl.col("prior_lower").is_null() | pl.col("prior_upper").is_null()
# An estimate without an interval, as where more than the prior has shifted.
UNSURE = pl.col(METHOD).is_not_null() & NO_LIMITS & pl.col("prior").is_not_null()
TOO_FEW = pl.any_horizontal(pl.col(EFFECTS).is_infinite()).fill_null(False)
# Cases of each class that are called at least and at most, without and with those that are tied.
COUNTS = tuple(private(name) for name in ("tp_least", "tp_most", "fp_least", "fp_most"))
TOTALS = ("positives", "negatives")
NO_PRIOR_LIMITS = "the estimated prior has no interval: none at it"


def limit_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of the limits of quantities and rates."""
    return tuple(f"{name}_{end}" for name in names for end in ("lower", "upper"))


LIMIT_COLUMNS = limit_columns(QUANTITIES)
ADDED = ("posfrac", "cost", *LIMIT_COLUMNS)


def with_priors_in_use(
    points: pl.LazyFrame, priors: PriorsInUse | None, keys: Sequence[str], level: float
) -> pl.LazyFrame:
    """The points at the priors in use, with the limits and the method of those that have any.

    Estimates may have keys, among `keys`, that the points have not.
    """
    no_method = pl.lit(None, pl.String).alias(METHOD)
    no_limits = [pl.lit(None, pl.Float64).alias(name) for name in PRIOR_LIMITS]
    if priors is None:
        present = points.collect_schema().names()
        if not set(PRIOR_LIMITS) <= set(present):
            return points.with_columns(no_method, *no_limits)
        # Points at estimates, of which some may have no interval.
        return points.with_columns(pl.when(NO_LIMITS).then(pl.lit(UNKNOWN)).alias(METHOD))
    moved = points.drop("prior", *PRIOR_LIMITS, strict=False)
    if isinstance(priors, Belief):
        low, high = priors.distribution.quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
        values = {"prior": priors.mean, "prior_lower": float(low), "prior_upper": float(high)}
        return moved.with_columns(no_method, **{name: pl.lit(v) for name, v in values.items()})
    if is_estimate(priors):
        return with_estimates(moved, priors, keys)
    return at_priors(moved, priors).drop("skew").with_columns(no_method, *no_limits)


def with_interval_columns(
    applied: pl.LazyFrame,
    priors: PriorsInUse | None,
    level: float,
    costs: Costs,
    further: Sequence[str] = (),
) -> pl.LazyFrame:
    """Applied thresholds, with `EFFECTS`, with posfrac, cost, and limits of all quantities."""
    t, f, p = pl.col("tpr"), pl.col("fpr"), pl.col("prior")
    known = pl.when(t.is_not_null() & f.is_not_null())
    values = applied.with_columns(
        known.then(p * t + (1 - p) * f).alias("posfrac"),
        known.then(costs.fn * p * (1 - t) + costs.fp * (1 - p) * f).alias("cost"),
    )
    belief = priors if isinstance(priors, Belief) else None
    schema = values.collect_schema()
    added = dict.fromkeys((*LIMIT_COLUMNS, *limit_columns(further)), pl.Float64)
    note = (
        pl.when(TOO_FEW)
        .then(pl.lit(f"{FEW_CLUSTERS}: no interval of what depends on it"))
        .when(UNSURE)
        .then(pl.lit(NO_PRIOR_LIMITS))
    )
    return values.map_batches(
        lambda frame: _with_limits(frame, belief, level, costs, further),
        schema={**schema, **added},
    ).with_columns(joined_notes("note", note))


def _with_limits(
    frame: pl.DataFrame,
    belief: Belief | None,
    level: float,
    costs: Costs,
    further: Sequence[str],
) -> pl.DataFrame:
    """Limits of rates of one class from its cases; of all others where both classes are there."""
    names = (*QUANTITIES, *further)
    of_both = [name for name in names if name not in (*OF_POSITIVES, *OF_NEGATIVES)]
    found = _with_limits_of_both(frame, belief, level, costs, of_both)
    for name in names:
        if name not in of_both:
            found = found.with_columns(_limits_of_class(frame, name, level))
    return found.select(*frame.columns, *limit_columns(names))


def _limits_of_class(frame: pl.DataFrame, name: str, level: float) -> list[pl.Series]:
    """The limits of a rate of one class, which need no cases of the other, and no prior."""
    place = int(name in OF_NEGATIVES)
    rate, total, effect = (("tpr", "fpr")[place], TOTALS[place], pl.col(EFFECTS[place]))
    is_known = pl.col(rate).is_not_null() & effect.is_finite()
    # As many independent cases as say as much.
    columns = [
        pl.when(is_known).then(pl.col(one) / effect).fill_null(np.nan).alias(one)
        for one in (*COUNTS[2 * place :][:2], total)
    ]
    calls = Calls(*(column.to_numpy() for column in frame.select(columns).iter_columns()))
    ends = zip(limit_columns([name]), class_limits(name, calls, level), strict=True)
    return [pl.Series(column, end, nan_to_null=True) for column, end in ends]


def _with_limits_of_both(
    frame: pl.DataFrame,
    belief: Belief | None,
    level: float,
    costs: Costs,
    names: Sequence[str],
) -> pl.DataFrame:
    """Limits of distinct rows, which many keys and priors may share."""
    given = [*COUNTS, "positives", "negatives", *EFFECTS, "prior", *PRIOR_LIMITS, METHOD]
    valid = ~TOO_FEW & pl.all_horizontal(
        pl.col(*COUNTS, "prior").is_not_null(), pl.col("positives", "negatives") > 0
    )
    distinct = frame.filter(valid).select(given).unique(maintain_order=True)
    kinds = [NO_LIMITS, ~NO_LIMITS & IS_EM, ~NO_LIMITS & ~IS_EM]
    parts = [part for kind in kinds if (part := distinct.filter(kind)).height]
    known = [_limits(part, _priors(part, belief, level), level, costs, names) for part in parts]
    columns = limit_columns(names)
    empty = pl.DataFrame(schema={**distinct.schema, **dict.fromkeys(columns, pl.Float64)})
    ends = pl.concat([empty, *known])
    found = frame.join(ends, on=given, how="left", nulls_equal=True, maintain_order="left")
    # Without a point nothing is called, as by one above all scores, and nothing is known.
    return found.with_columns(pl.when(pl.col("tpr").is_not_null()).then(pl.col(columns)))


def _priors(part: pl.DataFrame, belief: Belief | None, level: float) -> list[PriorInUse]:
    """The prior in use of rows of one kind: where several, limits are the widest of theirs."""
    prior, lower, upper = (part[name].to_numpy() for name in ("prior", *PRIOR_LIMITS))
    if belief is not None:
        return [BelievedPrior(belief.distribution, prior)]
    if part["prior_lower"].is_null().any() or part["prior_upper"].is_null().any():
        return [KnownPrior(prior)]
    if part.select(IS_EM.all()).item():
        return [EstimatedPrior(prior, lower, upper, level)]
    # The ends, as errors of estimate and rates add up if the same cases brought both about.
    return [KnownPrior(lower), KnownPrior(prior), KnownPrior(upper)]


def _limits(
    part: pl.DataFrame,
    priors: Sequence[PriorInUse],
    level: float,
    costs: Costs,
    names: Sequence[str],
) -> pl.DataFrame:
    of_pos, of_neg = EFFECTS
    # As many independent cases as say as much.
    tp_least, tp_most, fp_least, fp_most, positives, negatives = (
        (part[name] / part[effect]).to_numpy()
        for name, effect in zip(
            (*COUNTS, "positives", "negatives"),
            (of_pos, of_pos, of_neg, of_neg, of_pos, of_neg),
            strict=True,
        )
    )
    calls = Calls(tp_least, tp_most, positives), Calls(fp_least, fp_most, negatives)
    columns = {}
    for name in names:
        pairs = [limits(name, *calls, prior, level, costs) for prior in priors]
        columns[f"{name}_lower"] = np.min([low for low, _ in pairs], axis=0)
        columns[f"{name}_upper"] = np.max([high for _, high in pairs], axis=0)
    ends = part.with_columns(pl.Series(name, values) for name, values in columns.items())
    at_prior = [
        column for name in names if name not in WITHOUT_PRIOR for column in limit_columns([name])
    ]
    return ends.with_columns(pl.when(~UNSURE).then(name).alias(name) for name in at_prior)
