"""Tables of predictions of any size, drawn from a pilot or from an AUC."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from string import ascii_uppercase
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_share, check_whole, one_or_several, refuse_unused
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases, as_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import check_clusters
from polaroc.typing import Array, Table

# The most cases of all tables together.
MOST = 100_000_000
# The fewest cases, or clusters, of a class in a pilot.
FEWEST = 5
# Ratings have at most so many values, each of so many cases on average.
RATINGS, PER_RATING = 20, 3


def simulate(
    pilot: Table | Cases[Any] | None = None,
    *,
    positives: int = 100,
    negatives: int = 900,
    tables: int = 200,
    auc: float | Sequence[float] | None = None,
    models: int | None = None,
    correlation: float | None = None,
    clusters: int | None = None,
    rows_per_cluster: int | None = None,
    cluster_correlation: float | None = None,
    seed: int = 0,
    **columns: Unpack[Columns],
) -> pl.DataFrame:
    """Draw tables of predictions of any size, from a pilot or from an AUC.

    Evaluated like real ones, with ``by="table"`` or one by one, they show what studies of this
    size find: how wide intervals are, or how often a test finds a difference.

    Parameters
    ----------
    pilot
        Predictions of one or more models on one test set, one row per case, with at least 5 cases
        (or clusters) of each class: any table that `cases` takes, or its result. Without it, give
        `auc`.
    positives, negatives
        Number of cases of each class per table; about so many if a pilot has clusters.
    tables
        Number of tables.
    auc
        Without a pilot: the AUC of all models, or a list of one per model, in (0, 1).
    models
        Without a pilot: the number of models, by default that of the values of `auc`.
    correlation
        Without a pilot: the correlation of two models' scores within a class, in [0, 1]; 0.5 by
        default.
    clusters
        Without a pilot: the number of clusters, over which both classes are spread evenly.
    rows_per_cluster
        Without a pilot, instead of `clusters`: the size of clusters that are all of one class.
    cluster_correlation
        Without a pilot: the correlation of a model's scores of two cases of a cluster, within a
        class, in [0, 1]; 0.3 by default.
    seed
        Seed of the random numbers. A table does not depend on the number of `tables`.
    **columns
        What the columns of the pilot mean, as in `cases`.

    Returns
    -------
    DataFrame
        One row per table, model and case, sorted: Int64 `table`; `model`, as in the pilot, else
        "A", "B", …; Int64 `case` and, if there are clusters, `cluster`, numbered within a table;
        Boolean `truth`; Float64 `score`.

    Raises
    ------
    InvalidArgument, InvalidPredictions
        For neither a pilot nor `auc`, or arguments of one beside the other; a pilot with several
        folds, few cases of a class, models that scored different cases, or infinite scores;
        numbers of cases that whole clusters of the pilot cannot have.
    NotSupported
        For `by`, a `weight` or a `count` of the pilot.

    Notes
    -----
    From a pilot, cases of each class are drawn with replacement, with the scores of all models, or
    whole clusters. Normal noise is added to the normal scores (ranks on a normal scale) of each
    model, with the covariance of the models in the class and the correlation within clusters.
    Scores are shrunk to the mean of the class, so that means and covariances stay as they are
    (Silverman and Young 1987). Scores in [0, 1] stay there. Ratings (at most 20 different scores)
    have no noise. All tables vary around the curve of the pilot, which is an estimate itself, with
    20 positives a rough one: draw pilots from the pilot, and tables from each, to see the range.

    Without a pilot, scores are normal with variance 1 in each class, of negatives with mean 0.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> tables = pr.simulate(auc=[0.8, 0.9], positives=50, negatives=450, tables=100)
    >>> found = pr.evaluate(tables, truth="truth", score="score", by="table", measure="auc")
    >>> found.group_by("model").agg(pl.col("estimate").mean().round(1)).sort("model").rows()
    [('A', 0.8), ('B', 0.9)]
    """
    for name, number in (("positives", positives), ("negatives", negatives), ("tables", tables)):
        check_whole(name, number, 1)
    check_whole("seed", seed, 0)
    if (total := tables * (positives + negatives)) > MOST:
        raise InvalidArgument(
            f"the tables have {total:,} cases in all, allowed are {MOST:,}.",
            hint="draw fewer tables at a time, each time with another seed.",
        )
    generators = [np.random.default_rng([seed, table]) for table in range(tables)]
    if pilot is not None:
        refuse_unused(
            "for normal scores", "a pilot is given", auc=auc, models=models,
            correlation=correlation, clusters=clusters, rows_per_cluster=rows_per_cluster,
            cluster_correlation=cluster_correlation,
        )  # fmt: skip
        refuses = ("by", "weight", "count")
        known = as_cases(pilot, columns, function="simulate", refuses=refuses).collect()
        return _from_pilot(known, positives, negatives, generators)
    refuse_unused("for a pilot", "there is none", **columns)
    if auc is None:
        raise InvalidArgument(
            "neither a pilot nor auc is given.",
            hint="give a table of predictions, or the AUC to expect, auc=0.8.",
        )
    areas = one_or_several(auc)
    for area in areas:
        check_share("auc", area)
    models = len(areas) if models is None else models
    check_whole("models", models, 1, len(ascii_uppercase))
    if len(areas) not in (1, models):
        raise InvalidArgument(
            f"auc has {len(areas)} values, and models is {models}.", hint="give one per model."
        )
    truth, cluster = np.repeat([True, False], [positives, negatives]), None
    if clusters is not None:
        refuse_unused("instead of clusters", "these are given", rows_per_cluster=rows_per_cluster)
        check_whole("clusters", clusters, 1, truth.size)
        cluster = np.arange(truth.size) % clusters
    elif rows_per_cluster is not None:
        check_whole("rows_per_cluster", rows_per_cluster, 1)
        first, rest = (np.arange(count) // rows_per_cluster for count in (positives, negatives))
        cluster = np.append(first, first[-1] + 1 + rest)
    else:
        refuse_unused("for clusters", "there are none", cluster_correlation=cluster_correlation)
    correlation = 0.5 if correlation is None else correlation
    intraclass = 0.3 if cluster_correlation is None else cluster_correlation
    check_share("correlation", correlation, closed=True)
    check_share("cluster_correlation", intraclass, closed=True)
    from scipy.special import ndtri

    root = _root((1 - correlation) * np.eye(models) + correlation)
    mean = np.outer(truth, np.broadcast_to(sqrt(2) * ndtri(areas), models))
    drawn = [
        (truth, mean + _noise(truth, cluster, (root, root), intraclass, generator), cluster)
        for generator in generators
    ]
    return _tidy(drawn, pl.Series([*ascii_uppercase[:models]]))


def _root(covariance: Array) -> Array:
    """The symmetric square root, which gives independent normal variables this covariance."""
    variance, axes = np.linalg.eigh(np.atleast_2d(covariance))
    return (axes * np.sqrt(variance.clip(0))) @ axes.T


def _noise(
    truth: Array, cluster: Array | None, roots: Sequence[Array], intraclass: float, generator: Any
) -> Array:
    """Normal variables by case and model, by the roots of covariance of positives and negatives."""
    noise: Array = generator.standard_normal((truth.size, len(roots[0])))
    if cluster is not None:
        shared = generator.standard_normal((int(cluster.max()) + 1, len(roots[0])))
        noise = sqrt(1 - intraclass) * noise + sqrt(intraclass) * shared[cluster]
    return np.where(truth[:, None], noise @ roots[0], noise @ roots[1])


def _from_pilot(
    pilot: Cases[pl.DataFrame], positives: int, negatives: int, generators: Sequence[Any]
) -> pl.DataFrame:
    """Tables of cases, or clusters, of a pilot, drawn with replacement, with noise."""
    models, truth, scores, unit = _read(pilot)
    centre, roots, intraclass = _smoothed(truth, scores, unit)
    strata = _strata(truth, unit, positives, negatives)
    size, order = np.bincount(unit), np.argsort(unit, kind="stable")
    start = size.cumsum() - size
    is_rating = [
        np.unique(column).size <= min(RATINGS, column.size / PER_RATING) for column in scores.T
    ]
    ordered = np.sort(scores, axis=0)
    drawn = []
    for generator in generators:
        units = np.concatenate([generator.choice(stratum, number) for stratum, number in strata])
        cluster = np.repeat(np.arange(units.size), size[units])
        within = np.arange(cluster.size) - np.searchsorted(cluster, cluster)
        rows = order[start[units][cluster] + within]
        shared = cluster if pilot.cluster is not None else None
        normal = centre[rows] + _noise(truth[rows], shared, roots, intraclass, generator)
        drawn_scores = [
            scores[rows, model] if ratings else _scaled(normal[:, model], ordered[:, model])
            for model, ratings in enumerate(is_rating)
        ]
        drawn.append((truth[rows], np.column_stack(drawn_scores), shared))
    return _tidy(drawn, models)


def _read(pilot: Cases[pl.DataFrame]) -> tuple[pl.Series, Array, Array, Array]:
    """Models, labels, scores (a column per model) and number of the cluster, or case."""
    rows = pilot.valid_rows
    if pilot.fold and rows["fold"].n_unique() > 1:
        raise InvalidArgument(
            "the pilot has several folds, allowed is one test set.",
            hint="keep the rows of one fold, or say fold=None where one model scored all of them.",
        )
    if pilot.cluster is not None:
        check_clusters(rows["cluster"].null_count())
    if pilot.model is None:
        rows = rows.with_columns(model=pl.lit("A"))
    # In an order that does not depend on that of the rows.
    ids = [name for name in ("case", "cluster") if name in rows]
    rows = rows.sort("model", *ids, nulls_last=True, maintain_order=True)
    if pilot.case is None:
        rows = rows.with_row_index("case")
    models = rows["model"].unique(maintain_order=True)
    cases = rows.group_by({*ids, "case", "truth"}, maintain_order=True).agg("model", "score")
    is_twice = cases["case"].is_duplicated().any()
    if is_twice or cases["model"].to_list() != [models.to_list()] * cases.height:
        raise InvalidPredictions(
            "the models of the pilot did not score the same cases, each once and with one truth.",
            hint="name the column of the cases, case='id'; keep those of all models.",
        )
    truth, unit = cases["truth"].to_numpy(), np.arange(cases.height)
    if pilot.cluster is not None:
        unit = cases["cluster"].rank("dense").to_numpy().astype(int) - 1
    counts = [np.unique(unit[in_class]).size for in_class in (truth, ~truth)]
    if min(counts) < FEWEST or rows["score"].is_infinite().any():
        units = "clusters" if pilot.cluster is not None else "cases"
        raise InvalidPredictions(
            f"the pilot has {counts[0]} {units} with positives and {counts[1]} with negatives, "
            f"needed are {FEWEST} of each, and finite scores.",
            hint="leave it out, and give auc=0.8.",
        )
    scores = cases["score"].list.to_array(len(models)).to_numpy()
    return models, truth, scores, unit


def _smoothed(truth: Array, scores: Array, unit: Array) -> tuple[Array, list[Array], float]:
    """Normal scores shrunk to the mean of the class, and what replaces the variance lost.

    That is noise with these roots of covariance, and this correlation within clusters.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    centre = ndtri((rankdata(scores, axis=0) - 0.5) / truth.size)
    deviations, roots = np.empty_like(centre), []
    for in_class in (truth, ~truth):
        # Bandwidth times n^(1/5), in standard deviations of the class (Silverman 1986).
        width, mean = 0.9 * np.unique(unit[in_class]).size ** -0.2, centre[in_class].mean(axis=0)
        deviations[in_class] = centre[in_class] - mean
        shrunk = 1 / sqrt(1 + width**2)
        roots.append(width * shrunk * _root(np.cov(deviations[in_class].T, bias=True)))
        centre[in_class] = mean + shrunk * deviations[in_class]
        deviations[in_class] /= deviations[in_class].std(axis=0).clip(1e-9)
    # The mean product of two cases of a cluster.
    sums = np.stack([np.bincount(unit, column) for column in deviations.T])
    pairs = float((np.bincount(unit) ** 2).sum() - truth.size) * scores.shape[1]
    intraclass = float((sums**2).sum() - (deviations**2).sum()) / max(pairs, 1)
    return centre, roots, min(max(intraclass, 0.0), 1.0)


