"""`polaroc check` and `polaroc evaluate`: what a table holds, and how good each model is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

import polaroc as pr
from polaroc.base.columns import SHARE
from polaroc.base.text import number, with_limits
from polaroc.base.text_tables import MOST_NOTES, FoldedTable, table
from polaroc.cli import options as opt
from polaroc.cli.results import Output, Rows, deliver, rows_table
from polaroc.cli.screen import progress
from polaroc.cli.sources import opened
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS, label
from polaroc.predictions.audit import balance_note
from polaroc.typing import Interpolation, Prior

MAX_ROWS = 40
GRID = "Also measure AUPREC at N priors within --over; for choose and report give 16."
MEMORY = "Memory to use: bytes, a size such as 4GB, or 'auto' for 60 % of what is available."


def check(
    files: opt.Files,
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    model: opt.Model = None,
    fold: opt.Fold = None,
    case: opt.Case = None,
    cluster: opt.Cluster = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Audit predictions: what each key holds and lacks.

    Example: polaroc check 'predictions/*.parquet' --truth label --score p
    """
    with opened(files, decimal) as source, progress("auditing"):
        cases = source.cases(locals())
        audit = pr.check(cases)
    if audit.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    missing, rows = int(audit["missing"].sum()), int(audit["rows"].sum())
    usable = f"{missing:,} of {rows:,} rows lack a value" if missing else "every row can be used"
    more = f"; the first {MAX_ROWS}, --json has all" if audit.height > MAX_ROWS else ""
    title = f"{audit.height} key(s); {usable}{more}"
    shown = rows_table(title, audit.head(MAX_ROWS), audit.columns.index("rows"))
    notes = commonest_notes(audit if as_json else audit.tail(-MAX_ROWS), "key")
    deliver(Rows("keys", audit, [shown], tuple(notes)), as_json)


def evaluate(
    files: opt.Files,
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    cluster: opt.Cluster = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    prior: opt.Priors = None,
    over: opt.Over = None,
    grid: Annotated[int | None, opt.option("N", GRID)] = None,
    measure: opt.Measures = None,
    interpolation: Annotated[
        Interpolation, typer.Option(help="How precision runs between two points of the ROC.")
    ] = "exact",
    intervals: Annotated[bool, typer.Option("--intervals", help="Also give intervals.")] = False,
    level: opt.Level = 0.95,
    memory: Annotated[str | None, opt.option("SIZE", MEMORY)] = None,
    out: Annotated[
        Path | None, opt.out("Folder for the measures; or a table, such as measures.csv.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Measure every model and fold, at the priors you expect.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out results

    In a pipe: cat p.csv | polaroc evaluate - --truth label --score p --json | jq '.[].estimate'
    """
    output = Output.checked(out, force)
    shown = prior or list(DEFAULT_PRIORS)
    priors = [*shown]
    if grid is not None:
        if over is None:
            raise InvalidArgument(
                f"--grid is {grid}, and there is no range of priors.", hint="give --over 0.05 0.20."
            )
        priors += [one for one in pr.prior_grid(*over, grid)["prior"] if one not in shown]
    options = opt.given(
        priors=priors, over=over, measure=measure, interpolation=interpolation, memory=memory
    )
    if intervals:
        options |= {"intervals": True, "level": level}
    with opened(files, decimal) as source, progress("measuring") as say:
        cases = source.cases(locals())
        options["progress"] = lambda done, rows: say(f"measuring, {done / rows:.0%} of {rows:,}")
        measures = pr.evaluate(cases, **options).collect()
    if measures.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    keys = measures.columns[: measures.columns.index("measure")]
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = commonest_notes(totals.with_columns(note=balance_note(keys)), "key")
    result = Rows(
        "measures", measures, [measures_table(measures, keys, shown, measure or ())],
        (*commonest_notes(measures), *uneven),
    )  # fmt: skip
    if output is not None:
        output.write(result)
    deliver(result, as_json, out)


def measures_table(
    measures: pl.DataFrame, keys: Sequence[str], priors: Sequence[Prior], names: Sequence[str]
) -> FoldedTable:
    """One row per value of the first key, with the mean (SD) over the other keys.

    With intervals there is one row per key. Measures at priors have a column for each of `priors`;
    of no `names` the common measures are shown.
    """
    present, columns = {*measures["measure"]}, dict[str, pl.Expr]()
    for name, spec in CATALOG.items():
        if name not in (names or present) or not (names or spec.in_summary):
            continue
        of_measure = pl.col("measure") == name
        if spec.at_priors:
            for prior in priors:
                text = prior if isinstance(prior, str) else f"{prior:g}"
                columns[f"{label(name)} {text}"] = of_measure & _is_at(prior)
        else:
            columns[label(name)] = of_measure
    limits = [name for name in ("lower", "upper") if name in measures.columns]
    by = keys if limits else keys[:1]
    cells = []
    for heading, is_shown in columns.items():
        values = pl.col("estimate").filter(is_shown)
        ends = pl.col(limits).filter(is_shown).first()
        parts = pl.struct(ends, mean=values.mean(), sd=values.std(), missing=values.null_count())
        cells.append(parts.alias(heading))
    # Without a key there is one row.
    groups = measures.group_by(by, maintain_order=True).agg(cells)
    rows = [
        [_cell(**value) if isinstance(value, dict) else value for value in row]
        for row in groups.head(MAX_ROWS).rows()
    ]
    over_keys = f", mean (SD) over {', '.join(keys[len(by) :])}" if len(keys) > len(by) else ""
    more = f"; the first {MAX_ROWS} of {groups.height}" if groups.height > MAX_ROWS else ""
    return table(f"Measures{over_keys}{more}", groups.columns, rows, len(by))


def _is_at(prior: Prior) -> pl.Expr:
    """Whether a measure is at a prior; one at an observed prior may be among those at numbers."""
    if not isinstance(prior, str):
        return pl.col("prior") == prior
    # Observed priors are quotients of counts, or of sums of weights.
    return ((pl.col("prior") - SHARE).abs() < 1e-12) | pl.col("prior").is_null()


def _cell(mean: float | None, sd: float | None, missing: int, **limits: float | None) -> str | None:
    if mean is None:
        return None
    if limits:
        return with_limits(mean, **limits)
    text = f"{number(mean)}" if sd is None else f"{number(mean)} ({number(sd)})"
    return f"{text} without {missing}" if missing else text


def commonest_notes(rows: pl.DataFrame, of: str = "estimate") -> list[str]:
    """The notes of measures, or of other rows, the commonest first."""
    kinds = pl.col("note").str.split("; ").explode()
    counts = rows.drop_nulls("note").select(kinds).group_by("note").len()
    ordered = counts.sort("len", "note", descending=[True, False])
    lines = [f"Note on {count} {of}(s): {note}" for note, count in ordered.head(MOST_NOTES).rows()]
    if ordered.height > MOST_NOTES:
        lines.append(f"Note: {ordered.height - MOST_NOTES} more kinds, in the column 'note'.")
    return lines
