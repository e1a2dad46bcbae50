"""Raise a helpful error where scikit-learn is not installed."""

from polaroc.errors import MissingExtra


def need_scikit_learn() -> None:
    """Refuse to go on without scikit-learn.

    Examples
    --------
    >>> need_scikit_learn()
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "scikit-learn is needed, which is not installed.",
            hint="pip install 'polaroc[sklearn]'.",
        ) from None
