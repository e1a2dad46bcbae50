"""`polaroc savings`: what thresholds cost and save, where each case may have its own cost."""

from polaroc.base.names import noted_by_kind
from polaroc.base.rounding import limit, number
from polaroc.base.text_tables import table as text_table
from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import NeededThreshold, points_named
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.uncertainty.savings import savings as function

SHOWN = ("prior", "threshold", "estimate", "lower", "upper")


# Points are what --threshold names; the digest of its file tells the table that it was chosen on.
@command(function, left_out=["points", "same_table"])
def savings(
    call: Call,
    threshold: NeededThreshold,
    as_json: AsJson = False,
) -> None:
    """Show what thresholds cost, and what acting on them saves.

    Example: polaroc savings test.parquet --truth label --score p --threshold threshold.json
    --cost-fn amount --cost-fp 5 --prior 0.01
    """
    points = points_named(call, threshold)
    with progress() as say:
        say("judging")
        found = call(call.in_memory, points=points, same_table=True)
    keys = found.columns[: found.columns.index("measure")]
    notes = [
        f"Note: {line}"
        for line in noted_by_kind(
            (", ".join(map(str, key)), note)
            for *key, note in found.drop_nulls("note").select(*keys, "measure", "note").rows()
        )
    ]
    if as_json:
        print_json(found, notes)
        return
    rows = [
        [*row[: len(keys)], row[len(keys)], *map(number, row[len(keys) + 1 : -2]),
         *map(limit, row[-2:])]
        for row in found.select(*keys, "measure", *SHOWN).rows()
    ]  # fmt: skip
    titles = [*keys, "measure", *SHOWN]
    show_results([text_table("Per case", titles, rows, len(keys) + 1), *notes])
