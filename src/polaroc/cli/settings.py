"""Options of a `polaroc.toml`, or of `[tool.polaroc]` in a `pyproject.toml`."""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polaroc.cli.parameters import RENAMED, option_name
from polaroc.errors import InvalidArgument, nearest, quoted
from polaroc.measures.catalog import CATALOG
from polaroc.predictions.roles import ROLES
from polaroc.priors.grids import OBSERVED
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.thresholds.rules import OVER_A_RANGE, WEIGHING_RULES

# The options that can be set, with an example of each.
EXAMPLES: dict[str, Any] = {
    **{name: [role.example] if role.several else role.example for name, role in ROLES.items()},
    "positive": ["yes", 1, True],
    "score_prior": ["observed", 0.1],
    "prior": ["observed", 0.1],
    "over": [0.05, 0.2],
    "cost_fn": 5,
    "cost_fp": 1,
}
# Settings that are used where files hold measures, too.
OF_MEASURES = frozenset({"model", "fold", "test_train_ratio", "cost_fn", "cost_fp"})
NO_CONFIG = "give --no-config to leave it aside."
# Where a context keeps them.
SETTINGS = "polaroc.settings"
# Pairs of options of which a command takes one; where both are set, the first.
OVER_OR_PRIOR = ("over", "prior")
EITHER = {
    **dict.fromkeys(("compare", "threshold"), (OVER_OR_PRIOR,)),
    "gate": (OVER_OR_PRIOR, ("test_train_ratio", "case")),
}
# Options that imply a rule for thresholds over a range.
RANGED = {"cost_fn", "cost_fp", "constraint", "confidence"}
# Commands that read other tables than the settings describe.
WITHOUT = {"demo"}


@dataclass(frozen=True)
class Settings:
    """A file, the options that it sets, by argument, and roles that a command does not have."""

    file: Path
    values: dict[str, Any]
    aside: tuple[str, ...] = ()


def read_settings(folder: Path) -> Settings | None:
    """The settings of the nearest file in a folder or those above it.

    Raises
    ------
    InvalidArgument
        For a file that cannot be read, and for unknown names and values of another kind.
    """
    for parent in (folder, *folder.parents):
        for name in ("polaroc.toml", "pyproject.toml"):
            table = _table(parent / name)
            if table is not None:
                return Settings(parent / name, _checked(table, parent / name))
    return None


def _table(file: Path) -> Mapping[str, Any] | None:
    """The settings of a file; None without a file, or where it has none of polaroc."""
    ours = file.name == "polaroc.toml"
    if not os.path.lexists(file):
        return None
    try:
        text = file.read_bytes()
        if not ours and b"tool.polaroc" not in text:
            return None
        content = tomllib.loads(text.decode("utf-8-sig"))
    except OSError as error:
        raise InvalidArgument(
            f"{str(file)!r} cannot be read: {error.strerror or error}.", hint=NO_CONFIG
        ) from None
    except ValueError as error:
        raise InvalidArgument(
            f"{str(file)!r} is not TOML: {error}.",
            hint=f"correct it, or {NO_CONFIG}",
        ) from None
    if ours:
        return content
    own = content.get("tool", {}).get("polaroc")
    if own is None or isinstance(own, dict):
        return own
    raise InvalidArgument(
        f"{str(file)!r} sets tool.polaroc to {quoted([own])}, allowed is a table.",
        hint='for example [tool.polaroc], and below it truth = "label".',
    )


