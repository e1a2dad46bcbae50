import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable, PolarocError
from polaroc.experiments import accsens, holdouts, kfold, published, runs, satellite, synthetic
from polaroc.experiments import test_train_ratio as ratio_of
from polaroc.experiments.classifiers import (
    GaussianMixtures,
    NearestNeighbours,
    NearestPrototypes,
    Parzen,
    SigmoidOutput,
)

SONAR = pr.datasets.sonar()
NAIVE = {"naive": GaussianNB()}
MINES = SONAR["class"] == "mine"


def features(data: pl.DataFrame) -> np.ndarray:
    return data.drop("class").to_numpy()


@pytest.fixture(scope="module")
def gaussians():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(1.5, 1.2, (40, 2))])
    return X, np.repeat([0, 1], [60, 40])


def test_the_table_has_the_columns_of_a_prediction_table():
    made = holdouts(SONAR, NAIVE, positive="mine", n=3)
    assert made.schema == pr.datasets.satellite_predictions().schema
    assert_frame_equal(made, made.sort("model", "fold", "case"))
    assert (MINES.gather(made["case"]) == made["truth"]).all()


def test_holdouts_are_stratified_and_the_same_for_every_model():
    models = {"naive": GaussianNB(), "knn": KNeighborsClassifier()}
    made = holdouts(SONAR, models, positive="mine", n=4, test_size=0.25)
    sizes = made.group_by("model", "fold").agg(pl.len(), pl.col("truth").sum())
    # A quarter of 208 cases and of 111 mines.
    assert sizes["len"].unique().to_list() == [52]
    assert (sizes["truth"] - 111 / 4).abs().max() < 1
    one, other = (made.filter(model=name).drop("model", "score") for name in models)
    assert_frame_equal(one, other)
    assert made.filter(model="naive", fold=1)["case"].to_list() != (
        made.filter(model="naive", fold=2)["case"].to_list()
    )


@pytest.mark.parametrize("repeats", [1, 3])
def test_kfold_tests_every_case_once_per_repeat(repeats):
    made = kfold(SONAR, NAIVE, positive="mine", k=5, repeats=repeats)
    assert made["fold"].unique().to_list() == list(range(1, 5 * repeats + 1))
    assert set(made["case"].value_counts()["count"]) == {repeats}
    assert made["case"].n_unique() == 208
    by_fold = made.group_by("fold").agg(pl.col("truth").sum())["truth"]
    assert by_fold.max() - by_fold.min() <= 1


@pytest.mark.parametrize("run", [holdouts, kfold])
def test_seeds_make_runs_again(run):
    forest = {"forest": RandomForestClassifier(n_estimators=3)}
    number = {"n": 2} if run is holdouts else {"k": 2}
    made = [run(SONAR, forest, positive="mine", seed=seed, **number) for seed in (1, 1, 2)]
    assert_frame_equal(made[0], made[1])
    assert not made[0].equals(made[2])


def test_a_model_does_not_depend_on_the_others():
    forest = RandomForestClassifier(n_estimators=3)
    alone = holdouts(SONAR, {"b": forest}, positive="mine", n=2)
    among = holdouts(SONAR, {"a": forest, "b": forest}, positive="mine", n=2)
    assert_frame_equal(alone, among.filter(model="b"))
    assert not among.filter(model="a")["score"].equals(among.filter(model="b")["score"])


