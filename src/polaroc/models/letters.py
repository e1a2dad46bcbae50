"""Compact letter display of significant differences."""

import sys
from collections.abc import Iterable
from itertools import chain, combinations
from string import ascii_letters

import numpy as np
import polars as pl

from polaroc.typing import Array

LETTERS = ("mean", "sd", "letters")


def letter_frame(
    models: pl.Series,
    means: "Array",
    sds: "Array",
    apart: Iterable[tuple[int, int]],
    *,
    descending: bool = True,
) -> pl.DataFrame:
    """Models, means, SDs and letters as a table, the best mean first."""
    order = pl.Series(means).arg_sort(descending=descending).to_list()
    rank = {place: i for i, place in enumerate(order)}
    letters = letter_display(len(order), [(rank[a], rank[b]) for a, b in apart])
    columns = [pl.Series("mean", means)[order], pl.Series("sd", sds)[order]]
    return pl.DataFrame([models[order], *columns, pl.Series("letters", letters)])


def letter_display(models: int, apart: Iterable[tuple[int, int]]) -> list[str]:
    """Letters per model, such that two models share one if and only if they are not apart.

    Notes
    -----
    Each letter is a set of models of which none is apart from another, and to
    which no model can be added (Piepho 2004); as many as it takes for every pair
    that is not apart to share one.

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    groups = sorted(_groups(models, apart), key=sorted)
    # After z and Z come letters with accents, and of other alphabets.
    others = filter(str.isalpha, map(chr, range(0xC0, sys.maxunicode)))
    lettered = [*zip(chain(ascii_letters, others), groups, strict=False)]
    return ["".join(name for name, group in lettered if m in group) for m in range(models)]


def _groups(models: int, apart: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Largest sets of models that are not apart, so that each such pair, and model, is in one."""
    alike = np.ones((models, models), dtype=bool)
    np.fill_diagonal(alike, val=False)
    for a, b in apart:
        alike[a, b] = alike[b, a] = False
    # Pairs without a group, in both orders.
    left = alike.copy()
    groups = [[model] for model in range(models) if not alike[model].any()]
    for a, b in combinations(range(models), 2):
        if not left[a, b]:
            continue
        group = [a, b]
        joining, gain = alike[a] & alike[b], left[a].astype(int) + left[b]
        while joining.any():
            # The model with most such pairs, the best of them on ties.
            more = int(np.where(joining, gain, -1).argmax())
            group.append(more)
            joining &= alike[more]
            gain += left[more]
        left[np.ix_(group, group)] = False
        groups.append(group)
    return groups


def shortened(letters: str, most: int = 24) -> str:
    """The letters of a model, cut to a maximal width.

    Examples
    --------
    >>> shortened("ab"), shortened("abcdefg", most=4)
    ('ab', 'abc…')
    """
    return letters if len(letters) <= most else f"{letters[: most - 1]}…"
