"""Rows of one measure of a tidy table, at given priors, and their means over folds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.checks import check_text, refuse_unused
from polaroc.base.columns import OVER, RESERVED, as_lazy, require
from polaroc.base.private_columns import AT, SPREAD, VALUE
from polaroc.base.text import capitalised, listed_rows
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable, quoted
from polaroc.measures.areas import BELOW_CHANCE
from polaroc.measures.catalog import CATALOG
from polaroc.predictions.row_checks import THE_TRUTH
from polaroc.priors.beliefs import Over, labelled_range, same_over
from polaroc.priors.grids import OBSERVED, SAME, check_prior
from polaroc.typing import Prior

CHANCE = (0.5 - SAME, 0.5 + SAME)
NEEDED = {
    "prior": pl.Float64, "positives": pl.Float64, "negatives": pl.Float64, "note": pl.String,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one measure, of every key."""

    frame: pl.DataFrame  # keys, prior, estimate, positives, negatives, note
    keys: list[str]
    measure: str

    @property
    def has_prior(self) -> bool:
        """Whether the measure is taken at priors."""
        return bool(self.frame["prior"].is_not_null().any())

    @property
    def fixed_priors(self) -> list[float]:
        """The priors of the table, ascending, without those that are only some key's own prior."""
        share = pl.col("positives") / (pl.col("positives") + pl.col("negatives"))
        lowest, highest = self.frame.select(
            share.min().alias("least"), share.max().alias("most")
        ).row(0)
        if lowest is None or highest - lowest <= SAME:
            return distinct(self.frame["prior"])
        only_own = self.frame.group_by("prior").agg(_is_observed().all().alias(AT))
        return distinct(only_own.filter(~pl.col(AT).fill_null(False))["prior"])

    def at(
        self, priors: Sequence[Prior | None], noted: Sequence[Prior | None] | None = None
    ) -> pl.DataFrame:
        """One row per key: the totals, the notes, and a column per prior (see `value_columns`).

        A prior of None selects the only row of each key. `noted` are the priors whose notes are
        included, by default all.
        """
        names = value_columns(len(priors))
        chosen = [(name, self._matching(p)) for name, p in zip(names, priors, strict=True)]
        spread = [
            (pl.col("estimate").filter(match).max() - pl.col("estimate").filter(match).min())
            for _, match in chosen
        ]
        used = pl.any_horizontal(match for _, match in chosen)
        has_note_for = used if noted is None else pl.any_horizontal(map(self._matching, noted))
        wide = (
            self.frame.group_by(self.keys)
            .agg(
                pl.col("positives", "negatives").max(),
                pl.col("prior").filter(used).min(),
                pl.col("note")
                .filter(has_note_for)
                .drop_nulls()
                .unique(maintain_order=True)
                .str.join("; "),
                pl.max_horizontal(spread).alias(SPREAD),
                *(pl.col("estimate").filter(match).first().alias(name) for name, match in chosen),
            )
            .with_columns(pl.col("note").replace("", None))
        )
        ambiguous = wide.filter(pl.col(SPREAD) > SAME)
        if ambiguous.height:
            raise InvalidTable(
                f"{ambiguous.height} key(s) have two different estimates of {self.measure!r}: "
                f"{listed_rows(ambiguous.select(self.keys))}.",
                hint="are two evaluations in one table? Name them apart with a key column.",
            )
        return wide

    def check_prior(self, prior: Prior | None) -> None:
        """Raise on a prior that the measure or the table does not have."""
        if prior is None:
            counts = self.frame.group_by(self.keys).agg(pl.col("prior").n_unique().alias(AT))
            if counts[AT].max() != 1:
                raise InvalidArgument(
                    f"{self.measure!r} is in the table at several priors: "
                    f"{_listed(distinct(self.frame['prior']))}.",
                    hint="say which one, for example priors=0.1.",
                )
            return
        if not self.has_prior:
            raise InvalidArgument(
                f"prior is {quoted([prior])}, but {self.measure!r} has no prior.",
                hint="leave it out.",
            )
        if prior != OBSERVED:
            check_prior(prior)
        if not self.frame.select(self._matching(prior).any()).item():
            raise InvalidArgument(
                f"the table has no {self.measure!r} at prior {prior!r}; it has it at "
                f"{_listed(distinct(self.frame['prior']))}.",
                hint="evaluate with it among priors=, or choose one of these.",
            )

    def _matching(self, prior: Prior | None) -> pl.Expr:
        if prior is None:
            return pl.lit(True)
        if prior == OBSERVED:
            return _is_observed().fill_null(False)
        return ((pl.col("prior") - prior).abs() <= SAME).fill_null(False)


