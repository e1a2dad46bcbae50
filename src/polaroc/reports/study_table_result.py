"""What is published, as a table of HTML, LaTeX and Markdown, and the items that it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import number, percent
from polaroc.base.text import capitalised
from polaroc.base.text_tables import Summarised, markdown_table, table
from polaroc.measures.table import humanize_note
from polaroc.thresholds.named_rates import NET_BENEFIT

if TYPE_CHECKING:
    from great_tables import GT
    from rich.console import RenderableType

CLUSTERS = ["clusters_with_positives", "clusters_with_negatives"]
# How each measure is called, by section.
SECTIONS = {
    "Cases": {
        "rows": "rows given",
        "missing": "without score or truth",
        "positives": "positives",
        "negatives": "negatives",
        "prevalence": "share of positives",
        CLUSTERS[0]: "clusters with positives",
        CLUSTERS[1]: "clusters with negatives",
    },
    "Discrimination": {
        "auc": "area under the ROC curve",
        "auprec": "area under the precision-recall curve",
        "iauprec": "mean area under the precision-recall curve",
    },
    "At the threshold": {
        "tp": "true positives",
        "fn": "false negatives",
        "fp": "false positives",
        "tn": "true negatives",
        "recall": "sensitivity (recall)",
        "specificity": "specificity",
        "precision": "positive predictive value (precision)",
        "npv": "negative predictive value",
        "likelihood_ratio_positive": "positive likelihood ratio",
        "likelihood_ratio_negative": "negative likelihood ratio",
        NET_BENEFIT: "net benefit per case",
    },
    "Calibration": {
        "observed_over_expected": "observed over expected",
        "calibration_in_the_large": "calibration in the large",
        "calibration_slope": "calibration slope",
        "brier": "Brier score",
    },
}
CROSSED = ("tp", "fn", "fp", "tn")
COUNTS = (*SECTIONS["Cases"], *CROSSED)
FLOW = tuple(list(SECTIONS["Cases"])[:5])
WORDS = {name: words for names in SECTIONS.values() for name, words in names.items()}
# Items of the guidelines that an analysis can answer: what they ask, what the table has for it, and
# a measure, or the column of the subgroups, that it must hold for that.
ITEMS = (
    ("STARD 2015", "12a", "cut-offs of the test",
     "the threshold; whether it was set beforehand is the author's to say", "recall"),
    ("STARD 2015", "14", "how accuracy is estimated", "the measures, and what limits are", ""),
    ("STARD 2015", "16", "missing data", "rows without score or truth", ""),
    ("STARD 2015", "17", "variability of accuracy", "every subgroup", "subgroup"),
    ("STARD 2015", "19", "flow of participants", "rows given, without a value, and used", ""),
    ("STARD 2015", "23", "test results by the reference standard",
     "true and false positives and negatives at the threshold", "tp"),
    ("STARD 2015", "24", "accuracy and its precision", "estimates with limits", ""),
    ("TRIPOD+AI 2024", "11", "missing data", "rows without score or truth", ""),
    ("TRIPOD+AI 2024", "12e", "measures of performance", "areas, rates and calibration", ""),
    ("TRIPOD+AI 2024", "14", "fairness", "every subgroup", "subgroup"),
    ("TRIPOD+AI 2024", "15", "classification and its threshold",
     "the threshold; how it was found is the author's to say", "recall"),
    ("TRIPOD+AI 2024", "20a", "flow of participants", "rows given, without a value, and used", ""),
    ("TRIPOD+AI 2024", "21", "participants and events", "positives and negatives", ""),
    ("TRIPOD+AI 2024", "23a", "performance with limits", "estimates, also of subgroups", ""),
)  # fmt: skip
REST = {
    "STARD 2015": "1–11, 12b, 13, 15, 18, 20–22, 25–30",
    "TRIPOD+AI 2024": "1–10, 12a–12d, 12f, 12g, 13, 16–19, 20b, 20c, 22, 23b, 24–27",
}


@dataclass(frozen=True, eq=False, repr=False)
class StudyTable(Summarised):
    """The numbers of a study as they are published; made by `study_table`.

    Attributes
    ----------
    table
        One row per key, subgroup and number; of all cases first, with null as `column` and
        `subgroup`. The keys (`by` and model); `column`, the column of the subgroups, and
        `subgroup`, String; `measure` String; `prior`, `threshold` Float64, null where a measure has
        none; `estimate`, `lower`, `upper`, their `level`, `std_error` Float64; `positives`,
        `negatives` Int64 (Float64 if weighted); `note` String: why a number is null or to be
        doubted.
    keys
        The names of the keys.
    level
        Of all limits.
    warnings
        What the numbers rest on, in sentences.
    over
        The range or belief of a mean area, in words.
    """

    table: pl.DataFrame
    keys: tuple[str, ...]
    level: float
    warnings: tuple[str, ...] = ()
    over: str = ""

    @property
    def items(self) -> pl.DataFrame:
        """Which items of the guidelines the table answers; of the author's `answer` is null.

        `guideline`, `item`, `asks`, `answer`, all String.
        """
        has = {*self.table["measure"]}
        has |= set() if self.table["subgroup"].is_null().all() else {"subgroup"}
        rows = [
            (name, item, asks, answer if not needs or needs in has else None)
            for name, item, asks, answer, needs in ITEMS
        ]
        rows += [(name, items, "all others", None) for name, items in REST.items()]
        names = ["guideline", "item", "asks", "answer"]
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    @property
    def markdown(self) -> str:
        """The table as Markdown, with its notes below."""
        headings, rows = self.cells()
        shown = markdown_table(headings, [[*row[1:]] for row in rows])
        return "\n".join([shown, "", *(f"{line}\n" for line in self.below())])

    @property
    def html(self) -> str:
        """The table as HTML with its own style, in sections, the notes below."""
        return str(self._laid_out().as_raw_html())

    @property
    def latex(self) -> str:
        """The table as LaTeX, in sections, the notes below."""
        return str(self._laid_out().as_latex())

    @property
    def shown(self) -> "list[RenderableType]":
        """The table and its notes, for a terminal of any width."""
        headings, rows = self.cells()
        return [table("", headings, [row[1:] for row in rows], 1), *self.below()]

    def __repr__(self) -> str:
        return f"StudyTable({len(self.table)} numbers)"

    def _repr_html_(self) -> str:
        return self.html

    def below(self) -> list[str]:
        """What stands below the table."""
        limits = f"In brackets: {percent(self.level)} limits."
        noted = self.table.filter(pl.col("note").is_not_null(), pl.col("measure") != "rows")
        in_words = noted.select("measure", "prior", note=humanize_note(pl.col("note")))
        notes = [
            f"{capitalised(self._words(*row[:2]))}: {row[2]}."
            for row in in_words.unique(maintain_order=True).iter_rows()
        ]
        return [limits, *self.warnings, *notes]

    def _words(self, name: str, prior: float | None) -> str:
        """How a number is called."""
        at = "" if prior is None else f", {percent(prior)} positives"
        return WORDS[name] + (f", {self.over}" if name == "iauprec" else at)

    def _laid_out(self) -> "GT":
        from great_tables import GT

        headings, rows = self.cells()
        names = ["section", *(f"c{i}" for i in range(len(headings)))]
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        laid_out = (
            GT(frame, rowname_col="c0", groupname_col="section")
            .cols_label(dict(zip(names[2:], headings[1:], strict=True)))
            .cols_align("right", columns=names[2:])
        )
        for line in self.below():
            laid_out = laid_out.tab_source_note(line)
        return laid_out

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The headings, and rows of a section, the words of a number, and its values."""
        who = [*self.keys, "column", "subgroup"]
        columns = self.table.partition_by(who, as_dict=True, maintain_order=True)
        headings = ["", *(_heading(place) for place in columns)]
        texts = [
            {(row["measure"], row["prior"]): _text(row) for row in one.iter_rows(named=True)}
            for one in columns.values()
        ]
        thresholds = [_threshold(one) for one in columns.values()]
        rows: list[list[str]] = []
        for section, name, prior in self._order():
            words = self._words(name, prior)
            if section == "At the threshold" and not any(row[0] == section for row in rows):
                rows.append([section, "threshold", *thresholds])
            rows.append([section, words, *(one.get((name, prior), "–") for one in texts)])
        return headings, rows

    def _order(self) -> Iterator[tuple[str, str, float | None]]:
        present = self.table.select("measure", "prior").unique()
        for section, names in SECTIONS.items():
            for name in names:
                priors = present.filter(measure=name)["prior"]
                yield from ((section, name, prior) for prior in priors.sort())


def _heading(place: tuple[Any, ...]) -> str:
    """The keys of a column of the table, and its subgroup."""
    *keys, column, subgroup = place
    whose = "all cases" if column is None else f"{column}: {subgroup}"
    return ", ".join([*map(str, keys), *([] if keys and column is None else [whose])])


def _threshold(rows: pl.DataFrame) -> str:
    known = rows["threshold"].drop_nulls().unique(maintain_order=True)
    return ", ".join(f"{one:.6g}" for one in known) or "–"


def _text(row: dict[str, Any]) -> str:
    """An estimate with its limits; a count as it is."""
    value = row["estimate"]
    if value is None:
        return "–"
    if row["measure"] == "prevalence":
        return percent(value)
    if row["measure"] in COUNTS:
        return f"{value:,.6g}" if value % 1 else f"{value:,.0f}"
    if row["lower"] is None or row["upper"] is None:
        return f"{number(value)}"
    return f"{number(value)} ({number(row['lower'])} to {number(row['upper'])})"
