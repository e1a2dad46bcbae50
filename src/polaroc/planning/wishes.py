"""What is wanted of a study, from the arguments of `plan`, in words, and what comes nearest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from polaroc.base.checks import check_factors, check_share, check_text, refuse_unused, unless
from polaroc.comparison.answer import describe_priors
from polaroc.comparison.fitted import single_measure
from polaroc.comparison.fitted_calls import refuse_both
from polaroc.comparison.gate import check_margin
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.measures.catalog import CATALOG, higher_is_better, label
from polaroc.measures.spec import Measure
from polaroc.planning.chances import Outcome
from polaroc.planning.measured import DifferenceWish, DividedWish, WidthWish
from polaroc.planning.promised import PromiseWish
from polaroc.planning.scores import Size
from polaroc.planning.sizes import Tried
from polaroc.priors.beliefs import Belief, Over, over_label, resolve_belief
from polaroc.priors.grids import check_prior, range_of, skew
from polaroc.thresholds.constraints import (
    AT_LEAST,
    checked_limits,
    depends_on_prior,
    promise,
    resolve_constraints,
)
from polaroc.typing import Prior

EXAMPLE = Hint(
    "give {constraints} for a promise, {width} for limits, or {margin} for two models.",
    constraints={"precision": 0.8}, width=0.05, margin=0.02,
)  # fmt: skip
# Halvings of the part by which a wish is relaxed to find the nearest that can be had.
HALVINGS = 6
Wish = PromiseWish | WidthWish | DifferenceWish | DividedWish


@dataclass(frozen=True)
class Aim:
    """A wish, with its argument, its words after "the chance that", and the priors it is about."""

    wish: Wish
    name: str
    words: str
    facts: Mapping[str, Any]
    place: "Place"


@dataclass(frozen=True)
class Place:
    """The priors that a wish is about."""

    over: Over | None
    prior: float | None

    @classmethod
    def of(cls, over: object, prior: object) -> "Place":
        """The place, refused where there are two or a prior is none."""
        refuse_both(over, prior)
        if prior is not None:
            check_prior(prior)
        is_belief = isinstance(over, Belief)
        taken: Any = over if over is None or is_belief else range_of(over)
        return cls(taken, None if prior is None else float(prior))  # type: ignore[arg-type]

    @property
    def middle(self) -> float | None:
        """The prior, or the mean of the range; None where nothing is said of it."""
        if isinstance(self.over, Belief):
            return self.over.mean
        return self.prior if self.over is None else sum(self.over) / 2

    @property
    def words(self) -> str:
        """After the name of a measure."""
        said = describe_priors(self.over, [] if self.prior is None else [self.prior])
        return f" {said}" if said else ""

    @property
    def facts(self) -> dict[str, Any]:
        """What a plan says of it, of a range in the words of tables and of choices."""
        over = self.over and [over_label(self.over), resolve_belief(self.over).name]
        return {"over": over, "prior": self.prior}

    def require(self, what: str) -> None:
        """Refuse a wish that depends on the prior where nothing is said of it."""
        if self.middle is None:
            raise InvalidArgument(
                f"{what} depends on the share of positives, and neither over nor prior is given.",
                hint=Hint("give {over}, or {prior} where it is known.", over=(0.05, 0.20),
                          prior=0.1),
            )  # fmt: skip


def pair_named(champion: object, challenger: object) -> tuple[object, object] | None:
    """The two models of a pilot, None where none is named."""
    if (champion is None) != (challenger is None):
        raise InvalidArgument(
            "champion and challenger go together, and one of them is not given.",
            hint=Hint("name both: {champion}, {challenger}.", champion="A", challenger="B"),
        )
    return None if champion is None else (champion, challenger)


def which_wish(
    constraints: object, width: object, margin: object, difference: object, models: bool,
    budget: object,
) -> str:  # fmt: skip
    """The one wish among the arguments; with a budget limits may come with a promise."""
    given = [
        name
        for name, is_given in (
            ("constraints", constraints is not None), ("width", width is not None),
            ("margin", margin is not None or difference is not None or models),
        )
        if is_given
    ]  # fmt: skip
    if not given:
        raise InvalidArgument("nothing is wished for.", hint=EXAMPLE)
    if len(given) > 1 and (budget is None or "margin" in given):
        raise InvalidArgument(
            f"{quoted(given)} are different wishes, allowed is one.",
            hint=f"plan each by itself, and take the larger number of cases; {EXAMPLE} A budget "
            "may be divided between constraints (tuning) and width (test).",
        )
    return given[0]


def wanted_of(
    name: str, place: Place, pair: tuple[object, object] | None, *,
    constraints: Mapping[str, float] | None, confidence: float, costs: tuple[float, float],
    width: float | None, measure: str | None, margin: float | None, level: float,
) -> Aim:  # fmt: skip
    """What is wanted, by the arguments of `plan` of the same names."""
    check_share("level", level)
    if constraints is None:
        refuse_unused(
            "for constraints", f"the wish is {name}", confidence=unless(0.95, confidence),
            cost_fn=unless(1, costs[0]), cost_fp=unless(1, costs[1]),
        )  # fmt: skip
        if width is None:
            return of_difference(margin, measure, place, level, pair)
        return of_width(width, measure, place, level)
    promise = of_promise(constraints, confidence, place, costs)
    if width is not None:
        return of_both(promise, of_width(width, measure, place, level))
    refuse_unused("for limits and two models", "constraints are given",
                  level=unless(0.95, level), measure=measure)  # fmt: skip
    return promise


def of_promise(
    constraints: Mapping[str, float], confidence: float, place: Place, costs: tuple[float, float],
) -> Aim:  # fmt: skip
    """That a threshold can be promised."""
    check_share("confidence", confidence)
    check_factors(cost_fn=costs[0], cost_fp=costs[1])
    limits = checked_limits(constraints)
    of_prior = [name for name in limits if depends_on_prior(name)]
    if of_prior or costs != (1, 1):
        place.require(" and ".join(of_prior) or "the expected cost")
    kept = resolve_constraints(limits, "max_recall", None, place.over)
    own = 1.0 if place.middle is None else float(skew(place.middle))
    # One sentence stands within another.
    said = promise(limits, confidence, kept.ends or place.prior)[:-1]
    words = f"a threshold can be promised: “{said}”"
    facts = {"constraints": limits, "confidence": confidence, "promise": f"{said}."} | place.facts
    return Aim(PromiseWish(kept, 1 - confidence, own, *costs), "constraints", words, facts, place)


def of_width(width: float, measure: str | None, place: Place, level: float) -> Aim:
    """That limits are narrow."""
    check_share("width", width)
    one = measure_at(measure, place)
    at: Prior = "observed" if place.prior is None else place.prior
    wish = WidthWish(one.name, at, place.over, level, float(width))
    words = (
        f"the {100 * level:g} % limits of the {label(one.name)}{place.words} are within ± {width:g}"
    )
    return Aim(wish, "width", words, {"width": width} | _facts(one, place, level), place)


def of_both(promise: Aim, width: Aim) -> Aim:
    """That a threshold can be promised, and that the rest of the cases give narrow limits."""
    assert isinstance(promise.wish, PromiseWish)
    assert isinstance(width.wish, WidthWish)
    words = f"{promise.words}, and that {width.words}"
    both = DividedWish(promise.wish, width.wish)
    return Aim(both, promise.name, words, {**promise.facts, **width.facts}, promise.place)


def of_difference(
    margin: float | None, measure: str | None, place: Place, level: float,
    pair: tuple[object, object] | None,
) -> Aim:  # fmt: skip
    """That a challenger is passed, or found better."""
    one = measure_at(measure, place)
    if margin is not None:
        check_margin(one.name, margin)
    wish = DifferenceWish(one, level, higher_is_better(one.name), margin)
    named = f"{label(one.name)}{place.words}"
    found = f"the test at a level of {100 * level:g} % finds the challenger better in {named}"
    passed = f"the gate finds the challenger not worse by more than {margin} in {named}"
    names = dict(zip(("champion", "challenger"), pair or (None, None), strict=True))
    facts = {**names, "margin": margin} | _facts(one, place, level)
    return Aim(wish, "margin", found if margin is None else passed, facts, place)


def _facts(measure: Measure, place: Place, level: float) -> dict[str, Any]:
    names = [f"{label(measure.name)}{place.words}", measure.name]
    if measure.name == "iauprec":
        # A choice calls it AUPREC, averaged over the range.
        names.append("auprec")
    return {"measure": names, "level": level} | place.facts


def measure_at(name: str | None, place: Place) -> Measure:
    """The measure, by default the area that the priors tell."""
    usual = "auc" if place.middle is None else "iauprec" if place.prior is None else "auprec"
    name = usual if name is None else name
    check_text("measure", name, usual)
    if name in CATALOG and CATALOG[name].at_priors:
        place.require(label(name))
    measure = single_measure(name, "observed" if place.prior is None else place.prior, place.over)
    if not measure.is_area:
        raise InvalidArgument(
            f"measure is {name!r}, which depends on what scores say, and only their order is "
            "assumed.",
            hint=Hint("take an area, such as {measure}.", measure="auc"),
        )
    return measure


def out_of_reach(
    wanted: Aim, outcome: Callable[[Wish, Size], Outcome], most: Tried, chance: float
) -> InvalidArgument:
    """The error where no number of cases has the chance; its hint is the nearest that has it."""
    size, best = most
    low, high = 0.0, 1.0
    hint: Hint | str = "ask for less, or for a better model."
    if best.chance >= 0.01:
        hint = Hint("{chance} can be had.", chance=int(100 * best.chance) / 100)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        relaxed, words = _relaxed(wanted, middle)
        if relaxed is None:
            break
        if outcome(relaxed, size).chance >= chance:
            high, hint = middle, Hint(f"{{{wanted.name}}} has that chance with so many.", **words)
        else:
            low = middle
    return InvalidArgument(
        f"chance is {chance:g} that {wanted.words}, and even {size.words} have a chance of "
        f"{best.chance:.2g}.",
        hint=hint,
    )


def _relaxed(wanted: Aim, part: float) -> tuple[Wish | None, Mapping[str, Any]]:
    """A wish that asks for less, from as it is to nothing, and its argument."""
    wish = wanted.wish
    if isinstance(wish, PromiseWish):
        limits = {
            name: _digits(limit * (1 - part) if name in AT_LEAST else limit + part * (1 - limit))
            for name, limit in wish.constraints.limits.items()
        }
        eased = replace(wish, constraints=replace(wish.constraints, limits=limits))
        return eased, {"constraints": limits}
    if isinstance(wish, WidthWish):
        width = _digits(wish.width + part * (0.5 - wish.width))
        return replace(wish, width=width), {"width": width}
    if isinstance(wish, DividedWish) or wish.margin is None:
        return None, {}
    margin = _digits(wish.margin + part * (0.5 - wish.margin))
    return replace(wish, margin=margin), {"margin": margin}


def _digits(value: float) -> float:
    """A share to two digits, within (0, 1)."""
    return min(max(float(f"{value:.2g}"), 1e-6), 0.999)
