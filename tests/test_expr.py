"""Measures as expressions: what the functions of tables give, alone, in groups and in windows."""

from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal

import crowds
import polars as pl
import pytest

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.4)
MEASURES = {
    "auc": (lambda **w: pr.expr.auc("truth", "score", **w), pr.auc),
    "sens": (lambda **w: pr.expr.sens("truth", "score", OVER, **w), lambda c: pr.sens(c, OVER)),
    "average_precision": (
        lambda **w: pr.expr.average_precision("truth", "score", **w),
        lambda c: pr.auprec(c, "observed", "step"),
    ),
    "beta": (
        lambda **w: pr.expr.iauprec("truth", "score", pr.beta(2, 9), **w),
        lambda c: pr.iauprec(c, pr.beta(2, 9)),
    ),
}
for how in ("exact", "linear", "step", "hull"):
    for prior, start in (("observed", "limit"), (0.1, "one"), (0.1, "zero"), (0.1, "drop")):
        MEASURES[f"auprec {prior} {how} {start}"] = (
            lambda p=prior, i=how, s=start, **w: pr.expr.auprec(
                "truth", "score", p, interpolation=i, start=s, **w
            ),
            lambda c, p=prior, i=how, s=start: pr.auprec(c, p, i, s),
        )
    MEASURES[f"iauprec {how}"] = (
        lambda i=how, **w: pr.expr.iauprec("truth", "score", OVER, interpolation=i, **w),
        lambda c, i=how: pr.iauprec(c, OVER, i),
    )


def rate_at(curve: pl.DataFrame, name: str, threshold: float, prior: float | str) -> pl.DataFrame:
    reached = pl.col("threshold").is_null() | (pl.col("threshold") >= threshold)
    keys = [key for key in ("k",) if key in curve.columns]
    called = curve.filter(reached)
    point = called.group_by(keys, maintain_order=True).last() if keys else called.tail(1)
    own = pl.col("negatives") / pl.col("positives")
    skew = own if prior == "observed" else pl.lit((1 - prior) / prior)
    value = getattr(pr.rates, name)(pl.col("tpr"), pl.col("fpr"), skew)
    return point.with_columns(value.fill_nan(None).alias("estimate"))


for name, threshold, prior in (
    ("precision", 0.5, "observed"), ("recall", 0.5, "observed"), ("npv", 1.0, 0.1),
    ("matthews", 1.0, 0.1), ("precision", 4.0, 0.1),
):  # fmt: skip
    MEASURES[f"rate {name} {prior} at {threshold}"] = (
        lambda n=name, t=threshold, p=prior, **w: pr.expr.rate(n, "truth", "score", t, p, **w),
        lambda c, n=name, t=threshold, p=prior: rate_at(c, n, t, p),
    )
JUDGED = ["auc", "sens", "average_precision", "beta", "auprec observed exact limit"]
GROUPS = pl.DataFrame(
    {
        "k": ["a"] * 5 + ["b"] * 5 + ["one class"] * 2 + [None] * 3,
        "truth": [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0],
        "score": [3.0, 3.0, 2.0, 1.0, 1.0, 5.0, 4.0, 4.0, 1.0, 0.0, 1.0, 2.0, 7.0, 8.0, 8.0],
        "weight": [1.0, 0.5, 2.0, 1.0, 0.0, 0.3, 0.3, 0.4, 1.0, 1.0, 1.0, 1.0, 0.1, 0.2, 0.7],
    }
)


