"""Writing the tables of predictions that `polaroc.datasets` holds."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl


def write(tables: Mapping[str, Callable[[], pl.DataFrame]]) -> None:
    """Write each table as compact Parquet into the folder named on the command line.

    Without one it goes to the folder of `polaroc.datasets` itself.
    """
    named = sys.argv[1:2]
    folder = Path(named[0]) if named else Path(__file__).parents[1] / "datasets"
    for name, made in tables.items():
        file = folder / f"{name}.parquet"
        made().write_parquet(file, compression="zstd", compression_level=22, statistics=False)
        print(file)
