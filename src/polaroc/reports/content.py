"""What a report says without its pictures: as values for a program, and as a model card."""

import json
from typing import Any

from polaroc.reports.findings import Findings
from polaroc.reports.page import GENERATOR, contents, made_on, template
from polaroc.reports.plan_section import PlanSection
from polaroc.reports.study_table import PublishedSection
from polaroc.reports.subgroups import SubgroupSection
from polaroc.reports.tables import ReportTable


def content(
    findings: Findings,
    title: str,
    subgroups: SubgroupSection | None = None,
    published: PublishedSection | None = None,
    plan: PlanSection | None = None,
) -> dict[str, Any]:
    """All sentences, counts and tables of the page, by name; tables by heading."""
    said = contents(findings)
    decision, tested = said["decision"], findings.comparison is not None
    shown = [
        said["rankings"][-1],
        *(said[name] for name in ("thresholds", "omnibus", "pairs", "audit")),
        subgroups and subgroups.table, published and published.table,
    ]  # fmt: skip
    return {
        "generator": f"{GENERATOR} {dict(said['versions'])['polaroc']}",
        "made": made_on(),
        "title": title,
        "counts": said["counts"],
        "models": [str(model) for model in findings.models],
        "answer": decision.answer,
        "how_sure": decision.how_sure,
        "what_would_change_it": decision.changes,
        "goal": said["need"],
        "cases": [
            {"prior": one.prior, "cases": one.cases, "found": one.found, "missed": one.missed,
             "false_alarms": one.alarms, "other_negatives": one.alone}
            for one in said["cases"]
        ],
        "do_the_models_differ":
            f"{said['verdict']} {said['separation']}" if tested else findings.untested,
        "assumptions": findings.assumptions,
        "subgroups": None if subgroups is None else [subgroups.answer, *subgroups.remarks],
        "plan": None if plan is None else [plan.answer, *plan.departures],
        "notes_to_publish": None if published is None else published.notes,
        "columns": findings.question.found or None,
        "tables": {
            one.name: {"caption": one.caption, "columns": {k: [*v] for k, v in one.columns.items()}}
            for one in shown if isinstance(one, ReportTable)
        },
        "sources": [{"what": one.what, "cited": one.cited} for one in said["sources"]],
        "versions": dict(said["versions"]),
    }  # fmt: skip


def as_json(said: dict[str, Any]) -> str:
    """The content as a JSON object."""
    return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def model_card(said: dict[str, Any]) -> str:
    """The content as a model card in Markdown; what only the author knows is left to fill in."""
    card: str = template("card.md.j2").render(**said)
    return card
