"""Results of the public functions on 300 seeded tables, kept from release to release.

A redesign must give the same numbers. ``python tests/answers/answers.py`` computes all results
again, prints how many differ from `answers.parquet`, and writes them there. Each kind of number
that changes on purpose gets a line in `changed.csv` that says why.

The stored form knows nothing of the package: a table, a verb, the row and the quantity of its
result, and a number. Only the functions below name arguments and columns of the package.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import polaroc as pr
from polaroc.errors import PolarocError

STORED = Path(__file__).parent / "answers.parquet"
COUNT = 300
PRIORS = [0.02, 0.1, 0.5]
RANGE = (0.05, 0.2)


class Case(NamedTuple):
    """A table with the names of its columns, and what its seed chose."""

    table: pl.DataFrame
    columns: dict[str, str]
    has_folds: bool
    has_both_classes: bool


def case(number: int) -> Case:
    """Table of one seed: models on the same cases, tied scores, folds, weights, clusters."""
    rng = np.random.default_rng([2026, number])
    positives, negatives = int(rng.integers(4, 40)), int(rng.integers(5, 90))
    folds = (0, 3, 5)[number % 3]
    if folds:
        positives, negatives = positives + 10, negatives + 10
    if number % 25 == 24:
        positives = 0
    size = positives + negatives
    truth = rng.permutation(np.arange(size) < positives)
    cluster = np.arange(size) // int(rng.integers(2, 5))
    of_case = rng.normal(size=size)
    of_cluster = rng.normal(size=size)[cluster]
    models = []
    for name in "ABC"[: int(rng.integers(2, 4))]:
        noise = 0.6 * of_case + 0.5 * of_cluster + 0.7 * rng.normal(size=size)
        logit = rng.uniform(0.3, 2.5) * truth + noise - 1
        score = np.round(1 / (1 + np.exp(-logit)), int(rng.integers(1, 4)))
        models.append(pl.DataFrame({"model": name, "case": np.arange(size), "score": score}))
    of_cases = pl.DataFrame({"case": np.arange(size), "truth": truth})
    columns = {"truth": "truth", "score": "score", "model": "model", "case": "case"}
    if folds:
        fold = np.zeros(size, int)
        for label in (True, False):
            which = rng.permutation(np.flatnonzero(truth == label))
            fold[which] = np.arange(len(which)) % folds
        of_cases = of_cases.with_columns(fold=pl.Series(fold))
        columns["fold"] = "fold"
    if number % 4 == 1:
        of_cases = of_cases.with_columns(weight=pl.Series(rng.integers(1, 9, size) / 4))
        columns["weight"] = "weight"
    if number % 5 == 2:
        of_cases = of_cases.with_columns(patient=pl.Series(cluster))
        columns["cluster"] = "patient"
    table = pl.concat(models).join(of_cases, on="case", maintain_order="left")
    return Case(table, columns, bool(folds), positives > 0)


def _without(columns: dict[str, str], *roles: str) -> dict[str, str]:
    return {role: name for role, name in columns.items() if role not in roles}


def _curve(of: Case) -> pl.LazyFrame:
    columns = _without(of.columns, "cluster", "case")
    return pr.curve(of.table.lazy(), case=None, cluster=None, **columns)


def _halves(of: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tuning and test cases: every second pair of clusters."""
    is_tuning = pl.col("case") // 8 % 2 == 0
    return of.table.filter(is_tuning), of.table.filter(~is_tuning)


def curves(of: Case) -> pl.DataFrame:
    return _curve(of).with_columns(threshold=pl.col("threshold").fill_null(float("inf")))


def hulls(of: Case) -> pl.DataFrame:
    return pr.hull(_curve(of)).with_columns(threshold=pl.col("threshold").fill_null(float("inf")))


def achievable(of: Case) -> pl.DataFrame:
    return pr.achievable(_curve(of), [0.1], recall=4)


