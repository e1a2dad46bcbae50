"""The tables of a report, as its templates lay them out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polaroc.base.text import number, p_value, percent, probability, significant
from polaroc.models.choice import BY_COST
from polaroc.models.comparison import first_pairs
from polaroc.priors.grids import skew
from polaroc.rates import precision
from polaroc.reports.findings import Findings
from polaroc.reports.words import limits_of_hundred, of_hundred, percent_range

NOTHING = "–"
Column: TypeAlias = Sequence[str | None]
NOTES = {
    **{
        f"{name} per case": f"the mean {name} at the threshold that was set for the model on other "
        "cases, per case, at the mean share of positives."
        for name in BY_COST.values()
    },
    "area": "mean area under the precision-recall curve over the shares of positives: 1 is "
    "perfect, and chance has the share of positives.",
    "corrected": "the same, corrected for chance: the first was picked for being ahead. Its margin "
    "of error follows.",
    "chance to be best": "the probability that the model is the best of them.",
    "worst regret": "how far it is behind the best model at the share of positives where that is "
    "most.",
}


@dataclass(frozen=True, eq=False)
class ReportTable:
    """A table to show."""

    name: str  # its id on the page
    caption: str
    columns: Mapping[str, Column]  # by heading
    words: tuple[str, ...] = ()  # headings of other text

    @property
    def rows(self) -> list[list[tuple[str, str]]]:
        """The cells of each row with their headings, as the page shows them."""
        return [
            [
                (heading, NOTHING if cell is None else cell)
                for heading, cell in zip(self.columns, row, strict=True)
            ]
            for row in zip(*self.columns.values(), strict=True)
        ]


def column(values: pl.Series, text: Callable[[Any], str | None] = str) -> Column:
    """Each value as text."""
    return [text(value) for value in values]


def ranking_table(findings: Findings) -> ReportTable:
    """The models, the best first."""
    level = percent(findings.request.level)
    judged, first = "area", "largest area"
    in_digits: Callable[[float | None], str | None] = number
    if findings.by_cost:
        # Costs have any scale.
        name = findings.judged_by
        judged, first, in_digits = f"{name} per case", f"lowest {name}", significant
    headings = {
        "mean": (judged, in_digits), "expected": ("corrected", in_digits),
        **dict.fromkeys(("lower", "expected_lower"), (f"{level} from", in_digits)),
        **dict.fromkeys(("upper", "expected_upper"), (f"{level} to", in_digits)),
        "probability_best": ("chance to be best", probability),
        "worst_regret": ("worst regret", in_digits),
    }  # fmt: skip
    columns = {"model": column(findings.models)}
    for name, (heading, text) in headings.items():
        if name in findings.ranking.columns and findings.ranking[name].count():
            columns[heading] = column(findings.ranking[name], text)
    return ReportTable("ranking", f"The models, the {first} first", columns)


def threshold_table(findings: Findings) -> ReportTable | None:
    """A threshold of the first model for each need, with its rates."""
    chosen, (low, _, high) = findings.thresholds, findings.request.priors
    if chosen is None:
        return None
    points = chosen.points
    columns: dict[str, Column] = {"goal": [need.goal for need in chosen.needs]}
    if chosen.folds < 2:
        columns["threshold"] = [text or "none" for text in chosen.texts]
    columns["found of 100 positives"] = _with_limits(points, "tpr", "tpr_lower", "tpr_upper")
    for prior in sorted({low, high}):
        at = skew(prior)
        right = points.select(
            right=precision(pl.col("tpr"), pl.col("fpr"), at),
            worst=precision(pl.col("tpr_lower"), pl.col("fpr_upper"), at),
            best=precision(pl.col("tpr_upper"), pl.col("fpr_lower"), at),
        ).fill_nan(None)
        heading = f"right of 100 alarms at {percent(prior)} positives"
        columns[heading] = _with_limits(right, "right", "worst", "best")
    columns["alarms of 100 negatives"] = _with_limits(points, "fpr", "fpr_lower", "fpr_upper")
    known = points["tpr_lower"].count()
    limits = f", with {percent(findings.request.level)} intervals" if known else ""
    return ReportTable("thresholds", f"Thresholds of {findings.models[0]}{limits}", columns)


def _with_limits(rows: pl.DataFrame, *names: str) -> Column:
    """Shares of 100 with their limits."""
    return [
        None if share is None else of_hundred(share)
        + ("" if low is None or high is None else f" ({limits_of_hundred(low, high)})")
        for share, low, high in rows.select(names).iter_rows()
    ]  # fmt: skip


def pairs_table(findings: Findings) -> ReportTable | None:
    """The difference of each two models."""
    comparison, level = findings.comparison, percent(findings.request.level)
    if comparison is None:
        return None
    shown, which = first_pairs(comparison)
    pairs = [f"{a} − {b}" for a, b in shown.select("model_a", "model_b").iter_rows()]
    columns = {"pair": pairs, "difference": column(shown["difference"], number)}
    columns[f"{level} from"] = column(shown["adjusted_lower"], number)
    columns[f"{level} to"] = column(shown["adjusted_upper"], number)
    columns["p"] = column(shown["p_adjusted"], p_value)
    return ReportTable("pairs", f"Each two models{which}, adjusted for their number", columns)


def audit_table(findings: Findings) -> ReportTable | None:
    """The audit of the predictions by model."""
    if findings.audit is None:
        return None
    table = (
        findings.audit.group_by("model")
        .agg(
            pl.col("rows", "positives", "negatives").sum(),
            pl.col("scores", "lowest").min(),
            pl.col("highest").max(),
            pl.col("note").drop_nulls().unique(maintain_order=True).str.join("; "),
            folds=pl.len(),
            least=pl.col("prior").min(),
            most=pl.col("prior").max(),
        )
        .sort("model", nulls_last=True)
    )
    shares = table.select("least", "most").iter_rows()
    columns: dict[str, Column] = {
        "model": column(table["model"]),
        "folds": column(table["folds"]),
        **{name: column(table[name], _count) for name in ("rows", "positives", "negatives")},
        "share of positives": [None if a is None else percent_range(a, b) for a, b in shares],
        "distinct scores": column(table["scores"], _count),
        "lowest score": column(table["lowest"], significant),
        "highest score": column(table["highest"], significant),
        "note": [value or None for value in table["note"]],
    }
    title = "What the predictions hold; distinct scores: the fewest of a fold"
    if findings.folds < 2:
        del columns["folds"]
        title = "What the predictions hold"
    if not any(columns["note"]):
        del columns["note"]
    return ReportTable("audit", title, columns, words=("note",))


def _count(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:,.6g}" if value != int(value) else f"{int(value):,}"
