"""Chromium for tests: without a window or requests of its own, and with its logs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from programs import missing, program

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,900",
)  # fmt: skip


def lacking() -> str | None:
    """Missing parts that a browser needs."""
    if not (program("chromium") and program("chromedriver")):
        return "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)"
    return None if find_spec("selenium") else "selenium is not installed (extra `test-all`)"


@contextmanager
def chromium(profile: Path) -> "Iterator[Chrome]":
    """A browser that keeps what is its own in a folder; without one the test is skipped."""
    if reason := lacking():
        missing(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(program("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def visit(driver: "Chrome", page: Path) -> None:
    """Open a page, and forget what was logged before."""
    driver.get("about:blank")
    for log in ("browser", "performance"):
        driver.get_log(log)
    driver.get(page.as_uri())


def requests(driver: "Chrome") -> list[str]:
    """The addresses that were asked for since the last time."""
    logged = (json.loads(entry["message"]) for entry in driver.get_log("performance"))
    events = (entry["message"] for entry in logged)
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
