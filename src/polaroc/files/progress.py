"""Progress of long computations, on one line of a terminal or notebook."""

import sys
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from polaroc.base.checks import shortened
from polaroc.errors import InvalidArgument

Progress: TypeAlias = Callable[[int, int], None]
WIDTH = 40


def progress_callback(progress: Progress | bool | None, unit: str = "rows") -> Progress | None:
    """The callback for the rows, or another unit, done: the one given, or a bar."""
    if progress is None or callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise InvalidArgument(
            f"progress is {shortened(progress)}, allowed are True and a function of the {unit} "
            f"done and the {unit} in all.",
            hint="progress=True draws a bar.",
        )
    return partial(bar, unit=unit) if progress else None


def bar(done: int, total: int, unit: str = "rows") -> None:
    """Draw a progress bar over the previous one."""
    share = done / total if total else 1
    line = f"\r{'█' * round(share * WIDTH):░<{WIDTH}} {share:4.0%} of {total:,} {unit}"
    print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)
