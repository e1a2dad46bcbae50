import pytest

from polaroc.base.text_tables import plain, table

LONG = "gradient_boosting_deep-calibrated"


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_words_of_tables_are_whole_at_any_width(width, count):
    names = [f"measure_{chr(97 + i)}" for i in range(count)]
    cells = ["-1e-05 (0.0123)"] * count
    text = plain([table("", ["model", *names], [[LONG, *cells], ["short", *cells]], 1)], width)
    assert max(map(len, text.splitlines())) <= width
    words = set(text.split())
    assert {"-1e-05", "(0.0123)", "short"} <= words
    # Names are folded after _ and - only.
    whole = {LONG, *names}
    ends = {name[:i] for name in whole for i, c in enumerate(name, 1) if c in "_-"} | whole
    parts = {end.removeprefix(start) for end in ends for start in {"", *ends} if end != start}
    assert words <= parts | {"model", "short", "-1e-05", "(0.0123)", "–"} | {
        word for word in words if set(word) == {"─"}
    }
    assert len([word for word in text.split() if word == "(0.0123)"]) == 2 * count


def test_a_word_that_is_wider_than_all_is_broken():
    text = plain([table("", ["model", "auc"], [["x" * 100, "0.5"]], 1)], 40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("x") == 100
    assert "0.5" in text
