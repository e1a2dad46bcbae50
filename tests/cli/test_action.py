"""The GitHub action of `gate`, its steps run as a runner would, in an empty folder."""

import json
import os
import re
import runpy
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from command_line import COMMANDS
from programs import package

import polaroc as pr

ACTION = Path(__file__).parents[2] / ".github/actions/gate"
# Options that say how the command answers, which the action does itself.
ANSWERING = {"json", "markdown", "quiet", "help"}


@pytest.fixture(scope="module")
def action():
    yaml = package("yaml", "test-all")
    return yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))


def test_each_option_of_the_command_is_an_input(action):
    options = COMMANDS["gate"].params
    names = {
        max(one.opts, key=len).lstrip("-").replace("_", "-") for one in options if not one.hidden
    }
    missing = names - set(action["inputs"]) - {one.replace("_", "-") for one in ANSWERING}
    assert not missing
    assert set(action["inputs"]) - names == {"install", "github-token"}


@pytest.fixture
def own():
    """What the script of the action defines."""
    return runpy.run_path(str(ACTION / "run.py"))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("fold", "''", ["--fold", ""]),
        ("positive", "true", ["--positive", "true"]),
        ("over", "0.05 0.20", ["--over", "0.05", "0.20"]),
        ("prior", "0.1\n0.2", ["--prior", "0.1", "--prior", "0.2"]),
        ("files", "a.csv\n\n  b.csv\r\n", ["b.csv"]),
    ],
)
def test_words_of_an_input(own, name, value, words):
    inputs = {"files": "a.csv"} | {name: value}
    assert own["arguments"](inputs) == ["a.csv", *words]


class Comments(BaseHTTPRequestHandler):
    """The comments of a pull request, as the interface of GitHub keeps them."""

    kept: list[dict]

    def _answer(self, value):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def _body(self):
        assert self.headers["Authorization"] == "Bearer secret"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        if self.path.startswith("/closed"):
            self.send_error(403)
            return
        assert self.path.startswith("/repos/one/two/issues/7/comments")
        page = int(parse_qs(urlsplit(self.path).query)["page"][0])
        self._answer(self.kept[100 * (page - 1) : 100 * page])

    def do_POST(self):
        self.kept.append({"id": len(self.kept), "body": self._body()})
        self._answer({})

    def do_PATCH(self):
        self.kept[int(self.path.rsplit("/", 1)[1])]["body"] = self._body()
        self._answer({})

    def log_message(self, *_):
        pass


@pytest.fixture
def comments():
    handler = type("Kept", (Comments,), {"kept": [{"id": 0, "body": "of somebody else"}]})
    server = HTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", handler.kept
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(action, tmp_path, comments):
    rows = pr.datasets.satellite_predictions()
    rows.write_parquet(tmp_path / "my rows.parquet")
    rows.filter(fold=1).drop("fold").write_csv(tmp_path / "one fold.csv")

    def run(api=None, **given):
        step = next(one for one in action["runs"]["steps"] if one.get("id") == "gate")
        inputs = dict.fromkeys(action["inputs"], "") | {
            "files": "my rows.parquet", "truth": "truth", "score": "score", "over": "0.05 0.20",
            "github-token": "secret",
            **{name.replace("_", "-"): value for name, value in given.items()},
        }  # fmt: skip
        python = Path(sys.executable).parent
        env = {
            "PATH": f"{python}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_API_URL": api or comments[0],
            "GITHUB_REPOSITORY": "one/two",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "PULL_REQUEST": "7",
            "INPUTS": json.dumps(inputs),
        }
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]],
            cwd=tmp_path, env=env, capture_output=True, text=True,
        )  # fmt: skip
        written = [tmp_path / name for name in ("summary", "output")]
        return done, [one.read_text(encoding="utf-8") if one.exists() else "" for one in written]

    return run


