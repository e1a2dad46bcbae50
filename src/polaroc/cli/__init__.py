"""The command line, `polaroc`."""

from polaroc.cli.application import app, main

__all__ = ["app", "main"]