def test_models_given_are_left_as_they_were():
    model = GaussianMixtures()
    holdouts(SONAR.select("x1", "class"), {"m": model}, positive="mine", n=1)
    assert model.random_state is None
    assert not hasattr(model, "positive_")


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=1000),
        LinearSVC(),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), SVC()),
        GaussianNB(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_scikit_learn_classifier_scores_as_it_does_itself(estimator):
    made = holdouts(SONAR, {"it": estimator}, positive="mine", n=1)
    test = made["case"].to_numpy()
    train = np.setdiff1d(np.arange(208), test)
    X, y = features(SONAR), MINES.to_numpy()
    estimator.fit(X[train], y[train])
    if hasattr(estimator, "decision_function"):
        expected = estimator.decision_function(X[test])
    else:
        expected = estimator.predict_proba(X[test])[:, 1]
    # Fitted on the same cases in another order.
    assert np.allclose(made["score"], expected, rtol=1e-3, atol=1e-3)


def test_progress_is_told_of_each_model_and_fold():
    told = []
    holdouts(
        SONAR, {"a": GaussianNB(), "b": GaussianNB()}, positive="mine", n=2,
        progress=lambda model, fold: told.append((model, fold)),
    )  # fmt: skip
    assert told == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


@pytest.mark.parametrize("k", [2, 5, 10])
def test_ratio_of_kfold_is_one_over_k_less_one(k):
    made = kfold(SONAR, NAIVE, positive="mine", k=k)
    assert ratio_of(made, cases=208) == pytest.approx(1 / (k - 1))


def test_ratio_of_holdouts_is_that_of_their_sizes():
    made = holdouts(SONAR, NAIVE, positive="mine", n=3, test_size=0.25)
    assert ratio_of(made.lazy(), cases=208) == pytest.approx(52 / 156)
    with pytest.raises(InvalidArgument, match=r"of 52 in all(.|\n)*Hint:"):
        ratio_of(made, cases=52)


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"n": 0}, InvalidArgument, "n is 0"),
        ({"test_size": 1}, InvalidArgument, "test_size is 1"),
        ({"seed": -1}, InvalidArgument, "seed is -1"),
        ({"models": {}}, InvalidArgument, "models is empty"),
        ({"models": lambda rng: {}}, InvalidArgument, "models is empty"),
        (
            {"models": {"none": StandardScaler()}},
            InvalidArgument,
            "no decision_function or predict_proba",
        ),
        ({"truth": "label"}, InvalidArgument, "no column 'label'"),
        ({"positive": None}, InvalidPredictions, "208 unclear truth labels"),
        ({"positive": "gold"}, InvalidPredictions, "0 positives and 208 negatives"),
        ({"data": SONAR.with_columns(site=pl.lit("a"))}, InvalidTable, "'site'"),
        ({"test_size": 0.001}, InvalidArgument, "208 cases cannot be split so"),
        ({"data": SONAR.select("class")}, InvalidTable, "features must be numbers"),
    ],
)
def test_what_cannot_be_split_is_refused(arguments, kind, said):
    asked = {"data": SONAR, "models": NAIVE, "positive": "mine", "n": 2} | arguments
    data, models = asked.pop("data"), asked.pop("models")
    with pytest.raises(kind, match=said) as refusal:
        holdouts(data, models, **asked)
    assert isinstance(refusal.value, PolarocError)
    assert "Hint:" in str(refusal.value)


def test_too_many_folds_are_refused():
    with pytest.raises(InvalidPredictions, match="needed are 98"):
        kfold(SONAR, NAIVE, positive="mine", k=98)


NEED_SCIKIT_LEARN = [
    "from polaroc import *; experiments.holdouts(datasets.sonar(), {}, positive='mine')",
    "from polaroc.experiments import accsens; accsens.models('sonar')",
    "from polaroc.experiments import satellite; satellite.predictions(folds=1)",
    "from polaroc.experiments import synthetic; synthetic.highleyman_predictions(10)",
    "from polaroc.cli import app; app(['experiment', 'sonar'])",
    "import polaroc; polaroc.sklearn.auprec_score([0, 1], [0, 1], prior=0.1)",
    "from polaroc.sklearn import PriorThresholdClassifier",
]
WITHOUT = """
import sys, traceback
sys.modules["sklearn"] = None
for code in CODES:
    try:
        exec(code, {})
    except (Exception, SystemExit):
        traceback.print_exc()
    print("---", file=sys.stderr)
"""


@pytest.mark.slow
def test_without_scikit_learn_the_extra_is_named(tmp_path):
    script = WITHOUT.replace("CODES", repr(NEED_SCIKIT_LEARN))
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    said = run.stderr.split("---\n")
    assert len(said) == len(NEED_SCIKIT_LEARN) + 1
    for code, error in zip(NEED_SCIKIT_LEARN, said, strict=False):
        assert "Traceback" in error, code
        assert "Hint: pip install 'polaroc[sklearn]'." in error, code
    assert list(tmp_path.iterdir()) == []


def conventions() -> list[object]:
    classifiers = [
        GaussianMixtures(1, random_state=0),
        NearestNeighbours(3),
        NearestNeighbours(1),
        NearestPrototypes(5, random_state=0),
        Parzen(),
        SigmoidOutput(LinearSVC()),
    ]
    return [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
        for classifier in classifiers
        for estimator, check in estimator_checks_generator(classifier)
        # Arrays of other libraries are not taken, nor claimed to be.
        if "array_api" not in check.func.__name__
    ]


