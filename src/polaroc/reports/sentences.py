"""The sentences of a report: the headline, what the threshold does, how sure, what would change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.text import capitalised, named, number, one_name, percent
from polaroc.measures.catalog import in_words
from polaroc.models.choice import changes, two_digits
from polaroc.models.fold_thresholds import OWN_SCALES, judged_on_other_folds, threshold_command
from polaroc.models.measure_rows import describe_priors
from polaroc.priors.grids import skew
from polaroc.reports.findings import FEW_NEGATIVES, Findings
from polaroc.reports.request import GOALS
from polaroc.reports.thresholds import LIMITS, Thresholds
from polaroc.reports.words import (
    alarms_of_1000,
    at_ends,
    counted,
    limits_of_hundred,
    of_hundred,
    percent_range,
)

NAME_OF_AREA = in_words("auprec")


@dataclass(frozen=True)
class Decision:
    """The first screen of a report, in sentences."""

    headline: str  # what to do, no louder than the evidence
    certainty: str  # how likely the model is the best, and whether a test confirms it
    effects: tuple[str, ...]  # of the threshold
    how_sure: tuple[str, ...]
    changes: tuple[str, ...]
    to_set: str  # how the threshold of the final model is set, where folds have other models

    @property
    def answer(self) -> tuple[str, ...]:
        """The sentences above and below the pictures."""
        return tuple(line for line in (self.headline, self.certainty, *self.effects) if line)


def decide(findings: Findings) -> Decision:
    """The decision that follows from the findings."""
    choice, thresholds = findings.choice, findings.thresholds
    certainty = "" if choice is None else choice.how_sure
    if certainty and not findings.by_cost and FEW_NEGATIVES in findings.cautions:
        certainty += (
            " That is itself unsure: few negatives were tested for so small a share of positives."
        )
    effects = [choice.cost] if choice is not None and choice.cost else []
    if thresholds is not None:
        effects = [
            thresholds.promise or "", *effects, *_effects(thresholds, findings),
        ]  # fmt: skip
    return Decision(
        " ".join([*findings.doubts, _headline(findings)]), certainty,
        tuple(filter(None, effects)), _how_sure(findings), _changes(findings), _to_set(thresholds),
    )  # fmt: skip


def _to_set(thresholds: Thresholds | None) -> str:
    """The command that sets the threshold of the final model, where folds have other models."""
    if thresholds is None or thresholds.folds < 2 or thresholds.text is None:
        return ""
    return (
        "Let the final model score labelled cases that it was not trained on, in a FILE with the "
        f"columns truth and score, and run: {threshold_command(thresholds.need)}"
    )


def title_of(findings: Findings) -> str:
    """The subject of the page: the models and the share of positives."""
    return f"{named(findings.models.to_list())} {_where(findings)}"


def _where(findings: Findings) -> str:
    """The range or belief, as a phrase."""
    return describe_priors(findings.request.over)


def counts(findings: Findings) -> str:
    """The numbers of models, folds and predictions."""
    parts = [counted(len(findings.models), "model")]
    if findings.folds > 1:
        parts.append(counted(findings.folds, "fold"))
    audit, cases = findings.audit, findings.cases
    if audit is None or cases is None:
        return " · ".join(parts)
    totals = audit.select("rows", "positives", "negatives")
    if findings.folds > 1 or totals.n_unique() > 1:
        parts.append(counted(int(totals["rows"].sum()), "prediction"))
        return " · ".join(parts)
    rows, positives, negatives = totals.row(0)
    size = counted(rows, "case" if cases.cluster is None else "row")
    share = f"{positives:,.0f} of them positive"
    if cases.weight is not None:
        share = f"{percent(positives / (positives + negatives))} of their weight positive"
    if cases.cluster is not None:
        clusters = counted(cases.rows["cluster"].n_unique(), "cluster")
        share += f", in {clusters} ({cases.names['cluster'][0]})"
    return " · ".join([*parts, f"{size}, {share}"])


def action(thresholds: Thresholds) -> str:
    """The action to take on scores, in words that begin with a verb."""
    if thresholds.text is None:
        return f"raise no alarm: {_none_does(thresholds)}"
    if thresholds.folds > 1:
        return f"set the threshold of the final model to {thresholds.need}"
    return f"act on scores from {thresholds.text}"


def goal_in_words(findings: Findings) -> str:
    """The goal of the threshold, or that it is an example."""
    thresholds = findings.thresholds
    if thresholds is None:
        return ""
    if findings.request.has_goal:
        if thresholds.text is None:
            return f"No threshold is set: {thresholds.why_none or _none_does(thresholds)}"
        kept = ", within what is promised" if thresholds.promise else ""
        return f"The threshold is set to {thresholds.need}{kept}."
    return (
        "No goal was given, so these thresholds are examples. Say how many positives are to be "
        "found, how many alarms to be right, how many cases can be looked at, or what errors cost."
    )


def _headline(findings: Findings) -> str:
    """The model, and what to do with its scores if a goal was given."""
    thresholds, choice = findings.thresholds, findings.choice
    if thresholds is not None and thresholds.why_none is not None:
        return capitalised(thresholds.why_none)
    words = "" if choice is None else choice.first_words
    if thresholds is None or not findings.request.has_goal:
        if choice is not None:
            return f"{words}."
        area = f"the {NAME_OF_AREA} of {one_name(findings.models[0])} is"
        return f"{capitalised(area)} {number(findings.ranking['mean'][0])} {_where(findings)}."
    if thresholds.rates is None:
        lacking = "its cases lack a class, so no threshold can be judged"
        return f"{words}; {lacking}." if words else f"{capitalised(lacking)}."
    act = action(thresholds)
    return f"{words}, and {act}." if words else f"{capitalised(act)}."


def _none_does(thresholds: Thresholds) -> str:
    """The reason why no threshold is set."""
    if thresholds.need.kind == "cost":
        return "at these costs none of the thresholds that may be chosen pays"
    return f"none of the thresholds would {thresholds.need}"


def _effects(thresholds: Thresholds, findings: Findings) -> list[str]:
    """The recall of the threshold, its share of right alarms, and whether the goal is missed."""
    if thresholds.rates is None or thresholds.text is None:
        return []
    taken, (recall, alarms), priors = thresholds.taken, thresholds.rates, findings.request.priors
    margin, sentences = "", []
    if not findings.request.has_goal:
        goal = "" if thresholds.folds > 1 else f" to {thresholds.need}"
        sentences.append(
            f"No goal was given for the threshold. As an example, {action(thresholds)}{goal}."
        )
    if thresholds.folds > 1:
        sentences.append("Set the threshold on cases that the final model was not trained on.")
        if OWN_SCALES not in thresholds.cautions:
            expected = alarms_of_1000(priors, recall, alarms)
            sentences.append(f"Expect an alarm for {expected} of 1,000 cases.")
    if taken["tpr_lower"] is not None and taken["tpr_upper"] is not None:
        ends = limits_of_hundred(taken["tpr_lower"], taken["tpr_upper"])
        margin = f" (margin of error: {ends})" if len({*ends.split(" to ")}) > 1 else ""
    found = f"The threshold finds about {of_hundred(recall)} of 100 positives{margin}"
    if alarms == 0:
        upper = taken["fpr_upper"]
        most = f" (margin of error: up to {of_hundred(upper)} of 100)" if upper else ""
        none = f"none of {counted(thresholds.sizes[1], 'negative')} raised an alarm"
        sentences.append(f"{found}, and {none}{most}.")
    else:
        right = at_ends(priors, lambda prior: of_hundred(_precision(recall, alarms, prior)))
        words = f"{found}, and of 100 alarms about {right} are right."
        sentences.append(words.replace("about more", "more"))
    return [*sentences, _missed_goal(thresholds, findings)]


def _missed_goal(thresholds: Thresholds, findings: Findings) -> str:
    """A sentence on rates that miss the goal; "" if they meet it, as far as is shown."""
    need, priors = thresholds.need, findings.request.priors
    if need.kind not in GOALS.values() or not findings.request.has_goal or thresholds.rates is None:
        return ""
    recall, alarms = thresholds.rates
    goal, where = of_hundred(need.value), ""
    if need.kind == "capacity":
        raised = 1000 * float(rates.posfrac(recall, alarms, skew(priors[-1])))
        if round(raised) <= 1000 * need.value:
            return ""
        found, goal = (
            f"about {raised:,.0f} of 1,000 cases raise an alarm",
            f"{1000 * need.value:,.4g}",
        )
        where = percent(priors[-1])
    else:
        reached, what = recall, "positives are found"
        if need.kind == "precision":
            reached, what = _precision(recall, alarms, priors[0]), "alarms are right"
            where = percent(priors[0])
        if not reached < need.value or of_hundred(reached) == goal:
            return ""
        found = f"about {of_hundred(reached)} of 100 {what}"
    at, there = (f" at {where} positives", " there") if where else ("", "")
    return f"The goal is missed{at}: {found}{there}, not {goal}."


def _how_sure(findings: Findings) -> tuple[str, ...]:
    """The quality of the model, the cases that judged the threshold, and cautions."""
    request, thresholds = findings.request, findings.thresholds
    row, cautions = findings.ranking.row(0, named=True), findings.cautions
    name, mean = one_name(row["model"]), row["mean"]
    low, high = (row.get(f"expected_{end}", row.get(end)) for end in ("lower", "upper"))
    in_digits: Callable[[Any], str | None] = two_digits if findings.by_cost else number
    margin, expected = "", row.get("expected")
    if low is not None and high is not None:
        margin = f" (margin of error: {in_digits(low)} to {in_digits(high)})"
    if expected is not None and in_digits(expected) != in_digits(mean):
        # The interval is about this number.
        count = findings.ranking["expected"].count()
        picked = f"corrected for being picked as the best of {count}"
        margin = f"; {picked}, {in_digits(expected)}{margin}"
    sentences = []
    if findings.by_cost and mean is not None:
        (missed, alarm), prior = request.costs, request.belief.mean
        cost = f"The {findings.judged_by} of {name} is {in_digits(mean)} per case{margin}."
        if findings.judged_by == "cost":
            cost += (
                f" Acting on no case would cost {prior * missed:.4g}, acting on every case "
                f"{(1 - prior) * alarm:.4g}."
            )
        sentences.append(cost)
    elif mean is not None:
        sentences.append(
            f"The {NAME_OF_AREA} of {name} is {in_digits(mean)}{margin}. Guessing has "
            f"{request.belief.mean:.3g}, a perfect model 1."
        )
    # What the number just said means comes before how it was made.
    sentences += [line for line in cautions if line == FEW_NEGATIVES]
    if thresholds is not None and thresholds.text is not None:
        sentences.append(_judged(thresholds, findings))
    return (*sentences, *(line for line in cautions if line != FEW_NEGATIVES))


def _judged(thresholds: Thresholds, findings: Findings) -> str:
    """On which cases the rates at the threshold were measured."""
    request, cases = findings.request, findings.cases
    assert cases is not None
    level, has_limits = percent(request.level), thresholds.taken["tpr_lower"] is not None
    if thresholds.folds > 1:
        spread = f"the margin of error, {level}, allows for training sets that overlap"
        if not has_limits:
            spread = "without the ratio of test to training cases they have no margin of error"
        return judged_on_other_folds(thresholds.folds, f"; {spread}")
    of = "for independent cases"
    if cases.cluster is not None:
        of = f"that counts clusters ({cases.names['cluster'][0]}), not rows"
    margin = f"their margin of error is an exact {level} interval {of}"
    right = _right_alarms(thresholds, findings) if has_limits else ""
    classes = _of_classes(thresholds.sizes)
    if thresholds.tuned_on is not None:
        promised = "" if thresholds.promise else ", without a promise"
        ending = f"; {margin}{right}" if has_limits else ""
        return (
            f"The threshold was set on {_of_classes(thresholds.tuned_on)} of a table of its own"
            f"{promised}. The rates are those of {classes}{ending}."
        )
    role = "clusters" if cases.weight is None else "weights"
    unknown = f"; with {role}, how far they vary is not known"
    if thresholds.need.fixes_count:
        ending = f"; {margin}{right}" if has_limits else unknown
        return f"The rates are those of {classes}, which also set the threshold{ending}."
    ending = unknown
    if has_limits:
        ending = (
            f". The margin of error ({level}, for independent cases) allows for the threshold "
            f"having been chosen on them{right}"
        )
    return (
        "The rates are those of cases that took no part in setting the threshold, a fifth at a "
        f"time{ending}. A promise needs other cases for the threshold."
    )


def _of_classes(sizes: tuple[int, int]) -> str:
    return f"{counted(round(sizes[0]), 'positive')} and {counted(round(sizes[1]), 'negative')}"


def _right_alarms(thresholds: Thresholds, findings: Findings) -> str:
    """The number of right alarms, from end to end of the limits of rates and of an estimate."""
    low, middle, high = findings.request.priors
    if not findings.request.belief.is_estimate:
        low = high = middle
    least, most, few, many = (thresholds.taken[name] or 0.0 for name in LIMITS)
    shown = limits_of_hundred(_precision(least, many, low), _precision(most, few, high))
    return f": at {percent_range(low, high)} positives {shown} of 100 alarms are right"


def _changes(findings: Findings) -> tuple[str, ...]:
    """Another share of positives: which model is the best, and what the threshold does."""
    choice, thresholds = findings.choice, findings.thresholds
    low, middle, high = findings.request.priors
    best = kept = ""
    if choice is not None and choice.priors.height > choice.priors["model"].n_unique() > 1:
        best = _best_at_priors(choice.priors, findings)
    if thresholds is not None and None not in (thresholds.text, thresholds.rates) and low < high:
        kept = _kept_at_priors(thresholds, low, middle, high)
    return tuple(filter(None, [best, kept]))


def _best_at_priors(priors: pl.DataFrame, findings: Findings) -> str:
    """The share of positives at which the first model is not the best."""
    first = pl.col("model").eq_missing(pl.lit(findings.models[:1]).first())
    if priors["best"].all():
        return f"At every share of positives all models are equal in the {findings.judged_by}."
    if priors.filter(first, ~pl.col("best")).height:
        return changes(priors)
    low, _, high = findings.request.priors
    best = f"lowest {findings.judged_by}" if findings.by_cost else "largest area"
    return (
        f"{one_name(findings.models[0])} has the {best} whatever the share of positives, from "
        f"{percent_range(low, high)}."
    )


def _kept_at_priors(thresholds: Thresholds, low: float, middle: float, high: float) -> str:
    """The effect of other shares of positives on what the threshold is for."""
    kind = thresholds.need.kind
    if thresholds.promise:
        return f"The promise holds from {percent(low)} to {percent(high)} positives."
    if kind in ("recall", "fewest_alarms"):
        return (
            "If positives are rarer or more common, keep the threshold: it finds the same share of "
            "them, and only the share of right alarms changes."
        )
    if kind == "max_recall":
        ends = percent_range(low, high)
        return f"On the tuning cases, the constraints are kept from {ends} positives."
    if kind == "precision":
        return f"At fewer than {percent(low)} positives fewer alarms may be right than needed."
    if kind == "capacity" and thresholds.rates is not None:
        raised = alarms_of_1000((low, high), *thresholds.rates)
        return (
            f"One threshold for all shares raises {raised} alarms in 1,000 cases. Where cases come "
            "in batches, look at the highest scores of each batch instead."
        )
    return (
        f"The threshold costs least at {percent(middle)} positives: where positives are more "
        "common a lower one does, where they are rarer a higher one."
    )


def _precision(recall: float, alarms: float, prior: float) -> float:
    return float(rates.precision(recall, alarms, skew(prior)))
