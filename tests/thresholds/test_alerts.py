import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidArgument

ROLES = {"truth": "truth", "score": "score"}
OVER, A_DAY = (0.005, 0.02), {"alerts": 500, "volume": 20_000}


def cases(seed: int, positives=100, negatives=1500) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + 2 * truth).round(2)
    return pl.DataFrame({"truth": truth, "score": score})


TUNING = cases(1)


def rates(table: pl.DataFrame, at: float) -> tuple[float, float]:
    called, truth = table["score"].to_numpy() >= at, table["truth"].to_numpy()
    return called[truth].mean(), called[~truth].mean()


def alerts(table: pl.DataFrame, at: float, prior: float) -> float:
    t, f = rates(table, at)
    return 20_000 * (prior * t + (1 - prior) * f)


def test_the_lowest_threshold_that_raises_no_more_alerts_a_day_at_any_prior():
    point = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER).row(0, named=True)
    fits = [
        at for at in TUNING["score"].unique()
        if max(alerts(TUNING, at, prior) for prior in OVER) <= 500 + 1e-9
    ]  # fmt: skip
    assert rates(TUNING, point["threshold"])[0] == max(rates(TUNING, at)[0] for at in fits)
    used = sorted(alerts(TUNING, point["threshold"], prior) for prior in OVER)
    assert [point["alerts_least"], point["alerts_most"]] == pytest.approx(used)
    assert point["note"] is None


def test_each_prior_has_alerts_of_its_own():
    curve = pr.curve(TUNING.lazy(), **ROLES)
    points = pr.operating_points(curve, **A_DAY, priors=[*OVER], cost_fn=20).collect()
    limited = {"posfrac": 500 / 20_000}
    asked = {"priors": [*OVER], "cost_fn": 20, "constraints": limited}
    same = pr.operating_points(pr.curve(TUNING, **ROLES), **asked)
    assert_same_numbers(points.select(same.columns), same)
    expected = [alerts(TUNING, at, p) for at, p in zip(points["threshold"], OVER, strict=True)]
    for name in ("alerts_least", "alerts_most"):
        assert points[name].to_list() == pytest.approx(expected)


def test_a_promise_that_leaves_most_of_the_capacity_idle_says_what_it_costs():
    asked = {**ROLES, **A_DAY, "over": OVER, "confidence": 0.95}
    point = pr.operating_points(TUNING, **asked, constraints={"fpr": 0.006})
    most, found, note = point.select("alerts_most", "tpr", "note").row(0)
    free = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER)["tpr"].item()
    assert most < 250
    assert note == (
        f"the promise leaves {round(500 - most)} of 500 alerts a day unused: without it "
        f"{float(f'{100 * free:.2g}'):g} % of positives would be found on this table, with it "
        f"{float(f'{100 * found:.2g}'):g} %"
    )
    # What can be promised easily leaves little idle.
    assert pr.operating_points(TUNING, **asked)["note"].item() is None


def test_where_nothing_can_be_promised_all_of_it_is_idle():
    asked = {"constraints": {"recall": 0.99}, "confidence": 0.95, "over": OVER}
    point = pr.operating_points(TUNING.gather_every(10), **ROLES, **A_DAY, **asked)
    assert point["threshold"].item() is None
    assert "the promise leaves 500 of 500 alerts a day unused" in point["note"].item()


def test_points_with_alerts_are_judged_on_other_cases():
    points = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER)
    judged = pr.apply_thresholds(cases(2), points, **ROLES)
    t, f = rates(cases(2), points["threshold"].item())
    assert judged.select("tpr", "fpr").row(0) == pytest.approx((t, f))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alerts": 500}, "volume is not given"),
        ({"volume": 500}, "alerts is not given"),
        ({"alerts": 500, "volume": 500}, "every case can be looked at"),
        ({"alerts": -1, "volume": 500}, "alerts is -1"),
        ({**A_DAY, "volume": float("inf")}, "volume is inf"),
        ({**A_DAY, "constraints": {"posfrac": 0.1}}, "limited besides"),
        ({**A_DAY, "rule": "capacity", "target": 0.1}, "limited besides"),
        ({**A_DAY, "rule": "balanced"}, "leaves no choice"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said) as error:
        pr.operating_points(TUNING, **ROLES, **given)
    assert "Hint:" in str(error.value)
