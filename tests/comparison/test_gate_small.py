"""The simulation of intervals on few cases, beside the package and measures without a case."""

import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from paired import paired_test

import polaroc as pr
from polaroc.comparison.fitted import single_measure
from polaroc.uncertainty.scored_cases import read_cases
from polaroc.uncertainty.small_samples import difference_limits, why_no_promise
from polaroc.uncertainty.test_sets import of_test_set

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "gate_small.py"))
OVER, PRIOR = SCRIPT["OVER"], SCRIPT["PRIOR"]


def table(scores, positives):
    cases = scores.shape[1]
    return pl.concat(
        pl.DataFrame({"model": name, "id": range(cases), "truth": np.arange(cases) < positives,
                      "score": own})
        for name, own in zip("ab", scores, strict=True)
    )  # fmt: skip


# Of good models the scale of the log-odds has the widest limits.
@pytest.mark.parametrize(("positives", "cases", "better"), [(7, 20, 1), (100, 300, 4)])
@pytest.mark.parametrize("measure", ["auc", "auprec", "iauprec"])
def test_estimates_errors_and_verdicts_are_those_of_the_package(measure, positives, cases, better):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(2, cases)) + better * (np.arange(cases) < positives)
    rows = table(scores, positives)
    at = {"auc": {}, "auprec": {"prior": PRIOR}, "iauprec": {"over": OVER}}[measure]
    pairs = paired_test(rows, measure, truth="truth", score="score", **at)
    a, b = (SCRIPT["measured"](own[None], positives, measure) for own in scores)
    moved = tuple(own - other for own, other in zip(a.influence, b.influence, strict=True))
    assert a.estimate - b.estimate == pytest.approx(pairs["difference"].item(), abs=1e-5)
    error = SCRIPT["variance"](moved) ** 0.5
    assert error == pytest.approx(pairs["std_error"].item(), rel=1e-4)
    # The verdicts turn where the limits of the package lie.
    cases = read_cases(pr.cases(rows, truth="truth", score="score"))
    evidence = of_test_set(cases.scored, [single_measure(measure, PRIOR, OVER)])
    ends = difference_limits(evidence, (0, 1), 0.95, measure)
    for side, (limit, sign) in enumerate(zip(ends, (1, -1), strict=True)):
        if abs(limit) >= 1:
            continue  # no margin is as large
        for more in (1e-4, -1e-4):
            margin = -(limit - sign * more)
            name, *turned = next(SCRIPT["verdicts"](b, a, margin, measure))
            assert name == "gate"
            assert turned[side].item() == (more > 0)


@pytest.mark.parametrize("measure", ["auc", "auprec", "iauprec"])
@pytest.mark.parametrize(
    "sizes", [(19, 900), (20, 80), (80, 20), (50, 60), (200, 200), (5000, 5000)]
)
def test_it_refuses_where_the_package_does(measure, sizes):
    of = single_measure(measure, PRIOR, OVER)
    assert SCRIPT["refused"](*sizes, measure) == (why_no_promise(of, *sizes) is not None)


def test_pseudo_cases_widen_by_the_largest_influence():
    moved = (np.array([[-1.0, 0.0, 1.0]]), np.array([[-2.0, 2.0]]))
    assert SCRIPT["variance"](moved, 3) == pytest.approx(1 / 3 + 8 / 2 + 3 * (1 / 9 + 4 / 4))
    assert SCRIPT["variance"](moved, 1, 3.0) == pytest.approx(1 / 3 + 8 / 2 + 9 / 9 + 9 / 4)


def test_it_prints_a_share_for_each_interval():
    line = SCRIPT["largest_rates"]((20, 20), "auc", 200, 0)
    rates = {part.rpartition(" / ")[0].rpartition(" ")[0]: float(part.split(" / ")[0].split()[-1])
             for part in line.split(" | ")}  # fmt: skip
    assert set(rates) == {"gate", "without", "normal", "student", "three pseudo-cases", "log-odds"}
    # 2,000 samples gave 0.09 and 0.02.
    assert rates["normal"] > 0.05
    assert rates["gate"] < 0.05
    assert rates["gate"] <= rates["without"] <= rates["student"] <= rates["normal"]
