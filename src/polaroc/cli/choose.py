"""`polaroc choose`: which model to take over a range of priors."""

from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.comparison.choice import choice_parts
from polaroc.comparison.choose import choose as function
from polaroc.thresholds.named_rates import EXPECTED_COST

SHOWN = ("answer", "bayes", "minimax", "steadiest", "measure", "models", "priors")
TOGETHER = ("threshold", "promise")


@command(function)
def choose(call: Call, as_json: AsJson = False) -> None:
    """Choose a model for a range of priors, and say how sure.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25

    Model and threshold together: polaroc choose test.parquet --tuning tuning.parquet
    --truth label --score p --case id --over 0.05 0.20 --cost-fn 5
    """
    cases = call.in_memory
    with progress() as say:
        say("choosing")
        result = call(cases)
    if as_json:
        names = (*SHOWN, *TOGETHER) if result.measure == EXPECTED_COST else SHOWN
        print_json({name: getattr(result, name) for name in names}, result.warnings)
        return
    show_results(choice_parts(result))
