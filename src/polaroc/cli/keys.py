"""Key columns of a command, with notes on defaults."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import polars as pl
import typer

from polaroc.base.columns import RESERVED
from polaroc.cli.options import Columns
from polaroc.cli.sources import Source
from polaroc.comparison.checks import refuse_folds_left_out
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.usual_keys import UsualKeys, usual_names
from polaroc.predictions.wide import MODEL

By = Annotated[
    list[str] | None,
    typer.Option(
        help="Key column such as model or fold; repeat it for several. [default: the columns with "
        "usual names of models and folds, which a note names]",
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
    source: Source,
    by: Sequence[str] | None,
    no_by: bool,
    columns: Columns,
    case: str | None = None,
) -> Keys:
    """The keys of predictions: those named, none, or those with usual names."""
    used = [*columns.names, *([case] if case else [])]
    if not (by or no_by):
        return default_keys(source.usual_keys(used), columns)
    keys = named_keys(by, no_by, columns)
    if no_by:
        return keys
    schema = source.schema()
    others = [name for name in schema if name not in (*used, *keys.all)]
    named = usual_names(others).keys
    if not named:
        return keys
    forgotten = source.usual_keys([name for name in schema if name not in named]).keys
    notes = [f"{quoted(forgotten)} is no key, so its rows are taken together."] if forgotten else []
    return keys._replace(notes=_one_line(notes))


def named_keys(by: Sequence[str] | None, no_by: bool, columns: Columns) -> Keys:
    """The keys as they were named on the command line."""
    if by and no_by:
        raise InvalidArgument("both --by and --no-by are given.", hint="leave one of them out.")
    return Keys(with_model(columns, by or ()), [], [])


def default_keys(usual: UsualKeys, columns: Columns) -> Keys:
    """The keys with usual names, with a note on them and on columns that were not used."""
    notes, models = [], with_model(columns, usual.models)
    if usual.keys:
        keys = quoted([*models, *usual.blocks])
        notes.append(f"no --by is given: keys are {keys} (--no-by takes none).")
    notes += _on_unused(usual, lambda name: " ".join(f"--by {key}" for key in [*usual.keys, name]))
    return Keys(models, usual.blocks, _one_line(notes))


def roles_of(
    source: Source,
    between: str | None,
    block: Sequence[str] | None,
    columns: Columns | None,
    case: str | None = None,
    *,
    no_blocks: bool = False,
) -> Keys:
    """The columns of the models and of the blocks, of predictions or, without columns, measures."""
    roles = _roles(source, between, block, columns, case, no_blocks=no_blocks)
    if columns is not None and (block or no_blocks):
        taken = [*columns.names, *([case] if case else [])]
        refuse_folds_left_out(source.pooled_folds(roles.all, taken), roles.all)
    return roles


def _roles(
    source: Source,
    between: str | None,
    block: Sequence[str] | None,
    columns: Columns | None,
    case: str | None,
    *,
    no_blocks: bool,
) -> Keys:
    if columns is not None and columns.is_wide:
        if between not in (None, MODEL):
            raise InvalidArgument(
                f"--between is {between!r}, and --score has one column per model: their key is "
                f"{MODEL!r}.",
                hint="leave --between out.",
            )
        between = MODEL
    if between is not None and (block or no_blocks):
        return Keys([between], list(block or ()), [])
    if columns is None:
        return _roles_of_measures(source.schema(), between, block, no_blocks)
    usual = source.usual_keys([*columns.names, *([case] if case else [])])
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


def _roles_of_measures(
    schema: pl.Schema, between: str | None, block: Sequence[str] | None, no_blocks: bool
) -> Keys:
    keys = keys_of_measures([name for name in schema if name not in RESERVED])
    models = between or next(iter(keys), "model")
    others = [] if no_blocks else [key for key in keys if key != models]
    blocks = list(block or ()) or others
    usual = (models, blocks) in (("model", ["fold"]), ("model", []))
    folds = f"folds by {quoted(blocks)}" if blocks else "and there are no folds"
    note = (
        f"models are told apart by {quoted([models])}, {folds} (--between and --block name others)."
    )
    return Keys([models], blocks, [] if usual else _one_line([note]))


def with_model(columns: Columns, keys: Sequence[str]) -> list[str]:
    """Keys, before them that of a wide table, which other columns do not have."""
    return [MODEL, *(key for key in keys if key != MODEL)] if columns.is_wide else list(keys)


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
