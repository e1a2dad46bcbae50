"""A curve has one anchor and all its cases, or no numbers, whichever function it is given to."""

import inspect

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import tables

import polaroc as pr
from polaroc.errors import InvalidTable

NAMES = {"truth": "truth", "score": "score"}
rng = np.random.default_rng(5)
PREDICTIONS = pl.DataFrame(
    {
        "model": ["A", "B"] * 60,
        "fold": [1, 1, 2, 2] * 30,
        "truth": rng.random(120) < 0.4,
        "score": rng.integers(1, 20, 120) / 20,
        "weight": rng.integers(0, 5, 120) / 4,
    }
)
CURVES = pr.curve(PREDICTIONS, **NAMES)
ONE = pr.curve(PREDICTIONS, **NAMES, model=None, fold=None)
BROKEN = {
    "a key dropped": CURVES.drop("fold"),
    "concatenated": pl.concat([ONE, ONE]),
    "every second row": ONE[::2],
    "filtered": ONE.filter(pl.col("threshold") > 0.5),
    "anchor alone": ONE[:1],
    "a row twice": pl.concat([ONE, ONE[-1:]]),
    "a column added": CURVES.with_columns(lift=pl.col("tp") / 7),
    "half a table": CURVES.filter((pl.col("fold") == 1) | (pl.col("tpr") > 0.5)),
}
# Each with the column of its result that is null of curves that are not whole.
FUNCTIONS = {
    "accsens": ("estimate", lambda curves: pr.accsens(curves, (0.05, 0.2))),
    "achievable": ("precision", lambda curves: pr.achievable(curves, 0.1, 5)),
    "auc": ("estimate", pr.auc),
    "auprec": ("estimate", lambda curves: pr.auprec(curves, 0.1, "hull")),
    "charts.explorer": (None, pr.charts.explorer),
    "charts.operating_drift": (
        None, lambda curves: pr.charts.operating_drift(POINTS.lazy(), curves),
    ),
    "charts.roc": (None, pr.charts.roc),
    "cost_curve": ("cost", lambda curves: pr.cost_curve(curves, 5)),
    "decision_curve": ("net_benefit", lambda curves: pr.decision_curve(curves, 5)),
    "dominance": ("relation", lambda curves: pr.dominance(with_model(curves))),
    "expected_cost": ("cost_fixed", lambda curves: pr.expected_cost(curves, over=0.1, cost=0.5)),
    "hull": ("tpr", pr.hull),
    "iauprec": ("estimate", lambda curves: pr.iauprec(curves, (0.05, 0.2))),
    "mean_curve": ("tpr", lambda curves: pr.mean_curve(with_model(curves), "model", 5)),
    "operating_points": ("threshold", pr.operating_points),
    "probabilities": (
        "probability",
        lambda curves: pr.probabilities(
            PREDICTIONS.with_columns(lift=0.5).lazy(), curves, score="score", priors=0.1,
            by=[name for name in ("model", "fold", "lift") if name in curves.collect_schema()],
            model=None, fold=None,
        ),
    ),
    "sens": ("estimate", lambda curves: pr.sens(curves, (0.05, 0.2))),
    "surface": ("precision", lambda curves: pr.surface(curves, 0.1)),
}  # fmt: skip
POINTS = pr.operating_points(ONE, priors=[0.1, 0.5])


def with_model(curves):
    if "model" in curves.collect_schema():
        return curves
    return curves.with_columns(model=pl.lit("A"))


def test_all_functions_of_curves_are_among_these():
    public = {name: getattr(pr, name) for name in dir(pr)}
    public |= {f"charts.{name}": getattr(pr.charts, name) for name in dir(pr.charts)}
    taking = {
        name
        for name, one in public.items()
        if inspect.isfunction(one) and "curve" in inspect.signature(one).parameters
    }
    assert taking == set(FUNCTIONS)


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_whole_curve_is_refused_and_of_a_plan_has_no_number(broken):
    table = BROKEN[broken]
    for rows in (table, table.sample(fraction=1, shuffle=True, seed=3)):
        with pytest.raises(InvalidTable):
            pr.auc(rows)
    found = pr.auc(table.lazy()).collect()
    if broken == "half a table":
        found = found.filter(pl.col("fold") == 2)
    assert found["estimate"].drop_nulls().is_empty()
    assert found["note"].str.contains("not whole").all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_function_refuses_a_part_and_of_a_plan_has_no_number(function):
    column, call = FUNCTIONS[function]
    for broken in ("filtered", "concatenated"):
        with pytest.raises(InvalidTable, match="Hint: "):
            call(BROKEN[broken])
        found = call(BROKEN[broken].lazy())
        if column is not None:
            assert found.collect()[column].drop_nulls().is_empty()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("a key dropped", r"in 2 key.s.: model='A'; model='B'\. The first has 2 rows without a th"),
        ("concatenated", "It has 2 rows without a threshold, needed is one"),
        ("filtered", "It has 0 rows without a threshold, needed is one"),
        ("a column added", "the keys are 'model', 'fold', 'lift'"),
        ("a row twice", r"1 rows without a threshold.* positives, \d+ of \d+ negatives"),
        ("half a table", "in 2 key.s.: model='A', fold=2; model='B', fold=2"),
    ],
)
def test_the_message_says_what_is_wrong_and_where(broken, message):
    with pytest.raises(InvalidTable, match=f"(?s){message}"):
        pr.hull(BROKEN[broken])


