"""What a report says first: what to do, how sure that is, and what would change it."""

from dataclasses import dataclass

import polars as pl

from polaroc import rates
from polaroc.base.statistics import ROUNDING
from polaroc.choice.answer import describe_separation, how_sure, named, one_name
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import skew
from polaroc.reports.evidence import BIASED, FEW_NEGATIVES, Evidence
from polaroc.reports.ranking import EXPECTED
from polaroc.reports.thresholds import Thresholds
from polaroc.reports.words import (
    counted,
    of_hundred,
    of_ten,
    percent,
    percent_range,
)

AREA = "area under the precision-recall curve"


@dataclass(frozen=True)
class Decision:
    """The first screen of a report, in sentences."""

    answer: tuple[str, ...]
    how_sure: tuple[str, ...]
    changes: tuple[str, ...]


def decide(evidence: Evidence) -> Decision:
    """What the evidence says to do."""
    promise = "" if evidence.thresholds is None else evidence.thresholds.promise or ""
    does = f"{_threshold_of_folds(evidence)} {_rates(evidence)}".strip()
    known = (_take(evidence), promise, does, _probability(evidence))
    return Decision(
        tuple(sentence for sentence in known if sentence), _how_sure(evidence), _changes(evidence)
    )


def counts(evidence: Evidence) -> str:
    """How many models, folds and predictions there are."""
    parts = [counted(len(evidence.models), "model")]
    if evidence.question.blocks:
        columns = ", ".join(evidence.question.blocks)
        parts.append(f"{counted(evidence.blocks, 'fold')} ({columns})")
    if evidence.audit is not None:
        parts.append(counted(int(evidence.audit["rows"].sum()), "prediction"))
    return " · ".join(parts)


def need_in_words(thresholds: Thresholds, *, given: bool) -> str:
    """What the threshold was set to achieve, and how to ask for something else."""
    need = thresholds.need
    reason = f"The threshold is set to {need}."
    if given:
        return reason
    return (
        f"{reason} That is a common goal, taken because none was given; give one of your own by "
        "recall, precision, capacity (cases of 1,000 that can be looked at), or the costs cost_fn "
        "and cost_fp."
    )


def _take(evidence: Evidence) -> str:
    """The model and its threshold."""
    model = one_name(evidence.models[0])
    if evidence.thresholds is None:
        value = evidence.ranking[EXPECTED][0]
        area = "" if value is None else f": the {AREA} is {value:.3f}{_over(evidence)}"
        return f"Take {model}{area}."
    taken, need = evidence.thresholds.taken, evidence.thresholds.need
    if evidence.thresholds.why_none is not None:
        why = evidence.thresholds.why_none.removeprefix("no threshold can be promised: ")
        return f"Take {model}; no threshold can be promised to {need}: {why}."
    if taken["tpr"] is None or taken["fpr"] is None:
        return f"Take {model}; its cases lack a class, so that no threshold can be judged."
    if taken["threshold"] is not None:
        action = (
            "set the threshold anew on the model that you put to use"
            if evidence.thresholds.folds > 1
            else f"act on scores from {evidence.thresholds.text}"
        )
        if evidence.choice is None:
            return f"{action[0].upper()}{action[1:]}."
        return f"Take {model}, and {action}."
    if need.kind == "cost":
        return f"Take {model}, and act on no score: at these costs no threshold pays."
    return f"Take {model}; none of its thresholds would {need}."


def _threshold_of_folds(evidence: Evidence) -> str:
    """The threshold in folds, and as the share of cases that are acted on, which carries over."""
    thresholds = evidence.thresholds
    if thresholds is None or thresholds.folds < 2 or thresholds.taken["threshold"] is None:
        return ""
    recall, alarms = thresholds.taken["tpr"], thresholds.taken["fpr"]
    if recall is None or alarms is None or not thresholds.is_comparable:
        return ""
    low, high = (
        f"{1000 * rates.posfrac(recall, alarms, skew(prior)):,.0f}"
        for prior in (thresholds.priors[0], thresholds.priors[-1])
    )
    count = low if low == high else f"{low} to {high}"
    return (
        f"In these folds it was {thresholds.text}, which acts on the highest {count} of 1,000 "
        "scores."
    )


def _over(evidence: Evidence) -> str:
    over = evidence.question.ends
    return "" if over is None else f" over {percent_range(*over)} positives"


