"""Two classifiers that are trained anew for each fold of a data set."""

import numpy as np
import polars as pl

ROLES = {"truth": "truth", "score": "score", "case": "case"}


def folded(rng, gains, repeats=1, cases=120, folds=5):
    """Least squares on two common features and one of its own, of which A and B gain so much."""
    truth = np.arange(cases) % 2
    x = rng.normal(size=(cases, 4)) + truth[:, None] * np.r_[0.6, 0.4, gains]
    parts = []
    for repeat in range(repeats):
        fold = rng.permutation(cases) % folds
        for number in range(folds):
            test = fold == number
            for place, model in enumerate("AB"):
                own = np.c_[x[:, [0, 1, 2 + place]], np.ones(cases)]
                weights = np.linalg.lstsq(own[~test], truth[~test].astype(float), rcond=None)[0]
                parts.append(pl.DataFrame({
                    "model": model, "fold": repeat * folds + number, "case": np.flatnonzero(test),
                    "truth": truth[test], "score": own[test] @ weights,
                }))  # fmt: skip
    return pl.concat(parts)


def said_and_done(seed, repeats=1):
    """The chance that a pilot says of B being found better, and whether a like study finds it.

    How much either model gains is drawn so that one is about as likely far better as hardly.
    """
    import polaroc as pr

    rng = np.random.default_rng(seed)
    gains = rng.uniform(0, 1.6, 2)
    pilot, study = (folded(rng, gains, repeats) for _ in "ab")
    planned = pr.plan(pilot, **ROLES, champion="A", challenger="B", folds=5 * repeats).table
    found = pr.compare(study, "auc", **ROLES).pairs
    return planned["chance"].item(), found["upper"].item() < 0
