"""`polaroc report` and `polaroc demo`: one page for whoever decides."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.results import Output, Rows
from polaroc.cli.screen import print_notes, progress, show
from polaroc.cli.sources import further_table, opened
from polaroc.files.write import atomic_file, check_new
from polaroc.reports.page import is_report
from polaroc.reports.report import check_format

PAGE = "report.html"
OUT = "The page, or an earlier report; - prints it. A .json file takes what the page says."


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
            rows = source.rows(
                truth=truth, score=score, positive=positive, nulls=nulls, model=model, fold=fold,
                case=case, cluster=cluster, count=count, weight=weight,
            )  # fmt: skip
            asked = opt.given(
                over=over, cost_fn=cost_fn, cost_fp=cost_fp, confidence=confidence,
                constraints=opt.limits(min_recall, min_precision, max_posfrac),
                test_train_ratio=test_train_ratio,
            )  # fmt: skip
            with further_table(tuning, rows, decimal) as tuned:
                pr.report(rows, path=page, tuning=tuned, title=title, tell=notes.append, **asked)
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
    asked: dict[str, Any] = {"truth": "truth", "score": "score", "over": (0.05, 0.20)}
    told: list[str] = []
    with progress("measuring, choosing, drawing"), TemporaryDirectory(prefix="polaroc-") as folder:
        measures = pr.evaluate(table, priors=(0.5, 0.1, 0.01), **asked)
        # Each hold-out has 80 % of the cases for training.
        page = pr.report(
            table, test_train_ratio=0.25, constraints={"recall": 0.9}, path=Path(folder) / PAGE,
            tell=told.append, **asked,
        )  # fmt: skip
        output.write(Rows("measures", measures, []), **{PAGE: page.read_text("utf-8")})
    show(told[0].splitlines())
    print_notes(
        [f"\nOpen {where / PAGE} in a browser for what that rests on."], beside_results=True
    )