def _rates(evidence: Evidence) -> str:
    """What the threshold finds, and how many alarms are right."""
    thresholds = evidence.thresholds
    if thresholds is None or thresholds.taken["threshold"] is None:
        return ""
    taken = thresholds.taken
    recall, alarms = taken["tpr"], taken["fpr"]
    if recall is None or alarms is None:
        return ""
    caught = of_hundred(recall)
    if taken["tpr_lower"] is not None and taken["tpr_upper"] is not None:
        ends = of_hundred(taken["tpr_lower"]), of_hundred(taken["tpr_upper"])
        caught = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    low, high = thresholds.priors[0], thresholds.priors[-1]
    right = [float(rates.precision(recall, alarms, skew(prior))) for prior in (low, high)]
    one, other = map(of_ten, right)
    if one.partition(" of ")[2] != other.partition(" of ")[2]:
        one, other = (f"{of_hundred(share)} of 100" for share in right)
    if alarms == 0:
        correct = f"none of {counted(thresholds.negatives, 'negative')} raised a false alarm"
    elif one == other:
        correct = f"about {one} alarms are right"
    else:
        correct = f"{one} alarms (at {percent(low)}) to {other} (at {percent(high)}) are right"
    return (
        f"If {percent_range(low, high)} of cases are positive, it finds {caught} of 100 positives, "
        f"and {correct}."
    )


def _probability(evidence: Evidence) -> str:
    """How likely the model is the best, and what is lost if it is not."""
    choice = evidence.choice
    if choice is None:
        return ""
    top = choice.models["mean"][0]
    tied = int((choice.models["mean"] >= top - ROUNDING * abs(top)).sum())
    words = how_sure(choice.models, tied, is_bound=choice.is_bound, unit=" of the area")
    if choice.models["probability_best"][0] is None:
        return f"The largest {AREA} is that of {one_name(evidence.models[0])}; {words}."
    doubt = ""
    areas = evidence.measures.filter(measure="iauprec")
    if areas["note"].drop_nulls().str.contains(BIASED).any():
        doubt = (
            " That may be too sure: few negatives were tested for so small a share of positives."
        )
    return f"{words[0].upper()}{words[1:]}.{doubt}"


def _how_sure(evidence: Evidence) -> tuple[str, ...]:
    sentences = []
    row = evidence.ranking.row(0, named=True)
    model = one_name(evidence.models[0])
    if row[EXPECTED] is not None:
        limits = ""
        if row["lower"] is not None:
            limits = (
                f" ({percent(evidence.question.level)} interval {row['lower']:.3f} to "
                f"{row['upper']:.3f})"
            )
        sentences.append(f"The {AREA} of {model} is {row[EXPECTED]:.3f}{limits}.")
    # What the number just said means comes before how it was made.
    cautions = evidence.cautions
    sentences += [line for line in cautions if line == FEW_NEGATIVES]
    if evidence.comparison is not None:
        sentences.append(
            describe_separation(evidence.models, evidence.comparison)
            + " A test asks for stronger evidence than being the likeliest best."
        )
    elif evidence.choice is not None or evidence.thresholds is None:
        sentences.append(evidence.untested)
    thresholds = evidence.thresholds
    if thresholds is not None and thresholds.taken["threshold"] is not None:
        sentences.append(_judged(thresholds, evidence))
    return (*sentences, *(line for line in cautions if line != FEW_NEGATIVES))


def _judged(thresholds: Thresholds, evidence: Evidence) -> str:
    """On which cases the rates at the threshold were measured."""
    level = percent(evidence.question.level)
    exact = thresholds.taken["tpr_lower"] is not None
    alarms = _right_alarms(thresholds, evidence.question.estimated) if exact else ""
    if thresholds.is_tuned:
        cases = (
            f"{counted(thresholds.positives, 'positive')} and "
            f"{counted(thresholds.negatives, 'negative')}"
        )
        promised = "" if thresholds.promise else ", and promises nothing: costs cannot be promised"
        return (
            f"The threshold was set on cases of its own{promised}. The rates are those of {cases} "
            f"that took no part in setting it"
            + (f", with exact {level} intervals for independent cases{alarms}." if exact else ".")
        )
    if thresholds.folds < 2:
        if exact:
            return (
                f"The rates are those of {counted(thresholds.positives, 'positive')} and "
                f"{counted(thresholds.negatives, 'negative')}, with exact {level} intervals for "
                f"independent cases{alarms}."
            )
        return (
            "The rates are those of cases that took no part in setting the threshold, a fifth at "
            "a time; how far they vary is not known. A promise takes cases of its own (tuning)."
        )
    spread = (
        f"their {level} intervals allow for training sets that overlap"
        if exact
        else "without test_train_ratio they have no interval"
    )
    return (
        f"The rates are means over {thresholds.folds} folds, each judged at thresholds set on "
        f"other folds; {spread}. A model fitted anew for use has scores of its own, of which "
        "these thresholds promise nothing: set its threshold on cases that it was not trained on."
    )


