"""Two names exchanged in one step, where the system can."""

import errno
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

AT_FDCWD, RENAME_EXCHANGE = -100, 2
# A system, or a file system, that cannot.
CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def exchanged(one: Path, other: Path) -> bool:
    """Exchange what two names stand for, at once; False where that cannot be done.

    Raises
    ------
    OSError
        Where it could be done, and failed.

    Examples
    --------
    >>> import tempfile
    >>> a, b = (Path(tempfile.mkdtemp()) / name for name in "ab")
    >>> _ = a.write_text("1"), b.write_text("2")
    >>> ("2" if exchanged(a, b) else "1") == a.read_text()
    True
    """
    rename = _renameat2()
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    code = rename(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE)
    if code == 0:
        return True
    if code in CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))


@cache
def _renameat2() -> "Callable[[int, bytes, int, bytes, int], int] | None":
    """Linux' renameat2, returning an error number."""
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
