import runpy
from pathlib import Path

import polars as pl
import pytest

import polaroc as pr

QUERIES = sorted((Path(__file__).parents[1] / "queries").glob("*.py"))

# P-ROC Table 1, mean and SD, where a complete ROC curve can give them.
TABLE_1 = [
    ("A", "auc", None, 0.943, 0.005),
    ("B", "auc", None, 0.825, 0.046),
    ("C", "auc", None, 0.905, 0.019),
    ("B", "auprec", 0.5, 0.775, 0.108),
    ("B", "auprec", 0.1, 0.629, 0.186),
    ("B", "auprec", 0.01, 0.487, 0.245),
    ("B", "iauprec", None, 0.642, 0.177),
    ("C", "auprec", 0.1, 0.781, 0.082),
    ("C", "iauprec", None, 0.783, 0.082),
]


def run(name: str, predictions: pl.LazyFrame) -> pl.DataFrame:
    (file,) = [query for query in QUERIES if query.stem == name]
    return runpy.run_path(str(file))["query"](predictions).collect()


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return run("satellite_table", pr.datasets.satellite_predictions().lazy())


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_every_query_runs_as_a_script(query, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(query)])
    runpy.run_path(str(query), run_name="__main__")
    assert "shape:" in capsys.readouterr().out


@pytest.mark.parametrize(("model", "measure", "prior", "mean", "sd"), TABLE_1)
def test_satellite_table_is_within_one_published_sd(table, model, measure, prior, mean, sd):
    row = table.filter(
        pl.col("model") == model,
        pl.col("measure") == measure,
        pl.col("prior").eq_missing(pl.lit(prior)),
    )
    assert row["mean"].item() == pytest.approx(mean, abs=sd)