def rows_of(measures: pl.LazyFrame | pl.DataFrame, measure: str) -> Rows:
    """The rows of one measure; raise where the table has none."""
    check_text("measure", measure, "auprec")
    lazy = as_lazy(measures)
    keys = require(lazy, ("measure", "estimate"), source="evaluate(...)")
    schema = lazy.collect_schema()
    if not (schema["estimate"].is_numeric() or schema["estimate"] == pl.Null):
        raise InvalidTable(
            f"the column 'estimate' is {schema['estimate']}, allowed are numbers.",
            hint="pass the result of evaluate(...).",
        )
    lacking = [
        pl.lit(None, kind).alias(name) for name, kind in NEEDED.items() if name not in schema
    ]
    wanted, estimate = pl.col("measure").cast(pl.String), pl.col("estimate").cast(pl.Float64)
    frame = (
        lazy.with_columns(lacking)
        .filter(wanted == measure)
        .select(
            *keys,
            pl.col("prior").cast(pl.Float64),
            pl.when(estimate.is_finite()).then(estimate).alias("estimate"),
            "positives",
            "negatives",
            pl.col("note").cast(pl.String),
        )
        .collect()
    )
    if frame.is_empty():
        known = lazy.select(wanted.drop_nulls().unique().sort()).collect()["measure"].to_list()
        again = (
            "choose one of these, or evaluate again. 'iauprec' and 'sens' need over=(0.05, 0.20)."
        )
        raise InvalidArgument(
            f"the table has no measure {measure!r}; it has {quoted(known) or 'no rows'}.",
            hint=again,
        )
    return Rows(frame, keys, measure)


def range_rows(measures: pl.DataFrame, measure: str, over: Over) -> Rows | None:
    """The rows of a measure that are known to be over a range or belief, if any."""
    same = over_labels(measures, measure, over)
    return rows_of(measures.filter(pl.col(OVER).is_in(same)), measure) if same else None


def of_range(measures: pl.DataFrame, over: Over | None) -> pl.DataFrame:
    """The table without rows over another range or belief."""
    if over is None or OVER not in measures.columns:
        return measures
    same = over_labels(measures, None, over)
    return measures.filter(pl.col(OVER).is_null() | pl.col(OVER).cast(pl.String).is_in(same))


def over_labels(measures: pl.DataFrame, measure: str | None, over: Over | None = None) -> list[str]:
    """Ranges or beliefs of the rows of a measure, or of all, where the table has them.

    Of these the one that is asked for, where one is.
    """
    if OVER not in measures.columns:
        return []
    rows = measures
    if measure is not None:
        rows = measures.filter(pl.col("measure").cast(pl.String) == measure)
    labels = rows[OVER].cast(pl.String).drop_nulls().unique().sort().to_list()
    return [label for label in labels if over is None or same_over(label, over)]


def only_range(measures: pl.DataFrame, mean: str = "iauprec") -> tuple[float, float] | None:
    """The common range of all means of the table, if known."""
    labels = over_labels(measures, mean)
    return labelled_range(labels[0]) if len(labels) == 1 else None


def of_one_range(
    measures: pl.DataFrame, measure: str, over: Over | None
) -> tuple[pl.DataFrame, Over | str | None]:
    """The rows of one measure and of the AUC, and the range or belief they are over."""
    if not needs_range(measure):
        return measures, None
    labels, same = over_labels(measures, measure), over_labels(measures, measure, over)
    if labels and len(same) == 1:
        kept = (pl.col("measure") != measure) | (pl.col(OVER) == same[0])
        return measures.filter(kept), labelled_range(same[0]) or same[0]
    if labels or over is not None:
        wanted = "" if over is None else f", not over {over!r}"
        raise InvalidArgument(
            f"the table has {measure!r} over {quoted(labels) or 'a range that it does not tell'}"
            f"{wanted}.",
            hint="evaluate again with the range, or name one of these as over=.",
        )
    return measures, None


