"""The lower bounds of pyproject.toml as constraints for pip, one a line."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def bounds(extras: list[str]) -> list[str]:
    wanted = [*PROJECT["dependencies"]]
    for extra in extras:
        wanted += PROJECT["optional-dependencies"][extra]
    found = (re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", each.strip()) for each in wanted)
    return sorted({f"{each[1]}=={each[2]}" for each in found if each})


if __name__ == "__main__":
    print("\n".join(bounds(sys.argv[1:])))
