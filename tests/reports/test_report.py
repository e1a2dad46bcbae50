import json
import re
from base64 import b64encode
from datetime import datetime
from hashlib import sha256
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from pages import ASKED, HOSTILE, HOSTILE_KEY, OVER, Page, hostile_report, models, satellite
from scipy.stats import t
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app
from polaroc.errors import InvalidArgument, InvalidTable

RATIO = 0.25


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def measures():
    grid = pr.prior_grid(*OVER, 25)
    return pr.evaluate(satellite(), **ASKED, priors=grid, over=OVER)


@pytest.fixture(scope="module")
def page(place):
    table = satellite()
    return Page(
        pr.report(
            table,
            **ASKED,
            over=OVER,
            test_train_ratio=RATIO,
            cost_fn=1,
            case=None,
            path=place / "whole.html",
        )
    )


@pytest.fixture(scope="module")
def by_area(place):
    asked = {**ASKED, "over": OVER, "test_train_ratio": RATIO, "case": None}
    return Page(pr.report(satellite(), **asked, path=place / "area.html"))


@pytest.fixture(scope="module")
def hostile_page(place):
    return Page(hostile_report(place / "hostile.html"))


def numbers(column: pl.Series) -> list[float]:
    return column.str.strip_suffix(" %").cast(pl.Float64).to_list()


def headline(page: Page) -> str:
    (one,) = [p for p in page.all("p") if p.get("class") == "headline"]
    return " ".join("".join(one.itertext()).split())


@pytest.mark.slow
def test_the_headline_is_what_choose_answers(by_area, measures):
    choice = pr.choose(measures, over=OVER, test_train_ratio=RATIO)
    said = headline(by_area)
    first, _, rest = choice.answer.partition(": ")
    assert rest[rest.index("A is the best") :] in said
    assert said.startswith(f"{first}. No goal was given for the threshold. As an example, set the ")


@pytest.mark.slow
def test_with_costs_the_headline_is_that_of_a_choice_by_cost(page):
    choice = pr.choose(
        satellite(), "expected_cost", **ASKED, over=OVER, test_train_ratio=RATIO, case=None
    )
    first, _, rest = choice.answer.partition(" to cost least. ")
    cost = rest.index("Of 1,000 cases")
    said = headline(page)
    assert said.startswith(f"{first} to cost least at 12.5 % positives")
    for sentence in (rest[:cost], *re.split(r"(?<=\D\.) ", rest[cost:])):
        assert sentence.strip() in said
    ranked = page.table("The models")
    assert ranked["model"].to_list() == choice.models["model"].to_list()
    for name, column in (
        ("cost per case", "mean"), ("95 % from", "cost_lower"), ("95 % to", "cost_upper"),
    ):  # fmt: skip
        assert numbers(ranked[name]) == pytest.approx(choice.models[column].to_list(), rel=1e-3)


@pytest.mark.slow
def test_the_share_of_cases_that_a_threshold_of_folds_acts_on_carries_over(page):
    row = page.table("Thresholds of A").row(1, named=True)
    share = [
        10 * (prior * float(row["alarms of 100 positives"].split()[0])
              + (1 - prior) * float(row["alarms of 100 negatives"].split()[0]))
        for prior in OVER
    ]  # fmt: skip
    told = re.search(
        r"an alarm for (\d+) \(if 5 % of cases are positive\) to (\d+) \(if 20 % are\) of 1,000 "
        r"cases",
        headline(page),
    ).groups()
    assert row["threshold"] not in headline(page)
    assert [int(count) for count in told] == pytest.approx(share, abs=6)


@pytest.mark.parametrize(
    "names", [[0.5, float("nan")], [True, False], [datetime(2024, 1, 1), datetime(2024, 2, 1)]]
)
def test_keys_of_any_kind_have_one_name_on_the_page(tmp_path, names):
    draw = np.random.default_rng(2)
    truth = draw.random(200) < 0.3
    table = pl.concat(
        pl.DataFrame({"case": range(200), "truth": truth, "score": draw.normal(truth)})
        .with_columns(model=pl.Series([name] * 200))
        for name in names
    )  # fmt: skip
    asked = {"truth": "truth", "score": "score", "model": "model"}
    page = pr.report(table, **asked, over=(0.05, 0.3), path=tmp_path / "page.html").read_text()
    assert all(f">{name}<" in page for name in names)


def test_a_page_is_not_written_under_the_name_of_another_kind(tmp_path):
    with pytest.raises(InvalidArgument, match="a report is an HTML page or JSON"):
        pr.report(models(1), **ASKED, over=OVER, path=tmp_path / "report.pdf")


