"""Every verb × container × role: the answer of a Polars frame or a refusal; no role is ignored."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import PolarocError

CASES = 72
RNG = np.random.default_rng(3)
TRUTH = np.arange(CASES) % 3 == 0
WIDE = pl.DataFrame(
    {
        "case": np.arange(CASES),
        "truth": TRUTH.astype(int),
        "label": np.where(TRUTH, "yes", "no"),
        "kind": np.where(TRUTH, "A", "B"),
        "fold": np.arange(CASES) // 3 % 2,
        "site": np.where(np.arange(CASES) < CASES // 2, "x", "y"),
        "patient": np.arange(CASES) // 2,
        "count": RNG.integers(1, 4, CASES),
        "weight": RNG.integers(1, 4, CASES) / 2,
        "A": (RNG.random(CASES) * 0.6 + 0.3 * TRUTH).round(2),
        "B": (RNG.random(CASES) * 0.7 + 0.2 * TRUTH).round(2),
    }
)
INDEX = [name for name in WIDE.columns if name not in ("A", "B")]
LONG = WIDE.unpivot(["A", "B"], index=INDEX, variable_name="model", value_name="score")
CONTAINERS = {
    "lazy": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
    "arrow": pl.DataFrame.to_arrow,
    "mapping": lambda table: {column.name: column.to_numpy() for column in table},
}
ROLES = {
    "none": {},
    "model": {"model": "model"},
    "fold": {"fold": "fold"},
    "by": {"by": "site"},
    "weight": {"weight": "weight"},
    "count": {"count": "count"},
    "cluster": {"cluster": "patient"},
    "positive": {"truth": "label", "positive": "yes"},
    "wide": {"score": ["A", "B"]},
}
KEYS = {"model": "model", "fold": "fold", "by": "site"}
# A column of the name `model`, `fold` or `case` has that role where it is not said to be none.
ONE = {"truth": "truth", "score": "score", "model": None, "fold": None, "case": None}
MODELS = ONE | {"model": "model", "case": "case"}
CLASSES = {"truth": "kind", "model": None, "fold": None, "case": None}


@dataclass(frozen=True)
class Verb:
    """A function, its other arguments and the roles that it refuses or that change no number."""

    function: Callable
    others: dict = field(default_factory=dict)
    base: dict = field(default_factory=lambda: ONE)
    refused: tuple = ()
    no_bearing: tuple = ()
    lazy: bool = True


@dataclass(frozen=True)
class OfCases:
    """An argument made of other cases, those that set thresholds or those in use."""

    make: Callable = lambda table, **_: table

    def made(self, table, columns):
        moved = pl.col("A", "B") if "A" in table.columns else pl.col("score")
        other = table.with_columns(moved * 0.9, day=pl.col("case") // 24)
        return self.make(other, **{role: columns[role] for role in columns if role in KEPT})


KEPT = ("truth", "score", "model", "fold", "case", "by", "positive", "count")
CURVE = OfCases(pr.curve)
POINTS = OfCases(lambda *a, **k: pr.operating_points(pr.curve(*a, **k), priors=[0.1, 0.5]))


def report(table, **columns):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        pr.report(table, **columns, over=(0.1, 0.3), path=path)
        return pl.DataFrame({"page": path.read_text().splitlines()})


def gate(table, **columns):
    found = pr.gate(table, **columns, measure="auc", champion="A", challenger="B")
    return found.tables["difference"].with_columns(
        estimates=pl.lit(list(found.estimates)), cases=pl.lit(found.cases)
    )


def table_of(function, name):
    return lambda *table, **given: getattr(function(*table, **given), name)


def of_classes(table, **given):
    return pr.one_vs_rest(table, **given).rows.drop("error", strict=False)


# Which rows belong together moves limits, not estimates.
ESTIMATES = {"no_bearing": ("cluster",)}
LIMITS = {"intervals": True}
COSTS = {"over": (0.1, 0.3)}
PROMISE = {"constraints": {"precision": 0.55}, "confidence": 0.95, "priors": 0.5}
PAIRED = {"base": MODELS, "refused": ("by",), "lazy": False}
VERBS = {
    "curve": Verb(pr.curve, **ESTIMATES),
    "cases": Verb(lambda *a, **k: pr.curve(pr.cases(*a, **k)), **ESTIMATES),
    "evaluate": Verb(pr.evaluate, {"priors": 0.1} | COSTS, **ESTIMATES),
    "evaluate, intervals": Verb(pr.evaluate, {"measure": "auc"} | LIMITS),
    "check": Verb(pr.check, lazy=False, **ESTIMATES),
    "calibration": Verb(table_of(pr.calibration, "estimates"), {"draws": 100}, lazy=False),
    "operating_points": Verb(pr.operating_points, {"rule": "cost", "priors": 0.1}, **ESTIMATES),
    "operating_points, confidence": Verb(
        pr.operating_points, PROMISE, refused=("fold", "weight")
    ),
    "apply_thresholds": Verb(pr.apply_thresholds, {"points": POINTS}, **ESTIMATES),
    "apply_thresholds, intervals": Verb(pr.apply_thresholds, {"points": POINTS} | LIMITS),
    "expected_cost": Verb(pr.expected_cost, COSTS, **ESTIMATES),
    "decision_curve": Verb(pr.decision_curve, {"thresholds": [0.2, 0.5]}, **ESTIMATES),
    "decision_curve, intervals": Verb(pr.decision_curve, {"thresholds": [0.2]} | LIMITS),
    "probabilities": Verb(
        pr.probabilities, {"curve": CURVE, "priors": 0.1},
        refused=("wide",), no_bearing=("weight", "cluster"),
    ),
    "estimate_prior": Verb(pr.estimate_prior, {"deployed": OfCases()}, refused=("weight",)),
    "monitor": Verb(
        table_of(pr.monitor, "table"), {"deployed": OfCases(), "points": 0.5, "time": "day"},
        refused=("weight",), lazy=False,
    ),
    "one_vs_rest": Verb(
        of_classes, {"scores": ["A", "B"]}, CLASSES,
        refused=("model", "positive", "wide"),
    ),
    "simulate": Verb(
        pr.simulate, {"positives": 5, "negatives": 9, "tables": 2}, MODELS,
        refused=("fold", "by", "weight", "count"), lazy=False,
    ),
    "compare": Verb(table_of(pr.compare, "pairs"), {"measure": "auc"}, **PAIRED),
    "choose": Verb(table_of(pr.choose, "models"), COSTS, **PAIRED),
    "gate": Verb(gate, **PAIRED),
    "report": Verb(report, **PAIRED),
}  # fmt: skip


LONGER = ("calibration", "choose", "report", *(name for name in VERBS if "," in name))


def answer(verb, role, part=lambda table: table, container=lambda table: table):
    """The verb of a part of the table in a container, asked with a role."""
    of = VERBS[verb]
    table, columns = part(LONG), of.base | ROLES[role]
    if role == "wide" or "score" not in of.base:
        table = part(WIDE)
    if role == "wide":
        del columns["model"]
    others = {
        name: value.made(table, columns) if isinstance(value, OfCases) else value
        for name, value in of.others.items()
    }
    return of.function(container(table), **columns, **others)


@cache
def expected(verb, role):
    return answer(verb, role).lazy().collect()


def assert_same(found, expected):
    assert_frame_equal(
        found, expected, rel_tol=1e-9, abs_tol=1e-12, check_dtypes=False,
        check_row_order=False, check_column_order=False,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
@pytest.mark.parametrize(
    ("verb", "container"),
    [
        pytest.param(
            verb, name, marks=pytest.mark.slow if verb in LONGER and name != "lazy" else ()
        )
        for verb in VERBS
        for name in CONTAINERS
    ],
)
def test_a_table_in_any_container_gives_what_its_polars_frame_gives(verb, container):
    for role in ROLES:
        if role in VERBS[verb].refused:
            with pytest.raises(PolarocError):
                answer(verb, role, container=CONTAINERS[container])
            continue
        found = answer(verb, role, container=CONTAINERS[container])
        assert isinstance(found, pl.LazyFrame) == (container == "lazy" and VERBS[verb].lazy)
        assert_same(found.lazy().collect(), expected(verb, role))


@pytest.mark.parametrize("role", [role for role in ROLES if role != "none"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_role_changes_the_answer_or_is_refused(verb, role):
    of = VERBS[verb]
    if role in of.refused:
        with pytest.raises(PolarocError, match="score" if role == "wide" else role):
            answer(verb, role)
    elif role in of.no_bearing or role == "positive":
        assert_same(expected(verb, role), expected(verb, "none"))
    elif role == "wide":
        assert_same(expected(verb, role), expected(verb, "model"))
    elif of.base.get(role) is None:
        assert not expected(verb, role).equals(expected(verb, "none"))


SEVERAL = [name for name, verb in VERBS.items() if verb.base is ONE]


# The limits of `monitor` and promises hold for all keys at once.
@pytest.mark.parametrize(
    "verb", [name for name in SEVERAL if name not in ("monitor", "operating_points, confidence")]
)
def test_keys_have_the_answers_of_their_own_rows(verb):
    for role, name in KEYS.items():
        if role not in VERBS[verb].refused:
            parts = [
                answer(verb, "none", partial(pl.DataFrame.filter, **{name: value}))
                .lazy().collect().with_columns(pl.lit(value).alias(name))
                for value in LONG[name].unique()
            ]  # fmt: skip
            assert_same(expected(verb, role), pl.concat(parts))


@pytest.mark.parametrize("verb", [name for name in SEVERAL if name != "probabilities"])
def test_a_count_is_so_many_equal_rows(verb):
    repeated = answer(
        verb, "none", lambda table: table.select(pl.exclude("count").repeat_by("count").explode())
    )
    assert_same(expected(verb, "count"), repeated.lazy().collect())


def sharp(table):
    """Twenty times the cases, with scores nearer and nearer to the ends."""
    scores = pl.col("A", "B") if "A" in table.columns else pl.col("score")
    return pl.concat(
        table.with_columns(
            (((scores - 0.6) * -5 * copy).exp() + 1).pow(-1), pl.col("case") + CASES * copy
        )
        for copy in range(1, 21)
    )


@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
@pytest.mark.parametrize(
    "verb", [pytest.param(name, marks=pytest.mark.slow if name in LONGER else ()) for name in VERBS]
)
def test_numpy_that_raises_for_rounded_numbers_changes_no_answer(verb):
    found = answer(verb, "none", sharp).lazy().collect()
    with np.errstate(all="raise"):
        assert_same(answer(verb, "none", sharp).lazy().collect(), found)
