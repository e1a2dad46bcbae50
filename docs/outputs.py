"""Fill in what the Python blocks of the pages and of the README print.

A block ```` ```text ```` right after one of Python holds what that prints. Those of
commands, ```` ```sh ````, run only where such a block follows them.
"""

import io
import os
import re
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from difflib import unified_diff
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
BLOCK = re.compile(
    r"(?P<code>```(?P<language>python|sh)\n(?P<lines>.*?)```\n)(?P<gap>\n```text\n.*?```\n)?",
    re.DOTALL,
)
# The commands of this Python, and not of another that may be installed.
POLAROC = f'#!/bin/sh\nexec "{sys.executable}" -m polaroc "$@"\n'
WIDTH = "96"
# A block that imports one of these runs where it is installed, as it is by `.ci/tracking`.
WITH_OTHERS = {"mlflow"}


def main() -> None:
    """All pages, or those named, such as guide/files or ../README; `--check` writes none."""
    named = [HERE / f"{name}.md" for name in sys.argv[1:] if name != "--check"]
    for page in named or [*pages(), HERE.parent / "README.md"]:
        text = page.read_text()
        found = filled(text, page.name)
        if "--check" not in sys.argv:
            page.write_text(found)
        elif found != text:
            lines = unified_diff(text.splitlines(), found.splitlines(), lineterm="")
            raise SystemExit("\n".join([f"{page.name} prints otherwise:", *lines]))


def pages() -> list[Path]:
    return sorted(HERE.rglob("*.md"))


def filled(text: str, name: str) -> str:
    """The page after its Python has run, one block after the other, beside the queries."""
    names: dict[str, object] = {"__name__": name}

    def run(block: re.Match[str]) -> str:
        if block["language"] == "sh":
            return block[0] if not block["gap"] else block["code"] + shown(ran(block["lines"]))
        missing = [name for name in WITH_OTHERS if not find_spec(name)]
        if any(f"import {name}\n" in block["lines"] for name in missing):
            return block[0]
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(block["lines"], name, "exec"), names)
        return block["code"] + (shown(said.getvalue()) if block["gap"] else "")

    with TemporaryDirectory() as folder, chdir(folder):
        Path("queries").symlink_to(HERE.parent / "queries")
        return BLOCK.sub(run, text)


def shown(text: str) -> str:
    return f"\n```text\n{text.rstrip()}\n```\n"


def ran(commands: str) -> str:
    """What commands of the shell print, in the working directory."""
    with TemporaryDirectory() as programs:
        program = Path(programs, "polaroc")
        program.write_text(POLAROC)
        program.chmod(0o755)
        path = os.pathsep.join([programs, os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "COLUMNS": WIDTH}
        done = subprocess.run(
            ["bash", "-c", commands], env=environment, check=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


if __name__ == "__main__":
    main()
