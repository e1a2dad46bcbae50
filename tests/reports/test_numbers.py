"""The numbers of a report: thresholds by trying all, the same by Python, page and command."""

import json
import re
from datetime import datetime
from functools import partial
from html import unescape

import numpy as np
import polars as pl
import pytest
from command_line import polaroc
from pages import ASKED, OVER, content, models, satellite
from scipy.stats import beta, binomtest, norm, t

import polaroc as pr

FOLDS = satellite()
ONE = FOLDS.filter(fold=1).drop("fold")


def steep_and_broad(seed: int) -> pl.DataFrame:
    """Some positives of "steep" lie above all negatives; "broad" has the larger area."""
    rng = np.random.default_rng(seed)
    truth, number, noise = np.arange(4000) < 1000, np.arange(4000), rng.normal(size=4000)
    steep = np.where(number < 400, 4 + 0.3 * noise, 0.8 * noise + 0.3 * truth)
    broad = rng.normal(size=4000) + 1.9 * truth
    table = pl.DataFrame({"case": number + 10_000 * seed, "truth": truth, "steep": steep})
    return table.with_columns(broad=broad).unpivot(
        ["steep", "broad"], index=["case", "truth"], variable_name="model", value_name="score"
    )


HALVES = [ONE.filter(pl.col("case") % 2 == half) for half in (0, 1)]


def numbers(cell: str) -> list[float]:
    """An estimate with its limits, of 100."""
    return [float(number) for number in re.findall(r"[\d.]+", cell)]


def columns_of(said: dict, table: str = "thresholds") -> dict[str, list[str]]:
    return said["tables"][table]["columns"]


CELLS = {"positives": "found of 100 positives", "negatives": "alarms of 100 negatives"}


def called(prior: float, recall, alarms):
    return prior * recall + (1 - prior) * alarms


# One model by Python, page and command.

REQUESTS = {
    "area, one test set": (ONE, {}, {}),
    "area, folds": (FOLDS, {"test_train_ratio": 0.25}, {"test_train_ratio": 0.25}),
    "cost, tuning": (HALVES[0], {"tuning": HALVES[1], "cost_fn": 10}, ...),
    "cost, folds": (FOLDS, {"cost_fn": 10, "test_train_ratio": 0.25}, ...),
    "precision": pytest.param(
        steep_and_broad(2),
        {"tuning": steep_and_broad(1), "constraints": {"precision": 0.5}, "confidence": 0.95},
        ...,
        marks=pytest.mark.slow,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "of_report", "of_choose"), REQUESTS.values(), ids=REQUESTS.keys()
)
def test_report_choose_and_command_take_the_same_model(tmp_path, table, of_report, of_choose):
    same = of_report if of_choose is ... else of_choose
    said = content(table, tmp_path, **of_report)
    choice = pr.choose(table, **ASKED, over=OVER, **same)
    assert said["models"][0] == choice.bayes
    chance = choice.models["probability_best"][0]
    assert f"with a probability of {100 * chance:.0f} %" in " ".join(said["answer"])
    if choice.threshold is not None:
        scores = table.filter(model=choice.bayes)["score"]
        assert (scores >= said["threshold"]).equals(scores >= choice.threshold)
    table.write_parquet(tmp_path / "table.parquet")
    options = ["--truth", "truth", "--score", "score", "--over", *map(str, OVER)]
    for name, value in of_report.items():
        if isinstance(value, pl.DataFrame):
            value.write_parquet(tmp_path / f"{name}.parquet")
            value = tmp_path / f"{name}.parquet"
        if name == "constraints":
            name, value = "min-precision", value["precision"]
        options += [f"--{name.replace('_', '-')}", str(value)]
    out = ["--out", str(tmp_path / "of_command.json")]
    result = polaroc("report", tmp_path / "table.parquet", *options, *out)
    assert result.exit_code == 0, result.output
    by_command = json.loads((tmp_path / "of_command.json").read_text())
    assert by_command == said | {"title": by_command["title"]}


def test_costs_on_one_test_set_need_cases_for_thresholds_in_python_pages_and_commands(tmp_path):
    page = partial(pr.report, path=tmp_path / "page.html")
    for verb in (pr.choose, page):
        with pytest.raises(pr.errors.InvalidArgument, match="no cases to choose thresholds on"):
            verb(ONE, **ASKED, over=OVER, cost_fn=10)
    path = tmp_path / "table.parquet"
    ONE.write_parquet(path)
    words = ["--truth", "truth", "--score", "score", "--over", *map(str, OVER), "--cost-fn", "10"]
    for command in ("choose", "report"):
        result = polaroc(command, path, *words)
        assert result.exit_code == 2
        assert "no cases to choose thresholds on" in " ".join(result.stderr.split())


