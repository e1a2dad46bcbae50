"""The corrected areas beside their definition, written out in NumPy."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}


def table(positives: int, negatives: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    return pl.DataFrame({"truth": truth, "score": np.round(rng.normal(size=truth.size) + truth, 1)})


def corrected(predictions: pl.DataFrame, skew: float) -> float:
    """AUPREC less its bias, half the second difference of precision over a standard error of f."""
    truth, score = predictions["truth"].to_numpy(), predictions["score"].to_numpy()
    nodes, weights = np.polynomial.legendre.leggauss(4)
    shares, weights = (nodes + 1) / 2, weights / 2

    def precision(t, f):
        return t / (t + skew * f)

    negatives = (~truth).sum()
    t0 = f0 = area = 0.0
    for at in np.unique(score)[::-1]:
        t1, f1 = (score[truth] >= at).mean(), (score[~truth] >= at).mean()
        for share, weight in zip(shares, weights, strict=True):
            t, f = t0 + share * (t1 - t0), f0 + share * (f1 - f0)
            if t1 == t0:
                continue
            # Between two known points the rate varies less, as a bridge does.
            variance = (f * (1 - f) - share * (1 - share) * (f1 - f0)) / max(negatives - 1, 1)
            step = min(max(variance, 0) ** 0.5, f)
            mean = (precision(t, f - step) + precision(t, f + step)) / 2
            area -= weight * (t1 - t0) * (mean - precision(t, f))
        t0, f0 = t1, f1
    plain = pr.evaluate(predictions, **NAMES, priors=1 / (1 + skew), measure="auprec")
    return min(max(plain["estimate"].item() + area, 0), 1)


@pytest.mark.parametrize(
    ("positives", "negatives", "seed"), [(20, 60, 0), (5, 12, 1), (30, 1, 2), (1, 8, 3)]
)
@pytest.mark.parametrize("prior", [0.02, 0.5])
def test_the_bias_is_that_of_its_definition(positives, negatives, seed, prior):
    predictions = table(positives, negatives, seed)
    asked = {**NAMES, "priors": prior, "measure": "auprec_corrected"}
    found = pr.evaluate(predictions, **asked)["estimate"].item()
    assert found == pytest.approx(corrected(predictions, 1 / prior - 1), abs=1e-12)


def test_the_mean_over_a_range_is_that_of_its_priors():
    predictions, (lo, hi) = table(20, 60, 4), (0.05, 0.2)
    asked = {**NAMES, "over": (lo, hi), "measure": "iauprec_corrected"}
    found = pr.evaluate(predictions, **asked)["estimate"].item()
    nodes, weights = np.polynomial.legendre.leggauss(16)
    priors = lo + (hi - lo) * (1 + nodes) / 2
    areas = [corrected(predictions, 1 / prior - 1) for prior in priors]
    assert found == pytest.approx(np.average(areas, weights=weights), abs=1e-10)
