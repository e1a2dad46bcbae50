import errno
import io
import os
import re
import warnings
from functools import partial
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_document
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions, OutputRefused
from polaroc.evaluation import sums
from polaroc.evaluation.partitions import RangeFiles
from polaroc.files import memory

NAMES = {"truth": "truth", "score": "score"}
BY = ["model", "fold"]
OVER = (0.05, 0.2)
CASES, FEWEST = 240, 150
ENGINES = ["streaming", "in-memory"]


class Source:
    """A lazy frame with other rows at every reading, all of which are kept."""

    def __init__(self, make):
        self.make, self.readings, self.rng = make, [], np.random.default_rng(7)
        self.frame = self._frame(make(np.random.default_rng(0)).schema)

    def _frame(self, schema):
        def read(columns, predicate, rows, size):
            found = self.make(self.rng)
            self.readings.append(found)
            found = found if predicate is None else found.filter(predicate)
            found = found if columns is None else found.select(columns)
            yield found if rows is None else found.head(rows)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
            return register_io_source(read, schema=schema)

    @property
    def only_reading(self):
        (reading,) = self.readings
        return reading


def predictions(rng):
    """Other cases, in another order, with other scores."""
    cases = pl.DataFrame({"id": rng.permutation(CASES)[: rng.integers(FEWEST, CASES)]})
    table = (
        cases.with_columns(
            truth=pl.col("id") % 3 == 0,
            fold=pl.col("id") % 4,
            patient=pl.col("id") // 2,
            kind=pl.col("id").replace_strict({i: "abc"[i % 3] for i in range(CASES)}),
        )
        .join(pl.DataFrame({"model": ["A", "B", "C"], "better": [0.0, 0.2, 0.6]}), how="cross")
        .sample(fraction=1, shuffle=True, seed=int(rng.integers(1000)))
    )
    noise, size = rng.normal(size=table.height), table.height
    height = pl.col("noise") + pl.col("truth") * (1 + pl.col("better"))
    return table.with_columns(
        noise=pl.Series(noise),
        weight=pl.Series(rng.integers(1, 4, size)),
        **{name: pl.Series(rng.random(size)) for name in "abc"},
    ).with_columns(
        score=1 / (1 + (-height).exp()),
        gone=pl.when(pl.col("noise") < 1).then("noise"),
    )


def wide(rng):
    return predictions(rng).filter(model="A").drop("model", "score")


def curves(rng):
    return pr.curve(predictions(rng), **NAMES)


def surfaces(rng):
    return pr.surface(curves(rng), [0.1, 0.5])


def measures(rng):
    return pr.evaluate(predictions(rng), **NAMES, over=OVER, priors=[0.05, 0.1, 0.2])


def points(rng):
    return pr.operating_points(curves(rng), "cost", priors=[0.1, 0.5])


TUNING, TEST = predictions(np.random.default_rng(1)), predictions(np.random.default_rng(2))
evaluate = partial(pr.evaluate, **NAMES, over=OVER, priors=[0.1, "observed"])
draws = {"draws": 100, "measures": "auc"}


def of_curve(step, *arguments, **named):
    return lambda frame: pr.curve(frame, **NAMES).pipe(step, *arguments, **named)


def self_joined(frame):
    curve = pr.curve(frame, **NAMES)
    areas = pr.auc(curve).select(*BY, area="estimate")
    return (
        curve.join(areas, on=BY).join(pr.hull(curve), on=[*BY, "threshold"]).sort(*BY, "tp", "fp")
    )


def hull_chart(frame):
    curve = pr.curve(frame, **NAMES)
    return pr.charts.roc(curve, hull=pr.hull(curve))


def achievable_chart(frame, band=None):
    curve = pr.curve(frame, **NAMES)
    outer = pr.achievable(curve, 0.1, recall=5)
    return pr.charts.pr(pr.surface(curve, 0.1), achievable=outer, band=band)