@pytest.mark.parametrize("kind", ["none", "dyadic"])
def test_an_expression_gives_what_the_function_gives(kind):
    rows = crowds.crowd(kind, 80, seed=5).rename({"table": "k"})
    weight = {"weight": "weight"} if "weight" in rows.columns else {}
    curve = pr.curve(rows, **NAMES, by="k", **weight)
    each = [of(**weight).alias(name) for name, (of, _) in MEASURES.items()]
    found = rows.group_by("k").agg(each).sort("k")
    for name, (_, of_curve) in MEASURES.items():
        alike(found[name], of_curve(curve)["estimate"])


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("weight", [{}, {"weight": "weight"}], ids=len)
def test_in_groups_and_over_groups(engine, weight):
    curve, lazy = pr.curve(GROUPS, **NAMES, by="k", **weight), GROUPS.lazy()
    for as_expression, of_curve in MEASURES.values():
        measure = as_expression(**weight).alias("estimate")
        expected = of_curve(curve).select("k", "estimate")
        grouped = lazy.group_by("k").agg(measure).sort("k", nulls_last=True).collect(engine=engine)
        assert grouped["k"].to_list() == expected["k"].to_list()
        alike(grouped["estimate"], expected["estimate"])
        # In a window every row has the value of its group, and rows stay where they were.
        windowed = lazy.with_columns(measure.over("k")).collect(engine=engine)
        assert windowed.drop("estimate").equals(GROUPS)
        by_row = windowed.select("k").join(expected, on="k", how="left", nulls_equal=True)
        alike(windowed["estimate"], by_row["estimate"])


def alike(found: pl.Series, expected: Sequence[float | None]) -> None:
    for here, there in zip(found, expected, strict=True):
        assert here == (None if there is None else pytest.approx(there, rel=1e-12, abs=1e-12))


def test_every_measure_of_evaluate_is_an_expression_by_its_name():
    names = {
        "auc", "auprec", "iauprec", "sens", "auc_range", "accsens", "equal_error",
        "brier", "log_loss", "calibration_loss",
        "refinement_loss", "brier_skill", "brier_range", "log_loss_range",
    }  # fmt: skip
    table = pr.datasets.twenty_scores()
    found = pr.evaluate(table, **NAMES, priors=0.1, over=OVER, measure=list(names))
    assert set(found["measure"]) == names
    for name, estimate in found.select("measure", "estimate").iter_rows():
        measure = pr.expr.measure(name, **NAMES, prior=0.1, over=OVER)
        assert table.select(measure).item() == pytest.approx(estimate, rel=1e-12)


# --- rates at a threshold ----------------------------------------------------------------------


@pytest.mark.parametrize("rows", [49, 103])
def test_rates_where_all_is_called(rows):
    # Where both rates are 1 these quotients are of nothing by nothing.
    table = pl.DataFrame({"truth": [1, 0] * rows, "score": range(2 * rows)})
    names = ["recall", "likelihood_ratio_negative", "npv", "fnr"]
    found = table.select(pr.expr.rate(name, "truth", "score", 0) for name in names)
    assert found.row(0) == (1, None, None, 0)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("prior", ["observed", 0.1])
def test_a_rate_needs_cases_of_its_own_class_only(label, prior):
    table = pl.DataFrame({"truth": [label] * 4, "score": [0.9, 0.8, 0.7, 0.1]})
    names = ("recall", "fnr", "specificity", "tnr", "precision", "informedness")
    rates = [pr.expr.rate(name, "truth", "score", 0.5, prior=prior).alias(name) for name in names]
    own = {"recall": 0.75, "fnr": 0.25} if label else {"specificity": 0.25, "tnr": 0.25}
    found = table.select(rates).row(0, named=True)
    assert found == pytest.approx(dict.fromkeys(names) | own)


@pytest.mark.parametrize("limit", [float("inf"), float("-inf"), 0, 0.5])
def test_thresholds_may_be_any_number(limit):
    table = pl.DataFrame({"truth": [1, 0], "score": [0.5, float("-inf")]})
    found = table.select(pr.expr.rate("recall", "truth", "score", limit)).item()
    assert found == (0 if limit == float("inf") else 1)


def test_a_threshold_that_a_score_is_rounded_to_decides_nothing():
    table = pl.DataFrame({"truth": [1, 0], "score": [2**53 + 3, 5]})
    recall = [pr.expr.rate("recall", "truth", "score", at) for at in (2.0**53 + 2, 2.0**53 + 4)]
    assert [table.select(own).item() for own in recall] == [1.0, None]
    table = table.with_columns(score=pl.lit(2**53 + 4))
    assert table.select(recall[1]).item() == 1


# --- groups that are not sound -----------------------------------------------------------------


