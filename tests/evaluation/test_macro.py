import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "macro.py"))
DATA = Path(__file__).parents[1] / "reference" / "data"
CASES = pl.read_csv(DATA / "yardstick_hpc_cv.csv")
CLASSES = ["VF", "F", "M", "L"]
NAMES = {"truth": "truth", "score": "score"}
LIMITS = ["lower", "upper", "std_error"]
WITH_LIMITS = ["estimate", *LIMITS]
AT = {"measures": ["auc", "auprec", "brier"], "priors": [0.1, 0.3]}


def measures(weight: str | None = None, **by) -> pl.DataFrame:
    weights = {"weight": weight} if weight else {}
    long = pr.one_vs_rest(CASES, truth="obs", scores=CLASSES, **by, **weights).table
    keys = [*by.get("by", []), "class"]
    return pr.evaluate(
        long, **NAMES, by=keys, fold=None, priors="observed", interpolation="step", **weights
    )


# yardstick's multiclass cases, computed there with scikit-learn (see reference/cases.jsonl).
@pytest.mark.parametrize(
    ("measure", "weighted", "weight", "expected"),
    [
        ("auc", True, None, 0.8683178673528015),
        ("auprec", False, None, 0.6235660786074309),
        ("auprec", True, None, 0.738895737174229),
        ("auprec", True, "weight", 0.7315239700945376),
    ],
)
def test_averages_are_those_of_yardstick(measure, weighted, weight, expected):
    found = pr.macro(measures(weight), weighted=weighted).filter(measure=measure)
    assert found["estimate"].item() == pytest.approx(expected, abs=1e-9)


def test_macro_keeps_the_other_keys():
    found = pr.macro(measures(by=["Resample"]))
    assert found.columns == [
        "Resample",
        "measure",
        "prior",
        "estimate",
        "positives",
        "negatives",
        "note",
    ]
    assert found.height == 20
    assert found.filter(measure="auprec")["prior"].null_count() == 10


def test_a_class_that_is_absent_is_said():
    table = CASES.filter(pl.col("obs") != "L")
    found = pr.macro(pr.evaluate(
        pr.one_vs_rest(table, truth="obs", scores=CLASSES), measures="auc"
    ))  # fmt: skip
    assert found.select("estimate", "note").row(0) == (None, "null for 1 of 4 class")


def test_macro_needs_the_class():
    long = pr.one_vs_rest(CASES, truth="obs", scores=CLASSES).table
    with pytest.raises(InvalidArgument, match="Hint:"):
        pr.macro(pr.evaluate(long, **NAMES, measures="auc"))


def flowers(size=90, seed=1, **roles):
    """Cases of three classes, with scores between 0 and 1."""
    table = SCRIPT["drawn"](np.random.default_rng(seed), size, (0.3, 0.3, 0.4), (1.5, 0.0))
    table = table.with_columns(pl.col("a", "b", "c").exp())
    table = table.with_columns(pl.col("a", "b", "c") / pl.sum_horizontal("a", "b", "c"))
    return pr.cases(table.with_columns(part=pl.col("case") % 2), truth="kind", **roles)


def by_class(cases):
    return cases.pipe(pr.one_vs_rest, scores=["a", "b", "c"])


def test_limits_are_beside_the_means_of_measures():
    cases = by_class(flowers(by="part"))
    found = cases.pipe(pr.macro, over=(0.1, 0.3), **AT)
    means = pr.macro(cases.pipe(pr.evaluate, over=(0.1, 0.3), **AT))
    assert_frame_equal(found.select(means.columns), means)
    assert found.columns == [
        "part", "measure", "prior", "estimate", "lower", "upper", "level", "std_error",
        "positives", "negatives", "note", *(["over"] if "over" in means.columns else []),
    ]  # fmt: skip
    assert (found["lower"] < found["estimate"]).all()
    assert (found["estimate"] < found["upper"]).all()
    lazy = pr.cases(cases.table.lazy(), **NAMES, by=["part", "class"])
    plan = pr.macro(lazy, over=(0.1, 0.3), **AT)
    assert plan.collect_schema() == found.schema
    assert_frame_equal(plan.collect(), found)
    wider = cases.pipe(pr.macro, over=(0.1, 0.3), level=0.99, **AT)
    assert (wider["lower"] < found["lower"]).all()


