"""Operating points chosen on curves by a rule."""

from collections.abc import Sequence

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factor
from polaroc.base.columns import curve_keys, lazily, require
from polaroc.base.private_columns import private
from polaroc.curves.segments import CELLS
from polaroc.curves.surface import at_priors, select_rates, surface
from polaroc.errors import check_choice
from polaroc.predictions.row_checks import SCORE, UNRANKED
from polaroc.predictions.table import one_class_note
from polaroc.thresholds.rules import RULES, Rule, ThresholdRule, check_target, rules
from polaroc.typing import Priors

POINTS = (
    "rule", "prior", "threshold", "share", "tpr", "fpr", "precision", "positives", "negatives",
    "note",
)  # fmt: skip


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
        the prior asked for, makes a positive call pay; ``"recall"``, highest
        threshold, and so lowest false positive rate, with at least the `target`
        recall; ``"precision"``, highest recall with at least the `target`
        precision; ``"fpr"``, highest recall with at most the `target` false
        positive rate; ``"f_measure"``, the greatest F; ``"informedness"``, or ``"youden"``, the
        greatest Youden's J, t − f; ``"threshold"``, score ≥ `target`.
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

    See Also
    --------
    apply_thresholds : What thresholds do on other data.
    cost_curve : Normalised expected cost over priors and costs.
    estimate_prior : The share of positives among unlabelled scores.

    References
    ----------
    Landgrebe, Paclík, Duin, Bradley, "Precision-recall operating characteristic (P-ROC)
    curves in imprecise environments", 2006.

    Landgrebe, Duin, "Combining accuracy and prior sensitivity for classifier design
    under prior uncertainty", 2006.

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
    check_target(rule, target)
    for name, value in (("cost_fn", cost_fn), ("cost_fp", cost_fp), ("beta", beta)):
        check_factor(name, value)
    selection = rules(keys, target or 0.0, cost_fn, cost_fp, beta)[rule]()
    chosen = _selected(surface(curve, priors), [*keys, "prior", "skew"], selection)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    lack = (
        pl.when(positives.is_null())
        .then(pl.lit(UNRANKED))
        .when(one_class_note(positives, negatives).is_not_null())
        .then(one_class_note(positives, negatives))
        .when(pl.col("share").is_null())
        .then(pl.lit(selection.lack))
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


@lazily
def shifted_rates(points: pl.LazyFrame, priors: Priors, rates: Sequence[str]) -> pl.LazyFrame:
    """The rates of fixed operating points at other priors than they were chosen for (P-ROC Fig. 1).

    One row per key with a point and prior: the keys, `prior`, `skew` and a column per rate, null
    where it is undefined.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> point = curves.pipe(pr.operating_points, "threshold", target=0.54)
    >>> shifted_rates(point, [0.5, 0.1], ["accuracy"])["accuracy"].round(2).to_list()
    [0.7, 0.86]
    """
    keys = require(points, POINTS, source="operating_points(...)")
    chosen = select_rates(rates, keys)
    t, f, skew = pl.col("tpr"), pl.col("fpr"), pl.col("skew")
    fixed = points.filter(t.is_not_null()).select(*keys, t, f, "positives", "negatives")
    values = {name: rate(t, f, skew).fill_nan(None) for name, rate in chosen.items()}
    return at_priors(fixed, priors).select(*keys, "prior", "skew", **values)


def _selected(surface: pl.LazyFrame, groups: Sequence[str], rule: ThresholdRule) -> pl.LazyFrame:
    """The point that the rule selects of each curve at each prior."""
    (t0, f0), _, (dt, df) = CELLS.segment
    may, worth, order = (private(name) for name in ("may", "worth", "order"))
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    placed = surface.with_columns(
        (both & rule.admissible).alias(may),
        rule.objective.alias(worth),
        (pl.col("tp") + pl.col("fp")).alias(order),
        rule.share.alias("share"),
        (t0 + rule.share * dt).alias("tpr"),
        (f0 + rule.share * df).alias("fpr"),
    )
    first_of_best = [pl.col(worth).filter(may), pl.col(order).filter(may)]
    best = pl.col(SCORE, "share", "tpr", "fpr").filter(may)
    return placed.group_by(groups).agg(
        best.sort_by(first_of_best, descending=[True, False]).first(),
        pl.col("positives", "negatives").max(),
    )
