"""Promises that hold in each subgroup."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import binom, norm

import polaroc as pr

NAMES = {"truth": "y", "score": "p"}
ASKED = {
    "recall": {"rule": "recall", "target": 0.7},
    "alarms": {"constraints": {"fpr": 0.2}},
    "capacity": {"rule": "capacity", "target": 0.3, "priors": 0.2},
    "precision": {"constraints": {"precision": 0.3}, "over": (0.1, 0.3)},
    "several priors": {"constraints": {"precision": 0.3}, "priors": [0.2, 0.3]},
}


def table(rng, groups=((60, 2.2), (60, 2.2), (60, 1.8)), per_positive=5):
    """Normal scores of subgroups with so many positives and such a distance of the classes."""
    parts = []
    for group, (positives, lead) in enumerate(groups):
        truth = np.arange(positives * (1 + per_positive)) < positives
        score = rng.normal(size=truth.size) + lead * truth
        parts.append(pl.DataFrame({"y": truth, "p": score, "g": f"g{group}"}))
    return pl.concat(parts).with_row_index("row")


TABLE = table(np.random.default_rng(2))


def points(given=TABLE, confidence=0.95, **asked):
    return pr.operating_points(given, **NAMES, confidence=confidence, **asked)


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_one_subgroup_is_promised_what_all_cases_are(asked):
    one = TABLE.with_columns(g=pl.lit("all"))
    assert_frame_equal(points(one, subgroup="g", **asked).drop("promise"),
                       points(one, **asked).drop("promise"))  # fmt: skip


def test_a_recall_is_promised_where_it_is_in_the_worst_subgroup():
    own = [points(TABLE.filter(g=g), **ASKED["recall"])["threshold"].item()
           for g in ("g0", "g1", "g2")]  # fmt: skip
    found = points(subgroup="g", **ASKED["recall"])
    assert found["threshold"].item() == min(own)
    assert found["promise"].item().endswith("found, in each subgroup by g and in any mix of them.")


def test_alarms_are_promised_where_each_subgroup_has_few_enough():
    given = TABLE.with_columns(p=pl.col("p") + 0.7 * (pl.col("g") == "g1"))
    found = points(given, subgroup="g", **ASKED["alarms"])["threshold"].item()
    # The exact binomial limit of 300 negatives.
    most = int(binom.ppf(0.05, 300, 0.2)) - 1

    def alarms(threshold):
        called = given.filter(~pl.col("y"), pl.col("p") >= threshold)
        return called.group_by("g").len()["len"].max()

    next_positive = given.filter(pl.col("y"), pl.col("p") < found)["p"].max()
    assert alarms(found) <= most < alarms(next_positive)


@pytest.mark.parametrize("name", ["precision", "several priors"])
def test_a_precision_is_promised_with_a_part_of_the_error_rate_in_each(name):
    asked = ASKED[name]
    found = points(subgroup="g", **asked)
    for g in ("g0", "g1", "g2"):
        part = TABLE.filter(g=g)
        positives = part.filter("y")["p"]
        own = points(part, 1 - 0.05 / 3, **asked)["threshold"]
        for row, alone in zip(found["threshold"], own, strict=True):
            assert (positives >= row).sum() <= (positives >= alone).sum()
    whole = points(**asked)
    assert (found["threshold"] >= whole["threshold"]).all()
    assert found["threshold"][0] > whole["threshold"][0]
    assert "% of each are positive." in found["promise"][0]


def test_subgroups_of_several_columns_all_count():
    given = TABLE.with_columns(sex=pl.col("row") % 2)
    both = points(given, subgroup=["g", "sex"], **ASKED["recall"])["threshold"].item()
    own = [points(given, subgroup=name, **ASKED["recall"])["threshold"].item()
           for name in ("g", "sex")]  # fmt: skip
    assert both == min(own)


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_each_key_has_its_own_subgroups_and_a_plan_promises_the_same(asked):
    other = table(np.random.default_rng(9))
    both = pl.concat([TABLE.with_columns(h=1.5), other.with_columns(h=None)])
    found = points(both, by="h", subgroup="g", **asked)
    alone = [points(one, subgroup="g", **asked) for one in (TABLE, other)]
    assert_frame_equal(found.drop("h"), pl.concat(alone))
    lazy = points(both.lazy(), by="h", subgroup="g", **asked)
    assert_frame_equal(lazy.collect(), found)


def test_patients_count_for_each_subgroup():
    given = TABLE.with_columns(patient=pl.col("row"))
    one = points(given, subgroup="g", cluster="patient", **ASKED["precision"])
    assert_frame_equal(one, points(subgroup="g", **ASKED["precision"]))
    copied = points(pl.concat([given] * 2), subgroup="g", cluster="patient", **ASKED["precision"])
    counts = ("positives", "negatives")
    assert_frame_equal(copied.drop(counts), one.drop(counts))


def test_what_is_lacking_is_said_of_the_subgroup_that_lacks_it():
    few = table(np.random.default_rng(3), ((60, 2.2), (4, 2.2)))
    found = points(few, subgroup="g", **ASKED["recall"])
    assert found["threshold"].item() is None
    assert found["note"].item().startswith("in g=g1: no threshold can be promised")
    none = few.filter((pl.col("g") != "g1") | ~pl.col("y"))
    assert points(none, subgroup="g", **ASKED["recall"])["note"].item() == "in g=g1: no positives"


def test_informedness_is_not_promised_for_a_mix():
    # It may be less in a mix than in each of its parts.
    found = points(subgroup="g", constraints={"informedness": 0.2}, rule="max_recall")
    assert found["promise"].item().endswith("in each subgroup by g.")


def test_without_confidence_subgroups_have_no_bearing():
    asked = {"constraints": {"precision": 0.3}, "priors": 0.2}
    plain = pr.operating_points(TABLE, **NAMES, **asked)
    assert_frame_equal(pr.operating_points(TABLE, **NAMES, subgroup="g", **asked), plain)


LEADS = {"a": {"b": 2.4, "c": 1.6}, "b": {"a": 2.4, "c": 2.4}, "c": {"a": 2.0, "b": 2.4}}
REST = {"alarms": ASKED["alarms"], "precision": {"constraints": {"precision": 0.3}, "priors": 0.2}}


def classes(rng, size=400):
    """Cases of three classes, whose kinds of negatives are at distances of their own."""
    kind = np.repeat(["a", "b", "c"], [size // 2, size // 4, size // 4])
    scores = {
        own: rng.normal(size=size) - pl.Series(kind).replace_strict(leads | {own: 0.0}).to_numpy()
        for own, leads in LEADS.items()
    }
    given = pr.cases({"kind": kind, **scores}, truth="kind", subgroup=pl.col("kind").alias("rest"))
    return given.pipe(pr.one_vs_rest, scores=["a", "b", "c"])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("asked", [*REST, "recall"])
def test_each_kind_of_the_rest_is_set_against_all_positives(asked, flipped, lazy):
    asked, cases = (ASKED | REST)[asked], classes(np.random.default_rng(6))
    table = cases.table
    if flipped:
        table = table.with_columns(~pl.col("truth"), -pl.col("score"))
    # The same with a row for each pair of a case of the class and a kind of the others.
    kinds = pl.DataFrame({"other": ["a", "b", "c"]})
    written = table.join(kinds, how="cross").filter(
        pl.col("other") != pl.col("class"),
        (pl.col("rest") == pl.col("class")) | (pl.col("rest") == pl.col("other")),
    )
    roles = {"truth": "truth", "score": "score", "by": "class", "confidence": 0.9}
    found = pr.operating_points(table.lazy() if lazy else table, subgroup="rest", **roles, **asked)
    expected = pr.operating_points(written, subgroup="other", **roles, **asked)
    assert expected["threshold"].null_count() == 0
    rows = found.lazy().collect()
    assert_frame_equal(rows.select("class", "threshold"), expected.select("class", "threshold"))
    assert rows["promise"].str.contains("each subgroup by rest").all()


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("asked", REST)
@pytest.mark.usefixtures("no_cases_needed")
def test_promises_hold_while_the_mix_of_the_rest_shifts(asked):
    rng, samples = np.random.default_rng(7), 40
    broken = {"in each": dict.fromkeys(LEADS, 0), "of all": dict.fromkeys(LEADS, 0)}
    for _ in range(samples):
        cases = classes(rng)
        for way, given in (("in each", cases), ("of all", pr.cases(cases, subgroup=()))):
            found = pr.operating_points(given, confidence=0.95, **REST[asked])
            for own, threshold in found.select("class", "threshold").drop_nulls().iter_rows():
                # Where the rest is of one kind alone, the mix is at an end.
                recall = norm.sf(threshold)
                alarms = max(norm.sf(threshold + lead) for lead in LEADS[own].values())
                most = 0.2 if asked == "alarms" else 0.25 * recall * 0.7 / 0.3
                broken[way][own] += alarms > most
    allowed = 0.05 + 2 * (0.05 * 0.95 / samples) ** 0.5
    assert max(broken["in each"].values()) / samples <= allowed
    # What is promised of the mix at hand is broken by another.
    assert max(broken["of all"].values()) / samples > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["recall", "precision"])
@pytest.mark.usefixtures("no_cases_needed")
def test_promises_of_subgroups_are_kept(asked):
    rng, broken, samples = np.random.default_rng(4), 0, 40
    leads = (1.6, 2.2, 2.8)
    for _ in range(samples):
        given = table(rng, [(60, lead) for lead in leads])
        threshold = points(given, subgroup="g", **ASKED[asked])["threshold"].item()
        if threshold is None:
            continue
        alarms = norm.sf(threshold)
        for lead in leads:
            recall = norm.sf(threshold - lead)
            least = 0.7 if asked == "recall" else 9 * alarms * 0.3 / 0.7
            broken += recall < least
            if recall < least:
                break
    assert broken / samples <= 0.05 + 2 * (0.05 * 0.95 / samples) ** 0.5
