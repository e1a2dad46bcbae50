import re

import polars as pl
import pytest
from pages import Page
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.errors import InvalidTable

TABLE = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
TEST, TUNING = (TABLE.filter(pl.col("case") % 2 == part) for part in (1, 0))
OVER = (0.1, 0.3)
COLUMNS = {"truth": "truth", "score": "score", "over": OVER}


def answer(folder, table=TEST, **arguments):
    told = []
    arguments = {**COLUMNS, "tuning": TUNING, **arguments}
    path = pr.report(table, path=folder / "report.html", tell=told.append, **arguments)
    return " ".join(told[0].split("\n")), Page(path)


def assert_same_cases(written, threshold):
    for table in (TUNING, TEST):
        score = table.filter(model="A")["score"]
        assert (score >= written).equals(score >= threshold)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needs", "rule", "promise"),
    [
        (
            {"precision": 0.4},
            {"rule": "precision", "target": 0.4, "over": OVER},
            "With 95 % confidence at least 4 of 10 alarms are right, as long as 10 to 30 % are "
            "positive.",
        ),
        (
            {"recall": 0.8, "level": 0.9},
            {"rule": "recall", "target": 0.8, "priors": 0.1, "confidence": 0.9},
            "With 90 % confidence at least 8 of 10 positives are found.",
        ),
    ],
)
def test_a_threshold_from_cases_of_its_own_carries_its_promise(tmp_path, needs, rule, promise):
    said, page = answer(tmp_path, **needs)
    curves = pr.curve(TUNING.filter(model="A"), truth="truth", score="score", by="model")
    (point,) = pr.operating_points(curves, **{"confidence": 0.95, **rule}).to_dicts()
    assert point["promise"] == promise
    written = re.match(r"Take A.*?, and act on scores from (\S+)\. (.*)", said)
    assert written[2].startswith(f"{promise} ")
    assert_same_cases(float(written[1]), point["threshold"])
    assert "The threshold was set on cases of its own. The rates are those of" in page.text()
    # Its rates are those of the cases that took no part.
    found = TEST.filter(pl.col("truth"), model="A")["score"] >= point["threshold"]
    shown = page.table("Thresholds of A")
    assert shown["alarms of 100 positives"][0].startswith(f"{100 * found.mean():.0f}")
    assert shown["promise"][0] == promise


@pytest.mark.slow
def test_what_cannot_be_promised_is_said(tmp_path):
    said, page = answer(tmp_path, precision=0.95)
    assert ". No threshold can be promised to be right in at least 95 % of alarms: about " in said
    assert "more negatives would do" in said
    assert not page.all("section[@class='case']")


@pytest.mark.slow
def test_costs_set_a_threshold_and_promise_nothing(tmp_path):
    said, page = answer(tmp_path, cost_fn=5)
    curves = pr.curve(TUNING.filter(model="A"), truth="truth", score="score", by="model")
    at = pr.operating_points(curves, "cost", priors=0.2, cost_fn=5)["threshold"].item()
    written = re.match(r"Take A.*?, and act on scores from (\S+)\. That finds", said)
    assert_same_cases(float(written[1]), at)
    assert "promises nothing: costs cannot be promised" in page.text()


def test_folds_and_cases_that_are_judged_promise_nothing(tmp_path):
    folds = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    for changed, said in (
        ({"table": folds}, "their thresholds promise nothing"),
        ({"tuning": TEST}, "the same cases"),
        ({"tuning": TUNING.filter(pl.col("model") != "A")}, "no cases of 'A'"),
    ):
        with pytest.raises(pr.errors.PolarocError, match=said) as refused:
            answer(tmp_path, **changed)
        assert "Hint:" in str(refused.value)
    measures = pr.evaluate(TEST, truth="truth", score="score", by="model", over=OVER)
    with pytest.raises(pr.errors.InvalidArgument, match="tuning is for predictions"):
        pr.report(measures, path=tmp_path / "report.html", tuning=TUNING)


@pytest.mark.slow
def test_the_command_line_says_the_same_of_one_model(tmp_path):
    one, other = (table.filter(model="A").drop("model") for table in (TEST, TUNING))
    one.write_parquet(tmp_path / "test.parquet")
    other.write_csv(tmp_path / "tuning.csv")
    said, _ = answer(tmp_path, one, tuning=other, precision=0.4)
    call = [
        "report", tmp_path / "test.parquet", "--tuning", tmp_path / "tuning.csv", "--truth",
        "truth", "--score", "score", "--over", 0.1, 0.3, "--precision", 0.4, "--out",
        tmp_path / "other.html",
    ]  # fmt: skip
    result = CliRunner().invoke(app, list(map(str, call)))
    assert result.exit_code == 0, result.output
    assert said in " ".join(result.stdout.split())


@pytest.mark.parametrize("case", [None, "case"])
def test_tuning_cases_among_the_others_are_refused(tmp_path, case):
    with pytest.raises(InvalidTable, match="all cases of tuning are among the predictions"):
        answer(tmp_path, tuning=TEST.filter(pl.col("case") % 3 == 0), case=case, recall=0.8)
    if case is not None:
        labels = {one: table.with_columns(score=pl.col("score") > 0) for one, table in (
            ("frame", TEST), ("tuning", TEST.filter(pl.col("case") % 3 == 0)))}  # fmt: skip
        numbers = {one: table.cast({"score": pl.Int64}) for one, table in labels.items()}
        with pytest.raises(InvalidTable, match="all cases of tuning are among"):
            answer(tmp_path, numbers["frame"], tuning=numbers["tuning"], case=case, recall=0.8)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_rows_of_one_column_per_model_are_cases(tmp_path):
    wide = TEST.pivot(
        "model", index=["case", "truth"], values="score", aggregate_function="first"
    ).drop("case")
    scores = wide.columns[1:]
    asked = {"truth": "truth", "over": OVER}
    pages = []
    for name, table, more in (
        ("wide", wide, {"score": scores}),
        # A column with that name need not tell rows apart.
        ("id", wide.with_columns(id=1), {"score": scores}),
        ("long", TEST, {"score": "score", "by": "model", "case": "case"}),
    ):
        told = []
        pr.report(table, path=tmp_path / f"{name}.html", tell=told.append, **asked, **more)
        pages.append(told)
    assert "with a probability of" in pages[0][0]
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.slow
def test_cases_that_not_all_models_scored_are_said(tmp_path):
    wide = TEST.pivot("model", index=["case", "truth"], values="score", aggregate_function="first")
    holes = wide.with_columns(A=pl.when(pl.int_range(pl.len()) != 3).then("A"))
    told = []
    path = pr.report(holes, truth="truth", score=["A", "B", "C"], over=OVER, nulls="drop",
                     path=tmp_path / "report.html", tell=told.append)  # fmt: skip
    said = f"1 of {wide.height} cases was left out of all models"
    assert any(said in sentence for sentence in told)
    assert said in path.read_text(encoding="utf-8")
    kept = []
    pr.report(wide.filter(pl.int_range(pl.len()) != 3), truth="truth", score=["A", "B", "C"],
              over=OVER, path=tmp_path / "kept.html", tell=kept.append)  # fmt: skip
    assert told[0] == kept[0]
