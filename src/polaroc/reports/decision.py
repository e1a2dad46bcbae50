"""What a report says first: what to do, how sure that is, and what would change it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from operator import itemgetter

import polars as pl

from polaroc import rates
from polaroc.base.names import named, one_name
from polaroc.base.text import percent
from polaroc.choice.answer import OF_AREA, PER_CASE, first_words, how_sure
from polaroc.choice.by_cost import cost_in_words, take_first
from polaroc.choice.result import Choice
from polaroc.comparison.measure_rows import doubts
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import skew
from polaroc.reports.evidence import BIASED, FEW_NEGATIVES, Evidence, costs
from polaroc.reports.ranking import COST, EXPECTED
from polaroc.reports.thresholds import Thresholds
from polaroc.reports.words import counted, of_hundred, percent_range

AREA = "area (AUPREC)"
# Of models that are ranked by area, or by cost.
LARGEST = {False: "the largest area", True: "the least cost"}
BETTER = {False: "a larger area", True: "a lower cost"}
# Of two models set to the same goal, what the better one has less of, and how that is written.
MISSED = "misses fewer positives than {own}: {other} of 100, not {most}", of_hundred
LEFT = {
    "cost": ("costs less than {own}: {other} per case, not {most}", "{:.3g}".format),
    "recall": (
        "raises fewer false alarms than {own}: {other} of 100 negatives, not {most}", of_hundred,
    ),
    "precision": MISSED,
    "capacity": MISSED,
}  # fmt: skip


BY_COST = (
    "With cases of their own for the thresholds (tuning) the models are ranked by what they cost."
)


@dataclass(frozen=True)
class Decision:
    """The first screen of a report, in sentences."""

    answer: tuple[str, ...]
    how_sure: tuple[str, ...]
    changes: tuple[str, ...]


def decide(evidence: Evidence) -> Decision:
    """What the evidence says to do."""
    promise = "" if evidence.thresholds is None else evidence.thresholds.promise or ""
    at_goal = _better_at_goal(evidence) if evidence.question.needs.is_given else []
    doubted = " ".join(doubts(evidence.measures, "auprec"))
    known = (
        doubted, _take(evidence), promise, _final_model(evidence), _cost(evidence),
        _rates(evidence), _probability(evidence), *at_goal,
    )  # fmt: skip
    return Decision(
        tuple(sentence for sentence in known if sentence), _how_sure(evidence), _changes(evidence)
    )


def counts(evidence: Evidence) -> str:
    """How many models, folds and predictions there are."""
    parts = [counted(len(evidence.models), "model")]
    if evidence.question.blocks:
        columns = ", ".join(evidence.question.blocks)
        named = "" if columns == "fold" else f" ({columns})"
        parts.append(f"{counted(evidence.blocks, 'fold')}{named}")
    audit = evidence.audit
    if audit is None:
        return " · ".join(parts)
    totals = ("rows", "positives")
    if evidence.blocks == 1 and all(audit[name].n_unique() == 1 for name in totals):
        rows, positives = (int(audit[name][0]) for name in totals)
        parts.append(f"{counted(rows, 'case')}, {positives:,} of them positive")
    else:
        parts.append(counted(int(audit["rows"].sum()), "prediction"))
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
    thresholds, choice = evidence.thresholds, evidence.choice
    words = ""
    if choice is not None:
        words = (take_first if evidence.by_cost else first_words)(_known(choice))
    model = words or f"Take {one_name(evidence.models[0])}"
    if thresholds is None:
        value = evidence.ranking[EXPECTED][0]
        area = "" if value is None else f": the {AREA} is {value:.3f}{_over(evidence)}"
        return f"{model}{area}."
    taken, need = thresholds.taken, thresholds.need
    if thresholds.why_none is not None:
        why = thresholds.why_none.removeprefix("no threshold can be promised: ")
        return f"{model}. No threshold can be promised to {need}: {why}."
    if taken["tpr"] is None or taken["fpr"] is None:
        return f"{model}. Its cases lack a class, so that no threshold can be judged."
    if taken["threshold"] is not None:
        action = f"act on scores from {thresholds.text}."
        if thresholds.folds > 1:
            action = f"set the threshold of the final model to {need}."
        return f"{words}, and {action}" if words else f"{action[0].upper()}{action[1:]}"
    if need.kind == "cost":
        return f"{model}, and act on no score: at these costs no threshold pays."
    return f"{model}. None of its thresholds would {need}."


def _cost(evidence: Evidence) -> str:
    """What the first model costs, where models are ranked by it."""
    if evidence.choice is None or not evidence.by_cost:
        return ""
    return cost_in_words(_known(evidence.choice), costs(evidence.question))


def _known(choice: Choice) -> pl.DataFrame:
    """The models that have a mean: of a choice by cost, those with a class of each kind."""
    return choice.models.filter(pl.col("mean").is_not_null())


def _final_model(evidence: Evidence) -> str:
    """Of folds, how to set the threshold of the model in use, and the share it acted on here."""
    thresholds = evidence.thresholds
    if thresholds is None or thresholds.folds < 2 or thresholds.taken["threshold"] is None:
        return ""
    recall, alarms = thresholds.taken["tpr"], thresholds.taken["fpr"]
    if recall is None or alarms is None:
        return ""
    where = "Set it on cases that the final model was not trained on"
    if not thresholds.is_comparable:
        return f"{where}."
    alarm_counts = _alarms_of_1000(thresholds, recall, alarms)
    return (
        f"{where}, and not to the {thresholds.text} of these folds, whose models are others. "
        f"Expect an alarm for {alarm_counts} of 1,000 cases."
    )


def _at_ends(priors: tuple[float, ...], number: Callable[[float], str]) -> str:
    """A number at the lowest and at the highest share of positives, once where it is the same."""
    low, high = number(priors[0]), number(priors[-1])
    if low == high:
        return f"{low} (if {percent_range(priors[0], priors[-1])} of cases are positive)"
    least, most = percent(priors[0]), percent(priors[-1])
    return f"{low} (if {least} of cases are positive) to {high} (if {most} are)"


def _alarms_of_1000(thresholds: Thresholds, recall: float, alarms: float) -> str:
    """How many of 1,000 cases raise an alarm, at the lowest and at the highest share."""
    return _at_ends(
        thresholds.priors, lambda prior: f"{1000 * rates.posfrac(recall, alarms, skew(prior)):,.0f}"
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
    margin = ""
    if taken["tpr_lower"] is not None and taken["tpr_upper"] is not None:
        ends = of_hundred(taken["tpr_lower"]), of_hundred(taken["tpr_upper"])
        margin = f" (margin of error: {ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
    is_named = not evidence.by_cost and thresholds.folds < 2
    subject = "That" if is_named else "Such a threshold"
    found = f"{subject} finds about {of_hundred(recall)} of 100 positives{margin}"
    if alarms == 0:
        upper = taken["fpr_upper"]
        most = f" (margin of error: up to {of_hundred(upper)} of 100)" if upper else ""
        none = f"none of {counted(thresholds.negatives, 'negative')} raised an alarm"
        return f"{found}, and {none}{most}."
    right = _at_ends(
        thresholds.priors,
        lambda prior: of_hundred(float(rates.precision(recall, alarms, skew(prior)))),
    )
    return f"{found}, and of 100 alarms about {right} are right."


def _probability(evidence: Evidence) -> str:
    """How likely the model is the best, and what is lost if it is not."""
    choice = evidence.choice
    if choice is None:
        return ""
    is_area = not evidence.by_cost
    unit = OF_AREA if is_area else PER_CASE
    words = how_sure(_known(choice), is_bound=choice.is_bound, higher=is_area, unit=unit)
    areas = evidence.measures.filter(measure="iauprec")
    if words and is_area and areas["note"].drop_nulls().str.contains(BIASED).any():
        words += (
            " That is itself unsure: few negatives were tested for so small a share of positives."
        )
    return words


def _how_sure(evidence: Evidence) -> tuple[str, ...]:
    sentences = []
    row = evidence.ranking.row(0, named=True)
    model = one_name(evidence.models[0])
    digits = "{:.4g}" if evidence.by_cost else "{:.3f}"
    limits = ""
    if row["lower"] is not None:
        ends = (digits.format(row[end]) for end in ("lower", "upper"))
        limits = f" (margin of error: {' to '.join(ends)})"
    if row[COST] is not None:
        sentences.append(
            f"The cost of {model} is {digits.format(row[COST])} per case{limits}. Acting on "
            f"{_without_a_model(evidence)}."
        )
    elif row[EXPECTED] is not None:
        over = evidence.question.over
        chance = (
            "" if over is None else f"; guessing has {resolve_belief(over).mean:.3g}, perfect is 1"
        )
        sentences.append(
            f"The {AREA} of {model}, the share of right alarms averaged over all recalls, is "
            f"{digits.format(row[EXPECTED])}{limits}{chance}."
        )
    # What the number just said means comes before how it was made.
    cautions = evidence.cautions
    sentences += [line for line in cautions if line == FEW_NEGATIVES]
    thresholds = evidence.thresholds
    if thresholds is not None and thresholds.taken["threshold"] is not None:
        sentences.append(_judged(thresholds, evidence))
    return (*sentences, *(line for line in cautions if line != FEW_NEGATIVES))


def _without_a_model(evidence: Evidence) -> str:
    """What it costs to act on no case or on every case, whichever is less."""
    prior = resolve_belief(evidence.question.over).mean
    missed, alarm = evidence.question.needs.costs
    cost, cases = min((prior * missed, "no case"), ((1 - prior) * alarm, "every case"))
    return f"{cases} would cost {cost:.4g}"


def _judged(thresholds: Thresholds, evidence: Evidence) -> str:
    """On which cases the rates at the threshold were measured."""
    level = percent(evidence.question.level)
    margin = f"their margin of error is an exact {level} interval for independent cases"
    has_limits = thresholds.taken["tpr_lower"] is not None
    alarms = _right_alarms(thresholds, evidence.question.estimated) if has_limits else ""
    if thresholds.is_tuned:
        cases = (
            f"{counted(thresholds.positives, 'positive')} and "
            f"{counted(thresholds.negatives, 'negative')}"
        )
        promised = "" if thresholds.promise else ", without a promise: costs cannot be promised"
        return (
            f"The threshold was set on other cases{promised}. The rates are those of {cases} "
            f"that took no part in setting it" + (f"; {margin}{alarms}." if has_limits else ".")
        )
    if thresholds.folds < 2:
        chosen = (
            f". The margin of error ({level}, for independent cases) allows for the threshold "
            f"having been chosen on them{alarms}"
            if has_limits
            else "; with weights, how far they vary is not known"
        )
        if has_limits and thresholds.need.fixes_count:
            return (
                f"The rates are those of {counted(thresholds.positives, 'positive')} and "
                f"{counted(thresholds.negatives, 'negative')}; {margin}{alarms}."
            )
        return (
            "The rates are those of cases that took no part in setting the threshold, a fifth at "
            f"a time{chosen}. A promise takes cases of its own (tuning)."
        )
    spread = (
        f"the margin of error, {level}, allows for training sets that overlap"
        if has_limits
        else "without test_train_ratio they have no margin of error"
    )
    return (
        f"The rates are means over {thresholds.folds} folds, each judged at thresholds set on "
        f"other folds; {spread}. The final model is another one: try it on fresh cases."
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
    at_goal = [] if evidence.question.needs.is_given else _better_at_goal(evidence)
    others, wrong_prior = _other_models(evidence), _wrong_prior(evidence)
    # Another threshold of the same model mostly saves more than another model.
    both = [*wrong_prior, *others] if evidence.by_cost else [*others, *wrong_prior]
    return (*at_goal, *both, *_other_goal(evidence))


def _better_at_goal(evidence: Evidence) -> list[str]:
    """The model that does best at what the threshold is set to, where that is another one.

    Models are ranked by their areas, to which all thresholds add.
    """
    thresholds = evidence.thresholds
    if thresholds is None:
        return []
    need, own = thresholds.need, evidence.models[0]
    left = [
        (float(need.left(recall, alarms)), model)
        for model, rates in ((own, thresholds.taken), *evidence.at_goal)
        if (recall := rates["tpr"]) is not None and (alarms := rates["fpr"]) is not None
    ]
    if not left or left[0][1] != own:
        return []
    (most, _), (least, other) = left[0], min(left, key=itemgetter(0))
    words, as_text = LEFT[need.kind]
    if as_text(least) == as_text(most) or least > _least_of_margin(thresholds):
        return []
    more = words.format(own=one_name(own), other=as_text(least), most=as_text(most))
    return [
        f"Models are ranked by area, which counts all thresholds. Set to {need}, {one_name(other)} "
        f"{more}. This was seen on these cases, and not tested.",
        *([BY_COST] if need.kind == "cost" and not evidence.question.blocks else []),
    ]


def _least_of_margin(thresholds: Thresholds) -> float:
    """What is left of a need at the better end of the margin of error; costs have none."""
    taken, need = thresholds.taken, thresholds.need
    if need.kind == "cost" or taken["tpr_upper"] is None or taken["fpr_lower"] is None:
        return inf
    return float(need.left(taken["tpr_upper"], taken["fpr_lower"]))


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
    act = "" if thresholds.folds > 1 else f"act on scores from {thresholds.texts[-1]}: "
    goal = "Another goal moves the threshold"
    if not evidence.question.needs.is_given:
        goal = f"No goal was given, so it is a common one: {thresholds.need}. {goal}"
    return [
        f"{goal}. To {thresholds.needs[-1]}, {act}{of_hundred(more_alarms)} of 100 negatives then "
        f"raise an alarm, instead of {of_hundred(alarms)}."
    ]


def _other_models(evidence: Evidence) -> list[str]:
    """The priors at which another model is better, and what is lost there."""
    choice = evidence.choice
    if choice is None:
        return []
    if choice.priors.height and choice.priors["best"].all():
        same = "costs" if evidence.by_cost else "areas"
        return [f"At every share of positives the {same} of all models are the same."]
    largest, better = LARGEST[evidence.by_cost], BETTER[evidence.by_cost]
    between = evidence.question.between
    model = pl.lit(evidence.models[:1]).first()
    own = choice.priors.filter(pl.col(between).eq_missing(model)).sort("prior")
    sentences = []
    low, high = own["prior"][0], own["prior"][-1]
    worse = own.filter(~pl.col("best"))
    name = one_name(evidence.models[0])
    if own.height > 1 and worse.is_empty():
        sentences.append(
            f"{name} has {largest} whatever the share of positives, from "
            f"{percent_range(low, high)}."
        )
    for start, end in _runs(own["prior"].to_list(), worse["prior"].to_list()):
        first, last = _crossings(choice.priors, own, start, end)
        there = choice.priors.filter(pl.col("prior").is_between(start, end) & pl.col("best"))
        winners = named(there[between].unique(maintain_order=True).to_list())
        verb = "has" if there[between].n_unique() == 1 else "have"
        sentences.append(
            f"With the thresholds as they are, {winners} {verb} {better} than {name} if "
            f"{percent_range(first, last)} of cases are positive."
            if evidence.by_cost
            else f"If {percent_range(first, last)} of cases are positive, {winners} {verb} "
            f"{better} than {name}."
        )
    sentences += [
        f"If {'only ' if prior < low else ''}{percent(prior)} of cases were positive, beyond the "
        f"range, {one_name(winner)} would have {largest}."
        for winner, prior in evidence.beyond
    ]
    return sentences


def _crossings(
    priors: pl.DataFrame, own: pl.DataFrame, start: float, end: float
) -> tuple[float, float]:
    """The ends of a run of priors, each moved to where the model meets the one that is better.

    Between two neighbours on the grid the difference is taken for a straight line, which that of
    costs is.
    """
    grid = own["prior"].to_list()
    ends = []
    for at, before in ((start, grid.index(start) - 1), (end, grid.index(end) + 1)):
        if not 0 <= before < len(grid):
            ends.append(at)
            continue
        other = priors.filter((pl.col("prior") == at) & pl.col("best"))[:1, 1:2]
        rival = priors.join(other, on=other.columns, nulls_equal=True).sort("prior")
        inside, outside = (
            own.filter(prior=prior)["mean"].item() - rival.filter(prior=prior)["mean"].item()
            for prior in (at, grid[before])
        )
        share = inside / (inside - outside) if inside * outside < 0 else 0.0
        ends.append(at + share * (grid[before] - at))
    return ends[0], ends[1]


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
        return [_kept(thresholds)]
    sentences = []
    taken, middle = thresholds.taken, thresholds.priors[len(thresholds.priors) // 2]
    is_fixed = thresholds.folds < 2
    rows = thresholds.points.rows(named=True)
    for need, row, text in zip(thresholds.needs, rows, thresholds.texts, strict=True):
        prior = need.priors[0]
        if prior == middle:
            continue
        kept = need.cost(taken["tpr"], taken["fpr"])
        best = need.cost(row["tpr"], row["fpr"])
        more = max(float(kept / best - 1), 0) if best > 0 else 0
        if text == thresholds.text:
            sentences.append(f"At {percent(prior)} positives the same threshold costs least.")
            continue
        better = f"{text}, the one" if row["threshold"] is not None and is_fixed else "the one"
        sentences.append(
            f"At {percent(prior)} positives this threshold costs {100 * more:.0f} % more than "
            f"{better} for that share."
            if more > 0.005
            else f"At {percent(prior)} positives this threshold costs no more than the one for "
            "that share."
        )
    return sentences


def _kept(thresholds: Thresholds) -> str:
    """What the threshold still does if another share of cases is positive."""
    lowest = percent(thresholds.priors[0])
    if thresholds.need.kind == "recall":
        return (
            "If positives are rarer or more common, keep the threshold: it finds the same share of "
            "them, and only the share of right alarms changes."
        )
    if thresholds.need.kind == "precision" and thresholds.promise:
        return f"The promise holds from {lowest} positives on; at fewer, nothing is promised."
    if thresholds.need.kind == "precision":
        return f"At fewer than {lowest} positives fewer alarms may be right than needed."
    recall, alarms = thresholds.taken["tpr"], thresholds.taken["fpr"]
    if recall is None or alarms is None:
        return "Beyond these shares of positives there may be more alarms."
    return (
        f"One threshold for all shares raises {_alarms_of_1000(thresholds, recall, alarms)} alarms "
        "in 1,000 cases. Where cases come in batches, look at the highest scores of each batch "
        "instead: then every look is used."
    )
