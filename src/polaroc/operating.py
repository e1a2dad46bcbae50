"""Operating points: where to set the threshold, and what it does on other data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl

from polaroc import rates
from polaroc.areas import UNRANKED
from polaroc.cells import CELLS
from polaroc.cells import share as share_of
from polaroc.columns import PRIVATE, as_lazy, attach, curve_keys, lazily, like, require, within
from polaroc.errors import InvalidArgument, InvalidTable, check_choice
from polaroc.predictions import Predictions, one_class_note, read
from polaroc.priors import is_number
from polaroc.surfaces import surface
from polaroc.totals import totals
from polaroc.trouble import SCORE, TRUTH, WEIGHT
from polaroc.typing import By, Frame, IntoExpr, Label, Nulls, Priors

Rule: TypeAlias = Literal[
    "balanced", "cost", "posterior", "recall", "precision", "fpr", "f_measure", "threshold"
]
RULES = ("balanced", "cost", "posterior", "recall", "precision", "fpr", "f_measure", "threshold")
ROUNDING = 1e-12
SAME = PRIVATE + "same"
SAME_TABLE = "as on the tuning table: were the thresholds chosen on these cases?"
POINTS = (
    "rule", "prior", "threshold", "share", "tpr", "fpr", "precision", "positives", "negatives",
    "note",
)  # fmt: skip
NEEDS_TARGET = {"recall": (0, 1), "precision": (0, 1), "fpr": (0, 1), "threshold": None}


@dataclass(frozen=True)
class Choice:
    """Which point of a curve a rule takes.

    Attributes
    ----------
    admissible
        The points it may take.
    worth
        What it wants most of; among equals, the highest threshold.
    share
        With what chance cases that score just the threshold are called positive.
    lack
        What to say where no point is admissible.
    """

    admissible: pl.Expr
    worth: pl.Expr
    share: pl.Expr = field(default_factory=lambda: pl.lit(1.0))
    lack: str = "no such point"


@lazily
def operating_points(
    curve: pl.LazyFrame,
    rule: Rule = "balanced",
    *,
    priors: Priors = "observed",
    target: float | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    beta: float = 1,
) -> pl.LazyFrame:
    """The point of each curve, and its threshold, that a rule chooses at each prior.

    Choose thresholds on a tuning table and apply them to other data with
    `apply_thresholds` (D&G §4): what they promise on the table they were chosen
    on is too good.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    rule
        ``"balanced"``, where missed positives are as many as false alarms,
        π(1−t) = (1−π)f (AccSens; at prior 0.5 the equal-error point);
        ``"cost"``, least expected cost; ``"posterior"``, where the score, read as
        the probability of a positive at the key's own prior and re-weighted to
        the prior asked for, makes a positive call pay; ``"recall"``, lowest false
        positive rate with at least the `target` recall; ``"precision"``, highest
        recall with at least the `target` precision; ``"fpr"``, highest recall
        with at most the `target` false positive rate; ``"f_measure"``, the
        greatest F; ``"threshold"``, score ≥ `target`.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or
        a prior grid.
    target
        What the rules "recall", "precision", "fpr" (0 to 1) and "threshold" aim at.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, for "cost" and
        "posterior".
    beta
        Weight > 0 of recall, for "f_measure".

    Returns
    -------
    Frame of the kind given
        One row per key and prior, sorted by key: the keys; `rule` String; `prior`
        Float64; `threshold` Float64, null where nothing is called positive;
        `share` Float64, the chance with which cases that score just the
        threshold are called positive (1 but for "balanced", whose point lies on
        a segment); `tpr`, `fpr`, `precision` at the prior, Float64 or null;
        `positives`, `negatives`; `note`, null or why there is no point.

    Raises
    ------
    InvalidArgument, InvalidTable
        For an unknown rule, or a target, cost or prior outside what is allowed;
        where the columns of a curve are missing.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> points = curves.pipe(pr.operating_points, "recall", target=0.5)
    >>> points.select("threshold", "tpr", "fpr").row(0)
    (0.54, 0.5, 0.1)
    """
    keys = curve_keys(curve)
    check_choice("rule", rule, RULES)
    _check_target(rule, target)
    for name, value in (("cost_fn", cost_fn), ("cost_fp", cost_fp), ("beta", beta)):
        if not is_number(value) or not 0 < value < float("inf"):
            raise InvalidArgument(
                f"{name} is {value!r}, allowed are finite numbers > 0.", hint="1 is the default."
            )
    choice = _choices(keys, target or 0.0, cost_fn, cost_fp, beta)[rule]()
    chosen = _chosen(surface(curve, priors), [*keys, "prior", "skew"], choice)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    lack = (
        pl.when(positives.is_null())
        .then(pl.lit(UNRANKED))
        .when(one_class_note(positives, negatives).is_not_null())
        .then(one_class_note(positives, negatives))
        .when(pl.col("share").is_null())
        .then(pl.lit(choice.lack))
    )
    t, f = pl.col("tpr"), pl.col("fpr")
    return (
        chosen.with_columns(
            pl.lit(rule).alias("rule"),
            rates.precision(t, f, pl.col("skew")).fill_nan(None).alias("precision"),
            lack.alias("note"),
        )
        .select(*keys, *POINTS)
        .sort(*keys, "prior", nulls_last=True)
    )


def _chosen(surface: pl.LazyFrame, told_apart: Sequence[str], choice: Choice) -> pl.LazyFrame:
    """The point that the choice takes of each curve at each prior."""
    (t0, f0), _, (dt, df) = CELLS.segment
    may, worth, order = (PRIVATE + name for name in ("may", "worth", "order"))
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    placed = surface.with_columns(
        (both & choice.admissible).alias(may),
        choice.worth.alias(worth),
        (pl.col("tp") + pl.col("fp")).alias(order),
        choice.share.alias("share"),
        (t0 + choice.share * dt).alias("tpr"),
        (f0 + choice.share * df).alias("fpr"),
    )
    first_of_best = [pl.col(worth).filter(may), pl.col(order).filter(may)]
    best = pl.col(SCORE, "share", "tpr", "fpr").filter(may)
    return placed.group_by(told_apart).agg(
        best.sort_by(first_of_best, descending=[True, False]).first(),
        pl.col("positives", "negatives").max(),
    )


def apply_thresholds(
    predictions: Frame,
    points: pl.LazyFrame | pl.DataFrame,
    *,
    truth: IntoExpr,
    score: IntoExpr,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    same_table: bool = False,
) -> Frame:
    """What thresholds chosen elsewhere do on these predictions.

    Parameters
    ----------
    predictions
        Predictions on cases that the thresholds were not chosen on.
    points
        The result of `operating_points` on a tuning table. Its keys must be
        among `by`; thresholds of a model apply to all folds, say, where `by`
        has folds and the points have none.
    truth, score, by, weight, positive, nulls
        As in `curve`.
    same_table
        Whether the very table the thresholds were chosen on is meant.

    Returns
    -------
    Frame of the kind of `predictions`
        The columns of `operating_points` for every key and point, with `tpr`,
        `fpr`, `precision`, `positives` and `negatives` as they come out here;
        `note` is null, or says that a class is absent, that rows cannot be ranked
        or were dropped, or that the points have none for a key.

    Raises
    ------
    InvalidTable
        Where `points` lacks a column, has a key that is not in `by`, or where
        every rate and total comes out just as on the tuning table: then it is
        the same table (a lazy plan says it in `note`).
    InvalidPredictions, InvalidArgument
        As in `curve`.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> tuning = pr.datasets.twenty_scores()
    >>> curves = pr.curve(tuning, truth="truth", score="score")
    >>> points = pr.operating_points(curves, "recall", target=0.5)
    >>> test = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [0.8, 0.2, 0.6, 0.1]})
    >>> realised = pr.apply_thresholds(test, points, truth="truth", score="score")
    >>> realised.select("threshold", "tpr", "fpr").row(0)
    (0.54, 0.5, 0.5)
    """
    table = read(
        predictions, truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls
    )
    chosen = as_lazy(points)
    shared = require(chosen, POINTS, source="operating_points(...)")
    strange = [key for key in shared if key not in table.keys]
    if strange:
        raise InvalidTable(
            f"the points have the key {', '.join(map(repr, strange))}, which by has not.",
            hint="give by the keys of the points, and any others.",
        )
    realised = _realised(table, chosen, shared)
    if same_table:
        return like(predictions, realised.select(*table.keys, *POINTS))
    said = pl.when(pl.col(SAME).all()).then(pl.lit(SAME_TABLE)).otherwise("note")
    result = realised.with_columns(said.alias("note")).select(*table.keys, *POINTS)
    if isinstance(predictions, pl.DataFrame):
        collected = result.collect()
        if collected.height and collected["note"].eq_missing(pl.Series([SAME_TABLE])).all():
            raise InvalidTable(
                "every rate and total comes out just as on the tuning table: the thresholds would "
                "be judged on the cases they were chosen on.",
                hint="give other cases, or same_table=True.",
            )
        return collected
    return result


def _realised(table: Predictions, points: pl.LazyFrame, shared: Sequence[str]) -> pl.LazyFrame:
    """The points with the rates they have on a table, and whether all is as it was tuned."""
    limit, share = pl.col(PRIVATE + "at"), pl.col("share")
    tuned = [PRIVATE + name for name in ("tpr", "fpr", "positives", "negatives")]
    promised = points.select(
        *shared, "rule", "prior", "share",
        pl.col("threshold").alias(PRIVATE + "at"),
        *(pl.col(name.removeprefix(PRIVATE)).alias(name) for name in tuned),
    ).unique()  # fmt: skip
    # A point is known by what it is: rows of a lazy table have no lasting number.
    known_by = [*table.keys, "rule", "prior", "share", PRIVATE + "at", *tuned]
    counted = pl.col(WEIGHT) if table.weighted else pl.lit(1, pl.Int64)
    pos, neg = pl.col(TRUTH) * counted, ~pl.col(TRUTH) * counted
    # No threshold means that nothing is called positive.
    above, tied = (pl.col(SCORE) > limit).fill_null(False), (pl.col(SCORE) == limit)
    called = above.cast(pl.Float64) + tied.fill_null(False).cast(pl.Float64) * share
    calls = (
        attach(table.sound, promised, shared)
        .group_by(known_by)
        .agg((called * pos).sum().alias("tpr"), (called * neg).sum().alias("fpr"))
    )
    counts = totals(table).select(*table.keys, "positives", "negatives", "note")
    positives, negatives = pl.col("positives"), pl.col("negatives")
    chosen = share.is_not_null()
    t = pl.when(chosen & (positives > 0)).then(share_of(pl.col("tpr"), positives))
    f = pl.when(chosen & (negatives > 0)).then(share_of(pl.col("fpr"), negatives))
    here = [pl.col(name.removeprefix(PRIVATE)) for name in tuned]
    equal = [(a - pl.col(b)).abs() <= ROUNDING * a.abs() for a, b in zip(here, tuned, strict=True)]
    skewed = (1 - pl.col("prior")) / pl.col("prior")
    return (
        attach(counts, promised, shared, required=False)
        .join(calls, on=known_by, how="left", nulls_equal=True)
        .with_columns(t.alias("tpr"), f.alias("fpr"))
        .with_columns(
            rates.precision(pl.col("tpr"), pl.col("fpr"), skewed).fill_nan(None).alias("precision"),
            limit.alias("threshold"),
            _note_on_calls().alias("note"),
            pl.all_horizontal(equal).fill_null(False).alias(SAME),
        )
        .sort(*table.keys, "prior", "rule", "threshold", nulls_last=True)
    )


def _note_on_calls() -> pl.Expr:
    """What is to be said of the rows of a key, of its classes and of its point."""
    lack = (
        pl.when(pl.col("rule").is_null())
        .then(pl.lit("there is no point for this key"))
        .when(pl.col("share").is_null())
        .then(pl.lit("no point was chosen"))
    )
    absent = one_class_note(pl.col("positives"), pl.col("negatives"))
    said = pl.concat_str("note", absent, lack, separator="; ", ignore_nulls=True)
    return said.replace("", None)


def _choices(
    keys: Sequence[str], target: float, cost_fn: float, cost_fp: float, beta: float
) -> dict[str, Callable[[], Choice]]:
    t, f, skewed, threshold = (pl.col(name) for name in ("tpr", "fpr", "skew", SCORE))
    (t0, f0), (t1, f1), (dt, df) = CELLS.segment
    everything = pl.lit(True)
    early = -(pl.col("tp") + pl.col("fp"))
    balanced = ((1 - t0) - skewed * f0) / (dt + skewed * df)
    own = pl.col("negatives") / pl.col("positives")
    odds = cost_fp / cost_fn * skewed / own
    posterior = odds / (1 + odds)
    are_shares = (threshold.min() >= 0) & (threshold.max() <= 1)
    # Precision 3/4 may come out as the float before 0.75, and reaches it all the same.
    at_least, at_most = target * (1 - ROUNDING), target * (1 + ROUNDING)

    return {
        "balanced": lambda: Choice((1 - t1 <= skewed * f1) & (dt + df > 0), early, balanced),
        "cost": lambda: Choice(
            everything, -rates.loss(t, f, skewed, cost_fn=cost_fn, cost_fp=cost_fp)
        ),
        "posterior": lambda: Choice(
            (threshold >= posterior).fill_null(True) & within(are_shares, keys),
            -early,
            lack="scores are not probabilities",
        ),
        "recall": lambda: Choice(t >= at_least, early),
        "precision": lambda: Choice(
            pl.col("precision") >= at_least, t, lack="no point has such precision"
        ),
        "fpr": lambda: Choice(f <= at_most, t),
        "f_measure": lambda: Choice(everything, rates.f_measure(t, f, skewed, beta=beta)),
        "threshold": lambda: Choice((threshold >= target).fill_null(True), -early),
    }


def _check_target(rule: str, target: float | None) -> None:
    if rule not in NEEDS_TARGET:
        if target is not None:
            raise InvalidArgument(
                f"target is {target!r}, but the rule {rule!r} aims at nothing.",
                hint="leave it out.",
            )
        return
    bounds = NEEDS_TARGET[rule]
    inside = is_number(target) and (bounds is None or bounds[0] <= target <= bounds[1])  # type: ignore[operator]
    if not inside:
        wanted = "a number" if bounds is None else "a share from 0 to 1"
        raise InvalidArgument(
            f"target is {target!r}, but the rule {rule!r} needs {wanted}.",
            hint="for example operating_points(curve, 'recall', target=0.9).",
        )
