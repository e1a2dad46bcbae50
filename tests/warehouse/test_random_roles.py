"""Random tables with counts, weights and keys, under hostile names, in a database."""

import pytest
import role_tables
from engines import Engine

import polaroc as pr
from polaroc.warehouse.connections import collected

# Databases know no empty name, and some no long one.
NAMES = [name for name in role_tables.HOSTILE if 0 < len(name) < 60]


@pytest.mark.slow
@pytest.mark.elsewhere("0-count", "1-weight")
@pytest.mark.parametrize("weighting", [None, "count", "weight"])
@pytest.mark.parametrize("seed", range(3))
def test_evaluate(engine: Engine, weighting, seed):
    table = role_tables.table(seed, weighting, names=NAMES)
    site, model = table.names["site"], table.names["model"]
    found = pr.evaluate(engine.table(table.frame), **table.roles() | {"by": site},
                        measures=["auc", "auprec"], priors=0.1)  # fmt: skip
    numbers = collected(found).select(site, model, "measure", "estimate").rows()
    expected = {}
    for key, rows in table.by("site", "model").items():
        expected[*key, "auc"] = role_tables.auc(rows)
        expected[*key, "auprec"] = role_tables.auprec(rows, 0.1)
    assert {(*key,): estimate for *key, estimate in numbers} == {
        key: pytest.approx(value, abs=1e-9) for key, value in expected.items()
    }
