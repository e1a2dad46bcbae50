"""Models that did not score the same cases: wide and long tables give the same answers."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

RNG = np.random.default_rng(11)
CASES = 60
TRUTH = np.arange(CASES) % 3 == 0
WIDE = pl.DataFrame(
    {
        "id": np.arange(CASES),
        "fold": np.arange(CASES) // 3 % 4,
        "truth": TRUTH,
        "A": RNG.normal(1.5 * TRUTH),
        "B": RNG.normal(1.0 * TRUTH),
        "C": RNG.normal(0.5 * TRUTH),
    }
).with_columns(
    # Eight cases lack a score, one of them two.
    pl.when(~pl.col("id").is_in(lacking)).then(pl.col(model)).alias(model)
    for model, lacking in {"A": [0, 7, 9], "B": [9, 30, 31], "C": [1, 2, 59]}.items()
)


def long(wide):
    return wide.unpivot(
        ["A", "B", "C"], index=["id", "fold", "truth"], variable_name="model", value_name="p"
    )


NULLS = long(WIDE)
ROWS = NULLS.drop_nulls("p")
LONG = {"truth": "truth", "score": "p", "model": "model", "case": "id"}
FORMS = {
    "wide": (WIDE, {"truth": "truth", "score": ["A", "B", "C"], "case": "id"}),
    "null scores": (NULLS, LONG),
    "no rows": (ROWS, LONG),
    "no rows, shuffled": (ROWS.sample(fraction=1, shuffle=True, seed=5), LONG),
    "NaN scores": (NULLS.with_columns(pl.col("p").fill_null(np.nan)), LONG),
}


def gate(table, **roles):
    found = pr.gate(table, champion="B", challenger="A", measure="auc", margin=0.1, **roles)
    return pl.DataFrame([found.difference, found.lower, found.upper], strict=False)


VERBS = {
    "compare": lambda table, **roles: pr.compare(table, "auc", **roles).pairs,
    "choose": lambda table, **roles: pr.choose(table, over=(0.2, 0.4), **roles).models,
    "gate": gate,
}
# Rates are compared on one test set.
ON_FOLDS = [(verb, "fold") for verb in VERBS]
every_verb = pytest.mark.parametrize(
    ("verb", "fold"), [*((verb, None) for verb in VERBS), *ON_FOLDS]
)
folds = pytest.mark.parametrize("fold", [None, "fold"])


@every_verb
def test_every_form_of_the_table_gives_the_same(verb, fold):
    ratio = {} if fold is None else {"test_train_ratio": 1 / 3}
    models = ["A", "B"] if verb == "gate" else ["A", "B", "C"]
    wide = FORMS["wide"][1] | {"score": models}
    expected = VERBS[verb](WIDE.drop_nulls(models), **wide, fold=fold, **ratio)
    for table, roles in FORMS.values():
        found = VERBS[verb](table, **roles, fold=fold, **ratio, nulls="drop")
        assert_frame_equal(found, expected, rel_tol=1e-12)


@folds
def test_how_many_cases_are_left_out_is_said(fold):
    said = (
        "8 of 60 cases were left out of all models, which are compared on the same 52 "
        "(model='A', missing=3; model='B', missing=3; model='C', missing=3)."
    )
    ratio = {} if fold is None else {"test_train_ratio": 1 / 3}
    for table, roles in FORMS.values():
        asked = {**roles, **ratio, "fold": fold, "nulls": "drop"}
        assert said in pr.compare(table, "auc", **asked).warnings
        assert said in pr.choose(table, over=(0.2, 0.4), **asked).warnings


def test_a_fold_that_a_model_did_not_score_is_left_out():
    without = pl.when(pl.col("fold") > 0).then("B").alias("B")
    wide = WIDE.with_columns(without)
    asked = {"fold": "fold", "test_train_ratio": 1 / 3, "nulls": "drop"}
    expected = pr.compare(wide, "auc", **FORMS["wide"][1], **asked)
    found = pr.compare(long(wide).drop_nulls("p"), "auc", **LONG, **asked)
    assert_frame_equal(found.pairs, expected.pairs, rel_tol=1e-12)
    assert found.warnings[0] == expected.warnings[0]
