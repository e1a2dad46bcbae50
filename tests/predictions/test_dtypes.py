import datetime
from functools import cache

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

nan = float("nan")
NAMES = {"truth": "truth", "score": "score"}
TABLE = pl.DataFrame(
    {
        "truth": [True, False, True, False, True, True, False, False],
        "score": [3, 2, 1, 0, 3, 2, 2, 0],
        "k": [0, 0, 0, 0, 1, 1, 1, 1],
    }
)
NUMBERS = [
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    pl.UInt128, pl.Float16, pl.Float32, pl.Float64, pl.Decimal(10, 2),
]  # fmt: skip
K = pl.col("k")
WORD = K.cast(pl.String)
KEYS = {str(kind): K.cast(kind) for kind in [pl.Boolean, *NUMBERS]} | {
    "String": WORD,
    "Categorical": WORD.cast(pl.Categorical),
    "Enum, the other way round": WORD.cast(pl.Enum(["1", "0"])),
    "Binary": WORD.cast(pl.Binary),
    "Date": K.cast(pl.Date),
    "Datetime": K.cast(pl.Datetime("ns", "Europe/Paris")),
    "Duration": K.cast(pl.Duration),
    "Time": K.cast(pl.Time),
    "List": pl.concat_list(K, K),
    "Array": pl.concat_list(K, K).cast(pl.Array(pl.Int64, 2)),
    "Struct": pl.struct("k", other="k"),
    "some null": pl.when(K == 1).then(K),
    "some NaN": pl.when(K == 1).then(pl.lit(nan)).otherwise(K),
}
FUNCTIONS = {
    "evaluate": lambda frame: pr.evaluate(frame, **NAMES, by="key", over=(0.05, 0.2)),
    "on hulls": lambda frame: pr.evaluate(frame, **NAMES, by="key", interpolation="hull"),
    "intervals": lambda frame: pr.evaluate(frame, **NAMES, by="key", intervals=True),
    "surface": lambda frame: curve(frame).pipe(pr.surface, ["observed", 0.1]),
    "achievable": lambda frame: curve(frame).pipe(pr.achievable, 0.1, 5),
    "cost curve": lambda frame: curve(frame).pipe(pr.cost_curve, 5),
    "operating points": lambda frame: curve(frame).pipe(pr.operating_points, "cost", priors=0.1),
    "applied thresholds": lambda frame: pr.apply_thresholds(
        frame, curve(frame).pipe(pr.operating_points), **NAMES, by="key", same_table=True
    ),
    "check": lambda frame: pr.check(frame, truth="truth", score="score", by="key"),
}


def curve(frame):
    return pr.curve(frame, **NAMES, by="key")


@cache
def of_plain_keys(function):
    return FUNCTIONS[function](TABLE.with_columns(key="k"))


# Two functions get keys of every type, the others those of which a join or a sort could think
# otherwise.
EVERY_KEY = ("evaluate", "check")
ODD_KEYS = ("Categorical", "Enum, the other way round", "Struct", "some null", "some NaN")


@pytest.mark.alike(10)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "function"),
    [
        (key, function)
        for key in KEYS
        for function in FUNCTIONS
        if function in EVERY_KEY or key in ODD_KEYS
    ],
)
def test_keys_of_every_type(key, function):
    keyed = TABLE.with_columns(KEYS[key].alias("key"))
    found = FUNCTIONS[function](keyed)
    assert found.schema["key"] == keyed.schema["key"]
    plain = of_plain_keys(function)
    names = keyed.select("k", "key").unique()
    # In memory, Polars' join of sorted columns loses NaN.
    joined = found.lazy().join(names.lazy(), on="key", nulls_equal=True, maintain_order="left")
    of_k = joined.collect(engine="streaming").drop("key").sort("k", maintain_order=True)
    assert_frame_equal(of_k, plain.rename({"key": "k"}), rel_tol=1e-12, check_column_order=False)


MODELS = pl.DataFrame(
    {
        "case": [*range(40)] * 2,
        "day": ["a", "b"] * 40,
        "fold": [0, 0, 1, 1] * 20,
        "truth": [case % 3 == 0 for case in range(40)] * 2,
        "score": [(7 * case % 40 + 35 * (case % 3 == 0)) / 80 for case in range(40)]
        + [(11 * case % 40 - 3 * (case % 3 == 0) + 3) / 80 for case in range(40)],
        "key": [0.0] * 40 + [1.0] * 40,
    }
)
ALONE = FUNCTIONS | {
    "out of core": lambda frame: pr.evaluate(frame, **NAMES, by="key", memory="1GB"),
    "areas": lambda frame: curve(frame).pipe(pr.auc),
    "limits": lambda frame: pr.evaluate(frame, **NAMES, by="key", measures="auc", intervals=True),
    "hull": lambda frame: curve(frame).pipe(pr.hull),
    "expected cost": lambda frame: curve(frame).pipe(pr.expected_cost, over=(0.1, 0.3), cost=0.8),
    "limits of costs": lambda frame: pr.expected_cost(
        frame, **NAMES, by="key", over=(0.1, 0.3), intervals=True
    ),
    "limits on hulls": lambda frame: pr.evaluate(
        frame, **NAMES, by="key", measures="refinement_loss", intervals=True
    ),
    "at estimated priors": lambda frame: curve(frame).pipe(
        pr.operating_points, "cost", priors=pr.estimate_prior(frame, frame, **NAMES, by="key")
    ),
    "probabilities": lambda frame: pr.probabilities(
        frame, curve(frame), score="score", by="key", same_table=True, priors=[0.1]
    ),
    "monitor": lambda frame: (
        pr.monitor(frame, frame, **NAMES, by="key", time="day", points=0.5).table
    ),
    "limits of cost": lambda frame: pr.expected_cost(
        frame, **NAMES, by="key", over=(0.3, 0.4), intervals=True
    ),
    "hulls": lambda frame: pr.evaluate(
        frame, **NAMES, by="key", priors=0.4, measures="refinement_loss", intervals=True
    ),
}
BESIDE = {
    "mean curve": lambda frame: pr.curve(frame, **NAMES, by=["key", "fold"]).pipe(pr.mean_curve),
    "trained": lambda frame: pr.compare(
        frame.drop("fold"), **NAMES, model="key", target="trained", case="case",
        measure="auc",
    ).pairs,
    "algorithms": lambda frame: pr.compare(
        pr.evaluate(frame, **NAMES, by="key"), "auc", model="key", test_train_ratio=0.5
    ).pairs,
    "choice": lambda frame: pr.choose(
        frame.drop("fold"), "iauprec", **NAMES, model="key", over=(0.05, 0.2), case="case",
    ).models,
    "choice over folds": lambda frame: pr.choose(
        pr.evaluate(frame, **NAMES, by=["key", "fold"], over=(0.05, 0.2)),
        measure="iauprec", model="key", over=(0.05, 0.2),
    ).models,
}  # fmt: skip


