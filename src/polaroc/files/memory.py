"""Available memory, and the budget for a computation."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from polaroc.base.checks import is_number
from polaroc.errors import Hint, InvalidArgument, quoted

Memory: TypeAlias = int | str | Literal["auto"]
LEAST = 500_000_000
# Share of the available memory that is used by default.
SHARE = 0.6
CONTROL_GROUP = Path("/sys/fs/cgroup")


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
            hint=Hint.example("memory", "4GB"),
        )
    return int(size)


def available() -> int:
    """Bytes of memory that can be used now without swapping."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, AttributeError, ValueError):
        lines = Path("/proc/meminfo").read_text()
        known.append(int(re.search(r"MemAvailable:\s+(\d+) kB", lines)[1]) * 1024)  # type: ignore[index]
    with suppress(OSError, ValueError):
        limit = int((CONTROL_GROUP / "memory.max").read_text())
        known.append(limit - int((CONTROL_GROUP / "memory.current").read_text()))
    with suppress(OSError, ValueError, ImportError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            known.append(limit - pages * resource.getpagesize())
    return max(min(known), 0)


def _size(memory: object) -> int | None:
    if isinstance(memory, int) and not isinstance(memory, bool):
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", str(memory), re.IGNORECASE)
    if not isinstance(memory, str) or match is None:
        return None
    number, unit, binary = match.groups()
    power = "kmgt".index(unit.lower()) + 1 if unit else 0
    return int(float(number) * (1024 if binary else 1000) ** power)
