"""A PostgreSQL server of our own, on loopback, in a folder that goes with it."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from programs import program

PATIENCE = 60


def binaries() -> Path | None:
    """Where PostgreSQL is installed; Debian keeps it off the PATH."""
    debian = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    found = program("postgres") or program("postgres", os.pathsep.join(debian))
    return Path(found).parent if found else None


@contextmanager
def postgres_server(place: Path) -> Iterator[str]:
    """The address of a server made from the programs in `place`, stopped afterwards."""
    password = secrets.token_hex()
    folder = Path(tempfile.mkdtemp(prefix="polaroc-postgres-"))
    port = _free_port()
    try:
        (folder / "password").write_text(password)
        as_other = _owned(folder)
        data = folder / "data"
        subprocess.run(
            [*as_other, place / "initdb", "-D", data, "-U", "polaroc", "-A", "scram-sha-256",
             "--pwfile", folder / "password", "--locale=C", "-E", "UTF8", "--no-sync"],
            check=True, capture_output=True, cwd=folder,
        )  # fmt: skip
        settings = ("listen_addresses=127.0.0.1", f"port={port}", "unix_socket_directories=",
                    "fsync=off", "shared_buffers=64MB", "max_connections=10",
                    # To compile a query takes longer than to run it over so few rows.
                    "jit=off")  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [*as_other, place / "postgres", "-D", data, *_options(settings)],
                stdout=log, stderr=log, cwd=folder,
            )  # fmt: skip
        address = f"postgres://polaroc:{password}@127.0.0.1:{port}/postgres"
        try:
            _wait(address, server, folder / "log")
            yield address
        finally:
            # SIGINT is its fast shutdown.
            server.send_signal(2)
            server.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)


def _owned(folder: Path) -> list[str]:
    """How to run as a user the server accepts: it refuses to be root."""
    if os.getuid() != 0:
        return []
    user = pwd.getpwnam("postgres")
    for path in (folder, *folder.iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _options(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}") from None
            time.sleep(0.1)
