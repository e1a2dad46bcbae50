import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import spearmanr

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

SATELLITE = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
SMALL = {"positives": 40, "negatives": 160}


def areas(tables, **more):
    """The AUC by table and model."""
    return pr.evaluate(tables, by="table", measure="auc", **more)


def pilot(**more):
    return pr.simulate(**{"auc": [0.8, 0.9], **SMALL, "tables": 1, "seed": 7} | more).drop("table")


def mean_and_error(values):
    values = np.asarray(values)
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


def by_model(tables, truth):
    """The scores of the cases of a class, a column per model."""
    keys = [name for name in ("table", "case") if name in tables.columns]
    models = tables.filter(truth=truth).sort("model", *keys).partition_by("model")
    return np.column_stack([one["score"] for one in models])


def products_in_clusters(tables, **which):
    """By table, the mean product of the scores of two cases of a cluster."""
    return (
        tables.filter(**which)
        .group_by("table", "cluster")
        .agg(pl.col("score").sum() ** 2 - (pl.col("score") ** 2).sum(), pl.len() * (pl.len() - 1))
        .group_by("table")
        .agg(pl.col("score").sum() / pl.col("len").cast(pl.Int64).sum())
    )["score"].to_numpy()


def test_areas_are_those_asked_for():
    tables = pr.simulate(auc=[0.5, 0.7, 0.95], **SMALL, tables=400)
    for (model,), own in areas(tables).group_by("model"):
        mean, error = mean_and_error(own["estimate"])
        assert abs(mean - {"A": 0.5, "B": 0.7, "C": 0.95}[model]) < 3 * error


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9, 1.0])
def test_scores_of_models_correlate_as_asked(correlation):
    tables = pr.simulate(auc=[0.7, 0.8, 0.9], correlation=correlation, **SMALL, tables=200)
    for truth in (True, False):
        scores = by_model(tables, truth)
        error = (1 - correlation**2) / np.sqrt(len(scores))
        found = np.corrcoef(scores.T)[np.triu_indices(3, 1)]
        assert found == pytest.approx(correlation, abs=4 * error + 1e-9)
        assert scores.std(axis=0) == pytest.approx(1, abs=4 / np.sqrt(2 * len(scores)))


@pytest.mark.parametrize("layout", [{"clusters": 30}, {"rows_per_cluster": 4}], ids=str)
def test_scores_within_clusters_correlate_as_asked(layout):
    tables = pr.simulate(
        auc=[0.8, 0.9], models=2, cluster_correlation=0.4, **SMALL, tables=400, **layout
    )
    for model in "AB":
        mean, error = mean_and_error(products_in_clusters(tables, truth=False, model=model))
        assert abs(mean - 0.4) < 3 * error


def test_tables_have_the_sizes_asked_for():
    tables = pr.simulate(auc=0.8, models=2, positives=30, negatives=70, tables=4)
    kinds = {"table": pl.Int64, "model": pl.String, "case": pl.Int64, "truth": pl.Boolean,
             "score": pl.Float64}  # fmt: skip
    assert tables.schema == kinds
    assert_frame_equal(tables, tables.sort("table", "model", "case"))
    for (_, _), own in tables.group_by("table", "model"):
        assert own["truth"].sum() == 30
        assert own["case"].sort().to_list() == list(range(100))
    assert tables["table"].unique().to_list() == [0, 1, 2, 3]
    assert_frame_equal(tables, pr.simulate(auc=[0.8, 0.8], positives=30, negatives=70, tables=4))
    assert pr.simulate(auc=0.8, tables=1)["model"].unique().to_list() == ["A"]
    # Both models have the same cases.
    assert tables.group_by("table", "case").agg(pl.col("truth").n_unique())["truth"].max() == 1


