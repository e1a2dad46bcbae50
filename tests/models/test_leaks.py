import numpy as np
import polars as pl
import pytest

import polaroc as pr

NAMES = {"truth": "truth", "score": "score", "model": "model", "case": "row"}
RNG = np.random.default_rng(4)
ROWS = pl.DataFrame({"row": np.arange(240), "patient": np.arange(240) // 4}).with_columns(
    truth=pl.Series(RNG.random(240) < 0.4)
)
NOISE = {name: pl.Series(RNG.normal(size=240)) for name in "AB"}
TABLE = pl.concat(
    ROWS.with_columns(model=pl.lit(name), score=noise + 2 * pl.col("truth"))
    for name, noise in NOISE.items()
)
# Each patient in one of five folds; rows in five folds; hold-outs of patients, and of rows.
WHOLE, TORN = pl.col("patient") % 5, pl.col("row") % 5


def hold_outs(unit: str) -> pl.DataFrame:
    drawn = [
        TABLE.join(
            TABLE.select(pl.col(unit).unique(maintain_order=True)).sample(fraction=0.3, seed=seed),
            on=unit,
        ).with_columns(fold=pl.lit(seed))
        for seed in range(6)
    ]
    return pl.concat(drawn)


def said(table: pl.DataFrame, **roles: object) -> str:
    asked = NAMES | {"fold": "fold", "cluster": "patient"} | roles
    found = pr.compare(table, "auc", **asked)
    gated = pr.gate(table, measure="auc", **asked, champion="A", challenger="B")
    chosen = pr.choose(table, **asked, over=(0.1, 0.3))
    words = [" ".join(one.warnings) for one in (found, gated, chosen)]
    assert len({"StratifiedGroupKFold" in one for one in words}) == 1
    return words[0]


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_cluster_that_was_trained_on_is_named(repeats):
    for fold, leaks in ((WHOLE, False), (TORN, True)):
        table = pl.concat(
            TABLE.with_columns(fold=(fold + place) % 5, repeat=pl.lit(place))
            for place in range(repeats)
        )
        words = said(table, fold=["repeat", "fold"] if repeats > 1 else "fold")
        assert ("60 of 60 values of 'patient' have cases on both sides" in words) == leaks


def test_hold_outs_leak_where_they_tear_clusters_apart():
    assert "StratifiedGroupKFold" not in said(hold_outs("patient"))
    assert "StratifiedGroupKFold" in said(hold_outs("row"))
