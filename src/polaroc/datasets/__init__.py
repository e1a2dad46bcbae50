"""Embedded tables of real data."""

from functools import cache
from importlib.resources import as_file, files

import polars as pl


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
    Made from `satellite` by ``python -m polaroc.experiments.satellite``.

    Examples
    --------
    >>> satellite_predictions().columns
    ['model', 'fold', 'case', 'truth', 'score']
    """
    return _table("satellite_predictions").clone()


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