def test_clusters_have_the_sizes_asked_for():
    tables = pr.simulate(auc=0.8, positives=31, negatives=70, tables=2, rows_per_cluster=5)
    sizes = tables.group_by("table", "cluster").agg(pl.len(), pl.col("truth").n_unique())
    assert sizes["truth"].max() == 1
    assert sizes.filter(table=0)["len"].sort().to_list() == [1] + [5] * 20
    tables = pr.simulate(auc=0.8, positives=30, negatives=70, tables=2, clusters=10)
    sizes = tables.group_by("table", "cluster").agg(pl.len(), pl.col("truth").sum())
    assert sizes.select("len", "truth").unique().rows() == [(10, 3)]


def test_a_table_depends_on_its_number_and_the_seed_only():
    tables = pr.simulate(auc=0.8, tables=5, seed=3)
    assert_frame_equal(tables, pr.simulate(auc=0.8, tables=5, seed=3))
    few = pr.simulate(auc=0.8, tables=2, seed=3)
    assert_frame_equal(tables.filter(pl.col("table") < 2), few)
    other = pr.simulate(auc=0.8, tables=5, seed=4)
    assert not set(tables["score"]) & set(other["score"])
    assert tables["score"].n_unique() == tables.height
    assert_frame_equal(*(pr.simulate(SATELLITE, tables=3, seed=3) for _ in range(2)))


def test_tables_of_a_pilot_have_its_areas_and_correlations():
    tables = pr.simulate(SATELLITE, **SMALL, tables=200)
    asked = pr.evaluate(SATELLITE, measure="auc").sort("model")
    found = areas(tables).group_by("model").agg(pl.col("estimate").mean()).sort("model")
    assert found["model"].to_list() == asked["model"].to_list()
    assert found["estimate"].to_list() == pytest.approx(asked["estimate"].to_list(), abs=0.005)
    for truth in (True, False):
        pairs = np.triu_indices(3, 1)
        own, drawn = (
            spearmanr(by_model(one, truth)).statistic[pairs] for one in (SATELLITE, tables)
        )  # fmt: skip
        assert drawn == pytest.approx(own, abs=0.09)


def test_areas_vary_as_those_of_samples_do():
    # Of tables of the size of the pilot, as the standard error of the pilot says.
    one = SATELLITE.filter(model="A").sample(400, seed=1)
    own = pr.evaluate(one, measure="auc", intervals=True)
    positives, negatives = own.select("positives", "negatives").row(0)
    tables = pr.simulate(one, positives=positives, negatives=negatives, tables=300)
    assert areas(tables)["estimate"].std() == pytest.approx(own["std_error"].item(), rel=0.25)


@pytest.mark.parametrize("layout", [{"clusters": 50}, {"rows_per_cluster": 4}], ids=str)
def test_whole_clusters_are_drawn_with_their_correlation(layout):
    known = pilot(cluster_correlation=0.5, **layout)
    tables = pr.simulate(known, cluster="cluster", **SMALL, tables=200)
    shapes = [
        {*one.group_by(keys).agg(pl.len(), pl.col("truth").sum())[:, -2:].rows()}
        for one, keys in ((known.filter(model="A"), ["cluster"]),
                          (tables.filter(model="A"), ["table", "cluster"]))
    ]  # fmt: skip
    assert shapes[1] <= shapes[0]
    sizes = tables.filter(model="A").group_by("table").agg(pl.col("truth").sum(), pl.len())
    assert sizes["truth"].mean() == pytest.approx(40, rel=0.1)
    assert sizes["len"].mean() == pytest.approx(200, rel=0.1)
    # Scores are normal within a class.
    score, within = pl.col("score"), ["model", "truth"]
    standardised = (score - score.mean().over(within)) / score.std().over(within)
    for model in "AB":
        own, drawn = (
            products_in_clusters(one.with_columns(standardised), truth=False, model=model).mean()
            for one in (known.with_columns(table=0), tables)
        )
        assert drawn == pytest.approx(own, abs=0.03)


