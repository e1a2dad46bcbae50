import polars as pl
import pytest

from polaroc.predictions.usual_keys import usual_keys, usual_name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "model") for name in ("model", "Model", "MODEL_ID", "modelName", "Classifier",
                                       "clf_name", "estimator", "Algorithm", "method", "models")),
        *((name, "block") for name in ("fold", "Fold No.", "cv_fold", "cvFold", "CV", "outer split",
                                       "repeat", "resample_id", "hold-out", "seed", "test_fold")),
        *((name, None) for name in ("score", "id", "case", "payment method", "model score", "cv2x",
                                    "run time", "", "λ", "index", "folder", "remodel")),
    ],
)  # fmt: skip
def test_names_that_are_usual(name, kind):
    assert usual_name(name) == kind


@pytest.mark.parametrize(
    ("column", "is_key"),
    [
        ([1, 2] * 50, True),
        ([1.0, 2.0] * 50, True),
        ([1.0, 2.5] * 50, False),
        (["test"] * 100, False),
        ([None, "test"] * 50, True),
        ([[1], [2]] * 50, False),
    ],
)
def test_folds_are_told_by_what_they_hold(column, is_key):
    table = pl.DataFrame({"fold": column, "truth": [1, 0] * 50, "score": range(100)})
    found = usual_keys(table.lazy(), ["truth", "score"])
    assert found.blocks == (["fold"] if is_key else [])


def test_columns_with_another_part_are_no_keys():
    table = pl.LazyFrame({"model": ["a", "b"] * 9, "fold": [1, 2] * 9, "truth": [1, 0] * 9})
    assert usual_keys(table, ["model", "fold", "truth"]).keys == []
