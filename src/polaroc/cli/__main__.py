"""``python -m polaroc.cli``: the same as the command `polaroc`."""

from polaroc.cli import main

if __name__ == "__main__":
    main()
