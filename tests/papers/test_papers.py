import numpy as np
import polars as pl
import pytest
from papers import accsens, published, satellite, synthetic
from papers.classifiers import (
    GaussianMixtures,
    NearestNeighbours,
    NearestPrototypes,
    Parzen,
    SigmoidOutput,
)
from papers.elena import phoneme
from papers.holdouts import holdouts
from polars.testing import assert_frame_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.svm import LinearSVC

import polaroc as pr

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
    made = holdouts(SONAR, NAIVE, positive="mine", n=3, seed=0)
    assert made.schema == pr.datasets.satellite_predictions().schema
    assert_frame_equal(made, made.sort("model", "fold", "case"))
    assert (MINES.gather(made["case"]) == made["truth"]).all()


def test_holdouts_are_stratified_and_the_same_for_every_model():
    models = {"naive": GaussianNB(), "knn": KNeighborsClassifier()}
    made = holdouts(SONAR, models, positive="mine", n=4, seed=0)
    sizes = made.group_by("model", "fold").agg(pl.len(), pl.col("truth").sum())
    # A fifth of 208 cases and of 111 mines.
    assert sizes["len"].unique().to_list() == [42]
    assert (sizes["truth"] - 111 / 5).abs().max() < 1
    one, other = (made.filter(model=name).drop("model", "score") for name in models)
    assert_frame_equal(one, other)
    assert made.filter(model="naive", fold=1)["case"].to_list() != (
        made.filter(model="naive", fold=2)["case"].to_list()
    )


def test_a_model_does_not_depend_on_the_others():
    forest = RandomForestClassifier(n_estimators=3)
    alone = holdouts(SONAR, {"b": forest}, positive="mine", n=2, seed=0)
    among = holdouts(SONAR, {"a": forest, "b": forest}, positive="mine", n=2, seed=0)
    assert_frame_equal(alone, among.filter(model="b"))
    assert not among.filter(model="a")["score"].equals(among.filter(model="b")["score"])


def test_models_given_are_left_as_they_were():
    model = GaussianMixtures()
    holdouts(SONAR.select("x1", "class"), {"m": model}, positive="mine", n=1, seed=0)
    assert model.random_state is None
    assert not hasattr(model, "positive_")


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
    ("name", "mean", "variance"), [("first", (1, 1), (1, 0.25)), ("second", (2, 0), (0.01, 4))]
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


ROWS = [
    (f"{i % 7 / 7:.3f}", "-0.205", "1.24e0", str(i), "0", code)
    for code, count in (("0", 3818), ("1", 1586))
    for i in range(count)
]
KEEL = "@relation phoneme\n@attribute Aa real [-1.7, 4.107]\n@attribute Class {0, 1}\n@data\n"
ARFF = "% nasal and oral\n@RELATION phoneme\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE Class {1,2}\n@DATA\n"


def lines(separator: str, rename: dict[str, str] | None = None) -> str:
    return "\n".join(
        separator.join([*row[:-1], (rename or {}).get(row[-1], row[-1])]) for row in ROWS
    )


@pytest.mark.parametrize(
    "text",
    [
        lines(" "),
        "\n".join("  " + line for line in lines("   ").splitlines()) + "\n\n",
        KEEL + lines(", "),
        ARFF + lines(",", {"0": "1", "1": "2"}),
        "V1,V2,V3,V4,V5,Class\n" + lines(",", {"0": "1", "1": "2"}),
        '"V1","V2","V3","V4","V5","Class"\n' + lines(",", {"0": '"1"', "1": '"2"'}),
        lines(","),
        (KEEL + lines(", ")).replace("\n", "\r\n"),
        "\ufeff" + lines(","),
    ],
    ids=[
        "elena",
        "elena indented",
        "keel",
        "arff",
        "csv",
        "csv quoted",
        "csv bare",
        "windows",
        "byte order mark",
    ],
)
def test_phoneme_is_read_from_every_format(tmp_path, text):
    file = tmp_path / "phoneme"
    file.write_bytes(text.encode())
    table = phoneme(file)
    assert table.columns == ["x1", "x2", "x3", "x4", "x5", "class"]
    assert table.row(1) == (0.143, -0.205, 1.24, 1.0, 0.0, "nasal")
    assert dict(table["class"].value_counts().iter_rows()) == {"nasal": 3818, "oral": 1586}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not rows of 5 numbers"),
        (b"\xff\xfe\x00", "is not text"),
        (lines(",").replace("-0.205", "?", 1).encode(), "not rows of 5 numbers"),
        (lines(",").replace("-0.205", "nan", 1).encode(), "not rows of 5 numbers"),
        ("\n".join(lines(",").splitlines()[1:]).encode(), "5403 rows with the labels '0' 3817"),
        (lines(",", {"1": "0"}).encode(), "labels '0' 5404"),
        (b"1,2,3\n4,5,6\n", "not rows of 5 numbers"),
    ],
)
def test_what_is_not_phoneme_is_refused(tmp_path, content, said):
    file = tmp_path / "phoneme.dat"
    file.write_bytes(content)
    with pytest.raises(pr.errors.InvalidTable, match=rf"{said}(.|\n)*Hint: give the ELENA"):
        phoneme(file)


def test_a_missing_phoneme_file_is_refused(tmp_path):
    with pytest.raises(pr.errors.InvalidTable, match="cannot be read"):
        phoneme(tmp_path / "none.dat")
