"""The labels of a binary target, and the positive one among them."""

from typing import Any, NamedTuple

from polaroc.base.lazy import np
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.typing import Array, Label

ONE_VS_REST = (
    "polaroc.one_vs_rest makes a table with each class against the rest, which "
    "polaroc.evaluate takes."
)


class BinaryTarget(NamedTuple):
    """The label of each case, the distinct labels in order, and the positive one."""

    labels: Array
    distinct: list[Any]
    positive: Any

    @property
    def truth(self) -> Array:
        """Whether each case is positive."""
        is_positive: Array = self.labels == self.positive
        return is_positive


def binary_target(
    y: Any, pos_label: Label | None, name: str = "y", *, greater_is_positive: bool = True
) -> BinaryTarget:
    """The target, refused where it has more than two labels.

    Parameters
    ----------
    y, name
        The labels, and the name of the argument.
    pos_label
        The positive label; by default 1 of 0, 1 or of −1, 1.
    greater_is_positive
        Whether of other labels the one that scikit-learn sorts last is positive by
        default, its ``classes_[1]``.
    """
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d

    try:
        kind = type_of_target(y, input_name=name)
        labels = column_or_1d(y)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{name} cannot be read: {error}", hint="give one label per case, of two classes."
        ) from None
    if kind != "binary":
        # In the words that scikit-learn's checks of estimators look for.
        several = "Only binary classification is supported. The type of the target is"
        problem = several if kind.startswith("multi") else "Unknown label type:"
        raise InvalidArgument(
            f"{name} has other than two classes. {problem} {kind}.",
            hint=ONE_VS_REST
            if kind == "multiclass"
            else "give one label per case, of two classes.",
        )
    if not len(labels):
        raise InvalidArgument(f"{name} is empty.", hint="give one label per case.")
    distinct = np.unique(labels).tolist()
    return BinaryTarget(labels, distinct, _positive(distinct, pos_label, name, greater_is_positive))


def _positive(
    distinct: list[Any], pos_label: Label | None, name: str, greater_is_positive: bool
) -> Any:
    if pos_label is None and (set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}):
        return 1
    if pos_label is None and greater_is_positive:
        return distinct[-1]
    if pos_label is None or (len(distinct) == 2 and pos_label not in distinct):
        raise InvalidArgument(
            f"{name} has the labels {quoted(distinct)}, and pos_label is {pos_label!r}.",
            hint=Hint("name the positive label with {pos_label}.", pos_label=distinct[-1]),
        )
    return pos_label
