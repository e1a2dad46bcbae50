"""Output files: each appears whole or not at all, and replaces no input."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from polaroc.errors import OutputRefused

# Lists the files of a folder that polaroc wrote, which it may replace.
MARK = ".polaroc"
# Temporary folders, which are left behind only by a process that is killed.
ASIDE = f"{MARK}-"
DISK = "check path, rights and free space."

# Whether an earlier file may be replaced, or a function of it that decides.
Replaceable: TypeAlias = bool | Callable[[Path], bool]
# The files that the running command reads, by device and inode; each command begins with none.
INPUTS: set[tuple[int, int]] = set()


def keep_input(file: Path | int) -> None:
    """Protect a file that is read, or its descriptor, from being replaced by an output."""
    status = os.stat(file)
    INPUTS.add((status.st_dev, status.st_ino))


def _refuse_inputs(files: Iterable[Path]) -> None:
    for file in files:
        if file.is_file() and (file.stat().st_dev, file.stat().st_ino) in INPUTS:
            raise OutputRefused(
                f"{str(file)!r} is an input, and would be replaced.", hint="choose another path."
            )


@contextmanager
def _refused_by_system(path: Path) -> Iterator[None]:
    """Raise errors of the system, such as a full disk, as refusals of the output."""
    try:
        yield
    except BrokenPipeError:
        # The program that reads the output has ended.
        raise
    except OSError as error:
        raise refusal(error, path) from error


def refusal(error: OSError, path: Path | None = None) -> OutputRefused:
    """The refusal of the system, of a file that it names or of this one."""
    where = path if error.filename is None or ASIDE in str(error.filename) else error.filename
    named = "" if where is None else f"{where}: "
    return OutputRefused(f"{named}{error.strerror or error}", hint=DISK)


@contextmanager
def atomic_file(file: Path, replaceable: Replaceable = False) -> Iterator[Path]:
    """A temporary file that becomes `file` when the block ends without an error.

    A link is followed, and the permissions of an earlier file are kept. A file that is there
    already is refused unless it is `replaceable`.
    """
    with _refused_by_system(file):
        check_new(file, replaceable)
        target = file.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=ASIDE, dir=target.parent) as aside:
            staging = Path(aside, file.name)
            yield staging
            # Another process may have created it in the meantime.
            check_new(file, replaceable)
            if target.exists():
                shutil.copymode(target, staging)
            staging.replace(target)


def check_new(file: Path, replaceable: Replaceable = False) -> None:
    """Refuse the name of a file that exists and may not be replaced."""
    if not os.path.lexists(file):
        return
    if not callable(replaceable):
        _refuse_inputs([file])
    # Only regular files are opened by `replaceable`, since opening a pipe would block.
    if file.is_file() and (replaceable(file) if callable(replaceable) else replaceable):
        return
    raise OutputRefused(
        f"{str(file)!r} is there already{', as a folder' * file.is_dir()}.",
        hint="choose another path."
        if file.is_dir()
        else "choose another path; on the command line --force replaces it.",
    )


@contextmanager
def atomic_folder(folder: Path, force: bool = False) -> Iterator[Path]:
    """A temporary folder whose files get into `folder` when the block ends without an error.

    A new folder appears as a whole. In an existing one each file is replaced as a whole, and
    earlier output that is not written again is removed; other files stay, and are refused without
    `force`.
    """
    with _refused_by_system(folder):
        check_replaceable(folder, force)
        target = folder.resolve()
        around = target if target.exists() else target.parent
        around.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=ASIDE, dir=around) as aside:
            staging = Path(aside, "new")
            # Unlike the temporary folder, it has the permissions of other new folders.
            staging.mkdir()
            yield staging
            names = {file.name for file in staging.iterdir()}
            (staging / MARK).write_text("\n".join(sorted(names)), encoding="utf-8")
            if not target.exists():
                staging.rename(target)
                return
            earlier, _ = _contents(target)
            _refuse_inputs(target / name for name in names | earlier)
            for name in earlier - names:
                (target / name).unlink()
            # The list of files is first: if the command is killed, all of them are still known.
            for file in sorted(staging.iterdir()):
                file.replace(target / file.name)


def check_replaceable(folder: Path, force: bool = False) -> None:
    """Refuse a folder that holds something polaroc did not write, unless forced to."""
    _, others = _contents(folder) if folder.exists() else ((), ())
    if others and not force:
        names = ", ".join(map(repr, sorted(others)[:3])) + ", …" * (len(others) > 3)
        raise OutputRefused(
            f"the folder {str(folder)!r} holds files that polaroc did not write: {names}.",
            hint="choose a new or empty folder for --out, or --force: other files stay.",
        )


def _contents(folder: Path) -> tuple[set[str], set[str]]:
    """The names of what polaroc wrote into a folder, and those of all else."""
    names = {file.name for file in folder.iterdir() if not file.name.startswith(MARK)}
    mark = folder / MARK
    written = mark.read_text("utf-8", "replace").splitlines() if mark.is_file() else []
    return names & {*written}, names - {*written}