def words(text: str) -> str:
    text = unescape(re.sub(r"<[^>]+>", " ", text)).replace("\\", "")
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_json_says_what_the_page_says(tmp_path):
    asked = {"test_train_ratio": 0.25, "constraints": {"recall": 0.8}}
    said = content(FOLDS, tmp_path, **asked)
    path = pr.report(FOLDS, **ASKED, over=OVER, **asked, path=tmp_path / "page.html")
    page = words(path.read_text(encoding="utf-8"))
    for lines in ("answer", "how_sure", "what_would_change_it", "assumptions"):
        assert said[lines]
        for line in said[lines]:
            assert words(line) in page
    for table in said["tables"].values():
        assert all(cell in page for column in table["columns"].values() for cell in column if cell)


def test_the_ranking_is_that_of_evaluate_and_the_audit_that_of_check(tmp_path):
    said = content(FOLDS, tmp_path, test_train_ratio=0.25)
    areas = pr.evaluate(FOLDS, **ASKED, over=OVER, measure="iauprec")
    means = areas.group_by("model").agg(pl.col("estimate").mean()).sort("estimate")[::-1]
    ranked, audit = columns_of(said, "ranking"), columns_of(said, "audit")
    assert ranked["model"] == means["model"].to_list()
    assert [*map(float, ranked["area"])] == pytest.approx(means["estimate"].to_list(), abs=6e-4)
    found = pr.check(FOLDS, truth="truth", score="score")
    totals = found.group_by("model").agg(pl.col("rows", "positives").sum()).sort("model")
    for name in ("rows", "positives"):
        assert [int(value.replace(",", "")) for value in audit[name]] == totals[name].to_list()


# Thresholds.


def points(table: pl.DataFrame) -> tuple[np.ndarray, ...]:
    """Every threshold, from the highest, with its recall and false alarm rate."""
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    tried = np.unique(score)[::-1]
    recall = np.array([(score[truth] >= at).mean() for at in tried])
    alarms = np.array([(score[~truth] >= at).mean() for at in tried])
    return tried, recall, alarms


def asked(need: str, value: float) -> dict:
    """A cost, or the limit of a rate, as `report` takes it."""
    return {need: value} if need == "cost_fn" else {"constraints": {need: value}}


def best_of_all(table: pl.DataFrame, need: str, value: float) -> float | None:
    tried, recall, alarms = points(table)
    if need == "cost_fn":
        cost = called(np.mean(OVER), value * (1 - recall), alarms)
        return float(tried[np.flatnonzero(cost <= cost.min() + 1e-12)[0]])
    meets = np.full(tried.size, True)
    for prior in OVER:
        share = called(prior, recall, alarms)
        meets &= {
            "recall": recall >= value - 1e-9,
            "precision": prior * recall >= value * share - 1e-9,
            "posfrac": share <= value + 1e-9,
        }[need]
    if not meets.any():
        return None
    if need == "recall":
        return float(tried[np.flatnonzero(meets)[0]])
    most = recall[meets].max()
    return float(tried[np.flatnonzero(meets & (recall >= most - 1e-9))[0]])


@pytest.mark.parametrize(
    ("need", "values"),
    [
        ("recall", [0.5, 0.95]),
        ("precision", [0.2, 0.5, 0.95]),
        ("posfrac", [0.02, 0.3]),
        ("cost_fn", [1, 20]),
    ],
)
def test_a_threshold_is_the_best_of_all_that_meet_the_goal(tmp_path, need, values):
    for seed in range(2):
        table = models(1, folds=1, cases=300, seed=seed).with_columns(pl.col("score").round(1))
        for value in values:
            said = content(table, tmp_path, **asked(need, value))
            wanted = best_of_all(table, need, value)
            if wanted is None:
                assert said["threshold"] is None
                assert "No threshold is set: " in said["goal"]
            else:
                called_positive = table["score"] >= said["threshold"]
                assert called_positive.equals(table["score"] >= wanted), (seed, value)
                assert "The threshold is set to" in said["goal"]


def test_a_recall_that_is_met_exactly_is_met(tmp_path):
    # Tenths are no floats; at each threshold all positives above it are called, and no negative.
    table = pl.DataFrame({"truth": [False] * 30 + [True] * 10, "score": range(40)})
    for found in (1, 3, 5, 7, 9):
        said = content(table, tmp_path, constraints={"recall": found / 10})
        assert (table["score"] >= said["threshold"]).sum() == found


