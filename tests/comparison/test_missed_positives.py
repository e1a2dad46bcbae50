"""A challenger that misses positives: what is simulated, quoted, and asked of few positives."""

import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

import polaroc as pr
from polaroc.comparison.missed_positives import RATES

SCRIPT = runpy.run_path(
    str(Path(__file__).parents[1] / "benchmarks" / "gate_missed.py"), run_name="gate_missed"
)
COUNTS = pl.read_csv(RATES)
NAMES = {"champion": "A", "challenger": "B", "truth": "truth", "score": "score", "case": "id"}
QUOTED = "few of them may not show it"
FEW = "may show none of its misses"


def table(champion, challenger, positives):
    cases = len(champion)
    return pl.concat(
        pl.DataFrame({"model": name, "id": range(cases), "truth": np.arange(cases) < positives,
                      "score": scores})
        for name, scores in {"A": champion, "B": challenger}.items()
    )  # fmt: skip


def alike(positives, negatives, seed=0):
    """Two models that are equally good, and all but alike."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=positives + negatives) + 3 * (
        np.arange(positives + negatives) < positives
    )
    return table(*(shared + 0.05 * rng.normal(size=shared.size) for _ in range(2)), positives)


def gate(predictions, **arguments):
    return pr.gate(predictions, **NAMES, **{"measure": "auc", **arguments})


def test_the_page_has_what_was_counted():
    page = SCRIPT["PAGE"].read_text(encoding="utf-8")
    assert SCRIPT["MARKED"].search(page)[0] == (
        f"<!-- gate rates -->\n{SCRIPT['page_table'](COUNTS)}<!-- end -->"
    )


@pytest.mark.parametrize("cases", [(50, 400), (99, 300), (100, 400), (250, 500), (700, 900)])
def test_the_rate_of_the_next_smaller_size_that_was_counted_is_quoted(cases):
    (said,) = (one for one in gate(alike(*cases), margin=0.05).warnings if QUOTED in one)
    own = COUNTS.filter(pl.col("positives") <= cases[0], measure="auc")
    own = own.filter(positives=own["positives"].max())
    most = own.select((pl.col("passed") / pl.col("of")).max()).item()
    positives, negatives = own.select("positives", "negatives").row(0)
    assert (
        f"({positives} + {negatives:,} cases, 95 % confidence) in up to {most:.2f} of samples"
        in said
    )


def test_no_rate_is_quoted_where_it_is_not_surely_above_what_is_aimed_at():
    counted = COUNTS.filter(measure="iauprec")
    assert (counted["passed"] / counted["of"]).max() < 0.03
    told = gate(alike(50, 400), measure="iauprec", over=(0.05, 0.2), margin=0.1)
    assert told.verdict == "pass"
    assert not [one for one in told.warnings if QUOTED in one]


@pytest.mark.parametrize(
    ("positives", "margin", "alpha", "needed"),
    [
        # 0.9^35 is 0.0250 and 0.9^36 is 0.0225; 0.025^(1/30) is 0.884.
        (30, 0.1, 0.05, 36), (30, 0.11, 0.05, 32), (30, 0.12, 0.05, None),
        (20, 0.168, 0.05, 21), (20, 0.169, 0.05, None),
        # 1 - 0.1^(1/30) is 0.074.
        (30, 0.07, 0.2, 32), (30, 0.08, 0.2, None),
        (49, 0.05, 0.05, 50), (50, 0.05, 0.05, None),
    ],
)  # fmt: skip
def test_with_few_positives_the_auc_passes_by_a_wide_margin_only(positives, margin, alpha, needed):
    result = gate(alike(positives, 400), margin=margin, level=1 - alpha)
    assert result.lower > -margin
    said = [one for one in result.warnings if FEW in one]
    if needed is None:
        assert (result.verdict, said) == ("pass", [])
        return
    assert result.verdict == "undecided"
    assert said[0].endswith(f": {needed} positives would do.")
    assert result.answer.startswith("Undecided")
    assert "More cases" not in result.summary()


def test_few_positives_change_no_fail_and_no_other_measure():
    rng = np.random.default_rng(3)
    good = rng.normal(size=430) + 3 * (np.arange(430) < 30)
    worse = table(good, rng.normal(size=430), 30)
    assert gate(worse, margin=0.05).verdict == "fail"
    assert gate(alike(30, 400), measure="iauprec", over=(0.05, 0.2), margin=0.1).verdict == "pass"
    # Models that rank all cases alike are one.
    assert gate(table(good, 2 * good, 30)).verdict == "pass"


def test_verdicts_are_those_of_the_gate():
    rng = np.random.default_rng(5)
    own = SCRIPT["positives_of"]("lowest 3 %", 0.9, 60)
    found = set()
    for margin in (0.0, 0.02, 0.05, 0.2):
        scores = rng.normal(size=(2, 260)) / 2 + rng.normal(size=260)
        scores[0, :60] += own.mean
        scores[1, :60] = own.drawn(rng, scores[1, :60])
        models = (SCRIPT["SMALL"]["measured"](one[None], 60, "auc") for one in scores)
        _, passed, failed = next(SCRIPT["SMALL"]["verdicts"](*models, margin, "auc"))
        verdict = "pass" if passed.item() else "fail" if failed.item() else "undecided"
        assert gate(table(*scores, 60), margin=margin).verdict == verdict
        found.add(verdict)
    assert len(found) > 1


@pytest.mark.parametrize("shape", SCRIPT["SHAPES"])
@pytest.mark.parametrize("measure", ["auc", "iauprec"])
def test_the_margin_is_how_much_worse_the_challenger_is(shape, measure):
    own = SCRIPT["positives_of"](shape, 0.9, 40)
    rng = np.random.default_rng(7)
    scores = np.append(own.drawn(rng, rng.normal(size=60_000)), rng.normal(size=60_000))
    truth = np.arange(120_000) < 60_000
    found = pr.evaluate(
        {"truth": truth, "score": scores}, truth="truth", score="score", measures=measure,
        over=None if measure == "auc" else SCRIPT["SMALL"]["OVER"],
    )["estimate"].item()  # fmt: skip
    assert own.area(measure) == pytest.approx(found, abs=0.006)
    if measure == "auc":
        closed = {"hidden 10 %": 0.9 * 0.9 + 0.1 / 2, "lowest 3 %": 0.97 * 0.9, "spread": 0.86}
        assert own.area("auc") == pytest.approx(closed.get(shape, own.area("auc")), abs=1e-4)
        assert found == pytest.approx(roc_auc_score(truth, scores))


@pytest.mark.slow
def test_a_wrong_pass_is_as_frequent_as_was_counted():
    kind = {"shape": "lowest 3 %", "auc": 0.95, "correlation": 0.9}
    again = SCRIPT["counts"]((50, 400), "auc", *kind.values(), 1000, seed=7)
    counted = COUNTS.filter(measure="auc", positives=50, **kind)
    rate = (counted["passed"] / counted["of"]).item()
    assert binom.ppf(0.001, 1000, rate) <= again["passed"] <= binom.ppf(0.999, 1000, rate)
