"""The reliability of probabilities on a page, against scikit-learn."""

import json

import numpy as np
import polars as pl
import pytest
from pages import ASKED, OVER, Page
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

import polaroc as pr

CAPTION = "How far the probabilities are off"


def predictions(names: str, *, cases: int = 600, folds: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    parts = []
    for fold in range(folds):
        truth = rng.random(cases) < 0.3
        for place, name in enumerate(names):
            signal = rng.normal(size=cases) + truth * (2 - 0.3 * place)
            score = 1 / (1 + np.exp(-(1 + place) * (signal - 1)))
            parts.append(
                pl.DataFrame({"model": name, "fold": fold, "truth": truth, "score": score})
            )
    return pl.concat(parts)


def written(table: pl.DataFrame, folder, **asked) -> Page:
    return Page(pr.report(table, **{"over": OVER, **ASKED, **asked}, path=folder / "report.html"))


def parts(truth: np.ndarray, score: np.ndarray, prior: float, right_at: float) -> list[float]:
    """Brier score, both of its parts and the skill, by scikit-learn."""
    own = truth.mean()
    odds = score / (1 - score) * (prior / (1 - prior)) / (right_at / (1 - right_at))
    moved, weight = odds / (1 + odds), np.where(truth, prior / own, (1 - prior) / (1 - own))
    brier = brier_score_loss(truth, moved, sample_weight=weight)
    fitted = IsotonicRegression().fit_transform(moved, truth, sample_weight=weight)
    refinement = brier_score_loss(truth, np.clip(fitted, 0, 1), sample_weight=weight)
    return [brier, brier - refinement, refinement, 1 - brier / (prior * (1 - prior))]


@pytest.mark.parametrize(
    ("table", "asked", "prior"),
    [
        (predictions("AB"), {}, 0.125),
        (predictions("A"), {"score_prior": 0.1}, 0.125),
        # The rows of all folds of a model are in one curve.
        (predictions("A", folds=3), {"over": 0.1}, 0.1),
    ],
    ids=["two models", "right at a given prior", "folds, one prior"],
)
def test_the_table_is_what_scikit_learn_measures(tmp_path, table, asked, prior):
    page = written(table, tmp_path, **asked)
    shown, names = page.table(CAPTION), table["model"].unique().sort().to_list()
    assert shown["model"].to_list() == names
    for name, row in zip(names, shown.rows(), strict=True):
        truth, score = (table.filter(model=name)[one].to_numpy() for one in ("truth", "score"))
        right_at = asked.get("score_prior", truth.mean())
        *losses, skill = row[1:]
        wanted = parts(truth, score, prior, right_at)
        assert [*map(float, losses)] == pytest.approx(wanted[:3], abs=6e-5)
        assert float(skill.removesuffix(" %")) == pytest.approx(100 * wanted[3], abs=0.51)
    (chart,) = (one.text for one in page.all("script") if one.get("id") == "reliability")
    brier = "; ".join(f"{m} {b}" for m, b in shown.select("model", "Brier score").rows())
    assert f"Brier score: {brier}." in json.loads(chart)["description"]


@pytest.mark.parametrize(
    "score", [pl.col("score") * 100, pl.col("score") - 0.5, (pl.col("score") > 0.5) * 1.0],
    ids=["per cent", "negative", "labels"],
)  # fmt: skip
def test_scores_that_are_no_probabilities_have_a_sentence_and_no_table(tmp_path, score):
    page = written(predictions("A").with_columns(score), tmp_path)
    assert page.table(CAPTION) is None
    assert "The scores of A are no probabilities" in page.text()


def test_of_many_models_the_first_with_probabilities_are_shown(tmp_path):
    table = predictions("ABCD", cases=2_000).with_columns(
        score=pl.when(model="B").then(pl.col("score") * 9).otherwise("score")
    )
    page = written(table, tmp_path)
    assert page.table("The models")["model"].to_list()[:3] == ["A", "B", "C"]
    assert page.table(CAPTION)["model"].unique(maintain_order=True).to_list() == ["A", "C"]
