import json

import polars as pl
import pytest
from agreement import assert_same_numbers
from command_line import polaroc

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
COLUMNS = ["--truth", "truth", "--score", "score"]
PROMISED = [
    "--min-precision", "0.5", "--max-posfrac", "0.4",
    "--confidence", 0.95, "--over", 0.1, 0.3,
]  # fmt: skip


def threshold(*arguments: object):
    return polaroc("threshold", *arguments)


@pytest.fixture
def files(tmp_path):
    for part, name in enumerate(("tuning", "test")):
        half = TABLE.filter(pl.col("case") % 2 == part).drop("case")
        half.write_parquet(tmp_path / f"{name}.parquet")
        half.filter(model="A").drop("model").write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def test_thresholds_are_chosen_on_one_file_and_judged_on_another(files):
    saved = files / "threshold.json"
    chosen = threshold(files / "tuning.csv", *COLUMNS, *PROMISED, "--out", saved)
    assert chosen.exit_code == 0, chosen.output
    sentence = (
        "With 95 % confidence at least 5 of 10 alarms are right and at most 4 of 10 cases raise an "
        "alarm, as long as 10 to 30 % are positive."
    )
    assert sentence in " ".join(chosen.output.split())
    document = json.loads(saved.read_text())
    points = pr.operating_points(
        pr.curve(pl.read_csv(files / "tuning.csv"), truth="truth", score="score"), "max_recall",
        constraints={"precision": 0.5, "posfrac": 0.4}, confidence=0.95, over=(0.1, 0.3),
    )  # fmt: skip
    assert_same_numbers(pl.DataFrame(document["points"], schema=points.schema), points)
    assert document["constraints"] == {"precision": 0.5, "posfrac": 0.4}
    assert (document["over"], document["confidence"]) == ([0.1, 0.3], 0.95)
    assert len(document["fingerprint"]) == 64

    judged = threshold(files / "test.csv", *COLUMNS, "--apply", saved, "--json")
    assert judged.exit_code == 0, judged.output
    row, at_high = json.loads(judged.stdout)
    assert (row["prior"], at_high["prior"]) == (0.1, 0.3)
    limit = document["points"][0]["threshold"]
    test = pl.read_csv(files / "test.csv")
    recall = test.filter(pl.col("truth"))["score"].ge(limit).mean()
    assert row["tpr"] == pytest.approx(recall)
    assert row["promise"] == sentence


def test_the_tuning_file_does_not_judge_its_own_thresholds(files):
    saved = files / "threshold.json"
    threshold(files / "tuning.csv", *COLUMNS, "--min-recall", 0.9, "--out", saved)
    # Neither the order of the rows nor the format hides it.
    shuffled = pl.read_csv(files / "tuning.csv").reverse()
    shuffled.write_parquet(files / "other.parquet")
    result = threshold(files / "other.parquet", *COLUMNS, "--apply", saved)
    assert result.exit_code == 2
    assert "the very cases that the thresholds were chosen on" in result.output


def test_a_threshold_is_not_used_for_another_model(files):
    saved = files / "threshold.json"
    one = pl.read_parquet(files / "tuning.parquet").filter(model="A")
    one.write_parquet(files / "one.parquet")
    by_model = ["--fold", "", "--rule", "youden"]
    assert threshold(files / "one.parquet", *COLUMNS, *by_model, "--out", saved).exit_code == 0
    result = threshold(files / "test.parquet", *COLUMNS, "--fold", "", "--apply", saved)
    assert "there is no point for this key" in result.output
    result = threshold(
        files / "test.parquet", *COLUMNS, "--model", "", "--fold", "", "--apply", saved
    )
    assert "the rows of the points differ by 'model'" in " ".join(result.output.split())
    own = pl.read_parquet(files / "test.parquet").filter(model="A")
    own.with_columns(model=pl.col("model").cast(pl.Categorical)).write_parquet(files / "a.parquet")
    result = threshold(files / "a.parquet", *COLUMNS, "--fold", "", "--apply", saved)
    assert result.exit_code == 0, result.output
    # Without keys the column of the scores tells the model.
    threshold(files / "tuning.csv", *COLUMNS, "--rule", "youden", "--out", saved, "--force")
    pl.read_csv(files / "test.csv").rename({"score": "p_svm"}).write_csv(files / "svm.csv")
    result = threshold(files / "svm.csv", "--truth", "truth", "--score", "p_svm", "--apply", saved)
    assert result.exit_code == 2
    assert "it may be another model's" in result.output


