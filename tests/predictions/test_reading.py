"""A lazy table is read once, so that all parts of a result are of the same rows."""

import io
import re
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_document, assert_same_numbers
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
KEYS = ["model", "fold"]
OVER = (0.05, 0.2)
CASES, FEWEST = 240, 150


class Source:
    """A lazy frame with other rows at every reading, all of which are kept."""

    def __init__(self, make):
        self.readings, rng = [], np.random.default_rng(7)

        def read(columns, predicate, rows, size):
            table = make(rng)
            self.readings.append(table)
            table = table if predicate is None else table.filter(predicate)
            table = table if columns is None else table.select(columns)
            yield table if rows is None else table.head(rows)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
            self.frame = register_io_source(read, schema=make(np.random.default_rng(0)).schema)

    @property
    def only_reading(self):
        (reading,) = self.readings
        return reading


def predictions(rng):
    """Other cases, in another order, with other scores."""
    cases = pl.DataFrame({"case": rng.permutation(CASES)[: rng.integers(FEWEST, CASES)]})
    table = (
        cases.with_columns(
            truth=pl.col("case") % 3 == 0,
            fold=pl.col("case") % 4,
            kind=pl.col("case").replace_strict({i: "abc"[i % 3] for i in range(CASES)}),
        )
        .join(pl.DataFrame({"model": ["A", "B"], "better": [0.0, 0.6]}), how="cross")
        .sample(fraction=1, shuffle=True, seed=int(rng.integers(1000)))
    )
    noise = pl.Series(rng.normal(size=table.height))
    height = noise + pl.col("truth") * (1 + pl.col("better"))
    return table.with_columns(
        **{name: pl.Series(rng.random(table.height)) for name in "abc"},
        weight=pl.Series(rng.integers(1, 4, table.height)),
        score=1 / (1 + (-height).exp()),
        gone=pl.when(noise < 1).then(noise),
    )


def wide(rng):
    return predictions(rng).filter(model="A").drop("model", "score")


def curves(rng):
    return pr.curve(predictions(rng), **NAMES)


def measures(rng):
    return pr.evaluate(predictions(rng), **NAMES, over=OVER, priors=[0.05, 0.1, 0.2])


def points(rng):
    return pr.operating_points(curves(rng), "cost", priors=[0.1, 0.5])


TUNING, TEST = predictions(np.random.default_rng(1)), predictions(np.random.default_rng(2))
evaluate = partial(pr.evaluate, **NAMES, over=OVER, priors=[0.1, "observed"])


def of_curve(step, *arguments, **options):
    return lambda frame: pr.curve(frame, **NAMES).pipe(step, *arguments, **options)


def joined_with_itself(frame):
    curve = pr.curve(frame, **NAMES)
    areas = pr.auc(curve).select(*KEYS, area="estimate")
    return curve.join(areas, on=KEYS).join(pr.hull(curve), on=[*KEYS, "threshold"])


def chart_with_hull(frame):
    curve = pr.curve(frame, **NAMES)
    return pr.charts.roc(curve, hull=pr.hull(curve))