def _checked(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    values = {}
    for key, value in table.items():
        word = key.replace("-", "_")
        name = RENAMED.get(word, word)
        if name == "score" and isinstance(value, dict):
            # One column of scores per model, as Python has it.
            value = [f"{model}={column}" for model, column in value.items()]
        if name not in EXAMPLES:
            close = nearest(word, [*EXAMPLES])
            raise InvalidArgument(
                f"{str(file)!r} sets {quoted([key])}; allowed are {', '.join(EXAMPLES)}.",
                hint=f"did you mean {close[0]!r}?"
                if close
                else "remove it, or give --no-config to leave the file aside.",
            )
        if not _fits(value, EXAMPLES[name]):
            raise InvalidArgument(
                f"{str(file)!r} sets {key} to {quoted([value])}.",
                hint=f"for example {key} = {_toml(EXAMPLES[name])}",
            )
        values[name] = value
    return values


def _fits(value: Any, example: Any) -> bool:
    """Whether a value is of the kind of an example; a list may be of one value."""
    kinds = {type(one) for one in _listed(example)}
    if kinds & {int, float}:
        kinds |= {int, float}
    if isinstance(value, list) and not isinstance(example, list):
        return False
    count = len(_listed(value))
    right = count == 2 if example is EXAMPLES["over"] else count > 0
    return right and all(type(one) in kinds for one in _listed(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def defaults(
    command: str,
    parameters: Iterable[Any],
    given: Mapping[str, Any],
    allowed: Callable[[str], bool],
) -> Settings | None:
    """The settings that a command uses, besides the options that are `given`."""
    if command in WITHOUT or {"help", "no_config"} & given.keys():
        return None
    try:
        settings = read_settings(Path.cwd())
    except FileNotFoundError:
        # The working directory was removed.
        return None
    if settings is None:
        return None
    values = dict(settings.values)
    options = {one.name: one for one in parameters}
    named = {option_name(name).removeprefix("--").replace("-", "_"): name for name in options}
    taken: dict[str, Any] = {}
    # As a file names them.
    given = {RENAMED.get(name, name): value for name, value in given.items()}
    excluded = given.keys() | _excluded(command, given, values)
    for key in [key for key in EXAMPLES if key in values and key in named]:
        name, value = named[key], _listed(values[key])
        if {key, f"no_{key}"} & excluded or not allowed(name):
            continue
        if (command, key) == ("report", "prior"):
            # The observed prior stands in every report.
            value = [one for one in value if one != OBSERVED]
        words = [str(one).lower() if isinstance(one, bool) else one for one in value]
        if options[name].nargs == 2:
            taken[name] = tuple(map(float, words))
        elif getattr(options[name], "multiple", False):
            taken[name] = words
        elif key != "prior" and len(words) == 1:
            # A command that takes one prior is about that prior, which is not the project's.
            taken[name] = words[0]
    aside = tuple(role for role in ROLES if role in values and role not in named)
    return Settings(settings.file, taken, aside) if taken or aside else None


def _excluded(command: str, given: Mapping[str, Any], values: Mapping[str, Any]) -> set[str]:
    """The options that do not go with the command or with options that are `given`."""
    excluded: set[str] = set()
    if not _takes_costs(command, given):
        excluded |= {"cost_fn", "cost_fp"}
    elif command == "choose":
        excluded.add("test_train_ratio")
    if not _takes_range(command, given, values):
        excluded.add("over")
    if command == "compare" and given.get("target", "algorithm") != "algorithm":
        excluded.add("test_train_ratio")
    for first, second in EITHER.get(command, ()):
        if second in given:
            excluded.add(first)
        elif first in given or first in values:
            excluded.add(second)
    return excluded


def _takes_costs(command: str, given: Mapping[str, Any]) -> bool:
    """Whether costs have a bearing on what a command does with the options that are `given`."""
    measure = given.get("measure")
    if command == "choose" and measure is None:
        # Any of these says that the choice is by expected cost.
        return bool({"tuning", "constraint", "confidence", "cost_fn", "cost_fp"} & given.keys())
    if command == "choose":
        return bool(measure == EXPECTED_COST)
    if command == "threshold":
        return "apply" not in given and given.get("rule", "cost") in WEIGHING_RULES
    return True


def _takes_range(command: str, given: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a range of priors goes with a command, its `given` options and other settings."""
    if command == "threshold" and "rule" not in given:
        # What says of which kind the thresholds are: by default they are at one prior.
        of_range = {"cost_fn", "cost_fp"} & values.keys() or RANGED & given.keys()
        return "apply" not in given and bool(of_range)
    if command == "threshold":
        return "apply" not in given and given.get("rule", "cost") in OVER_A_RANGE
    measure = given.get("measure")
    if command != "compare" or measure not in CATALOG:
        return True
    return CATALOG[measure].over is not None
