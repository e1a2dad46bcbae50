"""The command `polaroc`, which can be interrupted while the package is still being imported."""

import os
import signal

INTERRUPTED, STDERR = 130, 2


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, _leave)
    from polaroc.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        _leave()


def _leave(*_: object) -> None:
    # An exception might be caught, or be said in a traceback, by what is being imported.
    os.write(STDERR, b"Interrupted: nothing was written.\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
