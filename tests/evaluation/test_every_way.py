"""Frames, plans, scans and more rows than memory give the same exact numbers."""

from datetime import date

import crowds
import exact
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score", "model": None, "fold": None}
PRIORS = ["observed", 0.5, 0.01]
OVER = (0.05, 0.6)
RNG = np.random.default_rng(5)


def scanned(table, tmp_path):
    for i, part in enumerate(table.iter_slices(-(-table.height // 3))):
        part.write_parquet(tmp_path / f"{i}.parquet", row_group_size=1000)
    return pl.scan_parquet(tmp_path / "*.parquet")


WAYS = {
    "frame": lambda table, _: (table, {}),
    "lazy": lambda table, _: (table.lazy(), {}),
    "scan": lambda table, folder: (scanned(table, folder), {}),
    "memory": lambda table, folder: (scanned(table, folder), {"memory": "500MB"}),
}


@pytest.fixture(params=WAYS)
def evaluated(request, tmp_path):
    """Evaluates a table in one of the ways."""

    def evaluate(table: pl.DataFrame, **asked) -> pl.DataFrame:
        frame, more = WAYS[request.param](table, tmp_path)
        return pr.evaluate(frame, **NAMES | asked, **more).lazy().collect()

    return evaluate


def by_definition(curve: exact.Curve, interpolation: str) -> dict:
    """Measures of a curve with both classes in rational numbers, by name and prior."""
    own = float(curve.observed)
    priors = {own if all(abs(own - p) > 1e-9 for p in PRIORS[1:]) else None, *PRIORS[1:]} - {None}
    areas = {
        ("auprec", prior): exact.auprec(
            curve, exact.skew(curve.observed if prior == own else prior), interpolation
        )
        for prior in priors
    }
    return areas | {
        ("auc", None): float(exact.auc(curve)),
        ("sens", None): exact.sens(curve, *OVER),
        ("equal_error", None): exact.equal_error(curve),
    }


def check(found: pl.DataFrame, curve: exact.Curve, interpolation: str = "exact") -> None:
    """Whether the rows of a key are those of its curve."""
    rows = found.filter(pl.col("measure").is_in(["auc", "auprec", "sens", "equal_error"]))
    numbers = {(m, p): v for m, p, v in rows.select("measure", "prior", "estimate").rows()}
    assert len(numbers) == rows.height
    if not curve.has_both:
        assert set(numbers.values()) == {None}
        return
    expected = by_definition(curve, interpolation)
    for key, value in expected.items():
        near = key if key in numbers else min(
            (k for k in numbers if k[0] == key[0]), key=lambda k: abs(k[1] - key[1])
        )  # fmt: skip
        assert numbers[near] == pytest.approx(value, rel=1e-11, abs=1e-9), near
    assert len(numbers) == len(expected)


@pytest.mark.parametrize("interpolation", ["exact", "linear", "step", "hull"])
@pytest.mark.parametrize(
    "weights", ["none", "dyadic", pytest.param("past 53 bits", marks=pytest.mark.slow)]
)
def test_many_small_keys_have_the_numbers_of_rational_arithmetic(evaluated, weights, interpolation):
    tables = crowds.crowd(weights, 60, seed=0)
    weight = "weight" if "weight" in tables.columns else None
    found = evaluated(
        tables, by="table", weight=weight, priors=PRIORS, over=OVER, interpolation=interpolation
    )
    parts = found.partition_by("table", maintain_order=True)
    for part, curve in zip(parts, crowds.curves(tables), strict=True):
        check(part, curve, interpolation)


def auc_by_ranks(table: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The AUC of each key by the ranks of its positives (Mann and Whitney)."""
    positives, size = pl.col("truth").cast(pl.Int64).sum(), pl.len().cast(pl.Int64)
    ranks = pl.col("score").rank("average").filter("truth").sum()
    won = ranks - positives * (positives + 1) / 2
    auc = won / (positives * (size - positives))
    return table.group_by(keys).agg(
        estimate=pl.when((positives > 0) & (positives < size)).then(auc)
    )


def same_aucs(found: pl.DataFrame, table: pl.DataFrame, *keys: str) -> None:
    expected = auc_by_ranks(table, *keys).sort(keys, nulls_last=True)
    aucs = found.filter(measure="auc").select(*keys, "estimate")
    assert_frame_equal(aucs, expected, rel_tol=1e-12, abs_tol=1e-13)


def test_many_keys_of_few_rows(evaluated):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({
        "model": rng.integers(0, 50, 100_000).astype(str), "site": rng.integers(0, 600, 100_000),
        "truth": rng.random(100_000) < 0.3, "score": rng.normal(size=100_000).round(1),
    })  # fmt: skip
    found = evaluated(table, by="site", model="model", measure="auc")
    same_aucs(found, table, "site", "model")


WORDS = pl.Series(RNG.choice(["a", "b", "c", None], 1000).tolist(), dtype=pl.String)
INTEGERS = pl.Series(RNG.integers(-3, 3, 1000))
KEYS = {
    "words": WORDS,
    "categories": WORDS.cast(pl.Categorical),
    "dates": INTEGERS.cast(pl.Date),
    "small integers": INTEGERS.cast(pl.Int8),
    "integers far apart": pl.Series(RNG.choice([-(2**62), 0, 2**62, None], 1000).tolist()),
    "floats": pl.Series(RNG.choice([0.0, 0.25, -1.5, None], 1000).tolist()),
    "only null": pl.Series([None] * 1000, dtype=pl.Int64),
    "one day": pl.Series([date(2024, 1, 1)] * 1000),
    "one after another": pl.Series(np.arange(1000) // 100),
    "null at the end": pl.Series([None if i > 950 else 1 for i in range(1000)]),
}


def test_weights_that_are_no_whole_numbers_have_the_areas_of_their_curves():
    rng = np.random.default_rng(5)
    truth = rng.random(3_000) < 0.3
    table = pl.DataFrame({
        "key": rng.integers(0, 60, 3_000), "truth": truth,
        # Many positives come first, one after another.
        "score": rng.normal(size=3_000) + 3 * truth, "weight": rng.random(3_000) + 0.01,
    })  # fmt: skip
    roles = NAMES | {"by": "key", "weight": "weight"}
    found = pr.evaluate(table, **roles, priors=PRIORS, over=OVER, measure=["auc", "auprec"])
    curves = pr.curve(table, **roles)
    known = pl.concat([pr.auc(curves), pr.auprec(curves, PRIORS)])
    order = ["key", "measure", "prior"]
    assert_frame_equal(
        found.select(*order, "estimate").sort(order), known.select(*order, "estimate").sort(order),
        rel_tol=1e-11,
    )  # fmt: skip
    assert found["estimate"].null_count() == 0


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_keys_of_any_type(evaluated, key):
    table = pl.DataFrame({
        "key": key, "fold": RNG.integers(0, 2, 1000), "truth": RNG.random(1000) < 0.2,
        "score": RNG.normal(size=1000).round(1),
    })  # fmt: skip
    same_aucs(evaluated(table, by="key", fold="fold", measure="auc"), table, "key", "fold")


WIDE = RNG.normal(size=800) * 10.0 ** RNG.integers(-300, 300, 800)
SCORES = {
    "continuous": RNG.random(800),
    "constant": np.full(800, 0.3),
    "half of them tied": np.where(RNG.random(800) < 0.5, 0.7, RNG.random(800)),
    "of all magnitudes": WIDE,
    "nearly equal": 1 + RNG.integers(0, 500, 800) * 2.0**-52,
    "with infinities": np.where(RNG.random(800) < 0.3, np.inf, -WIDE),
    "rising": np.sort(RNG.random(800)),
    "falling": -np.sort(RNG.random(800)),
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_of_any_kind_and_order(evaluated, scores):
    rng = np.random.default_rng(2)
    key = rng.choice(["a", "b", "only negatives"], 800, p=[0.7, 0.25, 0.05])
    truth = (rng.random(800) < 0.2) & (key != "only negatives")
    table = pl.DataFrame({"key": key, "truth": truth, "score": scores})
    found = evaluated(table, by="key", priors=PRIORS, over=OVER)
    for (one,), rows in table.partition_by("key", as_dict=True).items():
        curve = exact.curve((*row, 1) for row in rows.select("truth", "score").rows())
        check(found.filter(key=one), curve)


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt32, pl.Int64, pl.Float32, pl.Decimal(10, 2)], ids=str
)
def test_scores_of_any_type_are_those_in_float64(evaluated, dtype):
    table = pl.DataFrame({"truth": RNG.random(300) < 0.3, "score": RNG.integers(0, 90, 300)})
    found = evaluated(table.with_columns(pl.col("score").cast(dtype)), priors=0.1)
    curve = exact.curve((*row, 1) for row in table.rows())
    assert found["estimate"].to_list() == pytest.approx(
        [float(exact.auc(curve)), exact.auprec(curve, exact.skew(0.1), "exact")], rel=1e-12
    )


# --- more rows than the memory that may be used ------------------------------------------------

LARGE, LEVELS = 6_000_000, 400


def large(kind: str) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    level = rng.integers(0, LEVELS, LARGE)
    if kind == "sorted":
        level.sort()
    elif kind == "tied":
        level = np.where(rng.random(LARGE) < 0.9, 0, level)
    truth = rng.random(LARGE) < 0.05 + 0.1 * level / LEVELS
    # Of those that are crowded all but a few lie closely together.
    score = np.where(level < 3, -1e6, 0.5 + level * 1e-12) if kind == "crowded" else level / LEVELS
    # −0 and 0 are one score.
    score = np.where((score == 0) & truth, -0.0, score)
    keys = pl.Series(["a", "b", "c", None])
    return pl.DataFrame({
        # One key is larger than memory.
        "key": keys.gather(rng.integers(-36, 4, LARGE).clip(0)), "truth": truth, "score": score,
        "weight": 0.1 + level % 3, "count": 1 + level % 3,
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "role", "interpolation"),
    [
        ("crowded", None, "exact"),
        ("tied", "weight", "hull"),
        ("sorted", None, "linear"),
        ("random", "count", "step"),
    ],
)
def test_more_rows_than_memory_have_the_numbers_of_rational_arithmetic(
    tmp_path_factory, temporary_files, kind, role, interpolation
):
    table, told = large(kind), []
    found = pr.evaluate(
        scanned(table, tmp_path_factory.mktemp("scanned")), **NAMES, by="key", priors=PRIORS,
        over=OVER, interpolation=interpolation, memory="500MB",
        progress=lambda *done: told.append(done), **({role: role} if role else {}),
    ).collect()  # fmt: skip
    number = pl.len() if role is None else pl.col(role).sum()
    counted = table.group_by("key", "truth", "score").agg(number.alias("number"))
    for (key,), rows in counted.partition_by("key", as_dict=True).items():
        curve = exact.curve(rows.select("truth", "score", "number").rows())
        check(found.filter(pl.col("key").eq_missing(pl.lit(key))), curve, interpolation)
    # It was done in parts, and nothing is left of them.
    assert len(told) > 1
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (LARGE, LARGE)
    assert list(temporary_files.iterdir()) == []


@pytest.mark.slow
def test_keys_larger_than_memory_may_lack_a_class_valid_rows_or_distinct_scores():
    # 500 MB hold some 3 million rows.
    rows = pl.int_range(3_200_000, eager=True)
    negatives = pl.DataFrame({"key": "negatives", "truth": False, "score": rows / 3_200_000})
    unscored = negatives.with_columns(key=pl.lit("unscored"), score=pl.lit(None, pl.Float64))
    tied = pl.DataFrame({"truth": [True, False], "score": [0.5, 0.5]})
    tied = pl.concat([unscored.drop("key"), tied]).select(pl.lit("tied").alias("key"), pl.all())
    found = pr.evaluate(
        pl.concat([negatives, unscored, tied]), **NAMES, by="key", nulls="drop",
        measure=["auc", "auprec"], priors=0.5, interpolation="hull", memory="500MB",
    )  # fmt: skip
    auc = found.filter(measure="auc").select("key", "estimate", "positives", "negatives", "note")
    dropped = "dropped 3200000 null scores"
    assert auc.rows() == [
        ("negatives", None, 0, 3_200_000, "no positives"),
        ("tied", 0.5, 1, 1, dropped),
        ("unscored", None, 0, 0, f"{dropped}; no positives, no negatives"),
    ]
    assert found.filter(measure="auprec")["estimate"].to_list() == [None, 0.5, None]


@pytest.mark.slow
def test_parts_on_disk_are_removed_after_an_interrupt_and_progress_is_drawn(
    temporary_files, capsys
):
    table, seen = large("random"), []

    def stop(done: int, rows: int) -> None:
        seen.extend(temporary_files.iterdir())
        raise KeyboardInterrupt

    asked = NAMES | {"measure": "auc", "memory": "500MB"}
    with pytest.raises(KeyboardInterrupt):
        pr.evaluate(table, **asked, progress=stop)
    assert seen
    assert list(temporary_files.iterdir()) == []
    assert capsys.readouterr().err == ""
    pr.evaluate(table, **asked, progress=True)
    assert capsys.readouterr().err.endswith(f"100% of {LARGE:,} rows\n")


def test_the_work_is_done_once_when_the_plan_is_collected():
    table, readings = pl.DataFrame({"truth": [1, 0, 1], "score": [3, 2, 1]}), []
    source = table.lazy().map_batches(lambda rows: readings.append(1) or rows, schema=table.schema)
    # Where a size is given, the rows are counted first.
    for more, read in (({}, [1]), ({"memory": "500MB"}, [1, 1])):
        plan = pr.evaluate(source, **NAMES, measure="auc", **more)
        assert plan.collect_schema().names()[0] == "measure"
        assert readings == []
        assert plan.collect()["estimate"].to_list() == [0.5]
        assert readings == read
        readings.clear()


@pytest.mark.parametrize("more", [{}, {"memory": "500MB"}], ids=len)
def test_a_file_that_was_cut_short_gives_no_numbers(tmp_path, more):
    table = pl.DataFrame({"truth": RNG.random(3000) < 0.3, "score": RNG.random(3000)})
    table.write_parquet(tmp_path / "rows.parquet")
    plan = pr.evaluate(pl.scan_parquet(tmp_path / "rows.parquet"), **NAMES, **more)
    table.filter(truth=True).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(pl.exceptions.PanicException):
        plan.collect()


@pytest.mark.parametrize("more", [{}, {"memory": "500MB"}], ids=len)
def test_rows_that_cannot_be_ranked_are_refused_or_dropped_and_noted(more):
    table = pl.DataFrame({
        "key": [f"k{i % 3}" for i in range(300)], "truth": RNG.random(300) < 0.3,
        "score": [None if i % 100 == 0 else i % 7 for i in range(300)],
    })  # fmt: skip
    asked = NAMES | {"by": "key"}
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=r"3 null scores in 3 key\(s\): key='k0'"):
            pr.evaluate(frame, **asked, **more).lazy().collect()
        found = pr.evaluate(frame, **asked, nulls="drop", **more).lazy().collect()
        same_aucs(found, table.drop_nulls(), "key")
        assert found["note"].str.starts_with("dropped 1 null score").all()
