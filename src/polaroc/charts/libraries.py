"""The libraries of charts: Altair, and what draws its charts in a browser, as one script."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

__all__ = ["alt", "browser_libraries", "page_functions", "unchecked"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Altair:
    """Altair, imported when it is first used: commands that draw nothing do not wait for it."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module("altair"), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import altair as alt
else:
    alt = _Altair()


def unchecked(chart: Callable[_P, _R]) -> Callable[_P, _R]:
    """A chart whose parts Altair does not check, which would take it all their points each time."""

    @wraps(chart)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return chart(*args, **kwargs)

    return drawn


FUNCTIONS = ("fit.js", "say_prior.js")
# A kept script that ends otherwise was not written to its end.
END = "\n/* end of the libraries */\n"


def page_functions() -> str:
    """A script with functions of pages: to fit charts into their room, and to label a slider."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in FUNCTIONS)


@cache
def browser_libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; made once per user, as that takes a second."""
    import vl_convert as convert

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polaroc"
    kept = folder / f"vega-{metadata.version('vl-convert-python')}-{version}.js"
    with suppress(OSError, UnicodeDecodeError):
        script = kept.read_text(encoding="utf-8")
        if script.endswith(END):
            return script
    bundle = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    script = str(bundle).replace("\r", "") + END
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(script, encoding="utf-8")
    return script
