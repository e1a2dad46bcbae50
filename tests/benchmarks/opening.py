"""How long the report takes to open in Chromium, and its size.

``python tests/benchmarks/opening.py [--repeats N]``: the report of three models on
20 hold-outs each, opened afresh; from the start of the navigation to the last chart
drawn, by the page's own clock. Needs chromium and chromedriver.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver

import polaroc as pr

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from programs import program

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900")
DRAWN = "return document.documentElement.dataset.ready === 'true' ? performance.now() : 0"


def written(folder: Path) -> Path:
    """The report."""
    asked = {"truth": "truth", "score": "score"}
    path = folder / "report.html"
    satellite = pr.datasets.satellite_predictions()
    pr.report(satellite, **asked, over=(0.05, 0.20), test_train_ratio=0.25, path=path)
    return path


def opened(browser: webdriver.Chrome, path: Path) -> float:
    """Seconds from the navigation to the last chart."""
    browser.get("about:blank")
    browser.get(path.as_uri())
    while not (drawn := browser.execute_script(DRAWN)):
        time.sleep(0.01)
    return drawn / 1000


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    service = webdriver.ChromeService(program("chromedriver"))
    with tempfile.TemporaryDirectory() as folder, webdriver.Chrome(options, service) as browser:
        started = time.perf_counter()
        path = written(Path(folder))
        seconds, size = time.perf_counter() - started, path.stat().st_size / 1e6
        print(f"written in {seconds:.1f} s, {size:.2f} MB")
        times = [opened(browser, path) for _ in range(asked.repeats)]
        print(f"opened in {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})")


if __name__ == "__main__":
    main()
