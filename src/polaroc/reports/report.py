"""A report: one self-contained HTML page with the model, its threshold and their certainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

from polaroc.base.checks import check_text, refuse_unused
from polaroc.errors import InvalidArgument, quoted
from polaroc.files.write import atomic_file, check_new
from polaroc.models.inputs import compared_cases
from polaroc.monitoring.result import Monitor
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over, checked_over
from polaroc.reports.findings import Findings, of_measures, of_predictions
from polaroc.reports.monitor_page import TITLE as OF_MONITOR
from polaroc.reports.monitor_page import monitor_page
from polaroc.reports.page import as_json, content, is_report, page
from polaroc.reports.request import Request
from polaroc.reports.sentences import decide, title_of
from polaroc.typing import PolarsFrame, Prior, Table


def report(
    table: Table | Cases[Any] | Monitor,
    *,
    path: str | Path,
    over: float | Over | PolarsFrame | None = None,
    level: float = 0.95,
    confidence: float | None = None,
    constraints: Mapping[str, float] | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    tuning: Table | Cases[Any] | None = None,
    title: str | None = None,
    tell: Callable[[str], None] | None = None,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> Path:
    """Write one HTML page: which model, at which threshold, how sure, and what that rests on.

    The page needs no network and no Python. Its first screen says what to do, what
    becomes of 1,000 cases, how sure that is and what would change it. Then come the
    findings (ranking, charts, tests) and the method (data, sources, a glossary).

    Parameters
    ----------
    table
        Predictions, one row per model, fold and case: any table that `cases` takes, or its result,
        of one model or several. Or tidy measures, which take no column keywords: the page then
        lacks the parts that need predictions, and says so. Or the result of `monitor`, alone with
        `path`, `title` and `tell`: the page then has its alarms in plain words. With `case` fitted
        models of one test set are compared case by case, and thresholds of folds that share cases
        are judged on cases that took no part in setting them.
    path
        The file to write: an HTML page, or if its name ends in .json the same content for
        programs. An earlier report there is replaced, whole or not at all; any other file is
        left alone. Folders that are missing are made.
    over
        The range (lo, hi) of priors, a single prior, a belief about it, or, for
        predictions, one row of `estimate_prior`, whose uncertainty is then in the
        intervals. Needed for
        predictions; of measures, by default the priors they were taken at.
    level
        Coverage of intervals, in (0, 1); tests are made at 1 − `level`.
    confidence
        With `tuning`: promise the `constraints` with this probability, in (0, 1). By default
        nothing is promised, as by `choose` and `operating_points`.
    constraints
        The goal of the threshold, one limit in (0, 1) or costs: ``{"recall": 0.9}``, the least
        share of positives that it finds; ``{"precision": 0.5}``, the least share of alarms that
        are right, at every prior of the range; or ``{"posfrac": 0.05}``, the greatest share of
        cases with an alarm. By default the page says that no goal was given, and shows as examples
        the thresholds that find 80, 90 and 95 % of positives.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm: the threshold is then that
        of least expected cost at the mean prior. One of them alone is against 1. Models
        are ranked by what they cost, as by `choose`: several models of one test set need `tuning`.
        With `tuning` and `constraints` but no costs they are ranked by the errors that the
        constraints leave to minimise: missed positives, or false alarms.
    tuning
        Of one test set: predictions of the same models on other cases. The threshold is
        then set on these, with `confidence` so that its *true* rates meet what is needed (costs
        cannot be promised); what it does is judged on `table`. It has the same columns, or is the
        result of `cases`. Folds, whose models are fitted anew, promise nothing.
    title
        Heading of the page.
    tell
        A function, such as `print`, which is called first with the answer, a sentence per line,
        and then with what would change it, each caution and each assumption. All are on the page,
        too, which is written afterwards, and not if the function raises.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    test_train_ratio
        Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `evaluate`, `choose` and `operating_points`.
    NotSupported
        For `by`; with `confidence`, for a `weight`.
    OutputRefused
        Where `path` is a file that is no report.

    Notes
    -----
    Measures are those of P-ROC and AccSens, curves are interpolated as in D&G. Intervals over
    folds are x̄ ± t √(s²(1/J + r)) with J folds and r = `test_train_ratio` (Nadeau and Bengio
    2003); on one test set they are those of `evaluate`. Over folds the rates of each fold at a
    threshold are averaged, as the models of folds are mostly fitted anew and their scores not
    ranked together; each fold is judged at thresholds that were set on others, and, where
    `case` is given, without the cases it is judged on. On one test set, a threshold for a
    recall or a capacity is an order statistic, so that exact binomial limits of its rates hold
    for independent cases; thresholds for a precision or costs are judged on fifths of the cases
    that they were not set on, with limits that hold at all thresholds at once. With `cluster` the
    rates of a threshold have no limits, and the comparison is that of `compare`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> import polaroc as pr
    >>> predictions = pr.datasets.satellite_predictions()
    >>> where = Path(tempfile.mkdtemp()) / "report.html"
    >>> pr.report(
    ...     predictions.filter(pl.col("fold") <= 3), truth="truth", score="score",
    ...     over=(0.05, 0.20), test_train_ratio=0.25, path=where,
    ... ).name
    'report.html'
    """
    file = Path(path)
    check_format(file)
    check_new(file, is_report)
    if title is not None:
        check_text("title", title, "Fraud in March")
    if tell is not None and not callable(tell):
        raise InvalidArgument(
            f"tell is {quoted([tell])}, allowed is a function of a sentence.",
            hint="for example tell=print.",
        )
    is_json = file.suffix.lower() == ".json"
    if isinstance(table, Monitor):
        refuse_unused(
            "for predictions or measures", "the result of monitor has all that its page shows",
            **columns, over=over, constraints=constraints, cost_fn=cost_fn, cost_fp=cost_fp,
            tuning=tuning,
        )  # fmt: skip
        if is_json:
            raise InvalidArgument(
                f"path is {str(file)!r}, and the result of monitor is written as an HTML page.",
                hint="for example path='monitor.html'.",
            )
        written = monitor_page(table, OF_MONITOR if title is None else title)
        sentences = [table.answer]
    else:
        cases = compared_cases(table, columns, score_prior, test_train_ratio)
        findings = _found(
            cases, over, tuning, level=level, confidence=confidence, cost_fn=cost_fn,
            cost_fp=cost_fp, constraints={} if constraints is None else constraints,
        )  # fmt: skip
        heading = title_of(findings) if title is None else title
        written = as_json(content(findings, heading)) if is_json else page(findings, heading)
        decision = decide(findings)
        others = [decision.to_set, *decision.changes, *findings.cautions, *findings.assumptions]
        sentences = ["\n".join(decision.answer), *filter(None, others)]
    if tell is not None:
        for sentence in sentences:
            tell(sentence)
    with atomic_file(file, is_report) as staging:
        staging.write_text(written, encoding="utf-8")
    return file


def _found(cases: Cases[Any], over: Any, tuning: Any, **options: Any) -> Findings:
    """The findings of predictions or of measures."""
    priors = checked_over((over, over) if isinstance(over, int | float) else over)
    request = Request(priors, is_tuned=tuning is not None, **options)
    if cases.truth is not None:
        if priors is None:
            raise InvalidArgument(
                "predictions are given without a range of priors.", hint="give over=(0.05, 0.20)."
            )
        return of_predictions(cases, request, tuning)
    refuse_unused(
        "for predictions", "measures are given", tuning=tuning, cost_fn=request.cost_fn,
        cost_fp=request.cost_fp, **request.constraints,
        hint="leave it out, or give predictions with truth and score.",
    )  # fmt: skip
    if isinstance(priors, Belief) and priors.is_estimate:
        raise InvalidArgument(
            "over is an estimated prior, and there are no predictions: measures at one prior do "
            "not say what they are at others.",
            hint="give predictions, with truth and score, or a range of priors.",
        )
    return of_measures(cases, request)


def check_format(file: Path) -> None:
    """Refuse names of files in other formats than HTML and JSON."""
    if file.suffix.lower() not in ("", ".html", ".htm", ".json"):
        raise InvalidArgument(
            f"path is {str(file)!r}, and a report is an HTML page or JSON.",
            hint="for example path='report.html'; a browser prints it as PDF.",
        )
