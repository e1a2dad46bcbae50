"""`polaroc report`, `demo` and `chart`: pages and pictures for whoever decides."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

import polaroc as pr
from polaroc.charts.vega import CHART_FORMATS, chart_bytes
from polaroc.cli import options as opt
from polaroc.cli.evaluate import commonest_notes
from polaroc.cli.results import Output, Rows
from polaroc.cli.screen import print_notes, progress, show
from polaroc.cli.sources import further_table, opened
from polaroc.errors import InvalidArgument
from polaroc.files.write import atomic_file, check_new
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.cases import Cases
from polaroc.reports.page import is_report
from polaroc.reports.report import check_format
from polaroc.typing import Prior

Name = Literal[
    "roc", "pr", "explorer", "auprec_by_prior", "pairs", "accsens_plane", "operating_drift",
    "decision_curves", "cost_curves", "reliability",
]  # fmt: skip
PAGE = "report.html"
OUT = "File of the page; - prints it. If it ends in .json, the words and tables of the page."


def report(
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
    test_train_ratio: opt.Ratio = None,
    over: opt.Over = None,
    tuning: opt.Tuning = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    min_recall: opt.MinRecall = None,
    min_precision: opt.MinPrecision = None,
    max_posfrac: opt.MaxPosfrac = None,
    confidence: opt.Confidence = None,
    title: Annotated[str | None, opt.option("TEXT", "Heading of the page.")] = None,
    where: Annotated[Path, opt.out(OUT)] = Path(PAGE),
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Write one page: which model, how sure, at which threshold.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote. What the threshold is
    for is one of --min-recall, --min-precision and --max-posfrac, or costs.

    Example: polaroc report 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25 --out report.html
    """
    check_format(where)
    to_stdout = str(where) == opt.STDOUT
    if not to_stdout:
        check_new(where, force or is_report)
    notes: list[str] = []
    with TemporaryDirectory(prefix="polaroc-") as folder:
        page = Path(folder) / (PAGE if to_stdout else where.name)
        with opened(files, decimal) as source, progress("measuring, choosing, drawing"):
            rows = source.rows(locals())
            options = opt.given(
                over=over, cost_fn=cost_fn, cost_fp=cost_fp, confidence=confidence,
                constraints=opt.limits(min_recall, min_precision, max_posfrac),
                test_train_ratio=test_train_ratio,
            )  # fmt: skip
            with further_table(tuning, rows, decimal) as tuned:
                pr.report(rows, path=page, tuning=tuned, title=title, tell=notes.append, **options)
        if to_stdout:
            sys.stdout.buffer.write(page.read_bytes())
        else:
            with atomic_file(where, force or is_report) as staging:
                shutil.copyfile(page, staging)
    answer, *others = notes
    lines = [answer, "", *("Note: " + note for note in others)]
    if to_stdout:
        print_notes(lines)
    else:
        show(lines, where)


def demo(
    where: Annotated[Path, opt.out("Folder for measures and the report.")] = Path("polaroc-demo"),
    force: opt.Force = False,
    quiet: opt.Quiet = False,
) -> None:
    """Choose among three models of satellite images, as an example.

    Example: polaroc demo --out satellite
    """
    table = pr.datasets.satellite_predictions()
    output = Output.checked(where, force, one_table=False)
    assert output is not None
    introduction = (
        f"Models A, B and C find cotton crop and damp grey soil in satellite images (P-ROC §6): "
        f"{table.height:,} predictions, on {table['fold'].n_unique()} folds. Suppose 5 to 20 % of "
        "the cases in use are positive, and 90 % of these are to be found: which model, at which "
        "threshold, and how sure is that?\n"
    )
    print_notes([introduction], beside_results=True)
    options: dict[str, Any] = {"truth": "truth", "score": "score", "over": (0.05, 0.20)}
    sentences: list[str] = []
    with progress("measuring, choosing, drawing"), TemporaryDirectory(prefix="polaroc-") as folder:
        measures = pr.evaluate(table, priors=(0.5, 0.1, 0.01), **options)
        # Each hold-out has 80 % of the cases for training.
        page = pr.report(
            table, test_train_ratio=0.25, constraints={"recall": 0.9}, path=Path(folder) / PAGE,
            tell=sentences.append, **options,
        )  # fmt: skip
        output.write(Rows("measures", measures, []), **{PAGE: page.read_text("utf-8")})
    show(sentences[0].splitlines())
    print_notes(
        [f"\nOpen {where / PAGE} in a browser for what that rests on."], beside_results=True
    )


def chart(
    name: Annotated[Name, typer.Argument(metavar="NAME", help="Which chart.")],
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
        rows = source.rows(locals())
        if name == "pairs":
            options = opt.given(
                priors=prior, over=over, measure=measure, test_train_ratio=test_train_ratio
            )
            tables: list[Any] = [pr.compare(rows, **options)]
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
