"""Every command beside the function that it is made of: the same options, the same answers."""

import json
from inspect import signature
from itertools import cycle

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.main import get_command
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.cli.screen import with_options
from polaroc.predictions.roles import FOUND, ROLES

COMMANDS = get_command(app).commands
MADE = {
    name: command.callback.made
    for name, command in COMMANDS.items()
    if hasattr(command.callback, "made")
}
# Of all commands that read tables, and of all commands.
OF_FILES = {"files", "table", "separator", "decimal"}
COMMON = {"quiet", "no_config", "help"}
RANGE = ["--over", 0.05, 0.2]
OVER = {"over": (0.05, 0.2)}

TABLE = (
    pr.datasets.satellite_predictions()
    .filter(pl.col("fold") <= 3, pl.col("case") < 900)
    .with_columns(
        weight=1.0 + pl.col("case") % 3,
        label=pl.when("truth").then(pl.lit("crop")).otherwise(pl.lit("soil")),
        lost=pl.when((pl.col("case") % 50 != 7) | (pl.col("model") != "B")).then("score"),
    )
)
BY_MODEL = TABLE.filter(fold=1).sort("case").partition_by("model", as_dict=True)
WIDE = BY_MODEL["A",].select("case", "truth", *(
    one["score"].alias(model) for (model,), one in sorted(BY_MODEL.items())
))  # fmt: skip
NAMED = TABLE.select(who="model", part="fold", unit="case", truth="truth", score="score")
SCORES = {"truth": "truth", "score": "score"}
# A table and the roles of its columns.
TABLES = {
    "found by name": (TABLE, SCORES),
    "one test set": (TABLE.filter(fold=1).drop("fold"), SCORES),
    "no folds": (TABLE.filter(fold=1), SCORES | {"fold": None}),
    "named": (NAMED, SCORES | {"model": "who", "fold": ["part"], "case": "unit"}),
    "wide": (WIDE, {"truth": "truth", "score": {"a": "A", "second": "B"}}),
    "weights": (TABLE, SCORES | {"weight": "weight"}),
    "counts": (TABLE, SCORES | {"count": "weight"}),
    "labels": (TABLE, {"truth": "label", "score": "score", "positive": ["crop"]}),
    "lost scores": (TABLE, {"truth": "truth", "score": "lost", "nulls": "drop"}),
    "lost, one test set": (
        TABLE.filter(fold=1).drop("fold"), {"truth": "truth", "score": "lost", "nulls": "drop"},
    ),
    "probabilities": (
        TABLE.with_columns(score=1 / (1 + (-pl.col("score")).exp())), SCORES | {"score_prior": 0.3},
    ),
    "ratio": (TABLE, SCORES | {"test_train_ratio": 0.25}),
    "clusters": (
        TABLE.filter(fold=1).drop("fold").with_columns(patient=pl.col("case") // 3),
        SCORES | {"cluster": "patient"},
    ),
}  # fmt: skip


def words(roles):
    """Roles as options."""
    for name, value in roles.items():
        option = "--" + name.replace("_", "-")
        if value is None:
            yield f"--no-{name}"
        elif isinstance(value, dict):
            yield from (word for model in value.items() for word in (option, "=".join(model)))
        else:
            values = value if isinstance(value, list) else [value]
            yield from (word for one in values for word in (option, str(one)))


def run(command, table, roles, folder, *options):
    table.write_parquet(folder / "table.parquet")
    arguments = [command, folder / "table.parquet", *words(roles), *options, "--json"]
    return CliRunner().invoke(app, [*map(str, arguments)])


def assert_same(found, expected):
    """Whether JSON has what Python returns."""
    if isinstance(expected, pl.DataFrame):
        table = pl.DataFrame(found, schema=expected.schema, strict=False)
        assert_frame_equal(table, expected, abs_tol=1e-9)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, str):
        assert found == with_options(expected)
    else:
        assert found == expected


def assert_as_in_python(result, answer, names=None):
    """Whether a command says what a function returns, or refuses what it refuses."""
    refusal = None
    try:
        expected = answer()
    except pr.errors.PolarocError as error:
        refusal = error.found
    if refusal is not None:
        assert result.exit_code == 2, result.output
        assert " ".join(refusal.split()) in " ".join(result.stderr.split())
        return
    assert result.exit_code in (0, 1, 3), result.output
    found = json.loads(result.stdout)
    if names is None:
        assert_same(found, expected)
    else:
        for name in names:
            assert_same(found[name], getattr(expected, name))