def test_thresholds_of_folds_are_judged_on_the_other_folds(tmp_path):
    table = FOLDS.filter(model="A")
    said = content(table, tmp_path, cost_fn=1, test_train_ratio=0.25, case=None)
    assert said["threshold"] is None
    shown = columns_of(said)
    truth, score, fold = (table[name].to_numpy() for name in ("truth", "score", "fold"))

    def cheapest(rows: np.ndarray, prior: float) -> float:
        tried, recall, alarms = points(table.filter(rows))
        cost = called(prior, 1 - recall, alarms)
        return tried[np.flatnonzero(cost <= cost.min() + 1e-12)[0]]

    (found,), (false,) = (
        shown[name] for name in ("found of 100 positives", "alarms of 100 negatives")
    )
    recalls, alarms = [], []
    for held in range(1, 5):
        here, at = fold == held, cheapest(fold != held, 0.125)
        recalls.append((score[here & truth] >= at).mean())
        alarms.append((score[here & ~truth] >= at).mean())
    for rates, cell in ((recalls, found), (alarms, false)):
        mean = np.mean(rates)
        reach = t.ppf(0.975, 3) * np.std(rates, ddof=1) * np.sqrt(1 / 4 + 0.25)
        limits = [mean, max(mean - reach, 0), min(mean + reach, 1)]
        assert numbers(cell) == pytest.approx([100 * rate for rate in limits], abs=0.51)
    # The models of folds are not the final one, so that none of their thresholds is shown.
    assert "threshold" not in shown


@pytest.mark.parametrize("role", [{}, {"cluster": "patient"}, {"count": "n"}], ids=str)
def test_all_numbers_of_a_capacity_are_of_the_same_threshold_and_cases(tmp_path, role):
    table = models(1, folds=1, cases=450, seed=3).with_columns(
        patient=pl.col("id") // 2, n=1 + pl.col("id") % 3
    )
    said = content(table, tmp_path, constraints={"posfrac": 0.051}, **role)
    shown, rows, of_rate = columns_of(said), table, {}
    if "count" in role:
        rows = table.select(pl.exclude("n").repeat_by("n").explode())
    for name, truth in (("positives", True), ("negatives", False)):
        of_class = rows.filter(truth=truth)["score"] >= said["threshold"]
        k, n = int(of_class.sum()), len(of_class)
        exact = binomtest(k, n).proportion_ci(0.95, "exact")
        # The threshold is the score of a positive, so that of n positives the true share above it
        # has the mean k / (n + 1).
        share = k / (n + truth) if "cluster" not in role else k / n
        wanted = [share] if "cluster" in role else [share, exact.low, exact.high]
        assert numbers(shown[CELLS[name]][0]) == pytest.approx(
            [100 * share for share in wanted], abs=0.51
        )
        of_rate[name] = share
        assert f"{n:,} {name}" in " ".join(said["how_sure"])
    for one in said["cases"]:
        raised, cases = one["found"] + one["false_alarms"], one["cases"]
        assert raised == round(cases * called(one["prior"], *of_rate.values()))
        assert one["found"] + one["missed"] == round(cases * one["prior"])
        assert raised + one["missed"] + one["other_negatives"] == cases
        assert raised <= 51 * cases / 1000
    assert "is missed" not in " ".join(said["answer"])


@pytest.mark.parametrize(
    ("need", "goal", "folds"), [("recall", 0.9, 3), ("precision", 0.5, 1), ("posfrac", 0.04, 3)]
)
def test_a_goal_that_is_missed_is_said(tmp_path, need, goal, folds):
    seen = set()
    for seed in range(5):
        table = models(1, folds=folds, cases=300, seed=seed)
        said = content(table, tmp_path, over=(0.001, 0.01), **asked(need, goal))
        shown, (*_, at_most) = columns_of(said), said["cases"] or [None]
        if at_most is None:
            continue
        right = shown["right of 100 alarms at 0.1 % positives"][0]
        alarms = (at_most["found"] + at_most["false_alarms"]) * 1000 / at_most["cases"]
        is_missed = {
            "recall": numbers(shown["found of 100 positives"][0])[0] < 100 * goal,
            "precision": right is not None and numbers(right)[0] < 100 * goal,
            "posfrac": round(alarms) > 1000 * goal,
        }[need]
        assert ("is missed" in " ".join(said["answer"])) == is_missed, seed
        seen.add(is_missed)
    assert seen == {True, False}


@pytest.mark.parametrize("prior", [0.3, 0.002, 0.00004])
def test_a_case_is_found_of_so_many_that_one_can_be(tmp_path, prior):
    first, *others = content(ONE, tmp_path, over=(prior, 1.5 * prior), constraints={"recall": 0.2})[
        "cases"
    ]
    assert first["found"] >= 1
    # And of no more cases than are needed for it.
    assert first["cases"] == 1_000 or first["found"] < 100
    assert {one["cases"] for one in others} == {first["cases"]}


