import json
import os
import shutil
import time

import pytest
from pages import ASKED, HOSTILE, HOSTILE_KEY, OVER, hostile_report, models, satellite

import polaroc as pr

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,900",
)  # fmt: skip
PATIENCE = 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BROWSER is None or DRIVER is None:
        lacking = "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)"
        if os.environ.get("CI"):
            pytest.fail(lacking)
        pytest.skip(lacking)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


class Opened:
    """A page in the browser, its charts drawn."""

    def __init__(self, driver, path):
        self.driver, self.path = driver, path
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(path.as_uri())
        self.until("return document.documentElement.dataset.ready === 'true'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        end = time.monotonic() + PATIENCE
        while not self.run(script, *arguments):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def requests(self):
        logged = (json.loads(entry["message"]) for entry in self.driver.get_log("performance"))
        events = (entry["message"] for entry in logged)
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

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


def test_charts_show_the_models(opened):
    for chart in ("roc", "pr", "auprec-by-prior"):
        assert {"A", "B", "C"} <= set(opened.texts(chart))


def test_the_page_fits_narrow_and_wide_screens(opened):
    for width in (400, 600, 1280):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        opened.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        assert opened.run("return document.documentElement.scrollWidth") <= width
    opened.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_keyboard_reaches_links_and_tables(opened):
    opened.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    seen = []
    for _ in range(4):
        ActionChains(opened.driver).send_keys(Keys.TAB).perform()
        focus = "return document.activeElement.className || document.activeElement.tagName"
        seen.append(opened.run(focus))
    assert seen[:3] == ["skip", "sheet", "A"]


def test_a_printed_page_has_no_controls(opened):
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = opened.run(
        "return [...document.querySelectorAll('nav, .skip, .vega-embed details, .vega-bindings')]"
        ".filter(part => getComputedStyle(part).display !== 'none').length"
    )
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert shown == 0


def test_names_are_text_never_script(browser, tmp_path):
    opened = Opened(browser, hostile_report(tmp_path / "hostile.html"))
    assert opened.run("return window.hacked") is None
    assert opened.run("return window.polaroc.failed") == []
    assert opened.driver.get_log("browser") == []
    assert opened.requests() == [opened.path.as_uri()]
    for chart in ("roc", "pr", "auprec-by-prior"):
        assert {*HOSTILE, HOSTILE_KEY} <= set(opened.texts(chart))
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
