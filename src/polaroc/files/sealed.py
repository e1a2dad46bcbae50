"""Files that hold a digest of themselves, which tells a change before anything reads them."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from polaroc.errors import InvalidTable
from polaroc.files.atomic import atomic_file, keep_input

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


def write_document(document: Mapping[str, Any], file: Path, kind: str, force: bool) -> None:
    """Write JSON with a seal, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> file, kind = Path(tempfile.mkdtemp()) / "one.json", "polaroc example 1"
    >>> write_document({"one": 1}, file, kind, force=False)
    >>> read_document(file, kind, hint="write it again.")
    {'one': 1}
    """
    # Last, where the seal is looked for.
    sealed = {**document, "seal": blank_seal(kind)}
    with atomic_file(file, force) as staging:
        text = json.dumps(sealed, indent=2, ensure_ascii=False, default=str)
        staging.write_text(text + "\n", encoding="utf-8")
        seal(staging, kind)


def read_document(file: Path, kind: str, hint: str) -> dict[str, Any]:
    """The JSON that `write_document` wrote, and that nobody changed."""
    document: dict[str, Any] = json.loads(read_sealed(file, kind, hint))
    del document["seal"]
    return document


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
    keep_input(file)
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
