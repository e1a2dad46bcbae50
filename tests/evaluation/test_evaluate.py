import io
from functools import cache
from math import inf

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score, roc_auc_score

import polaroc as pr
from polaroc.base.columns import MEASURE_COLUMNS
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.measures.areas import INTERPOLATIONS
from polaroc.predictions.row_checks import SCORE

NAMES = {"truth": "truth", "score": "score", "model": None, "fold": None}
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

# Every function of frames, from predictions on.
IN_ENGINE = {
    "curve": lambda frame, **by: pr.curve(frame, **NAMES, **by),
    "surface": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(
        pr.surface, ["observed", 0.1], ["precision", "npv"]
    ),
    "auc": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.auc),
    "exact": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.auprec, [0.5, "observed"]),
    "linear": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(
        pr.auprec, 0.1, "linear", "drop"
    ),
    "step": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.auprec, 0.1, "step"),
    "iauprec": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.iauprec, (0.05, 0.2)),
    "beta": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.iauprec, pr.beta(2, 18)),
    "evaluate": lambda frame, **by: pr.evaluate(frame, **NAMES, **by, over=(0.05, 0.2)),
    "evaluate, weighted": lambda frame, **by: pr.evaluate(frame, **NAMES, **by, weight="weight"),
    "evaluate, dropping": lambda frame, **by: pr.evaluate(frame, **NAMES, **by, nulls="drop"),
}
IN_ARRAYS = {
    "evaluate, intervals": lambda frame, **by: pr.evaluate(
        frame, **NAMES, **by, over=(0.05, 0.2), intervals=True
    ),
    "evaluate, intervals at a belief": lambda frame, **by: pr.evaluate(
        frame, **NAMES, **by, over=pr.beta(2, 18), interpolation="linear", intervals=True
    ),
    "hull": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(pr.hull),
    "surface of hull": lambda frame, **by: (
        pr.curve(frame, **NAMES, **by).pipe(pr.hull).pipe(pr.surface, 0.1)
    ),
    "auprec on hull": lambda frame, **by: pr.curve(frame, **NAMES, **by).pipe(
        pr.auprec, 0.1, interpolation="hull"
    ),
    "evaluate on hull": lambda frame, **by: pr.evaluate(
        frame, **NAMES, **by, interpolation="hull", over=(0.05, 0.2)
    ),
}
STEPS = IN_ENGINE | IN_ARRAYS
KEYS = [[], ["model", "fold"]]


@cache
def whole(name: str, *by: str) -> pl.DataFrame:
    """What a step makes of all predictions."""
    return STEPS[name](PREDICTIONS, by=[*by])


