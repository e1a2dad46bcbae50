"""The first lines of a report: the decision, how certain it is, and what would change it."""

from dataclasses import dataclass

from polaroc import rates
from polaroc.base.rounding import number, percent, significant
from polaroc.base.text import capitalised, one_name
from polaroc.models.fold_thresholds import (
    ON_OTHERS,
    judged_on_other_folds,
)
from polaroc.models.measure_rows import doubts
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import skew
from polaroc.reports.changes import what_would_change
from polaroc.reports.findings import BIASED, FEW_NEGATIVES, Findings
from polaroc.reports.ranking import AREA, COST
from polaroc.reports.thresholds import Thresholds
from polaroc.reports.words import (
    alarms_of_1000,
    at_ends,
    counted,
    limits_of_hundred,
    of_hundred,
    percent_range,
)
from polaroc.thresholds.need import Need

NAME_OF_AREA = "area (AUPREC)"


@dataclass(frozen=True)
class Decision:
    """The first screen of a report, in sentences."""

    answer: tuple[str, ...]
    how_sure: tuple[str, ...]
    changes: tuple[str, ...]


def decide(findings: Findings) -> Decision:
    """The decision that follows from the findings."""
    promise = "" if findings.thresholds is None else findings.thresholds.promise or ""
    doubted = " ".join(doubts(findings.measures, "auprec"))
    known = (
        doubted, _take(findings), promise, _final_model(findings), _cost(findings),
        _rates(findings), _missed_goal(findings),
        _probability(findings), _not_by_cost(findings),
    )  # fmt: skip
    return Decision(
        tuple(sentence for sentence in known if sentence),
        _how_sure(findings),
        what_would_change(findings),
    )


def counts(findings: Findings) -> str:
    """How many models, folds and predictions there are."""
    parts = [counted(len(findings.models), "model")]
    if findings.question.folds:
        columns = ", ".join(findings.question.folds)
        named = "" if columns == "fold" else f" ({columns})"
        parts.append(f"{counted(findings.folds, 'fold')}{named}")
    audit = findings.audit
    if audit is None:
        return " · ".join(parts)
    totals = ("rows", "positives", "negatives")
    if findings.folds == 1 and all(audit[name].n_unique() == 1 for name in totals):
        rows, positives, negatives = (float(audit[name][0]) for name in totals)
        roles = findings.question.compared.cases
        if roles.weight is None:
            number = rows if roles.count is None else positives + negatives
            positive = f"{positives:,.0f} of them positive"
        else:
            number = rows
            positive = f"{percent(positives / (positives + negatives))} of their weight positive"
        clusters = _clusters(findings)
        unit = "row" if clusters else "case"
        parts.append(f"{counted(int(number), unit)}, {positive}{clusters}")
    else:
        parts.append(counted(int(audit["rows"].sum()), "prediction"))
    return " · ".join(parts)


def _clusters(findings: Findings) -> str:
    """How many clusters the rows belong to, by the name of their column."""
    cases, name = findings.cases, findings.question.cluster
    if cases is None or name is None:
        return ""
    return f", in {counted(cases.rows['cluster'].n_unique(), 'cluster')} ({name})"


def need_in_words(thresholds: Thresholds, *, given: bool) -> str:
    """The goal of the threshold, why there is none, or how to ask for one."""
    need = thresholds.need
    if thresholds.why_none is not None:
        return f"No threshold is set: none can be promised to {need}."
    if thresholds.taken["threshold"] is None:
        return f"No threshold is set: {_no_threshold(need)}."
    if given:
        return f"The threshold is set to {need}."
    return (
        "No goal was given, so these thresholds are examples. Give one with recall, precision, "
        "capacity (cases of 1,000 that can be looked at), or the costs cost_fn and cost_fp."
    )


def _no_threshold(need: Need) -> str:
    """Why no threshold is set, where it is not for want of a promise."""
    if need.kind != "cost":
        return f"none of the thresholds would {need}"
    return "at these costs none of the thresholds pays"


