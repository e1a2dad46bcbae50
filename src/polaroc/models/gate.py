"""Non-inferiority of a challenger to a champion by a margin, over folds or on one test set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import polars as pl

from polaroc.base.checks import check_text, is_number
from polaroc.base.text import escape_control, number, rounded_up
from polaroc.base.text_tables import Result, noted
from polaroc.errors import InvalidArgument, example, quoted
from polaroc.measures.catalog import CATALOG, at_one_prior, higher_is_better, label
from polaroc.models.compare import WIDER_IN_GATE, compare
from polaroc.models.comparison import Comparison
from polaroc.models.gate_limits import (
    AREAS,
    difference_limits,
    influences_on_difference,
    why_too_few,
    with_unseen,
)
from polaroc.models.inputs import Inputs, compared_cases, read_inputs, single_prior, two_models
from polaroc.models.measure_rows import describe_priors, needs_range, of_one_range
from polaroc.models.paired_cases import single_measure
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Over
from polaroc.typing import Prior, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

Verdict = Literal["pass", "fail", "undecided"]

UNKNOWN_POSITIVES = (
    "Nothing tells how many positives there are, of which a model may miss some that few would not "
    "show. So there is no interval, pass or fail: give predictions with case='id'; or of measures "
    "without weights test_train_ratio=0.25, 1/(k-1) for k folds."
)
WIDER = (
    "The limits are wider than those of compare: they leave room for kinds of cases that so few "
    "may not show."
)


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """Whether a challenger is worse than a champion by more than a margin; made by `gate`.

    Attributes
    ----------
    verdict
        "pass", "fail" or "undecided".
    difference
        The measure of the challenger minus that of the champion.
    lower, upper
        Its two-sided interval; None where nothing says how much the difference varies, or cases are
        too few to trust it.
    measure, higher_is_better
        What was compared, in words, and whether more of it is better.
    champion, challenger, margin, level
        As given.
    cases
        What it rests on, such as "20 folds".
    models
        A row for each of the two: `model`; `estimate` (over folds the mean of the measure), `lower`
        and `upper` (its interval with confidence `level`, null where there is none) Float64.
    warnings
        What the interval assumes, and notes on the data, in sentences.
    tables
        `models`, and `difference`: one row with `challenger`, `champion`, `difference`, `lower`,
        `upper`, `level`, `margin` Float64 and `verdict` String.
    """

    facts = ("verdict",)

    difference: float
    lower: float | None
    upper: float | None
    champion: object
    challenger: object
    measure: str
    higher_is_better: bool
    margin: float
    level: float
    cases: str
    models: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the interval and the margin."""
        if self.lower is None or self.upper is None:
            return "undecided"
        worst, best = self.lower, self.upper
        if not self.higher_is_better:
            worst, best = -best, -worst
        return "pass" if worst >= -self.margin else "fail" if best < -self.margin else "undecided"

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The estimates of both models, and their difference in one row."""
        numbers = ("difference", "lower", "upper", "level", "margin")
        names = ("challenger", "champion", *numbers, "verdict")
        row = {name: [getattr(self, name)] for name in names}
        difference = pl.DataFrame(row, schema_overrides=dict.fromkeys(numbers, pl.Float64))
        return {"models": self.models, "difference": difference}

    @property
    def estimates(self) -> tuple[float, float]:
        """The measure of the champion and of the challenger."""
        by_model = dict(self.models.select("model", "estimate").iter_rows())
        return by_model[self.champion], by_model[self.challenger]

    @property
    def answer(self) -> str:
        """The verdict in one sentence."""
        more = f" by more than {self.margin:g}" if self.margin else ""
        claim = {"pass": "is not", "fail": "is", "undecided": "may or may not be"}[self.verdict]
        return (
            f"{self.verdict.capitalize()}: {self.challenger} {claim} worse than "
            f"{self.champion}{more} in {self.measure}."
        )

    @property
    def shown(self) -> list[RenderableType]:
        """The sentences of the summary."""
        return [self.answer, self.numbers, *noted(self.warnings)]

    @property
    def markdown(self) -> str:
        """The verdict, the numbers and the notes, for a pull request or a wiki."""
        notes = "\n".join(f"- {_markdown(line)}" for line in self.warnings)
        parts = [f"**{_markdown(self.answer)}**", _markdown(self.numbers), notes]
        return "\n\n".join(filter(None, parts)) + "\n"

    @property
    def numbers(self) -> str:
        """Both estimates, and their difference with its interval, in a sentence."""
        champion, challenger = self.estimates
        way = "" if self.higher_is_better else " (less is better)"
        interval = "; there is no interval for it"
        if self.lower is not None:
            ends = f"{number(self.lower)} to {number(self.upper)}"
            interval = f", with {100 * self.level:g} % confidence from {ends}"
        return (
            f"On {self.cases} {self.challenger} has {number(challenger)} and "
            f"{self.champion} {number(champion)}{way}: a difference of "
            f"{number(self.difference)}{interval}."
        )


def gate(
    table: Table | Cases[Any],
    *,
    champion: object,
    challenger: object,
    measure: str = "iauprec",
    over: Over | None = None,
    priors: Prior | Sequence[Prior] | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> GateResult:
    """Test whether a challenger is worse than the champion by more than a margin.

    Parameters
    ----------
    table
        Predictions of two or more models, as for `compare`: of fitted models on one test set, with
        `case`, or of models fitted anew for each fold. Or the tidy measures of such folds, as
        `evaluate` returns them; they take no column keywords. A lazy frame is collected.
    champion, challenger
        The two models, by their values in the column of the models; others are ignored.
    measure, over, priors, score_prior, test_train_ratio
        As in `compare`, but measures that need no range ignore `over`. At a single prior, "iauprec"
        is "auprec" there.
    margin
        By how much the challenger may be worse, ≥ 0, in units of the measure.
    level
        Confidence of the two-sided interval, in (0, 1). Where the challenger is worse by exactly
        `margin`, a pass has the probability (1 − `level`)/2.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    GateResult
        `verdict` ("pass", "fail", "undecided"), `difference` (challenger minus champion) with
        `lower` and `upper`, `answer` in one sentence, `tables`, `warnings`, and a `summary()` to
        print.

    Raises
    ------
    InvalidArgument, InvalidPredictions, InvalidTable
        For a model that the table does not have; arguments outside what is allowed; too few folds,
        or too few cases of a class; as in `compare`.
    NotSupported
        For `by`.

    Notes
    -----
    "pass" if `lower` ≥ −`margin`, "fail" if `upper` < −`margin`, else "undecided". For a measure
    of which less is better, such as "sens", "pass" if `upper` ≤ `margin`, "fail" if `lower` >
    `margin`.

    On folds the interval is that of the corrected t-test (Nadeau and Bengio 2003), with J−1
    degrees of freedom. It is about models trained again on other samples of this size.

    On one test set it is about these fitted models on other cases like these: Student's, with one
    degree of freedom less than there are cases of the rarer class. The variance is that of the
    influences of the cases (for the AUC that of DeLong, DeLong and Clarke-Pearson 1988), with one
    and a half more cases of the largest influence per class; skewed influences move a limit
    outwards (Johnson 1978). With `cluster` influences are summed by cluster (Obuchowski 1997).

    For AUC, AUPREC and IAUPREC the interval leaves room for positives of a kind that was not seen
    and that one model misses: n positives show none of a kind that is the share 1 − 0.025^(1/n)
    with a chance of 0.025; for the AUC the same holds of negatives. So wrong passes stay rare with
    few cases (``just simulate gates_cases``). On folds each case counts once, by its mean, and the
    wider of both intervals counts.

    There is no interval, and the verdict is "undecided": if nothing shows how much the difference
    varies, such as that of two models that rank all cases alike; with fewer than 20 cases of a
    class; for AUPREC and IAUPREC with far too few negatives for the priors; where the number of
    positives is not known, as of measures of weighted cases, or without `test_train_ratio`.

    Examples
    --------
    >>> import polaroc as pr
    >>> result = pr.gate(
    ...     pr.datasets.satellite_predictions().filter(fold=1), champion="C", challenger="A",
    ...     truth="truth", score="score", over=(0.05, 0.20), margin=0.01,
    ... )
    >>> result.verdict
    'pass'
    >>> print(result.answer)
    Pass: A is not worse than C by more than 0.01 in IAUPREC over 5 to 20 % positives.
    """
    if not is_number(margin) or not margin >= 0:
        raise InvalidArgument(
            f"margin is {quoted([margin])}, allowed is margin ≥ 0: by how much the challenger may "
            "be worse.",
            hint=example("margin", 0.01),
        )
    check_text("measure", measure, "iauprec")
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    prior = single_prior(priors)
    if prior is not None:
        measure = at_one_prior(measure)
    elif measure in CATALOG and not needs_range(measure):
        # A range is allowed for measures that need none, so that all can have the same settings.
        over = None
    inputs = read_inputs(two_models(cases, champion, challenger))
    compared = compare(
        inputs.cases, measure, priors=prior, over=over, level=level, score_prior=score_prior,
        test_train_ratio=test_train_ratio,
    )  # fmt: skip
    difference, lower, upper = compared.pairs.select("difference", "lower", "upper").row(0)
    if compared.pairs.item(0, 0) != challenger:
        # 0 − x, since −x would make −0.0 of no difference.
        difference, lower, upper = (end and 0 - end for end in (difference, upper, lower))
    warnings = [*inputs.warnings, *(one for one in compared.warnings if WIDER_IN_GATE not in one)]
    if lower is not None and (inputs.on_cases or measure in AREAS):
        if inputs.are_measures or inputs.cases.case is None:
            limits, note = _limits_by_positives(inputs.cases, compared, difference, (lower, upper))
        else:
            one = single_measure(measure, prior or "observed", over, score_prior)
            units = influences_on_difference(inputs.cases, challenger, one)
            limits, note = None, why_too_few(one, units)
            if note is None:
                limits = difference_limits(measure, difference, units, level)
        if limits is not None and not inputs.on_cases:
            # On folds the wider of both intervals counts.
            limits = min(lower, limits[0]), max(upper, limits[1])
        if limits is not None and limits[1] - limits[0] > upper - lower:
            note = WIDER
        lower, upper = limits or (None, None)
        warnings += [note] if note else []
    place = _place(inputs, measure, prior, over)
    result = GateResult(
        difference, lower, upper, champion, challenger, f"{label(measure)} {place}".rstrip(),
        higher_is_better(measure), margin, level,
        f"{compared.size:,} {'cases' if inputs.on_cases else 'folds'}",
        compared.models.select("model", "estimate", "lower", "upper"),
        tuple(dict.fromkeys(warnings)),
    )  # fmt: skip
    if lower is None or upper is None or result.verdict != "undecided":
        return result
    return replace(result, warnings=(_cases_needed(result, lower, upper), *result.warnings))


def _cases_needed(result: GateResult, lower: float, upper: float) -> str:
    """The factor by which more cases would decide an undecided gate, in a sentence."""
    difference, is_higher = result.difference, result.higher_is_better
    gap = result.margin + (difference if is_higher else -difference)
    half = difference - lower if (gap >= 0) == is_higher else upper - difference
    # The width of the interval shrinks at least as 1/√n.
    times = f"About {rounded_up((half / gap) ** 2):,} times as many" if gap else "No number of"
    return f"{times} cases would decide it, if the models differed as much on them."


def _place(inputs: Inputs, measure: str, prior: Prior | None, over: Over | None) -> str:
    """The prior, range or belief at which the measure is taken, as a phrase."""
    is_at_prior = not inputs.are_measures and CATALOG[measure].at_priors
    if prior == "observed" or (prior is None and is_at_prior):
        return "at the observed prior"
    if prior is not None:
        return describe_priors(None, [prior])
    return describe_priors(
        of_one_range(inputs.cases.rows, measure, over)[1] if inputs.are_measures else over
    )


def _limits_by_positives(
    cases: Cases[pl.DataFrame], compared: Comparison, difference: float, limits: tuple[float, float]
) -> tuple[tuple[float, float] | None, str | None]:
    """Limits with room for kinds of positives that were not seen, or why there are none."""
    positives = _positives_of_folds(cases, compared.test_train_ratio)
    if not positives:
        return None, UNKNOWN_POSITIVES
    # As `gate_limits.unseen_share` of equal shares; `positives` may be a fraction.
    unseen = 1 - ((1 - compared.level) / 2) ** (1 / positives)
    return with_unseen(limits, difference, unseen), None


def _positives_of_folds(cases: Cases[pl.DataFrame], ratio: float | None) -> float | None:
    """The number of positives of all folds, None where the table does not tell it."""
    rows = cases.rows
    if cases.truth is not None:
        size = pl.len() if cases.count is None else pl.col("count").sum()
        rows = rows.filter("truth").group_by(cases.keys).agg(positives=size)
    is_known = rows.schema.get("positives", pl.String()).is_integer() and cases.weight is None
    if ratio is None or not is_known:
        return None
    by_key = rows.group_by(cases.keys).agg(pl.col("positives").max())["positives"].to_list()
    total = sum(by_key)
    if ratio == 0:
        # Folds that share nothing add up, for each of the two models.
        return float(total / 2)
    # All cases that a fold does not test are trained on.
    return float(total / len(by_key) * (1 + 1 / ratio))


def _markdown(value: object) -> str:
    """A value on one line, with the marks of Markdown escaped."""
    text = " ".join(escape_control(str(value)).split()).replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)
