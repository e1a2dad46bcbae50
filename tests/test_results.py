"""Results show the same in a terminal and a notebook, under the names of their columns."""

import html5lib
import polars as pl
import pytest

import polaroc as pr

FOLDS = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
ONE = FOLDS.filter(fold=1).drop("fold").with_columns(
    site=pl.when(pl.col("case") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")),
    day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("case").rank("dense") // 60),
)  # fmt: skip
OF_A = ONE.filter(model="A").drop("model")
NAMES = {"truth": "truth", "score": "score"}
OVER = {"over": (0.05, 0.2)}
RESULTS = {
    "choice over folds": lambda: pr.choose(FOLDS, **NAMES, **OVER, test_train_ratio=0.25),
    "choice of one test set": lambda: pr.choose(ONE, **NAMES, **OVER, case="case"),
    "choice by cost": lambda: pr.choose(FOLDS, **NAMES, **OVER, cost_fn=5, test_train_ratio=0.25),
    "comparison over folds": lambda: pr.compare(
        FOLDS, **NAMES, measure="auc", test_train_ratio=0.25
    ),
    "comparison of one test set": lambda: pr.compare(ONE, **NAMES, measure="auc", case="case"),
    "gate": lambda: pr.gate(
        ONE, **NAMES, measure="auc", champion="C", challenger="A", margin=0.02, case="case"
    ),
    "calibration": lambda: pr.calibration(ONE, **NAMES, score_prior=0.5),
    "calibration of one model": lambda: pr.calibration(
        pr.datasets.twenty_scores(), **NAMES, score_prior=0.3
    ),
    "monitor": lambda: pr.monitor(
        OF_A.drop("day"), OF_A.with_columns(score=pl.col("score").clip(0.3)), points=0.3,
        **NAMES, **OVER, time="day", labelled=OF_A,
    ),
}  # fmt: skip


def columns_of(result):
    """The names of the columns of all tables of a result, and of the quantities of its rows."""
    found = [value for value in vars(result).values() if isinstance(value, pl.DataFrame)]
    names = {name for table in found for name in table.columns}
    for table in found:
        if "quantity" in table.columns:
            names |= {*table["quantity"].str.strip_suffix("_labelled")}
    return names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_its_columns_by_their_names_everywhere(name):
    result = RESULTS[name]()
    page = html5lib.parseFragment(result._repr_html_(), namespaceHTMLElements=False)
    # A narrow terminal folds lines, and headings of tables.
    text = "".join(result.summary().split())
    for part in (*page.iter("p"), *page.iter("caption"), *page.iter("td")):
        assert all(word in text for word in "".join(part.itertext()).split())
    headings = {heading.text for heading in page.iter("th")}
    assert headings or name == "gate"
    # An estimate and its limits share a column, whose heading says so.
    # Letters are in summaries only.
    assert headings - {"estimate (lower to upper)", "letters"} <= columns_of(result)


def test_html_is_escaped():
    table = ONE.with_columns(model=pl.lit("<b>") + pl.col("model"))
    found = pr.compare(table, **NAMES, measure="auc", case="case")
    shown = found._repr_html_()
    assert found.pairs["model_a"][0].startswith("<b>")
    assert "<b>" not in shown
    assert "&lt;b&gt;A" in shown
