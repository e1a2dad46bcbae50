"""The content of a report as JSON, beside the page."""

import json
import re
from html import unescape

import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, OutputRefused

SITE = pl.when(pl.col("case") % 3 == 0).then(pl.lit("n|orth")).otherwise(pl.lit("s"))
ALL = pr.datasets.satellite_predictions()
ROWS = ALL.filter(pl.col("fold") == 1).drop("fold").with_columns(site=SITE)
FOLDS = ALL.filter(pl.col("fold") < 4)
ASKED = {"truth": "truth", "score": "score", "over": (0.05, 0.2), "recall": 0.8}


def written(folder, name, rows=ROWS, **asked):
    return pr.report(rows, path=folder / name, **ASKED | asked).read_text()


def words(text):
    """Text without layout: what is left of it in HTML, Markdown or JSON."""
    text = unescape(re.sub(r"<[^>]+>", " ", text)).replace("\\", "")
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.usefixtures("words_only")
@pytest.mark.parametrize(("rows", "asked"), [(ROWS, {}), (FOLDS, {"test_train_ratio": 0.25})])
def test_json_says_what_the_page_says(tmp_path, rows, asked):
    said = json.loads(written(tmp_path, "a.json", rows, **asked))
    page = words(written(tmp_path, "a.html", rows, **asked))
    for lines in ("answer", "how_sure", "what_would_change_it", "assumptions"):
        assert said[lines]
        for line in said[lines]:
            assert words(line) in page
    assert said["models"][0] == "A"
    for one in said["cases"]:
        assert one["found"] + one["missed"] == round(one["cases"] * one["prior"])
    ranking = said["tables"]["ranking"]["columns"]
    assert all(value in page for column in ranking.values() for value in column if value)


@pytest.mark.usefixtures("words_only")
def test_an_earlier_one_is_replaced_and_a_foreign_file_is_not(tmp_path):
    name = "a.json"
    first = written(tmp_path, name, title="first title")
    second = written(tmp_path, name, title="second title")
    assert second == first.replace("first title", "second title")
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputRefused):
        written(tmp_path, name)
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.usefixtures("words_only")
def test_a_monitor_is_a_page(tmp_path):
    one = ROWS.filter(model="A")
    used = one.head(400).with_columns(day=pl.lit(1))
    roles = {"truth": "truth", "score": "score", "time": "day"}
    found = pr.monitor(one, used, points=0.0, over=(0.05, 0.2), **roles)
    with pytest.raises(InvalidArgument, match="written as an HTML page"):
        pr.report(found, path=tmp_path / "a.json")


@pytest.mark.usefixtures("words_only")
@pytest.mark.parametrize("prior", [0.3, 0.002, 0.00004])
def test_a_case_is_found_of_so_many_that_one_can_be(tmp_path, prior):
    said = json.loads(written(tmp_path, "a.json", over=(prior, 1.5 * prior), recall=0.2))
    first, *_ = said["cases"]
    assert first["found"] >= 1
    # And of no more cases than are needed for it.
    assert first["cases"] == 1_000 or first["found"] < 100
    assert {one["cases"] for one in said["cases"]} == {first["cases"]}
