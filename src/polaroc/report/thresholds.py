"""Where to set the threshold of one model, and what that did on cases it was not set on."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc import rates
from polaroc.beliefs import Belief, resolve_belief
from polaroc.curves import curve
from polaroc.operating import operating_points
from polaroc.priors import skew
from polaroc.report.intake import GROUP, Intake, grouped, one_of
from polaroc.report.question import Question
from polaroc.thresholds import apply_thresholds

# How often a threshold is set without the blocks it is then judged on.
GROUPS = 5
# The share of a belief below and above which its priors are not shown.
TAIL = 0.05
CASES = 1000


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Thresholds of one model.

    Attributes
    ----------
    points
        One row per prior: `prior`; `threshold`, null where calling nothing
        positive costs least; `lowest`, `highest`, the thresholds that parts of
        the blocks give; `tpr`, `fpr`, `tpr_sd`, `fpr_sd` over the blocks;
        `precision`; `found`, `missed`, `alarms` among `CASES` cases.
    elsewhere
        Whether the rates are of blocks that the threshold was not set on.
    """

    points: pl.DataFrame
    elsewhere: bool


def thresholds(intake: Intake, question: Question, model: pl.Series) -> Thresholds:
    """Where the least cost is expected, at a low, a middle and a high prior."""
    rows = one_of(intake, question.between, model)
    priors = shown_priors(question.over)
    chosen = _chosen(rows, intake, question, priors)
    blocks = question.blocks
    elsewhere = bool(blocks) and rows.select(blocks).unique().collect().height > 1
    judged = _elsewhere(rows, intake, question, priors) if elsewhere else _here(chosen)
    found = (
        chosen.select("prior", "threshold")
        .join(judged, on="prior", how="left", maintain_order="left")
        .with_columns(skew(pl.col("prior")).alias("skew"))
        .with_columns(
            rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew"))
            .fill_nan(None)
            .alias("precision"),
            (CASES * pl.col("prior") * pl.col("tpr")).alias("found"),
            (CASES * pl.col("prior") * (1 - pl.col("tpr"))).alias("missed"),
            (CASES * (1 - pl.col("prior")) * pl.col("fpr")).alias("alarms"),
        )
        .drop("skew")
    )
    return Thresholds(found, elsewhere)


def shown_priors(over: tuple[float, float] | Belief | None) -> list[float]:
    """A low, a middle and a high prior: the ends and the mean of a range, or of a belief.

    Examples
    --------
    >>> [round(prior, 6) for prior in shown_priors((0.05, 0.2))]
    [0.05, 0.125, 0.2]
    """
    belief = resolve_belief(over)
    mean = sum(p * w for p, w in zip(belief.priors, belief.weights, strict=True))
    if isinstance(over, Belief):
        low, high = _quantile(belief, TAIL), _quantile(belief, 1 - TAIL)
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


def _chosen(
    rows: pl.LazyFrame, intake: Intake, question: Question, priors: Sequence[float]
) -> pl.DataFrame:
    """The point of least expected cost on the pooled rows."""
    pooled = curve(rows, by=(), **intake.arguments)
    return operating_points(
        pooled, "cost", priors=list(priors), cost_fn=question.cost_fn, cost_fp=question.cost_fp
    ).collect()


def _here(chosen: pl.DataFrame) -> pl.DataFrame:
    """The rates on the very rows the thresholds were set on."""
    nothing = pl.lit(None, pl.Float64)
    return chosen.select(
        "prior", "tpr", "fpr",
        *(nothing.alias(name) for name in ("tpr_sd", "fpr_sd", "lowest", "highest")),
    )  # fmt: skip


def _elsewhere(
    rows: pl.LazyFrame, intake: Intake, question: Question, priors: Sequence[float]
) -> pl.DataFrame:
    """The rates of each block at thresholds set on the blocks of other groups."""
    blocks = list(question.blocks)
    parts = grouped(rows, blocks, GROUPS).collect()
    realised = []
    for group in parts[GROUP].unique().sort():
        others, held = parts.filter(pl.col(GROUP) != group), parts.filter(pl.col(GROUP) == group)
        points = _chosen(others.lazy(), intake, question, priors)
        # Never the table they were set on: its blocks are others.
        applied = apply_thresholds(held, points, by=blocks, same_table=True, **intake.arguments)
        realised.append(applied)
    return (
        pl.concat(realised)
        .group_by("prior")
        .agg(
            pl.col("tpr", "fpr").mean(),
            pl.col("tpr", "fpr").std().name.suffix("_sd"),
            pl.col("threshold").min().alias("lowest"),
            pl.col("threshold").max().alias("highest"),
        )
    )
