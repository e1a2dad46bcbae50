"""The page of a report, one self-contained HTML file, and what it says as JSON."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from platform import python_version
from typing import Any

from polaroc.base.text import escape_control, one_name
from polaroc.charts.vega import browser_libraries, page_functions
from polaroc.reports import tables
from polaroc.reports.figures import by_prior, explorer, pairs, reliability
from polaroc.reports.findings import MAX_DRAWN, Findings
from polaroc.reports.sentences import counts, decide, goal_in_words
from polaroc.reports.tables import ReportTable
from polaroc.reports.words import case_counts

GENERATOR = "polaroc report"
# How a page and JSON begin that were made here.
MARKS = ('<meta name="generator" content="polaroc', f'"generator": "{GENERATOR}')
LIBRARIES = (
    "polaroc", "polars", "numpy", "scipy", "altair", "vl-convert-python", "jinja2",
)  # fmt: skip


def page(findings: Findings, title: str) -> str:
    """The whole page as HTML."""
    drawn, calibrated = findings.drawn, reliability(findings)
    return rendered(
        "page.html.j2", title, **contents(findings),
        curves=explorer(drawn), by_prior=by_prior(drawn), differences=pairs(drawn),
        calibrated=None if isinstance(calibrated, str) else calibrated,
        uncalibrated=calibrated if isinstance(calibrated, str) else "",
    )  # fmt: skip


def rendered(template: str, title: str, **contents: Any) -> str:
    """A page from a template, with the scripts that draw its charts."""
    from markupsafe import Markup

    environment = _environment()
    scripts = [browser_libraries(), page_functions(), _asset("charts.js")]
    policy = [
        "default-src 'none'",
        f"script-src {' '.join(map(_digest, scripts))}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return environment.get_template(template).render(
        title=title,
        policy="; ".join(policy),
        version=metadata.version("polaroc"),
        made=made_on(),
        style=Markup(_asset("style.css")),
        scripts=[Markup(script) for script in scripts],
        **contents,
    )


def made_on() -> str:
    """The day, in words."""
    return datetime.now(UTC).strftime("%d %B %Y").lstrip("0")


def is_report(file: Path) -> bool:
    """Whether a file is an earlier report."""
    with file.open("rb") as opened:
        start = opened.read(1_000)
    return any(mark.encode() in start for mark in MARKS)


def contents(findings: Findings) -> dict[str, Any]:
    """The words and tables of a page, by the names that templates have for them."""
    thresholds = findings.thresholds
    count, ranking = len(findings.models), tables.ranking_table(findings)
    return {
        "findings": findings,
        "counts": counts(findings),
        "decision": decide(findings),
        "cases": [] if thresholds is None
        else case_counts(thresholds.rates, findings.request.priors),
        "goal": goal_in_words(findings),
        "ranking": ranking,
        "notes": [(name, meaning) for name, meaning in tables.NOTES.items()
                  if name in ranking.columns],
        "thinned": f"Charts show the best {MAX_DRAWN} of {count} models; tables have all."
        if count > MAX_DRAWN else "",
        "thresholds": tables.threshold_table(findings),
        "verdict": _verdict(findings),
        "pairs": tables.pairs_table(findings),
        "audit": tables.audit_table(findings),
        "sources": sources(findings),
        "glossary": GLOSSARY,
        "versions": versions(),
    }  # fmt: skip


def _verdict(findings: Findings) -> str:
    """Whether the areas of the models differ, and how that test is another than the headline's."""
    if findings.comparison is None:
        return ""
    answer = findings.comparison.answer
    if findings.by_cost:
        return (
            f"The models above are ranked by {findings.judged_by}; these tests are by area, which "
            f"counts all thresholds. {answer}"
        )
    if len(findings.models) == 2:
        return answer
    first = one_name(findings.models[0])
    return f"{answer} That tests all models at once; the headline tests {first} against the others."


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("polaroc.reports"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.policies["json.dumps_function"] = json.dumps
    return environment


def _shown(value: Any) -> Any:
    """Text with control characters spelled out, and signs beside their numbers."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return escape_control(value).replace(" %", "\xa0%").replace("p = ", "p\xa0=\xa0")


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Content security policy digest of the script."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


# The words of a page; docs/glossary.md begins with the same.
GLOSSARY = (
    ("positive", "a case of the kind that is looked for; all others are negatives"),
    ("share of positives", "how many of the cases met in use are positive; also called the prior"),
    ("score", "the number that a model gives a case, higher for cases more likely positive"),
    ("threshold", "the score from which on a case raises an alarm"),
    ("alarm", "a case that is called positive; if it is negative, a false alarm"),
    ("recall", "the share of positives that are found"),
    ("precision", "the share of alarms that are right"),
    ("false alarm rate", "the share of negatives that raise an alarm"),
    ("area", "precision averaged over all recalls, that under the precision-recall curve (AUPREC)"),
    ("fold", "one of the test sets on which all models were measured alike"),
)


# Publications, what of them is used, and by which part of a report.
SOURCES = (
    ("all", "Precision at any prior from the ROC curve; its area over a range of priors (P-ROC)",
     "Landgrebe, Paclík, Duin and Bradley: Precision-recall operating characteristic (P-ROC) "
     "curves in imprecise environments. ICPR 2006."),
    ("all", "How precision runs between two points of a ROC curve",
     "Davis and Goadrich: The relationship between precision-recall and ROC curves. ICML 2006."),
    ("algorithm", "The correction for training sets that overlap",
     "Nadeau and Bengio: Inference for the generalization error. Machine Learning 52, 2003."),
    ("trained", "Comparing fitted models on one test set",
     "DeLong, DeLong and Clarke-Pearson: Comparing the areas under two or more correlated "
     "receiver operating characteristic curves. Biometrics 44, 1988."),
    ("clusters", "Limits and tests of rows that share a cluster",
     "Obuchowski: Nonparametric analysis of clustered ROC curve data. Biometrics 53, 1997."),
)  # fmt: skip


def sources(findings: Findings) -> list[dict[str, str]]:
    """The publications of what a report uses: of the tests, only where they were made."""
    used = {"all"}
    if findings.comparison is not None:
        used.add(findings.comparison.target)
    if findings.cases is not None and findings.cases.cluster is not None:
        used.add("clusters")
    return [{"what": what, "cited": cited} for part, what, cited in SOURCES if part in used]


def versions() -> list[tuple[str, str]]:
    """The libraries that made the page, and their versions."""
    libraries = [(name, metadata.version(name)) for name in LIBRARIES]
    return [("Python", python_version()), *libraries]


def content(findings: Findings, title: str) -> dict[str, Any]:
    """All sentences, counts and tables of the page, by name; tables by heading."""
    shown = contents(findings)
    decision, thresholds = shown["decision"], findings.thresholds
    kept = [shown[name] for name in ("ranking", "thresholds", "pairs", "audit")]
    return {
        "generator": f"{GENERATOR} {metadata.version('polaroc')}",
        "made": made_on(),
        "title": title,
        "counts": shown["counts"],
        "models": [str(model) for model in findings.models],
        "answer": decision.answer,
        "how_sure": decision.how_sure,
        "what_would_change_it": decision.changes,
        "how_to_set_the_threshold": decision.to_set,
        "goal": shown["goal"],
        "threshold": thresholds and thresholds.to_act_on,
        "cases": [
            {"prior": one.prior, "cases": one.cases, "found": one.found, "missed": one.missed,
             "false_alarms": one.alarms, "other_negatives": one.alone}
            for one in shown["cases"]
        ],
        "do_the_models_differ": shown["verdict"],
        "assumptions": findings.assumptions,
        "notes_on_columns": dict(shown["notes"]),
        "tables": {
            one.name: {"caption": one.caption, "columns": {k: [*v] for k, v in one.columns.items()}}
            for one in kept if isinstance(one, ReportTable)
        },
        "sources": shown["sources"],
        "versions": dict(shown["versions"]),
    }  # fmt: skip


def as_json(content: dict[str, Any]) -> str:
    """The content as a JSON object."""
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
