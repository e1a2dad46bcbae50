from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from strategies import tables

import polaroc as pr
from polaroc.curves import surface
from polaroc.errors import InvalidArgument

NAMES = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.4)
INTERPOLATIONS = ["exact", "linear", "step"]
STARTS = ["limit", "one", "zero", "drop"]
MEASURES = {
    "auc": (lambda **w: pr.expr.auc("truth", "score", **w), pr.auc),
    "sens": (
        lambda **w: pr.expr.sens("truth", "score", OVER, **w),
        lambda c: pr.sens(c, OVER),
    ),
    "average_precision": (
        lambda **w: pr.expr.average_precision("truth", "score", **w),
        lambda c: pr.auprec(c, "observed", "step"),
    ),
    "beta": (
        lambda **w: pr.expr.iauprec("truth", "score", pr.beta(2, 9), **w),
        lambda c: pr.iauprec(c, pr.beta(2, 9)),
    ),
}
for prior in ("observed", 0.1):
    for how in INTERPOLATIONS:
        for start in STARTS:
            MEASURES[f"auprec {prior} {how} {start}"] = (
                lambda p=prior, i=how, s=start, **w: pr.expr.auprec(
                    "truth", "score", p, interpolation=i, start=s, **w
                ),
                lambda c, p=prior, i=how, s=start: pr.auprec(c, p, i, s),
            )
for how in INTERPOLATIONS:
    MEASURES[f"iauprec {how}"] = (
        lambda i=how, **w: pr.expr.iauprec("truth", "score", OVER, interpolation=i, **w),
        lambda c, i=how: pr.iauprec(c, OVER, i),
    )
# Rows are judged before interpolations and starts part the measures.
JUDGED = ["auc", "sens", "average_precision", "beta", "auprec 0.1 exact limit", "iauprec exact"]
RATES = ["precision", "recall", "npv", "matthews"]


def rate_at(curve: pl.DataFrame, name: str, threshold: float, prior: float | str) -> pl.DataFrame:
    reached = pl.col("threshold").is_null() | (pl.col("threshold") >= threshold)
    keys = [key for key in ("k",) if key in curve.columns]
    called = curve.filter(reached)
    point = called.group_by(keys, maintain_order=True).last() if keys else called.tail(1)
    own = pl.col("negatives") / pl.col("positives")
    skew = own if prior == "observed" else pl.lit((1 - prior) / prior)
    value = surface.RATES[name](pl.col("tpr"), pl.col("fpr"), skew)
    return point.with_columns(value.fill_nan(None).alias("estimate"))


for name in RATES:
    for threshold, prior in ((0.5, "observed"), (1.0, 0.1), (4.0, 0.1)):
        MEASURES[f"rate {name} {prior} at {threshold}"] = (
            lambda n=name, t=threshold, p=prior, **w: pr.expr.rate(n, "truth", "score", t, p, **w),
            lambda c, n=name, t=threshold, p=prior: rate_at(c, n, t, p),
        )
GROUPS = pl.DataFrame(
    {
        "k": ["a"] * 5 + ["b"] * 5 + ["one class"] * 2 + [None] * 3,
        "truth": [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0],
        "score": [3.0, 3.0, 2.0, 1.0, 1.0, 5.0, 4.0, 4.0, 1.0, 0.0, 1.0, 2.0, 7.0, 8.0, 8.0],
        "weight": [1.0, 0.5, 2.0, 1.0, 0.0, 0.3, 0.3, 0.4, 1.0, 1.0, 1.0, 1.0, 0.1, 0.2, 0.7],
    }
)


@pytest.mark.alike(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=5)
@given(table=tables())
def test_an_expression_gives_what_the_function_gives(name, table):
    as_expression, measures_of_curves = MEASURES[name]
    weight = {"weight": "weight"} if "weight" in table.columns else {}
    expected = measures_of_curves(pr.curve(table, **NAMES, **weight))["estimate"].item()
    alike(table.select(as_expression(**weight)).to_series(), [expected])


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in MEASURES if not n.endswith(("one", "zero", "drop"))])
def test_in_groups_and_over_groups(name):
    as_expression, measures_of_curves = MEASURES[name]
    for weight in ({}, {"weight": "weight"}):
        curve = pr.curve(GROUPS, **NAMES, by="k", **weight)
        expected = measures_of_curves(curve).select("k", "estimate")
        for engine in ("streaming", "in-memory"):
            alike_in_groups(as_expression(**weight).alias("estimate"), expected, engine)


