"""`polaroc gate` in a workflow: the inputs as options, the verdict where people look for it."""

import json
import os
import shlex
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from urllib.request import Request, urlopen

VERDICTS = {0: "pass", 1: "fail", 3: "undecided"}
OWN = ("files", "install", "github-token")
# Comments that one request lists, and seconds until an answer that does not come is given up.
AT_ONCE, PATIENCE = 100, 30


def arguments(inputs: dict[str, str]) -> list[str]:
    """The words of the command line."""
    words = [line.strip() for line in inputs.get("files", "").splitlines() if line.strip()]
    for name, value in inputs.items():
        if name not in OWN:
            for line in value.splitlines():
                words += [f"--{name}", *shlex.split(line)]
    return words


def mark(inputs: dict[str, str]) -> str:
    """A line that nobody sees, by which the comment of an earlier run is found."""
    models = f"{inputs.get('challenger')}\n{inputs.get('champion')}"
    return f"<!-- polaroc gate {sha256(models.encode()).hexdigest()[:16]} -->"


def comment(inputs: dict[str, str], text: str) -> None:
    """Write the text on the pull request, or say why that cannot be done: the verdict stands."""
    try:
        write_comment(inputs, text)
    except (OSError, ValueError) as error:
        print(f"There is no comment on the pull request: {error}", file=sys.stderr)


def write_comment(inputs: dict[str, str], text: str) -> None:
    """Write the text on the pull request, in place of what an earlier run wrote."""
    api, repository = os.environ["GITHUB_API_URL"], os.environ["GITHUB_REPOSITORY"]
    issues, number = f"{api}/repos/{repository}/issues", os.environ["PULL_REQUEST"]
    headers = {
        "Authorization": f"Bearer {inputs['github-token']}",
        "Accept": "application/vnd.github+json",
    }

    def ask(url: str, method: str = "GET", body: object = None) -> list[dict[str, object]]:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(url, data, headers, method=method), timeout=PATIENCE) as answer:
            return json.load(answer)

    comments, page = [], 1
    while len(comments) == AT_ONCE * (page - 1):
        comments += ask(f"{issues}/{number}/comments?per_page={AT_ONCE}&page={page}")
        page += 1
    earlier = [one["id"] for one in comments if str(one["body"]).startswith(mark(inputs))]
    body = {"body": f"{mark(inputs)}\n{text}"}
    if earlier:
        ask(f"{issues}/comments/{earlier[0]}", "PATCH", body)
    else:
        ask(f"{issues}/{number}/comments", "POST", body)


def main() -> int:
    """The exit code of the command."""
    given = json.loads(os.environ["INPUTS"])
    inputs = {name: value.strip() for name, value in given.items() if value.strip()}
    command = [sys.executable, "-m", "polaroc", "gate", *arguments(inputs), "--markdown"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    print(done.stdout)
    # A command that breaks down has an exit code of 1, too, and says nothing.
    if done.returncode not in VERDICTS or not done.stdout.strip():
        return done.returncode
    for file, text in (
        ("GITHUB_STEP_SUMMARY", done.stdout),
        ("GITHUB_OUTPUT", f"verdict={VERDICTS[done.returncode]}\n"),
    ):
        with Path(os.environ[file]).open("a", encoding="utf-8") as written:
            written.write(text)
    if "github-token" in inputs and os.environ.get("PULL_REQUEST"):
        comment(inputs, done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
