"""Tables for tests of the report, and its pages as trees."""

import json
import re
from pathlib import Path

import html5lib
import numpy as np
import polars as pl

import polaroc as pr

ASKED = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.20)
HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    '"+alert(1)+"',
    "<img src=x onerror=window.hacked=1>",
    "{{ 7 * 7 }}",
    "datum.x",
    "javascript:alert(1)",
    "a.b[0]'",
    "__proto__",
)
HOSTILE_KEY = '"><b>key</b>'


def satellite(folds: int = 4) -> pl.DataFrame:
    return pr.datasets.satellite_predictions().filter(pl.col("fold") <= folds)


def models(count: int, folds: int = 3, cases: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    parts = []
    for fold in range(folds):
        truth = rng.random(cases) < 0.3
        for model in range(count):
            score = rng.normal(size=cases) + truth * (0.5 + 0.3 * model)
            parts.append(
                pl.DataFrame(
                    {
                        "model": f"model {model}", "fold": fold, "id": np.arange(cases),
                        "truth": truth, "score": score,
                    }
                )
            )  # fmt: skip
    return pl.concat(parts)


def hostile() -> pl.DataFrame:
    table = models(len(HOSTILE))
    names = dict(zip(sorted(table["model"].unique()), HOSTILE, strict=True))
    return table.with_columns(pl.col("model").replace(names)).rename(
        {"model": HOSTILE_KEY, "fold": "f.o[l]d'", "score": "</td><b>"}
    )


def hostile_report(path: Path) -> Path:
    return pr.report(
        hostile(), truth="truth", score="</td><b>", model=HOSTILE_KEY, fold="f.o[l]d'", case=None,
        over=OVER, test_train_ratio=0.5, path=path,
        title="</title><script>window.hacked = 1</script>",
    )  # fmt: skip


def content(table, folder: Path, **asked) -> dict:
    """The content of a report, as JSON."""
    path = pr.report(table, path=folder / "content.json", **{**ASKED, "over": OVER, **asked})
    return json.loads(path.read_text(encoding="utf-8"))


class Page:
    """A report as a tree."""

    def __init__(self, file: Path) -> None:
        self.source = file.read_text(encoding="utf-8")
        parser = html5lib.HTMLParser(namespaceHTMLElements=False)
        self.root = parser.parse(self.source)
        self.mistakes = parser.errors

    def all(self, path: str) -> list:
        return self.root.findall(f".//{path}")

    def text(self, path: str = "body") -> str:
        found = (element for element in self.root.find(f".//{path}").iter())
        parts = []
        for element in found:
            if element.tag not in ("script", "style"):
                parts.append(element.text or "")
            parts.append(element.tail or "")
        return re.sub(r"\s+", " ", " ".join(parts)).strip()

    def table(self, name: str) -> pl.DataFrame | None:
        """A table by the start of its caption."""
        for table in self.all("table"):
            if _text(table.find("caption")).startswith(name):
                heads = [_text(cell) for cell in table.findall("thead/tr/th")]
                rows = [[_text(cell) for cell in row] for row in table.findall("tbody/tr")]
                return pl.DataFrame(rows, schema=heads, orient="row")
        return None


def _text(element) -> str:
    return " ".join("".join(element.itertext()).split())
