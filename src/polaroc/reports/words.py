"""Shares, thresholds and counts as words of a report."""


def percent(share: float) -> str:
    """A share in per cent, to three digits.

    Examples
    --------
    >>> percent(0.125)
    '12.5 %'
    """
    return f"{100 * share:.3g} %"


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
    >>> of_hundred(0.914), of_hundred(0.997), of_hundred(1.0)
    ('91', '99.7', '100')
    """
    value = 100 * share
    near_end = 0 < min(value, 100 - value) < 1
    return f"{value:.1f}" if near_end else f"{value:.0f}"


def of_ten(share: float) -> str:
    """A share as a number of 10, or of 100 where tenths would be off by a twentieth of it.

    Examples
    --------
    >>> of_ten(0.83), of_ten(0.16), of_ten(0.034)
    ('8 of 10', '16 of 100', '3 of 100')
    """
    if abs(round(10 * share) / 10 - share) <= share / 20:
        return f"{10 * share:.0f} of 10"
    return f"{100 * share:.0f} of 100" if share >= 0.0095 else f"{1000 * share:.2g} of 1,000"


def counted(count: int, noun: str) -> str:
    """A number with its noun in singular or plural.

    Examples
    --------
    >>> counted(1, "fold"), counted(1200, "case")
    ('1 fold', '1,200 cases')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
