import io
from functools import cache

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score"}
PRIORS = ["observed", 0.1]
RULES = {
    "balanced": None, "cost": None, "posterior": None, "recall": 0.8, "precision": 0.3, "fpr": 0.2,
    "f_measure": None, "threshold": 0.5,
}  # fmt: skip


def predictions(seed: int, rows: int = 400) -> pl.DataFrame:
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


# What tells answers apart is said by keys alone.
POOLED = {"model": None, "fold": None}


def curve(frame, by, **options):
    return pr.curve(frame, **NAMES, by=by, weight="weight", **POOLED, **options)


def applied(frame, by, **options):
    points = pr.operating_points(curve(TUNING, by), "cost", priors=[0.5, 0.1])
    return pr.apply_thresholds(frame, points, **NAMES, by=by, weight="weight", **POOLED, **options)


def long(frame, by, **options):
    """The cases of two classes, which have the scores s and 1 − s."""
    score, truth = pl.col("score"), pl.col("truth")
    both = frame.with_columns(
        score.alias("x"),
        (1 - score).alias("y"),
        pl.when(truth).then(pl.lit("x")).when(~truth).then(pl.lit("y")).alias("kind"),
    )
    cases = pr.one_vs_rest(both, truth="kind", scores=["x", "y"], by=by, weight="weight", case=None)
    return cases.table


# Every step from predictions on that test_evaluation does not have, with weights.
MEASURED = {
    "sens": lambda frame, by, **o: pr.sens(curve(frame, by, **o), (0.1, 0.4)),
    "accsens": lambda frame, by, **o: pr.accsens(curve(frame, by, **o), (0.1, 0.4)),
    "partial auc": lambda frame, by, **o: pr.auc(curve(frame, by, **o), fpr=(0, 0.3)),
    "apply_thresholds": applied,
    **{
        f"operating_points {rule}": lambda frame, by, rule=rule, target=target, **o: (
            pr.operating_points(curve(frame, by, **o), rule, priors=PRIORS, target=target)
        )
        for rule, target in RULES.items()
    },
}
CURVES = {
    "surface": lambda frame, by, **o: pr.surface(
        curve(frame, by, **o), PRIORS, ["precision", "npv", "matthews"]
    ),
    "hull": lambda frame, by, **o: pr.hull(curve(frame, by, **o)),
}
POINTS = {
    "achievable": lambda frame, by, **o: pr.achievable(curve(frame, by, **o), PRIORS, 5),
    "cost_curve": lambda frame, by, **o: pr.cost_curve(curve(frame, by, **o), 5),
    "decision_curve": lambda frame, by, **o: pr.decision_curve(curve(frame, by, **o), 5, PRIORS),
}
OTHERS = {
    "expected_cost": lambda frame, by, **o: pr.expected_cost(
        curve(frame, by, **o), over=(0.1, 0.4), cost=0.7
    ),
    "dominance": lambda frame, by, **o: pr.dominance(
        curve(frame, [*(key for key in by if key != "model"), "model"], **o)
    ),
    "one_vs_rest": long,
}
STEPS = MEASURED | CURVES | POINTS | OTHERS
PER_KEY = MEASURED | CURVES | POINTS
WITH_PYTHON = {
    "hull", "achievable", "cost_curve", "dominance", "expected_cost", "one_vs_rest",
}  # fmt: skip
KEYS = [[], ["model"], ["model", "fold"]]


@cache
def whole(name: str, keys: int = 1) -> pl.DataFrame:
    """What a step makes of all predictions, with the first of `KEYS`."""
    return STEPS[name](PREDICTIONS, KEYS[keys])


def close(found: pl.DataFrame, expected: pl.DataFrame, *, ordered: bool = True) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-13, check_row_order=ordered)


@pytest.mark.alike(10)
@pytest.mark.slow
@pytest.mark.parametrize("by", KEYS, ids=len)
@pytest.mark.parametrize("name", STEPS)
def test_lazy_frames_stay_lazy_and_agree_on_both_engines(name, by):
    eager, lazy = whole(name, len(by)), STEPS[name](PREDICTIONS.lazy(), by)
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(lazy, pl.LazyFrame)
    assert eager.height > 0
    for engine in ("streaming", "in-memory"):
        found = lazy.collect(engine=engine)
        assert lazy.collect_schema() == found.schema
        close(found, eager, ordered=name != "one_vs_rest")


