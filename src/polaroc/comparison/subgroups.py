"""How models do in subgroups: each with its limits, and the gaps between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share, one_or_several, refuse_unused, unless
from polaroc.base.columns import PROMISE, parts_by_key, with_level
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.base.text import joined_notes
from polaroc.calibration.evidence import CALIBRATION
from polaroc.comparison.compared import doubted
from polaroc.comparison.subgroup_parts import COLUMNS, JUDGED, SubgroupPlan, completed, divided_by
from polaroc.comparison.subgroup_result import PLACE_OF, Subgroups, answer_of
from polaroc.curves.keys import totals
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.measures.catalog import CATALOG, default_measures
from polaroc.measures.scoring import CASE_LOSSES, check_score_prior
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import NEEDED, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import takes_cases
from polaroc.priors.beliefs import Belief, Over
from polaroc.priors.grids import check_prior
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.fixed import Numbers, are_numbers, points_of_numbers
from polaroc.thresholds.subgroup_promises import subgroup_columns
from polaroc.thresholds.ways import refuse_ways
from polaroc.typing import Array, Table
from polaroc.uncertainty.adjusted import by_largest_t
from polaroc.uncertainty.evidence import Evidence, all_pairs, pair_places
from polaroc.uncertainty.parts import gap_limits, of_parts

AREAS = (*default_measures(), *CASE_LOSSES)
AT_A_THRESHOLD = Hint(
    "that is of a threshold: give {points}, and the table has it.",
    command_line="that is of a threshold: give --threshold 0.5, and the table has it.",
    points=0.5,
)
# Draws of the largest difference. On the scale of p-values few are enough.
DRAWS = 10_000
AS_BY_CHANCE = "the data do not show that the subgroups differ"
MOST_PRIORS = 8
GAP = {
    "subgroup_a": pl.String(), "subgroup_b": pl.String(), "difference": pl.Float64(),
    "lower": pl.Float64(), "upper": pl.Float64(), "apart": pl.Boolean(),
}  # fmt: skip
ONE_AT_A_TIME = (
    "Limits of gaps hold for all pairs of subgroups of one number at once, not for all numbers of "
    "the table."
)


@takes_cases(
    ["truth", "score", "positive", "nulls", "model", "fold", "cluster", "subgroup", "count",
     "weight", "by", "score_prior"],
    no_bearing=["case", "time", "test_train_ratio"],
    needed=(*NEEDED, "subgroup"),
)  # fmt: skip
def subgroups(
    cases: Cases[Any],
    *,
    measures: str | Sequence[str] | None = None,
    priors: float | Sequence[float] | None = None,
    over: tuple[float, float] | Belief | None = None,
    points: Table | Numbers | None = None,
    level: float = 0.95,
    cost_fn: float = 1,
    cost_fp: float = 1,
    **columns: Unpack[Columns],
) -> Subgroups:
    """What models do in each subgroup, and whether the gaps between them may be chance.

    Parameters
    ----------
    cases
        Predictions with a `subgroup`: the result of `cases`, or any table that it takes. Of
        several columns each divides all cases, one after the other; to cross them, make one
        column of them. Cases without a value are a subgroup, "null".
    **columns
    measures
        Measures of `evaluate` that have intervals, such as "auc", "auprec" and "brier"; and of
        scores that are probabilities "observed_over_expected" (positives over the sum of scores),
        "calibration_in_the_large" and "calibration_slope" (those of `check_calibration`). By
        default the AUC, AUPREC at `priors`, IAUPREC over the range, and calibration where all
        scores are in [0, 1].
    priors
        One prior in (0, 1), or up to eight, the same in all subgroups: of AUPREC, of losses, and
        of what `points` do. By default those are at the priors of `points`, and of a threshold
        that is a number at the share of positives of all cases of the key.
    over
        A range (lo, hi) of priors, or a belief, for measures over one.
    points
        Thresholds to judge: the result of `operating_points` on a tuning table; or one number, or
        a mapping from model to number. For each subgroup the table then has "recall", "fpr",
        "precision", "posfrac" (the share called positive) and "cost" per case.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, for "cost".

    Returns
    -------
    Subgroups
        An `answer` in words, the frames `parts` (each subgroup) and `gaps` (each two of them),
        `largest` (of each number the largest gap), `warnings` and a `summary()` to print.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `evaluate` and `apply_thresholds`; where the subgroup has more than 50 values.

    Notes
    -----
    Limits of a subgroup are those of `evaluate` with ``intervals="logit"`` and of
    `apply_thresholds` with ``intervals="exact"`` on its rows. Those of calibration are Student's,
    of the logarithm for observed over expected, with the variance of White (1980), and allow for
    the number of positives being drawn, too.

    A gap has limits from those of both subgroups (Zou and Donner 2008), at the level at which the
    largest difference of all pairs is told from 0 by chance in 1 − `level` of samples. Subgroups
    that share a `cluster`, such as visits of one patient, vary together: the influences of their
    rows are summed by cluster for it. In simulation subgroups of no true difference were told
    apart in up to 6 % of 100 or 200 samples at level 0.95 (standard errors about 2 %), of areas
    and of observed over expected positives in far fewer (``just subgroups gaps``).

    A gap that is not shown may still be there: with few cases little is.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.satellite_predictions().filter(pl.col("model") == "A")
    >>> cases = table.with_columns(half=pl.col("case") % 2)
    >>> found = pr.subgroups(
    ...     cases, truth="truth", score="score", fold=None, cluster="case", subgroup="half",
    ...     measures="auc",
    ... )
    >>> found.parts.select("subgroup", pl.col("estimate").round(3)).rows()
    [(None, 0.938), ('0', 0.936), ('1', 0.94)]
    """
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    check_share("level", level)
    check_score_prior(cases.score_prior)
    if points is None:
        refuse_unused("for thresholds", "points is None",
                      cost_fn=unless(1, cost_fn), cost_fp=unless(1, cost_fp))  # fmt: skip
    if not cases.subgroup:
        raise InvalidArgument(
            "subgroup has no columns.", hint=Hint("name one: {subgroup}.", subgroup="sex")
        )
    own = cases.collect()
    given = replace(own, subgroup=())
    wanted = _wanted(given, measures, checked_priors(priors), over)
    chosen = checked_points(given, points, wanted.priors)
    wanted = replace(wanted, points=chosen, cost_fn=cost_fn, cost_fp=cost_fp)
    if not (wanted.measures or wanted.calibration or points is not None):
        raise InvalidArgument(
            "there is nothing to measure.", hint="leave measures out for all of them."
        )
    whole = _of_column(given, pl.lit("all"), None, wanted, level)
    found = [
        _of_column(given, column, name, wanted, level)
        for name, column in subgroup_columns(own).items()
    ]
    parts = pl.concat([whole[0], *(one for one, _ in found)], how="vertical_relaxed")
    gaps = pl.concat([one for _, one in found], how="vertical_relaxed")
    keys = tuple(parts.columns[: parts.columns.index("column")])
    return Subgroups(
        answer_of(gaps, parts, keys), with_level(parts, level), with_level(gaps, level),
        (*doubted(given), ONE_AT_A_TIME), keys, level,
    )  # fmt: skip


def checked_priors(priors: float | Sequence[float] | None) -> tuple[float, ...]:
    """The priors as numbers: subgroups are compared at the same."""
    if priors is None:
        return ()
    values = one_or_several(priors)
    for one in values:
        check_prior(one)
    if len(values) > MOST_PRIORS:
        raise InvalidArgument(
            f"there are {len(values)} priors, allowed are up to {MOST_PRIORS}.",
            hint=Hint("give some of them, such as {priors}.", priors=[0.05, 0.2]),
        )
    return tuple(sorted({float(one) for one in values}))


def _wanted(
    cases: Cases[pl.DataFrame],
    measures: str | Sequence[str] | None,
    priors: tuple[float, ...],
    over: Over | None,
) -> SubgroupPlan:
    """What is measured, refused where a measure lacks its priors."""
    nothing = SubgroupPlan((), False, priors, over, None, 1, 1)
    if measures is None:
        areas = ["auc", *(["auprec"] if priors else []), *(["iauprec"] if over is not None else [])]
        return replace(nothing, measures=tuple(areas), calibration=are_probabilities(cases))
    names = one_or_several(measures)
    for name in names:
        hint = (
            AT_A_THRESHOLD
            if isinstance(name, str) and name in (*JUDGED, *JUDGED.values())
            else None
        )
        check_choice("measures", name, (*AREAS, *CALIBRATION), hint)
        if name in CATALOG and CATALOG[name].at_priors and not priors:
            raise InvalidArgument(
                f"measures has {name!r}, which depends on the share of positives, and priors is "
                "not given.",
                hint=Hint("give {priors}, the same for all subgroups.", priors=0.1),
            )
    areas = [name for name in names if name in AREAS]
    return replace(nothing, measures=tuple(areas), calibration=len(areas) < len(names))


def are_probabilities(cases: Cases[pl.DataFrame]) -> bool:
    """Whether scores are right as they stand: all in [0, 1], and of no other prior."""
    if cases.score_prior != "observed":
        return False
    inside = read(cases).valid_rows.select(pl.col(SCORE).is_between(0, 1).all())
    return bool(inside.collect().item())


def checked_points(
    cases: Cases[pl.DataFrame], points: Table | Numbers | None, priors: tuple[float, ...]
) -> pl.DataFrame | None:
    """The thresholds as a table; those chosen on these very cases are refused."""
    if points is None:
        return None
    if not are_numbers(points):
        refuse_ways(points)
        # It raises where they were chosen on these cases.
        apply_thresholds(cases, points, priors=priors or None)
        table: pl.DataFrame = pl.DataFrame(points) if isinstance(points, dict) else points  # type: ignore[assignment]
        return table.lazy().collect().drop(PROMISE, strict=False)
    table_of = read(cases)
    return points_of_numbers(points, totals(table_of), table_of.keys).collect()


def _of_column(
    cases: Cases[pl.DataFrame],
    column: pl.Expr,
    name: str | None,
    wanted: SubgroupPlan,
    level: float,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The subgroups of one column, and the gaps between them; without a name all cases are one."""
    divided = divided_by(cases, column, name, wanted)
    shown, parts, evidence = divided.parts(level)
    keys = divided.keys(shown.columns)
    answers = [_Answer(places, evidence) for places in _by_key([*parts])]
    at_once = max((one.level_at_once(parts, level) for one in answers), default=level)
    wider = parts
    if at_once > level:
        again = parts_by_key(divided.measured(at_once).drop(PLACE), keys)
        wider = {place: completed(one, evidence[place], at_once) for place, one in again.items()}
    others = [*keys[:-1], *PLACE_OF]
    kinds = {key: shown.schema[key] for key in others}
    gaps = pl.concat(
        [pl.DataFrame(schema=kinds | GAP), *(one.gaps(wider, kinds) for one in answers)]
    )
    as_chance = gaps.group_by(others).agg(chance=~pl.col("apart").any())
    noted = join_on(shown, as_chance, others, "left", order="left").with_columns(
        joined_notes("note", pl.when("chance").then(pl.lit(AS_BY_CHANCE)))
    )
    whose = divided.whose(name)
    return (
        noted.select(*keys[:-1], *whose, *COLUMNS),
        gaps.select(*keys[:-1], whose[0], *PLACE_OF, *GAP),
    )


