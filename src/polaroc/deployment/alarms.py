"""Thresholds in use, and when another threshold or another model is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polaroc import rates
from polaroc.base.rounding import percent
from polaroc.base.statistics import Band
from polaroc.deployment.limits import WINDOWS, Looks, Reference
from polaroc.deployment.tables import Key
from polaroc.typing import Array, Quantity

# How alarms begin.
LEFT_RANGE = "the prior left the range"
BETTER_THRESHOLD, BETTER_MODEL = "another threshold is now better", "another model is now better"
OTHER_SHIFT = "more than the prior has shifted"
# Scores that reach so many times as far, or as little, are likely of another unit.
OTHER_UNIT = 10


@dataclass(frozen=True)
class Terms:
    """The range of priors that was asked for, and the costs of wrong calls."""

    over: tuple[float, float] | None
    cost_fn: float
    cost_fp: float

    def range(self, reference: Reference) -> tuple[float, float] | None:
        """The range of priors, by default the one that the threshold was chosen for."""
        return self.over or reference.threshold.over

    def priors(self, reference: Reference) -> tuple[float, ...]:
        """The ends of the range; without one the prior of the threshold, or of the reference."""
        if (over := self.range(reference)) is not None:
            return over
        if reference.threshold.prior is not None:
            return (reference.threshold.prior,)
        return (reference.positives / (reference.positives + reference.negatives),)

    def cost(self, prior: Quantity, tpr: Quantity, fpr: Quantity) -> Quantity:
        """The expected cost per case."""
        return self.cost_fn * prior * (1 - tpr) + self.cost_fp * (1 - prior) * fpr

    def least(self, prior: Band, more: "Array", less: "Array") -> "Array":
        """The least that more true and fewer false positives save at priors within limits."""
        saved: Array = np.minimum(
            *(self.cost_fn * end * more + self.cost_fp * (1 - end) * less for end in prior)
        )
        return saved

    def accepted(self, priors: Sequence[float], more: "Array", less: "Array") -> "Array":
        """The most that a change saves where the prior was expected to be, by the estimates."""
        ends = [self.least(Band(np.array(p), np.array(p)), more, less) for p in priors]
        accepted: Array = np.maximum(0.0, np.maximum.reduce(ends))
        return accepted


@dataclass(frozen=True)
class Assessment:
    """Looks at one key, with limits on all that the threshold does."""

    looks: Looks
    terms: Terms
    reaches: Sequence[float]  # the largest absolute score of each look

    @cached_property
    def shares(self) -> Band:
        """Limits of the shares at or above each cut, by look and window."""
        return self.looks.shares()

    @cached_property
    def priors(self) -> Band:
        """Limits of the prior, by look and window."""
        return self.looks.priors(self.shares)

    @cached_property
    def shifted(self) -> "Array":
        """Whether no prior gives these shares, by look and window."""
        shifted: Array = self.priors.lower > self.priors.upper
        # Per cents are no probabilities, however few cases show it.
        if self._reach_of_reference <= 1:
            shifted[:, 0] |= np.asarray(self.reaches) > OTHER_UNIT
        return shifted

    @property
    def _reach_of_reference(self) -> float:
        return max(map(abs, self.looks.reference.ends))

    def _other_unit(self, look: int) -> str:
        """The question whether the scores of a look have another unit, where they may."""
        known, reach = self._reach_of_reference, self.reaches[look]
        if not (reach > known * OTHER_UNIT or 0 < reach * OTHER_UNIT < known):
            return ""
        return (
            f"; deployed scores reach {reach:.3g}, those of the reference {known:.3g}: another "
            "unit?"
        )

    @cached_property
    def rates(self) -> tuple[Band, Band, Band]:
        """The estimates of the two rates of the threshold; limits of each, by look and window."""
        reference, own = self.looks.reference, self.looks.reference.own
        tpr, fpr = self.looks.rates
        t, f = (rate @ own for rate in reference.rates())
        of_tpr, of_fpr = (Band(band.lower @ own, band.upper @ own) for band in (tpr, fpr))
        return Band(t, f), of_tpr, of_fpr

    def quantities(self) -> dict[str, tuple["Array", Band]]:
        """Estimates and limits at each look, NaN where there is none."""
        own = self.looks.reference.own
        share = Band(*(limit[:, 0] @ own for limit in self.shares))
        prior = Band(*(limit[:, 0] for limit in self.priors))
        (t, f), *of_windows = self.rates
        tpr, fpr = (Band(*(limit[:, 0] for limit in band)) for band in of_windows)
        called = self.looks.called[:, 0] @ own / np.maximum(self.looks.cases[:, 0], 1)
        shifted: Array = np.logical_or.reduce(self.shifted, axis=1)
        # Scores that no mixture of the classes gives tell no prior.
        inside = np.clip(self.looks.prior(), prior.lower, np.maximum(prior.lower, prior.upper))
        nearest = np.where(self.shifted[:, 0], np.nan, inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = rates.precision(t, f, (1 - nearest) / nearest)
        precision = Band(
            1 - _ratio((1 - prior.lower) * fpr.upper, share.lower, 1.0),
            1 - _ratio((1 - prior.upper) * fpr.lower, share.upper, 0.0),
        )
        # Both ways to the precision, through its positives and through its negatives, hold.
        precision = Band(
            np.maximum(precision.lower, _ratio(prior.lower * tpr.lower, share.upper, 0.0)),
            np.minimum(precision.upper, _ratio(prior.upper * tpr.upper, share.lower, 1.0)),
        )
        ends = [
            [self.terms.cost(end, t, f) for end in prior]
            for t, f in ((tpr.upper, fpr.lower), (tpr.lower, fpr.upper))
        ]
        cost = Band(np.minimum(*ends[0]), np.maximum(*ends[1]))
        limits = {
            "prior": (nearest, prior),
            "precision": (np.clip(estimate, precision.lower, precision.upper), precision),
            "posfrac": (called, share),
            "cost": (self.terms.cost(nearest, t, f), cost),
        }
        return {
            name: (value, Band(*(np.where(shifted, np.nan, limit) for limit in band)))
            if name != "posfrac"
            else (value, band)
            for name, (value, band) in limits.items()
        }

    def prior_alarms(self) -> list[str | None]:
        """The alarm of each look that the prior left its range, or that more has shifted."""
        alarms: list[str | None] = []
        over = self.terms.range(self.looks.reference)
        for look, (shifted, lower, upper) in enumerate(
            zip(self.shifted, *self.priors, strict=True)
        ):
            alarm = None
            if shifted.any():
                at = int(np.flatnonzero(shifted)[0])
                alarm = (
                    f"{OTHER_SHIFT}: no mixture of the reference's positives and "
                    f"negatives gives the scores{_of_window(at)}{self._other_unit(look)}"
                )
            elif over is not None and (lower > over[1]).any():
                at = int(lower.argmax())
                alarm = _left(over, f"at least {percent(lower[at])}", at)
            elif over is not None and (upper < over[0]).any():
                at = int(upper.argmin())
                alarm = _left(over, f"at most {percent(upper[at])}", at)
            alarms.append(alarm)
        return alarms

    def threshold_alarms(self) -> list[tuple[float, str] | None]:
        """The alarm of each look that another threshold is better, after the least it saves."""
        reference = self.looks.reference
        t, f = reference.rates()
        (own_t, own_f), _, _ = self.rates
        accepted = self.terms.accepted(self.terms.priors(reference), t - own_t, own_f - f)
        more, less = self.looks.gains()
        saved = self.terms.least(Band(*(limit[..., None] for limit in self.priors)), more, less)
        # Drift of another kind leaves no costs to compare.
        unknown = self.shifted.any(axis=1, keepdims=True) | (self.looks.cases == 0)
        own = reference.threshold
        # What lets more cases through would break what the threshold was chosen to keep.
        refused = unknown[..., None] | ((reference.cuts < own.value) & own.is_lowest)
        excess = np.where(refused, -np.inf, saved - accepted)
        alarms: list[tuple[float, str] | None] = []
        for look in range(len(excess)):
            window, cut = np.unravel_index(int(excess[look].argmax()), excess[look].shape)
            if excess[look, window, cut] <= 0:
                alarms.append(None)
                continue
            least = saved[look, window, cut]
            text = f"{BETTER_THRESHOLD}: {reference.text(int(cut))}{_saves(least, int(window))}"
            alarms.append((float(least), text))
        return alarms


def _ratio(part: "Array", whole: "Array", otherwise: float) -> "Array":
    ratio: Array = np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), otherwise)
    return np.clip(ratio, 0.0, 1.0)


def _of_window(window: int) -> str:
    return f" of the last {WINDOWS[window]} times" if window else ""


def _left(over: Sequence[float], prior: str, window: int) -> str:
    inside = " to ".join(map(percent, over))
    return f"{LEFT_RANGE} {inside}: it is {prior}{_on_average(window)}"


def _saves(saved: float, window: int) -> str:
    return f" would cost at least {saved:.3g} less per case{_on_average(window)}"


def _on_average(window: int) -> str:
    return f" on average over the last {WINDOWS[window]} times" if window else ""


Assessed = Mapping[Key, tuple[list[Any], Assessment]]
# By key and place of its time: the least that another model saves, and the alarm.
Alarms = dict[tuple[Key, int], tuple[float, str]]


def model_alarms(
    assessed: Assessed, keys: Sequence[str], models: Sequence[str], terms: Terms
) -> Alarms:
    """The other model with the greatest lower limit of savings, by key and place of its time."""
    if not models:
        return {}
    place = keys.index(models[0])
    groups: dict[Key, list[Key]] = {}
    for key in assessed:
        groups.setdefault((*key[:place], *key[place + 1 :]), []).append(key)
    alarms: Alarms = {}
    for group in groups.values():
        if len(group) > 1:
            rivals = Rivals.of({key: assessed[key] for key in group}, terms)
            for model, (key, places) in enumerate(zip(group, rivals.places, strict=True)):
                other, window, saved = (best[places] for best in rivals.best(model))
                for at in np.flatnonzero(saved > 0):
                    alarm = (
                        f"{BETTER_MODEL}: {group[other[at]][place]}"
                        f"{_saves(saved[at], int(window[at]))}"
                    )
                    alarms[key, int(at)] = float(saved[at]), alarm
    return alarms


@dataclass(frozen=True)
class Rivals:
    """The limits of models that score the same cases, with the axes model, time and window.

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

    def best(self, model: int) -> "tuple[Array, Array, Array]":
        """At each time the model that saves most, its window, and the least it saves: 0 if none."""
        tpr, fpr, cases = self.tpr, self.fpr, self.cases
        lower, upper = self.priors
        prior = Band(np.maximum(lower, lower[model]), np.minimum(upper, upper[model]))
        saved = self.terms.least(prior, tpr.lower - tpr.upper[model], fpr.lower[model] - fpr.upper)
        more = self.rates.lower - self.rates.lower[model]
        less = self.rates.upper[model] - self.rates.upper
        accepted = self.terms.accepted(self.expected[model], more, less)
        known = (prior.lower <= prior.upper) & (cases > 0) & (cases == cases[model])
        excess = np.where(known, saved - accepted[:, None, None], -np.inf)
        excess[model] = -np.inf
        window = excess.argmax(axis=-1)
        rival, time = np.indices(window.shape)
        best = rival, time, window
        most = np.where(excess[best] > 0, saved[best], 0.0)
        other, time = most.argmax(axis=0), time[0]
        return other, window[other, time], most[other, time]
