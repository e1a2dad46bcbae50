"""The same question has the same figure, whoever is asked."""

import json
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

pytestmark = pytest.mark.usefixtures("words_only")

TABLE = pr.datasets.satellite_predictions()
OVER = (0.05, 0.20)
COLUMNS = {"truth": "truth", "score": "score"}
WORDS = ["--truth", "truth", "--score", "score"]
RANGE = ["--over", "0.05", "0.20"]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def answered(*arguments: object) -> dict:
    result = polaroc(*arguments, "--json")
    assert result.exit_code in (0, 1, 3), result.output
    return json.loads(result.stdout)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("folds", [True, False])
def test_mean_difference_and_probability(tmp_path, folds):
    table = TABLE.filter(pl.col("fold") <= 4) if folds else TABLE.filter(fold=1)
    by = ["model", "fold"] if folds else ["model"]
    design = {"test_train_ratio": 0.25} if folds else {"case": "case"}
    words = ["--test-train-ratio", 0.25] if folds else ["--case", "case"]
    raw = tmp_path / "raw.parquet"
    table.write_parquet(raw)
    measures = pr.evaluate(table, **COLUMNS, by=by, over=OVER, priors=pr.prior_grid(*OVER, 25))
    iauprec = measures.filter(measure="iauprec").group_by("model").agg(pl.col("estimate").mean())
    means = dict(iauprec.iter_rows())
    alone = (
        pr.iauprec(pr.curve(table, **COLUMNS, by=by), over=OVER)
        .group_by("model")
        .agg(pl.col("estimate").mean())
    )
    assert dict(alone.iter_rows()) == pytest.approx(means, abs=1e-12)

    choice = pr.choose(table, **COLUMNS, over=OVER, **design)
    assert dict(choice.models.select("model", "mean").iter_rows()) == pytest.approx(means)
    said = answered("choose", raw, *WORDS, *RANGE, *words)
    assert {row["model"]: row["mean"] for row in said["models"]} == pytest.approx(means)
    assert said["answer"] == choice.answer
    for mine, theirs in zip(choice.models.rows(named=True), said["models"], strict=True):
        assert mine == pytest.approx(theirs, abs=1e-3)
    assert (
        f"is {means['A']:.3f}, {means['A'] - means['C']:.3f} more than that of C" in said["answer"]
    )

    if folds:
        of_measures = pr.choose(measures, over=OVER, **design)
        assert_frame_equal(of_measures.models, choice.models, abs_tol=1e-3)
        stored = tmp_path / "measures.parquet"
        measures.write_parquet(stored)
        for mine, theirs in zip(
            answered("choose", stored, *words)["models"], said["models"], strict=True
        ):
            assert mine == pytest.approx(theirs, abs=1e-3)
        compared = pr.compare(measures, **design)
        target = []
    else:
        compared = pr.compare(table, target="trained", **COLUMNS, **design, over=OVER)
        target = ["--target", "trained"]
    assert dict(compared.letters.select("model", "mean").iter_rows()) == pytest.approx(means)
    written = answered("compare", raw, *WORDS, *RANGE, *target, *words)
    assert {row["model"]: row["mean"] for row in written["letters"]} == pytest.approx(means)
    pairs = compared.pairs.filter(model_a="A", model_b="C")
    difference = pairs["difference"].item()
    assert difference == pytest.approx(means["A"] - means["C"])

    asked = {"champion": "C", "challenger": "A"}
    gated = pr.gate(table, **COLUMNS, over=OVER, **design, **asked)
    assert gated.difference == pytest.approx(difference)
    assert (gated.champion_estimate, gated.challenger_estimate) == pytest.approx(
        (means["C"], means["A"])
    )
    models = ["--champion", "C", "--challenger", "A"]
    assert answered("gate", raw, *WORDS, *RANGE, *words, *models)["difference"] == pytest.approx(
        difference
    )

    page = pr.report(table, path=tmp_path / "page.html", **COLUMNS, over=OVER, **design)
    text = re.sub(r"\s+", " ", page.read_text())
    assert f"{means['A']:.3f}" in text
    shell = tmp_path / "shell.html"
    result = polaroc("report", raw, *WORDS, *RANGE, *words, "--out", shell)
    assert result.exit_code == 0, result.output
    assert f"{means['A']:.3f}" in shell.read_text()


@pytest.mark.long
@pytest.mark.slow
def test_threshold_and_loss_are_written_alike(tmp_path):
    table = TABLE.filter(fold=1).drop("fold")
    test, tuning = (table.filter(pl.col("case") % 2 == part) for part in (1, 0))
    for name, part in (("test", test), ("tuning", tuning)):
        part.write_parquet(tmp_path / f"{name}.parquet")
    files = [tmp_path / "test.parquet", "--tuning", tmp_path / "tuning.parquet", "--case", "case"]
    asked = {**COLUMNS, "over": OVER, "case": "case"}
    choice = pr.choose(test, measure="expected_cost", tuning=tuning, cost_fn=5, **asked)
    words = ["--measure", "expected_cost", "--cost-fn", 5]
    assert answered("choose", *files, *WORDS, *RANGE, *words)["answer"] == choice.answer
    told = []
    page = tmp_path / "page.html"
    pr.report(test, tuning=tuning, cost_fn=5, cost_fp=1, path=page, tell=told.append, **asked)
    written = r"Take (\w+).*?, and act on scores from (\S+)\.\s"
    assert re.match(written, told[0]).groups() == re.match(written, choice.answer).groups()

    for sentence in (
        r"Of 1,000 cases, .* costs as much as \S+ false alarms, about \S+ fewer",
        r"\w+ is the best .*",
    ):
        assert re.search(sentence, choice.answer)[0] in told[0].replace("\n", " ")
    del told[:]
    pr.report(test, path=page, tell=told.append, **asked)
    assert re.search(r"\w+ is the best .*", pr.choose(test, **asked).answer)[0] in told[0]
