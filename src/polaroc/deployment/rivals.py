"""Alarms that another model, of the same cases, is now better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING, Band
from polaroc.deployment.alarms import Assessment, Terms, better_model
from polaroc.deployment.limits import WINDOWS
from polaroc.deployment.tables import Key
from polaroc.typing import Array

Assessed = Mapping[Key, tuple[list[Any], Assessment]]
# By key and place of its time: the least that another model saves, and the alarm.
Alarms = dict[tuple[Key, int], tuple[float, str]]


def model_alarms(
    assessed: Assessed, keys: Sequence[str], model_key: str | None, terms: Terms
) -> Alarms:
    """The other model with the greatest lower limit of savings, by key and place of its time."""
    if model_key is None:
        return {}
    place = keys.index(model_key)
    groups: dict[Key, list[Key]] = {}
    for key in assessed:
        groups.setdefault((*key[:place], *key[place + 1 :]), []).append(key)
    alarms: Alarms = {}
    for group in groups.values():
        if len(group) > 1:
            rivals = Rivals.of({key: assessed[key] for key in group}, terms)
            for model, at in rivals.candidates():
                saving = rivals.best(model, at)
                if saving is not None:
                    other, saved, window = saving
                    name = str(group[other][place])
                    # The place of a time among those of the key itself.
                    own = int(np.searchsorted(rivals.places[model], at))
                    alarms[group[model], own] = saved, better_model(name, saved, window)
    return alarms


@dataclass(frozen=True)
class Rivals:
    """What is known of models that score the same cases, with the axes model, time and window.

    `rates` are the estimates of the two rates of each model, `cases` 0 where nothing is known.
    """

    terms: Terms
    priors: Band
    tpr: Band
    fpr: Band
    cases: "Array"
    rates: Band
    expected: Sequence[tuple[float, ...]]  # the priors that each model was expected to be used at
    places: Sequence["Array"]  # of the times of each model, among all times

    @classmethod
    def of(cls, assessed: Assessed, terms: Terms) -> "Rivals":
        """The models of a group, at all times that any of them has."""
        order = {
            time: at
            for at, time in enumerate(
                sorted({time for times, _ in assessed.values() for time in times})
            )
        }
        places = [np.array([order[time] for time in times]) for times, _ in assessed.values()]
        known = [assessment for _, assessment in assessed.values()]

        def stacked(of: "list[Array]") -> "Array":
            table = np.zeros((len(known), len(order), len(WINDOWS)))
            for row, at, values in zip(table, places, of, strict=True):
                row[at] = values
            return table

        def banded(bands: list[Band]) -> Band:
            return Band(*(stacked(list(limits)) for limits in zip(*bands, strict=True)))

        # Drift of another kind leaves no costs to compare.
        cases = [
            np.where(one.shifted.any(axis=1, keepdims=True), 0, one.looks.cases) for one in known
        ]
        estimates = [one.rates[0] for one in known]
        return cls(
            terms,
            banded([one.priors for one in known]),
            banded([one.rates[1] for one in known]),
            banded([one.rates[2] for one in known]),
            stacked(cases),
            Band(*(np.array([estimate[at] for estimate in estimates]) for at in (0, 1))),
            [terms.priors(one.looks.reference) for one in known],
            places,
        )

    def candidates(self) -> list[tuple[int, int]]:
        """Models and times at which another model may cost less: few, found without pairs.

        Whoever saves at all priors within the limits of two models saves at those within the
        limits of all models.
        """
        known = self.cases > 0
        common = Band(
            np.where(known, self.priors.lower, -np.inf).max(axis=0),
            np.where(known, self.priors.upper, np.inf).min(axis=0),
        )
        none = common.lower > common.upper
        may_cost_less = known.copy()
        for prior in common:
            # Without a common prior all pairs are compared.
            at = np.where(none | ~np.isfinite(prior), 0.0, prior)
            own = self.terms.cost(at, self.tpr.upper, self.fpr.lower)
            others = self.terms.cost(at, self.tpr.lower, self.fpr.upper)
            least = np.where(known, others, np.inf).min(axis=0)
            may_cost_less &= none | (own >= least - ROUNDING)
        found = np.argwhere(may_cost_less.any(axis=2))
        return [(int(model), int(at)) for model, at in found]

    def best(self, model: int, at: int) -> tuple[int, float, int] | None:
        """The model that saves most, the least that it saves, and the window; None where none."""
        (lower, upper), tpr, fpr = (
            Band(*(limit[:, at] for limit in band)) for band in (self.priors, self.tpr, self.fpr)
        )
        prior = Band(np.maximum(lower, lower[model]), np.minimum(upper, upper[model]))
        saved = self.terms.least(prior, tpr.lower - tpr.upper[model], fpr.lower[model] - fpr.upper)
        more = self.rates.lower - self.rates.lower[model]
        less = self.rates.upper[model] - self.rates.upper
        accepted = self.terms.accepted(self.expected[model], more, less)
        cases = self.cases[:, at]
        known = (prior.lower <= prior.upper) & (cases > 0) & (cases == cases[model])
        excess = np.where(known, saved - accepted[:, None], -np.inf)
        excess[model] = -np.inf
        window = excess.argmax(axis=1)
        rows = np.arange(len(excess))
        most = np.where(excess[rows, window] > 0, saved[rows, window], 0.0)
        other = int(most.argmax())
        return (other, float(most[other]), int(window[other])) if most[other] > 0 else None
