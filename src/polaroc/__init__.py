"""Which classifier, and which threshold, when the share of positives is uncertain."""

import ast
from importlib import import_module
from importlib.resources import files
from typing import Any

# Where each public name is imported from when it is first used, so that `import polaroc` costs
# little. The stub has them, since type checkers cannot follow `__getattr__`.
_ORIGINS = {
    alias.name: str(line.module)
    for line in ast.parse((files(__name__) / "__init__.pyi").read_text("utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}

# Without `sklearn`, since `from polaroc import *` would put it in the place of scikit-learn.
__all__ = sorted(_ORIGINS.keys() - {"sklearn"})  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _ORIGINS:
        raise AttributeError(f"module 'polaroc' has no attribute {name!r}")
    if _ORIGINS[name] == __name__:
        return import_module(f"polaroc.{name}")
    value = globals()[name] = getattr(import_module(_ORIGINS[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(_ORIGINS)
