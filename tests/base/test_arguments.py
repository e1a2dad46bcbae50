import inspect
import re
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars import selectors as cs
from polars.testing import assert_frame_equal

import polaroc as pr
import polaroc.namespace
from polaroc import expr, warehouse
from polaroc.errors import InvalidArgument

TABLE = pl.DataFrame(
    {
        "model": ["A"] * 6 + ["B"] * 6,
        "fold": [1, 2] * 6,
        "case": [0, 1, 2, 3, 4, 5] * 2,
        "truth": [1, 1, 0, 1, 0, 0] * 2,
        "score": [0.9, 0.8, 0.7, 0.6, 0.3, 0.1, 0.9, 0.2, 0.7, 0.6, 0.3, 0.1],
        "weight": [1.0, 2.0, 1.0, 1.0, 3.0, 1.0] * 2,
    }
)
ONE_TEST_SET = TABLE.drop("fold")
NAMES = {"truth": "truth", "score": "score"}
WIDE = pl.DataFrame({"kind": ["a", "b"], "a": [0.9, 0.2], "b": [0.1, 0.8], "w": [1, 2]})
FEATURES = pl.DataFrame({"class": [0, 1] * 9, "x": range(18)})


@cache
def curves(fold=None, model="model"):
    return pr.curve(TABLE, **NAMES, model=model, fold=fold)


@cache
def points():
    return pr.operating_points(curves())


@cache
def measures():
    return pr.evaluate(TABLE, **NAMES, priors=[0.1, 0.2], over=(0.1, 0.2))


@cache
def surface():
    return pr.surface(curves("fold"), 0.1)


@cache
def ibis_table():
    import ibis

    return ibis.memtable(TABLE)


def classifiers():
    from sklearn.naive_bayes import GaussianNB

    return {"naive": GaussianNB()}


def gate(**arguments):
    usual = {"challenger": "A", "champion": "B", "over": (0.1, 0.2), "test_train_ratio": 0.25}
    return pr.gate(measures(), **usual | arguments)


