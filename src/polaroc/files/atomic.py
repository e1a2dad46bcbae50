"""Atomic output: a folder or a file that appears complete or not at all."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TypeAlias

from polaroc.errors import OutputRefused
from polaroc.files.locks import locked_folder, sweep

# Lists the files that polaroc wrote; a folder with any other file is not replaced.
MARK = ".polaroc"
# A temporary folder beside the output holds the new output and the earlier one.
ASIDE, NEW, EARLIER = ".polaroc-", "new", "earlier"
# What to do where the system lets nothing be read or written.
DISK, OTHER_NAME = "check path, rights and free space.", "choose another name."
# Bytes of a name: file systems take 255, of which the name of the folder beside it needs some.
MAX_NAME = 200
AT_FDCWD, RENAME_EXCHANGE = -100, 2
# Error numbers of a system, or a file system, that cannot exchange names.
CANNOT_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}

# Whether an earlier file may be replaced, or a function of it that tells.
Replaceable: TypeAlias = bool | Callable[[Path], bool]
# The files that the running command reads, by device and inode; None outside of a command.
INPUTS: ContextVar[set[tuple[int, int]] | None] = ContextVar("INPUTS", default=None)


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Replace none of the files that `keep_input` is called with in the block."""
    reset = INPUTS.set(set())
    try:
        yield
    finally:
        INPUTS.reset(reset)


def keep_input(file: Path | int) -> None:
    """Protect a file that is read, or its descriptor, from being replaced by an output."""
    inputs = INPUTS.get()
    if inputs is not None:
        status = os.stat(file)
        inputs.add((status.st_dev, status.st_ino))


def _refuse_inputs(files: Iterable[Path]) -> None:
    """Refuse to replace a file that is read."""
    inputs = INPUTS.get()
    for file in files if inputs else ():
        if file.is_file() and (file.stat().st_dev, file.stat().st_ino) in (inputs or ()):
            raise OutputRefused(
                f"{str(file)!r} is an input, and would be replaced.",
                hint="choose another path.",
            )


@contextmanager
def atomic_folder(folder: Path, force: bool = False) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error.

    `folder` is a new or empty one, or earlier output of polaroc, which is replaced; anything
    else is refused before the block starts. Parents are made; a link is followed. With `force`
    a folder with other files is taken too: they stay, those of the same names are replaced.

    Examples
    --------
    >>> import tempfile
    >>> where = Path(tempfile.mkdtemp()) / "out"
    >>> with atomic_folder(where) as staging:
    ...     _ = (staging / "measures.csv").write_text("auc")
    >>> sorted(file.name for file in where.iterdir())
    ['.polaroc', 'measures.csv']
    """
    with refused_by_system(folder):
        check_replaceable(folder, force)
        with _staging(folder.resolve()) as (staging, target):
            # Unlike mkdtemp, mkdir respects the umask.
            staging.mkdir()
            yield staging
            names = {file.name for file in staging.iterdir()}
            if force and target.exists() and _strangers(target):
                _refuse_inputs(target / name for name in names)
                _mark(staging, names | (_ours(target) - {MARK}))
                for file in staging.iterdir():
                    file.replace(target / file.name)
            else:
                _mark(staging, names)
                _place(staging, target)


@contextmanager
def refused_by_system(path: Path) -> Iterator[None]:
    """Refuse in the words of the system what it does not let the block do.

    What has no name of its own, or a temporary one, is about `path`.

    Examples
    --------
    >>> with refused_by_system(Path("page.html")):
    ...     raise PermissionError(errno.EACCES, "Permission denied")
    Traceback (most recent call last):
    polaroc.errors.OutputRefused: page.html: Permission denied
    Hint: check path, rights and free space.
    """
    if "\0" in str(path):
        raise OutputRefused(f"the name {str(path)[:80]!r} holds a zero byte.", hint=OTHER_NAME)
    try:
        yield
    except BrokenPipeError:
        # Who read the results has gone.
        raise
    except OSError as error:
        raise refusal(error, path) from error


def refusal(error: OSError, path: Path | None = None) -> OutputRefused:
    """The refusal of the system, of a file that it names or of this one."""
    where = path if error.filename is None or ASIDE in str(error.filename) else error.filename
    named = "" if where is None else f"{where}: "
    return OutputRefused(f"{named}{error.strerror or error}", hint=DISK)


@contextmanager
def _staging(target: Path) -> Iterator[tuple[Path, Path]]:
    """A temporary path for the output and its final path; the temporary folder is removed."""
    wrong = (
        "is not UTF-8" if not is_utf8(str(target))
        else "is too long" if len(os.fsencode(target.name)) > MAX_NAME
        else None
    )  # fmt: skip
    if wrong is not None:
        raise OutputRefused(f"the name {str(target)[:80]!r} {wrong}.", hint=OTHER_NAME)
    _refuse_file(target.parent)
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f"{ASIDE}{target.name}-"

    def restore(around: Path) -> None:
        """Restore an earlier output that a killed run had moved away."""
        if (around / EARLIER).exists() and not target.exists():
            (around / EARLIER).rename(target)

    sweep(target.parent, prefix, restore)
    with locked_folder(target.parent, prefix) as around:
        yield around / NEW, target


def _place(staging: Path, folder: Path) -> None:
    """Replace an earlier output by the new folder, atomically where the system can.

    Elsewhere neither is there between two renames. A process killed at that moment leaves
    the earlier output in a temporary folder, from which the next run restores it.
    """
    try:
        # Succeeds where there is no folder, or an empty one.
        staging.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
    else:
        return
    check_replaceable(folder)
    if _exchange(staging, folder):
        try:
            # Files may have been added since.
            check_replaceable(staging)
        except OutputRefused:
            _exchange(staging, folder)
            raise
        return
    earlier = staging.with_name(EARLIER)
    folder.rename(earlier)
    try:
        staging.rename(folder)
    except BaseException:
        if not folder.exists():
            earlier.rename(folder)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names atomically; return False where the system cannot."""
    rename = _renameat2()
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    code = rename(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE)
    if code == 0:
        return True
    if code in CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), str(other))


