"""Names of models in sentences, and notes on many of them."""

import re
from collections.abc import Iterable, Sequence

import polars as pl

from polaroc.base.text import escape_control
from polaroc.errors import MAX_LETTERS

MAX_NAMED = 5
DIGITS = re.compile(r"\d[\d.,]*")


def named(models: Sequence[object]) -> str:
    """The first names as an enumeration.

    Examples
    --------
    >>> named(["A", "B", "C"])
    'A, B and C'
    """
    return listed(models, "and")


def listed(models: Sequence[object], last: str) -> str:
    """The first names, with a word before the last of them.

    Examples
    --------
    >>> listed(["A", "B", "C"], "or")
    'A, B or C'
    """
    words = [one_name(model) for model in models[:MAX_NAMED]]
    if len(models) > MAX_NAMED:
        words.append(f"{len(models) - MAX_NAMED} more")
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def one_name(model: object) -> str:
    """A name for a sentence: quoted if blank, cut if long.

    Examples
    --------
    >>> one_name("A"), one_name(""), len(one_name("a" * 5_000))
    ('A', "''", 61)
    """
    name = escape_control(str(model)).replace("\n", "\\n")
    if not name.strip():
        return repr(name)
    return name if len(name) <= MAX_LETTERS else f"{name[:MAX_LETTERS]}…"


def key_text(key: str) -> pl.Expr:
    """The values of a key as text, the same as that of one value alone in Python.

    Polars writes some of them in another way: NaN, truth values, times.

    Examples
    --------
    >>> keys = pl.DataFrame({"model": [0.5, None, float("nan")]})
    >>> keys.select(key_text("model")).to_series().to_list()
    ['0.5', 'None', 'nan']
    """

    def texts(values: pl.Series) -> pl.Series:
        return pl.Series(values.name, map(str, values), pl.String)

    return pl.col(key).map_batches(texts, return_dtype=pl.String)


def noted_by_kind(notes: Iterable[tuple[object, str]]) -> list[str]:
    """Sentences on models and notes: notes that differ only in numbers are one.

    Examples
    --------
    >>> noted_by_kind([("A", "3 are null"), ("B", "3 are null"), ("C", "no positives")])
    ['A and B: 3 are null.', 'C: no positives.']
    >>> noted_by_kind([("A", "3 are null"), ("B", "4 are null")])
    ['A and B: 3 are null (the numbers of A).']
    """
    kinds: dict[str, dict[object, str]] = {}
    for name, note in notes:
        kinds.setdefault(DIGITS.sub("", note), {})[name] = note
    sentences = []
    for noted in kinds.values():
        first, note = next(iter(noted.items()))
        whose = f" (the numbers of {one_name(first)})" if len(set(noted.values())) > 1 else ""
        sentences.append(f"{named(list(noted))}: {note}{whose}.")
    return sentences
