"""Summary cards of a report: which model, how sure, at which threshold."""

from dataclasses import dataclass

from polaroc.base.text import number
from polaroc.choice.answer import describe_wins, named, split_by_test
from polaroc.reports.evidence import Evidence
from polaroc.reports.ranking import EXPECTED
from polaroc.reports.thresholds import CASES


@dataclass(frozen=True)
class Card:
    """One of the three answers."""

    question: str
    short: str  # a word or a number
    long: tuple[str, ...]  # sentences


def cards(evidence: Evidence) -> list[Card]:
    """Which model, how sure, at which threshold."""
    return [_which(evidence), _how_sure(evidence), _threshold(evidence)]


def percent(share: float) -> str:
    """A share in per cent, to three digits.

    Examples
    --------
    >>> percent(0.125)
    '12.5 %'
    """
    return f"{100 * share:.3g} %"


def threshold_in_words(threshold: float | None) -> str:
    """A threshold to six digits."""
    return "none" if threshold is None else f"{threshold:.6g}"


def counts(evidence: Evidence) -> str:
    """How many models, blocks and predictions there are."""
    models, blocks = len(evidence.models), evidence.blocks
    parts = [f"{models} model{'' if models == 1 else 's'}"]
    if evidence.question.blocks:
        columns = ", ".join(evidence.question.blocks)
        parts.append(f"{blocks} fold{'' if blocks == 1 else 's'} ({columns})")
    if evidence.audit is not None:
        parts.append(f"{evidence.audit['rows'].sum():,} predictions")
    return " · ".join(parts)


def _which(evidence: Evidence) -> Card:
    row = evidence.ranking.row(0, named=True)
    sentences = []
    if row[EXPECTED] is not None:
        limits = ""
        if row["lower"] is not None:
            level = percent(evidence.question.level)
            limits = f" ({level} interval {row['lower']:.3f} to {row['upper']:.3f})"
        sentences.append(
            f"Expected area under its precision-recall curve: {row[EXPECTED]:.3f}{limits}."
        )
        if evidence.choice is not None:
            sentences.append("It was picked for this number, which is therefore likely too high.")
    if evidence.choice is not None:
        sentences += _other_choices(evidence)
    return Card("Which model?", str(evidence.models[0]), tuple(sentences))


def _other_choices(evidence: Evidence) -> list[str]:
    """Where another way to choose takes another model."""
    choice = evidence.choice
    assert choice is not None
    sentences = []
    if choice.models["worst_regret"].null_count():
        sentences.append("How far models fall short at the worst prior is not known.")
    elif choice.minimax == choice.bayes:
        sentences.append(
            "It also falls least short of the best model at the worst prior of the range."
        )
    else:
        sentences.append(
            f"Least short of the best at the worst prior of the range: {choice.minimax}."
        )
    if choice.steadiest is not None and choice.steadiest != choice.bayes:
        sentences.append(f"Its errors shift more with the prior than those of {choice.steadiest}.")
    return sentences


def _how_sure(evidence: Evidence) -> Card:
    sentences: list[str] = []
    choice = evidence.choice
    won = []
    if choice is not None and choice.models["share"][0] is not None:
        won = [describe_wins(choice.models["share"][0], evidence.blocks)]
    low, high = evidence.ranking.select("lower", "upper").row(0)
    if choice is None and low is not None:
        level = percent(evidence.question.level)
        description = f"{level} interval of the expected area under the precision-recall curve."
        return Card("How sure?", f"{low:.3f} to {high:.3f}", (description, evidence.untested))
    if evidence.comparison is None:
        return Card("How sure?", "Not tested", (evidence.untested, *won))
    apart, not_apart = split_by_test(evidence.models, evidence.comparison)
    alpha = f"α = {evidence.question.alpha:g}"
    if not not_apart:
        short = "Clearly the best"
        sentences.append(f"The test at {alpha} tells it from every other model.")
    elif not apart:
        short = "Not proven"
        sentences.append(
            f"The test at {alpha} does not tell it from {named(not_apart)}: it is the best guess, "
            "and a difference of this size may be chance."
        )
    else:
        short = "In part"
        sentences.append(
            f"The test at {alpha} tells it from {named(apart)}, not from {named(not_apart)}: "
            "among these the choice is a best guess."
        )
    if evidence.comparison.plan.target == "trained":
        sentences.append("That holds for these fitted models, not for models trained anew.")
    return Card("How sure?", short, (*sentences, *won))


def _threshold(evidence: Evidence) -> Card:
    question = "At which threshold?"
    if evidence.thresholds is None:
        return Card(
            question, "Not known",
            ("This page was made from measures; thresholds need the predictions.",),
        )  # fmt: skip
    points = evidence.thresholds.points
    row = points.row(points.height // 2, named=True)
    prior, threshold = percent(row["prior"]), row["threshold"]
    model, costs = evidence.models[0], costs_in_words(evidence)
    if row["tpr"] is None or row["fpr"] is None:
        return Card(question, "Not known", (f"A class is absent from the cases of {model}.",))
    if threshold is None:
        return Card(
            question, "Call nothing positive",
            (f"If {prior} are positive and {costs}, no threshold of {model} pays.",),
        )  # fmt: skip
    sentences = (
        f"Call a case positive where the score of {model} is at least this: the least cost if "
        f"{prior} are positive and {costs}.",
        f"Of {CASES:,} cases, {number(CASES * row['prior'], 0)} of them positive, it finds "
        f"{number(row['found'], 0)}, misses {number(row['missed'], 0)} and raises "
        f"{number(row['alarms'], 0)} false alarms.",
    )
    return Card(question, threshold_in_words(threshold), sentences)


def costs_in_words(evidence: Evidence) -> str:
    """The assumed costs of errors."""
    missed, alarm = evidence.question.cost_fn, evidence.question.cost_fp
    if missed == alarm:
        return "a missed positive costs as much as a false alarm"
    if missed > alarm:
        return f"a missed positive costs {missed / alarm:.3g} times a false alarm"
    return f"a false alarm costs {alarm / missed:.3g} times a missed positive"
