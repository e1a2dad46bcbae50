import os

from figures import FIGURES
from hypothesis import HealthCheck, settings

os.environ.setdefault("POLARS_WARN_UNSTABLE", "1")

settings.register_profile(
    "polaroc",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("polaroc")


def pytest_terminal_summary(terminalreporter):
    for done, times in FIGURES.items():
        terminalreporter.write_line(f"{times:,} {done}")
