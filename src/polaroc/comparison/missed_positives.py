"""What few positives cannot show of a challenger that misses some of them."""

from functools import cache
from math import ceil, log, log1p
from pathlib import Path

import polars as pl

# How often the interval of `gate` passes such a challenger at the margin: `just gate-missed`.
RATES = Path(__file__).with_name("gate_rates.csv")
# At which the rates were found.
LEVEL = 0.95
# From so many positives on a pass rests on the interval alone.
ENOUGH = 50
# Standard errors by which a rate has to be above what is aimed at, to be said.
SURELY = 3
MISSED = (
    "If the challenger is worse because it misses positives, few of them may not show it: where it "
    "was worse by exactly the margin, the interval passed it in simulation ({} + {:,} cases, "
    "{:g} % confidence) in up to {:.2f} of samples, where {:g} is aimed at."
)
TOO_FEW = (
    "The interval allows a pass, but with {} {} a challenger may show none of its misses "
    "though it misses {:.1f} % of all positives, which may cost more than the margin: "
    "{} {} would do."
)
AT_BOUND = "at the bound"


def bound(positives: int, level: float) -> float:
    """The share of positives of which so many show none with a chance of (1 − level)/2.

    Examples
    --------
    >>> round(bound(50, 0.95), 3)
    0.071
    """
    return 1.0 - float(((1 - level) / 2) ** (1 / positives))


def too_few_to_pass(
    positives: int, margin: float, level: float, units: str = "cases"
) -> str | None:
    """Why an AUC is not passed by this margin with so few positives, None where it may be.

    Examples
    --------
    >>> too_few_to_pass(30, 0.05, 0.95)[-22:], too_few_to_pass(30, 0.12, 0.95)
    ('50 positives would do.', None)
    """
    share = bound(positives, level)
    if positives >= ENOUGH or margin >= share:
        return None
    needed = ceil(log((1 - level) / 2) / log1p(-margin)) if margin else ENOUGH
    of = "positives" if units == "cases" else f"{units} with positives"
    return TOO_FEW.format(positives, of, 100 * share, min(needed, ENOUGH), of)


def rate_of_passes(measure: str, positives: int, margin: float, level: float) -> str | None:
    """How often a pass is wrong with so many positives, None where about as often as aimed at.

    Examples
    --------
    >>> rate_of_passes("iauprec", 50, 0.05, 0.95) is None
    True
    """
    is_wide = positives < ENOUGH and margin >= bound(positives, level)
    sizes = [
        size for size in _largest_rates(is_wide) if size[0] == measure and size[1] <= positives
    ]
    if not sizes:
        return None
    nearest = max(sizes)
    rate, error = _largest_rates(is_wide)[nearest]
    if rate - SURELY * error <= (1 - LEVEL) / 2:
        return None
    return MISSED.format(*nearest[1:], 100 * LEVEL, rate, round((1 - LEVEL) / 2, 9))


@cache
def _largest_rates(at_bound: bool) -> dict[tuple[str, int, int], tuple[float, float]]:
    """The largest rate of passes by measure, positives and negatives, with its standard error."""
    size, rate = ["measure", "positives", "negatives"], pl.col("passed") / pl.col("of")
    found = pl.read_csv(RATES).filter((pl.col("shape") == AT_BOUND) == at_bound)
    largest = found.select(
        *size, rate.alias("rate"), (rate * (1 - rate) / pl.col("of")).sqrt().alias("error")
    ).sort("rate")
    # Of each size the last is the largest.
    return {(a, b, c): (d, e) for a, b, c, d, e in largest.rows()}
