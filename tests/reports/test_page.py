"""Pages can be read by all, load nothing, run no names as code, and replace only pages."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pages import ASKED, HOSTILE, OVER, Page, hostile_report, models

import polaroc as pr


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    asked = {**ASKED, "over": OVER, "test_train_ratio": 0.5, "cost_fn": 1}
    return Page(pr.report(models(3), **asked, path=tmp_path_factory.mktemp("a") / "page.html"))


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    return Page(hostile_report(tmp_path_factory.mktemp("b") / "hostile.html"))


def test_the_page_is_html_without_mistakes_whose_links_lead_somewhere(page, hostile_page):
    assert page.mistakes == hostile_page.mistakes == []
    ids = [element.get("id") for element in page.root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids)
    assert all(link.get("href")[1:] in ids for link in page.all("a"))


def test_headings_tables_and_figures_say_what_they_are(page):
    levels = [int(e.tag[1]) for e in page.root.iter() if re.fullmatch(r"h[1-6]", str(e.tag))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert len(page.all("table")) == 4
    for table in page.all("table"):
        assert table.find("caption").text
        assert all(cell.get("scope") == "col" for cell in table.findall("thead/tr/th"))
        assert all(row.find("th").get("scope") == "row" for row in table.findall("tbody/tr"))
    for figure in page.all("figure"):
        (spec,) = figure.findall("script")
        assert json.loads(spec.text)["description"]
        assert figure.find("figcaption").text
        assert figure.find("h3").text


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_has_the_contrast_that_wcag_asks_for_in_both_themes(page):
    themes = re.findall(r":root \{(.*?)\}", page.source, re.DOTALL)
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme))
        for ink in ("ink", "soft", "accent"):
            for ground in ("paper", "wash"):
                dark, light = sorted(luminance(colours[name]) for name in (ink, ground))
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def test_the_glossary_of_the_site_has_the_words_of_the_page(page):
    site = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text()
    words = site.split("## All terms")[0]
    terms, meanings = (page.all(f"details[@id='words']//{tag}") for tag in ("dt", "dd"))
    named = zip(terms, meanings, strict=True)
    rows = [f"| {name.text} | {meaning.text} |" for name, meaning in named]
    assert len(rows) == 10
    assert all(row in words for row in rows)


def test_nothing_is_loaded(page, hostile_page):
    for one in (page, hostile_page):
        for element in one.root.iter():
            assert element.get("src") is None
            assert element.get("href") is None or element.get("href").startswith("#")
            assert element.tag not in ("link", "iframe", "object", "embed", "base", "img")


def scripts_of(page: Page, kind: str | None = None) -> list[str]:
    return [one.text for one in page.all("script") if one.get("type") == kind]


def test_only_the_scripts_of_the_page_may_run(page, hostile_page):
    for one in (page, hostile_page):
        (policy,) = [e.get("content") for e in one.all("meta") if e.get("http-equiv")]
        digests = {
            f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
            for script in scripts_of(one)
        }
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert set(rules["script-src"].split()) == digests
        assert rules["default-src"] == "'none'"
    assert scripts_of(page) == scripts_of(hostile_page)


def strings(part):
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from strings(inner)


def test_names_are_text_and_in_charts_data(hostile_page):
    ranked = hostile_page.table("The models")
    assert set(ranked[ranked.columns[0]]) == set(HOSTILE)
    assert ranked.columns[0] == "model"
    assert set(hostile_page.table("What the predictions hold").to_series(0)) == set(HOSTILE)
    assert hostile_page.all("title")[0].text.startswith("</title>")
    assert not {str(element.tag) for element in hostile_page.root.iter()} & {"b", "img"}
    charts = scripts_of(hostile_page, "application/json")
    assert charts
    for chart in charts:
        assert not set("<>&") & set(chart)
        spec = json.loads(chart)
        assert {text.strip() for text in strings(spec)} & set(HOSTILE)
        assert not {name for name in HOSTILE if name in spec.get("transform", [])}


def test_a_character_that_turns_text_around_is_spelled_out(tmp_path):
    table = models(2).with_columns(pl.col("model").replace("model 0", "abc\u202etxt.exe"))
    path = pr.report(table, **ASKED, over=OVER, test_train_ratio=0.5, path=tmp_path / "page.html")
    assert "\u202e" not in path.read_text(encoding="utf-8")
    assert r"abc\u202etxt.exe" in Page(path).text()


def test_measures_make_a_page_without_what_needs_predictions(tmp_path):
    measures = pr.evaluate(models(2), **ASKED, priors=pr.prior_grid(*OVER, 8), over=OVER)
    path = pr.report(measures, over=OVER, test_train_ratio=0.5, path=tmp_path / "measures.html")
    page = Page(path)
    assert "made from measures" in page.text()
    assert page.table("Thresholds") is None
    assert {one.get("id") for one in page.all("script")} & {"roc", "pr", "explorer"} == set()


def crowd(models: int, folds: int, cases: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    model = np.repeat(np.arange(models), folds * cases)
    truth = np.tile(np.arange(cases) % 4 == 0, models * folds)
    return pl.DataFrame({
        "model": [f"m{i:03}" for i in model],
        "fold": np.tile(np.repeat(np.arange(folds), cases), models),
        "truth": truth.astype(int),
        "score": truth * np.linspace(0.5, 1.5, models)[model] + rng.normal(size=truth.size),
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "folds", "cases", "note"),
    [
        (301, 1, 20, "Charts show the best 8 of 301 models"),
        (2, 400, 8, "2 models · 400 folds"),
    ],
)
def test_of_many_models_and_folds_what_can_be_seen_is_drawn(tmp_path, models, folds, cases, note):
    table, file = crowd(models, folds, cases), tmp_path / "crowd.html"
    page = Page(pr.report(table, **ASKED, over=OVER, path=file))
    assert page.table("The models").height == models
    assert note in page.text()
    assert file.stat().st_size < 5e6


def test_of_more_models_than_colours_those_drawn_are_compared(tmp_path):
    # One test set, on which the best of the models differ clearly from the worst.
    table = models(10, folds=1, cases=600).drop("fold")
    page = Page(pr.report(table, **ASKED, case="id", over=OVER, path=tmp_path / "page.html"))
    ranking = page.table("The models")["model"].to_list()
    chart = next(one.text for one in page.all("script") if one.get("id") == "pairs-chart")
    pairs = set(re.findall(r'"series":"([^"]* − [^"]*)"', chart))
    assert len(pairs) == 8 * 7 / 2
    assert {one for pair in pairs for one in pair.split(" − ")} == {*ranking[:8]}


@pytest.mark.parametrize("suffix", ["html", "json"])
def test_an_earlier_report_is_replaced_but_not_after_a_failure_and_no_other_file(tmp_path, suffix):
    path, asked = tmp_path / f"report.{suffix}", {**ASKED, "over": OVER}
    for title in ("first title", "second title"):
        pr.report(models(2), **asked, path=path, title=title)
    kept = path.read_text()
    assert "second title" in kept
    assert "first title" not in kept
    broken = models(2).with_columns(score=pl.lit(None, pl.Float64))
    with pytest.raises(pr.errors.InvalidPredictions):
        pr.report(broken, **asked, path=path)
    assert path.read_text() == kept
    assert list(tmp_path.iterdir()) == [path]
    path.write_text("<h1>polaroc</h1>")
    with pytest.raises(pr.errors.OutputRefused, match="Hint:"):
        pr.report(models(2), **asked, path=path)
    assert path.read_text() == "<h1>polaroc</h1>"
