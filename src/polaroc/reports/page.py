"""The page of a report: one self-contained HTML file."""

import json
import sys
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from polaroc.base.text import escape_control
from polaroc.comparison.result import verdict
from polaroc.reports import tables_data
from polaroc.reports.cards import cards, costs_in_words, counts
from polaroc.reports.curve_figures import CURVES
from polaroc.reports.evidence import Evidence
from polaroc.reports.figures import figures
from polaroc.reports.model_figures import DIFFERENCES, OVER_THE_RANGE
from polaroc.reports.sources import sources, versions

TEMPLATE = "page.html.j2"
MARK = '<meta name="generator" content="polaroc'
# Number of characters at the start that hold the mark.
MARKED = 1_000


def page(evidence: Evidence, title: str) -> str:
    """The whole page as HTML."""
    from markupsafe import Markup

    environment = _environment()
    scripts = [_libraries(), _asset("charts.js")]
    policy = [
        "default-src 'none'",
        f"script-src {' '.join(map(_digest, scripts))}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    written: str = environment.get_template(TEMPLATE).render(
        title=title,
        policy="; ".join(policy),
        version=metadata.version("polaroc"),
        made=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        style=Markup(_asset("style.css")),
        scripts=[Markup(script) for script in scripts],
        **_contents(evidence),
    )
    return written


def is_report(file: Path) -> bool:
    """Whether a file is an earlier report."""
    with file.open("rb") as opened:
        return MARK.encode() in opened.read(MARKED)


def _contents(evidence: Evidence) -> dict[str, Any]:
    question = evidence.question
    comparison = evidence.comparison
    return {
        "evidence": evidence,
        "question": question,
        "counts": counts(evidence),
        "cards": cards(evidence),
        "costs": costs_in_words(evidence),
        "ranking": tables_data.ranking_table(evidence),
        "thresholds": tables_data.threshold_table(evidence),
        "verdict": None if comparison is None else verdict(comparison),
        "omnibus": tables_data.omnibus_table(evidence),
        "pairs": tables_data.pairs_table(evidence),
        "audit": tables_data.audit_table(evidence),
        "keys": tables_data.keys_table(evidence),
        "over_the_range": figures(evidence, OVER_THE_RANGE),
        "curves": figures(evidence, CURVES),
        "differences": figures(evidence, DIFFERENCES),
        "sources": sources(evidence),
        "versions": [("Python", sys.version.split()[0]), *versions()],
    }


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
    """Text with control characters spelled out."""
    from markupsafe import Markup

    return (
        escape_control(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def _libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import altair as alt
    import vl_convert as convert

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    bundle = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    return str(bundle).replace("\r", "")


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Content security policy digest of the script."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
