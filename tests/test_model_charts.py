from html import escape
from math import isclose, sqrt

import numpy as np
import polars as pl
import pytest
from chart_cases import CASES, PRIORS, measures
from hypothesis import given
from hypothesis import strategies as st

import polaroc as pr
from polaroc.arcs import accsens_arcs
from polaroc.charts.over_prior import marks, with_ends
from polaroc.charts.theme import COLOURS
from polaroc.means import fold_means

MODELS = ["A", "B", "C"]
# Where a chart is not drawn from measures.
GIVEN = {
    "winner_map": pr.choose,
    "regret": pr.choose,
    "pairs": lambda table: pr.compare(table, test_train_ratio=0.5),
}
CHARTS = {"accsens_plane", "auprec_by_prior", "interaction", "pairs", "regret", "winner_map"}


def predictions(models=MODELS, folds: int = 4, rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    size = len(models) * folds * rows
    truth = np.tile(np.arange(rows) % 3 == 0, len(models) * folds)
    shift = np.repeat(np.linspace(1.6, 0.8, len(models)), folds * rows)
    return pl.DataFrame(
        {
            "model": np.repeat(models, folds * rows),
            "fold": np.tile(np.repeat(np.arange(folds), rows), len(models)),
            "truth": truth,
            "score": (rng.normal(size=size) + shift * truth).round(2),
        }
    )


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


def values(part) -> list[list[dict]]:
    """The data of each layer of a chart, in order."""
    if isinstance(part, dict):
        found = part["data"]["values"] if "values" in part.get("data", {}) else None
        return ([found] if found is not None else []) + [
            one for key, inner in part.items() if key != "data" for one in values(inner)
        ]
    return [one for inner in part for one in values(inner)] if isinstance(part, list) else []


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


def near(expected):
    """As charts are rounded."""
    return pytest.approx(np.array(expected).tolist(), abs=1e-6)


def grid(table: pl.DataFrame, measure: str = "auprec") -> np.ndarray:
    """Folds × models × priors."""
    ordered = table.filter(measure=measure).sort("fold", "model", "prior")["estimate"].to_numpy()
    return ordered.reshape(4, 3, -1)


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
    with pytest.raises(pr.errors.InvalidTable, match=r"Hint: .*(evaluate|choose|compare)"):
        getattr(pr.charts, name)(predictions())


def test_bands_are_the_limits_of_the_table():
    table = measures(predictions(), by="model", over=None, intervals="logit")
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
    table = measures(predictions(), by="model", over=None, intervals="logit")
    gone = pl.when(pl.col("prior") != 0.1).then(pl.col("lower", "upper"))
    band, line = values(pr.charts.auprec_by_prior(table.with_columns(gone)).to_dict())
    assert [value is None for value in band[0]["top"]] == [False, True, False]
    assert None not in line[0]["y"]
    none = table.with_columns(lower=None, upper=None)
    assert len(values(pr.charts.auprec_by_prior(none).to_dict())) == 2


def test_limits_of_folds_are_no_band_of_their_mean(table):
    limits = measures(predictions(), over=None, intervals="logit")
    found = values(pr.charts.auprec_by_prior(limits).to_dict())
    assert found == values(pr.charts.auprec_by_prior(table).to_dict())
    assert [len(layer) for layer in found] == [12, 3]


def test_cells_of_the_winner_map_are_the_shares_of_wins(table):
    by_fold = grid(table)
    strip, won = values(pr.charts.winner_map(pr.choose(table)).to_dict())
    best = by_fold.argmax(axis=1)
    for record in won:
        model = MODELS.index(record["series"])
        for prior, share, low, high in zip(
            record["prior"], record["share"], record["y"], record["top"], strict=True
        ):
            at = PRIORS.index(prior)
            assert share == pytest.approx((best[:, at] == model).mean())
            assert high - low == pytest.approx(share)
    winners = {prior: record["series"] for record in strip for prior in record["prior"]}
    means = by_fold.mean(axis=0)
    assert winners == {p: MODELS[means[:, i].argmax()] for i, p in enumerate(PRIORS)}


def test_cells_of_the_winner_map_fill_the_panel(table):
    for panel in values(pr.charts.winner_map(pr.choose(table)).to_dict()):
        cells = [
            cell
            for record in panel
            for cell in zip(record["x"], record["right"], record["y"], record["top"], strict=True)
        ]
        area = sum(np.log(right / left) * (high - low) for left, right, low, high in cells)
        assert area == pytest.approx(np.log(PRIORS[-1] / PRIORS[0]))
        edges = {0.05, sqrt(0.05 * 0.1), sqrt(0.1 * 0.2), 0.2}
        assert {round(cell[0], 9) for cell in cells} | {round(cell[1], 9) for cell in cells} == {
            round(edge, 9) for edge in edges
        }


def test_models_that_tie_share_the_strip(table):
    twins = pl.concat(
        [table.filter(model="A"), table.filter(model="A").with_columns(model=pl.lit("B"))]
    )
    strip, won = values(pr.charts.winner_map(pr.choose(twins)).to_dict())
    for panel in (strip, won):
        assert [(record["y"], record["top"]) for record in panel] == [
            ([0.5] * 3, [1.0] * 3),
            ([0.0] * 3, [0.5] * 3),
        ]


def test_without_folds_there_is_no_share_of_wins():
    once = measures(predictions(), by="model")
    spec = pr.charts.winner_map(pr.choose(once, block=None)).to_dict()
    assert len(spec["vconcat"]) == 1


def test_regret_is_the_way_to_the_best_mean(table):
    means = grid(table).mean(axis=0)
    expected = means.max(axis=0) - means
    line, worst, beside, _, tips = values(pr.charts.regret(pr.choose(table)).to_dict())
    for i, (record, diamond) in enumerate(zip(line, worst, strict=True)):
        assert record["y"] == near(expected[i])
        assert diamond["y"] == near(expected[i].max())
        assert diamond["x"] == PRIORS[expected[i].argmax()]
    # Priors of a table are believed to be equally likely.
    of_models = {record["series"]: (record["y"], record["top"]) for record in beside}
    for i, model in enumerate(MODELS):
        assert of_models[model] == near([expected[i].mean(), expected[i].max()])
    assert {tip["series"]: tip["y"] for tip in tips} == {
        model: top for model, (_, top) in of_models.items()
    }


@pytest.mark.parametrize("weights", [(1, 1), (2, 0.5), (0, 1), (3, 0)])
def test_arcs_have_their_accsens(weights):
    arcs = accsens_arcs([0.1, 0.3], weights)
    by_error, by_sens = weights
    for level, error, sens in arcs.rows():
        value = sqrt(by_error * error**2 + by_sens * sens**2) / sqrt(2)
        assert isclose(value, level, rel_tol=1e-12)
    for axis, weight in zip(("error", "sens"), weights, strict=True):
        if weight:
            assert arcs[axis].min() == (
                0 if all(weights) else pytest.approx(0.1 * sqrt(2 / weight))
            )


@pytest.mark.parametrize("weights", [(0, 0), (-1, 1), (1, float("nan")), (1,)])
def test_weights_that_weigh_nothing_are_refused(table, weights):
    with pytest.raises(pr.errors.InvalidArgument, match=r"(?s)weights.*Hint:"):
        pr.charts.accsens_plane(table, weights)


def test_points_of_the_plane_are_error_and_sens(table):
    spec = pr.charts.accsens_plane(table).to_dict()
    arcs, folds, _, _, means = (layer["data"]["values"] for layer in spec["layer"])
    named = [
        table.filter(measure=one).select("model", "fold", pl.col("estimate").alias(one))
        for one in ("auc_range", "sens")
    ]
    wide = named[0].join(named[1], on=["model", "fold"]).sort("model", "fold")
    assert [point["x"] for point in folds] == near(1 - wide["auc_range"])
    assert [point["y"] for point in folds] == near(wide["sens"])
    mean = wide.group_by("model").mean().sort("model")
    assert [point["x"] for point in means] == near(1 - mean["auc_range"])
    assert [point["y"] for point in means] == near(mean["sens"])
    lo, hi = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert lo == 0
    assert max(point[axis] for point in folds for axis in "xy") <= hi <= 1
    for arc in arcs:
        if arc["label_x"] is not None:
            level = sqrt((arc["label_x"] ** 2 + arc["label_y"] ** 2) / 2)
            assert level == pytest.approx(float(arc["label"]))


def test_a_point_without_both_measures_is_left_out(table):
    lacking = (pl.col("fold") == 1) & (pl.col("measure") == "sens") & (pl.col("model") == "A")
    gone = table.with_columns(pl.when(~lacking).then("estimate").alias("estimate"))
    spec = pr.charts.accsens_plane(gone).to_dict()
    assert len(spec["layer"][1]["data"]["values"]) == 11


def test_pairs_are_drawn_as_they_are_tested(table):
    found = pr.compare(table, test_train_ratio=0.5, alpha=0.2)
    models, letters, zero, forest = (
        layer["data"]["values"]
        for panel in pr.charts.pairs(found).to_dict()["vconcat"]
        for layer in panel["layer"]
        if layer["mark"]["type"] != "point"
    )
    assert [record["series"] for record in models] == found.letters["model"].to_list()
    assert [record["x"] for record in models] == found.letters["mean"].to_list()
    assert [record["high"] - record["x"] for record in models] == pytest.approx(
        found.letters["sd"].to_list()
    )
    assert [record["letters"] for record in letters] == found.letters["letters"].to_list()
    assert zero == [{"x": 0}]
    assert [record["pair"] for record in forest] == ["A − B", "A − C", "B − C"]
    for name, column in {"x": "difference", "low": "lower", "high": "upper"}.items():
        assert [record[name] for record in forest] == found.pairs[column].to_list()
    apart = [record["apart"] for record in forest]
    assert apart == [bool(p < 0.2) for p in found.pairs["p_adjusted"]]
    assert set(apart) == {True, False}


def test_pairs_say_alpha_and_confidence(table):
    found = pr.compare(table, "auc", test_train_ratio=0.5, alpha=0.01, level=0.9)
    said = " ".join(pr.charts.pairs(found).to_dict()["title"]["subtitle"])
    assert "confidence 90 %" in said
    assert "α = 0.01" in said
    assert "SD over folds" in said


def test_of_many_pairs_the_likeliest_are_drawn():
    many = measures(predictions([f"m{i:02}" for i in range(11)], folds=3), over=None)
    found = pr.compare(many, "auc", test_train_ratio=0.5)
    spec = pr.charts.pairs(found).to_dict()
    (forest,) = {len(layer["data"]["values"]) for layer in spec["vconcat"][1]["layer"][1:]}
    assert forest == 45
    assert spec["title"]["subtitle"][-1] == "the 45 of 55 pairs with the least p"
    drawn = spec["vconcat"][1]["layer"][1]["data"]["values"]
    assert max(r["p"] for r in drawn) <= found.pairs["p_adjusted"].sort()[45]


def test_pairs_whose_names_look_alike_are_quoted():
    names = ["A", "A − B", "B", "B − A"]
    found = pr.compare(measures(predictions(names), over=None), "auc", target="dataset")
    forest = pr.charts.pairs(found).to_dict()["vconcat"][1]["layer"][1]
    pairs = [record["pair"] for record in forest["data"]["values"]]
    assert len(set(pairs)) == 6


def test_differences_without_a_limit_are_drawn_without_it(table):
    same = table.with_columns(
        estimate=pl.col("model").replace_strict(
            {"A": 0.9, "B": 0.8, "C": 0.7}, return_dtype=pl.Float64
        )
    )
    found = pr.compare(same, "auc", test_train_ratio=0.5)
    forest = pr.charts.pairs(found).to_dict()["vconcat"][1]["layer"][1]["data"]["values"]
    assert [record["x"] for record in forest] == pytest.approx([0.1, 0.2, 0.1])


def test_interaction_draws_means_and_their_spread(table):
    band, line = values(pr.charts.interaction(table).to_dict())
    by_fold = grid(table)
    means, sds = by_fold.mean(axis=0), by_fold.std(axis=0, ddof=1)
    for i, (spread, mean) in enumerate(zip(band, line, strict=True)):
        assert mean["x"] == list(PRIORS)
        assert mean["y"] == near(means[i])
        assert spread["y"] == near(means[i] - sds[i])
        assert spread["top"] == near(means[i] + sds[i])


def test_interaction_of_one_fold_has_no_spread(table):
    once = table.filter(fold=0).drop("fold")
    assert len(values(pr.charts.interaction(once).to_dict())) == 1


def test_interaction_of_values_beyond_one_has_an_axis_that_holds_them(table):
    scaled = table.with_columns(measure=pl.lit("lift"), estimate=pl.col("estimate") * 5)
    own = scaled.filter(pl.col("prior").is_not_null()).unique(["model", "fold", "prior"])
    axis = pr.charts.interaction(own, "lift").to_dict()["layer"][1]["encoding"]["y"]
    assert "domain" not in axis["scale"]


def test_interaction_needs_a_measure_with_priors(table):
    with pytest.raises(pr.errors.InvalidArgument, match=r"(?s)'auc', which has no prior.*Hint:"):
        pr.charts.interaction(table, "auc")


def test_a_mean_needs_every_fold(table):
    rows = table.filter(measure="auprec").select("model", "fold", "prior", "estimate")
    less = rows.filter((pl.col("model") != "A") | (pl.col("fold") != 2) | (pl.col("prior") != 0.1))
    found = fold_means(less, ["model", "fold"])
    assert found.filter(model="A")["prior"].to_list() == [0.05, 0.2]
    assert found.filter(model="B")["prior"].to_list() == list(PRIORS)


@pytest.mark.parametrize("key", ["error", "top", "x", "series", "label", "m.n[0]:Q"])
def test_keys_of_any_name_are_drawn(table, key):
    renamed = table.rename({"model": key})
    for draw in (pr.charts.auprec_by_prior, pr.charts.accsens_plane, pr.charts.interaction):
        assert values(draw(renamed).to_dict()) == values(draw(table).to_dict())
    for draw in (pr.charts.winner_map, pr.charts.regret):
        chosen, plain = pr.choose(renamed, key), pr.choose(table)
        assert values(draw(chosen).to_dict()) == values(draw(plain).to_dict())


@given(st.floats(1e-4, 0.5), st.floats(1.01, 1000))
def test_marks_are_within_the_axis(lo, ratio):
    hi = min(lo * ratio, 0.999)
    for found in (marks(lo, hi), with_ends(lo, hi)):
        assert len(found) >= 2
        assert found == sorted(set(found))
        assert all(lo * (1 - 1e-8) <= mark <= hi * (1 + 1e-8) for mark in found)


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_colours_are_those_of_the_palette(name, table):
    colours = pr.charts.palette(["0", *MODELS])
    fewer = table.filter(pl.col("model") != "B")
    given = GIVEN.get(name, lambda one: one)(fewer)
    spec = getattr(pr.charts, name)(given, colours=colours).to_dict()
    assert colours_of(spec) == {("A", COLOURS[1]), ("C", COLOURS[3])}
    with pytest.raises(pr.errors.InvalidArgument, match=r"(?s)colours has none for 'A'.*Hint:"):
        getattr(pr.charts, name)(given, colours={"C": "red"})


def relations(*rows: tuple, key: str = "model") -> pl.DataFrame:
    columns = ["fold", f"{key}_a", f"{key}_b", "relation"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return table.with_columns(crossings=pl.lit([], pl.List(pl.Float64)))


def cells(chart) -> dict[tuple, str]:
    spec = chart.to_dict()
    (records,) = spec["datasets"].values() if "datasets" in spec else [spec["data"]["values"]]
    return {(record["row"], record["column"]): record["told"] for record in records}


def test_dominance_counts_blocks_either_way_round():
    table = relations(
        (1, "A", "B", "dominates"),
        (2, "A", "B", "dominated"),
        (3, "A", "B", "dominates"),
        (4, "A", "B", "crosses"),
        (5, "A", "B", None),
        (1, "A", "C", "equal"),
    )
    assert cells(pr.charts.dominance(table.lazy())) == {
        ("A", "B"): "2 of 4",
        ("B", "A"): "1 of 4",
        ("A", "C"): "0 of 1",
        ("C", "A"): "0 of 1",
    }


def test_dominance_in_one_block_is_a_word():
    table = relations(
        (1, "A", "B", "dominates"), (1, "A", "C", "crosses"), (1, "B", "C", None), key="x.y"
    )
    assert cells(pr.charts.dominance(table.drop("fold"))) == {
        ("A", "B"): "dominates",
        ("B", "A"): "dominated",
        ("A", "C"): "crosses",
        ("C", "A"): "crosses",
        ("B", "C"): "–",
        ("C", "B"): "–",
    }


@pytest.mark.parametrize(
    "wrong", [pl.DataFrame(), predictions().head(3), relations().drop("model_a")]
)
def test_dominance_of_another_table_is_refused(wrong):
    with pytest.raises(pr.errors.InvalidTable, match=r"(?s)expected are two.*Hint:.*dominance"):
        pr.charts.dominance(wrong)


HOSTILE = ["</script><script>alert(1)</script>", "a.b[0]", "datum.x", '"+alert(1)+"']


@pytest.mark.parametrize("name", sorted({*CHARTS, "dominance"}))
def test_hostile_names_are_drawn_as_text(name, tmp_path):
    svg, html = pr.charts.export(
        CASES[name](predictions(HOSTILE)), tmp_path, "chart", ["svg", "html"]
    )
    assert "<script>" not in svg.read_text()
    assert "<script>alert(1)" not in html.read_text()
    drawn = svg.read_text().replace("&quot;", '"')
    assert all(escape(model, quote=False) in drawn for model in HOSTILE)
