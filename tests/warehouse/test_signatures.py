import inspect

import ibis
import polars as pl
import pytest
from comparison import predictions

import polaroc as pr
from polaroc.errors import InvalidArgument, PolarocError

SHARED = [name for name in pr.warehouse.__all__ if name in pr.__all__]
# What only the functions of the warehouse take, and why.
ONLY_THERE = {
    "ranges": "how the work is split among workers",
}
ONLY_HERE = set()
TABLE = predictions(1, 40)
CURVE = {"truth": "truth", "score": "score"}
WRONG = [
    ("curve", {"truth": "truht"}),
    ("curve", {"score": "scores"}),
    ("curve", {"score": "model"}),
    ("curve", {"by": "models"}),
    ("curve", {"by": ["model", "model"]}),
    ("curve", {"weight": "weights"}),
    ("curve", {"nulls": "keep"}),
    ("curve", {"positive": []}),
    ("curve", {"positive": "yes"}),
    ("curve", {"positive": [True, "yes"]}),
    ("evaluate", {"priors": 1.5}),
    ("evaluate", {"priors": [], "measures": "auprec"}),
    ("evaluate", {"priors": "some", "measures": "auprec"}),
    ("evaluate", {"over": (0.2, 0.1)}),
    ("evaluate", {"over": (0.0, 0.1)}),
    ("evaluate", {"interpolation": "cubic"}),
    ("evaluate", {"measures": "gini"}),
    ("evaluate", {"measures": "sens"}),
    ("evaluate", {"measures": []}),
    ("evaluate", {"measures": "sens", "over": pr.beta(2, 18)}),
    ("evaluate", {"intervals": "normal"}),
    ("evaluate", {"intervals": True, "level": 95}),
    ("evaluate", {"intervals": True, "interpolation": "hull"}),
]


@pytest.mark.parametrize("name", SHARED)
def test_functions_take_what_those_of_polars_take(name):
    there, here = (inspect.signature(getattr(of, name)).parameters for of in (pr.warehouse, pr))
    assert set(there) - set(here) <= set(ONLY_THERE)
    assert set(here) - set(there) <= ONLY_HERE
    both = [argument for argument in there if argument in here]
    assert both == [argument for argument in here if argument in there]
    for argument in both:
        assert there[argument].default == here[argument].default
        assert there[argument].kind == here[argument].kind


def test_what_only_one_side_takes_is_taken():
    taken = {
        argument
        for name in SHARED
        for argument in inspect.signature(getattr(pr.warehouse, name)).parameters
    }
    assert set(ONLY_THERE) <= taken


@pytest.mark.parametrize(("name", "asked"), WRONG)
def test_what_polars_functions_refuse_is_refused_alike(name, asked):
    sides = []
    for module, source in ((pr, TABLE.lazy()), (pr.warehouse, ibis.memtable(TABLE))):
        with pytest.raises(PolarocError, match="Hint:") as caught:
            getattr(module, name)(source, **CURVE | asked)
        sides.append(caught)
    here, there = sides
    assert there.type is here.type
    # Further on the words may differ, as what Polars and ibis call a type does.
    begin = [caught.value.found.replace("'", "").partition(" is ")[0] for caught in sides]
    assert begin[0] == begin[1]


@pytest.mark.parametrize("asked", [{"memory": "4GB"}, {"progress": print}], ids=str)
def test_what_is_for_this_machine_is_refused(asked):
    (given,) = asked
    with pytest.raises(InvalidArgument, match=rf"(?s){given} is given.*Hint: .*ranges"):
        pr.warehouse.evaluate(ibis.memtable(TABLE), **CURVE, **asked)


@pytest.mark.parametrize("argument", ["truth", "score", "weight", "by"])
@pytest.mark.parametrize(
    "column", [pl.col("truth"), ibis._.truth, 3], ids=["polars", "ibis", "number"]
)
def test_columns_are_given_by_name(argument, column):
    with pytest.raises(InvalidArgument, match=r"(?s)allowed are column names.*Hint:"):
        pr.warehouse.curve(ibis.memtable(TABLE), **CURVE | {argument: column})
