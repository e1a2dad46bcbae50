"""What other packages answer to the same cases, beside ours: the calls of docs/elsewhere.md.

``just elsewhere`` makes an environment of its own for each package in build/elsewhere, installs
the version named here (a package registry is needed), runs its calls there and ours here, writes
both to elsewhere.csv, and fills the tables of the page. ``just elsewhere dcurves mapie`` runs these
only; ``just elsewhere --page`` fills the page from what was written. PySpark needs a Java.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import warnings
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "elsewhere.csv"
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "elsewhere.md"
ENVIRONMENTS = ROOT / "build" / "elsewhere"
MARKED = re.compile(r"(<!-- (?:run|cases): ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = ("package", "version", "run", "call", "answer", "our_call", "our_answer", "truth")

CASES = """\
import numpy as np

draw = np.random.default_rng(38)


def probability(score):
    return 1 / (1 + 4 * np.exp(1.125 - 1.5 * score))


def cases(size, prior):
    truth = (draw.random(size) < prior).astype(int)
    return truth, probability(draw.normal(size=size) + 1.5 * truth)


y, p = cases(2_000, 0.2)
group = np.where(draw.random(2_000) < 0.3, "a", "b")
y_rare, p_rare = cases(5_000, 0.05)  # the prior has shifted
p_mix = probability(draw.normal(1.2, size=5_000))  # other cases, the probabilities stay right
y_mix = (draw.random(5_000) < p_mix).astype(int)
auc_a = np.array([0.81, 0.82, 0.81, 0.76, 0.83])  # of five folds
auc_b = np.array([0.78, 0.80, 0.76, 0.78, 0.77])
"""
OURS = """\
import polars as pl
import polaroc as pr

t = pl.DataFrame({"truth": y, "p": p, "group": group})
rare, mix = (pl.DataFrame({"p": scores, "day": 1}) for scores in (p_rare, p_mix))
names = {"truth": "truth", "score": "p"}
c = t.pipe(pr.curve, **names)


def watched(used, quantity):
    table = pr.monitor(t, used, **names, time="day", points=0.3).table
    return table.filter(quantity=quantity)["estimate"].item()


def folds(a, b):
    models = pl.DataFrame({"model": ["a", "b"], "estimate": [a, b], "measure": "auc"})
    fold = pl.int_range(pl.len()).over("model").alias("fold")
    return models.explode("estimate").with_columns(fold)
"""


class Call(NamedTuple):
    """An expression of another package, ours, and what is true where the cases tell."""

    theirs: str
    ours: str
    truth: str = ""
    # Whether both compute the same number, as a test then says.
    same: bool = True


class Package(NamedTuple):
    """What to install, what to run first, and the calls."""

    install: list[str]
    first: str
    calls: list[Call]


MAPIE = """BinaryClassificationController(
    lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]), "precision", 0.5,
    confidence_level=0.95, best_predict_param_choice="recall",
).calibrate(p[:, None], y).best_predict_param"""

PACKAGES = {
    "scikit-learn": Package(
        ["scikit-learn==1.9.1"],
        "from sklearn import metrics",
        [
            Call("metrics.confusion_matrix_at_thresholds(y, p)[3][99]", 'c["tp"][100]'),
            Call(
                "metrics.metric_at_thresholds(y, p, metrics.matthews_corrcoef)[0].max()",
                'pr.surface(c, "observed", rates=["matthews"])["matthews"].max()',
            ),
        ],
    ),
    "mapie": Package(
        ["mapie==1.6.0"],
        "from mapie.risk_control import BinaryClassificationController",
        [
            Call(
                MAPIE,
                'pr.operating_points(c, "max_recall", priors=0.2, confidence=0.95, '
                'constraints={"precision": 0.5})["threshold"].item()',
                same=False,
            ),
            Call(
                "None",
                'pr.operating_points(c, "max_recall", over=(0.1, 0.3), confidence=0.95, '
                'constraints={"precision": 0.5})["threshold"].item()',
                same=False,
            ),
        ],
    ),
    "nannyml": Package(
        # It imports statsmodels, which it does not ask for.
        ["nannyml==0.13.1", "statsmodels"],
        """\
import pandas as pd
from nannyml import CBPE


def used(p):
    return pd.DataFrame({"p": p, "called": (p >= 0.3).astype(int)})


cbpe = CBPE(
    y_true="truth",
    y_pred="called",
    y_pred_proba="p",
    metrics=["precision"],
    problem_type="classification_binary",
    chunk_number=1,
).fit(used(p).assign(truth=y))


def estimated(p):
    found = cbpe.estimate(used(p)).filter(period="analysis").to_df()
    return found["precision", "value"].item()
