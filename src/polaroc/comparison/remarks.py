"""What is known of the p-values of an analysis of variance, term by term."""

from collections.abc import Sequence

from polaroc.comparison import caveats, omnibus
from polaroc.comparison.layouts import PRIOR, Layout


def remark(
    layout: Layout,
    term: tuple[str, ...],
    terms: Sequence[tuple[str, ...]],
    test_train_ratio: float | None,
) -> str:
    """What is to be said of a term and its p-value."""
    if layout.factors[0] not in term:
        if PRIOR in term:
            return "no p-value: precision falls with the skew by definition"
        return "no p-value: blocks are no hypothesis"
    blocks = len(layout.per_block) if layout.blocks else 1
    views = " and ".join("priors" if view == PRIOR else repr(view) for view in layout.views)
    if len(term) > 1:
        return (
            f"its error mixes blocks and {views}: for how models depend on the prior take "
            "compare(..., contrast=(lo, hi))"
        )
    if not layout.blocks:
        doubt = caveats.views(views, blocks)
        return f"no blocks, so nothing shows how much test sets differ; {doubt}"
    notes = [caveats.views(views, blocks) if views else caveats.two_way(blocks)]
    if views:
        notes.append(_two_way_in_words(layout, views, main_only=max(map(len, terms)) == 1))
    if test_train_ratio is None:
        notes.append("give test_train_ratio for the F that is corrected for overlap")
    else:
        notes.append(_in_words(omnibus.corrected(layout.per_block, test_train_ratio)))
    return "; ".join(notes)


def _two_way_in_words(layout: Layout, views: str, *, main_only: bool) -> str:
    two_way = _in_words(omnibus.repeated_measures(layout.per_block))
    if not main_only or len(layout.factors) != 3:
        return f"{two_way} on means over {views}"
    models, blocks = layout.per_block.shape[::-1]
    size, sides = layout.values.size, sum(layout.values.shape)
    most = (size - sides + 2) / ((models - 1) * (blocks - 1))
    return (
        f"{two_way} on means over {views}: this F is up to {most:.3g} times that one by its "
        "degrees of freedom alone"
    )


def _in_words(outcome: omnibus.Outcome) -> str:
    return (
        f"{outcome.test} = {outcome.statistic:.4g} on {outcome.df1:.4g} and "
        f"{outcome.df2:.4g} degrees of freedom, p = {outcome.p_value:.2g}"
    )
