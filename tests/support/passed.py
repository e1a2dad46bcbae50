"""Cases that passed in an earlier run and that the next one need not repeat."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any


def repeated(items: Iterable[Any], passed: set[str]) -> Iterator[Any]:
    """The cases that passed, but for those that may try more where the surroundings say so."""
    for item in items:
        if item.nodeid in passed and not _may_try_more(item):
            yield item


def _may_try_more(item: Any) -> bool:
    return hasattr(getattr(item, "obj", None), "hypothesis") or _reads_settings(item.path)


@cache
def _reads_settings(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    return any(setting in text for setting in ("POLAROC_", "from sizes import", "words_only"))
