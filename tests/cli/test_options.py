import json
import os
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.main import get_command
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.cli.drawings import DRAWINGS
from polaroc.measures.catalog import CATALOG
from polaroc.thresholds.named_rates import AT_THRESHOLD

TREE = get_command(app).commands
COMMANDS = list(TREE)
WRITING = ["demo", "evaluate", "compare", "chart", "report"]
TABLE = (
    pr.datasets.satellite_predictions()
    .filter(pl.col("fold") <= 2)
    .rename({"truth": "label", "score": "p"})
)
COLUMNS = ["--truth", "label", "--score", "p"]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [str(one) for one in arguments], prog_name="polaroc")


@pytest.fixture
def here(tmp_path, monkeypatch):
    TABLE.write_parquet(tmp_path / "p.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(folder, text, name="polaroc.toml"):
    (folder / name).write_text(text)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_fits_80_columns(command, monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    short = polaroc(command, "-h")
    assert short.exit_code == 0
    assert short.output == polaroc(command, "--help").output
    assert max(map(len, short.output.splitlines())) <= 80
    options = ["--quiet", "--no-config"]
    if command in WRITING:
        options += ["--force", "-o, --out"]
    assert all(option in short.output for option in options)


def test_help_of_the_whole_fits_80_columns(monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    result = polaroc("-h")
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "ndjson"])
def test_evaluate_writes_one_table(here, kind):
    file = here / f"zz.{kind}"
    result = polaroc("evaluate", "p.parquet", *COLUMNS, "--no-fold", "-o", file)
    assert result.exit_code == 0, result.output
    assert file.is_file()
    expected = pr.evaluate(TABLE, truth="label", score="p", fold=None)
    read = {
        "csv": pl.read_csv, "tsv": lambda file: pl.read_csv(file, separator="\t"),
        "parquet": pl.read_parquet, "arrow": pl.read_ipc,
        "ndjson": pl.read_ndjson,
    }[kind](file)  # fmt: skip
    assert_frame_equal(read.select("model", "estimate"), expected.select("model", "estimate"))


def test_names_of_tables_that_are_not_written_are_refused(here):
    compressed = polaroc("evaluate", "p.parquet", *COLUMNS, "--out", "zz.csv.gz")
    assert compressed.exit_code == 2
    assert "compressed" in compressed.output
    several = polaroc("compare", "p.parquet", *COLUMNS, "--out", "zz.csv")
    assert several.exit_code == 2
    assert "name a folder" in several.output
    assert not list(here.glob("zz*"))


def test_force_replaces_a_file(here):
    (here / "zz.csv").write_text("mine")
    call = ["evaluate", "p.parquet", *COLUMNS, "--no-model", "--no-fold", "--out", "zz.csv"]
    refused = polaroc(*call)
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert (here / "zz.csv").read_text() == "mine"
    assert polaroc(*call, "--force").exit_code == 0
    assert (here / "zz.csv").read_text().startswith("measure,")


def test_force_replaces_a_chart_and_a_report(here):
    measures = pr.evaluate(
        TABLE, truth="label", score="p", by=["model", "fold"], over=(0.05, 0.2), priors=[0.1]
    )
    measures.write_parquet("m.parquet")
    for call in (
        ["chart", "auprec_by_prior", "m.parquet", "--out", "page.html"],
        ["report", "m.parquet", "--out", "page.html"],
    ):
        (here / "page.html").write_text("mine")
        assert polaroc(*call).exit_code == 2
        forced = polaroc(*call, "--force")
        assert forced.exit_code == 0, forced.output
        assert "<html" in (here / "page.html").read_text()


@pytest.mark.parametrize("name", ["page.HTML", "page.JSON"])
def test_only_a_page_of_a_report_is_for_a_browser(here, name):
    measures = pr.evaluate(
        TABLE, truth="label", score="p", by=["model", "fold"], over=(0.05, 0.2), priors=[0.1]
    )
    measures.write_parquet("m.parquet")
    result = polaroc("report", "m.parquet", "--out", name)
    assert result.exit_code == 0, result.output
    assert ("browser" in result.stderr + result.stdout) == (name == "page.HTML")


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_file_that_is_no_page_is_named_as_it_was_given(here, force):
    result = polaroc("report", "p.parquet", *COLUMNS, "--over", 0.1, 0.3, "--out", "r.txt", *force)
    assert result.exit_code == 2
    assert "path is 'r.txt', and a report is" in " ".join(result.output.split())


def test_force_leaves_other_files_of_a_folder(here):
    out = here / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    (out / "measures.csv").write_text("mine")
    call = [
        "evaluate",
        "p.parquet",
        *COLUMNS,
        "--no-model",
        "--no-fold",
        "--no-charts",
        "--out",
        out,
    ]
    refused = polaroc(*call)
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert polaroc(*call, "--force").exit_code == 0
    assert (out / "mine.txt").read_text() == "mine"
    assert (out / "measures.csv").read_text().startswith("measure,")
    # Next time its own files are known, and the other one still is not.
    again = polaroc(*call)
    assert again.exit_code == 2
    assert "'mine.txt'." in again.output


def test_quiet_prints_results_only(here):
    call = ["evaluate", "p.parquet", *COLUMNS]
    loud, quiet = polaroc(*call), polaroc(*call, "--quiet")
    assert loud.stderr
    assert "Note on" in loud.stdout
    assert quiet.stderr == ""
    assert quiet.stdout
    assert loud.stdout.startswith(quiet.stdout)
    assert "Note" not in quiet.stdout
    written = polaroc(*call, "-q", "--no-charts", "--out", "out")
    assert (written.exit_code, written.output) == (0, "")
    as_json = polaroc(*call, "-q", "--no-charts", "--out", "out", "--json")
    assert as_json.stderr == ""
    assert len(json.loads(as_json.stdout)) == 2 * 3 * 5


def test_quiet_says_errors(here):
    result = polaroc("check", "none.parquet", *COLUMNS, "--quiet")
    assert result.exit_code == 2
    assert "Error: no file matches" in result.stderr
    assert "Hint: " in result.stderr


SETTINGS = """
truth = "label"
score = "p"
model = "model"
fold = ["fold"]
over = [0.05, 0.2]
priors = [0.1, "observed"]
test-train-ratio = 0.25
cost_fn = 5
"""


def test_settings_stand_for_options(here):
    configured(here, SETTINGS)
    options = ["--model", "model", "--fold", "fold", "--over", 0.05, 0.2]
    priors = ["--prior", 0.1, "--prior", "observed"]
    explicit = polaroc("evaluate", "p.parquet", "--no-config", *COLUMNS, *options, *priors)
    result = polaroc("evaluate", "p.parquet")
    assert result.exit_code == 0, result.output
    assert result.stdout == explicit.stdout
    (line,) = result.stderr.splitlines()
    assert f"{here / 'polaroc.toml'} sets --truth label --score p --model model --fold fold" in line
    assert "--over 0.05 0.20" in line
    assert "polaroc.toml" not in explicit.output
    assert polaroc("evaluate", "p.parquet", "--quiet").stderr == ""


@pytest.mark.parametrize("positive", ["true", "1", '"true"'])
def test_labels_of_settings(here, positive):
    configured(here, f"truth = 'label'\nscore = 'p'\npositive = {positive}")
    assert polaroc("check", "p.parquet").exit_code == 0


def test_settings_may_name_a_column_of_scores_per_model(here):
    one = pl.read_parquet("p.parquet").select("label", "p", q=1 - pl.col("p"))
    one.write_parquet("wide.parquet")
    configured(here, "truth = 'label'\n[score]\nup = 'p'\ndown = 'q'")
    result = polaroc("evaluate", "wide.parquet", "--no-model", "--no-fold", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    areas = {row["model"]: row["estimate"] for row in rows if row["measure"] == "auc"}
    assert areas["up"] == pytest.approx(1 - areas["down"])


@pytest.mark.parametrize("name", ["out.xlsx", "out.json", "out.pdf"])
def test_other_files_than_tables_are_not_written(here, name):
    result = polaroc("evaluate", "p.parquet", *COLUMNS, "--out", name)
    assert result.exit_code == 2
    assert "name a folder, or a table that ends in" in result.stderr
    assert not (here / name).exists()


def test_options_win_over_settings(here):
    configured(here, SETTINGS)
    result = polaroc("evaluate", "p.parquet", "--no-model", "--no-fold", "--prior", 0.5, "--json")
    rows = json.loads(result.stdout)
    assert [row["prior"] for row in rows if row["measure"] == "auprec"] == [0.5]
    assert "model" not in rows[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("polaroc.toml", 'truth = "label"\nscore = "p"'),
        ("pyproject.toml", '[tool.polaroc]\ntruth = "label"\nscore = "p"'),
    ],
)
def test_settings_of_the_nearest_folder(here, monkeypatch, name, text):
    configured(here, text, name)
    below = here / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    # One without a section of ours is passed over.
    configured(below, "[tool.other]\nx = 1", "pyproject.toml")
    assert polaroc("check", here / "p.parquet").exit_code == 0
    configured(below, 'truth = "nope"')
    nearer = polaroc("check", here / "p.parquet", "--score", "p")
    assert nearer.exit_code == 2
    assert "no column 'nope'" in nearer.output


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("trut = 'label'", "did you mean 'truth'?"),
        ("prevalence = 0.1", "--no-config"),
        ("over = 0.1", "for example over = [0.05, 0.2]"),
        ("over = [0.1]", "for example over = [0.05, 0.2]"),
        ("by = [1]", 'for example by = ["hospital"]'),
        ("fold = []", 'for example fold = ["fold"]'),
        ("truth = ['label']", 'for example truth = "truth"'),
        ("prior = [true]", 'for example prior = ["observed", 0.1]'),
        ("truth = 3", 'for example truth = "truth"'),
        ("cost_fn = true", "for example cost_fn = 5"),
        ("truth = ", "--no-config"),
    ],
)
def test_settings_that_are_refused(here, text, hint):
    configured(here, text)
    result = polaroc("check", "p.parquet", *COLUMNS)
    assert result.exit_code == 2
    assert "polaroc.toml" in result.stderr
    assert hint in result.stderr.partition("Hint: ")[2]
    assert polaroc("check", "p.parquet", *COLUMNS, "--no-config").exit_code == 0
    assert polaroc("check", "--help").exit_code == 0