""",
        [
            Call(
                f"estimated(p_{kind})",
                f'watched({kind}, "precision")',
                f"y_{kind}[p_{kind} >= 0.3].mean()",
                same=False,
            )
            for kind in ("rare", "mix")
        ]
        + [Call("None", 'pr.estimate_prior(t, mix, **names)["shift_p"].item()', same=False)],
    ),
    "quapy": Package(
        ["quapy==0.2.3"],
        """\
from quapy.method.aggregative import ACC, EMQ
from sklearn.linear_model import LogisticRegression

x, x_rare = (np.log(q / (1 - q))[:, None] for q in (p, p_rare))
acc = ACC(LogisticRegression()).fit(x, y)
""",
        [
            Call(
                "EMQ.EM([1 - y.mean(), y.mean()], np.column_stack([1 - p_rare, p_rare]))[0][1]",
                'pr.estimate_prior(t, rare, **names)["prior"].item()',
                "y_rare.mean()",
                same=False,
            ),
            Call(
                "acc.predict(x_rare)[1]",
                'pr.estimate_prior(t, rare, **names, method="confusion")["prior"].item()',
                "y_rare.mean()",
                same=False,
            ),
        ],
    ),
    "dcurves": Package(
        ["dcurves==1.1.7"],
        """\
import pandas as pd
from dcurves import dca

data = pd.DataFrame({"truth": y, "p": p})
""",
        [
            Call(
                'dca(data, "truth", ["p"], thresholds=[0.3])["net_benefit"][0]',
                'pr.decision_curve(c, [0.3])["net_benefit"].item()',
            ),
            Call(
                'dca(data, "truth", ["p"], thresholds=[0.3], prevalence=0.05)["net_benefit"][0]',
                'pr.decision_curve(c, [0.3], 0.05, score_prior=None)["net_benefit"].item()',
            ),
            Call(
                "None", 'pr.decision_curve(c, [0.3], 0.05)["net_benefit"].item()', same=False
            ),
        ],
    ),
    "rtichoke": Package(
        # Its 0.1.35 calls what Polars 2 no longer has; its 0.1.36 needs Python 3.12.
        ["rtichoke==0.1.35", "polars<2"],
        """\
import rtichoke as rk

table = rk.prepare_performance_data(probs={"model": p}, reals=y, by=0.01)
""",
        [
            Call(
                'table.row(30, named=True)["ppv"]',
                't.select(pr.expr.rate("precision", "truth", "p", 0.3)).item()',
            ),
            Call(
                'table.row(30, named=True)["net_benefit"]',
                'pr.decision_curve(c, [0.3])["net_benefit"].item()',
            ),
        ],
    ),
    "fairlearn": Package(
        ["fairlearn==0.15.0"],
        """\
from fairlearn.metrics import MetricFrame
from sklearn.metrics import recall_score, roc_auc_score
""",
        [
            Call(
                "MetricFrame(metrics=roc_auc_score, y_true=y, y_pred=p, "
                'sensitive_features=group).by_group["a"]',
                'pr.evaluate(t, **names, by="group", measures="auc")["estimate"][0]',
            ),
            Call(
                "MetricFrame(metrics=recall_score, y_true=y, y_pred=p >= 0.3, "
                "sensitive_features=group).difference()",
                't.group_by("group").agg(r=pr.expr.rate("recall", "truth", "p", 0.3))'
                '.select(pl.col("r").max() - pl.col("r").min()).item()',
            ),
        ],
    ),
    "empulse": Package(
        ["empulse==0.13.1"],
        """\
from empulse.metrics import CostMatrix, MaxProfit, Metric
from sympy.stats import Beta

fixed = Metric(CostMatrix().add_fn_cost("fn").add_fp_cost("fp"), MaxProfit())
miss = Beta("miss", 2, 2)
uncertain = Metric(CostMatrix().add_fn_cost(miss).add_fp_cost(1 - miss), MaxProfit())
""",
        [
            Call(
                "-fixed(y, p, fn=0.9, fp=0.1)",
                'pr.expected_cost(c, over=y.mean(), cost=0.9)["cost_fixed"].item()',
            ),
            Call(
                "fixed.optimal_threshold(y, p, fn=0.9, fp=0.1)",
                'pr.operating_points(c, "cost", priors="observed", cost_fn=9)["threshold"].item()',
            ),
            Call(
                "-uncertain(y, p)",
                "pr.expected_cost(c, over=y.mean(), cost=pr.beta(2, 2))"
                '["cost_informed"].item()',
            ),
        ],
    ),
    "skore": Package(
        ["skore==0.28.0"],
        """\
from skore import EstimatorReport
from sklearn.linear_model import LogisticRegression

