import re

import numpy as np
import polars as pl
import pytest
from pages import Page

import polaroc as pr
from polaroc.errors import InvalidTable

pytestmark = pytest.mark.usefixtures("words_only")

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


def test_a_promise_knows_the_clusters(tmp_path):
    test, tuning = (
        pl.concat([table.with_columns(patient="case")] * 4).with_columns(
            case=pl.int_range(pl.len()).over("model")
        )
        for table in (TEST, TUNING)
    )
    asked = {"recall": 0.8, "confidence": 0.9}
    said, _ = answer(tmp_path, test, tuning=tuning, cluster="patient", **asked)
    of_rows, _ = answer(tmp_path, **asked)
    act = r"act on scores from (\S+)\."
    assert re.search(act, said)[1] == re.search(act, of_rows)[1]


@pytest.mark.parametrize("cluster", ["patient", (pl.col("patient") + pl.col("site")).alias("who")])
def test_clusters_are_counted_by_the_name_of_their_column(tmp_path, cluster):
    test, tuning = (
        table.with_columns(patient=pl.col("case") // 3, site=0) for table in (TEST, TUNING)
    )
    _, page = answer(tmp_path, test, tuning=tuning, cluster=cluster, recall=0.8)
    one, name = test.filter(model="A"), cluster if isinstance(cluster, str) else "who"
    rows, clusters = one.height, one["patient"].n_unique()
    assert rows > clusters > 1
    words, of_tuning = page.text(), tuning.filter(model="A")["truth"]
    assert f"{rows:,} rows, {one['truth'].sum()} of them positive, in {clusters} clusters" in words
    assert f"interval that counts clusters ({name}), not rows" in words
    assert f"set on {of_tuning.sum()} positives and {(~of_tuning).sum():,} negatives" in words
    assert "independent cases" not in words.split("Ranking")[0]
    assert "Obuchowski" in words
    _, page = answer(tmp_path, recall=0.8)
    assert "for independent cases" in page.text()
    assert "Obuchowski" not in page.text()


@pytest.mark.long
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
            {"recall": 0.8, "confidence": 0.9},
            {"rule": "recall", "target": 0.8, "priors": 0.1, "confidence": 0.9},
            "With 90 % confidence at least 8 of 10 positives are found.",
        ),
    ],
)
def test_a_threshold_from_cases_of_its_own_carries_its_promise(tmp_path, needs, rule, promise):
    said, page = answer(tmp_path, **needs)
    curves = pr.curve(TUNING.filter(model="A"), truth="truth", score="score")
    (point,) = pr.operating_points(curves, **{"confidence": 0.95, **rule}).to_dicts()
    assert point["promise"] == promise
    written = re.match(r"Take A.*?, and act on scores from (\S+)\. (.*)", said)
    assert written[2].startswith(f"{promise} ")
    assert_same_cases(float(written[1]), point["threshold"])
    assert re.search(r"The threshold was set on [^.]* of other cases", page.text())
    # Its rates are those of the cases that took no part.
    found = TEST.filter(pl.col("truth"), model="A")["score"] >= point["threshold"]
    shown = page.table("Thresholds of A")
    assert shown["alarms of 100 positives"][0].startswith(f"{100 * found.mean():.0f}")
    assert shown["promised"].to_list() == [f"yes, {100 * needs.get('confidence', 0.95):.0f} %"]


@pytest.mark.slow
def test_cases_for_thresholds_may_have_roles_of_their_own(tmp_path):
    names = {"truth": "y", "score": "p", "model": "which", "case": "number"}
    own = pr.cases(TUNING.rename(names), **names)
    said, _ = answer(tmp_path, precision=0.4)
    assert answer(tmp_path, precision=0.4, tuning=own)[0] == said
    grouped = pr.cases(TUNING, truth="truth", score="score", by="case")
    with pytest.raises(pr.errors.InvalidArgument, match="does not honour 'by'"):
        answer(tmp_path, precision=0.4, tuning=grouped)
    folds = TUNING.with_columns(fold=pl.col("case") % 4)
    with pytest.raises(pr.errors.InvalidArgument, match="there are folds \\('fold'\\)"):
        answer(tmp_path, precision=0.4, tuning=folds)


@pytest.mark.slow
def test_what_cannot_be_promised_is_said(tmp_path):
    said, page = answer(tmp_path, precision=0.95)
    assert ". No threshold can be promised to be right in at least 95 % of alarms: about " in said
    assert "more negatives would do" in said
    assert not page.all("section[@class='case']")


@pytest.mark.slow
def test_costs_set_a_threshold_and_promise_nothing(tmp_path):
    said, page = answer(tmp_path, cost_fn=5)
    curves = pr.curve(TUNING.filter(model="A"), truth="truth", score="score")
    at = pr.operating_points(curves, "cost", priors=0.2, cost_fn=5)["threshold"].item()
    written = re.match(r"Take A.*?, and act on scores from (\S+)\. Of 1,000 cases, ", said)
    assert_same_cases(float(written[1]), at)
    assert "without a promise: costs cannot be promised" in page.text()