def dominance(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "cluster", "case", "fold")
    curve = pr.curve(of.table.lazy(), case=None, cluster=None, fold=None, **columns)
    return pr.dominance(curve).with_columns(
        crossings=pl.col("crossings").list.len(),
        dominates=pl.col("relation") == "dominates",
        is_dominated=pl.col("relation") == "dominated",
    )


def areas(of: Case) -> pl.DataFrame:
    """The options of the areas that `evaluate` does not have."""
    curve = _curve(of)
    parts = {
        f"interpolation={name}": {"interpolation": name} for name in ("linear", "step", "hull")
    }
    parts |= {f"start={name}": {"start": name} for name in ("one", "zero", "drop")}
    parts["recall"] = {"recall": (0.2, 0.8)}
    frames = [
        pr.auprec(curve, [0.1], **options).with_columns(option=pl.lit(name))
        for name, options in parts.items()
    ]
    frames.append(pr.auc(curve, fpr=(0, 0.2)).with_columns(option=pl.lit("fpr")))
    frames.append(pr.auc(curve, tpr=(0.5, 1)).with_columns(option=pl.lit("tpr")))
    frames.append(pr.iauprec(curve, RANGE, scale="skew").with_columns(option=pl.lit("skew")))
    frames.append(pr.iauprec(curve, pr.beta(2, 18)).with_columns(option=pl.lit("beta")))
    frames.append(pr.accsens(curve, RANGE, area="partial").with_columns(option=pl.lit("partial")))
    return pl.concat(frames, how="diagonal")


def evaluate(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "cluster")
    return pr.evaluate(of.table, cluster=None, priors=[*PRIORS, "observed"], over=RANGE, **columns)


def intervals(of: Case) -> pl.DataFrame:
    measures = ["auc", "auprec", "iauprec"]
    return pr.evaluate(
        of.table, measure=measures, priors=[0.1], over=RANGE, intervals=True, **of.columns
    )


def calibration_of_scores(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "cluster")
    measures = ["brier", "log_loss", "brier_skill"]
    return pr.evaluate(of.table, measure=measures, cluster=None, priors=[0.1], **columns)


def compare(of: Case) -> pl.DataFrame:
    result = pr.compare(of.table, "iauprec", over=RANGE, **of.columns)
    return result.pairs


def anova(of: Case) -> pl.DataFrame | None:
    if not of.has_folds:
        return None
    measures = evaluate(of).filter(pl.col("prior").is_in(PRIORS))
    return pr.anova(measures).table.rename({"F": "f"})


def choose(of: Case) -> pl.DataFrame | None:
    return pr.choose(of.table, over=RANGE, **of.columns).models


def choose_by_cost(of: Case) -> pl.DataFrame | None:
    if of.has_folds:
        return None
    tuning, test = _halves(of)
    return pr.choose(test, tuning=tuning, over=RANGE, cost_fn=10, **of.columns).models


def gate(of: Case) -> pl.DataFrame:
    options = {"champion": "A", "challenger": "B", "margin": 0.1}
    result = pr.gate(of.table, measure="auc", **options, **of.columns)
    champion, challenger = result.estimates
    return result.tables["difference"].select(
        "difference", "lower", "upper", champion_estimate=pl.lit(champion),
        challenger_estimate=pl.lit(challenger), passes=pl.col("verdict") == "pass",
        pair=pl.lit("A|B"),
    )  # fmt: skip


def operating_points(of: Case) -> pl.DataFrame:
    rules = {
        "balanced": {},
        "cost": {"cost_fn": 5},
        "recall": {"target": 0.8},
        "precision": {"target": 0.3},
        "fpr": {"target": 0.1},
        "f_measure": {},
        "youden": {},
        "max_recall": {"constraints": {"precision": 0.2}},
        "capacity": {"target": 0.2},
    }
    columns = _without(of.columns, "cluster")
    frames = [
        pr.operating_points(of.table, rule, priors=[0.1], cluster=None, **options, **columns)
        for rule, options in rules.items()
    ]
    return pl.concat(frames, how="diagonal")


