"""Libraries that are imported when they are first used, so that `import polaroc` costs little."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "np"]


class LazyModule:
    """A library by name; its attributes are looked up once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")
