"""Embedded tables of real data."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

import polars as pl

__all__ = [
    "ionosphere",
    "ionosphere_predictions",
    "satellite",
    "satellite_predictions",
    "sonar",
    "sonar_predictions",
    "twenty_scores",
]


def satellite() -> pl.DataFrame:
    """Satellite image pixels with their land cover, the data of P-ROC §6.

    Returns
    -------
    DataFrame
        6435 rows: `x1` … `x36` UInt8, four spectral bands of a 3 × 3
        neighbourhood; `class` String, six kinds of land cover. P-ROC's
        positives are "cotton crop" and "damp grey soil" (1329).

    Notes
    -----
    Statlog (Landsat Satellite), A. Srinivasan, UCI Machine Learning Repository,
    doi:10.24432/C55887, licence CC BY 4.0.

    Examples
    --------
    >>> satellite().shape
    (6435, 37)
    """
    return _table("satellite").clone()


def satellite_predictions() -> pl.DataFrame:
    """Scores of the three models of P-ROC §6 on 20 stratified 80/20 hold-outs.

    Returns
    -------
    DataFrame
        77,220 rows: `model` String ("A", "B", "C"), `fold` Int64 (1 to 20),
        `case` Int64 (row of `satellite`, from 0), `truth` Boolean, `score`
        Float64 (log-odds for A, a share from 0 to 1 for B and C).

    Notes
    -----
    Made from `satellite` by ``just papers satellite`` in the repository.

    Examples
    --------
    >>> satellite_predictions().columns
    ['model', 'fold', 'case', 'truth', 'score']
    """
    return _table("satellite_predictions").clone()


def sonar() -> pl.DataFrame:
    """Sonar returns from a metal cylinder or from rocks, a data set of AccSens §6.

    Returns
    -------
    DataFrame
        208 rows: `x1` … `x60` Float64 from 0 to 1, the energy in 60 frequency
        bands; `class` String, "mine" (111) or "rock" (97).

    Notes
    -----
    Connectionist Bench (Sonar, Mines vs. Rocks), T. Sejnowski and R. Gorman, UCI
    Machine Learning Repository, doi:10.24432/C5T01Q, licence CC BY 4.0.

    Examples
    --------
    >>> sonar().shape
    (208, 61)
    """
    return _table("sonar").clone()


def ionosphere() -> pl.DataFrame:
    """Radar returns with or without a trace of the ionosphere, a data set of AccSens §6.

    Returns
    -------
    DataFrame
        351 rows: `x1` … `x34` Float64 from -1 to 1, 17 complex pulses (`x2` is 0
        throughout); `class` String, "good" (225) or "bad" (126).

    Notes
    -----
    Ionosphere, V. Sigillito, S. Wing, L. Hutton and K. Baker, UCI Machine
    Learning Repository, doi:10.24432/C5W01B, licence CC BY 4.0.

    Examples
    --------
    >>> ionosphere().shape
    (351, 35)
    """
    return _table("ionosphere").clone()


def sonar_predictions() -> pl.DataFrame:
    """Scores of the four models that AccSens Table 2 has for Sonar, on 30 stratified hold-outs.

    Returns
    -------
    DataFrame
        5,040 rows: `model` String (named as in the source), `fold` Int64 (1 to
        30), `case` Int64 (row of `sonar`, from 0), `truth` Boolean ("mine"),
        `score` Float64.

    Notes
    -----
    Made from `sonar` by ``just papers sonar`` in the repository.

    Examples
    --------
    >>> sonar_predictions()["model"].unique().sort().to_list()
    ['pca6 parzenc', 'sc knnc1', 'sc knnc3', 'sc svc p4']
    """
    return _table("sonar_predictions").clone()


def ionosphere_predictions() -> pl.DataFrame:
    """Scores of AccSens Table 2's four models for Ionosphere, on 30 stratified hold-outs.

    Returns
    -------
    DataFrame
        8,520 rows: `model` String (named as in the source), `fold` Int64 (1 to
        30), `case` Int64 (row of `ionosphere`, from 0), `truth` Boolean
        ("good"), `score` Float64.

    Notes
    -----
    Made from `ionosphere` by ``just papers ionosphere`` in the repository.

    Examples
    --------
    >>> ionosphere_predictions()["model"].unique().sort().to_list()
    ['fisherm mogc 3 3', 'fisherm qdc', 'pca0.999 ldc', 'sc svc r 1.0']
    """
    return _table("ionosphere_predictions").clone()


def twenty_scores() -> pl.DataFrame:
    """Twenty scored cases from Fawcett's introduction to ROC analysis (2006).

    Returns
    -------
    DataFrame
        20 rows: `truth` Boolean, `score` Float64 (0.1 to 0.9).

    Examples
    --------
    >>> twenty_scores()["truth"].sum()
    10
    """
    return _table("twenty_scores").clone()


@cache
def _table(name: str) -> pl.DataFrame:
    with as_file(files(__name__) / f"{name}.parquet") as path:
        return pl.read_parquet(path)
