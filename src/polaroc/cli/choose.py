"""`polaroc choose`: which model to take over a range of priors."""

from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import called
from polaroc.cli.screen import show_result
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
    result = called(call, "choosing")
    names = (*SHOWN, *TOGETHER) if result.measure == EXPECTED_COST else SHOWN
    show_result(result, names, result.warnings, as_json)
