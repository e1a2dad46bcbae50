"""Results of comparisons as text and as HTML."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from polaroc.texts import chance, html_lines, html_table, number, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from polaroc.comparison import Comparison

Block = tuple[str, list[str], list[list[str | None]], int]


def comparison_parts(found: "Comparison") -> "list[RenderableType]":
    """The summary of a comparison as sentences and rich tables."""
    warnings = [f"Note: {line}" for line in found.warnings]
    return [_heading(found), "", *_tables(_comparison_blocks(found)), _verdict(found), *warnings]


def comparison_html(found: "Comparison") -> str:
    """The summary of a comparison as HTML."""
    tables = "".join(html_table(*block[:3]) for block in _comparison_blocks(found))
    lines = html_lines([_verdict(found), *found.warnings])
    return html_lines([_heading(found)]) + tables + lines


def _tables(blocks: Iterator[Block]) -> "Iterator[RenderableType]":
    # A title above its table, not in it: a narrow table would wrap it.
    for title, columns, rows, keys in blocks:
        yield title
        yield table("", columns, rows, keys)


def _heading(found: "Comparison") -> str:
    return (
        f"{found.measure}: {found.letters.height} models ({found.between}) on {found.blocks} "
        f"blocks ({', '.join(found.block)}), target {found.plan.target}"
    )


def _verdict(found: "Comparison") -> str:
    name, p = found.omnibus["test"][0], found.omnibus["p_value"][0]
    alpha = found.plan.alpha
    if p < alpha:
        return f"At α = {alpha:g} the models differ ({name}, p = {chance(p)})."
    return (
        f"At α = {alpha:g} no difference among all models was found ({name}, p = {chance(p)}); "
        "that is no proof that they are equal."
    )


def _comparison_blocks(found: "Comparison") -> Iterator[Block]:
    yield (
        "All models at once",
        ["test", "statistic", "df1", "df2", "p"],
        [
            [test, number(f), _degrees(df1), _degrees(df2), chance(p)]
            for test, f, df1, df2, p in found.omnibus.iter_rows()
        ],
        1,
    )
    yield (
        "Mean and SD over blocks; models that share a letter are not told apart",
        [found.between, "mean", "SD", "letters"],
        [[str(m), number(mean), number(sd), x] for m, mean, sd, x in found.letters.iter_rows()],
        1,
    )
    columns = ["difference", "lower", "upper", "p_adjusted"]
    pairs = found.pairs.select(*found.pairs.columns[:2], *columns)
    adjusted = "Holm" if found.plan.adjust == "holm" else "Tukey"
    yield (
        f"Pairs; the intervals hold at once with confidence {found.plan.confidence:g}",
        [*pairs.columns[:2], *columns[:3], f"p ({adjusted})"],
        [
            [str(a), str(b), number(d), number(lo), number(hi), chance(p)]
            for a, b, d, lo, hi, p in pairs.iter_rows()
        ],
        2,
    )


def _degrees(df: float | None) -> str | None:
    return None if df is None else f"{df:.4g}"
