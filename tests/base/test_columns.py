"""Relations that every step from predictions keeps: laziness, keys, order and missing rows."""

import io
from functools import cache

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
PRIORS = ["observed", 0.1]
RULES = {
    "balanced": None, "cost": None, "posterior": None, "recall": 0.8, "precision": 0.3, "fpr": 0.2,
    "f_measure": None, "threshold": 0.5,
}  # fmt: skip


def predictions(seed, rows=400):
    """Tied scores from 0 to 1, in three models and three folds."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "model": rng.choice(["A", "B", "C"], rows),
            "fold": rng.integers(1, 4, rows),
            "truth": rng.random(rows) < 0.4,
            "score": rng.integers(0, 30, rows) / 40,
            "weight": rng.integers(0, 5, rows) / 4,
        }
    )
    return table.with_columns(pl.col("score") + pl.col("truth") * pl.col("fold") / 20)


PREDICTIONS, TUNING = predictions(11), predictions(12)
ROLES = NAMES | {"weight": "weight", "model": None, "fold": None}


def keyed(by):
    """The roles of a table with answers by model, and fold, if `by` names them."""
    return ROLES | {name: name for name in by}


def curve(frame, by):
    return pr.curve(frame, **keyed(by))


def evaluated(**asked):
    return lambda frame, by: pr.evaluate(frame, **keyed(by), **asked)


def applied(frame, by, **options):
    points = pr.operating_points(curve(TUNING, by), "cost", priors=[0.5, 0.1])
    return pr.apply_thresholds(frame, points, **keyed(by), **options)


def of_classes(frame, by):
    """The cases of two classes, which have the scores s and 1 − s."""
    score, truth = pl.col("score"), pl.col("truth")
    kind = pl.when(truth).then(pl.lit("x")).when(~truth).then(pl.lit("y"))
    both = frame.select("model", "fold", "weight", x=score, y=1 - score, kind=kind)
    roles = keyed(by) | {"truth": "kind", "case": None}
    del roles["score"]
    return pr.one_vs_rest(both, scores=["x", "y"], **roles).rows.drop("error", strict=False)


def rule(name, target):
    return lambda frame, by: pr.operating_points(
        curve(frame, by), name, priors=PRIORS, target=target
    )


# Steps of each key by itself; those whose tables have no rows of a key that cannot be ranked.
PER_KEY = {
    "curve": curve,
    "auprec": lambda frame, by: pr.auprec(curve(frame, by), [0.5, "observed"]),
    "iauprec": lambda frame, by: pr.iauprec(curve(frame, by), pr.beta(2, 18)),
    "evaluate": evaluated(over=(0.05, 0.2)),
    "evaluate, intervals": evaluated(over=pr.beta(2, 18), intervals=True),
    "evaluate, hull": evaluated(over=(0.05, 0.2), interpolation="hull"),
    "sens": lambda frame, by: pr.sens(curve(frame, by), (0.1, 0.4)),
    "accsens": lambda frame, by: pr.accsens(curve(frame, by), (0.1, 0.4)),
    "partial auc": lambda frame, by: pr.auc(curve(frame, by), fpr=(0, 0.3)),
    "apply_thresholds": applied,
    "surface": lambda frame, by: pr.surface(curve(frame, by), PRIORS, ["precision", "matthews"]),
    "hull": lambda frame, by: pr.hull(curve(frame, by)),
    "achievable": lambda frame, by: pr.achievable(curve(frame, by), PRIORS, 5),
    "cost_curve": lambda frame, by: pr.cost_curve(curve(frame, by), 5),
    "decision_curve": lambda frame, by: pr.decision_curve(curve(frame, by), 5, PRIORS),
    **{f"operating_points {name}": rule(name, target) for name, target in RULES.items()},
}
WITHOUT_ROWS = {"achievable", "cost_curve", "decision_curve"}
STEPS = PER_KEY | {
    "expected_cost": lambda frame, by: pr.expected_cost(
        curve(frame, by), over=(0.1, 0.4), cost=0.7
    ),
    "dominance": lambda frame, by: pr.dominance(
        curve(frame, [*(key for key in by if key != "model"), "model"])
    ),
    "one_vs_rest": of_classes,
}
# A plan of these holds a step in Python, which can raise when it is collected.
EVALUATED = {name for name in PER_KEY if name.startswith("evaluate")}
NOT_SENT = EVALUATED | {
    "hull", "achievable", "cost_curve", "dominance", "expected_cost", "one_vs_rest",
}  # fmt: skip
every_step = pytest.mark.parametrize("name", STEPS)
every_step_of_keys = pytest.mark.parametrize("name", PER_KEY)


@cache
def whole(name, *by):
    """The result of a step on all predictions."""
    return STEPS[name](PREDICTIONS, [*by])


def close(found, expected, *, ordered=True):
    assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-13, check_row_order=ordered)


@pytest.mark.parametrize(
    "by",
    [["model"], *(pytest.param(by, marks=pytest.mark.slow) for by in ([], ["model", "fold"]))],
    ids=len,
)
@every_step
def test_lazy_frames_stay_lazy_and_agree_on_both_engines(name, by):
    eager, lazy = whole(name, *by), STEPS[name](PREDICTIONS.lazy(), by)
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(lazy, pl.LazyFrame)
    assert eager.height > 0
    empty = PREDICTIONS.clear()
    nothing = STEPS[name](empty.lazy(), by)
    # A plan whose rows all leave, and one that begins with none.
    left = STEPS[name](PREDICTIONS.lazy().filter(pl.lit(False)), by)
    assert left.collect(engine="streaming").is_empty()
    for engine in ("streaming", "in-memory"):
        found = lazy.collect(engine=engine)
        assert lazy.collect_schema() == found.schema == eager.schema
        close(found, eager, ordered=name != "one_vs_rest")
        assert nothing.collect(engine=engine).equals(eager.clear())
    assert STEPS[name](empty, by).equals(eager.clear())


@pytest.mark.parametrize("name", sorted(set(STEPS) - NOT_SENT))
def test_plans_without_python_can_be_sent_elsewhere(name):
    plan = STEPS[name](PREDICTIONS.lazy(), ["model"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLARS_WARN_UNSTABLE", "0")
        sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    close(sent.collect(), plan.collect())


@every_step_of_keys
def test_each_key_alone_gives_what_it_gives_among_others(name):
    for b, by in (("B", ["model"]), (None, ["model"]), ("B", ["model", "fold"])):
        table = PREDICTIONS.with_columns(pl.col("model").replace("B", b))
        among = PER_KEY[name](table, by)
        assert set(among["model"]) == {"A", b, "C"}
        same = pl.col("model").eq_missing(pl.lit(b, pl.String))
        close(among.filter(same), PER_KEY[name](table.filter(same), by))
    if name != "apply_thresholds":
        keyed = PER_KEY[name](PREDICTIONS.with_columns(model=pl.lit("all")), ["model"])
        close(keyed.drop("model"), whole(name))


@every_step
def test_the_order_of_rows_does_not_matter(name):
    shuffled = PREDICTIONS.sample(fraction=1, shuffle=True, seed=3)
    close(STEPS[name](shuffled, ["model"]), whole(name, "model"), ordered=name != "one_vs_rest")


# --- rows that cannot be ranked, and classes that lack ------------------------------------------

OF_B = (pl.col("model") == "B") & (pl.int_range(pl.len()) % 5 == 0)
SPOILT = {
    "null score": PREDICTIONS.with_columns(pl.when(~OF_B).then("score").alias("score")),
    "NaN score": PREDICTIONS.with_columns(
        pl.when(OF_B).then(pl.lit(float("nan"))).otherwise("score").alias("score")
    ),
    "null truth": PREDICTIONS.with_columns(pl.when(~OF_B).then("truth").alias("truth")),
    "null weight": PREDICTIONS.with_columns(pl.when(~OF_B).then("weight").alias("weight")),
}


@pytest.mark.parametrize(
    "spoilt",
    ["null score", *(pytest.param(one, marks=pytest.mark.slow) for one in list(SPOILT)[1:])],
)
@pytest.mark.parametrize("name", sorted(PER_KEY.keys() - EVALUATED))
def test_a_lazy_plan_never_ranks_a_key_with_rows_that_cannot_be(name, spoilt):
    plan = PER_KEY[name](SPOILT[spoilt].lazy(), ["model"])
    of_b = pl.col("model") == "B"
    for engine in ("streaming", "in-memory"):
        found = plan.collect(engine=engine)
        close(found.filter(~of_b), whole(name, "model").filter(~of_b))
        spoiled = found.filter(of_b)
        assert spoiled.is_empty() == (name in WITHOUT_ROWS)
        numbers = {"estimate", "tpr", "fpr", "precision", "matthews", "positives", "negatives"}
        for column in numbers & set(found.columns):
            assert spoiled[column].null_count() == spoiled.height, column
        if "note" in found.columns:
            assert spoiled["note"].null_count() == 0


@pytest.mark.parametrize("spoilt", SPOILT)
def test_thresholds_are_applied_to_the_rows_that_can_be_ranked_only_if_asked(spoilt):
    with pytest.raises(InvalidPredictions, match=rf"{spoilt}s in 1 key"):
        applied(SPOILT[spoilt], ["model"])
    said = applied(SPOILT[spoilt].lazy(), ["model"]).collect().filter(model="B")["note"]
    assert all(note.endswith(f"{spoilt}s") for note in said)
    expected = applied(SPOILT[spoilt].drop_nulls().drop_nans(), ["model"])
    for frame in (SPOILT[spoilt], SPOILT[spoilt].lazy()):
        dropped = applied(frame, ["model"], nulls="drop").lazy().collect()
        close(dropped.drop("note"), expected.drop("note"))
        notes = dropped.filter(model="B")["note"]
        assert all(note.startswith("dropped ") and note.endswith(f"{spoilt}s") for note in notes)
        assert dropped.filter(pl.col("model") != "B")["note"].null_count() == 4


def test_a_key_without_a_point_keeps_its_row():
    points = pr.operating_points(curve(TUNING, ["model"]), "cost", priors=[0.5, 0.1])
    known = points.filter(pl.col("model") != "B")
    found = pr.apply_thresholds(PREDICTIONS, known, **ROLES | {"model": "model"})
    assert found["model"].to_list() == ["A", "A", "B", "C", "C"]
    row = found.filter(model="B").row(0, named=True)
    assert row["note"] == "there is no point for this key"
    assert (row["rule"], row["prior"], row["threshold"], row["tpr"]) == (None,) * 4
    assert row["positives"] > 0
    close(found.filter(pl.col("model") != "B"), applied(PREDICTIONS, ["model"]).filter(
        pl.col("model") != "B"
    ))  # fmt: skip


MODEL = pl.col("model")
ONE_CLASS = PREDICTIONS.with_columns(
    truth=pl.when(MODEL == "B").then(True).when(MODEL == "C").then(False).otherwise("truth")
)


@every_step_of_keys
def test_a_key_without_one_of_the_classes(name):
    found = PER_KEY[name](ONE_CLASS.lazy(), ["model"]).collect()
    close(PER_KEY[name](ONE_CLASS, ["model"]), found)
    close(found.filter(model="A"), whole(name, "model").filter(model="A"))
    lacking = found.filter(pl.col("model") != "A")
    if name in WITHOUT_ROWS:
        assert lacking.is_empty()
        return
    assert set(lacking["model"]) == {"B", "C"}
    for column in {"estimate", "precision", "matthews"} & set(found.columns):
        assert lacking[column].drop_nulls().is_empty()
    if "note" in found.columns:
        notes = lacking.select("model", "note").unique().sort("model").rows()
        assert notes == [("B", "no negatives"), ("C", "no positives")]
    else:
        assert lacking.filter(model="B")["fpr"].drop_nulls().is_empty()
        assert lacking.filter(model="C")["tpr"].drop_nulls().is_empty()


def test_a_pair_without_one_of_the_classes_has_no_relation():
    found = pr.dominance(curve(ONE_CLASS.lazy(), ["model"])).collect()
    assert found.select("relation", "crossings").rows() == [(None, None)] * 3


@pytest.mark.parametrize("prior", [0.05, 0.5])
def test_a_constant_score(prior):
    roc = curve(PREDICTIONS.with_columns(score=pl.lit(0.5)), ["model"])
    assert pr.hull(roc).equals(roc)
    on_diagonal = pr.achievable(roc, prior, 5)
    assert on_diagonal["fpr"].to_list() == pytest.approx([0, 0.25, 0.5, 0.75, 1] * 3)
    assert on_diagonal["precision"].to_list() == pytest.approx([prior] * 15)
    assert pr.surface(roc, prior)["precision"].to_list() == pytest.approx([prior] * 6)
    assert pr.cost_curve(roc, 5)["cost"].to_list() == pytest.approx([0, 0.25, 0.5, 0.25, 0] * 3)
    assert set(pr.dominance(roc)["relation"]) == {"equal"}
    # All or none are called: 1 − π false alarms, or π missed positives.
    balanced = pr.operating_points(roc, "balanced", priors=prior)
    assert set(balanced["tpr"]) == set(balanced["fpr"]) == {0.0}
    assert pr.sens(roc, (0.1, 0.4))["estimate"].to_list() == pytest.approx([0.3] * 3)
    treated = pr.decision_curve(roc, [0.2, 0.5, 0.8], prior, score_prior=None)
    acting = treated["threshold"] <= 0.5
    benefit, of_all = treated.filter(acting).select("net_benefit", "treat_all")
    assert benefit.to_list() == pytest.approx(of_all.to_list(), abs=1e-15)
    assert set(treated.filter(~acting)["net_benefit"]) == {0.0}
    assert set(pr.auc(roc)["estimate"]) == {0.5}


def test_no_key_has_the_name_of_a_column_of_thresholds():
    points = pr.operating_points(curve(TUNING, []), "cost", over=(0.1, 0.2))
    found = pr.apply_thresholds(
        PREDICTIONS, points, **ROLES, priors=pr.uniform(0.1, 0.2), intervals=True,
        rates=["npv", "f_measure", "likelihood_ratio_positive", "informedness"],
    )  # fmt: skip
    costs = pr.expected_cost(TUNING, **ROLES, over=0.4)
    taken = {*points.columns, *found.columns, *costs.columns}
    assert {"cost", "npv_lower", "cost_fixed", "over_upper"} < taken
    for name in sorted(taken):
        with pytest.raises(InvalidArgument, match=f"by has the column '{name}', "):
            pr.apply_thresholds(PREDICTIONS.rename({"model": name}), points, **ROLES | {"by": name})
