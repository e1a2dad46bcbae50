import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import of_arrays, of_plan
from polars.testing import assert_frame_equal
from sklearn.metrics import roc_auc_score

import polaroc as pr
from polaroc.base.private_columns import KEY_INDEX
from polaroc.curves import ranking
from polaroc.curves.hull import hulls_of_cells
from polaroc.curves.ranking import ranked_cells
from polaroc.measures import array_sums
from polaroc.predictions.resolved import keyed
from polaroc.predictions.table import read

NAMES = {"truth": "truth", "score": "score"}
ASKED = NAMES | {"priors": [0.3, "observed", 0.01], "over": (0.05, 0.2)}


def cells(table: pl.DataFrame, by=()):
    return ranked_cells(read(keyed(table, by=by, **NAMES)))


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0]), st.booleans()),
        min_size=1,
        max_size=25,
    )
)
def test_cells_are_those_of_curves(rows):
    table = pl.DataFrame(rows, schema=["key", "score", "truth"], orient="row")
    found = cells(table, "key")
    curves = pr.curve(table, by="key", **NAMES)
    totals = curves.select("key", "positives", "negatives").unique(maintain_order=True)
    assert_frame_equal(found.totals.select(totals.columns), totals)
    owner = np.repeat(found.totals["key"].to_numpy(), np.diff(found.starts))
    counts = pl.DataFrame(found.counts).insert_column(0, pl.Series("key", owner))
    # Each is a point of the curve, and the points between it and the one before are in line.
    ends = counts.select("key", "tp", "fp")
    assert ends.join(curves, on=["key", "tp", "fp"], how="semi").height == ends.height
    vertical = pl.col("fp") == pl.col("fp").shift(-1).over("key")
    runs = curves.filter(pl.col("pos") > 0)
    expected = runs.filter(~((pl.col("neg") == 0) & vertical).fill_null(False))
    assert_frame_equal(ends, expected.select(ends.columns))
    assert counts["neg"].to_list() == expected["neg"].to_list()
    assert counts.group_by("key").agg(pl.col("pos").sum()).height == counts["key"].n_unique()
    assert counts["pos"].sum() == table["truth"].sum()


def test_weights_do_not_drown_in_those_of_another_key():
    rng = np.random.default_rng(6)
    key, truth = rng.integers(0, 20, 2_000), rng.random(2_000) < 0.4
    table = pl.DataFrame({"key": key, "truth": truth, "score": rng.normal(size=2_000).round(2)})
    table = table.with_columns(weight=rng.random(2_000) * 1e3 ** (key % 7 - 3.0))
    asked = ASKED | {"by": "key", "weight": "weight"}
    found = of_arrays(table, **asked)
    assert_frame_equal(found, of_plan(table, **asked), rel_tol=1e-12)
    for one, auc in found.filter(measure="auc").select("key", "estimate").iter_rows():
        truths, scores, weights = table.filter(key=one).select("truth", "score", "weight")
        expected = roc_auc_score(truths, scores, sample_weight=weights)
        assert auc == pytest.approx(expected, rel=1e-12)


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.sampled_from([-2.0, -0.0, 0.25, 0.5, 1.0]), st.booleans()),
        min_size=1,
        max_size=25,
    ),
    st.integers(1, 30),
)
def test_all_cells_have_their_scores(rows, size):
    table = pl.DataFrame(rows, schema=["key", "score", "truth"], orient="row")
    found = ranked_cells(read(keyed(table, by="key", **NAMES)), scored=True)
    assert found.scored is not None
    starts = range(0, int(found.scored.starts[-1]), size)
    blocks = [pl.DataFrame(found.scored.block(start, start + size)) for start in starts]
    expected = pr.curve(table, by="key", **NAMES).filter(pl.col("threshold").is_not_null())
    of_cells = ["threshold", "pos", "neg", "positives", "negatives"]
    assert_frame_equal(pl.concat(blocks).select(of_cells), expected.select(of_cells))


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.5, 0.7]), st.booleans()),
        min_size=1,
        max_size=25,
    )
)
def test_hulls_of_cells_are_those_of_curves(rows):
    table = pl.DataFrame(rows, schema=["key", "score", "truth"], orient="row")
    found = hulls_of_cells(cells(table, "key"))
    counts = ["pos", "neg", "tp", "fp", "positives", "negatives"]
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    expected = pr.hull(pr.curve(table, by="key", **NAMES)).filter(both, pl.col("pos") > 0)
    assert pl.DataFrame(found.counts).select(counts).rows() == expected.select(counts).rows()