def alike_in_groups(measure: pl.Expr, expected: pl.DataFrame, engine: str) -> None:
    lazy = GROUPS.lazy()
    grouped = lazy.group_by("k").agg(measure).sort("k", nulls_last=True).collect(engine=engine)
    windowed = lazy.with_columns(measure.over("k")).collect(engine=engine)
    assert grouped["k"].to_list() == expected["k"].to_list()
    alike(grouped["estimate"], expected["estimate"])
    # In a window every row has the value of its group, and rows stay where they were.
    assert windowed.drop("estimate").equals(GROUPS)
    values_by_row = windowed.select("k").join(expected, on="k", how="left", nulls_equal=True)
    alike(windowed["estimate"], values_by_row["estimate"])
    of_b = lazy.filter(k="b").select(measure).collect(engine=engine)
    alike(of_b["estimate"], expected.filter(k="b")["estimate"])


def alike(found: pl.Series, expected: Sequence[float | None]) -> None:
    for here, there in zip(found, expected, strict=True):
        assert here == (None if there is None else pytest.approx(there, rel=1e-12, abs=1e-12))


@pytest.mark.parametrize("prior", ["observed", 0.1])
def test_rates_at_a_threshold_are_those_of_the_surface(prior):
    table = pr.datasets.twenty_scores()
    rates = list(surface.RATES)
    at = pr.curve(table, **NAMES).pipe(pr.surface, prior, rates=rates).filter(threshold=0.54)
    found = table.select(
        pr.expr.rate(name, "truth", "score", 0.54, prior).alias(name) for name in rates
    )
    assert found.row(0) == pytest.approx(at.select(rates).row(0), rel=1e-12)


@pytest.mark.parametrize("rows", [49, 98, 103])
def test_rates_where_all_is_called(rows):
    # Where both rates are 1 these quotients are of nothing by nothing.
    table = pl.DataFrame({"truth": [1, 0] * rows, "score": range(2 * rows)})
    names = ["recall", "likelihood_ratio_negative", "npv", "fnr"]
    found = table.select(pr.expr.rate(name, "truth", "score", 0) for name in names)
    assert found.row(0) == (1, None, None, 0)


@pytest.mark.alike(6)
@pytest.mark.slow
@pytest.mark.parametrize(
    "spoilt",
    [
        {"truth": [1, None, 0]}, {"truth": [1, 2, 0]}, {"truth": [0.9, 1.0, 0.0]},
        {"truth": [1.0, 1.9, 0.0]}, {"truth": [1.0, 1.0, -0.5]},
        {"truth": [1.0, 0.0, float("nan")]},
        {"truth": [Decimal("0.9"), Decimal(1), Decimal(0)]},
        {"truth": [Decimal("1." + 30 * "0" + "1"), Decimal(1), Decimal(0)]},
        {"truth": [2**100, 1, 0]},
        {"truth": [None] * 3}, {"score": [None] * 3}, {"weight": [None] * 3},
        {"score": [1.0, None, 2.0]},
        {"score": [1.0, float("nan"), 2.0]}, {"weight": [1.0, None, 1.0]},
        {"weight": [1.0, -1.0, 1.0]}, {"weight": [1.0, float("inf"), 1.0]},
        {"truth": [1, 1, 1]}, {"truth": [0, 0, 0]},
    ],
)  # fmt: skip
def test_a_group_that_is_not_sound_is_null(spoilt):
    whole = {"truth": [1, 1, 0], "score": [3.0, 2.0, 1.0], "weight": [1.0, 1.0, 1.0]}
    table = pl.DataFrame(whole | spoilt)
    found = table.select(MEASURES[name][0](weight="weight").alias(name) for name in JUDGED)
    assert found.row(0) == (None,) * len(JUDGED)


@pytest.mark.parametrize("weight", [-1.0, None, float("nan"), float("inf")])
def test_a_group_whose_counts_may_fall_has_no_hull(weight):
    table = pl.DataFrame(
        {
            "truth": [True, False, True, True], "score": [4, 3, 2, 1],
            "weight": [weight, 1.0, 1.0, weight],
        }
    )  # fmt: skip
    loss = pr.expr.measure("refinement_loss", "truth", "score", prior=0.1, weight="weight")
    assert table.select(loss).item() is None


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("name", ["auc", "sens", "rate recall observed at 0.5"])
def test_a_group_with_an_unclear_truth_is_null_and_others_are_not(name, engine):
    table = GROUPS.with_columns(
        pl.when(k="b", score=5.0).then(0.9).otherwise("truth").alias("truth")
    )
    measure = MEASURES[name][0]().alias("estimate")
    clean = GROUPS.group_by("k").agg(measure).filter(pl.col("k").ne_missing("b"))
    expected = dict(clean.rows()) | {"b": None}
    grouped = table.lazy().group_by("k").agg(measure).collect(engine=engine)
    assert dict(grouped.rows()) == pytest.approx(expected)
    windowed = table.lazy().select("k", measure.over("k")).collect(engine=engine)
    assert dict(windowed.rows()) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [pl.Boolean, pl.Int8, pl.UInt64, pl.Int128, pl.Float16,
                                  pl.Float32, pl.Decimal(10, 2)], ids=str)  # fmt: skip
