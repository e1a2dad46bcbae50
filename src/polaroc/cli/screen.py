"""What the commands share: the screen, progress and refusals."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

import polars as pl
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from polaroc.base.text import escape_control, is_utf8
from polaroc.cli.pipes import without_stdin
from polaroc.errors import InvalidArgument, PolarocError
from polaroc.files.text_files import ONLY_UTF_8

MOST_ROWS = 40
# How the hints of the functions are said on the command line.
OPTIONS = {
    "nulls='drop'": "--nulls drop (or mend them)",
    ", or mend them before": "",
    "positive=...": "--positive LABEL",
    "over=(0.05, 0.20)": "--over 0.05 0.20",
    "test_train_ratio=0.25": "--test-train-ratio 0.25",
    "compare(target='dataset') needs none": "--target dataset of `polaroc compare` needs none",
    "target='dataset'": "--target dataset",
    "target='algorithm'": "--target algorithm",
    "incomplete='drop'": "--incomplete drop",
    "contrast=(0.05, 0.20)": "--contrast 0.05 0.20",
    "prior=0.1": "--prior 0.1",
    "by=['model', 'fold']": "--by model --by fold",
    "among priors=": "as --prior",
    "priors=prior_grid(0.05, 0.20, 16), or compare(...) at one prior":
        "--over 0.05 0.20 --grid 16",
    "priors=pr.prior_grid(lo, hi, 16) over the whole range, and choose again": "--grid 16",
    "among by=, or name another for between= or block=": "as --by, or name another as --between or "
        "--block",
    "build the curves with the model as their only key, or filter them":
        "give the models alone as --by, or fewer files",
    "filter the keys that matter before drawing": "give the models alone as --by, or fewer files",
    "pl.col(...).cast(pl.Float64)": "when the file is written",
}  # fmt: skip
# The call of `regrets.evaluate_hint`, with its range.
CALL = re.compile(r"pr\.evaluate\(\.\.\., over=\((\S+), (\S+)\), priors=pr\.prior_grid\([^)]*\)\)")
DISK = "check path, rights and free space."
RENAME = "rename the file, folder or column."
DAMAGED = "a file may be damaged, or columns differ between files."
# A file or a pipe has no edge to wrap a table at.
WIDE = 500
_P = ParamSpec("_P")


def out() -> Console:
    """The terminal that results are written to."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def stderr_console() -> Console:
    """The terminal that progress and errors are written to."""
    return Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def handle_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """End a command with one clear message and exit code 2 where its input is bad."""

    @wraps(command)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            _refuse_other_encodings(kwargs)
            with _readable(kwargs):
                command(*args, **kwargs)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except PolarocError as error:
            refuse(str(error))
        except pl.exceptions.PanicException as error:
            first = (str(error).strip() or "it gave up").splitlines()[0][:200]
            refuse(f"the reader of files failed: {first}\nHint: {DAMAGED}")
        except pl.exceptions.PolarsError as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            refuse(f"{first}\nHint: {_hint_of_reader(first)}")
        except KeyboardInterrupt:
            stderr_console().print("Interrupted: nothing was written.")
            raise typer.Exit(130) from None
        except UnicodeEncodeError as error:
            refuse(f"a name or a text is not UTF-8: {error.object!r:.200}.\nHint: {RENAME}")
        except MemoryError:
            refuse("memory ran out.\nHint: name fewer keys at a time, or use a larger machine.")
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            refuse(f"{where}{error.strerror or error}\nHint: {DISK}")

    return guarded


def _hint_of_reader(message: str) -> str:
    if "os error" in message:
        return DISK
    return ONLY_UTF_8 if "utf-8" in message.lower() else DAMAGED


def _refuse_other_encodings(options: dict[str, Any]) -> None:
    """Refuse words of the command line, such as names of files, that are not UTF-8."""
    for value in options.values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str | os.PathLike) and not is_utf8(os.fspath(word)):
                shown = os.fsencode(word).decode(errors="backslashreplace")
                raise InvalidArgument(f"'{shown}' is not UTF-8, which is needed.", hint=RENAME)


@contextmanager
def _readable(options: dict[str, Any]) -> Iterator[None]:
    """Options whose files can all be read more than once, while the block runs."""
    with without_stdin(options.get("files", [])) as files:
        if files:
            options["files"] = files
        yield


def refuse(message: str) -> None:
    """Say what is wrong, in the words of the command line, and exit with code 2."""
    complain(message)
    raise typer.Exit(2)


def complain(message: str) -> None:
    """Say what is wrong, in the words of the command line."""
    stderr_console().print(
        Text("Error: ", style="bold red") + Text(escape_control(with_options(message)))
    )


def with_options(message: str) -> str:
    """A message in the words of the command line."""
    for argument, option in OPTIONS.items():
        message = message.replace(argument, option)
    return CALL.sub(r"`polaroc evaluate ... --over \1 \2 --grid 16 --out FOLDER`", message)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that says what is being done, with a clock, while the block runs."""
    console = stderr_console()
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("starting", total=None)

        def say(what: str) -> None:
            bar.reset(task, description=what, total=None)

        yield say
