from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from strategies import tables

import polaroc as pr
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
RATES = ["precision", "recall", "npv", "matthews"]


def rate_at(curve: pl.DataFrame, name: str, threshold: float, prior: float | str) -> pl.DataFrame:
    point = pr.operating_points(curve, "threshold", priors=prior, target=threshold)
    own = pl.col("negatives") / pl.col("positives")
    skew = own if prior == "observed" else pl.lit((1 - prior) / prior)
    value = pr.surfaces.RATES[name](pl.col("tpr"), pl.col("fpr"), skew)
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


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=5)
@given(table=tables())
def test_an_expression_gives_what_the_function_gives(name, table):
    as_expression, of_curve = MEASURES[name]
    weight = {"weight": "weight"} if "weight" in table.columns else {}
    expected = of_curve(pr.curve(table, **NAMES, **weight))["estimate"].item()
    alike(table.select(as_expression(**weight)).to_series(), [expected])


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("weight", [{}, {"weight": "weight"}])
@pytest.mark.parametrize("name", [n for n in MEASURES if not n.endswith(("one", "zero", "drop"))])
def test_in_groups_and_over_groups(name, weight, engine):
    as_expression, of_curve = MEASURES[name]
    curve = pr.curve(GROUPS, **NAMES, by="k", **weight)
    expected = of_curve(curve).select("k", "estimate")
    measure = as_expression(**weight).alias("estimate")
    lazy = GROUPS.lazy()
    grouped = lazy.group_by("k").agg(measure).sort("k", nulls_last=True).collect(engine=engine)
    windowed = lazy.with_columns(measure.over("k")).collect(engine=engine)
    assert grouped["k"].to_list() == expected["k"].to_list()
    alike(grouped["estimate"], expected["estimate"])
    # In a window every row has the value of its group, and rows stay where they were.
    assert windowed.drop("estimate").equals(GROUPS)
    of_rows = windowed.select("k").join(expected, on="k", how="left", nulls_equal=True)
    alike(windowed["estimate"], of_rows["estimate"])
    of_b = lazy.filter(k="b").select(measure).collect(engine=engine)
    alike(of_b["estimate"], expected.filter(k="b")["estimate"])


def alike(found: pl.Series, expected: Sequence[float | None]) -> None:
    for here, there in zip(found, expected, strict=True):
        assert here == (None if there is None else pytest.approx(there, rel=1e-12, abs=1e-12))


@pytest.mark.parametrize("name", pr.surfaces.RATES)
@pytest.mark.parametrize("prior", ["observed", 0.1])
def test_rates_at_a_threshold_are_those_of_the_surface(name, prior):
    table = pr.datasets.twenty_scores()
    curve = pr.curve(table, **NAMES)
    at = curve.pipe(pr.surface, prior, rates=[name]).filter(threshold=0.54)
    found = table.select(pr.expr.rate(name, "truth", "score", 0.54, prior)).item()
    assert found == pytest.approx(at[name].item(), rel=1e-12)


@pytest.mark.parametrize("rows", [49, 98, 103])
def test_rates_where_all_is_called(rows):
    # Where both rates are 1 these quotients are of nothing by nothing.
    table = pl.DataFrame({"truth": [1, 0] * rows, "score": range(2 * rows)})
    names = ["recall", "likelihood_ratio_negative", "npv", "fnr"]
    found = table.select(pr.expr.rate(name, "truth", "score", 0) for name in names)
    assert found.row(0) == (1, None, None, 0)


def test_several_at_once_lazily():
    table = pr.datasets.satellite_predictions().lazy().filter(pl.col("fold") <= 3)
    measures = [
        pr.expr.auc("truth", "score"),
        pr.expr.auprec("truth", "score", 0.1),
        pr.expr.rate("recall", "truth", "score", 0.5),
    ]
    query = table.group_by("model", "fold").agg(measures)
    assert query.collect_schema() == query.collect().schema
    query.serialize()
    expected = pr.evaluate(table, **NAMES, by=["model", "fold"], priors=0.1).collect()
    found = query.sort("model", "fold").collect()
    assert found["auc"].to_list() == pytest.approx(
        expected.filter(measure="auc")["estimate"].to_list(), rel=1e-12
    )
    assert found["auprec"].to_list() == pytest.approx(
        expected.filter(measure="auprec")["estimate"].to_list(), rel=1e-12
    )


@pytest.mark.parametrize(
    "spoilt",
    [
        {"truth": [1, None, 0]}, {"truth": [1, 2, 0]}, {"score": [1.0, None, 2.0]},
        {"score": [1.0, float("nan"), 2.0]}, {"weight": [1.0, None, 1.0]},
        {"weight": [1.0, -1.0, 1.0]}, {"weight": [1.0, float("inf"), 1.0]},
        {"truth": [1, 1, 1]}, {"truth": [0, 0, 0]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", MEASURES)
def test_a_group_that_is_not_sound_is_null(name, spoilt):
    whole = {"truth": [1, 1, 0], "score": [3.0, 2.0, 1.0], "weight": [1.0, 1.0, 1.0]}
    table = pl.DataFrame(whole | spoilt)
    assert table.select(MEASURES[name][0](weight="weight")).item() is None


@pytest.mark.parametrize(
    "wrong",
    [
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