x = np.log(p / (1 - p))[:, None]
model = LogisticRegression().fit(x, y)
report = EstimatorReport(model, X_test=x, y_test=y, pos_label=1)
""",
        [Call("report.metrics.roc_auc()", 'pr.auc(c)["estimate"].item()')],
    ),
    "baycomp": Package(
        ["baycomp==1.0.3"],
        "import baycomp",
        [
            Call(
                "2 * min(baycomp.two_on_single(auc_a, auc_b))",
                'pr.compare(folds(auc_a, auc_b), measure="auc", test_train_ratio=1 / 4)'
                '.pairs["p_value"].item()',
            )
        ],
    ),
    "pyspark": Package(
        ["pyspark==4.0.5", "pandas<3", "pyarrow", "numpy"],
        """\
import pandas as pd
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").getOrCreate()
data = spark.createDataFrame(pd.DataFrame({"truth": y.astype(float), "p": p}))
area = BinaryClassificationEvaluator(labelCol="truth", rawPredictionCol="p", numBins=0)
""",
        [
            Call(
                'area.setMetricName("areaUnderROC").evaluate(data)', 'pr.auc(c)["estimate"].item()'
            ),
            Call(
                'area.setMetricName("areaUnderPR").evaluate(data)',
                'pr.auprec(c, interpolation="linear")["estimate"].item()',
            ),
        ],
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", help="all, unless named")
    parser.add_argument("--page", action="store_true", help="only fill the page")
    parser.add_argument("--theirs", action="store_true", help="what the installed package answers")
    asked = parser.parse_args()
    if asked.theirs:
        print(json.dumps(theirs(*asked.packages)))
        return
    if not asked.page:
        write(asked.packages or list(PACKAGES))
    PAGE.write_text(filled(PAGE.read_text()))


def theirs(name: str) -> dict[str, object]:
    """The package's version and its answer to each call; to be run where it is installed."""
    warnings.simplefilter("ignore")
    package, names = PACKAGES[name], {}
    exec(CASES + package.first, names)
    answers = [eval(call.theirs, names) for call in package.calls]
    told = [eval(call.truth or "None", names) for call in package.calls]
    return {
        "version": version(name),
        "answers": [None if number is None else float(number) for number in answers],
        "truths": [None if number is None else float(number) for number in told],
    }


def ours(name: str) -> list[float]:
    """Our answer to each call."""
    names: dict[str, object] = {}
    exec(CASES + OURS, names)
    return [float(eval(call.ours, names)) for call in PACKAGES[name].calls]


def checksums(name: str) -> list[str]:
    """Of all code that each call of the package runs: a test compares them with what was run."""
    package = PACKAGES[name]
    code = ["\n".join([CASES, package.first, call.theirs, call.truth]) for call in package.calls]
    return [str(zlib.crc32(one.encode())) for one in code]


def write(names: list[str]) -> None:
    """Run packages and write what they answered beside what was written of the others."""
    rows = {name: [row for row in read() if row["package"] == name] for name in PACKAGES}
    for name in names:
        print(name, flush=True)
        command = [python_of(name), __file__, "--theirs", name]
        # NannyML reports its use to its makers unless told not to.
        quiet = os.environ | {"NML_DISABLE_USAGE_LOGGING": "1"}
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=quiet)
        found = json.loads(said.stdout.splitlines()[-1])
        rows[name] = [
            dict(zip(COLUMNS, (name, found["version"], *told), strict=True))
            for told in zip(
                checksums(name),
                [call.theirs for call in PACKAGES[name].calls],
                found["answers"],
                [call.ours for call in PACKAGES[name].calls],
                ours(name),
                found["truths"],
                strict=True,
            )
        ]
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(row for name in PACKAGES for row in rows[name])


def python_of(name: str) -> Path:
    """The interpreter of the package's environment, which is made where there is none."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / name], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *PACKAGES[name].install], check=True
        )
    return python


def read() -> list[dict[str, str]]:
    """What was written, one row per call."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def filled(page: str) -> str:
    """The page with the cases, and the table of each package from what was written."""
    return MARKED.sub(lambda found: f"{found[1]}{shown(found[2])}{found[3]}", page)


def shown(name: str) -> str:
    """What stands between two marks: the cases, or a package's calls and what they answered."""
    if name not in PACKAGES:
        return f"```python\n{CASES if name == 'theirs' else OURS}```\n"
    rows = [row for row in read() if row["package"] == name]
    told = any(row["truth"] for row in rows)
    heads = [f"{name} {rows[0]['version']}", "polaroc", "theirs", "ours", *["true"] * told]
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        calls = [code(row["call"]), code(row["our_call"])]
        numbers = [row["answer"], row["our_answer"], *[row["truth"]] * told]
        lines.append([*calls, *(f"{float(number):.4g}" if number else "–" for number in numbers)])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    # Not marked as Python, whose blocks run in the tests, where the package is not installed.
    return f"```py\n{PACKAGES[name].first.strip()}\n```\n\n{table}"


def code(call: str) -> str:
    return (
        "–"
        if call == "None"
        else f"`{' '.join(call.split()).replace(', )', ')').replace('( ', '(')}`"
    )


if __name__ == "__main__":
    main()
