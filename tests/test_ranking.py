import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.ranking import before, code, ends_run, index_of, rank_of, score_at, score_of, truth_of

SCORES = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 5e-324, -5e-324])
ROWS = st.lists(st.tuples(st.integers(0, 2**32 - 1), SCORES, st.booleans()), min_size=1)


def coded(rows: list[tuple[int, float, bool]]) -> pl.DataFrame:
    schema = {"index": pl.UInt32, "score": pl.Float64, "truth": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(code=code(pl.col("index"), pl.col("score"), pl.col("truth")))


@given(ROWS)
def test_codes_go_by_key_then_the_best_score_first(rows):
    found = coded(rows).sort("code").rows()
    assert [row[:3] for row in found] == sorted(rows, key=lambda row: (row[0], -row[1], row[2]))


@given(ROWS)
def test_what_a_code_holds_can_be_read_back(rows):
    parts = {"index": index_of, "score": score_of, "truth": truth_of}
    found = coded(rows).select(**{name: part(pl.col("code")) for name, part in parts.items()})
    assert found.rows() == [(index, score, int(truth)) for index, score, truth in rows]


@given(ROWS)
def test_runs_end_where_key_or_score_change(rows):
    ordered = coded(rows).sort("code")
    runs = [row[:2] for row in ordered.rows()]
    expected = [a != b for a, b in zip(runs, [*runs[1:], None], strict=True)]
    assert ordered.select(ends_run(pl.col("code"))).to_series().to_list() == expected


@given(ROWS)
def test_the_anchor_comes_between_two_keys(rows):
    frame = coded(rows).with_columns(anchor=before(pl.col("index")))
    for index, _, _, packed, anchor in frame.rows():
        assert anchor < packed
        assert all(row[3] < anchor for row in frame.rows() if row[0] < index)


@given(SCORES, SCORES)
def test_ranks_order_like_scores(a, b):
    ranks = pl.DataFrame({"s": [a, b]}).select(rank_of(pl.col("s")).alias("r"))["r"].to_list()
    assert (ranks[0] < ranks[1], ranks[0] == ranks[1]) == (a < b, a == b)


@pytest.mark.parametrize("score", [0.0, 1.5, -1.5, 5e-324, float("inf"), float("-inf")])
def test_a_rank_is_that_of_its_score(score):
    assert pl.select(score_at(rank_of(pl.lit(score, pl.Float64)))).item() == score
