"""Locks on folders, which end with their process."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

# Seconds after which a folder without a lock was left by a process that was killed.
ABANDONED_AFTER = 60


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder in the block; False if there is none, or another process has it."""
    try:
        import fcntl
    except ImportError:
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        is_held = False
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = True
        yield is_held
    finally:
        os.close(descriptor)


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder that is removed when the block ends, however it ends.

    Examples
    --------
    >>> import tempfile
    >>> with locked_folder(Path(tempfile.mkdtemp()), "rows-") as folder:
    ...     _ = (folder / "rows").write_text("1")
    >>> folder.exists()
    False
    """
    with TemporaryDirectory(prefix=prefix, dir=parent) as name, locked(Path(name)):
        yield Path(name)


def sweep(parent: Path, prefix: str) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime > ABANDONED_AFTER:
                with locked(folder) as is_held:
                    if is_held:
                        shutil.rmtree(folder, ignore_errors=True)
