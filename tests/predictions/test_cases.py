"""Tables and the roles of their columns, as `cases` and every other function take them."""

import re

import duckdb
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from verbs import CALLS, ONCE, TABLE, same

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

# Columns with the names of their roles.
NAMED = TABLE.rename({"y": "truth", "p": "score"})
every_call = pytest.mark.parametrize("name", CALLS)


@every_call
def test_cases_give_what_a_table_with_the_same_roles_gives(name):
    roles, call = CALLS[name]
    expected = call(TABLE, **roles)
    same(pr.cases(TABLE, **roles).pipe(call), expected)
    for plan in (pr.cases(TABLE.lazy(), **roles).pipe(call), call(TABLE.lazy(), **roles)):
        same(plan, expected)
        if isinstance(plan, pl.LazyFrame):
            assert plan.collect_schema() == expected.schema


@every_call
def test_keywords_beside_cases_override_their_roles(name):
    roles, call = CALLS[name]
    role, other = ("truth", "other") if "truth" in roles else ("score", "q")
    expected = call(TABLE, **roles)
    cases = pr.cases(TABLE, **roles | {role: other})
    same(cases.pipe(call, **{role: roles[role]}), expected)
    same(pr.cases(cases, **{role: roles[role]}).pipe(call), expected)
    # The other roles stay as they were.
    assert not expected.equals(call(cases))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "probabilities"])
def test_results_do_not_depend_on_the_names_of_columns(name):
    roles, call = CALLS[name]
    renamed = {"model": "clf", "fold": "cv", "case": "id"}
    same(call(TABLE.rename(renamed), **renamed | roles), call(TABLE, **roles))


def test_cases_of_a_table_in_memory_are_checked_and_those_of_a_plan_when_it_is_collected():
    table = NAMED.with_columns(score=pl.when(pl.col("case") > 2).then("score"))
    words = r"6 null scores in \d key\(s\): model='A', fold=1; "
    with pytest.raises(InvalidPredictions, match=words):
        pr.cases(table)
    plan = pr.cases(table.lazy())
    assert isinstance(plan.rows, pl.LazyFrame)
    with pytest.raises(InvalidPredictions, match=words):
        pr.compare(plan, "auc", test_train_ratio=1)
    assert pr.cases(plan, nulls="drop").collect().rows["score"].null_count() == 6


def test_several_folds_that_look_alike_stay_apart():
    parts = [("1", "1.1"), ("1.1", "1"), ("1.", "1"), ("1", ".1"), ("\\", ".1"), ("\\.", "1"),
             (None, "1"), ("null", "1"), ("\\null", "1"), ("", "1")]  # fmt: skip
    repeat, fold = zip(*parts, strict=True)
    table = pl.DataFrame({"repeat": repeat, "fold": fold, "score": 0.5}, strict=False)
    table = table.join(pl.DataFrame({"truth": [0, 1]}), how="cross")
    for frame in (table, table.lazy()):
        found = pr.evaluate(frame, fold=["repeat", "fold"], measure="auc").lazy().collect()
        assert found.columns[:2] == ["fold", "measure"]
        assert found["positives"].to_list() == [1] * len(parts)


# --- the same in every function -----------------------------------------------------------------

scored = pytest.mark.parametrize(
    "name", [k for k, v in CALLS.items() if {"truth", "score"} <= {*v[0]}]
)
WORDS = TABLE.with_columns(y=pl.when("y").then(pl.lit("fraud")).otherwise(pl.lit("ok")))


@scored
def test_labels_are_read_alike(name):
    roles, call = CALLS[name]
    expected = call(TABLE, **roles)
    same(call(WORDS, **roles, positive="fraud"), expected)
    same(
        call(WORDS.with_columns(y=pl.col("y") == "fraud").cast({"y": pl.String}), **roles), expected
    )
    same(call(TABLE.with_columns(y=1 - 2 * pl.col("y")), **roles, positive=-1), expected)
    with pytest.raises(InvalidPredictions, match="'fraud', 'ok'"):
        call(WORDS, **roles)


@scored
@pytest.mark.parametrize(("column", "missing"), [("p", None), ("y", None), ("y", "NA")])
def test_missing_values_are_refused_or_dropped(name, column, missing):
    roles, call = CALLS[name]
    lacking = pl.when(pl.col("case") > 2).then(column).otherwise(pl.lit(missing)).alias(column)
    table, roles = WORDS.with_columns(lacking), roles | {"positive": "fraud"}
    if name != "check":
        with pytest.raises(InvalidPredictions, match=r"6 null (scores|truths)"):
            call(table, **roles)
    found = call(table, **roles, nulls="drop")
    expected = call(WORDS.filter(pl.col("case") > 2), **roles)
    beside = ["note", "rows", "missing"]
    same(found.drop(beside, strict=False), expected.drop(beside, strict=False))


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_rows_of_a_key_with_the_name_of_a_count_are_refused(memory):
    table = pl.DataFrame({"len": ["a", "b"], "truth": [1, 0], "score": [None, 0.5]})
    with pytest.raises(InvalidPredictions, match="1 null score"):
        pr.evaluate(table, by="len", memory=memory)


