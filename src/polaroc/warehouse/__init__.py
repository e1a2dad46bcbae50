"""The measures where the data is: in a database, a warehouse or a cluster, through ibis.

Each function takes an `ibis.Table` and the arguments of the function of the same name in `polaroc`.
The engine counts and sums; only sums per key, or counts per score, are fetched and finished on this
machine. The package needs the extra ``warehouse``, for Spark Connect the extra ``spark`` too.
"""

from polaroc.warehouse.curves import curve, hull, probabilities
from polaroc.warehouse.evaluation import evaluate, sql
from polaroc.warehouse.tables import collected

__all__ = ["collected", "curve", "evaluate", "hull", "probabilities", "sql"]


def __dir__() -> list[str]:
    return __all__
