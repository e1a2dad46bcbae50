"""What the commands share: results and notes on the screen, progress, and refusals."""

import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, NoReturn, ParamSpec, TextIO, cast

import polars as pl
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from polaroc.base.text import escape_control, is_utf8
from polaroc.base.text_tables import MORE_NOTES
from polaroc.cli.parameters import option_name
from polaroc.cli.pipes import json_text
from polaroc.cli.settings import Settings
from polaroc.errors import (
    Hint,
    InvalidArgument,
    PolarocError,
    PolarocWarning,
    numbers,
    without_long_words,
)
from polaroc.files.atomic import DISK, inputs_kept, refusal
from polaroc.files.text_files import ONLY_UTF_8
from polaroc.predictions.table import WRITE_NUMBERS

# What stands for a value where the data tell it.
PLACEHOLDERS = {
    "challenger": "MODEL", "champion": "MODEL", "positive": "LABEL",
    "tuning": "FILE",
}  # fmt: skip
RENAME_FILE = "rename the file, folder or column."
DAMAGED = "a file may be damaged, or columns differ between files."
# A file or a pipe has no edge to wrap a table at.
WIDE = 500
QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print no notes, no progress and no result that goes to a file."
    ),
]
NoConfig = Annotated[
    bool, typer.Option("--no-config", help="Leave polaroc.toml and pyproject.toml aside.")
]
# Parameters that every command has besides its own.
COMMON = {"quiet": (Quiet, False), "no_config": (NoConfig, False)}
_P = ParamSpec("_P")


class _Screen(Console):
    """A console whose reader may go; rich would exit with 1, the code of a verdict."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; notes and errors that cannot be written change no exit code."""
        try:
            super().print(*objects, **options)
        except OSError:
            if not self.stderr:
                raise
            _write_nowhere(sys.stderr)

    def on_broken_pipe(self) -> None:
        """Of results pass the error on; notes that nobody reads end no command."""
        if not self.stderr:
            raise BrokenPipeError
        _write_nowhere(sys.stderr)


def out() -> Console:
    """The terminal that results are written to."""
    console = _Screen(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def stderr_console(quiet: bool | None = None) -> Console:
    """The terminal that progress, notes and errors are written to; by default as --quiet says."""
    quiet = QUIET.get() if quiet is None else quiet
    return _Screen(stderr=True, highlight=False, markup=False, soft_wrap=True, quiet=quiet)


def notes_console(beside_results: bool) -> Console:
    """Where notes go: beside results, or where these have the standard output for themselves."""
    console = out() if beside_results else stderr_console()
    console.quiet = QUIET.get()
    return console


def handle_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """End a command with one clear message and exit code 2 where its input is bad."""

    @wraps(command)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
        options = cast("dict[str, Any]", kwargs)
        quiet, _ = (options.pop(name, None) for name in COMMON)
        reset = QUIET.set(bool(quiet))
        try:
            _refuse_other_encodings(options)
            with inputs_kept(), _warnings_as_notes():
                command(*args, **kwargs)
        except BrokenPipeError:
            _write_nowhere(sys.stdout)
            raise typer.Exit(0) from None
        except PolarocError as error:
            refuse(f"{error.found}\nHint: {with_options(error.hint)}")
        except pl.exceptions.PanicException as error:
            first = (str(error).strip() or "it gave up").splitlines()[0][:200]
            refuse(f"the reader of files failed: {first}\nHint: {DAMAGED}")
        except pl.exceptions.PolarsError as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            refuse(f"{first}\nHint: {_hint_of_reader(first)}")
        except KeyboardInterrupt:
            stderr_console(quiet=False).print("Interrupted: nothing was written.")
            raise typer.Exit(130) from None
        except UnicodeEncodeError as error:
            refuse(f"a name or a text is not UTF-8: {error.object!r:.200}.\nHint: {RENAME_FILE}")
        except MemoryError:
            refuse("memory ran out.\nHint: name fewer keys at a time, or use a larger machine.")
        except EOFError as error:
            # Typer would take it for Ctrl-D, and exit with 1, the code of a verdict.
            raise RuntimeError("a file or a stream ended early") from error
        except OSError as error:
            refuse(str(refusal(error)))
        finally:
            QUIET.reset(reset)

    own = signature(command)
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in COMMON.items()
    ]
    # Read by typer.
    vars(guarded)["__signature__"] = own.replace(parameters=[*own.parameters.values(), *added])
    guarded.__annotations__ = command.__annotations__ | {
        name: kind for name, (kind, _) in COMMON.items()
    }
    return guarded


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings about the predictions as notes, each once."""
    printed: set[str] = set()
    show_others = warnings.showwarning

    def show(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        if not issubclass(category, PolarocWarning):
            show_others(message, category, *args, **kwargs)
        elif str(message) not in printed:
            printed.add(str(message))
            print_notes([f"Note: {message}"])

    with warnings.catch_warnings():
        warnings.simplefilter("always", PolarocWarning)
        warnings.showwarning = show
        yield


@contextmanager
def exit_with(code: int) -> Iterator[None]:
    """Print results in the block, and exit with `code`, also where nobody reads them."""
    try:
        yield
    except BrokenPipeError:
        # A reader that has gone, such as `head`, ends other commands with 0.
        _write_nowhere(sys.stdout)
    raise typer.Exit(code)


def _write_nowhere(stream: TextIO) -> None:
    """What is still to be printed goes nowhere, since its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say_settings(settings: Settings) -> None:
    """Say which options a file sets."""
    words = " ".join(option(name, value) for name, value in settings.values.items())
    said = [f"{settings.file} sets {words} (--no-config leaves it aside)."] if words else []
    print_notes([f"Note: {line}" for line in said])