COLUMN = {"truth": "truth", "score": "score", "weight": "weight"}
OF_CASES = COLUMN | {
    "by": [], "model": "model", "fold": ["fold"], "case": "case", "cluster": "case",
    "time": "case",
}  # fmt: skip
# By function: how it is called, and by argument that takes columns a call that is right. A list
# of names stands for an argument that takes several.
CALLS = {
    "curve": (lambda **a: pr.curve(TABLE, **a), OF_CASES),
    "lazy curve": (lambda **a: pr.curve(TABLE.lazy(), **a), OF_CASES),
    "cases": (lambda **a: pr.cases(TABLE, **a), OF_CASES),
    "evaluate": (lambda **a: pr.evaluate(TABLE, **a), OF_CASES),
    "evaluate within memory": (
        lambda **a: pr.evaluate(TABLE.lazy(), memory="600MB", **a), OF_CASES,
    ),
    "check": (lambda **a: pr.check(TABLE, **a), OF_CASES),
    "apply_thresholds": (
        lambda **a: pr.apply_thresholds(TABLE, points(), same_table=True, **a),
        OF_CASES,
    ),
    "operating_points": (
        lambda **a: pr.operating_points(TABLE, "recall", target=0.5, **a),
        {name: one for name, one in OF_CASES.items() if name != "time"},
    ),
    "decision_curve": (
        lambda **a: pr.decision_curve(TABLE, [0.2], intervals=True, **a), OF_CASES,
    ),
    "expected_cost": (
        lambda **a: pr.expected_cost(TABLE, over=0.4, intervals=True, **a), OF_CASES,
    ),
    "estimate_prior": (
        lambda **a: pr.estimate_prior(TABLE, TABLE, method="confusion", **a),
        NAMES | {"by": [], "model": "model", "fold": ["fold"]},
    ),
    "monitor": (
        lambda **a: pr.monitor(TABLE, TABLE, points=0.5, **{"time": "case"} | a),
        NAMES | {"by": [], "model": "model", "fold": ["fold"], "time": "case"},
    ),
    "one_vs_rest": (
        lambda **a: pr.one_vs_rest(WIDE, **a).table,
        {"truth": "kind", "scores": ["a", "b"], "by": [], "weight": "w"},
    ),
    "compare": (
        lambda **a: pr.compare(measures(), test_train_ratio=0, **a),
        {"model": "model", "fold": ["fold"]},
    ),
    "compare trained": (
        lambda **a: pr.compare(TABLE.drop("fold"), "auc", target="trained", **a),
        NAMES | {"model": "model", "case": "case"},
    ),
    "compare on folds": (
        lambda **a: pr.compare(TABLE, "auc", test_train_ratio=0, **a),
        NAMES | {"model": "model", "fold": ["fold"]},
    ),
    "choose on cases": (
        lambda **a: pr.choose(ONE_TEST_SET, over=(0.1, 0.2), **a),
        COLUMN | {"model": "model", "case": "case"},
    ),
    "gate": (
        lambda **a: pr.gate(
            measures(), champion="A", challenger="B", test_train_ratio=0.25, over=(0.1, 0.2), **a
        ),
        {"model": "model", "fold": ["fold"]},
    ),
    "gate on cases": (
        lambda **a: pr.gate(ONE_TEST_SET, champion="A", challenger="B", measure="auc", **a),
        NAMES | {"model": "model", "case": "case"},
    ),
    "choose": (
        lambda **a: pr.choose(measures(), **a), {"model": "model", "fold": ["fold"]},
    ),
    "anova": (
        lambda **a: pr.anova(measures(), "iauprec", **a), {"factors": ["model", "fold"]},
    ),
    "dominance": (lambda **a: pr.dominance(curves(), **a), {"model": "model"}),
    "mean_curve": (lambda **a: pr.mean_curve(curves("fold"), **a), {"fold": ["fold"]}),
    "mean_curve of a surface": (lambda **a: pr.mean_curve(surface(), **a), {"fold": ["fold"]}),
    "report": (
        lambda **a: pr.report(ONE_TEST_SET, path="never.html", over=(0.1, 0.2), **a),
        COLUMN | {"model": "model", "fold": [], "case": "case"},
    ),
    "proc.curve": (lambda **a: TABLE.proc.curve(**a), OF_CASES),
    "calibration": (
        lambda **a: pr.calibration(TABLE, **a).table,
        {role: one for role, one in OF_CASES.items() if role != "cluster"},
    ),
    "probabilities": (
        lambda **a: pr.probabilities(TABLE, curves(), priors=0.1, same_table=True, **a),
        {"score": "score", "by": [], "model": "model", "fold": []},
    ),
    "warehouse.probabilities": (
        lambda **a: warehouse.probabilities(
            ibis_table(), curves(), priors=0.1, same_table=True, **a
        ),
        {"score": "score", "by": [], "model": "model", "fold": []},
    ),
    "warehouse.curve": (
        lambda **a: warehouse.curve(ibis_table(), **a), OF_CASES,
    ),
    "warehouse.evaluate": (
        lambda **a: warehouse.evaluate(ibis_table(), **a), OF_CASES,
    ),
    "expr.auc": (lambda **a: TABLE.select(expr.auc(**a)), COLUMN),
    "expr.auprec": (lambda **a: TABLE.select(expr.auprec(**a)), COLUMN),
    "expr.average_precision": (lambda **a: TABLE.select(expr.average_precision(**a)), COLUMN),
    "expr.iauprec": (lambda **a: TABLE.select(expr.iauprec(over=(0.1, 0.2), **a)), COLUMN),
    "expr.sens": (lambda **a: TABLE.select(expr.sens(over=(0.1, 0.2), **a)), COLUMN),
    "expr.rate": (
        lambda **a: TABLE.select(expr.rate("recall", threshold=0.5, **a)), COLUMN,
    ),
}  # fmt: skip
WRONG = {
    "number": 3,
    "bytes": b"truth",
    "None": None,
    "list of numbers": [1, 0],
    "mapping": {"truth": [1, 0]},
    "range": range(2),
    "array": np.array([1.0, 0.0]),
    "array of text": np.array(["model"]),
    "series": TABLE["truth"],
    "series without name": pl.Series([1, 0]),
    "pandas": pd.Series([1, 0], name="truth"),
    "frame": TABLE,
    "lazy frame": TABLE.lazy(),
    "type": str,
    "object": object(),
}
# Arguments that may be left out, and those that may be of a further kind.
OPTIONAL = {
    "weight", "case", "cluster", "by", "factors",
    "scores", "model", "fold", "time", "count",
}  # fmt: skip
FURTHER = {("scores", "mapping")}
# Without truth or score these are asked for something else.
ALSO_OF_MEASURES = {
    "cases", "compare trained", "compare on folds", "choose on cases", "gate on cases",
    "report",
}  # fmt: skip


