"""Tables that stay in the engine that holds them, and what computes there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import polars as pl

from polaroc.errors import InvalidTable, quoted

# The module with the `ENGINE` for tables of a library. It stands on a higher floor, and is imported
# when such a table is met.
MODULES = {"ibis": "polaroc.warehouse.engine"}


@dataclass(frozen=True)
class Engine:
    """The functions that compute on tables of a library."""

    title: str
    describe: Callable[..., Any]  # the cases of a table and the roles that are said
    collected: Callable[[Any], pl.DataFrame]
    # By the names of the functions that they are the counterparts of.
    functions: Mapping[str, Callable[..., Any]]

    def counterpart(self, function: str) -> Callable[..., Any]:
        """The function that runs there; raise where there is none."""
        if function not in self.functions:
            raise InvalidTable(
                f"{function} does not run on {self.title}; {quoted([*self.functions])} do.",
                hint="fetch the rows: give table.to_polars(), or pr.cases(table, ...).collect().",
            )
        return self.functions[function]


def engine_of(table: object) -> Engine | None:
    """The engine that computes on a table where it is; None if it is or becomes a Polars frame."""
    packages = (kind.__module__.partition(".")[0] for kind in type(table).__mro__)
    module = next((MODULES[package] for package in packages if package in MODULES), None)
    if module is None:
        return None
    engine: Engine = import_module(module).ENGINE
    return engine