@cache
def _renameat2() -> "Callable[[int, bytes, int, bytes, int], int] | None":
    """The system call of Linux, returning an error number; None elsewhere."""
    import ctypes

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
    text, number = ctypes.c_char_p, ctypes.c_int
    function.argtypes = [number, text, number, text, ctypes.c_uint]

    def rename(*arguments: int | bytes) -> int:
        return 0 if function(*arguments) == 0 else ctypes.get_errno()

    return rename


def check_replaceable(folder: Path, force: bool = False) -> None:
    """Refuse a folder that holds something polaroc did not write, unless forced to."""
    if not folder.exists():
        return
    _refuse_file(folder)
    strangers = _strangers(folder)
    if not strangers:
        # All of it is replaced.
        _refuse_inputs(folder.rglob("*"))
    elif not force:
        raise OutputRefused(
            f"the folder {str(folder)!r} holds files that polaroc did not write: "
            f"{', '.join(map(repr, strangers[:3]))}{', …' if len(strangers) > 3 else ''}.",
            hint="choose a new or empty folder for --out, or --force: other files stay.",
        )


def _refuse_file(folder: Path) -> None:
    """Refuse a file where a folder is needed."""
    if folder.exists() and not folder.is_dir():
        raise OutputRefused(
            f"{str(folder)!r} is a file, allowed is a folder.",
            hint="choose another path.",
        )


def _strangers(folder: Path) -> list[str]:
    """The names of what polaroc did not write."""
    ours = _ours(folder)
    return sorted(file.name for file in folder.iterdir() if file.name not in ours)


def _ours(folder: Path) -> set[str]:
    mark = folder / MARK
    if not mark.is_file():
        return set()
    return {MARK, *mark.read_text(encoding="utf-8", errors="replace").splitlines()}


def _mark(folder: Path, names: set[str]) -> None:
    text = "".join(f"{name}\n" for name in sorted(names))
    (folder / MARK).write_text(text, encoding="utf-8")


@contextmanager
def atomic_file(file: Path, replaceable: Replaceable = False) -> Iterator[Path]:
    """A temporary file that becomes `file` when the block ends without an error.

    A file that is there already is refused before the block starts, unless it is
    `replaceable`.

    Examples
    --------
    >>> import tempfile
    >>> where = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with atomic_file(where) as staging:
    ...     _ = staging.write_text("auc")
    >>> where.read_text()
    'auc'
    """
    with refused_by_system(file):
        check_new(file, replaceable)
        with _staging(file.parent.resolve() / file.name) as (staging, target):
            staging.mkdir()
            yield staging / file.name
            _place_file(staging / file.name, target, replaceable)


def _place_file(staging: Path, file: Path, replaceable: Replaceable) -> None:
    """Move the new file to its name, unless another file has taken it meanwhile."""
    try:
        os.link(staging, file)
    except OSError:
        # The file exists already, or the file system has no hard links.
        check_new(file, replaceable)
        staging.replace(file)


def check_new(file: Path, replaceable: Replaceable = False) -> None:
    """Refuse the name of a file that exists and may not be replaced."""
    if not os.path.lexists(file):
        return
    if not callable(replaceable):
        _refuse_inputs([file])
    # Only a file is opened by `replaceable`: a pipe would block.
    with refused_by_system(file):
        may_replace = file.is_file() and (
            replaceable(file) if callable(replaceable) else replaceable
        )
    if not may_replace:
        raise OutputRefused(
            f"{str(file)!r} is there already{', as a folder' * file.is_dir()}.",
            hint="choose another path."
            if file.is_dir()
            else "choose another path; on the command line --force replaces it.",
        )


def is_utf8(text: str) -> bool:
    """Whether text has no byte of another encoding, as names of files and arguments may.

    Examples
    --------
    >>> is_utf8("scores"), is_utf8(b"sc\\xf6res".decode(errors="surrogateescape"))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
