"""Sentences on what tests of models assume.

How often a test errs depends on the learner, the folds and the number of cases. Rates that were
simulated for one design say little of another: they stand in the documentation, not in results.
"""

from polaroc.inference.evidence import Contrasts, Evidence
from polaroc.models.design import FoldValues, Plan

ASSUMPTION = (
    "The test asks whether the algorithms would differ if trained again on other samples of this "
    "size. "
)
# In simulation with two models; up to 20 % with three (docs/concepts/tests.md).
UNSTABLE = (
    "Where test sets of folds share cases, the test finds a difference between two equal algorithms"
    " that are unstable, such as nearest neighbours, in up to 16 % of samples at a level of 95 %."
)
# From so many on, tests of IAUPREC on one test set held their level in simulation.
ENOUGH_POSITIVES = 200


def of_table(table: FoldValues, pairs: Contrasts, plan: Plan, evidence: Evidence) -> list[str]:
    """Warnings on the tests of a balanced table."""
    warnings = [ASSUMPTION + evidence.doubts[0], *evidence.doubts[1:]]
    if plan.test_train_ratio and not table.is_one_k_fold:
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
    """Notes on a comparison of fitted models: its subject, and the effect of few positives."""
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
