"""How often `compare` finds a difference between algorithms that are equal, design by design.

``just error-rates --learner nearest --replicates 500 --out FOLDER``: each replicate draws a
sample and algorithms that are equal over the population, each with five features of its own,
and compares their AUCs by every test and design at once:

- one 10-fold, ten 10-folds, 5, 20 and 30 hold-outs 80/20, and 5x2 folds, by Nadeau and Bengio's
  variance with Holm's method, and what else was tried.

With ``--ahead 0.4`` the classes of the first algorithm's features are farther apart: rates are
then the tests' power. ``just error-rates --table FOLDER`` puts all that was run in one table, with
the power of an oracle beside it, which knows the standard deviation of the mean difference over
samples. What the folder lacks stays as it was counted before. Fits are vectorised in NumPy but for
``--learner tree``, which is scikit-learn's and takes a hundred times as long.
"""

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm, t

from polaroc.uncertainty.adjusted import holm
from polaroc.uncertainty.evidence import pair_places

if TYPE_CHECKING:
    import altair as alt

FEATURES, SHIFT = 5, 0.75
FOLDS, REPEATS, HOLD_OUTS = 10, 10, 30
ALPHAS = (0.05, 0.005)
PROTOTYPES = (4, 11)
BINS, LEAF = 16, 5
HERE = Path(__file__).parent
COUNTS = HERE / "design_rates.csv"
PAGE = HERE.parents[1] / "docs" / "concepts" / "tests.md"
IMAGE = HERE.parents[1] / "docs" / "images" / "design_rates.svg"
MARKED = re.compile(r"(<!-- design rates -->\n).*?(<!-- end -->)", re.DOTALL)
# What the page shows, of all that was tried.
SHOWN = {
    "one 10-fold": "one 10-fold", "ten 10-folds": "ten 10-folds", "5 hold-outs": "5 hold-outs",
    "30 hold-outs": "30 hold-outs", "5x2": "5×2 folds",
    "oracle": "oracle",
}  # fmt: skip
KEYS = ["positives", "negatives", "learner", "models", "ahead"]
LEARNERS_IN_WORDS = {
    "discriminant": "linear discriminants",
    "logistic": "logistic regression",
    "nearest": "nearest neighbours",
    "nearest label": "labels of nearest neighbours",
    "prototypes": "random prototypes",
    "picker": "pickers of one feature",
    "tree": "decision trees",
    "shallow tree": "shallow decision trees",
    "boosting": "gradient boosting",
}


class Fits(NamedTuple):
    """Cases of fits of one size: fits × cases of each class, to train on and to test on."""

    train_pos: np.ndarray
    train_neg: np.ndarray
    test_pos: np.ndarray
    test_neg: np.ndarray

    @property
    def train(self) -> np.ndarray:
        """Cases of both classes, positives first."""
        return np.concatenate([self.train_pos, self.train_neg], axis=1)

    @property
    def test(self) -> np.ndarray:
        """Cases of both classes, positives first."""
        return np.concatenate([self.test_pos, self.test_neg], axis=1)


def shuffled(rng: np.random.Generator, cases: np.ndarray, times: int) -> np.ndarray:
    """The cases in random order, times × cases."""
    return cases[rng.random((times, len(cases))).argsort(axis=1)]


