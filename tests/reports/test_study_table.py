"""The table to publish, against numbers counted by hand and by other libraries."""

import re

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

NAMES = {"truth": "y", "score": "p", "model": "m"}


def table(seed=3, n=160):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    rows = []
    for model, gain in (("A", 1.5), ("B|_x_", 0.7)):
        odds = rng.normal(size=n) + gain * y - 0.8
        rows.append(
            pl.DataFrame({
                "m": model, "case": np.arange(n), "y": y, "p": 1 / (1 + np.exp(-odds)),
                "site": np.where(np.arange(n) % 3 == 0, "north", "south"),
                "patient": np.arange(n) // 2,
            })
        )  # fmt: skip
    return pl.concat(rows)


TABLE = table()


@pytest.fixture(scope="module")
def found():
    return pr.study_table(
        TABLE, **NAMES, subgroup="site", points=0.5, priors=0.1, over=(0.05, 0.2), cost_fn=5
    )


def value(found, measure, column="estimate", **where):
    rows = found.table.filter(pl.col("measure") == measure)
    for name, one in where.items():
        rows = rows.filter(pl.col(name).eq_missing(pl.lit(one)))
    return rows[column].item()


@pytest.mark.parametrize("model", ["A", "B|_x_"])
@pytest.mark.parametrize("site", [None, "north", "south"])
def test_each_number_is_that_of_the_rows_of_its_column(found, model, site):
    rows = TABLE.filter(m=model) if site is None else TABLE.filter(m=model, site=site)
    y, p = rows["y"].to_numpy(), rows["p"].to_numpy()
    tp, fn = int((y & (p >= 0.5)).sum()), int((y & (p < 0.5)).sum())
    fp, tn = int((~y & (p >= 0.5)).sum()), int((~y & (p < 0.5)).sum())
    t, f = tp / (tp + fn), fp / (fp + tn)
    weight = np.where(y, 0.1 / y.mean(), 0.9 / (1 - y.mean()))
    expected = {
        "rows": len(y), "missing": 0, "positives": tp + fn, "negatives": fp + tn,
        "tp": tp, "fn": fn, "fp": fp, "tn": tn,
        "prevalence": y.mean(), "auc": roc_auc_score(y, p), "recall": t, "specificity": 1 - f,
        "precision": 0.1 * t / (0.1 * t + 0.9 * f),
        "npv": 0.9 * (1 - f) / (0.9 * (1 - f) + 0.1 * (1 - t)),
        "likelihood_ratio_positive": t / f, "likelihood_ratio_negative": (1 - t) / (1 - f),
        "net_benefit": 0.1 * t - 0.9 * f / 5,
        "observed_over_expected": y.sum() / p.sum(),
    }  # fmt: skip
    own = {"m": model, "subgroup": site}
    for measure, number in expected.items():
        assert value(found, measure, **own) == pytest.approx(number), measure
    lower, upper = (value(found, "recall", end, **own) for end in ("lower", "upper"))
    exact = stats.binomtest(tp, tp + fn).proportion_ci(method="exact")
    assert (lower, upper) == pytest.approx((exact.low, exact.high), abs=1e-6)
    # scikit-learn interpolates in another way; the Brier score is of re-weighted scores there.
    area = value(found, "auprec", prior=0.1, **own)
    assert area == pytest.approx(average_precision_score(y, p, sample_weight=weight), abs=0.05)
    at_own = pr.study_table(
        rows, **NAMES, priors=float(y.mean()), points=0.5
    )  # fmt: skip
    assert value(at_own, "brier") == pytest.approx(brier_score_loss(y, p))


def test_limits_of_net_benefit_turn_those_of_the_cost(found):
    points = TABLE.filter(m="A")
    judged = pr.apply_thresholds(
        points, 0.5, **NAMES, priors=0.1, intervals="exact", cost_fn=5
    )  # fmt: skip
    own = {"m": "A", "subgroup": None}
    lower, upper = (value(found, "net_benefit", end, **own) for end in ("lower", "upper"))
    cost_lower, cost_upper = judged.select("cost_lower", "cost_upper").row(0)
    assert (lower, upper) == pytest.approx((0.1 - cost_upper / 5, 0.1 - cost_lower / 5))


def test_rows_without_a_score_are_in_the_flow():
    lost = TABLE.filter(m="A").with_columns(p=pl.when(pl.col("case") % 20 > 0).then("p"))
    found = pr.study_table(lost, **NAMES, nulls="drop")
    assert value(found, "rows") == 160
    assert value(found, "missing") == 8
    assert value(found, "positives") + value(found, "negatives") == 152


