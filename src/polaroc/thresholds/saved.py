"""Thresholds as they are written: in a small JSON file, with their promise, and as text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.base.columns import AS_TEXT, OVER_ENDS, PRIOR_LIMITS, join_by_key
from polaroc.curves.curve import in_order
from polaroc.errors import InvalidTable, quoted
from polaroc.files.write import atomic_file, keep_input

KIND = "polaroc thresholds 3"
# The beginning of the digest that a file ends with, and a digest to fill in.
SEAL, BLANK = f"{KIND} sha256:", "0" * 64
NUMBERS = (
    "prior", "tpr", "fpr", "precision", "threshold", *OVER_ENDS, *PRIOR_LIMITS,
)  # fmt: skip


@dataclass(frozen=True)
class SavedThresholds:
    """Thresholds, one per key, as they were chosen on a tuning table."""

    keys: list[str]
    scores: list[str]  # the column of the scores, or those of the models
    over: tuple[float, float] | None  # the range of priors
    confidence: float | None  # of the promises
    constraints: dict[str, float]
    fingerprint: str  # of the curves that they were chosen on
    points: list[dict[str, Any]]  # the rows of `operating_points`

    def write(self, path: Path, force: bool = False) -> None:
        """Write the file whole, or not at all."""
        document = {**asdict(self), "seal": SEAL + BLANK}
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
        with atomic_file(path, force) as staging:
            staging.write_bytes(_sealed(text.encode()))

    @classmethod
    def read(
        cls, path: Path, curves: pl.DataFrame, keys: Sequence[str], scores: list[str]
    ) -> "SavedThresholds":
        """The thresholds of a file that `write` wrote, and that nobody changed, for other cases.

        Refused are the tuning table itself, whose rates are too good, and scores of another name.
        """
        document = json.loads(_read_sealed(path))
        del document["seal"]
        saved = cls(**document)
        if not saved.keys and scores != saved.scores:
            raise InvalidTable(
                f"the threshold is of the score {quoted(saved.scores)}, and {quoted(scores)} is "
                "given: it may be another model's.",
                hint="give the scores of the model that the threshold was chosen for.",
            )
        if fingerprint(curves, keys) == saved.fingerprint:
            raise InvalidTable(
                "these are the very cases that the thresholds were chosen on.",
                hint="judge them on other cases.",
            )
        return saved

    def table(self, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """The rows as `apply_thresholds` takes them, keys in the types of the predictions."""
        table = pl.DataFrame(
            {name: [row[name] for row in self.points] for name in self.points[0]},
            schema_overrides={"note": pl.String}, strict=False,
        )  # fmt: skip
        # JSON has no infinite numbers, which are words there.
        present = [name for name in table.columns if name in NUMBERS]
        return table.with_columns(
            pl.col(present).cast(pl.Float64, strict=False),
            *(_typed(key, table.schema[key], kinds[key]) for key in self.keys if key in kinds),
        )


def _sealed(content: bytes) -> bytes:
    """Content whose last digest is that of all other bytes."""
    start = content.rindex(SEAL.encode()) + len(SEAL)
    before, after = content[:start], content[start + len(BLANK) :]
    return before + sha256(before + after).hexdigest().encode() + after


def _read_sealed(file: Path) -> bytes:
    """The content of a file; raise where it has no digest, or was changed."""
    content = file.read_bytes()
    keep_input(file)
    hint = "give the file that `polaroc threshold --out` wrote, as it was."
    if SEAL.encode() not in content:
        raise InvalidTable(f"{str(file)!r} has no digest of {KIND!r}.", hint=hint)
    if _sealed(content) != content:
        raise InvalidTable(
            f"{str(file)!r} was changed after it was written: its digest is of other content.",
            hint=hint,
        )
    return content


def _typed(key: str, written: pl.DataType, kind: pl.DataType) -> pl.Expr:
    """A key of the file in the type that it has in the predictions; times are text in JSON."""
    if written == pl.String and isinstance(kind, pl.Date | pl.Datetime | pl.Time):
        time = "%H:%M:%S%.f" if kind == pl.Time else None
        return pl.col(key).str.strptime(kind, time, strict=False)
    return pl.col(key).cast(kind, strict=False)


def refuse_unwritten(kinds: Mapping[str, pl.DataType], keys: Sequence[str]) -> None:
    """Refuse keys of types that could not be read from the file again."""
    for key in keys:
        if kinds[key].is_nested() or kinds[key] in (pl.Binary, pl.Duration):
            raise InvalidTable(
                f"the key {key!r} is {kinds[key]}, of which no file of thresholds is written.",
                hint=AS_TEXT,
            )


def fingerprint(curves: pl.DataFrame, keys: Sequence[str]) -> str:
    """A hash of the cells of curves, the same for any order of rows."""
    ordered = in_order(curves.lazy(), keys).select(*keys, "threshold", "pos", "neg").collect()
    # Whole weights and counts are the same cases.
    counts = pl.col("pos", "neg").cast(pl.Float64)
    return sha256(ordered.with_columns(counts).write_csv().encode()).hexdigest()


def threshold_text(threshold: float, below: float | None = None) -> str:
    """A threshold in as few digits as select the same cases; in all without the score `below` it.

    It is rounded down to two digits or more, and nearer to the threshold than to the next lower
    score (-inf if there is none), so that scores of single precision are on the same side, too.

    Examples
    --------
    >>> threshold_text(0.767285, 0.7661), threshold_text(-1.83818, -1.8382), threshold_text(3.0)
    ('0.767', '-1.83818', '3')
    >>> threshold_text(0.00063612, 0.00060001), threshold_text(0.00063612)
    ('0.00063', '0.00063612')
    """
    if below is not None and isfinite(threshold):
        exact, middle = Decimal(repr(float(threshold))), (below + threshold) / 2
        for digits in range(2 if isfinite(below) else 3, 18):
            rounded = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
            if middle < rounded <= threshold:
                return repr(rounded).removesuffix(".0")
    return repr(float(threshold)).removesuffix(".0")


def threshold_texts(
    points: pl.DataFrame, keys: Sequence[str], *curves: pl.DataFrame
) -> list[str | None]:
    """The text of each threshold, None of None.

    It selects the same cases as the threshold from the scores of its key in all curves. A key that
    no curve has gets all digits.
    """
    score, is_lower = pl.col("score"), pl.col("score") < pl.col("threshold")
    scores = pl.concat(one.select(*keys, score="threshold") for one in curves).drop_nulls("score")
    next_lower = score.filter(is_lower).max().fill_null(-inf)
    beside = (
        points.select(*keys, "threshold")
        .with_row_index("place")
        .pipe(join_by_key, scores, keys)
        .group_by("place", maintain_order=True)
        .agg(pl.first("threshold"), below=pl.when(score.count() > 0).then(next_lower))
    )
    return [
        None if at is None else threshold_text(at, below)
        for at, below in beside.select("threshold", "below").iter_rows()
    ]
