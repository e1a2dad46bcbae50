"""Where a report departs from the plan of the study, as a section of the page."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import polars as pl

from polaroc.evaluation.evaluate import evaluate
from polaroc.planning.saved_plan import departures, hash_of, read_plan
from polaroc.planning.study_plan import StudyPlan
from polaroc.priors.beliefs import points, resolve_belief
from polaroc.reports.figures import Section
from polaroc.reports.findings import Findings

# Letters of a hash that tell one plan from another.
LETTERS = 12


def facts_of(plan: "StudyPlan | str | PathLike[str] | None") -> Mapping[str, Any] | None:
    """The facts of a plan, or of the file where it was saved."""
    if plan is None:
        return None
    return plan.facts if isinstance(plan, StudyPlan) else read_plan(plan)


def of_plan(facts: Mapping[str, Any] | None, findings: Findings) -> Section | None:
    """The section on a plan; None where there is none."""
    if facts is None:
        return None
    planned = dict(facts)
    if (prior := planned.pop("prior", None)) is not None:
        planned["over"] = [f"{prior:g}", points([prior]).name]
    found = departures(planned, _said(planned, findings))
    present = {str(model) for model in findings.models}
    found += [
        f"The {role} {planned[role]} was planned, and is not on this page."
        for role in ("champion", "challenger")
        if planned.get(role) is not None and str(planned[role]) not in present
    ]
    keeps = "departs from" if found else "keeps to"
    return Section(
        f"This page {keeps} the plan {hash_of(facts)[:LETTERS]}, written before the data.", found
    )


def _said(planned: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """What the page says of what may be planned."""
    question, choice = findings.question, findings.choice
    said: dict[str, Any] = {
        "level": question.level, "fold_count": findings.folds,
        "measure": "auprec" if choice is None else choice.measure,
    }  # fmt: skip
    if question.over is not None:
        said["over"] = resolve_belief(question.over).name
    # A page has no gate, and need have no promise.
    if planned.get("margin") is not None:
        said["margin"] = "none"
    promise = None if findings.thresholds is None else findings.thresholds.promise
    if planned.get("promise") is not None:
        said["promise"] = promise or "none"
    if findings.folds == 1:
        of_part = {"test": findings.measures}
        if question.tuning is not None:
            of_part["tuning"] = evaluate(question.tuning, measures="auc")
        # A promise rests on the cases that the threshold was set on, limits on the test.
        parts = ["tuning"] * ("promise" in planned) + ["test"] * ("level" in planned)
        counted = [of_part.get(part, findings.measures) for part in parts]
        for name in ("positives", "negatives"):
            said[name] = sum(one.select(pl.col(name).min()).item() for one in counted)
    return said
