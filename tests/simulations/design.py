"""Designs of simulations, and the results that are kept of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

RESULTS = Path(__file__).parent / "results"


class Design(NamedTuple):
    """A simulation: the cells of a grid, and the quantities of each."""

    cells: Sequence[Mapping[str, object]]
    # Called with the number of replicates, the seed and a cell; returns columns, or rows of them.
    run: Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]
    replicates: int
    seed: int = 0

    def rows(self, place: int, replicates: int | None = None) -> list[dict[str, str]]:
        """The results of one cell, as they are written."""
        cell = self.cells[place]
        found = self.run(replicates or self.replicates, self.seed, **cell)
        several = [found] if isinstance(found, Mapping) else found
        own = {name: str(value) for name, value in cell.items()}
        return [own | {name: text(value) for name, value in one.items()} for one in several]


def text(value: object) -> str:
    """A result as it is written: numbers have three decimals."""
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def standard_error(share: float, count: int) -> float:
    """That of a share of so many independent replicates."""
    return (share * (1 - share) / count) ** 0.5


def read(name: str) -> pl.DataFrame:
    """The results that are kept of a design, all as text."""
    return pl.read_csv(RESULTS / f"{name}.csv", infer_schema=False).fill_null("")


def write(name: str, found: pl.DataFrame, cell: Sequence[str]) -> None:
    """Keep results; cells that were not run stay as they are."""
    file = RESULTS / f"{name}.csv"
    if file.exists():
        old = read(name)
        places = old.select(cell).unique(maintain_order=True).with_row_index("place")
        kept = old.join(found, on=cell, how="anti", maintain_order="left")
        found = pl.concat([kept, found.select(old.columns)])
        order = found.join(places, on=cell, how="left", maintain_order="left")["place"]
        found = found[order.arg_sort(nulls_last=True).to_list()]
    found.write_csv(file)
