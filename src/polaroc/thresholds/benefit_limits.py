"""Limits of the net benefit at each threshold, or at all thresholds at once."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.text import joined_notes
from polaroc.priors.in_use import KnownPrior
from polaroc.thresholds.all_thresholds import limits_of_counts
from polaroc.thresholds.design_effects import EFFECTS, why_no_limits
from polaroc.thresholds.rate_intervals import Calls, Costs, limits
from polaroc.typing import Array

BenefitIntervals: TypeAlias = Literal["pointwise", "simultaneous"]
WORDS = {
    "pointwise": "net benefit at each threshold, with {:.4g} % confidence",
    "simultaneous": "net benefit at all thresholds and priors at once, with {:.4g} % confidence",
}
GIVEN = ("tpr", "fpr", "positives", "negatives", *EFFECTS, "prior", "threshold")
ENDS = dict.fromkeys(("lower", "upper"), pl.Float64())
# Rows whose limits are in memory at once.
CHUNK = 1_000


def with_benefit_limits(
    decided: pl.LazyFrame, intervals: BenefitIntervals, level: float, *, sampled: bool
) -> pl.LazyFrame:
    """Rates at thresholds, with the `EFFECTS` of their curve, with limits of the net benefit.

    Curves of which `sampled` cases may have parts have no limits, else.
    """
    schema = decided.collect_schema()

    def computed(frame: pl.DataFrame) -> pl.DataFrame:
        distinct = frame.select(GIVEN).unique(maintain_order=True)
        of_curves = distinct.drop_nulls().partition_by(GIVEN[2:6], maintain_order=True)
        parts = [_with_limits(own, intervals, level, sampled=sampled) for own in of_curves]
        empty = distinct.clear().with_columns(
            *(pl.lit(None, kind).alias(name) for name, kind in ENDS.items()), why=pl.lit("")
        )
        found = join_on(frame, pl.concat([empty, *parts]), GIVEN, "left", order="left")
        return found.with_columns(joined_notes("note", "why")).drop("why")

    added = decided.map_batches(computed, schema={**schema, **ENDS})
    return added.with_columns(pl.lit(WORDS[intervals].format(100 * level)).alias("interval"))


def _with_limits(
    rows: pl.DataFrame, intervals: BenefitIntervals, level: float, *, sampled: bool
) -> pl.DataFrame:
    """The rows of one curve with limits, and why they have none."""
    t, f, positives, negatives, *effects, prior, threshold = (rows[n].to_numpy() for n in GIVEN)
    counts = [_counts(t, positives[0]), _counts(f, negatives[0])]
    own = [float(effect[0]) for effect in effects]
    counted = sampled or rows.schema["positives"].is_integer()
    why = why_no_limits(own, counted=counted, of="interval")
    lower, upper = np.full((2, rows.height), np.nan)
    if why is None:
        ends = _at_each if intervals == "pointwise" else _at_all
        lower, upper = ends(counts, own, prior, threshold / (1 - threshold), level)
    return rows.with_columns(
        pl.Series("lower", lower).fill_nan(None), pl.Series("upper", upper).fill_nan(None),
        why=pl.lit(why, pl.String),
    )  # fmt: skip


def _counts(rate: Array, total: float) -> Array:
    """The cases called at each threshold, and all of them."""
    counts = np.append(rate * total, total)
    nearest = counts.round()
    return np.where(np.isclose(counts, nearest, rtol=1e-9), nearest, counts)


def _at_each(
    counts: Sequence[Array], effects: Sequence[float], prior: Array, odds: Array, level: float
) -> tuple[Array, Array]:
    # Up to a factor the net benefit is what cases of another prior cost less at equal costs.
    scale = prior + odds * (1 - prior)
    moved = prior / scale
    parts = []
    for start in range(0, len(prior), CHUNK):
        rows = slice(start, start + CHUNK)
        calls = [
            Calls(own[:-1][rows] / effect, own[:-1][rows] / effect,
                  np.full(len(prior[rows]), own[-1] / effect))
            for own, effect in zip(counts, effects, strict=True)
        ]  # fmt: skip
        known = KnownPrior(moved[rows])
        parts.append(np.stack(limits("cost", calls[0], calls[1], known, level, Costs())))
    least, most = np.concatenate(parts, axis=1)
    return prior - scale * most, prior - scale * least


def _at_all(
    counts: Sequence[Array], effects: Sequence[float], prior: Array, odds: Array, level: float
) -> tuple[Array, Array]:
    of_pos, of_neg = (
        [end[:-1] for end in limits_of_counts(own, level, effect)]
        for own, effect in zip(counts, effects, strict=True)
    )
    weight = odds * (1 - prior)
    return prior * of_pos[0] - weight * of_neg[1], prior * of_pos[1] - weight * of_neg[0]
