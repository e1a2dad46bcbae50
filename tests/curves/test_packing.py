from fractions import Fraction
from math import copysign, ldexp

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.curves.packing import STEPS, packing, rank_of

SCORES = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 5e-324, -5e-324])
FEW = st.floats(0.25, 1) | st.floats(0.25, 1).map(lambda score: -score) | st.just(0.0)
NARROW = st.floats(allow_nan=False, width=32)
TYPES = {
    pl.Float16(): st.floats(allow_nan=False, width=16),
    pl.Float32(): NARROW,
    **{
        kind(): st.integers(*(pl.select(end).item() for end in (kind.min(), kind.max())))
        for kind in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)
    },
}


def rows(numbers: int, scores: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(st.tuples(st.integers(0, numbers - 1), scores, st.booleans()), min_size=1)


def table(found: list[tuple[int, float, bool]]) -> pl.DataFrame:
    schema = {"index": pl.UInt32, "score": pl.Float64, "truth": pl.Boolean}
    return pl.DataFrame(found, schema=schema, orient="row")


# Rows with the packing they are ranked in: of the bits that their scores need, and of those that
# scores of 32 bits do.
RANKED = rows(7, FEW).map(lambda found: (found, packing(7, table(found)["score"]))) | rows(
    9000, NARROW
).map(lambda found: (found, packing(9000, table(found)["score"], STEPS[pl.Float32()])))


def coded(ranked) -> pl.DataFrame:
    found, packed = ranked
    code = packed.code(pl.col("index"), pl.col("score"), pl.col("truth"))
    return table(found).with_columns(code=code)


@given(RANKED)
def test_codes_go_by_key_then_the_best_score_first(ranked):
    found = coded(ranked).sort("code").rows()
    expected = sorted(ranked[0], key=lambda row: (row[0], -row[1], row[2]))
    assert [row[:3] for row in found] == expected


@given(RANKED)
def test_the_scores_of_codes_of_64_bits_can_be_read_back(ranked):
    found, packed = ranked
    scores = packed.scores_of(coded(ranked)["code"].to_numpy())
    assert scores.tolist() == [score for _, score, _ in found]


@given(RANKED)
def test_codes_fit_their_type(ranked):
    found, packed = ranked
    for index, score, truth in found:
        magnitude = (
            Fraction(*map(int, (abs(rank(score)) - packed.zero_gap, packed.step))) if score else 0
        )
        place = magnitude if score > 0 else -magnitude
        assert place == int(place)
        assert 0 <= 2 * (index * packed.scores + packed.best - place) + truth < 2**64


def test_every_narrow_type_is_tried():
    assert set(TYPES) == set(STEPS)


@given(st.data(), st.sampled_from(list(TYPES)))
def test_ranks_of_a_narrow_type_are_multiples_of_its_unit(data, kind):
    scores = data.draw(st.lists(TYPES[kind], min_size=1))
    wide = pl.Series(scores, dtype=kind).cast(pl.Float64)
    assert all(rank(score) % STEPS[kind] == 0 for score in wide)


@pytest.mark.parametrize("kind", STEPS, ids=str)
def test_units_are_as_large_as_can_be(kind):
    digits = {pl.Float16(): 10, pl.Float32(): 23}
    finest = 1 + 2.0 ** -digits[kind] if kind in digits else pl.select(kind.max()).item()
    assert divmod(rank(finest), STEPS[kind])[1] == 0
    assert rank(finest) // STEPS[kind] % 2 == 1


@pytest.mark.parametrize(
    ("keys", "scores", "fits"),
    [
        (1, [0.0, 1.0, 5e-324], True),
        (2, [0.0, 1.0, 5e-324], True),
        (3, [0.0, 1.0, 5e-324], False),
        (200, [0.0, 1.0, 0.001], True),
        (210, [0.0, 1.0, 0.001], False),
        (60, [0.0, 1.0, 1e-10], True),
        (60, [-1.0, 1.0, 1e-4], True),
        (60, [-1.0, 1.0, 1e-6], False),
        (2**20, [0.5, 0.5], True),
        (1, [float("-inf"), float("inf")], True),
        (1, [-1.0, 1.0, 5e-324], True),
        (2, [-1.0, 1.0, 5e-324], False),
        # Places for one code less than 2⁶⁴ has room for, and for one too many.
        (1, [float("inf"), -ldexp(2**52 - 3, -1074), 5e-324], True),
        (1, [float("inf"), -ldexp(2**52 - 2, -1074), 5e-324], False),
        (1, [0.0, 0.0], True),
        (1, [float("nan"), 1.0], False),
        (1, [], False),
        (1, [None, None, None], False),
    ],
)
def test_few_keys_with_scores_close_together_fit_64_bits(keys, scores, fits):
    assert (packing(keys, pl.Series(scores, dtype=pl.Float64)) is not None) == fits


def rank(score: float) -> int:
    return pl.select(rank_of(pl.lit(score, pl.Float64))).item()


@given(SCORES, SCORES)
def test_ranks_order_like_scores(a, b):
    assert (rank(a) < rank(b), rank(a) == rank(b)) == (a < b, a == b)


@pytest.mark.parametrize("score", [0.0, -0.0])
def test_zero_has_no_sign(score):
    packed = packing(1, pl.Series([-1.0, score, 1.0]))
    code = packed.code(pl.lit(0), pl.lit(score, pl.Float64), pl.lit(True))
    assert copysign(1, packed.scores_of(pl.select(code).to_series().to_numpy())[0]) == 1
