"""Output that appears whole or not at all: a folder, or a file."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from polaroc.base.text import is_utf8
from polaroc.errors import OutputRefused
from polaroc.files.locks import locked_folder, sweep
from polaroc.files.swap import exchanged

# Lists the files that polaroc wrote, so that nobody else's are ever replaced.
MARK = ".polaroc"
# Beside the output, while it is made: a folder with the new and the earlier output.
ASIDE, NEW, EARLIER = ".polaroc-", "new", "earlier"


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error.

    Parameters
    ----------
    folder
        Where the output goes: a new or empty folder, or earlier output of
        polaroc, which is replaced. Parents are made; a link is followed.

    Raises
    ------
    OutputRefused
        Where `folder` holds anything else, before the block starts.

    Examples
    --------
    >>> import tempfile
    >>> where = Path(tempfile.mkdtemp()) / "out"
    >>> with atomic_folder(where) as staging:
    ...     _ = (staging / "measures.csv").write_text("auc")
    >>> sorted(file.name for file in where.iterdir())
    ['.polaroc', 'measures.csv']
    """
    check_replaceable(folder)
    with _aside(folder.resolve()) as (staging, target):
        # A folder made by mkdir has the rights that the user's umask asks for.
        staging.mkdir()
        yield staging
        names = sorted(file.name for file in staging.iterdir())
        (staging / MARK).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        _place(staging, target)


@contextmanager
def _aside(target: Path) -> Iterator[tuple[Path, Path]]:
    """A name for what is being made, and the one it will have; nothing else stays behind."""
    if not is_utf8(str(target)):
        raise OutputRefused(
            f"the name {str(target)!r} is not UTF-8.",
            hint="choose another --out.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f"{ASIDE}{target.name}-"

    def put_back(around: Path) -> None:
        """An earlier output that was moved away by a run that was killed before the next step."""
        if (around / EARLIER).exists() and not target.exists():
            (around / EARLIER).rename(target)

    sweep(target.parent, prefix, put_back)
    with locked_folder(target.parent, prefix) as around:
        yield around / NEW, target


def _place(staging: Path, folder: Path) -> None:
    """Put the new folder in place of an earlier output, in one step where the system can."""
    try:
        # Where there is none, or an empty one.
        staging.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
    else:
        return
    check_replaceable(folder)
    if exchanged(staging, folder):
        try:
            # Files may have been added since.
            check_replaceable(staging)
        except OutputRefused:
            exchanged(staging, folder)
            raise
        return
    earlier = staging.with_name(EARLIER)
    folder.rename(earlier)
    try:
        staging.rename(folder)
    except BaseException:
        if not folder.exists():
            earlier.rename(folder)
        raise


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds something polaroc did not write."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputRefused(
            f"{str(folder)!r} is a file, allowed is a folder.", hint="choose another --out."
        )
    mark = folder / MARK
    ours = {MARK, *_names(mark)} if mark.is_file() else set()
    strangers = sorted(file.name for file in folder.iterdir() if file.name not in ours)
    if strangers:
        raise OutputRefused(
            f"the folder {str(folder)!r} holds files that polaroc did not write: "
            f"{', '.join(map(repr, strangers[:3]))}{', …' if len(strangers) > 3 else ''}.",
            hint="choose a new or empty folder for --out.",
        )


def nobodys(file: Path) -> bool:
    """No file is ours to replace."""
    return False


@contextmanager
def atomic_file(file: Path, ours: Callable[[Path], bool] = nobodys) -> Iterator[Path]:
    """A temporary file that becomes `file` when the block ends without an error.

    Parameters
    ----------
    file
        Where the output goes; parents are made.
    ours
        Whether a file that is there is earlier output, which is replaced.

    Raises
    ------
    OutputRefused
        Where there is another file of that name, before the block starts.

    Examples
    --------
    >>> import tempfile
    >>> where = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with atomic_file(where) as staging:
    ...     _ = staging.write_text("auc")
    >>> where.read_text()
    'auc'
    """
    check_new(file, ours)
    with _aside(file.parent.resolve() / file.name) as (staging, target):
        staging.mkdir()
        yield staging / file.name
        _place_file(staging / file.name, target, ours)


def _place_file(staging: Path, file: Path, ours: Callable[[Path], bool]) -> None:
    """Give the new file its name, unless that has been taken meanwhile."""
    try:
        os.link(staging, file)
    except OSError:
        # It is there already, or the file system has no links.
        check_new(file, ours)
        staging.replace(file)


def _names(mark: Path) -> list[str]:
    return mark.read_text(encoding="utf-8", errors="replace").splitlines()


def check_new(file: Path, ours: Callable[[Path], bool] = nobodys) -> None:
    """Refuse the name of a file that is there and not `ours`."""
    if os.path.lexists(file) and not (file.is_file() and ours(file)):
        raise OutputRefused(f"{str(file)!r} is there already.", hint="choose another --out.")
