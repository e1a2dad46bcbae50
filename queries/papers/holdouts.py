"""Models on random hold-outs, each fold seeded by itself, as a table of predictions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

Models = Mapping[str, Any] | Callable[[np.random.Generator], Mapping[str, Any]]


def holdouts(
    data: pl.DataFrame,
    models: Models,
    *,
    positive: str | Sequence[str],
    n: int,
    seed: int,
    truth: str = "class",
) -> pl.DataFrame:
    """Scores of models on `n` stratified 80/20 hold-outs, the same ones for every model.

    `models` maps names to classifiers, whose seeds follow from `seed`, fold and name, so that the
    scores of one do not depend on the others; or makes such a mapping for each fold from a
    generator that all of them draw from.

    Returns
    -------
    DataFrame
        `model` String; `fold` Int64, from 1; `case` Int64, the row of `data` from 0; `truth`
        Boolean; `score` Float64: log-odds, where a model has them. Sorted by the first three.
    """
    labels = data[truth].is_in([positive] if isinstance(positive, str) else positive).to_numpy()
    features = data.drop(truth).cast(pl.Float64).to_numpy()
    splitter = StratifiedShuffleSplit(n, test_size=0.2, random_state=seed)
    tables = []
    for fold, (train, test) in enumerate(splitter.split(features, labels), 1):
        # Not cloned: models that draw from one generator do so in turn.
        for name, model in _of_fold(models, seed, fold).items():
            model.fit(features[train], labels[train])
            if hasattr(model, "decision_function"):
                scores = model.decision_function(features[test])
            else:
                scores = model.predict_proba(features[test])[:, 1]
            columns = {"case": test, "truth": labels[test], "score": scores}
            keys = {"model": pl.lit(name), "fold": pl.lit(fold, pl.Int64)}
            tables.append(pl.DataFrame(columns).select(**keys, **{c: pl.col(c) for c in columns}))
    return pl.concat(tables).sort("model", "fold", "case")


def _of_fold(models: Models, seed: int, fold: int) -> Mapping[str, Any]:
    if callable(models):
        return models(np.random.default_rng([seed, fold]))
    return {
        name: _seeded(clone(estimator), [seed, fold, crc32(name.encode())])
        for name, estimator in models.items()
    }


def _seeded(estimator: Any, entropy: Sequence[int]) -> Any:
    """The estimator, with every `random_state` in it that is None set to a whole number."""
    state = int(np.random.default_rng(entropy).integers(2**31))
    free = [
        name
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(free, state))