def test_the_ranking_is_that_of_the_measures(by_area, measures):
    overall = measures.filter(measure="iauprec").group_by("model")
    wanted = overall.agg(pl.col("estimate").mean().alias("mean")).sort("mean", descending=True)
    ranked = by_area.table("The models")
    assert ranked.columns == [
        "model", "area", "95 % from", "95 % to", "chance to be best", "worst regret", "AUC",
    ]  # fmt: skip
    assert ranked["model"].to_list() == wanted["model"].to_list()
    assert numbers(ranked["area"]) == pytest.approx(wanted["mean"].to_list(), abs=6e-4)


def cheapest(truth: np.ndarray, score: np.ndarray, prior: float) -> float:
    """The threshold of least expected error, by trying all."""
    tried = np.unique(score)
    recall = np.array([(score[truth] >= at).mean() for at in tried])
    alarms = np.array([(score[~truth] >= at).mean() for at in tried])
    cost = prior * (1 - recall) + (1 - prior) * alarms
    return float(tried[np.flatnonzero(cost <= cost.min() + 1e-12)[-1]])


@pytest.mark.long
@pytest.mark.slow
def test_thresholds_are_of_least_cost_and_judged_on_other_folds(page):
    table = satellite().filter(model="A")
    shown = page.table("Thresholds of A")
    truth, score, fold = (table[name].to_numpy() for name in ("truth", "score", "fold"))
    for row, prior in enumerate((0.05, 0.125, 0.20)):
        wanted = cheapest(truth, score, prior)
        assert ((score >= float(shown["threshold"][row])) == (score >= wanted)).all()
        recalls, alarms, elsewhere = [], [], []
        for held in range(1, 5):
            others, here = fold != held, fold == held
            at = cheapest(truth[others], score[others], prior)
            elsewhere.append(at)
            recalls.append((score[here & truth] >= at).mean())
            alarms.append((score[here & ~truth] >= at).mean())
        assert shown["set on other folds"][row] == f"{min(elsewhere):.4g} to {max(elsewhere):.4g}"
        for rates, column in (
            (recalls, "alarms of 100 positives"),
            (alarms, "alarms of 100 negatives"),
        ):
            mean = np.mean(rates)
            reach = t.ppf(0.975, 3) * np.std(rates, ddof=1) * np.sqrt(1 / 4 + RATIO)
            limits = max(mean - reach, 0), min(mean + reach, 1)
            told = [float(value) for value in re.findall(r"[\d.]+", shown[column][row])]
            assert told == pytest.approx([100 * mean, *(100 * end for end in limits)], abs=0.51)
        if row == 1:
            middle = page.all("section[@class='case']")[1]
            found, false = 125 * np.mean(recalls), 875 * np.mean(alarms)
            numbers_shown = [int(b.text) for b in middle.findall(".//strong")]
            assert numbers_shown[0] == round(found)
            assert numbers_shown[2] == round(false)
            assert sum(numbers_shown) == 1000


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_a_dear_missed_positive_lowers_the_threshold(place, page):
    dear = pr.report(satellite(), **ASKED, over=OVER, cost_fn=20, path=place / "dear.html")
    lower = numbers(Page(dear).table("Thresholds of A")["threshold"])
    assert all(
        a < b for a, b in zip(lower, numbers(page.table("Thresholds")["threshold"]), strict=True)
    )
    assert "a missed positive costs 20 times a false alarm" in Page(dear).text()


def test_the_audit_is_that_of_check(page):
    report = pr.check(satellite(), truth="truth", score="score")
    shown = page.table("What the predictions hold")
    totals = report.group_by("model").agg(pl.col("rows", "positives").sum()).sort("model")
    for name in ("rows", "positives"):
        assert [int(value.replace(",", "")) for value in shown[name]] == totals[name].to_list()


# What a reader, a screen reader and a browser need.


@pytest.mark.slow
def test_the_page_is_html_without_mistakes(page, hostile_page):
    assert page.mistakes == []
    assert hostile_page.mistakes == []


def test_ids_are_unique(page):
    ids = [element.get("id") for element in page.root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids)


def test_links_of_the_page_lead_somewhere(page):
    targets = {element.get("id") for element in page.root.iter()}
    assert all(link.get("href")[1:] in targets for link in page.all("a"))