@pytest.mark.slow
def test_code_summary_output_and_comment_have_the_verdict(run, comments):
    done, (summary, output) = run(champion="C", challenger="A", test_train_ratio="0.25")
    result = pr.gate(
        pr.datasets.satellite_predictions(), truth="truth", score="score", champion="C",
        challenger="A", over=(0.05, 0.2), test_train_ratio=0.25,
    )  # fmt: skip
    assert done.returncode == {"pass": 0, "fail": 1, "undecided": 3}[result.verdict], done.stderr
    assert summary == result.markdown
    assert f"{result.difference:.3f}" in summary
    assert output == f"verdict={result.verdict}\n"
    others, ours = comments[1]
    assert others["body"] == "of somebody else"
    assert ours["body"].endswith(summary)


@pytest.mark.slow
def test_a_second_run_replaces_its_comment_and_a_worse_challenger_fails_the_step(run, comments):
    asked = {"files": "one fold.csv", "champion": "A", "challenger": "C"}
    run(**asked, margin="0.2")
    done, (_, output) = run(**asked)
    assert done.returncode == 1, done.stderr
    assert output == "verdict=pass\nverdict=fail\n"
    assert len(comments[1]) == 2
    assert "**Fail" in comments[1][1]["body"]


def test_a_comment_is_replaced_among_more_than_one_page_of_them(own, comments, monkeypatch):
    api, kept = comments
    kept += [{"id": len(kept) + i, "body": "of somebody else"} for i in range(99)]
    monkeypatch.setenv("GITHUB_API_URL", api)
    monkeypatch.setenv("GITHUB_REPOSITORY", "one/two")
    monkeypatch.setenv("PULL_REQUEST", "7")
    inputs = {"champion": "A", "challenger": "B -->", "github-token": "secret"}
    for text in ("first", "second"):
        own["comment"](inputs, text)
    assert len(kept) == 101
    assert kept[-1]["body"].split("-->") == [own["mark"](inputs)[:-3], "\nsecond"]


def test_a_comment_that_nobody_answers_leaves_the_verdict(own, monkeypatch, capsys):
    def never(*_, **__):
        raise TimeoutError("timed out")

    monkeypatch.setitem(own["comment"].__globals__, "urlopen", never)
    for name in ("GITHUB_API_URL", "GITHUB_REPOSITORY", "PULL_REQUEST"):
        monkeypatch.setenv(name, "https://api")
    own["comment"]({"github-token": "secret"}, "text")
    assert "There is no comment on the pull request: timed out" in capsys.readouterr().err


def test_inputs_that_are_missing_are_the_command_s_to_name(own):
    assert own["arguments"]({}) == []


@pytest.mark.engine
@pytest.mark.parametrize("name", ["ci", "release"])
def test_workflows_name_actions_by_their_commit_and_may_only_read(name):
    yaml = package("yaml", "test-all")
    text = (ACTION.parents[1] / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"\./.+|[\w/-]+@[0-9a-f]{40}", one)] == []
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())


@pytest.mark.slow
def test_a_mistake_has_no_verdict(run, comments):
    done, (summary, output) = run(champion="C", challenger="nobody")
    assert done.returncode == 2
    assert "Hint" in done.stderr
    assert summary == output == ""
    assert len(comments[1]) == 1


@pytest.mark.slow
def test_a_comment_that_is_refused_leaves_the_verdict(run, comments):
    asked = {"files": "one fold.csv", "champion": "A", "challenger": "C"}
    done, (_, output) = run(api=f"{comments[0]}/closed", **asked)
    assert done.returncode == 1
    assert output == "verdict=fail\n"
    assert "There is no comment on the pull request: HTTP Error 403" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(comments[1]) == 1


def test_a_command_that_breaks_down_has_no_verdict(own, tmp_path, monkeypatch):
    broken = subprocess.CompletedProcess([], 1, stdout="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: broken)
    monkeypatch.setenv("INPUTS", json.dumps({"files": "a.csv"}))
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert own["main"]() == 1
    assert not list(tmp_path.iterdir())
