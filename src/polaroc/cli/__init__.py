"""The command line, `polaroc`."""

from polaroc.cli.app import app, main

__all__ = ["app", "main"]
