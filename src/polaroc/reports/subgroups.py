"""What the first model does in each subgroup: a figure, and the largest gaps."""

from dataclasses import replace
from typing import Any

import polars as pl

from polaroc import charts
from polaroc.base.rounding import number, percent
from polaroc.comparison.subgroup_result import Subgroups, answer_of, measure_in_words
from polaroc.comparison.subgroups import subgroups
from polaroc.predictions.cases import Cases
from polaroc.reports.figures import Figure, Section
from polaroc.reports.findings import Findings
from polaroc.reports.tables import ReportTable, column
from polaroc.reports.thresholds import shown_priors

SHOWN = ("iauprec", "recall", "fpr", "precision")
OF_FOLDS = (
    "Subgroups are not shown for folds, because their models differ: give predictions of fitted "
    "models on one test set."
)
ON_THESE_CASES = (
    "The threshold was set on these cases, so that its rates are a little better here than in use; "
    "that holds for all subgroups alike."
)


def of_subgroups(cases: Cases[Any], findings: Findings) -> Section | None:
    """The section of a report on subgroups; None where no column tells them apart."""
    if not cases.subgroup or findings.cases is None:
        return None
    if findings.question.folds:
        return Section(OF_FOLDS)
    question, chosen = findings.question, findings.thresholds
    threshold = None if chosen is None else chosen.taken["threshold"]
    priors = shown_priors(question.over)
    found = subgroups(
        of_first_model(cases, findings), measures="iauprec", over=question.over,
        priors=sorted({priors[0], priors[-1]}), points=threshold, level=question.level,
    )  # fmt: skip
    is_own = chosen is not None and not chosen.is_tuned and threshold is not None
    # Others, such as the share called positive, follow from these.
    gaps, parts = (one.filter(pl.col("measure").is_in(SHOWN)) for one in (found.gaps, found.parts))
    return Section(
        answer_of(gaps, parts, found.keys),
        [*([ON_THESE_CASES] if is_own else []), *found.warnings],
        _figure(found, findings), _table(found),
    )  # fmt: skip


def of_first_model(cases: Cases[Any], findings: Findings) -> Cases[pl.DataFrame]:
    """The cases of the first model."""
    # A fold that is named may be the only one.
    own, model = replace(cases.collect(), fold=()), findings.models[0]
    if own.scores:
        return replace(own, score={str(model): own.scores[str(model)]})
    if own.model is None:
        return own
    named = own.table.select(own.model).to_series()
    return replace(
        own, table=own.table.filter(named.eq_missing(pl.Series([model], dtype=named.dtype)))
    )


def _figure(found: Subgroups, findings: Findings) -> Figure:
    shown = found.parts.filter(pl.col("measure").is_in(SHOWN))
    rows = [
        "all" if name is None else f"{name}: {value}"
        for name, value in shown.select("column", "subgroup")
        .unique(maintain_order=True)
        .iter_rows()
    ]
    of_all = shown.filter(pl.col("measure") == "iauprec").select("subgroup", "estimate").rows()
    seen = ", ".join(
        f"{name or 'all cases'} {number(value) or 'unknown'}" for name, value in of_all
    )
    return Figure(
        "subgroups-figure",
        charts.subgroups(shown, "Each subgroup, and all cases"),
        f"{findings.models[0]} in each subgroup, with {percent(found.level)} limits of each by "
        "itself; dashed: all cases.",
        f"Area by subgroup: {seen}.",
        rows,
        wide=True,
        labels=rows,
    )


def _table(found: Subgroups) -> ReportTable | None:
    largest = found.largest.filter(pl.col("measure").is_in(SHOWN))
    if largest.is_empty():
        return None
    pairs = zip(largest["subgroup_a"], largest["subgroup_b"], strict=True)
    names = [measure_in_words(*row) for row in largest.select("measure", "prior").iter_rows()]
    level = percent(found.level)
    return ReportTable(
        "subgroup-gaps",
        f"The largest gap of each number; limits hold for all pairs of subgroups at {level}",
        {
            "number": names,
            "by": column(largest["column"]),
            "pair": [f"{a} − {b}" for a, b in pairs],
            "gap": column(largest["difference"], number),
            f"{level} from": column(largest["lower"], number),
            f"{level} to": column(largest["upper"], number),
            "more than chance": ["yes" if one else "not shown" for one in largest["apart"]],
        },
        words=("by", "pair", "more than chance"),
    )
