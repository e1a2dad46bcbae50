"""`polaroc chart`: one chart of predictions or measures."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

import polaroc as pr
from polaroc.charts.vega import CHART_FORMATS, chart_bytes
from polaroc.cli import options as opt
from polaroc.cli.measures_table import commonest_notes
from polaroc.cli.screen import print_notes, progress
from polaroc.cli.sources import opened
from polaroc.errors import InvalidArgument
from polaroc.files.write import atomic_file, check_new
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.cases import Cases
from polaroc.typing import Prior

Name = Literal[
    "roc", "pr", "explorer", "auprec_by_prior", "pairs", "accsens_plane", "operating_drift",
    "decision_curves", "cost_curves", "reliability",
]  # fmt: skip


def chart(
    name: Annotated[
        Name, typer.Argument(metavar="NAME", help=f"One of {', '.join(get_args(Name))}.")
    ],
    files: opt.Files,
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    case: opt.Case = None,
    cluster: opt.Cluster = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    test_train_ratio: opt.Ratio = None,
    prior: opt.Priors = None,
    over: opt.Over = None,
    measure: opt.Measure = None,
    title: Annotated[str | None, opt.option("TEXT", "Heading of the chart.")] = None,
    out: Annotated[
        Path | None,
        opt.out("File .html, .svg, .png, .pdf or .json; - prints Vega-Lite. [default: NAME.html]"),
    ] = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Draw one chart.

    pairs, auprec_by_prior and accsens_plane may be drawn from measures that `polaroc evaluate
    --out` wrote; the others need predictions.

    Example: polaroc chart auprec_by_prior 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out areas.svg
    """
    where = Path(f"{name}.html") if out is None else out
    kind = where.suffix[1:].lower()
    if str(where) != opt.STDOUT:
        if kind not in CHART_FORMATS:
            raise InvalidArgument(
                f"--out is {str(where)!r}, allowed are names that end in "
                f"{', '.join(f'.{one}' for one in CHART_FORMATS)}.",
                hint="for example --out roc.html.",
            )
        check_new(where, force)
    with opened(files, decimal) as source, progress("measuring, drawing"):
        rows = source.rows(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model, fold=fold,
            case=case, cluster=cluster, count=count, weight=weight, by=by,
        )  # fmt: skip
        if name == "pairs":
            asked = opt.given(
                priors=prior, over=over, measure=measure, test_train_ratio=test_train_ratio
            )
            tables: list[Any] = [pr.compare(rows, **asked)]
            notes = [f"Note: {warning}" for warning in tables[0].warnings]
        else:
            tables = _tables(name, rows, prior, over)
            notes = commonest_notes(tables[0]) if "note" in tables[0].columns else []
        drawn = getattr(pr.charts, name)(*tables, **opt.given(title=title))
    if str(where) == opt.STDOUT:
        typer.echo(drawn.to_json(indent=None))
        print_notes(notes)
        return
    with atomic_file(where, force) as staging:
        staging.write_bytes(chart_bytes(drawn, kind))
    print_notes([*notes, f"Written to {where}."], beside_results=True)


def _tables(
    name: str, rows: Any, priors: list[Prior] | None, over: tuple[float, float] | None
) -> list[Any]:
    """The tables that a chart is drawn from."""
    lo, hi = over or (0.01, 0.5)
    if not isinstance(rows, Cases):
        if name in ("auprec_by_prior", "accsens_plane"):
            return [rows]
        raise InvalidArgument(
            f"the chart {name!r} is drawn from predictions, and the files hold measures.",
            hint="give the predictions, with --truth and --score.",
        )
    match name:
        case "auprec_by_prior":
            line = priors or pr.prior_grid(lo, hi, 25, "log")["prior"].to_list()
            return [pr.evaluate(rows, priors=line, measure="auprec")]
        case "accsens_plane":
            measures = ["auc_range", "sens"]
            return [pr.evaluate(rows, priors="observed", over=over, measure=measures)]
        case "reliability":
            return [pr.calibration(rows, priors=priors or ["observed"]).curve]
    curves = pr.curve(rows)
    match name:
        case "pr":
            return [pr.surface(curves, priors or list(DEFAULT_PRIORS))]
        case "operating_drift":
            ends = [lo, 0.5, hi] if lo < 0.5 < hi else [lo, hi]
            return [pr.operating_points(curves, priors=ends), curves]
        case "cost_curves":
            return [pr.cost_curve(curves)]
        case "decision_curves":
            return [pr.decision_curve(curves, priors=priors or ["observed"])]
    return [curves]