@pytest.mark.alike(13)
@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (function, rows)
        for rows in ("as they come", "sorted", "lazy", "of one key")
        for function in (ALONE if rows == "of one key" else ALONE | BESIDE)
    ],
)
def test_nan_is_a_key_as_numbers_are(function, rows):
    found, expected = (_with_second_key(function, rows, key) for key in (nan, 2.0))
    keys = [name for name in found.columns if name.startswith("key")]
    assert_frame_equal(found.with_columns(pl.col(keys).fill_nan(2.0)), expected, rel_tol=1e-11)


def _with_second_key(function, rows, key):
    table = MODELS.with_columns(key=pl.when(pl.col("key") == 1).then(key).otherwise("key"))
    if rows == "of one key":
        table = table[40:]
    elif rows == "sorted":
        table = table.sort("key", maintain_order=True)
    found = (ALONE | BESIDE)[function](table.lazy() if rows == "lazy" else table)
    return found.lazy().collect()


@pytest.mark.alike(5)
@pytest.mark.slow
@pytest.mark.parametrize("kind", NUMBERS, ids=str)
@pytest.mark.parametrize("column", ["score", "weight", "truth"])
def test_numbers_of_every_type(column, kind):
    table = TABLE.with_columns(weight=1 + pl.col("k"))
    cast = table.with_columns(pl.col(column).cast(pl.Int64).cast(kind))
    found, expected = (
        pr.evaluate(frame, **NAMES, by="k", weight="weight", over=(0.05, 0.2))
        for frame in (cast, table)
    )
    assert_frame_equal(found, expected, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("kind", "greatest"),
    [(pl.Int64, 2**53 + 1), (pl.UInt64, 2**64 - 1), (pl.Int128, 2**100 + 1),
     (pl.UInt128, 2**127 + 1), (pl.Decimal(38, 0), 10**30 + 1)],
    ids=str,
)  # fmt: skip
def test_scores_that_a_float_would_round_are_refused(kind, greatest):
    table = pl.DataFrame({"truth": [True, False], "score": pl.Series([greatest, 0], dtype=kind)})
    with pytest.raises(InvalidPredictions, match="1 inexact score"):
        pr.curve(table, **NAMES)


@pytest.mark.parametrize("column", ["score", "weight", "truth"])
@pytest.mark.parametrize(
    "value",
    [b"1", datetime.date(2020, 1, 1), datetime.timedelta(1), datetime.time(1), [1], {"a": 1}],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_and_no_label_is_refused(column, value):
    own = pl.Series([value, value])
    table = pl.DataFrame({"truth": [True, False], "score": [1, 2], "weight": [1, 1]})
    table = table.with_columns(own.alias(column))
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=f"{column} .* is .*, allowed are"):
            pr.evaluate(frame, **NAMES, weight="weight")


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["no", "yes", "perhaps"])])
def test_labels_of_every_textual_type(dtype):
    words = pl.col("truth").replace_strict({True: "yes", False: "no"}, return_dtype=pl.String)
    found = pr.evaluate(
        TABLE.with_columns(words.cast(dtype)), **NAMES, by="k", positive="yes", over=(0.05, 0.2)
    )
    expected = pr.evaluate(TABLE, **NAMES, by="k", over=(0.05, 0.2))
    assert_frame_equal(found, expected, rel_tol=1e-12)


def test_models_that_differ_by_a_nanosecond():
    key = pl.col("k").cast(pl.Datetime("ns"))
    found = curve(TABLE.with_columns(key=key)).pipe(pr.dominance, "key")
    names = ["key_a", "key_b"]
    assert found.select(pl.col(names).cast(pl.Int64)).rows() == [(0, 1)]


def test_a_model_that_is_nan_is_chosen_as_any_other():
    named = MODELS.with_columns(key=pl.when(pl.col("key") == 1).then(nan).otherwise("key"))
    asked = {**NAMES, "model": "key", "fold": None, "case": "case", "over": (0.1, 0.3)}
    for more in ({}, {"measure": "expected_cost"}):
        found, expected = (
            pr.choose(
                table,
                **asked,
                **more,
                **(
                    {"tuning": table.with_columns(pl.col("case") + 100, pl.col("score") ** 2)}
                    if more
                    else {}
                ),
            ).warnings
            for table in (named, MODELS)
        )
        assert list(found) == [one.replace("1.0", "nan") for one in expected]
