"""Shares, thresholds and counts as words of a report."""

from polaroc.base.text import ALL, decimals_below, percent


def percent_range(low: float, high: float) -> str:
    """Shares from one to another in per cent.

    Examples
    --------
    >>> percent_range(0.02, 0.1), percent_range(0.05, 0.05)
    ('2 to 10 %', '5 %')
    """
    one, other = percent(low), percent(high)
    return one if one == other else f"{one[:-2]} to {other}"


def of_hundred(share: float) -> str:
    """A share as a number of 100, not rounded to none or all.

    Examples
    --------
    >>> of_hundred(0.914), of_hundred(0.997), of_hundred(0.99998), of_hundred(1.0)
    ('91', '99.7', '99.998', '100')
    >>> of_hundred(0.00034)
    '0.034'
    """
    value = 100 * share
    if 0 < value < 1:
        return f"{value:.2g}"
    return f"{value:.{decimals_below(value)}f}" if 99 < value < ALL else f"{value:.0f}"


def counted(count: int, noun: str) -> str:
    """A number with its noun in singular or plural.

    Examples
    --------
    >>> counted(1, "fold"), counted(1200, "case")
    ('1 fold', '1,200 cases')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
