"""How labelled cases in use were drawn: what is known of it, and what the scores contradict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.deployment.history import History, instants
from polaroc.deployment.labelled import Bins, Labels
from polaroc.deployment.limits import Reference
from polaroc.deployment.tables import INCLUSION, Key, by_key, named, read_with_time
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, each_counted
from polaroc.typing import Array

LABELLED = "labelled"
# A draw as is stated is taken for another at most this often.
CONTRADICTED = 1e-3
REMEDY = Hint(
    " Labels of alarms alone tell the precision at most; prior, cost and recall take labels from "
    "below the threshold, too. Draw cases of each time at random and say so "
    f"({{labelled_at_random}}), or give the chance of each in a column {INCLUSION!r}; "
    "pr.label_budget says how many it takes.",
    labelled_at_random=True,
)


@dataclass(frozen=True)
class Draw:
    """Labelled cases of one key and time, among all cases of it.

    `chance` is that with which each was drawn, None where it is not given.
    """

    of: str  # the time and key, in words
    reference: Reference
    bins: Bins
    above: "Array"  # cases at or above each cut
    score: "Array"
    truth: "Array"
    chance: "Array | None"
    at_random: bool

    @cached_property
    def place(self) -> "Array":
        """The bin of each labelled case."""
        place: Array = np.searchsorted(np.sort(self.reference.cuts), self.score, side="right")
        return place

    @cached_property
    def drawn_above(self) -> "Array":
        """Labelled cases at or above each cut."""
        code = np.zeros(self.score.size, dtype=int)
        counts: Array = self.reference.counts(self.score, code, 1)[0]
        return counts

    @cached_property
    def labels(self) -> Labels:
        """The labels, with the chances that are known: of all cases, or among alarms alone."""
        everything = np.ones(self.bins.count.size, dtype=bool)
        chance = self._chance(everything)
        if chance is not None:
            return Labels(self.place, self.truth, chance)
        # What is refuted of all cases is not believed of the alarms among them.
        alarms = self.bins.called > 0
        inside = alarms[self.place]
        chance = self._chance(alarms)
        known = np.full(self.score.size, np.nan)
        if chance is not None and (inside.all() or (chance == 1).all()):
            known[inside] = chance
        return Labels(self.place, self.truth, known, of_all=False)

    def _chance(self, domain: "Array") -> "Array | None":
        """The chances of labelled cases of some bins; None where nothing shows them."""
        inside = domain[self.place]
        cases, drawn = int(self.bins.count[domain].sum()), int(inside.sum())
        if drawn == cases:
            return np.ones(drawn)
        # More labels than cases are of cases twice, or of others.
        if drawn > cases or not self.is_stated or self._doubt(domain).min() < 1:
            return None
        return np.full(drawn, drawn / cases) if self.chance is None else self.chance[inside]

    @property
    def is_stated(self) -> bool:
        """Whether the caller says how the cases were drawn."""
        return self.at_random or self.chance is not None

    def _doubt(self, domain: "Array") -> "Array":
        """At each cut, the p-value of the draw over what refutes it: below 1 it is refuted.

        The highest bins are the domain. The cut of the threshold has half of the error.
        """
        cases, inside = int(self.bins.count[domain].sum()), domain[self.place]
        above = np.minimum(self.above, cases)
        if self.chance is None:
            from scipy.stats import hypergeom

            drawn = int(inside.sum())
            among = np.minimum(self.drawn_above, drawn)
            chance = hypergeom(cases, above, drawn)
            p_value = 2 * np.minimum(chance.sf(among - 1), chance.cdf(among))
        else:
            at_or_above = self.score[inside, None] >= self.reference.cuts
            p_value = _weights_p_value(1 / self.chance[inside], at_or_above, above, cases)
        doubt: Array = p_value / self.reference.errors(CONTRADICTED)
        return doubt

    @property
    def note(self) -> str | None:
        """Why the labels tell no prior, in words; None where they do."""
        if self.labels.of_all:
            return None
        cases, drawn = int(self.bins.count.sum()), self.score.size
        no_precision = np.isnan(self.labels.inclusion[self.bins.called[self.place] > 0]).any()
        what = "no prior, precision or cost" if no_precision else "no prior and no cost"
        if not self.is_stated:
            return (
                f"labelled: nothing says how the {drawn:,} labelled of {cases:,} cases of "
                f"{self.of} were drawn, so they tell {what}."
            )
        at = int(self._doubt(np.ones(self.bins.count.size, dtype=bool)).argmin())
        cut = f"{self.reference.cuts[at]:.6g}" if at >= self.reference.own_cuts else "the threshold"
        how = "at random" if self.chance is None else f"with the {INCLUSION!r} that they have"
        return (
            f"labelled: {self.drawn_above[at]:,} of {drawn:,} labelled cases of {self.of} reach "
            f"{cut}, and {self.above[at]:,} of all {cases:,}: they were not drawn {how}, so they "
            f"tell {what}."
        )


def _weights_p_value(weight: "Array", at_or_above: "Array", above: "Array", cases: int) -> "Array":
    """Whether weights stand for as many cases as there are on either side of each cut.

    In units of the largest weight their sum varies no more than a count of Poisson's does.
    """
    from scipy.special import gammainc, gammaincc

    unit, sums = weight.max(initial=1.0), weight @ at_or_above
    tails = []
    for stood, there in ((sums, above), (weight.sum() - sums, cases - above)):
        # Sums of chances that were divided by are whole up to their last digits.
        count, mean = np.round(stood, 6) / unit, there / unit
        tails += [np.where(count > 0, gammainc(np.where(count > 0, count, 1), mean), 1.0)]
        tails += [gammaincc(np.maximum(count, 0) + 1, mean)]
    p_value: Array = 4 * np.minimum.reduce(tails)
    return p_value


def read_labels(labelled: Cases[Any], at_random: bool) -> Predictions:
    """Labelled cases in use, with their chance of inclusion as the weight where it is given."""
    labelled = each_counted(labelled)
    has_chance = INCLUSION in labelled.table.lazy().collect_schema().names()
    if at_random and has_chance:
        raise InvalidArgument(
            f"labelled_at_random is True, and the labelled cases have {INCLUSION!r}, the chances "
            "with which they were drawn.",
            hint="say one of them: drop the column, or leave labelled_at_random out.",
        )
    weighted = replace(labelled, weight=INCLUSION if has_chance else None)
    labels = read_with_time(weighted, LABELLED)
    if has_chance:
        lowest, highest = labels.rows.select(
            pl.col(WEIGHT).min().alias("lowest"), pl.col(WEIGHT).max().alias("highest")
        ).collect().row(0)  # fmt: skip
        if lowest is not None and not 0 < lowest <= highest <= 1:
            raise InvalidPredictions(
                f"labelled: {INCLUSION!r} runs from {lowest:g} to {highest:g}, allowed are chances "
                "above 0 and at most 1.",
                hint="give the chance with which each case was drawn among those of its time.",
            )
    return labels


def draws(
    labels: Predictions,
    keys: Sequence[str],
    references: Mapping[Key, Reference],
    histories: Mapping[Key, History],
    at_random: bool,
) -> dict[tuple[Key, Any], Draw]:
    """The labelled cases of each key and time."""
    rows, time = labels.valid_rows.collect(), labels.keys[-1]
    rows = rows.with_columns(instants(rows[time]))
    found = {}
    for (*own, at), frame in by_key(rows, [*keys, time]).items():
        key, of = tuple(own), f"{at}{named(keys, tuple(own))}"
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
        prior = float(history.at([at], reference).prior()[0])
        found[key, at] = Draw(
            of, reference, Bins.at_prior(reference, above, cases, prior), above,
            frame[SCORE].to_numpy(), frame[TRUTH].to_numpy(),
            frame[WEIGHT].to_numpy() if labels.weighted else None, at_random,
        )  # fmt: skip
    return found


def draw_warnings(drawn: Mapping[tuple[Key, Any], Draw]) -> list[str]:
    """A warning of labels that tell no prior, for what nothing states or the scores refute."""
    told = [note for one in drawn.values() if (note := one.note) is not None]
    if not told:
        return []
    more = f" So it is at {len(told) - 1:,} more." if len(told) > 1 else ""
    return [told[0] + REMEDY + more]
