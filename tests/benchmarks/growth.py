"""How the time of each function grows with rows, keys, models, priors, days and clusters.

`just growth` calls every public function that takes tables at one, two and four times of each size
that it has, in turn, and prints the exponent of its processor time from the second to the third: 1
is twice the time for twice the size. `--only evaluate,gate` takes some, `--rows 50000` other sizes;
`--write` puts the table into docs/performance.md.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import log2
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from clusters import write_table

import polaroc as pr

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
STEPS = (1, 2, 4)
MOST = 1.3
# Pairs of models are what is asked for.
OF_PAIRS = {("compare", "models"), ("dominance", "models")}
WITHOUT_TABLES = {
    "anova", "beta", "charts", "datasets", "errors", "expr", "pr_from_roc", "prior", "prior_grid",
    "rates", "roc_from_pr", "simulate", "skew", "sklearn", "uniform", "warehouse",
}  # fmt: skip
BASE = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.2)


@dataclass(frozen=True)
class Size:
    """The sizes of a table; `rows` are those of a model."""

    rows: int = 20_000
    keys: int = 12
    models: int = 3
    priors: int = 8
    days: int = 16
    clusters: int = 2_000

    @property
    def grid(self) -> list[float]:
        """The priors."""
        return np.linspace(0.02, 0.5, self.priors).tolist()

    @property
    def names(self) -> list[str]:
        """The columns of scores."""
        return [f"model {i}" for i in range(self.models)]

    def wide(self, seed: int = 0) -> pl.DataFrame:
        """Cases with a column of scores for each model; `score` is that of the first."""
        rng = np.random.default_rng(seed)
        truth = rng.random(self.rows) < 0.1
        common = rng.normal(size=self.rows) + 1.5 * truth
        scores = {
            name: 1 / (1 + np.exp(2 - common - 0.5 * rng.normal(size=self.rows)))
            for name in self.names
        }
        return pl.DataFrame(
            {
                "id": np.arange(self.rows), "truth": truth, **scores,
                "score": scores["model 0"], "key": rng.integers(0, self.keys, self.rows),
                "day": np.arange(self.rows) * self.days // self.rows,
                "cluster": rng.integers(0, self.clusters, self.rows),
                "part": rng.integers(0, 4, self.rows),
            }
        )  # fmt: skip

    def long(self) -> pl.DataFrame:
        """A row for each case and model, with folds."""
        table = self.wide().with_columns(fold=pl.col("id") % 5)
        return table.drop("score").unpivot(
            self.names, index=["id", "truth", "fold", "key"], variable_name="model",
            value_name="score",
        )  # fmt: skip

    def curves(self) -> pl.DataFrame:
        """A curve for each key."""
        return pr.curve(self.wide(), **BASE, by="key")


Made = Callable[[Size], Callable[[], object]]


def of_wide(function: Callable[..., object], **options: object) -> Made:
    """Calls with the scores of one model; an option may be a function of the size."""

    def made(size: Size) -> Callable[[], object]:
        table = size.wide()
        own = {name: one(size) if callable(one) else one for name, one in options.items()}
        return lambda: function(table, **BASE | own)

    return made


def of_models(function: Callable[..., object], **options: object) -> Made:
    """Calls with the scores of all models, of the same cases."""

    def made(size: Size) -> Callable[[], object]:
        table, roles = size.wide(), {"truth": "truth", "score": size.names, "case": "id"}
        return lambda: function(table, **roles, **options)

    return made


def of(made: Callable[[Size], pl.DataFrame], function: Callable[..., object],
       **options: object) -> Made:  # fmt: skip
    """Calls with another table of a size."""

    def call(size: Size) -> Callable[[], object]:
        table = made(size)
        own = {name: one(size) if callable(one) else one for name, one in options.items()}
        return lambda: function(table, **own)

    return call


def report(size: Size) -> Callable[[], object]:
    """A page of the models and folds of a table."""
    table, roles = size.long(), {**BASE, "model": "model", "fold": "fold", "case": "id"}
    folder = tempfile.mkdtemp()
    return lambda: pr.report(table, **roles, over=OVER, path=Path(folder) / "page.html")


def grid(size: Size) -> list[float]:
    """The priors of a size."""
    return size.grid


def later(size: Size) -> pl.DataFrame:
    """Cases of later days."""
    return size.wide(1).with_columns(day=pl.col("day") + size.days)


def folds(size: Size) -> pl.DataFrame:
    """A curve for each fold."""
    return pr.curve(size.wide(), **BASE, fold="key")


CURVES = Size.curves
GATED = {"champion": "model 0", "challenger": "model 1", "margin": 0.01}
THRESHOLDS = {"points": 0.3}
# By function: what is timed, and the sizes that it has.
CALLS: dict[str, list[tuple[Made, str]]] = {
    "curve": [(of_wide(pr.curve, by="key"), "rows keys")],
    "evaluate": [
        (of_wide(pr.evaluate, by="key", priors=grid, over=OVER), "rows keys priors"),
        (of_wide(pr.evaluate, by="key", over=OVER, intervals=True, cluster="cluster"),
         "clusters"),
    ],
    "auc": [(of(CURVES, pr.auc), "rows keys")],
    "auprec": [(of(CURVES, pr.auprec, priors=grid), "rows keys priors")],
    "iauprec": [(of(CURVES, pr.iauprec, over=OVER), "rows keys")],
    "sens": [(of(CURVES, pr.sens, over=OVER), "rows keys")],
    "accsens": [(of(CURVES, pr.accsens, over=OVER), "rows keys")],
    "surface": [(of(CURVES, pr.surface, priors=grid), "rows keys priors")],
    "hull": [(of(CURVES, pr.hull), "rows keys")],
    "achievable": [(of(CURVES, pr.achievable, priors=grid), "rows keys priors")],
    "mean_curve": [(of(folds, pr.mean_curve, fold="key"), "rows keys")],
    "mean_curve of a surface": [(of(lambda size: pr.surface(folds(size), priors=size.grid),
                                   pr.mean_curve,
                    fold="key"), "rows keys priors")],
    "dominance": [(of(lambda size: pr.curve(size.long(), **BASE, model="model", fold=None),
                      pr.dominance, model="model"), "rows models")],
    "check": [(of_wide(pr.check, by="key"), "rows keys")],
    "cases": [(of_wide(pr.cases, cluster="cluster"), "rows clusters")],
    "one_vs_rest": [(of(Size.wide, pr.one_vs_rest, truth="truth",
                        scores={False: "model 0", True: "model 1"}), "rows")],
    "calibration": [
        (of_wide(pr.calibration, by="key", cluster="cluster"), "rows keys clusters"),
        (of_wide(lambda *of, **roles: pr.calibration(*of, **roles).curve, by="key"), "rows keys"),
    ],
    "probabilities": [
        (of(Size.wide, lambda table: pr.probabilities(
            table, pr.curve(table, **BASE), score="score", priors=0.1, same_table=True)), "rows"),
    ],
    "operating_points": [
        (of_wide(pr.operating_points, by="key", priors=grid, constraints={"recall": 0.8}),
         "rows keys priors"),
        (of_wide(pr.operating_points, priors=0.1, constraints={"recall": 0.8}, confidence=0.9,
                 cluster="cluster"), "clusters"),
    ],
    "apply_thresholds": [
        (of_wide(pr.apply_thresholds, **THRESHOLDS, by="key", priors=grid, intervals=True),
         "rows keys priors"),
        (of_wide(pr.apply_thresholds, **THRESHOLDS, cluster="cluster", intervals=True),
         "clusters"),
    ],
    "cost_curve": [(of(CURVES, pr.cost_curve), "rows keys")],
    "decision_curve": [(of_wide(pr.decision_curve, by="key", thresholds=[0.1, 0.3],
                                priors=grid, intervals=True), "rows keys priors")],
    "expected_cost": [(of_wide(pr.expected_cost, by="key", over=OVER, intervals=True,
                               cluster="cluster"), "rows keys clusters")],
    "compare": [(of_models(pr.compare, over=OVER), "rows models"),
                (of_models(pr.compare, over=OVER, cluster="cluster"), "clusters")],
    "choose": [(of_models(pr.choose, over=OVER), "rows models"),
               (of_models(pr.choose, over=OVER, cluster="cluster"), "clusters")],
    "gate": [(of_models(pr.gate, over=OVER, **GATED), "rows models"),
             (of_models(pr.gate, over=OVER, **GATED, cluster="cluster"), "clusters")],
    "estimate_prior": [(of_wide(pr.estimate_prior, deployed=later), "rows")],
    "monitor": [(of_wide(pr.monitor, deployed=later, **THRESHOLDS, time="day"), "rows days")],
    "report": [(report, "rows models")],
}  # fmt: skip


def exponent(made: Made, axis: str, rounds: int, base: Size) -> tuple[float, float]:
    """The exponent from the second to the third size, and the least seconds at the third."""
    calls = [made(replace(base, **{axis: getattr(base, axis) * step})) for step in STEPS]
    least = [float("inf")] * len(STEPS)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = process_time()
            found = call()
            if isinstance(found, pl.LazyFrame):
                found.collect()
            least[place] = min(least[place], process_time() - start)
    return log2(least[2] / least[1]), least[2]


def main() -> None:
    """Print a row for each function, and those above `MOST`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(CALLS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=Size.rows)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    left_out = set(pr.__all__) - CALLS.keys() - WITHOUT_TABLES
    if left_out:
        parser.error(f"nothing is timed of {sorted(left_out)}")
    axes = [one.name for one in fields(Size)]
    lines = [f"| function | {' | '.join(axes)} |", "|---" * (len(axes) + 1) + "|"]
    above = []
    for name in given.only.split(","):
        cells = dict.fromkeys(axes, "")
        for made, own in CALLS[name]:
            for axis in own.split():
                found, seconds = exponent(made, axis, given.rounds, Size(given.rows))
                cells[axis] = f"{max(found, 0):.1f}"
                if found > MOST and (name, axis) not in OF_PAIRS:
                    above.append(f"{name}, {axis}: {found:.2f} ({seconds:.2f} s)")
        lines.append(f"| `{name}` | {' | '.join(cells.values())} |")
        print(lines[-1], flush=True)
    print("above", MOST, above or "none", sep=": ")
    if given.write:
        write_table("growth", "\n".join([*lines, ""]), PAGE)


if __name__ == "__main__":
    main()
