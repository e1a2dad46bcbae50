"""Which numbers of a measure table are those of which model and fold."""

from datetime import date
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy

import polaroc as pr
from polaroc.errors import InvalidTable

HOSTILE = ["", "[bold]", "<b>&amp;", "a;b='c'", "\x1b[31m", "ünï 模型", "null"]


def shuffled(table: pl.DataFrame) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=1)


def assert_paired_by_fold(found, values, models):
    """The differences of the models fold by fold, and how much they vary."""
    own = {model: values[:, place] for place, model in enumerate(models)}
    assert found.pairs.height == len(list(combinations(models, 2)))
    for a, b, difference, error in found.pairs.select(
        pl.nth(0), pl.nth(1), "difference", "std_error"
    ).rows():
        lead = own[a] - own[b]
        assert difference == pytest.approx(lead.mean())
        assert error == pytest.approx(lead.std(ddof=1) / lead.size**0.5)


@pytest.mark.parametrize(
    ("models", "folds"),
    [
        ([1.5, 2.5, float("inf")], ["x", "y", "z", None]),
        ([True, False, None], [date(2026, 1, day) for day in (1, 2, 3, 4)]),
        (HOSTILE[:3], HOSTILE[3:7]),
        ([1, 2, 10], [-1, 2**62, 0, 3]),
    ],
)
def test_every_number_is_that_of_its_model_and_fold_in_any_order(models, folds):
    values = draw(4, 3)
    table = shuffled(tidy(values, models, folds))
    for one in (table, table.lazy()):
        assert_paired_by_fold(pr.compare(one, test_train_ratio=0), values, models)


def test_folds_of_several_columns():
    rng = np.random.default_rng(3)
    truth = np.tile(np.arange(40) % 2 == 0, 12)
    table = pl.DataFrame({
        "model": np.repeat(["A", "B"], 240), "repeat": np.tile(np.repeat([1, 2, 11], 80), 2),
        "fold": np.tile(np.repeat(["1", "1.1"], 40), 6), "truth": truth,
        "score": rng.normal(size=480) + truth,
    })  # fmt: skip
    asked = {"truth": "truth", "score": "score"}
    values = np.array([
        [pr.evaluate(one.drop("fold"), **asked, model=None, measure="auc")["estimate"].item()
         for one in of_fold.partition_by("model", maintain_order=True)]
        for of_fold in table.partition_by("repeat", "fold", maintain_order=True)
    ])  # fmt: skip
    both = asked | {"fold": ["repeat", "fold"]}
    measures = pr.evaluate(table, **both, measure="auc")
    found = pr.compare(shuffled(measures), "auc", test_train_ratio=0)
    assert_paired_by_fold(found, values, "AB")
    of_predictions = pr.compare(shuffled(table), "auc", **both, test_train_ratio=0)
    assert_same_numbers(of_predictions.pairs, found.pairs)


def test_a_key_that_varies_within_folds_is_refused():
    table = tidy(draw(6, 2)).with_columns(pl.col("fold") % 2, repeat=(pl.col("fold") - 1) // 2)
    with pytest.raises(InvalidTable, match=r"(?s)different estimates.*keep one value of 'repeat'"):
        pr.compare(table, test_train_ratio=0)


def test_priors_are_matched_but_for_rounding():
    grid = pr.prior_grid(0.05, 0.20, 16)["prior"].to_list()
    assert 0.15 not in grid
    tables = [tidy(draw(4, 3, i), measure="auprec", prior=p) for i, p in enumerate(grid)]
    found = pr.compare(shuffled(pl.concat(tables)), "auprec", priors=0.15, test_train_ratio=0)
    assert_paired_by_fold(found, draw(4, 3, 10), "ABC")
    assert found.measure == "auprec at prior 0.15"
    only_one = pr.compare(tables[10], "auprec", test_train_ratio=0)
    assert only_one.measure == "auprec at prior 0.15"


def test_observed_is_the_prior_of_each_fold():
    own = tidy(draw(4, 3), measure="auprec").with_columns(
        positives=pl.col("fold"), prior=pl.col("fold") / (pl.col("fold") + 40)
    )
    both = pl.concat([own, own.with_columns(prior=0.5, estimate=pl.lit(0.1) * pl.col("fold"))])
    for table in (both, own):
        found = pr.compare(shuffled(table), "auprec", priors="observed", test_train_ratio=0)
        assert_paired_by_fold(found, draw(4, 3), "ABC")
        assert found.measure == "auprec at each fold's own prior"
    only_one = pr.compare(own.with_columns(priors=0.2), "auprec", test_train_ratio=0)
    assert_same_numbers(only_one.pairs, found.pairs)


def test_test_sets_that_differ_and_notes_are_said():
    table = tidy(draw(4, 3)).with_columns(
        positives=pl.when((pl.col("model") == "A") & (pl.col("fold") == 1)).then(9).otherwise(10),
        note=pl.when(pl.col("fold") < 3).then(pl.lit("biased")),
    )
    said = " ".join(pr.compare(table, test_train_ratio=0.25).warnings)
    assert "In 1 fold(s) the models were tested on different numbers" in said
    assert "6 of 12 estimates carry a note: biased." in said
    assert "different numbers" not in " ".join(
        pr.compare(tidy(draw(4, 3)), test_train_ratio=0.25).warnings
    )


@pytest.mark.parametrize(("positives", "said"), [(10, False), (9, True)])
def test_of_one_test_set_only_what_differs_is_said(positives, said):
    table = tidy(draw(1, 3), measure="auprec", prior=0.1).with_columns(
        positives=pl.when(pl.col("model") == "A").then(positives).otherwise(10)
    )
    warnings = " ".join(pr.choose(table.drop("fold")).warnings)
    assert ("The models were tested on different numbers" in warnings) == said