def _right_alarms(thresholds: Thresholds, estimated: Belief | None) -> str:
    """How many alarms are right, as far as the limits of the rates and of an estimate go."""
    taken, priors = thresholds.taken, thresholds.priors
    low = high = priors[len(priors) // 2]
    if estimated is not None:
        low, high = priors[0], priors[-1]
    worst, best = (
        rates.precision(taken[f"tpr_{one}"], taken[f"fpr_{other}"], skew(prior))
        for one, other, prior in (("lower", "upper", low), ("upper", "lower", high))
    )
    return (
        f": at {percent_range(low, high)} positives {of_hundred(worst)} to {of_hundred(best)} "
        "of 100 alarms are right"
    )


def _changes(evidence: Evidence) -> tuple[str, ...]:
    return (*_other_models(evidence), *_wrong_prior(evidence), *_other_goal(evidence))


def _other_goal(evidence: Evidence) -> list[str]:
    """Where the threshold finds a share of the positives: what finding more would take."""
    thresholds = evidence.thresholds
    if thresholds is None or thresholds.need.kind != "recall" or len(thresholds.needs) < 2:
        return []
    taken, more = thresholds.taken, thresholds.points.row(-1, named=True)
    alarms, more_alarms = taken["fpr"], more["fpr"]
    if taken["threshold"] is None or more["threshold"] is None:
        return []
    if alarms is None or more_alarms is None:
        return []
    at = thresholds.texts[-1]
    act = f"it is {at} in these folds" if thresholds.folds > 1 else f"act on scores from {at}"
    goal = "Another goal moves the threshold"
    if not evidence.question.needs.is_given:
        goal = f"No goal was given, so the threshold is set to {thresholds.need}. Another moves it"
    return [
        f"{goal}: to {thresholds.needs[-1]}, {act}; "
        f"{of_hundred(more_alarms)} of 100 negatives then "
        f"raise an alarm, in place of {of_hundred(alarms)}."
    ]


def _other_models(evidence: Evidence) -> list[str]:
    """The priors at which another model is better, and what is lost there."""
    choice = evidence.choice
    if choice is None:
        return []
    between = evidence.question.between
    model = pl.lit(evidence.models[:1]).first()
    own = choice.priors.filter(pl.col(between).eq_missing(model)).sort("prior")
    sentences = []
    low, high = own["prior"][0], own["prior"][-1]
    worse = own.filter(~pl.col("best"))
    name = one_name(evidence.models[0])
    if own.height > 1 and worse.is_empty():
        sentences.append(
            f"At every share of positives from {percent_range(low, high)} the largest area is that "
            f"of {name}."
        )
    for start, end in _runs(own["prior"].to_list(), worse["prior"].to_list()):
        there = choice.priors.filter(pl.col("prior").is_between(start, end) & pl.col("best"))
        winners = named(there[between].unique(maintain_order=True).to_list())
        at = f"From {percent_range(start, end)}" if end > start else f"At {percent(start)}"
        verb = "has" if there[between].n_unique() == 1 else "have"
        sentences.append(f"{at} positives {winners} {verb} a larger area than {name}.")
    sentences += [
        f"Beyond the range, from {percent_range(*sorted(ends))} positives, {one_name(winner)} has "
        "the largest area."
        for winner, ends in evidence.beyond
    ]
    return sentences


def _runs(priors: list[float], chosen: list[float]) -> list[tuple[float, float]]:
    """The first and the last of each run of neighbours among the chosen priors."""
    runs: list[list[float]] = []
    for before, prior in zip([None, *priors], priors, strict=False):
        if prior not in chosen:
            continue
        if runs and runs[-1][1] == before:
            runs[-1][1] = prior
        else:
            runs.append([prior, prior])
    return [(start, end) for start, end in runs]


def _wrong_prior(evidence: Evidence) -> list[str]:
    """What it costs if the threshold was set for another prior than that in use."""
    thresholds = evidence.thresholds
    if (
        thresholds is None
        or thresholds.taken["threshold"] is None
        or thresholds.taken["tpr"] is None
    ):
        return []
    if len(thresholds.priors) < 2:
        return []
    if thresholds.need.kind != "cost":
        kept = {
            "recall": "The threshold holds at any share of positives: only the share of right "
            "alarms moves with it.",
            "precision": f"The threshold is safe from {percent(thresholds.priors[0])} positives "
            "on: below, fewer alarms are right than needed.",
            "capacity": "The threshold keeps within what can be looked at over the whole range; "
            "beyond it there may be more alarms.",
        }
        return [kept[thresholds.need.kind]]
    sentences = []
    taken, middle = thresholds.taken, thresholds.priors[len(thresholds.priors) // 2]
    for need, row in zip(thresholds.needs, thresholds.points.rows(named=True), strict=True):
        prior = need.priors[0]
        if prior == middle:
            continue
        kept = need.cost(taken["tpr"], taken["fpr"])
        best = need.cost(row["tpr"], row["fpr"])
        more = max(float(kept / best - 1), 0) if best > 0 else 0
        sentences.append(
            f"At {percent(prior)} positives this threshold costs {percent(more)} more than the one "
            "for that share."
            if more > 0.005
            else f"At {percent(prior)} positives this threshold costs no more than the one for "
            "that share."
        )
    return sentences