def test_clusters_of_each_class_are_counted():
    rows = TABLE.filter(m="A")
    found = pr.study_table(rows, **NAMES, cluster="patient")
    for measure, truth in (("clusters_with_positives", True), ("clusters_with_negatives", False)):
        count = rows.filter(pl.col("y") == truth)["patient"].n_unique()
        assert value(found, measure) == count
    assert "they count clusters (patient), not rows" in found.markdown
    assert "count clusters" not in pr.study_table(rows, **NAMES).markdown


def test_every_number_is_in_each_form(found):
    shown = f"{value(found, 'auc', m='A', subgroup=None):.3f}"
    for text in (found.markdown, found.html, found.latex, found.summary()):
        assert shown in text
        assert "sensitivity" in text
    assert r"B\|\_x\_" in found.markdown
    lengths = {line.count(" | ") for line in found.markdown.splitlines() if line.startswith("| ")}
    assert len(lengths) == 1
    assert "north" in found._repr_html_()


def test_items_are_answered_by_what_the_table_holds(found):
    answered = found.items.filter(pl.col("answer").is_not_null())
    assert {"12a", "17", "23", "24", "23a", "14"} <= {*answered["item"]}
    less = pr.study_table(TABLE, **NAMES).items.filter(pl.col("answer").is_not_null())
    assert not {"17", "12a", "23"} & {*less.filter(guideline="STARD 2015")["item"]}


@pytest.mark.parametrize("suffix", ["html", "tex", "md", "csv"])
def test_the_command_writes_what_the_function_gives(tmp_path, suffix):
    TABLE.write_parquet(tmp_path / "table.parquet")
    file = tmp_path / f"table.{suffix}"
    words = ["study-table", tmp_path / "table.parquet", "--truth", "y", "--score", "p",
             "--model", "m", "--threshold", 0.5, "--prior", 0.1, "--out", file]  # fmt: skip
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    found = pr.study_table(TABLE, **NAMES, points=0.5, priors=0.1)
    if suffix == "csv":
        assert pl.read_csv(file)["estimate"].to_list() == pytest.approx(
            found.table["estimate"].to_list(), nan_ok=True
        )
        return
    text = getattr(found, {"html": "html", "tex": "latex", "md": "markdown"}[suffix])
    ids = re.compile(r'id="\w+"|#\w+')
    assert ids.sub("", file.read_text()) == ids.sub("", text)


def test_other_files_are_refused(tmp_path):
    TABLE.write_parquet(tmp_path / "table.parquet")
    words = ["study-table", tmp_path / "table.parquet", "--truth", "y", "--score", "p",
             "--out", tmp_path / "table.docx"]  # fmt: skip
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 2
    assert "end it in .html, .tex, .md or .csv" in " ".join(result.stderr.split())
    assert not (tmp_path / "table.docx").exists()


@pytest.mark.usefixtures("words_only")
def test_a_report_of_one_test_set_has_the_table(tmp_path):
    page = pr.report(
        TABLE, **NAMES, over=(0.05, 0.2), recall=0.8, path=tmp_path / "a.html"
    ).read_text()  # fmt: skip
    assert 'id="publication"' in page
    first = page[page.index('id="publication"') :]
    assert "negative likelihood ratio" in first
    in_folds = TABLE.with_columns(fold=pl.col("case") % 2)
    page = pr.report(
        in_folds, **NAMES, over=(0.05, 0.2), test_train_ratio=1, path=tmp_path / "b.html"
    ).read_text()  # fmt: skip
    assert 'id="publication"' not in page


@pytest.mark.usefixtures("words_only")
def test_one_fold_that_is_named_is_a_test_set(tmp_path):
    one = TABLE.with_columns(fold=pl.lit(1))
    page = pr.report(
        one, **NAMES, fold="fold", over=(0.05, 0.2), recall=0.8, path=tmp_path / "a.html"
    ).read_text()  # fmt: skip
    assert 'id="publication"' in page


def test_rates_have_standard_errors(found):
    rates = found.table.filter(pl.col("measure").is_in(["recall", "specificity", "npv"]))
    assert rates["std_error"].null_count() == 0
    recall, of_recall = (value(found, "recall", one, m="A", subgroup=None) for one in
                         ("estimate", "std_error"))  # fmt: skip
    positives = int(value(found, "positives", m="A", subgroup=None))
    assert of_recall == pytest.approx((recall * (1 - recall) / (positives - 1)) ** 0.5)


def test_a_model_without_a_threshold_has_no_rates():
    found = pr.study_table(TABLE, **NAMES, points={"A": 0.5}, priors=0.1)
    rates = found.table.filter(pl.col("measure").is_in(["recall", "precision", "npv"]))
    assert rates["m"].unique().to_list() == ["A"]
    assert "no point" not in found.summary()
