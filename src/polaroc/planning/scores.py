"""Scores that a study may draw: along ROC curves that a plan or its arguments assume."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import polars as pl

from polaroc.base.checks import (
    LEAST_SHARE,
    check_factors,
    check_whole,
    is_number,
    pair_of,
    refuse_unused,
    shortened,
)
from polaroc.base.lazy import np
from polaroc.base.rounding import percent
from polaroc.errors import Hint, InvalidArgument
from polaroc.typing import Array

# Beyond, a rate is 0 or 1 in floats.
FURTHEST = 8.2
STUDY, TRUTH, SCORE, CLUSTER = "study", "truth", "score", "cluster"


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """The ROC curve of a model whose negatives have standard normal scores, in probits.

    Any monotone function of the scores has the same curve, so that nothing is lost. Of normal
    scores in both classes the curve is a line. Scores with few values have only the `levels` that
    end at the points, and are their numbers, less for the worse ones.
    """

    fpr: Array  # rising
    tpr: Array  # not falling
    levels: bool = False

    def recall(self, fpr: Array) -> Array:
        """The recall at false positive rates."""
        from scipy.special import ndtr, ndtri

        recalls: Array = ndtr(np.interp(ndtri(fpr), self.fpr, self.tpr))
        return recalls

    def scores(self, positives: Array, negatives: Array) -> Array:
        """The scores of both classes, from standard normal variables."""
        if self.levels:
            places = np.searchsorted(self.tpr, -positives), np.searchsorted(self.fpr, -negatives)
            return -np.concatenate(places).astype(float)
        return np.append(-np.interp(-positives, self.tpr, self.fpr), negatives)

    def rate_above(self, score: Array) -> Array:
        """The false positive rate of a threshold just above each score."""
        from scipy.special import ndtr

        if self.levels:
            known = np.isfinite(score)
            ends = np.append(0.0, ndtr(self.fpr))
            return np.where(known, ends[np.where(known, -score, 0).astype(int)], 1.0)
        rates: Array = ndtr(-score)
        return rates


def of_auc(auc: float, shape: float = 1.0) -> ScoreCurve:
    """The curve of normal scores with this area, `shape` the spread of negatives over positives.

    Examples
    --------
    >>> import numpy as np
    >>> of_auc(0.5).recall(np.array([0.1, 0.7])).round(3).tolist()
    [0.1, 0.7]
    """
    from scipy.special import ndtri

    ends = np.array([-5.0, 5.0]) * FURTHEST
    return ScoreCurve(ends, float(ndtri(auc)) * sqrt(1 + shape**2) + shape * ends)


@dataclass(frozen=True)
class Size:
    """How many cases a study has, and how alike the rows of a cluster are.

    All rows of a cluster are of one class.
    """

    positives: int
    negatives: int
    rows: int = 1  # of a cluster
    alike: float = 0.0  # the correlation of the scores of two rows of a cluster
    tuning: float = 0.0  # the share of both classes that the threshold is set on
    folds: int = 0  # each with so many cases, where models are trained anew
    unit: str = ""  # the column of the clusters

    @property
    def cases(self) -> int:
        """The cases of both classes."""
        return self.positives + self.negatives

    @property
    def words(self) -> str:
        """Both classes, in clusters and rows, how many folds, and what part is tuning."""
        of_clusters = ""
        if self.rows > 1:
            of_pos, of_neg = (-(-one // self.rows) for one in (self.positives, self.negatives))
            named = f" (`{self.unit}`)" if self.unit else ""
            of_clusters = (
                f"{of_pos:,} positive and {of_neg:,} negative clusters{named}, "
                f"{self.rows} rows each: "
            )
        tuned = f" with {percent(self.tuning)} of both for tuning" if self.tuning else ""
        folds = f"{self.folds} folds of " if self.folds else ""
        classes = f"{self.positives:,} positives and {self.negatives:,} negatives"
        return f"{folds}{of_clusters}{classes}{tuned}"

    @property
    def parts(self) -> tuple["Size", "Size"]:
        """The cases that the threshold is set on, and those of the test."""
        tuned, tested = (
            replace(self, positives=round(share * self.positives), tuning=0.0,
                    negatives=round(share * self.negatives))
            for share in (self.tuning, 1 - self.tuning)
        )  # fmt: skip
        return tuned, tested

    @property
    def fewest(self) -> int:
        """Cases of the class, in the part, that has least."""
        parts = self.parts if self.tuning else [self]
        return min(min(one.positives, one.negatives) for one in parts)

    @property
    def truth(self) -> Array:
        """Positives first."""
        return np.repeat([True, False], [self.positives, self.negatives])

    @property
    def clusters(self) -> Array:
        """The number of the cluster of each row."""
        first = np.arange(self.positives) // self.rows
        rest = np.arange(self.negatives) // self.rows
        return np.append(first, rest + -(-self.positives // self.rows))


@dataclass(frozen=True, eq=False)
class Assumed:
    """What is assumed of scores: curves that may be the true ones, one or more, equally likely."""

    curves: Sequence[Sequence[ScoreCurve]]  # by what may be true, of each model
    between: Sequence[float] = (0.0,)  # correlation of the models' scores within a class, likewise
    about: tuple[str, ...] = ()  # sentences on where this comes from
    rows: int = 1  # of a cluster of the pilot
    unit: str = ""  # the column of its clusters
    alike: float = 0.0
    skew: float = 1.0  # negatives per positive of the pilot
    are_ends: bool = False  # whether the curves are the ends and the middle of what was given

    def draw(self, which: int, size: Size, generator: Any) -> list[Array]:
        """The scores of one study by each model, positives first, if `which` is true."""
        curves, between = self.curves[which], self.between[which]
        of_pos, of_neg = (
            _normals(len(curves), cases, size, between, generator)
            for cases in (size.positives, size.negatives)
        )
        parts = zip(curves, of_pos, of_neg, strict=True)
        return [curve.scores(own, other) for curve, own, other in parts]

    def ideal(self, which: int, size: Size) -> list[Array]:
        """The scores of a study whose cases lie at equal steps of the distributions."""
        from scipy.special import ndtri

        steps = (np.arange(cases) for cases in (size.positives, size.negatives))
        of_pos, of_neg = (ndtri((own + 0.5) / own.size) for own in steps)
        return [one.scores(of_pos, of_neg) for one in self.curves[which]]

    def tables(self, which: int, size: Size, studies: int, generator: Any) -> pl.DataFrame:
        """The rows of several studies of the first model."""
        scores = [self.draw(which, size, generator)[0] for _ in range(studies)]
        of_all = {TRUTH: size.truth, CLUSTER: size.clusters}
        return pl.DataFrame(
            {
                STUDY: np.repeat(np.arange(studies), size.cases),
                SCORE: np.concatenate(scores),
                **{name: np.tile(own, studies) for name, own in of_all.items()},
            }
        )


def _normals(models: int, cases: int, size: Size, between: float, generator: Any) -> Array:
    """Standard normal variables, models × cases, correlated between models and in clusters."""

    def shared(number: int) -> Array:
        common, own = (generator.standard_normal((of, number)) for of in (1, models))
        both: Array = sqrt(between) * common + sqrt(1 - between) * own
        return both

    of_cases = shared(cases)
    if size.rows == 1 or not size.alike:
        return of_cases
    of_clusters = np.repeat(shared(-(-cases // size.rows)), size.rows, axis=1)[:, :cases]
    return sqrt(size.alike) * of_clusters + sqrt(1 - size.alike) * of_cases


# Correlation of two models' scores within a class where nothing is said of it, and how many values
# of a range, of it or of the AUC, are tried.
USUAL, BETWEEN = 0.5, 3


def of_one(auc: object, shape: float) -> Assumed:
    """Normal scores of one model, with an AUC or a range of it."""
    if auc is None:
        raise InvalidArgument(
            "neither a pilot nor auc is given.",
            hint=Hint("give the AUC to expect, {auc}, or a table of predictions.", auc=0.8),
        )
    check_factors(shape=shape)
    spread = "equal spread in both classes"
    if shape != 1:
        spread = f"negatives {shape:g} times as spread as positives"
    values = _values("auc", auc, least=LEAST_SHARE, example=(0.75, 0.85))
    about = f"Scores are taken as normal, with an AUC of {_ends(values)} and {spread}."
    curves = [[of_auc(one, shape)] for one in values]
    return Assumed(curves, [0.0] * len(values), (about,), are_ends=True)


def of_two(
    champion: Assumed, auc: object, shape: float, difference: float | None, correlation: object,
    margin: float | None,
) -> Assumed:  # fmt: skip
    """Normal scores of a champion, and of a challenger with another AUC."""
    aucs = _values("auc", auc)
    ahead = 0.0 if difference is None else difference
    if not is_number(ahead) or not 0 < aucs[0] + ahead <= aucs[-1] + ahead < 1:
        raise InvalidArgument(
            f"difference is {shortened(difference)}, allowed is 0 < auc + difference < 1.",
            hint=Hint.example("difference", 0.02),
        )
    if margin is None and ahead <= 0:
        raise InvalidArgument(
            f"difference is {ahead:g}, and a challenger that is no better is not found better.",
            hint=Hint("give {margin}, by how much it may be worse; or {difference}.",
                      margin=0.02, difference=0.02),
        )  # fmt: skip
    if margin is not None and ahead <= -margin:
        raise InvalidArgument(
            f"difference is {ahead:g}, and a challenger that is worse by the margin {margin:g} "
            "should not pass.",
            hint=Hint.example("margin", round(0.02 - ahead, 3)),
        )
    # What may be true are all pairs of an AUC and a correlation.
    alike = _values("correlation", USUAL if correlation is None else correlation)
    curves = [
        [curve, of_auc(one + ahead, shape) if ahead else curve]
        for one, (curve,) in zip(aucs, champion.curves, strict=True)
        for _ in alike
    ]
    both = (
        f"The challenger's AUC is {_ends([one + ahead for one in aucs])}; both models' scores "
        f"correlate with {_ends(alike)}."
    )
    return Assumed(curves, alike * len(aucs), (*champion.about, both), are_ends=True)


def _values(
    name: str, given: object, least: float = 0.0, example: tuple[float, float] = (0.3, 0.7)
) -> list[float]:
    """The values that may be true, from one or a range."""
    one: Any = given
    ends: tuple[Any, Any] = pair_of(given) or (one, one)
    if not all(is_number(end) and least <= end < 1 for end in ends) or ends[0] > ends[1]:
        raise InvalidArgument(
            f"{name} is {shortened(given)}, allowed are {least:g} ≤ {name} < 1 and a range of it.",
            hint=Hint.example(name, example),
        )
    number = BETWEEN if ends[0] < ends[1] else 1
    return [float(value) for value in np.linspace(*ends, number)]


def _ends(values: Sequence[float]) -> str:
    return " to ".join(f"{one:g}" for one in sorted({values[0], values[-1]}))


def rows_of_clusters(rows: int | None, alike: float | None, assumed: Assumed) -> tuple[int, float]:
    """How many rows a cluster has, and how alike they are: as said, else as in the pilot."""
    if rows is not None:
        check_whole("cluster_rows", rows, 1)
    if alike is not None and not (is_number(alike) and 0 <= alike < 1):
        raise InvalidArgument(
            f"cluster_correlation is {shortened(alike)}, allowed is 0 ≤ cluster_correlation < 1.",
            hint=Hint.example("cluster_correlation", 0.3),
        )
    number = assumed.rows if rows is None else rows
    if number == 1:
        refuse_unused("of rows of clusters", "a cluster has one row", cluster_correlation=alike)
    elif alike is None and assumed.rows == 1:
        raise InvalidArgument(
            "cluster_rows is given, and not how alike the rows of a cluster are.",
            hint=Hint.example("cluster_correlation", 0.3),
        )
    return number, assumed.alike if alike is None else float(alike)