@pytest.mark.alike(15)
@pytest.mark.parametrize("function", CALLS)
def test_what_is_no_column_is_said_in_one_message(function):
    call, right = CALLS[function]
    for argument in right:
        may_lack = argument in OPTIONAL or function in ALSO_OF_MEASURES
        for wrong in WRONG:
            if (argument, wrong) in FURTHER or (wrong == "None" and may_lack):
                continue
            with pytest.raises(InvalidArgument) as refused:
                call(**right | {argument: WRONG[wrong]})
            found, hint = str(refused.value).split("\nHint: ")
            assert found.removeprefix("deployed: ").startswith(f"{argument} ")
            assert "allowed" in found
            assert "column names" in found
            assert hint.endswith(".")


def parameters_of(function):
    """The arguments of the function that one of `CALLS` is of."""
    place = pr
    for name in next(word for word in function.split() if word != "lazy").split("."):
        place = getattr(TABLE if name == "proc" else place, name)
    return set(inspect.signature(place).parameters)


OF_TABLE = [name for name in CALLS if "warehouse" not in name]


@pytest.mark.product
@pytest.mark.parametrize("column", ["truth", "score", "weight"])
@pytest.mark.parametrize("function", OF_TABLE)
def test_hints_at_missing_values_name_arguments_that_the_function_takes(
    function, column, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    call, right = CALLS[function]
    for made in (points, measures, surface):
        made()
    lacks = pl.when(pl.col("case") != 3).then(pl.col(column)).alias(column)
    for table in ("TABLE", "ONE_TEST_SET"):
        monkeypatch.setitem(globals(), table, globals()[table].with_columns(lacks))
    hints = []
    try:
        call(**right)
    except pr.errors.PolarocError as refused:
        hints.append(refused.hint)
    named = {name for hint in hints for name in re.findall(r"\b([a-z_]+)=", hint)}
    assert named <= parameters_of(function), hints


@pytest.mark.alike(18)
@pytest.mark.slow
@pytest.mark.parametrize("function", sorted(set(CALLS) - {"report"}))
def test_the_right_columns_are_taken(function):
    call, right = CALLS[function]
    assert call(**right) is not None


def test_every_function_that_takes_columns_is_here():
    takes = {"truth", "by", "model", "fold"}
    public = {
        prefix + name
        for prefix, module in (("", pr), ("warehouse.", warehouse))
        for name in module.__all__
        if callable(getattr(module, name))
        and not inspect.isclass(getattr(module, name))
        and takes & set(inspect.signature(getattr(module, name)).parameters)
    }
    assert public <= set(CALLS)


@pytest.mark.parametrize("argument", ["truth", "score", "weight"])
def test_arrays_are_told_where_to_go(argument):
    with pytest.raises(InvalidArgument, match=r"numpy\.ndarray.*(?s:.*)pr\.evaluate\(\{"):
        pr.evaluate(TABLE, **COLUMN | {argument: np.array([1.0])})
    with pytest.raises(InvalidArgument, match=f"Hint: give the name of the column: {argument}='s'"):
        pr.evaluate(TABLE, **COLUMN | {argument: pl.Series("s", [1.0])})


MISSING = [
    ("curve", "truth"), ("evaluate", "weight"), ("check", "case"),
    ("evaluate", "cluster"), ("one_vs_rest", "by"), ("one_vs_rest", "weight"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "argument"), MISSING)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(function, argument):
    call, right = CALLS[function]
    with pytest.raises(InvalidArgument, match=r"no column 'nope'; the table has '.*\nHint: "):
        call(**right | {argument: "nope"})


@pytest.mark.parametrize("function", ["curve", "check", "one_vs_rest", "expr.auc"])
def test_an_expression_of_several_columns_is_no_column(function):
    call, right = CALLS[function]
    with pytest.raises(InvalidArgument, match=r"weight is an expression of .* allowed is one"):
        call(**right | {"weight": pl.col("^[sw].*$") if function != "one_vs_rest" else pl.all()})
    if function in ("curve", "check"):
        with pytest.raises(InvalidArgument, match="score is an expression of no column"):
            call(**right | {"score": cs.starts_with("nothing")})


def test_a_selector_of_one_column_is_that_column():
    found = pr.evaluate(TABLE, truth=cs.by_name("truth"), score=cs.starts_with("sc"), fold=None)
    # Sums of groups may differ in their last bit from run to run.
    assert_frame_equal(found, pr.evaluate(TABLE, **NAMES, fold=None), rel_tol=1e-12)


def test_keys_may_be_selected():
    for keys in (cs.by_name("model", "fold"), (key for key in ("model", "fold"))):
        assert pr.curve(TABLE, **NAMES, by=keys).equals(curves("fold"))


TEXT = {"String": pl.String, "Categorical": pl.Categorical, "Enum": pl.Enum(["z", "B", "A"])}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("here", "there"), list(permutations(TEXT, 2)))
def test_keys_of_points_and_predictions_may_be_text_of_different_types(here, there, lazy):
    other = TABLE.with_columns(score=1 - pl.col("score"))
    points = pr.operating_points(curves().cast({"model": TEXT[there]}), "recall", target=0.5)
    table = other.cast({"model": TEXT[here]})
    found = pr.apply_thresholds(table.lazy() if lazy else table, points, **NAMES, fold=None)
    plain = pr.operating_points(curves(), "recall", target=0.5)
    expected = pr.apply_thresholds(other, plain, **NAMES, fold=None)
    assert found.collect_schema()["model"] == TEXT[here]
    sorted_alike = found.lazy().collect().cast({"model": pl.String}).sort("model")
    assert_same_numbers(sorted_alike, expected)


