"""Pages in Chromium."""

import re
import time

import numpy as np
import polars as pl
import pytest
from chromium import requests, visit
from drawing import distance_to_line, precision
from pages import ASKED, HOSTILE, OVER, hostile_report, models, satellite

import polaroc as pr

PATIENCE = 60


class Opened:
    """A page in the browser, its charts drawn."""

    def __init__(self, driver, path):
        self.driver, self.path = driver, path
        visit(driver, path)
        self.until("return document.documentElement.dataset.ready === 'true'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        end = time.monotonic() + PATIENCE
        while not self.run(script, *arguments):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def requests(self):
        return requests(self.driver)

    def texts(self, chart):
        return self.run(
            "return [...document.querySelectorAll('[data-chart=' + arguments[0] + '] svg text')]"
            ".map(text => text.textContent)",
            chart,
        )


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    pr.report(satellite(), **ASKED, over=OVER, test_train_ratio=0.25, path=path)
    return Opened(browser, path)


def test_every_chart_is_drawn_without_errors_and_requests(opened):
    charts = opened.run("return document.querySelectorAll('[data-chart]').length")
    drawn = opened.run("return document.querySelectorAll('[data-chart] svg.marks').length")
    assert charts == drawn == opened.run("return window.polaroc.drawn") >= 3
    assert opened.run("return window.polaroc.failed") == []
    assert opened.driver.get_log("browser") == []
    assert opened.requests() == [opened.path.as_uri()]
    for chart in ("explorer", "auprec-by-prior"):
        assert {"A", "B", "C"} <= set(opened.texts(chart))


def drawn_lines(opened):
    """The paths of the precision-recall panel, as recall and precision, in the models' order."""
    paths = opened.run(
        "return [...document.querySelectorAll('#figure-explorer svg g.lines_1_marks path')]"
        ".map(path => path.getAttribute('d'))"
    )
    pixels = [np.array(re.findall(r"-?[0-9.e-]+", path), float).reshape(-1, 2) for path in paths]
    size = opened.run(
        "const view = window.polaroc.views.explorer;"
        "return [view.signal('childWidth'), view.signal('height') ?? view.signal('childHeight')]"
    )
    wide, tall = size
    return [np.column_stack([at[:, 0] / wide, 1 - at[:, 1] / tall]) for at in pixels]


def test_the_slider_draws_the_precision_at_its_prior(opened):
    prior = 0.02
    moved = opened.run(
        "const slider = document.querySelector('#figure-explorer input[type=range]');"
        "slider.value = arguments[0]; slider.dispatchEvent(new Event('input'));"
        "const view = window.polaroc.views.explorer;"
        "return view.runAsync().then(() => [view.signal('prior'), view.data('data_0')])",
        float(np.log10(prior / (1 - prior))),
    )
    shown, points = moved
    assert shown == pytest.approx(prior, rel=2e-3)
    told = opened.run("return document.querySelector('#figure-explorer .vega-bind').innerText")
    assert f"{100 * shown:.3g} %" in told.replace("\n", " ")
    table = pl.DataFrame(points, infer_schema_length=None).filter(pl.col("fpr") + pl.col("tpr") > 0)
    wanted = precision(table["tpr"], table["fpr"], shown)
    assert (table["precision"] - wanted).abs().max() < 1e-12
    lines = dict(zip("ABC", drawn_lines(opened), strict=True))
    curves = pr.curve(satellite(), **ASKED, fold=None).filter(pl.col("tpr") > 0)
    for (model,), curve in curves.partition_by("model", as_dict=True).items():
        exact = precision(curve["tpr"], curve["fpr"], shown)
        at = np.column_stack([curve["tpr"], exact])
        assert distance_to_line(at, lines[model]).max() < 2e-3


def test_the_slider_is_moved_by_keys_and_says_its_prior(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    slider = opened.driver.find_element(By.CSS_SELECTOR, "#figure-explorer input[type=range]")
    before = opened.run("return window.polaroc.views.explorer.signal('prior')")
    slider.send_keys(*[Keys.ARROW_RIGHT] * 5)
    opened.until("return window.polaroc.views.explorer.signal('prior') > arguments[0]", before)
    shown = opened.run(
        "return window.polaroc.views.explorer.runAsync().then(v => v.signal('prior'))"
    )
    assert slider.get_attribute("aria-valuetext") == f"{100 * shown:.3g} %"
    told = opened.run("return document.querySelector('#figure-explorer .vega-bind').innerText")
    assert f"{100 * shown:.3g} %" in told
    assert slider.get_attribute("aria-label") == "Share of positives in use"


def test_many_models_fit_a_narrow_page_and_have_colours_of_their_own(browser, tmp_path):
    table = models(40, folds=1, cases=100)
    path = pr.report(table, **ASKED, over=OVER, path=tmp_path / "report.html")
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    drawn = Opened(browser, path)
    assert drawn.run("return document.documentElement.scrollWidth") <= 400
    widths = drawn.run(
        "return [...document.querySelectorAll('.chart')]"
        ".map(place => [place.dataset.chart, place.clientWidth, place.scrollWidth])"
    )
    assert [name for name, room, chart in widths if chart > room] == []
    colours = drawn.run(
        "return [...document.querySelectorAll('#figure-auprec-by-prior .role-legend-symbol path')]"
        ".map(symbol => symbol.getAttribute('stroke'))"
    )
    assert len(colours) == len(set(colours)) == 8
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_explorer_follows_the_width_of_the_window(browser, tmp_path):
    path = pr.report(models(2, folds=1), **ASKED, over=OVER, path=tmp_path / "report.html")
    size = {"width": 900, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page = Opened(browser, path)
    page.run("window.polaroc.views.explorer.signal('log_odds', -3).run()")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 400})
    page.until(
        "const place = document.querySelector('[data-chart=explorer]');"
        "return place.clientWidth < 400 && place.scrollWidth <= place.clientWidth"
    )
    page.until("return window.polaroc.views.explorer.signal('log_odds') === -3")
    told = page.run("return document.querySelector('#figure-explorer .vega-bind').innerText")
    assert f"{100 / (1 + 10**3):.3g} %" in told
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_pointing_at_a_curve_tells_a_threshold_and_what_it_does(browser, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains

    table = models(1, folds=1)
    path = pr.report(table, **ASKED, over=OVER, path=tmp_path / "report.html")
    opened = Opened(browser, path)
    points = browser.find_elements("css selector", "#figure-explorer svg g.here_0_marks path")
    assert len(points) > 30
    middle = points[len(points) // 2]
    # The page scrolls smoothly, away under the pointer.
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", middle
    )
    ActionChains(browser).move_to_element(middle).perform()
    opened.until("return document.querySelector('#vg-tooltip-element.visible') !== null")
    said = browser.find_element("id", "vg-tooltip-element").text
    number = r"[-0-9.]+"
    threshold = float(re.search(rf"call positive if score ≥\s+({number})", said)[1])
    hits, alarms = (
        table.filter(truth=truth).select((pl.col("score") >= threshold - 1e-5).mean()).item()
        for truth in (True, False)
    )
    rates_told = (
        float(re.search(rf"{name}\s+({number})", said)[1])
        for name in (r"recall \(true positive rate\)", "false positive rate")
    )
    assert list(rates_told) == pytest.approx([hits, alarms], abs=1e-4)


def test_names_are_text_never_script(browser, tmp_path):
    opened = Opened(browser, hostile_report(tmp_path / "hostile.html"))
    assert opened.run("return window.hacked") is None
    assert opened.run("return window.polaroc.failed") == []
    assert opened.driver.get_log("browser") == []
    assert opened.requests() == [opened.path.as_uri()]
    for chart in ("explorer", "auprec-by-prior"):
        assert {*HOSTILE} <= set(opened.texts(chart))
    cells = opened.run(
        "return [...document.querySelectorAll('#ranking tbody th')].map(cell => cell.textContent)"
    )
    assert set(cells) == set(HOSTILE)


def test_a_script_that_is_not_of_the_page_would_not_run(browser, tmp_path):
    path = tmp_path / "report.html"
    pr.report(models(2), **ASKED, over=OVER, path=path)
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace("</main>", "<script>window.hacked = 1</script></main>"))
    opened = Opened(browser, path)
    assert opened.run("return window.hacked") is None
    (refusal,) = opened.driver.get_log("browser")
    assert "Content Security Policy" in refusal["message"]


# Last: it leaves the page that the others share.
def test_the_page_of_a_monitor_is_drawn(browser, tmp_path):
    reference = pl.DataFrame({"truth": [1, 0] * 500, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 50})
    used = pl.DataFrame(
        {"day": np.repeat(np.arange(60), 100), "score": [0.9, 0.1, 0.1, 0.1] * 1500}
    ).with_columns(day=pl.date(2026, 3, 1) + pl.duration(days=pl.col("day")))
    watched = pr.monitor(
        reference, used, truth="truth", score="score", time="day", every="1w", points=0.9,
        over=(0.01, 0.05),
    )  # fmt: skip
    assert watched.alarms.height
    path = pr.report(watched, path=tmp_path / "watched.html")
    page = Opened(browser, path)
    assert page.run("return window.polaroc.failed") == []
    assert page.driver.get_log("browser") == []
    assert page.requests() == [page.path.as_uri()]
    texts = page.texts("monitor")
    assert {"prior", "precision", "share called positive", "cost per case"} <= {*texts}
    # On a phone nothing is wider than the page.
    phone = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        Opened(browser, path)
        assert page.run("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
