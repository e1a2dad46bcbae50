from itertools import combinations

import numpy as np
import oracles
import polars as pl
import pytest
from paired import paired_test
from scipy import stats
from statsmodels.stats.multitest import multipletests

import polaroc as pr

ASKED = {"truth": "truth", "score": "score"}
NUMBERS = [
    "difference", "std_error", "lower", "upper", "level", "statistic", "p_value", "p_adjusted",
]  # fmt: skip
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
                "case": np.tile(np.arange(rows), blocks),
                "truth": truth.ravel(),
                "score": scores.ravel().round(1),
            }
        )
        for name, scores in models.items()
    )


TABLE = scored()


def of(model: str) -> pl.DataFrame:
    return TABLE.filter(pl.col("model") == model).sort("case")


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
    assert found["p_adjusted"].to_list() == pytest.approx(
        multipletests(found["p_value"], method="holm")[1]
    )
    # Of all pairs an interval leaves out 0 where the pair differs significantly.
    outside = (found["adjusted_lower"] > 0) | (found["adjusted_upper"] < 0)
    assert outside.to_list() == (found["p_adjusted"] < 0.05).to_list()


@pytest.mark.parametrize(
    ("measure", "at"),
    [
        ("auc", {}),
        ("auprec", {"priors": 0.1}),
        ("iauprec", {"over": OVER}),
        ("sens", {"over": OVER}),
    ],
)
def test_of_models_that_rank_alike_there_is_no_test(measure, at):
    same = of("A").with_columns(pl.lit("B").alias("model"), pl.col("score").exp() * 3)
    found = paired_test(pl.concat([of("A"), same]), **ASKED, measure=measure, **at)
    assert found.select(NUMBERS).row(0) == (0, None, None, None, 0.95, None, None, None)


# --- other measures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "asked"),
    [("auprec", {"priors": 0.1}), ("iauprec", {"over": OVER}), ("auc_range", {"over": (0.2, 0.6)})],
)
def test_the_standard_error_is_the_spread_over_resampled_cases(measure, asked):
    table = scored(seed=3, rows=500)
    pair = table.filter(pl.col("model") != "C")
    a, b = (pair.filter(pl.col("model") == model).drop("model", "fold") for model in "AB")
    wide = a.rename({"score": "A"}).join(b.rename({"score": "B"}), on=["case", "truth"])
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
    by_draw = pr.evaluate(long, **ASKED, by="draw", measure=measure, **asked)
    sign = pl.when(pl.col("model") == "A").then(1).otherwise(-1)
    leads = by_draw.group_by("draw").agg((sign * pl.col("estimate")).sum().alias("lead"))
    found = paired_test(pair, **ASKED, measure=measure, **asked)
    assert found["std_error"].item() == pytest.approx(leads["lead"].std(), rel=0.08)
    estimates = pr.evaluate(pair, **ASKED, fold=None, measure=measure, **asked)["estimate"]
    assert found["difference"].item() == pytest.approx(estimates[0] - estimates[1], abs=1e-12)


# --- tables in, tables out ------------------------------------------------------------------------