STEPS = {
    "chart": (predictions, chart_with_hull),
    "curve": (predictions, partial(pr.curve, **NAMES)),
    "joined": (predictions, joined_with_itself),
    "evaluate": (predictions, evaluate),
    "evaluate, weighted": (predictions, partial(evaluate, weight="weight")),
    "evaluate, hull": (predictions, partial(evaluate, interpolation="hull")),
    "evaluate, intervals": (predictions, partial(evaluate, intervals=True)),
    "evaluate, memory": (predictions, partial(evaluate, memory="1GB", score="gone", nulls="drop")),
    "evaluate, wide": (
        wide,
        partial(pr.evaluate, truth="truth", score=["a", "gone"], weight="weight", nulls="drop"),
    ),
    "sens": (predictions, of_curve(pr.sens, OVER)),
    "achievable": (predictions, of_curve(pr.achievable, 0.1, recall=5)),
    "dominance": (predictions, of_curve(pr.dominance)),
    "mean_curve": (predictions, of_curve(pr.mean_curve, n=11)),
    "operating_points": (predictions, of_curve(pr.operating_points, "cost", priors=[0.1, 0.5])),
    "check": (predictions, partial(pr.check, **NAMES)),
    "check, wide": (wide, partial(pr.check, truth="truth", score=["a", "b"])),
    "estimate_prior": (
        predictions,
        lambda frame: pr.estimate_prior(frame, TEST, **NAMES, method="confusion"),
    ),
    "estimate_prior, deployed": (
        predictions,
        lambda frame: pr.estimate_prior(TUNING, frame, **NAMES, method="confusion"),
    ),
    "apply_thresholds": (
        predictions,
        lambda frame: pr.apply_thresholds(frame, points(np.random.default_rng(1)), **NAMES),
    ),
    "apply_thresholds, points": (points, partial(pr.apply_thresholds, TEST, **NAMES)),
    "compare": (
        predictions,
        lambda frame: pr.compare(frame, "auc", target="trained", fold=None, **NAMES).pairs,
    ),
    "compare, wide": (
        lambda rng: wide(rng).drop("case", "fold"),
        lambda frame: pr.compare(frame, "auc", truth="truth", score=["a", "b"]).pairs,
    ),
    "compare, measures": (
        measures,
        lambda table: pr.compare(table, "iauprec", test_train_ratio=0.25).pairs,
    ),
    "choose, measures": (measures, lambda table: pr.choose(table, over=OVER).models),
    "one_vs_rest": (
        predictions,
        lambda frame: pr.one_vs_rest(frame, truth="kind", scores=["a", "b", "c"]).pipe(pr.evaluate),
    ),
    "priors": (
        lambda rng: pr.prior_grid(0.1, 0.5, int(rng.integers(2, 9))),
        lambda priors: pr.evaluate(TEST, **NAMES, priors=priors),
    ),
}


def shown(result):
    is_table = isinstance(result, pl.LazyFrame | pl.DataFrame)
    return result.lazy().collect().sort(pl.all()) if is_table else result.to_dict()


@pytest.mark.parametrize("name", STEPS)
def test_a_source_is_read_once_and_the_result_is_of_that_reading(name):
    make, step = STEPS[name]
    # Each engine shares common parts of a plan in its own way.
    for engine in ("streaming", "in-memory"):
        source = Source(make)
        with pl.Config() as options:
            options.set_engine_affinity(engine)
            result = shown(step(source.frame))
        expected = shown(step(source.only_reading))
        if isinstance(result, pl.DataFrame):
            assert_same_numbers(result, expected)
        else:
            assert_same_document(result, expected)


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_measures_joined_with_themselves_are_of_one_reading(engine):
    source = Source(predictions)
    plan = evaluate(source.frame).filter(measure="auc")
    both = plan.join(plan.select(*KEYS, auc="estimate"), on=KEYS).collect(engine=engine).sort(KEYS)
    assert both["auc"].equals(both["estimate"])
    expected = pr.evaluate(source.only_reading, **NAMES, measures="auc")
    assert_frame_equal(both.select(expected.columns), expected, rel_tol=1e-12)


# --- plans of Polars that give other rows at each reading ---------------------------------------