def test_a_number_of_negatives_fills_up_clusters_without_positives():
    known = pilot(rows_per_cluster=4)
    tables = pr.simulate(known, cluster="cluster", positives=40, negatives=400, tables=5)
    assert tables.filter(model="A").group_by("table").agg(pl.len())["len"].unique().to_list() == [
        440
    ]
    # Every cluster has both classes: four negatives per positive.
    mixed = pilot(clusters=20)
    with pytest.raises(InvalidArgument, match=r"negatives is 400.*have about 160\.\nHint: .*=160"):
        pr.simulate(mixed, cluster="cluster", positives=40, negatives=400)


def test_scores_from_0_to_1_and_ratings_stay_such():
    probability = (1 / (1 + (-pl.col("score")).exp())).alias("score")
    tables = pr.simulate(pilot().with_columns(probability), tables=50)
    assert tables["score"].is_between(0, 1, closed="none").all()
    assert tables["score"].max() > pilot().select(probability).max().item()
    assert tables["score"].n_unique() == tables.height
    # Other scores may lie beyond those of the pilot, wherever these are.
    drawn, moved = (
        pr.simulate(pilot().with_columns(pl.col("score") + by), tables=20)["score"] - by
        for by in (0, 64)
    )
    assert drawn.min() < pilot()["score"].min() < pilot()["score"].max() < drawn.max()
    assert moved.to_list() == pytest.approx(drawn.to_list())
    # Few different scores are ratings.
    rounded = pilot().with_columns(pl.col("score").round())
    assert {*pr.simulate(rounded, tables=20)["score"]} <= {*rounded["score"]}
    clipped = pilot().with_columns(pl.col("score").clip(0, 1))
    assert pr.simulate(clipped, tables=20)["score"].is_between(0, 1).all()


def test_a_pilot_may_be_wide_lazy_or_cases():
    known = pilot()
    expected = pr.simulate(known, tables=3)
    a, b = known.partition_by("model")
    wide = a.select("case", "truth", A="score", B=b["score"])
    for case in ({"case": "case"}, {"case": None}):
        found = pr.simulate(wide, truth="truth", score=["A", "B"], **case, tables=3)
        assert_frame_equal(found, expected)
    shuffled = known.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(pr.simulate(shuffled.lazy(), tables=3), expected)
    assert_frame_equal(pr.cases(shuffled).pipe(pr.simulate, tables=3), expected)
    # Models keep their names and type.
    numbered = known.with_columns(pl.col("model").replace_strict({"A": 20, "B": 3}))
    assert pr.simulate(numbered, tables=2)["model"].unique(maintain_order=True).to_list() == [3, 20]


def test_rows_with_missing_values_are_left_out_if_asked():
    one = pilot().filter(model="A")
    spoilt = one.with_columns(pl.when(pl.col("case") > 0).then("score"))
    with pytest.raises(InvalidPredictions, match="1 null score"):
        pr.simulate(spoilt)
    found = pr.simulate(spoilt, nulls="drop", tables=2)
    assert_frame_equal(found, pr.simulate(one[1:], tables=2))


def test_a_pilot_has_five_cases_or_clusters_of_each_class_and_one_fold():
    known = pilot().with_columns(fold=1)
    assert_frame_equal(pr.simulate(known, tables=1), pr.simulate(known.drop("fold"), tables=1))
    assert pr.simulate(known.filter(pl.col("case") >= 35), tables=1).height == 2 * 1_000
    with pytest.raises(InvalidPredictions, match="4 cases with positives and 160"):
        pr.simulate(known.filter(pl.col("case") >= 36))
    five, four = (known.with_columns(cluster=pl.col("case") % number) for number in (5, 4))
    found = pr.simulate(five, cluster="cluster", **SMALL, tables=1)
    assert found["cluster"].n_unique() == 5
    with pytest.raises(InvalidPredictions, match="4 clusters with positives and 4"):
        pr.simulate(four, cluster="cluster", **SMALL)
    is_first = pl.col("case").eq(0) & pl.col("model").eq("A")
    with pytest.raises(InvalidPredictions, match="same cases"):
        pr.simulate(known.with_columns(truth=pl.col("truth") ^ is_first))