@pytest.mark.parametrize(
    "name", [name for name in CALLS if name not in ("probabilities", "estimate_prior", "monitor")]
)
def test_a_count_is_so_many_equal_rows(name):
    roles, call = CALLS[name]
    roles = {role: column for role, column in roles.items() if role != "weight"}
    copies = TABLE.with_columns(copy=pl.int_ranges("count")).explode("copy").drop_nulls("copy")
    # Each copy is a case of its own.
    copies = copies.with_columns(pl.col("case") * 4 + pl.col("copy"))
    found, expected = call(TABLE, **roles, count="count"), call(copies, **roles)
    # Counts are summed as floats.
    assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-9)


@pytest.mark.parametrize(
    "name",
    ["curve", "check", "evaluate", "apply_thresholds", "expected_cost", "decision_curve",
     "calibration", "compare", "choose", "gate", "one_vs_rest"],
)  # fmt: skip
def test_results_do_not_depend_on_the_scale_of_weights(name):
    roles, call = CALLS[name]
    roles = roles | {"weight": "weight"}
    found, scaled = call(TABLE, **roles), call(TABLE.with_columns(pl.col("weight") * 1024), **roles)
    totals = {"pos", "neg", "tp", "fp", "positives", "negatives"} & {*found.columns}
    assert_frame_equal(found.select(pl.col([*totals]) * 1024), scaled.select(totals))
    # Notes name totals.
    beside = [*totals, "note"]
    same(found.drop(beside, strict=False), scaled.drop(beside, strict=False))


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("name", [name for name, (roles, _) in CALLS.items() if roles is ONCE])
def test_rows_without_a_cluster_are_refused(name, missing):
    patient = pl.when(pl.col("patient") > 2).then("patient").otherwise(pl.lit(missing, pl.Float64))
    with pytest.raises(InvalidPredictions, match=r"\d+ (cases have no cluster|rows have no)"):
        CALLS[name][1](TABLE.with_columns(patient), **ONCE)


@pytest.mark.parametrize(
    "name",
    ["evaluate", "apply_thresholds", "operating_points", "decision_curve", "calibration"],
)
def test_rows_that_share_a_case_are_noted_where_there_are_limits(name):
    roles = {k: v for k, v in CALLS[name][0].items() if k not in ("cluster", "weight")}
    # Each key has 15 values on 30 rows or more.
    patients = TABLE.with_columns(pl.col("case") // 8)
    for table, noted in ((patients, True), (TABLE, False), (TABLE.drop("case"), False)):
        words = CALLS[name][1](table, **roles)["note"].drop_nulls()
        assert words.str.contains("not independent").any() == noted


# --- roles --------------------------------------------------------------------------------------


def test_roles_have_by_default_the_column_of_exactly_their_name():
    expected = pr.evaluate(TABLE, truth="y", score="p", model="model", fold="fold", measure="auc")
    assert expected.columns[:2] == ["model", "fold"]
    for table in (NAMED, NAMED.lazy(), pr.cases(NAMED)):
        same(pr.evaluate(table, measure="auc"), expected)
    pooled = pr.evaluate(NAMED.drop("model", "fold"), measure="auc")
    none = pr.cases(NAMED, model=None, fold=None)
    same(none.pipe(pr.evaluate, measure="auc"), pooled)
    same(pr.cases(none, case=None).pipe(pr.evaluate, measure="auc"), pooled)
    same(pr.evaluate(pr.cases(NAMED), model=None, fold=None, measure="auc"), pooled)
    # What was none before is none.
    by_place = pr.evaluate(NAMED.drop("model", "fold"), by="place", measure="auc")
    same(none.pipe(pr.evaluate, by="place", measure="auc"), by_place)


@pytest.mark.parametrize("name", ["Model", "models", "model_id", "clf", "cv_fold", "split", "id"])
def test_no_other_name_gives_a_column_a_role(name):
    table = NAMED.drop("fold", "case").rename({"model": name})
    same(pr.evaluate(table, intervals=True), pr.evaluate(table.drop(name), intervals=True))


def test_truth_and_score_are_not_guessed():
    table = pl.DataFrame({"y_true": [1, 0], "y_score": [0.9, 0.1]})
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidArgument, match=r"truth.*'y_true'"):
            pr.evaluate(frame)
        with pytest.raises(InvalidArgument, match=r"score.*'y_score'"):
            pr.evaluate(frame, truth="y_true")


def test_cases_may_lack_their_truth_or_their_score_but_not_both():
    for role, column, lacking in (("score", "p", "truth"), ("truth", "y", "score")):
        cases = pr.cases(TABLE, **{role: column})
        with pytest.raises(InvalidArgument, match=lacking):
            pr.evaluate(cases)
    with pytest.raises(InvalidArgument, match="truth"):
        pr.cases(TABLE, by="place")
    with pytest.raises(InvalidPredictions, match="unclear truth labels"):
        pr.cases(TABLE, truth="p")


