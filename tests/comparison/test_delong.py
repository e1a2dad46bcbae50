from itertools import combinations

import numpy as np
import oracles
import polars as pl
import pytest
from paired import paired_test
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.uncertainty.adjusted import holm

ASKED = {"truth": "truth", "score": "score"}
NUMBERS = [
    "difference", "std_error", "lower", "upper", "level", "statistic", "p_value", "p_adjusted",
]  # fmt: skip
FEW = "too few cases or clusters"
OVER = (0.05, 0.2)


def scored(seed: int = 0, blocks: int = 1, rows: int = 60, lead: float = 0.5) -> pl.DataFrame:
    """Three models of which A leads, with scores that are tied and go together by case."""
    rng = np.random.default_rng(seed)
    truth = rng.random((blocks, rows)) < 0.4
    shared = rng.normal(size=truth.shape) + truth
    models = {
        "A": shared + 0.7 * rng.normal(size=truth.shape) + lead * truth,
        "B": shared + 0.7 * rng.normal(size=truth.shape),
        "C": shared + 0.7 * rng.normal(size=truth.shape),
    }
    return pl.concat(
        pl.DataFrame(
            {
                "fold": np.repeat(np.arange(blocks), rows),
                "model": [name] * truth.size,
                "id": np.tile(np.arange(rows), blocks),
                "truth": truth.ravel(),
                "score": scores.ravel().round(1),
            }
        )
        for name, scores in models.items()
    )


TABLE = scored()


def of(model: str) -> pl.DataFrame:
    return TABLE.filter(pl.col("model") == model).sort("id")


# --- DeLong --------------------------------------------------------------------------------------


def test_delong_is_its_definition_by_placements():
    found = paired_test(TABLE.sample(fraction=1, shuffle=True, seed=1), **ASKED)
    assert found.select("model_a", "model_b").rows() == list(combinations("ABC", 2))
    for a, b, *numbers in found.select("model_a", "model_b", *NUMBERS).iter_rows():
        placed = [oracles.delong_placements(of(model)) for model in (a, b)]
        difference = placed[0][0].mean() - placed[1][0].mean()
        variance = sum(
            np.var(own - other, ddof=1) / own.size for own, other in zip(*placed, strict=True)
        )
        error = np.sqrt(variance)
        low, high = stats.norm.interval(0.95, difference, error)
        p = 2 * stats.norm.sf(abs(difference / error))
        expected = [difference, error, low, high, 0.95, difference / error, p]
        assert numbers[:-1] == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(
    ("measure", "at"),
    [
        ("auc", {}),
        ("auprec", {"prior": 0.1}),
        ("iauprec", {"over": OVER}),
        ("sens", {"over": OVER}),
    ],
)
def test_models_that_rank_alike_do_not_differ(measure, at):
    same = of("A").with_columns(pl.lit("B").alias("model"), pl.col("score").exp() * 3)
    found = paired_test(pl.concat([of("A"), same]), **ASKED, measure=measure, **at)
    assert found.select(NUMBERS).row(0) == (0, 0, 0, 0, 0.95, 0, 1, 1)


@pytest.mark.parametrize(
    ("truth", "a", "b"),
    [
        ([True, False, False], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]),
        ([True, True, False, False], [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]),
    ],
    ids=["one positive", "the same difference by any case"],
)
def test_what_cannot_be_told_is_refused(truth, a, b):
    ids = list(range(len(truth)))
    table = pl.concat(
        pl.DataFrame({"model": [m] * len(ids), "id": ids, "truth": truth, "score": s})
        for m, s in (("A", a), ("B", b))
    )
    with pytest.raises(InvalidPredictions, match=FEW):
        paired_test(table, **ASKED)


# --- other measures -------------------------------------------------------------------------------


@pytest.mark.alike
@pytest.mark.parametrize(
    ("measure", "asked"),
    [("auprec", {"prior": 0.1}), ("iauprec", {"over": OVER}), ("auc_range", {"over": (0.2, 0.6)})],
)
def test_the_standard_error_is_the_spread_over_resampled_cases(measure, asked):
    table = scored(seed=3, rows=500)
    pair = table.filter(pl.col("model") != "C")
    a, b = (pair.filter(pl.col("model") == model).drop("model", "fold") for model in "AB")
    wide = a.rename({"score": "A"}).join(b.rename({"score": "B"}), on=["id", "truth"])
    rng = np.random.default_rng(4)
    draws = 800
    chosen = np.hstack(
        [
            rng.choice(cases, (draws, cases.size))
            for cases in (np.flatnonzero(wide["truth"].to_numpy() == label) for label in (1, 0))
        ]
    )
    drawn = wide[chosen.ravel()].with_columns(draw=np.repeat(np.arange(draws), wide.height))
    long = drawn.unpivot(["A", "B"], index=["draw", "truth"], variable_name="model",
                         value_name="score")  # fmt: skip
    priors = {"priors": asked["prior"]} if "prior" in asked else asked
    by_draw = pr.evaluate(long, **ASKED, by=["draw", "model"], measures=measure, **priors)
    sign = pl.when(pl.col("model") == "A").then(1).otherwise(-1)
    leads = by_draw.group_by("draw").agg((sign * pl.col("estimate")).sum().alias("lead"))
    found = paired_test(pair, **ASKED, measure=measure, **asked)
    assert found["std_error"].item() == pytest.approx(leads["lead"].std(), rel=0.08)
    estimates = pr.evaluate(pair, **ASKED, by="model", measures=measure, **priors)["estimate"]
    assert found["difference"].item() == pytest.approx(estimates[0] - estimates[1], abs=1e-12)


