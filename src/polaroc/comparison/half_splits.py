"""Means of models with their covariance, from halves of the data that share no case."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import HAVE
from polaroc.comparison.design import Design, balanced
from polaroc.comparison.layout import REPEAT, Layout
from polaroc.comparison.measure_rows import SAME, Rows, distinct, over_labels, rows_of
from polaroc.errors import Hint, InvalidTable, quoted
from polaroc.typing import Array, Prior

SPLIT, HALF = "split", "half"
KEYS = (SPLIT, HALF, REPEAT, "fold")
# Share by which the two halves may differ in the cases of a class.
UNEVEN = 0.1
CLASSES = ("positives", "negatives")


@dataclass(frozen=True, eq=False)
class ModelMeans:
    """The models' means, the estimated covariance of these, and its degrees of freedom."""

    models: pl.Series
    means: Array
    covariance: Array
    df: float


@dataclass(frozen=True, eq=False)
class Halves:
    """A measure in the halves of a dataset: a number per split, half, repeat, fold and model."""

    design: Design
    cases: tuple[float, float]  # positives and negatives of both halves

    def repeats(self, values: "Array") -> "Array":
        """The means over folds of a table blocks × models: splits × 2 × repeats × models."""
        blocks = self.design.blocks
        if REPEAT not in blocks.columns:
            blocks = blocks.with_columns(pl.lit(0).alias(REPEAT))
        # Numbers of halves and repeats may count on through the splits.
        places = blocks.select(
            pl.col(SPLIT).rank("dense"),
            pl.col(HALF).rank("dense").over(SPLIT),
            pl.col(REPEAT).rank("dense").over(SPLIT, HALF),
        )
        ranks = [column.to_numpy().astype(int) - 1 for column in places]
        shape = tuple(int(rank.max()) + 1 for rank in ranks)
        sums, counts = np.zeros((*shape, values.shape[1])), np.zeros((*shape, 1))
        np.add.at(sums, tuple(ranks), values)
        np.add.at(counts, tuple(ranks), 1)
        if not counts.all():
            raise InvalidTable(
                "the halves do not all have the same number of repeats.",
                hint="evaluate every model on every fold of every half.",
            )
        means: Array = sums / counts
        return means


def halves_of(halves: pl.DataFrame, rows: Rows, measures: pl.DataFrame, measure: str) -> Rows:
    """The rows of a measure in the halves; raise where it is not what it is in the folds."""
    own = rows_of(halves, measure)
    labels = [over_labels(table, measure) for table in (halves, measures)]
    if all(labels) and labels[0] != labels[1]:
        raise InvalidTable(
            f"{measure!r} is over {quoted(labels[0])} in the halves, over {quoted(labels[1])} in "
            "the folds.",
            hint="evaluate both over the same range.",
        )
    priors = [distinct(one.frame["prior"]) for one in (own, rows)]
    at_own = own.at_observed_prior and rows.at_observed_prior
    if (
        [len(one) for one in priors] == [1, 1]
        and not at_own
        and abs(priors[0][0] - priors[1][0]) > SAME
    ):
        raise InvalidTable(
            f"{measure!r} is at prior {priors[0][0]:g} in the halves, at {priors[1][0]:g} in the "
            "folds.",
            hint="evaluate both at the same prior.",
        )
    return own


def read_halves(
    rows: Rows,
    priors: Sequence[Prior | None],
    model: str,
    models: pl.Series,
    noted: Sequence[float] | None = None,
) -> Halves:
    """The numbers of one measure in the halves, of these models; raise where any is missing."""
    keys = [name for name in KEYS if name in rows.keys]
    lacking = [name for name in (model, SPLIT, HALF) if name not in rows.keys]
    if lacking:
        raise InvalidTable(
            f"the halves have no key {quoted(lacking)}; their keys are "
            f"{quoted(rows.keys) or 'none'}.",
            hint=Hint(
                "evaluate the result of sklearn.half_split_predictions(...) with {by}.",
                by=[model, *KEYS],
            ),
        )
    present = set(rows.frame[model].unique().to_list())
    missing = [model for model in models.to_list() if model not in present]
    if missing:
        raise InvalidTable(
            f"the halves have no {model} {quoted(missing)}.",
            hint="fit every model that is compared in the halves too.",
        )
    kept = rows.frame.filter(pl.col(model).is_in(models.unique().implode()))
    own = Rows(kept, rows.keys, rows.measure)
    design = balanced(own, priors, model, keys, noted=noted)
    return Halves(design, _cases(kept, keys))