def drift_chart(frame):
    curve = pr.curve(frame, **NAMES)
    return pr.charts.operating_drift(pr.operating_points(curve, priors=[0.1, 0.5]), curve)


OF_PREDICTIONS = {
    "charts.roc, with hull": hull_chart,
    "charts.pr, with achievable": achievable_chart,
    "charts.pr, with means and achievable": partial(achievable_chart, band="fold"),
    "charts.operating_drift, with curves": drift_chart,
    "curve": partial(pr.curve, **NAMES),
    "curve, without keys": partial(pr.curve, **NAMES),
    "evaluate": evaluate,
    "evaluate, without keys": partial(evaluate, by=()),
    "evaluate, weighted": partial(evaluate, weight="weight"),
    "evaluate, hull": partial(evaluate, interpolation="hull"),
    "evaluate, dropping": partial(evaluate, score="gone", nulls="drop"),
    "evaluate, intervals": partial(evaluate, intervals=True),
    "evaluate, intervals, weighted": partial(evaluate, intervals=True, weight="weight"),
    "evaluate, memory": partial(evaluate, memory="1GB"),
    "evaluate, memory, dropping": partial(evaluate, memory="1GB", score="gone", nulls="drop"),
    "evaluate, parts": partial(evaluate, memory=100 * 24),
    "evaluate, parts, weighted": partial(evaluate, memory=100 * 84, weight="weight"),
    "evaluate, parts, hull": partial(evaluate, memory=100 * 104, interpolation="hull"),
    "auc": of_curve(pr.auc),
    "auprec": of_curve(pr.auprec, [0.1, "observed"]),
    "auprec, hull": of_curve(pr.auprec, 0.1, interpolation="hull"),
    "iauprec": of_curve(pr.iauprec, OVER),
    "sens": of_curve(pr.sens, OVER),
    "accsens": of_curve(pr.accsens, OVER),
    "hull": of_curve(pr.hull),
    "achievable": of_curve(pr.achievable, 0.1, recall=5),
    "surface": of_curve(pr.surface, ["observed", 0.1]),
    "dominance": of_curve(pr.dominance),
    "mean_curve": of_curve(pr.mean_curve, n=11),
    "mean_curve of a surface": lambda frame: of_curve(pr.surface, 0.1)(frame).pipe(
        pr.mean_curve, n=11
    ),
    "operating_points": of_curve(pr.operating_points, "cost", priors=[0.1, 0.5]),
    "cost_curve": of_curve(pr.cost_curve, 5),
    "decision_curve": of_curve(pr.decision_curve, 5),
    "curve joined with what is made of it": self_joined,
    "check": lambda frame: pr.check(frame, truth="truth", score="score", case="id"),
    "estimate_prior, reference": lambda frame: pr.estimate_prior(
        frame, TEST, **NAMES, method="confusion"
    ),
    "estimate_prior, deployed": lambda frame: pr.estimate_prior(
        TUNING, frame, **NAMES, method="confusion"
    ),
    "apply_thresholds": lambda frame: pr.apply_thresholds(
        frame, points(np.random.default_rng(1)), **NAMES
    ),
    "compare, trained": lambda frame: (
        pr.compare(frame.drop("fold"), "auc", target="trained", case="id", **NAMES).pairs
    ),
    "one_vs_rest": lambda frame: pr.one_vs_rest(frame, truth="kind", scores=["a", "b", "c"]).pipe(
        pr.evaluate
    ),
}
MODELS = {"truth": "truth", "score": ["a", "b", "c"]}
OF_WIDE = {
    "curve": partial(pr.curve, **MODELS),
    "evaluate": partial(pr.evaluate, **MODELS, over=OVER),
    "evaluate, dropping": partial(
        pr.evaluate, truth="truth", score=["a", "gone"], weight="weight", nulls="drop"
    ),
    "evaluate, intervals": partial(pr.evaluate, **MODELS, intervals=True),
    "evaluate, parts": partial(pr.evaluate, **MODELS, memory=100 * 24),
    "check": lambda frame: pr.check(frame, **MODELS, case="id"),
    "estimate_prior": lambda frame: pr.estimate_prior(
        frame, wide(np.random.default_rng(2)), **MODELS, method="confusion"
    ),
    "apply_thresholds": lambda frame: pr.apply_thresholds(
        frame, points(np.random.default_rng(1)), **MODELS
    ),
    "compare, rows are cases": lambda frame: (
        pr.compare(frame.drop("id", "fold", "patient"), "auc", **MODELS).pairs
    ),
    "compare, trained": lambda frame: (
        pr.compare(frame.drop("fold"), "auc", target="trained", case="id", **MODELS).pairs
    ),
}
OF_CURVES = {
    "auc": pr.auc,
    "hull": pr.hull,
    "surface": partial(pr.surface, priors=0.1),
    "dominance": pr.dominance,
    "achievable": partial(pr.achievable, priors=0.1, recall=5),
    "operating_points": pr.operating_points,
    "charts.roc": pr.charts.roc,
    "charts.roc, band": partial(pr.charts.roc, band="fold"),
    "charts.explorer": pr.charts.explorer,
}
OF_SURFACES = {
    "mean_curve of a surface": partial(pr.mean_curve, n=11),
    "charts.pr": pr.charts.pr,
    "charts.pr, band": partial(pr.charts.pr, band="fold"),
}
OF_MEASURES = {
    "compare": lambda table: pr.compare(table, "iauprec", test_train_ratio=0.25).pairs,
    "choose": lambda table: pr.choose(table, over=OVER).models,
    "anova": lambda table: pr.anova(table, "auc", factors=["model", "fold"]).table,
    "charts.auprec_by_prior": pr.charts.auprec_by_prior,
    "charts.accsens_plane": pr.charts.accsens_plane,
}
OF_POINTS = {
    "apply_thresholds": lambda found: pr.apply_thresholds(TEST, found, **NAMES),
    "apply_thresholds, lazily": lambda found: pr.apply_thresholds(TEST.lazy(), found, **NAMES),
    "charts.operating_drift": pr.charts.operating_drift,
}
OF_PRIORS = {
    "evaluate": lambda priors: pr.evaluate(TEST, **NAMES, priors=priors),
}
STEPS = [
    pytest.param(make, step, id=f"{of}: {name}")
    for of, make, steps in (
        ("predictions", predictions, OF_PREDICTIONS),
        ("wide", wide, OF_WIDE),
        ("curve", curves, OF_CURVES),
        ("surface", surfaces, OF_SURFACES),
        ("measures", measures, OF_MEASURES),
        ("points", points, OF_POINTS),
        ("priors", lambda rng: pr.prior_grid(0.1, 0.5, int(rng.integers(2, 9))), OF_PRIORS),
    )
    for name, step in steps.items()
]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(sums, "BASE", 0)