def test_truths_of_every_type(kind):
    table = pr.datasets.twenty_scores().cast({"truth": pl.Int8}).cast({"truth": kind})
    assert table.select(pr.expr.auc("truth", "score")).item() == pytest.approx(0.68)


WRONG_TYPES = {
    "String": ["1", "0", "1"], "Binary": [b"1", b"0", b"1"], "List": [[1], [0], [1]],
    "Struct": [{"a": 1}, {"a": 0}, {"a": 1}], "Date": [date(1970, 1, 2)] * 3,
    "Time": [time(0)] * 3, "Duration": [timedelta(1)] * 3,
    "Datetime": pl.Series([1, 0, 1]).cast(pl.Datetime("us", "UTC")),
    "Array": pl.Series([[1], [0], [1]], dtype=pl.Array(pl.Int64, 1)),
    "Categorical": pl.Series(["1", "0", "1"], dtype=pl.Categorical),
    "Enum": pl.Series(["1", "0", "1"], dtype=pl.Enum(["0", "1"])),
    "Boolean": [True, False, True],
}  # fmt: skip
TRUTHS = {("truth", "Boolean")}
OF_TYPE = r"determine supertype|`sign` operation not supported"


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "kind"), sorted(set(product(["truth", "score", "weight"], WRONG_TYPES)) - TRUTHS)
)
def test_polars_refuses_columns_of_other_types(column, kind):
    whole = {"truth": [1, 0, 1], "score": [3.0, 2.0, 1.0], "weight": [1, 1, 1]}
    table = pl.LazyFrame(whole | {column: WRONG_TYPES[kind], "k": [1, 1, 1]})
    for name, rows in product(("auc", "sens", "rate recall observed at 0.5"), (0, 3)):
        measure = MEASURES[name][0](weight="weight")
        lazy = table.head(rows)
        for plan in (
            lazy.select(measure),
            lazy.group_by("k").agg(measure),
            lazy.select(measure.over("k")),
        ):
            with pytest.raises(pl.exceptions.PolarsError, match=OF_TYPE):
                plan.collect()


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64, pl.Int128, pl.Decimal(38, 0)], ids=str)
def test_scores_too_long_for_a_float_are_not_tied(kind, engine):
    # As floats the first three are one number.
    scores = [2**53 + 1, 2**53, 2**53 - 1 + 1, 5]
    table = pl.LazyFrame(
        {"k": 1, "truth": [1, 0, 0, 1], "score": pl.Series(scores, dtype=kind)}
    )  # fmt: skip
    for plan in (
        table.select(auc=pr.expr.auc("truth", "score")),
        table.group_by("k").agg(auc=pr.expr.auc("truth", "score")),
        table.select(auc=pr.expr.auc("truth", "score").over("k")),
    ):
        # Of the four pairs, those of the first positive are in order and the others are not.
        assert set(plan.collect(engine=engine)["auc"]) == {0.5}


def test_a_threshold_that_a_score_is_rounded_to_decides_nothing():
    table = pl.DataFrame({"truth": [1, 0], "score": [2**53 + 3, 5]})
    recall = [pr.expr.rate("recall", "truth", "score", at) for at in (2.0**53 + 2, 2.0**53 + 4)]
    assert [table.select(own).item() for own in recall] == [1.0, None]
    table = table.with_columns(score=pl.lit(2**53 + 4))
    assert table.select(recall[1]).item() == 1


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


@pytest.mark.parametrize("limit", [float("nan"), None, "0.5", True, 2**53 + 1, [0.5], pl.col("s")])
def test_what_is_no_threshold_is_refused(limit):
    with pytest.raises(InvalidArgument, match=r"threshold is(?s:.*)Hint:"):
        pr.expr.rate("recall", "truth", "score", limit)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pr.expr.auprec("truth", "score", None),
        lambda: pr.expr.auprec("truth", "score", float("nan")),
        lambda: pr.expr.rate(["recall"], "truth", "score", 0.5),
        lambda: pr.expr.auprec("truth", "score", 1.5),
        lambda: pr.expr.auprec("truth", "score", interpolation="hull"),
        lambda: pr.expr.auprec("truth", "score", start="two"),
        lambda: pr.expr.iauprec("truth", "score", (0.5, 0.1)),
        lambda: pr.expr.sens("truth", "score", (0.5, 0.1)),
        lambda: pr.expr.rate("gini", "truth", "score", 0.5),
    ],
)
def test_arguments_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidArgument, match="Hint:"):
        wrong()
