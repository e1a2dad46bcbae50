"""``python -m polaroc.cli``: the same as the command `polaroc`."""

from polaroc.cli import main

main()