def test_cases_do_not_change():
    scores = ["p"]
    cases = pr.cases(TABLE.drop("model"), truth="y", score=scores)
    scores.append("q")
    assert pr.evaluate(cases, measure="auc")["model"].unique().to_list() == ["p"]


# --- what is printed ----------------------------------------------------------------------------


def test_cases_are_printed_with_their_roles_and_counts():
    table = NAMED.with_columns(truth=pl.when(pl.col("case") > 0).then("truth"))
    words = repr(pr.cases(table, cluster="patient", nulls="drop"))
    assert words.startswith(f"240 rows, {int(table['truth'].sum())} positives\n")
    assert re.search("(?m)^nulls +'drop'$", words)
    for role, column, count in (
        ("model", "model", 2), ("fold", "fold", 2), ("case", "case", 120),
        ("cluster", "patient", 40),
    ):  # fmt: skip
        assert re.search(rf"(?m)^{role} .*'{column}'.*\b{count}$", words)
    assert "'other', 'q', 'place', 'day', 'weight', 'count'" in words
    wide = repr(pr.cases(TABLE.drop("model"), truth="y", score=["p", "q"]))
    assert re.search(r"(?m)^score .*'p', 'q'.*\b2 models", wide)


def test_a_lazy_table_is_printed_without_being_read():
    def read(frame):
        raise AssertionError

    table = NAMED.lazy().map_batches(read, schema=NAMED.schema)
    assert re.search("lazy(.|\n)*'patient'", repr(pr.cases(table, cluster="patient")))


# --- kinds of tables ----------------------------------------------------------------------------

WIDE = TABLE.filter(model="A").drop("model", "p").with_columns(
    y=pl.when("y").then(pl.lit("yes")).otherwise(pl.lit("no")), A="q", B=pl.col("q").reverse()
)  # fmt: skip
LONG = WIDE.unpivot(["A", "B"], index=["y", "fold", "case", "weight"], variable_name="model",
                    value_name="p")  # fmt: skip
LABELS = {"truth": "y", "positive": "yes"}
KINDS = {
    "lazy": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
    "pandas, nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas, categorical": lambda table: table.to_pandas().astype(
        {name: "category" for name, kind in table.schema.items() if kind == pl.String}
    ),
    "PyArrow": pl.DataFrame.to_arrow,
    "DuckDB": lambda table: duckdb.from_arrow(table.to_arrow()),
    "NumPy": lambda table: {column.name: column.to_numpy() for column in table},
    "lists": lambda table: table.to_dict(as_series=False),
}
ANSWERS = {
    "curve": pr.curve,
    "evaluate": lambda table, **roles: pr.evaluate(table, **roles, weight="weight", intervals=True),
    "check": lambda table, **roles: pr.check(table, **roles, weight="weight"),
    "compare": lambda table, **roles: pr.compare(table, "auc", **roles, fold=None).pairs,
}


@pytest.mark.parametrize("kind", ["Polars", *KINDS])
def test_tables_of_all_kinds_long_and_wide_give_the_same_answers(kind):
    convert = KINDS.get(kind, lambda table: table)
    for answer in ANSWERS.values():
        expected = answer(LONG, **LABELS, score="p")
        for table, score in ((LONG, "p"), (WIDE, ["A", "B"])):
            found = answer(convert(table), **LABELS, score=score).lazy().collect()
            found = found.with_columns(pl.col(pl.Categorical).cast(pl.String))
            assert_frame_equal(found, expected, rel_tol=1e-9, check_row_order=kind != "lazy")


def test_of_a_wide_table_the_model_is_a_key_and_each_row_a_case():
    found = pr.evaluate(WIDE, **LABELS, score=["A", "B"], by="place", measure="auc")
    assert {*found.columns[:3]} == {"model", "place", "fold"}
    same(
        pr.compare(WIDE.drop("case"), "auc", **LABELS, score=["A", "B"], fold=None).pairs,
        pr.compare(LONG, "auc", **LABELS, score="p", fold=None).pairs,
    )
    with pytest.raises(InvalidArgument, match="model"):
        pr.evaluate(WIDE.with_columns(model=1), **LABELS, score=["A", "B"])
    cases = pr.cases(WIDE.drop("case"), **LABELS, score=["A", "B"], fold=None)
    assert {*cases.rows.columns} == {"model", "case", "truth", "score"}
    assert cases.rows.filter(model="B")["case"].to_list() == [*range(WIDE.height)]
    # Each of a list of columns is a model, also if there is one.
    one = pr.evaluate(cases, score=["B"], measure="auc")
    same(one, pr.evaluate(cases, measure="auc").filter(model="B"))
    same(pr.evaluate(cases, score="B", measure="auc"), one.drop("model"))
