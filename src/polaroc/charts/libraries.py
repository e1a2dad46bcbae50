"""The libraries of charts: Altair, and what draws its charts in a browser, as one script."""

import os
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from polaroc.base.lazy import LazyModule

__all__ = ["alt", "browser_libraries"]

if TYPE_CHECKING:
    import altair as alt
else:
    alt = LazyModule("altair")

# A kept script that ends otherwise was not written to its end.
END = "\n/* end of the libraries */\n"


def say_prior() -> str:
    """A script with the function that labels the slider of a drawn chart with its prior."""
    return Path(__file__).with_name("say_prior.js").read_text(encoding="utf-8")


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
