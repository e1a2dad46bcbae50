"""``python -m polaroc.cli``: the same as the command `polaroc`."""

from polaroc_command import main

if __name__ == "__main__":
    main()
