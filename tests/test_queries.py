import re
import runpy
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from oracles import mixture_by_linear_programme
from papers import synthetic
from papers.bounds import auprec_bounds
from scipy import stats
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

import polaroc as pr

FOLDER = Path(__file__).parents[1] / "queries"
# Programs of the papers have a function `query`, those of questions print their `answer`.
QUERIES = [file for file in sorted(FOLDER.glob("*.py")) if "def query" in file.read_text()]
QUESTIONS = sorted({*FOLDER.glob("*.py")} - {*QUERIES})
SATELLITE = pr.datasets.satellite_predictions()

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


def run(name: str, predictions: pl.DataFrame) -> pl.DataFrame:
    query = runpy.run_path(str(FOLDER / f"{name}.py"))["query"](predictions.lazy())
    assert isinstance(query, pl.LazyFrame)
    collected = query.collect()
    assert query.collect_schema() == collected.schema
    return collected


def answered(name: str, *words: str) -> Any:
    """The answer of a program to its question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", [name, *words])
        return runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")["answer"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.stem)
def test_a_question_is_short_and_takes_a_file(question, tmp_path, capsys):
    assert len(question.read_text().splitlines()) <= 40
    columns = set(re.findall(r"`(\w+)`", question.read_text()))
    if "day" in columns:
        table = synthetic.drifting_predictions()
    else:
        folds = [2, 3] if "fold" in columns else [2]
        models = ["A", "B", "C"] if "model" in columns else ["A"]
        table = SATELLITE.filter(pl.col("fold").is_in(folds), pl.col("model").is_in(models))
    file = tmp_path / "predictions.parquet"
    table.write_parquet(file)
    answered(question.stem, str(file))
    assert len(capsys.readouterr().out) > 100


def scores(**key: object) -> tuple[np.ndarray, np.ndarray]:
    part = SATELLITE.filter(**key)
    return part["truth"].to_numpy(), part["score"].to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_every_query_runs_as_a_script(query, tmp_path, capsys, monkeypatch):
    words = [str(query)]
    if query.stem == "areas_that_exclude_each_other":
        # Its bounds take seconds for the whole table, which has a test of its own.
        words.append(str(tmp_path / "predictions.parquet"))
        SATELLITE.filter(pl.int_range(pl.len()) % 10 == 0).write_parquet(words[1])
    monkeypatch.setattr("sys.argv", words)
    runpy.run_path(str(query), run_name="__main__")
    assert "shape:" in capsys.readouterr().out or query.stem == "design_card"


def test_one_lazy_pipe_leads_from_predictions_to_anova_and_a_chart(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["design_card"])
    runpy.run_path(str(FOLDER / "design_card.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "C(model)" in printed
    assert "vega-lite" in printed


@pytest.mark.parametrize(
    "name", ["accuracy_and_precision_by_skew", "curves_at_three_priors", "twenty_scores"]
)
def test_a_query_takes_a_file(name, tmp_path, capsys, monkeypatch):
    file = tmp_path / "predictions.parquet"
    SATELLITE.filter(model="B", fold=2).write_parquet(file)
    monkeypatch.setattr("sys.argv", [name, str(file)])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert "shape:" in capsys.readouterr().out


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return run("satellite_table", SATELLITE)


@pytest.mark.parametrize(("model", "measure", "prior", "mean", "sd"), TABLE_1)
def test_satellite_table_is_within_one_published_sd(table, model, measure, prior, mean, sd):
    row = table.filter(
        pl.col("model") == model,
        pl.col("measure") == measure,
        pl.col("prior").eq_missing(pl.lit(prior)),
    )
    assert row["mean"].item() == pytest.approx(mean, abs=sd)


@pytest.fixture(scope="module")
def by_skew() -> pl.DataFrame:
    return run("accuracy_and_precision_by_skew", synthetic.highleyman_predictions())


def highleyman_rates() -> tuple[float, float]:
    """TPr and TNr of the linear discriminant of the two Gaussians themselves."""
    means, variances = np.array([[1, 1], [2, 0]]), np.array([[1, 0.25], [0.01, 4]])
    direction = (means[0] - means[1]) / variances.mean(axis=0)
    middle = direction @ means.mean(axis=0)
    first, second = (
        stats.norm(direction @ mean, sqrt(direction**2 @ variance))
        for mean, variance in zip(means, variances, strict=True)
    )
    return first.sf(middle), second.cdf(middle)


def test_highleyman_rates_are_those_of_the_gaussians(by_skew):
    tpr, tnr = highleyman_rates()
    # Three standard errors of 50,000 cases, and as much for a trained discriminant.
    assert by_skew["tpr"].to_list() == pytest.approx([tpr] * 7, abs=0.012)
    assert by_skew["tnr"].to_list() == pytest.approx([tnr] * 7, abs=0.008)


def test_accuracy_and_precision_by_skew_are_those_of_the_gaussians(by_skew):
    tpr, tnr = highleyman_rates()
    for skew, accuracy, precision in by_skew.select("skew", "accuracy", "precision").iter_rows():
        assert accuracy == pytest.approx((tpr + skew * tnr) / (1 + skew), abs=0.008)
        assert precision == pytest.approx(tpr / (tpr + skew * (1 - tnr)), abs=0.02)


@pytest.fixture(scope="module")
def achievable() -> pl.DataFrame:
    return run("hull_and_achievable_curve", SATELLITE.filter(pl.col("fold") <= 3))


def test_the_raw_curve_is_that_of_roc_points(achievable):
    truth, score = scores(model="C", fold=3)
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=False)
    for recall, f in achievable.filter(model="C", fold=3).select("recall", "fpr").iter_rows():
        # The first point that has the recall, on the way up to it.
        i = int(np.argmax(tpr >= recall))
        share = (recall - tpr[i - 1]) / (tpr[i] - tpr[i - 1])
        assert f == pytest.approx(fpr[i - 1] + share * (fpr[i] - fpr[i - 1]))


@pytest.mark.parametrize("decimals", [0, 1, 2])
def test_dominance_is_the_same_in_both_spaces_with_ties(decimals):
    tied = SATELLITE.filter(pl.col("fold") <= 8).with_columns(pl.col("score").round(decimals))
    worse = tied.filter(model="A").with_columns(
        pl.lit("D").alias("model"), pl.when("truth").then("score").otherwise(pl.col("score") + 1)
    )
    found = run(
        "dominance_in_both_spaces", pl.concat([tied, worse, worse.with_columns(model=pl.lit("E"))])
    )
    assert found["agree"].all()
    assert set(found.filter(model_a="D", model_b="E")["relation"]) == {"equal"}
    assert set(found.filter(model_a="A", model_b="D")["relation"]) == {"dominates"}


@pytest.fixture(scope="module")
def sensitivity() -> pl.DataFrame:
    embedded = runpy.run_path(str(FOLDER / "sensitivity_table.py"))["embedded"]
    return run("sensitivity_table", embedded())


def test_sensitivity_table_is_within_one_published_sd(sensitivity):
    reproduced = sensitivity.filter(pl.col("model") != "sc svc r 1.0")
    assert reproduced.height == 7 * 4
    off = (pl.col("mean") - pl.col("published")).abs() / pl.col("published_sd")
    assert reproduced.filter(off > 1).is_empty(), reproduced.filter(off > 1)
    assert (sensitivity.select(off).to_series() == sensitivity["published_sds_off"].abs()).all()


def test_sensitivity_table_of_a_file_that_names_its_data(tmp_path, capsys, monkeypatch):
    file = tmp_path / "predictions.parquet"
    pr.datasets.sonar_predictions().filter(model="sc knnc1").write_parquet(file)
    monkeypatch.setattr("sys.argv", ["sensitivity_table", str(file), "sonar"])
    runpy.run_path(str(FOLDER / "sensitivity_table.py"), run_name="__main__")
    assert "0.892" in capsys.readouterr().out


def test_published_figures_are_those_of_the_source(sensitivity):
    def printed(dataset: str, model: str, measure: str) -> tuple[float, float]:
        row = sensitivity.filter(dataset=dataset, model=model, measure=measure)
        return row.select("published", "published_sd").row(0)

    assert printed("sonar", "sc svc p4", "sens") == (0.533, 0.141)
    assert printed("sonar", "pca6 parzenc", "equal_error") == (0.167, 0.054)
    assert printed("ionosphere", "fisherm qdc", "accsens") == (0.260, 0.041)
    assert printed("ionosphere", "sc svc r 1.0", "auc_range") == (0.853, 0.171)


def test_operating_points_are_where_both_errors_are_as_many():
    found = run("operating_points_by_prior", synthetic.case_study_predictions())
    assert found.height == 6
    for _, prior, _, f, missed, error in found.iter_rows():
        # The nearest threshold: a case more or less makes the errors unequal.
        assert prior * missed == pytest.approx((1 - prior) * f, abs=0.001)
        assert error == pytest.approx(prior * missed + (1 - prior) * f)
    for model in "AB":
        assert found.filter(model=model)["fnr"].is_sorted(descending=True)
        assert found.filter(model=model)["fpr"].is_sorted()


def test_twenty_scores_have_the_areas_of_the_walk():
    table = pr.datasets.twenty_scores()
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    found = dict(run("twenty_scores", table).select("convention", "estimate").iter_rows())
    precision, recall, _ = precision_recall_curve(truth, score)
    precision, recall = precision[-2::-1], recall[-2::-1]
    walk = sum(
        (r1 - r0) * (p0 + p1) / 2
        for (r0, p0), (r1, p1) in pairwise(zip(recall, precision, strict=True))
    )
    assert round(walk, 6) == 0.619124
    assert found.pop("linear, first segment left out (the walk)") == pytest.approx(walk)
    assert found.pop("linear") == pytest.approx(walk + recall[0] * precision[0])
    assert found.pop("ROC") == pytest.approx(roc_auc_score(truth, score)) == pytest.approx(0.68)
    average = average_precision_score(truth, score)
    assert found.pop("average precision") == pytest.approx(average)
    assert {name: round(value, 4) for name, value in found.items()} == {
        "exact": 0.72, "achievable": 0.7883,
    }  # fmt: skip


def pen(table: pl.DataFrame) -> list[tuple[float, float]]:
    """The judge's pen, case by case; cases with the same score move it at once."""
    x, y = 0, int((~table["truth"]).sum())
    path = [(x, y)]
    for _, named in sorted(table.group_by("score"), reverse=True):
        for truth in named["truth"]:
            x, y = (x + 1, y) if truth else (x, y - 1)
        path.append((x, y))
    return path


