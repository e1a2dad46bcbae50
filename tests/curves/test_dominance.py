import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}


def two(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    kinds = [
        table.select("truth", "score", pl.lit(name).alias("model"))
        for name, table in (("A", a), ("B", b))
    ]
    return pr.curve(pl.concat(kinds), **NAMES)


@given(tables(kinds=["none"]), tables(kinds=["none"]), st.sampled_from([0.01, 0.3, 0.9]))
def test_dominance_is_the_same_in_precision_recall_space(a, b, prior):
    curve = two(a, b)
    relation = pr.dominance(curve)["relation"].item()
    if relation not in ("dominates", "dominated", "equal"):
        return
    # Least false positive rate, and so greatest precision, at each recall > 0.
    recalls = np.linspace(0, 1, 2_001)[1:]
    least = {}
    for model in "AB":
        f, t = curve.filter(model=model).select("fpr", "tpr").to_numpy().T
        start = np.searchsorted(t, recalls) - 1
        end = start + 1
        share = (recalls - t[start]) / (t[end] - t[start])
        least[model] = f[start] + share * (f[end] - f[start])
    skew = (1 - prior) / prior
    precision = {model: recalls / (recalls + skew * f) for model, f in least.items()}
    lead = precision["A"] - precision["B"]
    assert relation == "dominated" or (lead >= -1e-9).all()
    assert relation == "dominates" or (lead <= 1e-9).all()


@given(tables(kinds=["none"]), tables(kinds=["none"]))
def test_crossings_are_on_both_curves_and_the_other_way_round(a, b):
    forth, back = (pr.dominance(two(*pair)).row(0, named=True) for pair in ((a, b), (b, a)))
    swap = {"dominates": "dominated", "dominated": "dominates"}
    assert back["relation"] == swap.get(forth["relation"], forth["relation"])
    assert (forth["relation"] == "crosses") == bool(forth["crossings"])
    assert len(forth["crossings"]) == len(back["crossings"])
    for point in forth["crossings"]:
        for model in "AB":
            f, t = two(a, b).filter(model=model).select("fpr", "tpr").to_numpy().T
            diagonal = np.interp(point["fpr"] + point["tpr"], f + t, t - f)
            assert diagonal == pytest.approx(point["tpr"] - point["fpr"], abs=1e-9)


# Of fpr, tpr. First: A rises to (0, ½) and then straight to (1, 1), B is straight to (½, 1): they
# meet where ½ + f/2 = 2f. Second: both go (¼, ½), (½, ½), (½, ¾), before that A is above, after
# it B: the crossing is in the middle of the way they share, where fpr + tpr goes from ¾ to 1¼.
@pytest.mark.parametrize(
    ("truth", "a", "b", "crossing"),
    [
        ([1, 1, 0, 0], [2, 1, 1, 1], [2, 2, 2, 1], (1 / 3, 2 / 3)),
        ([1, 1, 0, 0] * 2, [7, 7, 6, 5, 4, 2, 2, 2], [6, 6, 6, 5, 4, 3, 2, 2], (1 / 2, 1 / 2)),
    ],
)
def test_crossings_by_hand(truth, a, b, crossing):
    curve = two(*(pl.DataFrame({"truth": truth, "score": score}) for score in (a, b)))
    row = pr.dominance(curve).row(0, named=True)
    assert row["relation"] == "crosses"
    (point,) = row["crossings"]
    assert (point["fpr"], point["tpr"]) == pytest.approx(crossing)


def test_pairs_within_folds():
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
    curve = pr.curve(table, **NAMES)
    found = pr.dominance(curve)
    assert found.columns == ["fold", "model_a", "model_b", "relation", "crossings"]
    assert found.select("model_a", "model_b").rows() == [("A", "B"), ("A", "C"), ("B", "C")] * 3


def test_a_curve_without_a_class_has_no_relation():
    whole = pl.DataFrame({"truth": [1, 0], "score": [2.0, 1.0]})
    curve = two(whole, pl.DataFrame({"truth": [1, 1], "score": [2.0, 1.0]}))
    row = pr.dominance(curve).row(0, named=True)
    assert (row["relation"], row["crossings"]) == (None, None)
