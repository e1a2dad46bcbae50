"""`polaroc choose`, `compare` and `gate`: which model, and how certain."""

from pathlib import Path
from typing import Annotated

import typer

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.results import Output, deliver
from polaroc.cli.screen import progress
from polaroc.cli.sources import further_table, opened
from polaroc.cli.thresholds import NOTHING_CHOSEN
from polaroc.predictions.cases import Cases


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
    decimal: opt.Decimal = ".",
) -> None:
    """Choose a model for a range of priors, with its certainty.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote. By default models are
    ranked by AUPREC; with a cost or --tuning by their expected cost, each at its own threshold;
    with --tuning and limits alone by the missed positives or false alarms that the limits allow.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25

    Exit code 0: done; 3: no threshold can be chosen or promised for any model.

    Model and threshold together: polaroc choose test.parquet --tuning tuning.parquet
    --truth label --score p --case id --over 0.05 0.20 --cost-fn 5
    """
    with opened(files, decimal) as source, progress("choosing"):
        rows = source.rows(locals())
        options = opt.given(
            over=over, measure=measure, cost_fn=cost_fn, cost_fp=cost_fp, confidence=confidence,
            constraints=opt.limits(min_recall, min_precision, max_posfrac),
            test_train_ratio=test_train_ratio,
        )  # fmt: skip
        with further_table(tuning, rows, decimal) as tuned:
            result = pr.choose(rows, tuning=tuned, **options)
    deliver(result, as_json, code=NOTHING_CHOSEN if result.bayes is None else 0)


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
    level: opt.Level = 0.95,
    out: Annotated[Path | None, opt.out("Folder for the results.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Test whether models differ, and which.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote. The tests hold for
    folds with overlapping training sets.

    Example: polaroc compare results --measure iauprec --test-train-ratio 0.25
    """
    output = Output.checked(out, force, one_table=False)
    with opened(files, decimal) as source, progress("comparing"):
        rows = source.rows(locals())
        options = opt.given(
            measure=measure, priors=prior, over=over, test_train_ratio=test_train_ratio
        )
        result = pr.compare(rows, level=level, **options)
    if output is not None:
        output.write(result)
    deliver(result, as_json, out)


def gate(
    files: opt.Files,
    champion: Annotated[str, opt.option("MODEL", "Model in use.")],
    challenger: Annotated[str, opt.option("MODEL", "Model that may replace it.")],
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
    margin: Annotated[float, opt.option("NUMBER", "How much worse it may be.")] = 0.0,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the result as Markdown, for a pull request.")
    ] = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Test whether a challenger may replace the champion.

    FILES are predictions, or measures that `polaroc evaluate --out` wrote.

    Exit code 0: it is not worse; 1: it is worse; 3: undecided.

    Example: polaroc gate predictions.parquet --champion forest --challenger svm
    --truth label --score p --case id --over 0.05 0.20 --margin 0.01
    """
    with opened(files, decimal) as source, progress("comparing"):
        rows = source.rows(locals())
        models = (rows.rows if isinstance(rows, Cases) else rows).schema.get("model")
        one, other = opt.labels([champion, challenger], models, "model", "--champion, --challenger")
        options = opt.given(
            measure=measure, over=over, priors=prior, test_train_ratio=test_train_ratio
        )
        result = pr.gate(
            rows, champion=one, challenger=other, margin=margin, level=level, **options
        )
    text = result.markdown if as_markdown else None
    deliver(result, as_json, code={"pass": 0, "fail": 1, "undecided": 3}[result.verdict], text=text)
