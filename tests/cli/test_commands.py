"""Every command beside the function that it calls: the same table, the same answers."""

import json
import re
from inspect import signature
from itertools import cycle

import polars as pl
import pytest
from agreement import assert_same_document
from command_line import COMMANDS, polaroc
from polars.testing import assert_frame_equal

import polaroc as pr

RANGE = ["--over", 0.05, 0.2]
OVER = {"over": (0.05, 0.2)}

TABLE = (
    pr.datasets.satellite_predictions()
    .filter(pl.col("fold") <= 3, pl.col("case") < 900)
    .with_columns(
        weight=1.0 + pl.col("case") % 3,
        site=pl.col("case") % 2,
        label=pl.when("truth").then(pl.lit("crop")).otherwise(pl.lit("soil")),
        lost=pl.when((pl.col("case") % 50 != 7) | (pl.col("model") != "B")).then("score"),
    )
)
ONE_SET = TABLE.filter(fold=1).drop("fold")
BY_MODEL = ONE_SET.sort("case").partition_by("model", as_dict=True)
WIDE = BY_MODEL["A",].select("case", "truth", *(
    one["score"].alias(model) for (model,), one in sorted(BY_MODEL.items())
))  # fmt: skip
NAMED = TABLE.select(who="model", part="fold", unit="case", truth="truth", score="score")
SCORES = {"truth": "truth", "score": "score"}
# A table and the roles of its columns.
TABLES = {
    "folds": (TABLE, SCORES),
    "one test set": (ONE_SET, SCORES),
    "no folds": (TABLE.filter(fold=1), SCORES | {"fold": None}),
    "named": (NAMED, SCORES | {"model": "who", "fold": ["part"], "case": "unit"}),
    "wide": (WIDE, {"truth": "truth", "score": ["A", "B"]}),
    "weights": (TABLE, SCORES | {"weight": "weight"}),
    "counts": (TABLE.cast({"weight": pl.Int64}), SCORES | {"count": "weight"}),
    "labels": (TABLE, {"truth": "label", "score": "score", "positive": ["crop"]}),
    "lost scores": (ONE_SET, {"truth": "truth", "score": "lost", "nulls": "drop"}),
    "clusters": (
        ONE_SET.with_columns(patient=pl.col("case") // 3), SCORES | {"cluster": "patient"},
    ),
    "ratio": (TABLE, SCORES | {"test_train_ratio": 0.25}),
}  # fmt: skip


# Of functions that do not compare models.
PLAIN = [name for name in TABLES if name != "ratio"]


def options_of(roles, command):
    """The roles as options, less those that the command does not have."""
    known = {one.name for one in COMMANDS[command].params}
    for name, value in roles.items():
        option = "--" + name.replace("_", "-")
        if name not in known:
            continue
        values = value if isinstance(value, list) else [value]
        yield from (word for one in values for word in (option, "" if one is None else one))


def run(command, table, roles, folder, *options):
    table.write_parquet(folder / "table.parquet")
    words = [folder / "table.parquet", *options_of(roles, command), *options]
    return polaroc(command, *words, *([] if "--out" in options else ["--json"]))


def assert_same(found, expected):
    """Whether JSON has what Python returns."""
    if isinstance(expected, pl.DataFrame):
        table = pl.DataFrame(found, schema=expected.schema, strict=False)
        assert_frame_equal(table, expected, abs_tol=1e-9)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9)
    elif isinstance(expected, str) and "_" in expected:
        # Arguments are named as options.
        assert found[:20] == expected[:20]
    else:
        assert found == expected


def assert_as_in_python(result, function, *arguments, **options):
    """Whether a command prints what a function returns, or refuses what it refuses."""
    refusal = None
    try:
        expected = function(*arguments, **options)
    except pr.errors.PolarocError as error:
        refusal = error.problem
    if refusal is not None:
        assert result.exit_code == 2, result.output
        assert " ".join(refusal.split()) in " ".join(result.stderr.split())
        return
    assert result.exit_code in (0, 1, 3), result.output
    found = json.loads(result.stdout)
    if isinstance(expected, pl.DataFrame):
        assert_same(found, expected)
        return
    assert found.keys() == {"answer", "warnings", *expected.facts, *expected.tables}
    for name in ("answer", "warnings", *expected.facts):
        assert_same(found[name], getattr(expected, name))
    for name, table in expected.tables.items():
        assert_same(found[name], table)


