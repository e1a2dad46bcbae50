"""Locks that end with their process: of temporary folders, and of a file that is rewritten."""

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

LOCK = "lock"
# Seconds after which a folder without a lock was abandoned before it got one.
ABANDONED_AFTER = 60
# What `tempfile.mkdtemp` puts after the prefix.
RANDOM = "[a-z0-9_]{8}"


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder that is removed when the block ends, however it ends.

    Examples
    --------
    >>> with locked_folder(Path(tempfile.mkdtemp()), "rows-") as folder:
    ...     _ = (folder / "rows").write_text("1")
    >>> folder.exists()
    False
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        # Locked before it gets its name, so that no other process takes it in between.
        unnamed = folder / f"{LOCK}-"
        with unnamed.open("w") as lock:
            _hold(lock)
            unnamed.rename(folder / LOCK)
            try:
                yield folder
            finally:
                _empty(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked_file(file: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for the file.

    Where the system has no locks the block runs all the same.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with locked_file(folder / "state"):
    ...     [entry.name for entry in folder.iterdir()]
    ['.state.lock']
    >>> list(folder.iterdir())
    []
    """
    # The file itself changes hands when it is replaced: the lock is another one beside it.
    beside = file.with_name(f".{file.name}.{LOCK}")
    while True:
        with beside.open("a") as lock:
            held = _hold(lock, wait=True)
            if held and not _is_still(beside, lock):
                # Who held it before has removed it.
                continue
            try:
                yield
            finally:
                with suppress(OSError):
                    beside.unlink()
            return


def _is_still(path: Path, opened: IO[str]) -> bool:
    """Whether a path leads to an open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(opened.fileno()))
    return False


def sweep(parent: Path, prefix: str, before: Callable[[Path], None] | None = None) -> None:
    """Remove the folders of processes that were killed, each after a call of `before` with it."""
    # The prefix alone would match folders of outputs whose names begin alike.
    name = re.compile(re.escape(prefix) + RANDOM)
    for folder in [entry for entry in parent.iterdir() if name.fullmatch(entry.name)]:
        with suppress(OSError):
            if not _is_own_folder(folder):
                continue
            if not (folder / LOCK).exists():
                if time.time() - folder.stat().st_mtime > ABANDONED_AFTER:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with (folder / LOCK).open("r+") as lock:
                if not _hold(lock):
                    continue
                if before is not None:
                    before(folder)
                _empty(folder)
                shutil.rmtree(folder, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    """Whether a path is a folder itself, not a link to one, and of this user."""
    status = path.lstat()
    user = getattr(os, "geteuid", lambda: status.st_uid)()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user


def _empty(folder: Path) -> None:
    """Remove all but the lock, by which a later `sweep` recognises the folder."""
    for entry in folder.iterdir():
        if entry.name != LOCK:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _hold(lock: IO[str], wait: bool = False) -> bool:
    """Take the lock, which is released when its file is closed or the process exits."""
    try:
        import fcntl
    except ImportError:
        # Without locks other processes may be running: leave their folders.
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