def test_headings_are_in_order(page):
    levels = [int(e.tag[1]) for e in page.root.iter() if re.fullmatch(r"h[1-6]", str(e.tag))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_tables_have_captions_and_headings_with_a_scope(page):
    assert len(page.all("table")) >= 5
    for table in page.all("table"):
        assert table.find("caption").text
        assert all(cell.get("scope") == "col" for cell in table.findall("thead/tr/th"))
        assert all(row.find("th").get("scope") == "row" for row in table.findall("tbody/tr"))


def test_figures_say_what_is_seen_with_values(page, measures):
    specs = {one.get("id"): json.loads(one.text) for one in data_of(page)}
    area = measures.filter(measure="iauprec").group_by("model").agg(pl.col("estimate").mean())
    value = area.filter(model="A")["estimate"].item()
    assert f"A {value:.3f}" in specs["explorer"]["description"]
    for figure in page.all("figure"):
        (spec,) = figure.findall("script")
        assert specs[spec.get("id")]["description"]
        caption = figure.find("figcaption").text
        assert caption.count(". ") == 0
        assert caption.endswith(".")
        assert figure.find("h3").text


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft", "accent"])
@pytest.mark.parametrize("ground", ["paper", "wash"])
def test_text_stands_out_from_its_ground(page, theme, ink, ground):
    themes = re.findall(r":root \{(.*?)\}", page.source, re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", themes[theme]))
    pair = [luminance(colours[name]) for name in (ink, ground)]
    assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5


def data_of(page):
    return [one for one in page.all("script") if one.get("type") == "application/json"]


def scripts_of(page):
    return [one for one in page.all("script") if one.get("type") is None]


# Nothing from outside, nothing from names.


def test_nothing_is_loaded(page, hostile_page):
    for one in (page, hostile_page):
        for element in one.root.iter():
            assert element.get("src") is None
            assert element.get("href") is None or element.get("href").startswith("#")
            assert element.tag not in ("link", "iframe", "object", "embed", "base", "img")


def test_only_the_scripts_of_the_page_may_run(page, hostile_page):
    for one in (page, hostile_page):
        (policy,) = [e.get("content") for e in one.all("meta") if e.get("http-equiv")]
        digests = {
            f"'sha256-{b64encode(sha256(script.text.encode()).digest()).decode()}'"
            for script in scripts_of(one)
        }
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert set(rules["script-src"].split()) == digests
        assert rules["default-src"] == "'none'"
        assert len(digests) == 3
    assert [s.text for s in scripts_of(page)] == [s.text for s in scripts_of(hostile_page)]


def test_hostile_names_are_text(hostile_page):
    ranked = hostile_page.table("The models")
    assert set(ranked[ranked.columns[0]]) == set(HOSTILE)
    assert ranked.columns[0] == HOSTILE_KEY
    assert set(hostile_page.table("What the predictions hold").to_series(0)) == set(HOSTILE)
    assert hostile_page.all("title")[0].text.startswith("</title>")
    elements = {str(element.tag) for element in hostile_page.root.iter()}
    assert not elements & {"b", "img"}


def test_hostile_names_are_data_in_the_charts(hostile_page):
    for one in data_of(hostile_page):
        assert not set("<>&") & set(one.text)
        spec = json.loads(one.text)
        assert {text.strip() for text in strings(spec)} & set(HOSTILE)
        assert not {name for name in HOSTILE if name in spec.get("transform", [])}


def strings(part):
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from strings(inner)


@pytest.mark.slow
def test_what_would_turn_text_around_is_spelled_out(place):
    table = models(2).with_columns(pl.col("model").replace("model 0", "abc\u202etxt.exe"))
    made = pr.report(table, **ASKED, over=OVER, test_train_ratio=0.5, path=place / "turned.html")
    assert "\u202e" not in made.read_text(encoding="utf-8")
    assert r"abc\u202etxt.exe" in Page(made).text()


# Other tables.


@pytest.mark.slow
def test_measures_make_a_page_without_what_needs_predictions(place, measures):
    made = pr.report(measures, over=OVER, test_train_ratio=RATIO, path=place / "measures.html")
    page = Page(made)
    choice = pr.choose(measures, over=OVER, test_train_ratio=RATIO)
    first = choice.answer.partition(": ")[0]
    assert headline(page).startswith(f"{first}: the area (AUPREC) is ")
    assert "made from measures" in page.text()
    assert page.table("Thresholds") is None
    assert {one.get("id") for one in data_of(page)} & {"roc", "pr", "explorer"} == set()


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_one_model_is_ranked_but_not_compared(place):
    table = satellite().filter(model="A")
    page = Page(
        pr.report(table, **ASKED, over=OVER, test_train_ratio=RATIO, path=place / "one.html")
    )
    assert page.table("The models").height == 1
    assert page.table("Each two models") is None
    assert "There is one model only" in page.text()


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_notes_on_one_model_are_sentences(place):
    table, said = models(1, folds=1, cases=40), []
    path = place / "noted.html"
    pr.report(table, **ASKED, over=(0.01, 0.02), path=path, tell=said.append)
    assert headline(Page(path)).startswith("No goal was given for the threshold.")
    note = "Areas are biased upward: they are higher here than they would be on more cases"
    assert any(line.startswith(note) for line in said)
    assert note in Page(path).text()


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"case": None}, "no column was named that says which rows are of the same case"),
        ({"fold": "fold", "case": None}, "needs the ratio of test to training cases"),
        ({"fold": "fold", "case": None, "positive": True}, "needs the ratio"),
    ],
)
@pytest.mark.usefixtures("words_only")
def test_why_no_test_was_made(place, asked, said):
    table = satellite(2 if "fold" in asked else 1).with_columns(w=pl.lit(2.0))
    path = place / "untested.html"
    assert said in Page(pr.report(table, **ASKED, **asked, over=OVER, path=path)).text()


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_dropped_rows_are_said(place):
    table = satellite(2).with_row_index("row")
    table = table.with_columns(score=pl.when(pl.col("row") % 100 > 0).then("score"))
    made = pr.report(table, **ASKED, over=OVER, nulls="drop", path=place / "dropped.html")
    lacking = table.filter(pl.col("score").is_null()).select("fold", "case").n_unique()
    assert f"{lacking:,} of " in Page(made).text()
    assert "cases were left out of all models" in Page(made).text()
    # Where cases cannot be told apart, rows are left out one by one.
    rows = pr.report(
        table, **ASKED, over=OVER, nulls="drop", case=None, path=place / "dropped_rows.html"
    )
    assert f"{table['score'].null_count():,} rows were left out" in Page(rows).text()


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_a_belief_is_shown_at_its_ends_and_mean(place):
    made = pr.report(models(2), **ASKED, over=pr.beta(2, 18), path=place / "belief.html")
    headings = [case.find("h3").text for case in Page(made).all("section[@class='case']")]
    shown = [float(re.search(r"[\d.]+", heading)[0]) for heading in headings]
    assert shown[1] == pytest.approx(10, abs=0.05)
    assert 0 < shown[0] < shown[1] < shown[2] < 50


