"""The two tables of a deployment: the labelled reference, and the scores in use."""

from collections.abc import Iterator
from contextlib import contextmanager

from polaroc.errors import InvalidArgument, InvalidPredictions

REFERENCE, DEPLOYED = "reference", "deployed"


@contextmanager
def errors_named(table: str) -> Iterator[None]:
    """Name the table in errors."""
    try:
        yield
    except (InvalidPredictions, InvalidArgument) as error:
        raise type(error)(f"{table}: {error.found}", hint=error.hint) from None
