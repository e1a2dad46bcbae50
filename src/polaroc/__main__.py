"""The command `polaroc`, also as ``python -m polaroc``; Ctrl-C ends it even during its imports."""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED, STDERR = 130, 2
# No code of a verdict: Python itself would exit with 1.
BUG = 70
LIBRARIES = ("polaroc", "polars", "numpy", "scipy", "typer")


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, _leave)
    try:
        from polaroc.cli import main as run

        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _leave()
    except SystemExit:
        raise
    except BaseException as error:
        _report_bug(error)


def _leave(*_: object) -> None:
    # An exception might be caught, or be said in a traceback, by what is being imported.
    os.write(STDERR, b"Interrupted: nothing was written.\n")
    os._exit(INTERRUPTED)


def _report_bug(error: BaseException) -> NoReturn:
    """Print an unexpected error with the versions that a bug report needs, and exit."""
    import platform
    import traceback
    from importlib import metadata

    traceback.print_exception(error)
    versions = [f"Python {platform.python_version()}", platform.platform()]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    print(
        f"Error: {type(error).__name__}, which polaroc did not expect. This is a bug in polaroc or "
        "in its installation, and no verdict.\n"
        "Hint: send the lines above, the command and this line to the developers: "
        f"{', '.join(versions)}.",
        file=sys.stderr,
    )
    sys.exit(BUG)


if __name__ == "__main__":
    main()