def shown(result):
    if isinstance(result, pl.LazyFrame | pl.DataFrame):
        return result.lazy().collect()
    return result.to_dict()


def with_engines(cases):
    """The cases with each engine where CI asks for all, else with one and the other in turn."""
    every = bool(os.environ.get("POLAROC_ALL_ENGINES"))
    return [
        pytest.param(*case.values, engine, id=f"{case.id}-{engine}")
        for i, case in enumerate(cases)
        for j, engine in enumerate(ENGINES)
        if every or i % 2 == j
    ]


@pytest.mark.alike(11)
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("make", "step", "engine"), with_engines(STEPS))
def test_a_source_is_read_once_and_the_result_is_of_that_reading(make, step, engine):
    source = Source(make)
    with pl.Config() as options:
        options.set_engine_affinity(engine)
        found = shown(step(source.frame))
    expected = shown(step(source.only_reading))
    if isinstance(found, pl.DataFrame):
        assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-13)
    else:
        assert_same_document(found, expected)


def test_a_report_is_of_one_reading(tmp_path, monkeypatch):
    evidence = []
    page = import_module("polaroc.reports.report")
    monkeypatch.setattr(page, "page", lambda found, *_, **__: evidence.append(found) or "")
    source, asked = Source(predictions), {**NAMES, "over": OVER, "test_train_ratio": 0.25}
    pr.report(source.frame, **asked, path=tmp_path / "one.html")
    pr.report(source.only_reading, **asked, path=tmp_path / "two.html")
    one, two = ([found.measures, found.audit, found.thresholds.points] for found in evidence)
    for found, expected in zip(one, two, strict=True):
        assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-13)


