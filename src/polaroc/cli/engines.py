"""`polaroc evaluate` where the predictions are: in a database, a warehouse or a cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc import warehouse
from polaroc.cli.inputs import labels
from polaroc.cli.keys import Keys, default_keys, named_keys
from polaroc.cli.outputs import Output, write_measures
from polaroc.cli.screen import progress
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError
from polaroc.measures.catalog import CATALOG
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.predictions.usual_keys import keys_by_type
from polaroc.typing import Prior
from polaroc.warehouse.connections import collected, is_address, table_at, without_password

if TYPE_CHECKING:
    from ibis.expr.types import Table

MOST_KEYS = 3


def evaluate_at(
    address: str,
    name: str | None,
    arguments: dict[str, Any],
    by: list[str] | None,
    no_by: bool,
    positive: list[str] | None,
    output: Output | None,
) -> tuple[pl.DataFrame, Keys]:
    """The measures of a table that is not here, written where a folder is given, and their keys."""
    if name is None:
        raise InvalidArgument(
            f"{without_password(address)} has many tables, and none is named.",
            hint="name it with --table.",
        )
    if output is not None:
        output.check()
    with progress() as say:
        say("connecting")
        with table_at(address, name) as table:
            say("measuring there")
            if by or no_by:
                keys = named_keys(by, no_by)
            else:
                taken = [arguments[role] for role in ("truth", "score", "weight")]
                schema = table.schema().to_polars()
                keys = default_keys(keys_by_type(schema, [one for one in taken if one]))
            measures = _measures(table, arguments | {"by": keys.all}, positive)
    measures = _ordered(measures, keys.all, arguments["priors"])
    _refuse_unranked(measures, keys.all)
    if output is not None:
        with output.staging() as staging:
            write_measures(measures, staging)
    return measures, keys


def _measures(
    table: "Table", arguments: dict[str, Any], positive: list[str] | None
) -> pl.DataFrame:
    truth = arguments["truth"]
    try:
        known = [truth] if truth in table.columns else []
        frame = pl.LazyFrame(schema=table.select(known).schema().to_polars() if known else {})
        query = warehouse.evaluate(table, **arguments, positive=labels(frame, truth, positive))
        return collected(query)
    except PolarocError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidPredictions(
            f"the engine refused the query: {first}.",
            hint="check the types of the columns and the rights on the table.",
        ) from None


def one_address(files: Sequence[str]) -> str | None:
    """The address among what is given as files, if there is one; it must then be alone."""
    addresses = [word for word in files if is_address(word)]
    if addresses and len(files) > 1:
        raise InvalidArgument(
            f"{len(files)} sources are given, allowed are files or one address.",
            hint="evaluate one table at a time.",
        )
    return addresses[0] if addresses else None


def _ordered(measures: pl.DataFrame, keys: Sequence[str], priors: Sequence[Prior]) -> pl.DataFrame:
    """Rows by key, in the order of the measures and of the priors asked for."""
    place = {prior: i for i, prior in enumerate(priors)}
    own = place.get("observed", len(place))
    known = [prior for prior in place if prior != "observed"]
    numbers = [place[prior] for prior in known]
    measure = pl.col("measure").replace_strict(list(CATALOG), range(len(CATALOG)))
    at = pl.col("prior").replace_strict(known, numbers, default=own, return_dtype=pl.Int64)
    return measures.sort(*keys, measure, at, nulls_last=True, maintain_order=True)


def _refuse_unranked(measures: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse tables without rows, and with rows that cannot be ranked."""
    if measures.is_empty():
        raise InvalidPredictions("the table holds no rows.", hint="check the table.")
    unranked = (
        measures.filter(pl.col("positives").is_null())
        .select(*keys, "note")
        .unique(maintain_order=True)
    )
    if unranked.is_empty():
        return
    first = [
        ", ".join(f"{name}={value!r}" for name, value in row.items() if name != "note")
        for row in unranked.head(MOST_KEYS).iter_rows(named=True)
    ]
    where = f" in {unranked.height} key(s): {'; '.join(first)}" if keys else ""
    raise InvalidPredictions(
        f"{unranked['note'][0]}{where}.",
        hint=DROP_ROWS,
    )
