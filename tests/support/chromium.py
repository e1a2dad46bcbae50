"""Chromium for tests: without a window or requests of its own, and with its logs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
LACKING = (
    None
    if BROWSER and DRIVER
    else "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)"
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,900",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> "Iterator[Chrome]":
    """A browser that keeps what is its own in a folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
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