def test_choose_without_any_threshold_ends_as_threshold_does(files):
    asked = [*COLUMNS, "--over", 0.1, 0.3, "--min-precision", 0.99, "--confidence", 0.95]
    tuning = files / "tuning.parquet"
    chosen = polaroc("choose", files / "test.parquet", "--tuning", tuning, *asked)
    assert (chosen.exit_code, threshold(tuning, *asked).exit_code) == (3, 3)
    assert "No model has a threshold." in chosen.output


def test_a_promise_for_each_group_is_written_and_read(files):
    for name in ("tuning", "test"):
        table = pl.read_parquet(files / f"{name}.parquet").drop("fold", strict=False)
        table.rename({"model": "site"}).write_parquet(files / f"{name}.parquet")
    saved, by = files / "threshold.json", [*COLUMNS, "--by", "site"]
    result = threshold(files / "tuning.parquet", *by, *PROMISED, "--out", saved)
    assert result.exit_code == 0, result.output
    document = json.loads(saved.read_text())
    points = pr.operating_points(
        pl.read_parquet(files / "tuning.parquet"), "max_recall", by="site", confidence=0.95,
        constraints={"precision": 0.5, "posfrac": 0.4}, over=(0.1, 0.3),
    )  # fmt: skip
    assert points["promise"].drop_nulls().len() > 1
    assert_same_numbers(pl.DataFrame(document["points"], schema=points.schema), points)

    test = pl.read_parquet(files / "test.parquet")
    for asked, priors in (([], [0.1, 0.3]), (["--prior", 0.2], 0.2)):
        words = [files / "test.parquet", *by, "--apply", saved, *asked]
        judged = pl.DataFrame(json.loads(threshold(*words, "--json").stdout))
        expected = pr.apply_thresholds(test, points, by="site", priors=priors, intervals=True)
        promised = expected.join(points.select("site", "promise"), on="site")
        assert_same_numbers(judged.cast(promised.schema), promised)
        # The limits of the precision are printed, at the priors asked for.
        printed = threshold(*words).stdout
        for row in expected.drop_nulls("threshold").iter_rows(named=True):
            ends = (row[f"precision{end}"] for end in ("", "_lower", "_upper"))
            assert "{:.3f} ({:.3f} to {:.3f})".format(*ends) in printed
    unnamed = threshold(files / "test.parquet", *COLUMNS, "--apply", saved)
    assert "the rows of the points differ by 'site'" in unnamed.stderr
    assert "--by" in unnamed.stderr


def test_thresholds_at_several_priors_keep_their_own_promises(files):
    saved = files / "threshold.json"
    asked = ["--min-precision", 0.5, "--confidence", 0.9, "--prior", 0.1, "--prior", 0.3]
    chosen = threshold(files / "tuning.csv", *COLUMNS, *asked, "--out", saved)
    assert chosen.exit_code == 0, chosen.output
    points = json.loads(saved.read_text())["points"]
    judged = json.loads(threshold(files / "test.csv", *COLUMNS, "--apply", saved, "--json").stdout)
    own = [(point["prior"], point["threshold"], point["promise"]) for point in points]
    assert [(row["prior"], row["threshold"], row["promise"]) for row in judged] == own
    assert len({promise for *_, promise in own}) == 2


def test_where_nothing_can_be_promised_nothing_is_written(files):
    saved = files / "threshold.json"
    result = threshold(
        files / "tuning.csv", *COLUMNS, "--min-precision", 0.95, "--confidence",
        0.95, "--prior", 0.01, "--out", saved,
    )  # fmt: skip
    assert result.exit_code == 3, result.output
    assert "no threshold can be promised" in result.output
    assert not saved.exists()


