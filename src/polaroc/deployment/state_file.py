"""The file that a monitor keeps its state in: read, and replaced, by one process at a time."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from polaroc.errors import InvalidArgument, OutputRefused
from polaroc.files.atomic import atomic_file
from polaroc.files.locks import locked
from polaroc.files.sealed import blank_seal, read_sealed, sealed

KIND = "polaroc state 1"
OTHER_FILE = (
    "give the file as `polaroc monitor --state` wrote it, or the name of a new one; files of "
    "version 0.2 have no digest."
)


@dataclass(frozen=True)
class StateFile:
    """The state that a file holds, which has to be there still when it is replaced."""

    path: Path
    content: bytes | None

    @property
    def state(self) -> pl.DataFrame | None:
        """The state; None where there is none yet."""
        return None if self.content is None else pl.read_parquet(BytesIO(self.content))

    def replace(self, state: pl.DataFrame) -> None:
        """Write the next state, whole or not at all."""
        content = BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
            state.write_parquet(content, metadata={"polaroc": blank_seal(KIND)})
        with atomic_file(self.path, self._is_unchanged) as staging:
            staging.write_bytes(sealed(content.getvalue(), KIND))

    def _is_unchanged(self, path: Path) -> bool:
        # Without locks, another process may have been here.
        if path.read_bytes() == self.content:
            return True
        raise OutputRefused(
            f"{str(path)!r} was changed by another process: it is left as it is.",
            hint="run the same again, on what it holds now.",
        )


@contextmanager
def state_file(path: Path) -> Iterator[StateFile]:
    """The file for the time between reading and replacing it; other processes wait."""
    if path.suffix != ".parquet":
        raise InvalidArgument(
            f"--state is {str(path)!r}, needed is a Parquet file.", hint="end it in .parquet."
        )
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    # The lock is that of the folder, since the file itself is replaced.
    with locked(path.parent):
        yield StateFile(path, read_sealed(path, KIND, OTHER_FILE) if path.exists() else None)
