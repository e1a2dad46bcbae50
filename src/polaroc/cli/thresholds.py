"""`polaroc threshold` and `polaroc monitor`: thresholds chosen, judged and watched in use."""

from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import typer

import polaroc as pr
from polaroc.base.columns import OVER, OVER_ENDS, PROMISE, curve_keys, join_by_key
from polaroc.base.text import noted_by_kind, significant, with_limits
from polaroc.cli import options as opt
from polaroc.cli.results import Output, Rows, deliver, json_rows, rows_table
from polaroc.cli.screen import print_notes, progress
from polaroc.cli.sources import further_table, opened
from polaroc.errors import InvalidArgument
from polaroc.files.read import scan
from polaroc.files.write import check_new
from polaroc.predictions.cases import Cases
from polaroc.thresholds.saved import SavedThresholds, fingerprint, refuse_unwritten, threshold_texts

ALARM, NOTHING_CHOSEN = 1, 3
Rule = Literal[
    "balanced",
    "cost",
    "posterior",
    "fewest_alarms",
    "max_recall",
    "f_measure",
    "informedness",
    "youden",
]
RULE = (
    "By default 'cost' with a cost, 'fewest_alarms' with --min-recall alone, "
    "'max_recall' (the highest recall) with other limits, else 'balanced' (as many missed "
    "positives as false alarms)."
)
APPLY = (
    "Judge thresholds on FILES: those in a file that --out wrote, at the priors they were chosen "
    "for; or a number, at the share of positives of FILES. With --prior, at that prior."
)
OWN_PRIOR = (
    "Note: no --prior or --over is given: limits and costs are for the share of positives of FILES."
)
THRESHOLD = (
    "The threshold in use; or a file: what `polaroc threshold --out` wrote, or a table with the "
    "columns threshold and the keys."
)
RANGE = "Range of priors that the threshold was chosen for. [default: the one in its file]"
LABELLED = (
    "File of cases in use with their truth: all cases of a period, or a random sample; may be "
    "repeated."
)
LOOKS = "How many periods will be looked at in all; intervals are wider for more."
BATCH = "Days, or other batches, of REFERENCE: limits then allow for differences between them."