def test_thresholds_of_folds_promise_nothing(files):
    pr.datasets.satellite_predictions().filter(model="A").write_parquet(files / "folds.parquet")
    result = threshold(files / "folds.parquet", *COLUMNS, *PROMISED)
    assert result.exit_code == 2
    assert "several folds, whose models are fitted anew" in result.output


def test_the_rule_that_is_used_where_none_is_named_is_said(files):
    tuning = [files / "tuning.csv", *COLUMNS]
    curves = pr.curve(pl.read_csv(files / "tuning.csv"), truth="truth", score="score")
    for more, rule, options in (
        ([], "balanced", {}),
        (["--cost-fn", 5], "cost", {"cost_fn": 5}),
        (["--max-posfrac", 0.1], "max_recall", {"constraints": {"posfrac": 0.1}}),
        (["--min-recall", 0.9], "fewest_alarms", {"constraints": {"recall": 0.9}}),
    ):
        result = threshold(*tuning, *more, "--json")
        assert f"no --rule is given: {rule!r}" in result.stderr
        expected = pr.operating_points(curves, rule, **options)
        found = pl.DataFrame(json.loads(result.stdout), schema=expected.schema)
        assert_same_numbers(found, expected)
        assert "no --rule" not in threshold(*tuning, *more, "--rule", rule).output
        # At which prior the limits are kept is not left open either.
        assert "no --prior or --over is given" in result.stderr
        assert "no --prior" not in threshold(*tuning, *more, "--prior", 0.1).output
    asked = threshold(*tuning, "--over", 0.05, 0.2)
    assert asked.exit_code == 2
    assert "the rule 'balanced' needs one prior" in asked.output
    assert "the costs of errors, such as --cost-fn 5" in asked.output


def test_over_a_range_the_precision_is_shown_at_both_ends(files):
    result = threshold(files / "tuning.csv", *COLUMNS, *PROMISED, "--json")
    (point,) = json.loads(result.stdout)
    shown = threshold(files / "tuning.csv", *COLUMNS, *PROMISED).output
    heading = next(line for line in shown.splitlines() if "threshold" in line)
    assert "precision at 0.1" in heading
    assert "precision at 0.3" in heading
    for prior in (0.1, 0.3):
        at_end = prior * point["tpr"] / (prior * point["tpr"] + (1 - prior) * point["fpr"])
        assert f"{at_end:.3f}" in shown


def changed(**parts):
    return lambda document: document | parts


def of_point(**parts):
    return lambda document: document | {"points": [document["points"][0] | parts]}


@pytest.mark.parametrize(
    "change",
    [
        of_point(threshold=float("nan")), of_point(threshold="NaN"), of_point(threshold=0.7),
        of_point(tpr=2), changed(confidence=7), changed(fingerprint="0" * 64), lambda it: it,
        lambda document: {name: document[name] for name in document if name != "seal"},
    ],
)  # fmt: skip
def test_a_file_that_was_changed_is_refused(files, change):
    saved = files / "threshold.json"
    rule = ["--rule", "youden", "--over", 0.1, 0.2]
    assert threshold(files / "tuning.csv", *COLUMNS, *rule, "-o", saved).exit_code == 0
    judge = [files / "test.csv", *COLUMNS, "--apply", saved]
    assert threshold(*judge).exit_code == 0
    saved.write_text(json.dumps(change(json.loads(saved.read_text()))))
    refused(threshold(*judge))


def refused(result):
    assert result.exit_code == 2, result.output
    assert "Hint: give the file that `polaroc threshold --out` wrote" in result.output
    assert "digest" in result.output


@pytest.mark.parametrize("content", ["[" * 100_000, "{}", "", "\0\xff"])
def test_another_file_is_refused(files, content):
    saved = files / "threshold.json"
    saved.write_text(content, encoding="latin-1")
    refused(threshold(files / "test.csv", *COLUMNS, "--apply", saved))
