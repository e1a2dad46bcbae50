import json
from math import inf
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

REFERENCE = Path(__file__).parent / "reference"
LINES = (REFERENCE / "cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]

# Not built yet. Of a quantity that is also in CHECKS, the estimate is tested already.
LATER = {
    "nemenyi_pvalues": "comparison",
    "npv_at_prior_with_ci": "intervals of a rate at one threshold",
    "precision_at_prior_with_ci": "intervals of a rate at one threshold",
}
# Not to be built.
NOT_OURS = {
    "pr_thresholds_drop_intermediate": "a curve keeps every distinct score",
    "roc_thresholds_drop_intermediate": "a curve keeps every distinct score",
    "trapezoid": "numpy has it",
}
# What polaroc says instead, where it does not follow a project's convention on purpose.
OURS = {
    # Without negatives a false positive rate and an area are undefined: null, and the
    # note says why. scikit-learn has NaN and 1.
    "sklearn/all_positive/roc": {"fpr": [None, None, None]},
    "sklearn/all_positive/ap": None,
    # Precision at recall 0 is the limit along the first segment, which is the precision
    # where that segment ends. yardstick and scikit-learn put an anchor at 1.
    "yardstick/pr_curve/ties_mixed": {"precision": [1 / 2, 1 / 2, 1 / 3, 1 / 2, 3 / 5]},
    "sklearn/toy4/pr": {"precision": [0.5, 0.5]},
    "torchmetrics/pr_exact": {"precision": [0.5, 0.6667, 0.5, 0, 0]},
    # A score equal to the threshold is called positive, at 0 too, where a score of 0 is
    # therefore as treating all. R's dcurves calls it negative at 0 alone.
    "dcurves/net_benefit/case1": {
        "test_pos_rate": 1.0, "tp_rate": 0.14, "fp_rate": 0.86, "net_benefit": 0.14,
    },
}  # fmt: skip
# dcurves' names of the strategies, and ours.
VARIABLES = {"treat_all": "all", "treat_none": "none", "model": "model"}


def read(file):
    return pl.read_csv(REFERENCE / file, infer_schema_length=None)


def predictions(case):
    given = case["input"]
    if "confusion" in given:
        return confusion_cells(**given["confusion"])
    if "file" not in given:
        return pl.DataFrame(given, schema_overrides={"score": pl.Float64})
    columns = {
        "truth": given["truth"],
        "score": given.get("score") or given["predicted"],
        "weight": given.get("weight"),
    }
    return read(given["file"]).select(**{ours: name for ours, name in columns.items() if name})


def confusion_cells(tp, tn, n_pos, n_neg):
    weights = [tp, n_pos - tp, n_neg - tn, tn]
    return pl.DataFrame({"truth": [1, 1, 0, 0], "score": [1, 0, 1, 0], "weight": weights})


def columns_of(table):
    weight = "weight" if "weight" in table.columns else None
    return {"truth": "truth", "score": "score", "weight": weight}


def curve_of(table):
    return pr.curve(table, **columns_of(table))


def expected(case):
    stated, ours = case["expected"], OURS.get(case["id"], {})
    if "file" in stated:
        stated = read(stated["file"]).to_dict(as_series=False)
    return {name: numbers(values) for name, values in (stated | ours).items()}


def numbers(values):
    return [None if value is None else float(value) for value in values]


def close(case, value):
    return pytest.approx(value, abs=case["tol"])


def check_columns(case, points):
    for name, values in expected(case).items():
        got = points[name].drop_nulls() if name == "threshold" else points[name]
        assert got.to_list() == close(case, values), name


def check_estimates(case, *measures):
    value = OURS.get(case["id"], case["expected"])
    for measure in measures:
        estimate, note = measure.select("estimate", "note").row(0)
        assert estimate == close(case, value)
        assert estimate is not None or note == "no negatives"


def check_roc_curve(case):
    check_columns(case, curve_of(predictions(case)))


def check_det_curve(case):
    # scikit-learn leaves out what lies beyond the last fpr of 0 and the first fnr of 0.
    some_fpr = pl.col("fpr").shift(-1, fill_value=1) > 0
    some_fnr = pl.col("tpr").shift(1, fill_value=0) < 1
    curve = curve_of(predictions(case)).filter(some_fpr & some_fnr)
    check_columns(case, curve.reverse().with_columns(fnr=1 - pl.col("tpr")))


def pr_curve(table):
    return curve_of(table).pipe(pr.surface, "observed").rename({"tpr": "recall"})


def check_pr_curve(case):
    points = pr_curve(predictions(case))
    check_columns(case, points.with_columns(pl.col("threshold").fill_null(inf)))


def check_pr_curve_worst_score_first(case):
    check_columns(case, pr_curve(predictions(case)).reverse())


def check_zero_weights(case):
    table = predictions(case)
    assert_frame_equal(pr_curve(table), pr_curve(table.filter(pl.col("weight") != 0)))


def check_monotone(case):
    curve = curve_of(predictions(case))
    assert curve["fpr"].is_sorted()
    assert curve["tpr"].is_sorted()


def check_auc(case):
    table = predictions(case)
    evaluated = pr.evaluate(table, **columns_of(table), measure="auc")
    check_estimates(case, curve_of(table).pipe(pr.auc), evaluated)


def check_average_precision(case):
    table = predictions(case)
    step = {"priors": "observed", "interpolation": "step"}
    evaluated = pr.evaluate(table, **columns_of(table), measure="auprec", **step)
    check_estimates(case, curve_of(table).pipe(pr.auprec, **step), evaluated)


def check_pr_auc_trapezoid(case):
    curve = curve_of(predictions(case))
    check_estimates(case, pr.auprec(curve, "observed", interpolation="linear", start="one"))


def check_multiclass(case):
    given = case["input"]
    measures = pr.evaluate(
        one_key_per_class(given),
        truth="truth",
        score="score",
        by="class",
        weight=given.get("weight"),
        priors="observed",
        interpolation="step",
        measure="auc" if case["quantity"].startswith("roc_auc") else "auprec",
    )
    prevalence = {"macro": None, "macro_weighted": measures["positives"]}
    average = np.average(measures["estimate"], weights=prevalence[case["params"]["average"]])
    assert average == close(case, case["expected"])


def one_key_per_class(given):
    scores = given["score"].split(",")
    names = {"index": ["obs", "weight"], "variable_name": "class", "value_name": "score"}
    truth = pl.col("obs") == pl.col("class")
    return read(given["file"]).unpivot(scores, **names).with_columns(truth=truth)


def check_rate_at_prior(case):
    rate = case["quantity"].split("_at_")[0]
    points = curve_of(predictions(case)).pipe(pr.surface, case["params"]["prior"], rates=[rate])
    stated = case["expected"]
    estimate = stated["estimate"] if isinstance(stated, dict) else stated
    assert points.filter(pl.col("threshold") == 1)[rate].item() == close(case, estimate)


def check_net_benefit(case):
    stated = pl.DataFrame(
        {"variable": VARIABLES.values(), "net_benefit": [case["expected"][n] for n in VARIABLES]},
        schema_overrides={"net_benefit": pl.Float64},
    ).with_columns(threshold=pl.lit(case["params"]["threshold"]))
    check_strategies(case, stated, case["params"].get("prior", "observed"))


def check_net_benefit_curve(case):
    model = pl.col("variable") == case["input"]["score"]
    at_zero = model & (pl.col("threshold") == 0)
    stated = read(case["expected"]["file"]).with_columns(
        pl.when(at_zero).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in OURS[case["id"]].items()
    )
    named = stated.with_columns(variable=pl.when(model).then(pl.lit("model")).otherwise("variable"))
    # Their harm and net intervention avoided are not rates of ours.
    rates = named.select("variable", "threshold", "pos_rate", *OURS[case["id"]])
    check_strategies(case, rates, "observed")


def check_strategies(case, stated, prior):
    order = ["variable", "threshold"]
    got = strategies(predictions(case), stated["threshold"].unique(), prior)
    assert_frame_equal(
        got.select(stated.columns).sort(order), stated.sort(order), rel_tol=0, abs_tol=case["tol"]
    )


def strategies(table, thresholds, prior):
    points = (
        curve_of(table)
        .pipe(pr.surface, prior, rates={"test_pos_rate": pr.rates.posfrac})
        .rename({"threshold": "score", "prior": "pos_rate"})
        .join(thresholds.to_frame(), how="cross", maintain_order="left")
        .with_columns(
            tp_rate=pl.col("pos_rate") * pl.col("tpr"),
            fp_rate=(1 - pl.col("pos_rate")) * pl.col("fpr"),
            net_benefit=pr.rates.net_benefit(
                pl.col("tpr"), pl.col("fpr"), pl.col("skew"), threshold=pl.col("threshold")
            ),
        )
    )
    called = {
        "all": pl.lit(True),
        "none": pl.col("score").is_null(),
        "model": pl.col("score").fill_null(inf) >= pl.col("threshold"),
    }
    return pl.concat(
        points.filter(among)
        .group_by("threshold", maintain_order=True)
        .last()
        .with_columns(variable=pl.lit(name))
        for name, among in called.items()
    )


CHECKS = {
    "average_precision": check_average_precision,
    "average_precision_multiclass": check_multiclass,
    "det_curve": check_det_curve,
    "monotone": check_monotone,
    "net_benefit": check_net_benefit,
    "net_benefit_at_prior": check_net_benefit,
    "net_benefit_curve": check_net_benefit_curve,
    "npv_at_prior_with_ci": check_rate_at_prior,
    "pr_auc_trapezoid": check_pr_auc_trapezoid,
    "pr_curve": check_pr_curve,
    "pr_curve_invariance": check_zero_weights,
    "pr_curve_sklearn_order": check_pr_curve_worst_score_first,
    "precision_at_prior": check_rate_at_prior,
    "precision_at_prior_with_ci": check_rate_at_prior,
    "roc_auc": check_auc,
    "roc_auc_multiclass": check_multiclass,
    "roc_curve": check_roc_curve,
}
TESTED = [case for case in CASES if case["quantity"] in CHECKS]


@pytest.mark.parametrize("case", TESTED, ids=lambda case: case["id"])
def test_reference(case):
    CHECKS[case["quantity"]](case)


def test_no_case_is_left_out_in_silence():
    named = CHECKS.keys() | LATER.keys() | NOT_OURS.keys()
    assert {case["quantity"] for case in CASES} == named
    assert OURS.keys() <= {case["id"] for case in TESTED}
