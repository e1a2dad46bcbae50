import inspect
from functools import cache, wraps
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from pages import Page
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.deployment.monitor_result import Monitor
from polaroc.errors import InvalidArgument, PolarocError
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import ROLES, documented
from polaroc.probability.calibration import Calibration

pytestmark = pytest.mark.usefixtures("words_only", "no_cases_needed")
rng = np.random.default_rng(1)
ROWS = 240
# Names that tell nothing, so that nothing is found by them.
TABLE = pl.DataFrame(
    {
        "y": (rng.random(ROWS) < 0.3).astype(int),
        "other y": (rng.random(ROWS) < 0.4).astype(int),
        "p": rng.integers(1, 200, ROWS) / 200,
        "q": rng.integers(1, 100, ROWS) / 120,
        "m": ["A", "B"] * (ROWS // 2),
        "f": [1, 1, 2, 2] * (ROWS // 4),
        "place": [1, 1, 1, 1, 2, 2, 2, 2] * (ROWS // 8),
        "row": np.arange(ROWS),
        "number": np.arange(ROWS) // 2,
        "one of ten": np.arange(ROWS) % 10,
        "w": rng.integers(1, 4, ROWS),
    }
).with_columns(y=pl.col("y").first().over("number"))
CURVE = pr.curve(TABLE.with_columns(p=1 - pl.col("p")), truth="y", score="p")
KEYED = pr.curve(
    TABLE.with_columns(p=1 - pl.col("p")), truth="y", score="p", by="place", model="m", fold="f"
)
POINTS = pr.operating_points(CURVE, priors=[0.1, 0.5])
BASE = {"truth": "y", "score": "p"}
PAIRED = BASE | {"model": "m", "case": "number"}


@wraps(pr.report)
def words_of_report(*cases, **asked):
    with TemporaryDirectory() as folder:
        page = Page(pr.report(*cases, **asked, path=Path(folder) / "page.html"))
    return pl.DataFrame({"words": page.text().split()})


FUNCTIONS = {
    "curve": (pr.curve, BASE, {}),
    "evaluate": (
        pr.evaluate,
        BASE,
        {"measures": ["auc", "brier"], "priors": [0.1], "intervals": True},
    ),
    "check": (pr.check, BASE, {}),
    "calibration": (pr.calibration, BASE, {}),
    "apply_thresholds": (pr.apply_thresholds, BASE, {"points": POINTS, "intervals": True}),
    "operating_points": (
        pr.operating_points,
        BASE,
        {"constraints": {"precision": 0.3}, "priors": 0.5, "confidence": 0.9},
    ),
    "expected_cost": (pr.expected_cost, BASE, {"over": 0.4, "intervals": True}),
    "decision_curve": (
        pr.decision_curve,
        BASE,
        {"thresholds": [0.2, 0.5], "priors": 0.1, "intervals": True},
    ),
    "probabilities": (
        pr.probabilities,
        {"score": "p", "model": "m", "fold": "f", "by": "place"},
        {"curve": KEYED, "priors": 0.1},
    ),
    "estimate_prior": (pr.estimate_prior, BASE, {"deployed": TABLE, "method": "confusion"}),
    "monitor": (pr.monitor, BASE, {"deployed": TABLE, "points": 0.5, "time": "one of ten"}),
    "one_vs_rest": (pr.one_vs_rest, {"truth": "y"}, {"scores": {0: "p", 1: "q"}}),
    "report": (words_of_report, BASE | {"model": "m", "fold": "f"}, {"over": (0.1, 0.3)}),
    "compare": (pr.compare, PAIRED, {"measure": "brier", "prior": 0.1}),
    "choose": (pr.choose, PAIRED, {"measure": "brier", "over": (0.1, 0.1)}),
    "gate": (
        pr.gate,
        PAIRED,
        {"measure": "brier", "prior": 0.1, "champion": "A", "challenger": "B"},
    ),
}
# Where the role has a bearing on some tables only.
BASE_OF = {
    (name, "test_train_ratio"): PAIRED | {"fold": "f"} for name in ("compare", "choose", "gate")
} | {("operating_points", "score_prior"): BASE | {"score_prior": "observed"}}
# Other options that go with a role.
ON_ROLE = {
    ("operating_points", "score_prior"): {"rule": "posterior", "priors": 0.5},
}
# Another value of each role, which has to change what is made of it.
OTHER = {
    "truth": "other y", "score": "q", "positive": 0, "nulls": "drop", "model": "m", "fold": "f",
    # Rows that share a case would have a note.
    "case": "row", "cluster": "one of ten",
    "count": "w", "weight": "w", "by": "place", "score_prior": 0.2, "test_train_ratio": 0.25,
}  # fmt: skip
OTHER_OF = {
    ("check", "case"): "one of ten",
    ("report", "model"): "place", ("report", "fold"): "place", ("report", "case"): "number",
    ("compare", "model"): "f",
    ("choose", "model"): "f",
    ("gate", "model"): None,
    ("operating_points", "cluster"): "place",
    **{("probabilities", role): None for role in ("model", "fold", "by")},
}  # fmt: skip


@cache
def plain_outcome(name):
    return outcome(name, FUNCTIONS[name][1])


def outcome(name, roles, table=TABLE):
    function, _, others = FUNCTIONS[name]
    others = next((ON_ROLE[name, role] for role in roles if (name, role) in ON_ROLE), others)
    try:
        return table_of(function(table, **roles, **others))
    except PolarocError as error:
        return error


def table_of(result):
    """The numbers of a result that is no table."""
    if isinstance(result, Monitor | Calibration):
        return result.table
    if hasattr(result, "pairs"):
        return result.pairs
    if isinstance(result, Cases):
        return result.table
    if hasattr(result, "gaps"):
        return result.parts
    if hasattr(result, "models"):
        return result.models.with_columns(said=pl.lit(" ".join(result.warnings)))
    if hasattr(result, "verdict"):
        return pl.DataFrame([vars(result) | {"cases": None, "warnings": None}])
    return result


def described(name, table):
    _, base, others = FUNCTIONS[name]
    return pr.cases(table, **{"truth": "y"} | base), others


def of_cases():
    return {name for name in pr.__all__ if "bearings" in getattr(getattr(pr, name), "__dict__", {})}


def test_every_function_of_cases_is_here():
    assert of_cases() == set(FUNCTIONS)


# Every second one: of an odd number of roles, other ones of each function and of the next.
@pytest.mark.alike(250)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_role_is_used_or_has_no_bearing_or_is_refused(name, role):
    function, base, _ = FUNCTIONS[name]
    table = TABLE
    if role == "nulls":
        table = TABLE.with_columns(p=pl.when(pl.col("number") > 3).then("p"))
    if role == "nulls" or (name, role) in BASE_OF:
        base = BASE_OF.get((name, role), base)
        plain = outcome(name, base, table)
    else:
        plain = plain_outcome(name)
    found = outcome(name, base | {role: OTHER_OF.get((name, role), OTHER[role])}, table)
    does = function.bearings.get(role, "refused")
    if does == "used":
        # Of the two at least one is a result, and they differ.
        assert not isinstance(found, type(plain)) or not found.equals(plain)
    elif does == "no bearing" and role != "nulls":
        assert_frame_equal(found, plain, rel_tol=1e-12)
    elif does == "no bearing":
        assert type(found) is type(plain)
    else:
        assert isinstance(found, InvalidArgument)
        assert f"{name} does not honour '{role}'" in found.found
    assert (role in inspect.signature(function).parameters) == (does != "refused")


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_cases_give_what_a_table_with_the_same_roles_gives(name, lazy):
    function, base, others = FUNCTIONS[name]
    table = TABLE.lazy() if lazy else TABLE
    cases, beside = described(name, table)
    found = cases.pipe(function, **beside)
    expected = function(table, **base, **others)
    assert type(found) is type(expected)
    found, expected = table_of(found), table_of(expected)
    # Rows of a plan come in no order.
    both = found.lazy().collect(), expected.lazy().collect()
    assert_frame_equal(*both, rel_tol=1e-12, check_row_order=not lazy)
    if isinstance(found, pl.LazyFrame):
        # A plan knows its columns, and gives what a frame gives.
        eager = plain_outcome(name)
        assert found.collect_schema() == eager.schema
        assert_frame_equal(found.collect(), eager, rel_tol=1e-9, check_row_order=False)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_unknown_or_lacks_is_said(name):
    function, base, others = FUNCTIONS[name]
    for needed in ("truth", "score"):
        if needed in base:
            with pytest.raises(InvalidArgument, match=rf"(?s)^{needed} is not given.*Hint: name"):
                function(TABLE, **{role: one for role, one in base.items() if role != needed},
                         **others)  # fmt: skip
    with pytest.raises(
        InvalidArgument, match=r"no argument 'clustre'; allowed are .*truth, .*count"
    ):
        function(TABLE, **base, clustre="m", **others)
    with pytest.raises(
        InvalidArgument, match=r"no column 'numbers'; the table has 'y', .*'number'"
    ):
        function(TABLE, **base | {"score": "numbers"}, **others)
    _, beside = described(name, TABLE)
    for needed in ("truth", "score"):
        if needed in base:
            other = {"truth": "score", "score": "truth"}[needed]
            with pytest.raises(InvalidArgument, match=rf"(?s)^{needed} is not given.*Hint: name"):
                function(pr.cases(TABLE, **{other: "y"}), **beside)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keywords_beside_cases_override_their_roles(name):
    function, base, _ = FUNCTIONS[name]
    role, other = ("truth", "other y") if "truth" in base else ("score", "q")
    cases, beside = described(name, TABLE)
    found = function(pr.cases(cases, **{role: other}), **{role: base[role]}, **beside)
    assert_frame_equal(table_of(found), plain_outcome(name), rel_tol=1e-12)
    # What was said before stays so, and what was said to be none.
    with pytest.raises(InvalidArgument, match="no column 'nothing'"):
        function(cases, by="nothing", **beside)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_error_of_numpy_is_raised_because_a_caller_wants_them(name):
    with np.errstate(all="raise"):
        found = outcome(name, FUNCTIONS[name][1])
    assert_frame_equal(found, plain_outcome(name), rel_tol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_word_that_equals_a_default_is_the_default(name):
    # Words that were read from a file are no constants of the interpreter.
    words = {"score_prior": "observed", "nulls": "raise"}
    read = {role: "".join(list(word)) for role, word in words.items()}
    assert all(read[role] is not word for role, word in words.items())
    assert pr.cases(TABLE, **BASE, **read).said == pr.cases(TABLE, **BASE).said
    base = FUNCTIONS[name][1] | ({} if (name, "score_prior") in ON_ROLE else read)
    plain = outcome(name, FUNCTIONS[name][1])
    assert_frame_equal(outcome(name, base), plain, rel_tol=1e-12)


NAMED = TABLE.rename({"y": "truth", "p": "score", "m": "model", "f": "fold", "number": "case"})


def test_roles_have_by_default_the_column_of_exactly_their_name():
    for table in (NAMED, NAMED.lazy()):
        found = pr.cases(table)
        assert (found.truth, found.score) == ("truth", "score")
        assert (found.model, found.fold, found.case) == ("model", ("fold",), "case")
        none = pr.cases(table, model=None, fold=None, case=None)
        assert (none.model, none.fold, none.case, none.keys) == (None, (), None, [])
        assert pr.cases(table, by="model").model is None
        assert pr.cases(table, truth="other y").truth == "other y"
    assert found.table is table


@pytest.mark.parametrize("name", ["Model", "models", "model_id", "clf", "cv_fold", "split", "id"])
def test_no_other_name_gives_a_column_a_role(name):
    found = pr.cases(TABLE.rename({"m": name}), **BASE)
    assert found.columns.keys() == {"truth", "score"}


@pytest.mark.parametrize(("truth", "score"), [("y_true", "y_score"), ("label", "p")])
def test_the_columns_of_truth_and_score_are_not_guessed(truth, score):
    table = pl.DataFrame({truth: [1, 0], score: [0.9, 0.1]})
    message = f"truth is not given, and there is no column 'truth'; the table has '{truth}', "
    with pytest.raises(InvalidArgument, match=message):
        pr.evaluate(table)


@pytest.mark.parametrize("role", ["truth", "score", "model", "fold", "case", "cluster", "by"])
@pytest.mark.parametrize(
    ("value", "kind"), [(pl.col("m"), "Expr"), (cs.first(), "Selector"), (3, "int")], ids=str
)
def test_a_role_is_the_name_of_a_column(role, value, kind):
    message = rf"(?s)^{role} is a column name \(str\).* found .*{kind}\..*with_columns first"
    with pytest.raises(InvalidArgument, match=message):
        pr.cases(TABLE, **BASE | {role: value})


def test_files_of_predictions_need_no_roles_where_columns_have_their_names(tmp_path):
    NAMED.write_parquet(tmp_path / "p.parquet")
    found = pr.evaluate(tmp_path / "p.parquet", measures="auc")
    roles = {"truth": "truth", "score": "score", "model": "model", "fold": "fold"}
    assert_frame_equal(found, pr.evaluate(NAMED, **roles, measures="auc"))
    # A curve is told from predictions by its columns.
    chosen = pr.operating_points(NAMED, "balanced")
    assert_frame_equal(chosen, pr.operating_points(pr.curve(NAMED), "balanced"))


def test_keys_come_in_the_order_by_model_fold():
    found = pr.evaluate(NAMED, by="place", measures="auc")
    assert found.columns[:3] == ["place", "model", "fold"]
    table = NAMED.drop("model")
    wide = pr.evaluate(table, score=["score", "q"], by="place", measures="auc")
    assert wide.columns[:3] == ["model", "place", "fold"]
    same = pr.evaluate(NAMED, by="model", model="model", measures="auc")
    assert same.columns[:2] == ["model", "fold"]


@pytest.mark.parametrize(
    "roles",
    [
        {"weight": "p"}, {"by": "y"}, {"cluster": "w", "weight": "w"}, {"model": "m", "fold": "m"},
        {"model": "m", "case": "m"}, {"truth": "p"}, {"score": ["p", "y"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_column_has_no_two_roles_that_exclude_each_other(roles):
    with pytest.raises(InvalidArgument, match=r"(?s)which are different things.*Hint: "):
        pr.cases(TABLE, **BASE | roles)


def test_a_column_may_have_two_roles_that_mean_something():
    roles = {"cluster": "place", "by": "f", "fold": "f"}
    assert pr.cases(TABLE, **BASE, **roles).keys == ["f"]


def test_cases_are_printed_without_reading_a_lazy_table():
    def unreadable(frame):
        raise AssertionError("it was read")

    table = NAMED.lazy().map_batches(unreadable, schema=NAMED.schema)
    words = repr(pr.cases(table, cluster="one of ten"))
    assert words.splitlines()[0] == "a lazy table"
    assert "model    'model' (by default)\n" in words
    assert "not used: 'other y', 'q', 'place', 'row', 'w'" in words


def test_what_is_printed_of_a_table_in_memory_counts():
    table = NAMED.with_columns(truth=pl.when(pl.col("case") > 0).then("truth"))
    words = repr(pr.cases(table, cluster="one of ten"))
    positives = int(table["truth"].sum())
    assert words.startswith(f"240 rows, {positives} positives, 2 without a clear truth\n")
    for line in ("'model' (by default): 2\n", "'fold' (by default): 2\n",
                 "'case' (by default): 120\n", "'one of ten': 10\n"):  # fmt: skip
        assert line in words
    wide = pr.cases(TABLE, truth="y", score=["p", "q"])
    assert "score  'p', 'q': 2 models" in repr(wide)


def test_cases_do_not_change():
    cases = pr.cases(TABLE, **BASE)
    with pytest.raises(AttributeError):
        cases.truth = "other y"
    assert pr.cases(cases) is cases


def test_roles_are_documented_in_every_function():
    for name in [*FUNCTIONS, "cases"]:
        text = getattr(pr, name).__doc__
        assert "**columns" not in text
        for role in inspect.signature(getattr(pr, name)).parameters:
            assert role in text


def test_roles_are_documented_though_python_strips_the_indentation():
    # As Python 3.13 does.
    text = "What it does.\n\n    Parameters\n    ----------\n    **columns\n\n    Returns\n"
    written = documented(text, ["truth"])
    assert written == documented(inspect.cleandoc(text), ["truth"])
    assert "\ntruth\n    " in written


@pytest.mark.parametrize("column", ["model", "fold"])
def test_a_model_or_a_fold_may_be_the_cluster_too(column):
    plain = pr.evaluate(NAMED, measures="auc")
    assert_frame_equal(pr.evaluate(NAMED, cluster=column, measures="auc"), plain)


def test_cases_may_lack_their_truth_or_their_score_but_not_both():
    assert pr.cases(TABLE, score="p").truth is None
    assert pr.cases(TABLE, truth="y").score is None
    with pytest.raises(InvalidArgument, match="truth is not given"):
        pr.cases(TABLE, by="m")


@pytest.mark.parametrize("role", ["model", "case", "count", "weight"])
def test_a_list_is_no_column(role):
    with pytest.raises(InvalidArgument, match=rf"{role} is a column name \(str\), found list"):
        pr.cases(TABLE, **BASE, **{role: ["m", "f"]})


def test_what_was_given_may_change_and_cases_do_not():
    scores = ["p"]
    cases = pr.cases(TABLE, truth="y", score=scores)
    scores.append("q")
    assert cases.score == ["p"]


@pytest.mark.parametrize("lacking", ["champion", "challenger"])
def test_an_argument_that_is_needed_is_asked_for(lacking):
    given = {"champion": "A", "challenger": "B"}
    given.pop(lacking)
    with pytest.raises(InvalidArgument, match=rf"(?s)'{lacking}' is not given.*Hint: give"):
        pr.gate(TABLE, **PAIRED, measure="auc", **given)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "the table has no columns.\nHint: name its column, for example truth='truth'"),
    ],
)
def test_a_role_that_is_not_given_is_named_by_what_is_there(columns, said):
    with pytest.raises(InvalidArgument, match=f"(?s)truth is not given.*{said}"):
        pr.curve(pl.DataFrame(columns))


def test_a_truth_that_can_be_none_is_printed():
    days = pl.DataFrame({"score": [0.5]}).with_columns(truth=pl.date(2026, 1, 1))
    assert repr(pr.cases(days, truth="truth", score="score")).startswith("1 rows\n")
