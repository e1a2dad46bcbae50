import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

COLUMNS = {"truth": "truth", "score": "score", "model": "model", "case": "case"}
# The cases are in a column of that name.
WORDS = [word for role in ("truth", "score", "model") for word in (f"--{role}", role)]
# Where scores crowd, three decimals do not tell them apart.
CROWDED = {
    "near 0": lambda x: 1 / (1 + np.exp(9 - 1.2 * x)),
    "near 1": lambda x: 1 - 1e-6 / (1 + np.exp(x)),
    "far from 0": lambda x: 12_000 + x / 1_000,
    "below 0": lambda x: x - 30,
}


def predictions(seed, scores, size=1_500):
    """Independent cases, scored by a good model A and a poor model B."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.3
    return pl.concat(
        pl.DataFrame({
            "model": model, "case": np.arange(size) + size * seed, "truth": truth,
            "score": scores(rng.normal(better * truth)),
        })
        for model, better in (("A", 2.2), ("B", 1.0))
    )  # fmt: skip


@pytest.fixture(params=CROWDED, ids=lambda name: name.replace(" ", "-"))
def tables(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = [predictions(seed, CROWDED[request.param]) for seed in (1, 2)]
    for name, table in zip(("tuning", "test"), made, strict=True):
        table.write_parquet(f"{name}.parquet")
    return made


def run(*words):
    result = polaroc(*words, columns=200)
    assert result.exit_code == 0, result.output
    return result.stdout


def assert_same_cases(text, exact, *tables, model="A"):
    if exact is None:
        assert text == "–"
        return
    for table in tables:
        scores = table.filter(model=model)["score"].to_numpy()
        assert ((scores >= float(text)) == (scores >= exact)).all(), (text, exact)


def rows_of(printed):
    """The cells of each line by their headings, of a table without empty cells."""
    lines = [line.split("  ") for line in printed.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    return [row for row in cells if len(row) > 1]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--min-recall", 0.8, "--prior", 0.0002],
         {"constraints": {"recall": 0.8}, "priors": 0.0002}),
        (["--min-precision", "0.5", "--confidence", 0.95,
          "--over", 0.1, 0.3],
         {"rule": "max_recall", "constraints": {"precision": 0.5}, "confidence": 0.95,
          "over": (0.1, 0.3)}),
    ],
)  # fmt: skip
def test_thresholds_on_the_terminal_select_the_same_cases(tables, words, asked):
    tuning, test = tables
    points = pr.operating_points(tuning, **asked, **COLUMNS)
    exact = dict(points.select("model", "threshold").rows())
    chosen = run("threshold", "tuning.parquet", *WORDS, *words, "--out", "saved.json")
    judged = run("threshold", "test.parquet", *WORDS, "--apply", "saved.json")
    for printed, table in ((chosen, tuning), (judged, test)):
        (heading, *rows) = rows_of(printed)
        place = heading.index("threshold")
        assert {row[0] for row in rows} >= {"A", "B"}
        for row in rows:
            if row[0] in exact:
                assert_same_cases(row[place], exact[row[0]], table, model=row[0])
                assert "priors" not in asked or row[heading.index("prior")] == "0.0002"
    number = run(
        "threshold", "test.parquet", *WORDS, "--apply", repr(exact["A"]), "--prior", 0.0002
    )
    (heading, *rows) = rows_of(number)
    assert_same_cases(rows[0][heading.index("threshold")], exact["A"], test)


def test_thresholds_of_a_choice_select_the_same_cases(tables):
    asked = {"over": (0.1, 0.3), "cost_fn": 4, **COLUMNS}
    choice = pr.choose(tables[1], tuning=tables[0], **asked)
    exact = dict(choice.models.select("model", "threshold").rows())
    printed = run(
        "choose", "test.parquet", "--tuning", "tuning.parquet", *WORDS,
        "--over", 0.1, 0.3, "--cost-fn", 4,
    )  # fmt: skip
    (said,) = re.findall(r"act on scores from (\S+)\. ", choice.answer)
    assert_same_cases(said, exact["A"], *tables)
    # The threshold is the last column.
    rows = [line.split() for line in printed.splitlines() if line.split()[:1] in (["A"], ["B"])]
    assert len(rows) == 2
    for row in rows:
        assert_same_cases(row[-1], exact[row[0]], *tables, model=row[0])
    as_json = json.loads(
        run("choose", "test.parquet", "--tuning", "tuning.parquet", *WORDS,
            "--over", 0.1, 0.3, "--cost-fn", 4, "--json")
    )  # fmt: skip
    assert as_json["threshold"] == exact["A"] == choice.threshold


def test_thresholds_of_folds_select_the_same_cases(tables):
    folds = pl.concat(tables).with_columns(fold=pl.col("case") % 5)
    choice = pr.choose(folds, over=(0.1, 0.3), cost_fn=4, fold="fold", **COLUMNS)
    # It is the threshold of the models of the folds, none to act on.
    said, threshold = choice.threshold_texts[choice.bayes], choice.models["threshold"][0]
    assert said not in choice.summary()
    assert_same_cases(said, threshold, folds)


def test_thresholds_of_a_report_select_the_same_cases(tables):
    call = [
        "test.parquet", "--tuning", "tuning.parquet", *WORDS, "--over", 0.1, 0.3,
        "--min-recall", 0.8, "--confidence", 0.95,
    ]  # fmt: skip
    exact = pr.choose(
        tables[1],
        tuning=tables[0],
        over=(0.1, 0.3),
        constraints={"recall": 0.8},
        confidence=0.95,
        **COLUMNS,
    ).threshold
    run("report", *call, "--out", "page.html")
    run("report", *call, "--out", "page.json")
    page, said = Path("page.html").read_text(), json.loads(Path("page.json").read_text())
    for text in (page, " ".join(said["answer"])):
        (first, *_) = re.findall(r"act on scores from (-?[0-9.e-]*[0-9])", text, re.IGNORECASE)
        assert_same_cases(first, exact, *tables)
    shown = said["tables"]["thresholds"]["columns"]["threshold"]
    assert_same_cases(shown[0], exact, *tables)
    assert said["threshold"] == exact


def test_small_measures_are_not_printed_as_zero(tables):
    measures = pr.evaluate(tables[1], priors=0.0002, measure=["auprec"], **COLUMNS)
    printed = run("evaluate", "test.parquet", *WORDS, "--prior", 0.0002, "--measure", "auprec")
    shown = {row[0]: float(row[1]) for row in rows_of(printed) if row[0] in "AB"}
    for model, estimate in measures.select("model", "estimate").rows():
        assert shown[model] == pytest.approx(estimate, rel=0.05)


def test_p_values_below_one_in_a_thousand_are_printed_as_such(tables):
    found = pr.compare(tables[1], "auc", **COLUMNS)
    assert found.omnibus["p_value"].item() < 1e-20
    assert found.pairs["p_value"].item() < 1e-20
    run("report", "test.parquet", *WORDS, "--over", 0.1, 0.3, "--out", "page.html")
    page = Path("page.html").read_text()
    for text in (run("compare", "test.parquet", *WORDS, "--measure", "auc"), repr(found), page):
        assert re.search(r"\bp (<|&lt;) 0\.001", text)
        assert not re.search(r"\de-\d+", text.partition("<script")[0])
    printed = run("compare", "test.parquet", *WORDS, "--measure", "auc", "--json")
    assert json.loads(printed)["pairs"][0]["p_value"] == found.pairs["p_value"].item()
