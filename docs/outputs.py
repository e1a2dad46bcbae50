"""Fill in what the Python blocks of the pages and of the README print.

A block ```` ```text ```` right after one of Python holds what that prints.
"""

import io
import re
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
BLOCK = re.compile(
    r"(?P<code>```python\n(?P<python>.*?)```\n)(?P<gap>\n```text\n.*?```\n)?", re.DOTALL
)


def main() -> None:
    """All pages, or those named, such as guide/files or ../README."""
    named = [HERE / f"{name}.md" for name in sys.argv[1:]]
    for page in named or [*pages(), HERE.parent / "README.md"]:
        page.write_text(filled(page.read_text(), page.name))


def pages() -> list[Path]:
    return sorted(HERE.rglob("*.md"))


def filled(text: str, name: str) -> str:
    """The page after its Python has run, one block after the other, beside the queries."""
    names: dict[str, object] = {"__name__": name}

    def run(block: re.Match[str]) -> str:
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(block["python"], name, "exec"), names)
        shown = f"\n```text\n{said.getvalue().rstrip()}\n```\n" if block["gap"] else ""
        return block["code"] + shown

    with TemporaryDirectory() as folder, chdir(folder):
        Path("queries").symlink_to(HERE.parent / "queries")
        return BLOCK.sub(run, text)


if __name__ == "__main__":
    main()
