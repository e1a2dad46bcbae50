"""Open the pages of the site that have live charts: is every chart drawn?

``python tests/tools/live_site.py FOLDER`` fails for a chart that is not drawn, for what a page
writes to the console, and for a request that leaves the folder. Needs chromium and chromedriver.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from chromium import chromium, lacking, requests, visit

PATIENCE = 60
LOCAL = ("file:", "data:", "blob:", "about:")
CHARTS = "return document.querySelectorAll('.live-chart').length"
# A chart that is drawn has marks beside its axes.
DRAWN = (
    "return [...document.querySelectorAll('.live-chart')].filter(chart =>"
    " chart.querySelector('canvas, svg .role-mark path, svg .role-mark text')).length"
)


def wrong(driver, page: Path) -> tuple[int, list[str]]:
    """How many live charts a page has, and what is wrong with them."""
    visit(driver, page)
    charts, end = driver.execute_script(CHARTS), time.monotonic() + PATIENCE
    while (drawn := driver.execute_script(DRAWN)) < charts and time.monotonic() < end:
        time.sleep(0.05)
    found = [f"{drawn} of {charts} charts are drawn"] if drawn < charts else []
    found += [entry["message"][:300] for entry in driver.get_log("browser")]
    return charts, found + [url for url in requests(driver) if not url.startswith(LOCAL)]


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("folder", type=Path)
    folder = reader.parse_args().folder.resolve()
    if reason := lacking():
        sys.exit(reason)
    pages = [
        page
        for page in sorted(folder.rglob("*.html"))
        if 'class="live-chart' in page.read_text(encoding="utf-8")
    ]
    seen, failed = 0, []
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver:
        for page in pages:
            charts, found = wrong(driver, page)
            seen += charts
            failed += [f"{page.relative_to(folder)}: {what}" for what in found]
    print(f"{seen} live charts on {len(pages)} pages, {len(failed)} faults.", *failed, sep="\n  ")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
