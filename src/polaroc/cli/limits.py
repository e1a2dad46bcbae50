"""Commands under a limit of memory: libraries end a process before it can say why, or hang."""

import os
import re
import signal
import subprocess
import sys

from polaroc.cli.screen import complain

INSIDE = "POLAROC_INSIDE"
# What allocators and libraries print where the system refuses them memory or threads; some
# of them then try again for ever.
SIGNS = re.compile(
    rb"[Mm]emory allocation (of \d|still failed)|<jemalloc>|[Cc]annot allocate memory"
    rb"|failed to map segment|null pointer when|can't start new thread"
    rb"|Resource temporarily unavailable|OpenBLAS blas_thread_init"
)
OURS = b"Error: "
FATAL = (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGKILL)


def limited() -> int | None:
    """Bytes of addresses that this process may use, None where there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY or INSIDE in os.environ else limit


def watched(limit: int) -> int:
    """Run this command in a process of its own, and say where memory ran out.

    Parameters
    ----------
    limit
        Bytes that the process may use.

    Returns
    -------
    int
        The exit code.
    """
    words = [sys.executable, "-m", "polaroc_command", *sys.argv[1:]]
    said: list[bytes] = []
    inside = os.environ | {INSIDE: "1"}
    # The pipes that a shell made of <(command) stay open.
    with subprocess.Popen(words, stderr=subprocess.PIPE, env=inside, close_fds=False) as inner:
        signal.signal(signal.SIGTERM, lambda *_: inner.terminate())
        # Ctrl-C reaches the inner process too, which answers it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for line in inner.stderr or ():
            said.append(line)
            if SIGNS.search(line) and not line.startswith(OURS):
                inner.kill()
                break
        code = inner.wait()
    if code in FATAL:
        complain(
            f"memory ran out: a limit allows this process {limit / 1e9:.2g} GB of addresses.\n"
            "Hint: raise it (ulimit -v), name fewer keys at a time, or give evaluate --memory."
        )
        return 2
    sys.stderr.buffer.writelines(said)
    return code if code >= 0 else 128 - code
