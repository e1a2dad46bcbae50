"""`polaroc compare`, `choose` and `gate`: which model, and how sure."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.output import Output, write_table
from polaroc.cli.screen import exit_with, print_json, progress, show
from polaroc.cli.sources import further_table, opened
from polaroc.errors import InvalidArgument
from polaroc.predictions.cases import Cases

TARGET = (
    "Whether the answer is about models trained again on other samples of this size, or about "
    "these trained models. [default: trained on one test set, else algorithm]"
)
EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}


def compare(
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
    measure: opt.Measure = None,
    prior: opt.OnePrior = None,
    over: opt.Over = None,
    target: Annotated[Literal["algorithm", "trained"] | None, typer.Option(help=TARGET)] = None,
    level: opt.Level = 0.95,
    out: Annotated[Path | None, opt.out("Folder for the results.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Test whether models differ, and which.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote. The tests hold for
    folds with overlapping training sets.

    Example: polaroc compare results --measure iauprec --test-train-ratio 0.25
    """
    output = Output.checked(out, force, one_table=False)
    with opened(files, sep, decimal) as source, progress("comparing"):
        rows = source.rows(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model,
            fold=fold, case=case, cluster=cluster, count=count, weight=weight,
        )  # fmt: skip
        at = None if prior is None else opt.prior(prior)
        asked = opt.given(
            measure=measure, priors=at, over=over, target=target, test_train_ratio=test_train_ratio
        )
        result = pr.compare(rows, level=level, **asked)
    if output is not None:
        with output.staging() as folder:
            for name, table in result.tables.items():
                write_table(table, folder / f"{name}.csv")
            (folder / "summary.txt").write_text(result.summary() + "\n", encoding="utf-8")
    if as_json:
        names = ("answer", "measure", "size")
        shown = {name: getattr(result, name) for name in names}
        print_json(shown | result.tables, result.warnings)
    else:
        show(result.shown, out)


def choose(
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
    measure: opt.Measure = None,
    tuning: opt.Tuning = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    min_recall: opt.MinRecall = None,
    min_precision: opt.MinPrecision = None,
    max_posfrac: opt.MaxPosfrac = None,
    confidence: opt.Confidence = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Choose a model for a range of priors, and say how sure that is.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote. By default models are
    ranked by AUPREC; with a cost or --tuning by their expected cost, each at its own threshold.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25

    Model and threshold together: polaroc choose test.parquet --tuning tuning.parquet
    --truth label --score p --case id --over 0.05 0.20 --cost-fn 5
    """
    with opened(files, sep, decimal) as source, progress("choosing"):
        rows = source.rows(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model,
            fold=fold, case=case, cluster=cluster, count=count, weight=weight,
        )  # fmt: skip
        asked = opt.given(
            over=over, measure=measure, cost_fn=cost_fn, cost_fp=cost_fp, confidence=confidence,
            constraints=opt.limits(min_recall, min_precision, max_posfrac),
            test_train_ratio=test_train_ratio,
        )  # fmt: skip
        with further_table(tuning, rows, sep, decimal) as tuned:
            result = pr.choose(rows, tuning=tuned, **asked)
    if as_json:
        names = ["answer", "bayes", "minimax", "measure", "models", "priors"]
        names += ["threshold", "promise"] if result.is_by_cost else []
        print_json({name: getattr(result, name) for name in names}, result.warnings)
    else:
        show(result.shown)


def gate(
    files: opt.Files,
    champion: Annotated[str, typer.Option(help="Model in use.", metavar="MODEL")],
    challenger: Annotated[str, typer.Option(help="Model that may replace it.", metavar="MODEL")],
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
    measure: opt.Measure = None,
    over: opt.Over = None,
    prior: opt.OnePrior = None,
    margin: Annotated[
        float, typer.Option(help="How much worse it may be.", metavar="NUMBER")
    ] = 0.0,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the result as Markdown, for a pull request.")
    ] = False,
    quiet: opt.Quiet = False,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Test whether a challenger may replace the champion.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote.

    Exit code 0: it is not worse; 1: it is worse; 3: undecided.

    Example: polaroc gate predictions.parquet --champion forest --challenger svm
    --truth label --score p --case id --over 0.05 0.20 --margin 0.01
    """
    if as_json and as_markdown:
        raise InvalidArgument(
            "both --json and --markdown are given.", hint="leave one of them out."
        )
    with opened(files, sep, decimal) as source, progress("comparing"):
        rows = source.rows(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model,
            fold=fold, case=case, cluster=cluster, count=count, weight=weight,
        )  # fmt: skip
        at = None if prior is None else opt.prior(prior)
        models = _models(rows, champion=champion, challenger=challenger)
        asked = opt.given(measure=measure, over=over, priors=at, test_train_ratio=test_train_ratio)
        result = pr.gate(rows, **models, margin=margin, level=level, **asked)
    with exit_with(EXIT_CODES[result.verdict]):
        if as_markdown:
            typer.echo(result.markdown, nl=False)
        elif as_json:
            names = ["answer", "verdict", *(one.name for one in fields(result))]
            print_json({name: getattr(result, name) for name in names}, result.warnings)
        else:
            show(result.shown)


def _models(rows: Any, **names: str) -> dict[str, Any]:
    """The names of models in the type of their column."""
    dtype = (rows.rows if isinstance(rows, Cases) else rows).schema.get("model")
    return {
        role: opt.labels([name], dtype, "model", f"--{role}")[0] for role, name in names.items()
    }
