import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.isotonic import IsotonicRegression

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score", "model": None}
INFINITE = float("inf")


def cases(seed: int, rows: int = 300, digits: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    return pl.DataFrame(
        {
            "model": pl.Series(["a", "b", None]).gather(random.integers(0, 3, rows)),
            "truth": truth,
            "score": (random.normal(size=rows) + 1.5 * truth).round(digits),
        }
    )


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("prior", ["observed", 0.5, 0.01])
def test_they_are_an_isotonic_regression(digits, prior):
    table = cases(1, digits=digits)
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    own = truth.mean()
    to = own if prior == "observed" else prior
    weight = np.where(truth, to / own, (1 - to) / (1 - own))
    fitted = IsotonicRegression().fit(score, truth, sample_weight=weight).predict(score)
    curve = pr.curve(table, **NAMES)
    found = pr.probabilities(table, curve, score="score", model=None, priors=prior, same_table=True)
    assert found["prior"].unique().to_list() == [pytest.approx(to)]
    inner = (fitted > 0) & (fitted < 1)
    assert found["probability"].to_numpy()[inner] == pytest.approx(fitted[inner], rel=1e-12)
    # The ends: half a case of the class that is absent, at the odds of the prior.
    odds = to / (1 - to) * (1 - own) / own
    for end, is_pos in ((fitted == 1, True), (fitted == 0, False)):
        if end.any():
            ratio = 2 * end.sum() if is_pos else 1 / (2 * end.sum())
            expected = ratio * odds / (1 + ratio * odds)
            beside = fitted[inner].max() if is_pos else fitted[inner].min()
            expected = max(expected, beside) if is_pos else min(expected, beside)
            assert found["probability"].to_numpy()[end] == pytest.approx(expected, rel=1e-12)


def test_no_end_passes_its_neighbour():
    # One positive above ninety-nine of a hundred, and one negative below as many.
    truth = [1, *([1] * 99 + [0]), *([1] + [0] * 99), 0]
    table = pl.DataFrame({"truth": truth, "score": [4] + [3] * 100 + [2] * 100 + [1]})
    curve = pr.curve(table, **NAMES)
    use = pl.DataFrame({"score": [4, 3, 2, 1]})
    found = pr.probabilities(use, curve, score="score", priors="observed")["probability"]
    assert found.to_list() == pytest.approx([0.99, 0.99, 0.01, 0.01])


def test_scores_between_and_beyond_those_of_the_curve():
    table = pl.DataFrame({"truth": [1, 1, 0, 1, 0, 0], "score": [5.0, 4, 4, 2, 2, 2]})
    curve = pr.curve(table, **NAMES)
    use = pl.DataFrame({"score": [INFINITE, 5, 4.5, 4, 3, 2, 0, -INFINITE]})
    found = pr.probabilities(use, curve, score="score", priors=0.5)["probability"]
    assert found.to_list() == pytest.approx([2 / 3, 2 / 3, 0.5, 0.5, *[1 / 3] * 4])


@pytest.mark.parametrize("lazy", [True, False])
def test_each_key_has_its_own_curve(lazy):
    tuning, use = cases(2), cases(3)
    curve = pr.curve(tuning, **NAMES | {"model": "model"})
    frame = use.lazy() if lazy else use
    asked = {"score": "score", "priors": [0.1, "observed"]}
    found = pr.probabilities(frame, curve, model="model", **asked)
    if lazy:
        assert found.collect_schema() == found.collect().schema
        found = found.collect()
    assert found.columns == [*use.columns, "prior", "probability", "note"]
    assert_frame_equal(found.select(use.columns)[::2], use)
    assert found["note"].null_count() == found.height
    for model, part in found.group_by("model"):
        of_model = pl.col("model").eq_missing(pl.lit(model[0]))
        alone = pr.curve(tuning.filter(of_model), **NAMES)
        expected = pr.probabilities(use.filter(of_model), alone, **asked)
        assert_frame_equal(part.sort("score", "prior"), expected.sort("score", "prior"),
                           check_row_order=False)  # fmt: skip


def test_weights_count_cases():
    table = cases(4).with_columns(weight=pl.int_range(pl.len()) % 3)
    repeated = table.select(pl.exclude("weight").repeat_by("weight").explode())
    use = cases(5)
    found = [
        pr.probabilities(use, curve, score="score", priors=0.2)
        for curve in (pr.curve(table, **NAMES, weight="weight"), pr.curve(repeated, **NAMES))
    ]
    assert_frame_equal(*found)


def test_the_tuning_table_is_refused():
    table = cases(6)
    curve = pr.curve(table, **NAMES | {"model": "model"})
    asked = {"score": "score", "model": "model", "priors": 0.1}
    shuffled = table.sample(fraction=1, shuffle=True, seed=1).drop("truth")
    for frame in (table, shuffled, shuffled.filter(pl.col("model") == "a")):
        with pytest.raises(InvalidTable, match="those of the tuning table"):
            pr.probabilities(frame, curve, **asked)
    noted = pr.probabilities(shuffled.lazy(), curve, **asked).collect()
    assert noted["note"].str.starts_with("the scores of the tuning table").all()
    meant = pr.probabilities(table, curve, **asked, same_table=True)
    assert meant["note"].null_count() == table.height
    pr.probabilities(table[1:], curve, **asked)


def test_what_has_no_probability_says_why():
    tuning = cases(7).with_columns(
        truth=pl.when(pl.col("model") == "b").then(False).otherwise("truth")
    )
    curve = pr.curve(tuning, **NAMES | {"model": "model"})
    use = pl.DataFrame({"model": ["a", "a", "b", "z"], "score": [None, float("nan"), 1.0, 1.0]})
    asked = {"score": "score", "model": "model", "priors": ["observed", 0.2]}
    found = pr.probabilities(use.lazy(), curve, **asked).collect()
    assert found["probability"].to_list() == [None] * 8
    expected = ["null score", "NaN score", "no positives", "there is no curve for this key"]
    assert found["note"].to_list() == [note for note in expected for _ in range(2)]
    with pytest.raises(InvalidPredictions, match="2 of 4 rows cannot be scored: null score"):
        pr.probabilities(use, curve, **asked)
    empty = pr.probabilities(use.clear(), curve, **asked)
    assert empty.schema == found.schema


def test_a_probability_moves_with_the_odds():
    table = pl.DataFrame({"p": [0.0, 0.2, 0.5, 1.0, 1.2, -0.1, None], "to": [0.1] * 6 + [0.5]})
    for to in (0.1, pl.col("to")):
        found = table.select(pr.expr.at_prior("p", prior=0.5, to=to)).to_series().to_list()
        assert found == [0.0, pytest.approx(1 / 37), pytest.approx(0.1), 1.0, None, None, None]
    back = table.select(
        pr.expr.at_prior(pr.expr.at_prior("p", prior=0.3, to=0.001), prior=0.001, to=0.3)
    ).to_series()  # fmt: skip
    assert back[:4].to_list() == pytest.approx(table["p"][:4].to_list())
    with pytest.raises(InvalidArgument, match="to is 1"):
        pr.expr.at_prior("p", prior=0.5, to=1)
