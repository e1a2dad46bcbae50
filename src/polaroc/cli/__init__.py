"""The command line, `polaroc`: one file per command."""

from polaroc.cli.application import app, main

__all__ = ["app", "main"]