def area_below(path: list[tuple[float, float]]) -> float:
    """By the shoelace formula, of the polygon closed through the bottom left corner."""
    corners = [(0.0, 0.0), *path]
    doubled = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise([*corners, corners[0]]))
    return abs(doubled) / 2


GRIDS = {
    "twenty": pr.datasets.twenty_scores(),
    "tied": pr.datasets.twenty_scores().with_columns(pl.col("score").round(1)),
    "constant": pr.datasets.twenty_scores().with_columns(score=pl.lit(0.5)),
    "crisp": pr.datasets.twenty_scores().with_columns((pl.col("score") > 0.5).cast(pl.Float64)),
    "unequal": pr.datasets.twenty_scores().head(14),
}


@pytest.mark.parametrize("name", GRIDS)
def test_the_pen_walks_the_grid(name):
    table = GRIDS[name]
    found = run("pen_on_the_grid", table)
    path = pen(table)
    assert found.select("x", "y").rows() == path
    share = area_below(path) / (path[-1][0] * path[0][1])
    assert found["share_below_so_far"][-1] == pytest.approx(share)
    assert share == pytest.approx(roc_auc_score(table["truth"], table["score"]))


@pytest.mark.parametrize("name", GRIDS)
def test_precision_is_read_at_45_degrees(name):
    table = GRIDS[name]
    found = run("pen_on_the_grid", table)
    top = found["y"][0]
    for threshold, x, y, recall, reading, _ in found.iter_rows():
        if threshold is None:
            assert reading is None
            continue
        called = table["score"].to_numpy() >= threshold
        assert reading == pytest.approx(precision_score(table["truth"], called))
        assert recall == pytest.approx(recall_score(table["truth"], called))
        # The line at 45° meets the left edge at x below and the top edge at top − y above.
        assert reading == pytest.approx(x / (x + top - y))


