"""Files that hold a digest of themselves, which tells a change before anything reads them."""

from hashlib import sha256
from pathlib import Path

from polaroc.errors import InvalidTable

LETTERS = 2 * sha256().digest_size


def blank_seal(kind: str) -> str:
    """A text to write at the end of a file of some kind, which `seal` fills in.

    Examples
    --------
    >>> blank_seal("polaroc example 1")[:33]
    'polaroc example 1 sha256:00000000'
    """
    return f"{kind} sha256:{'0' * LETTERS}"


def seal(file: Path, kind: str) -> None:
    """Fill the digest of all other bytes into the last blank seal of a file."""
    content = file.read_bytes()
    start = content.rindex(blank_seal(kind).encode())
    _, digest = _digests(content, kind, start)
    end = start + len(blank_seal(kind))
    file.write_bytes(content[: end - LETTERS] + digest + content[end:])


def read_sealed(file: Path, kind: str, hint: str) -> bytes:
    """The content of a file; raise where it has no seal of its kind, or was changed.

    Examples
    --------
    >>> import tempfile
    >>> file, kind = Path(tempfile.mkdtemp()) / "one.txt", "polaroc example 1"
    >>> _ = file.write_text("1 " + blank_seal(kind))
    >>> seal(file, kind)
    >>> read_sealed(file, kind, hint="write it again.")[:10]
    b'1 polaroc '
    """
    content = file.read_bytes()
    start = content.rfind(f"{kind} sha256:".encode())
    if start < 0:
        raise InvalidTable(f"{str(file)!r} has no digest of {kind!r}.", hint=hint)
    written, digest = _digests(content, kind, start)
    if written != digest:
        raise InvalidTable(
            f"{str(file)!r} was changed after it was written: its digest is of other content.",
            hint=hint,
        )
    return content


def _digests(content: bytes, kind: str, start: int) -> tuple[bytes, bytes]:
    """The digest in the seal at a place, and that of the content around it."""
    end = start + len(blank_seal(kind))
    around = content[: end - LETTERS] + content[end:]
    return content[end - LETTERS : end], sha256(around).hexdigest().encode()
