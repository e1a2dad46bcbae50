from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.comparison.letters import letter_display, shortened

PAIRS = list(combinations(range(7), 2))


def cliques(models: int, apart: set[tuple[int, int]]) -> set[frozenset[int]]:
    """The largest sets of models of which none is apart from another, by trying all sets."""
    sets = [
        frozenset(chosen)
        for size in range(1, models + 1)
        for chosen in combinations(range(models), size)
        if not any(pair in apart for pair in combinations(chosen, 2))
    ]
    return {one for one in sets if not any(one < other for other in sets)}


def groups_of(letters: list[str], apart: set[tuple[int, int]]) -> set[frozenset[int]]:
    """The models of each letter, once it is sure that only those not apart share one."""
    own = [{*one} for one in letters]
    for a, b in combinations(range(len(own)), 2):
        assert bool(own[a] & own[b]) == ((a, b) not in apart)
    return {frozenset(m for m, of in enumerate(own) if one in of) for one in set.union(*own)}


@given(st.integers(2, 7), st.sets(st.sampled_from(PAIRS)))
def test_two_models_share_a_letter_if_and_only_if_they_are_not_apart(models, apart):
    apart = {pair for pair in apart if pair[1] < models}
    letters = letter_display(models, apart)
    # Each letter is of as many models as it may be.
    assert groups_of(letters, apart) <= cliques(models, apart)


@pytest.mark.parametrize(
    ("models", "apart", "letters"),
    [
        (2, [], ["a", "a"]),
        (2, [(0, 1)], ["a", "b"]),
        (4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        (3, [(0, 1)], ["a", "b", "ab"]),
    ],
)
def test_letters_by_hand(models, apart, letters):
    assert letter_display(models, apart) == letters


def test_each_of_more_groups_than_the_alphabet_has_letters_has_one():
    letters = letter_display(400, combinations(range(400), 2))
    assert len({*letters}) == 400
    assert all(len(one) == 1 and one.isalpha() for one in letters)


def test_of_very_many_groups_few_are_taken():
    # Of three of a kind, each apart from the others: 3 to the 33rd groups.
    apart = {(a, b) for a, b in combinations(range(99), 2) if a // 3 == b // 3}
    assert len(groups_of(letter_display(99, apart), apart)) < 99


def test_hundreds_of_models_in_a_few_groups_take_a_letter_each():
    apart = {(a, b) for a, b in combinations(range(300), 2) if a // 100 != b // 100}
    assert letter_display(300, apart) == ["a"] * 100 + ["b"] * 100 + ["c"] * 100


@pytest.mark.parametrize("letters", ["abcdefghijkl", "abcdef"])
@pytest.mark.parametrize("most", [6, 8, 11])
def test_letters_that_are_cut_are_no_wider_than_asked(letters, most):
    cut = shortened(letters, most)
    assert len(cut) <= most
    assert cut == letters or (cut.endswith("…") and letters.startswith(cut[:-1]))
    assert len(cut) == min(most, len(letters))
