"""A table to publish: what was measured, in the order of STARD and TRIPOD+AI."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share, refuse_unused, unless
from polaroc.base.columns import key_names, with_level
from polaroc.base.joins import join_on
from polaroc.base.names import listed
from polaroc.base.private_columns import CLUSTER, TRUTH
from polaroc.comparison.answer import describe_priors
from polaroc.comparison.compared import doubted
from polaroc.comparison.subgroup_parts import COLUMNS, Divided, SubgroupPlan, divided_by
from polaroc.comparison.subgroups import are_probabilities, checked_points, checked_priors
from polaroc.measures.scoring import check_score_prior
from polaroc.predictions.audit import check
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import NEEDED, Columns
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import takes_cases
from polaroc.priors.beliefs import Belief
from polaroc.reports.figures import Section
from polaroc.reports.findings import Findings
from polaroc.reports.study_table_result import CLUSTERS, FLOW, StudyTable
from polaroc.reports.subgroups import ON_THESE_CASES, of_first_model
from polaroc.reports.tables import ReportTable
from polaroc.reports.thresholds import shown_priors
from polaroc.thresholds.fixed import Numbers
from polaroc.thresholds.named_rates import NET_BENEFIT
from polaroc.thresholds.subgroup_promises import subgroup_columns
from polaroc.typing import Table

# Rows beyond which a report leaves the table out.
MAX_ROWS = 500_000
# What a threshold does, in the order in which it is published.
OF_THRESHOLD = {
    "recall": "tpr", "fpr": "fpr", "specificity": "specificity", "precision": "precision",
    "npv": "npv",
    "likelihood_ratio_positive": "likelihood_ratio_positive",
    "likelihood_ratio_negative": "likelihood_ratio_negative", "cost": "cost",
}  # fmt: skip


@takes_cases(
    ["truth", "score", "positive", "nulls", "model", "cluster", "subgroup", "count", "weight",
     "by", "score_prior"],
    no_bearing=["case", "time", "test_train_ratio"],
    needed=NEEDED,
)  # fmt: skip
def study_table(
    cases: Cases[Any],
    *,
    priors: float | Sequence[float] | None = None,
    over: tuple[float, float] | Belief | None = None,
    points: Table | Numbers | None = None,
    level: float = 0.95,
    cost_fn: float = 1,
    cost_fp: float = 1,
    **columns: Unpack[Columns],
) -> StudyTable:
    """The numbers of a study on one test set as they are published, by model and subgroup.

    Parameters
    ----------
    cases
        Predictions of fitted models on one test set: the result of `cases`, or any table that it
        takes. With a `subgroup` every number is given for each of its values, too; with
        ``nulls="drop"`` the table says how many rows lack a score or the truth.
    **columns
    priors
        One prior in (0, 1), or up to eight, at which areas, predictive values, Brier scores and
        net benefits are given; without it predictive values are at the share of positives here.
    over
        A range (lo, hi) of priors, or a belief, for the mean area over it.
    points
        The threshold, which was set on other cases: the result of `operating_points`, one
        number, or a mapping from model to number. Without it nothing is said of a threshold.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm. With them the table has the net benefit
        of the threshold: true positives less cost_fp/cost_fn times the false alarms, per case.

    Returns
    -------
    StudyTable
        `table`, a tidy frame; `html`, `latex` and `markdown`, the same as it is printed; `items`,
        which items of STARD and TRIPOD+AI it answers, and which remain the author's.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `subgroups`; for folds, whose models are fitted anew.

    Notes
    -----
    Numbers and limits are those of `evaluate` with ``intervals="logit"``, of `apply_thresholds`
    with ``intervals="exact"`` and of `check_calibration`. The order is that of STARD (Bossuyt
    et al. 2015) and TRIPOD+AI (Collins et al. 2024).

    Examples
    --------
    >>> import polaroc as pr
    >>> rows = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1).drop("fold")
    >>> found = pr.study_table(
    ...     rows.filter(pl.col("model") == "C"), truth="truth", score="score", points=0.5,
    ...     priors=0.1,
    ... )
    >>> shown = found.table.filter(measure="precision")
    >>> shown.select(pl.col("estimate", "lower", "upper").round(2)).row(0)
    (0.4, 0.36, 0.45)
    """
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    check_share("level", level)
    check_score_prior(cases.score_prior)
    if points is None:
        refuse_unused("for thresholds", "points is None",
                      cost_fn=unless(1, cost_fn), cost_fp=unless(1, cost_fp))  # fmt: skip
    own = cases.collect()
    whole, at = replace(own, subgroup=()), checked_priors(priors)
    is_right = are_probabilities(whole)
    measures = ["auc", *(["auprec"] if at else []), *(["iauprec"] if over is not None else []),
                *(["brier"] if at and is_right else [])]  # fmt: skip
    with_costs = (cost_fn, cost_fp) != (1, 1)
    rates = {name: of for name, of in OF_THRESHOLD.items() if name != "cost" or with_costs}
    wanted = SubgroupPlan(
        tuple(measures), is_right, at, over, checked_points(whole, points, at), cost_fn, cost_fp,
        rates,
    )  # fmt: skip
    columns_of: list[tuple[str | None, pl.Expr]] = [(None, pl.lit("all"))]
    parts = [
        _rows(divided_by(whole, column, name, wanted), name, level)
        for name, column in [*columns_of, *subgroup_columns(own).items()]
    ]
    table = pl.concat(parts, how="vertical_relaxed")
    keys = tuple(table.columns[: table.columns.index("column")])
    warnings = [_what_limits_are(own, wanted), *doubted(whole)]
    if with_costs:
        weighed = f"{cost_fp / cost_fn:.3g} of a found positive"
        warnings.append(f"Net benefit counts a false alarm as {weighed}.")
    return StudyTable(
        with_level(table, level), keys, level, tuple(warnings),
        "" if over is None else describe_priors(over),
    )  # fmt: skip


def _what_limits_are(cases: Cases[Any], wanted: SubgroupPlan) -> str:
    """How limits were made, in the words of the documentation."""
    kinds = ["Limits of areas are logit limits (DeLong's variance)"]
    kinds += ["those of rates exact (Clopper and Pearson)"] if wanted.points is not None else []
    kinds += ["those of the calibration Student's t"] if wanted.calibration else []
    said = ", ".join(kinds)
    names = listed(key_names(cases.cluster, cases.table.lazy()), "and")
    if not names:
        return f"{said}."
    return f"{said}; they count clusters ({names}), not rows (Obuchowski 1997)."


def of_publication(cases: Cases[Any], findings: Findings) -> Section | None:
    """The first model of a report as it is published; None for folds, measures and many rows."""
    chosen = findings.thresholds
    if findings.cases is None or findings.question.folds or findings.audit is None:
        return None
    # Limits of rates know one clustering.
    if findings.audit["rows"].sum() > MAX_ROWS or len(cases.cluster) > 1:
        return None
    priors = shown_priors(findings.question.over)
    found = study_table(
        of_first_model(cases, findings), priors=sorted({priors[0], priors[-1]}),
        over=findings.question.over, points=None if chosen is None else chosen.written,
        level=findings.question.level,
    )  # fmt: skip
    headings, rows = found.cells()
    _, *columns = zip(*rows, strict=True)
    named = {heading or "number": column for heading, column in zip(headings, columns, strict=True)}
    is_own = chosen is not None and not chosen.is_tuned
    limits, *notes = found.below()
    table = ReportTable("published", f"All numbers of {findings.models[0]}. {limits}", named)
    return Section(remarks=[*([ON_THESE_CASES] if is_own else []), *notes], table=table)


def _rows(divided: Divided, name: str | None, level: float) -> pl.DataFrame:
    """The rows of all cases, or of each value of a subgroup: first what cases there are."""
    measured, *_ = divided.parts(level)
    keys = divided.keys(measured.columns)
    flow = _flow(divided, keys)
    cost, nothing = pl.col("measure") == "cost", pl.lit(None, pl.Float64)
    ends = {"estimate": "estimate", "lower": "upper", "upper": "lower"}
    # With a cost of 1 for a miss, the cost is the prior less the net benefit.
    benefit = [
        pl.when(cost).then(pl.col("prior") - pl.col(of) / divided.wanted.cost_fn).otherwise(to)
        for to, of in ends.items()
    ]
    # A model without a threshold has no rates.
    lacks = pl.col("measure").is_in([*OF_THRESHOLD]) & pl.col("threshold").is_null()
    lacks &= pl.col("estimate").is_null()
    crossed = _crossed(measured.filter(~lacks)).select(flow.columns)
    measured = measured.filter(pl.col("measure") != "fpr", ~lacks).with_columns(
        *(one.alias(to) for one, to in zip(benefit, ends, strict=True)),
        pl.when(cost).then(nothing).otherwise("std_error").alias("std_error"),
        pl.when(cost).then(pl.lit(NET_BENEFIT)).otherwise("measure").alias("measure"),
    )
    both = pl.concat(
        [flow, crossed, measured.select(flow.columns)],
        how="vertical_relaxed",
    )
    ordered = both.sort(keys, nulls_last=True, maintain_order=True)
    return ordered.select(*keys[:-1], *divided.whose(name), *COLUMNS)


def _crossed(measured: pl.DataFrame) -> pl.DataFrame:
    """The cases of each class at or above the threshold, and below it; of weights their sums."""
    parts = []
    for rate, total, names in (("recall", "positives", ("tp", "fn")),
                               ("fpr", "negatives", ("fp", "tn"))):  # fmt: skip
        rows = measured.filter(measure=rate)
        above = pl.col("estimate") * pl.col(total)
        # Counts are whole; a rate times a total is nearly so.
        above = above.round(0) if rows.schema[total].is_integer() else above
        nothing = [pl.lit(None, pl.Float64).alias(name) for name in ("lower", "upper", "std_error")]
        parts += [
            rows.with_columns(
                value.alias("estimate"), pl.lit(name).alias("measure"), *nothing,
            )
            for name, value in zip(names, (above, pl.col(total) - above), strict=True)
        ]  # fmt: skip
    return pl.concat(parts)


def _flow(divided: Divided, keys: Sequence[str]) -> pl.DataFrame:
    """How many rows were given and lack a value; the cases, and clusters, of each class."""
    cases = divided.cases
    counts = check(replace(cases, case=None)).rename({"prior": "prevalence"})
    names = list(FLOW)
    if len(cases.cluster) == 1:
        rows = read(cases, clustered=True).valid_rows.group_by(keys)
        of_class = zip(CLUSTERS, (pl.col(TRUTH), ~pl.col(TRUTH)), strict=True)
        clusters = rows.agg(
            pl.col(CLUSTER).filter(one).n_unique().alias(name) for name, one in of_class
        )
        counts = join_on(counts, clusters.collect(), keys, "left")
        names += CLUSTERS
    nothing = [pl.lit(None, pl.Float64).alias(name) for name in
               ("prior", "threshold", "lower", "upper", "std_error")]  # fmt: skip
    return pl.concat(
        counts.select(
            *keys,
            *nothing,
            pl.lit(name).alias("measure"),
            pl.col(name).cast(pl.Float64).alias("estimate"),
            pl.col("positives", "negatives"),
            pl.when(pl.lit(name == "rows")).then("note").alias("note"),
        ).select(*keys, *COLUMNS)
        for name in names
    )
