import json

import numpy as np
import polars as pl
import pytest
from pages import ASKED, OVER, Page
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

import polaroc as pr

CAPTION = "How far the probabilities are off"
PRIORS = (0.05, 0.125, 0.2)


def predictions(names=("A", "B"), *, cases: int = 600, folds: int = 1) -> pl.DataFrame:
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
    arguments = {"over": OVER, **ASKED, **asked}
    return Page(pr.report(table, **arguments, path=folder / "report.html"))


def spec_of(page: Page) -> dict | None:
    (spec,) = [s for s in page.all("script") if s.get("id") == "reliability"] or [None]
    return None if spec is None else json.loads(spec.text)


def caption(page: Page) -> str:
    (figure,) = page.all("figure[@id='figure-reliability']")
    return figure.find("figcaption").text


def parts(
    truth: np.ndarray, score: np.ndarray, prior: float, right_at: float | None = None
) -> list[float]:
    """Brier score, both of its parts and the skill, by scikit-learn."""
    own = truth.mean()
    right = own if right_at is None else right_at
    odds = score / (1 - score) * (prior / (1 - prior)) / (right / (1 - right))
    moved, weight = odds / (1 + odds), np.where(truth, prior / own, (1 - prior) / (1 - own))
    brier = brier_score_loss(truth, moved, sample_weight=weight)
    fitted = IsotonicRegression().fit_transform(moved, truth, sample_weight=weight)
    refinement = brier_score_loss(truth, np.clip(fitted, 0, 1), sample_weight=weight)
    return [brier, brier - refinement, refinement, 1 - brier / (prior * (1 - prior))]


@pytest.mark.long
@pytest.mark.slow
def test_scores_are_right_at_the_prior_that_is_given(tmp_path):
    table = predictions(["A"])
    made = written(table, tmp_path, score_prior=0.1)
    shown = made.table(CAPTION)
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    for prior, row in zip(PRIORS, shown.rows(), strict=True):
        brier, repaired, stays, _ = parts(truth, score, prior, 0.1)
        assert [float(value) for value in row[2:5]] == pytest.approx(
            [brier, repaired, stays], abs=6e-5
        )
    assert "right at 10 % positives" in made.text()
    at_own = written(table, tmp_path).table(CAPTION)
    assert at_own["Brier score"].to_list() != shown["Brier score"].to_list()
    with pytest.raises(pr.errors.InvalidArgument, match="score_prior"):
        written(table, tmp_path, score_prior=1.5)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return written(predictions(), tmp_path_factory.mktemp("page"))


@pytest.mark.long
@pytest.mark.slow
def test_the_table_is_what_scikit_learn_measures(page):
    shown = page.table(CAPTION)
    assert shown["model"].to_list() == ["A"] * 3 + ["B"] * 3
    assert shown["positives"].to_list() == ["5 %", "12.5 %", "20 %"] * 2
    for name in ("A", "B"):
        table = predictions().filter(model=name)
        truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
        for prior, row in zip(PRIORS, shown.filter(model=name).rows(), strict=True):
            *losses, skill = row[2:]
            wanted = parts(truth, score, prior)
            assert [float(loss) for loss in losses] == pytest.approx(wanted[:3], abs=6e-5)
            assert float(skill.removesuffix(" %")) == pytest.approx(100 * wanted[3], abs=0.51)


@pytest.mark.long
def test_the_figure_starts_in_the_middle_of_the_range(page):
    spec = spec_of(page)
    slider = next(one for one in spec["params"] if one["name"] == "log_odds")
    assert 1 / (1 + 10 ** -slider["value"]) == pytest.approx(PRIORS[1])
    ends = [1 / (1 + 10 ** -slider["bind"][end]) for end in ("min", "max")]
    assert ends == pytest.approx(OVER)
    assert spec["layer"][1]["encoding"]["color"]["scale"]["domain"] == ["A", "B"]
    brier = page.table(CAPTION).filter(positives="12.5 %")["Brier score"]
    assert f"Brier score: A {brier[0]}; B {brier[1]}." in spec["description"]
    assert "Stable reliability diagrams" in page.text()
    assert "are no probabilities" not in page.text()


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(
    "score",
    [pl.col("score") * 100, pl.col("score") - 0.5, (pl.col("score") > 0.5).cast(pl.Float64)],
    ids=["per cent", "negative", "labels"],
)
def test_scores_that_are_no_probabilities_have_a_sentence(tmp_path, score):
    page = written(predictions(["A"]).with_columns(score), tmp_path)
    assert spec_of(page) is None
    assert page.table(CAPTION) is None
    assert "The scores of A are no probabilities" in page.text()
    assert "polaroc.probabilities" in page.text("section[@id='methods']")
    assert "Stable reliability diagrams" not in page.text()


@pytest.mark.long
@pytest.mark.slow
def test_of_many_models_the_first_with_probabilities_are_shown(tmp_path):
    table = predictions(["A", "B", "C", "D"], cases=2_000).with_columns(
        pl.when(pl.col("model") == "B").then(pl.col("score") * 9).otherwise("score").alias("score")
    )
    page = written(table, tmp_path)
    first = page.table("The models")["model"].to_list()[:3]
    assert first == ["A", "B", "C"]
    assert page.table(CAPTION)["model"].unique(maintain_order=True).to_list() == ["A", "C"]


@pytest.mark.slow
def test_folds_are_in_one_curve_at_a_single_prior(tmp_path):
    page = written(predictions(["A"], folds=3), tmp_path, over=0.1)
    assert page.table(CAPTION)["positives"].to_list() == ["10 %"]
    truth, score = (predictions(["A"], folds=3)[name].to_numpy() for name in ("truth", "score"))
    (row,) = page.table(CAPTION).rows()
    assert float(row[2]) == pytest.approx(parts(truth, score, 0.1)[0], abs=6e-5)
    (caption,) = (
        figure.find("figcaption").text for figure in page.all("figure[@id='figure-reliability']")
    )
    assert "the rows of all folds of a model are in one curve" in caption


def test_models_without_probabilities_are_named(tmp_path):
    table = predictions(["A", "B", "C"])
    is_b = pl.col("model") == "B"
    logits = pl.when(is_b).then(pl.col("score") * 9 - 4).otherwise("score")
    page = written(table.with_columns(score=logits), tmp_path)
    assert "The scores of B are no probabilities: left out here." in page.text()
    assert "left out here" not in written(table, tmp_path).text()
