"""Progress of long computations, on one line of a terminal or notebook."""

import sys
from collections.abc import Callable
from typing import TypeAlias

from polaroc.base.checks import shortened
from polaroc.errors import InvalidArgument

Progress: TypeAlias = Callable[[int, int], None]
WIDTH = 40


def progress_callback(progress: Progress | bool | None) -> Progress | None:
    """The callback for the rows done: the one given, or a bar."""
    if progress is None or callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise InvalidArgument(
            f"progress is {shortened(progress)}, allowed are True and a function of the rows done "
            "and the rows in all.",
            hint="progress=True draws a bar.",
        )
    return bar if progress else None


def bar(done: int, total: int) -> None:
    """Draw a progress bar over the previous one."""
    share = done / total if total else 1
    line = f"\r{'█' * round(share * WIDTH):░<{WIDTH}} {share:4.0%} of {total:,} rows"
    print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)