# Files.


def crowd(models: int, folds: int, cases: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    size = models * folds * cases
    model = np.repeat(np.arange(models), folds * cases)
    truth = np.tile(np.arange(cases) % 4 == 0, models * folds)
    return pl.DataFrame({
        "model": [f"m{i:03}" for i in model],
        "fold": np.tile(np.repeat(np.arange(folds), cases), models),
        "truth": truth.astype(int),
        "score": truth * np.linspace(0.5, 1.5, models)[model] + rng.normal(size=size),
    })  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("models", "folds", "cases"), [(301, 1, 20), (2, 400, 8), (40, 20, 12)])
def test_of_many_models_and_folds_what_can_be_seen_is_drawn(place, models, folds, cases):
    table = crowd(models, folds, cases)
    file = place / f"{models}_{folds}.html"
    pr.report(table, **ASKED, over=OVER, path=file)
    page = Page(file)
    measures = pr.evaluate(table, **ASKED, over=OVER, measures="iauprec")
    means = measures.group_by("model").agg(pl.col("estimate").mean())
    ranked = page.table("The models")
    assert dict(zip(ranked["model"], numbers(ranked["area"]), strict=True)) == (
        pytest.approx(dict(means.iter_rows()), abs=6e-4)
    )
    assert file.stat().st_size < 5e6
    text = page.text()
    if models > 8:
        assert f"Charts show the best 8 of {models} models" in text
    else:
        assert "Charts show" not in text
    assert (f"drawn are means over the {folds} folds" in text) == (folds * min(models, 8) > 300)


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_a_stored_table_of_one_model_is_of_the_range_asked_for(place):
    one = pr.evaluate(models(1), **ASKED, over=OVER)
    page = Page(pr.report(one, over=OVER, path=place / "stored.html"))
    nameless = Page(pr.report(one.drop("model"), over=OVER, path=place / "nameless.html"))
    assert headline(nameless) == headline(page).replace("model 0", "the model")
    mean = one.filter(measure="iauprec")["estimate"].mean()
    assert f"is {mean:.3f} over 5 to 20 % positives" in page.text()
    for table, said in ((one, "is over 0.05 to 0.2"), (one.drop("over"), "does not name")):
        with pytest.raises(InvalidArgument, match=said) as caught:
            pr.report(table, over=(0.1, 0.3), path=place / "refused.html")
        assert "priors=pr.prior_grid(0.1, 0.3, 16)" in caught.value.hint


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_an_earlier_report_is_replaced_and_nothing_else_left(tmp_path):
    path = tmp_path / "report.html"
    for title in ("first", "second"):
        pr.report(models(2), **ASKED, over=OVER, path=path, title=title)
    assert Page(path).all("title")[0].text == "second"
    assert list(tmp_path.iterdir()) == [path]


