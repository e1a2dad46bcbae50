from io import BytesIO

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

COLUMNS = {"truth": "truth", "score": "score", "model": None}
INFINITE = float("inf")


def predictions(seed: int, rows: int, digits: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    score = (rng.normal(size=rows) + truth).round(digits)
    score[:2] = -INFINITE, INFINITE
    model, weight = rng.choice(["a", "b"], rows), rng.integers(0, 4, rows).astype(float)
    return pl.DataFrame({"model": model, "truth": truth, "score": score, "weight": weight})


@pytest.mark.parametrize("bins", [[0.0], [-1.0, -0.25, 0.5, 1.0], 7, 100])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_counts_are_those_of_a_histogram(bins, weight):
    table = predictions(1, 500)
    edges = np.arange(bins + 1) / bins if isinstance(bins, int) else bins
    found = pr.binned(table, **COLUMNS, weight=weight, bins=bins)
    truth = table["truth"].to_numpy()
    weights = np.ones(500) if weight is None else table[weight].to_numpy()
    # NumPy's last bin is closed: beyond plus infinity it is open, too.
    places = np.digitize(table["score"].to_numpy(), edges)
    by_place = {name: np.bincount(places[own], weights[own], len(edges) + 1)
                for name, own in (("pos", truth), ("neg", ~truth))}  # fmt: skip
    present = np.unique(places)[::-1]
    np.testing.assert_array_equal(found["threshold"], np.array([-INFINITE, *edges])[present])
    for name in by_place:
        np.testing.assert_array_equal(found[name], by_place[name][present])
        assert found[name].dtype == (pl.Int64 if weight is None else pl.Float64)


def test_a_score_at_an_edge_lies_above_it():
    # 0.29 × 100 is 28.999999999999996.
    table = pl.DataFrame({"truth": [1, 0, 1], "score": [0.29, 1.0, -0.0]})
    assert pr.binned(table, **COLUMNS, bins=100)["threshold"].to_list() == [1.0, 0.29, 0.0]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("by", [(), "model"])
def test_tables_add_up(weight, by):
    table = predictions(2, 300)
    asked = COLUMNS | {"weight": weight, "by": by, "bins": [-1.0, 0.0, 0.5]}
    whole = pr.binned(table, **asked)
    parts = [pr.binned(part, **asked) for part in (table[:10], table[10:200], table[200:])]
    assert pr.merge_bins(*parts).equals(whole)
    assert pr.merge_bins(pl.concat(parts)).equals(whole)
    lazy = pr.merge_bins(*(part.lazy() for part in parts))
    assert lazy.collect_schema() == whole.schema
    assert lazy.collect().equals(whole)
    assert lazy.collect(engine="in-memory").equals(whole)
    assert pr.binned(table.lazy(), **asked).collect().equals(whole)


def test_to_pool_over_a_key_drop_it():
    table = predictions(3, 200)
    by_model = pr.binned(table, **COLUMNS | {"model": "model"}, bins=10)
    assert pr.merge_bins(by_model.drop("model")).equals(pr.binned(table, **COLUMNS, bins=10))


def test_counts_of_a_database_have_other_types():
    counts = pr.binned(predictions(4, 100), **COLUMNS, bins=10)
    narrow = counts.cast({"pos": pl.UInt32, "neg": pl.Int16, "threshold": pl.Float32})
    assert pr.merge_bins(narrow.filter(pl.col("threshold") == 0)).equals(
        counts.filter(pl.col("threshold") == 0)
    )


def test_different_edges_are_refused():
    table = predictions(5, 100)
    tables = [
        pr.binned(table, **COLUMNS | {"model": "model"}, bins=bins) for bins in (10, [0.0, 0.5])
    ]
    for refused in (pr.merge_bins, pr.bounds, pr.curve_from_bins):
        with pytest.raises(InvalidTable, match=r"different edges.* in 2 key\(s\): model='a'"):
            refused(pl.concat(tables))
    lazy = pl.concat(tables).lazy()
    assert pr.merge_bins(lazy).collect()["pos"].null_count() == lazy.collect()["edges"].len()
    found = pr.bounds(lazy).collect()
    assert found.select(pl.col("estimate", "lower", "upper", "positives").null_count()).row(0) == (
        (found.height,) * 4
    )
    assert found["note"].str.contains("different edges").all()
    # Of different keys they may differ: scores of another scale.
    apart = [pr.binned(table, **COLUMNS, by=pl.lit(name).alias("model"), bins=bins)
             for name, bins in (("a", 10), ("b", [0.0]))]  # fmt: skip
    assert pr.merge_bins(*apart).height == sum(one.height for one in apart)


def test_other_tables_are_refused():
    counts = pr.binned(predictions(6, 50), **COLUMNS, bins=10)
    with pytest.raises(InvalidTable, match="no column 'threshold', 'pos'"):
        pr.merge_bins(pl.DataFrame({"a": [1]}))
    with pytest.raises(InvalidTable, match="no table of counts"):
        pr.merge_bins()
    with pytest.raises(InvalidTable, match="one by one"):
        pr.merge_bins([counts, counts])
    with pytest.raises(InvalidTable, match="keys none, another 'day'"):
        pr.merge_bins(counts, counts.with_columns(day=1))
    with pytest.raises(InvalidTable, match="different types"):
        pr.merge_bins(counts.with_columns(day=1), counts.with_columns(day=pl.concat_list(1)))
    with pytest.raises(InvalidTable, match="below 0"):
        pr.merge_bins(counts.with_columns(-pl.col("pos") - 1))
    with pytest.raises(InvalidTable, match="'pos' are no numbers"):
        pr.merge_bins(counts.with_columns(pl.col("pos").cast(pl.String)))
    with pytest.raises(InvalidArgument, match="by has 'edges'"):
        pr.binned(predictions(6, 50), **COLUMNS, by=pl.lit(1).alias("edges"), bins=10)


@pytest.mark.parametrize(
    "bins", [0, -1, 10**7, [], [1.0, 1.0], [2.0, 1.0], ["a"], "ab", True, None, [0.0, INFINITE],
             pl.DataFrame({"a": [1.0]})],
)  # fmt: skip
def test_bins_that_are_none_are_refused(bins):
    with pytest.raises(InvalidArgument, match="bins is"):
        pr.binned(predictions(7, 20), **COLUMNS, bins=bins)


def test_rows_that_cannot_be_ranked():
    table = predictions(8, 100).with_columns(
        score=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("score")
    )
    asked = COLUMNS | {"model": "model", "bins": 4}
    with pytest.raises(InvalidPredictions, match="1 null score"):
        pr.binned(table, **asked)
    (model,) = table.filter(pl.col("score").is_null())["model"]
    lazy = pr.binned(table.lazy(), **asked)
    unranked = lazy.collect().filter(pl.col("threshold").is_null())
    assert unranked.select("model", "pos", "neg").rows() == [(model, None, None)]
    # Null stays null, whatever is added.
    twice = pr.bounds(pr.merge_bins(lazy, lazy)).collect()
    is_null = twice.select((pl.col("model") == model) == pl.col("estimate").is_null())
    assert is_null.to_series().all()
    assert twice.filter(pl.col("model") == model)["note"].str.starts_with("rows that").all()
    dropped = pr.bounds(pr.binned(table, **asked, nulls="drop"), measures="auc")
    expected = pr.bounds(pr.binned(table.drop_nulls("score"), **asked), measures="auc")
    assert_same_numbers(dropped, expected)


def test_a_curve_has_the_rates_of_the_scores_at_the_edges():
    table = predictions(9, 400)
    points = pr.curve_from_bins(pr.binned(table, **COLUMNS, bins=[-1.0, 0.0, 0.3, 2.0]))
    score, truth = table["score"].to_numpy(), table["truth"].to_numpy()
    assert points["threshold"].to_list() == [None, 2.0, 0.3, 0.0, -1.0, -INFINITE]
    for threshold, tpr, fpr in points.drop_nulls().select("threshold", "tpr", "fpr").rows():
        called = score >= threshold
        np.testing.assert_allclose([tpr, fpr], [called[truth].mean(), called[~truth].mean()])
    # A curve like any other.
    cheapest = pr.operating_points(points, "cost", priors=0.2)
    assert cheapest["threshold"].item() in points["threshold"]


def test_bins_as_fine_as_the_scores_give_their_curve():
    table = predictions(10, 300).filter(pl.col("score").is_finite())
    asked = COLUMNS | {"model": "model"}
    for weight in (None, "weight"):
        fine = pr.binned(table, **asked, weight=weight, bins=table["score"].unique().sort())
        expected = pr.curve(table, **asked, weight=weight)
        found = pr.curve_from_bins(fine)
        used = (pl.col("pos") + pl.col("neg") > 0) | pl.col("threshold").is_null()
        assert_frame_equal(found.filter(used), expected)
        assert pr.curve_from_bins(fine.lazy()).collect_schema() == expected.schema


@pytest.mark.parametrize("bins", [2, 10, 64])
def test_edges_halve_both_classes_alike(bins):
    table = predictions(11, 4000, digits=9)
    edges = pr.bin_edges(table, **COLUMNS, bins=bins)
    assert edges.height == bins - 1
    counts = pr.binned(table, **COLUMNS, bins=edges)
    assert counts.height == bins
    shares = counts["pos"] / counts["pos"].sum() + counts["neg"] / counts["neg"].sum()
    assert shares.max() <= 2 / bins + 2 / min(counts["pos"].sum(), counts["neg"].sum())


def test_weights_of_a_reference_are_repeated_rows():
    table = predictions(12, 300)
    repeated = table.select(pl.exclude("weight").repeat_by(pl.col("weight").cast(int)).explode())
    weighted = pr.bin_edges(table, **COLUMNS, weight="weight", bins=8)
    assert weighted.equals(pr.bin_edges(repeated, **COLUMNS, bins=8))
    assert weighted.equals(pr.bin_edges(table.lazy(), **COLUMNS, weight="weight", bins=8))


def test_edges_survive_every_file():
    table = predictions(13, 500, digits=12)
    edges = pr.bin_edges(table, **COLUMNS, bins=50)
    expected = pr.binned(table, **COLUMNS, bins=edges)
    for write, read in (("write_csv", pl.read_csv), ("write_json", pl.read_json),
                        ("write_parquet", pl.read_parquet)):  # fmt: skip
        file = BytesIO()
        getattr(edges, write)(file)
        file.seek(0)
        assert pr.binned(table, **COLUMNS, bins=read(file)).equals(expected)
    assert pr.binned(table, **COLUMNS, bins=edges["edge"].to_numpy()).equals(expected)


def test_a_reference_needs_both_classes():
    table = predictions(14, 50)
    with pytest.raises(InvalidArgument, match="has positives only"):
        pr.bin_edges(table.filter("truth"), **COLUMNS, bins=4)
    with pytest.raises(InvalidArgument, match="no rows with a finite score"):
        pr.bin_edges(table.with_columns(score=pl.lit(INFINITE)), **COLUMNS, bins=4)
    with pytest.raises(InvalidArgument, match="bins is 1, allowed"):
        pr.bin_edges(table, **COLUMNS, bins=1)
    with pytest.raises(InvalidPredictions, match="null score"):
        pr.bin_edges(table.with_columns(score=pl.lit(None, pl.Float64)).lazy(), **COLUMNS)


@pytest.mark.parametrize("scores", [[0.5] * 4, [0.0, 0.0, 0.0, 0.9]], ids=str)
def test_a_reference_of_tied_scores_has_an_edge(scores):
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": scores})
    edges = pr.bin_edges(table, **COLUMNS, bins=2)
    assert edges["edge"].to_list() == [max(scores)]
    assert pr.binned(table, **COLUMNS, bins=edges)["pos"].sum() == 2
