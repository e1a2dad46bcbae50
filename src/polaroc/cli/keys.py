"""Key columns of a command, with notes on defaults."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import polars as pl
import typer

from polaroc.base.columns import RESERVED
from polaroc.base.text import escape_control
from polaroc.cli.screen import stderr_console
from polaroc.errors import InvalidArgument, quoted
from polaroc.files.read import scan
from polaroc.predictions.usual_keys import UsualKeys, usual_keys, usual_names

By = Annotated[
    list[str] | None,
    typer.Option(
        help="Key column such as model or fold; repeat it for several. [default: the columns with "
        "usual names of models and folds, which are said]",
        show_default=False,
    ),
]
NoBy = Annotated[bool, typer.Option("--no-by", help="No key: all rows are one model's.")]


class Keys(NamedTuple):
    """Key columns, models first, with notes."""

    models: list[str]
    blocks: list[str]
    notes: list[str]

    @property
    def all(self) -> list[str]:
        """All key columns."""
        return [*self.models, *self.blocks]

    @property
    def between_and_block(self) -> tuple[str, list[str]]:
        """The column of the models, and those of the blocks."""
        return self.models[0], self.blocks


def keys_of(
    files: Sequence[str],
    by: Sequence[str] | None,
    no_by: bool,
    taken: Sequence[str | None],
) -> Keys:
    """The keys of files of predictions: those named, none, or those with usual names."""
    used = [name for name in taken if name]
    if not (by or no_by):
        return default_keys(usual_keys(scan(files), used))
    keys = named_keys(by, no_by)
    if no_by:
        return keys
    frame = scan(files)
    others = [name for name in frame.collect_schema() if name not in (*used, *keys.all)]
    forgotten = usual_names(others).keys
    if not forgotten:
        return keys
    forgotten = usual_keys(frame.select(pl.col(forgotten)), []).keys
    notes = [f"{quoted(forgotten)} is no key, so its rows are taken together."] if forgotten else []
    return keys._replace(notes=_one_line(notes))


def named_keys(by: Sequence[str] | None, no_by: bool) -> Keys:
    """The keys as they were named on the command line."""
    if by and no_by:
        raise InvalidArgument("both --by and --no-by are given.", hint="leave one of them out.")
    return Keys(list(by or ()), [], [])


def default_keys(usual: UsualKeys) -> Keys:
    """The keys with usual names, with a note on them and on columns that were not used."""
    notes = []
    if usual.keys:
        notes.append(f"no --by is given: keys are {quoted(usual.keys)} (--no-by takes none).")
    notes += _on_unused(usual, lambda name: " ".join(f"--by {key}" for key in [*usual.keys, name]))
    return Keys(usual.models, usual.blocks, _one_line(notes))


def roles_of(
    files: Sequence[str],
    between: str | None,
    block: Sequence[str] | None,
    taken: Sequence[str | None],
    *,
    no_blocks: bool = False,
) -> Keys:
    """The columns of the models and of the blocks, of files of predictions or of measures."""
    if between is not None and (block or no_blocks):
        return Keys([between], list(block or ()), [])
    if taken[0] is None:
        return _roles_of_measures(scan(files), between, block, no_blocks)
    usual = usual_keys(scan(files), [name for name in taken if name])
    if between is None and not usual.models:
        raise InvalidArgument(
            f"no column tells the models apart by its name; others are "
            f"{usual.unused_in_words or 'none'}.",
            hint="name it with --between.",
        )
    models = usual.models[0] if between is None else between
    others = [] if no_blocks else [key for key in usual.keys if key != models]
    blocks = list(block or ()) or others
    unused = {name: n for name, n in usual.unused.items() if name not in (models, *blocks)}
    note = f"models are told apart by {quoted([models])}, "
    note += f"folds by {quoted(blocks)}" if blocks else "and there are no folds"
    notes = [f"{note} (--between and --block name others)."]
    notes += _on_unused(
        UsualKeys([], [], unused),
        lambda name: " ".join(f"--block {key}" for key in [*blocks, name]),
    )
    return Keys([models], blocks, _one_line(notes))


def keys_of_measures(names: Sequence[str]) -> list[str]:
    """The keys of measures, first the one that tells the models apart by its name."""
    models = usual_names(names).models[:1]
    return [*models, *(name for name in names if name not in models)]


def tell(notes: Sequence[str]) -> None:
    """Print notes where no result goes."""
    for note in notes:
        stderr_console().print(escape_control(note))


def _roles_of_measures(
    frame: pl.LazyFrame, between: str | None, block: Sequence[str] | None, no_blocks: bool
) -> Keys:
    keys = keys_of_measures([name for name in frame.collect_schema() if name not in RESERVED])
    models = between or next(iter(keys), "model")
    others = [] if no_blocks else [key for key in keys if key != models]
    blocks = list(block or ()) or others
    usual = (models, blocks) in (("model", ["fold"]), ("model", []))
    folds = f"folds by {quoted(blocks)}" if blocks else "and there are no folds"
    note = (
        f"models are told apart by {quoted([models])}, {folds} (--between and --block name others)."
    )
    return Keys([models], blocks, [] if usual else _one_line([note]))


def _on_unused(usual: UsualKeys, option: Callable[[str], str]) -> list[str]:
    if not usual.unused:
        return []
    first = next(iter(usual.unused))
    return [
        f"Not used, so that their rows are taken together: {usual.unused_in_words}; if one tells "
        f"models or folds apart: {option(first)}."
    ]


def _one_line(sentences: Sequence[str]) -> list[str]:
    return [f"Note: {' '.join(sentences)}"] if sentences else []
