"""A Spark standalone cluster on loopback: every part of it is a process of its own."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from programs import program

HOST = "127.0.0.1"
# A machine with other work takes minutes to start four JVMs.
PATIENCE = 300.0
PACKAGE = "org.apache.spark"
SOMEWHERE = ("--host", HOST, "--webui-port", "0")
MASTER = ("spark-class", f"{PACKAGE}.deploy.master.Master", *SOMEWHERE, "--port", "0")
WORKER = ("spark-class", f"{PACKAGE}.deploy.worker.Worker", *SOMEWHERE, "--cores", "1")
CONNECT = ("spark-submit", "--class", f"{PACKAGE}.sql.connect.service.SparkConnectServer")
NO_JAR = "spark-internal"
# No pages, no ports but those that are used.
SETTINGS = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.connect.grpc.binding.address": HOST,
    "spark.connect.grpc.binding.port": "0",
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
}


@dataclass(frozen=True)
class Process:
    """A running program and its log."""

    log: Path
    handle: subprocess.Popen[bytes]

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.handle.poll() is None

    def kill(self) -> None:
        """End it and what it started at once, as a machine that fails does."""
        if self.running:
            os.killpg(self.handle.pid, signal.SIGKILL)
            self.handle.wait()


@dataclass(frozen=True)
class Cluster:
    """A running cluster: where its Connect server listens, and the workers."""

    address: str
    workers: list[Process]


def java() -> str | None:
    """The path of the Java that Spark would use, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    return program("java", f"{home}/bin" if home else None)


@contextmanager
def spark_cluster(
    folder: Path,
    *,
    workers: int = 2,
    executor_memory: str = "1g",
    driver_memory: str = "1g",
    settings: Mapping[str, str] | None = None,
    java_options: str = "",
) -> Iterator[Cluster]:
    """A Spark Connect server, and a master and workers of one core each that run its tasks.

    Parameters
    ----------
    folder
        For logs, scratch files and tables.
    workers
        How many workers, each with one executor; none: the server runs its tasks itself.
    executor_memory, driver_memory
        Heaps of an executor and of the Connect server.
    settings
        Further settings of Spark.
    java_options
        Further options of every JVM.
    """
    chosen = SETTINGS | {
        "spark.executor.memory": executor_memory,
        "spark.sql.warehouse.dir": str(folder / "tables"),
        **(settings or {}),
    }
    with ExitStack() as stack:

        def started(name: str, command: Sequence[str], memory: str = "256m") -> Process:
            return stack.enter_context(_process(name, command, folder, memory, java_options))

        url = "local[2]"
        if workers:
            master = started("master", MASTER)
            url = _said(master, rf"Starting Spark master at (spark://{HOST}:\d+)")
        room = ["--memory", executor_memory, "--work-dir", str(folder / "work")]
        running = [started(f"worker-{i}", [*WORKER, *room, url]) for i in range(workers)]
        for worker in running:
            _said(worker, "(Successfully registered with master)")
        pairs = [word for name, value in chosen.items() for word in ("--conf", f"{name}={value}")]
        connect = started("connect", [*CONNECT, "--master", url, *pairs, NO_JAR], driver_memory)
        address = _said(connect, rf"Spark Connect server started at: ({HOST}:\d+)")
        yield Cluster(f"sc://{address}", running)


@contextmanager
def _process(
    name: str, command: Sequence[str], folder: Path, memory: str, java_options: str
) -> Iterator[Process]:
    """A program of Spark in a process group of its own, ended when the block ends."""
    import pyspark

    home = Path(pyspark.__file__).parent
    program, *arguments = command
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    surroundings = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(scratch),
        # The Connect server is a daemon too: its heap is not the driver's setting.
        "SPARK_DAEMON_MEMORY": memory,
        "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
        "JAVA_TOOL_OPTIONS": f"-XX:+UseSerialGC -Djava.io.tmpdir={scratch} {java_options}",
    }
    log = folder / f"{name}.log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [*_with_us(), str(home / "bin" / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | surroundings,
            start_new_session=True,
        )
    running = Process(log, process)
    try:
        yield running
    finally:
        running.kill()


def _with_us() -> list[str]:
    """How to run a program that ends with this process, should that be killed."""
    return ["setpriv", "--pdeathsig", "KILL"] if program("setpriv") else []


def _said(process: Process, pattern: str) -> str:
    """What a process says of itself in its log, waited for."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.running:
        if found := re.search(pattern, process.log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.1)
    lines = process.log.read_text(errors="replace")
    raise RuntimeError(f"{process.log.stem} did not start:\n{lines[-3000:]}")
