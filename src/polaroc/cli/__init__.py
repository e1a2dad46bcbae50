"""The command line, `polaroc`."""
