"""The measures where the data is: in a database, a warehouse or a cluster, as ibis expressions.

Each function takes an `ibis.Table` and the arguments of the function of the same name in `polaroc`,
and gives an `ibis.Table` with the same columns and numbers, in no order. Only what is executed
leaves the engine. A query cannot raise: of invalid rows the result is null and `note` says why.
Functions of a curve table raise where it is not whole. The package needs the extra ``warehouse``,
for Spark Connect the extra ``spark`` too.
"""

from polaroc.warehouse.calibration import probabilities
from polaroc.warehouse.connections import collected
from polaroc.warehouse.curves import curve, hull
from polaroc.warehouse.evaluation import evaluate
from polaroc.warehouse.queries import sql, unseen

__all__ = [
    "collected",
    "curve",
    "evaluate",
    "hull",
    "probabilities",
    "sql",
    "unseen",
]


def __dir__() -> list[str]:
    return __all__
