"""Formulas as MathML, which browsers draw without a script."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(page: HTML5Translator, formula: nodes.math) -> None:
    page.body.append(tex2mathml(formula.astext()))
    raise nodes.SkipNode


def block(page: HTML5Translator, formula: nodes.math_block) -> None:
    page.body.append(f'<div class="formula">{tex2mathml(formula.astext(), as_block=True)}</div>')
    raise nodes.SkipNode
