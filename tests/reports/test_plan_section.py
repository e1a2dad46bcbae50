import numpy as np
import polars as pl
import pytest
from pages import Page

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

pytestmark = pytest.mark.usefixtures("words_only")
OVER = (0.05, 0.2)
ROLES = {"truth": "truth", "score": ["A", "B"]}
PAIR = {"champion": "A", "challenger": "B"}


def two(seed=1, positives=60, negatives=240):
    rng = np.random.default_rng(seed)
    truth = np.repeat([True, False], [positives, negatives])
    scores = rng.normal(size=(2, truth.size)) + [[1], [2]] * truth
    return pl.DataFrame({"truth": truth, "A": scores[0], "B": scores[1]})


def shown(folder, plan, table=None, **asked):
    told = []
    path = folder / "page.html"
    asked = {"over": OVER, **asked}
    table = two() if table is None else table
    pr.report(table, **ROLES | asked, path=path, plan=plan, tell=told.append)
    text = Page(path).text()
    assert all(sentence in text for sentence in told[1:] if "plan" in sentence)
    return text


def test_a_page_that_keeps_to_its_plan_says_so(tmp_path):
    plan = pr.plan(two(), **ROLES, **PAIR, over=OVER, positives=60, negatives=240)
    plan.save(tmp_path / "plan.json")
    for given in (plan, tmp_path / "plan.json"):
        text = shown(tmp_path, given)
        assert f"This page keeps to the plan {plan.hash[:12]}, written before the data." in text
        assert "was planned" not in text
        assert "were planned" not in text
    assert "plan of the study" not in shown(tmp_path, None).lower()


def test_a_page_says_where_it_departs_from_its_plan(tmp_path):
    plan = pr.plan(
        two(), **ROLES, **PAIR, over=OVER, margin=0.05, positives=80, negatives=320, level=0.9
    )
    text = shown(tmp_path, plan, over=(0.05, 0.3))
    for said in (
        f"This page departs from the plan {plan.hash[:12]}",
        "There are 60 positives, and 80 were planned.",
        "There are 240 negatives, and 320 were planned.",
        "The range of priors is uniform(0.05, 0.3), and 0.05 to 0.2 was planned.",
        "The level is 0.95, and 0.9 was planned.",
        "The margin is none, and 0.05 was planned.",
    ):
        assert said in text


@pytest.mark.parametrize("kind", ["json", "md"])
def test_other_files_of_a_report_say_it_too(tmp_path, kind):
    plan = pr.plan(two(), **ROLES, **PAIR, over=OVER, positives=80, negatives=240)
    file = pr.report(two(), **ROLES, over=OVER, plan=plan, path=tmp_path / f"page.{kind}")
    text = file.read_text()
    assert f"departs from the plan {plan.hash[:12]}" in text
    assert "There are 60 positives, and 80 were planned." in text


def test_models_that_were_planned_and_are_not_there_are_named(tmp_path):
    plan = pr.plan(two(), **ROLES, **PAIR, over=OVER, positives=60, negatives=240)
    text = shown(tmp_path, plan, two().rename({"B": "C"}), score=["A", "C"])
    assert "The challenger B was planned, and is not on this page." in text
    assert "champion A was planned" not in text


def test_a_promise_rests_on_the_cases_that_the_threshold_was_set_on(tmp_path):
    sizes = {"positives": 100, "negatives": 400}
    plan = pr.plan(auc=0.9, prior=0.1, constraints={"recall": 0.8}, **sizes)
    asked = {"over": 0.1, "recall": 0.8}
    kept = shown(tmp_path, plan, tuning=two(2, **sizes), **asked)
    assert "keeps to the plan" in kept
    few = shown(tmp_path, plan, tuning=two(2, 90, 400), **asked)
    assert "There are 90 positives, and 100 were planned." in few
    none = shown(tmp_path, plan, **asked)
    assert "The promise is none, and “With 95 % confidence" in none


def test_what_is_no_plan_is_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="plan is 3"):
        shown(tmp_path, 3)
    file = tmp_path / "other.json"
    file.write_text("{}")
    with pytest.raises(InvalidTable, match="no digest"):
        shown(tmp_path, file)
    with pytest.raises(InvalidTable, match="cannot be read"):
        shown(tmp_path, tmp_path / "no.json")
    assert not (tmp_path / "page.html").exists()