def test_points_of_a_key_that_an_enum_lacks_are_left_out():
    points = pr.operating_points(curves(), "recall", target=0.5)
    only_a = TABLE.with_columns(score=1 - pl.col("score")).filter(model="A")
    found = pr.apply_thresholds(only_a.cast({"model": pl.Enum(["A"])}), points, **NAMES, fold=None)
    assert found["model"].to_list() == ["A"]


def test_keys_of_other_types_do_not_join():
    points = pr.operating_points(curves("fold", model=None))
    table = TABLE.cast({"fold": pl.String})
    with pytest.raises(pr.errors.InvalidTable, match=r"'fold' is String .* Int64 in the points"):
        pr.apply_thresholds(table, points, **NAMES)
    with pytest.raises(pr.errors.InvalidTable, match="'fold' is Int64 in the reference and String"):
        pr.estimate_prior(TABLE, table, **NAMES, method="confusion")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["A", "B", "C"])])
def test_estimates_join_text_of_different_types(kind):
    deployed = TABLE.with_columns(model=pl.col("model").replace("B", "C"))
    arguments = {**NAMES, "method": "confusion"}
    found = pr.estimate_prior(TABLE, deployed.cast({"model": kind}), **arguments)
    assert_same_numbers(found, pr.estimate_prior(TABLE, deployed, **arguments))


