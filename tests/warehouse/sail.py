"""A Sail server in this process: Spark Connect without a JVM."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sail_server() -> Iterator[str]:
    """The Spark Connect address of a server on a free port of loopback."""
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    try:
        host, port = server.listening_address
        yield f"sc://{host}:{port}"
    finally:
        server.stop()
