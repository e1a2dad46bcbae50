"""Synthetic tables of predictions: the sources' classes with classifiers, and days that drift."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import SVC

from papers.classifiers import GaussianMixtures
from polaroc.sklearn import cross_val_predictions

# Highleyman's classes: means and standard deviations of two independent features.
HIGHLEYMAN = {"first": ((1.0, 1.0), (1.0, 0.5)), "second": ((2.0, 0.0), (0.1, 2.0))}


def highleyman(n: int, seed: int) -> pl.DataFrame:
    """Highleyman's two Gaussian classes, the example of P-ROC Fig. 1.

    Parameters
    ----------
    n
        Cases of each class, ≥ 1.
    seed
        Seed ≥ 0.

    Returns
    -------
    DataFrame
        `x1`, `x2` Float64; `class` String: "first", N([1, 1], diag(1, 0.25)), or
        "second", N([2, 0], diag(0.01, 4)).

    Examples
    --------
    >>> highleyman(100, seed=0)["class"].value_counts().sort("class").rows()
    [('first', 100), ('second', 100)]
    """
    rng = np.random.default_rng(seed)
    return _classes({name: rng.normal(*shape, (n, 2)) for name, shape in HIGHLEYMAN.items()})


def case_study(n: int, seed: int) -> pl.DataFrame:
    """Two classes after the case study of AccSens §4.1, as we read it.

    The first is N([3, 2], I), but for every 32nd case, on average, which is
    N([−2, 5], I). The second is one class of the banana set: an arc of radius 5
    around the origin, from π/8 to 11π/8 clockwise from the second axis, with
    N(0, I) added.

    Parameters
    ----------
    n
        Cases of each class, ≥ 1.
    seed
        Seed ≥ 0.

    Returns
    -------
    DataFrame
        `x1`, `x2` Float64; `class` String, "first" or "second".

    Notes
    -----
    The source's formula does not say how the two parts of the first class are
    weighed, nor which class of the banana set is meant.

    Examples
    --------
    >>> case_study(100, seed=0).shape
    (200, 3)
    """
    rng = np.random.default_rng(seed)
    centres = np.where(rng.random(n)[:, None] < 1 / 32, [-2.0, 5.0], [3.0, 2.0])
    angles = np.pi * rng.uniform(1 / 8, 11 / 8, n)
    arc = 5 * np.column_stack([np.sin(angles), np.cos(angles)])
    noise = rng.normal(size=(2, n, 2))
    return _classes({"first": centres + noise[0], "second": arc + noise[1]})


def highleyman_predictions(n: int = 50_000, seed: int = 1961) -> pl.DataFrame:
    """A linear discriminant trained on Highleyman's classes, scored on as many new cases.

    Parameters
    ----------
    n, seed
        As in `highleyman`.

    Returns
    -------
    DataFrame
        `model`, `truth` (of the first class), `score` (log-odds at equal priors).

    Examples
    --------
    >>> highleyman_predictions(100).columns
    ['model', 'truth', 'score']
    """
    models = {"linear discriminant": LinearDiscriminantAnalysis()}
    return _trained(models, highleyman(n, seed), highleyman(n, seed + 1))


def case_study_predictions(n: int = 750, seed: int = 2006) -> pl.DataFrame:
    """Models A and B of AccSens §4.1, trained and tested on cases of `case_study`.

    Parameters
    ----------
    n, seed
        As in `case_study`; the source has 1500 cases for each of the two.

    Returns
    -------
    DataFrame
        `model` ("A", a mixture of two Gaussians against one; "B", a support
        vector machine with a kernel of second order), `truth` (of the first
        class), `score`.

    Examples
    --------
    >>> case_study_predictions(100)["model"].unique().sort().to_list()
    ['A', 'B']
    """
    models = {
        "A": GaussianMixtures((1, 2), random_state=seed),
        "B": SVC(kernel="poly", degree=2, gamma=1, coef0=1),
    }
    return _trained(models, case_study(n, seed), case_study(n, seed + 1))


def drifting_predictions(seed: int = 1) -> pl.DataFrame:
    """Thirty days of a thousand cases, from day 15 to 20 of which the prior goes from 0.1 to 0.4.

    Parameters
    ----------
    seed
        Seed ≥ 0.

    Returns
    -------
    DataFrame
        `day` Int64 from 0; `truth` Boolean; `score` Float64, normal with a standard deviation
        of 1, around 2 for positives and 0 for negatives on every day.

    Examples
    --------
    >>> drifting_predictions().group_by("day").len()["len"].unique().to_list()
    [1000]
    """
    rng = np.random.default_rng(seed)
    days = np.repeat(np.arange(30), 1_000)
    truth = rng.random(days.size) < np.interp(days, [15, 20], [0.1, 0.4])
    score = rng.normal(size=days.size) + 2 * truth
    return pl.DataFrame({"day": days, "truth": truth, "score": score})


def _trained(models: Mapping[str, Any], train: pl.DataFrame, test: pl.DataFrame) -> pl.DataFrame:
    cases = pl.concat([train, test])
    every = range(cases.height)
    return cross_val_predictions(
        models,
        cases.drop("class").to_numpy(),
        (cases["class"] == "first").to_numpy(),
        cv=[(every[: train.height], every[train.height :])],
        response_method=("decision_function", "predict_proba"),
    ).select("model", "truth", "score")


def _classes(features: Mapping[str, np.ndarray]) -> pl.DataFrame:
    parts = [
        pl.DataFrame(values, schema=["x1", "x2"]).with_columns(pl.lit(name).alias("class"))
        for name, values in features.items()
    ]
    return pl.concat(parts)
