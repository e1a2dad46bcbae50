"""A directive that shows what `polaroc COMMAND --help` prints, for every command."""

import os

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command
from typer.testing import CliRunner

from polaroc.cli.app import app as polaroc

os.environ["TERMINAL_WIDTH"] = "80"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class CommandHelp(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        return [self.section(name) for name in commands()]

    def section(self, name: str) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(name)])
        section += nodes.title("", "", nodes.literal("", f"polaroc {name}"))
        section += nodes.literal_block(help_of := printed(name), help_of, language="text")
        return section


def commands() -> list[str]:
    return list(get_command(polaroc).commands)


def printed(command: str) -> str:
    answer = CliRunner().invoke(polaroc, [command, "--help"], prog_name="polaroc")
    if answer.exit_code:
        raise answer.exception or SystemExit(answer.exit_code)
    return answer.output.strip()
