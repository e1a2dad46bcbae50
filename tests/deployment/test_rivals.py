import re
import sys
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import polaroc as pr

NAMES = {"truth": "truth", "score": "score", "time": "day"}
MODELS = {"A": (2.0, 3.0), "B": (2.0, 1.0), "C": (3.0, 1.5), "D": (1.0, 2.5), "E": (2.5, 1.2)}
POINTS = pl.DataFrame(
    {"model": list(MODELS), "threshold": [one for _, one in MODELS.values()], "prior": 0.1}
)


def cases(seed, size, prior, distance, **columns):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    score = rng.normal(size=size) + distance * truth
    frame = pl.DataFrame({"truth": truth, "score": score})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


REFERENCE = pl.concat(
    cases(seed, 8_000, 0.1, distance, model=model)
    for seed, (model, (distance, _)) in enumerate(MODELS.items())
)
# On the last day half of the cases are positive; one model lacks a day, one has other cases.
USED = pl.concat(
    cases(50 * day + seed, 3_000 - 7 * ((model, day) == ("D", 3)), prior, distance, model=model,
          day=day)
    for day, prior in enumerate((0.1, 0.1, 0.6, 0.6), 1)
    for seed, (model, (distance, _)) in enumerate(MODELS.items())
    if (model, day) != ("C", 4)
)  # fmt: skip


def told(models, share_of_error):
    own = pl.col("model").is_in(models)
    result = pr.monitor(
        REFERENCE.filter(own), USED.filter(own), **NAMES, model="model", cost_fn=3,
        points=POINTS.filter(own), level=1 - 0.05 * share_of_error,
    )  # fmt: skip
    return {
        (row["model"], row["day"]): max(
            (float(saved), name)
            for name, saved in re.findall(
                r"another model is now better: (\w+) would cost at least (\S+) less", row["alarm"]
            )
        )
        for row in result.alarms.filter(pl.col("alarm").str.contains("another model")).iter_rows(
            named=True
        )
    }


def test_the_better_model_is_the_best_of_all_pairs():
    best = {}
    for pair in combinations(MODELS, 2):
        for key, saving in told(pair, 2 / len(MODELS)).items():
            best[key] = max(saving, best.get(key, saving))
    assert told(list(MODELS), 1) == best
    assert {model for model, _ in best} == {"A", "D"}
    assert len({name for _, name in best.values()}) > 1


@pytest.mark.parametrize("thresholds", [(1.0, 1.0), (1.0, -2.0)], ids=["alike", "half-bad"])
def test_the_work_grows_with_the_models_and_not_with_their_pairs(thresholds):
    def calls(models):
        names = [f"m{number}" for number in range(models)]
        tables = [
            pl.concat(cases(1, 60, 0.3, 2.0, day=1, model=name) for name in names) for _ in range(2)
        ]
        points = {name: thresholds[place % 2] for place, name in enumerate(names)}
        counted = 0

        def count(frame, event, _):
            nonlocal counted
            counted += event == "call" and "polaroc" in frame.f_code.co_filename

        sys.setprofile(count)
        try:
            pr.monitor(*tables, **NAMES, model="model", points=points)
        finally:
            sys.setprofile(None)
        return counted

    few, some, many = (calls(models) for models in (10, 20, 40))
    assert many - some < 2.2 * (some - few)
