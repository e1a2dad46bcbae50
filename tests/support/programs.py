"""Programs and packages that a machine need not have, and what a test does without them."""

import os
import shutil
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import pytest

# Set where all must be there: what is missing is then a failure, not a skip.
ALL_ENGINES = "POLAROC_ALL_ENGINES"


def program(name: str, folders: str | None = None) -> str | None:
    """The path of a program, on the PATH or in other folders; None where there is none."""
    return shutil.which(name, path=folders)


def package(name: str, extra: str) -> ModuleType:
    """A package that an extra installs; a test that needs it is skipped without."""
    try:
        return import_module(name)
    except ImportError:
        missing(f"{name} is not installed (extra `{extra}`)")


def missing(reason: str) -> NoReturn:
    """Skip, or fail where all must be there."""
    if os.environ.get(ALL_ENGINES):
        pytest.fail(f"{reason}, and {ALL_ENGINES} is set")
    pytest.skip(reason)


def only_if_asked(engine: str) -> None:
    """Skip the tests of an engine that takes long to install and to start."""
    if not os.environ.get(ALL_ENGINES):
        pytest.skip(f"{engine} runs with {ALL_ENGINES}=1 (extra `test-all`)")
