"""What to write where a function is called as other libraries have it: with arrays, or by place."""

from collections.abc import Iterable, Mapping, Sequence

from polaroc.base.tables import is_array
from polaroc.errors import Hint, InvalidArgument, InvalidTable, quoted


def refuse_arrays(function: str, given: Sequence[object]) -> None:
    """Refuse arrays in place of a table: they are its columns.

    Examples
    --------
    >>> refuse_arrays("evaluate", [[0, 1], [0.2, 0.7]])
    Traceback (most recent call last):
    polaroc.errors.InvalidTable: evaluate is given arrays, allowed is a table of named columns.
    Hint: write pr.evaluate({'truth': y, 'score': p}, truth='truth', score='score').
    """
    count = sum(map(is_array, given))
    if not count:
        return
    several = count > 2 or any(isinstance(one, Mapping) for one in given)
    table = "{'truth': y, 'a': p_a, 'b': p_b}" if several else "{'truth': y, 'score': p}"
    raise InvalidTable(
        f"{function} is given arrays, allowed is a table of named columns.",
        hint=_written(function, table, "truth", ["a", "b"] if several else "score"),
    )


def refuse_by_place(function: str, given: Sequence[object], allowed: Sequence[str]) -> None:
    """Refuse more arguments without a name than are allowed: what columns mean is said by name.

    Examples
    --------
    >>> refuse_by_place("evaluate", ["table.csv", "y", "p"], ["cases"])
    Traceback (most recent call last):
    polaroc.errors.InvalidArgument: evaluate has 3 arguments without a name, allowed are 'cases'.
    Hint: write pr.evaluate(table, truth='y', score='p').
    """
    if is_array(given[0]):
        refuse_arrays(function, given)
    if len(given) <= len(allowed):
        return
    beside = zip(allowed[1:], given[1:], strict=False)
    tables = [name for name, one in beside if not isinstance(one, str)]
    truth, score = (*given[1 + len(tables) :][:2], None, None)[:2]
    columns = [score] if isinstance(score, str) else score
    names = columns.values() if isinstance(columns, Mapping) else columns
    if not isinstance(names, Iterable) or not all(isinstance(one, str) for one in names):
        score = "score"
    raise InvalidArgument(
        f"{function} has {len(given)} arguments without a name, allowed are {quoted(allowed)}.",
        hint=_written(
            function,
            ", ".join(["table", *tables]),
            truth if isinstance(truth, str) else "truth",
            score,
        ),
    )


def _written(function: str, table: str, truth: str, score: object) -> Hint:
    return Hint(f"write pr.{function}({table}, {{truth}}, {{score}}).", truth=truth, score=score)
