"""Constraints on thresholds, and promises that they hold beyond the table."""

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from scipy.stats import binom, binomtest, norm

import polaroc as pr
from polaroc.errors import NotSupported

NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.datasets.twenty_scores()


def table(seed=0, positives=60, negatives=540, shift=2.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    return pl.DataFrame({"truth": truth, "score": rng.normal(shift * truth)})


def points(rows, rule=None, **asked) -> pl.DataFrame:
    return pr.operating_points(rows, rule, **NAMES, **asked)


# Constraints

RATES = {
    "recall": pr.rates.recall, "precision": pr.rates.precision, "npv": pr.rates.npv,
    "specificity": pr.rates.specificity, "accuracy": pr.rates.accuracy, "error": pr.rates.error,
    "informedness": pr.rates.informedness, "fnr": pr.rates.fnr, "posfrac": pr.rates.posfrac,
    "fpr": lambda t, f, skew: f,
}  # fmt: skip
AT_MOST = ("error", "fnr", "posfrac", "fpr")


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize(
    ("ends", "limit"), [((0.02, 0.3), 0.15), ((0.4, 0.95), 0.6), ((0.18, 0.2), 0.9)]
)
def test_a_constraint_is_kept_at_every_prior_of_the_range(name, ends, limit):
    for seed in range(4):
        curve = pr.curve(table(seed, 30, 70, 1.5), **NAMES)
        called = curve.filter(pl.col("threshold").is_not_null())
        t, f = called["tpr"].to_numpy(), called["fpr"].to_numpy()
        # Where nothing is called negative there is no npv, nor any case that it is too low for.
        with np.errstate(invalid="ignore"):
            rates = np.array([RATES[name](t, f, pr.skew(p)) for p in np.linspace(*ends, 101)])
        kept = (rates <= limit if name in AT_MOST else rates >= limit).all(axis=0)
        found = pr.operating_points(curve, "max_recall", over=ends, constraints={name: limit})
        recall = found["tpr"].item()
        assert recall == (t[kept].max() if kept.any() else None)
        if recall is not None:
            assert found["fpr"].item() == f[kept & (t == recall)].min()


def test_a_point_on_a_limit_keeps_it():
    # Of 1 positive and 3 negatives the rates 0.4 and 0.2 are one of four.
    rows = {"truth": [1] * 5 + [0] * 15, "score": [2] * 2 + [1] * 3 + [2] * 3 + [1] * 12}
    found = points(rows, "max_recall", priors=0.25, constraints={"posfrac": 0.25, "fpr": 0.2})
    assert found.select("threshold", "tpr", "fpr").row(0) == (2, 0.4, 0.2)


@pytest.mark.parametrize(
    ("rule", "asked", "rate", "note"),
    [
        ("max_recall", {"constraints": {"fpr": 0.01}}, None, "no threshold keeps the constraints"),
        ("fpr", {"target": 0.01}, None, "no threshold reaches the target"),
        ("fpr", {"target": 0.01, "confidence": 0.9}, None,
         "no threshold can be promised: none keeps the constraints on this table"),
        ("recall", {"target": 0.7, "confidence": 0.9}, None,
         "no threshold can be promised: 2 positives and 4 negatives are too few"),
        ("informedness", {"constraints": {"fpr": 0.01}}, 0,
         "raise no alarm: no threshold keeps the constraints"),
        ("cost", {"constraints": {"posfrac": 0.5}, "confidence": 0.9}, 0,
         "raise no alarm: no threshold can be promised: 2 positives and 4 negatives are too few"),
        ("cost", {"cost_fp": 99}, 0,
         "raise no alarm: nothing is called positive: that costs least"),
        ("balanced", {"priors": 0.01}, 0,
         "raise no alarm: nothing is called positive by the rule 'balanced'"),
    ],
)  # fmt: skip
def test_without_a_threshold_a_note_says_why(rule, asked, rate, note):
    # The best score is a negative's: with hardly any false alarms nothing may be called positive.
    rows = {"truth": [0, 1, 0, 1, 0, 0], "score": [6, 5, 4, 3, 2, 1]}
    found = points(rows, rule, **{"priors": 0.3} | asked)
    assert found.select("threshold", "tpr", "fpr", "note").row(0) == (None, rate, rate, note)


@pytest.mark.parametrize(
    ("rule", "target"), [("recall", 1), ("precision", 1), ("precision", 0), ("fpr", 0), ("fpr", 1),
                         ("capacity", 1)],
)  # fmt: skip
def test_targets_of_none_and_all_are_kept_over_a_range_as_at_each_prior(rule, target):
    where = ["threshold", "tpr", "fpr"]
    found = points(TWENTY, rule, target=target, over=(0.05, 0.2))
    for prior in (0.05, 0.2):
        at = points(TWENTY, rule, target=target, priors=prior)
        assert found.select(where).rows() == at.select(where).rows()


# How often a promise is broken


def at_the_edge(seed, tables, lines, top=0.6, models=1):
    """Scores whose rates lie on the edge of what is asked for, but at the highest thresholds.

    A score is minus the rate of false alarms. Recall is high without any, so that something can be
    promised, and then just what all lines (slope, constant) ask for: any promise there is broken.
    """
    rng, positives, negatives = np.random.default_rng(seed), 50, 450
    quantile = rng.random((tables * models, positives))
    rate = np.min([(quantile - constant) / slope for slope, constant in lines], axis=0)
    rate = np.where(quantile < top, -quantile, rate)
    rates = np.concatenate([rate, rng.random((tables * models, negatives))], axis=1)
    place = np.repeat(np.arange(tables * models), positives + negatives)
    truth = np.tile(np.arange(positives + negatives) < positives, tables * models)
    rows = pl.DataFrame({"table": place // models, "model": place % models, "truth": truth,
                         "score": -rates.ravel()})  # fmt: skip
    return rows, -min((top - constant) / slope for slope, constant in lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constraints", "over", "lines", "top"),
    [
        ({"precision": 0.5}, (0.05, 0.2), [(19, 0)], 0.6),
        ({"precision": 0.6, "recall": 0.2}, (0.1, 0.3), [(13.5, 0)], 0.6),
        ({"accuracy": 0.75}, (0.3, 0.6), [(7 / 3, 1 / 6), (2 / 3, 7 / 12)], 0.9),
    ],
)
def test_at_the_edge_a_promise_is_broken_no_more_often_than_said(constraints, over, lines, top):
    tables = 1_500
    rows, edge = at_the_edge(5, tables, lines, top)
    found = pr.operating_points(
        rows.drop("model"), "max_recall", constraints=constraints, over=over, confidence=0.95,
        by="table", **NAMES,
    )  # fmt: skip
    broken = (found["threshold"] <= edge).sum()
    assert found["threshold"].null_count() < 0.05 * tables
    # Four standard errors.
    assert broken / tables < 0.05 + 4 * (0.05 * 0.95 / tables) ** 0.5
    assert broken > 0


@pytest.mark.slow
def test_at_an_estimated_prior_a_promise_is_broken_no_more_often_than_said():
    tables, size, prior, top = 400, 2_000, 0.1, 0.7
    slope = (1 - prior) / prior
    rows, edge = at_the_edge(21, tables, [(slope, 0)], top)
    rows = rows.drop("model")
    rng = np.random.default_rng(22)
    quantile, is_positive = rng.random((tables, size)), rng.random((tables, size)) < prior
    # As `at_the_edge` draws them.
    rate = np.where(quantile < top, -quantile, quantile / slope)
    score = -np.where(is_positive, rate, quantile)
    used = pl.DataFrame({"table": np.repeat(np.arange(tables), size), "score": score.ravel()})
    estimates = pr.estimate_prior(rows, used, by="table", **NAMES)

    def share_broken(lower):
        # Precision is least at the lower end.
        found = points(
            rows, "max_recall", by="table", constraints={"precision": 0.5}, confidence=0.95,
            priors=estimates.with_columns(lower=lower, upper=0.5),
        )  # fmt: skip
        assert found["threshold"].null_count() < 0.05 * tables
        return (found["threshold"] <= edge).sum() / tables

    # At most .05 and three standard errors of so many tables: .083.
    most = 0.05 + 3 * (0.05 * 0.95 / tables) ** 0.5
    assert share_broken(pl.col("lower")) <= most
    # A promise at the estimate alone, as if it were exact, is broken more often.
    assert share_broken(pl.col("prior")) > share_broken(pl.col("lower"))


SHARES = np.linspace(0, 1, 501)
EDGES = {
    "fpr": (0.2, lambda prior: (SHARES, 0.2 + 0 * SHARES)),
    "posfrac": (0.3, lambda prior: (SHARES, (0.3 - prior * SHARES) / (1 - prior))),
}


@pytest.mark.parametrize(
    ("positives", "negatives", "prior", "name"),
    [(12, 40, 0.2, "posfrac"), (30, 25, 0.6, "posfrac"),
     (5, 60, 0.2, "fpr")],
)  # fmt: skip
def test_a_promise_at_one_threshold_is_broken_no_more_often_than_said(
    positives, negatives, prior, name
):
    """By all tables of two scores, and their probabilities at all rates on the edge."""
    limit, edge = EDGES[name]
    tp, fp = (grid.ravel() for grid in np.indices((positives + 1, negatives + 1)))
    called = [np.arange(size) < count[:, None]
              for size, count in ((positives, tp), (negatives, fp))]  # fmt: skip
    rows = pl.DataFrame({
        "table": np.repeat(np.arange(tp.size), positives + negatives),
        "truth": np.tile(np.arange(positives + negatives) < positives, tp.size),
        "score": np.concatenate(called, axis=1).ravel().astype(float),
    })  # fmt: skip
    found = points(rows, "max_recall", by="table", priors=prior, constraints={name: limit},
                   confidence=0.95)  # fmt: skip
    is_promised = (found.sort("table")["threshold"] == 1).fill_null(False).to_numpy()
    assert is_promised.any()
    t, f = edge(prior)
    t, f = (one[(f >= 0) & (f <= 1)][:, None] for one in (t, f))
    chance = binom.pmf(tp, positives, t) * binom.pmf(fp, negatives, f)
    assert 0.015 < (chance @ is_promised).max() <= 0.05


@pytest.mark.parametrize("recall", [0.3, 0.8, 0.97])
def test_recall_alone_has_the_exact_binomial_limit(recall):
    rows = table(positives=200, negatives=90)
    found = points(rows, "recall", target=recall, confidence=0.95)
    least = next(
        k for k in range(201)
        if binomtest(k, 200, alternative="greater").proportion_ci(0.95).low >= recall
    )  # fmt: skip
    assert found["tpr"].item() == least / 200


@pytest.mark.parametrize("limits", [{"fpr": 0.1}, {"specificity": 0.9}])
def test_false_alarms_alone_have_the_exact_binomial_limit(limits):
    found = points(table(negatives=300), "max_recall", constraints=limits, confidence=0.95)
    most = next(
        k for k in range(300, 0, -1)
        if binomtest(k, 300, alternative="less").proportion_ci(0.95).high <= 0.1
    )  # fmt: skip
    kept = pr.curve(table(negatives=300), **NAMES).filter(pl.col("fp") <= most)
    assert found["tpr"].item() == kept["tpr"].max()
    assert found["fpr"].item() == kept.filter(pl.col("tpr") == kept["tpr"].max())["fpr"].min()


def test_with_many_cases_a_promised_share_of_alerts_is_nearly_used():
    # At another share of positives than among these cases.
    rows = table(positives=3_000, negatives=27_000)
    found = points(rows, "capacity", target=0.2, priors=0.02, confidence=0.95)
    t, f = found.select("tpr", "fpr").row(0)
    assert 0.19 < 0.02 * t + 0.98 * f < 0.2


@pytest.mark.parametrize(
    ("limits", "ends"),
    [({"precision": 0.6}, (0.05, 0.2)), ({"precision": 0.8}, (0.1, 0.12)),
     ({"accuracy": 0.952}, (0.05, 0.0501)), ({"error": 0.25}, (0.45, 0.55)),
     ({"precision": 0.5, "recall": 0.2, "fpr": 0.05}, (0.05, 0.2))],
)  # fmt: skip
def test_with_many_cases_nearly_the_best_recall_is_promised(limits, ends):
    """A table of normal scores, whose rates are known."""
    shift = 2**0.5 * norm.ppf(0.9)
    at = np.linspace(-2, 6, 8_001)
    t, f = norm.sf(at - shift), norm.sf(at)
    kept = np.all([
        (rate <= limit) if name in AT_MOST else (rate >= limit)
        for name, limit in limits.items() for end in ends
        for rate in [RATES[name](t, f, pr.skew(end))]
    ], axis=0)  # fmt: skip
    rows = table(7, 12_500, 87_500, shift)
    found = points(rows, "max_recall", constraints=limits, over=ends, confidence=0.95)
    threshold = found["threshold"].item()
    assert kept[np.searchsorted(at, threshold)]
    assert t[kept].max() - 0.04 < norm.sf(threshold - shift) <= t[kept].max()


def test_with_many_cases_nearly_the_fewest_alarms_are_promised_an_npv():
    shift = 2**0.5 * norm.ppf(0.9)
    at = np.linspace(-2, 6, 8_001)
    best = at[pr.rates.npv(norm.sf(at - shift), norm.sf(at), pr.skew(0.2)) >= 0.97].max()
    rows = table(8, 12_500, 87_500, shift)
    found = points(rows, "fewest_alarms", constraints={"npv": 0.97}, priors=0.2, confidence=0.95)
    assert best - 0.08 < found["threshold"].item() <= best


@pytest.mark.parametrize(
    ("limits", "ends"),
    [({"precision": 0.3}, (0.05, 0.2)), ({"precision": 0.6}, (0.1, 0.12)),
     ({"accuracy": 0.88}, (0.1, 0.12)), ({"informedness": 0.55}, (0.1, 0.12)),
     ({"precision": 0.4, "recall": 0.3}, (0.1, 0.2))],
)  # fmt: skip
def test_more_cases_with_the_same_rates_lose_no_promise(limits, ends):
    gained = 0
    for seed in range(6):
        rows = table(seed, 100, 700, 1.8)
        recalls = [
            points(rows.with_columns(count=count), "max_recall", constraints=limits, over=ends,
                   confidence=0.95, count="count")["tpr"].item() or 0
            for count in (1, 2, 8, 64)
        ]  # fmt: skip
        assert recalls == sorted(recalls)
        gained += recalls[-1] - recalls[0]
    assert gained > 0.1


def test_a_limit_that_is_just_kept_is_promised_with_no_number_of_cases():
    rows = {"truth": [1] * 5 + [0] * 15, "score": [1] * 20}
    found = points(rows, "precision", target=0.25, confidence=0.9)
    assert found["threshold"].item() is None
    assert found["note"].item() == (
        "no threshold can be promised: too few keep the constraints on this table, or by too little"
    )


# Points with a promise


def test_points_say_what_they_promise():
    asked = {"constraints": {"precision": 0.5}, "over": (0.05, 0.2)}
    safe = points(table(), "max_recall", confidence=0.95, **asked)
    plain = points(table(), "max_recall", **asked)
    assert safe["threshold"].item() > plain["threshold"].item()
    assert safe["promise"].item() == (
        "With 95 % confidence at least 5 of 10 alarms are right, as long as 5 to 20 % are positive."
    )
    assert safe.select("prior", "over").row(0) == (0.125, "0.05 to 0.2")
    assert "promise" not in plain.columns
    # Estimated ends are rounded so that the promise holds between them.
    for lower, upper, words in (
        (0.0811735, 0.123033, "8.12 to 12.3 %"),
        (0.07, 0.3, "7 to 30 %"),
        (0.1000012, 0.1000018, "10.00012 to 10.00018 %"),
    ):
        estimated = pl.DataFrame({"prior": [0.1], "lower": [lower], "upper": [upper]})
        found = points(table(), "capacity", target=0.3, confidence=0.9, priors=estimated)
        assert found["promise"].item().endswith(f"as long as {words} are positive.")
    several = {"recall": 0.5, "posfrac": 0.25, "fnr": 0.5, "informedness": 0.2}
    assert points(table(), constraints=several, priors=0.1, confidence=0.9)["promise"].item() == (
        "With 90 % confidence at least 5 of 10 positives are found, at most 25 of 100 cases raise "
        "an alarm, at most 5 of 10 positives are missed and recall is above the false positive "
        "rate by at least 0.2, as long as 10 % are positive."
    )


@pytest.mark.parametrize("rule", ["recall", "precision", "fpr", "capacity"])
def test_the_target_of_a_rule_is_promised_and_more_confidence_costs_more(rule):
    target = {"recall": 0.7, "precision": 0.6, "fpr": 0.1, "capacity": 0.2}[rule]
    found = [
        points(table(), rule, target=target, confidence=confidence)
        for confidence in (None, 0.8, 0.99)
    ]
    direction = -1 if rule == "recall" else 1
    at = np.array([direction * one["threshold"].item() for one in found])
    assert at[0] < at[1] <= at[2]
    if rule != "recall":
        name = {"capacity": "posfrac"}.get(rule, rule)
        same = points(table(), "max_recall", constraints={name: target}, confidence=0.99)
        assert_same_numbers(same.drop("rule"), found[-1].drop("rule"))


def test_the_cheapest_threshold_among_those_that_are_promised_is_taken():
    asked = {"over": (0.05, 0.2), "cost_fn": 3}
    cheap = points(table(), "cost", **asked)
    kept = points(table(), "cost", constraints={"recall": 0.8}, confidence=0.9, **asked)
    # Recall is promised from so many positives on.
    least = next(
        k for k in range(61)
        if binomtest(k, 60, alternative="greater").proportion_ci(0.9).low >= 0.8
    )  # fmt: skip
    loss = [
        pr.rates.loss(t, f, pr.skew(0.125), cost_fn=3)
        for t, f, tp in pr.curve(table(), **NAMES).select("tpr", "fpr", "tp").rows()
        if tp >= least
    ]
    t, f = kept.select("tpr", "fpr").row(0)
    assert pr.rates.loss(t, f, pr.skew(0.125), cost_fn=3) == pytest.approx(min(loss))
    assert kept["tpr"].item() > cheap["tpr"].item()


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_weights_promise_nothing(weight):
    """Also whole ones, of which a sum is no number of cases."""
    asked = {"rule": "recall", "target": 0.5, "confidence": 0.9}
    rows = table().with_columns(weight=weight)
    curve = pr.curve(rows, **NAMES, weight="weight")
    for frame, roles in ((curve, {}), (rows, NAMES | {"weight": "weight"})):
        with pytest.raises(NotSupported, match=r"operating_points\(confidence=\) does not support"):
            pr.operating_points(frame, **asked, **roles)


@pytest.mark.parametrize("key", ["positives", "negatives"])
def test_a_class_that_is_absent_has_no_promise(key):
    frame = table().filter(pl.col("truth") == (key == "negatives"))
    point = points(frame, "recall", target=0.5, confidence=0.9)
    assert point.select("threshold", "promise", "note").row(0) == (None, None, f"no {key}")


def test_a_threshold_above_all_negatives_can_be_promised():
    score = np.concatenate([np.linspace(1, 2, 400), np.linspace(0, 0.9, 400)])
    perfect = pl.DataFrame({"truth": score >= 1, "score": score})
    found = points(perfect, constraints={"precision": 0.9}, confidence=0.95, priors=0.5)
    assert found.select("tpr", "fpr", "threshold").row(0) == (1.0, 0.0, 1.0)


# Several models


def models(count: int = 3, seed: int = 0):
    return pl.concat(
        table(seed * 10 + i, shift=2.4).with_columns(model=pl.lit(f"m{i}"), case=pl.int_range(600))
        for i in range(count)
    )


ASKED = {"rule": "max_recall", "priors": 0.1, "constraints": {"precision": 0.4}}


@pytest.mark.parametrize(("prior", "limit", "shift"), [(0.4, 0.8, 1.5), (0.6, 0.55, 1.0)])
@pytest.mark.parametrize("seed", range(5))
def test_npv_is_promised_as_precision_is_of_the_other_class(seed, prior, limit, shift):
    # No start of tests lies halfway between two thresholds.
    rows = table(seed, 61, 92, shift)
    turned = rows.select(~pl.col("truth"), -pl.col("score"))
    npv = points(rows, "fewest_alarms", constraints={"npv": limit}, priors=prior, confidence=0.9)
    precision = points(
        turned, "max_recall", constraints={"precision": limit}, priors=1 - prior, confidence=0.9
    )
    # The numerical integrals behind the tests differ a little.
    known, found = (1 - npv["fpr"].fill_null(1)).item(), precision["tpr"].fill_null(0).item()
    assert found == pytest.approx(known, abs=0.1)


@pytest.mark.slow
def test_the_model_that_is_picked_keeps_its_promise_where_models_share_the_error():
    tables, count = 250, 6
    rows, edge = at_the_edge(11, tables, [(19, 0)], models=count)
    asked = {"constraints": {"precision": 0.5}, "priors": 0.05, "confidence": 0.95}
    together = points(rows, "max_recall", by="table", model="model", **asked)
    alone = points(rows.rename({"model": "key"}), "max_recall", by=["table", "key"], **asked)
    # Picked is the model of the greatest recall, so one whose threshold is low.
    shared, own = (
        (one.group_by("table").agg(pl.col("threshold").min())["threshold"] <= edge).mean()
        for one in (together, alone)
    )
    assert shared < 0.05 + 3 * (0.05 * 0.95 / tables) ** 0.5
    assert shared < own


@pytest.mark.parametrize("limits", [{"precision": 0.4}, {"recall": 0.8}])
def test_models_share_the_error_and_keys_do_not(limits):
    rows, asked = models(), ASKED | {"constraints": limits}
    together = points(rows, model="model", **asked, confidence=0.9)
    curves = pr.curve(rows, **NAMES, model="model")
    alone = pr.operating_points(curves, **asked, confidence=1 - 0.1 / 3)
    assert_same_numbers(together.drop("promise"), alone.drop("promise"))
    assert together["promise"].str.contains("With 90 % confidence").all()
    each = pr.operating_points(curves, **asked, confidence=0.9)
    sites = points(rows.rename({"model": "site"}), by="site", **asked, confidence=0.9)
    assert_same_numbers(sites.rename({"site": "model"}), each)
    one = points(rows.filter(model="m1"), model="model", **asked, confidence=0.9)
    assert_same_numbers(one, each.filter(model="m1"))


def test_models_are_counted_within_each_by():
    rows = models(4).with_columns(site=pl.col("model").replace({"m0": "x"}).str.head(1))
    found = points(rows, model="model", by="site", **ASKED, confidence=0.9)
    for site, count in (("x", 1), ("m", 3)):
        own = pr.curve(rows.filter(site=site), **NAMES, by="site", model="model")
        expected = pr.operating_points(own, **ASKED, confidence=1 - 0.1 / count)
        assert_same_numbers(found.filter(site=site).drop("promise"), expected.drop("promise"))


def test_choose_shares_the_error_once():
    tuning, test = models(3, seed=1), models(3, seed=2).with_columns(pl.col("case") + 1_000)
    asked = {"over": (0.1, 0.2), "constraints": {"precision": 0.3}, "confidence": 0.9}
    chosen = pr.choose(test, **NAMES, model="model", case="case", tuning=tuning, **asked)
    expected = points(tuning, model="model", **asked)
    at = ["model", "threshold"]
    assert_same_numbers(chosen.models.select(at).sort("model"), expected.select(at).sort("model"))


# Clusters

CLUSTERED = {
    "precision": {"constraints": {"precision": 0.6}, "priors": 0.2},
    "recall": {"rule": "recall", "target": 0.7},
    "capacity": {"rule": "capacity", "target": 0.3, "priors": 0.3},
    "over": {"constraints": {"precision": 0.3, "recall": 0.4}, "over": (0.1, 0.3)},
}


def patients(rng, positive=20, negative=80, rows=10, alike=0.5, lead=2.2):
    """Patients of one class each, whose rows share a part of the variance of their scores."""
    patient = np.repeat(np.arange(positive + negative), rows)
    truth = patient < positive
    shared, own = rng.normal(size=positive + negative)[patient], rng.normal(size=patient.size)
    score = lead * truth + alike**0.5 * shared + (1 - alike) ** 0.5 * own
    return pl.DataFrame({"patient": patient, "truth": truth, "score": score}).with_row_index("row")


PATIENTS = patients(np.random.default_rng(3))


def of_clusters(rows, cluster=None, **asked):
    return points(rows, confidence=0.95, cluster=cluster, **asked)


@pytest.mark.parametrize("asked", CLUSTERED.values(), ids=CLUSTERED)
def test_clusters_of_one_row_and_copies_promise_what_the_rows_do_and_patients_less(asked):
    of_rows = pr.operating_points(pr.curve(PATIENTS, **NAMES), confidence=0.95, **asked)
    assert of_rows["promise"].is_not_null().all()
    assert_frame_equal(of_clusters(PATIENTS, "row", **asked), of_rows)
    counts = ("positives", "negatives")
    copied = of_clusters(pl.concat([PATIENTS] * 3), "row", **asked)
    assert_frame_equal(copied.drop(counts), of_rows.drop(counts))
    # As many cases of their own say more.
    assert (
        not of_clusters(pl.concat([PATIENTS] * 3), **asked)
        .drop(counts)
        .equals(of_rows.drop(counts))
    )
    of_patients = of_clusters(PATIENTS, "patient", **asked)
    tighter = -1 if asked.get("rule") == "recall" else 1
    assert (tighter * (of_patients["threshold"] - of_rows["threshold"]) > 0).all()


def test_each_key_has_the_effect_of_its_own_clusters():
    other = patients(np.random.default_rng(4), alike=0.9)
    both = pl.concat([PATIENTS.with_columns(site=pl.lit("a")),
                      other.with_columns(site=pl.lit("b"))])  # fmt: skip
    asked = CLUSTERED["precision"]
    found = of_clusters(both, "patient", by="site", **asked)
    alone = [of_clusters(rows, "patient", **asked) for rows in (PATIENTS, other)]
    assert_frame_equal(found.drop("site"), pl.concat(alone))
    lazy = of_clusters(both.lazy(), "patient", by="site", **asked)
    assert lazy.collect_schema() == found.schema
    assert_frame_equal(lazy.collect(), found)


def test_too_few_clusters_promise_nothing():
    few = PATIENTS.with_columns(pl.col("patient") // 5)
    found = of_clusters(few, "patient", **CLUSTERED["precision"])
    assert found["threshold"].item() is None
    assert "too few to know how alike" in found["note"].item()


@pytest.mark.slow
def test_promises_of_clusters_are_kept():
    rng, broken, samples = np.random.default_rng(11), {"row": 0, "patient": 0}, 40
    for _ in range(samples):
        rows = patients(rng, 20, 40, 10, alike=0.8, lead=0)
        # Recall of thresholds above 0 is below one half.
        for cluster in broken:
            found = of_clusters(rows, cluster, rule="recall", target=0.5)
            broken[cluster] += found["threshold"].item() > 0
    # Three standard errors above 0.05; clusters matter, else the test shows nothing.
    assert broken["patient"] <= samples * 0.05 + 3 * (samples * 0.05 * 0.95) ** 0.5
    assert broken["row"] > samples * 0.2


def test_clusters_of_rows_that_are_not_alike_cost_little():
    # A rate varies between clusters as it is at some thresholds, not as if rows were copies.
    few = patients(np.random.default_rng(4), positive=200, negative=200, rows=5, alike=0.0)
    asked = {"constraints": {"precision": 0.8}, "priors": 0.3}
    alone, clustered = (of_clusters(few, name, **asked)["tpr"].item() for name in (None, "patient"))
    of_a_fifth = of_clusters(few.gather_every(5), **asked)["tpr"].item()
    # Effective numbers have other starts than numbers of cases: a positive more may be found.
    assert -2 / 1_000 < alone - clustered < (alone - of_a_fifth) / 4
