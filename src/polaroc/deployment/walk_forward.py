"""Thresholds set on the past and judged on the next period, step by step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share, check_whole
from polaroc.base.columns import COVERAGE, PROMISE, refuse_clash
from polaroc.base.docstrings import described_as
from polaroc.base.joins import join_on
from polaroc.base.private_columns import private
from polaroc.base.statistics import student
from polaroc.base.text import capitalised
from polaroc.deployment.period_rates import PERIOD_RATES, tidy_rates
from polaroc.deployment.walk_forward_result import WalkForward, main_rates
from polaroc.errors import Hint, InvalidPredictions, check_choice
from polaroc.predictions.calendar import PERIOD, keys_but_period, with_periods
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.takes_cases import takes_cases
from polaroc.priors.grids import skew
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.named_rates import rate_at
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rules import RULES, Rule
from polaroc.typing import Prior

# Steps from which on they tell how much the next one may differ.
FEWEST_STEPS = 3
FEW_STEPS = f"fewer than {FEWEST_STEPS} steps do not tell how much the next one may differ"
STEP = (
    PERIOD, "measure", "prior", "threshold", "past", "estimate", "lower", "upper", COVERAGE,
    "std_error", "positives", "negatives", "note",
)  # fmt: skip
EXPECTED = {
    "measure": pl.String(), "prior": pl.Float64(), "threshold": pl.Float64(),
    "past": pl.Float64(), "estimate": pl.Float64(), "lower": pl.Float64(),
    "upper": pl.Float64(), COVERAGE: pl.Float64(), "std_error": pl.Float64(), "steps": pl.Int64(),
    "shift": pl.Float64(), "spread": pl.Float64(), "note": pl.String(),
}  # fmt: skip


@described_as(operating_points)
@takes_cases(
    [*COUNTED_BY, "cluster", "time"],
    no_bearing=[role for role in BESIDE if role not in ("cluster", "time")],
)
def walk_forward(
    cases: Cases[Any],
    every: str | None = None,
    *,
    rule: Rule | None = None,
    prior: Prior = "observed",
    over: tuple[float, float] | None = None,
    target: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    history: int | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> WalkForward:
    """What thresholds set on the past do in the next period, step by step.

    Parameters
    ----------
    cases
        Labelled predictions with their `time`: the result of `cases`, or any table that it
        takes. They were made by models that had not seen these cases; where the `time` is
        the `fold`, too, by a model fitted anew in each period.
    **columns
    every
        The length of a period, as in `periods`.
    rule, target, constraints, confidence
        How the threshold is set on the past, as in `operating_points`.
    prior
        The prior that it is set for, in (0, 1), or "observed", the share of positives in
        the past. What it does is taken at the same prior.
    over
        A range (lo, hi) of priors instead.
    history
        How many of the last periods are the past; by default all before.
    level
        Coverage of limits, in (0, 1).

    Returns
    -------
    WalkForward
        `table`, a row per key, period and rate: the rate on the past, and what came of it;
        `expected`, a row per key and rate: what to expect of the next period; an
        `answer` in sentences.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `operating_points` and `apply_thresholds`; without a `time`; of one period.

    Notes
    -----
    The rate on the past, `past`, is of the very cases that the threshold was set on. `shift` says
    how far later periods are from it on average, and `spread` as their standard deviation over the
    steps. The next period is expected at the rate on the past of a threshold set now, plus the
    shift. Its measured rate lies between the limits: Student's, with the spread and the error of
    the shift. With fewer than three steps there are none. They hold for a period that differs from
    the past as those before did, and has about as many cases. Each step compares rates at one
    prior, which with ``"observed"`` is that of the past, another one from step to step.
    ``just days steps`` simulates how often they do.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "month": [i // 50 for i in range(300)], "truth": [1, 1, 0, 0, 0] * 60,
    ...     "score": [i * 37 % 101 + 60 * (i % 5 < 2) for i in range(300)],
    ... })
    >>> steps = pr.walk_forward(
    ...     table, rule="recall", target=0.8, truth="truth", score="score", time="month"
    ... )
    >>> found = steps.table.filter(measure="tpr")
    >>> found.select("period", "past", "estimate").rows()
    [(1, 0.8, 0.75), (2, 0.8, 0.8), (3, 0.8, 0.85), (4, 0.8, 0.8), (5, 0.8, 0.85)]
    """
    check_share("level", level)
    costs: dict[str, Any] = {"cost_fn": cost_fn, "cost_fp": cost_fp}
    check_factors(**costs)
    if rule is not None:
        check_choice("rule", rule, RULES)
    if history is not None:
        check_whole("history", history, 1)
    held = with_periods(cases, every)
    keys = keys_but_period(held)
    refuse_clash(keys, [*EXPECTED, *STEP])
    periods = held.table[PERIOD].unique().sort().to_list()
    if len(periods) < 2:
        raise InvalidPredictions(
            f"there are {len(periods)} periods: needed is a past and a next one.",
            hint=Hint("give more time, or shorter periods, such as {every}.", every="1w"),
        )
    at = {"priors": prior} if over is None else {"over": over}
    # Costs of the rule "cost" are those by which it is judged; other rules set none.
    of_rule = costs if rule in ("cost", "posterior", None) else {}
    options = {
        "rule": rule, "target": target, "constraints": constraints, "confidence": confidence,
    } | at | of_rule  # fmt: skip
    steps = list(_steps(held, periods, keys, history, options, costs, level))
    table = pl.concat(steps).sort(*keys, PERIOD, _order(), nulls_last=True).select(*keys, *STEP)
    now = _set_on(held, periods[-(history or len(periods)) :], options)
    expected = _expected(table, _on_past(now, keys, costs), keys, level)
    main = main_rates(now["rule"][0], constraints)
    few = table[PERIOD].n_unique() < FEWEST_STEPS
    warnings = (f"{capitalised(FEW_STEPS)}.",) if few else ()
    return WalkForward(table, expected, main, warnings, level)


def _part(held: Cases[pl.DataFrame], periods: Sequence[Any]) -> Cases[pl.DataFrame]:
    """The cases of some periods, which are not told apart."""
    # Text would be the name of a column.
    ends = pl.lit(periods[0]), pl.lit(periods[-1])
    kept = held.table.filter(pl.col(PERIOD).is_between(*ends))
    by = tuple(one for one in held.by if not (isinstance(one, str) and one == PERIOD))
    return replace(held, table=kept, by=by, score_prior="observed")


def _set_on(
    held: Cases[pl.DataFrame], past: Sequence[Any], options: Mapping[str, Any]
) -> pl.DataFrame:
    """The points of the cases of some periods."""
    points: pl.DataFrame = operating_points(_part(held, past), **options)
    return points.drop(PROMISE, strict=False)


def _steps(
    held: Cases[pl.DataFrame],
    periods: Sequence[Any],
    keys: Sequence[str],
    history: int | None,
    options: Mapping[str, Any],
    costs: Mapping[str, Any],
    level: float,
) -> Iterator[pl.DataFrame]:
    """What came of each step, beside the rates on the past."""
    for place in range(1, len(periods)):
        past = periods[max(place - (history or place), 0) : place]
        points = _set_on(held, past, options)
        # That rates agree by chance is no reason to refuse a period.
        judged = apply_thresholds(
            _part(held, periods[place : place + 1]), points, same_table=True, intervals="exact",
            level=level, **costs,
        )  # fmt: skip
        rows = tidy_rates(judged, keys, level)
        on_past = _on_past(points, keys, costs).drop("prior")
        beside = join_on(rows, on_past, [*keys, "measure"], "left", order="left")
        yield beside.with_columns(pl.lit(periods[place], held.table.schema[PERIOD]).alias(PERIOD))


def _on_past(points: pl.DataFrame, keys: Sequence[str], costs: Mapping[str, float]) -> pl.DataFrame:
    """The rates of points on the cases they were set on, a row for each key and rate."""
    t, f, at = pl.col("tpr"), pl.col("fpr"), skew(pl.col("prior"))
    known = pl.when(pl.col("share").is_not_null() & t.is_not_null() & f.is_not_null())
    rates = (
        known.then(rate_at(name, at, **costs)(t, f)).fill_nan(None).alias(name)
        for name in PERIOD_RATES
    )
    index = [*keys, "prior", "threshold"]
    wide = points.select(*index, *rates)
    return wide.unpivot(PERIOD_RATES, index=index, variable_name="measure", value_name="past")


def _order() -> pl.Expr:
    """The rates in their order."""
    places = {name: place for place, name in enumerate(PERIOD_RATES)}
    return pl.col("measure").replace_strict(places, return_dtype=pl.Int64).alias(private("place"))


def _expected(
    table: pl.DataFrame, now: pl.DataFrame, keys: Sequence[str], level: float
) -> pl.DataFrame:
    """What to expect of the next period: rates on the past as of now, and how steps came out."""
    apart = pl.col("estimate") - pl.col("past")
    by_step = table.group_by(*keys, "measure").agg(
        apart.mean().alias("shift"),
        apart.std().alias("spread"),
        apart.count().cast(pl.Int64).alias("steps"),
    )
    known = join_on(now, by_step, [*keys, "measure"], "left", order="left")
    enough = pl.col("steps") >= FEWEST_STEPS
    error = pl.when(enough).then(pl.col("spread") * (1 + 1 / pl.col("steps")).sqrt())
    width = error * student(pl.col("steps") - 1, level)
    bounded = pl.col("measure") != "cost"
    most = pl.when(bounded).then(1.0).otherwise(float("inf"))
    estimate = (pl.col("past") + pl.col("shift")).clip(0.0, most)
    note = pl.when(pl.col("past").is_null()).then(pl.lit("no threshold can be set now"))
    return known.with_columns(
        estimate.alias("estimate"),
        (pl.col("past") + pl.col("shift") - width).clip(0.0, most).alias("lower"),
        (pl.col("past") + pl.col("shift") + width).clip(0.0, most).alias("upper"),
        pl.lit(level).alias(COVERAGE),
        error.alias("std_error"),
        note.when(~enough).then(pl.lit(FEW_STEPS)).alias("note"),
    ).sort(*keys, _order(), nulls_last=True).select(*keys, *EXPECTED)  # fmt: skip
