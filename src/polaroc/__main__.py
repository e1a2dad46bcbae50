"""The command `polaroc`, also as ``python -m polaroc``; Ctrl-C ends it even during its imports."""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, _leave)
    try:
        from polaroc.cli.app import main as run

        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _leave()
    except SystemExit:
        raise
    except OSError as error:
        # Help or a message could not be written; commands report other errors themselves.
        _print_error(f"Error: {error.strerror or error}")
        sys.exit(2)
    except BaseException as error:
        _report_bug(error)
    finally:
        _drop_output()


def _leave(*_: object) -> None:
    # An exception might be caught by a module that is being imported, or end in a traceback.
    os.write(2, b"Interrupted: nothing was written.\n")
    os._exit(130)


def _print_error(text: str) -> None:
    """Print to the standard error, if it can be written to."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Write nowhere what cannot be written: Python would fail on it again at its end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report_bug(error: BaseException) -> NoReturn:
    """Print an unexpected error with the versions that a bug report needs, and exit."""
    import platform
    import traceback
    from importlib import metadata

    _print_error("".join(traceback.format_exception(error)).rstrip())
    versions = [f"Python {platform.python_version()}", platform.platform()]
    for name in ("polaroc", "polars", "numpy", "scipy", "typer"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    _print_error(
        f"Error: {type(error).__name__}, which polaroc did not expect. This is a bug in polaroc or "
        "in its installation, and no verdict.\n"
        "Hint: send the lines above, the command and this line to the developers: "
        f"{', '.join(versions)}."
    )
    # Python's own exit code 1 is that of a verdict.
    sys.exit(70)


if __name__ == "__main__":
    main()