@pytest.mark.alike(60)
@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), conventions())
def test_classifiers_keep_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_mixtures_are_bayes_rule(gaussians):
    X, y = gaussians
    made = GaussianMixtures((1, 2), random_state=3).fit(X, y)
    # One Gaussian has a closed form; the other mixture is of the same seed.
    seed = int(np.random.default_rng(3).integers(2**31))
    density = [
        GaussianMixture(1).fit(X[y == 0]).score_samples(X),
        GaussianMixture(2, random_state=seed).fit(X[y == 1]).score_samples(X),
    ]
    assert np.allclose(made.decision_function(X), density[1] - density[0] + np.log(40 / 60))


@pytest.mark.parametrize("width", [0.2, 1.5, None])
def test_parzen_is_bayes_rule_with_kernel_densities(gaussians, width):
    X, y = gaussians
    made = Parzen(width).fit(X, y)
    density = [KernelDensity(bandwidth=made.width_).fit(X[y == k]).score_samples(X) for k in (0, 1)]
    assert np.allclose(made.decision_function(X), density[1] - density[0] + np.log(40 / 60))


def test_parzen_width_is_the_likeliest_of_all_left_out(gaussians):
    X, y = gaussians

    def likelihood(width: float) -> float:
        return sum(
            KernelDensity(bandwidth=width)
            .fit(np.delete(X[y == k], i, axis=0))
            .score_samples(X[y == k][i : i + 1])[0]
            for k in (0, 1)
            for i in range((y == k).sum())
        )

    width = Parzen().fit(X, y).width_
    best = likelihood(width)
    assert all(likelihood(width * factor) < best for factor in (0.3, 0.7, 0.98, 1.02, 1.4, 3))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_neighbours_count(gaussians, k):
    X, y = gaussians
    votes = KNeighborsClassifier(k).fit(X, y).predict_proba(X)[:, 1] * k
    made = NearestNeighbours(k).fit(X, y).predict_proba(X)[:, 1]
    assert np.allclose(made, (votes + 1) / (k + 2))


def test_one_neighbour_weighs_squared_distances(gaussians):
    X, y = gaussians
    made = NearestNeighbours(1).fit(X[1:], y[1:]).predict_proba(X[:1])[0, 1]
    near = [min(((X[0] - x) ** 2).sum() for x, k in zip(X[1:], y[1:], strict=True) if k == c)
            for c in (0, 1)]  # fmt: skip
    assert made == pytest.approx(near[0] / (near[0] + near[1]))


def test_prototypes_are_training_cases_of_both_classes(gaussians):
    X, y = gaussians
    model = NearestPrototypes(2, random_state=5).fit(X, y)
    assert sorted(model.truth_) == [False, True]
    cases = {tuple(row): k for row, k in zip(X.tolist(), y, strict=True)}
    assert [cases[tuple(row)] for row in model.prototypes_.tolist()] == list(model.truth_)
    near = [np.linalg.norm(X - model.prototypes_[model.truth_ == k], axis=1) for k in (0, 1)]
    assert np.allclose(model.predict_proba(X)[:, 1], near[0] / (near[0] + near[1]))
    both = model.predict_proba(model.prototypes_)[:, 1]
    assert np.allclose(both, model.truth_)


def test_the_sigmoid_has_the_greatest_likelihood(gaussians):
    X, y = gaussians
    model = SigmoidOutput(LinearSVC()).fit(X, y)
    output = model.estimator_.decision_function(X)
    odds = model.decision_function(X)
    slope, shift = np.polyfit(output, odds, 1)
    assert np.allclose(odds, slope * output + shift)
    best = log_loss(y, model.predict_proba(X)[:, 1])
    for change in (0.9, 1.1):
        for moved in (change * slope * output + shift, slope * output + change * shift + 0.01):
            assert log_loss(y, 1 / (1 + np.exp(-moved))) > best


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sonar", "ionosphere"])
def test_the_script_makes_the_embedded_tables_again(name):
    made = accsens.predictions(name, folds=2)
    kept = getattr(pr.datasets, f"{name}_predictions")().filter(pl.col("fold") <= 2)
    assert_frame_equal(made.drop("score"), kept.drop("score"))
    together = made.with_columns(kept["score"].alias("kept"))
    alike = together.group_by("model").agg(pl.corr("score", "kept", method="spearman"))
    assert (alike["score"] > 0.999).all()


