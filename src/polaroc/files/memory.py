"""Available memory, and the budget for a computation."""

import math
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from polaroc.base.checks import is_number
from polaroc.errors import InvalidArgument, example, quoted

Memory: TypeAlias = int | str | Literal["auto"]
LEAST = 500_000_000
# Share of the available memory that is used by default.
SHARE = 0.6
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
# By version of control groups: the files of limit and use, and what counts as used but can be
# reclaimed.
GROUP_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def resolve_memory(memory: Memory) -> int:
    """A size in bytes from bytes, from text, or from ``"auto"``: 60 % of what is available now.

    Examples
    --------
    >>> resolve_memory("1.5 GB")
    1500000000
    """
    if isinstance(memory, str) and memory == "auto":
        return max(int(available() * SHARE), LEAST)
    size = _size(memory)
    if size is None or size < LEAST or not is_number(size):
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


def _left_to_groups() -> list[int]:
    """Bytes left to the control groups of this process, as far as they have a limit."""
    left = []
    for line in OWN_GROUPS.read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        version = 2 if number == "0" else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        root = CONTROL_GROUPS if version == 2 else CONTROL_GROUPS / "memory"
        inner = root / path.lstrip("/")
        # In a container the path may be that of the host: its root is then the own group.
        for folder in [inner, *inner.parents]:
            if folder.is_relative_to(root):
                with suppress(OSError, ValueError):
                    left.append(_left_to_group(folder, *GROUP_FILES[version]))
    return left


def _left_to_group(folder: Path, limit: str, used: str, reclaimable: str) -> int:
    left = int((folder / limit).read_text()) - int((folder / used).read_text())
    with suppress(OSError):
        statistics = (folder / "memory.stat").read_text()
        cached = re.search(rf"^{reclaimable} (\d+)$", statistics, re.MULTILINE)
        left += int(cached[1]) if cached else 0
    return left


def _size(memory: object) -> int | None:
    if isinstance(memory, int) and not isinstance(memory, bool):
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", str(memory), re.IGNORECASE)
    if not isinstance(memory, str) or match is None:
        return None
    number, unit, binary = match.groups()
    power = "kmgt".index(unit.lower()) + 1 if unit else 0
    size = float(number) * (1024 if binary else 1000) ** power
    return int(size) if math.isfinite(size) else None
