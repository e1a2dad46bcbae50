"""Fitted models on one test set by what they call positive: evidence on rates and costs."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_factors, refuse_unused, unless
from polaroc.base.joins import as_key
from polaroc.base.lazy import np
from polaroc.base.names import noted_by_kind
from polaroc.comparison.answer import describe_priors
from polaroc.comparison.compared import Compared, doubted
from polaroc.comparison.fitted import Fitted
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, InvalidTable, check_choice
from polaroc.measures.catalog import CATALOG, higher_is_better, label
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.priors.beliefs import Belief, Over, discrete, resolve_belief
from polaroc.priors.distributions import Atoms
from polaroc.priors.grids import OBSERVED, check_prior, skew
from polaroc.thresholds.apply_thresholds import apply_thresholds, refuse_same_table
from polaroc.thresholds.fixed import Numbers
from polaroc.thresholds.named_rates import (
    EXPECTED_COST,
    LESS_IS_BETTER,
    OF_COSTS,
    WITHOUT_PRIOR,
    rate_at,
)
from polaroc.typing import Prior, Table
from polaroc.uncertainty.evidence import Evidence
from polaroc.uncertainty.least_costs import losses_of, of_least_costs
from polaroc.uncertainty.scored_cases import ComparedCases, ScoredCases, read_cases
from polaroc.uncertainty.test_sets import of_thresholds

# Rates of calls whose differences were simulated (`just paired-calls`).
OF_CALLS = (
    EXPECTED_COST, "net_benefit", "recall", "specificity", "fnr", "precision", "npv", "f_measure",
    "accuracy", "error", "posfrac", "informedness",
)  # fmt: skip
EQUAL_COSTS = "A miss counts as much as a false alarm: both cost 1."
# The expected cost at the thresholds that cost least, among the rates of tests.
SAME_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class FittedPlan:
    """What is asked of fitted models; the arguments of `compare` of the same names."""

    measure: str
    points: Table | Numbers | None = None
    prior: Prior | None = None
    over: Over | None = None
    cost_fn: float = 1
    cost_fp: float = 1

    def __post_init__(self) -> None:
        named = f"measure is {self.measure!r}"
        check_factors(cost_fn=self.cost_fn, cost_fp=self.cost_fp)
        if self.measure not in OF_COSTS:
            refuse_unused(
                "for costs and net benefit", named,
                cost_fn=unless(1, self.cost_fn), cost_fp=unless(1, self.cost_fp),
                over=self.over if self.of_calls else None,
            )  # fmt: skip
        if not self.of_calls:
            refuse_unused(
                "for what thresholds call positive", named,
                hint=Hint("leave it out, or take a {measure} of calls.", measure="recall"),
                points=self.points,
            )  # fmt: skip
            return
        check_choice("measure", self.measure, OF_CALLS)
        if self.points is None and self.measure != EXPECTED_COST:
            raise InvalidArgument(
                f"{named}, of what thresholds call positive, and points is not given.",
                hint=Hint("give one threshold, one per model, or the result of "
                          "operating_points(...) on other cases, {points}.",
                          command_line="give --threshold 0.5, or the file that `polaroc "
                          "threshold --out` wrote.", points=0.5),
            )  # fmt: skip
        if self.measure in WITHOUT_PRIOR:
            refuse_unused("for measures at a prior", named, prior=self.prior)
        refuse_both(self.over, self.prior)
        if self.prior is not None and self.prior != OBSERVED:
            check_prior(self.prior)

    @classmethod
    def of(cls, given: Compared, measure: str, **asked: Any) -> "FittedPlan | None":
        """What is asked of models on one test set; None over folds, for which some of it is not."""
        if given.on_cases:
            return cls(measure, **asked)
        costs: dict[str, Any] = {name: unless(1, asked[name]) for name in ("cost_fn", "cost_fp")}
        points = asked["points"]
        refuse_unused("for models on one test set", "there are folds", points=points, **costs)
        return None

    @property
    def of_calls(self) -> bool:
        """Whether the measure is one of calls, and not of all thresholds."""
        return self.measure in OF_CALLS or (self.points is not None and self.measure not in CATALOG)

    @property
    def has_equal_costs(self) -> bool:
        """Whether the measure is one of costs, and both are as nobody says."""
        return self.measure in OF_COSTS and self.cost_fn == self.cost_fp == 1

    @property
    def place(self) -> str:
        """At which thresholds and priors, in words."""
        at = "at the best thresholds" if self.points is None else "at fixed thresholds"
        if self.measure in WITHOUT_PRIOR:
            return at
        if self.over is not None:
            return f"{at} {describe_priors(self.over)}"
        if self.prior is None or isinstance(self.prior, str):
            return f"{at} and the observed prior"
        return f"{at} {describe_priors(None, [self.prior])}"

    def belief(self, cases: ScoredCases) -> Belief:
        """The prior of these cases, or as asked for."""
        if self.over is not None:
            return resolve_belief(self.over)
        if self.measure in WITHOUT_PRIOR:
            return discrete([0.5])
        if self.prior is not None and self.prior != OBSERVED:
            return discrete([float(self.prior)])
        shares = [float(np.average(truth, weights=own)) for _, truth, own in cases.by_model]
        if max(shares) - min(shares) > SAME_SHARE:
            raise InvalidArgument(
                f"the models' test sets have from {min(shares):.3g} to {max(shares):.3g} positives "
                f"among their cases, by which their {label(self.measure)} differs, too.",
                hint=Hint("give one {prior} for both.", prior=0.1),
            )
        return discrete([min(max(shares[0], SAME_SHARE), 1 - SAME_SHARE)])


def fitted_calls(cases: Cases[pl.DataFrame], asked: FittedPlan) -> Fitted:
    """The evidence of cases on a rate or cost of calls."""
    read = read_cases(cases, DROP_ROWS)
    evidence = least_costs(read.only, asked) if asked.points is None else _at(read, cases, asked)
    unknown = np.flatnonzero(np.isnan(evidence.estimates[0]))
    if unknown.size:
        raise InvalidPredictions(
            f"the {label(asked.measure)} of {read.only.models[unknown[0]]!r} is not defined: a "
            "class is absent, or no case is called so.",
            hint="leave the model out, or take another measure or threshold.",
        )
    doubts = [*doubted(cases), *([EQUAL_COSTS] if asked.has_equal_costs else [])]
    return Fitted(read, asked.measure, evidence, tuple(doubts))


def _at(read: ComparedCases, cases: Cases[pl.DataFrame], asked: FittedPlan) -> Evidence:
    """At thresholds that are given."""
    scored = read.only
    # Why there is no point, the points say.
    assert asked.points is not None
    own: Cases[Any] = cases
    lazy = replace(own, table=cases.table.lazy(), cluster=())
    judged = apply_thresholds(lazy, asked.points).lazy().collect()
    if judged.height > len(scored.models):
        raise InvalidTable(
            "points has several thresholds of a model, needed is one.",
            hint="keep one rule and one prior: points.filter(rule=..., prior=...).",
        )
    refuse_same_table(judged)
    lacking = judged.filter(pl.col("share").is_null())
    if lacking.height:
        noted = noted_by_kind(lacking.select(read.model, "note").rows())
        raise InvalidArgument(
            f"a model has no threshold: {' '.join(noted)}", hint="give one of every model."
        )
    kind = read.schema[read.model]
    names = as_key(judged[read.model].cast(kind).to_list())
    places = [names.index(model) for model in as_key(scored.models)]
    mean = asked.belief(scored).mean
    rate = rate_at(asked.measure, skew(mean), asked.cost_fn, asked.cost_fp)
    thresholds, shares = (judged[name][places].to_list() for name in ("threshold", "share"))
    return of_thresholds(scored, thresholds, rate, shares, unseen=True)


def least_costs(scored: ScoredCases, asked: FittedPlan) -> Evidence:
    """At the thresholds that cost least, each by each model's own hull."""
    total = asked.cost_fn + asked.cost_fp
    belief, share = asked.belief(scored), asked.cost_fn / total
    losses = losses_of(belief.distribution, Atoms((share,), (1.0,)))
    most = (asked.cost_fn * belief.mean / total, asked.cost_fp * (1 - belief.mean) / total)
    return of_least_costs(scored, losses, most, total)


def refuse_both(over: object, prior: object) -> None:
    """Refuse a range beside a single prior."""
    if over is not None and prior is not None:
        raise InvalidArgument(
            "both over and prior are given.",
            hint=Hint("leave one of them out: {over} is a range, {prior} a single prior.",
                      over=(0.05, 0.20), prior=0.1),
        )  # fmt: skip


def more_is_better(measure: str) -> bool:
    """Whether more of a measure, or of a rate of calls, is better."""
    return measure not in LESS_IS_BETTER and higher_is_better(measure)
