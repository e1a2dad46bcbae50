"""`polaroc subgroups`: what models do in each subgroup, and how far subgroups are apart."""

from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, points_named
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.comparison.subgroup_result import subgroup_parts
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
    points = {} if threshold is None else {"points": points_named(call, threshold)}
    cases = call.in_memory
    with progress() as say:
        say("dividing")
        result = call(cases, **points)
    if as_json:
        print_json({name: getattr(result, name) for name in SHOWN}, result.warnings)
        return
    show_results(subgroup_parts(result))