@pytest.fixture(scope="module")
def within() -> pl.DataFrame:
    return run("areas_within_bounds", SATELLITE)


def test_what_was_measured_is_possible(within):
    assert within.filter(source="ours")["possible"].all()


def test_row_a_at_one_half_is_impossible(within):
    row = within.filter(source="published", model="A", prior=0.5).row(0, named=True)
    assert not row["possible"]
    assert row["auprec"] == 0.554
    # A constant false positive rate is one curve with this AUC: the least is at most its area.
    constant, _ = auprec_bounds(0.943, 0.5)
    m = 1 - 0.943
    assert constant <= 1 - m * np.log((1 + m) / m)
    assert row["least"] > 0.83


@pytest.mark.slow
def test_row_c_at_smaller_priors_is_impossible():
    found = run("areas_that_exclude_each_other", SATELLITE)
    row_c = found.filter(model="C").sort("prior")
    assert row_c["published"].to_list() == [0.734, 0.781]
    assert not row_c["possible"].any()
    printed = {"B": (0.8245, 0.7755), "C": (0.9045, 0.8035)}
    for model, prior, bound in found.select("model", "prior", "greatest").iter_rows():
        auc, known = printed[model]
        coarse = mixture_by_linear_programme(prior, auc, {0.5: known}, positives=16, negatives=20)
        assert bound == pytest.approx(coarse, abs=0.02)


