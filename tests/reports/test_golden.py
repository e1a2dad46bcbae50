"""Six pages say what they said; `golden.py` writes them again where a change is meant."""

import re

import golden
import pytest

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def last_digit(number: str) -> float:
    return 10.0 ** -len(number.partition(".")[2])


def same(line: str, expected: str) -> bool:
    """The same words, with numbers that differ by rounding at most, as between platforms."""
    pairs = zip(NUMBER.findall(line), NUMBER.findall(expected), strict=False)
    return NUMBER.sub("#", line) == NUMBER.sub("#", expected) and all(
        abs(float(a.replace(",", "")) - float(b.replace(",", "")))
        <= 1.01 * max(last_digit(a), last_digit(b))
        for a, b in pairs
    )


@pytest.mark.parametrize("name", golden.REQUESTS)
def test_the_words_and_tables_of_a_page_are_those_kept(name):
    said, kept = golden.said(name), golden.stored(name)
    assert list(said) == list(kept)
    for section, lines in kept.items():
        assert len(said[section]) == len(lines)
        for line, expected in zip(said[section], lines, strict=True):
            assert same(line, expected), f"{section}: {line!r}, kept is {expected!r}"
