import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polaroc as pr

SHARES = st.floats(0.001, 1)
PRIORS = st.floats(0.001, 0.999)


@given(SHARES, st.floats(0, 1), PRIORS)
def test_there_and_back(tpr, fpr, prior):
    recall, precision = pr.pr_from_roc(tpr, fpr, prior)
    assert pr.roc_from_pr(recall, precision, prior) == pytest.approx((fpr, tpr), abs=1e-9)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_points_of_a_confusion_matrix(tp, fn, fp, tn):
    positives, negatives = tp + fn, fp + tn
    prior = positives / (positives + negatives)
    found = pr.roc_from_pr(tp / positives, tp / (tp + fp), prior)
    assert found == pytest.approx((fp / negatives, tp / positives), abs=1e-9)


def test_arrays_and_expressions():
    recall, precision = np.array([0.25, 0.5]), np.array([0.5, 0.8])
    by_hand = [r * (1 - p) / (4 * p) for r, p in zip(recall, precision, strict=True)]
    fpr, tpr = pr.roc_from_pr(recall, precision, 0.2)
    assert fpr.tolist() == pytest.approx(by_hand)
    assert tpr.tolist() == recall.tolist()
    table = pl.DataFrame({"r": recall, "p": precision})
    found = table.select(pr.roc_from_pr(pl.col("r"), pl.col("p"), 0.2)[0]).to_series()
    assert found.to_list() == pytest.approx(by_hand)