def test_f_from_means_and_sds():
    found = run("f_from_means_and_sds", SATELLITE)
    published = found.filter(source="published").row(0, named=True)
    means, sds = np.array([0.554, 0.642, 0.783]), np.array([0.013, 0.177, 0.082])
    # Samples that have just these means and SDs, through an independent analysis.
    shape = stats.zscore(np.arange(20.0), ddof=1)
    samples = [mean + sd * shape for mean, sd in zip(means, sds, strict=True)]
    assert published["F"] == pytest.approx(stats.f_oneway(*samples).statistic)
    assert round(published["F"], 2) == 20.95
    assert (published["df1"], published["df2"]) == (2, 57)


def areas(priors: np.ndarray) -> np.ndarray:
    """AUPREC of Satellite, folds x models x priors: the mean precision at many recalls."""
    recall = (np.arange(4000) + 0.5) / 4000
    found = []
    for fold in range(1, 21):
        curves = [roc_curve(*scores(model=m, fold=fold), drop_intermediate=False) for m in "ABC"]
        fprs = [np.interp(recall, tpr, fpr) for fpr, tpr, _ in curves]
        found.append([[(recall / (recall + (1 - p) / p * f)).mean() for p in priors] for f in fprs])
    return np.array(found)


def f_of_models(values: np.ndarray) -> tuple[float, int, int]:
    """Analysis of variance with main effects only; the second axis has the models."""
    axes = range(values.ndim)
    grand = values.mean()
    effects = [values.mean(axis=tuple(set(axes) - {a}), keepdims=True) - grand for a in axes]
    left = values - grand - sum(effects)
    df1 = values.shape[1] - 1
    df2 = values.size - 1 - sum(size - 1 for size in values.shape)
    between = (effects[1] ** 2).sum() * values.size / values.shape[1]
    return (between / df1) / ((left**2).sum() / df2), df1, df2