def test_another_file_is_left_alone(tmp_path):
    path = tmp_path / "thesis.html"
    path.write_text("<h1>polaroc</h1>")
    with pytest.raises(pr.errors.OutputRefused, match="Hint:"):
        pr.report(models(2), **ASKED, over=OVER, path=path)
    assert path.read_text() == "<h1>polaroc</h1>"


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_a_failure_leaves_the_earlier_report(tmp_path):
    path = tmp_path / "report.html"
    pr.report(models(2), **ASKED, over=OVER, path=path)
    before = path.read_bytes()
    broken = models(2).with_columns(score=pl.lit(None, pl.Float64))
    with pytest.raises(pr.errors.InvalidPredictions):
        pr.report(broken, **ASKED, over=OVER, path=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({**ASKED}, "without a range"),
        ({"truth": "truth", "over": OVER}, "score is not given"),
        ({**ASKED, "over": OVER, "case": "fold"}, "'fold'"),
        ({**ASKED, "over": OVER, "model": "colour"}, "no column 'colour'"),
        ({**ASKED, "over": OVER, "model": "fold", "fold": "fold"}, "'fold' is model and fold"),
        ({**ASKED, "over": OVER, "confidence": 2}, "confidence is 2"),
        ({**ASKED, "over": OVER, "level": 0}, "level is 0"),
        ({**ASKED, "over": (0.2, 0.1)}, "0.2"),
        ({**ASKED, "over": OVER, "priors": [1.5]}, "1.5"),
        ({**ASKED, "over": OVER, "cost_fn": -1}, "cost_fn is -1"),
        ({**ASKED, "over": OVER, "test_train_ratio": -1}, "test_train_ratio is -1"),
        ({**ASKED, "over": OVER, "title": 3}, "title is 3"),
        ({}, "holds no measures"),
    ],
)
def test_bad_arguments_are_refused(tmp_path, asked, found):
    with pytest.raises(pr.errors.PolarocError, match=re.escape(found)) as refused:
        pr.report(models(2), **asked, path=tmp_path / "report.html")
    assert "Hint:" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


# The command line.


def run(*arguments: object):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def predictions(tmp_path):
    file = tmp_path / "predictions.parquet"
    models(2).write_parquet(file)
    return file


@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_the_command_takes_measures(tmp_path):
    file = tmp_path / "measures.parquet"
    pr.evaluate(models(2), **ASKED, priors=pr.prior_grid(*OVER, 8), over=OVER).write_parquet(file)
    result = run(file, "--out", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert "made from measures" in Page(tmp_path / "report.html").text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--truth", "truth", "--score", "score"], "--over 0.05 0.20"),
        (["--truth", "truth"], "score is not given"),
        ([], "holds no measures"),
        (["--truth", "truth", "--score", "skore", "--over", *OVER], "did you mean 'score'"),
    ],
)
def test_the_command_refuses_in_its_own_words(tmp_path, predictions, options, said):
    result = run(predictions, *options, "--out", tmp_path / "report.html")
    assert result.exit_code == 2
    assert said in result.output
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("by", "wrong"), [("sex", "Take [FM]"), (["model", "hospital"], "of these folds")], ids=str
)
def test_a_group_is_neither_a_model_nor_a_fold(by, wrong, tmp_path):
    table = models(1 if by == "sex" else 2, folds=1, cases=300).with_columns(
        sex=pl.col("id").replace_strict({i: "FM"[i % 2] for i in range(300)}),
        hospital=pl.col("id") % 3,
    )
    asked = {**ASKED, "over": OVER, "cost_fn": 5, "path": tmp_path / "groups.html"}
    with pytest.raises(InvalidArgument, match="report does not honour 'by'"):
        pr.report(table.drop("fold"), **asked, by=by)
    told = []
    pr.report(table.drop("fold"), **asked, tell=told.append)
    assert not re.search(wrong, told[0])
    measures = pr.evaluate(table, **ASKED, by="sex", model=None, over=OVER)
    with pytest.raises(InvalidTable, match="'sex' has several values"):
        pr.report(measures, path=tmp_path / "groups.html")
