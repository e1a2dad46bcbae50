"""The same number of the same cases at the same level has the same limits, wherever shown."""

import json
import re
from collections import defaultdict
from itertools import pairwise

import polars as pl
import pytest
from command_line import polaroc
from pages import Page

import polaroc as pr

OVER = (0.05, 0.20)
RATIO = 0.25
NAMES = {"truth": "truth", "score": "score", "model": "model", "case": "case"}
FOLDS = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
ONE = FOLDS.filter(fold=1).drop("fold")
HALVES = {part: ONE.filter(pl.col("case") % 2 == part) for part in (0, 1)}
COSTS = {"cost_fn": 5, "cost_fp": 1}
PLAIN, ADJUSTED, EXPECTED = "plain", "adjusted for the number of pairs", "of the expected measure"
# Limits in a table, by what they are limits of.
LIMITS = {PLAIN: ("lower", "upper"), ADJUSTED: ("adjusted_lower", "adjusted_upper"),
          EXPECTED: ("expected_lower", "expected_upper")}  # fmt: skip


class Intervals:
    """Limits by quantity, level and kind, each with where it stands and how far it is rounded."""

    def __init__(self) -> None:
        self.found = defaultdict(list)

    def add(self, place, quantity, level, kind, limits, digits=12) -> None:
        assert None not in limits, (place, quantity)
        self.found[quantity, round(level, 9), kind].append((place, limits, digits))

    def of_table(self, place, table, quantity, kinds=LIMITS) -> None:
        """Those of a table, at its own level; `quantity` names that of a row."""
        for row in table.iter_rows(named=True):
            for kind in kinds:
                low, high = LIMITS[kind]
                if low in row:
                    self.add(place, quantity(row), row["level"], kind, (row[low], row[high]))

    def check(self) -> None:
        for key, places in self.found.items():
            for (one, limits, digits), (other, others, more) in pairwise(places):
                within = 0.51 * (10.0**-digits + 10.0**-more) + 1e-9
                assert limits == pytest.approx(others, abs=within), (key, one, other)

    def shown_twice(self) -> set[str]:
        return {kind for (_, _, kind), places in self.found.items() if len(places) > 1}


def pair(row) -> tuple:
    return "difference", row["model_a"], row["model_b"]


def decimals(text: str) -> int:
    return len(text.partition(".")[2])


def add_column_pair(found, place, table, level, kind, ends, quantity) -> None:
    """Two columns of a table of a page."""
    for row in table.iter_rows(named=True):
        texts = [row[end].replace("−", "-").replace("+", "") for end in ends]
        limits = tuple(float(text) for text in texts)
        found.add(place, quantity(row), level, kind, limits, min(map(decimals, texts)))


def add_pairs_of_page(found, page, level) -> None:
    """The table of pairs of a page."""
    per_cent = f"{100 * level:g} %"

    def of_row(row) -> tuple:
        return "difference", *row["pair"].split(" − ")

    pairs = page.table("Each two models")
    ends = (f"{per_cent} from", f"{per_cent} to")
    add_column_pair(found, "table of pairs", pairs, level, ADJUSTED, ends, of_row)


def add_ranking(found, page, level, quantity, numbers) -> None:
    ends = (f"{100 * level:g} % from", f"{100 * level:g} % to")
    ranked = page.table("The models")
    add_column_pair(
        found, "ranking", ranked, level, EXPECTED, ends, lambda r: (quantity, r["model"])
    )
    # The answer speaks of the first model.
    ((low, high),) = set(re.findall(r"margin of error: (0\.\d+) to (0\.\d+)\)", page.text()))
    limits, place = (float(low), float(high)), (quantity, ranked["model"][0])
    found.add("answer", place, level, EXPECTED, limits, numbers or decimals(low))


def test_fitted_models_on_one_test_set(tmp_path):
    found, level = Intervals(), 0.8
    at = {"level": level}

    def measure(row) -> tuple:
        return row["measure"], row["model"]

    asked = {"over": OVER, "priors": 0.1, "measure": ["auc", "auprec", "iauprec"]}
    sure = pr.evaluate(ONE, **NAMES, **asked, **at, intervals=True)
    found.of_table("evaluate", sure, measure)
    compared = pr.compare(ONE, "iauprec", **NAMES, **at, over=OVER)
    found.of_table("compare", compared.pairs, pair)
    choice = pr.choose(ONE, **NAMES, over=OVER, **at)
    found.of_table("choose", choice.models, lambda row: ("iauprec", row["model"]))
    page = Page(pr.report(ONE, **NAMES, **at, over=OVER, path=tmp_path / "one.html"))
    add_ranking(found, page, level, "iauprec", None)
    add_pairs_of_page(found, page, level)
    found.check()
    assert found.shown_twice() == {EXPECTED, ADJUSTED}


def test_models_fitted_anew_for_each_fold(tmp_path):
    found, level = Intervals(), 0.8
    cases = pr.cases(FOLDS, **NAMES, fold="fold")
    asked = {"over": OVER, "level": level, "test_train_ratio": RATIO}
    compared = pr.compare(cases, **asked)
    choice = pr.choose(cases, **asked)
    for place, pairs in (("compare", compared.pairs), ("choose", choice.comparison.pairs)):
        found.of_table(place, pairs, pair)
    found.of_table("choose", choice.models, lambda row: ("iauprec", row["model"]))
    result = pr.gate(cases, champion="A", challenger="C", **asked)
    # Of two models there is one pair, and the test that decides is its own, but for what few
    # negatives in a fold may do.
    own = compared.pairs.filter(model_a="A", model_b="C").row(0, named=True)
    wider = own["lower"] + result.upper, -result.lower - own["upper"]
    assert 0 <= wider[0] < 1e-3
    assert wider[1] == pytest.approx(wider[0], abs=1e-9)
    file = tmp_path / "folds.parquet"
    FOLDS.write_parquet(file)
    words = ["--truth", "truth", "--score", "score", "--over", *map(str, OVER),
             "--test-train-ratio", str(RATIO), "--level", str(level)]  # fmt: skip
    told = polaroc("compare", file, *words, "--json")
    assert told.exit_code == 0, told.output
    found.of_table("command", pl.DataFrame(json.loads(told.stdout)["pairs"]), pair)
    page = Page(pr.report(cases, **asked, path=tmp_path / "folds.html"))
    add_ranking(found, page, level, "iauprec", None)
    add_pairs_of_page(found, page, level)
    found.check()
    assert found.shown_twice() == {PLAIN, EXPECTED, ADJUSTED}


def test_costs_of_models_at_thresholds_from_other_cases(tmp_path):
    found, level = Intervals(), 0.9
    asked = {**NAMES, "over": OVER, "level": level, **COSTS}
    choice = pr.choose(HALVES[1], tuning=HALVES[0], measure="expected_cost", **asked)
    points = pr.operating_points(pr.curve(HALVES[0], **NAMES), "cost", over=OVER, **COSTS)
    applied = pr.apply_thresholds(
        HALVES[1], points, **NAMES, priors=pr.uniform(*OVER).mean, intervals=True, level=level,
        **COSTS,
    )  # fmt: skip
    for place, table in (("choose", choice.models), ("apply_thresholds", applied)):
        limits = table.rename({"cost_lower": "lower", "cost_upper": "upper"})
        found.of_table(place, limits, lambda row: ("cost", row["model"]), [PLAIN])
    page = Page(pr.report(HALVES[1], tuning=HALVES[0], path=tmp_path / "costs.html", **asked))
    add_ranking(found, page, level, "cost", 2)
    found.check()
    assert found.shown_twice() == {PLAIN, EXPECTED}
