"""Cases and clusters that tuning and test share: one check, wherever both are given."""

import numpy as np
import polars as pl
import pytest
from pages import Page

import polaroc as pr
from polaroc.errors import InvalidTable

ROLES = {"truth": "truth", "score": "score", "model": "model", "case": "visit"}
OVER = (0.1, 0.3)


def visits(seed: int, first_patient: int, first_visit: int) -> pl.DataFrame:
    """Two models on 300 visits of 100 patients."""
    rng = np.random.default_rng(seed)
    visit = np.arange(300)
    truth = rng.random(300) < 0.4
    rows = pl.DataFrame(
        {"visit": first_visit + visit, "patient": first_patient + visit // 3, "truth": truth}
    )
    return pl.concat(
        rows.with_columns(
            model=pl.lit(model), score=pl.Series(rng.normal(size=300)) + gap * pl.col("truth")
        )
        for model, gap in (("A", 2), ("B", 1))
    )


TEST = visits(1, 0, 0)
OTHERS, SAME_PATIENTS, SAME_VISITS = visits(2, 500, 900), visits(2, 60, 900), visits(2, 500, 250)
PATIENTS = "40 of the 100 values of 'patient' are in tuning, too: where they are the same ones, "
VISITS = "50 of the 300 values of 'visit' are in tuning, too: where they are the same cases, "


def chosen(test, tuning, folder, **roles):
    return pr.choose(test, over=OVER, tuning=tuning, cost_fn=5, **roles).warnings


def reported(test, tuning, folder, **roles):
    path = folder / "report.html"
    pr.report(test, over=OVER, tuning=tuning, path=path, constraints={"recall": 0.5}, **roles)
    return [Page(path).text()]


def applied(test, tuning, folder, **roles):
    points = pr.operating_points(tuning, "recall", target=0.5, **roles)
    return pr.apply_thresholds(test, points, tuning=tuning, **roles)["note"].drop_nulls().to_list()


FUNCTIONS = [chosen, applied, pytest.param(reported, marks=pytest.mark.slow)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("in_cases", [False, True])
def test_what_tuning_and_test_share_is_said_in_the_same_words(function, in_cases, tmp_path):
    for tuning, said in ((OTHERS, None), (SAME_PATIENTS, PATIENTS), (SAME_VISITS, VISITS)):
        roles, test = ROLES | {"cluster": "patient"}, TEST
        if in_cases:
            test, tuning = (pr.cases(table, **roles) for table in (test, tuning))
            roles = {}
        words = " ".join(" ".join(function(test, tuning, tmp_path, **roles)).split())
        assert ("are in tuning, too" in words) == (said is not None)
        if said is not None:
            assert said in words


@pytest.mark.parametrize("function", FUNCTIONS)
def test_columns_may_have_other_names_and_types(function, tmp_path):
    names = {"visit": "number", "patient": "person"}
    narrow = SAME_PATIENTS.rename(names).with_columns(
        pl.col(*names.values()).cast(pl.Int32), pl.col("model").cast(pl.Categorical)
    )
    own = {**ROLES, "case": "number", "cluster": "person"}
    tuning = pr.cases(narrow, **own)
    test = pr.cases(TEST, **ROLES, cluster="patient")
    assert PATIENTS in " ".join(" ".join(function(test, tuning, tmp_path)).split())


def test_lazy_cases_are_read_for_it():
    roles = ROLES | {"cluster": "patient"}
    points = pr.operating_points(SAME_PATIENTS, "recall", target=0.5, **roles)
    judged = pr.apply_thresholds(TEST.lazy(), points, tuning=SAME_PATIENTS.lazy(), **roles)
    assert isinstance(judged, pl.LazyFrame)
    assert judged.collect()["note"].str.starts_with(PATIENTS).all()


def test_the_same_cases_are_refused():
    points = pr.operating_points(TEST, "recall", target=0.5, **ROLES)
    among = TEST.filter(pl.col("visit") < 200)
    with pytest.raises(InvalidTable, match="all cases of the predictions are among tuning"):
        pr.apply_thresholds(among, points, tuning=TEST, **ROLES)
    pr.apply_thresholds(among, points, tuning=TEST, same_table=True, **ROLES)


@pytest.mark.slow
def test_patients_of_one_table_are_held_out_together(tmp_path):
    # Without tuning a threshold is set on other cases, a fifth at a time: on other patients.
    rng = np.random.default_rng(5)
    truth = rng.random(80) < 0.5
    alone = pl.DataFrame(
        {"patient": np.arange(80), "truth": truth, "score": rng.normal(size=80) + truth}
    )
    copies = pl.concat([alone] * 20)
    roles = {"truth": "truth", "score": "score", "over": OVER, "cost_fn": 5}
    alarms = []
    for table, cluster in ((alone, None), (copies, "patient"), (copies, None)):
        path = pr.report(table, **roles, cluster=cluster, path=tmp_path / "report.html")
        shown = Page(path).table("Thresholds")
        alarms.append([value.split(" ")[0] for value in shown["alarms of 100 negatives"]])
    assert alarms[1] == alarms[0]
    # Rows of a patient on both sides would fit the threshold to them.
    assert alarms[2] != alarms[0]
