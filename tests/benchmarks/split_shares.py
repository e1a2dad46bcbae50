"""The half-split variance beside those of splits into three and four parts.

``python tests/benchmarks/split_shares.py [--learner L …] [--samples N] [--seconds S] [--seed S]``:
as in ``design_rates.py`` two algorithms, equal over the population or with a lead (``--ahead``),
are compared by the mean of ten 10-folds; samples have 120 + 360 cases, so that halves, thirds and
quarters divide into folds. Each variance costs about as many fits: 25 splits into halves, 17 into
thirds, 12 into quarters, with five folds in each part, twice.

halves, thirds, quarters
    The variance of the parts of a split, over their number: it takes a variance in proportion
    to 1/n.
halves and quarters
    The mean of both.
power of n
    The variance at n as the power of n through those at n/2 and n/4.
line in 1/n
    n times the variance as a line in 1/n through the same two.

Printed are the shares of samples in which a difference is found at 0.05 and 0.005, their standard
errors, and the mean variance over the true one.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import t

sys.path.append(str(Path(__file__).parent))
from design_rates import (
    ALPHAS,
    FEATURES,
    FOLDS,
    HALF_FOLDS,
    HALF_REPEATS,
    LEARNERS,
    REPEATS,
    SHIFT,
    Fits,
    folds_of,
    shuffled,
)

POSITIVES, NEGATIVES = 120, 360
SPLITS = {2: 25, 3: 17, 4: 12}
KINDS = ("discriminant", "nearest", "picker", "prototypes")


def parts(rng: np.random.Generator, count: int) -> Fits:
    """The fits within the parts of all splits into `count` parts."""
    orders = []
    for cases in np.arange(POSITIVES), np.arange(POSITIVES, POSITIVES + NEGATIVES):
        split = shuffled(rng, cases, SPLITS[count]).reshape(count * SPLITS[count], -1)
        order = rng.random((len(split), HALF_REPEATS, split.shape[1])).argsort(axis=2)
        drawn = np.take_along_axis(split[:, None], order, axis=2)
        orders.append(drawn.reshape(-1, split.shape[1]))
    return folds_of((orders[0], orders[1]), HALF_FOLDS)


def variances(leads: dict[int, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Variances of a mean over all cases and their degrees of freedom, from splits × parts."""
    own = {count: float(lead.var(axis=1, ddof=1).mean()) / count for count, lead in leads.items()}
    # Relative variances, as in `half_split_freedom`.
    noise = {count: 1 / (SPLITS[count] * (count - 1)) for count in own}
    case = 1 / (POSITIVES - 1)

    def freedom(weights: dict[int, float]) -> float:
        return 1 / (sum(w**2 * noise[count] for count, w in weights.items()) + case)

    half, quarter = own[2], own[4]
    line = 1.5 * half - 0.5 * quarter
    return {
        "halves": (half, freedom({2: 1})),
        "thirds": (own[3], freedom({3: 1})),
        "quarters": (quarter, freedom({4: 1})),
        "halves and quarters": ((half + quarter) / 2, freedom({2: 0.5, 4: 0.5})),
        "power of n": (half**2 / quarter, freedom({2: 2, 4: 1})),
        # With so few degrees of freedom it may be negative.
        "line in 1/n": (max(line, 0.1 * half), freedom({2: 1.5, 4: 0.5})),
    }


def one_sample(rng: np.random.Generator, learner: str, ahead: float) -> dict[str, np.ndarray]:
    """Per learner the mean lead, and per variance the p-value and the variance."""
    truth = np.arange(POSITIVES + NEGATIVES) < POSITIVES
    X = rng.normal(size=(len(truth), 2, FEATURES)) + SHIFT * truth[:, None, None]
    X[:, 0] += ahead * truth[:, None]
    classes = np.arange(POSITIVES), np.arange(POSITIVES, len(truth))
    fits = {1: folds_of(tuple(shuffled(rng, one, REPEATS) for one in classes), FOLDS)}
    fits |= {count: parts(rng, count) for count in SPLITS}
    drawn = [
        {count: LEARNERS[learner](rng, X[:, model], one) for count, one in fits.items()}
        for model in (0, 1)
    ]
    found = {}
    for kind in drawn[0][1]:
        leads = {count: drawn[0][count][kind] - drawn[1][count][kind] for count in fits}
        lead = float(leads.pop(1).mean())
        shaped = {
            count: own.reshape(SPLITS[count], count, -1).mean(axis=2)
            for count, own in leads.items()
        }
        tested = [
            (2 * t.sf(abs(lead) / variance**0.5, df), variance)
            for variance, df in variances(shaped).values()
        ]
        found[kind] = np.array([(lead, lead), *tested])
    return found


def main() -> None:
    """Print rates and variances of each learner."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=KINDS)
    parser.add_argument("--ahead", type=float, default=0.0)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop a learner after these")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = list(variances({count: np.ones((2, count)) + np.eye(2, count) for count in SPLITS}))
    for learner in options.learner:
        started, rows = time.perf_counter(), []
        for sample in range(options.samples):
            rng = np.random.default_rng([options.seed, sample])
            rows.append(one_sample(rng, learner, options.ahead))
            if time.perf_counter() - started > options.seconds:
                break
        for kind in rows[0]:
            found = np.stack([row[kind] for row in rows])
            leads, p, variance = found[:, 0, 0], found[:, 1:, 0], found[:, 1:, 1]
            true = leads.var(ddof=1)
            print(f"{kind}, lead {leads.mean():.3f}, {len(rows)} samples", flush=True)
            for place, name in enumerate(names):
                shares = [(p[:, place] < alpha).mean() for alpha in ALPHAS]
                errors = [(share * (1 - share) / len(rows)) ** 0.5 for share in shares]
                rates = " / ".join(
                    f"{share:.3f} ({error:.3f})"
                    for share, error in zip(shares, errors, strict=True)
                )
                print(f"  {name} | {rates} | {variance[:, place].mean() / true:.2f}", flush=True)


if __name__ == "__main__":
    main()