def early_and_late(seed: int) -> pl.DataFrame:
    """Six of ten positives are easy for "early"; "late" finds all, with a third of negatives."""
    rng = np.random.default_rng(seed)
    truth = np.arange(400) < 100
    easy = truth & (np.arange(400) < 60)
    noise = rng.random(400)
    return pl.DataFrame(
        {
            "id": np.arange(400) + 1000 * seed,
            "truth": truth,
            "early": np.where(easy, 1 + noise, noise),
            "late": np.where(truth | (np.arange(400) >= 300), 1 + rng.random(400), noise),
        }
    )


BY_COST = {"truth": "truth", "score": ["early", "late"], "over": OVER}


@pytest.mark.long
def test_models_are_ranked_by_what_they_cost_at_thresholds_from_cases_of_their_own(tmp_path):
    tuning, test = early_and_late(1), early_and_late(2)
    path, told = tmp_path / "report.html", []
    costs = {"cost_fn": 30, "cost_fp": 2, "tuning": tuning}
    page = Page(pr.report(test, path=path, tell=told.append, **BY_COST, **costs))
    choice = pr.choose(test, measure="expected_cost", **BY_COST, **costs)
    assert choice.models["model"].to_list() == ["late", "early"]
    areas = pr.choose(test, **BY_COST)
    assert areas.models["model"].to_list() == ["early", "late"]
    # The page says what the choice says, and what it is beside no model at all.
    said = " ".join(told[0].split("\n"))
    sentences = re.fullmatch(r"(.* fewer than with early\.) (.*)", choice.answer)
    assert said.startswith(f"{sentences[1]} Such a threshold finds about 100 of 100 positives")
    assert sentences[2] in said
    # 0.2 of 30, and 0.8 of 2.
    assert "Acting on no case would cost 6, acting on every case 1.6." in page.text()
    assert "If 10 to " not in page.text()
    assert (
        "late has the least cost whatever the share of positives, from 10 to 30 %." in page.text()
    )
    shown = page.table("The models, the least cost first")
    expected = []
    for model in ("late", "early"):
        own = choice.models.row(by_predicate=pl.col("model") == model, named=True)
        called = test[model].to_numpy() >= own["threshold"]
        truth = test["truth"].to_numpy()
        expected.append(0.2 * 30 * (1 - called[truth].mean()) + 0.8 * 2 * called[~truth].mean())
    assert shown["cost per case"].cast(float).to_list() == pytest.approx(expected, rel=1e-3)
    means = areas.models.sort("mean")["mean"]
    assert shown["area"].cast(float).to_list() == pytest.approx(means.to_list(), abs=6e-4)
    assert "what it costs more than the cheapest model" in page.text()
    assert "The tests compare areas, which count all thresholds" in page.text()


@pytest.mark.slow
def test_where_another_model_costs_less_is_where_the_lines_of_both_cross(tmp_path):
    asked = {"cost_fn": 10, "tuning": TUNING, "over": (0.05, 0.2), "case": "case"}
    _, page = answer(tmp_path, **asked)
    models = pr.choose(
        TEST, truth="truth", score="score", measure="expected_cost", **asked
    ).models.sort("model")
    (t_a, _, t_c), (f_a, _, f_c) = models.select("tpr", "fpr").to_numpy().T
    # 10 π (1 − t) + (1 − π) f is the same of both.
    odds = (f_c - f_a) / (10 * (t_c - t_a))
    assert f"C has a lower cost than A if {100 * odds / (1 + odds):.3g} to 20 %" in page.text()
    # A's own threshold for 20 %, on the cases that it was not set on.
    curves = pr.curve(TUNING.filter(model="A"), truth="truth", score="score")
    at = pr.operating_points(curves, "cost", priors=0.2, cost_fn=10)["threshold"].item()
    truth, score = (TEST.filter(model="A")[name].to_numpy() for name in ("truth", "score"))
    kept, moved = (
        0.2 * 10 * (score[truth] < one).mean() + 0.8 * (score[~truth] >= one).mean()
        for one in (models.filter(model="A")["threshold"].item(), at)
    )
    said = r"At 20 % positives this threshold costs (\d+) % more than (\S+), the one for that share"
    more, text = re.search(said, page.text().replace("\xa0", " ")).groups()
    assert int(more) == round(100 * (kept / moved - 1))
    assert_same_cases(float(text), at)


def test_without_cases_for_thresholds_the_page_says_how_to_rank_by_cost(tmp_path):
    told = []
    pr.report(
        early_and_late(2), path=tmp_path / "r.html", tell=told.append, cost_fn=30, cost_fp=2,
        **BY_COST,
    )  # fmt: skip
    assert told[0].startswith("Take early")
    assert told[0].endswith("on other cases (tuning), they are ranked by what they cost.")


def test_folds_and_cases_that_are_judged_promise_nothing(tmp_path):
    folds = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    for changed, said in (
        ({"table": folds}, "their thresholds promise nothing"),
        ({"tuning": TEST}, "are the same cases"),
        ({"tuning": TUNING.filter(pl.col("model") != "A")}, "no cases of 'A'"),
    ):
        with pytest.raises(pr.errors.PolarocError, match=said) as refused:
            answer(tmp_path, **changed)
        assert "Hint:" in str(refused.value)
    measures = pr.evaluate(TEST, truth="truth", score="score", over=OVER)
    with pytest.raises(pr.errors.InvalidArgument, match="tuning is for predictions"):
        pr.report(measures, path=tmp_path / "report.html", tuning=TUNING)


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