@pytest.mark.parametrize(
    "spoilt",
    [
        {"truth": [1, None, 0]}, {"truth": [1, 2, 0]}, {"truth": [1.0, 1.9, 0.0]},
        {"truth": [1.0, 1.0, -0.5]}, {"truth": [1.0, 0.0, float("nan")]},
        {"truth": [Decimal("1." + 30 * "0" + "1"), Decimal(1), Decimal(0)]},
        {"truth": [None] * 3}, {"score": [None] * 3}, {"weight": [None] * 3},
        {"score": [1.0, None, 2.0]}, {"score": [1.0, float("nan"), 2.0]},
        {"weight": [1.0, None, 1.0]}, {"weight": [1.0, -1.0, 1.0]},
        {"weight": [1.0, float("inf"), 1.0]}, {"truth": [1, 1, 1]}, {"truth": [0, 0, 0]},
    ],
)  # fmt: skip
def test_a_group_that_is_not_sound_is_null(spoilt):
    whole = {"truth": [1, 1, 0], "score": [3.0, 2.0, 1.0], "weight": [1.0, 1.0, 1.0]}
    measures = [MEASURES[name][0](weight="weight").alias(name) for name in JUDGED]
    loss = pr.expr.measure("refinement_loss", "truth", "score", prior=0.1, weight="weight")
    found = pl.DataFrame(whole | spoilt).select(*measures, loss)
    assert found.row(0) == (None,) * (len(JUDGED) + 1)


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("name", ["auc", "sens", "rate recall observed at 0.5"])
def test_a_group_with_an_unclear_truth_is_null_and_others_are_not(name, engine):
    table = GROUPS.with_columns(
        pl.when(k="b", score=5.0).then(0.9).otherwise("truth").alias("truth")
    )
    measure = MEASURES[name][0]().alias("estimate")
    clean = GROUPS.group_by("k").agg(measure).filter(pl.col("k").ne_missing("b"))
    expected = dict(clean.rows()) | {"b": None}
    for plan in (
        table.lazy().group_by("k").agg(measure),
        table.lazy().select("k", measure.over("k")),
    ):
        assert dict(plan.collect(engine=engine).rows()) == pytest.approx(expected)


# --- types -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [pl.Boolean, pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(10, 2)], ids=str
)
def test_truths_of_every_type(kind):
    table = pr.datasets.twenty_scores().cast({"truth": pl.Int8}).cast({"truth": kind})
    assert table.select(pr.expr.auc("truth", "score")).item() == pytest.approx(0.68)


WRONG_TYPES = {
    "String": ["1", "0", "1"], "Binary": [b"1", b"0", b"1"], "List": [[1], [0], [1]],
    "Struct": [{"a": 1}, {"a": 0}, {"a": 1}], "Date": [date(1970, 1, 2)] * 3,
    "Time": [time(0)] * 3, "Duration": [timedelta(1)] * 3,
    "Datetime": pl.Series([1, 0, 1]).cast(pl.Datetime("us", "UTC")),
    "Categorical": pl.Series(["1", "0", "1"], dtype=pl.Categorical),
}  # fmt: skip


@pytest.mark.parametrize("column", ["truth", "score", "weight"])
@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_polars_refuses_columns_of_other_types(column, kind):
    whole = {"truth": [1, 0, 1], "score": [3.0, 2.0, 1.0], "weight": [1, 1, 1]}
    lazy = pl.LazyFrame(whole | {column: WRONG_TYPES[kind], "k": [1, 1, 1]})
    for name in ("auc", "sens", "rate recall observed at 0.5"):
        measure = MEASURES[name][0](weight="weight")
        for plan in (lazy.select(measure), lazy.head(0).group_by("k").agg(measure)):
            with pytest.raises(pl.exceptions.PolarsError):
                plan.collect()


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("kind", [pl.Int64, pl.Int128, pl.Decimal(38, 0)], ids=str)
def test_scores_too_long_for_a_float_are_not_tied(kind, engine):
    # As floats the first three are one number.
    scores = [2**53 + 1, 2**53, 2**53 - 1 + 1, 5]
    table = pl.LazyFrame({"k": 1, "truth": [1, 0, 0, 1], "score": pl.Series(scores, dtype=kind)})
    auc = pr.expr.auc("truth", "score").alias("auc")
    for plan in (table.select(auc), table.group_by("k").agg(auc), table.select(auc.over("k"))):
        # Of the four pairs, those of the first positive are in order and the others are not.
        assert set(plan.collect(engine=engine)["auc"]) == {0.5}
