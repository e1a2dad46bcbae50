"""How much of a test a plain `pytest` runs, and how much of it CI."""

import os

ALL_CASES = bool(os.environ.get("POLAROC_ALL_CASES"))


def replicates(all_of_them: int, few: int) -> int:
    """How often a simulation is repeated: its bounds are those of so many replicates."""
    return all_of_them if ALL_CASES else few