def half_split_means(
    design: Design,
    layout: Layout,
    halves: Halves,
    values: "Array | None" = None,
    half_values: "Array | None" = None,
) -> ModelMeans:
    """The means of a balanced table over its folds, with their half-split covariance.

    Parameters
    ----------
    design, layout
        The table, and how its folds were made.
    halves
        The same measure in the halves.
    values, half_values
        One number per block and model, where it is not that of the first prior of the designs.
    """
    values = design.table if values is None else values
    half_values = halves.design.table if half_values is None else half_values
    _check_same_cases(layout, halves)
    repeats = halves.repeats(half_values)
    if layout.kind != "k-fold":
        noise = np.cov(values, rowvar=False) / layout.blocks
    elif layout.times > 1:
        noise = np.cov(layout.repeat_means(values), rowvar=False) / layout.times
    else:
        # The noise of one repeat: half that of one in a half, with twice the cases.
        noise = split_noise(repeats) / 2
    return ModelMeans(
        design.models, values.mean(axis=0), half_split_covariance(repeats, noise),
        half_split_freedom(len(repeats), min(halves.cases)),
    )  # fmt: skip


def _cases(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[float, float]:
    """The fewest positives and negatives of both halves of a split."""
    folds = rows.group_by(keys).agg(pl.col(CLASSES).max().cast(pl.Float64))
    if folds.select(pl.any_horizontal(pl.col(CLASSES).is_null().any())).item():
        raise InvalidTable(
            "the halves lack their numbers of positives and negatives.",
            hint="pass the result of evaluate(...).",
        )
    repeated = [name for name in keys if name != "fold"]
    per_half = (
        folds.group_by(repeated).agg(pl.col(CLASSES).sum())
        .group_by(SPLIT, HALF).agg(pl.col(CLASSES).min())
    )  # fmt: skip
    splits = per_half.group_by(SPLIT).agg(
        pl.len().alias(HAVE), pl.col(CLASSES).sum(),
        *((pl.col(name).max() - pl.col(name).min()).alias(f"{HAVE}_{name}") for name in CLASSES),
    )  # fmt: skip
    if splits.height < 2 or (splits[HAVE] != 2).any():
        raise InvalidTable(
            f"there are {splits.height} splits with {quoted(sorted(set(splits[HAVE])))} halves, "
            "needed are two or more splits with 2 halves each.",
            hint="number the splits, and the two halves of each, from 1; 25 splits are enough.",
        )
    uneven = pl.any_horizontal(
        pl.col(f"{HAVE}_{name}") > pl.max_horizontal(1, UNEVEN * pl.col(name)) for name in CLASSES
    )
    if splits.select(uneven.any()).item():
        raise InvalidTable(
            "the two halves of a split have different numbers of positives or negatives.",
            hint="the variance is that of halves: split either class in the middle, and test each "
            "case of a half once in every repeat.",
        )
    return splits["positives"].min(), splits["negatives"].min()  # type: ignore[return-value]


def _check_same_cases(layout: Layout, halves: Halves) -> None:
    if layout.cases is None:
        return
    if any(abs(a - b) > 1 for a, b in zip(layout.cases, halves.cases, strict=True)):
        (p, n), (own_p, own_n) = layout.cases, halves.cases
        raise InvalidTable(
            f"the folds have {p:g} positives and {n:g} negatives, the halves {own_p:g} and "
            f"{own_n:g}.",
            hint="split the same cases: the variance is theirs.",
        )


def half_split_covariance(halves: "Array", noise: "Array | None" = None) -> "Array":
    """The covariance of the models' means on all cases, from their means in disjoint halves.

    Parameters
    ----------
    halves
        The measure: splits × 2 halves × repeats × models, a mean over folds each.
    noise
        The part of the covariance of the means that is due to how the cases were split, None
        where it is no more than that of the halves.

    Notes
    -----
    The two halves share no case, so that half the mean square of their difference is unbiased
    for the variance at half the cases, whatever the learner; at all cases it is half of that.

    Examples
    --------
    >>> import numpy as np
    >>> halves = np.array([[[[0.75, 0.5]], [[0.25, 0.5]]]])
    >>> half_split_covariance(halves).tolist()
    [[0.0625, 0.0], [0.0, 0.0]]
    """
    means = halves.mean(axis=2)
    apart = means[:, 0] - means[:, 1]
    covariance: Array = apart.T @ apart / (4 * len(apart))
    if noise is None:
        return covariance
    excess = noise - split_noise(halves) / (2 * halves.shape[2])
    # No pair may get less than its halves say.
    values, vectors = np.linalg.eigh(excess)
    added: Array = (vectors * values.clip(min=0)) @ vectors.T
    return covariance + added


def split_noise(halves: "Array") -> "Array":
    """The covariance of the models' means over one repeat, given the cases of a half.

    Zero where there is one repeat.
    """
    repeats = halves.shape[2]
    if repeats == 1:
        return np.zeros((halves.shape[3],) * 2)
    moved = halves - halves.mean(axis=2, keepdims=True)
    moved = moved.reshape(-1, halves.shape[3])
    covariance: Array = moved.T @ moved * (repeats / (repeats - 1)) / len(moved)
    return covariance


def half_split_freedom(splits: int, fewest: float) -> float:
    """Degrees of freedom of the variance from so many splits of a class with `fewest` cases.

    Examples
    --------
    >>> round(half_split_freedom(25, 80), 1)
    19.0
    """
    return 1 / (1 / splits + 1 / (fewest - 1))
