"""The ranking of the models, with what is known of its uncertainty."""

from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.inference.evidence import evidence_from_folds
from polaroc.priors.in_use import widest
from polaroc.reports.inputs import Question

if TYPE_CHECKING:
    from polaroc.models.choice import Choice

AREA, COST = "area", "cost"
# Difference of the mean IAUPREC from the expectation up to which its limits are shown.
OFF = 1e-4
COLUMNS = (COST, AREA, "lower", "upper", "probability_best", "worst_regret", "auc")


def ranking(
    measures: pl.DataFrame,
    question: Question,
    choice: "Choice | None",
) -> pl.DataFrame:
    """One row per model, the best first: the model and `COLUMNS`, null where unknown."""
    model, by_cost = question.model, choice is not None and choice.is_by_cost
    means = _means(measures, model)
    if choice is None:
        table = means.with_columns(pl.col("iauprec").alias(AREA))
    else:
        of_choice = ("probability_best", "worst_regret")
        mean = pl.col("mean").alias(COST if by_cost else AREA)
        of_cost = {"lower": "cost_lower", "upper": "cost_upper"} if by_cost else {}
        chosen = choice.models.select(model, mean, *of_choice, **of_cost)
        table = chosen.join(means, on=[model], how="left", nulls_equal=True, maintain_order="left")
    missing = [name for name in COLUMNS if name not in table.columns]
    table = table.with_columns(pl.lit(None).alias(name) for name in missing)
    if by_cost:
        # The limits are those of the cost.
        area = pl.col("iauprec").alias(AREA)
        return table.with_columns(area).select(model, *COLUMNS)
    limits = _limits(measures, question)
    if limits is not None:
        table = table.drop("lower", "upper").join(
            limits, on=[model], how="left", nulls_equal=True, maintain_order="left"
        )
    # Limits of IAUPREC do not apply to an expectation over other priors.
    same = (pl.col("iauprec") - pl.col(AREA)).abs() <= OFF
    table = table.with_columns(pl.when(same).then(pl.col("lower", "upper")))
    return table.select(model, *COLUMNS)


def _means(measures: pl.DataFrame, model: str) -> pl.DataFrame:
    """The mean of each measure without a prior."""
    per_model = [
        pl.col("estimate").filter(pl.col("measure") == name).mean().alias(name)
        for name in ("iauprec", "auc")
    ]
    means = measures.group_by(model).agg(*per_model)
    return means.sort("iauprec", model, descending=[True, False], nulls_last=True)


def _limits(measures: pl.DataFrame, question: Question) -> pl.DataFrame | None:
    """Limits of the expected AUPREC of each model, where known.

    Over folds, Nadeau and Bengio's correction of the t interval; on one test set,
    the limits that the measures came with.
    """
    model, ratio, estimated = question.model, question.test_train_ratio, question.estimated
    over = measures.filter(pl.col("measure") == "iauprec")
    if over.is_empty() or (ratio is None if question.folds else "lower" not in over.columns):
        return None
    # Wherever in its interval an estimated prior is.
    ends = [] if estimated is None else estimated.inner_ends
    limits = [
        _corrected(rows, model, ratio, question.level)
        if question.folds and ratio is not None
        else rows.select(model, "lower", "upper")
        for rows in (over, *(measures.filter(measure="auprec", prior=end) for end in ends))
    ]
    if estimated is None or estimated.ends is None:
        return limits[0]
    return widest(limits, [model], estimated.ends)


def _corrected(rows: pl.DataFrame, model: str, ratio: float, level: float) -> pl.DataFrame:
    limits: list[tuple[object, float | None, float | None]] = []
    for (name,), own in rows.group_by(model, maintain_order=True):
        values = own["estimate"].drop_nulls().to_numpy()[:, None]
        if len(values) < 2:
            limits.append((name, None, None))
            continue
        lower, upper = (
            float(end.item()) for end in evidence_from_folds(values, ratio).limits(level)
        )
        # An area lies between 0 and 1.
        limits.append((name, max(lower, 0.0), min(upper, 1.0)))
    schema: dict[str, Any] = {
        model: rows.schema[model], "lower": pl.Float64, "upper": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(limits, schema=schema, orient="row")
