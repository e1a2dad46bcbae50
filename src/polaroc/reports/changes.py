"""Changes of models or of the share of positives that would change the answer of a report."""

import polars as pl

from polaroc.base.rounding import percent
from polaroc.base.text import named, one_name
from polaroc.reports.findings import Findings
from polaroc.reports.thresholds import Thresholds
from polaroc.reports.words import alarms_of_1000, percent_range

# Of models that are ranked by area, or by cost.
LARGEST = {False: "the largest area", True: "the least cost"}
BETTER = {False: "a larger area", True: "a lower cost"}


def what_would_change(findings: Findings) -> tuple[str, ...]:
    """Another model, another share of positives: sentences on each."""
    others, wrong_prior = _other_models(findings), _wrong_prior(findings)
    # Another threshold of the same model mostly saves more than another model.
    return (*wrong_prior, *others) if findings.by_cost else (*others, *wrong_prior)


def _other_models(findings: Findings) -> list[str]:
    """The priors at which another model is better, and what is lost there."""
    choice = findings.choice
    if choice is None:
        return []
    if choice.priors.height and choice.priors["best"].all():
        same = "costs" if findings.by_cost else "areas"
        return [f"At every share of positives the {same} of all models are the same."]
    largest, better = LARGEST[findings.by_cost], BETTER[findings.by_cost]
    column = findings.question.model
    model = pl.lit(findings.models[:1]).first()
    own = choice.priors.filter(pl.col(column).eq_missing(model)).sort("prior")
    sentences = []
    low, high = own["prior"][0], own["prior"][-1]
    worse = own.filter(~pl.col("best"))
    name = one_name(findings.models[0])
    if own.height > 1 and worse.is_empty():
        sentences.append(
            f"{name} has {largest} whatever the share of positives, from "
            f"{percent_range(low, high)}."
        )
    for start, end in _runs(own["prior"].to_list(), worse["prior"].to_list()):
        first, last = _crossings(choice.priors, own, start, end)
        there = choice.priors.filter(pl.col("prior").is_between(start, end) & pl.col("best"))
        winners = named(there[column].unique(maintain_order=True).to_list())
        verb = "has" if there[column].n_unique() == 1 else "have"
        sentences.append(
            f"With the thresholds as they are, {winners} {verb} {better} than {name} if "
            f"{percent_range(first, last)} of cases are positive."
            if findings.by_cost
            else f"If {percent_range(first, last)} of cases are positive, {winners} {verb} "
            f"{better} than {name}."
        )
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


def _wrong_prior(findings: Findings) -> list[str]:
    """The cost of a threshold that was set for another prior than that in use."""
    thresholds = findings.thresholds
    if thresholds is None or thresholds.rates_in_use is None or len(thresholds.priors) < 2:
        return []
    if thresholds.need.kind != "cost":
        return [_kept(thresholds, *thresholds.rates_in_use)]
    sentences = []
    middle, is_fixed = thresholds.priors[len(thresholds.priors) // 2], thresholds.folds < 2
    rows = thresholds.points.rows(named=True)
    for need, row, text in zip(thresholds.needs, rows, thresholds.texts, strict=True):
        prior = need.priors[0]
        if prior == middle:
            continue
        kept = need.cost(*thresholds.rates_in_use)
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


def _kept(thresholds: Thresholds, recall: float, alarms: float) -> str:
    """Rates of the threshold if another share of cases is positive."""
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
    raised = alarms_of_1000(thresholds.priors, recall, alarms)
    return (
        f"One threshold for all shares raises {raised} alarms in 1,000 cases. Where cases come in "
        "batches, look at the highest scores of each batch instead: then every look is used."
    )