# --- sources that Polars itself reads differently each time -------------------------------------

ROWS = 4000
CASE = pl.int_range(ROWS, dtype=pl.Int64)
PERFECT = pl.select(
    case=CASE // 2, model=(CASE // 2 % 3).cast(pl.String), truth=CASE % 7 == 0, tie=CASE % 5
).with_columns(
    # Rows of one case may be of either class: which of them is read changes the totals.
    score=pl.col("truth").cast(pl.Float64) + pl.col("case") / ROWS
)
SHUFFLED = {
    "unique": lambda frame: frame.unique("case"),
    "sort, head": lambda frame: frame.sort("tie").head(ROWS // 2),
    "top_k": lambda frame: frame.top_k(ROWS // 2, by="tie"),
    "group_by, first": lambda frame: frame.group_by("case").agg(pl.all().first()).head(ROWS // 3),
    "join, head": lambda frame: frame.join(frame.select("case").unique(), on="case").head(
        ROWS // 2
    ),
    "filter": lambda frame: frame.filter(pl.int_range(pl.len()).shuffle() < ROWS // 2),
}
AREAS = {
    "evaluate": partial(pr.evaluate, **NAMES),
    "evaluate, by": partial(pr.evaluate, **NAMES),
    "evaluate, hull": partial(pr.evaluate, **NAMES, interpolation="hull"),
    "evaluate, weighted": lambda frame: pr.evaluate(
        frame.with_columns(weight=0.5), **NAMES, weight="weight"
    ),
    "evaluate, intervals": partial(pr.evaluate, **NAMES, intervals=True),
    "evaluate, dropping": lambda frame: pr.evaluate(
        frame.with_columns(score=pl.when(pl.col("tie") > 0).then("score")), **NAMES, nulls="drop"
    ),
    "evaluate, memory": partial(pr.evaluate, **NAMES, memory="1GB"),
    "evaluate, parts": partial(pr.evaluate, **NAMES, memory=500 * 24),
    "curve, auc": lambda frame: pr.curve(frame, **NAMES).pipe(pr.auc),
    "curve, auprec": lambda frame: pr.curve(frame, **NAMES).pipe(pr.auprec, 0.1),
}


PLANS = [
    pytest.param(shuffled, measured, id=f"{name}-{area}")
    for turn, (area, measured) in enumerate(AREAS.items())
    # Begun in turn with the first and the last: every area is read by both engines.
    for name, shuffled in list(SHUFFLED.items())[:: -1 if turn % 2 else 1]
]


@pytest.mark.alike(8)
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("shuffled", "measured", "engine"), with_engines(PLANS))
def test_perfect_scores_are_perfect_whichever_rows_are_read(shuffled, measured, engine, tmp_path):
    PERFECT.write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    plan = measured(shuffled(pl.scan_parquet(tmp_path / "rows.parquet")))
    for _ in range(3):
        found = plan.collect(engine=engine)
        assert found["estimate"].to_list() == pytest.approx([1.0] * found.height, abs=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("area", ["evaluate, by", "evaluate, intervals", "curve, auc"])
def test_a_plan_sent_elsewhere_reads_its_source_once(area, engine, tmp_path):
    PERFECT.write_parquet(tmp_path / "rows.parquet")
    source = SHUFFLED["filter"](pl.scan_parquet(tmp_path / "rows.parquet"))
    plan = AREAS[area](source)
    sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    found = pl.concat([sent, sent]).collect(engine=engine)
    assert found["estimate"].to_list() == pytest.approx([1.0] * found.height, abs=1e-13)
    halves = found.head(found.height // 2), found.tail(found.height // 2)
    assert_frame_equal(*halves)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("small_room", [False, True])
def test_measures_joined_with_themselves_are_of_one_reading(engine, small_room, small):
    source = Source(predictions)
    measures = evaluate(source.frame, memory=100 * 88 if small_room else None)
    areas = measures.filter(pl.col("measure") == "auc").select(*BY, auc="estimate")
    found = measures.join(areas, on=BY).filter(measure="auc").collect(engine=engine).sort(BY)
    assert found["auc"].equals(found["estimate"])
    expected = pr.evaluate(source.only_reading, **NAMES, measures="auc")
    assert_frame_equal(found.select(expected.columns), expected, rel_tol=1e-12)


# --- rows in trouble ----------------------------------------------------------------------------

REFUSING = {
    "estimate_prior": lambda frame: pr.estimate_prior(frame, TEST, truth="truth", score="gone"),
    "compare": lambda frame: pr.compare(
        frame, "auc", truth="truth", score="gone", fold=None, case="id"
    ),
    "report": lambda frame: pr.report(
        frame, truth="truth", score="gone", over=OVER, path="page.html"
    ),
}


@pytest.mark.parametrize("refusing", REFUSING.values(), ids=REFUSING)
def test_what_is_refused_is_told_of_one_reading(refusing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Source(predictions)
    with pytest.raises(InvalidPredictions) as caught:
        refusing(source.frame)
    count = source.only_reading["gone"].null_count()
    assert re.search(rf"\b{count} null scores( in|\.)", str(caught.value))


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_notes_are_of_the_reading_that_is_measured(memory):
    source = Source(predictions)
    found = pr.evaluate(
        source.frame, truth="truth", score="gone", model=None, fold=None, memory=memory,
        measures="auc", nulls="drop",
    ).collect()  # fmt: skip
    count = source.only_reading["gone"].null_count()
    assert found["note"].to_list() == [f"dropped {count} null scores"]


# --- rows on disk -------------------------------------------------------------------------------


@pytest.mark.long
def test_what_was_read_onto_disk_is_removed(small, temporary_files):
    seen = []

    def progress(done, rows):
        seen.append(len(list(temporary_files.iterdir())))

    frame = Source(predictions).frame
    evaluate(frame, memory=100 * 24, progress=progress).collect()
    assert set(seen) == {1}
    assert list(temporary_files.iterdir()) == []


def test_rows_that_fit_in_memory_need_no_disk(temporary_files, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", None)
    evaluate(Source(predictions).frame, memory="1GB").collect()


@pytest.mark.parametrize("error", [OSError, pl.exceptions.ComputeError])
def test_a_disk_that_fills_up_is_told(small, temporary_files, monkeypatch, error):
    def full(*arguments, **named):
        raise error(os.strerror(errno.ENOSPC))

    monkeypatch.setattr(RangeFiles, "write", full)
    with pytest.raises(OutputRefused, match=r"(?s)is full.*Hint: .*larger disk"):
        evaluate(TEST.lazy(), memory=100 * 24).collect()
    assert list(temporary_files.iterdir()) == []


def test_other_errors_of_the_source_are_passed_on(temporary_files):
    wrong = TEST.lazy().with_columns(score=pl.col("kind").cast(pl.Float64))
    with pytest.raises(pl.exceptions.InvalidOperationError):
        evaluate(wrong, memory="1GB").collect()
    assert list(temporary_files.iterdir()) == []
