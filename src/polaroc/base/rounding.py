"""Numbers as text, rounded so that they stay true: no small one as 0, no large one as all."""

from math import ceil, floor, inf, log10

# Probabilities nearer to 1 are not told apart.
ALMOST = 0.995
# Per cent from which on a share differs from all by rounding only.
ALL = 100 - 1e-9


def number(value: float | None, digits: int = 3) -> str | None:
    """A number with fixed decimals, None of None."""
    return None if value is None else f"{value:.{digits}f}"


def limit(value: float | None, digits: int = 3) -> str | None:
    """A limit of an interval to so many decimals, never as 0 where it is not.

    Examples
    --------
    >>> limit(0.01234), limit(-0.000312), limit(0.0)
    ('0.012', '-0.00031', '0.000')
    """
    if value is None or value == 0 or abs(value) >= 0.5 * 10**-digits:
        return number(value, digits)
    return f"{value:.2g}"


def short_threshold(threshold: float, below: float | None = None) -> str:
    """A threshold in as few digits as select the same cases, of which `below` is the next score.

    Rounded down, two digits or more, and nearer to the threshold than to the next score: so scores
    of single precision are on the same side of it, too.

    Examples
    --------
    >>> short_threshold(0.767285, 0.7661), short_threshold(-1.83818, -1.8382), short_threshold(3.0)
    ('0.767', '-1.83818', '3')
    """
    from decimal import ROUND_FLOOR, Context, Decimal
    from math import isfinite

    if not isfinite(threshold):
        return f"{threshold:g}"
    least = -inf if below is None else (below + threshold) / 2
    for digits in range(2 if below is not None else 3, 18):
        rounded = float(
            Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(repr(float(threshold))))
        )
        if least < rounded <= threshold:
            return repr(rounded).removesuffix(".0")
    return repr(threshold)


def p_value(value: float | None) -> str | None:
    """A p-value to two digits, never as 0 where it is not."""
    return None if value is None else "0" if value == 0 else f"{value:.2g}"


# The heading of what `with_limits` writes, by the columns that it is made of.
ESTIMATE = "estimate (lower to upper)"


def with_limits(estimate: float | None, lower: float | None, upper: float | None) -> str:
    """An estimate and its interval in words, – where there is none.

    Examples
    --------
    >>> with_limits(0.5, 0.4, 0.6), with_limits(0.5, None, None), with_limits(None, 0.0, 1.0)
    ('0.500 (0.400 to 0.600)', '0.500', '–')
    """
    if estimate is None:
        return "–"
    ends = "" if lower is None else f" ({limit(lower)} to {limit(upper)})"
    return f"{limit(estimate)}{ends}"


def percent(share: float, digits: int = 3) -> str:
    """A share in per cent, to so many digits, not rounded to all.

    Examples
    --------
    >>> percent(0.125), percent(0.9999), percent(1.0)
    ('12.5 %', '99.99 %', '100 %')
    """
    text = f"{100 * share:.{digits}g}"
    if text == "100" and 100 * share < ALL:
        text = f"{100 * share:.{decimals_below(100 * share)}f}"
    return f"{text} %"


def decimals_below(value: float) -> int:
    """How many decimals a number a little below 100 needs not to be rounded to it.

    Examples
    --------
    >>> decimals_below(99.7), decimals_below(99.95)
    (1, 2)
    """
    return -floor(log10(100 - value))


def probability(value: float | None) -> str | None:
    """A probability in whole per cent, not rounded to none or all.

    Examples
    --------
    >>> probability(0.784), probability(0.0004), probability(0.9996)
    ('78 %', '< 1 %', '> 99 %')
    """
    if value is None:
        return None
    if value < 1 - ALMOST:
        return "< 1 %"
    return "> 99 %" if value >= ALMOST else f"{100 * value:.0f} %"


def rounded_up(count: float) -> int:
    """A count of cases to two digits, upwards; at least 1.

    Examples
    --------
    >>> rounded_up(1234.5), rounded_up(99.0), rounded_up(7.0)
    (1300, 99, 7)
    """
    step: int = 10 ** max(0, floor(log10(max(count, 1))) - 1)
    return max(step * ceil(count / step), 1)