@pytest.mark.parametrize("name", ["polaroc.toml", "pyproject.toml"])
@pytest.mark.parametrize("make", [os.mkdir, lambda name: os.symlink(name, name)])
def test_settings_that_cannot_be_read_are_refused(here, name, make):
    make(name)
    result = polaroc("check", "p.parquet", *COLUMNS)
    assert result.exit_code == 2
    assert f"{name}' cannot be read" in result.stderr
    assert "--no-config" in result.stderr.partition("Hint: ")[2]
    assert polaroc("check", "p.parquet", *COLUMNS, "--no-config").exit_code == 0


def test_settings_may_begin_with_a_byte_order_mark(here):
    (here / "polaroc.toml").write_text("truth = 'label'\nscore = 'p'\n", encoding="utf-8-sig")
    assert polaroc("check", "p.parquet").exit_code == 0


def test_a_setting_in_the_place_of_the_table_is_refused(here):
    configured(here, "tool.polaroc = 'label'", "pyproject.toml")
    result = polaroc("check", "p.parquet", *COLUMNS)
    assert result.exit_code == 2
    assert "for example [tool.polaroc], and below it" in result.stderr


def test_settings_of_predictions_are_not_for_measures(here):
    configured(here, SETTINGS)
    measures = pr.evaluate(
        TABLE, truth="label", score="p", by=["model", "fold"], over=(0.05, 0.2), priors=[0.1]
    )
    measures.write_parquet("m.parquet")
    result = polaroc("compare", "m.parquet", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == "model"
    assert "sets --model model --fold fold --test-train-ratio 0.25 (" in result.stderr
    assert "--truth" not in result.stderr


def test_models_and_folds_of_settings(here):
    TABLE.rename({"model": "who", "fold": "part"}).write_parquet("p.parquet")
    named = SETTINGS.replace('"model"', '"who"').replace('"fold"', '"part"')
    configured(here, named)
    result = polaroc("choose", "p.parquet", "--json")
    assert result.exit_code == 0, result.output
    assert {row["who"] for row in json.loads(result.stdout)["models"]} == set("ABC")


def test_a_role_that_would_change_the_result_is_refused_in_a_file_of_settings_too(here):
    configured(here, SETTINGS + "by = 'case'\n")
    result = polaroc("compare", "p.parquet")
    assert result.exit_code == 2
    assert "says 'by', which this command does not honour yet" in result.stderr
    assert polaroc("compare", "p.parquet", "--no-config", *COLUMNS, "--over", 0.05, 0.2,
                   "--test-train-ratio", 0.25).exit_code == 0  # fmt: skip
    # They have no bearing on areas.
    configured(here, SETTINGS + "cluster = 'case'\n")
    assert polaroc("evaluate", "p.parquet").exit_code == 0


def test_a_chart_takes_the_settings_that_it_knows(here):
    configured(here, SETTINGS)
    result = polaroc("chart", "cost_curves", "p.parquet", "--out", "x.json")
    assert result.exit_code == 0, result.output
    assert "--over" not in result.stderr
    refused = polaroc("chart", "cost_curves", "p.parquet", "--out", "y.json", "--prior", 0.1)
    assert "--prior does not change the chart" in refused.stderr


@pytest.mark.parametrize(
    ("more", "call", "used"),
    [
        ("", ["p.parquet"], {"--over", "--test-train-ratio"}),
        ("", ["p.parquet", "--prior", 0.1, "--measure", "auprec"], {"--test-train-ratio"}),
        ("", ["p.parquet", "--measure", "auc"], {"--over", "--test-train-ratio"}),
        ("case = 'case'", ["p.parquet"], {"--over", "--test-train-ratio"}),
        ("", ["one.parquet", "--case", "case"], {"--over"}),
    ],
)
def test_a_gate_takes_one_of_two_settings(here, more, call, used):
    configured(here, SETTINGS.replace('model = "model"\nfold = ["fold"]', more))
    TABLE.filter(fold=1).drop("fold").write_parquet("one.parquet")
    result = polaroc("gate", *call, "--champion", "A", "--challenger", "B")
    assert result.exit_code in (0, 1, 3), result.output
    line = next(line for line in result.stderr.splitlines() if "polaroc.toml" in line)
    options = {"--over", "--prior", "--test-train-ratio", "--case"}
    assert options & set(line.split()) == used


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluat"], "Did you mean 'evaluate'?"),
        (["check", "p.parquet", "--trut", "label"], "--truth"),
        (["check", "p.parquet", "--y-true", "label"], "did you mean --truth?"),
        (["evaluate", "p.parquet", *COLUMNS, "--overwrite"], "did you mean --force?"),
        (["choose", "p.parquet", *COLUMNS, "--models", "model"], "did you mean --model?"),
        (["compare", "p.parquet", *COLUMNS, "--sample-weight", "w"], "did you mean --weight?"),
        (
            ["choose", "p.parquet", *COLUMNS, "--over", 0.1, 0.2, "--model", "modle"],
            "did you mean 'model'?",
        ),
        (["chart", "roc_curve", "p.parquet", *COLUMNS], "did you mean roc?"),
        (["chart", "explore", "p.parquet", *COLUMNS], "did you mean explorer?"),
        (
            ["sql", "--table", "t", *COLUMNS, "--measure", "roc_auc"],
            "did you mean --measure auc?",
        ),
        (
            ["sql", "--table", "t", *COLUMNS, "--measure", "average_precision"],
            "did you mean --measure auprec?",
        ),
    ],
)
def test_did_you_mean(here, arguments, said):
    result = polaroc(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


ONE_FOLD = TABLE.filter(fold=1).drop("fold").with_columns(
    day=pl.col("case") % 5, site=pl.when(pl.col("case") % 2 == 0).then(pl.lit("a"))
    .otherwise(pl.lit("b")),
)  # fmt: skip
TWO_MODELS = "a.parquet --champion A --challenger B --case case"


@pytest.mark.parametrize(
    ("call", "used"),
    [
        (f"gate {TWO_MODELS} --measure iauprec", "--over"),
        ("compare a.parquet --case case --measure auc", ""),
        ("compare a.parquet --case case --measure iauprec", "--over"),
        ("threshold one.parquet --prior 0.1", "--cost-fn"),
        ("threshold one.parquet", "--over --cost-fn"),
        ("threshold one.parquet --rule max_recall --constraint precision=0.6", "--over"),
        ("threshold one.parquet --rule f_measure", ""),
        ("threshold one.parquet --apply 0.5 --prior 0.1", ""),
        ("choose test.parquet --tuning tuning.parquet --case case", "--over --cost-fn"),
        ("choose a.parquet --case case", "--over"),
        ("choose p.parquet --cost-fp 2", "--over --cost-fn"),
    ],
)
def test_ranges_and_costs_of_settings_are_used_where_they_have_a_bearing(here, call, used):
    configured(here, "truth = 'label'\nscore = 'p'\nover = [0.05, 0.2]\ncost_fn = 5")
    ONE_FOLD.write_parquet("a.parquet")
    ONE_FOLD.filter(model="A").drop("model").write_parquet("one.parquet")
    for name, rest in (("tuning", 0), ("test", 1)):
        ONE_FOLD.filter(pl.col("case") % 2 == rest).write_parquet(f"{name}.parquet")
    result = polaroc(*call.split())
    assert result.exit_code in (0, 1, 3), result.output
    assert not result.exception or isinstance(result.exception, SystemExit)
    line = next(line for line in result.stderr.splitlines() if "polaroc.toml" in line)
    assert {"--over", "--prior", "--cost-fn"} & {*line.split()} == {*used.split()}


@pytest.mark.parametrize(
    ("options", "is_range"),
    [
        ([], False), (["--cost-fn", 5], True), (["--constraint", "precision=0.3"], True),
        (["--rule", "recall", "--target", 0.8], True), (["--rule", "balanced"], False),
    ],
)  # fmt: skip
def test_a_range_is_set_for_thresholds_that_take_one(here, options, is_range):
    configured(here, 'truth = "label"\nscore = "p"\nover = [0.05, 0.2]')
    result = polaroc("threshold", "p.parquet", *options)
    assert result.exit_code == 0, result.output
    assert ("--over 0.05 0.20" in " ".join(result.stderr.split())) is is_range


# Measures, charts and other values that are given as they stand.
VALUES = {*CATALOG, *AT_THRESHOLD, *DRAWINGS, "max_recall"}


def options_of(command):
    return [one for one in TREE[command].params if not one.hidden]


def names_of(command):
    return {name for one in options_of(command) for name in one.opts} | {"--help"}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_names_options_that_exist(command):
    for one in options_of(command):
        text = one.help or ""
        for other, words in re.findall(r"`polaroc ([\w-]+)([^`]*)`", text):
            assert set(re.findall(r"--[a-z-]+", words)) <= names_of(other), one.name
        own = re.sub(r"`polaroc [^`]*`", "", text)
        assert set(re.findall(r"(?<![\w-])--[a-z-]+", own)) <= names_of(command), one.name


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_is_written_for_the_command_line(command):
    for one in options_of(command):
        text = re.sub(r"`polaroc [^`]*`|^One of [^:]*: ", "", one.help or "")
        # Dictionaries, lists, tuples, what only Python takes, and names of functions and columns.
        assert not re.search(r"[{}`]|\[['\d]|\((lo|low|first)\b|\bas in \w+", text), one.name
        assert not re.search(r"\b(None|True|False|belief|expression)\b|a Cases", text), one.name
        assert set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)) <= VALUES, one.name


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_options_that_differ_have_texts_of_their_own(command):
    texts = [one.help.partition(" [")[0] for one in options_of(command)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("command", ["choose", "threshold"])
def test_examples_of_limits_are_accepted(here, command):
    (text,) = [one.help for one in options_of(command) if one.name == "constraints"]
    limits = re.findall(r"\w+=\d\.\d+", text)
    assert limits
    call = ["threshold", "p.parquet", *COLUMNS, "--no-fold", "--rule", "max_recall"]
    for limit in limits:
        assert polaroc(*call, "--constraint", limit).exit_code == 0