def close(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


# --- frames in, frames out ---------------------------------------------------------------------


@pytest.mark.alike(6)
@pytest.mark.slow
@pytest.mark.parametrize("by", KEYS, ids=len)
@pytest.mark.parametrize("name", STEPS)
def test_lazy_frames_stay_lazy_and_agree_on_both_engines(name, by):
    eager = whole(name, *by)
    lazy = STEPS[name](PREDICTIONS.lazy(), by=by)
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(lazy, pl.LazyFrame)
    for engine in ("streaming", "in-memory"):
        found = lazy.collect(engine=engine)
        assert lazy.collect_schema() == found.schema
        close(found, eager)


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize("by", KEYS, ids=len)
@pytest.mark.parametrize("name", STEPS)
def test_an_empty_table_gives_an_empty_result_of_the_same_schema(name, by):
    expected = whole(name, *by).schema
    empty = PREDICTIONS.clear()
    eager, lazy = STEPS[name](empty, by=by), STEPS[name](empty.lazy(), by=by)
    assert eager.is_empty()
    assert eager.schema == lazy.collect_schema() == expected
    # A plan whose rows all leave, and one that begins with none.
    left = STEPS[name](PREDICTIONS.lazy().filter(pl.lit(False)), by=by)
    assert left.collect(engine="streaming").is_empty()
    assert lazy.collect(engine="in-memory").is_empty()


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", IN_ENGINE)
def test_plans_without_hull_and_intervals_can_be_sent_elsewhere(name):
    plan = STEPS[name](PREDICTIONS.lazy(), by=["model"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLARS_WARN_UNSTABLE", "0")
        sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    close(sent.collect(), plan.collect())


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_results_can_be_written_as_they_come(name, tmp_path):
    PREDICTIONS.write_parquet(tmp_path / "predictions.parquet", row_group_size=37)
    plan = STEPS[name](pl.scan_parquet(tmp_path / "predictions.parquet"), by=["model", "fold"])
    plan.sink_parquet(tmp_path / "result.parquet")
    written = pl.read_parquet(tmp_path / "result.parquet")
    close(written, whole(name, "model", "fold"))


@pytest.mark.parametrize("by", KEYS, ids=len)
@pytest.mark.parametrize("arguments", [{}, {"weight": "weight", "nulls": "drop"}])
def test_the_scores_of_a_curve_are_sorted_once_for_all_of_its_measures(by, arguments):
    curves = pr.curve(PREDICTIONS.lazy(), **NAMES, by=by, **arguments)
    plan = curves.pipe(pr.auprec, [0.1, 0.2], "hull").explain()
    assert plan.count(f'.sort_by(by=[col("{SCORE}")') == 1


# --- keys --------------------------------------------------------------------------------------


def test_keys_come_in_one_order_everywhere():
    table = PREDICTIONS.with_columns(pl.col("model").replace("B", None))
    orders = [
        STEPS[name](table, by=["model"])["model"].unique(maintain_order=True).to_list()
        for name in ("curve", "surface", "hull", "auc", "evaluate", "evaluate on hull")
    ]
    orders.append(pr.check(table, **NAMES, by="model")["model"].to_list())
    assert orders == [orders[0]] * len(orders)


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("by", KEYS, ids=len)
def test_evaluate_gives_what_each_measure_gives(interpolation, weight, by):
    priors, over = ["observed", 0.5, 0.01], (0.05, 0.2)
    found = pr.evaluate(
        PREDICTIONS, **NAMES, by=by, weight=weight, priors=priors, over=over,
        interpolation=interpolation,
    )  # fmt: skip
    curves = pr.curve(PREDICTIONS, **NAMES, by=by, weight=weight)
    each = pl.concat(
        [
            curves.pipe(pr.auc),
            curves.pipe(pr.auprec, priors, interpolation),
            curves.pipe(pr.iauprec, over, interpolation),
            curves.pipe(pr.sens, over),
            curves.pipe(pr.accsens, over),
        ]
    )
    names = {"auc", "auprec", "iauprec", "sens", "accsens"}
    found = found.filter(pl.col("measure").is_in(names))
    close(found.drop("over"), each.sort(by, maintain_order=True) if by else each)


def test_evaluate_agrees_with_scikit_learn_on_many_rows():
    generator = np.random.default_rng(3)
    truth = generator.random(30_000) < 0.02
    score = np.round(generator.normal(size=30_000) + truth, 2)
    table = pl.DataFrame({"truth": truth, "score": score})
    found = pr.evaluate(table, **NAMES, interpolation="step", priors=["observed", 0.3])
    weights = np.where(truth, 0.3 / truth.sum(), 0.7 / (~truth).sum())
    expected = [
        roc_auc_score(truth, score),
        average_precision_score(truth, score),
        average_precision_score(truth, score, sample_weight=weights),
    ]
    assert found["estimate"].to_list() == pytest.approx(expected, rel=1e-10)
    assert found["prior"].to_list() == [None, pytest.approx(truth.mean()), 0.3]
    assert set(found["positives"]) == {truth.sum()}


OVER = ["auc", "iauprec", "sens", "auc_range", "accsens", "equal_error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [("auc", None), *(("auprec", p) for p in (0.5, 0.1, 0.01))]),
        ({"priors": 0.2}, [("auc", None), ("auprec", 0.2)]),
        ({"priors": [0.2, 0.1, 0.2]}, [("auc", None), ("auprec", 0.2), ("auprec", 0.1)]),
        ({"priors": [], "over": (0.1, 0.2)}, [(name, None) for name in OVER]),
        ({"measures": "auc"}, [("auc", None)]),
        ({"measures": ["auprec"], "priors": "observed"}, [("auprec", 0.5)]),
        ({"measures": ["iauprec"], "over": (0.1, 0.2)}, [("iauprec", None)]),
        ({"measures": ["auc"], "over": (0.1, 0.2)}, [("auc", None)]),
    ],
)
def test_measures_are_those_asked_for(arguments, expected):
    table = pr.datasets.twenty_scores()
    for interpolation in INTERPOLATIONS:
        found = pr.evaluate(table, **NAMES, **arguments, interpolation=interpolation)
        assert found.select("measure", "prior").rows() == expected


@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_table_is_tidy(weight):
    found = pr.evaluate(PREDICTIONS, **NAMES, by=["model"], weight=weight, over=(0.1, 0.2))
    counts = dict.fromkeys(("positives", "negatives"), pl.Float64 if weight else pl.Int64)
    assert found.columns == ["model", *MEASURE_COLUMNS, "over"]
    assert found.schema == {"model": pl.String} | SCHEMA | counts | {"over": pl.String}
    ranged = found.filter(pl.col("over").is_not_null())
    assert set(ranged["measure"]) == {"iauprec", "sens", "auc_range", "accsens"}
    assert set(ranged["over"]) == {"0.1 to 0.2"}
    assert "over" not in pr.evaluate(PREDICTIONS, **NAMES, by=["model"], weight=weight).columns
    assert found["model"].to_list() == [m for m in "ABC" for _ in range(10)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"measures": "f1"}, "measures is 'f1'"),
        ({"measures": ["auc", "gini"]}, "measures is 'gini'"),
        ({"measures": "iauprec"}, "over is None"),
        ({"measures": []}, "measures"),
        ({"measures": "auprec", "priors": []}, "prior"),
        ({"priors": 0.0}, "prior is 0.0"),
        ({"over": (0.2, 0.2)}, "lo < hi"),
        ({"interpolation": "cubic"}, "interpolation is 'cubic'"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_arguments_out_of_range_are_refused(arguments, said, lazy):
    table = pr.datasets.twenty_scores()
    with pytest.raises(InvalidArgument) as caught:
        pr.evaluate(table.lazy() if lazy else table, **NAMES, **arguments)
    assert said in str(caught.value)
    assert "\nHint: " in str(caught.value)


# --- edge cases --------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("lazy", [False, True])
def test_keys_with_one_class_keep_their_rows(interpolation, lazy):
    table = pl.DataFrame(
        {
            "k": ["both"] * 2 + ["none"] * 2 + ["only"] * 2,
            "truth": [1, 0, 0, 0, 1, 1],
            "score": [2, 1, 2, 1, 1, 1],
        }
    )
    found = pr.evaluate(
        table.lazy() if lazy else table, **NAMES, by="k", over=(0.1, 0.2), priors=[0.1],
        interpolation=interpolation,
    ).lazy().collect()  # fmt: skip
    assert found["k"].to_list() == [k for k in ("both", "none", "only") for _ in range(7)]
    perfect = [1, 1, pytest.approx(1), 0, 1, 0, 0]
    assert found["estimate"].to_list() == [*perfect, *[None] * 14]
    assert found["note"].to_list()[7:] == ["no positives"] * 7 + ["no negatives"] * 7
    totals = found.select("k", "positives", "negatives").unique(maintain_order=True)
    assert totals.rows() == [("both", 1, 1), ("none", 0, 2), ("only", 2, 0)]


@pytest.mark.parametrize("lazy", [False, True])
def test_keys_with_one_class_have_no_prior_or_area_among_many_priors(lazy):
    table = pl.DataFrame({"k": ["none"] * 2 + ["only"], "truth": [0, 0, 1], "score": [2, 1, 1]})
    # So many that areas are interpolated between them.
    asked = {"by": "k", "measures": "auprec", "priors": ["observed", *np.linspace(0.1, 0.9, 60)]}
    found = pr.evaluate(table.lazy() if lazy else table, **NAMES, **asked).lazy().collect()
    assert found["prior"].to_list() == [None, *np.linspace(0.1, 0.9, 60)] * 2
    assert found["estimate"].null_count() == found.height
    assert found["note"].to_list() == ["no positives"] * 61 + ["no negatives"] * 61


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize(
    ("zero", "note"),
    [
        (pl.col("truth"), "no positives"),
        (~pl.col("truth"), "no negatives"),
        (pl.lit(True), "no positives, no negatives"),
    ],
)
def test_a_class_whose_weights_are_zero_is_absent(interpolation, zero, note):
    weight = pl.when(zero).then(0.0).otherwise(pl.col("weight") + 1)
    found = pr.evaluate(PREDICTIONS, **NAMES, weight=weight, interpolation=interpolation)
    assert found["estimate"].null_count() == found.height == 5
    assert set(found["note"]) == {note}
    assert not found["prior"].is_nan().any()


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_infinite_scores_are_evaluated(interpolation):
    table = pl.DataFrame({"truth": [1, 0, 1, 0, 0], "score": [inf, inf, 2.0, 1.0, -inf]})
    ranks = table.with_columns(score=pl.Series([4, 4, 3, 2, 1]))
    close(*(pr.evaluate(t, **NAMES, interpolation=interpolation) for t in (table, ranks)))


def test_notes_are_told_together():
    table = pl.DataFrame({"truth": [1, 0, 1], "score": [2.0, 1.0, None]})
    found = pr.evaluate(table, **NAMES, nulls="drop", priors=0.1)
    assert found["note"].to_list() == [
        "dropped 1 null score",
        "dropped 1 null score; λ/N = 9.0: biased upward",
    ]


@pytest.mark.parametrize(
    "step",
    [
        pr.auc, pr.hull, pr.charts.roc,
        lambda c: pr.auprec(c, 0.1),
        lambda c: pr.iauprec(c, (0.1, 0.2)),
        lambda c: pr.sens(c, (0.1, 0.2)),
        lambda c: pr.surface(c, 0.2),
    ],
)  # fmt: skip
def test_a_surface_is_not_taken_for_a_curve(step):
    surface = pr.curve(PREDICTIONS, **NAMES).pipe(pr.surface, [0.5, 0.1])
    with pytest.raises(InvalidTable, match=r"(?s)a curve is needed.*Hint:"):
        step(surface)


def test_the_frame_may_be_given_by_name():
    curve = pr.curve(cases=PREDICTIONS, **NAMES)
    close(pr.auc(curve=curve), pr.auc(curve))
    with pytest.raises(TypeError, match="curve"):
        pr.auc()


@pytest.mark.parametrize("key", ["auc", "auprec_0", "iauprec", "sens", "pos_0", "balanced"])
def test_keys_of_any_name_are_evaluated(key):
    named = PREDICTIONS.rename({"model": key})
    found = pr.evaluate(named, **NAMES, by=key, over=(0.1, 0.2))
    expected = pr.evaluate(PREDICTIONS, **NAMES, by="model", over=(0.1, 0.2))
    close(found.rename({key: "model"}), expected)


# Where all scores are the same, precision is the prior at every recall. A chain of more than
# 34 appended columns comes out of order in polars 2.1.
@pytest.mark.alike
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("count", [2, 34, 35, 100])
def test_many_priors_come_in_the_order_asked(count, engine):
    priors = np.random.default_rng(count).permutation(np.arange(1, count + 1) / 300).tolist()
    table = PREDICTIONS.with_columns(score=0.5)
    asked = {**NAMES, "by": "model", "priors": priors, "measures": "auprec"}
    curves = pr.curve(table.lazy(), **NAMES, by="model")
    for found in (
        pr.evaluate(table, **asked),
        pr.evaluate(table.lazy(), **asked).collect(engine=engine),
        pr.auprec(curves, priors).collect(engine=engine),
    ):
        models = found["model"].n_unique()
        assert found["prior"].to_list() == priors * models
        assert found["estimate"].to_list() == pytest.approx(priors * models)


# Of 900 pairs without ties the AUC has a standard error of √(61 / 10800) by chance: four
# below one half are 179.4 pairs.
@pytest.mark.parametrize(("won", "said"), [(179, True), (180, False)])
def test_scores_are_reversed_from_four_standard_errors_on(won, said):
    above = [won // 30 + (i < won % 30) for i in range(30)]
    positives = pl.DataFrame({"truth": True, "score": [count - 0.5 for count in above]})
    negatives = pl.DataFrame({"truth": False, "score": [float(i) for i in range(30)]})
    area = pr.evaluate(pl.concat([positives, negatives]), **NAMES, measures="auc")
    assert area["estimate"].item() == pytest.approx(won / 900)
    assert (area["note"].item() is not None) == said


@pytest.mark.alike
@pytest.mark.parametrize("by", [["key"], []])
@pytest.mark.parametrize("priors", [[0.001, 0.3, "observed"], pr.prior_grid(0.001, 0.5, 200)])
def test_notes_of_many_keys_are_those_of_each(by, priors):
    rng = np.random.default_rng(8)
    key, truth = rng.integers(0, 120, 2_000), rng.random(2_000) < 0.2
    # Scores of some keys are reversed, those of others labels.
    score = np.where(key % 3, rng.normal(size=2_000) - 3 * truth * (key % 2), truth.astype(float))
    table = pl.DataFrame({"key": key, "truth": truth, "score": score})
    found = pr.evaluate(table, **NAMES, by=by, priors=priors)
    assert found["note"].n_unique() > len(by) * 10
    each = table.partition_by("key") if by else [table]
    alone = pl.concat([pr.evaluate(part, **NAMES, by=by, priors=priors) for part in each])
    close(found, alone.sort(by, maintain_order=True) if by else alone)


@pytest.mark.parametrize("spread", [1e10, 1e14, 1e300])
def test_weights_of_one_class_do_not_drown_in_those_of_the_other(spread):
    table = PREDICTIONS.with_columns(weight=pl.when(pl.col("truth")).then(1 / spread).otherwise(1))
    found = pr.evaluate(table, **NAMES, weight="weight", priors=0.5)
    close(
        found.drop("positives", "negatives"),
        pr.evaluate(PREDICTIONS, **NAMES, priors=0.5).drop("positives", "negatives"),
    )


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


@pytest.mark.product
@pytest.mark.parametrize(("scores", "note"), SCORES_LIKE_LABELS.values(), ids=SCORES_LIKE_LABELS)
@pytest.mark.parametrize(
    ("lazy", "more"), [(False, {}), (True, {}), (True, {"memory": "1GB"})], ids=str
)
def test_scores_that_are_labels_are_noted(scores, note, lazy, more):
    labels = pl.DataFrame({"model": "labels", "truth": TRUTHS, "score": scores})
    usual = pl.DataFrame({"model": "usual", "truth": TRUTHS, "score": [0.0, 0.3, 0.2, 1.0]})
    both = pl.concat([labels, usual])
    measures = (
        pr.evaluate(
            both.lazy() if lazy else both, **NAMES, by="model", measures="auc", nulls="drop", **more
        )
        .lazy()
        .collect()
    )
    assert measures.filter(model="usual")["note"].null_count() == measures.height / 2
    notes = measures.filter(model="labels")["note"].fill_null("")
    assert notes.str.ends_with(note or "").all()
    assert (note is None) == (not notes.str.contains("label|truth").any())


@pytest.mark.parametrize("lazy", [False, True])
def test_a_row_of_weight_zero_does_not_hide_that_scores_are_labels(lazy):
    table = pl.DataFrame({"truth": [*TRUTHS, True], "score": [1.0, 0.0, 1.0, 0.0, 0.5]})
    table = table.with_columns(weight=pl.Series([1, 1, 1, 1, 0]))
    found = pr.evaluate(table.lazy() if lazy else table, **NAMES, weight="weight", measures="auc")
    notes = found.lazy().collect()["note"].fill_null("")
    assert notes.str.ends_with("predicted labels, not scores").all()


def test_models_and_folds_are_not_pooled_without_a_word():
    table = pr.datasets.satellite_predictions()
    found = pr.evaluate(table, truth="truth", score="score", measures="auc")
    keys = table.select("model", "fold").unique()
    assert found.select("model", "fold").sort("model", "fold").equals(keys.sort("model", "fold"))
    pooled = pr.evaluate(table, **NAMES, measures="auc")
    assert pooled.height == 1


# By key the positives and negatives; the own prior of "half" and "tenth" is among those asked for.
# 3/10 is 0.3 only up to rounding where it is computed from the skew.
BALANCES = {"half": (30, 30), "rest": (20, 40), "tenth": (3, 7), "nothing": (0, 10)}


def balances() -> pl.DataFrame:
    rows = [
        (key, i < positives, (i * 37 % 101) / 101)
        for key, (positives, negatives) in BALANCES.items()
        for i in range(positives + negatives)
    ]
    return pl.DataFrame(rows, schema=["key", "truth", "score"], orient="row")


@pytest.mark.parametrize("many", [[], [i / 40 for i in range(1, 40)]], ids=len)
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"measures": ["auc", "auprec", "brier"], "intervals": True},
        {"interpolation": "hull"},
        {"memory": "1GB"},
        {"lazy": True},
        {"warehouse": True},
        {"warehouse": True, "interpolation": "hull"},
        {"warehouse": True, "intervals": True},
        {"function": "auprec"},
    ],
    ids=str,
)
def test_no_row_comes_twice_if_the_observed_prior_is_also_given(asked, many):
    table, priors = balances(), ["observed", 0.5, 0.3, *many]
    roles = {"truth": "truth", "score": "score", "by": "key"}
    asked = dict(asked)
    if name := asked.pop("function", None):
        found = getattr(pr, name)(pr.curve(table, **roles), priors=priors)
    elif asked.pop("warehouse", False):
        ibis = pytest.importorskip("ibis")
        found = pr.warehouse.evaluate(ibis.memtable(table), **roles, priors=priors, **asked)
        found = pr.warehouse.collected(found)
    elif asked.pop("lazy", False):
        found = pr.evaluate(table.lazy(), **roles, priors=priors, **asked).collect()
    else:
        found = pr.evaluate(table, **roles, priors=priors, **asked)
    given = {0.5, 0.3, *many}
    own = {key: p / (p + n) if p else None for key, (p, n) in BALANCES.items()}
    for key, measure in found.filter(measure="auprec").select("key", "measure").unique().rows():
        at = found.filter(key=key, measure=measure)["prior"].to_list()
        expected = given if own[key] in given else {*given, own[key]}
        assert len(at) == len(expected)
        # The row that stays is at the prior as it was given.
        assert given <= set(at)
    assert found.filter(pl.struct("key", "measure", "prior").is_duplicated()).is_empty()


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_curves_at_priors_have_no_row_twice(kind):
    table = balances().filter(pl.col("key") != "nothing")
    roles = {"score": "score", "by": "key"}
    curves = pr.curve(table, truth="truth", **roles)
    priors = ["observed", 0.5, 0.3]
    others = table.with_columns(pl.col("score") * 0.9).drop("truth")
    functions = {
        "surface": pr.surface(kind(curves), priors),
        "points": pr.operating_points(kind(curves), priors=priors),
        "achievable": pr.achievable(kind(curves), priors),
        "decisions": pr.decision_curve(kind(curves), [0.2], priors=priors),
        "probabilities": pr.probabilities(kind(others), curves, priors=priors, **roles),
        "calibration": pr.calibration(kind(table), priors, truth="truth", **roles).curve,
    }
    for found in functions.values():
        at = found.lazy().select("key", "prior").unique().collect()
        assert sorted(at.filter(key="half")["prior"]) == [0.3, 0.5]
        assert at.filter(key="tenth")["prior"].sort().to_list() == [0.3, 0.5]
        assert at.filter(key="rest")["prior"].sort().to_list() == pytest.approx([0.3, 1 / 3, 0.5])
    rows = others.height * 2 + len(table.filter(key="rest"))
    assert functions["probabilities"].lazy().collect().height == rows
