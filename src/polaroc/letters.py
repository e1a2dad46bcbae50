"""Compact letter display: which models are told apart, in letters."""

from collections.abc import Iterable, Sequence
from string import ascii_letters


def letter_display(models: int, apart: Iterable[tuple[int, int]]) -> list[str]:
    """Letters per model, such that two models share one if and only if they are not apart.

    Parameters
    ----------
    models
        How many there are; they are numbered from 0, the best first.
    apart
        The pairs that are told apart.

    Returns
    -------
    list of str
        The letters of each model.

    Notes
    -----
    Each letter is a largest set of models of which none is apart from another
    (Piepho 2004: insert and absorb).

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    groups = [frozenset(range(models))]
    for a, b in apart:
        split = [part for group in groups for part in _split(group, a, b)]
        groups = [one for one in split if not any(one < other for other in split)]
        groups = list(dict.fromkeys(groups))
    groups.sort(key=sorted)
    return [
        "".join(_letter(i, groups) for i, g in enumerate(groups) if m in g) for m in range(models)
    ]


def _split(group: frozenset[int], a: int, b: int) -> list[frozenset[int]]:
    return [group - {a}, group - {b}] if a in group and b in group else [group]


def _letter(place: int, groups: Sequence[object]) -> str:
    """A letter; where the alphabet is too short for all groups, a number in brackets."""
    return ascii_letters[place] if len(groups) <= len(ascii_letters) else f"({place + 1})"
