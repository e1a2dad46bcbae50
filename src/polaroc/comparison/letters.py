"""Compact letter display of significant differences."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from string import ascii_letters

import polars as pl

from polaroc.base.columns import column_name
from polaroc.base.lazy import np
from polaroc.errors import InvalidArgument
from polaroc.typing import Array

# With more models, finding all groups takes minutes.
MAX_MODELS = 200
COLUMNS = ("mean", "sd", "letters")


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


def check_result_name(model: str, columns: Sequence[str] = COLUMNS) -> None:
    """Raise if the column of models has the name of a column of the result."""
    if column_name(model, "model") in columns:
        raise InvalidArgument(
            f"model is {model!r}, also a column of the result.", hint="rename the key first."
        )


def letter_display(models: int, apart: Iterable[tuple[int, int]]) -> list[str]:
    """Letters per model, such that two models share one if and only if they are not apart.

    Notes
    -----
    Each letter is a set of models of which none is apart from another, and to
    which no model can be added: all such sets (Piepho 2004: insert and absorb).
    Where these are more than the alphabet has letters, and of more than 200
    models, as many as it takes for every pair to share one.

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    pairs = list(apart)
    groups = _all_groups(models, pairs) or _enough_groups(models, pairs)
    groups.sort(key=sorted)
    # More groups than letters: use numbers in brackets.
    short = len(groups) > len(ascii_letters)
    names = [f"({i + 1})" if short else ascii_letters[i] for i in range(len(groups))]
    lettered = list(zip(names, groups, strict=True))
    return ["".join(name for name, group in lettered if m in group) for m in range(models)]


def _all_groups(models: int, apart: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
    """All maximal sets of models without a significant pair; empty where they are many."""
    if models > MAX_MODELS:
        return []
    groups = [frozenset(range(models))]
    for a, b in apart:
        split = []
        for group in groups:
            split += [group - {a}, group - {b}] if a in group and b in group else [group]
        groups = [one for one in split if not any(one < other for other in split)]
        groups = list(dict.fromkeys(groups))
        # Their number may be exponential.
        if len(groups) > len(ascii_letters):
            return []
    return groups


def _enough_groups(models: int, apart: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
    """Enough such sets that each insignificant pair, and each model, is in one."""
    alike = np.ones((models, models), dtype=bool)
    np.fill_diagonal(alike, val=False)
    for a, b in apart:
        alike[a, b] = alike[b, a] = False
    # Pairs without a group, in both orders.
    left = alike.copy()
    groups = [frozenset([model]) for model in range(models) if not alike[model].any()]
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
        groups.append(frozenset(group))
    return groups


def share_a_letter(one: str, other: str) -> bool:
    """Whether two models have a letter in common, and so are not told apart.

    Examples
    --------
    >>> share_a_letter("ab", "bc"), share_a_letter("(1)(12)", "(2)")
    (True, False)
    """
    return not set(_separate(one)).isdisjoint(_separate(other))


def _separate(letters: str) -> list[str]:
    return letters.strip("()").split(")(") if "(" in letters else list(letters)


def shortened(letters: str, most: int = 24) -> str:
    """The letters of a model, cut to a maximal width.

    Examples
    --------
    >>> shortened("ab"), shortened("(1)(12)(13)", most=8)
    ('ab', '(1)(12)…')
    """
    if len(letters) <= most:
        return letters
    fitting = letters[:most]
    return (fitting[: fitting.rfind("(")] if "(" in fitting else fitting[:-1]) + "…"
