import numpy as np
import pytest
from evidences import evidence
from statsmodels.stats.multitest import multipletests

from polaroc.uncertainty.adjusted import by_holm
from polaroc.uncertainty.evidence import all_pairs


@pytest.mark.alike(2)
@pytest.mark.parametrize("seed", range(5))
def test_holm_is_statsmodels(seed):
    # Six means that tie now and then, of errors that differ.
    rng = np.random.default_rng(seed)
    pairs = all_pairs(evidence(rng.normal(size=6).round(), np.diag(rng.random(6)), 9))
    adjusted = multipletests(pairs.p_value, method="holm")[1]
    assert by_holm(pairs, 0.95).p_value == pytest.approx(adjusted)