CASES = ONE_TEST_SET.filter(model="A")
# What was an error of another library, or said something else.
MISTAKEN = {
    "a case that is no column": (
        lambda: pr.choose(TABLE, over=(0.1, 0.2), case="typo", **NAMES), "no column 'typo'",
    ),
    "a key twice": (
        lambda: pr.choose(TABLE, over=(0.1, 0.2), fold=["fold", "fold"], **NAMES),
        "fold names a column twice: 'fold', 'fold'",
    ),
    "a fold twice": (
        lambda: pr.cases(TABLE, fold=["fold", "fold"], **NAMES),
        "fold names a column twice: 'fold', 'fold'",
    ),
    "a key that is the model, too": (
        lambda: pr.probabilities(
            TABLE, curves(), score="score", by=pl.col("model").cast(pl.Categorical), model="model",
            fold=None, priors=0.1,
        ),
        "by names a column twice: 'model', 'model'",
    ),
    "a score that is no column": (
        lambda: pr.probabilities(TABLE, curves(), score="typo", priors=0.1),
        "no column 'typo'",
    ),
    "a report of one row": (
        lambda: pr.report(CASES.head(1), over=(0.1, 0.2), path="never.html", **NAMES),
        "no row is negative",
    ),
    "a report of one class": (
        lambda: pr.report(
            CASES.filter(truth=0), over=(0.1, 0.2), path="never.html", case="case", **NAMES
        ),
        "no row is positive",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "said"), MISTAKEN.values(), ids=MISTAKEN)
def test_what_is_mistaken_is_said_with_a_hint(call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pr.errors.PolarocError, match=rf"(?s){said}.*\nHint: "):
        call()


HUGE = (10**400, -(10**400), Fraction(10**400))
WEIRD = (
    Decimal("0.5"), None, -3, float("nan"), float("inf"), *HUGE[:2], 1j, "zzz", b"x", [],
    [0.1, "x"], [[0.1]],
    [None], {"a": 1}, np.ones((2, 2)), pl.Series(["a"]), pl.col("truth"), TABLE, TABLE.lazy(),
    object(), int, ("a", "b"), (float("nan"), 0.5), (0.1, 10**400),
)  # fmt: skip
# By argument that is no column, a call with it and what of `WEIRD` is right there.
OTHERS = {
    "over of sens": (lambda x: pr.sens(curves(), x), ()),
    "over of accsens": (lambda x: pr.accsens(curves(), x), ()),
    "over of expr": (lambda x: pr.expr.sens("truth", "score", x), ()),
    "over": (lambda x: pr.iauprec(curves(), x), ()),
    "over of evaluate": (lambda x: pr.evaluate(TABLE, **NAMES, over=x), (None,)),
    "over of explorer": (lambda x: pr.charts.explorer(curves(), over=x), ()),
    "weights": (lambda x: pr.accsens(curves(), (0.1, 0.2), weights=x), ()),
    "measures": (lambda x: pr.evaluate(TABLE, **NAMES, measures=x), (None,)),
    "measure": (lambda x: pr.choose(measures(), measure=x), (None,)),
    "memory": (lambda x: pr.evaluate(TABLE, **NAMES, memory=x), (None,)),
    "rates": (lambda x: pr.surface(curves(), 0.1, rates=x), ([],)),
    "recall": (lambda x: pr.achievable(curves(), 0.1, recall=x), ()),
    "probability_cost": (lambda x: pr.cost_curve(curves(), x), ()),
    "thresholds": (lambda x: pr.decision_curve(curves(), x), ()),
    "score_prior": (lambda x: pr.decision_curve(curves(), score_prior=x), (None,)),
    "priors of calibration": (lambda x: pr.calibration(TABLE, x, **NAMES), ()),
    "measure of compare": (lambda x: pr.compare(measures(), x, test_train_ratio=0), ()),
    "measure of folds": (
        lambda x: pr.compare(TABLE, x, test_train_ratio=0, **NAMES), (),
    ),
    "level": (lambda x: pr.evaluate(TABLE, **NAMES, intervals=True, level=x), ()),
    "level of compare": (
        lambda x: pr.compare(ONE_TEST_SET, "auc", case="case", level=x, **NAMES), (),
    ),
    "intervals": (lambda x: pr.evaluate(TABLE, **NAMES, intervals=x), ()),
    "interpolation": (lambda x: pr.evaluate(TABLE, **NAMES, interpolation=x), ()),
    "champion": (lambda x: gate(champion=x), ()),
    "margin": (lambda x: gate(margin=x), ()),
    "measure of gate": (lambda x: gate(measure=x), ()),
    "over of gate": (lambda x: gate(over=x), (None,)),
    "prior of gate": (lambda x: gate(over=None, prior=x), (None,)),
    "test_train_ratio": (lambda x: gate(test_train_ratio=x), ()),
    "response": (lambda x: pr.anova(measures(), x, ["model", "fold"]), ()),
    "n": (lambda x: pr.prior_grid(0.1, 0.2, x), ()),
    "n of mean_curve": (lambda x: pr.mean_curve(curves("fold"), n=x), ()),
    "same_table": (
        lambda x: pr.apply_thresholds(TABLE, points(), **NAMES, same_table=x),
        (),
    ),
    "path": (lambda x: pr.report(ONE_TEST_SET, path=x), ("zzz",)),
}  # fmt: skip


