from datetime import date

import polars as pl
import pytest
from layouts import draw, tidy

import polaroc as pr
from polaroc.comparison.design import balanced
from polaroc.comparison.measure_rows import rows_of
from polaroc.errors import InvalidArgument, InvalidTable

HOSTILE = ["", "[bold]", "<b>&amp;", "a;b='c'", "\x1b[31m", "ünï 模型", "null", "estimate", "0"]


def table_of(measures, *, measure="iauprec", priors=(None,), model="model", fold=("fold",), **kw):
    return balanced(rows_of(measures, measure), list(priors), model, list(fold), **kw)


def shuffled(table: pl.DataFrame) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize(
    ("models", "folds"),
    [
        (["A", "B", "C"], [1, 2, 3, 4]),
        ([1.5, 2.5, float("inf")], ["x", "y", "z", None]),
        ([True, False, None], [date(2026, 1, day) for day in (1, 2, 3, 4)]),
        (HOSTILE[:3], HOSTILE[3:7]),
        ([1, 2, 10], [-1, 2**62, 0, 3]),
    ],
)
def test_every_number_lands_at_its_model_and_fold(models, folds):
    values = draw(4, 3)
    found = table_of(shuffled(tidy(values, models, folds)))
    assert found.values.shape == (4, 3, 1)
    assert sorted(map(str, found.models)) == sorted(map(str, models))
    for i, model in enumerate(found.models):
        for j, fold in enumerate(found.folds["fold"]):
            expected = values[folds.index(fold), models.index(model)]
            assert found.at_first[j, i] == expected


def test_folds_of_several_columns():
    values = draw(6, 2)
    table = tidy(values).with_columns(pl.col("fold") % 2, repeat=(pl.col("fold") - 1) // 2)
    found = table_of(shuffled(table), fold=["repeat", "fold"])
    order = found.folds.select(pl.col("repeat") * 2 + (1 - pl.col("fold"))).to_series()
    assert (found.at_first == values[order.to_numpy()]).all()


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (lambda t: t.filter((pl.col("model") != "B") | (pl.col("fold") != 3)), InvalidTable,
         "1 of 12 cells are missing: model='B', fold=3"),
        (lambda t: t.with_columns(
            estimate=pl.when((pl.col("model") != "B") | (pl.col("fold") != 3)).then("estimate"),
            note=pl.when((pl.col("model") == "B") & (pl.col("fold") == 3)).then(pl.lit("why")),
        ), InvalidTable, "1 of 12 estimates are null: model='B', fold=3, note='why'"),
        (lambda t: t.with_columns(
            estimate=pl.when(pl.col("fold") == 3).then(float("nan")).otherwise("estimate")
        ), InvalidTable, "3 of 12 estimates are null: .*note='no note'"),
        (lambda t: t.filter(model="A"), InvalidArgument, r"'model' has 1 value\(s\)"),
        (lambda t: pl.concat([
            t.with_columns(region=pl.lit("n")), t.with_columns(region=pl.lit("s"))
        ]), InvalidTable, "the key 'region' varies"),
        (lambda t: pl.concat([t, t.with_columns(pl.col("estimate") + 0.1)]), InvalidTable,
         "two different estimates"),
        (lambda t: t.drop("model"), InvalidArgument, "no key 'model'"),
        (lambda t: t.drop("estimate"), InvalidTable, "no column 'estimate'"),
        (lambda t: t.with_columns(pl.col("estimate").cast(pl.String)), InvalidTable,
         "'estimate' is String"),
        (lambda t: t.clear(), InvalidArgument, "no rows"),
        (lambda t: t.filter(measure="auc"), InvalidArgument, "no measure 'iauprec'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("lazy", [False, True])
def test_what_is_not_balanced_is_refused(change, kind, said, lazy):
    table = change(tidy(draw(4, 3)))
    with pytest.raises(kind, match=f"(?s){said}.*Hint:"):
        table_of(table.lazy() if lazy else table)


def at_priors(*priors):
    tables = [tidy(draw(4, 3, i), measure="auprec", prior=p) for i, p in enumerate(priors)]
    return shuffled(pl.concat(tables))


def test_priors_are_matched_but_for_rounding():
    grid = pr.prior_grid(0.05, 0.20, 16)["prior"].to_list()
    assert 0.15 not in grid
    found = table_of(at_priors(*grid), measure="auprec", priors=[0.15])
    assert (found.at_first == draw(4, 3, 10)).all()


def test_observed_is_each_keys_own():
    own = tidy(draw(4, 3), measure="auprec", prior=0.2)
    uneven = own.with_columns(
        pl.col("fold").alias("positives"), prior=pl.col("fold") / (pl.col("fold") + 40)
    )
    both = pl.concat([uneven, uneven.with_columns(prior=0.5, estimate=pl.lit(0.1))])
    rows = rows_of(both, "auprec")
    assert rows.fixed_priors == [0.5]
    assert (table_of(both, measure="auprec", priors=["observed"]).at_first == draw(4, 3)).all()
    assert (table_of(uneven, measure="auprec").at_first == draw(4, 3)).all()
    assert rows_of(own, "auprec").fixed_priors == [0.2]


def test_models_at_different_priors_of_one_block_are_refused():
    table = tidy(draw(4, 3), measure="auprec", prior=0.2).with_columns(
        prior=pl.when(pl.col("model") == "A").then(0.1).otherwise("prior")
    )
    with pytest.raises(InvalidTable, match="different priors"):
        table_of(table, measure="auprec")


def test_test_sets_that_differ_and_notes_are_said():
    table = tidy(draw(4, 3)).with_columns(
        positives=pl.when((pl.col("model") == "A") & (pl.col("fold") == 1)).then(9).otherwise(10),
        note=pl.when(pl.col("fold") < 3).then(pl.lit("biased")),
    )
    said = table_of(table).warnings
    assert said[0].startswith("In 1 fold(s) the models were tested on different numbers")
    assert said[1] == "6 of 12 estimates carry a note: biased."
    everywhere = table.with_columns(note=pl.lit("biased upward"))
    assert table_of(everywhere).warnings[1:] == ("Biased upward.",)


@pytest.mark.parametrize(("positives", "said"), [(10, 0), (9, 1)])
def test_of_one_test_set_only_what_differs_is_said(positives, said):
    table = tidy(draw(1, 3)).with_columns(
        positives=pl.when(pl.col("model") == "A").then(positives).otherwise(10)
    )
    found = balanced(rows_of(table.drop("fold"), "iauprec"), [None], "model", []).warnings
    assert len(found) == said
    assert all(line.startswith("The models were tested on different numbers") for line in found)


def test_a_fold_without_a_name_is_a_fold_like_any_other():
    table = tidy(draw(4, 3), folds=["x", "y", "z", None])
    assert table_of(table).folds["fold"].to_list() == ["x", "y", "z", None]
    lacking = table.filter(pl.col("fold").is_not_null() | (pl.col("model") != table["model"][0]))
    with pytest.raises(InvalidTable, match=r"(?s)1 of 12 cells are missing.*leave such folds out"):
        table_of(lacking)
