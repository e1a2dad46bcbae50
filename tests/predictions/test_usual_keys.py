import pytest

from polaroc.predictions.usual_keys import usual_name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "model") for name in ("model", "Model", "MODEL_ID", "modelName", "Classifier",
                                       "clf_name", "estimator", "Algorithm", "method", "models")),
        *((name, "fold") for name in ("fold", "Fold No.", "cv_fold", "cvFold", "CV", "outer split",
                                       "repeat", "resample_id", "hold-out", "seed", "test_fold")),
        *((name, None) for name in ("score", "id", "case", "payment method", "model score", "cv2x",
                                    "run time", "", "λ", "index", "folder", "remodel")),
    ],
)  # fmt: skip
def test_names_that_are_usual(name, kind):
    assert usual_name(name) == kind
