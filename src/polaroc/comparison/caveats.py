"""What tests of models assume, in sentences.

How often a test errs depends on the learner, the folds and the number of cases. Rates that were
simulated for one design say little of another: they stand in the documentation, not in results.
"""

from polaroc.comparison.design import FoldValues, Plan
from polaroc.uncertainty.evidence import Contrasts, Evidence

ASSUMPTION = (
    "The test asks whether the algorithms would differ if trained again on other samples of this "
    "size. "
)
# Up to .16 at .05 with two models in simulation, and .19 with three (docs/concepts/tests.md).
UNSTABLE = (
    "Where test sets of folds share cases, the test finds differences between equal algorithms too "
    "often if these are unstable, such as nearest neighbours: in simulation three to four times as "
    "often as its level says."
)
# From so many on, tests of IAUPREC on one test set held their level in simulation.
ENOUGH_POSITIVES = 200
# Half-split tests of more models were not tried.
MAX_MODELS = 10


def of_table(table: FoldValues, pairs: Contrasts, plan: Plan, evidence: Evidence) -> list[str]:
    """Warnings on the tests of a balanced table."""
    layout, models = table.layout, len(table.models)
    warnings = [ASSUMPTION + evidence.doubts[0], *evidence.doubts[1:]]
    if plan.halves and layout.kind is None:
        warnings.append(
            "Nothing says whether the folds test every case equally often, so they count as "
            "hold-outs, whose means vary more. Name their repeats in a key 'repeat', as "
            "cross_val_predictions does: the test may then find more."
        )
    if plan.halves and models > MAX_MODELS:
        warnings.append(
            f"The test was tried with up to {MAX_MODELS} models, not with {models}: leave out "
            "those that do not matter."
        )
    is_one_k_fold = layout.kind == "k-fold" and layout.per_repeat == layout.folds
    if plan.test_train_ratio and not plan.halves and not is_one_k_fold:
        warnings.append(UNSTABLE)
    if pairs.constant.any():
        constant = (table.models[places[pairs.constant]] for places in (pairs.first, pairs.second))
        named = [f"{a!r} and {b!r}" for a, b in zip(*constant, strict=True)]
        warnings.append(
            f"{'; '.join(named[:5])} differ by the same amount in every fold: there is no "
            "variation to judge by, and p = 0 is the formula's limit, not a probability."
        )
    return warnings


def of_fitted(evidence: Evidence, measure: str, positives: int) -> list[str]:
    """What a comparison of fitted models is about, and what few positives do to it."""
    about = (
        f"The test is about {evidence.about}. It says nothing about models that are trained again."
    )
    if measure not in ("auprec", "iauprec") or positives >= ENOUGH_POSITIVES:
        return [about]
    return [
        about,
        f"With {positives} positives the test of AUPREC finds differences between equal models "
        "somewhat too often; gate takes wider limits.",
    ]
