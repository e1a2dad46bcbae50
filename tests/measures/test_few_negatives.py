"""The note on AUPREC of few negatives, by the number of negatives that weights are worth."""

from math import log

import ibis
import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.evaluation import reader, sums
from polaroc.files import memory

PRIORS = [0.5, 0.04, 0.005]
# At all of these priors λ is below N, so that the mean of λ/N is that of λ over N.
OVER = (0.02, 0.05)
MEASURES = ["auprec", "iauprec"]
ASKED = {"priors": PRIORS, "over": OVER, "measures": MEASURES}


def sampled() -> pl.DataFrame:
    """All of 100 positives, and 400 of 19,900 negatives, in two groups, with tied scores."""
    rng = np.random.default_rng(0)
    truth = np.arange(500) < 100
    weight = np.where(truth, 1.0, 49.75)
    return pl.DataFrame(
        {
            "key": np.where(rng.random(500) < 0.3, "few", "many"), "truth": truth,
            "score": rng.normal(1.5 * truth).round(1), "equal": weight,
            "unequal": weight * rng.exponential(size=500), "whole": rng.integers(0, 4, 500),
        }
    )  # fmt: skip


TABLE = sampled()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Count memory from nothing on and read few rows at once, so that these rows are too many."""
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(sums, "BASE", 0)
    monkeypatch.setattr(reader, "LEAST_BATCH", 100)


def of_curves(curves) -> pl.DataFrame:
    parts = [pr.auprec(curves, PRIORS), pr.iauprec(curves, OVER)]
    return pl.concat(part.lazy() for part in parts).collect()


# Every way from rows to areas.
WAYS = {
    "frame": lambda roles: pr.evaluate(TABLE, **roles, **ASKED),
    "lazy frame": lambda roles: pr.evaluate(TABLE.lazy(), **roles, **ASKED).collect(),
    "on disk": lambda roles: pr.evaluate(TABLE, **roles, **ASKED, memory=30_000),
    "hull": lambda roles: pr.evaluate(TABLE, **roles, **ASKED, interpolation="hull"),
    "limits": lambda roles: pr.evaluate(TABLE, **roles, **ASKED, intervals=True),
    "curve": lambda roles: of_curves(pr.curve(TABLE, **roles)),
    "lazy curve": lambda roles: of_curves(pr.curve(TABLE.lazy(), **roles)),
    "hull of curve": lambda roles: of_curves(pr.hull(pr.curve(TABLE, **roles))),
    "warehouse": lambda roles: pr.warehouse.collected(
        pr.warehouse.evaluate(ibis.memtable(TABLE), **roles, **ASKED)
    ),
    "warehouse in ranges": lambda roles: pr.warehouse.collected(
        pr.warehouse.evaluate(ibis.memtable(TABLE), **roles, **ASKED, ranges=5)
    ),
    "warehouse, hull": lambda roles: pr.warehouse.collected(
        pr.warehouse.evaluate(ibis.memtable(TABLE), **roles, **ASKED, interpolation="hull")
    ),
    "warehouse, curve": lambda roles: of_curves(
        pr.warehouse.collected(pr.warehouse.curve(ibis.memtable(TABLE), **roles))
    ),
}


def expected_notes(rows: pl.DataFrame, role: str | None, column: str | None) -> dict:
    """The note at each prior, None for the range, from the weights of the negatives."""
    negatives = rows.filter(~pl.col("truth"))
    if role == "weight":
        total = squares = 0.0
        for weight in negatives[column]:
            total, squares = total + weight, squares + weight**2
        number = total**2 / squares
    else:
        number = negatives.height if role is None else negatives[column].sum()
    lo, hi = OVER
    skews = {prior: (1 - prior) / prior for prior in PRIORS} | {None: log(hi / lo) / (hi - lo) - 1}
    ratios = {prior: skew / number for prior, skew in skews.items()}
    return {
        prior: f"λ/N = {float(f'{ratio:.2g}')}: biased upward" if ratio > 0.02 else None
        for prior, ratio in ratios.items()
    }


@pytest.mark.parametrize("by", [None, "key"])
@pytest.mark.parametrize(
    ("role", "column"),
    [(None, None), ("weight", "equal"), ("weight", "unequal"), ("count", "whole")],
)
@pytest.mark.parametrize("way", WAYS)
def test_the_note_takes_as_many_negatives_as_weights_are_worth(way, role, column, by):

    roles = {"truth": "truth", "score": "score", "by": by} | (
        {} if role is None else {role: column}
    )
    found = WAYS[way](roles)
    parts = {(): TABLE} if by is None else dict(TABLE.partition_by(by, as_dict=True).items())
    for key, rows in parts.items():
        own = found if by is None else found.filter(pl.col(by) == key[0])
        notes = dict(own.select("prior", "note").rows())
        assert notes == expected_notes(rows, role, column)


def test_the_note_of_a_sample_is_that_of_its_rows():
    # Without their weights the same negatives are as few.
    roles = {"truth": "truth", "score": "score"}
    plain = pr.evaluate(TABLE, **roles, **ASKED)
    for weight in ("equal", pl.col("equal") * 1e-3, pl.lit(1)):
        found = pr.evaluate(TABLE, **roles, weight=weight, **ASKED)
        assert found["note"].to_list() == plain["note"].to_list()


def test_a_curve_of_weights_says_how_many_negatives_they_are_worth():
    roles = {"truth": "truth", "score": "score", "by": "key"}
    found = pr.curve(TABLE, **roles, weight="unequal")
    for (key,), rows in TABLE.partition_by("key", as_dict=True).items():
        weights = rows.filter(~pl.col("truth"))["unequal"].to_list()
        expected = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        own = found.filter(key=key)["effective_negatives"]
        assert own.to_list() == pytest.approx([expected] * len(own), rel=1e-12)
        assert expected <= len(weights)
    for none in ({}, {"count": "whole"}):
        assert "effective_negatives" not in pr.curve(TABLE, **roles, **none).columns


def test_keys_whose_rows_were_dropped_keep_their_notes():
    table = TABLE.with_columns(
        score=pl.when((pl.col("key") == "few") | (pl.int_range(pl.len()) % 7 > 0)).then("score")
    )
    gone = table.with_columns(score=pl.when(pl.col("key") == "many").then("score"))
    roles = {"truth": "truth", "score": "score", "by": "key", "weight": "unequal"}
    for given in (table, gone):
        found = pr.evaluate(given, **roles, **ASKED, nulls="drop")
        lazy = pr.evaluate(given.lazy(), **roles, **ASKED, nulls="drop").collect()
        assert found["note"].to_list() == lazy["note"].to_list()
        kept = given.drop_nulls("score")
        for (key,), rows in kept.partition_by("key", as_dict=True).items():
            notes = found.filter(key=key)["note"].str.split("; ").list.last()
            expected = expected_notes(rows, "weight", "unequal")
            said = dict(zip(found.filter(key=key)["prior"], notes, strict=True))
            for prior, note in expected.items():
                assert note is None or said[prior] == note


@pytest.mark.parametrize("way", ["lazy curve", "on disk", "warehouse"])
def test_weights_whose_squares_overflow_do_not_make_negatives_few(way):
    table = TABLE.with_columns(equal=pl.lit(1e200))
    asked = {"truth": "truth", "score": "score", "weight": "equal"}
    if way == "lazy curve":
        found = of_curves(pr.curve(table.lazy(), **asked))
    elif way == "on disk":
        found = pr.evaluate(table, **asked, **ASKED, memory=30_000)
    else:
        found = pr.warehouse.evaluate(ibis.memtable(table), **asked, **ASKED)
        found = pr.warehouse.collected(found)
    assert not found["note"].str.contains("inf").any()
