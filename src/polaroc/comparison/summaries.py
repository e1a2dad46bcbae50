"""Results of comparisons as text and as HTML."""

from collections.abc import Iterator
from math import isclose
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.text import chance, html_lines, html_table, limit, number, table
from polaroc.comparison.letters import shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from polaroc.choice.choose import Choice
    from polaroc.comparison.compare import Comparison
    from polaroc.comparison.plan import Plan

_ADJUSTED = {"holm": "Holm", "tukey": "Tukey"}
_NUMBERS = {"trained": ("estimate", "SE")}
MOST_PRIORS, MOST_PAIRS = 12, 45
Block = tuple[str, list[str], list[list[str | None]], int]


def comparison_parts(found: "Comparison") -> "list[RenderableType]":
    """The summary of a comparison as sentences and rich tables."""
    warnings = [f"Note: {line}" for line in found.warnings]
    return [_heading(found), "", *_tables(_comparison_blocks(found)), verdict(found), *warnings]


def comparison_html(found: "Comparison") -> str:
    """The summary of a comparison as HTML."""
    tables = "".join(html_table(*block[:3]) for block in _comparison_blocks(found))
    lines = html_lines([verdict(found), *found.warnings])
    return html_lines([_heading(found)]) + tables + lines


def choice_parts(found: "Choice") -> "list[RenderableType]":
    """The summary of a choice as sentences and rich tables."""
    warnings = [f"Note: {line}" for line in found.warnings]
    return [found.answer, "", *_tables(_choice_blocks(found)), _choices(found), *warnings]


def choice_html(found: "Choice") -> str:
    """The summary of a choice as HTML."""
    tables = "".join(html_table(*block[:3]) for block in _choice_blocks(found))
    return html_lines([found.answer]) + tables + html_lines([_choices(found), *found.warnings])


def _tables(blocks: Iterator[Block]) -> "Iterator[RenderableType]":
    # A title above its table, not in it: a narrow table would wrap it.
    for title, columns, rows, keys in blocks:
        yield title
        yield table("", columns, rows, keys)


def _heading(found: "Comparison") -> str:
    return (
        f"{found.measure}: {found.letters.height} models ({found.between}) on {found.blocks} "
        f"{_unit(found)}s ({', '.join(found.block)}), target {found.plan.target}"
    )


def _unit(found: "Comparison") -> str:
    return "case" if found.plan.target == "trained" else "block"


def _numbers(found: "Comparison") -> str:
    if found.plan.target == "trained":
        return "Estimate and its standard error"
    return "Mean and SD over blocks"


def verdict(found: "Comparison") -> str:
    """Whether the models differ, in a sentence."""
    name, p = found.omnibus["test"][0], found.omnibus["p_value"][0]
    alpha = found.plan.alpha
    if p < alpha:
        return f"At α = {alpha:g} the models differ ({name}, p = {chance(p)})."
    apart = found.pairs.filter(pl.col("p_adjusted") < alpha)
    if apart.height:
        count = "1 pair is" if apart.height == 1 else f"{apart.height} pairs are"
        return (
            f"At α = {alpha:g} {count} told apart by tests of two models at a time, such as "
            f"{apart.item(0, 0)} and {apart.item(0, 1)}; the test of all models at once finds no "
            f"difference ({name}, p = {chance(p)})."
        )
    return (
        f"At α = {alpha:g} no difference among all models was found ({name}, p = {chance(p)}); "
        "that is no proof that they are equal."
    )


def interval_rule(plan: "Plan") -> str:
    """When an interval of two models leaves out zero, and what that says."""
    if isclose(plan.confidence, 1 - plan.alpha):
        return f"an interval leaves out 0 only where the pair is told apart at α = {plan.alpha:g}"
    return (
        f"an interval leaves out 0 only where p ({_ADJUSTED[plan.adjust]}) is below "
        f"{1 - plan.confidence:.3g}; told apart are pairs with p below α = {plan.alpha:g}"
    )


def first_pairs(found: "Comparison", most: int = MOST_PAIRS) -> "tuple[pl.DataFrame, str]":
    """The pairs that there is room for, and which these are where some are left out.

    Those of the model with the best mean come first, the closest ahead: they decide the
    answer.

    Parameters
    ----------
    found
        The comparison.
    most
        How many there is room for.
    """
    if found.pairs.height <= most:
        return found.pairs, ""
    best = pl.lit(found.letters[found.between][:1]).first()
    a, b = (pl.col(name) for name in found.pairs.columns[:2])
    of_best = a.eq_missing(best) | b.eq_missing(best)
    shown = found.pairs.sort(
        ~of_best, pl.when(of_best).then(pl.col("difference").abs()), "p_adjusted", "p_value",
        maintain_order=True,
    ).head(most)  # fmt: skip
    return shown, (
        f" ({most} of {found.pairs.height:,}: the best model and those next to it, then those with "
        "the least p)"
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
        f"{_numbers(found)}; models that share a letter are not told apart",
        [found.between, *_NUMBERS.get(found.plan.target, ("mean", "SD")), "letters"],
        [
            [str(model), number(mean), number(sd), shortened(letters)]
            for model, mean, sd, letters in found.letters.iter_rows()
        ],
        1,
    )
    columns = ["difference", "lower", "upper", "p_adjusted"]
    pairs, which = first_pairs(found)
    shown = pairs.select(*pairs.columns[:2], *columns)
    adjusted = _ADJUSTED[found.plan.adjust]
    yield (
        f"Pairs{which}; {interval_rule(found.plan)}",
        [*shown.columns[:2], *columns[:3], f"p ({adjusted})"],
        [
            [str(a), str(b), number(d), limit(lo), limit(hi), chance(p)]
            for a, b, d, lo, hi, p in shown.iter_rows()
        ],
        2,
    )


def _choices(found: "Choice") -> str:
    steadiest = (
        "least prior-sensitive unknown (the table has no sens)"
        if found.models["sens"].null_count()
        else f"least prior-sensitive {found.steadiest}"
    )
    regrets_known = not found.models["worst_regret"].null_count()
    minimax = found.minimax if regrets_known else "unknown (too few priors of the range)"
    return f"Bayes choice {found.bayes}; minimax-regret choice {minimax}; {steadiest}."


def _choice_blocks(found: "Choice") -> Iterator[Block]:
    between = found.models.columns[0]
    yield (
        "Over the range; best in: share of the folds",
        [between, "expected", "mean regret", "worst regret", "best in", "Sens"],
        [
            [str(model), number(e), number(mean), number(worst), _percent(share), number(sens)]
            for model, e, mean, worst, share, sens in found.models.iter_rows()
        ],
        1,
    )
    best = found.priors.filter("best").unique("prior", keep="first", maintain_order=True)
    if best.is_empty():
        return
    step = -(-best.height // MOST_PRIORS)
    yield (
        "The best model at each prior",
        ["prior", "best", "mean", "best in"],
        [
            [f"{prior:.4g}", str(model), number(mean), _percent(share)]
            for prior, model, mean, share in best.gather_every(step)
            .select("prior", between, "mean", "share")
            .iter_rows()
        ],
        2,
    )


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"


def _degrees(df: float | None) -> str | None:
    return None if df is None else f"{df:.4g}"
