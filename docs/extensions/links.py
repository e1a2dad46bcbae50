"""Names of public functions in a docstring lead to them, also from the modules below polaroc."""

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", resolved)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def resolved(
    app: Sphinx, env: BuildEnvironment, reference: pending_xref, shown: nodes.Element
) -> nodes.Node | None:
    if reference["refdomain"] != "py" or reference.get("py:module") == "polaroc":
        return None
    reference["py:module"] = "polaroc"
    python = env.domains.python_domain
    return python.resolve_xref(
        env, reference["refdoc"], app.builder, "obj", reference["reftarget"], reference, shown
    )