@pytest.fixture(scope="module")
def differing() -> pl.DataFrame:
    return run("which_models_differ", SATELLITE)


@pytest.mark.parametrize(("analysis", "priors"), [("3-way, 3 priors", 3), ("3-way, 16 priors", 16)])
def test_three_way_f_is_that_of_an_analysis_of_variance(differing, analysis, priors):
    row = differing.filter(analysis=analysis).row(0, named=True)
    f, df1, df2 = f_of_models(areas(np.linspace(0.05, 0.20, priors)))
    assert row["F"] == pytest.approx(f, rel=1e-3)
    assert (row["df1"], row["df2"]) == (df1, df2)


def test_the_correction_divides_the_two_way_f(differing):
    two_way, corrected = (
        differing.filter(pl.col("analysis").str.starts_with(start)).row(0, named=True)
        for start in ("2-way, IAUPREC", "2-way, corrected")
    )
    nodes, weights = np.polynomial.legendre.leggauss(8)
    f, df1, df2 = f_of_models(areas(0.125 + 0.075 * nodes) @ weights / 2)
    assert two_way["F"] == pytest.approx(f, rel=1e-3)
    assert corrected["F"] == pytest.approx(f / (1 + 20 * 0.25), rel=1e-3)
    for row in (two_way, corrected):
        assert (row["df1"], row["df2"]) == (df1, df2)
        assert row["p_value"] == pytest.approx(stats.f.sf(row["F"], df1, df2), rel=1e-6)


def test_the_best_model_at_each_prior():
    found = answered("which_model_at_each_prior")
    values = areas(found["prior"].to_numpy())
    means = values.mean(axis=0)
    assert found["model"].to_list() == ["ABC"[i] for i in means.argmax(axis=0)]
    assert found["mean"].to_list() == pytest.approx(means.max(axis=0).tolist(), abs=1e-4)
    ahead = np.diff(np.sort(means, axis=0)[-2:], axis=0)[0]
    assert found["ahead"].to_list() == pytest.approx(ahead.tolist(), abs=2e-4)
    assert found["share"].to_list() == (values.argmax(axis=1) == 0).mean(axis=0).tolist()


