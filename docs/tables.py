"""Fill the tables of docs/reproduction.md with what the queries answer."""

import re
import runpy
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import polaroc as pr

sys.path.append(str(Path(__file__).parents[1] / "queries"))
from papers.published import accsens_table_2, proc_table_1

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
TABLE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
PROC_COLUMNS = {
    "AUPREC, prior .5": ("auprec", 0.5),
    "prior .1": ("auprec", 0.1),
    "prior .01": ("auprec", 0.01),
    "IAUPREC": ("iauprec", None),
    "AUC": ("auc", None),
}
ACCSENS_COLUMNS = {"AUC": "auc_range", "Sens": "sens", "AccSens": "accsens", "ε": "equal_error"}


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text()))


def filled(page: str) -> str:
    """The page with every table made anew."""
    return TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def ask(name: str, predictions: pl.DataFrame) -> pl.DataFrame:
    """What a query answers."""
    return run(name)["query"](predictions.lazy()).collect()


def run(name: str) -> dict[str, Any]:
    """The functions of a query's file."""
    return runpy.run_path(str(HERE.parent / "queries" / f"{name}.py"))


def satellite_table() -> str:
    ours = ask("satellite_table", pr.datasets.satellite_predictions())
    theirs = proc_table_1().rename({"published": "mean", "published_sd": "sd"})
    rows = [
        [
            f"{model} {who}",
            *(mean_sd(source, model=model, measure=m, prior=p) for m, p in PROC_COLUMNS.values()),
        ]
        for model in "ABC"
        for who, source in (("ours", ours), ("paper", theirs))
    ]
    return markdown(["", *PROC_COLUMNS], rows)


def mean_sd(table: pl.DataFrame, **key: object) -> str:
    row = table.filter(pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items())
    mean, sd = row.select("mean", "sd").row(0)
    return f"{mean:.3f} ({sd:.3f})"


def areas_that_exclude_each_other() -> str:
    found = ask("areas_that_exclude_each_other", pr.datasets.satellite_predictions())
    rows = [
        [model, f"{prior:g}", f"{there:.3f}", f"{most:.3f}", "yes" if possible else "**no**"]
        for model, prior, there, most, possible in found.iter_rows()
    ]
    return markdown(["", "prior", "AUPREC", "at most", "possible"], rows)


def which_models_differ() -> str:
    found = ask("which_models_differ", pr.datasets.satellite_predictions())
    rows = [
        [name, f"{f:.2f}", str(df1), str(df2), f"{p:.2g}"] for name, f, df1, df2, p in found.rows()
    ]
    return markdown(["", "F", "df", "residual df", "p"], rows)


def sensitivity_table() -> str:
    both = run("sensitivity_table")["embedded"]()
    found = ask("sensitivity_table", both)
    named = accsens_table_2().select("dataset", "model").unique(maintain_order=True)
    rows = []
    for dataset, model in named.join(both, on=["dataset", "model"], how="semi").iter_rows():
        measures = found.filter(dataset=dataset, model=model)
        means = {
            measure: f"{ours:.3f}/{theirs:.3f}"
            for measure, ours, theirs in measures.select("measure", "mean", "published").iter_rows()
        }
        rows.append([dataset.capitalize(), model, *(means[m] for m in ACCSENS_COLUMNS.values())])
    return markdown(["data", "model", *ACCSENS_COLUMNS], rows)


def twenty_scores() -> str:
    found = ask("twenty_scores", pr.datasets.twenty_scores())
    return markdown(["", "area"], [[name, f"{value:.6f}"] for _, name, value in found.iter_rows()])


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        satellite_table, areas_that_exclude_each_other, which_models_differ, sensitivity_table,
        twenty_scores,
    )
}  # fmt: skip


if __name__ == "__main__":
    main()
