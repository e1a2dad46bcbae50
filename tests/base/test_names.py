import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import OTHER_NAMES, InvalidArgument, nearest
from polaroc.measures.catalog import CATALOG

TWENTY = pr.datasets.twenty_scores()


def evaluated(measure):
    return pr.evaluate(TWENTY, truth="truth", score="score", measures=measure)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("roc_auc", "auc"), ("ROC AUC", "auc"), ("AUC", "auc"), ("average_precision", "auprec"),
        ("pr_auc", "auprec"), ("ap", "auprec"), ("auprc", "auprec"), ("eer", "equal_error"),
        ("accsen", "accsens"),
    ],
)  # fmt: skip
def test_measures_by_names_of_other_libraries(name, meant):
    with pytest.raises(InvalidArgument, match=f"did you mean measures='{meant}'"):
        evaluated(name)


@pytest.mark.parametrize(("name", "rate"), [("f1", "f_measure"), ("mcc", "matthews")])
def test_rates_of_one_threshold_are_no_measures(name, rate):
    with pytest.raises(InvalidArgument, match=rf"expr\.rate\('{rate}'"):
        evaluated(name)
    with pytest.raises(InvalidArgument, match=f"did you mean name='{rate}'"):
        pr.expr.rate(name, "truth", "score", 0.5)
    curve = pr.curve(TWENTY, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match=f"did you mean '{rate}'"):
        pr.surface(curve, 0.1, [name])


def test_what_there_is_not_is_said_with_what_there_is():
    with pytest.raises(InvalidArgument, match=r"'auc', 'auprec', .*\n.*choose one of them"):
        evaluated("gini")


def test_rules_by_other_names():
    curve = pr.curve(TWENTY, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match="did you mean rule='f_measure'"):
        pr.operating_points(curve, "f1")  # type: ignore[arg-type]


def test_a_measure_that_a_table_lacks():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    measures = pr.evaluate(table, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match="did you mean 'auc'"):
        pr.compare(measures, "roc_auc", test_train_ratio=0)


def test_no_name_stands_for_itself():
    assert not any(name in others for name, others in OTHER_NAMES.items())
    assert not CATALOG.keys() & {other for others in OTHER_NAMES.values() for other in others}


@pytest.mark.parametrize("value", [None, 3, ["auc"]])
def test_what_is_no_name_is_near_to_none(value):
    assert nearest(value, ["auc"]) == []
