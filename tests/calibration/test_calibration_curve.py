import numpy as np
import polars as pl
import pytest
from simulations import binormal, expit
from sklearn.isotonic import IsotonicRegression

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.measures.scoring import NOT_PROBABILITIES

NAMES = {"truth": "truth", "score": "score"}


def curve(seed: int, rows: int = 500, slope: float = 1.0, **options) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    logit, truth = binormal(random, rows, 0.3, 1.5, 0.3)
    table = pl.DataFrame({"truth": truth, "score": expit(slope * logit)})
    return pr.curve(table, **NAMES, **options)


@pytest.mark.parametrize("score_prior", ["observed", 0.5])
@pytest.mark.parametrize("prior", ["observed", 0.05])
def test_it_is_an_isotonic_regression(prior, score_prior):
    cells = curve(1).drop_nulls("threshold")
    found = pr.calibration_curve(curve(1), prior, score_prior=score_prior)
    own = cells["positives"][0] / (cells["positives"][0] + cells["negatives"][0])
    to = own if prior == "observed" else prior
    right_at = own if score_prior == "observed" else score_prior

    def moved(p: np.ndarray, start: float) -> np.ndarray:
        up = p * (1 - start) / start
        return up / (up + (1 - p) * (1 - to) / to)

    score, pos, neg = (cells[name].to_numpy() for name in ("threshold", "pos", "neg"))
    fitted = IsotonicRegression().fit(score, pos / (pos + neg), sample_weight=pos + neg)
    at = moved(score, right_at)
    for point, share in found.select("score", "probability").iter_rows():
        nearest = np.abs(at - point).argmin()
        assert point == pytest.approx(at[nearest], rel=1e-9)
        assert share == pytest.approx(moved(fitted.predict(score[[nearest]]), own)[0], abs=1e-9)
    assert found["score"].is_sorted()
    assert found["cases"].sum() == 500
    assert found["score"].max() == pytest.approx(at.max())


def test_calibrated_scores_stay_in_the_band_as_often_as_stated():
    inside = []
    for seed in range(15):
        found = pr.calibration_curve(curve(seed, 300), 0.1, seed=seed)
        inside.append(
            found.select(pl.col("probability").is_between("lower", "upper").mean()).item()
        )
    # A mean over points of one curve, which move together.
    assert 0.90 < np.mean(inside) < 0.99
    outside = pr.calibration_curve(curve(1, 3000, slope=3.0))
    assert outside.select(pl.col("probability").is_between("lower", "upper").mean()).item() < 0.7


def test_the_band_of_many_scores_is_that_of_bins():
    found = pr.calibration_curve(curve(2, 6000), "observed")
    inner = found.filter(pl.col("score").is_between(0.1, 0.9))
    assert (inner["lower"] <= inner["score"] + 0.02).all()
    assert (inner["upper"] >= inner["score"] - 0.02).all()
    assert (inner["upper"] - inner["lower"]).max() < 0.2


@pytest.mark.parametrize("lazy", [True, False])
def test_keys_that_have_none_say_why(lazy):
    table = pl.DataFrame(
        {
            "key": ["a", "a", "b", "b", "c", "c"], "truth": [1, 0, 1, 1, 1, 0],
            "score": [0.7, 0.2, 0.5, 0.6, 3.0, 0.1],
        }
    )  # fmt: skip
    curves = pr.curve(table, **NAMES, by="key")
    found = pr.calibration_curve(curves.lazy() if lazy else curves)
    if lazy:
        assert found.collect_schema() == found.collect().schema
        found = found.collect()
    notes = found.group_by("key", maintain_order=True).agg(pl.col("note").first())
    assert notes.rows() == [("a", None), ("b", "no negatives"), ("c", NOT_PROBABILITIES)]
    weighted = pr.curve(table.with_columns(w=0.5), **NAMES, weight="w", by="key")
    found = pr.calibration_curve(weighted).filter(key="a")
    assert found["lower"].null_count() == found.height
    assert found["note"][0] == "weights are not counts of cases: no band"


@pytest.mark.parametrize(
    "wrong",
    [{"priors": 0}, {"score_prior": 3}, {"level": 95}, {"draws": 10}, {"draws": 1.5}, {"seed": -1}],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(InvalidArgument):
        pr.calibration_curve(curve(1, 50), **wrong)