def mean_areas() -> np.ndarray:
    """IAUPREC of Satellite over 5 to 20 %, folds x models."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    return areas(0.125 + 0.075 * nodes) @ weights / 2


def test_models_are_chosen_and_compared_by_their_mean_areas():
    values = mean_areas()
    models = answered("which_model").models.sort("model")
    assert models["mean"].to_list() == pytest.approx(values.mean(axis=0).tolist(), abs=1e-4)
    assert models["probability_best"].arg_max() == 0
    pairs = answered("do_models_differ").pairs
    for a, b, difference, p_value in pairs.select(
        "model_a", "model_b", "difference", "p_value"
    ).iter_rows():
        by_fold = values[:, "ABC".index(a)] - values[:, "ABC".index(b)]
        assert difference == pytest.approx(by_fold.mean(), abs=1e-4)
        t = by_fold.mean() / np.sqrt((1 / 20 + 0.25) * by_fold.var(ddof=1))
        assert p_value == pytest.approx(2 * stats.t.sf(abs(t), 19), rel=2e-2)


@pytest.mark.slow
def test_promised_thresholds_are_judged_on_the_other_cases():
    judged = answered("which_threshold_can_be_promised").sort("model", "prior")
    assert judged.filter(pl.col("threshold").is_null())["model"].to_list() == ["B", "B"]
    odd = SATELLITE.filter(pl.col("fold") == 1, pl.col("case") % 2 == 1)
    for row in judged.drop_nulls("threshold").iter_rows(named=True):
        truth, score = (
            odd.filter(model=row["model"])[name].to_numpy() for name in ("truth", "score")
        )
        tpr = recall_score(truth, score >= row["threshold"])
        fpr = 1 - recall_score(~truth, score < row["threshold"])
        weight = np.where(truth, row["prior"] / truth.mean(), (1 - row["prior"]) / (~truth).mean())
        precision = precision_score(truth, score >= row["threshold"], sample_weight=weight)
        assert (row["tpr"], row["fpr"], row["precision"]) == pytest.approx((tpr, fpr, precision))


def test_the_gate_lets_the_better_challenger_pass():
    answer = answered("may_it_replace_the_model_in_use")
    assert answer.select("challenger", "verdict").rows() == [("A", "pass"), ("B", "fail")]
    assert (answer["lower"][0] >= -0.01, answer["upper"][1] < -0.01) == (True, True)


@pytest.fixture(scope="module")
def days() -> pl.DataFrame:
    return synthetic.drifting_predictions()


def test_alarms_come_once_the_prior_has_left_the_range():
    alarms = answered("does_the_threshold_still_hold").alarms
    # From 10 % on day 15 to 40 % on day 20: above 20 % after day 16.
    assert 16 < alarms["day"].min() <= 20
    assert alarms["alarm"][0].startswith("the prior left the range 5 % to 20 %")


def test_the_share_of_positives_of_each_day_is_within_its_limits(days):
    answer = answered("what_is_the_prior_now")
    true = days.filter(pl.col("day") >= 10).group_by("day").agg(pl.col("truth").mean()).sort("day")
    assert answer["day"].to_list() == true["day"].to_list() == list(range(10, 30))
    inside = true["truth"].is_between(answer["lower"], answer["upper"])
    # Of 20 intervals that hold with 95 %, three fail in less than 2 % of samples.
    assert inside.sum() >= 18
    assert (answer["upper"] - answer["lower"]).max() < 0.12


def costs_at_the_threshold_of_other_cases(model: str, prior: float) -> float:
    """Cost per case of odd numbers, at the threshold that costs least on those of even numbers."""
    even = pl.col("case") % 2 == 0
    costs = []
    for cases in (even, ~even):
        part = SATELLITE.filter(cases, fold=1, model=model)
        truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
        if not costs:
            thresholds = np.append(np.sort(score), np.inf)
        called = score >= thresholds[:, None]
        missed, alarms = 1 - called[:, truth].mean(axis=1), called[:, ~truth].mean(axis=1)
        costs.append(10 * prior * missed + (1 - prior) * alarms)
    tuned, tested = costs
    return tested[tuned.argmin()]


def test_the_model_that_costs_least_at_the_threshold_of_other_cases():
    models = answered("which_model_costs_least").models
    for model, mean in models.select("model", "mean").iter_rows():
        assert mean == pytest.approx(costs_at_the_threshold_of_other_cases(model, 0.16))
    assert models["mean"].is_sorted()
    assert models["probability_best"].sum() == pytest.approx(1)


def test_the_threshold_that_costs_least_at_each_prior():
    found = answered("which_threshold")
    assert found.height == 9
    for model, prior, cost in found.select("model", "prior", "cost").iter_rows():
        assert cost == pytest.approx(costs_at_the_threshold_of_other_cases(model, prior))


def test_probabilities_at_other_priors_have_the_same_likelihood_ratio():
    found = answered("how_likely_is_each_case")
    odds = pl.col("probability") / (1 - pl.col("probability"))
    ratios = found.with_columns(ratio=odds * (1 - pl.col("prior")) / pl.col("prior"))
    ratios = ratios.filter(pl.col("probability").is_between(0, 1, closed="none"))
    spread = ratios.group_by("model", "case").agg(pl.col("ratio").max() / pl.col("ratio").min())
    assert spread.height > 1_000
    assert spread["ratio"].to_list() == pytest.approx([1] * spread.height)


def test_more_cases_give_narrower_intervals():
    assert answered("how_many_cases")["width"].is_sorted(descending=True)
