"""The licences of all that polaroc needs, as installed here: a table in Markdown.

pip-licenses lists what is installed; this is what polaroc needs of it, and fails for none.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

ROOT = "polaroc"


def needed(name: str, seen: dict[str, Distribution]) -> None:
    """The distribution and, below it, what it needs without extras."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    key = _plain(found.name)
    if key in seen:
        return
    seen[key] = found
    for requirement in found.requires or []:
        if "extra ==" not in requirement:
            needed(re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0], seen)


def licence(found: Distribution) -> str:
    data = found.metadata
    said = data.get("License-Expression") or data.get("License") or ""
    lines = [line for line in data.get_all("Classifier") or [] if line.startswith("License ::")]
    names = (line.rpartition(":: ")[2] for line in lines)
    classified = [name for name in names if name != "OSI Approved"]
    return said.splitlines()[0] if said and len(said) < 60 else ", ".join(classified) or "?"


def table() -> Iterator[str]:
    seen: dict[str, Distribution] = {}
    needed(ROOT, seen)
    yield "| package | version | licence |"
    yield "|---|---|---|"
    for key, found in sorted(seen.items()):
        if key != ROOT:
            yield f"| {found.name} | {found.version} | {licence(found)} |"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    lines = list(table())
    print("\n".join(lines))
    unknown = [line for line in lines if line.endswith("| ? |")]
    sys.exit(f"no licence is told by: {unknown}" if unknown else 0)