tables = pytest.mark.parametrize("name", TABLES)


def on_tables(asked, names=tuple(TABLES)):
    """Each table once, with each of the options in turn, and the same as arguments."""
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
        (["--interpolation", "hull", "--prior", 0.1], {"interpolation": "hull", "priors": [0.1]}),
        (["--measure", "brier"], {"measures": ["brier"]}),
        (["--measure", "auc", "--intervals", "--level", 0.9],
         {"measures": ["auc"], "intervals": True, "level": 0.9}),
    ],
)  # fmt: skip
def test_evaluate(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("evaluate", table, roles, tmp_path, *options)
    assert_as_in_python(result, lambda: pr.evaluate(table, **roles, **arguments))


@tables
def test_check(tmp_path, name):
    table, roles = TABLES[name]
    result = run("check", table, roles, tmp_path)
    assert_as_in_python(result, lambda: pr.check(table, **roles))


@on_tables(
    [
        ([], {}),
        (["--cost-fn", 5, *RANGE], {"cost_fn": 5, **OVER}),
        (["--constraint", "fpr=0.2", "--prior", 0.1],
         {"constraints": {"fpr": 0.2}, "priors": [0.1]}),
    ],
)  # fmt: skip
def test_threshold(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("threshold", table, roles, tmp_path, *options)
    assert_as_in_python(result, lambda: pr.operating_points(pr.curve(table, **roles), **arguments))


@tables
def test_a_number_in_use(tmp_path, name):
    table, roles = TABLES[name]
    options = ["--apply", 0.5, "--prior", 0.1, "--intervals"]
    result = run("threshold", table, roles, tmp_path, *options)
    arguments = {"priors": [0.1], "intervals": True}
    assert_as_in_python(result, lambda: pr.apply_thresholds(table, 0.5, **roles, **arguments))


@on_tables(
    [
        (RANGE, OVER),
        (["--measure", "auc", "--level", 0.9], {"measure": "auc", "level": 0.9}),
        (["--measure", "auprec", "--prior", 0.1, "--target", "algorithm"],
         {"measure": "auprec", "prior": 0.1, "target": "algorithm"}),
    ],
)  # fmt: skip
def test_compare(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("compare", table, roles, tmp_path, *options)
    names = ["omnibus", "pairs", "letters", "warnings", "measure", "model", "fold", "size"]
    assert_as_in_python(result, lambda: pr.compare(table, **roles, **arguments), names)


@on_tables(
    [(RANGE, OVER), ([*RANGE, "--measure", "log_loss"], {**OVER, "measure": "log_loss"}),
     ([*RANGE, "--cost-fn", 10], {**OVER, "cost_fn": 10})],
)  # fmt: skip
def test_choose(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    result = run("choose", table, roles, tmp_path, *options)
    names = ["answer", "bayes", "minimax", "steadiest", "measure", "models", "priors", "warnings"]
    assert_as_in_python(result, lambda: pr.choose(table, **roles, **arguments), names)


@pytest.mark.parametrize("name", ["one test set", "wide", "lost, one test set"])
def test_choose_with_thresholds(tmp_path, name):
    table, roles = TABLES[name]
    test, tuning = (table.filter(pl.col("case") % 2 == half) for half in (1, 0))
    tuning.write_parquet(tmp_path / "tuning.parquet")
    limits = ["--constraint", "precision=0.25", "--constraint", "recall=0.5", "--confidence", 0.95]
    options = ["--measure", "expected_cost", "--cost-fn", 5, *limits]
    options += ["--tuning", tmp_path / "tuning.parquet"]
    result = run("choose", test, roles, tmp_path, *RANGE, *options)
    names = ["answer", "models", "priors", "threshold", "promise", "warnings"]
    asked = {**roles, **OVER, "measure": "expected_cost", "cost_fn": 5, "tuning": tuning,
             "constraints": {"precision": 0.25, "recall": 0.5}, "confidence": 0.95}  # fmt: skip
    assert_as_in_python(result, lambda: pr.choose(test, **asked), names)


@on_tables(
    [(RANGE, OVER), (["--measure", "auc", "--margin", 0.05], {"measure": "auc", "margin": 0.05})],
)
def test_gate(tmp_path, name, options, arguments):
    table, roles = TABLES[name]
    models = ("a", "second") if name == "wide" else ("A", "B")
    named = dict(zip(("champion", "challenger"), models, strict=True))
    result = run("gate", table, roles, tmp_path, *words(named), *options)
    names = ["answer", "verdict", "difference", "lower", "upper", "warnings"]
    assert_as_in_python(result, lambda: pr.gate(table, **roles, **named, **arguments), names)


@pytest.mark.parametrize("command", ["compare", "choose", "gate"])
def test_measures(tmp_path, command):
    measures = pr.evaluate(NAMED, **TABLES["named"][1], priors=[0.05, 0.1, 0.2], **OVER)
    roles = {"model": "who", "fold": ["part"], "test_train_ratio": 0.25}
    named = {"champion": "A", "challenger": "B"} if command == "gate" else {}
    result = run(command, measures, roles, tmp_path, *words(named))
    names = {"compare": ["pairs", "warnings"], "choose": ["answer", "models", "warnings"],
             "gate": ["answer", "difference", "warnings"]}[command]  # fmt: skip
    function = getattr(pr, command)
    assert_as_in_python(result, lambda: function(measures, **roles, **named), names)


def test_every_option_is_a_parameter_or_of_the_command_line_alone():
    assert {
        "check", "choose", "compare", "evaluate", "gate", "monitor",
        "report", "sql", "threshold",
    } <= MADE.keys()  # fmt: skip
    for command, made in MADE.items():
        taken = {
            name
            for function in (*made.functions, *made.roles)
            for name in list(signature(function).parameters)[1:]
        }
        options = {one.name for one in COMMANDS[command].params} - COMMON
        flags = {f"no_{name}" for name in FOUND if name in options}
        reads = OF_FILES if "files" in options else set()
        assert options == (taken - made.left_out) | made.own | flags | reads, command
        # Nothing is left out that is not there.
        assert made.left_out <= taken, command


def test_every_role_of_a_function_is_an_option():
    for command, made in MADE.items():
        options = {one.name: one for one in COMMANDS[command].params}
        for name in ROLES:
            takers = [of for of in made.roles if name in signature(of).parameters]
            assert (name in options) == (bool(takers) and name not in made.left_out), command


def reference_and_used(folder, name):
    """A reference and scores of two days, as files too, and their roles."""
    table, roles = TABLES[name]
    if name in ("labels", "named"):
        table = table.filter(pl.col(roles.get("fold", ["fold"])[0]) == 1)
        roles = {role: value for role, value in roles.items() if role != "fold"} | {"fold": None}
    case = roles.get("case", "case")
    reference = table.filter(pl.col(case) % 3 > 0)
    used = table.filter(pl.col(case) % 3 == 0).with_columns(day=pl.col(case) % 2)
    files = [folder / "reference.parquet", folder / "used.parquet"]
    for frame, file in zip((reference, used), files, strict=True):
        frame.write_parquet(file)
    return reference, used, files, roles


@pytest.mark.parametrize("name", ["one test set", "wide", "labels", "named"])
def test_monitor(tmp_path, name):
    reference, used, files, roles = reference_and_used(tmp_path, name)
    options = ["--time", "day", "--threshold", 0.5, *RANGE, "--level", 0.9, "--json"]
    labels = ["--labelled", files[1]]
    arguments = ["monitor", *files, *words(roles), *options, *labels]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    asked = {**roles, **OVER, "time": "day", "points": 0.5, "level": 0.9}
    asked |= {"labelled": used}
    names = ["answer", "alarms", "table", "labelled"]
    assert_as_in_python(result, lambda: pr.monitor(reference, used, **asked), names)


@pytest.mark.usefixtures("words_only")
@pytest.mark.parametrize("name", ["found by name", "one test set", "wide"])
def test_report(tmp_path, name):
    table, roles = TABLES[name]
    table.write_parquet(tmp_path / "table.parquet")
    pages, told = [tmp_path / "command.html", tmp_path / "function.html"], []
    options = [*words(roles), *RANGE, "--grid", 5, "--out", pages[0]]
    arguments = map(str, ["report", tmp_path / "table.parquet", *options])
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    pr.report(table, path=pages[1], **roles, **OVER, grid=5, tell=told.append)
    assert pages[0].read_text() == pages[1].read_text()
    assert all(with_options(line) in result.output for line in told[0].splitlines())
