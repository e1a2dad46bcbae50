"""`polaroc evaluate`: files of predictions in, measures and charts out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.table import Table

from polaroc import charts
from polaroc.charts.lines import MOST_LINES
from polaroc.cli.inputs import By, Files, Positive, Score, Truth, Weight, labels
from polaroc.cli.screen import MOST_ROWS, out, progress, refusing, table
from polaroc.columns import PRIVATE
from polaroc.curves import curve
from polaroc.errors import InvalidArgument
from polaroc.evaluation import DEFAULT_PRIORS
from polaroc.evaluation import evaluate as measure
from polaroc.hulls import hull
from polaroc.output import check_replaceable, whole
from polaroc.predictions import read
from polaroc.priors import OBSERVED, check_range, prior_grid, resolve_priors
from polaroc.sources import scan
from polaroc.surfaces import surface
from polaroc.typing import Interpolation, Nulls, Prior

AT = PRIVATE + "at"
CHART_PRIORS = 25


@refusing
def evaluate(
    files: Files,
    truth: Truth,
    score: Score,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for measures and charts: new, empty, or an earlier output."
        ),
    ] = None,
    by: By = None,
    weight: Weight = None,
    positive: Positive = None,
    nulls: Annotated[Nulls, typer.Option(help="What to do with null or NaN rows.")] = "raise",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="Prior at which AUPREC is taken, or 'observed'; repeat it for several. "
            f"[default: {' '.join(map(str, DEFAULT_PRIORS))}]",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range of priors LO HI for IAUPREC.", show_default=False),
    ] = None,
    interpolation: Annotated[Interpolation, typer.Option(help="Between ROC points.")] = "exact",
    no_charts: Annotated[bool, typer.Option("--no-charts", help="Write measures only.")] = False,
) -> None:
    """Measure every key of a prediction table, under the priors you expect.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --by model --by fold --over 0.05 0.20 --out results
    """
    frame = scan(files)
    asked = {
        "truth": truth, "score": score, "by": by or [], "weight": weight,
        "positive": labels(frame, truth, positive), "nulls": nulls,
    }  # fmt: skip
    run(frame, asked, _priors(prior), over, interpolation, folder, with_charts=not no_charts)


def run(
    frame: pl.LazyFrame,
    asked: dict[str, Any],
    priors: Sequence[Prior],
    over: tuple[float, float] | None,
    interpolation: Interpolation,
    folder: Path | None,
    *,
    with_charts: bool = True,
) -> pl.DataFrame:
    """Measure, print, and write where a folder is given; returns the measures."""
    columns = _labels(priors, over)
    if folder is not None:
        check_replaceable(folder)
    drawn = with_charts and folder is not None
    with progress() as say:
        say("auditing the rows")
        keys = read(frame, **asked, audited=True).keys
        say("measuring")
        grid = _chart_priors(priors, over) if drawn else []
        everything = measure(
            frame, **asked, priors=[*priors, *grid], over=over, interpolation=interpolation
        ).collect()
        within_key = pl.int_range(pl.len())
        at = within_key.over(keys) if keys else within_key
        last_prior = len(resolve_priors(priors))
        measures = everything.filter((at <= last_prior) | (pl.col("measure") != "auprec"))
        said = []
        if folder is not None:
            with whole(folder) as staging:
                measures.write_parquet(staging / "measures.parquet")
                measures.write_csv(staging / "measures.csv")
                if drawn:
                    curves = curve(frame, **asked)
                    if interpolation == "hull":
                        curves = hull(curves)
                    said = _draw(curves, priors, everything, keys, staging, say)
            written = "measures.parquet, measures.csv" + (
                "" if said or not drawn else " and charts"
            )
            said.append(f"Written to {folder}: {written}.")
    console = out()
    console.print(summary(measures, keys, columns))
    for line in [*_doubts(measures), *said]:
        console.print(line)
    return measures


def summary(measures: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> Table:
    """One line per key; where there are several keys, the mean (SD) over all but the first."""
    within_key = pl.int_range(pl.len())
    placed = measures.with_columns((within_key.over(keys) if keys else within_key).alias(AT))
    shown = [*keys] if len(keys) < 2 else [keys[0]]
    groups = placed.group_by([*shown, AT], maintain_order=True).agg(
        pl.col("estimate").mean().alias("mean"), pl.col("estimate").std().alias("sd")
    )
    rows = []
    for part in groups.partition_by(shown, maintain_order=True) if shown else [groups]:
        cells = [_cell(*pair) for pair in part.sort(AT).select("mean", "sd").iter_rows()]
        rows.append([*(part[key][0] for key in shown), *cells])
    over_keys = f", mean (SD) over {', '.join(keys[1:])}" if len(keys) > 1 else ""
    more = f"; the first {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
    return table(f"Measures{over_keys}{more}", [*shown, *columns], rows[:MOST_ROWS], len(shown))


def _cell(mean: float | None, sd: float | None) -> str | None:
    if mean is None:
        return None
    return f"{mean:.3f}" if sd is None else f"{mean:.3f} ({sd:.3f})"


def _doubts(measures: pl.DataFrame, most: int = 5) -> list[str]:
    """The notes of the measures, the commonest first."""
    kind = pl.col("note").str.replace_all(r"λ/N = \S+:", "λ/N above 0.02:")
    counts = measures.filter(pl.col("note").is_not_null()).group_by(kind).len()
    ordered = counts.sort("len", "note", descending=[True, False])
    lines = [
        f"Note on {count} estimate(s): {note}" for note, count in ordered.head(most).iter_rows()
    ]
    if ordered.height > most:
        lines.append(f"… and {ordered.height - most} kinds of note more, in the column 'note'.")
    return lines


def _draw(
    curves: pl.LazyFrame,
    priors: Sequence[Prior],
    measures: pl.DataFrame,
    keys: Sequence[str],
    folder: Path,
    say: Callable[[str], None],
) -> list[str]:
    """Write the charts; returns what is to be said of those left out."""
    count = measures.select(keys).n_unique() if keys else 1
    panels = len(resolve_priors(priors))
    if count * max(panels, 1) > MOST_LINES:
        return [f"No charts: {count} curves at {panels} priors are more than {MOST_LINES} lines."]
    say("drawing ROC curves")
    charts.export(charts.roc(curves), folder, "roc")
    say("drawing precision-recall curves")
    charts.export(charts.pr(surface(curves, list(priors))), folder, "pr")
    say("drawing AUPREC by prior")
    charts.export(charts.auprec_by_prior(measures), folder, "auprec_by_prior")
    return []


def _priors(asked: list[str] | None) -> list[Prior]:
    if not asked:
        return list(DEFAULT_PRIORS)
    return ["observed" if word == OBSERVED else _number(word) for word in asked]


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InvalidArgument(
            f"--prior is {word!r}, allowed are 0 < prior < 1 and 'observed'.",
            hint="5 % positives is prior 0.05.",
        ) from None


def _chart_priors(priors: Sequence[Prior], over: tuple[float, float] | None) -> list[float]:
    """A grid that spans the priors asked for, to draw AUPREC as a line."""
    numbers = [p for p in resolve_priors(list(priors)) if p is not None] + list(over or ())
    lo, hi = min([*numbers, 0.01]), max([*numbers, 0.5])
    return prior_grid(lo, hi, CHART_PRIORS, "log")["prior"].to_list()


def _labels(priors: Sequence[Prior], over: tuple[float, float] | None) -> list[str]:
    at = ["observed" if p is None else f"{p:g}" for p in resolve_priors(priors)]
    labels = ["AUC", *(f"AUPREC {prior}" for prior in at)]
    if over is not None:
        check_range(*over)
        labels.append(f"IAUPREC {over[0]:g}–{over[1]:g}")
    return labels
