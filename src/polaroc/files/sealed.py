"""Digests in files: a change is noticed before the content is parsed."""

from hashlib import sha256
from pathlib import Path

from polaroc.errors import InvalidTable
from polaroc.files.atomic import keep_input

LETTERS = 2 * sha256().digest_size


def blank_seal(kind: str) -> str:
    """A text to write at the end of a file of some kind, which `sealed` fills in.

    Examples
    --------
    >>> blank_seal("polaroc example 1")[:33]
    'polaroc example 1 sha256:00000000'
    """
    return f"{kind} sha256:{'0' * LETTERS}"


def sealed(content: bytes, kind: str) -> bytes:
    """Content with the digest of all other bytes in its last blank seal."""
    end = content.rindex(blank_seal(kind).encode()) + len(blank_seal(kind))
    before, after = content[: end - LETTERS], content[end:]
    return before + sha256(before + after).hexdigest().encode() + after


def read_sealed(file: Path, kind: str, hint: str) -> bytes:
    """The content of a file; raise where it has no seal of its kind, or was changed.

    Examples
    --------
    >>> import tempfile
    >>> file, kind = Path(tempfile.mkdtemp()) / "one.txt", "polaroc example 1"
    >>> _ = file.write_bytes(sealed(b"1 " + blank_seal(kind).encode(), kind))
    >>> read_sealed(file, kind, hint="write it again.")[:10]
    b'1 polaroc '
    """
    content = file.read_bytes()
    keep_input(file)
    start = content.rfind(f"{kind} sha256:".encode())
    if start < 0:
        raise InvalidTable(f"{str(file)!r} has no digest of {kind!r}.", hint=hint)
    blank = blank_seal(kind).encode()
    if sealed(content[:start] + blank + content[start + len(blank) :], kind) != content:
        raise InvalidTable(
            f"{str(file)!r} was changed after it was written: its digest is of other content.",
            hint=hint,
        )
    return content
