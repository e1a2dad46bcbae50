"""A Spark Connect server on loopback, with two workers that are processes of their own."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from programs import program

HOST = "127.0.0.1"
# A machine with other work takes minutes to start the JVMs.
PATIENCE = 300.0
# No pages, no ports but those that are used.
SETTINGS = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.connect.grpc.binding.address": HOST,
    "spark.connect.grpc.binding.port": "0",
    "spark.executor.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.default.parallelism": "4",
}


def java() -> str | None:
    """The path of the Java that Spark would use, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    return program("java", f"{home}/bin" if home else None)


@contextmanager
def spark_server(folder: Path, settings: Mapping[str, str], java_options: str) -> Iterator[str]:
    """The address of a server whose logs, scratch files and tables are in the folder."""
    import pyspark

    home = Path(pyspark.__file__).parent
    chosen = SETTINGS | {"spark.sql.warehouse.dir": str(folder / "tables"), **settings}
    words = [word for name, value in chosen.items() for word in ("--conf", f"{name}={value}")]
    surroundings = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_WORKER_DIR": str(folder / "work"),
        # The server is a daemon: its heap is not the driver's setting.
        "SPARK_DAEMON_MEMORY": "1g",
        "JAVA_TOOL_OPTIONS": f"-XX:+UseSerialGC -Djava.io.tmpdir={folder} {java_options}",
    }
    # The server ends with this process, should that be killed.
    with_us = ["setpriv", "--pdeathsig", "KILL"] if program("setpriv") else []
    log = folder / "connect.log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [*with_us, home / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]",
             "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *words,
             "spark-internal"],
            stdin=subprocess.DEVNULL, stdout=lines, stderr=subprocess.STDOUT, cwd=folder,
            env=os.environ | surroundings, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            said = log.read_text(errors="replace")
            if found := re.search(rf"Spark Connect server started at: ({HOST}:\d+)", said):
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"Spark did not start:\n{log.read_text(errors='replace')[-3000:]}")
        yield f"sc://{found[1]}"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
