"""Random prediction tables with every role, and what their rows give by definition, in loops."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import exact
import numpy as np
import polars as pl

import polaroc as pr

MODELS = ("A", "B")
# Names that would do harm if they were read as code, as ours, or not as a whole.
HOSTILE = (
    "prior", "measure", "estimate", "note", "score", "weight", "count", " ", "'", '"', "{x}",
    "{{0}}", "%s", "a\nb", "a\tb", "\\", "😀", "é", "e\u0301", "<b>&amp;", "$x$", "`", "--out",
    "=1+1", ".*", "__polaroc_index", "literal", "x" * 300, "\u202e", "null", "a.b", "col[0]",
    "; DROP TABLE t; --", "{%if%}", "</script>",
)  # fmt: skip
# Columns of results and names of roles, which no other key may have.
TAKEN = ("prior", "measure", "estimate", "note", "score", "weight", "count", "__polaroc_index")
ROLES = (
    "truth", "score", "model", "case", "site", "cluster", "time", "count", "weight",
)  # fmt: skip
KEYS = ("site", "time", "case")


@dataclass(frozen=True)
class Row:
    """A row, of so many cases or of such a weight."""

    truth: bool
    score: float
    weight: float
    model: str
    case: int
    site: str
    cluster: int
    time: int


@dataclass(frozen=True)
class Table:
    """A table and its rows; `names` are its columns by their roles."""

    frame: pl.DataFrame
    names: dict[str, str]
    weighting: str | None

    def roles(self, *others: str) -> dict[str, Any]:
        """The roles that every function has, and others."""
        weighting = [] if self.weighting is None else [self.weighting]
        named = ("truth", "score", "model", *weighting, *others)
        # What is found by a name is what a name may be by chance.
        return {"fold": None} | {role: self.names[role] for role in named}

    @property
    def rows(self) -> list[Row]:
        columns = {role: self.frame[name].to_list() for role, name in self.names.items()}
        weight = columns.get(self.weighting or "", [1] * self.frame.height)
        kept = [role for role in ROLES if role not in ("weight", "count")]
        return [
            Row(weight=weight[i], **{role: columns[role][i] for role in kept})
            for i in range(self.frame.height)
            if weight[i] > 0
        ]

    def by(self, *roles: str) -> dict[Any, list[Row]]:
        """The rows of each value of a role, or of several."""
        parts = defaultdict(list)
        for row in self.rows:
            key = tuple(getattr(row, role) for role in roles)
            parts[key if len(roles) > 1 else key[0]].append(row)
        return parts


def table(
    seed: int, weighting: str | None = None, *, size: int = 40, names: Sequence[str] = HOSTILE
) -> Table:
    """Two models on the same cases, weighted by "count", by "weight" or not; every class is there.

    Clusters cross sites and days; scores have ties, and are the same in both models at times.
    """
    rng = np.random.default_rng([seed, len(weighting or "")])
    pool = [str(name) for name in rng.permutation(names)]
    keys = [name for name in pool if name not in TAKEN]
    # Results name models so.
    called = {"model": "model"} | dict(zip(KEYS, keys, strict=False))
    left = [name for name in pool if name not in called.values()]
    called = {role: called[role] if role in called else left.pop() for role in ROLES}
    place = np.arange(size)
    # Each day and each site has both classes.
    day, site, truth = place // 2 % 4, place // 8 % 2, place % 2 == 0
    truth = np.where(place < 16, truth, rng.random(size) < 0.4)
    units = {
        "truth": truth, "case": place, "site": np.array(["x", "y"])[site],
        "cluster": rng.integers(0, size // 3, size), "time": day,
        "count": np.where(place < 16, 1, rng.choice([0, 1, 2, 5], size)),
        "weight": np.where(place < 16, 0.5, rng.choice([0.0, 0.5, 1.0, 1.5], size)),
    }  # fmt: skip
    digits = int(rng.integers(1, 4))
    frames = []
    for model, skill in zip(MODELS, (0.4, 0.2), strict=True):
        score = (rng.random(size) * 0.6 + skill * truth).round(digits).clip(0.01, 0.99)
        frames.append(pl.DataFrame(units | {"model": [model] * size, "score": score}))
    frame = pl.concat(frames).select(pl.col(role).alias(called[role]) for role in ROLES)
    return Table(frame.sample(fraction=1, shuffle=True, seed=seed), called, weighting)


# --- by what path a table comes ----------------------------------------------------------------


def as_wide(of: Table, roles: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A column of scores for each model."""
    score, model, case = (of.names[role] for role in ("score", "model", "case"))
    first, second = (of.frame.filter(pl.col(model) == one).sort(case) for one in MODELS)
    wide = first.drop(score, model).with_columns(first[score].alias("A"), second[score].alias("B"))
    return wide, {role: one for role, one in roles.items() if role != "model"} | {
        "score": ["A", "B"]
    }


