"""Intervals and tests of rows in clusters, or with sampling weights, in a few samples."""

import pytest
from scipy.stats import binom
from simulations import areas

SAMPLES = 24


def counts(rows):
    """How often each was found, and in how many samples."""
    of = {row["rows as"]: row["samples"] for row in rows}
    return {
        (row["rows as"], name): (round(share * of[row["rows as"]]), of[row["rows as"]])
        for row in rows
        for name, share in row.items()
        if name in (*areas.WHAT, "recall holds") and share is not None
    }


def held_as_promised(found, way):
    for name in ("auc differs", "iauprec differs", "gate passes"):
        count, of = found[way, name]
        assert count <= binom.ppf(0.999, of, 0.025 if "gate" in name else 0.05)
    for name in ("auc holds", "iauprec holds"):
        count, of = found[way, name]
        assert count >= binom.ppf(0.001, of, 0.95)


@pytest.mark.slow
def test_tests_and_intervals_of_clusters_err_as_rarely_as_promised():
    found = counts(areas.of_clusters(SAMPLES, 0, "10 + 30", "1 to 41", 0.5))
    held_as_promised(found, "clusters")
    for name in ("auc differs", "iauprec differs"):
        count, of = found["independent", name]
        assert count > binom.ppf(0.99, of, 0.05)
    count, of = found["independent", "auc holds"]
    assert count < binom.ppf(0.001, of, 0.95)


@pytest.mark.slow
def test_tests_and_intervals_of_weights_err_as_rarely_as_promised():
    found = counts(areas.of_weights(SAMPLES, 0, "60 + 240", "any, 1 to 20"))
    held_as_promised(found, "weight")
    count, of = found["count", "auc holds"]
    assert count < binom.ppf(0.05, of, 0.95)