def _take(findings: Findings) -> str:
    """The model and its threshold."""
    thresholds, choice = findings.thresholds, findings.choice
    words = "" if choice is None else choice.first_words
    model = words or f"Take {one_name(findings.models[0])}"
    if thresholds is None:
        value, over = findings.ranking[AREA][0], findings.question.ends
        range_said = "" if over is None else f" over {percent_range(*over)} positives"
        area = "" if value is None else f": the {NAME_OF_AREA} is {number(value)}{range_said}"
        return f"{model}{area}."
    taken, need = thresholds.taken, thresholds.need
    if thresholds.why_none is not None:
        why = thresholds.why_none.removeprefix("no threshold can be promised: ")
        return f"{model}. No threshold can be promised to {need}: {why}."
    if thresholds.rates is None:
        return f"{model}. Its cases lack a class, so no threshold can be judged."
    if taken["threshold"] is None:
        return f"{model}, and act on no score: {_no_threshold(need)}."
    action = f"act on scores from {thresholds.text}"
    if thresholds.folds > 1:
        action = f"set the threshold of the final model to {need}"
    if findings.question.needs.is_given:
        return f"{words}, and {action}." if words else f"{capitalised(action)}."
    goal = "" if thresholds.folds > 1 else f" to {need}"
    example = f"No goal was given for the threshold. As an example, {action}{goal}."
    return f"{words}. {example}" if words else example


def _cost(findings: Findings) -> str:
    """The cost of the first model, if models are ranked by it."""
    return "" if findings.choice is None else findings.choice.cost


def _final_model(findings: Findings) -> str:
    """For folds: how to set the threshold of the final model, and its share of alarms here."""
    thresholds = findings.thresholds
    if thresholds is None or thresholds.folds < 2 or thresholds.rates_in_use is None:
        return ""
    if not thresholds.is_comparable:
        return ON_OTHERS
    alarm_counts = alarms_of_1000(thresholds.priors, *thresholds.rates_in_use)
    return f"{ON_OTHERS} Expect an alarm for {alarm_counts} of 1,000 cases."


def _rates(findings: Findings) -> str:
    """The recall of the threshold, and its share of right alarms."""
    thresholds = findings.thresholds
    if thresholds is None or thresholds.rates_in_use is None:
        return ""
    taken, (recall, alarms), margin = thresholds.taken, thresholds.rates_in_use, ""
    if taken["tpr_lower"] is not None and taken["tpr_upper"] is not None:
        ends = limits_of_hundred(taken["tpr_lower"], taken["tpr_upper"])
        margin = f" (margin of error: {ends})" if len({*ends.split(" to ")}) > 1 else ""
    is_named = not findings.by_cost and thresholds.folds < 2
    subject = "That" if is_named else "Such a threshold"
    found = f"{subject} finds about {of_hundred(recall)} of 100 positives{margin}"
    if alarms == 0:
        upper = taken["fpr_upper"]
        most = f" (margin of error: up to {of_hundred(upper)} of 100)" if upper else ""
        none = f"none of {counted(thresholds.negatives, 'negative')} raised an alarm"
        return f"{found}, and {none}{most}."
    right = at_ends(
        thresholds.priors,
        lambda prior: of_hundred(float(rates.precision(recall, alarms, skew(prior)))),
    )
    said = f"{found}, and of 100 alarms about {right} are right."
    return said.replace("about more", "more")


def _missed_goal(findings: Findings) -> str:
    """Where the rates miss the goal that was given; "" if they meet it, as far as is shown."""
    thresholds = findings.thresholds
    rated = None if thresholds is None else thresholds.rates_in_use
    if thresholds is None or rated is None or not findings.question.needs.is_given:
        return ""
    need, (recall, alarms), goal = thresholds.need, rated, of_hundred(thresholds.need.value)
    if need.kind == "recall":
        if recall >= need.value or of_hundred(recall) == goal:
            return ""
        return f"The goal of {goal} of 100 positives is missed."
    if need.kind == "precision":
        lowest = thresholds.priors[0]
        right = float(rates.precision(recall, alarms, skew(lowest)))
        if not right < need.value or of_hundred(right) == goal:
            return ""
        found = f"about {of_hundred(right)} of 100 alarms are right there, not {goal}"
        return f"The goal is missed at {percent(lowest)} positives: {found}."
    if need.kind == "capacity":
        highest, most = thresholds.priors[-1], f"{1000 * need.value:,.4g}"
        raised = 1000 * float(rates.posfrac(recall, alarms, skew(highest)))
        if round(raised) <= 1000 * need.value:
            return ""
        found = f"about {raised:,.0f} of 1,000 cases raise an alarm there, not {most}"
        return f"The goal is missed at {percent(highest)} positives: {found}."
    return ""


def _probability(findings: Findings) -> str:
    """How likely the model is the best, and what is lost if it is not."""
    choice = findings.choice
    if choice is None:
        return ""
    words, areas = choice.how_sure, findings.measures.filter(measure="iauprec")
    if words and not findings.by_cost and areas["note"].drop_nulls().str.contains(BIASED).any():
        words += (
            " That is itself unsure: few negatives were tested for so small a share of positives."
        )
    return words


