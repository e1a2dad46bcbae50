"""Numbers as rounded text: no small number becomes 0, and no share below all becomes 100 %."""

from math import ceil, floor, log10

# Probabilities from here on are written as "> 99 %".
ALMOST = 0.995
# Per cent from which on a share is 100 % up to rounding errors.
ALL = 100 - 1e-9


def number(value: float | None, digits: int = 3) -> str | None:
    """A number to so many decimals, a small one to two digits; None of None.

    Examples
    --------
    >>> number(0.4567), number(0.00123), number(-0.0000312), number(0.0)
    ('0.457', '0.0012', '-3.1e-05', '0.000')
    """
    if value is None:
        return None
    is_small = 0 < abs(value) < 10 ** (1 - digits)
    return f"{value:#.2g}" if is_small else f"{value:.{digits}f}"


def significant(value: float | None) -> str | None:
    """A number to four digits, such as a prior or a cost; None of None.

    Examples
    --------
    >>> significant(0.00021), significant(1234567.0), significant(0.5)
    ('0.00021', '1.235e+06', '0.5')
    """
    return None if value is None else f"{value:.4g}"


# Smaller p-values are not written out: tails of distributions are not known so far out.
LEAST_P = 0.001


def p_value(value: float | None) -> str | None:
    """A p-value to two digits; None of None.

    Examples
    --------
    >>> p_value(0.0314), p_value(4.6e-25), p_value(1.0)
    ('0.031', '< 0.001', '1')
    """
    if value is None:
        return None
    return f"< {LEAST_P}" if value < LEAST_P else f"{value:.2g}"


def p_in_words(value: float) -> str:
    """A p-value in a sentence.

    Examples
    --------
    >>> p_in_words(0.0314), p_in_words(4.6e-25)
    ('p = 0.031', 'p < 0.001')
    """
    text = f"{p_value(value)}"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def with_limits(estimate: float | None, lower: float | None, upper: float | None) -> str:
    """An estimate and its interval in words, – where there is none.

    Examples
    --------
    >>> with_limits(0.5, 0.4, 0.6), with_limits(0.5, None, None), with_limits(None, 0.0, 1.0)
    ('0.500 (0.400 to 0.600)', '0.500', '–')
    """
    if estimate is None:
        return "–"
    ends = "" if lower is None else f" ({number(lower)} to {number(upper)})"
    return f"{number(estimate)}{ends}"


def percent(share: float) -> str:
    """A share in per cent, to three digits; less than 1 is not rounded to 100 %.

    Examples
    --------
    >>> percent(0.125), percent(0.9999), percent(1.0)
    ('12.5 %', '99.99 %', '100 %')
    """
    text = f"{100 * share:.3g}"
    if text == "100" and 100 * share < ALL:
        # With the decimals that keep it below 100.
        text = f"{100 * share:.{-floor(log10(100 - 100 * share))}f}"
    return f"{text} %"


def probability(value: float | None) -> str | None:
    """A probability in whole per cent, not rounded to 0 or 100 %.

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
