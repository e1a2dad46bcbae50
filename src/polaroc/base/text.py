"""Names, notes and numbers as text, and texts that stand for missing values."""

import re
from collections.abc import Iterable, Sequence
from itertools import product
from math import ceil, floor, log10

import polars as pl

from polaroc.errors import MAX_LETTERS, quoted

# Texts that stand for a missing value in any letter case, and one that does only as Python writes
# it: "none" may be a label, such as that of a disease's severity.
MISSING_WORDS, MISSING_TEXT = ("", "na", "n/a", "#n/a", "<na>", "nan", "null"), "None"
# The most names in an enumeration.
MAX_NAMED = 5
DIGITS = re.compile(r"\d[\d.,]*")
# Probabilities from here on are written as "> 99 %".
ALMOST = 0.995
# Shares from here on, in per cent, are 100 % but for rounding errors.
ALL = 100 - 1e-9
# Smaller p-values are shown as "<": the tails of the distributions are not accurate there.
LEAST_P = 0.001


def escape_control(text: str) -> str:
    """Text with escaped control characters, which a terminal would execute."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def capitalised(words: str) -> str:
    """Words with a capital letter at their beginning, the rest as it is."""
    return words[:1].upper() + words[1:]


def joined_notes(*notes: str | pl.Expr, separator: str = "; ") -> pl.Expr:
    """The notes of a row, joined to one `note`; null where there is none."""
    joined = pl.concat_str(notes, separator=separator, ignore_nulls=True)
    return joined.replace("", None).alias("note")


def listed_rows(rows: pl.DataFrame, highest: int = 10) -> str:
    """The first rows of a table as text."""
    first = "; ".join(
        ", ".join(f"{name}={quoted([value])}" for name, value in row.items())
        for row in rows.head(highest).iter_rows(named=True)
    )
    return first + (f" and {rows.height - highest} more" if rows.height > highest else "")


def spellings(words: Iterable[str]) -> list[str]:
    """The words in every mixture of small and capital letters.

    To look a text up among them is faster than to write each row in small letters.
    """
    letters = (zip(word.lower(), word.upper(), strict=True) for word in words)
    return sorted({"".join(spelling) for word in letters for spelling in product(*word)})


def is_missing_text(text: pl.Expr) -> pl.Expr:
    """Whether a text stands for a missing value, such as "NA" or ""."""
    return text.str.strip_chars().is_in([*spellings(MISSING_WORDS), MISSING_TEXT])


def named(models: Sequence[object], last: str = "and") -> str:
    """The first names as an enumeration, with a word before the last of them."""
    words = [one_name(model) for model in models[:MAX_NAMED]]
    if len(models) > MAX_NAMED:
        words.append(f"{len(models) - MAX_NAMED} more")
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def one_name(model: object) -> str:
    """A name for a sentence: quoted if blank, cut if long."""
    name = escape_control(str(model)).replace("\n", "\\n")
    if not name.strip():
        return repr(name)
    return name if len(name) <= MAX_LETTERS else f"{name[:MAX_LETTERS]}…"


def key_text(key: str) -> pl.Expr:
    """The values of a key as text, as Python writes them.

    Polars writes some of them in another way: NaN, Booleans, times.
    """

    def texts(values: pl.Series) -> pl.Series:
        return pl.Series(values.name, map(str, values), pl.String)

    return pl.col(key).map_batches(texts, return_dtype=pl.String)


def noted_by_kind(notes: Iterable[tuple[object, str]]) -> list[str]:
    """A sentence for each note, with its models; notes that differ only in numbers are one.

    A name that is empty, where there is only one, is left out.

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
        who = f"{named(list(noted))}: " if [*noted] != [""] else ""
        sentences.append(f"{who}{note}{whose}.")
    return sentences


def number(value: float | None, digits: int = 3) -> str | None:
    """A number to so many decimals, a small one to two digits; None of None.

    Examples
    --------
    >>> number(0.4567), number(0.00123), number(-0.0000312), number(0.0)
    ('0.457', '0.0012', '-3.1e-05', '0.000')
    """
    if value is None:
        return None
    is_small = 0 < abs(value) < 10 ** (1 - digits)
    return f"{value:#.2g}" if is_small else f"{value:.{digits}f}"


def significant(value: float | None) -> str | None:
    """A number to four digits, such as a prior or a cost; None of None."""
    return None if value is None else f"{value:.4g}"


def p_value(value: float | None) -> str | None:
    """A p-value to two digits; None of None.

    Examples
    --------
    >>> p_value(0.0314), p_value(4.6e-25), p_value(1.0)
    ('0.031', '< 0.001', '1')
    """
    if value is None:
        return None
    return f"< {LEAST_P}" if value < LEAST_P else f"{value:.2g}"


def p_in_words(value: float) -> str:
    """A p-value in a sentence."""
    text = f"{p_value(value)}"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def with_limits(estimate: float | None, lower: float | None, upper: float | None) -> str:
    """An estimate and its interval in words, – where there is none."""
    if estimate is None:
        return "–"
    ends = "" if lower is None else f" ({number(lower)} to {number(upper)})"
    return f"{number(estimate)}{ends}"


def percent(share: float) -> str:
    """A share in per cent, to three digits; less than 1 is not rounded to 100 %.

    Examples
    --------
    >>> percent(0.125), percent(0.9999), percent(1.0)
    ('12.5 %', '99.99 %', '100 %')
    """
    text = f"{100 * share:.3g}"
    if text == "100" and 100 * share < ALL:
        # As many decimals as keep it below 100.
        text = f"{100 * share:.{-floor(log10(100 - 100 * share))}f}"
    return f"{text} %"


def probability(value: float | None) -> str | None:
    """A probability in whole per cent, not rounded to 0 or 100 %.

    Examples
    --------
    >>> probability(0.784), probability(0.0004), probability(0.9996)
    ('78 %', '< 1 %', '> 99 %')
    """
    if value is None:
        return None
    if value < 1 - ALMOST:
        return "< 1 %"
    return "> 99 %" if value >= ALMOST else f"{100 * value:.0f} %"


def rounded_up(count: float) -> int:
    """A count of cases to two digits, upwards; at least 1."""
    step: int = 10 ** max(0, floor(log10(max(count, 1))) - 1)
    return max(step * ceil(count / step), 1)
