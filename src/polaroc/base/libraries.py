"""Libraries that are imported when they are first used."""

from importlib import import_module
from typing import Any

from polaroc.errors import MissingExtra


class Library:
    """A library that is imported when it is first used: other functions do not wait for it."""

    def __init__(self, name: str, extra: str = "") -> None:
        self._name, self._extra = name, extra

    def __getattr__(self, attribute: str) -> Any:
        # Tools that look for special attributes of any object import nothing.
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        try:
            return getattr(import_module(self._name), attribute)
        except ImportError:
            if not self._extra:
                raise
            raise MissingExtra(
                f"polaroc.{self._extra} needs {self._name}, which is not installed.",
                hint=f'in a clone of the repository: pip install ".[{self._extra}]"',
            ) from None
