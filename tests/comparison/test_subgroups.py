import re

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAMES = {"truth": "y", "score": "p"}
LIMITS = ("estimate", "lower", "upper")


def table(seed=0, patients=120, rows=3, groups="abc"):
    """Probabilities of cases in groups of equal size; each patient has a row in every group."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), rows)
    truth = patient % 4 == 0
    score = rng.normal(size=patients)[patient] + rng.normal(size=patient.size) + 1.5 * truth
    return pl.DataFrame({
        "y": truth, "p": 1 / (1 + np.exp(1.5 - score)), "patient": patient,
        "g": [groups[i % len(groups)] for i in range(patient.size)],
    }).with_row_index("row")  # fmt: skip


TABLE = table()
TUNING = table(1)
POINTS = pr.operating_points(pr.curve(TUNING, **NAMES), "recall", target=0.8, priors=[0.1, 0.3])


def test_two_clusterings_cross_between_subgroups_too():
    """Of two of which one divides the other, the coarser one is what tells."""
    wards = TABLE.with_columns(ward=pl.col("patient") % 30)

    def gaps(*clusters):
        found = pr.subgroups(
            wards,
            **NAMES,
            subgroup="g",
            cluster=list(clusters),
            measures=["auc", "calibration_slope"],
        )
        return found.gaps.select("measure", "difference", "lower", "upper").to_numpy()

    assert gaps("ward", "patient")[:, 1:] == pytest.approx(gaps("ward")[:, 1:])
    assert gaps("patient", "ward")[:, 1:] == pytest.approx(gaps("ward")[:, 1:])
    with pytest.raises(InvalidArgument, match="rates and costs"):
        pr.subgroups(wards, **NAMES, subgroup="g", cluster=["ward", "patient"], points=0.5)


@pytest.mark.parametrize("cluster", [None, "patient"])
def test_a_subgroup_has_the_numbers_that_its_rows_have_elsewhere(cluster):
    found = pr.subgroups(
        TABLE, **NAMES, subgroup="g", cluster=cluster, priors=[0.1, 0.3], over=(0.1, 0.3),
        points=POINTS, level=0.9, cost_fn=3,
    ).parts  # fmt: skip
    areas = pr.evaluate(
        TABLE, **NAMES, by="g", cluster=cluster, measures=["auc", "auprec", "iauprec"],
        priors=[0.1, 0.3], over=(0.1, 0.3), intervals="logit", level=0.9,
    )  # fmt: skip
    own = found.filter(
        pl.col("column") == "g", pl.col("measure").is_in(["auc", "auprec", "iauprec"])
    )
    shared = ["measure", "prior", *LIMITS, "std_error", "positives", "negatives"]
    assert_frame_equal(own.select(shared), areas.select(shared))
    assert own["subgroup"].to_list() == areas["g"].to_list()
    rates = pr.apply_thresholds(
        TABLE, POINTS, **NAMES, by="g", cluster=cluster, priors=[0.1, 0.3], intervals="exact",
        level=0.9, cost_fn=3,
    )  # fmt: skip
    for measure, column in {"recall": "tpr", "precision": "precision", "cost": "cost"}.items():
        ends = [column, f"{column}_lower", f"{column}_upper"]
        rows = found.filter(pl.col("column") == "g", pl.col("measure") == measure)
        expected = rates.select("g", *ends) if measure != "recall" else rates.unique(
            ["g", "threshold"], maintain_order=True
        ).select("g", *ends)  # fmt: skip
        assert rows.select(LIMITS).to_numpy() == pytest.approx(
            expected.sort("g", maintain_order=True).select(ends).to_numpy()
        )
    whole = found.filter(pl.col("column").is_null(), pl.col("measure") == "auc")
    (of_all,) = pr.evaluate(TABLE, **NAMES, measures="auc")["estimate"]
    assert whole["estimate"].to_list() == [of_all]


def test_calibration_is_that_of_the_test_of_calibration():
    found = pr.subgroups(TABLE, **NAMES, subgroup="g").parts.filter(column="g")
    expected = pr.check_calibration(TABLE, **NAMES, by="g")
    names = {"calibration_in_the_large": "calibration_in_the_large", "calibration_slope": "slope"}
    for measure, column in names.items():
        assert found.filter(measure=measure)["estimate"].to_list() == pytest.approx(
            expected[column].to_list(), abs=1e-4
        )
    ratio = (expected["prior"] / expected["mean_score"]).to_list()
    assert found.filter(measure="observed_over_expected")["estimate"].to_list() == pytest.approx(
        ratio
    )


def test_the_error_of_calibration_is_that_of_other_samples():
    # Each subgroup is a sample.
    rng, size, samples, found = np.random.default_rng(5), 400, 10, []
    for _ in range(6):
        p = rng.beta(1.5, 4, samples * size)
        of = np.repeat(np.arange(samples), size)
        given = pl.DataFrame({"y": rng.random(p.size) < p, "p": p, "g": of})
        parts = pr.subgroups(given, **NAMES, subgroup="g").parts.filter(column="g")
        found.append(parts.filter(measure="observed_over_expected"))
    whole = pl.concat(found)
    assert whole.height == 60
    assert whole["std_error"].mean() == pytest.approx(whole["estimate"].std(), rel=0.25)


def test_gaps_have_the_limits_of_two_subgroups():
    given = TABLE.filter(pl.col("g") != "c")
    found = pr.subgroups(given, **NAMES, subgroup="g", measures="auc")
    (one, low, high), (other, least, most) = (
        found.parts.filter(subgroup=name).select(LIMITS).row(0) for name in "ab"
    )
    (gap,) = found.gaps.select("difference", "lower", "upper").rows()
    d = one - other
    expected = d - np.hypot(one - low, most - other), d + np.hypot(high - one, other - least)
    assert gap == pytest.approx((d, *expected))


def test_gaps_of_several_pairs_hold_at_once():
    found = pr.subgroups(TABLE, **NAMES, subgroup="g", measures="auc")
    pair = TABLE.filter(pl.col("g") != "c")
    alone = pr.subgroups(pair, **NAMES, subgroup="g", measures="auc").gaps
    both = found.gaps.filter(subgroup_a="a", subgroup_b="b")
    assert found.gaps.height == 3
    assert (found.gaps["difference"].abs().diff().drop_nulls() <= 0).all()
    assert both["lower"].item() < alone["lower"].item()
    assert both["upper"].item() > alone["upper"].item()
    assert found.largest.rows() == found.gaps.head(1).rows()


def test_patients_in_all_subgroups_vary_with_them():
    twice = pl.concat([TABLE.with_columns(g=pl.lit(name)) for name in "ab"])
    asked = {**NAMES, "subgroup": "g", "points": 0.3, "priors": 0.2}
    of_rows = pr.subgroups(twice, **asked).gaps
    of_patients = pr.subgroups(twice, **asked, cluster="patient").gaps
    # The same rows in both are no further apart in any sample: what is left is that limits are not
    # as far to both sides.
    assert (of_patients["difference"] == 0).all()
    assert (of_patients["upper"] < of_rows["upper"] / 2).all()
    other = twice.with_columns(patient=pl.col("patient") + 1000 * (pl.col("g") == "b"))
    apart = pr.subgroups(other, **asked, cluster="patient").gaps
    assert (apart["upper"] > of_rows["upper"]).filter(apart["measure"] == "auc").all()


def test_what_chance_would_give_is_said_and_not_ranked():
    found = pr.subgroups(TABLE, **NAMES, subgroup="g", measures="auc")
    assert "no proof that they are equal" in found.answer
    notes = found.parts.filter(column="g")["note"].to_list()
    assert notes == ["the data do not show that the subgroups differ"] * 3
    worse = TABLE.with_columns(p=pl.when(pl.col("g") == "b").then(1 - pl.col("p")).otherwise("p"))
    found = pr.subgroups(worse, **NAMES, subgroup="g", measures="auc")
    assert "differs by more than chance" in found.answer
    assert not found.parts["note"].drop_nulls().str.contains("than chance puts").any()
    assert set(found.gaps.filter("apart").select("subgroup_a", "subgroup_b").rows()) == {
        ("a", "b"), ("b", "c"),
    }  # fmt: skip


def test_each_column_divides_all_cases_and_null_is_a_subgroup():
    given = TABLE.with_columns(sex=pl.when(pl.col("row") % 5 > 0).then(pl.col("row") % 2))
    found = pr.subgroups(given, **NAMES, subgroup=["g", "sex"], measures="auc")
    sizes = found.parts.select("column", "subgroup", size=pl.col("positives") + pl.col("negatives"))
    assert sizes.rows() == [
        (None, None, 360), ("g", "a", 120), ("g", "b", 120), ("g", "c", 120),
        ("sex", "0", 144), ("sex", "1", 144), ("sex", "null", 72),
    ]  # fmt: skip
    crossed = pr.subgroups(
        given, **NAMES, subgroup=pl.concat_str("g", "sex", separator=" "), measures="auc"
    )
    assert crossed.parts.height == 8


@pytest.mark.parametrize("lazy", [False, True])
def test_models_and_keys_have_subgroups_of_their_own(lazy):
    wide = TABLE.with_columns(q=1 - pl.col("p"), by=pl.col("patient") // 60)
    given = wide.lazy() if lazy else wide
    found = pr.subgroups(given, truth="y", score=["p", "q"], subgroup="g", by="by", measures="auc")
    assert found.keys == ("model", "by")
    assert found.parts.height == 2 * 2 * 4
    assert found.gaps.height == 2 * 2 * 3
    alone = pr.subgroups(
        wide.filter(by=1), truth="y", score="q", subgroup="g", measures="auc"
    )  # fmt: skip
    own = found.gaps.filter(model="q", by=1).drop("model", "by")
    assert_frame_equal(own, alone.gaps)


def test_a_subgroup_without_a_class_stays_and_says_why():
    given = TABLE.with_columns(y=pl.col("y") & (pl.col("g") != "c"))
    found = pr.subgroups(given, **NAMES, subgroup="g", points=0.3)
    lacking = found.parts.filter(subgroup="c", measure="auc").row(0, named=True)
    assert (lacking["estimate"], lacking["positives"]) == (None, 0)
    assert "no positives" in lacking["note"]
    assert set(found.gaps.filter(measure="auc").select("subgroup_a", "subgroup_b").rows()) == {
        ("a", "b")
    }
    assert found.parts.filter(subgroup="c", measure="fpr")["estimate"].item() is not None


def test_rows_that_count_nothing_are_no_subgroup():
    asked = {**NAMES, "subgroup": "g", "cluster": "patient", "points": 0.3}
    given = TABLE.with_columns(n=(pl.col("g") != "c").cast(pl.Int64))
    found = pr.subgroups(given, **asked, count="n")
    same = pr.subgroups(TABLE.filter(pl.col("g") != "c"), **asked)
    assert_frame_equal(found.parts, same.parts, check_dtypes=False)
    assert_frame_equal(found.gaps, same.gaps)


def test_a_subgroup_whose_weights_are_all_zero_has_no_numbers():
    given = TABLE.with_columns(w=pl.when(pl.col("g") == "c").then(0.0).otherwise(1.0))
    found = pr.subgroups(given, **NAMES, subgroup="g", weight="w", points=0.5)
    own, others = (
        found.parts.filter(pl.col("subgroup").is_in(these)) for these in (["c"], ["a", "b"])
    )
    assert own["estimate"].null_count() == own.height
    assert own["note"].null_count() == 0
    assert others["estimate"].null_count() == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidArgument, match=r"(?s)measures is 'recall'.*give points=0.5"):
        pr.subgroups(TABLE, **NAMES, subgroup="g", measures="recall")
    with pytest.raises(InvalidArgument, match=r"(?s)prior is 'observed'.*as a number"):
        pr.subgroups(TABLE, **NAMES, subgroup="g", priors="observed")
    with pytest.raises(InvalidArgument, match="subgroup is not given"):
        pr.subgroups(TABLE, **NAMES)
    with pytest.raises(InvalidArgument, match=r"(?s)'row' has 360 values.*bands"):
        pr.subgroups(TABLE, **NAMES, subgroup="row")
    with pytest.raises(InvalidArgument, match=r"(?s)'auprec', which depends .*priors=0.1"):
        pr.subgroups(TABLE, **NAMES, subgroup="g", measures="auprec")
    with pytest.raises(InvalidArgument, match="prior"):
        pr.subgroups(TABLE, **NAMES, subgroup="g", priors="observed")
    with pytest.raises(InvalidArgument, match="cost_fn is for thresholds"):
        pr.subgroups(TABLE, **NAMES, subgroup="g", cost_fn=2)
    with pytest.raises(InvalidTable, match="just as on the tuning table"):
        pr.subgroups(TUNING, **NAMES, subgroup="g", points=POINTS)


def test_the_summary_has_all_of_it():
    found = pr.subgroups(TABLE, **NAMES, subgroup="g", points=0.3)
    written = found.summary()
    assert written.startswith("By g: ")
    for word in ("recall", "calibration slope", "The largest gaps", "Note: Limits of gaps"):
        assert word in written
    assert max(map(len, written.splitlines())) <= 80
    assert "<table>" in found._repr_html_()


@pytest.mark.long
@pytest.mark.slow
def test_subgroups_of_no_difference_are_told_apart_as_often_as_promised():
    rng, told, samples = np.random.default_rng(8), {"auc": 0, "recall": 0}, 150
    for _ in range(samples):
        truth = np.tile(np.arange(160) < 40, 3)
        given = pl.DataFrame({
            "y": truth, "p": norm.cdf(rng.normal(size=480) + 1.8 * truth - 1),
            "g": np.repeat([0, 1, 2], 160),
        })  # fmt: skip
        gaps = pr.subgroups(given, **NAMES, subgroup="g", measures="auc", points=0.5).gaps
        for measure in told:
            told[measure] += gaps.filter(measure=measure)["apart"].any()
    for count in told.values():
        assert count / samples <= 0.05 + 2 * (0.05 * 0.95 / samples) ** 0.5


def two_models():
    """B is better in group c, and worse elsewhere."""
    better = pl.when(pl.col("g") == "c").then(1.5).otherwise(-0.5) * pl.col("y")
    wide = TABLE.with_columns(q=(pl.col("p").log() + better).exp().clip(0, 0.99))
    worse = pl.when(pl.col("g") == "c").then(1 - pl.col("p")).otherwise("p")
    return wide.with_columns(p=worse)


def test_the_choice_says_where_each_model_is_worst():
    given = two_models()
    scores = {"truth": "y", "score": ["p", "q"], "over": (0.1, 0.3), "case": "row"}
    plain, found = pr.choose(given, **scores), pr.choose(given, **scores, subgroup="g")
    assert_frame_equal(found.models.drop("worst", "worst_subgroup"), plain.models)
    own = pr.evaluate(
        given, truth="y", score=["p", "q"], by="g", measures="iauprec", over=(0.1, 0.3)
    )
    worst = own.group_by("model").agg(
        pl.col("estimate").min(), pl.col("g").sort_by("estimate").first()
    )
    for model, value, where in found.models.select("model", "worst", "worst_subgroup").iter_rows():
        (expected,) = worst.filter(model=model).select("estimate", "g").rows()
        assert (value, where) == (pytest.approx(expected[0]), f"g={expected[1]}")
    assert "the best" in found.warnings[0]
    assert found.warnings[1:] == plain.warnings
    assert found.warnings[0] in " ".join(found.summary().split())


def test_the_difference_where_a_model_is_worst_was_picked_from_many():
    # P is the best on average, and the worst in group c.
    noise = pl.Series(np.random.default_rng(7).normal(size=TABLE.height))
    lead = pl.when(pl.col("g") == "c").then(-2.0).otherwise(2.0) * pl.col("y")
    given = TABLE.with_columns(
        q="p", p=((pl.col("p").log() + lead + noise / 9).exp() / 9).clip(0, 1)
    )
    scores = {"truth": "y", "score": ["p", "q"], "over": (0.1, 0.3), "case": "row"}
    warning = pr.choose(given, **scores, subgroup="g").warnings[0]
    # Of two models in three subgroups there are three differences.
    said = r"In g=c their difference \((\S+) to (\S+), limits for 3 such differences at once\) is"
    limits = re.search(said, warning).groups()
    pair = pr.compare(given.filter(g="c"), "iauprec", **scores, level=1 - 0.05 / 3).pairs
    own = pair.select("lower", "upper").row(0)
    assert sorted(abs(float(one)) for one in limits) == pytest.approx(
        sorted(abs(one) for one in own), abs=6e-4
    )


def test_the_choice_by_cost_says_where_each_model_costs_most():
    given = two_models()
    judged, tuning = (given.filter(pl.col("patient") % 8 // 4 == half) for half in (0, 1))
    asked = {
        "truth": "y", "score": ["p", "q"], "case": "row", "over": (0.1, 0.3), "cost_fn": 4,
        "measure": "expected_cost", "tuning": tuning,
    }  # fmt: skip
    found = pr.choose(judged, **asked, subgroup="g")
    points = dict(found.models.select("model", "threshold").iter_rows())
    own = pr.apply_thresholds(
        judged, points, truth="y", score=["p", "q"], by="g", priors=0.2, intervals="exact",
        cost_fn=4,
    )  # fmt: skip
    most = dict(own.group_by("model").agg(pl.col("cost").max()).iter_rows())
    assert dict(found.models.select("model", "worst").iter_rows()) == pytest.approx(most)
    promised = pr.choose(judged, **asked, subgroup="g", constraints={"recall": 0.2}, confidence=0.8)
    assert "in each subgroup by g" in promised.promise


@pytest.mark.parametrize("name", ["g=h", "=", "a=b=c"])
def test_columns_with_equals_signs_are_columns(name):
    given, asked = two_models(), {"truth": "y", "score": ["p", "q"], "over": (0.1, 0.3)}
    plain = pr.choose(given, **asked, case="row", subgroup="g")
    found = pr.choose(given.rename({"g": name}), **asked, case="row", subgroup=name)
    assert found.warnings[0] == plain.warnings[0].replace("g=", f"{name}=")


@pytest.mark.parametrize("of", [pl.concat_list("g"), pl.col("g").cast(pl.Binary),
                                pl.duration(hours=pl.col("g").rank("dense"))])  # fmt: skip
def test_subgroups_without_names_are_refused(of):
    given = TABLE.with_columns(part=of)
    for take in (
        lambda table: pr.subgroups(table, **NAMES, subgroup="part", measures="auc"),
        lambda table: pr.operating_points(
            table, "recall", target=0.5, confidence=0.9, **NAMES, subgroup="part"
        ),
    ):
        with pytest.raises(InvalidPredictions, match=r"(?s)'part' is .*Hint: make text of it"):
            take(given)