ROWS = 4000
PERFECT = pl.select(case=pl.int_range(ROWS, dtype=pl.Int64)).with_columns(
    pair=pl.col("case") // 2, tie=pl.col("case") % 5, truth=pl.col("case") % 7 == 0
)
# The two rows of a pair may be of either class: which of them is read changes the totals.
PERFECT = PERFECT.with_columns(score=pl.col("truth").cast(pl.Float64) + pl.col("case") / ROWS)
SHUFFLED = {
    "unique": lambda frame: frame.unique("pair"),
    "sort": lambda frame: frame.sort("tie").head(ROWS // 2),
    "filter": lambda frame: frame.filter(pl.int_range(pl.len()).shuffle() < ROWS // 2),
}
AREAS = {
    "evaluate": partial(pr.evaluate, **NAMES, case=None),
    "hull": partial(pr.evaluate, **NAMES, interpolation="hull", case=None),
    "intervals": partial(pr.evaluate, **NAMES, intervals=True, case=None),
    "memory": partial(pr.evaluate, **NAMES, memory="1GB", case=None),
    "curve": lambda frame: pr.curve(frame, **NAMES).pipe(pr.auprec, 0.1),
}


@pytest.mark.parametrize("shuffled", SHUFFLED)
@pytest.mark.parametrize("area", AREAS)
def test_perfect_scores_are_perfect_whichever_rows_are_read(area, shuffled, tmp_path):
    PERFECT.write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    plan = AREAS[area](SHUFFLED[shuffled](pl.scan_parquet(tmp_path / "rows.parquet")))
    for engine in ("streaming", "in-memory"):
        result = plan.collect(engine=engine)
        assert result["estimate"].to_list() == pytest.approx([1.0] * result.height, abs=1e-13)


@pytest.mark.parametrize("area", ["evaluate", "intervals", "curve"])
def test_a_plan_sent_elsewhere_reads_its_source_once(area, tmp_path):
    PERFECT.write_parquet(tmp_path / "rows.parquet")
    plan = AREAS[area](SHUFFLED["filter"](pl.scan_parquet(tmp_path / "rows.parquet")))
    sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    both = pl.concat([sent, sent]).collect()
    assert both["estimate"].to_list() == pytest.approx([1.0] * both.height, abs=1e-13)
    assert_frame_equal(both.head(both.height // 2), both.tail(both.height // 2))


# --- rows that cannot be ranked -----------------------------------------------------------------

REFUSING = {
    "estimate_prior": lambda frame: pr.estimate_prior(frame, TEST, truth="truth", score="gone"),
    "compare": lambda frame: pr.compare(frame, "auc", truth="truth", score="gone", fold=None),
    "report": lambda frame: pr.report(
        frame, truth="truth", score="gone", over=OVER, path="page.html"
    ),
}


@pytest.mark.parametrize("name", REFUSING)
def test_errors_and_notes_count_the_rows_of_one_reading(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Source(predictions)
    with pytest.raises(InvalidPredictions) as caught:
        REFUSING[name](source.frame)
    count = source.only_reading["gone"].null_count()
    assert re.search(rf"\b{count} null scores( in|\.)", str(caught.value))


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_notes_count_the_rows_of_the_reading_that_is_measured(memory):
    source = Source(predictions)
    options = {"model": None, "fold": None, "memory": memory, "measures": "auc", "nulls": "drop"}
    found = pr.evaluate(source.frame, truth="truth", score="gone", **options).collect()
    assert f"{source.only_reading['gone'].null_count()} null scores" in found["note"].item()


def test_rows_that_fit_in_memory_need_no_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", None)
    evaluate(Source(predictions).frame, memory="1GB").collect()
    assert list(tmp_path.iterdir()) == []


def test_other_errors_of_the_source_are_passed_on():
    wrong = TEST.lazy().with_columns(score=pl.col("kind").cast(pl.Float64))
    for memory in (None, "1GB"):
        with pytest.raises(pl.exceptions.InvalidOperationError):
            evaluate(wrong, memory=memory).collect()


def test_columns_that_are_not_named_are_not_read(tmp_path):
    file = tmp_path / "rows.parquet"
    TEST.with_columns(feature=pl.lit("text")).write_parquet(file)
    damaged = bytearray(file.read_bytes())
    text = damaged.index(b"text")
    damaged[text - 8 : text + 4] = bytes(12)
    file.write_bytes(damaged)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_parquet(file)
    scan = pl.scan_parquet(file)
    assert_same_numbers(evaluate(scan).collect(), evaluate(TEST))
    assert_frame_equal(pr.check(scan, **NAMES), pr.check(TEST, **NAMES))
