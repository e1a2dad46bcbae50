"""The ELENA phoneme data, which has no stated licence: read from the user's own copy."""

import re
from pathlib import Path

import polars as pl

from polaroc.errors import InvalidTable

FEATURES = 5
NASAL, ORAL = 3818, 1586
HINT = (
    "give the ELENA phoneme data: phoneme.dat as ELENA or KEEL has it, or OpenML's phoneme as "
    "ARFF or CSV."
)


def phoneme(path: str | Path) -> pl.DataFrame:
    """Nasal and oral vowels, a data set of AccSens §6, from a file the user has.

    Parameters
    ----------
    path
        The data as ELENA has them (``.dat``, columns apart by blanks), as KEEL
        has them (``.dat`` with a header of ``@`` lines), or as OpenML has them
        (ARFF, or CSV with or without names). What is inside decides, not the
        name.

    Returns
    -------
    DataFrame
        5404 rows: `x1` … `x5` Float64, amplitudes of the first five harmonics;
        `class` String, "nasal" (3818, coded 0 or 1) or "oral" (1586, coded 1 or 2).

    Raises
    ------
    InvalidTable
        Where the file does not hold these data.

    Examples
    --------
    >>> phoneme("README.md")
    Traceback (most recent call last):
    polaroc.errors.InvalidTable: 'README.md' ...
    Hint: give the ELENA phoneme data: ...
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        kind = "is not text" if isinstance(error, ValueError) else f"cannot be read: {error}"
        raise InvalidTable(f"{str(path)!r} {kind}.", hint=HINT) from None
    rows = [_fields(line) for line in text.splitlines() if line.strip() and line[0] not in "@%#"]
    if rows and not _is_number(rows[0][0]):
        rows = rows[1:]
    ragged = any(len(row) != FEATURES + 1 for row in rows)
    if not rows or ragged or not all(_is_number(field) for row in rows for field in row[:-1]):
        raise InvalidTable(
            f"{str(path)!r} is not rows of {FEATURES} numbers and a label.", hint=HINT
        )
    return _labelled(rows, str(path))


def _labelled(rows: list[list[str]], path: str) -> pl.DataFrame:
    labels = pl.Series("class", [row[-1] for row in rows])
    counts = dict(labels.value_counts().iter_rows())
    named = {label: {NASAL: "nasal", ORAL: "oral"}.get(count) for label, count in counts.items()}
    if sorted(counts.values()) != [ORAL, NASAL]:
        counted = ", ".join(
            f"{label!r} {count} times" for label, count in sorted(counts.items())[:5]
        )
        raise InvalidTable(
            f"{path!r} has {len(rows)} rows with the labels {counted}; the phoneme data have "
            f"{NASAL} of one label and {ORAL} of another.",
            hint=HINT,
        )
    features = {f"x{i + 1}": [float(row[i]) for row in rows] for i in range(FEATURES)}
    return pl.DataFrame(features).with_columns(labels.replace_strict(named))


def _fields(line: str) -> list[str]:
    return [field.strip("'\"") for field in re.split(r"\s*[,;]\s*|\s+", line.strip())]


def _is_number(field: str) -> bool:
    try:
        return abs(float(field)) < float("inf")
    except ValueError:
        return False
