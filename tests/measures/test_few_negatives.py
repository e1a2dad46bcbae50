"""The note on AUPREC of few negatives, by the number of negatives that weights are worth."""

from math import log

import numpy as np
import polars as pl
import pytest

import polaroc as pr

PRIORS = [0.5, 0.04, 0.005]
# At all of these priors λ is below N, so that the mean of λ/N is that of λ over N.
OVER = (0.02, 0.05)
ASKED = {"priors": PRIORS, "over": OVER, "measure": ["auprec", "iauprec"]}
ROLES = {"truth": "truth", "score": "score"}


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


def of_curves(curves) -> pl.DataFrame:
    parts = [pr.auprec(curves, PRIORS), pr.iauprec(curves, OVER)]
    return pl.concat(part.lazy() for part in parts).collect()


BIASED = "too few negatives, biased upward"
# Every way from rows to areas.
WAYS = {
    "frame": lambda roles: pr.evaluate(TABLE, **roles, **ASKED),
    "lazy frame": lambda roles: pr.evaluate(TABLE.lazy(), **roles, **ASKED).collect(),
    "hull": lambda roles: pr.evaluate(TABLE, **roles, **ASKED, interpolation="hull"),
    "limits": lambda roles: pr.evaluate(TABLE, **roles, **ASKED, intervals=True),
    "curve": lambda roles: of_curves(pr.curve(TABLE, **roles)),
    "lazy curve": lambda roles: of_curves(pr.curve(TABLE.lazy(), **roles)),
    "hull of curve": lambda roles: of_curves(pr.hull(pr.curve(TABLE, **roles))),
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
    return {prior: BIASED if ratio > 0.02 else None for prior, ratio in ratios.items()}


@pytest.mark.parametrize(
    ("role", "column"),
    [(None, None), ("weight", "equal"), ("weight", "unequal"), ("count", "whole")],
)
@pytest.mark.parametrize("way", WAYS)
def test_the_note_takes_as_many_negatives_as_weights_are_worth(way, role, column):
    found = WAYS[way](ROLES | {"by": "key"} | ({} if role is None else {role: column}))
    for (key,), rows in TABLE.partition_by("key", as_dict=True).items():
        notes = dict(found.filter(key=key).select("prior", "note").rows())
        assert notes == expected_notes(rows, role, column)


@pytest.mark.parametrize(("negatives", "note"), [(50, None), (49, BIASED)])
def test_the_note_begins_above_a_fiftieth(negatives, note):
    table = pl.DataFrame({"truth": [True] * 5 + [False] * negatives}).with_row_index("score")
    found = pr.evaluate(table, **ROLES, priors=0.5, over=(0.5, 0.5 + 1e-6))
    notes = dict(found.select("measure", "note").rows())
    assert (notes["auprec"], notes["iauprec"], notes["auc"]) == (note, note, None)


def test_a_curve_of_weights_says_how_many_negatives_they_are_worth():
    found = pr.curve(TABLE, **ROLES, by="key", weight="unequal")
    for (key,), rows in TABLE.partition_by("key", as_dict=True).items():
        weights = rows.filter(~pl.col("truth"))["unequal"].to_list()
        expected = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        own = found.filter(key=key)["effective_negatives"]
        assert own.to_list() == pytest.approx([expected] * len(own), rel=1e-12)


@pytest.mark.parametrize("way", ["frame", "lazy frame", "curve", "lazy curve"])
def test_large_weights_do_not_make_negatives_few(way, monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", TABLE.with_columns(equal=pl.lit(1e140)))
    found = WAYS[way](ROLES | {"weight": "equal"})
    assert not found["note"].fill_null("").str.contains("inf").any()


@pytest.mark.parametrize("lazy", [False, True])
def test_keys_whose_rows_were_dropped_keep_their_notes(lazy):
    table = TABLE.with_columns(
        score=pl.when((pl.col("key") == "few") | (pl.int_range(pl.len()) % 7 > 0)).then("score")
    )
    roles = ROLES | {"by": "key", "weight": "unequal", "nulls": "drop"}
    found = pr.evaluate(table.lazy() if lazy else table, **roles, **ASKED).lazy().collect()
    for (key,), rows in table.drop_nulls("score").partition_by("key", as_dict=True).items():
        said = dict(found.filter(key=key).select("prior", "note").rows())
        for prior, note in expected_notes(rows, "weight", "unequal").items():
            assert note is None or said[prior].split("; ")[-1] == note
