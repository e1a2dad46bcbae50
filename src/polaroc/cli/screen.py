"""Results and notes on the screen, progress, and refusals."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

import polars as pl
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from polaroc.base.text import escape_control
from polaroc.base.text_tables import MORE_NOTES
from polaroc.errors import PolarocError, PolarocWarning
from polaroc.files.read import ONLY_UTF_8
from polaroc.files.write import DISK, INPUTS, refusal

RENAME_FILE = "rename the file, folder or column."
# Arguments that hints name, as options. Most have the same name.
OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in (
        "batch", "by", "case", "champion", "challenger", "cluster", "confidence", "cost_fn",
        "cost_fp", "count", "every", "fold", "interpolation", "level", "margin", "measure",
        "memory", "model", "nulls", "over", "positive", "prior", "score", "test_train_ratio",
        "time", "truth", "tuning", "weight",
    )
} | {
    "recall": "--min-recall", "precision": "--min-precision", "posfrac": "--max-posfrac",
    "priors": "--prior", "points": "--threshold", "path": "--out",
}  # fmt: skip
ARGUMENT = re.compile(
    r"\b(?P<argument>[a-z_]+)="
    r"(?P<value>\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|'[^']*'|\"[^\"]*\"|\.\.\.|None|[\d.]*\d)?"
    r"(?![\w(\[{])"
)
LIMIT = re.compile(r"[\"'](\w+)[\"']: ([\d.]*\d)")
# The call that makes the measures which other commands need.
GRID_OF_MEASURES = re.compile(
    r"pr\.evaluate\(\.\.\., over=\((\S+), (\S+)\), priors=pr\.prior_grid\(\S+, \S+, (\d+)\)\)"
)

_quiet = False


def set_quiet(value: bool) -> bool:
    """Whether the running command prints notes and progress; called for each command."""
    global _quiet
    _quiet = value
    return value


class _Screen(Console):
    """A console whose reader may go; rich would exit with 1, the code of a verdict."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; notes and errors that cannot be written change no exit code."""
        try:
            super().print(*objects, **options)
        except OSError:
            if not self.stderr:
                raise
            write_nowhere(sys.stderr)

    def on_broken_pipe(self) -> None:
        """Results that cannot be written end the command; notes do not."""
        if not self.stderr:
            raise BrokenPipeError
        write_nowhere(sys.stderr)


def write_nowhere(stream: TextIO) -> None:
    """Discard what is still to be printed, because its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def console(stderr: bool = False, quiet: bool = False) -> Console:
    """The terminal for results; or that for progress, notes and errors."""
    screen = _Screen(stderr=stderr, soft_wrap=stderr, quiet=quiet, highlight=False, markup=False)
    if not stderr and not screen.is_terminal:
        # A file or a pipe has no edge to wrap a table at.
        screen.width = 500
    return screen


def print_notes(notes: Sequence[str], beside_results: bool = False) -> None:
    """Print notes on the standard error, or beside results, unless --quiet is given."""
    screen = console(stderr=not beside_results, quiet=_quiet)
    for note in notes:
        screen.print(escape_control(with_options(note)))


def show(parts: Sequence[Any], written_to: Path | None = None) -> None:
    """Print the sentences and tables of a result.

    With --quiet no notes, and nothing of a result that was written to a file.
    """
    if _quiet and written_to is not None:
        return
    if _quiet:
        parts = [part for part in parts if not str(part).startswith("Note")]
    if written_to is not None:
        parts = [*parts, f"Written to {written_to}."]
    screen = console()
    for part in parts:
        if isinstance(part, str):
            part = escape_control(with_options(part)).replace(MORE_NOTES, "shown by --json")
        screen.print(part)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done, with a clock, while the block runs."""
    screen = console(stderr=True, quiet=_quiet)
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=screen, transient=True, disable=_quiet or not screen.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(doing, total=None)
        yield lambda what: bar.reset(task, description=what, total=None)


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """End a command with one message and exit code 2 if its input cannot be used."""
    INPUTS.clear()
    try:
        with _warnings_as_notes():
            yield
    except BrokenPipeError:
        # The reader of the results, such as `head`, has enough.
        write_nowhere(sys.stdout)
        raise typer.Exit(0) from None
    except PolarocError as error:
        refuse(error.problem, error.hint)
    except (pl.exceptions.PanicException, pl.exceptions.PolarsError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        damaged = f"a file may be damaged, or columns differ between files. {ONLY_UTF_8}"
        refuse(first[:200], DISK if "os error" in first else damaged)
    except KeyboardInterrupt:
        console(stderr=True).print("Interrupted: nothing was written.")
        raise typer.Exit(130) from None
    except UnicodeEncodeError as error:
        refuse(f"a name or a text is not UTF-8: {error.object!r:.200}.", RENAME_FILE)
    except MemoryError:
        refuse("memory ran out.", "name fewer keys at a time, or use a larger machine.")
    except EOFError as error:
        # Click takes it for Ctrl-D and exits with 1, the code of a verdict.
        raise RuntimeError("a file or a stream ended early") from error
    except OSError as error:
        refused = refusal(error)
        refuse(refused.problem, refused.hint)


def refuse(found: str, hint: str) -> NoReturn:
    """Say what is wrong and what to do, and exit with code 2."""
    message = escape_control(f"{found}\nHint: {with_options(hint)}")
    console(stderr=True).print(Text("Error: ", style="bold red") + Text(message))
    raise typer.Exit(2)


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings about the predictions as notes, each once."""
    printed: set[str] = set()
    show_others = warnings.showwarning

    def show_warning(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        if not issubclass(category, PolarocWarning):
            show_others(message, category, *args, **kwargs)
        elif str(message) not in printed:
            printed.add(str(message))
            print_notes([f"Note: {message}"])

    with warnings.catch_warnings():
        warnings.simplefilter("always", PolarocWarning)
        warnings.showwarning = show_warning
        yield


def with_options(text: str) -> str:
    """A text in which arguments that it names are spelled as options.

    Examples
    --------
    >>> with_options("give over=(0.05, 0.20), or say fold=None: see tuning=.")
    "give --over 0.05 0.20, or say --fold '': see --tuning."
    >>> with_options("constraints={'precision': 0.8}, by=['sex', 'site'] and same_table=True")
    '--min-precision 0.8, --by sex --by site and same_table=True'
    """
    command = r"`polaroc evaluate ... --over \1 \2 --grid \3 --out FOLDER`"
    return ARGUMENT.sub(_as_option, GRID_OF_MEASURES.sub(command, text))


def _as_option(found: re.Match[str]) -> str:
    argument, value = found["argument"], found["value"] or ""
    if argument == "constraints" and LIMIT.search(value):
        limits = LIMIT.findall(value)
        return " ".join(f"{OPTIONS.get(rate, rate)} {limit}" for rate, limit in limits)
    if argument not in OPTIONS or (argument == "model" and value.startswith("'")):
        # A model that is named in the data stays as it is.
        return found[0]
    option = OPTIONS[argument]
    if value == "None":
        return f"{option} ''"
    if value.startswith("("):
        return f"{option} {value[1:-1].replace(',', '')}"
    words = [word.strip(" '\"") for word in value.strip("[]").split(",")]
    return " ".join(f"{option} {shlex.quote(word)}" if word else option for word in words)
