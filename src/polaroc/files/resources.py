"""Memory, scratch folders and progress of a computation on more rows than memory holds."""

import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from polaroc.base.checks import is_number
from polaroc.errors import InvalidArgument, example, quoted

# Bytes, a size as text, or "auto".
Memory: TypeAlias = int | str
Progress: TypeAlias = Callable[[int, int], None]
LEAST = 500_000_000
# Share of the available memory that is used by default.
SHARE = 0.6
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", re.IGNORECASE)
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
# By controller, which version 2 of control groups does not name: the files of limit and use, and
# what counts as used but can be reclaimed.
GROUP_FILES = {
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    "": ("memory.max", "memory.current", "inactive_file"),
}
# The beginning of the names of scratch folders.
PREFIX = "polaroc-rows-"
# Seconds after which a folder without a lock was left by a process that was killed.
ABANDONED_AFTER = 60
BAR_WIDTH = 40


def resolve_memory(memory: Memory) -> int:
    """A size in bytes from bytes, from text, or from ``"auto"``: 60 % of what is available now."""
    if memory == "auto":
        return max(int(available() * SHARE), LEAST)
    size: object = memory
    if isinstance(memory, str) and (match := SIZE.fullmatch(memory)):
        number, unit, binary = match.groups()
        power = "kmgt".index(unit.lower()) + 1 if unit else 0
        size = float(number) * (1024 if binary else 1000) ** power
    if not is_number(size) or not LEAST <= size < math.inf:
        raise InvalidArgument(
            f"memory is {quoted([memory])}, allowed are sizes from 500 MB on, and 'auto'.",
            hint=example("memory", "4GB"),
        )
    return int(size)


def available() -> int:
    """Bytes of memory that can be used now without swapping."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, AttributeError, ValueError):
        lines = Path("/proc/meminfo").read_text()
        known.append(int(re.search(r"MemAvailable:\s+(\d+) kB", lines)[1]) * 1024)  # type: ignore[index]
    with suppress(OSError, ValueError):
        known += _left_to_groups()
    with suppress(OSError, ValueError, ImportError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            known.append(limit - pages * resource.getpagesize())
    return max(min(known), 0)


def _left_to_groups() -> Iterator[int]:
    """Bytes left to the control groups of this process, as far as they have a limit."""
    for line in OWN_GROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in GROUP_FILES.keys() & {*controllers.split(",")}:
            limit, used, reclaimable = GROUP_FILES[controller]
            root = CONTROL_GROUPS / controller
            inner = root / path.lstrip("/")
            # In a container the path may be that of the host: its root is then the own group.
            for folder in [inner, *inner.parents]:
                if not folder.is_relative_to(root):
                    break
                with suppress(OSError, ValueError):
                    left = int((folder / limit).read_text()) - int((folder / used).read_text())
                    with suppress(OSError):
                        statistics = (folder / "memory.stat").read_text()
                        cached = re.search(rf"^{reclaimable} (\d+)$", statistics, re.MULTILINE)
                        left += int(cached[1]) if cached else 0
                    yield left


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
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
def locked_folder(parent: Path) -> Iterator[Path]:
    """A new folder that is removed when the block ends, however it ends; its lock ends with it."""
    with TemporaryDirectory(prefix=PREFIX, dir=parent) as name, _locked(Path(name)):
        yield Path(name)


def sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime < ABANDONED_AFTER:
                continue
            with _locked(folder) as is_held:
                if is_held:
                    shutil.rmtree(folder, ignore_errors=True)


def progress_callback(progress: Progress | bool | None) -> Progress | None:
    """The callback for the rows done: the one given, or a bar."""
    if progress is None or callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise InvalidArgument(
            f"progress is {quoted([progress])}, allowed are True and a function of the rows done "
            "and the rows in all.",
            hint="progress=True draws a bar.",
        )
    return _draw_bar if progress else None


def _draw_bar(done: int, total: int) -> None:
    """Draw a progress bar over the previous one."""
    share = done / total if total else 1
    line = f"\r{'█' * round(share * BAR_WIDTH):░<{BAR_WIDTH}} {share:4.0%} of {total:,} rows"
    print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)
