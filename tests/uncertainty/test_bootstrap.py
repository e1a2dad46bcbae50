import binormal
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from sizes import replicates

import polaroc as pr
from polaroc.base.columns import INTERVAL
from polaroc.base.private_columns import CLUSTER, DRAW, TRUTH
from polaroc.errors import InvalidArgument
from polaroc.predictions.row_checks import SCORE
from polaroc.uncertainty.bootstrap import limits_of_draws
from polaroc.uncertainty.draws import draws_of_cells, draws_of_clusters, generator
from polaroc.uncertainty.pseudo_cases import BEST, WORST, counts_with_pseudo_cases

NAMES = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.2)
TWENTY = pr.datasets.twenty_scores()
rng = np.random.default_rng(12)
TABLE = pl.DataFrame({"model": np.repeat(["A", "B"], 200), "truth": rng.random(400) < 0.3})
TABLE = TABLE.with_columns(
    score=(pl.Series(rng.normal(size=400)) + 1.5 * pl.col("truth")).round(1),
    patient=pl.Series(np.tile(np.arange(200) // 4, 2)),
)
CURVES = pr.curve(TABLE, **NAMES)
ONE = CURVES.filter(pl.col("model") == "A").drop("model")
COLUMNS = [
    "measure", "prior", "estimate", "lower", "upper", "level", "std_error", "positives",
    "negatives", "note",
]  # fmt: skip


# --- draws -------------------------------------------------------------------------------------


def test_draws_of_cells_have_fixed_totals_and_the_counts_of_the_cells_as_means():
    draws = 3000
    drawn = pl.concat(draws_of_cells(ONE, generator(0, ()), draws))
    totals = ONE.select("positives", "negatives").row(0)
    assert drawn.select("positives", "negatives").unique().rows() == [totals]
    assert set(drawn[DRAW]) == set(range(draws))
    per_draw = drawn.group_by(DRAW).agg(pl.col("pos").sum(), pl.col("tp").max())
    assert set(per_draw["pos"]) == set(per_draw["tp"]) == {totals[0]}
    # The mean AUC of the draws is the AUC: it is linear in each class.
    expected = pr.auc(ONE)["estimate"].item()
    area = (pl.col("pos") * (pl.col("negatives") - pl.col("fp") + pl.col("neg") / 2)).sum()
    found = drawn.group_by(DRAW).agg(area / (totals[0] * totals[1]))["pos"]
    assert found.mean() == pytest.approx(expected, abs=4 * found.std() / draws**0.5)


# Half a case more of each class, which may be drawn as the others are, ranked worst or best.
def drawn_rows(draws: int, order: int) -> pl.DataFrame:
    table = TABLE.filter(pl.col("model") == "A").select("truth", "score")
    far = 1e6 * order
    ends = pl.DataFrame({"truth": [True, False], "score": [far, -far]}, schema=table.schema)
    both, rng = pl.concat([table, ends]), np.random.default_rng(5)
    drawn_rows = []
    for label in (1, 0):
        cases = np.flatnonzero(both["truth"].to_numpy() == label)
        shares = np.append(np.ones(cases.size - 1), 0.5 * abs(order))
        size = (draws, cases.size - 1)
        drawn_rows.append(rng.choice(cases, size, p=shares / shares.sum()))
    rows = np.hstack(drawn_rows)
    return both[rows.ravel()].with_columns(draw=np.repeat(np.arange(draws), rows.shape[1]))


@pytest.mark.slow
def test_draws_of_cells_are_draws_of_rows():
    draws, asked = 3000, {"priors": 0.1, "over": OVER, "measures": ["auc", "auprec", "iauprec"]}
    places = [pr.evaluate(drawn_rows(draws, i), **NAMES, by="draw", **asked) for i in (0, -1, 1)]
    found = pr.bootstrap(ONE, **asked, draws=draws)
    for measure in asked["measures"]:
        values = [own.filter(measure=measure)["estimate"] for own in places]
        limits, error = found.filter(measure=measure), values[0].std()
        assert limits["std_error"].item() == pytest.approx(error, rel=0.07), measure
        for name, share, widest in (("lower", 0.025, min), ("upper", 0.975, max)):
            expected = widest(own.quantile(share, interpolation="linear") for own in values)
            assert limits[name].item() == pytest.approx(expected, abs=error / 4), measure


def test_draws_of_clusters_take_all_cases_of_a_cluster_or_none():
    cases = TABLE.filter(pl.col("model") == "A").select(
        pl.col("truth").alias(TRUTH), pl.col("score").alias(SCORE), pl.col("patient").alias(CLUSTER)
    )
    whole = cases.with_columns(pl.lit(1).alias(CLUSTER))
    drawn = pl.concat(draws_of_clusters(whole, generator(0, ()), 5))
    segments = ONE.filter(pl.col("pos") > 0).select("pos", "neg", "tp", "fp").rows()
    for _, draw in drawn.group_by(DRAW):
        assert draw.select("pos", "neg", "tp", "fp").rows() == segments
    sizes = pl.concat(draws_of_clusters(cases, generator(0, ()), 500)).select(
        pl.col("positives") + pl.col("negatives")
    )
    assert set(sizes.to_series()) == {200}  # fifty patients of four cases each


@pytest.mark.long
@pytest.mark.slow
def test_sampling_weights_that_vary_make_it_less_sure():
    # By Kish's design effect, since the weights say nothing of the scores.
    rng = np.random.default_rng(4)
    truth = np.arange(2_000) < 600
    table = pl.DataFrame({"truth": truth, "score": rng.normal(size=2_000) + 1.5 * truth})
    weight = rng.permuted(np.repeat([1.0, 9.0], 1_000))
    table = table.with_columns(w=weight)
    asked = {"measures": "auc", "draws": replicates(2_000, 600)}
    plain = pr.bootstrap(table, **NAMES, **asked)["std_error"].item()
    found = pr.bootstrap(table, **NAMES, weight="w", **asked)
    effect = 2_000 * (weight**2).sum() / weight.sum() ** 2
    assert found["std_error"].item() == pytest.approx(plain * effect**0.5, rel=0.1)
    expected = pr.evaluate(table, **NAMES, weight="w", measures="auc")["estimate"]
    assert found["estimate"].item() == pytest.approx(expected.item(), rel=1e-12)
    # Taken for counts, they would make it surer.
    counts = pr.curve(table, **NAMES, count="w").pipe(pr.bootstrap, **asked)
    assert counts["std_error"].item() < plain


@pytest.mark.parametrize("method", ["percentile", "logit"])
def test_clusters_of_weighted_cases_are_those_of_repeated_cases(method):
    # Where whole clusters are drawn, cases of weight two are two cases.
    table = TABLE.filter(pl.col("model") == "A").with_columns(w=pl.int_range(pl.len()) % 2 + 1.0)
    repeated = table.select(pl.all().repeat_by(pl.col("w").cast(pl.Int64)).explode())
    asked = {"cluster": "patient", "measures": "auc", "draws": 300, "method": method}
    found = pr.bootstrap(table, **NAMES, weight="w", **asked)
    expected = pr.bootstrap(repeated, **NAMES, **asked)
    for name in ("estimate", *INTERVAL):
        assert found[name].item() == pytest.approx(expected[name].item(), rel=2e-3), name


@pytest.mark.parametrize("method", ["percentile", "logit"])
def test_how_heavy_a_class_is_leaves_limits_of_the_auc_as_they_are(method):
    # The half case that is added to a class weighs what its cases weigh.
    table = TABLE.filter(pl.col("model") == "A")
    asked = {"measures": "auc", "draws": 300, "weight": "w", "method": method}
    even, heavy = (
        table.with_columns(w=pl.when("truth").then(size).otherwise(1.0))
        .pipe(pr.bootstrap, **NAMES, **asked)
        .row(0, named=True)
        for size in (1.0, 50.0)
    )
    for name in ("estimate", *INTERVAL):
        assert heavy[name] == pytest.approx(even[name], rel=1e-9), name


def test_sampling_weights_that_leave_one_case_of_a_class_have_no_interval():
    first = (pl.int_range(pl.len()).over("truth") == 0) | ~pl.col("truth")
    table = TABLE.filter(pl.col("model") == "A").with_columns(w=pl.when(first).then(2).otherwise(0))
    found = pr.bootstrap(table, **NAMES, weight="w", measures="auc", draws=100)
    assert found.select("lower", "upper").row(0) == (None, None)
    assert "one positive" in found["note"].item()


# --- limits ------------------------------------------------------------------------------------


def test_percentiles_are_scipys_for_one_class():
    # The AUC against a single pair of negatives is a mean over the positives.
    values = np.sort(np.random.default_rng(1).normal(size=40))
    table = pl.DataFrame(
        {"truth": [True] * 40 + [False] * 2, "score": [*np.abs(values), *np.full(2, 0.7)]}
    )
    won = (np.abs(values) > 0.7) * 1.0
    curve = pr.curve(table, **NAMES)
    rng = generator(0, ())
    area = (pl.col("pos") * (pl.col("negatives") - pl.col("fp") + pl.col("neg") / 2)).sum() / 80
    blocks = pl.concat(draws_of_cells(curve, rng, 20_000))
    drawn = blocks.group_by(DRAW).agg(area.alias("auc"))["auc"].to_numpy()
    found = limits_of_draws(won.mean(), drawn, "percentile", 0.95, 1e-3)
    expected = stats.bootstrap(
        (won,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(3)
    )
    assert found[2] == pytest.approx(expected.standard_error, rel=0.03)
    assert found[:2] == pytest.approx(tuple(expected.confidence_interval), abs=0.026)


@pytest.mark.parametrize(("end", "beyond"), [(0, -1e-15), (1, 1 + 1e-15)])
def test_limits_are_not_a_rounding_beyond_what_a_measure_can_be(end, beyond):
    drawn = np.append(np.full(150, beyond), np.linspace(0.4, 0.6, 50))
    assert limits_of_draws(0.55, drawn, "percentile", 0.95, 1e-3)[end] == end


def test_logit_is_symmetric_in_the_log_odds():
    drawn = np.random.default_rng(0).uniform(0.4, 0.8, 500)
    lower, upper = limits_of_draws(0.6, drawn, "logit", 0.95, 1e-3)[:2]
    lower, estimate, upper = (np.log(p / (1 - p)) for p in (lower, 0.6, upper))
    assert upper - estimate == pytest.approx(estimate - lower, rel=1e-9)


# Of draws of the cells alone .25 to .92 held at the first two.
@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "positives", "negatives", "auc"),
    [("percentile", 20, 20, 0.8), ("percentile", 20, 400, 0.9), ("logit", 20, 400, 0.9)],
)  # fmt: skip
def test_coverage_of_the_true_measures(positives, negatives, auc, method):
    curves = binormal.curves(60, positives, negatives, auc, rounded=False, seed=1)
    asked = {"priors": 0.01, "measures": ["auc", "auprec"], "method": method, "draws": 200}
    found = pr.bootstrap(curves, **asked)
    for measure, true in (("auc", auc), ("auprec", binormal.auprec(0.01, auc))):
        own = found.filter(measure=measure).drop_nulls("lower")
        assert own.height >= 57
        # 99 % of samples of 60 at 0.93 have no less.
        assert own.select(pl.lit(true).is_between("lower", "upper").sum()).item() >= 51, measure


@pytest.mark.long
@pytest.mark.slow
def test_few_clusters_of_whole_classes_hold_the_true_area():
    # Ten patients of each class with ten cases each, whose scores share half their variance.
    rng, held, samples = np.random.default_rng(7), 0, replicates(60, 20)
    true = stats.norm.cdf(1 / 2**0.5 * 1.5)
    for seed in range(samples):
        patient = np.repeat(np.arange(20), 10)
        truth = patient < 10
        scores = rng.normal(size=20)[patient] / 2**0.5 + rng.normal(size=200) / 2**0.5 + 1.5 * truth
        table = pl.DataFrame({"truth": truth, "score": scores, "patient": patient})
        asked = {"measures": "auc", "cluster": "patient", "draws": 200, "seed": seed}
        lower, upper = pr.bootstrap(table, **NAMES, **asked).select("lower", "upper").row(0)
        held += lower <= true <= upper
    # As many as 99 % of samples have at 0.93.
    assert held >= stats.binom.ppf(0.01, samples, 0.93)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("method", ["percentile", "logit"])
def test_limits_are_near_those_of_the_influence(method):
    found = pr.bootstrap(CURVES, priors=0.3, over=(0.2, 0.6), method=method)
    expected = pr.intervals(CURVES, priors=0.3, over=(0.2, 0.6))
    for name in ("lower", "upper"):
        moved = (found[name] - expected[name]).abs() / expected["std_error"]
        assert (moved < 0.7).all()


NOTHING_TO_SAY = {
    "constant": ([1.0] * 3, [1.0] * 4, "all draws agree"),
    "perfect": ([3.0, 2.0], [1.0, 0.0], "all draws agree"),
    "one positive": ([1.0], [0.0, 2.0], "one positive"),
    "one negative": ([1.0, 3.0], [2.0], "one negative"),
    "absent": ([1.0, 3.0], [], "no negatives"),
}


@pytest.mark.product
@pytest.mark.parametrize(("positives", "negatives", "note"), NOTHING_TO_SAY.values(),
                         ids=NOTHING_TO_SAY)  # fmt: skip
@pytest.mark.parametrize("method", ["percentile", "logit"])
def test_where_the_sample_says_nothing_limits_are_null_with_a_note(
    positives, negatives, note, method
):
    truth = [True] * len(positives) + [False] * len(negatives)
    table = pl.DataFrame({"truth": truth, "score": [*positives, *negatives]})
    found = pr.curve(table, **NAMES).pipe(pr.bootstrap, measures="auc", method=method, draws=100)
    assert found.select("lower", "upper").row(0) == (None, None)
    assert note in found["note"].item()


# --- tables in, tables out ------------------------------------------------------------------------


def test_an_empty_curve_has_the_same_columns():
    by = ["model"]
    curves = pr.curve(TABLE.filter(pl.col("patient") < 3), **NAMES, by=by, model=None)
    found = pr.bootstrap(curves, draws=100, over=OVER)
    assert found.columns == [*by, *COLUMNS, "over"]
    assert [found.schema[name] for name in INTERVAL] == [pl.Float64] * 3
    empty = pr.bootstrap(curves.clear(), draws=100, over=OVER)
    assert empty.is_empty()
    assert empty.schema == found.schema


@pytest.mark.alike
@pytest.mark.slow
def test_evaluate_resamples_as_bootstrap_does():
    asked = {"priors": ["observed", 0.5], "over": OVER}
    # Of rows that share a patient both say so, of which curves know nothing.
    table = TABLE.drop("patient")
    found = pr.evaluate(table, **NAMES, **asked, intervals="percentile", level=0.9)
    expected = pr.bootstrap(CURVES, **asked, level=0.9)
    assert_frame_equal(found, expected, rel_tol=1e-9)
    rows = pr.bootstrap(table, **NAMES, **asked, level=0.9)
    assert_frame_equal(rows, expected, rel_tol=1e-9)


def test_a_key_draws_alike_whatever_other_keys_there_are():
    both = pr.bootstrap(CURVES, measures="auc", draws=200, seed=3)
    for key in ("B", "A"):
        alone = pr.bootstrap(CURVES.filter(pl.col("model") == key), measures="auc", draws=200,
                             seed=3)  # fmt: skip
        assert_frame_equal(both.filter(pl.col("model") == key), alone, rel_tol=1e-12)
    other = pr.bootstrap(CURVES, measures="auc", draws=200, seed=4)
    assert (both["lower"] != other["lower"]).all()


def test_a_curve_of_counts_is_that_of_cases_and_one_of_weights_has_no_interval():
    counted = TWENTY.with_columns(n=pl.Series([1, 2] * 10))
    repeated = counted.select(pl.all().repeat_by("n").explode())
    found, expected = (
        pr.curve(frame, **NAMES, count=count).pipe(pr.bootstrap, measures="auc", draws=200)
        for frame, count in ((counted, "n"), (repeated, None))
    )
    assert_frame_equal(found.select(INTERVAL), expected.select(INTERVAL), rel_tol=1e-9)
    none = pr.curve(counted, **NAMES, weight="n").pipe(pr.bootstrap, measures="auc")
    assert none.select("lower", "upper").row(0) == (None, None)
    assert "not counts" in none["note"].item()


def test_draws_without_a_class_are_left_out_and_counted():
    # Two patients have all positives, two all negatives: a draw of four lacks the
    # positives, or the negatives, with chance 1/16 each.
    cluster = pl.col("truth") * 2 + pl.int_range(pl.len()) % 2
    table = TWENTY.with_columns(cluster=cluster)
    found = pr.bootstrap(table, **NAMES, cluster="cluster", measures="auc", draws=1600)
    lacking = int(found["note"].item().split()[0])
    assert found["note"].item() == f"{lacking} draws lack a class"
    assert lacking == pytest.approx(200, abs=4 * 200**0.5)
    assert found["std_error"].item() > 0


def test_a_key_that_cannot_be_ranked_has_no_interval():
    lost = pl.when((pl.col("model") == "B") & (pl.col("patient") == 0))
    table = TABLE.lazy().with_columns(lost.then(None).otherwise("score").alias("score"))
    asked = {"measures": "auc", "draws": 100}
    for more in ({}, {"cluster": "patient"}):
        found = pr.bootstrap(table, **NAMES, **asked, **more).collect()
        assert found.select("estimate", *INTERVAL).row(1) == (None,) * 4
        assert found.select("estimate", *INTERVAL).row(0).count(None) == 0
        assert found["note"].is_null().to_list() == [True, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "exact"}, "allowed are 'percentile'"),
        ({"draws": 10}, "from 100 to"),
        ({"draws": 1e3}, "from 100 to"),
        ({"seed": -1}, "≥ 0"),
        ({"level": 0}, "0 < level < 1"),
        ({"interpolation": "hull"}, "hull"),
        ({"cluster": "patient"}, "truth is not given"),
        ({"weight": "patient"}, "truth is not given"),
        ({"truth": "tp"}, "score is not given"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        pr.bootstrap(CURVES, **arguments)


@pytest.mark.parametrize("place", [WORST, BEST])
def test_pseudo_cases_are_half_a_case_of_each_class(place):
    pos, level, neg = (np.array(own) for own in ([1, 2], [0, 3], [1, 0]))
    with_half = counts_with_pseudo_cases(pos, level, neg, 4, place)
    worst = ([1, 2, 0.5], [0.5, 3, 4], [1, 0, 0], 0)
    best = ([0.5, 1, 2], [0, 0, 3], [0, 1, 0], 4.5)
    for found, expected in zip(with_half, worst if place == WORST else best, strict=True):
        assert found == pytest.approx(np.array(expected))
