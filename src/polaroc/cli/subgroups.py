"""`polaroc subgroups`: what models do in each subgroup, and how far subgroups are apart."""

from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, called
from polaroc.cli.screen import show_result
from polaroc.comparison.subgroups import subgroups as function

SHOWN = ("answer", "parts", "gaps", "largest", "level")


# Points are what --threshold names.
@command(function, left_out=["points"])
def subgroups(
    call: Call,
    threshold: Threshold = None,
    as_json: AsJson = False,
) -> None:
    """Show each subgroup, and which gaps are more than chance.

    Example: polaroc subgroups test.parquet --truth label --score p --subgroup site
    --cluster patient --threshold 0.31 --prior 0.05
    """
    result = called(call, "dividing", threshold)
    show_result(result, SHOWN, result.warnings, as_json)
