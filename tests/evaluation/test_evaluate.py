"""Results of evaluate for every kind of frame and table."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.metrics import roc_auc_score

import polaroc as pr

NAMES = {"truth": "truth", "score": "score", "model": None, "fold": None}
INTERPOLATIONS = ("exact", "linear", "step", "hull")
SCHEMA = {
    "measure": pl.String, "prior": pl.Float64, "estimate": pl.Float64, "positives": pl.Int64,
    "negatives": pl.Int64, "note": pl.String,
}  # fmt: skip

rng = np.random.default_rng(11)
ROWS = 400
PREDICTIONS = pl.DataFrame(
    {
        "model": rng.choice(["A", "B", "C"], ROWS),
        "fold": rng.integers(1, 4, ROWS),
        "truth": rng.random(ROWS) < 0.4,
        "score": rng.integers(0, 30, ROWS) / 30,
        "weight": rng.integers(0, 5, ROWS) / 4,
    }
).with_columns(pl.col("score") + pl.col("truth") * pl.col("fold") / 10)
# Answers by model over all folds.
MODELS = {"fold": None}


def close(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


# --- frames in, frames out ---------------------------------------------------------------------


def test_files_are_read_and_results_written_in_the_streaming_engine(tmp_path):
    PREDICTIONS.write_parquet(tmp_path / "predictions.parquet", row_group_size=37)
    plan = pl.scan_parquet(tmp_path / "predictions.parquet")
    pr.evaluate(plan, over=(0.05, 0.2)).sink_parquet(tmp_path / "result.parquet")
    found = pl.read_parquet(tmp_path / "result.parquet")
    close(found, pr.evaluate(PREDICTIONS, over=(0.05, 0.2)))


@pytest.mark.parametrize("role", ["count", "weight"])
def test_the_hull_of_rows_that_count_for_nothing_has_no_area(role):
    table = pl.DataFrame({"truth": [1, 0], "score": [0.5, 0.2], "size": [0, 0]})
    found = pr.evaluate(table, **{role: "size"}, interpolation="hull", priors=0.5)
    assert found.select("measure", "estimate", "positives").rows() == [
        ("auc", None, 0), ("auprec", None, 0),
    ]  # fmt: skip


def test_keys_come_in_one_order_everywhere():
    table = PREDICTIONS.with_columns(pl.col("model").replace("B", None))
    curves = pr.curve(table, **MODELS)
    found = (
        curves, pr.surface(curves, 0.1), pr.hull(curves), pr.auprec(curves, 0.5),
        pr.evaluate(table, **MODELS),
        pr.evaluate(table, **MODELS, interpolation="hull"),
    )  # fmt: skip
    orders = [one["model"].unique(maintain_order=True).to_list() for one in found]
    orders.append(pr.check(table, **MODELS)["model"].to_list())
    assert orders == [["A", "C", None]] * len(orders)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_table_is_tidy(weight):
    found = pr.evaluate(PREDICTIONS, **MODELS, weight=weight, over=(0.1, 0.2))
    counts = dict.fromkeys(("positives", "negatives"), pl.Float64 if weight else pl.Int64)
    schema = {"model": pl.String} | SCHEMA | counts | {"over": pl.String}
    assert list(found.schema.items()) == list(schema.items())
    ranged = found.filter(pl.col("over").is_not_null())
    assert set(ranged["measure"]) == {"iauprec", "sens", "auc_range", "accsens"}
    assert set(ranged["over"]) == {"0.1 to 0.2"}
    assert "over" not in pr.evaluate(PREDICTIONS, **MODELS, weight=weight).columns
    assert found["model"].to_list() == [m for m in "ABC" for _ in range(10)]


@pytest.mark.parametrize("key", ["auc", "auprec_0", "iauprec", "sens", "pos_0", "balanced"])
def test_keys_of_any_name_are_evaluated(key):
    named = PREDICTIONS.rename({"model": key})
    found = pr.evaluate(named, **NAMES, by=key, over=(0.1, 0.2))
    expected = pr.evaluate(PREDICTIONS, **MODELS, over=(0.1, 0.2))
    close(found.rename({key: "model"}), expected)


def test_models_and_folds_are_not_pooled_unless_asked():
    table = pr.datasets.satellite_predictions()
    found = pr.evaluate(table, truth="truth", score="score", measure="auc")
    keys = table.select("model", "fold").unique()
    assert found.select("model", "fold").sort("model", "fold").equals(keys.sort("model", "fold"))
    assert pr.evaluate(table, **NAMES, measure="auc").height == 1


# --- which measures ----------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_evaluate_gives_what_each_measure_gives(interpolation, weight):
    priors, over = ["observed", 0.5, 0.01], (0.05, 0.2)
    found = pr.evaluate(
        PREDICTIONS, weight=weight, priors=priors, over=over,
        interpolation=interpolation,
    )  # fmt: skip
    curves = pr.curve(PREDICTIONS, weight=weight)
    each = [
        pr.auc(curves), pr.auprec(curves, priors, interpolation),
        pr.iauprec(curves, over, interpolation), pr.sens(curves, over), pr.accsens(curves, over),
    ]  # fmt: skip
    names = {"auc", "auprec", "iauprec", "sens", "accsens"}
    found = found.filter(pl.col("measure").is_in(names)).drop("over")
    close(found, pl.concat(each).sort("model", "fold", maintain_order=True))


OVER = ["auc", "iauprec", "sens", "auc_range", "accsens", "equal_error"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [("auc", None), *(("auprec", p) for p in (0.5, 0.1, 0.01))]),
        ({"priors": [0.2, 0.1, 0.2]}, [("auc", None), ("auprec", 0.2), ("auprec", 0.1)]),
        ({"priors": [], "over": (0.1, 0.2)}, [(name, None) for name in OVER]),
        ({"priors": [], "over": pr.beta(2, 18)}, [("auc", None), ("iauprec", None)]),
        ({"measure": ["auprec"], "priors": "observed"}, [("auprec", 0.5)]),
        ({"measure": ["iauprec"], "over": (0.1, 0.2)}, [("iauprec", None)]),
    ],
)
def test_measures_are_those_asked_for(arguments, expected):
    table = pr.datasets.twenty_scores()
    for interpolation in INTERPOLATIONS:
        found = pr.evaluate(table, **NAMES, **arguments, interpolation=interpolation)
        assert found.select("measure", "prior").rows() == expected


# Where all scores are the same, precision is the prior at every recall. A chain of more than
# 34 appended columns comes out of order in polars 2.1.
@pytest.mark.parametrize("count", [34, 35, 100])
def test_many_priors_come_in_the_order_asked(count):
    priors = np.random.default_rng(count).permutation(np.arange(1, count + 1) / 300).tolist()
    table = PREDICTIONS.with_columns(score=0.5)
    asked = MODELS | {"priors": priors, "measure": "auprec"}
    for found in (
        pr.evaluate(table, **asked),
        pr.evaluate(table.lazy(), **asked).collect(engine="streaming"),
        pr.auprec(pr.curve(table.lazy(), **MODELS), priors).collect(engine="in-memory"),
    ):
        assert found["prior"].to_list() == priors * 3
        assert found["estimate"].to_list() == pytest.approx(priors * 3)


# --- classes and weights -----------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("lazy", [False, True])
def test_keys_with_one_class_keep_their_rows(interpolation, lazy):
    table = pl.DataFrame({
        "k": ["both"] * 2 + ["none"] * 2 + ["only"] * 2,
        "truth": [1, 0, 0, 0, 1, 1], "score": [2, 1, 2, 1, 1, 1],
    })  # fmt: skip
    # A few priors, and so many that areas are interpolated between them.
    for priors in ([0.1], ["observed", *np.linspace(0.1, 0.9, 60).tolist()]):
        found = pr.evaluate(
            table.lazy() if lazy else table, **NAMES, by="k", over=(0.1, 0.2), priors=priors,
            interpolation=interpolation,
        ).lazy().collect()  # fmt: skip
        height = 6 + len(priors)
        assert found["k"].to_list() == [k for k in ("both", "none", "only") for _ in range(height)]
        perfect = [1, *[1] * len(priors), pytest.approx(1), 0, 1, 0, 0]
        assert found["estimate"].to_list() == [*perfect, *[None] * 2 * height]
        assert found["note"].to_list()[height:] == [
            f"no {kind}" for kind in ("positives", "negatives") for _ in range(height)
        ]
        totals = found.select("k", "positives", "negatives").unique(maintain_order=True)
        assert totals.rows() == [("both", 1, 1), ("none", 0, 2), ("only", 2, 0)]


@pytest.mark.parametrize(
    ("zero", "note"),
    [
        (pl.col("truth"), "no positives"),
        (~pl.col("truth"), "no negatives"),
        (pl.lit(True), "no positives, no negatives"),
    ],
)
def test_a_class_whose_weights_are_zero_is_absent(zero, note):
    table = PREDICTIONS.with_columns(weight=pl.when(zero).then(0.0).otherwise(1.5))
    for interpolation in INTERPOLATIONS:
        found = pr.evaluate(table, **NAMES, weight="weight", interpolation=interpolation)
        assert found["estimate"].null_count() == found.height == 5
        assert set(found["note"]) == {note}
        assert not found["prior"].is_nan().any()


@pytest.mark.parametrize("spread", [1e10, 1e300])
def test_weights_of_one_class_do_not_drown_in_those_of_the_other(spread):
    table = PREDICTIONS.with_columns(weight=pl.when("truth").then(1 / spread).otherwise(1))
    found = pr.evaluate(table, **NAMES, weight="weight", priors=0.5)
    expected = pr.evaluate(PREDICTIONS, **NAMES, priors=0.5)
    close(found.drop("positives", "negatives"), expected.drop("positives", "negatives"))


@pytest.mark.parametrize("different", [1, 700, 2_000])
def test_weights_do_not_drown_in_those_of_another_key(different):
    rng = np.random.default_rng(6)
    key, truth = rng.integers(0, 20, 2_000), rng.random(2_000) < 0.4
    weight = rng.choice(np.append(rng.random(different - 1), 0.25), 2_000)
    table = pl.DataFrame({
        "key": key, "truth": truth, "score": rng.normal(size=2_000).round(2),
        "weight": weight * 1e3 ** (key % 7 - 3.0),
    })  # fmt: skip
    found = pr.evaluate(table, **NAMES, by="key", weight="weight", measure="auc")
    for one, auc, positives in found.select("key", "estimate", "positives").rows():
        rows = table.filter(key=one)
        expected = roc_auc_score(rows["truth"], rows["score"], sample_weight=rows["weight"])
        assert auc == pytest.approx(expected, rel=1e-12)
        assert positives == pytest.approx(rows.filter("truth")["weight"].sum(), rel=1e-12)


@pytest.mark.parametrize("drop", ["score", "truth"])
def test_rows_that_are_dropped_are_as_if_not_there(drop):
    out = pl.int_range(pl.len()) % 7 == 0
    table = PREDICTIONS.with_columns(pl.when(~out).then(drop).alias(drop))
    kept = pr.evaluate(PREDICTIONS.filter(~out), **MODELS)
    for frame in (table, table.lazy()):
        found = pr.evaluate(frame, nulls="drop", **MODELS).lazy().collect()
        close(found.drop("note"), kept.drop("note"))
        assert found["note"].str.starts_with("dropped ").all()


# --- notes -------------------------------------------------------------------------------------


def test_notes_are_told_together():
    table = pl.DataFrame({"truth": [1, 0, 1], "score": [2.0, 1.0, None]})
    found = pr.evaluate(table, **NAMES, nulls="drop", priors=0.1)
    assert found["note"].to_list() == [
        "dropped 1 null score",
        "dropped 1 null score; too few negatives, biased upward",
    ]


# Of 900 pairs without ties the AUC has a standard error of √(61 / 10800) by chance: four
# below one half are 179.4 pairs.
@pytest.mark.parametrize(("won", "noted"), [(179, True), (180, False)])
def test_scores_are_reversed_from_four_standard_errors_on(won, noted):
    above = [won // 30 + (i < won % 30) for i in range(30)]
    positives = pl.DataFrame({"truth": True, "score": [count - 0.5 for count in above]})
    negatives = pl.DataFrame({"truth": False, "score": [float(i) for i in range(30)]})
    area = pr.evaluate(pl.concat([positives, negatives]), **NAMES, measure="auc")
    assert area["estimate"].item() == pytest.approx(won / 900)
    assert (area["note"].item() is not None) == noted


def test_notes_of_many_keys_are_those_of_each():
    rng = np.random.default_rng(8)
    key, truth = rng.integers(0, 40, 700), rng.random(700) < 0.2
    # Scores of some keys are reversed, those of others labels.
    score = np.where(key % 3, rng.normal(size=700) - 3 * truth * (key % 2), truth.astype(float))
    table = pl.DataFrame({"key": key, "truth": truth, "score": score})
    asked = NAMES | {"by": "key", "priors": [0.001, 0.3, "observed"]}
    found = pr.evaluate(table, **asked)
    assert found["note"].n_unique() > 3
    alone = pl.concat([pr.evaluate(part, **asked) for part in table.partition_by("key")])
    close(found, alone.sort("key", maintain_order=True))


TRUTHS = [True, True, False, False]
SCORES_LIKE_LABELS = {
    "labels": ([1.0, 0.0, 1.0, 0.0], "predicted labels, not scores"),
    "labels, reversed": ([0.0, 0.0, 1.0, 1.0], "predicted labels, not scores"),
    "the truth": ([1.0, 1.0, 0.0, 0.0], "the score is the truth itself"),
    "the truth and a missing score": ([1.0, None, 0.0, 0.0], "the score is the truth itself"),
    "constant zero": ([0.0] * 4, None),
    "constant one": ([1.0] * 4, None),
    "certain at both ends": ([1.0, 0.5, 0.0, 0.0], None),
    "other labels": ([2.0, 1.0, 2.0, 1.0], None),
}


@pytest.mark.parametrize(("scores", "note"), SCORES_LIKE_LABELS.values(), ids=SCORES_LIKE_LABELS)
@pytest.mark.parametrize("lazy", [False, True])
def test_scores_that_are_labels_are_noted(scores, note, lazy):
    labels = pl.DataFrame({"model": "labels", "truth": TRUTHS, "score": scores, "weight": 1})
    usual = labels.with_columns(model=pl.lit("usual"), score=pl.Series([0.0, 0.3, 0.2, 1.0]))
    # A row of weight 0 does not hide it.
    unseen = labels[:1].with_columns(score=0.7, weight=pl.lit(0, pl.Int32))
    table = pl.concat([labels, usual, unseen])
    asked = {"measure": "auc", "nulls": "drop", "weight": "weight"}
    found = pr.evaluate(table.lazy() if lazy else table, **asked).lazy().collect()
    assert found.filter(model="usual")["note"].item() is None
    said = found.filter(model="labels")["note"].item() or ""
    assert said.endswith(note or "")
    assert (note is None) == ("label" not in said and "truth" not in said)


# --- priors that are asked for twice -----------------------------------------------------------

# By key the positives and negatives; the own prior of "half" and "tenth" is among those asked for.
# 3/10 is 0.3 only up to rounding where it is computed from the skew.
BALANCES = {"half": (30, 30), "rest": (20, 40), "tenth": (3, 7), "nothing": (0, 10)}
BALANCED = pl.DataFrame(
    [
        (key, i < positives, (i * 37 % 101) / 101)
        for key, (positives, negatives) in BALANCES.items()
        for i in range(positives + negatives)
    ],
    schema=["key", "truth", "score"], orient="row",
)  # fmt: skip
BY_KEY = NAMES | {"by": "key"}


@pytest.mark.parametrize("many", [[], [i / 40 for i in range(1, 40)]], ids=len)
@pytest.mark.parametrize(
    "evaluated",
    [
        lambda priors: pr.evaluate(BALANCED, **BY_KEY, priors=priors, measure=["auprec", "brier"]),
        lambda priors: pr.evaluate(BALANCED, **BY_KEY, priors=priors, interpolation="hull"),
        lambda priors: pr.evaluate(BALANCED, **BY_KEY, priors=priors, intervals=True),
        lambda priors: pr.evaluate(BALANCED.lazy(), **BY_KEY, priors=priors).collect(),
        lambda priors: pr.auprec(pr.curve(BALANCED, **BY_KEY), priors),
    ],
    ids=["evaluate", "hull", "intervals", "lazy", "auprec"],
)
def test_no_row_comes_twice_if_the_observed_prior_is_also_given(evaluated, many):
    found = evaluated(["observed", 0.5, 0.3, *many])
    given = {0.5, 0.3, *many}
    for key, (positives, negatives) in BALANCES.items():
        own = positives / (positives + negatives) if positives else None
        at = found.filter(key=key, measure="auprec")["prior"].to_list()
        assert len(at) == len(given | {own})
        # The row that stays is at the prior as it was given.
        assert given <= set(at)
    assert found.filter(pl.struct("key", "measure", "prior").is_duplicated()).is_empty()


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_curves_at_priors_have_no_row_twice(kind):
    table = BALANCED.filter(pl.col("key") != "nothing")
    curves, priors = pr.curve(table, **BY_KEY), ["observed", 0.5, 0.3]
    others = table.with_columns(pl.col("score") * 0.9).drop("truth")
    functions = {
        "surface": pr.surface(kind(curves), priors),
        "points": pr.operating_points(kind(curves), priors=priors),
        "achievable": pr.achievable(kind(curves), priors),
        "decisions": pr.decision_curve(kind(curves), [0.2], priors=priors),
        "probabilities": pr.probabilities(
            kind(others), curves, score="score", by="key", priors=priors
        ),
        "calibration": pr.calibration(kind(table), priors, **BY_KEY).curve,
    }
    for found in functions.values():
        at = found.lazy().select("key", "prior").unique().sort("prior").collect()
        assert at.filter(key="half")["prior"].to_list() == [0.3, 0.5]
        assert at.filter(key="tenth")["prior"].to_list() == [0.3, 0.5]
        assert at.filter(key="rest")["prior"].to_list() == pytest.approx([0.3, 1 / 3, 0.5])
    rows = others.height * 2 + len(table.filter(key="rest"))
    assert functions["probabilities"].lazy().collect().height == rows