def _by_key(places: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    """The keys of parts, whose last is the subgroup, by the others."""
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for place in places:
        groups.setdefault(place[:-1], []).append(place)
    return [*groups.values()]


@dataclass(frozen=True, eq=False)
class _Answer:
    """The subgroups of one key, and the evidence on each."""

    places: Sequence[tuple[Any, ...]]
    evidence: dict[tuple[Any, ...], Evidence]

    @cached_property
    def joint(self) -> Evidence:
        """The evidence on all of them: models are subgroups."""
        return of_parts([self.evidence[place] for place in self.places])

    def values(self, parts: dict[tuple[Any, ...], pl.DataFrame], row: int) -> "Array":
        """Estimates and limits of a row: 3 × subgroups, NaN where one is not known."""
        own = [parts[place].select("estimate", "lower", "upper").row(row) for place in self.places]
        values = np.array(own, dtype=float).T
        values[:, np.isnan(values).any(axis=0)] = np.nan
        return values

    def level_at_once(self, parts: dict[tuple[Any, ...], pl.DataFrame], level: float) -> float:
        """The level at which limits of a pair hold for all pairs of each row at once."""
        levels, joint = [level], self.joint
        for row in range(len(joint.estimates)):
            known = ~np.isnan(self.values(parts, row)[0])
            known &= np.isfinite(joint.covariance[row].diagonal())
            if np.count_nonzero(known) < 3:
                continue
            one = replace(
                joint,
                models=[place[-1] for place in self.places],
                estimates=joint.estimates[row : row + 1, known],
                covariance=joint.covariance[row : row + 1][:, known][:, :, known],
            )
            levels.append(by_largest_t(all_pairs(one), one, level, draws=DRAWS).level[0])
        return float(max(levels))

    def gaps(
        self, parts: dict[tuple[Any, ...], pl.DataFrame], kinds: dict[str, Any]
    ) -> pl.DataFrame:
        """The gaps of all pairs, of each row the largest first."""
        # As in the table of the parts.
        own = [parts[place].to_series(len(place) - 1)[:1] for place in self.places]
        texts = pl.concat(own).cast(pl.String).fill_null("null").to_list()
        first, second = pair_places(len(self.places))
        of_row = parts[self.places[0]].select(*PLACE_OF).rows()
        found = []
        for row, place in enumerate(of_row):
            values = self.values(parts, row)
            correlation = self.joint.correlation[row, first, second]
            lower, upper = gap_limits(values[:, first], values[:, second], correlation)
            difference = values[0, first] - values[0, second]
            order = np.argsort(-np.abs(difference), kind="stable")
            for pair in order[~np.isnan(difference[order])]:
                found.append(
                    (
                        *self.places[0][:-1], *place, texts[first[pair]], texts[second[pair]],
                        float(difference[pair]), float(lower[pair]), float(upper[pair]),
                        bool(lower[pair] > 0 or upper[pair] < 0),
                    )
                )  # fmt: skip
        return pl.DataFrame(found, schema=kinds | GAP, orient="row")
