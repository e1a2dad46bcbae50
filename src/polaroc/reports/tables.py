"""The tables of a report, as its templates lay them out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polaroc import rates
from polaroc.base.rounding import number, p_value, percent, probability, significant
from polaroc.models.comparison import first_pairs, interval_rule
from polaroc.priors.grids import skew
from polaroc.reports.findings import Findings
from polaroc.reports.ranking import AREA, COST
from polaroc.reports.words import limits_of_hundred, of_hundred, percent_range

NOTHING = "–"
Column: TypeAlias = Sequence[str | None]
# Where models are ranked by cost: what a column holds then.
NOTES_BY_COST = {
    "area": "mean area under the precision-recall curve over the shares of positives, all "
    "thresholds together: 1 is perfect, and chance has the share of positives.",
    "worst regret": "what it costs more than the cheapest model at the share of positives where "
    "that is most.",
}
RANKING_NOTES = (
    ("cost per case", "the mean cost of a case at the threshold that was set for the model on "
     "other cases, at the mean share of positives; beside it its margin of error."),
    ("area", "mean area under the precision-recall curve over the shares of positives: 1 is "
     "perfect, and chance has the share of positives; beside it its margin of error."),
    ("chance to be best", "the probability that the model is the best of them."),
    ("worst regret", "the area that it is below the best model at the share of positives where "
     "that is most."),
)  # fmt: skip


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
        rows = zip(*self.columns.values(), strict=True)
        return [
            [
                (heading, NOTHING if cell is None else cell)
                for heading, cell in zip(self.columns, row, strict=True)
            ]
            for row in rows
        ]


def column(values: pl.Series, text: Callable[[Any], str | None] = str) -> Column:
    """Each value as text."""
    return [text(value) for value in values]


def numbers(values: pl.Series, digits: int = 3) -> Column:
    """Numbers to so many decimals."""
    return [number(value, digits) for value in values]


def ranking_table(findings: Findings) -> ReportTable:
    """The models, the best first."""
    table, level = findings.ranking, percent(findings.question.level)
    columns = {findings.question.model: column(table.to_series(0))}
    area: dict[str, Column] = {"area": numbers(table[AREA])}
    # Costs have any scale.
    in_digits = significant if findings.by_cost else number
    shown: dict[str, Column] = {
        "cost per case": column(table[COST], significant),
        **({} if findings.by_cost else area),
        f"{level} from": column(table["lower"], in_digits),
        f"{level} to": column(table["upper"], in_digits),
        "chance to be best": column(table["probability_best"], probability),
        "worst regret": column(table["worst_regret"], in_digits),
        **(area if findings.by_cost else {}),
        "AUC": numbers(table["auc"]),
    }
    known = {name: values for name, values in shown.items() if any(v is not None for v in values)}
    caption = f"The models, the {'least cost' if findings.by_cost else 'largest area'} first"
    return ReportTable("ranking", caption, _distinct(columns, known))


def notes_on_columns(findings: Findings, table: ReportTable) -> list[tuple[str, str]]:
    """Notes on the columns of the ranking."""
    notes = dict(RANKING_NOTES) | (NOTES_BY_COST if findings.by_cost else {})
    return [(name, meaning) for name, meaning in notes.items() if name in table.columns]


def threshold_table(findings: Findings) -> ReportTable | None:
    """A threshold of the first model for each need, with its rates."""
    chosen = findings.thresholds
    if chosen is None:
        return None
    points, ends = chosen.points, sorted({chosen.priors[0], chosen.priors[-1]})
    columns: dict[str, Column] = {
        "goal": [need.goal for need in chosen.needs],
        "threshold": chosen.texts,
    }
    if chosen.folds > 1:
        columns["set on other folds"] = chosen.spreads
    for name, heading in (("tpr", "positives"), ("fpr", "negatives")):
        values = zip(*(points[f"{name}{end}"] for end in ("", "_lower", "_upper")), strict=True)
        columns[f"alarms of 100 {heading}"] = [_with_limits(*row) for row in values]
    recall, alarms = pl.col("tpr"), pl.col("fpr")
    for prior in ends:
        right = points.select(
            rates.precision(recall, alarms, skew(prior)).fill_nan(None).alias("right"),
            low=rates.precision(pl.col("tpr_lower"), pl.col("fpr_upper"), skew(prior)),
            high=rates.precision(pl.col("tpr_upper"), pl.col("fpr_lower"), skew(prior)),
        )
        columns[f"right of 100 alarms at {percent(prior)} positives"] = [
            _with_limits(*row) for row in right.fill_nan(None).iter_rows()
        ]
    if chosen.need.kind == "cost":
        costs = [
            # A loss counts each of the two kinds of error with a weight of one half.
            2 * need.cost(t, f) if t is not None and f is not None else None
            for need, t, f in zip(chosen.needs, points["tpr"], points["fpr"], strict=True)
        ]
        columns["cost per case at that share"] = [significant(cost) for cost in costs]
    elif chosen.is_tuned:
        level = percent(findings.question.confidence)
        columns["promised"] = [f"yes, {level}" if one else "no" for one in chosen.promises]
    known = points["tpr_lower"].is_not_null().any()
    limits = f", with {percent(findings.question.level)} intervals" if known else ""
    return ReportTable("thresholds", f"Thresholds of {findings.models[0]}{limits}", columns)


def omnibus_table(findings: Findings) -> ReportTable | None:
    """Tests of all models at once."""
    if findings.comparison is None:
        return None
    omnibus = findings.comparison.omnibus
    return ReportTable(
        "omnibus",
        "All models at once, on the area",
        {
            "test": column(omnibus["test"]),
            "statistic": numbers(omnibus["statistic"]),
            "df 1": column(omnibus["df1"], significant),
            "df 2": column(omnibus["df2"], significant),
            "p": column(omnibus["p_value"], p_value),
        },
    )


def pairs_table(findings: Findings) -> ReportTable | None:
    """Each two models."""
    if findings.comparison is None:
        return None
    comparison, level = findings.comparison, percent(findings.question.level)
    shown, which = first_pairs(comparison)
    first, second = (column(shown.to_series(i)) for i in (0, 1))
    return ReportTable(
        "pairs",
        f"Each two models{which}; {interval_rule(comparison)}",
        {
            "pair": [f"{a} − {b}" for a, b in zip(first, second, strict=True)],
            "difference": numbers(shown["difference"]),
            f"{level} from": column(shown["lower"], number),
            f"{level} to": column(shown["upper"], number),
            "p, alone": column(shown["p_value"], p_value),
            "adjusted from": column(shown["adjusted_lower"], number),
            "adjusted to": column(shown["adjusted_upper"], number),
            "p, adjusted": column(shown["p_adjusted"], p_value),
        },
    )


def audit_table(findings: Findings) -> ReportTable | None:
    """The audit of the predictions by model."""
    if findings.audit is None:
        return None
    model = findings.question.model
    table = (
        findings.audit.group_by(model)
        .agg(
            pl.len().alias("keys"),
            pl.col("rows", "positives", "negatives").sum(),
            pl.col("prior").min().alias("least"),
            pl.col("prior").max().alias("most"),
            pl.col("scores").min(),
            pl.col("lowest").min(),
            pl.col("highest").max(),
            pl.col("note").drop_nulls().unique(maintain_order=True).str.join("; "),
        )
        .sort(model, nulls_last=True)
    )
    shares = zip(table["least"], table["most"], strict=True)
    columns = {model: column(table[model])}
    shown: dict[str, Column] = {
        "folds": [f"{value:,}" for value in table["keys"]],
        "rows": _integers(table["rows"]),
        "positives": _integers(table["positives"]),
        "negatives": _integers(table["negatives"]),
        "share of positives": [
            None if least is None else percent_range(least, most) for least, most in shares
        ],
        "distinct scores": _integers(table["scores"]),
        "lowest score": column(table["lowest"], significant),
        "highest score": column(table["highest"], significant),
        "note": [value or None for value in table["note"]],
    }
    title = "What the predictions hold; distinct scores: the fewest of a fold"
    if not findings.question.folds:
        del shown["folds"]
        title = "What the predictions hold"
    if table["note"].is_in([""]).all():
        del shown["note"]
    return ReportTable("audit", title, _distinct(columns, shown), words=("note",))


def _distinct(named: Mapping[str, Column], values: Mapping[str, Column]) -> dict[str, Column]:
    """Columns of names before those of values; a name that is also a heading keeps its place."""
    kept = {(f"{name} " if name in values else name): column for name, column in named.items()}
    return kept | dict(values)


def _with_limits(share: float | None, low: float | None, high: float | None) -> str | None:
    if share is None:
        return None
    limits = "" if low is None or high is None else f" ({limits_of_hundred(low, high)})"
    return of_hundred(share) + limits


def _integers(values: pl.Series) -> Column:
    return [None if value is None else f"{value:,.6g}" if value != int(value) else f"{int(value):,}"
            for value in values]  # fmt: skip
