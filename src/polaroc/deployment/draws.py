"""How labelled cases in use were drawn: what is known of it, and what the scores contradict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.base.rounding import percent
from polaroc.deployment.history import History, instants
from polaroc.deployment.how_labelled import INCLUSION, HowLabelled
from polaroc.deployment.labelled import Bins, Labels
from polaroc.deployment.limits import Reference
from polaroc.deployment.tables import Key, by_key, for_key, read_with_time
from polaroc.errors import Hint, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, each_counted
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Array

LABELLED = "labelled"
# A draw as is stated is taken for another at most this often.
CONTRADICTED = 1e-3
ALERTS_ALONE = (
    " Labels of alerts alone tell the precision at most; prior, recall and cost need labels from "
    "below the threshold, too: label_budget says how many."
)
REMEDY = Hint(
    " Draw cases of each time at random and say so ({label_share}), or give the chance of each in "
    f"a column {INCLUSION!r}.",
    label_share=OBSERVED,
)


@dataclass(frozen=True)
class Draw:
    """Labelled cases of one key and time, among all cases of it.

    `chance` is that with which each was drawn, None where it is not given.
    """

    of: str  # the time and key, in words
    time: Any
    reference: Reference
    bins: Bins
    score: "Array"
    truth: "Array"
    chance: "Array | None"
    how: HowLabelled

    @cached_property
    def place(self) -> "Array":
        """The bin of each labelled case."""
        place: Array = np.searchsorted(np.sort(self.reference.cuts), self.score, side="right")
        return place

    @cached_property
    def labels(self) -> Labels:
        """The labels, with the chances that are known: of all cases, or among alerts alone."""
        called = self.bins.called
        parts = [np.ones(called.size, dtype=bool)]
        if self.how.alerts:
            # Of cases at the threshold only some are called positive, and labelled for it.
            parts = [called == 1, (called > 0) & (called < 1), called == 0]
        chance, known = self._chances(parts)
        if known:
            return Labels(self.place, self.truth, chance)
        # What is refuted of all cases is not believed of the alerts among them.
        inside = called[self.place] > 0
        chance, known = self._chances(parts[:2] if self.how.alerts else [called > 0])
        if not (self.how.alerts or inside.all() or (chance[inside] == 1).all()):
            chance[:] = np.nan
        return Labels(self.place, self.truth, chance, of_all=False)

    def _chances(self, parts: Sequence["Array"]) -> tuple["Array", bool]:
        """The chances of labelled cases by part of the bins, and whether all are known."""
        chances, known = np.full(self.score.size, np.nan), True
        for domain in parts:
            chance = self._chance(domain)
            known &= chance is not None
            if chance is not None:
                chances[domain[self.place]] = chance
        return chances, known

    def _number(self, domain: "Array") -> tuple[int, int]:
        """How many cases of some bins there are, and how many of them are labelled."""
        return int(self.bins.count[domain].sum()), int(domain[self.place].sum())

    def _chance(self, domain: "Array") -> "Array | None":
        """The chances of labelled cases of some bins; None where nothing shows them."""
        cases, drawn = self._number(domain)
        if drawn == cases:
            return np.ones(drawn)
        # More labels than cases are of cases twice, or of others.
        if drawn > cases or drawn == 0:
            return None
        called = self.bins.called[domain].max()
        if self.how.alerts and called > 0:
            return None if called == 1 else np.full(drawn, drawn / cases)
        if not self._is_stated or self._doubt(domain).min() < 1 or self._is_other_share(domain):
            return None
        return np.full(drawn, drawn / cases) if self.chance is None else self._chance_in(domain)

    def _chance_in(self, domain: "Array") -> "Array":
        """The stated chances of the labelled cases of some bins."""
        assert self.chance is not None
        chance: Array = self.chance[domain[self.place]]
        return chance

    @property
    def _is_stated(self) -> bool:
        """Whether the caller says how the cases were drawn."""
        return self.how.at_random or self.chance is not None

    def _is_other_share(self, domain: "Array") -> bool:
        """Whether another share of the cases of some bins is labelled than the one stated."""
        if not isinstance(self.how.share, float):
            return False
        from scipy.stats import binom

        cases, drawn = self._number(domain)
        chance = binom(cases, self.how.share)
        return bool(2 * min(chance.cdf(drawn), chance.sf(drawn - 1)) < CONTRADICTED)

    def _reaching(self, domain: "Array", number: "Array") -> "Array":
        """Of cases in bins of the domain, how many are at or above each cut."""
        order, reaching = np.argsort(self.reference.cuts), np.empty(self.reference.cuts.size, int)
        reaching[order] = (number * domain)[::-1].cumsum()[::-1][1:]
        return reaching

    @cached_property
    def _drawn(self) -> "Array":
        """The labelled cases of each bin."""
        return np.bincount(self.place, minlength=self.bins.count.size)

    def _doubt(self, domain: "Array") -> "Array":
        """At each cut, the p-value of the draw over what refutes it: below 1 it is refuted.

        The cut of the threshold has half of the error.
        """
        cases, drawn = self._number(domain)
        above = self._reaching(domain, self.bins.count)
        if self.chance is None:
            from scipy.stats import hypergeom

            among = self._reaching(domain, self._drawn)
            chance = hypergeom(cases, above, drawn)
            p_value = 2 * np.minimum(chance.sf(among - 1), chance.cdf(among))
        else:
            at_or_above = self.score[domain[self.place], None] >= self.reference.cuts
            p_value = _weights_p_value(1 / self._chance_in(domain), at_or_above, above, cases)
        doubt: Array = p_value / self.reference.errors(CONTRADICTED)
        return doubt

    @property
    def tells_precision(self) -> bool:
        """Whether it is known how labelled alerts were drawn, and there are any."""
        called = self.bins.called[self.place] > 0
        return bool(called.any()) and not np.isnan(self.labels.inclusion[called]).any()

    @property
    def note(self) -> str | None:
        """Why the labels tell no prior, in words; None where they do."""
        if self.labels.of_all:
            return None
        told = "no precision, prior, recall or cost"
        if self.tells_precision:
            told = "the precision, and no prior, recall or cost"
        return f"labelled: {self._why()}, so they tell {told}."

    def _why(self) -> str:
        """Why not all is known of how cases were drawn."""
        domain = np.ones(self.bins.count.size, dtype=bool)
        if self.how.alerts:
            alerts, labelled = self._number(self.bins.called == 1)
            if labelled != alerts:
                return f"{labelled:,} of the {alerts:,} alerts of {self.of} are labelled, not all"
            domain = self.bins.called == 0
            if not self._number(domain)[1]:
                return f"only the {alerts:,} alerts of {self.of} are labelled"
        cases, drawn = self._number(domain)
        other = "other " if self.how.alerts else ""
        if not self._is_stated:
            return (
                f"nothing says how the {drawn:,} labelled of {cases:,} {other}cases of {self.of} "
                "were drawn"
            )
        if isinstance(self.how.share, float) and self._is_other_share(domain):
            return (
                f"{drawn:,} of {cases:,} {other}cases of {self.of} are labelled, not about "
                f"{percent(self.how.share)}"
            )
        at = int(self._doubt(domain).argmin())
        cut = self.reference.text(at) if at >= self.reference.own_cuts else "the threshold"
        how = "at random" if self.chance is None else "with the chances that they have"
        among, above = (int(self._reaching(domain, n)[at]) for n in (self._drawn, self.bins.count))
        return (
            f"{among:,} of {drawn:,} labelled {other}cases of {self.of} reach {cut}, but "
            f"{above:,} of all {cases:,} do: they were not drawn {how}"
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


def read_labels(labelled: Cases[Any], how: HowLabelled, every: str | None) -> Predictions:
    """Labelled cases in use, with their chance of inclusion as the weight where it is given."""
    labelled = each_counted(labelled)
    column = how.chances(labelled.table.lazy().collect_schema().names())
    labels = read_with_time(replace(labelled, weight=column), LABELLED, every)
    if column is not None:
        lowest, highest = labels.rows.select(
            pl.col(WEIGHT).min().alias("lowest"), pl.col(WEIGHT).max().alias("highest")
        ).collect().row(0)  # fmt: skip
        if lowest is not None and not 0 < lowest <= highest <= 1:
            raise InvalidPredictions(
                f"labelled: {column!r} runs from {lowest:g} to {highest:g}, allowed are chances "
                "above 0 and at most 1.",
                hint="give the chance with which each case was drawn among those of its time.",
            )
    return labels


def draws(
    labels: Predictions,
    keys: Sequence[str],
    references: Mapping[Key, Reference],
    histories: Mapping[Key, History],
    how: HowLabelled,
) -> tuple[dict[tuple[Key, Any], Draw], list[str]]:
    """The labelled cases of each key and time, and which times are complete."""
    rows, time = labels.valid_rows.collect(), labels.keys[-1]
    rows = rows.with_columns(instants(rows[time]))
    rows, told = how.complete(rows, time, histories)
    found = {}
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
        prior = float(reference.prior(above, cases))
        found[key, at] = Draw(
            of, at, reference, Bins.at_prior(reference, above, cases, prior),
            frame[SCORE].to_numpy(), frame[TRUTH].to_numpy(),
            frame[WEIGHT].to_numpy() if labels.weighted else None, how,
        )  # fmt: skip
    return found, told


def together(drawn: Sequence[Draw]) -> tuple[Bins, Labels]:
    """Labelled cases of one key and several times, as those of one."""
    count = np.sum([one.bins.count for one in drawn], axis=0)
    positive = np.sum([one.bins.count * one.bins.expected for one in drawn], axis=0)
    labels = [one.labels for one in drawn]
    place, truth, inclusion = (
        np.concatenate([getattr(one, name) for one in labels])
        for name in ("place", "truth", "inclusion")
    )
    bins = Bins(count, positive / np.maximum(count, 1), drawn[0].bins.called)
    return bins, Labels(place, truth, inclusion, all(one.of_all for one in labels))


def draw_warnings(drawn: Mapping[tuple[Key, Any], Draw]) -> list[str]:
    """A warning of labels that tell no prior, for what nothing states or the scores refute."""
    told = [one for one in drawn.values() if one.note is not None]
    if not told:
        return []
    first = told[0]
    more = f" So it is at {len(told) - 1:,} more." if len(told) > 1 else ""
    alone = ALERTS_ALONE if (first.bins.called[first.place] > 0).all() else ""
    return [str(first.note) + alone + REMEDY + more]
