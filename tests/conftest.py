import os

import crowds
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
    if crowds.tables_made:
        made = f"{crowds.tables_made:,} random tables judged by rational numbers and relations"
        terminalreporter.write_line(made)