LOSSES = ["brier", "log_loss", "calibration_loss", "refinement_loss", "brier_range"]


@pytest.mark.product
@pytest.mark.parametrize("decimals", [2, 17])
@pytest.mark.parametrize("interpolation", ["exact", "hull"])
def test_losses_of_arrays_are_those_of_a_plan(monkeypatch, decimals, interpolation):
    monkeypatch.setattr(array_sums, "BLOCK", 100)
    rng = np.random.default_rng(6)
    key, truth = rng.integers(0, 7, 900), rng.random(900) < 0.4
    # One key has no positives, one no negatives, in one a positive has the score 0.
    truth = (truth & (key != 2)) | (key == 3)
    score = (1 / (1 + np.exp(-rng.normal(size=900) - truth))).round(decimals)
    score[np.flatnonzero(truth & (key == 4))[0]] = 0
    table = pl.DataFrame({"key": key, "truth": truth, "score": score})
    asked = ASKED | {"by": "key", "measures": [*LOSSES, "auprec"], "interpolation": interpolation}
    found = pr.evaluate(table, **asked)
    curves = pr.curve(table.lazy(), by="key", **NAMES)
    areas = pr.auprec(curves, ASKED["priors"], interpolation).collect()
    assert_frame_equal(
        found.filter(measure="auprec").drop("over", "note"), areas.drop("note"), rel_tol=1e-12
    )
    assert_losses_are_those_of_expressions(found, table)
    few = pr.evaluate(table.lazy(), memory="2GB", **asked).collect()
    assert_frame_equal(few, found, rel_tol=1e-12, abs_tol=1e-14)


def assert_losses_are_those_of_expressions(found: pl.DataFrame, table: pl.DataFrame) -> None:
    losses = found.filter(pl.col("measure") != "auprec")
    kinds = losses.select("measure", "prior").unique(maintain_order=True).rows()
    for name, prior in kinds:
        of_name = losses.filter(measure=name)
        if name.endswith("_range"):
            value = pr.expr.measure(name, "truth", "score", over=ASKED["over"])
        elif prior in ASKED["priors"]:
            value = pr.expr.measure(name, "truth", "score", prior=prior)
            of_name = of_name.filter(prior=prior)
        else:
            continue
        expected = table.group_by("key").agg(value.alias("estimate")).sort("key")
        estimates = of_name.select("key", "estimate")
        assert_frame_equal(estimates, expected, rel_tol=1e-12, abs_tol=1e-14)


def test_losses_of_scores_that_need_many_bits():
    table = far_apart(np.random.default_rng(7).random(2_000))
    losses = ["brier", "refinement_loss"]
    found = pr.evaluate(table, **NAMES, by="key", priors=0.3, measures=losses)
    assert_losses_are_those_of_expressions(found, table)
    weighted = table.with_columns(weight=1.0)
    same = pr.evaluate(weighted, **NAMES, by="key", priors=0.3, measures=losses, weight="weight")
    assert_frame_equal(same.select("key", "estimate"), found.select("key", "estimate"))


