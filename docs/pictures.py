"""The pictures of the README and the site, made from the embedded predictions by our charts.

`just pictures` writes each as SVG; on the site the same charts are drawn live. The top of a report
is photographed by Chromium.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from PIL import Image

import polaroc as pr

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from programs import program

if TYPE_CHECKING:
    import altair as alt

HERE = Path(__file__).parent / "images"
# What is only there for a pointer to hit.
UNSEEN = re.compile(r'<path[^>]*( d="" display="none"| opacity="0"|Z" stroke-width="0.35")/>')
SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
# The first screens of a report: the size of the window, and its media queries in other words.
SCREENS = {
    "report": ("1040,800", {}),
    "report_dark": ("1040,800", {"(prefers-color-scheme: dark)": "(min-width: 1px)"}),
    "report_narrow": ("400,1180", {}),
    "report_print": (
        "794,1123",
        {
            "@media print": "@media all",
            "max-width: none; padding: 0;": "max-width: none; padding: 12mm;",
        },
    ),
}
PATIENCE = 300


def main() -> None:
    """All pictures, or those named, such as satellite."""
    for name, chart in CHARTS.items():
        if name in sys.argv[1:] or not sys.argv[1:]:
            file = HERE / f"{name}.svg"
            chart().save(file)
            file.write_text(UNSEEN.sub("", file.read_text()))
    if not sys.argv[1:]:
        report(HERE)


def report(pictures: Path) -> None:
    """The first screens of the report on the embedded predictions, as a browser shows them."""
    browser = program("chromium")
    if browser is None:
        raise SystemExit("chromium is not installed (Debian: chromium)")
    with tempfile.TemporaryDirectory() as folder:
        page = pr.report(
            predictions(),
            truth="truth", score="score", over=(0.05, 0.20),
            test_train_ratio=0.25, constraints={"recall": 0.9}, path=Path(folder) / "report.html",
        )  # fmt: skip
        # The charts are further down: without them the top is there at once.
        whole = SCRIPT.sub("", page.read_text())
        for name, (size, words) in SCREENS.items():
            text = whole
            for query, other in words.items():
                text = text.replace(query, other)
            page.write_text(text)
            command = [
                browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                f"--user-data-dir={folder}/profile", f"--window-size={size}",
                f"--screenshot={pictures / name}.png", page.as_uri(),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
            with Image.open(pictures / f"{name}.png") as picture:
                few = picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
            few.save(pictures / f"{name}.png", optimize=True)


@cache
def predictions() -> pl.DataFrame:
    return pr.datasets.satellite_predictions()


@cache
def measures() -> pl.DataFrame:
    priors = pr.prior_grid(0.01, 0.5, 25, spacing="log")
    return evaluated(priors)


def evaluated(priors: pl.DataFrame) -> pl.DataFrame:
    return predictions().pipe(
        pr.evaluate,
        truth="truth",
        score="score",
        priors=priors,
        over=(0.05, 0.20),
    )


@cache
def curves_of_first_fold() -> pl.DataFrame:
    first = predictions().filter(pl.col("fold") == 1)
    return first.pipe(pr.curve, truth="truth", score="score", fold=None)


def satellite() -> "alt.TopLevelMixin":
    title = "Satellite images: area under precision-recall"
    return pr.charts.auprec_by_prior(measures(), title)


def pr_at_three_priors() -> "alt.TopLevelMixin":
    of_a = curves_of_first_fold().filter(pl.col("model") == "A")
    surface = of_a.pipe(pr.surface, priors=[0.5, 0.1, 0.01])
    return pr.charts.pr(surface, "One ROC curve at three priors")


def roc_with_hull() -> "alt.TopLevelMixin":
    curves = curves_of_first_fold()
    return pr.charts.roc(curves, "ROC curves and their hulls", hull=curves.pipe(pr.hull))


def explorer() -> "alt.TopLevelMixin":
    return pr.charts.explorer(
        curves_of_first_fold(), "Three models at any prior", over=(0.005, 0.5)
    )


def operating_drift() -> "alt.TopLevelMixin":
    curves = curves_of_first_fold()
    points = curves.pipe(pr.operating_points, priors=[0.05, 0.1, 0.2])
    return pr.charts.operating_drift(points, curves)


def accsens_plane() -> "alt.TopLevelMixin":
    return pr.charts.accsens_plane(measures())


def pairs() -> "alt.TopLevelMixin":
    return pr.charts.pairs(pr.compare(measures(), test_train_ratio=0.25))


def in_use() -> "alt.TopLevelMixin":
    """The year of the guide, simulated by the code on its page."""
    page = (HERE.parent / "guide" / "in_use.md").read_text()
    names: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]:
            exec(block, names)
    watched = names["watched"]
    return pr.charts.monitor(watched.table, "A year in use", over=watched.over)


CHARTS: dict[str, Callable[[], "alt.TopLevelMixin"]] = {
    chart.__name__: chart
    for chart in (
        satellite, pr_at_three_priors, roc_with_hull, explorer, operating_drift,
        accsens_plane, pairs, in_use,
    )
}  # fmt: skip


if __name__ == "__main__":
    main()