def threshold(
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
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    min_recall: opt.MinRecall = None,
    min_precision: opt.MinPrecision = None,
    max_posfrac: opt.MaxPosfrac = None,
    confidence: opt.Confidence = None,
    rule: Annotated[Rule | None, typer.Option(help=RULE)] = None,
    apply: Annotated[str | None, opt.option("FILE|NUMBER", APPLY)] = None,
    out: Annotated[Path | None, opt.out("JSON file for the thresholds.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Choose a threshold that keeps limits, or judge one.

    Exit code 0: done; 3: no threshold can be chosen or promised, and none is written.

    Example: polaroc threshold tuning.parquet --truth label --score p --min-precision 0.8
    --confidence 0.95 --over 0.05 0.20 --out threshold.json,
    then: polaroc threshold test.parquet --truth label --score p --apply threshold.json; of a
    threshold in use: --apply 0.31 --prior 0.05
    """
    limits = opt.limits(min_recall, min_precision, max_posfrac)
    choosing = opt.given(
        rule=rule, constraints=limits, over=over, cost_fn=cost_fn, cost_fp=cost_fp,
        confidence=confidence,
    )  # fmt: skip
    if apply is not None and (choosing or out is not None):
        raise InvalidArgument(
            "--apply judges a threshold, and other options are for choosing one.",
            hint="leave out --out, --rule, the limits, the costs, --over and --confidence.",
        )
    if out is not None:
        check_new(out, force)
    with opened(files, decimal) as source, progress("judging" if apply else "choosing"):
        cases = source.cases(locals()).collect()
        curves = pr.curve(cases)
        keys = curve_keys(curves.lazy())
        at = opt.given(priors=prior)
        if apply is not None:
            points = _judged(cases, curves, apply, at)
        else:
            points = pr.operating_points(cases, **at, **choosing)
            if rule is None:
                print_notes([f"Note: no --rule is given: {points['rule'][0]!r}."])
            if not prior and over is None:
                print_notes([OWN_PRIOR])
    is_chosen = apply is not None or bool(points["tpr"].is_not_null().any())
    written_to = out if is_chosen else None
    if written_to is not None:
        refuse_unwritten(curves.schema, keys)
        SavedThresholds(
            keys, cases.names["score"], over, confidence, limits or {}, fingerprint(curves, keys),
            json_rows(points),
        ).write(written_to, force)  # fmt: skip
    result = _shown(points, keys, curves)
    deliver(result, as_json, written_to, code=0 if is_chosen else NOTHING_CHOSEN)


def _judged(
    cases: Cases[pl.DataFrame], curves: pl.DataFrame, apply: str, at: dict[str, Any]
) -> pl.DataFrame:
    """Rates at thresholds of a file, or at a number, on these cases, with intervals.

    Thresholds for a range of priors are judged at both of its ends.
    """
    threshold = in_use(apply, "--apply")
    if not isinstance(threshold, Path):
        return pr.apply_thresholds(cases, threshold, intervals=True, **at)
    saved = read_thresholds(threshold, cases, curves)
    points = saved.table(cases.rows.schema)
    at = opt.given(priors=saved.over) | at
    # Reading has refused the cases that they were chosen on.
    judged = pr.apply_thresholds(cases, points, same_table=True, intervals=True, **at)
    if PROMISE not in points.columns:
        return judged
    # One threshold may have been chosen, and promised, at several priors.
    of = [*saved.keys, "threshold"]
    promises = points.drop_nulls(PROMISE).group_by(of).agg(pl.col(PROMISE).str.join(" "))
    return join_by_key(judged, promises, of)


def in_use(word: str, option: str) -> Path | float:
    """The threshold in use: a file of thresholds, or a number."""
    if Path(word).is_file():
        return Path(word)
    try:
        return float(word)
    except ValueError:
        raise InvalidArgument(
            f"{option} is {word!r}, and there is no such file.",
            hint="give the file that `polaroc threshold --out` wrote, or a number.",
        ) from None


def read_thresholds(
    file: Path, cases: Cases[pl.DataFrame], curves: pl.DataFrame
) -> SavedThresholds:
    """The thresholds of a file; raise if they were chosen on these cases, or for other models."""
    keys = curve_keys(curves.lazy())
    return SavedThresholds.read(file, curves, keys, cases.names["score"])


def _shown(points: pl.DataFrame, keys: list[str], curves: pl.DataFrame) -> Rows:
    """The thresholds with their rates, promises and notes, equal notes of several keys together."""
    texts = pl.Series("threshold", threshold_texts(points, keys, curves), dtype=pl.String)
    prior = pl.Series("prior", map(significant, points["prior"]))
    shown = points.select(*keys, prior, texts, "tpr", "fpr", "precision")
    if OVER in points:
        # Over a range the precision is shown at both ends.
        t, f = pl.col("tpr"), pl.col("fpr")
        ends = points.select(OVER_ENDS).row(0)
        precision = {
            f"precision at {end:g}": pr.rates.precision(t, f, pr.skew(end)).fill_nan(None)
            for end in ends
        }
        shown = shown.drop("prior", "precision").with_columns(**precision)
    elif "tpr_lower" in points:
        shown = shown.with_columns(
            pl.Series(name, map(with_limits, *points[name, f"{name}_lower", f"{name}_upper"]))
            for name in ("tpr", "fpr", "precision")
        )
    promises = points[PROMISE].drop_nulls().unique(maintain_order=True) if PROMISE in points else ()
    noted = points.filter(pl.col("note").is_not_null()).select(*keys, "note").rows()
    notes = noted_by_kind((", ".join(map(str, key)), note) for *key, note in noted)
    return Rows(
        "thresholds", points, [*promises, rows_table("Thresholds", shown, len(keys))],
        tuple(f"Note: {line}" for line in notes),
    )  # fmt: skip


def monitor(
    reference: Annotated[
        str, typer.Argument(help="Labelled predictions, as one file.", metavar="REFERENCE")
    ],
    files: opt.Files,
    time: Annotated[str, opt.option("COLUMN", "Time in FILES, such as the day.")],
    threshold: Annotated[str, opt.option("NUMBER|FILE", THRESHOLD)],
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    cluster: opt.Cluster = None,
    by: opt.By = None,
    over: Annotated[opt.Range, opt.option("LO HI", RANGE)] = None,
    every: Annotated[opt.Text, opt.option("TEXT", "Length of a period, such as 1d or 1w.")] = None,
    batch: Annotated[opt.Text, opt.option("COLUMN", BATCH)] = None,
    labelled: Annotated[opt.Texts, opt.option("FILE", LABELLED)] = None,
    looks: Annotated[int, opt.option("N", LOOKS)] = 365,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    level: Annotated[float, opt.option("SHARE", "Probability of no false alarm.")] = 0.95,
    out: Annotated[Path | None, opt.out("Table of all periods.")] = None,
    report: Annotated[Path | None, opt.option("PATH", "HTML page with the alarms.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Watch thresholds in use, and say what should change.

    FILES are scores in use, without labels: those of one period, or of several.

    Exit code 0: no alarm; 1: an alarm in one of the periods given.

    Example: polaroc monitor reference.parquet today.parquet --truth label --score p --time day
    --threshold 0.31 --over 0.05 0.20
    """
    output = Output.checked(out, force)
    with opened([reference], decimal) as known, progress("counting"):
        cases = known.cases(locals()).collect()
        given = opt.given(over=over, every=every, batch=batch, cost_fn=cost_fn, cost_fp=cost_fp)
        with (
            further_table(files, cases, decimal) as used,
            further_table(labelled, cases, decimal) as labels,
        ):
            assert used is not None
            result = pr.monitor(
                cases, used, points=_points(threshold, cases), time=time, labelled=labels,
                looks=looks, level=level, **given,
            )  # fmt: skip
    if output is not None:
        output.write(Rows("monitor", result.table, []))
    if report is not None:
        pr.report(result, path=report)
        print_notes([f"Written to {report}."], beside_results=not as_json)
    deliver(result, as_json, out, code=ALARM if result.alarms.height else 0)


def _points(threshold: str, cases: Cases[pl.DataFrame]) -> pl.DataFrame | float:
    """The thresholds in use, as `monitor` takes them."""
    points = in_use(threshold, "--threshold")
    if not isinstance(points, Path):
        return points
    if points.suffix.lower() == ".json":
        saved = read_thresholds(points, cases, pr.curve(cases))
        return saved.table(cases.rows.schema)
    return scan([str(points)], cases.keys).collect()