def test_a_belief_is_shown_at_its_ends(tmp_path):
    lo, hi = [one["prior"] for one in content(models(2), tmp_path, over=pr.beta(2, 18))["cases"]]
    # The middle nine tenths.
    assert beta(2, 18).cdf([lo, hi]) == pytest.approx([0.05, 0.95], abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    "need",
    [
        {"constraints": {"recall": 0.9}},
        {"constraints": {"posfrac": 0.1}},
        {"constraints": {"precision": 0.3}},
        {"cost_fn": 10},
    ],
    ids=str,
)
def test_limits_of_a_printed_threshold_cover_its_true_rates(tmp_path, need):
    rng, shift, replicates, held = np.random.default_rng(2), 1.8, 100, []
    truth = np.arange(250) < 50
    for _ in range(replicates):
        table = pl.DataFrame({"truth": truth, "score": rng.normal(size=250) + shift * truth})
        said = content(table, tmp_path, over=(0.02, 0.1), **need)
        if (at := said["threshold"]) is None:
            continue
        for name, true in (("positives", norm.sf(at - shift)), ("negatives", norm.sf(at))):
            cell = columns_of(said)[CELLS[name]][0]
            _, low, high = numbers(cell)
            # Printed are whole numbers.
            held.append(low - 0.5 <= 100 * true <= high + 0.5)
    assert len(held) > replicates
    # At least .95, less three standard errors of as many replicates.
    assert np.mean(held) > 0.95 - 3 * (0.95 * 0.05 / replicates) ** 0.5


# Tables of other kinds.


@pytest.mark.parametrize(
    "names", [[0.5, 1e300], [True, False], [datetime(2024, 1, 1), datetime(2024, 2, 1)]]
)
def test_models_named_by_values_of_any_type_have_one_name(tmp_path, names):
    one, shown = models(1, folds=1).drop("model"), sorted(map(str, names))
    table = pl.concat(one.with_columns(model=pl.Series([name] * one.height)) for name in names)
    said = content(table, tmp_path, model="model")
    assert sorted(said["models"]) == shown
    for table in ("ranking", "audit"):
        assert sorted(columns_of(said, table)["model"]) == shown


@pytest.mark.parametrize("prior", [0.05, 0.07, 0.1])
def test_a_single_prior_has_one_picture(tmp_path, prior):
    said = content(satellite(1).drop("fold"), tmp_path, over=prior)
    assert [one["prior"] for one in said["cases"]] == [prior]


def test_a_range_has_the_same_words_as_a_belief_and_in_measures(tmp_path):
    table = satellite(1).drop("fold")
    measures = pr.evaluate(table, **ASKED, over=OVER, priors=pr.prior_grid(*OVER, 3))
    titles = {
        json.loads(pr.report(measures, over=over, path=tmp_path / "a.json").read_text())["title"]
        for over in (OVER, None)
    }
    titles |= {content(table, tmp_path, over=over)["title"] for over in (OVER, pr.uniform(*OVER))}
    assert {title.partition(" over ")[2] for title in titles} == {"5 to 20 % positives"}


def test_stored_measures_of_one_model_are_of_the_range_asked_for(tmp_path):
    one = pr.evaluate(models(1), **ASKED, over=OVER)
    said, nameless = (
        json.loads(pr.report(table, over=OVER, path=tmp_path / "a.json").read_text())
        for table in (one, one.drop("model"))
    )
    assert [line.replace("model 0", "the model") for line in said["answer"]] == nameless["answer"]
    mean = one.filter(measure="iauprec")["estimate"].mean()
    assert f"is {mean:.3f} over 5 to 20 % positives" in " ".join(said["answer"])


def test_left_out_cases_and_rows_are_counted(tmp_path):
    table = satellite(2).with_row_index("row")
    table = table.with_columns(score=pl.when(pl.col("row") % 100 > 0).then("score"))
    lacking = table.filter(pl.col("score").is_null()).select("fold", "case").n_unique()
    of_cases = json.dumps(content(table, tmp_path, nulls="drop", test_train_ratio=0.25))
    assert re.search(rf"\b{lacking:,} of [\d,]+ cases were left out of all models", of_cases)
    # Where cases cannot be told apart, rows are left out one by one.
    of_rows = json.dumps(content(table, tmp_path, nulls="drop", case=None))
    assert f"{table['score'].null_count():,} rows were left out" in of_rows


def test_cases_of_our_own_predictions_count_without_being_named(tmp_path):
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(300, weights=[0.8], random_state=0, flip_y=0.1)
    fitted = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    table = pr.sklearn.cross_val_predictions(fitted, X, y, cv=5)
    named = content(table, tmp_path, case="case")
    assert content(table, tmp_path)["answer"] == named["answer"]


def test_the_tests_beside_costs_are_said_to_compare_areas(tmp_path):
    of_costs = content(satellite(2), tmp_path, cost_fn=5, test_train_ratio=0.25)[
        "do_the_models_differ"
    ]
    of_areas = content(satellite(2), tmp_path, test_train_ratio=0.25)["do_the_models_differ"]
    assert "these tests are by area" in of_costs
    assert "these tests are by area" not in of_areas
