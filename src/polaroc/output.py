"""A folder of output that appears whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polaroc.errors import OutputRefused

MARK = ".polaroc"


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error.

    Parameters
    ----------
    folder
        Where the output goes: a new or empty folder, or earlier output of
        polaroc, which is replaced. Parents are made.

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
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        (staging / MARK).touch()
        staging.chmod(0o755)
        yield staging
        check_replaceable(folder)
        earlier = staging.with_name(staging.name + "-earlier")
        if folder.exists():
            folder.rename(earlier)
        try:
            staging.rename(folder)
        except BaseException:
            if earlier.exists():
                earlier.rename(folder)
            raise
        shutil.rmtree(earlier, ignore_errors=True)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds something polaroc did not write."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputRefused(
            f"{str(folder)!r} is a file, allowed is a folder.", hint="choose another --out."
        )
    if any(folder.iterdir()) and not (folder / MARK).exists():
        raise OutputRefused(
            f"the folder {str(folder)!r} holds files that polaroc did not write.",
            hint="choose a new or empty folder for --out.",
        )