@pytest.mark.alike(15)
@pytest.mark.slow
@pytest.mark.parametrize("argument", OTHERS)
def test_what_an_argument_cannot_be_is_refused_with_a_hint(argument):
    call, right = OTHERS[argument]
    for value in WEIRD:
        if any(value is fine or (fine == [] and isinstance(value, list) and not value)
               for fine in right):  # fmt: skip
            continue
        with pytest.raises(pr.errors.PolarocError, match="Hint:"):
            call(value)


def test_counts_have_an_upper_bound():
    for argument in ("recall", "probability_cost", "thresholds", "n"):
        with pytest.raises(InvalidArgument, match="1,000,000"):
            OTHERS[argument][0](1_000_001)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: pr.skew(x) if isinstance(x, int) else pr.prior_grid(0.1, x, 2),
        lambda x: pr.auprec(curves(), x),
        lambda x: pr.uniform(0.1, x),
        lambda x: pr.beta(1, x),
        lambda x: pr.prior(x) if isinstance(x, int) else pr.prior_grid(0.1, x, 2),
        lambda x: pr.operating_points(curves(), "cost", cost_fn=x),
        lambda x: pr.operating_points(curves(), "threshold", target=x),
        lambda x: pr.evaluate(TABLE, **NAMES, intervals=True, level=x),
        lambda x: pr.expr.rate("recall", "truth", "score", x),
    ],
)
def test_numbers_that_no_float_holds_are_refused(call):
    for huge in HUGE:
        with pytest.raises(InvalidArgument, match="Hint:"):
            call(huge)


@pytest.mark.parametrize("name", ["cost", "costs", "cost_f"])
def test_an_argument_that_begins_several_names_suggests_all_of_them(name):
    table = pl.DataFrame({"truth": [0, 1, 0, 1], "score": [0.1, 0.4, 0.3, 0.8]})
    with pytest.raises(InvalidArgument, match="did you mean 'cost_fn', 'cost_fp'") as refused:
        pr.operating_points(table, "cost", truth="truth", score="score", priors=0.1, **{name: 20})
    assert f"no argument '{name}'" in str(refused.value)
