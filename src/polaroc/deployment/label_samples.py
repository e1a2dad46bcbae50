"""Labelled cases in use, and whether they may be a random sample of all cases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polaroc.base.private_columns import TRUTH
from polaroc.deployment.history import History, instants
from polaroc.deployment.labelled import Bins, Labels
from polaroc.deployment.limits import Reference
from polaroc.deployment.tables import Key, by_key, for_key
from polaroc.errors import InvalidPredictions
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

LABELLED = "labelled"
# How often a random sample is taken for none.
ERROR = 1e-3


@dataclass(frozen=True)
class Sample:
    """Labelled cases of one key and time, among all cases of it."""

    time: Any
    bins: Bins
    labels: Labels

    @property
    def counts(self) -> "tuple[int, int, int, int]":
        """All cases and all alarms, labelled cases and labelled alarms."""
        is_alarm = self.bins.called > 0
        place = self.labels.place
        return (
            int(self.bins.count.sum()), int(self.bins.count[is_alarm].sum()),
            place.size, int(is_alarm[place].sum()),
        )  # fmt: skip


def samples_of(
    labels: Predictions,
    keys: Sequence[str],
    references: Mapping[Key, Reference],
    histories: Mapping[Key, History],
) -> dict[Key, list[Sample]]:
    """The labelled cases of each key, time by time."""
    rows, time = labels.valid_rows.collect(), labels.keys[-1]
    rows = rows.with_columns(instants(rows[time]))
    found: dict[Key, list[Sample]] = {}
    for (*own, at), frame in by_key(rows, [*keys, time]).items():
        key, of = tuple(own), f"{at}{for_key(keys, tuple(own))}"
        history = histories.get(key, History())
        if at not in history.looks:
            raise InvalidPredictions(
                f"labelled: there are no scores of {of}.",
                hint="give all scores of the times of labelled cases, now or in the state.",
            )
        _, cases, above = history.looks[at]
        if frame.height > cases:
            raise InvalidPredictions(
                f"labelled: {frame.height:,} cases of {of}, and {cases:,} scores.",
                hint="labelled cases are among those in use; give their scores, too.",
            )
        reference = references[key]
        bins = Bins.at_prior(reference, above, cases, float(reference.prior(above, cases)))
        place = np.searchsorted(np.sort(reference.cuts), frame[SCORE].to_numpy(), side="right")
        share = np.full(frame.height, frame.height / cases)
        labelled = Labels(place, frame[TRUTH].to_numpy(), share)
        found.setdefault(key, []).append(Sample(at, bins, labelled))
    return found


def why_not_random(samples: Sequence[Sample], of_key: str) -> str | None:
    """Why the labelled cases of a key are no random sample, None where they may be one."""
    counts = np.array([one.counts for one in samples], float)
    expected = float((counts[:, 1] * counts[:, 2] / counts[:, 0]).sum())
    cases, alarms, labelled, labelled_alarms = map(int, counts.sum(axis=0))
    # Tails of a binomial distribution with the same mean are no smaller than those of a sum of
    # hypergeometric ones (Hoeffding 1956); the cases without a label tell the same.
    chance = min(
        _tails(labelled_alarms, labelled, expected),
        _tails(alarms - labelled_alarms, cases - labelled, alarms - expected),
    )
    if chance >= ERROR:
        return None
    return (
        f"labelled: {labelled_alarms:,} of {alarms:,} alarms have labels, and "
        f"{labelled - labelled_alarms:,} of {cases - alarms:,} other cases{of_key}. That is no "
        "random sample of the cases of each time, so these labels tell no prior, precision, recall "
        "or cost. Draw cases at random, whatever their score. The precision alone is the mean "
        "truth of labelled alarms."
    )


def _tails(count: int, size: int, expected: float) -> float:
    """The two-sided p-value of a count of alarms among so many cases."""
    from scipy.stats import binom

    chance = binom(size, min(expected / size, 1.0) if size else 0.0)
    return float(2 * min(chance.cdf(count), chance.sf(count - 1)))


def together(samples: Sequence[Sample]) -> tuple[Bins, Labels]:
    """Labelled cases of one key and several times, as those of one."""
    count = np.sum([one.bins.count for one in samples], axis=0)
    positive = np.sum([one.bins.count * one.bins.expected for one in samples], axis=0)
    labels = [one.labels for one in samples]
    place, truth, inclusion = (
        np.concatenate([getattr(one, name) for one in labels])
        for name in ("place", "truth", "inclusion")
    )
    bins = Bins(count, positive / np.maximum(count, 1), samples[0].bins.called)
    return bins, Labels(place, truth, inclusion)