NUMBERS = ["positives", "negatives", "tpr", "fpr"]


@given(tables(), tables(), st.data())
def test_a_row_that_is_lost_repeated_or_changed_is_noticed(table, other, data):
    curves, intact = (pr.curve(rows.select("truth", "score"), **NAMES) for rows in (table, other))
    row = data.draw(st.integers(0, curves.height - 1))
    at = pl.int_range(pl.len()) == row
    name = data.draw(st.sampled_from(["pos", "neg", "positives", "negatives"]))
    changed = data.draw(
        st.sampled_from(
            [
                curves.filter(~at),
                pl.concat([curves, curves[row : row + 1]]),
                curves.with_columns(pl.when(at).then(pl.col(name) + 1).otherwise(name).alias(name)),
            ]
        )
    )
    with pytest.raises(InvalidTable, match="Hint: "):
        pr.hull(changed)
    # A plan cannot raise: that key has no numbers, the other one has all.
    both = pl.concat([changed.with_columns(k=pl.lit("a")), intact.with_columns(k=pl.lit("b"))])
    found = pr.surface(both.lazy(), 0.1).collect()
    numbers = found.filter(k="a").select(*NUMBERS, "precision")
    assert set(numbers.null_count().row(0)) == {changed.height}
    expected = pr.surface(intact, 0.1)
    assert_frame_equal(found.filter(k="b").select(expected.columns), expected)


@given(tables(kinds=["real"]), st.floats(1e-6, 1e6))
def test_rounded_sums_of_weights_are_whole(table, scale):
    weighted = table.with_columns(pl.col("weight") * scale)
    curves = pr.curve(weighted, **NAMES, weight="weight")
    assert_frame_equal(pr.hull(curves), pr.hull(curves.lazy()).collect())
    assert pr.hull(curves)["tpr"].null_count() == 0


def test_of_a_plan_the_curves_that_are_whole_keep_their_numbers():
    found = pr.auc(BROKEN["half a table"].lazy()).collect()
    kept = pl.col("fold") == 1
    assert_frame_equal(found.filter(kept), pr.auc(CURVES).filter(kept), rel_tol=1e-12)
    assert found.filter(~kept)["estimate"].null_count() == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda table: pr.curve(table, **NAMES, weight="weight").pipe(pr.hull),
        lambda table: pr.curve(table.filter("truth"), **NAMES),
        lambda table: pr.curve(table.with_columns(weight=0.0), **NAMES, weight="weight"),
        lambda table: pr.curve(table.clear(), **NAMES),
        lambda table: pr.curve(table, **NAMES).with_columns(
            pl.col("pos", "neg", "tp", "fp", "positives", "negatives") / 120
        ),
        lambda table: pr.curve(table, **NAMES).filter(model="B"),
        lambda table: pr.curve(table, **NAMES).sort("tp", descending=True),
        lambda table: pr.curve(
            table.with_columns(pl.col("weight") * 1e130), **NAMES, weight="weight"
        ),
        lambda table: pr.curve(
            table.with_columns(
                score=pl.when(pl.col("model") == "A").then("score")
            ).lazy(), **NAMES,
        ).collect(),
    ],
    ids=["weighted hull", "positives alone", "no weight", "no row", "shares", "some keys",
         "another order", "great weights", "unranked"],
)  # fmt: skip
def test_what_is_a_whole_curve_is_taken(change):
    curves = change(PREDICTIONS)
    for name in ("auc", "auprec", "accsens", "achievable", "hull", "operating_points", "surface"):
        _, call = FUNCTIONS[name]
        assert_frame_equal(call(curves), call(curves.lazy()).collect(), rel_tol=1e-9)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_curve_saved_in_float32_is_as_whole_as_before(weight):
    # A third has no end in either kind.
    table = PREDICTIONS.with_columns(pl.col("weight") / 3)
    curves = pr.curve(table, **NAMES, weight=weight)
    saved = curves.with_columns(pl.exclude("model", "fold").cast(pl.Float32))
    expected = pr.auc(curves)["estimate"].to_list()
    for found in (pr.auc(saved), pr.auc(saved.lazy()).collect()):
        assert found["estimate"].to_list() == pytest.approx(expected, rel=1e-5)
    for broken in (saved[::2], saved.drop("fold")):
        with pytest.raises(InvalidTable):
            pr.auc(broken)
