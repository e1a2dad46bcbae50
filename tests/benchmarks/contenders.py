"""What is timed: `evaluate`, the engine's own sort, and what other libraries offer."""

from collections.abc import Callable

import numpy as np
import polars as pl

import polaroc as pr

PRIORS = pr.prior_grid(0.01, 0.5, 16, "log")
OVER = (0.05, 0.20)
# A loop over more keys than this is timed on these many, and scaled.
MAX_LOOPS = 2_000


def keys(frame: pl.LazyFrame) -> list[str]:
    """The key columns of a benchmark table."""
    return [name for name in ("model", "fold") if name in frame.collect_schema()]


def evaluate(
    frame: pl.LazyFrame | pl.DataFrame, memory: str | None = None, priors: pl.DataFrame = PRIORS
) -> float:
    """All measures of every key: AUC, AUPREC at 16 priors, IAUPREC, Sens, AccSens, ε."""
    weight = "weight" if "weight" in frame.collect_schema() else None
    frame.pipe(
        pr.evaluate, truth="truth", score="score", by=keys(frame.lazy()), weight=weight,
        priors=priors, over=OVER, memory=memory,
    ).lazy().collect()  # fmt: skip
    return 1


def evaluate_table(frame: pl.LazyFrame) -> float:
    """The same of a table in memory."""
    return evaluate(frame.collect())


def evaluate_1000(frame: pl.LazyFrame) -> float:
    """The same at 1,000 priors."""
    return evaluate(frame.collect(), priors=pr.prior_grid(0.01, 0.5, 1_000, "log"))


def evaluate_auc(frame: pl.LazyFrame) -> float:
    """The AUC alone."""
    names = {"truth": "truth", "score": "score", "by": keys(frame)}
    frame.collect().pipe(pr.evaluate, **names, measures="auc")
    return 1


def evaluate_areas(frame: pl.LazyFrame) -> float:
    """AUC and AUPREC at 16 priors alone."""
    return _evaluate_alone(frame, "auc", "auprec")


def evaluate_losses(frame: pl.LazyFrame) -> float:
    """Brier score, its two parts, and log loss at 16 priors."""
    return _evaluate_alone(frame, "brier", "calibration_loss", "refinement_loss", "log_loss")


def _evaluate_alone(frame: pl.LazyFrame, *measures: str) -> float:
    names = {"truth": "truth", "score": "score", "by": keys(frame)}
    frame.collect().pipe(pr.evaluate, **names, priors=PRIORS, measures=measures)
    return 1


def bare_sort(frame: pl.LazyFrame) -> float:
    """The engine's own sort of the whole table by score."""
    places = pl.all().to_physical().cast(pl.Float64, strict=False).arg_max()
    frame.sort("score").select(places).collect()
    return 1


def polarbearings_auc(frame: pl.LazyFrame) -> float:
    """polarbearings' ROC AUC, an expression, per key."""
    from polarbearings import roc_auc

    weight = "weight" if "weight" in frame.collect_schema() else None
    frame.group_by(keys(frame)).agg(roc_auc("truth", "score", weight=weight)).collect()
    return 1


def polars_ds_auc(frame: pl.LazyFrame) -> float:
    """polars_ds' ROC AUC, a plugin in Rust, per key."""
    from polars_ds import query_roc_auc

    frame.group_by(keys(frame)).agg(query_roc_auc("truth", "score")).collect()
    return 1


def clickhouse_roc(frame: pl.LazyFrame) -> float:
    """ClickHouse's `arrayROCAUC` per key, of a table that it holds in memory."""
    return _clickhouse(frame, "arrayROCAUC(scores, truths)")


def clickhouse_both(frame: pl.LazyFrame) -> float:
    """ClickHouse's `arrayROCAUC` and `arrayAUCPR`, which knows one prior, per key."""
    return _clickhouse(frame, "arrayROCAUC(scores, truths), arrayAUCPR(scores, truths)")


class ClickHouse:
    """A ClickHouse in this process with as many threads as Polars, and one table."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        import chdb

        self.frame = frame
        self.connection = chdb.connect(":memory:")
        self.connection.query(f"SET max_threads = {pl.thread_pool_size()}")
        rows = frame.collect().to_arrow()  # the query names it
        # Columns that may be null took ClickHouse longer.
        names = ", ".join(f"assumeNotNull({name}) AS {name}" for name in rows.column_names)
        self.connection.query(f"CREATE TABLE t ENGINE = Memory AS SELECT {names} FROM Python(rows)")

    def close(self) -> None:
        """Free the table."""
        self.connection.close()


_clickhouses: list[ClickHouse] = []


def _clickhouse(frame: pl.LazyFrame, measured: str) -> float:
    """Run a query on the table, which the warm-up loads: one at a time is held."""
    if not _clickhouses or _clickhouses[0].frame is not frame:
        drop_clickhouse()
        _clickhouses.append(ClickHouse(frame))
    by = ", ".join(keys(frame))
    arrays = f"{by}, groupArray(score) AS scores, groupArray(truth) AS truths"
    _clickhouses[0].connection.query(
        f"SELECT {by}, {measured} FROM (SELECT {arrays} FROM t GROUP BY {by}) FORMAT Null"
    )
    return 1


def drop_clickhouse() -> None:
    """Free the table that ClickHouse holds."""
    while _clickhouses:
        _clickhouses.pop().close()


def scikit_learn_auc(frame: pl.LazyFrame) -> float:
    """scikit-learn's AUC of every key, in a loop."""
    from sklearn.metrics import roc_auc_score

    return _loop(frame, lambda truth, score, weight: roc_auc_score(truth, score))


def scikit_learn(frame: pl.LazyFrame) -> float:
    """scikit-learn's AUC and average precision of every key, in a loop."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    def both(truth: np.ndarray, score: np.ndarray, weight: np.ndarray | None) -> None:
        roc_auc_score(truth, score, sample_weight=weight)
        average_precision_score(truth, score, sample_weight=weight)

    return _loop(frame, both)


def scikit_learn_same_work(frame: pl.LazyFrame) -> float:
    """scikit-learn's AUC, and average precision weighted to each of the 16 priors, in a loop."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    def at_all_priors(truth: np.ndarray, score: np.ndarray, weight: np.ndarray | None) -> None:
        roc_auc_score(truth, score)
        observed = (len(truth) - truth.sum()) / truth.sum()
        for skew in PRIORS["skew"]:
            weights = np.where(truth, 1.0, skew / observed)
            average_precision_score(truth, score, sample_weight=weights)

    return _loop(frame, at_all_priors)


def _loop(frame: pl.LazyFrame, work: Callable[..., object]) -> float:
    """Run over the keys; returns by how much to scale the time where not all of them are run."""
    by = keys(frame)
    table = frame.collect()
    if not by:
        parts = [table]
    else:
        found = table.select(by).unique(maintain_order=True)
        wanted = found.head(MAX_LOOPS)
        parts = table.join(wanted, on=by).partition_by(by)
    for part in parts:
        weight = part["weight"].to_numpy() if "weight" in part.columns else None
        if part["truth"].n_unique() == 2:
            work(part["truth"].to_numpy(), part["score"].to_numpy(), weight)
    return 1 if not by else found.height / len(parts)
