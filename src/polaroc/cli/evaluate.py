"""`polaroc check` and `polaroc evaluate`: what a table holds, and how good each model is."""

from pathlib import Path
from typing import Annotated

import typer

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.measures_table import MAX_ROWS, commonest_notes, measures_table
from polaroc.cli.results import Output, Rows, deliver, rows_table
from polaroc.cli.screen import progress
from polaroc.cli.sources import opened
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.audit import balance_note
from polaroc.typing import Interpolation

GRID = "Also take AUPREC at so many priors of the range: 16 do for choose and report."
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
        cases = source.cases(
            truth=truth, score=score, positive=positive, model=model, fold=fold, case=case,
            cluster=cluster, count=count, weight=weight, by=by,
        )  # fmt: skip
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
        Interpolation, typer.Option(help="Of precision between two points of the ROC.")
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
    asked = opt.given(
        priors=priors, over=over, measure=measure, interpolation=interpolation, memory=memory
    )
    if intervals:
        asked |= {"intervals": True, "level": level}
    with opened(files, decimal) as source, progress("measuring") as say:
        cases = source.cases(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model, fold=fold,
            cluster=cluster, count=count, weight=weight, by=by,
        )  # fmt: skip
        asked["progress"] = lambda done, rows: say(f"measuring, {done / rows:.0%} of {rows:,}")
        measures = pr.evaluate(cases, **asked).lazy().collect()
        if measures["positives"].null_count():
            # Collecting the rows says what cannot be ranked.
            cases.collect()
    if measures.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    keys = measures.columns[: measures.columns.index("measure")]
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = commonest_notes(totals.with_columns(balance_note(keys).alias("note")), "key")
    result = Rows(
        "measures", measures, [measures_table(measures, keys, shown, measure or ())],
        (*commonest_notes(measures), *uneven),
    )  # fmt: skip
    if output is not None:
        output.write(result)
    deliver(result, as_json, out)