Path = Callable[[Table, dict[str, Any]], tuple[Any, dict[str, Any]]]
PATHS: dict[str, Path] = {
    "frame": lambda of, roles: (of.frame, roles),
    "lazy": lambda of, roles: (of.frame.lazy(), roles),
    "pandas": lambda of, roles: (of.frame.to_pandas(), roles),
    "arrow": lambda of, roles: (of.frame.to_arrow(), roles),
    "mapping": lambda of, roles: (of.frame.to_dict(as_series=False), roles),
    "cases": lambda of, roles: (pr.cases(of.frame, **roles), {}),
    "wide": as_wide,
}


# --- by definition -----------------------------------------------------------------------------


def classes(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    rows = list(rows)
    return [row for row in rows if row.truth], [row for row in rows if not row.truth]


def mean(rows: Sequence[Row], value: Callable[[Row], float]) -> float:
    return sum(row.weight * value(row) for row in rows) / sum(row.weight for row in rows)


def rates(rows: Iterable[Row], threshold: float) -> tuple[float, float]:
    """The shares of positives, and of negatives, that score so much."""
    t, f = (mean(own, lambda row: row.score >= threshold) for own in classes(rows))
    return t, f


def of_calls(
    rows: Iterable[Row], threshold: float, prior: float, cost_fn: float = 1, cost_fp: float = 1
) -> dict[str, float]:
    """Results for a threshold, by the names that functions have for it."""
    t, f = rates(rows, threshold)
    tp, fp, fn, tn = prior * t, (1 - prior) * f, prior * (1 - t), (1 - prior) * (1 - f)
    cost = cost_fn * fn + cost_fp * fp
    return {
        "recall": t, "tpr": t, "fpr": f, "specificity": 1 - f, "fnr": 1 - t,
        "precision": tp / (tp + fp) if tp + fp else float("nan"),
        "npv": tn / (tn + fn) if tn + fn else float("nan"), "posfrac": tp + fp,
        "cost": cost, "expected_cost": cost, "net_benefit": tp - cost_fp / cost_fn * fp,
        "accuracy": tp + tn, "error": fp + fn, "f_measure": 2 * tp / (2 * tp + fp + fn),
    }  # fmt: skip


def exact_curve(rows: Iterable[Row]) -> exact.Curve:
    return exact.curve((row.truth, row.score, row.weight) for row in rows)


def auc(rows: Iterable[Row]) -> float:
    """The share of pairs that are ranked rightly."""
    positives, negatives = classes(rows)
    return mean(positives, lambda one: mean(negatives, lambda two: won(one, two)))


def won(positive: Row, negative: Row) -> float:
    return (positive.score > negative.score) + 0.5 * (positive.score == negative.score)


def placements(rows: Iterable[Row]) -> list[tuple[Row, float]]:
    """How much each case moves the AUC, times the cases of its class (DeLong et al. 1988)."""
    positives, negatives = classes(rows)
    area = auc(rows)
    return [
        *((one, mean(negatives, lambda two, one=one: won(one, two)) - area) for one in positives),
        *((two, mean(positives, lambda one, two=two: won(one, two)) - area) for two in negatives),
    ]


def auprec(rows: Iterable[Row], prior: float) -> float:
    return exact.auprec(exact_curve(rows), exact.skew(prior), "exact")


def brier(rows: Iterable[Row], prior: float) -> float:
    """The mean loss, of scores that are moved from the share of positives to the prior."""
    positives, negatives = classes(rows)
    own = sum(one.weight for one in positives) / sum(one.weight for one in rows)
    odds = prior / (1 - prior) / (own / (1 - own))

    def moved(row: Row) -> float:
        return odds * row.score / (odds * row.score + 1 - row.score)

    lost = mean(positives, lambda row: (1 - moved(row)) ** 2)
    return prior * lost + (1 - prior) * mean(negatives, lambda row: moved(row) ** 2)


def standard_error(moved: Sequence[tuple[Row, float]], unit: str | None = None) -> float:
    """That of the sum of a mean over each class, whose cases deviate by so much from it.

    Independent are the values of a role (Obuchowski 1997), or all cases that a row stands for.
    """
    sums: dict[bool, dict[Any, float]] = {True: defaultdict(float), False: defaultdict(float)}
    for truth in sums:
        own = [(row, value) for row, value in moved if row.truth == truth]
        total = sum(row.weight for row, _ in own)
        for row, value in own:
            if unit is not None:
                sums[truth][getattr(row, unit)] += row.weight * value / total
            else:
                sums[truth] |= {(row.case, i): value / total for i in range(int(row.weight))}
    variance = sum(len(own) / (len(own) - 1) * sum(value**2 for value in own.values())
                   for own in sums.values())  # fmt: skip
    both, shared = sums[True].keys() | sums[False].keys(), sums[True].keys() & sums[False].keys()
    product = sum(sums[True][one] * sums[False][one] for one in shared)
    return (variance + 2 * len(both) / (len(both) - 1) * product) ** 0.5


def thresholds(rows: Iterable[Row]) -> list[float]:
    """Each score, from the highest on, after one that none reaches."""
    return [float("inf"), *sorted({row.score for row in rows}, reverse=True)]


def pairs(rows: Sequence[Row]) -> Iterator[tuple[tuple[float, float], ...]]:
    """The rates from two thresholds on, the higher first."""
    points = [rates(rows, threshold) for threshold in thresholds(rows)]
    return combinations_with_replacement(points, 2)
