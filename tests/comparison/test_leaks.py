import numpy as np
import polars as pl
import pytest
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

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


def test_a_case_found_by_its_name_says_what_to_say():
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"truth": rng.integers(0, 2, 400), "fold": np.arange(400) % 4})
    rows = rows.with_columns(
        case=pl.int_range(pl.len()), a=pl.Series(rng.random(400)), b=pl.Series(rng.random(400))
    )
    asked = {"truth": "truth", "score": ["a", "b"], "over": (0.05, 0.2)}
    doubt = "The column 'case' was found by its name: say case='case'"
    assert any(one.startswith(doubt) for one in pr.choose(rows, **asked).warnings)
    assert not any(one.startswith(doubt) for one in pr.choose(rows, **asked, case="case").warnings)


def test_rows_of_scores_side_by_side_are_not_named_after_a_column():
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"truth": rng.integers(0, 2, 99), "a": rng.random(99), "b": rng.random(99)})
    found = pr.compare(rows, truth="truth", score=["a", "b"], measure="auc")
    assert "on 99 cases (rows)" in found.summary()


def in_halves(unit: str) -> pl.DataFrame:
    """Five splits of patients, or of rows, with two folds in each half."""
    parts = []
    for split in range(5):
        units = ROWS[unit].unique(maintain_order=True).sample(fraction=1, shuffle=True, seed=split)
        place = pl.DataFrame({unit: units}).with_row_index("place")
        parts.append(
            TABLE.join(place, on=unit, maintain_order="left").with_columns(
                split=pl.lit(split), half=pl.col("place") % 2, fold=pl.col("place") // 2 % 2
            )
        )
    return pl.concat(parts)


def test_halves_that_share_clusters_are_refused():
    folds = TABLE.with_columns(fold=WHOLE)
    asked = NAMES | {"fold": "fold", "cluster": "patient"}
    own = asked | {"fold": ["split", "half", "fold"]}
    unclustered = {name: own[name] for name in own if name != "cluster"}

    def compared(halves, function=pr.compare, **more):
        return function(folds, measure="auc", halves=halves, **asked, **more)

    whole = pr.cases(in_halves("patient"), **own)
    plain = pr.compare(folds, "auc", halves=whole, **NAMES, fold="fold")
    first, second = compared(whole).pairs, plain.pairs
    assert first["std_error"].item() == second["std_error"].item()
    # Five splits, and the patients of the class that has fewer.
    fewest = ROWS.group_by("truth").agg(pl.col("patient").n_unique())["patient"].min()
    freedom = 1 / (1 / 5 + 1 / (fewest - 1))
    assert first["p_value"].item() == pytest.approx(
        2 * stats.t.sf(abs(second["statistic"].item()), freedom)
    )
    chosen = pr.choose(folds, "auprec", over=(0.1, 0.3), halves=whole, **asked)
    assert f"with {freedom:.3g} degrees of freedom" in " ".join(chosen.warnings)
    torn = pr.cases(in_halves("row"), **own)
    for function, more in ((pr.compare, {}), (pr.gate, {"champion": "A", "challenger": "B"})):
        with pytest.raises(InvalidTable, match="of 60 values of 'patient' have cases in both"):
            compared(torn, function, **more)
        with pytest.raises(InvalidArgument, match="the halves none"):
            compared(pr.cases(in_halves("patient"), **unclustered), function, **more)