def divided(order: np.ndarray, folds: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test cases of each fold, (orders · folds) × cases."""
    parts = order.reshape(len(order), folds, -1)
    train = np.stack([np.delete(parts, k, axis=1).reshape(len(order), -1) for k in range(folds)], 1)
    return train.reshape(-1, train.shape[-1]), parts.reshape(-1, parts.shape[-1])


def folds_of(orders: tuple[np.ndarray, np.ndarray], folds: int) -> Fits:
    """The fits of a k-fold of each order of the positives and of the negatives."""
    (train_pos, test_pos), (train_neg, test_neg) = (divided(order, folds) for order in orders)
    return Fits(train_pos, train_neg, test_pos, test_neg)


def designs(rng: np.random.Generator, positives: int, negatives: int) -> dict[str, Fits]:
    """The fits of every design on one sample."""
    classes = np.arange(positives), np.arange(positives, positives + negatives)
    pos, neg = (shuffled(rng, cases, HOLD_OUTS) for cases in classes)
    p, n = positives // 5, negatives // 5
    return {
        "folds": folds_of(tuple(shuffled(rng, one, REPEATS) for one in classes), FOLDS),
        "hold-outs": Fits(pos[:, p:], neg[:, n:], pos[:, :p], neg[:, :n]),
        "5x2": folds_of(tuple(shuffled(rng, one, 5) for one in classes), 2),
    }


def areas(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """AUC of each fit from fits × scores."""
    lead = positive[:, :, None] - negative[:, None, :]
    return (np.sign(lead).mean(axis=(1, 2)) + 1) / 2


def linear_areas(X: np.ndarray, fits: Fits, weights: np.ndarray) -> np.ndarray:
    """AUCs of fits × weights of the features."""
    scores = np.einsum("fcj,fj->fc", X[fits.test], weights)
    count = fits.test_pos.shape[1]
    return areas(scores[:, :count], scores[:, count:])


def class_moments(X: np.ndarray, fits: Fits) -> tuple[np.ndarray, np.ndarray]:
    """Difference of the classes' means, and the pooled sums of squares, per fit."""
    pos, neg = X[fits.train_pos], X[fits.train_neg]
    means = pos.mean(axis=1, keepdims=True), neg.mean(axis=1, keepdims=True)
    moved = np.concatenate([pos - means[0], neg - means[1]], axis=1)
    within = moved.transpose(0, 2, 1) @ moved
    return (means[0] - means[1])[:, 0], within


def discriminant(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """Fisher's linear discriminant."""
    lead, within = class_moments(X, fits)
    return {"discriminant": linear_areas(X, fits, np.linalg.solve(within, lead[..., None])[..., 0])}


def picker(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """The one feature whose means are farthest apart in its standard deviations."""
    lead, within = class_moments(X, fits)
    apart = lead / np.sqrt(np.einsum("fii->fi", within))
    best = np.abs(apart).argmax(axis=1)[:, None]
    weights = np.zeros_like(lead)
    np.put_along_axis(weights, best, np.sign(np.take_along_axis(apart, best, axis=1)), axis=1)
    return {"picker": linear_areas(X, fits, weights)}


def logistic(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """Logistic regression with a ridge of 1, by six Newton steps."""
    cases = np.concatenate([X[fits.train], np.ones((*fits.train.shape, 1))], axis=2)
    truth = np.arange(fits.train.shape[1]) < fits.train_pos.shape[1]
    ridge = np.diag([1.0] * X.shape[1] + [0.0])
    weights = np.zeros((len(cases), X.shape[1] + 1))
    for _ in range(6):
        chance = 1 / (1 + np.exp(-np.einsum("fcj,fj->fc", cases, weights)))
        gradient = np.einsum("fcj,fc->fj", cases, truth - chance) - weights @ ridge
        curvature = cases.transpose(0, 2, 1) @ (cases * (chance * (1 - chance))[..., None])
        weights += np.linalg.solve(curvature + ridge, gradient[..., None])[..., 0]
    return {"logistic": linear_areas(X, fits, weights[:, :-1])}


def distances(X: np.ndarray) -> np.ndarray:
    squares = (X**2).sum(axis=1)
    return (squares[:, None] - 2 * X @ X.T + squares).clip(min=0).astype(np.float32)


def least(apart: np.ndarray, fits: Fits, train: np.ndarray) -> np.ndarray:
    """The least distance of each test case to cases of one class."""
    return np.array(
        [apart[np.ix_(a, b)].min(axis=1) for a, b in zip(fits.test, train, strict=True)]
    )


def nearest(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """The nearest neighbour: how much nearer a positive is than a negative, and its label."""
    apart, count = distances(X), fits.test_pos.shape[1]
    to_pos, to_neg = (least(apart, fits, train) for train in (fits.train_pos, fits.train_neg))
    ratio = to_neg / (to_neg + to_pos)
    label = (to_pos < to_neg).astype(float)
    return {
        name: areas(score[:, :count], score[:, count:])
        for name, score in (("nearest", ratio), ("nearest label", label))
    }


def prototypes(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """The nearest of 15 training cases drawn at random."""
    apart, count = distances(X), fits.test_pos.shape[1]
    kept = [
        np.take_along_axis(train, rng.random(train.shape).argsort(axis=1)[:, :few], axis=1)
        for train, few in zip((fits.train_pos, fits.train_neg), PROTOTYPES, strict=True)
    ]
    to_pos, to_neg = (apart[fits.test[:, :, None], one[:, None]].min(axis=2) for one in kept)
    score = to_neg / (to_neg + to_pos)
    return {"prototypes": areas(score[:, :count], score[:, count:])}


def _of_scikit_learn(name: str, model: object, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    from sklearn.base import clone

    truth = np.arange(fits.train.shape[1]) < fits.train_pos.shape[1]
    score = np.array(
        [
            clone(model).fit(X[train], truth).predict_proba(X[test])[:, 1]
            for train, test in zip(fits.train, fits.test, strict=True)
        ]
    )
    count = fits.test_pos.shape[1]
    return {name: areas(score[:, :count], score[:, count:])}


def tree(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """A decision tree with at least five cases in a leaf."""
    from sklearn.tree import DecisionTreeClassifier

    grown = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    return _of_scikit_learn("tree", grown, X, fits)


def tree_sums(weights: np.ndarray, place: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sums of weights by place."""
    return np.bincount(place.ravel(), weights.ravel(), minlength=int(np.prod(shape))).reshape(shape)


def boosted(X: np.ndarray, fits: Fits, trees: int, depth: int, rate: float) -> np.ndarray:
    """AUCs of boosted trees on features in `BINS` bins, grown as scikit-learn's histograms are."""
    count, width = fits.train.shape
    truth = np.broadcast_to(np.arange(width) < fits.train_pos.shape[1], (count, width))
    bins = np.empty(X.shape, dtype=np.int64)
    for j, own in enumerate(X.T):
        bins[:, j] = np.searchsorted(np.quantile(own, np.arange(1, BINS) / BINS), own)
    train, test = bins[fits.train], bins[fits.test]
    of_fit, features = np.arange(count)[:, None], X.shape[1]
    raw = np.full(truth.shape, np.log(truth[0].mean() / (1 - truth[0].mean())))
    score = np.zeros(fits.test.shape)
    for _ in range(trees):
        chance = 1 / (1 + np.exp(-raw))
        slope, curvature = chance - truth, chance * (1 - chance)
        node, test_node = np.zeros(truth.shape, np.int64), np.zeros(score.shape, np.int64)
        for level in range(depth):
            nodes = 2**level
            place = ((of_fit * nodes + node)[..., None] * features + np.arange(features)) * BINS
            place += train
            wide = [np.broadcast_to(one[..., None], train.shape) for one in (slope, curvature)]
            shape = (count, nodes, features, BINS)
            sums = [tree_sums(one, place, shape) for one in (*wide, np.ones(train.shape))]
            (gl, hl, cl), totals = ([one.cumsum(axis=3) for one in sums],
                                    [one.sum(axis=3, keepdims=True) for one in sums])  # fmt: skip
            gr, hr, cr = (own - left for own, left in zip(totals, (gl, hl, cl), strict=True))
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = gl**2 / hl + gr**2 / hr - totals[0] ** 2 / totals[1]
            gain = np.where((np.minimum(cl, cr) >= LEAF) & (gain > 1e-9), gain, 0.0)
            best = gain.reshape(count, nodes, -1).argmax(axis=2)
            split = gain.reshape(count, nodes, -1).max(axis=2) > 0
            feature, edge = best // BINS, np.where(split, best % BINS, BINS)
            for own, cases in ((node, train), (test_node, test)):
                seen = np.take_along_axis(cases, feature[of_fit, own][..., None], axis=2)[..., 0]
                own += own + (seen > edge[of_fit, own])
        place, shape = of_fit * 2**depth + node, (count, 2**depth)
        total = tree_sums(curvature, place, shape)
        leaf = -rate * tree_sums(slope, place, shape) / np.where(total > 0, total, 1)
        raw, score = raw + leaf[of_fit, node], score + leaf[of_fit, test_node]
    positives = fits.test_pos.shape[1]
    return areas(score[:, :positives], score[:, positives:])


def shallow_tree(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """A decision tree of depth 3 on binned features."""
    return {"shallow tree": boosted(X, fits, 1, 3, 1.0)}


def boosting(rng: np.random.Generator, X: np.ndarray, fits: Fits) -> dict[str, np.ndarray]:
    """Gradient boosting of 10 trees of depth 2 on binned features, with a rate of 0.3."""
    return {"boosting": boosted(X, fits, 10, 2, 0.3)}


LEARNERS = {
    "discriminant": discriminant, "logistic": logistic, "nearest": nearest,
    "prototypes": prototypes, "picker": picker, "tree": tree, "shallow tree": shallow_tree,
    "boosting": boosting,
}  # fmt: skip
Values = dict[str, np.ndarray]  # fits × models, by design


def sample_values(
    rng: np.random.Generator, positives: int, negatives: int, learner: str, models: int,
    ahead: float, features: int = FEATURES, shift: float = SHIFT, noise: int = 0,
) -> dict[str, Values]:  # fmt: skip
    """The AUCs of every fit of one sample, by learner and design."""
    truth = np.arange(positives + negatives) < positives
    X = rng.normal(size=(len(truth), models, features))
    X[:, :, : features - noise] += shift * truth[:, None, None]
    X[:, 0] += ahead * truth[:, None]
    fits = designs(rng, positives, negatives)
    drawn = [
        {name: LEARNERS[learner](rng, X[:, model], one) for name, one in fits.items()}
        for model in range(models)
    ]
    return {
        kind: {name: np.stack([one[name][kind] for one in drawn], axis=1) for name in fits}
        for kind in drawn[0]["folds"]
    }


def overlap_p(values: np.ndarray, charge: float) -> float:
    """The least p-value of the pairs, by Holm's method: test sets × models."""
    first, second = pair_places(values.shape[1])
    lead = values[:, first] - values[:, second]
    error = np.sqrt(lead.var(axis=0, ddof=1) * (1 / len(values) + charge))
    p = 2 * t.sf(np.abs(lead.mean(axis=0)) / error, len(values) - 1)
    return float(holm(p)[0].min())


def outcomes(values: Values) -> dict[str, float]:
    """P-values of every test and design, and differences of the first two means."""
    folds, outs, fives = values["folds"], values["hold-outs"], values["5x2"]
    one, r = folds[:FOLDS], 1 / (FOLDS - 1)
    return {
        "one 10-fold": overlap_p(one, r),
        "one 10-fold, half the charge": overlap_p(one, r / 2),
        "ten 10-folds": overlap_p(folds, r),
        "5 hold-outs": overlap_p(outs[:5], 0.25),
        "20 hold-outs": overlap_p(outs[:20], 0.25),
        "30 hold-outs": overlap_p(outs, 0.25),
        "5x2": overlap_p(fives, 1.0),
        "lead, ten 10-folds": float(np.subtract(*folds.mean(axis=0)[:2])),
        "lead, one 10-fold": float(np.subtract(*one.mean(axis=0)[:2])),
        "lead, 30 hold-outs": float(np.subtract(*outs.mean(axis=0)[:2])),
    }


def simulate(
    positives: int, negatives: int, learner: str, models: int, ahead: float, replicates: int,
    seed: int = 0, seconds: float = np.inf, features: int = FEATURES, shift: float = SHIFT,
    noise: int = 0,
) -> pl.DataFrame:  # fmt: skip
    """One row per replicate and learner, with a column per test."""
    started, rows = time.perf_counter(), []
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, replicate, positives, negatives, models])
        drawn = sample_values(
            rng, positives, negatives, learner, models, ahead, features, shift, noise
        )
        for kind, values in drawn.items():
            setting = dict(zip(KEYS, (positives, negatives, kind, models, ahead), strict=True))
            rows.append(setting | {"seed": seed} | outcomes(values))
        if time.perf_counter() - started > seconds:
            break
    return pl.DataFrame(rows)


def rates(runs: pl.DataFrame) -> pl.DataFrame:
    """Per setting and test the share of p-values below each α, with its standard error.

    With `ahead` the oracle's are those of a normal test of the mean of ten 10-folds that knows its
    standard deviation.
    """
    tests = [name for name in runs.columns
             if name not in (*KEYS, "seed") and not name.startswith("lead")]  # fmt: skip
    lead = pl.col("lead, ten 10-folds")
    limits = [norm.isf(alpha / 2) for alpha in ALPHAS]
    chances = {
        alpha: (lead.abs() > limit * lead.std().over(KEYS))
        for alpha, limit in zip(ALPHAS, limits, strict=True)
    }
    parts = []
    for alpha in ALPHAS:
        below = [(pl.col(test) < alpha).alias(test) for test in tests]
        drawn = runs.select(*KEYS, *below, chances[alpha].alias("oracle"))
        counted = drawn.group_by(KEYS).agg(pl.len().alias("of"), pl.exclude("of").sum())
        long = counted.unpivot(index=[*KEYS, "of"], variable_name="test", value_name="below")
        parts.append(long.with_columns(pl.lit(alpha).alias("alpha")))
    rate = pl.col("below") / pl.col("of")
    return (
        pl.concat(parts)
        .with_columns(
            rate.alias("rate"), (rate * (1 - rate) / pl.col("of")).sqrt().alias("std_error")
        )
        .sort(*KEYS, "alpha", "test")
    )


def counted(folder: Path) -> pl.DataFrame:
    """The counts of all runs of a folder, and the mean lead of the first algorithm."""
    runs = pl.concat(pl.read_parquet(file) for file in sorted(folder.glob("*.parquet")))
    lead = runs.group_by(KEYS).agg(pl.col("lead, ten 10-folds").mean().round(3).alias("lead"))
    return rates(runs).drop("rate", "std_error").join(lead, on=KEYS).sort(*KEYS, "alpha", "test")


def merged(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Counts of settings that were run anew, and of all others as they were."""
    kept = old.join(new, on=KEYS, how="anti")
    return pl.concat([kept, new.select(kept.columns)], how="vertical_relaxed").sort(
        *KEYS, "alpha", "test"
    )


def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Rates with the limits of their 99 % intervals (Wilson)."""
    z, n, rate = norm.isf(0.005), pl.col("of"), pl.col("below") / pl.col("of")
    middle = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * (rate * (1 - rate) / n + z**2 / (4 * n**2)).sqrt() / (1 + z**2 / n)
    return counts.with_columns(
        rate.alias("rate"), (middle - reach).alias("least"), (middle + reach).alias("most"),
        (middle - reach > 1.25 * pl.col("alpha")).alias("above") & (pl.col("ahead") == 0),
    )  # fmt: skip


def page_table(counts: pl.DataFrame) -> str:
    """The table of the page: a row per setting, sizes and powers at 0.05 / 0.005 per test."""
    lines = [
        f"| learner | cases | models | lead | samples | {' | '.join(SHOWN.values())} |",
        "|" + "---|" * (5 + len(SHOWN)),
    ]
    order = [pl.col("positives") != 80, "ahead", "models", "learner"]
    for setting, own in with_rates(counts).sort(order).group_by(KEYS, maintain_order=True):
        positives, negatives, learner, models, ahead = setting
        given = {(row["test"], row["alpha"]): row for row in own.iter_rows(named=True)}
        cells = []
        for test in SHOWN:
            parts = [given[test, alpha] for alpha in ALPHAS]
            digits = (2, 2) if ahead else (3, 3)
            texts = [f"{part['rate']:.{d}f}" for part, d in zip(parts, digits, strict=True)]
            bold = any(part["above"] for part in parts) and test != "oracle"
            cells.append(f"**{' / '.join(texts)}**" if bold else " / ".join(texts))
        lead = f"{own['lead'][0]:.2f}" if ahead else "0"
        name = LEARNERS_IN_WORDS[learner]
        lines.append(
            f"| {name} | {positives} + {negatives} | {models} | {lead} | {own['of'][0]:,} | "
            f"{' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def chart(counts: pl.DataFrame) -> "alt.TopLevelMixin":
    """Sizes at 0.05 with 99 % intervals, by test and learner."""
    import altair as alt

    drawn = (
        with_rates(counts)
        .filter(pl.col("test").is_in(list(SHOWN)), pl.col("test") != "oracle", alpha=0.05,
                ahead=0.0, models=2, positives=80)
        .with_columns(pl.col("test").replace_strict(SHOWN),
                      pl.col("learner").replace_strict(LEARNERS_IN_WORDS))
        .select("test", "learner", "rate", "least", "most")
    )  # fmt: skip
    learners = [name for name in LEARNERS_IN_WORDS.values() if name in set(drawn["learner"])]
    tests = [SHOWN[name] for name in SHOWN if name != "oracle"]
    colour = alt.Color("learner:N", sort=learners, title=None)
    base = alt.Chart(drawn).encode(
        y=alt.Y("learner:N", sort=learners, title=None, axis=None), color=colour
    )
    size = alt.X("rate:Q", title="share of samples with a false difference at a level of 95 %")
    points = base.mark_point(filled=True, size=40).encode(x=size)
    lines = base.mark_rule().encode(x="least:Q", x2="most:Q")
    aim = alt.Chart(drawn).mark_rule(color="grey", strokeDash=[4, 3]).encode(x=alt.datum(0.05))
    return (
        alt.layer(aim, lines, points)
        .properties(width=460, height=70)
        .facet(row=alt.Row("test:N", sort=tests, title=None,
                           header=alt.Header(labelAngle=0, labelAlign="left")))
    )  # fmt: skip


def main() -> None:
    """Run a setting, or write down what was run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learner", choices=LEARNERS, default="discriminant")
    parser.add_argument("--positives", type=int, default=80)
    parser.add_argument("--negatives", type=int, default=240)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--ahead", type=float, default=0.0)
    parser.add_argument("--features", type=int, default=FEATURES, help="of each algorithm")
    parser.add_argument("--noise", type=int, default=0, help="of these that say nothing")
    parser.add_argument("--shift", type=float, default=SHIFT, help="of the positives' means")
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the result of each replicate")
    parser.add_argument("--table", type=Path, help="folder of such results: count and draw them")
    asked = parser.parse_args()
    if asked.table:
        counts = merged(pl.read_csv(COUNTS), counted(asked.table))
        counts.write_csv(COUNTS)
        write_page(counts)
        return
    runs = simulate(
        asked.positives, asked.negatives, asked.learner, asked.models, asked.ahead,
        asked.replicates, asked.seed, asked.seconds, asked.features, asked.shift, asked.noise,
    )  # fmt: skip
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        name = "-".join(str(getattr(asked, key)) for key in (*KEYS, "seed"))
        runs.write_parquet(asked.out / f"{name}.parquet")
    with pl.Config(tbl_rows=-1, fmt_str_lengths=60, tbl_width_chars=160):
        print(rates(runs).pivot("alpha", index=["learner", "of", "test"], values="rate"))


def write_page(counts: pl.DataFrame) -> None:
    """Put the table on the page of tests, and draw the chart."""
    from polaroc.charts import save

    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda old: old[1] + page_table(counts) + old[2], text), "utf-8")
    save(chart(counts), IMAGE)


if __name__ == "__main__":
    main()
