from math import sqrt

import numpy as np
import polars as pl
import pytest
from chart_cases import PRIORS, measures
from model_tables import MODELS, grid, near, predictions, values

import polaroc as pr


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


def test_cells_of_the_winner_map_are_the_shares_of_wins(table):
    by_fold = grid(table)
    strip, won = values(pr.charts.winner_map(pr.choose(table)).to_dict())
    best = by_fold.argmax(axis=1)
    for record in won:
        model = MODELS.index(record["series"])
        for prior, share, low, high in zip(
            record["prior"], record["share"], record["y"], record["top"], strict=True
        ):
            at = PRIORS.index(prior)
            assert share == pytest.approx((best[:, at] == model).mean())
            assert high - low == pytest.approx(share)
    winners = {prior: record["series"] for record in strip for prior in record["prior"]}
    means = by_fold.mean(axis=0)
    assert winners == {p: MODELS[means[:, i].argmax()] for i, p in enumerate(PRIORS)}


def test_cells_of_the_winner_map_fill_the_panel(table):
    for panel in values(pr.charts.winner_map(pr.choose(table)).to_dict()):
        cells = [
            cell
            for record in panel
            for cell in zip(record["x"], record["right"], record["y"], record["top"], strict=True)
        ]
        area = sum(np.log(right / left) * (high - low) for left, right, low, high in cells)
        assert area == pytest.approx(np.log(PRIORS[-1] / PRIORS[0]))
        edges = {0.05, sqrt(0.05 * 0.1), sqrt(0.1 * 0.2), 0.2}
        assert {round(cell[0], 9) for cell in cells} | {round(cell[1], 9) for cell in cells} == {
            round(edge, 9) for edge in edges
        }


def test_models_that_tie_share_the_strip(table):
    twins = pl.concat(
        [table.filter(model="A"), table.filter(model="A").with_columns(model=pl.lit("B"))]
    )
    strip, won = values(pr.charts.winner_map(pr.choose(twins)).to_dict())
    for panel in (strip, won):
        assert [(record["y"], record["top"]) for record in panel] == [
            ([0.5] * 3, [1.0] * 3),
            ([0.0] * 3, [0.5] * 3),
        ]


def test_without_folds_there_is_no_share_of_wins():
    once = measures(predictions(), fold=None)
    spec = pr.charts.winner_map(pr.choose(once)).to_dict()
    assert len(spec["vconcat"]) == 1


def test_regret_is_the_way_to_the_best_mean(table):
    means = grid(table).mean(axis=0)
    expected = means.max(axis=0) - means
    line, worst = values(pr.charts.regret(pr.choose(table)).to_dict())
    for i, (record, diamond) in enumerate(zip(line, worst, strict=True)):
        assert record["y"] == near(expected[i])
        assert diamond["y"] == near(expected[i].max())
        assert diamond["x"] == PRIORS[expected[i].argmax()]


def test_regrets_of_costs_are_drawn_whatever_their_scale():
    table = predictions().with_columns(case=pl.int_range(pl.len()).over("model"))
    tuning, test = (table.filter(pl.col("case") % 2 == half).drop("fold") for half in (0, 1))
    fn, fp = 3e-7, 1e-7
    choice = pr.choose(
        test, truth="truth", score="score", case="case", measure="expected_cost", over=(0.1, 0.5),
        tuning=tuning, cost_fn=fn, cost_fp=fp,
    )  # fmt: skip
    rates = choice.models.sort("model").select("tpr", "fpr").to_numpy().T
    line, worst, *_ = values(pr.charts.regret(choice).to_dict())
    shown = np.array([record["y"] for record in line])
    priors = np.array(line[0]["x"])
    costs = [p * fn * (1 - rates[0]) + (1 - p) * fp * rates[1] for p in priors]
    expected = (np.array(costs) - np.min(costs, axis=1, keepdims=True)).T
    assert expected.max() > 1e-8
    assert shown == pytest.approx(expected, abs=1e-12)
    assert [record["y"] for record in worst] == pytest.approx(expected.max(axis=1), abs=1e-12)
    (strip,) = values(pr.charts.winner_map(choice).to_dict())
    best = {prior: record["series"] for record in strip for prior in record["prior"]}
    assert best == {p: MODELS[i] for p, i in zip(priors, expected.argmin(axis=0), strict=True)}


def test_models_that_share_a_colour_are_named_beside_their_worst_regret():
    rng = np.random.default_rng(3)
    truth = np.arange(400) % 4 == 0
    scores = {f"m{i}": rng.normal(size=400) + truth * (0.5 + 0.2 * i + (i == 8)) for i in range(9)}
    choice = pr.choose({"y": truth} | scores, truth="y", score=[*scores], over=(0.05, 0.2))
    eight = pr.choose({"y": truth} | scores, truth="y", score=[*scores][:8], over=(0.05, 0.2))
    assert len(values(pr.charts.regret(eight).to_dict())) == 2
    _, worst, *named = values(pr.charts.regret(choice).to_dict())
    for layer in named:
        assert [record["series"] for record in layer] == ["m0", "m8"]
        assert all(record in worst for record in layer)
    # Of names that would cover one another, the legend has to do.
    same = pr.choose(
        {"y": truth} | dict.fromkeys(scores, scores["m0"]), truth="y", score=[*scores],
        over=(0.05, 0.2),
    )  # fmt: skip
    assert len(values(pr.charts.regret(same).to_dict())) == 2
