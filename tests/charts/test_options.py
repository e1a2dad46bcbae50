import pytest
from drawing import curves, predictions
from pages import ASKED, OVER, Page, models, satellite
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app
from polaroc.errors import InvalidArgument


@pytest.mark.parametrize(
    ("option", "value"),
    [("band", True), ("band", [1]), ("title", 3), ("title", None), ("colours", ["red"])],
)
def test_options_of_the_wrong_type_are_refused(option, value):
    with pytest.raises(InvalidArgument, match=f"(?s){option} is .*Hint:"):
        pr.charts.roc(curves(predictions(60)), **{option: value})


def test_numbers_of_the_wrong_type_are_refused():
    curve = curves(predictions(60))
    for refused in (
        lambda: pr.charts.explorer(curve, over=0.1),
        lambda: pr.charts.explorer(curve, prior="0.1"),
    ):
        with pytest.raises(InvalidArgument, match="Hint: for example"):
            refused()


def test_points_of_folds_are_small_and_those_of_one_curve_large():
    for table, folds, size in ((models(2), "fold", 24), (models(2, folds=1), None, 110)):
        points = pr.operating_points(curves(table, fold=folds), priors=[0.1, 0.5, 0.9])
        *_, joined, marks = pr.charts.operating_drift(points).to_dict()["layer"]
        assert marks["mark"]["size"] == size
        assert len(marks["data"]["values"]) == points.height
        assert joined["encoding"]["detail"]["field"] == "line"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("words_only")
def test_a_report_cites_what_it_uses(tmp_path):
    one = models(1, folds=1).drop("fold")
    single = Page(pr.report(one, **ASKED, over=OVER, path=tmp_path / "one.html")).text()
    several = pr.report(
        satellite(), **ASKED, over=OVER, test_train_ratio=0.25, path=tmp_path / "several.html"
    )
    assert "Davis and Goadrich" in single
    for source in ("Nadeau", "DeLong, DeLong", "Holm:", "Piepho"):
        assert source not in single
    told = Page(several).text()
    assert "Holm:" in told
    assert "Nadeau" in told
    assert "DeLong, DeLong" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--case", ""], "No test was made: it needs the ratio"),
        (["--test-train-ratio", "0.25"], "as 2.0 independent ones"),
    ],
)
@pytest.mark.usefixtures("words_only")
def test_the_command_says_what_tests_assume(tmp_path, options, said):
    file = tmp_path / "predictions.parquet"
    satellite().write_parquet(file)
    asked = ["--truth", "truth", "--score", "score", "--over", "0.05", "0.20", *options]
    found = CliRunner().invoke(
        app, ["report", str(file), *asked, "--out", str(tmp_path / "r.html")]
    )
    assert found.exit_code == 0
    assert said in " ".join(found.stdout.split())


def test_near_names_are_hinted_at(tmp_path):
    measures = pr.evaluate(satellite(), **ASKED, over=OVER)
    file = tmp_path / "measures.parquet"
    measures.write_parquet(file)
    found = CliRunner().invoke(app, ["choose", str(file), "--model", "modle"])
    assert found.exit_code == 2
    assert "did you mean 'model'?" in found.stderr


def test_an_argument_that_a_chart_does_not_have_is_told_with_those_it_has():
    with pytest.raises(InvalidArgument, match=r"(?s)charts\.pr.*'prior'.*Hint: .*'surface'"):
        pr.charts.pr(curves(predictions(60)), prior=0.03)
