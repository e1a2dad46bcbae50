"""Output that appears whole or not at all: a folder, or a file."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from polaroc.errors import OutputRefused

# Lists the files that polaroc wrote, so that nobody else's are ever replaced.
MARK = ".polaroc"


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
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
    >>> with whole(where) as staging:
    ...     _ = (staging / "measures.csv").write_text("auc")
    >>> sorted(file.name for file in where.iterdir())
    ['.polaroc', 'measures.csv']
    """
    check_replaceable(folder)
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    around = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    staging, earlier = around / "new", around / "earlier"
    try:
        # A folder made by mkdir has the rights that the user's umask asks for.
        staging.mkdir()
        yield staging
        names = sorted(file.name for file in staging.iterdir())
        (staging / MARK).write_text("".join(f"{name}\n" for name in names))
        check_replaceable(folder)
        try:
            if folder.exists():
                folder.rename(earlier)
            staging.rename(folder)
        except BaseException:
            if earlier.exists() and not folder.exists():
                earlier.rename(folder)
            raise
    finally:
        shutil.rmtree(around, ignore_errors=True)


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds something polaroc did not write."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputRefused(
            f"{str(folder)!r} is a file, allowed is a folder.", hint="choose another --out."
        )
    mark = folder / MARK
    ours = {MARK, *mark.read_text().splitlines()} if mark.exists() else set()
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
def whole_file(file: Path, ours: Callable[[Path], bool] = nobodys) -> Iterator[Path]:
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
    >>> with whole_file(where) as staging:
    ...     _ = staging.write_text("auc")
    >>> where.read_text()
    'auc'
    """
    check_new(file, ours)
    file.parent.mkdir(parents=True, exist_ok=True)
    around = Path(tempfile.mkdtemp(prefix=f".{file.name}-", dir=file.parent))
    try:
        yield around / file.name
        check_new(file, ours)
        (around / file.name).rename(file)
    finally:
        shutil.rmtree(around, ignore_errors=True)


def check_new(file: Path, ours: Callable[[Path], bool] = nobodys) -> None:
    """Refuse the name of a file that is there and not `ours`."""
    if file.exists() and not (file.is_file() and ours(file)):
        raise OutputRefused(f"{str(file)!r} is there already.", hint="choose another --out.")
