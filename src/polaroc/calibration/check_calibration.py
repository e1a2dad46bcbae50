"""Whether scores are probabilities: a test of calibration that holds at every prior."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import CURVE
from polaroc.calibration.score_test import fitted_line, recalibration
from polaroc.curves.curve import curve, in_order
from polaroc.measures.scoring import NOT_PROBABILITIES
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, OF_COUNTS, Columns
from polaroc.predictions.row_checks import SCORE, UNRANKED
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.grids import OBSERVED, reweighted, skew
from polaroc.typing import Prior

RESULT = {
    "prior": pl.Float64(), "mean_score": pl.Float64(), "intercept": pl.Float64(),
    "slope": pl.Float64(), "statistic": pl.Float64(), "freedom": pl.Int64(),
    "p_value": pl.Float64(),
}  # fmt: skip
# Cases of the rarer class below which the prior of the cases is known too badly.
FEW = 30
TOO_FEW = f"fewer than {FEW} cases of a class: calibrated scores are rejected too often"
NO_SLOPE = "all scores are equal, or separate the classes: no slope"


# The test takes cases as independent, so clusters are refused.
@frame_of_cases(
    [*OF_COUNTS, "score_prior"],
    no_bearing=[role for role in BESIDE if role not in ("cluster", "score_prior")],
)
def check_calibration(cases: Cases[Any], **columns: Unpack[Columns]) -> pl.LazyFrame:
    """Test, per key, whether scores are the probabilities they claim to be.

    The score test of intercept 0 and slope 1 in a logistic regression of the truth on the
    log-odds of the score (Cox 1958; Miller, Hui and Tierney 1991). Scores that are right at one
    prior are right, re-weighted, at every other, as long as only the prior shifts: one test is
    enough for all priors.

    Parameters
    ----------
    cases
        Predictions, one row per case: the result of `cases`, or any table that it takes.
    **columns

    Returns
    -------
    Frame of the kind given
        One row per key, sorted: the keys; `prior` Float64, the share of positives here;
        `mean_score` Float64, re-weighted to it; `intercept` and `slope` Float64 of the
        regression (a slope below 1: scores too extreme; above: not extreme enough; an
        intercept below 0: too high); `statistic` Float64, χ² with `freedom` Int64 degrees
        of freedom (two; one where scores are all equal, or one is wrong at 0 or 1);
        `p_value` Float64; `positives`, `negatives`; `note` String, null, or why a number
        is null or what a score of 0 or 1 is wrong about.

    Notes
    -----
    Where `score_prior` is given, scores are re-weighted from it to the share of positives here
    before they are tested, and the test allows for it that this share is estimated.

    A score of 0 for a positive, or of 1 for a negative, refutes calibration without a
    test: `p_value` is 0. A large p-value is no proof of calibration; with few cases it
    says little.

    Calibrated scores it rejected at level 0.05 in 3.9 to 5.4 % of samples of 50 to 1,000
    cases, 10 and 50 % of them positive, and where `score_prior` was given, and there were
    30 cases of the rarer class or more, in 3.8 to 5.5 % (``just calibration size``; 1,000 or
    2,000 samples each, standard errors up to 0.7 %). With fewer it was up to 8.2 % there,
    which `note` says.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> found = pr.check_calibration(table, truth="truth", score="score")
    >>> found.select(pl.col("mean_score", "slope", "p_value").round(2)).row(0)
    (0.47, 0.94, 0.96)
    """
    score_prior = cases.score_prior
    curves = curve(cases).lazy()
    schema = curves.collect_schema()
    keys = [name for name in schema if name not in CURVE]
    totals = {name: schema[name] for name in ("positives", "negatives")}
    result = {key: schema[key] for key in keys} | RESULT | totals | {"note": pl.String()}
    tested = in_order(curves, keys).map_batches(
        lambda table: _tests(table, keys, score_prior, result), schema=result
    )
    doubt = dependence(cases, of_measures=False)
    return with_note(tested, doubt, pl.col("p_value").is_not_null())


def _tests(
    curves: pl.DataFrame, keys: Sequence[str], score_prior: Prior, schema: dict[str, Any]
) -> pl.DataFrame:
    starts = curves.filter(pl.col(SCORE).is_null()).select(*keys, "positives", "negatives")
    rows = [_test(cells, score_prior) for cells in parts_of(curves)]
    numbers = pl.DataFrame(
        rows, schema={name: schema[name] for name in (*RESULT, "note")}, orient="row"
    )
    return pl.concat([starts, numbers], how="horizontal").select(list(schema))


def parts_of(curves: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Each curve of a sorted table, with its anchor."""
    starts = curves.with_row_index("at").filter(pl.col(SCORE).is_null())["at"].to_list()
    for start, end in pairwise([*starts, curves.height]):
        yield curves[start:end]


def _test(curve: pl.DataFrame, score_prior: Prior) -> dict[str, Any]:
    missing = unusable(curve)
    if missing is not None:
        return {"note": missing}
    positives, negatives = curve.row(0, named=True)["positives"], curve["negatives"][0]
    score, pos, neg = (curve[name][1:].to_numpy() for name in (SCORE, "pos", "neg"))
    if score_prior != OBSERVED:
        score = reweighted(score, skew(float(score_prior)), negatives / positives)
    size = pos + neg
    row = {
        "prior": positives / (positives + negatives),
        "mean_score": float(size @ score) / float(size.sum()),
    }
    test = recalibration(score, pos, neg, fitted_prior=score_prior != OBSERVED)
    line = fitted_line(score, pos, neg)
    note = None if line is not None else NO_SLOPE
    if score_prior != OBSERVED and min(positives, negatives) < FEW:
        note = "; ".join(filter(None, (note, TOO_FEW)))
    if test.impossible:
        note = f"scores of 0 or 1 are wrong for {test.impossible:g} cases"
    intercept, slope = (None, None) if line is None else line
    return row | {
        "intercept": intercept, "slope": slope, "statistic": test.statistic,
        "freedom": test.freedom, "p_value": test.p_value, "note": note,
    }  # fmt: skip


def unusable(curve: pl.DataFrame) -> str | None:
    """Why the scores of a curve cannot be taken as probabilities, None where they can."""
    positives, negatives = curve["positives"][0], curve["negatives"][0]
    if positives is None:
        return UNRANKED
    if not positives or not negatives:
        absent = [name for name in ("positives", "negatives") if not curve[name][0]]
        return " and ".join(f"no {name}" for name in absent)
    inside: bool = curve[1:].select(pl.col(SCORE).is_between(0, 1).all()).item()
    return None if inside else NOT_PROBABILITIES