def _hint_of_reader(message: str) -> str:
    if "os error" in message:
        return DISK
    if message.startswith("could not parse"):
        return WRITE_NUMBERS
    return ONLY_UTF_8 if "utf-8" in message.lower() else DAMAGED


def _refuse_other_encodings(options: dict[str, Any]) -> None:
    """Refuse words of the command line, such as names of files, that are not UTF-8."""
    for value in options.values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str | os.PathLike) and not is_utf8(os.fspath(word)):
                shown = os.fsencode(word).decode(errors="backslashreplace")
                raise InvalidArgument(f"'{shown}' is not UTF-8, which is needed.", hint=RENAME_FILE)


def refuse(message: str) -> NoReturn:
    """Say what is wrong, and exit with code 2."""
    message = escape_control(without_long_words(message))
    stderr_console(quiet=False).print(Text("Error: ", style="bold red") + Text(message))
    raise typer.Exit(2)


def with_options(text: str) -> str:
    """A text as the command line says it: arguments that it names as options."""
    return text.for_command_line(option) if isinstance(text, Hint) else text


def option(argument: str, value: object) -> str:
    """An argument of a function as an option.

    Examples
    --------
    >>> option("over", (0.05, 0.2)), option("by", ["model", "fold"]), option("same_table", True)
    ('--over 0.05 0.20', '--by model --by fold', '--same-table')
    >>> option("constraints", {"precision": 0.8})
    '--constraint precision=0.8'
    """
    # The argument of a command that stands without a name.
    if argument.isupper():
        return shlex.quote(str(value))
    name = option_name(argument)
    if value is None or value is True:
        return name
    if value is ...:
        return f"{name} {PLACEHOLDERS.get(argument, 'COLUMN')}"
    if isinstance(value, tuple):
        return " ".join([name, *numbers(value)])
    if isinstance(value, dict):
        value = [f"{key}={one:.12g}" for key, one in value.items()]
    values = value if isinstance(value, list) else [value]
    words = [f"{one:.12g}" if isinstance(one, float) else str(one) for one in values]
    return " ".join(f"{name} {shlex.quote(word)}" for word in words)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that says what is being done, with a clock, while the block runs."""
    console = stderr_console()
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=console, transient=True, disable=console.quiet or not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("starting", total=None)

        def say(what: str) -> None:
            bar.reset(task, description=what, total=None)

        yield say


def print_notes(notes: Sequence[str]) -> None:
    """Print notes where no result goes."""
    for note in notes:
        stderr_console().print(escape_control(note))


def print_json(result: pl.DataFrame | Mapping[str, Any], warnings: Sequence[str]) -> None:
    """Print a result for another program, with its warnings.

    Several results have them under that name; beside the rows of a table they are notes.
    """
    warnings = [with_options(line) for line in warnings]
    if isinstance(result, pl.DataFrame):
        typer.echo(json_text(result))
        print_notes(warnings)
    else:
        spelled = {
            name: with_options(value) if isinstance(value, str) else value
            for name, value in result.items()
        }
        typer.echo(json_text({**spelled, "warnings": warnings}))


def show_result(
    result: Any, names: Sequence[str], notes: Sequence[str], as_json: bool, out: Path | None = None
) -> None:
    """Print a result that shows itself, or as JSON what it has under these names, and its notes."""
    if as_json:
        print_json({name: getattr(result, name) for name in names}, notes)
    else:
        show_results(result.shown, out)


def show_results(parts: Sequence[Any], folder: Path | None = None) -> None:
    """Print the parts of a result; with --quiet no notes, and nothing that was written."""
    if folder is not None:
        parts = [*parts, f"Written to {folder}."]
    if not QUIET.get():
        show(parts)
    elif folder is None:
        show([part for part in parts if not str(part).startswith("Note: ")])


def show(parts: Sequence[Any], on: Console | None = None) -> None:
    """Print sentences and tables, by default where results go."""
    console = on or out()
    for part in parts:
        if isinstance(part, str):
            part = escape_control(with_options(part)).replace(MORE_NOTES, "shown by --json")
        console.print(part)
