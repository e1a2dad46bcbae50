"""Signatures with the names of types that the code has, where Sphinx would spell each of them out.

Classes have none: users are given their objects, and do not make them.
"""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

QUALIFIER = re.compile(r"~|\b(?:[a-z_]\w*\.)+(?=[A-Z])")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", shortened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def shortened(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, *spelled: str | None
) -> tuple[str, str] | None:
    if what == "class":
        return "", ""
    if what != "function":
        return None
    full = inspect.signature(thing)
    shown: list[str] = []
    for one in full.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        bare = str(one.replace(annotation=one.empty, default=one.empty))
        default = "" if one.default is one.empty else f" = {one.default!r}"
        typed = "" if one.annotation is one.empty else f": {type_name(one.annotation)}"
        shown.append(f"{bare}{typed}{default}")
    return f"({', '.join(shown)})", type_name(full.return_annotation)


def type_name(annotation: Any) -> str:
    name = annotation if isinstance(annotation, str) else annotation.__name__
    name = QUALIFIER.sub("", name).replace("'", '"')
    name = name.replace("PolarsFrame", "Frame")
    return "Frame" if name == "LazyFrame" else name
