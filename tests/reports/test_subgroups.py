import numpy as np
import polars as pl
import pytest
from pages import Page
from polars.testing import assert_frame_equal

import polaroc as pr

pytestmark = pytest.mark.usefixtures("words_only")
NAMES = {"truth": "y", "score": ["p", "q"], "case": "row", "over": (0.1, 0.3)}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    truth = rng.random(400) < 0.3
    site = rng.choice(["north", "south"], 400)
    score = rng.normal(size=400) + truth * np.where(site == "south", 0.2, 2.5)
    return pl.DataFrame({
        "y": truth, "p": score, "q": score + rng.normal(size=400), "site": site,
    }).with_row_index("row")  # fmt: skip


def test_a_page_shows_the_first_model_in_each_subgroup(table, tmp_path):
    page = Page(pr.report(table, **NAMES, subgroup="site", path=tmp_path / "page.html"))
    gaps = page.table("The largest gap")
    found = pr.subgroups(
        table, truth="y", score={"p": "p"}, subgroup="site", measures="iauprec", over=(0.1, 0.3)
    )
    assert gaps["pair"].to_list()[0] == "north − south"
    assert float(gaps["gap"][0]) == pytest.approx(found.gaps["difference"][0], abs=5e-4)
    assert gaps["more than chance"][0] == "yes"
    differ = (gaps["more than chance"] == "yes").sum()
    assert f"{differ} of {gaps.height} numbers do" in page.text()
    words = page.text()
    assert "By site: " in words
    assert "differs by more than chance" in words
    assert "The threshold was set on these cases" in words


def test_without_subgroups_and_with_folds_there_is_no_such_table(table, tmp_path):
    plain = Page(pr.report(table, **NAMES, path=tmp_path / "plain.html"))
    assert plain.table("The largest gap") is None
    folded = table.with_columns(fold=pl.col("row") % 2)
    page = Page(
        pr.report(folded, **NAMES, fold="fold", subgroup="site", path=tmp_path / "page.html")
    )
    assert page.table("The largest gap") is None
    assert "Subgroups are not shown for folds" in page.text()


def test_all_else_on_the_page_stays_as_it_is(table, tmp_path):
    plain = Page(pr.report(table, **NAMES, path=tmp_path / "plain.html"))
    page = Page(pr.report(table, **NAMES, subgroup="site", path=tmp_path / "page.html"))
    assert_frame_equal(page.table("The models"), plain.table("The models"))


@pytest.mark.alike
@pytest.mark.parametrize("site", ["site", pl.col("site").str.slice(0, 1).alias("part")])
def test_a_threshold_of_other_cases_is_promised_in_each_subgroup(table, tmp_path, site):
    tuning, test = table.filter(pl.col("row") < 200), table.filter(pl.col("row") >= 200)
    roles = {"truth": "y", "score": ["p", "q"], "case": "row", "subgroup": site, "time": "row"}
    asked = {"over": (0.1, 0.3), "recall": 0.5, "path": tmp_path / "page.html"}
    page = pr.report(test, **roles, tuning=tuning, **asked)
    words = Page(page).text()
    written = page.read_text()
    assert Page(pr.report(test, **roles, tuning=pr.cases(tuning, **roles), **asked)).text() == words
    assert page.read_text() == written
    first = roles | {"score": {"p": "p"}}
    points = pr.operating_points(tuning, "recall", target=0.5, confidence=0.95, priors=0.1, **first)
    assert points["promise"].item() in words
    assert (
        points["threshold"].item()
        < pr.operating_points(
            tuning, "recall", target=0.5, confidence=0.95, **first | {"subgroup": ()}
        )["threshold"].item()
    )
    judged = pr.subgroups(test, points=points, **first).answer
    assert judged.split(": ")[0] in words


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ({}, "400 cases, {positives} of them positive"),
        ({"count": "two"}, "800 cases, {twice} of them positive"),
        ({"weight": "three"}, "400 cases, {share:.3g} % of their weight positive"),
    ],
)
def test_the_heading_counts_cases_and_not_weights(table, tmp_path, role, expected):
    table = table.with_columns(two=pl.lit(2), three=pl.lit(3.5))
    positives = table["y"].sum()
    words = Page(pr.report(table, **NAMES, **role, path=tmp_path / "page.html")).text()
    assert expected.format(positives=positives, twice=2 * positives, share=positives / 4) in words
