"""Curves at every prior of a grid, computed by the engine."""

from collections.abc import Mapping, Sequence
from typing import Any

from polaroc.base.docstrings import described_as
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.surface import Rate, rate_at, select_rates
from polaroc.curves.surface import surface as local_surface
from polaroc.priors.grids import prior, skew, some_priors
from polaroc.typing import IbisTable, Priors
from polaroc.warehouse.columns import IBIS, deferred, ibis_library, ieee_column, literal, to_ibis
from polaroc.warehouse.curves import TABLES, curve_keys
from polaroc.warehouse.many_priors import WHICH
from polaroc.warehouse.measures import literal_rows, pick_row_value
from polaroc.warehouse.whole import whole_curves

FIRST = PRIVATE + "first_tpr", PRIVATE + "first_fpr"


@described_as(TABLES, local_surface)
def surface(
    curve: IbisTable,
    priors: Priors,
    rates: Sequence[str] | Mapping[str, Rate] = ("precision",),
) -> IbisTable:
    """Every point of the curve at every prior, with the rates it has there, as `polaroc.surface`.

    A rate of your own gets quantities that have arithmetic, comparisons and powers.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.warehouse.curve(ibis.memtable(cases), truth="truth", score="p")
    >>> found = pr.warehouse.surface(points, 0.2).order_by("fp", "tp")
    >>> found.select("tpr", "precision").to_polars().rows()
    [(0.0, 1.0), (0.5, 1.0), (0.5, 0.2), (1.0, 0.33...), (1.0, 0.2)]
    """
    keys = curve_keys(curve)
    chosen = select_rates(rates, keys)
    resolved = some_priors(priors)
    t, f, origin = deferred("tpr"), deferred("fpr"), deferred("threshold").isnull()
    whole = ibis_library().window(group_by=keys)
    is_first = (deferred("tp") == deferred("pos")) & (deferred("fp") == deferred("neg")) & ~origin
    ends = {
        name: is_first.ifelse(rate, literal(None)).max().over(whole)
        for name, rate in zip(FIRST, (t, f), strict=True)
    }
    # Some engines divide whole numbers into whole numbers.
    own = deferred("negatives").cast("float64") / deferred("positives").cast("float64")
    both = (deferred("positives") > 0) & (deferred("negatives") > 0)
    skews = [own if one is None else literal(skew(one)) for one in resolved]
    given = [prior(own) if one is None else literal(one) for one in resolved]
    defined = [both if one is None else None for one in resolved]
    rows = whole_curves(curve, keys).mutate(**ends).cross_join(literal_rows(WHICH, len(resolved)))
    at = rows.select(
        *curve.columns,
        *FIRST,
        prior=pick_row_value(_where_defined(given, defined)),
        skew=pick_row_value(_where_defined(skews, defined)),
    )
    point, first = (
        (ieee_column("tpr"), ieee_column("fpr")),
        (ieee_column(FIRST[0]), ieee_column(FIRST[1])),
    )
    at_origin = type(point[0])(origin)
    values = {
        name: to_ibis(rate_at(name, rate, point, first, ieee_column("skew"), at_origin, IBIS))
        for name, rate in chosen.items()
    }
    return at.select(*curve.columns, "prior", "skew", **values)


def _where_defined(values: Sequence[Any], defined: Sequence[Any]) -> list[Any]:
    return [
        value if condition is None else condition.ifelse(value, literal(None))
        for value, condition in zip(values, defined, strict=True)
    ]
