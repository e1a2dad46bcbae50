"""The simulation of intervals on few cases, beside the package and measures without a case."""

import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.comparison.delong import paired_test

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "gate_small.py"))
OVER = SCRIPT["OVER"]
POSITIVES, CASES = 7, 20
RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(2, CASES)) + (np.arange(CASES) < POSITIVES)


def table(scores):
    return pl.concat(
        pl.DataFrame({"model": name, "id": range(CASES), "truth": np.arange(CASES) < POSITIVES,
                      "score": own})
        for name, own in zip("ab", scores, strict=True)
    )  # fmt: skip


def measured(measure):
    return [SCRIPT["measured"](own[None], POSITIVES, measure) for own in SCORES]


@pytest.mark.parametrize("measure", ["auc", "iauprec"])
def test_estimates_and_errors_are_those_of_the_package(measure):
    pairs = paired_test(table(SCORES), truth="truth", score="score", measure=measure, over=OVER)
    a, b = measured(measure)
    moved = tuple(own - other for own, other in zip(a.influence, b.influence, strict=True))
    assert a.estimate - b.estimate == pytest.approx(pairs["difference"].item(), abs=1e-5)
    error = SCRIPT["variance"](moved) ** 0.5
    assert error == pytest.approx(pairs["std_error"].item(), rel=1e-4)
    # The verdicts of the first interval turn where the limits of the package lie.
    for side, sign in (("lower", 1), ("upper", -1)):
        for beyond in (1e-4, -1e-4):
            margin = -(pairs[side].item() - sign * beyond)
            name, passed, failed = next(SCRIPT["verdicts"](b, a, margin, 2.0))
            assert name == "wald"
            assert (passed if side == "lower" else failed).item() == (beyond > 0)


def test_what_is_left_without_a_case():
    first = table(SCORES).filter(model="a")
    without = [
        pr.evaluate(first.filter(pl.col("id") != case), truth="truth", score="score",
                    measures=["iauprec"], over=OVER)["estimate"].item()
        for case in range(CASES)
    ]  # fmt: skip
    found = np.concatenate([own[0] for own in measured("iauprec")[0].dropped])
    assert found == pytest.approx(without, abs=1e-4)


def test_pseudo_cases_widen_by_the_largest_influence():
    moved = (np.array([[-1.0, 0.0, 1.0]]), np.array([[-2.0, 2.0]]))
    assert SCRIPT["variance"](moved, 3) == pytest.approx(1 / 3 + 8 / 2 + 3 * (1 / 9 + 4 / 4))


def test_it_prints_a_share_for_each_interval():
    line = SCRIPT["largest_rates"]((20, 20), "iauprec", 100, 0)
    rates = {part.split()[0]: float(part.split()[1]) for part in line.split(" | ")}
    assert set(rates) == {"wald", "student", "pseudo-cases", "jackknife", "log-odds"}
    # Three standard errors below the 0.16 that 2,000 samples gave.
    assert rates["wald"] > 0.08
    assert rates["pseudo-cases"] <= rates["student"] <= rates["wald"]