def refuse_places(measure: str, over: object, prior: Prior | None) -> None:
    """Refuse a range of priors, or a prior, where a measure has none."""
    if measure not in CATALOG:
        return
    if prior is not None and not CATALOG[measure].at_priors:
        raise InvalidArgument(
            f"prior is {prior!r}, but {measure!r} has no prior.", hint="leave it out."
        )
    if not needs_range(measure):
        refuse_unused(
            "for measures over a range of priors",
            f"measure is {measure!r}",
            hint="leave it out" + ", or take measure='iauprec'" * (measure == "auprec") + ".",
            over=over,
        )


def needs_range(measure: str) -> bool:
    """Whether a measure is over a range of priors or a belief."""
    return measure in CATALOG and CATALOG[measure].over is not None


def refuse_one_class(measures: pl.DataFrame) -> None:
    """Refuse measures of which every key lacks the same class."""
    for name, kind in (("positives", "positive"), ("negatives", "negative")):
        if name in measures.columns and measures.height and (measures[name] == 0).all():
            raise InvalidPredictions(
                f"no row is {kind}, so that there is nothing to choose by.",
                hint="check truth= and positive=.",
            )


def below_chance(measures: pl.DataFrame, measure: str) -> list[str]:
    """Warning on AUCs below chance, where the table has the AUC."""
    areas = measures.filter(pl.col("measure").cast(pl.String) == "auc")
    reversed_areas = _noted(areas, BELOW_CHANCE)
    if measure == "auc" or reversed_areas.is_empty():
        return []
    return [
        f"{reversed_areas.height} of {areas.height} AUCs are {BELOW_CHANCE} "
        f"{listed_rows(reversed_areas, 3)}."
    ]


def doubts(measures: pl.DataFrame, measure: str) -> list[str]:
    """Warnings on scores that cannot be right or tell nothing, which come before any answer."""
    of_truth = _noted(measures, THE_TRUTH).unique(maintain_order=True)
    known = of_truth.height > 0
    truth = [f"{capitalised(THE_TRUTH)}: {listed_rows(of_truth, 3)}."] if known else []
    return [*truth, *below_chance(measures, measure), *_at_chance(measures)]


def _noted(measures: pl.DataFrame, text: str) -> pl.DataFrame:
    """The sorted keys of the rows whose note has a text."""
    if "note" not in measures.columns:
        return pl.DataFrame()
    noted = pl.col("note").cast(pl.String).str.contains(text, literal=True)
    keys = measures.filter(noted).select(pl.exclude(RESERVED))
    return keys.sort(keys.columns, nulls_last=True)


def _at_chance(measures: pl.DataFrame) -> list[str]:
    """Warning where every AUC is that of scores that tell nothing."""
    areas = measures.filter(pl.col("measure").cast(pl.String) == "auc")["estimate"]
    if areas.is_empty() or areas.null_count() or not areas.is_between(*CHANCE).all():
        return []
    return [
        "No model is better than chance: all AUCs are 0.5, so that the scores do not tell the "
        "classes apart."
    ]


def value_columns(count: int) -> list[str]:
    """The columns that hold the estimates at the first, second, … prior."""
    return [f"{VALUE}_{i}" for i in range(count)]


def distinct(priors: pl.Series) -> list[float]:
    """The different priors, ascending."""
    kept: list[float] = []
    for prior in priors.drop_nulls().unique().sort().to_list():
        if not kept or prior - kept[-1] > SAME:
            kept.append(prior)
    return kept


def refuse_rows(problems: Mapping[str, pl.DataFrame], hint: str) -> None:
    """Refuse rows, with the first of them behind how many there are of which problem."""
    found = [
        f"{rows.height} {problem}: {listed_rows(rows)}"
        for problem, rows in problems.items()
        if rows.height
    ]
    if found:
        raise InvalidTable(f"{'; '.join(found)}.", hint=hint)


def _is_observed() -> pl.Expr:
    positives = pl.col("positives")
    return (pl.col("prior") - positives / (positives + pl.col("negatives"))).abs() <= SAME


def _listed(priors: Sequence[float], highest: int = 20) -> str:
    more = f" and {len(priors) - highest} more" if len(priors) > highest else ""
    return ", ".join(f"{prior:.6g}" for prior in priors[:highest]) + more
