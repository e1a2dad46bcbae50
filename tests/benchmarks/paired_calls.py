"""How often tests and limits of two models by what they call positive are right.

``python tests/benchmarks/paired_calls.py [--replicates N] [--seed S] [--write]``: scores of either
class are normal, those of the two models correlated by 0.3 or 0.9; a threshold is the same for
both. Rates and costs are as in ``MEASURES``, at a prior of 0.1, costs with a miss of 10 false
alarms; "best" is the expected cost at the thresholds that cost least on the cases.

equal
    Both models have an AUC of 0.90; how often they are told apart at 0.05 and 0.005.
worse
    The challenger has 0.85: how often 95 % limits of the difference hold the truth, and how often
    `gate` passes it where the margin is just the true difference, of which 0.025 may.

With ``--write`` the rates go to ``docs/concepts/tests.md``, those at 0.05 only; else all are
printed.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import norm

from polaroc.comparison.fitted_calls import FittedPlan, least_costs, more_is_better
from polaroc.comparison.verdict import decide
from polaroc.priors.grids import skew
from polaroc.thresholds.named_rates import rate_at
from polaroc.uncertainty.evidence import all_pairs
from polaroc.uncertainty.scored_cases import ScoredCases
from polaroc.uncertainty.small_samples import (
    limits_of_calls,
)
from polaroc.uncertainty.test_sets import of_thresholds

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "support"))
import binormal  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "concepts" / "tests.md"
SIZES = ((15, 135), (30, 60), (100, 900), (500, 2000))
CORRELATIONS = (0.3, 0.9)
PRIOR, COST = 0.1, 10
AUCS = (0.90, 0.85)
# The threshold of each; few cases are called by the last.
MEASURES = {
    "recall": 1.0, "specificity": 1.0, "precision": 2.0, "npv": 1.0, "net_benefit": 1.5,
    "expected_cost": 1.5, "best": None,
}  # fmt: skip
COSTS = ("net_benefit", "expected_cost")


def rate_of(measure):
    costs = {"cost_fn": COST} if measure in COSTS else {}
    return rate_at(measure, skew(PRIOR), **costs)


def truth_of(measure: str, auc: float) -> float:
    """The rate or cost of the population."""
    distance, at = binormal.shift(auc), MEASURES[measure]
    if measure == "best":
        measure, odds = "expected_cost", COST * PRIOR / (1 - PRIOR)
        at = distance / 2 - np.log(odds) / distance
    return float(rate_of(measure)(norm.sf(at - distance), norm.sf(at)))


def drawn(rng, sizes, correlation: float, aucs) -> ScoredCases:
    """One test set."""
    truth = np.arange(sum(sizes)) < sizes[0]
    shared = rng.normal(size=truth.size)
    scores = []
    for auc in aucs:
        own = rng.normal(size=truth.size)
        noise = correlation**0.5 * shared + (1 - correlation) ** 0.5 * own
        scores.append(noise + binormal.shift(auc) * truth)
    return ScoredCases((), [0, 1], scores, [truth, truth], None, paired=True)


def evidence_of(scored: ScoredCases, measure: str):
    if measure == "best":
        asked = FittedPlan("expected_cost", prior=PRIOR, cost_fn=COST)
        return least_costs(scored, asked)
    return of_thresholds(scored, [MEASURES[measure]] * 2, rate_of(measure), unseen=True)


def of_calls(replicates: int, seed: int) -> Iterator[dict[str, object]]:
    """A row per size, correlation and measure."""
    for sizes in SIZES:
        for correlation in CORRELATIONS:
            rng = np.random.default_rng([seed, *sizes, int(100 * correlation)])
            for measure in MEASURES:
                count = replicates // 4 if measure == "best" else replicates
                p, held, passed = [], [], []
                apart = truth_of(measure, AUCS[1]) - truth_of(measure, AUCS[0])
                name = "expected_cost" if measure == "best" else measure
                higher = more_is_better(name)
                for _ in range(count):
                    equal = all_pairs(
                        evidence_of(drawn(rng, sizes, correlation, AUCS[:1] * 2), measure)
                    )
                    p.append(equal.p_value.item())
                    lead = all_pairs(
                        evidence_of(drawn(rng, sizes, correlation, AUCS[::-1]), measure)
                    )
                    ends = limits_of_calls(lead, 0.95)
                    # No case is called: there is no precision, and no test.
                    if np.isnan(ends).any():
                        continue
                    held.append(ends[0] <= apart <= ends[1])
                    passed.append(decide(*ends, abs(apart), higher=higher) == "pass")
                known = np.array(p)[~np.isnan(p)]
                yield {
                    "measure": measure, "positives": sizes[0], "negatives": sizes[1],
                    "correlation": correlation, "at_05": (known < 0.05).mean(),
                    "at_005": (known < 0.005).mean(), "held": np.mean(held),
                    "passed": np.mean(passed), "samples": len(held),
                }  # fmt: skip


def write(name: str, rows: pl.DataFrame) -> None:
    """Put a table between its marks on the page."""
    lines = [f"| {' | '.join(rows.columns)} |", f"| {' | '.join('---' for _ in rows.columns)} |"]
    for row in rows.iter_rows():
        values = (f"{one:.3f}" if isinstance(one, float) else f"{one}" for one in row)
        lines.append(f"| {' | '.join(values)} |")
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    between = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    page = PAGE.read_text()
    if not between.search(page):
        raise SystemExit(f"{PAGE} has no {start}")
    PAGE.write_text(between.sub(lambda _: "\n".join([start, "", *lines, "", end]), page))


def main() -> None:
    """Print or write the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = pl.DataFrame([*of_calls(options.replicates, options.seed)])
    if not options.write:
        with pl.Config(tbl_rows=-1, tbl_cols=-1):
            print(rows)
        return
    write("paired-calls", rows.drop("at_005").rename({"at_05": "told apart if equal"}))


if __name__ == "__main__":
    main()