@pytest.mark.parametrize(
    "roles", [{}, {"cluster": "patient"}, {"weight": "weight"}, {"count": "w"}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_one_problem(roles, weighted):
    table = (
        flowers()
        .table.filter(pl.col("kind") != "c")
        .with_columns(b=1 - pl.col("a"), patient=pl.col("case") // 3, w=1 + pl.col("case") % 3)
    )
    cases = pr.cases(table, truth="kind", **roles).pipe(pr.one_vs_rest, scores=["a", "b"])
    # Either area is the chance that a case of the first class outranks one of the second.
    (own, other, mean) = (
        one.select(WITH_LIMITS).row(0)
        for one in (
            *cases.pipe(pr.evaluate, measures="auc", intervals="logit").partition_by("class"),
            cases.pipe(pr.macro, measures="auc", weighted=weighted),
        )
    )
    assert own == pytest.approx(other, rel=1e-9)
    assert mean == pytest.approx(own, rel=1e-9)


def test_many_priors_are_those_of_few():
    cases = by_class(flowers())
    priors = [i / 80 for i in range(1, 80)]
    many = cases.pipe(pr.macro, measures="auprec", priors=priors)
    for prior in priors[::26]:
        (few,) = cases.pipe(pr.macro, measures="auprec", priors=prior).select(WITH_LIMITS).rows()
        own = many.filter((pl.col("prior") - prior).abs() < 1e-9).select(WITH_LIMITS).row(0)
        assert own == pytest.approx(few, rel=1e-6)


def test_counts_are_repeated_cases():
    counted = flowers().table.drop("patient").with_columns(times=1 + pl.col("case") % 3)
    written = counted.select(pl.all().repeat_by("times").explode()).drop("case")
    found, expected = (
        by_class(pr.cases(table, truth="kind", **roles)).pipe(pr.macro, **AT)
        for table, roles in ((counted, {"count": "times"}), (written, {}))
    )
    assert_frame_equal(found, expected, rel_tol=1e-9, check_dtypes=False)


def test_copies_of_a_case_are_no_more_cases():
    cases = flowers(cluster="case")
    copies = pl.concat([cases.table] * 3)
    once, thrice = (
        by_class(one).pipe(pr.macro, measures="auc")
        for one in (cases, pr.cases(copies, truth="kind", cluster="case", case=None))
    )
    assert_frame_equal(thrice.select("estimate", "std_error"), once.select("estimate", "std_error"),
                       rel_tol=1e-9)  # fmt: skip


def areas(truth, scores, weights):
    """The AUC of each class by pairs, with counts of cases."""
    found = []
    for kind, score in zip(np.unique(truth), scores.T, strict=True):
        own = truth == kind
        above = (score[own][:, None] > score[~own]) + 0.5 * (score[own][:, None] == score[~own])
        sizes = weights[own][:, None] * weights[~own]
        found.append((above * sizes).sum() / sizes.sum())
    return np.mean(found)


def test_standard_errors_are_those_of_the_bootstrap():
    cases = flowers(300, seed=4)
    truth, scores = cases.table["kind"].to_numpy(), cases.table.select("a", "b", "c").to_numpy()
    rng = np.random.default_rng(2)
    draws = [
        areas(truth, scores, np.bincount(rng.integers(300, size=300), minlength=300))
        for _ in range(800)
    ]
    found = by_class(cases).pipe(pr.macro, measures="auc")
    assert found["estimate"].item() == pytest.approx(areas(truth, scores, np.ones(300)), abs=1e-12)
    # The standard error of that of 800 draws is 2.5 %.
    assert found["std_error"].item() == pytest.approx(np.std(draws), rel=0.08)
    # As if the classes had cases of their own, and as if all errors were the same.
    apart = by_class(cases).pipe(pr.evaluate, measures="auc", intervals="logit")["std_error"]
    assert not 0.92 < (apart**2).sum() ** 0.5 / 3 / np.std(draws) < 1.08
    assert not 0.92 < apart.mean() / np.std(draws) < 1.08


@pytest.mark.parametrize("kind", ["single", "patients"])
def test_limits_hold_the_mean(kind):
    rng = np.random.default_rng(5)
    found = SCRIPT["held"](rng, 120, 150, (0.2, 0.3, 0.5), (1.0, 0.0), kind)
    for share, _, known in found.values():
        # Of a class in fewer than five patients there are none.
        assert known >= (0.95 if kind == "patients" else 1)
        # Two standard errors of 120 samples below .93.
        assert share >= 0.89


def test_where_nothing_is_known_the_reason_is_said():
    unnamed = by_class(flowers(case=None)).pipe(pr.macro, measures="auc")
    assert unnamed.select(LIMITS).row(0) == (None,) * 3
    assert (
        unnamed["estimate"].item()
        == by_class(flowers()).pipe(pr.macro, measures="auc")["estimate"].item()
    )
    assert "same case" in unnamed["note"].item()
    folds = pr.datasets.sonar_predictions()
    means = pr.macro(folds, "fold", **NAMES, measures="auc")
    assert means.select(LIMITS).null_count().row(0) == (4,) * 3
    assert means["note"].str.contains("folds share training cases").all()
    one = flowers().table.filter((pl.col("kind") != "c") | (pl.col("case") == pl.col("case").filter(
        pl.col("kind") == "c").first()))  # fmt: skip
    lone = by_class(pr.cases(one, truth="kind")).pipe(pr.macro, measures="auc")
    assert lone.select(LIMITS).row(0) == (None,) * 3
    assert lone["note"].item() == "a class has no interval"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pr.macro(measures(), level=0.9), "level is for predictions"),
        (lambda: pr.macro(measures(), priors=0.1), "priors is for predictions"),
        (lambda: by_class(flowers()).pipe(pr.macro, "kind"), "the keys 'class'"),
        (lambda: by_class(flowers()).pipe(pr.macro, interpolation="hull"), "hull"),
    ],
)
def test_what_has_no_use_is_refused(call, words):
    with pytest.raises(InvalidArgument, match=rf"(?s){words}.*Hint: "):
        call()


def test_classes_whose_errors_are_not_known_together_have_no_limits():
    cases = flowers(200, seed=3)
    probable = cases.table.with_columns(pl.col("a", "b", "c").rank() / (cases.table.height + 1))
    given = pr.cases(probable, truth="kind", case="case")
    asked = {"measures": ["auc", "refinement_loss"], "priors": 0.3}
    each = by_class(given).pipe(pr.evaluate, **asked, intervals="logit")
    assert each["lower"].is_not_null().all()
    found = by_class(given).pipe(pr.macro, **asked)
    assert found["lower"].is_null().to_list() == [False, True]
    assert found["note"].to_list() == [None, "a class has no interval"]


@pytest.mark.parametrize("by", [["class"], ["site", "class"]], ids=len)
def test_no_cases_have_no_averages(by):
    table = pl.DataFrame({"truth": [True, False], "score": [0.8, 0.3], "case": [1, 2],
                          "class": ["a", "a"], "site": ["x", "x"]})  # fmt: skip
    full, empty = (
        pr.macro(pr.cases(rows, **NAMES, case="case", by=by), measures="auc")
        for rows in (table, table.clear())
    )
    assert empty.schema == full.schema
    assert empty.is_empty()
