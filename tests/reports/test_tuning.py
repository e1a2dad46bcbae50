"""Thresholds from cases of their own: promises, and costs that rank the models."""

import re

import numpy as np
import polars as pl
import pytest
from pages import content, satellite

import polaroc as pr
from polaroc.errors import PolarocError

ONE = satellite(1).drop("fold")
TEST, TUNING = (ONE.filter(pl.col("case") % 2 == part) for part in (1, 0))
OVER = (0.1, 0.3)
ROLES = {"truth": "truth", "score": "score"}


def reported(folder, table=TEST, **asked) -> dict:
    return content(table, folder, **{"over": OVER, "tuning": TUNING, **asked})


def text_of(said: dict) -> str:
    lines = ("answer", "how_sure", "what_would_change_it")
    return " ".join(" ".join(said[one]) for one in lines).replace("\xa0", " ")


def same_cases(one: float, other: float) -> bool:
    scores = [table.filter(model="A")["score"] for table in (TUNING, TEST)]
    return all((score >= one).equals(score >= other) for score in scores)


@pytest.mark.parametrize(
    ("need", "asked", "promise"),
    [
        (
            {"constraints": {"precision": 0.4}, "confidence": 0.95},
            {"constraints": {"precision": 0.4}, "confidence": 0.95},
            "With 95 % confidence at least 4 of 10 alarms are right",
        ),
        (
            {"constraints": {"recall": 0.8}, "confidence": 0.9},
            {"constraints": {"recall": 0.8}, "confidence": 0.9},
            "With 90 % confidence at least 8 of 10 positives are found.",
        ),
        ({"cost_fn": 5}, {"cost_fn": 5}, None),
    ],
)
def test_the_threshold_and_its_promise_are_those_of_operating_points(
    tmp_path, need, asked, promise
):
    said = reported(tmp_path, **need)
    # What is promised of all models holds at once.
    points = pr.operating_points(TUNING, **ROLES, over=OVER, **asked)
    (point,) = points.filter(model=said["models"][0]).to_dicts()
    assert same_cases(said["threshold"], point["threshold"])
    written = re.search(r"act on scores from (-?[\d.]*\d)", text_of(said))
    assert same_cases(float(written[1]), point["threshold"])
    if promise is None:
        assert "of a table of its own, without a promise" in text_of(said)
    else:
        assert point["promise"].startswith(promise)
        assert point["promise"] in text_of(said)
    # Its rates are those of the cases that took no part.
    found = TEST.filter(pl.col("truth"), model=said["models"][0])["score"] >= point["threshold"]
    rows = said["tables"]["thresholds"]["columns"]["found of 100 positives"]
    assert rows[len(rows) // 2].startswith(f"{100 * found.mean():.0f} (")


def test_what_cannot_be_promised_is_said(tmp_path):
    said = reported(tmp_path, constraints={"precision": 0.95}, confidence=0.95)
    assert said["threshold"] is None
    assert "A and C: no threshold can be promised: 126 positives and" in text_of(said)
    assert "negatives are too few" in text_of(said)


def test_copies_of_a_patient_do_not_strengthen_a_promise(tmp_path):
    test, tuning = (
        pl.concat([table.with_columns(patient="case")] * 4).with_columns(
            case=pl.int_range(pl.len()).over("model")
        )
        for table in (TEST, TUNING)
    )
    asked = {"constraints": {"recall": 0.8}, "confidence": 0.9}
    of_patients = reported(tmp_path, test, tuning=tuning, cluster="patient", **asked)
    assert of_patients["threshold"] == reported(tmp_path, **asked)["threshold"]


def test_tuning_may_have_roles_of_its_own(tmp_path):
    names = {"truth": "y", "score": "p", "model": "which", "case": "number"}
    own = pr.cases(TUNING.rename(names), **names)
    asked = {"cost_fn": 5}
    assert reported(tmp_path, tuning=own, **asked) == reported(tmp_path, **asked)


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


def test_models_are_ranked_by_what_they_cost_at_thresholds_from_tuning(tmp_path):
    tuning, test = early_and_late(1), early_and_late(2)
    scores = {"truth": "truth", "score": ["early", "late"], "over": OVER}
    costs = {"cost_fn": 30, "cost_fp": 2, "tuning": tuning}
    said = content(test, tmp_path, **scores, **costs)
    choice = pr.choose(test, measure="expected_cost", **scores, **costs)
    assert pr.choose(test, **scores).models["model"].to_list() == ["early", "late"]
    expected = []
    for model in ("late", "early"):
        own = choice.models.row(by_predicate=pl.col("model") == model, named=True)
        called = test[model].to_numpy() >= own["threshold"]
        truth = test["truth"].to_numpy()
        expected.append(0.2 * 30 * (1 - called[truth].mean()) + 0.8 * 2 * called[~truth].mean())
    ranked = said["tables"]["ranking"]["columns"]
    assert ranked["model"] == said["models"] == ["late", "early"]
    assert [*map(float, ranked["cost per case"])] == pytest.approx(expected, rel=1e-3)
    # 0.2 of 30, and 0.8 of 2.
    assert "Acting on no case would cost 6, acting on every case 1.6." in text_of(said)


def test_another_model_that_costs_less_at_some_priors_is_named(tmp_path):
    asked = {"cost_fn": 10, "tuning": TUNING, "over": (0.05, 0.2), "case": "case"}
    said = text_of(reported(tmp_path, **asked))
    models = pr.choose(
        TEST, truth="truth", score="score", measure="expected_cost", **asked
    ).models.sort("model")
    (t_a, _, t_c), (f_a, _, f_c) = models.select("tpr", "fpr").to_numpy().T
    # 10 π (1 − t) + (1 − π) f is the same of both.
    odds = (f_c - f_a) / (10 * (t_c - t_a))
    (named,) = re.findall(r"A from 5 %, C from ([\d.]+) % on", said)
    # The next prior of the grid.
    assert 0 <= float(named) - 100 * odds / (1 + odds) < 15 / 24


def test_why_a_single_model_has_no_threshold_is_a_sentence(tmp_path):
    one, tuning = (table.filter(model="A") for table in (TEST, TUNING))
    asked = {"constraints": {"precision": 0.999}, "confidence": 0.95, "tuning": tuning}
    said = reported(tmp_path, one, **asked)
    assert re.fullmatch(r"No threshold can be promised: .*\.", said["answer"][0])


def test_one_model_with_a_threshold_is_not_compared_with_itself(tmp_path):
    other = pl.when(pl.col("model") == "A").then("score").otherwise(pl.col("case") % 10)
    two = ONE.filter(pl.col("model") != "C").with_columns(other)
    test, tuning = (two.filter(pl.col("case") % 2 == part) for part in (1, 0))
    asked = {"constraints": {"precision": 0.4}, "confidence": 0.95, "tuning": tuning}
    said = reported(tmp_path, test, **asked)
    assert "This leaves out B" in pr.choose(test, over=OVER, **asked).answer
    assert "share of positives" not in " ".join(said["what_would_change_it"])


@pytest.mark.parametrize("case", [None, "case"])
def test_tuning_cases_among_the_others_are_refused_whatever_their_scores(tmp_path, case):
    some = TEST.filter(pl.col("case") % 3 == 0)
    tables = [(TEST, some)]
    if case is not None:
        tables += [[table.with_columns(score=(pl.col("score") > 0) * 1.0) for table in tables[0]]]
    for table, tuning in tables:
        with pytest.raises(PolarocError, match="all cases of tuning are among the predictions"):
            reported(tmp_path, table, tuning=tuning, case=case, constraints={"recall": 0.8})
    assert list(tmp_path.iterdir()) == []


def test_cases_that_not_all_models_scored_are_left_out_of_all(tmp_path):
    wide = TEST.pivot("model", index=["case", "truth"], values="score", aggregate_function="first")
    holes = wide.with_columns(A=pl.when(pl.int_range(pl.len()) != 3).then("A"))
    asked = {"score": ["A", "B", "C"], "tuning": None, "nulls": "drop"}
    said = reported(tmp_path, holes, **asked)
    assert f"1 of {wide.height} cases was left out of all models" in str(said)
    kept = reported(tmp_path, wide.filter(pl.int_range(pl.len()) != 3), **asked)
    assert said["answer"] == kept["answer"]
