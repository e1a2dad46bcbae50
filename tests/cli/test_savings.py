import amounts
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

ROLES = ["--truth", "truth", "--score", "A"]
COSTS = ["--cost-fn", "amount", "--cost-fp", 20]
NAMES, SAID = {"truth": "truth", "score": "A"}, {"cost_fn": "amount", "cost_fp": 20}


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def files(tmp_path):
    for name, seed in (("tuning", 1), ("test", 2)):
        amounts.cases(seed).write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def test_from_a_tuning_file_to_what_is_saved(files):
    rule = files / "rule.json"
    over = ["--over", 0.02, 0.3, "--out", rule]
    chosen = run("threshold", files / "tuning.csv", *ROLES, *COSTS, *over)
    assert chosen.exit_code == 0, chosen.output
    judged = [*ROLES, *COSTS, "--threshold", rule, "--prior", 0.1]
    shown = run("savings", files / "test.csv", *judged)
    points = pr.operating_points(amounts.cases(1), over=(0.02, 0.3), **NAMES, **SAID)
    found = pr.savings(amounts.cases(2), points, priors=0.1, **NAMES, **SAID)
    for name, value in found.select("measure", "estimate").rows():
        line = next(line for line in shown.stdout.splitlines() if name in line)
        assert f"{value:.3f}" in line.split()
    # The columns in use are read, those of costs too, and are not said to be without a role.
    assert "'work'" in chosen.stderr
    assert "'amount'" not in chosen.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["threshold", "test.csv", *ROLES, *COSTS, "--apply", 0.5], "`polaroc savings"),
        (["savings", "test.csv", *ROLES, *COSTS, "--threshold", "no.json"], "no such file"),
        (["savings", "test.csv", *ROLES, "--cost-fn", "tunoma", "--threshold", 1],
         "cost_fn is 'tunoma'"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused_is_said(files, monkeypatch, words, said):
    monkeypatch.chdir(files)
    result = run(*words)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
