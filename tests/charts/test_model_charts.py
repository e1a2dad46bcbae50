import polars as pl
import pytest
from chart_cases import CASES, PRIORS, measures
from hypothesis import given
from hypothesis import strategies as st
from model_tables import MODELS, near, predictions, values

import polaroc as pr
from polaroc.charts.by_prior import marks, with_ends
from polaroc.charts.theme import COLOURS
from polaroc.comparison.measure_rows import fold_means

# Where a chart is not drawn from measures.
GIVEN = {
    "pairs": lambda table: pr.compare(table, test_train_ratio=0.5),
}
CHARTS = {"accsens_plane", "auprec_by_prior", "pairs"}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


def colours_of(part) -> set[tuple]:
    """Each model's colour wherever a chart says it."""
    if isinstance(part, list):
        return {pair for inner in part for pair in colours_of(inner)}
    if not isinstance(part, dict):
        return set()
    found = {pair for inner in part.values() for pair in colours_of(inner)}
    if part.get("field") == "series" and "range" in part.get("scale", {}):
        found |= set(zip(part["scale"]["domain"], part["scale"]["range"], strict=True))
    return found


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_model_has_the_same_colour_in_every_chart(name):
    found = colours_of(CASES[name](predictions()).to_dict())
    assert found == set(zip(MODELS, COLOURS, strict=False))


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_titles_can_be_given(name, table):
    given = GIVEN.get(name, lambda one: one)(table)
    said = getattr(pr.charts, name)(given, title="what I say").to_dict()["title"]
    assert (said if isinstance(said, str) else said["text"]) == "what I say"


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_the_wrong_table_is_refused(name):
    with pytest.raises(pr.errors.InvalidTable, match=r"Hint: .*(evaluate|compare)"):
        getattr(pr.charts, name)(predictions())


def test_bands_are_the_limits_of_the_table():
    table = measures(predictions(), fold=None, over=None, intervals=True)
    band, line = values(pr.charts.auprec_by_prior(table).to_dict())
    for record, model in zip(band, MODELS, strict=True):
        rows = table.filter(model=model, measure="auprec").sort("prior")
        assert record["x"] == list(PRIORS)
        assert record["y"] == near(rows["lower"])
        assert record["top"] == near(rows["upper"])
    for record, model in zip(line, MODELS, strict=True):
        rows = table.filter(model=model, measure="auprec").sort("prior")
        assert record["y"] == near(rows["estimate"])


def test_a_band_is_broken_where_there_are_no_limits():
    table = measures(predictions(), fold=None, over=None, intervals=True)
    gone = pl.when(pl.col("prior") != 0.1).then(pl.col("lower", "upper"))
    band, line = values(pr.charts.auprec_by_prior(table.with_columns(gone)).to_dict())
    assert [value is None for value in band[0]["top"]] == [False, True, False]
    assert None not in line[0]["y"]
    none = table.with_columns(lower=None, upper=None)
    assert len(values(pr.charts.auprec_by_prior(none).to_dict())) == 2


def test_limits_of_folds_are_no_band_of_their_mean(table):
    limits = measures(predictions(), over=None, intervals=True)
    found = values(pr.charts.auprec_by_prior(limits).to_dict())
    assert found == values(pr.charts.auprec_by_prior(table).to_dict())
    assert [len(layer) for layer in found] == [12, 3]


def test_a_mean_needs_every_fold(table):
    rows = table.filter(measure="auprec").select("model", "fold", "prior", "estimate")
    less = rows.filter((pl.col("model") != "A") | (pl.col("fold") != 2) | (pl.col("prior") != 0.1))
    found = fold_means(less, ["model", "fold"])
    assert found.filter(model="A")["prior"].to_list() == [0.05, 0.2]
    assert found.filter(model="B")["prior"].to_list() == list(PRIORS)
    nameless = less.with_columns(model=pl.col("model").replace("A", None))
    assert fold_means(nameless, ["model", "fold"])["model"].to_list()[-2:] == [None, None]


@given(st.floats(1e-4, 0.5), st.floats(1.01, 1000))
def test_marks_are_within_the_axis(lo, ratio):
    hi = min(lo * ratio, 0.999)
    for found in (marks(lo, hi), with_ends(lo, hi)):
        assert len(found) >= 2
        assert found == sorted(set(found))
        assert all(lo * (1 - 1e-8) <= mark <= hi * (1 + 1e-8) for mark in found)


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_colours_are_those_given(name, table):
    colours = dict(zip(["0", *MODELS], COLOURS, strict=False))
    fewer = table.filter(pl.col("model") != "B")
    given = GIVEN.get(name, lambda one: one)(fewer)
    spec = getattr(pr.charts, name)(given, colours=colours).to_dict()
    assert colours_of(spec) == {("A", COLOURS[1]), ("C", COLOURS[3])}
    with pytest.raises(pr.errors.InvalidArgument, match=r"(?s)colours has none for 'A'.*Hint:"):
        getattr(pr.charts, name)(given, colours={"C": "red"})


def test_priors_that_differ_by_rounding_are_one(table):
    noise = pl.when(pl.col("fold") == 1).then(pl.col("prior") * (1 + 4e-16))
    noisy = table.with_columns(noise.otherwise("prior").alias("prior"))
    assert noisy["prior"].n_unique() > table["prior"].n_unique()
    drawn = pr.charts.auprec_by_prior
    assert values(drawn(noisy).to_dict()) == values(drawn(table).to_dict())


def test_perfect_models_have_axes():
    score = pl.col("truth").cast(pl.Float64)
    perfect = measures(predictions().with_columns(score=score))
    plane = pr.charts.accsens_plane(perfect).to_dict()["layer"][1]["encoding"]["y"]
    assert plane["scale"]["domain"][1] > 0