@pytest.mark.alike(10)
@pytest.mark.slow
@pytest.mark.parametrize("by", KEYS, ids=len)
@pytest.mark.parametrize("name", STEPS)
def test_an_empty_table_gives_an_empty_result_of_the_same_schema(name, by):
    expected = whole(name, len(by)).schema
    empty = PREDICTIONS.clear()
    lazy = STEPS[name](empty.lazy(), by)
    for found in (
        STEPS[name](empty, by), lazy.collect(engine="streaming"), lazy.collect(engine="in-memory"),
    ):  # fmt: skip
        assert found.is_empty()
        assert found.schema == expected == lazy.collect_schema()


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", sorted(set(STEPS) - WITH_PYTHON))
def test_plans_without_python_can_be_sent_elsewhere(name):
    plan = STEPS[name](PREDICTIONS.lazy(), ["model"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLARS_WARN_UNSTABLE", "0")
        sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    close(sent.collect(), plan.collect(), ordered=name != "one_vs_rest")


@pytest.mark.alike(8)
@pytest.mark.slow
@pytest.mark.parametrize(("b", "by"), [("B", KEYS[2]), (None, KEYS[1])], ids=["B-2", "None-1"])
@pytest.mark.parametrize("name", PER_KEY)
def test_each_key_alone_gives_what_it_gives_among_others(name, b, by):
    table = PREDICTIONS.with_columns(pl.col("model").replace("B", b))
    among = PER_KEY[name](table, by)
    assert set(among["model"]) == {"A", b, "C"}
    for model in ("A", b, "C"):
        same = pl.col("model").eq_missing(pl.lit(model, pl.String))
        close(among.filter(same), PER_KEY[name](table.filter(same), by))


@pytest.mark.parametrize("name", sorted(set(PER_KEY) - {"apply_thresholds"}))
def test_no_keys_are_one_key_of_all(name):
    keyed = PER_KEY[name](PREDICTIONS.with_columns(model=pl.lit("all")), ["model"])
    close(keyed.drop("model"), whole(name, 0))


@pytest.mark.alike(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_the_order_of_rows_does_not_matter(name):
    shuffled = PREDICTIONS.sample(fraction=1, shuffle=True, seed=3)
    close(STEPS[name](shuffled, ["model"]), whole(name), ordered=name != "one_vs_rest")


# --- rows that cannot be ranked ------------------------------------------------------------------

OF_B = (pl.col("model") == "B") & (pl.int_range(pl.len()) % 5 == 0)
SPOILT = {
    "null score": PREDICTIONS.with_columns(pl.when(~OF_B).then("score").alias("score")),
    "NaN score": PREDICTIONS.with_columns(
        pl.when(OF_B).then(pl.lit(float("nan"))).otherwise("score").alias("score")
    ),
    "null truth": PREDICTIONS.with_columns(pl.when(~OF_B).then("truth").alias("truth")),
    "null weight": PREDICTIONS.with_columns(pl.when(~OF_B).then("weight").alias("weight")),
}


@pytest.mark.alike(7)
@pytest.mark.slow
@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("name", PER_KEY)
def test_a_lazy_plan_never_ranks_a_key_with_rows_that_cannot_be(name, spoilt):
    plan = PER_KEY[name](SPOILT[spoilt].lazy(), ["model"])
    of_b = pl.col("model") == "B"
    for engine in ("streaming", "in-memory"):
        found = plan.collect(engine=engine)
        # Each key alone gives the same, as another test has it.
        close(found.filter(~of_b), whole(name).filter(~of_b))
        spoiled = found.filter(of_b)
        if name in POINTS:
            assert spoiled.is_empty()
            continue
        assert spoiled.height > 0
        numbers = {"estimate", "tpr", "fpr", "precision", "npv", "positives", "negatives"}
        for column in numbers & set(found.columns):
            assert spoiled[column].null_count() == spoiled.height, column
        if "note" in found.columns:
            assert spoiled["note"].null_count() == 0


@pytest.mark.parametrize("spoilt", SPOILT)
def test_thresholds_are_applied_to_the_rows_that_can_be_ranked_only_if_asked(spoilt):
    with pytest.raises(InvalidPredictions, match=rf"{spoilt}s in 1 key.*\nHint: "):
        applied(SPOILT[spoilt], ["model"])
    said = applied(SPOILT[spoilt].lazy(), ["model"]).collect().filter(model="B")["note"]
    assert all(note.endswith(f"{spoilt}s") for note in said)
    sound = SPOILT[spoilt].drop_nulls().drop_nans()
    expected = applied(sound, ["model"])
    for frame in (SPOILT[spoilt], SPOILT[spoilt].lazy()):
        dropped = applied(frame, ["model"], nulls="drop").lazy().collect()
        close(dropped.drop("note"), expected.drop("note"))
        notes = dropped.filter(model="B")["note"]
        assert all(note.startswith("dropped ") and note.endswith(f"{spoilt}s") for note in notes)
        assert dropped.filter(pl.col("model") != "B")["note"].null_count() == 4


def test_a_key_without_a_point_keeps_its_row():
    points = pr.operating_points(curve(TUNING, ["model"]), "cost", priors=[0.5, 0.1])
    known = points.filter(pl.col("model") != "B")
    options = {**NAMES, "fold": None, "weight": "weight"}
    found = pr.apply_thresholds(PREDICTIONS, known, **options)
    assert found["model"].to_list() == ["A", "A", "B", "C", "C"]
    row = found.filter(model="B").row(0, named=True)
    assert row["note"] == "there is no point for this key"
    assert (row["rule"], row["prior"], row["threshold"], row["tpr"]) == (None,) * 4
    assert row["positives"] > 0
    whole = pr.apply_thresholds(PREDICTIONS, points, **options)
    close(found.filter(pl.col("model") != "B"), whole.filter(pl.col("model") != "B"))


# --- classes and scores --------------------------------------------------------------------------

ONE_CLASS = PREDICTIONS.with_columns(
    pl.when(pl.col("model") == "B").then(True)
    .when(pl.col("model") == "C").then(False)
    .otherwise("truth").alias("truth")
)  # fmt: skip


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", PER_KEY)
def test_a_key_without_one_of_the_classes(name, lazy):
    table = ONE_CLASS.lazy() if lazy else ONE_CLASS
    found = PER_KEY[name](table, ["model"]).lazy().collect()
    both = pl.col("model") == "A"
    close(found.filter(both), whole(name).filter(both))
    lacking = found.filter(~both)
    if name in POINTS:
        assert lacking.is_empty()
        return
    assert set(lacking["model"]) == {"B", "C"}
    if name in ("surface", "hull"):
        assert lacking.filter(model="B")["fpr"].null_count() == lacking.filter(model="B").height
        assert lacking.filter(model="C")["tpr"].null_count() == lacking.filter(model="C").height
        assert "precision" not in found.columns or lacking["precision"].drop_nulls().is_empty()
        return
    if "estimate" in found.columns:
        assert lacking["estimate"].null_count() == lacking.height
    notes = lacking.select("model", "note").unique().sort("model").rows()
    assert notes == [("B", "no negatives"), ("C", "no positives")]


def test_a_pair_without_one_of_the_classes_has_no_relation():
    found = pr.dominance(curve(ONE_CLASS.lazy(), ["model"])).collect()
    assert found["relation"].to_list() == [None] * 3
    assert found["crossings"].to_list() == [None] * 3


@pytest.mark.parametrize("prior", [0.05, 0.5])
def test_a_constant_score(prior):
    table = PREDICTIONS.with_columns(score=pl.lit(0.5))
    roc = curve(table, ["model"])
    assert pr.hull(roc).equals(roc)
    on_diagonal = pr.achievable(roc, prior, 5)
    assert on_diagonal["fpr"].to_list() == pytest.approx([0, 0.25, 0.5, 0.75, 1] * 3)
    assert on_diagonal["precision"].to_list() == pytest.approx([prior] * 15)
    assert pr.surface(roc, prior)["precision"].to_list() == pytest.approx([prior] * 6)
    assert pr.cost_curve(roc, 5)["cost"].to_list() == pytest.approx([0, 0.25, 0.5, 0.25, 0] * 3)
    assert set(pr.dominance(roc)["relation"]) == {"equal"}
    # FNr and FPr are 1 − π and π where missed positives balance false alarms.
    balanced = pr.operating_points(roc, "balanced", priors=prior)
    assert balanced["tpr"].to_list() == pytest.approx([prior] * 3)
    assert balanced["fpr"].to_list() == pytest.approx([prior] * 3)
    assert pr.sens(roc, (0.1, 0.4))["estimate"].to_list() == pytest.approx([0.3] * 3)
    treated = pr.decision_curve(roc, [0.2, 0.5, 0.8], prior, score_prior=None)
    acting = treated["threshold"] <= 0.5
    benefit, of_all = treated.filter(acting).select("net_benefit", "treat_all")
    assert benefit.to_list() == pytest.approx(of_all.to_list(), abs=1e-15)
    assert set(treated.filter(~acting)["net_benefit"]) == {0.0}
    assert set(pr.auc(roc)["estimate"]) == {0.5}


# --- names ---------------------------------------------------------------------------------------

OF_CURVES = {
    "surface": lambda frame: pr.surface(frame, 0.1),
    "hull": pr.hull,
    "achievable": lambda frame: pr.achievable(frame, 0.1),
    "cost_curve": pr.cost_curve,
    "decision_curve": pr.decision_curve,
    "dominance": pr.dominance,
    "operating_points": pr.operating_points,
    "auc": pr.auc,
    "auprec": pr.auprec,
    "iauprec": lambda frame: pr.iauprec(frame, (0.1, 0.2)),
    "sens": lambda frame: pr.sens(frame, (0.1, 0.2)),
    "accsens": lambda frame: pr.accsens(frame, (0.1, 0.2)),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", OF_CURVES)
def test_what_is_no_curve_is_refused(name, lazy):
    roc = curve(PREDICTIONS, ["model"])
    for table, said in (
        (PREDICTIONS, "no column 'threshold'"),
        (roc.drop("neg"), "no column 'neg'"),
        (pr.surface(roc, 0.1), "it is a surface"),
    ):
        with pytest.raises(InvalidTable, match=rf"(?s){said}.*\nHint: "):
            OF_CURVES[name](table.lazy() if lazy else table)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("taken", ["threshold", "prior", "rule", "note", "__polaroc_x"])
@pytest.mark.parametrize("step", [applied, long])
def test_reserved_names_of_keys_are_refused(step, taken, lazy):
    table = PREDICTIONS.lazy() if lazy else PREDICTIONS
    with pytest.raises(InvalidArgument, match=rf"(?s)apart is '{taken}', reserved.*\nHint: "):
        step(table, [pl.col("model").alias(taken)])


@cache
def columns_of_thresholds():
    """The columns of tables of thresholds but for keys."""
    roc = curve(TUNING, [])
    points = pr.operating_points(roc, "cost", over=(0.1, 0.2))
    tables = [
        points,
        pr.operating_points(TUNING, "recall", target=0.2, confidence=0.5, **NAMES, **POOLED),
        pr.expected_cost(TUNING, **NAMES, **POOLED, over=0.4, intervals=True),
        pr.apply_thresholds(
            PREDICTIONS,
            points,
            **NAMES,
            **POOLED,
            priors=pr.uniform(0.1, 0.2),
            intervals=True,
            rates=[
                "specificity",
                "fnr",
                "npv",
                "likelihood_ratio_positive",
                "likelihood_ratio_negative",
                "f_measure",
                "accuracy",
                "error",
                "informedness",
            ],
        ),
    ]
    return {name for table in tables for name in table.columns}


def test_no_key_has_the_name_of_a_column_of_thresholds():
    assert {"cost", "accuracy", "cost_fixed_lower", "over_upper"} < columns_of_thresholds()
    for taken in columns_of_thresholds():
        for step in (curve, applied):
            with pytest.raises(
                InvalidArgument, match=rf"(?s)apart is '{taken}', reserved.*\nHint: "
            ):
                step(PREDICTIONS, [pl.col("model").alias(taken)])


@pytest.mark.parametrize("taken", ["cost", "error_upper"])
def test_nor_has_a_key_of_a_curve(taken):
    roc = curve(PREDICTIONS, ["model"]).rename({"model": taken})
    with pytest.raises(InvalidArgument, match=rf"(?s)apart is '{taken}', reserved.*\nHint: "):
        pr.operating_points(roc, "cost")


@pytest.mark.parametrize("taken", ["class", "truth", "score", "weight"])
def test_keys_named_as_what_one_vs_rest_makes_are_refused(taken):
    with pytest.raises(InvalidArgument, match=rf"(?s)apart is '{taken}', reserved.*\nHint: "):
        long(PREDICTIONS, [pl.col("model").alias(taken)])


@pytest.mark.parametrize("wanted", [{"truth": "label"}, {"score": "p"}, {"by": "region"}])
def test_unknown_names_are_refused_where_thresholds_are_applied(wanted):
    points = pr.operating_points(curve(TUNING, []), "cost")
    with pytest.raises(InvalidArgument, match=r"(?s)there is no column.*\nHint: "):
        pr.apply_thresholds(PREDICTIONS, points, **(NAMES | wanted))


@pytest.mark.parametrize("missing", ["rule", "share", "threshold", "tpr", "note"])
def test_what_are_no_points_is_refused(missing):
    points = pr.operating_points(curve(TUNING, []), "cost").drop(missing)
    with pytest.raises(InvalidTable, match=rf"(?s)no column '{missing}'.*operating_points"):
        pr.apply_thresholds(PREDICTIONS, points, **NAMES)
