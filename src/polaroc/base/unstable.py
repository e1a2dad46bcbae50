"""What Polars calls unstable, used on purpose."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl


@contextmanager
def unstable() -> Iterator[None]:
    """Let the block use what Polars may change, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        yield
