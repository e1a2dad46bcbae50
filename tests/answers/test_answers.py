"""Every verb gives the stored results; `changed.csv` says which were changed, and why."""

from pathlib import Path

import polars as pl
import pytest
from answers import COUNT, STORED, VERBS, answers, differences

CHANGED = Path(__file__).parent / "changed.csv"
GROUPS = 30


@pytest.mark.slow
@pytest.mark.parametrize("start", range(GROUPS))
def test_every_verb_gives_the_stored_results(start):
    numbers = range(start, COUNT, GROUPS)
    stored = pl.read_parquet(STORED).filter(pl.col("table").is_in(numbers))
    found = pl.concat(answers(number) for number in numbers)
    assert differences(found, stored).to_dicts() == []


def test_every_change_has_a_verb_and_a_reason():
    changed = pl.read_csv(CHANGED)
    assert set(changed["verb"]) <= set(VERBS)
    assert changed["reason"].null_count() == 0