# Nominal 0.05; the standard error at 1,500 blocks is 0.0056. All three pairs of a block
# are equal, of which one is looked at.
@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("measure", "asked"), [("auc", {}), ("iauprec", {"over": (0.2, 0.5)})])
def test_equal_models_are_rarely_told_apart(measure, asked):
    table = scored(seed=5, blocks=1500, rows=150, lead=0).filter(pl.col("model") != "C")
    parts = table.partition_by("fold")
    found = pl.concat(paired_test(part, **ASKED, measure=measure, **asked) for part in parts)
    assert (found["p_value"] < 0.05).mean() == pytest.approx(0.05, abs=0.02)


# --- tables in, tables out ------------------------------------------------------------------------


@pytest.mark.parametrize("p_values", [[0.04], [0.01, 0.04, 0.03], [0.5, 0.5, 0.5], [0.02, 0.02]])
def test_holm_is_its_definition(p_values):
    p_values = np.array(p_values)
    order = np.argsort(p_values)
    steps = [min(1, (len(p_values) - i) * p_values[j]) for i, j in enumerate(order)]
    expected = np.empty(len(p_values))
    expected[order] = np.maximum.accumulate(steps)
    assert holm(p_values)[0] == pytest.approx(expected)


REFUSED = {
    "twice": (
        pl.concat([TABLE, TABLE.head(2)]),
        "2 cases are there twice for a model: id=0",
    ),
    "lacking": (
        TABLE.slice(5),
        "5 cases lack a score by some model: id=0; id=1; id=2 and 2 more",
    ),
    "truth": (
        TABLE.with_columns(
            truth=pl.col("truth") ^ ((pl.col("id") == 7) & (pl.col("model") == "B"))
        ),
        "1 cases have a truth that differs by model: id=7",
    ),
    "no case": (
        TABLE.with_columns(id=pl.when(pl.col("id") > 3).then("id")),
        "12 rows have no case",
    ),
    "null": (TABLE.with_columns(pl.when(pl.col("id") > 3).then("score")), "12 null scores"),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("table", "message"), REFUSED.values(), ids=REFUSED)
def test_cases_that_do_not_pair_are_refused(table, message, lazy):
    with pytest.raises(InvalidPredictions, match=message):
        paired_test(table.lazy() if lazy else table, **ASKED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "recall"}, "allowed are 'auc'"),
        ({"measure": "iauprec"}, "over is None"),
        ({"level": 1}, "0 < level < 1"),
        ({"model": None}, "nothing tells the models apart"),
        ({"model": "truth"}, "'truth' is truth and model"),
        ({"model": "block"}, "no column"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        paired_test(TABLE, **{**ASKED, **arguments})
    assert "Hint:" in str(caught.value)


def test_models_are_compared_on_the_same_cases():
    unnamed = TABLE.rename({"id": "number"})
    for asked in ({}, {"case": None}):
        with pytest.raises(InvalidArgument, match=r"(?s)which rows are the same case.*case='id'"):
            paired_test(unnamed, **ASKED, **asked)
    others = TABLE.filter((pl.col("model") != "A") | (pl.col("id") != TABLE["id"][0]))
    with pytest.raises(InvalidPredictions, match=r"(?s)lack a score by some model.*nulls='drop'"):
        paired_test(others, **ASKED)


def test_one_model_is_none_to_compare():
    with pytest.raises(InvalidArgument, match="needs two"):
        paired_test(of("A"), **ASKED)


@pytest.mark.parametrize("wide", [True, False])
def test_of_lost_scores_those_cases_are_compared_that_all_models_have(wide):
    table = scored()
    lost = (pl.col("id") % 20 == 3) & (pl.col("model") == "B")
    given = table.with_columns(score=pl.when(~lost).then("score"))
    kept = table.filter(pl.col("id") % 20 != 3)
    asked = ASKED | {"case": "id"}
    if wide:
        wider = {"index": ["fold", "id", "truth"], "aggregate_function": "first"}
        given, kept = (one.pivot("model", **wider) for one in (given, kept))
        asked |= {"score": ["A", "B", "C"]}
    with pytest.raises(InvalidPredictions, match="3 null scores"):
        paired_test(given, **asked)
    found = pr.compare(given, "auc", **asked, fold=None, nulls="drop")
    assert_frame_equal(found.pairs, paired_test(kept, **asked))
    assert "3 of 60 cases were left out of all models" in " ".join(found.warnings)
