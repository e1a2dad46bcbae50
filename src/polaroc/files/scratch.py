"""Temporary disk space for rows that exceed memory."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl

from polaroc.errors import OutputRefused
from polaroc.files.atomic import refused_by_system
from polaroc.files.locks import locked_folder, sweep

PREFIX = "polaroc-scratch-"
# Space that a file system needs beside the files.
RESERVE = 1.1
# Of a full disk, and of a user's full share of it.
FULL = (errno.ENOSPC, errno.EDQUOT)
LARGER = "name a folder on a larger disk in the environment variable TMPDIR, or allow more memory."


@contextmanager
def scratch_folder(needed: int = 0) -> Iterator[Path]:
    """A folder in that of the system for temporary files, removed when the block ends.

    What an earlier run left there because it was killed is removed first. Raises where the disk has
    less room than the `needed` bytes, or is full before the block ends.

    Examples
    --------
    >>> with scratch_folder(needed=1000) as folder:
    ...     _ = (folder / "rows").write_text("1")
    >>> folder.exists()
    False
    """
    around = Path(tempfile.gettempdir())
    with refused_by_system(around):
        sweep(around, PREFIX)
    free = shutil.disk_usage(around).free
    if free < needed * RESERVE:
        raise OutputRefused(
            f"the rows need about {in_gb(needed)} of scratch space, but {str(around)!r} has "
            f"{in_gb(free)} left.",
            hint=LARGER,
        )
    with ExitStack() as stack:
        with refused_by_system(around):
            folder = stack.enter_context(locked_folder(around, PREFIX))
        try:
            yield folder
        except (OSError, pl.exceptions.ComputeError) as error:
            if not _is_full(error):
                raise
            raise OutputRefused(
                f"the disk of {str(around)!r} is full: the rows need more scratch space than the "
                f"{in_gb(free)} that were left.",
                hint=LARGER,
            ) from error


def _is_full(error: Exception) -> bool:
    """Whether an error is of a full disk; those of Polars have its words only."""
    code, words = getattr(error, "errno", None), str(error)
    return code in FULL or any(os.strerror(full) in words for full in FULL)


def in_gb(size: float) -> str:
    """Bytes in GB, as text."""
    return f"{size / 1e9:.1f} GB"