def test_phoneme_models_run_on_a_table_that_is_given():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(80, 5)), schema=[f"x{i}" for i in range(1, 6)])
    data = table.with_columns(pl.Series("class", ["nasal", "oral"] * 40))
    made = accsens.predictions("phoneme", data, folds=1)
    assert made["model"].unique().sort().to_list() == ["sc knnc1", "sc knnc3", "sc parzenc"]


@pytest.mark.slow
def test_satellite_models_depend_on_the_seed():
    one, other = (satellite.predictions(folds=1, seed=seed) for seed in (1, 2))
    assert not one.filter(model="B")["case"].equals(other.filter(model="B")["case"])


@pytest.mark.parametrize(
    ("name", "mean", "variance"),
    [("first", (1, 1), (1, 0.25)), ("second", (2, 0), (0.01, 4))],
)
def test_highleyman_classes_have_the_moments_of_the_source(name, mean, variance):
    cases = features(synthetic.highleyman(40_000, seed=3).filter(pl.col("class") == name))
    assert np.allclose(cases.mean(axis=0), mean, atol=0.04)
    assert np.allclose(np.cov(cases.T), np.diag(variance), rtol=0.05, atol=0.02)


def test_the_case_study_is_as_it_is_stated():
    table = synthetic.case_study(40_000, seed=3)
    first, second = (features(table.filter(pl.col("class") == c)) for c in ("first", "second"))
    # A 32nd of the first class lies around (−2, 5), at a distance of 5.8 from the rest.
    assert np.allclose(first.mean(axis=0), np.array([3, 2]) + np.array([-5, 3]) / 32, atol=0.03)
    near = np.hypot(*(first - [-2, 5]).T) < 2.5
    assert near.mean() == pytest.approx((1 - np.exp(-(2.5**2) / 2)) / 32, abs=0.003)
    # The mean of the arc, by integration of (sin, cos) from π/8 to 11π/8, times 5.
    lo, hi = np.pi / 8, 11 * np.pi / 8
    arc = 5 * np.array([np.cos(lo) - np.cos(hi), np.sin(hi) - np.sin(lo)]) / (hi - lo)
    assert np.allclose(second.mean(axis=0), arc, atol=0.06)
    assert (np.hypot(*second.T) ** 2).mean() == pytest.approx(25 + 2, abs=0.3)


@pytest.mark.parametrize("make", [synthetic.highleyman, synthetic.case_study])
def test_synthetic_classes_are_made_again_by_their_seed(make):
    assert make(50, 1).equals(make(50, 1))
    assert not make(50, 1).equals(make(50, 2))
    with pytest.raises(InvalidArgument, match=r"n is 0(.|\n)*Hint:"):
        make(0, 1)


def test_synthetic_models_are_tested_on_other_cases_than_they_were_trained_on():
    for made in (synthetic.highleyman_predictions(200), synthetic.case_study_predictions(200)):
        assert made.group_by("model").agg(pl.len(), pl.col("truth").sum())["truth"][0] == 200
        assert made.columns == ["model", "truth", "score"]
    assert 0.7 < synthetic.highleyman_predictions(200).filter("truth").select(
        (pl.col("score") > 0).mean()
    ).item() < 0.8  # fmt: skip


def test_published_tables_are_whole():
    assert published.proc_table_1().height == 3 * 5
    assert published.accsens_table_2().height == 11 * 4
    # AccSens of means is at most the mean AccSens, which is convex in both, but for rounding.
    table = published.accsens_table_2()
    area, sens, both = (
        table.filter(measure=name)["published"].to_numpy()
        for name in ("auc_range", "sens", "accsens")
    )
    of_means = np.hypot(1 - area, sens) / 2**0.5
    assert (of_means <= both + 0.002).all()
    assert np.allclose(of_means, both, atol=0.04)


def test_tables_are_written_where_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["accsens", str(tmp_path)])
    runs.write_tables({"one": lambda: SONAR.head(3)})
    assert_frame_equal(pl.read_parquet(tmp_path / "one.parquet"), SONAR.head(3))