def _strata(truth: Array, unit: Array, positives: int, negatives: int) -> list[tuple[Array, int]]:
    """Cases, or clusters, with positives and without any, and how many of both are drawn."""
    of_pos, of_neg = (np.bincount(unit, in_class) for in_class in (truth, ~truth))
    first, rest = np.flatnonzero(of_pos), np.flatnonzero(of_pos == 0)
    strata = [(first, max(round(positives / of_pos[first].mean()), 1))]
    drawn_negatives = strata[0][1] * of_neg[first].mean()
    if rest.size and (more := round((negatives - drawn_negatives) / of_neg[rest].mean())) > 0:
        strata.append((rest, more))
        drawn_negatives += more * of_neg[rest].mean()
    if abs(drawn_negatives - negatives) > max(0.1 * negatives, of_neg.max()):
        raise InvalidArgument(
            f"negatives is {negatives:,}, and whole clusters of the pilot with {positives:,} "
            f"positives have about {drawn_negatives:,.0f}.",
            hint=f"give negatives={round(drawn_negatives)}.",
        )
    return strata


def _scaled(normal: Array, scores: Array) -> Array:
    """Normal scores on the scale of a pilot's sorted scores, also beyond these."""
    from scipy.special import ndtr, ndtri

    size, end = scores.size, float(ndtri(1 - 0.5 / scores.size))
    scaled: Array = np.interp(size * ndtr(normal) - 0.5, np.arange(size), scores)
    beyond, is_above = (abs(normal) - end).clip(0), normal > 0
    if scores[0] >= 0 and scores[-1] <= 1:
        scaled = is_above + (scaled - is_above) * np.exp(-beyond)
    else:
        middle = scores[size // 2]
        scaled += beyond / end * np.where(is_above, scores[-1] - middle, scores[0] - middle)
    return scaled


def _tidy(drawn: Sequence[tuple[Array, Array, Array | None]], models: pl.Series) -> pl.DataFrame:
    """Tables below each other, from the labels, scores and clusters of their cases."""
    truth, scores, cluster = zip(*drawn, strict=True)
    sizes = [labels.size for labels in truth]
    cases = pl.DataFrame({
        "table": np.repeat(np.arange(len(drawn)), sizes),
        "case": np.concatenate([np.arange(size) for size in sizes]),
        **({} if cluster[0] is None else {"cluster": np.concatenate(cluster)}),
        "truth": np.concatenate(truth),
    })  # fmt: skip
    tables = [
        cases.select(
            "table", pl.lit(model, models.dtype).alias("model"), pl.exclude("table"),
            pl.Series("score", score),
        )
        for model, score in zip(models, np.concatenate(scores).T, strict=True)
    ]  # fmt: skip
    return pl.concat(tables).sort("table", maintain_order=True)