def test_blocks_add_up(monkeypatch):
    rng = np.random.default_rng(3)
    key, truth = rng.integers(0, 7, 900), rng.random(900) < 0.4
    table = pl.DataFrame({"key": key, "truth": truth, "score": rng.normal(size=900)})
    whole = pr.evaluate(table, by="key", **ASKED)
    monkeypatch.setattr(array_sums, "BLOCK", 13)
    assert_frame_equal(pr.evaluate(table, by="key", **ASKED), whole, rel_tol=1e-12)
    aucs = whole.filter(measure="auc").select("key", "estimate").rows()
    for one, auc in aucs:
        rows = table.filter(key=one)
        assert auc == pytest.approx(roc_auc_score(rows["truth"], rows["score"]), rel=1e-12)


def far_apart(score: np.ndarray) -> pl.DataFrame:
    """A table whose keys and scores, from 1e-60 to 1e60, need more than 64 bits."""
    rng = np.random.default_rng(4)
    truth = rng.random(len(score)) < 0.5
    key = rng.permutation(len(score)) % 900
    return pl.DataFrame({"key": key, "truth": truth, "score": score * 10.0 ** (key % 121 - 60)})


def test_scores_of_many_bits_are_ranked_without_the_last_ones_unless_they_tie():
    rng = np.random.default_rng(5)
    for scores, lacks_bits in ((rng.random(2_000), True), (np.ones(2_000), False)):
        table = far_apart(scores)
        found = cells(table, "key")
        known = np.isin(found.rows.scores(np.arange(2_000)), table["score"].to_numpy())
        assert known.all() != lacks_bits
        arrays, plan = (of(table, by="key", **ASKED) for of in (of_arrays, of_plan))
        assert_frame_equal(arrays, plan, rel_tol=1e-12)


def test_scores_next_to_each_other_are_told_apart():
    score = np.repeat(far_apart(np.ones(900))["score"], 2)
    score[1::2] = np.nextafter(score[1::2], np.inf)
    key, truth = np.repeat(np.arange(900), 2), np.tile([False, True], 900)
    table = pl.DataFrame({"key": key, "truth": truth, "score": score})
    found = pr.evaluate(table, by="key", measures="auc", **NAMES)
    assert found["estimate"].to_list() == [1.0] * 900


def test_keys_far_apart_are_looked_up(monkeypatch):
    table = pl.DataFrame({"key": [0, 5], "truth": [True, False], "score": [0.5, 0.25]})
    for most, index in ((6, [0, 5]), (5, [0, 1])):
        monkeypatch.setattr(ranking, "MAX_POSSIBLE", most)
        found = cells(table, "key").totals
        assert found[KEY_INDEX].to_list() == index
        assert found["key"].to_list() == [0, 5]


@pytest.mark.alike(2)
@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("different", [1, 2, 700, 4_000])
def test_totals_and_areas_of_weights_that_repeat(different, decimals):
    rng = np.random.default_rng(different)
    size = 12_000
    weights = np.append(-0.0, rng.random(different - 1) * 2)
    weights = weights if different > 1 else np.array([0.25])
    table = pl.DataFrame(
        {
            "key": rng.integers(0, 40, size),
            "score": rng.normal(size=size).round(decimals),
            "truth": rng.random(size) < 0.3,
            "weight": rng.choice(weights, size),
        }
    )
    found = ranked_cells(read(keyed(table, by="key", weight="weight", **NAMES)))
    weight = pl.col("weight")
    in_class = {"positives": pl.col("truth"), "negatives": ~pl.col("truth")}
    expected = (
        table.group_by("key")
        .agg(**{name: weight.filter(cases).sum() for name, cases in in_class.items()})
        .sort("key")
    )
    assert_frame_equal(found.totals.select(expected.columns), expected, rel_tol=1e-12)
    asked = ASKED | {"by": "key", "weight": "weight", "measures": "auc"}
    for row in pr.evaluate(table, **asked).iter_rows(named=True):
        of_key = table.filter(pl.col("key") == row["key"], pl.col("weight") > 0)
        truths, scores, weights = of_key.select("truth", "score", "weight")
        auc = roc_auc_score(truths, scores, sample_weight=weights)
        assert row["estimate"] == pytest.approx(auc, rel=1e-10)