def promises(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "weight", "fold")
    frames = [
        pr.operating_points(
            of.table,
            rule,
            target=target,
            over=RANGE,
            confidence=0.9,
            fold=None,
            weight=None,
            **columns,
        )
        for rule, target in {"recall": 0.6, "precision": 0.1, "fpr": 0.5}.items()
    ]
    return pl.concat(frames, how="diagonal")


def applied(of: Case) -> pl.DataFrame:
    tuning, test = _halves(of)
    columns = _without(of.columns, "fold")
    points = pr.operating_points(
        tuning,
        "recall",
        target=0.8,
        priors=[0.1],
        fold=None,
        **_without(columns, "cluster"),
        cluster=None,
    )
    return pr.apply_thresholds(test, points, fold=None, intervals=True, **columns)


def expected_cost(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "cluster")
    return pr.expected_cost(of.table, cost_fn=5, over=RANGE, cluster=None, **columns)


def decision_curve(of: Case) -> pl.DataFrame:
    columns = _without(of.columns, "cluster")
    return pr.decision_curve(of.table, [0.1, 0.3], priors=[0.1], cluster=None, **columns)


def cost_curve(of: Case) -> pl.DataFrame:
    return pr.cost_curve(_curve(of), [0.1, 0.5])


def probabilities(of: Case) -> pl.DataFrame:
    tuning, test = _halves(of)
    columns = _without(of.columns, "cluster", "fold")
    curve = pr.curve(tuning.lazy(), case=None, cluster=None, fold=None, **_without(columns, "case"))
    return pr.probabilities(
        test,
        curve,
        priors=[0.1],
        cluster=None,
        fold=None,
        **_without(columns, "weight"),
        weight=None,
    )


def calibration(of: Case) -> pl.DataFrame:
    return pr.calibration(of.table, **of.columns).estimates


def estimate_prior(of: Case) -> pl.DataFrame:
    tuning, test = _halves(of)
    columns = _without(of.columns, "fold", "weight", "cluster")
    return pr.estimate_prior(
        tuning,
        test.drop("truth"),
        fold=None,
        weight=None,
        cluster=None,
        **columns,
    )


class Verb(NamedTuple):
    """A function of a `Case`, the columns that tell its rows apart, its numbers, and how often."""

    run: Callable[[Case], pl.DataFrame | None]
    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    every: int = 1


MEASURE = ("option", "model", "fold", "measure", "prior")
POINT = ("rule", "model", "fold", "prior")
RATES = ("threshold", "tpr", "fpr", "precision")

VERBS = {
    "curve": Verb(curves, ("model", "fold", "threshold"), ("tpr", "fpr"), every=10),
    "hull": Verb(hulls, ("model", "fold", "threshold"), ("tpr", "fpr"), every=3),
    "achievable": Verb(achievable, ("model", "fold", "tpr"), ("fpr", "precision"), every=3),
    "dominance": Verb(
        dominance, ("model_a", "model_b"), ("crossings", "dominates", "is_dominated"), every=3
    ),
    "areas": Verb(areas, MEASURE, ("estimate",), every=3),
    "evaluate": Verb(evaluate, MEASURE, ("estimate", "note")),
    "intervals": Verb(intervals, MEASURE, ("lower", "upper", "std_error")),
    "losses": Verb(calibration_of_scores, MEASURE, ("estimate",), every=3),
    "compare": Verb(compare, ("model_a", "model_b"), ("difference", "std_error", "p_value")),
    "anova": Verb(anova, ("term",), ("sum_sq", "df", "f", "p_value")),
    "choose": Verb(choose, ("model",), ("expected", "worst_regret", "probability_best"), every=5),
    "choose_by_cost": Verb(
        choose_by_cost, ("model",), ("expected", "worst_regret", "probability_best"), every=5
    ),
    "gate": Verb(
        gate,
        ("pair",),
        ("champion_estimate", "challenger_estimate", "difference", "lower", "upper", "passes"),
        every=2,
    ),
    "operating_points": Verb(operating_points, POINT, RATES),
    "promises": Verb(promises, POINT, RATES, every=2),
    "applied": Verb(
        applied, POINT, ("threshold", "tpr", "tpr_lower", "tpr_upper", "fpr", "precision"), every=2
    ),
    "expected_cost": Verb(
        expected_cost, ("model", "fold"), ("cost_fixed", "cost_following", "threshold"), every=3
    ),
    "decision_curve": Verb(
        decision_curve, ("model", "fold", "threshold"), ("net_benefit", "treat_all"), every=3
    ),
    "cost_curve": Verb(cost_curve, ("model", "fold", "probability_cost"), ("cost",), every=3),
    "probabilities": Verb(probabilities, ("model", "case"), ("probability",), every=6),
    "calibration": Verb(
        calibration,
        ("model", "fold"),
        ("observed_over_expected", "calibration_in_the_large", "slope", "slope_lower", "p_value"),
        every=3,
    ),
    "estimate_prior": Verb(estimate_prior, ("model",), ("prior", "lower", "upper"), every=6),
}

