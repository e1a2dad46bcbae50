"""The words and tables of six reports: `python tests/reports/golden.py` writes them again."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import html5lib
import numpy as np
import polars as pl

import polaroc as pr

FOLDER = Path(__file__).parent / "golden"
SATELLITE = pr.datasets.satellite_predictions()
ONE_SET = SATELLITE.filter(fold=1).drop("fold")
TUNING, TEST = (ONE_SET.filter(pl.col("case") % 2 == half) for half in (0, 1))
ROLES = {"truth": "truth", "score": "score", "over": (0.05, 0.2)}


def patients() -> pl.DataFrame:
    """Two models on patients of one to three rows each, with weights."""
    rng = np.random.default_rng(7)
    patient = np.repeat(np.arange(200), rng.integers(1, 4, 200))
    truth = (rng.random(200) < 0.3)[patient]
    effect = rng.normal(size=200)[patient]
    scores = {
        name: (shift * truth + effect + rng.normal(size=truth.size)).round(3)
        for name, shift in {"new": 1.5, "old": 1.0}.items()
    }
    weight = np.where(truth, 2.0, 1.0) + patient % 2
    return pl.DataFrame({"patient": patient, "truth": truth, "weight": weight, **scores})


def probabilities() -> pl.DataFrame:
    """Three folds of few cases: probabilities of one model, and margins of another."""
    rng = np.random.default_rng(3)
    truth = np.arange(90) % 6 == 0
    logit = {name: (rng.normal(size=90) + 2 * truth - 1).round(3) for name in ("first", "second")}
    return pl.DataFrame({
        "fold": np.arange(90) // 30 + 1, "case": range(90), "truth": truth,
        "first": 1 / (1 + np.exp(-logit["first"])), "second": logit["second"],
    })  # fmt: skip


REQUESTS = {
    "one_model": lambda: (ONE_SET.filter(model="A"), {}),
    "folds": lambda: (SATELLITE.filter(pl.col("fold") <= 4), {"test_train_ratio": 0.25}),
    "costs": lambda: (TEST, {"tuning": TUNING, "cost_fn": 10}),
    "promise": lambda: (
        TEST,
        {"tuning": TUNING, "constraints": {"precision": 0.4}, "confidence": 0.9},
    ),
    "clusters": lambda: (
        patients(),
        {
            "score": ["new", "old"],
            "cluster": "patient",
            "weight": "weight",
            "constraints": {"posfrac": 0.1},
        },
    ),
    "probabilities": lambda: (
        probabilities(),
        {"score": ["first", "second"], "fold": "fold", "over": 0.1, "constraints": {"recall": 0.8}},
    ),
}
BLOCKS = {"summary", "h1", "h2", "h3", "p", "li", "caption", "tr", "figcaption", "script"}
# They differ from day to day and from machine to machine.
OWN = re.compile(r" · made on .*")


def text_of(element) -> str:
    return " ".join("".join(element.itertext()).split())


def lines(section) -> Iterator[str]:
    for element in section.iter():
        if element.tag not in BLOCKS or element.get("class") in ("versions", "note"):
            continue
        if element.tag == "tr":
            yield " | ".join(map(text_of, element))
        elif element.tag == "script":
            yield f"chart: {json.loads(element.text)['description']}"
        else:
            yield OWN.sub("", text_of(element))


def said(name: str) -> dict[str, list[str]]:
    """The text of the page that a reader sees, by section; of charts their descriptions."""
    table, asked = REQUESTS[name]()
    with TemporaryDirectory() as folder:
        page = pr.report(table, **ROLES | asked, path=Path(folder) / "page.html")
        root = html5lib.parse(page.read_text(encoding="utf-8"), namespaceHTMLElements=False)
    sections = {"header": root.find(".//header")}
    sections |= {one.get("id"): one for one in root.findall(".//main/section")}
    # The glossary is the same on every page.
    return {key: [*lines(one)] for key, one in sections.items()}


def stored(name: str) -> dict[str, list[str]]:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in sys.argv[1:] or REQUESTS:
        text = json.dumps(said(name), indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
