"""A measure in halves of the data that share no case, and the evidence that they give."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from polaroc.base.columns import single_column
from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, HAVE, TRUTH
from polaroc.comparison.design import REPEAT, FoldValues, balanced, filled_array
from polaroc.comparison.measure_rows import Rows, distinct, over_labels, rows_of
from polaroc.errors import Hint, InvalidTable, quoted
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import read
from polaroc.predictions.usual_keys import column_names_of
from polaroc.priors.grids import SAME
from polaroc.typing import Array, Prior
from polaroc.uncertainty.cells import numbered
from polaroc.uncertainty.evidence import Evidence, of_halves

SPLIT, HALF = "split", "half"
KEYS = (SPLIT, HALF, REPEAT, "fold")
# Share by which the two halves may differ in the cases of a class.
UNEVEN = 0.1
CLASSES = ("positives", "negatives")


class Halves(NamedTuple):
    """Measures in halves, and the clusters of the class that has fewer; None of cases."""

    measures: pl.DataFrame
    clusters: int | None


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
    models: pl.Series,
    noted: Sequence[float] | None = None,
) -> FoldValues:
    """The numbers of one measure in the halves, of these models; raise where any is missing.

    The cases of its layout are those of both halves.
    """
    model, keys = models.name, [name for name in KEYS if name in rows.keys]
    lacking = [name for name in (model, SPLIT, HALF) if name not in rows.keys]
    if lacking:
        raise InvalidTable(
            f"the halves have no key {quoted(lacking)}; their keys are "
            f"{quoted(rows.keys) or 'none'}.",
            hint=Hint(
                "evaluate the result of sklearn.half_split_predictions(...) with {fold}.",
                fold=[*KEYS],
            ),
        )
    present = set(rows.frame[model].unique().to_list())
    missing = [one for one in models.to_list() if one not in present]
    if missing:
        raise InvalidTable(
            f"the halves have no {model} {quoted(missing)}.",
            hint="fit every model that is compared in the halves too.",
        )
    kept = rows.frame.filter(pl.col(model).is_in(models.unique().implode()))
    own = Rows(kept, rows.keys, rows.measure)
    table = balanced(own, priors, model, keys, noted=noted)
    return replace(table, layout=replace(table.layout, cases=_cases(kept, keys)))


def of_half_splits(table: FoldValues, halves: FoldValues, clusters: int | None = None) -> Evidence:
    """Evidence from the folds of a table, and from the same measure in the halves.

    The variance is known as well as that of so many `clusters`, or of the cases of the rarer class.
    """
    cases, own, values = table.layout.cases, halves.layout.cases, table.at_first
    assert own is not None
    if cases is not None and any(abs(a - b) > 1 for a, b in zip(cases, own, strict=True)):
        raise InvalidTable(
            f"the folds have {cases[0]:g} positives and {cases[1]:g} negatives, the halves "
            f"{own[0]:g} and {own[1]:g}.",
            hint="split the same cases: the variance is theirs.",
        )
    noise = table.layout.noise(values)
    fewest = min(own) if clusters is None else clusters
    return of_halves(values.mean(axis=0), half_means(halves), fewest, noise, table.models)


def fewest_clusters(halves: Cases[pl.DataFrame]) -> int | None:
    """The clusters of the class that has fewer of them, of two crossed clusterings of either."""
    if not halves.cluster:
        return None
    rows = read(halves, clustered=True, crossed=True).cases.collect()
    truth = rows[TRUTH].to_numpy()
    return min(np.unique(own[of]).size for own in numbered(rows)[:2] for of in (truth, ~truth))


def refuse_torn(halves: Cases[pl.DataFrame]) -> None:
    """Refuse predictions in halves that share a cluster: they differ less than two samples do."""
    table = halves.table
    if not {SPLIT, HALF} <= {*table.columns}:
        return
    for one in halves.cluster:
        value = single_column(one, "cluster", table.lazy()).alias(CLUSTER)
        sides = table.select(SPLIT, HALF, value).group_by(SPLIT, CLUSTER)
        both = sides.agg(pl.col(HALF).n_unique().alias(HAVE)).filter(pl.col(HAVE) > 1)
        if both.height:
            raise InvalidTable(
                f"{both[CLUSTER].n_unique():,} of {table.select(value).n_unique():,} values of "
                f"{quoted(column_names_of([one])) or 'the cluster'} have cases in both halves of "
                "a split, which then tell less than two samples how much results differ.",
                hint="divide the clusters into halves, and their cases with them.",
            )


def half_means(halves: FoldValues) -> "Array":
    """The means over folds: splits × 2 × repeats × models."""
    keys, values = halves.folds, halves.at_first
    if REPEAT not in keys.columns:
        keys = keys.with_columns(pl.lit(0).alias(REPEAT))
    # Numbers of halves and repeats may count on through the splits.
    places = keys.select(
        pl.col(SPLIT).rank("dense"),
        pl.col(HALF).rank("dense").over(SPLIT),
        pl.col(REPEAT).rank("dense").over(SPLIT, HALF),
    )
    columns = [str(place) for place in range(values.shape[1])]
    of_folds = places.with_columns(map(pl.Series, columns, values.T))
    means = of_folds.group_by(places.columns).agg(pl.col(columns).mean())
    axes = [places.select(pl.col(name).unique().sort()) for name in places.columns]
    table = filled_array(means, axes, columns)
    if np.isnan(table).any():
        raise InvalidTable(
            "the halves do not all have the same number of repeats.",
            hint="evaluate every model on every fold of every half.",
        )
    return table


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