COLUMNS = ["table", "verb", "row", "quantity", "value"]


def answers(number: int) -> pl.DataFrame:
    """All results on one table in the stored form; a call that is refused is one row."""
    of = case(number)
    frames = []
    for name, verb in VERBS.items():
        if number % verb.every:
            continue
        try:
            result = verb.run(of)
        except PolarocError:
            refused = {
                "table": number,
                "verb": name,
                "row": "",
                "quantity": "refused",
                "value": 1.0,
            }
            frames.append(pl.DataFrame(refused, schema_overrides={"table": pl.Int16}))
            continue
        if result is not None:
            frames.append(_stored(result.lazy().collect(), number, name, verb))
    return pl.concat(frames)


def _stored(result: pl.DataFrame, number: int, name: str, verb: Verb) -> pl.DataFrame:
    """Numbers of a result in long form; a note counts as 1, its absence as 0."""
    keys = [key for key in verb.keys if key in result.columns]
    if "note" in verb.numbers:
        result = result.with_columns(note=pl.col("note").is_not_null())
    return (
        result.select(
            pl.lit(number, pl.Int16).alias("table"),
            pl.lit(name).alias("verb"),
            pl.concat_str(pl.col(keys).cast(pl.String).fill_null("-"), separator="|").alias("row"),
            pl.col(verb.numbers).cast(pl.Float64),
        )
        .unpivot(index=["table", "verb", "row"], variable_name="quantity")
        .select(COLUMNS)
    )


def differences(found: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """Results that are not the stored ones to 1e-9 (relative where they are above 1)."""
    on = ["table", "verb", "row", "quantity"]
    mark = pl.lit(True).alias("has_value")
    found, stored = found.with_columns(mark), stored.with_columns(mark)
    both = found.join(stored, on=on, how="full", coalesce=True, suffix="_stored", nulls_equal=True)
    value, expected = pl.col("value"), pl.col("value_stored")
    is_near = (value - expected).abs() <= 1e-9 * pl.max_horizontal(1.0, expected.abs())
    # A row that only one of them has is a difference, even where its value is null.
    in_both = pl.col("has_value") & pl.col("has_value_stored")
    # The difference of two infinite values is NaN, which is not near.
    is_equal = value.eq_missing(expected) | is_near.fill_null(False)
    return both.filter(~(in_both.fill_null(False) & is_equal)).drop("has_value", "has_value_stored")


def main() -> None:
    """Store the results of today's code, and print how many differ from those stored before."""
    found = pl.concat(answers(number) for number in range(COUNT))
    if STORED.exists():
        apart = differences(found, pl.read_parquet(STORED))
        print(apart.group_by("verb", "quantity").len("changed").sort("verb", "quantity"))
    found.write_parquet(STORED, compression="zstd", compression_level=22)


if __name__ == "__main__":
    main()
