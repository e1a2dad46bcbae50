from collections.abc import Sequence

import polars as pl
from hypothesis import strategies as st

inf = float("inf")
# Few scores, so that ties are common; -0.0 and 0.0 are one score.
SCORES = (-inf, -1.0, -0.0, 0.0, 0.5, 2.0, inf)
FINITE_SCORES = (-1.0, 0.0, 0.5, 2.0, 7.0)
WEIGHTS = {
    "none": (),
    "whole": (0, 1, 2, 5),
    "real": (0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 2.5),
    # Sums of these are exact in binary.
    "dyadic": (0.0, 0.125, 0.25, 0.5, 1.0, 3.0),
}
KINDS = ("none", "whole", "real")


@st.composite
def tables(
    draw: st.DrawFn,
    scores: Sequence[float] = SCORES,
    kinds: Sequence[str] = KINDS,
    max_rows: int = 12,
) -> pl.DataFrame:
    """A small prediction table with both classes; a column `weight` unless all count alike."""
    weights = WEIGHTS[draw(st.sampled_from(kinds))]
    score = st.sampled_from(scores)
    weight = st.sampled_from(weights) if weights else st.just(1)
    more_than_zero = weight.filter(lambda value: value > 0)
    both = [(truth, draw(score), draw(more_than_zero)) for truth in (True, False)]
    others = draw(st.lists(st.tuples(st.booleans(), score, weight), max_size=max_rows - 2))
    rows = draw(st.permutations([*both, *others]))
    kind = pl.Int64 if all(isinstance(row[2], int) for row in rows) else pl.Float64
    table = pl.DataFrame(
        rows, schema={"truth": pl.Boolean, "score": pl.Float64, "weight": kind}, orient="row"
    )
    return table if weights else table.drop("weight")


def priors() -> st.SearchStrategy[float]:
    return st.one_of(
        st.sampled_from([1e-4, 0.01, 0.1, 0.5, 0.9, 1 - 1e-4]),
        st.floats(1e-4, 1 - 1e-4),
    )