def _not_by_cost(findings: Findings) -> str:
    """That models are not ranked by the costs that were given, where they are not."""
    if not findings.question.needs.has_costs or findings.by_cost or findings.choice is None:
        return ""
    return (
        "The models are ranked by area, not by these costs: if thresholds are set on other cases "
        "(tuning), they are ranked by what they cost."
    )


def _how_sure(findings: Findings) -> tuple[str, ...]:
    sentences = []
    row = findings.ranking.row(0, named=True)
    model = one_name(findings.models[0])
    in_digits = significant if findings.by_cost else number
    limits = ""
    if row["lower"] is not None:
        limits = f" (margin of error: {in_digits(row['lower'])} to {in_digits(row['upper'])})"
    if row[COST] is not None:
        sentences.append(
            f"The cost of {model} is {in_digits(row[COST])} per case{limits}. "
            f"{_without_a_model(findings)}"
        )
    elif row[AREA] is not None:
        over = findings.question.over
        chance = (
            "" if over is None else f"; guessing has {resolve_belief(over).mean:.3g}, perfect is 1"
        )
        sentences.append(
            f"The {NAME_OF_AREA} of {model}, the share of right alarms averaged over all recalls, "
            f"is {in_digits(row[AREA])}{limits}{chance}."
        )
    # What the number just said means comes before how it was made.
    cautions = findings.cautions
    sentences += [line for line in cautions if line == FEW_NEGATIVES]
    thresholds = findings.thresholds
    if thresholds is not None and thresholds.taken["threshold"] is not None:
        sentences.append(_judged(thresholds, findings))
    return (*sentences, *(line for line in cautions if line != FEW_NEGATIVES))


def _without_a_model(findings: Findings) -> str:
    """The cost of acting on no case and on every case."""
    prior = resolve_belief(findings.question.over).mean
    missed, alarm = findings.question.needs.costs
    return (
        f"Acting on no case would cost {prior * missed:.4g}, acting on every case "
        f"{(1 - prior) * alarm:.4g}."
    )


def _judged(thresholds: Thresholds, findings: Findings) -> str:
    """On which cases the rates at the threshold were measured."""
    level = percent(findings.question.level)
    cluster = findings.question.cluster
    of = f"that counts clusters ({cluster}), not rows" if cluster else "for independent cases"
    margin = f"their margin of error is an exact {level} interval {of}"
    has_limits = thresholds.taken["tpr_lower"] is not None
    alarms = _right_alarms(thresholds, findings.question.estimated) if has_limits else ""
    if thresholds.is_tuned:
        cases = _of_classes(thresholds.positives, thresholds.negatives)
        promised = "" if thresholds.promise else ", without a promise: costs cannot be promised"
        is_shared = bool(findings.question.shared)
        of_others, took_no_part = (
            ("", "") if is_shared else (" of other cases", " that took no part in setting it")
        )
        return (
            f"The threshold was set on {_of_classes(*thresholds.tuned_on)}{of_others}"
            f"{promised}. The rates are those of {cases}{took_no_part}"
            + (f"; {margin}{alarms}." if has_limits else ".")
        )
    if thresholds.folds < 2:
        unknown = (
            f"; with {'weights' if findings.is_weighted else 'clusters'}, how far they vary is not "
            "known"
        )
        if thresholds.need.fixes_count:
            cases = _of_classes(thresholds.positives, thresholds.negatives)
            ending = f"; {margin}{alarms}" if has_limits else unknown
            return f"The rates are those of {cases}, which also set the threshold{ending}."
        chosen = (
            f". The margin of error ({level}, for independent cases) allows for the threshold "
            f"having been chosen on them{alarms}"
            if has_limits
            else unknown
        )
        return (
            "The rates are those of cases that took no part in setting the threshold, a fifth at "
            f"a time{chosen}. A promise needs other cases for the threshold (tuning)."
        )
    spread = (
        f"the margin of error, {level}, allows for training sets that overlap"
        if has_limits
        else "without test_train_ratio they have no margin of error"
    )
    return judged_on_other_folds(thresholds.folds, f"; {spread}")


def _of_classes(positives: int, negatives: int) -> str:
    return f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}"


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
        f": at {percent_range(low, high)} positives {limits_of_hundred(worst, best)} of 100 "
        "alarms are right"
    )
