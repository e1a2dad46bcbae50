"""Detect changes of files between reading and writing."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from polaroc.errors import InvalidPredictions
from polaroc.files.read import files


class Stamp(NamedTuple):
    """Attributes that change where a file is replaced or written to."""

    device: int
    inode: int
    size: int
    modified: int


class Stamps:
    """The state of the files behind some paths."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.stamps = {file: _stamp(file) for file in files(paths)}

    def check(self) -> None:
        """Raise if a file was written to, replaced or removed since."""
        changed = [str(file) for file, stamp in self.stamps.items() if _stamp(file) != stamp]
        if changed:
            raise InvalidPredictions(
                f"{changed[0]!r} changed while it was read: its rows may be of two tables.",
                hint="run it again when the file is complete.",
            )


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
