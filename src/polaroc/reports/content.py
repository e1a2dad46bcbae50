"""What a report says without its pictures: as values for a program, and as a model card."""

import json
from typing import Any

from polaroc.comparison.answer import describe_separation
from polaroc.comparison.result import verdict
from polaroc.reports import tables
from polaroc.reports.cases import case_counts
from polaroc.reports.decision import counts, decide, need_in_words
from polaroc.reports.findings import Findings
from polaroc.reports.page import GENERATOR, made_on, sources, template, versions
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
    decision, thresholds = decide(findings), findings.thresholds
    comparison, question = findings.comparison, findings.question
    ranking = tables.ranking_tables(findings)[-1]
    shown = [
        ranking, tables.threshold_table(findings),
        tables.omnibus_table(findings), tables.pairs_table(findings), tables.audit_table(findings),
        subgroups and subgroups.table, published and published.table,
    ]  # fmt: skip
    return {
        "generator": f"{GENERATOR} {dict(versions())['polaroc']}",
        "made": made_on(),
        "title": title,
        "counts": counts(findings),
        "models": [str(model) for model in findings.models],
        "answer": decision.answer,
        "how_sure": decision.how_sure,
        "what_would_change_it": decision.changes,
        "goal": thresholds and need_in_words(thresholds, given=question.needs.is_given),
        "cases": [] if thresholds is None else [
            {"prior": one.prior, "cases": one.cases, "found": one.found, "missed": one.missed,
             "false_alarms": one.alarms, "other_negatives": one.alone}
            for one in case_counts(thresholds)
        ],
        "do_the_models_differ": findings.untested if comparison is None else
        f"{verdict(comparison)} {describe_separation(findings.models, comparison)}",
        "assumptions": findings.assumptions,
        "subgroups": None if subgroups is None else [subgroups.answer, *subgroups.remarks],
        "plan": None if plan is None else [plan.answer, *plan.departures],
        "notes_to_publish": None if published is None else published.notes,
        "columns": question.found or None,
        "notes_on_columns": dict(tables.notes_on_columns(findings, ranking)),
        "tables": {
            one.name: {"caption": one.caption, "columns": {k: [*v] for k, v in one.columns.items()}}
            for one in shown if isinstance(one, ReportTable)
        },
        "sources": [{"what": one.what, "cited": one.cited} for one in sources(findings)],
        "versions": dict(versions()),
    }  # fmt: skip


def as_json(said: dict[str, Any]) -> str:
    """The content as a JSON object."""
    return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def model_card(said: dict[str, Any]) -> str:
    """The content as a model card in Markdown; what only the author knows is left to fill in."""
    card: str = template("card.md.j2").render(**said)
    return card