def on_tables(asked, names=tuple(TABLES)):
    """Each table with one of the options in turn, and the same as arguments."""
    return pytest.mark.parametrize(
        ("name", "options", "arguments"),
        [
            pytest.param(name, *one, id=f"{name}-{place % len(asked)}")
            for place, (name, one) in enumerate(zip(names, cycle(asked), strict=False))
        ],
    )


@on_tables(
    [
        ([], {}),
        ([*RANGE, "--prior", 0.1], {**OVER, "priors": [0.1]}),
        (["--interpolation", "hull", "--prior", 0.1, "--prior", "observed"],
         {"interpolation": "hull", "priors": [0.1, "observed"]}),
        (["--measure", "brier", "--measure", "auc"], {"measure": ["brier", "auc"]}),
        (["--measure", "auc", "--intervals", "--level", 0.9],
         {"measure": ["auc"], "intervals": True, "level": 0.9}),
        ([*RANGE, "--grid", 3, "--prior", 0.1, "--measure", "auprec"],
         {"priors": [0.1, 0.05, 0.125, 0.2], "measure": ["auprec"]}),
    ],
    PLAIN,
)  # fmt: skip
def test_evaluate(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("evaluate", table, roles, tmp_path, *options)
    assert_as_in_python(result, pr.evaluate, table, **roles, **arguments)


@pytest.mark.parametrize("name", PLAIN)
def test_check(tmp_path, name):
    table, roles = TABLES[name]
    assert_as_in_python(run("check", table, roles, tmp_path), pr.check, table, **roles)


@on_tables(
    [
        ([], {}),
        (["--cost-fn", 5, *RANGE], {"cost_fn": 5, **OVER}),
        (["--max-posfrac", 0.2, "--prior", 0.1], {"constraints": {"posfrac": 0.2}, "priors": 0.1}),
        (["--min-recall", 0.9], {"constraints": {"recall": 0.9}}),
        (["--rule", "youden", "--prior", 0.1], {"rule": "youden", "priors": 0.1}),
        (["--min-precision", 0.3, "--min-recall", 0.2, "--confidence", 0.9, *RANGE],
         {"constraints": {"precision": 0.3, "recall": 0.2}, "confidence": 0.9, **OVER}),
    ],
    PLAIN,
)  # fmt: skip
def test_threshold(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("threshold", table, roles, tmp_path, *options)
    assert_as_in_python(result, pr.operating_points, table, **roles, **arguments)


@pytest.mark.parametrize("name", ["folds", "one test set", "wide", "counts", "labels"])
def test_a_number_in_use(tmp_path, name):
    table, roles = TABLES[name]
    result = run("threshold", table, roles, tmp_path, "--apply", 0.5, "--prior", 0.1)
    asked = {"priors": [0.1], "intervals": True}
    assert_as_in_python(result, pr.apply_thresholds, table, 0.5, **roles, **asked)


@on_tables(
    [
        (RANGE, OVER),
        (["--measure", "auc", "--level", 0.9], {"measure": "auc", "level": 0.9}),
        (["--measure", "auprec", "--prior", 0.1], {"measure": "auprec", "priors": 0.1}),
    ],
)  # fmt: skip
def test_compare(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("compare", table, roles, tmp_path, *options)
    assert_as_in_python(result, pr.compare, table, **roles, **arguments)


@on_tables(
    [
        (RANGE, OVER),
        ([*RANGE, "--measure", "log_loss"], {**OVER, "measure": "log_loss"}),
        ([*RANGE, "--cost-fn", 10, "--cost-fp", 2], {**OVER, "cost_fn": 10, "cost_fp": 2}),
    ]
)
def test_choose(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("choose", table, roles, tmp_path, *options)
    assert_as_in_python(result, pr.choose, table, **roles, **arguments)


@pytest.mark.parametrize("name", ["one test set", "wide", "lost scores"])
def test_choose_with_thresholds(tmp_path, name):
    table, roles = TABLES[name]
    test, tuning = (table.filter(pl.col("case") % 2 == half) for half in (1, 0))
    tuning.write_parquet(tmp_path / "tuning.parquet")
    result = run(
        "choose", test, roles, tmp_path, *RANGE, "--cost-fn", 5, "--min-precision", 0.25,
        "--min-recall", 0.5, "--confidence", 0.95, "--tuning", tmp_path / "tuning.parquet",
    )  # fmt: skip
    asked = {**roles, **OVER, "cost_fn": 5, "tuning": tuning, "confidence": 0.95,
             "constraints": {"recall": 0.5, "precision": 0.25}}  # fmt: skip
    assert_as_in_python(result, pr.choose, test, **asked)


@on_tables(
    [(RANGE, OVER), (["--measure", "auc", "--margin", 0.05], {"measure": "auc", "margin": 0.05})]
)
def test_gate(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    asked = {"champion": "A", "challenger": "B"} | arguments
    words = ["--champion", "A", "--challenger", "B", *options]
    result = run("gate", table, roles, tmp_path, *words)
    assert_as_in_python(result, pr.gate, table, **roles, **asked)
    if result.exit_code != 2:
        verdict = json.loads(result.stdout)["verdict"]
        assert result.exit_code == {"pass": 0, "fail": 1, "undecided": 3}[verdict]
        table_and_roles = [tmp_path / "table.parquet", *options_of(roles, "gate")]
        shown = polaroc("gate", *table_and_roles, *words, "--markdown")
        assert shown.stdout == pr.gate(table, **roles, **asked).markdown
        assert shown.exit_code == result.exit_code


def test_models_are_named_in_the_type_of_their_column(tmp_path):
    table = ONE_SET.with_columns(model=pl.col("model").replace_strict({"A": 1, "B": 2, "C": 3}))
    words = ["--champion", 1, "--challenger", 2, *RANGE]
    result = run("gate", table, SCORES, tmp_path, *words)
    asked = {**SCORES, **OVER, "champion": 1, "challenger": 2}
    assert_as_in_python(result, pr.gate, table, **asked)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("command", ["compare", "choose", "gate"])
def test_stored_measures(tmp_path, command, suffix):
    # As text, the folds 1.1 and 1.10 are two.
    folds = pl.col("part").replace_strict({1: "1.1", 2: "1.10", 3: "2"})
    measures = pr.evaluate(
        NAMED.with_columns(folds), **TABLES["named"][1], priors=[0.05, 0.1, 0.2], **OVER
    )
    file = tmp_path / f"measures.{suffix}"
    getattr(measures, f"write_{suffix}")(file)
    roles = {"test_train_ratio": 0.25}
    models = {"champion": "A", "challenger": "B"} if command == "gate" else {}
    words = [word for name, model in models.items() for word in (f"--{name}", model)]
    result = polaroc(command, file, *options_of(roles, command), *words, "--json")
    assert_as_in_python(result, getattr(pr, command), measures, **roles, **models)


@pytest.mark.parametrize("name", ["one test set", "wide", "labels", "named"])
def test_monitor(tmp_path, name):
    table, roles = TABLES[name]
    case = roles.get("case", "case")
    if name in ("labels", "named"):
        table = table.filter(pl.col(roles.get("fold", ["fold"])[0]) == 1)
        roles = roles | {"fold": None}
    reference = table.filter(pl.col(case) % 3 > 0)
    used = table.filter(pl.col(case) % 3 == 0).with_columns(day=pl.col(case) % 2)
    files = [tmp_path / "reference.parquet", tmp_path / "used.parquet"]
    reference.write_parquet(files[0])
    used.write_parquet(files[1])
    result = polaroc(
        "monitor", *files, *options_of(roles, "monitor"), "--time", "day", "--threshold", 0.5,
        *RANGE, "--level", 0.9, "--cost-fn", 3, "--labelled", files[1], "--json",
    )  # fmt: skip
    asked = {**roles, **OVER, "time": "day", "points": 0.5, "level": 0.9, "cost_fn": 3}
    assert_as_in_python(result, pr.monitor, reference, used, labelled=used, **asked)


@pytest.mark.parametrize(
    ("name", "options", "arguments"),
    [
        ("folds", ["--min-recall", 0.9], {"constraints": {"recall": 0.9}}),
        ("one test set", ["--max-posfrac", 0.2], {"constraints": {"posfrac": 0.2}}),
        (
            "wide",
            ["--min-recall", 0.8, "--title", "Mine"],
            {"constraints": {"recall": 0.8}, "title": "Mine"},
        ),
    ],
)
def test_report(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    pages, told = [tmp_path / "command.json", tmp_path / "function.json"], []
    result = run("report", table, roles, tmp_path, *RANGE, *options, "--out", pages[0])
    assert result.exit_code == 0, result.output
    pr.report(table, path=pages[1], **roles, **OVER, **arguments, tell=told.append)
    assert_same_document(*(json.loads(page.read_text()) for page in pages))
    assert all(line[:40] in result.output for line in told[0].splitlines())


REQUESTS = [
    ([], {}),
    (["--cost-fn", 10], {"cost_fn": 10}),
    (["--min-precision", 0.3, "--confidence", 0.95],
     {"constraints": {"precision": 0.3}, "confidence": 0.95}),
    (["--min-recall", 0.8, "--confidence", 0.95],
     {"constraints": {"recall": 0.8}, "confidence": 0.95}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "arguments"), REQUESTS)
def test_choose_report_and_python_decide_alike(tmp_path, options, arguments):
    table = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
    test, tuning = (table.filter(pl.col("case") % 2 == half) for half in (1, 0))
    tuning.write_parquet(tmp_path / "tuning.parquet")
    asked = [*RANGE, *options, "--tuning", tmp_path / "tuning.parquet"]
    expected = pr.choose(test, **SCORES, **OVER, tuning=tuning, **arguments)
    chosen = json.loads(run("choose", test, SCORES, tmp_path, *asked).stdout)
    assert (chosen["bayes"], chosen["threshold"]) == (expected.bayes, expected.threshold)
    page = tmp_path / "page.json"
    result = run("report", test, SCORES, tmp_path, *asked, "--out", page)
    assert result.exit_code == 0, result.output
    shown = json.loads(page.read_text())
    assert shown["answer"][0].startswith(f"Take {expected.bayes},")
    # Printed thresholds select the same cases as the exact one.
    scores = table.filter(model=expected.bayes)["score"]
    assert (scores >= shown["threshold"]).equals(scores >= expected.threshold)


def of_curves(draw):
    return lambda table: draw(pr.curve(table, **SCORES))


LINE = pr.prior_grid(0.05, 0.2, 25, "log")["prior"].to_list()
CHARTS = {
    "roc": ([], of_curves(pr.charts.roc)),
    "explorer": ([], of_curves(pr.charts.explorer)),
    "pr": (["--prior", 0.1], of_curves(lambda it: pr.charts.pr(pr.surface(it, [0.1])))),
    "cost_curves": ([], of_curves(lambda it: pr.charts.cost_curves(pr.cost_curve(it)))),
    "decision_curves": (
        ["--prior", 0.1],
        of_curves(lambda it: pr.charts.decision_curves(pr.decision_curve(it, priors=[0.1]))),
    ),
    "operating_drift": (
        RANGE,
        of_curves(
            lambda it: pr.charts.operating_drift(pr.operating_points(it, priors=[0.05, 0.2]), it)
        ),
    ),
    "auprec_by_prior": (
        RANGE,
        lambda it: pr.charts.auprec_by_prior(
            pr.evaluate(it, **SCORES, priors=LINE, measure="auprec")
        ),
    ),
    "accsens_plane": (
        RANGE,
        lambda it: pr.charts.accsens_plane(
            pr.evaluate(it, **SCORES, **OVER, priors="observed", measure=["auc_range", "sens"])
        ),
    ),
    "pairs": (
        ["--measure", "auc"], lambda it: pr.charts.pairs(pr.compare(it, "auc", **SCORES)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
def test_chart(tmp_path, name):
    options, draw = CHARTS[name]
    ONE_SET.write_parquet(tmp_path / "table.parquet")
    words = [name, tmp_path / "table.parquet", *options_of(SCORES, "chart"), *options]
    result = polaroc("chart", *words, "--out", "-")
    assert result.exit_code == 0, result.output
    assert_same_document(json.loads(result.stdout), draw(ONE_SET).to_dict())


def test_a_chart_of_calibration(tmp_path):
    table = ONE_SET.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    table.write_parquet(tmp_path / "table.parquet")
    words = ["reliability", tmp_path / "table.parquet", *options_of(SCORES, "chart")]
    drawn = json.loads(polaroc("chart", *words, "--title", "Mine", "--out", "-").stdout)
    expected = pr.charts.reliability(pr.calibration(table, **SCORES).curve, title="Mine")
    assert_same_document(drawn, expected.to_dict())


@pytest.mark.parametrize("name", ["pairs", "auprec_by_prior"])
def test_charts_of_stored_measures(tmp_path, name):
    measures = pr.evaluate(TABLE, **SCORES, priors=[0.05, 0.1, 0.2], **OVER)
    measures.write_parquet(tmp_path / "measures.parquet")
    ratio = {"test_train_ratio": 0.25}
    table = pr.compare(measures, **ratio) if name == "pairs" else measures
    words = [name, tmp_path / "measures.parquet", *options_of(ratio, "chart"), "--out", "-"]
    drawn = json.loads(polaroc("chart", *words).stdout)
    assert_same_document(drawn, getattr(pr.charts, name)(table).to_dict())


@pytest.mark.parametrize(
    ("name", "options", "arguments"),
    [
        ("one test set", ["--prior", 0.1, *RANGE], {"priors": [0.1], **OVER}),
        ("wide", ["--measure", "auc"], {"measure": ["auc"]}),
        ("weights", ["--interpolation", "step", "--by", "site"],
         {"interpolation": "step", "by": "site"}),
    ],
)  # fmt: skip
def test_sql(name, options, arguments, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    table, roles = TABLES[name]
    # The query sees no table: nothing is used because of its name.
    roles = roles if name == "wide" else roles | {"model": "model", "fold": None}
    printed = polaroc("sql", "--table", "predictions", *options_of(roles, "sql"), *options)
    assert printed.exit_code == 0, printed.output
    table.write_parquet(tmp_path / "predictions.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW predictions AS FROM '{tmp_path}/predictions.parquet'")
        query = connection.execute(printed.stdout)
        names = [column[0] for column in query.description]
        rows = pl.DataFrame(query.fetchall(), schema=names, orient="row")
    # The query has areas, and no note on few negatives.
    areas = ["auc", "auprec", *(["iauprec"] if "over" in arguments else [])]
    expected = pr.evaluate(table, **roles, **{"measure": areas} | arguments).drop("note")
    keys = expected.columns[: expected.columns.index("measure")]
    by = [*keys, "measure", "prior", "estimate"]
    assert_frame_equal(
        rows.drop("note").sort(by), expected.sort(by), abs_tol=1e-9, check_dtypes=False,
        check_column_order=False,
    )  # fmt: skip


def test_demo_is_the_report_of_the_satellite_images(tmp_path):
    result = polaroc("demo", "--out", tmp_path / "demo", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Take A, and set the threshold")
    table = pr.datasets.satellite_predictions()
    measures = pr.evaluate(table, **SCORES, **OVER, priors=[0.5, 0.1, 0.01])
    assert_frame_equal(pl.read_parquet(tmp_path / "demo" / "measures.parquet"), measures)
    assert (tmp_path / "demo" / "report.html").read_text().startswith("<!DOCTYPE html>")


FUNCTIONS = {
    "check": pr.check, "compare": pr.compare, "choose": pr.choose, "gate": pr.gate,
    "evaluate": pr.evaluate, "threshold": pr.operating_points, "report": pr.report,
}  # fmt: skip


def test_there_are_few_commands_with_few_options():
    assert len(COMMANDS) == 11
    for name, command in COMMANDS.items():
        options = [one for one in command.params if one.param_type_name == "option"]
        assert len(options) <= 25, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_those_of_the_function(name):
    parameters = signature(FUNCTIONS[name]).parameters
    for one in COMMANDS[name].params:
        if one.name in parameters and one.default is not None and one.name != "nulls":
            assert one.default == parameters[one.name].default, one.name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_about_options_and_not_about_python(name):
    for one in COMMANDS[name].params:
        text = one.help or ""
        assert not re.search(r"\bNone\b|\bTrue\b|\bFalse\b|\bpr\.|[{}]|\w=", text), one.name
        # Options that are named in it are those of the command.
        own = {word for other in COMMANDS[name].params for word in other.opts}
        assert {*re.findall(r"(?<!\S)--[a-z][a-z-]*", text)} <= own | {"--out"}, one.name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_a_summary_that_fits(name):
    assert f"Example: polaroc {name}" in polaroc(name, "--help").stdout
    lines = polaroc("--help").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith(f"  {name} ")]
    assert line.endswith(".")
    assert not line.endswith("...")
