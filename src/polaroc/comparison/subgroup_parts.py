"""What is measured in each subgroup, and the evidence on how far subgroups are apart."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.columns import parts_by_key
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.calibration.evidence import CALIBRATION, estimates_and_limits, of_calibration
from polaroc.errors import Hint, InvalidArgument
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import select_measures
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import skew
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.named_rates import WITHOUT_PRIOR, OfRates, rate_at, unknown
from polaroc.thresholds.subgroup_promises import divided
from polaroc.uncertainty.evidence import Evidence
from polaroc.uncertainty.scored_cases import ScoredCases, scored_by_key
from polaroc.uncertainty.test_sets import of_test_set, of_thresholds

Place: TypeAlias = tuple[Any, ...]

# What a threshold does, by the column of `apply_thresholds` that has it.
JUDGED = {
    "recall": "tpr", "fpr": "fpr", "precision": "precision", "posfrac": "posfrac", "cost": "cost",
}  # fmt: skip
MAX_SUBGROUPS = 50
NUMBERS = ("estimate", "lower", "upper", "std_error")
COLUMNS = ("measure", "prior", "threshold", *NUMBERS, "positives", "negatives", "note")
NO_CALIBRATION = "no positives, or all scores equal, or separating the classes: not known"
SCORES_MOVED = "scores are right at another prior: calibration is not judged"


@dataclass(frozen=True)
class SubgroupPlan:
    """What is measured in each subgroup; the arguments of `subgroups` of the same names."""

    measures: tuple[str, ...]  # those of `evaluate`
    calibration: bool  # whether that of scores is judged
    priors: tuple[float, ...]
    over: Over | None
    points: pl.DataFrame | None
    cost_fn: float
    cost_fp: float
    # What `points` do, by the column of `apply_thresholds` that has it.
    rates: Mapping[str, str] = field(default_factory=lambda: JUDGED)


@dataclass(frozen=True, eq=False)
class Divided:
    """Cases divided by one column, and what is wanted of each part."""

    cases: Cases[pl.DataFrame]  # with the subgroup as last column of `by`
    column: str  # the name of that one
    wanted: SubgroupPlan

    def measured(self, level: float) -> pl.DataFrame:
        """Tidy rows of each key and subgroup, in one order, with a number in `PLACE`.

        Those of calibration are null: they come of the evidence.
        """
        wanted = self.wanted
        parts = []
        if wanted.measures:
            areas = evaluate(
                self.cases, measures=wanted.measures, priors=wanted.priors or 0.5, over=wanted.over,
                intervals="logit", level=level,
            )  # fmt: skip
            parts.append(areas.with_columns(threshold=pl.lit(None, pl.Float64)))
        if wanted.points is not None:
            parts.append(self._rates(level))
        first = parts[0] if parts else self._totals()
        keys = self.keys(first.columns)
        parts = [one.select(*keys, *COLUMNS) for one in parts]
        if wanted.calibration:
            parts.append(self._of_calibration(first, keys))
        number = pl.int_range(pl.len()).over(keys).alias(PLACE)
        rows = pl.concat(parts, how="vertical_relaxed").with_columns(number)
        # Rows that all count 0 are no subgroup.
        rows = rows.filter(pl.col("positives") + pl.col("negatives") > 0)
        return rows.sort(*keys, PLACE, nulls_last=True, maintain_order=True)

    def parts(
        self, level: float
    ) -> tuple[pl.DataFrame, dict[Place, pl.DataFrame], dict[Place, Evidence]]:
        """The rows of each key and subgroup, together and by place, and the evidence on each."""
        rows = self.measured(level)
        keys = self.keys(rows.columns)
        parts = parts_by_key(rows.drop(PLACE), keys)
        scored = scored_by_key(self.cases, keys)
        # A part whose weights are all zero has no cases.
        empty = ScoredCases((), [None], [np.zeros(0)], [np.zeros(0, bool)], None, paired=True)
        evidence = {
            place: self.evidence(one, scored.get(place, empty)) for place, one in parts.items()
        }
        parts = {
            place: completed(one, evidence[place], level, self.wanted.rates)
            for place, one in parts.items()
        }
        shown = pl.concat([rows.drop(PLACE).clear(), *parts.values()], how="vertical_relaxed")
        return shown, parts, evidence

    def whose(self, name: str | None) -> list[pl.Expr]:
        """The column of the subgroups, and the subgroup; both null where all cases are one."""
        value = pl.col(self.column).cast(pl.String).fill_null("null")
        return [
            pl.lit(name, pl.String).alias("column"),
            (pl.lit(None, pl.String) if name is None else value).alias("subgroup"),
        ]

    def keys(self, columns: Sequence[str]) -> list[str]:
        """The keys of a table, the subgroup last."""
        own = columns[: next(i for i, name in enumerate(columns) if name in ("rule", "measure"))]
        return [*(name for name in own if name != self.column), self.column]

    def _totals(self) -> pl.DataFrame:
        return evaluate(self.cases, measures="auc").with_columns(threshold=pl.lit(None, pl.Float64))

    def _rates(self, level: float) -> pl.DataFrame:
        wanted = self.wanted
        assert wanted.points is not None
        applied = apply_thresholds(
            self.cases, wanted.points, same_table=True, priors=wanted.priors or None,
            intervals="exact", level=level, cost_fn=wanted.cost_fn, cost_fp=wanted.cost_fp,
            rates=[one for one in wanted.rates.values() if one not in JUDGED.values()] or None,
        )  # fmt: skip
        keys = self.keys(applied.columns)
        parts = []
        for name, source in wanted.rates.items():
            prior = pl.lit(None, pl.Float64) if name in WITHOUT_PRIOR else pl.col("prior")
            parts.append(
                applied.select(
                    *keys,
                    pl.lit(name).alias("measure"),
                    prior.alias("prior"),
                    "threshold",
                    pl.col(source).alias("estimate"),
                    pl.col(f"{source}_lower").alias("lower"),
                    pl.col(f"{source}_upper").alias("upper"),
                    pl.lit(None, pl.Float64).alias("std_error"),
                    "positives",
                    "negatives",
                    "note",
                )
            )
        # A rate that no prior changes comes once.
        once = [*keys, "measure", "prior", "threshold"]
        return pl.concat(parts).unique(once, keep="first", maintain_order=True)

    def _of_calibration(self, rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
        """A row without numbers for each part and measure of calibration."""
        parts = rows.select(*keys, "positives", "negatives").unique(maintain_order=True)
        moved = self.cases.score_prior != "observed"
        nothing = [
            pl.lit(None, pl.Float64).alias(name) for name in ("prior", "threshold", *NUMBERS)
        ]
        return pl.concat(
            [
                parts.select(
                    *keys,
                    *nothing,
                    "positives",
                    "negatives",
                    measure=pl.lit(name),
                    note=pl.lit(SCORES_MOVED if moved else None, pl.String),
                ).select(*keys, *COLUMNS)
                for name in CALIBRATION
            ]
        )

    def evidence(self, rows: pl.DataFrame, cases: ScoredCases) -> Evidence:
        """The evidence on the rows of one part, in their order, of its cases."""
        found = []
        wanted = self.wanted
        if wanted.measures:
            selected = select_measures(
                wanted.measures, wanted.priors or 0.5, wanted.over, "exact", ARRAYS,
                score_prior=self.cases.score_prior,
            )  # fmt: skip
            found.append(of_test_set(cases, selected.measures))
        of_rates = rows.filter(pl.col("measure").is_in([*wanted.rates]))
        for name, prior, at in of_rates.select("measure", "prior", "threshold").iter_rows():
            # A rate that no prior changes is the same at any.
            p = 0.5 if name in WITHOUT_PRIOR else prior
            rate: OfRates = unknown
            if p is not None:
                rate = rate_at(wanted.rates[name], skew(p), wanted.cost_fn, wanted.cost_fp)
            found.append(of_thresholds(cases, [at], rate))
        if wanted.calibration:
            found.append(of_calibration(cases))
        return _stacked(found)


def _stacked(found: Sequence[Evidence]) -> Evidence:
    """Several evidences on one model of the same cases as one on all of their measures."""
    first = found[0]
    moved = None
    known = [one.moved for one in found if one.moved is not None]
    if len(known) == len(found):
        parts = zip(*(one.parts for one in known), strict=True)
        moved = known[0]._replace(parts=tuple(np.concatenate(own) for own in parts))
    return replace(
        first,
        estimates=np.concatenate([one.estimates for one in found]),
        covariance=np.concatenate([one.covariance for one in found]),
        moved=moved,
    )


def divided_by(
    cases: Cases[pl.DataFrame], column: pl.Expr, name: str | None, wanted: SubgroupPlan
) -> Divided:
    """The cases divided by a column; without a name all cases are one."""
    parts, own = divided(cases, column)
    if name is not None:
        check_subgroups(parts.table[own], name)
    return Divided(parts, own, wanted)


def check_subgroups(values: pl.Series, column: str) -> None:
    """Refuse a column of numbers where subgroups are meant."""
    count = values.n_unique()
    if count > MAX_SUBGROUPS:
        raise InvalidArgument(
            f"the subgroup {column!r} has {count:,} values, allowed are up to {MAX_SUBGROUPS}.",
            hint=Hint(
                f"make bands of it, for example {{subgroup}}, with pl.col({column!r}).cut(...).",
                subgroup=f"{column}_band",
            ),
        )


def completed(
    rows: pl.DataFrame, evidence: Evidence, level: float, rates: Collection[str] = JUDGED
) -> pl.DataFrame:
    """The rows of one part with the numbers that its evidence has, and they lack."""
    error = np.sqrt(evidence.covariance[:, 0, 0])
    names = ("estimate", "lower", "upper")
    ends = np.full((len(names), rows.height), np.nan)
    places = np.flatnonzero(rows["measure"].is_in(CALIBRATION).to_numpy())
    if places.size:
        fewest = 1 if evidence.moved is None else min(evidence.moved.counts)
        own = replace(
            evidence, estimates=evidence.estimates[places],
            covariance=evidence.covariance[places], freedom=fewest - 1.0,
        )  # fmt: skip
        ends[:, places] = estimates_and_limits(own, level)
        # The evidence is on the logarithm of the ratio.
        error[places[0]] *= ends[0, places[0]]
    of_calibration = pl.col("measure").is_in(CALIBRATION) & pl.col("note").is_null()
    of_evidence = pl.col("measure").is_in([*rates, *CALIBRATION])
    found = rows.with_columns(
        pl.when(of_calibration).then(pl.Series(own, dtype=pl.Float64)).otherwise(name).alias(name)
        for name, own in zip(names, ends, strict=True)
    )
    known = pl.when(of_evidence & pl.col("estimate").is_not_nan()).then(
        pl.Series(error, dtype=pl.Float64)
    )
    found = found.with_columns(known.otherwise("std_error").alias("std_error"))
    lacking = of_calibration & pl.col("estimate").is_nan()
    few = of_calibration & (evidence.moved is None)
    note = (
        pl.when(lacking)
        .then(pl.lit(NO_CALIBRATION))
        .when(few)
        .then(pl.lit(evidence.why_no_limits))
        .otherwise("note")
    )
    return found.with_columns(note.alias("note"), pl.col(*NUMBERS).fill_nan(None))
