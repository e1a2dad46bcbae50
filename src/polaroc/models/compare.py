"""Tests of whether models differ, over folds that share training cases or on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from typing import Any, Unpack, get_args

import numpy as np
import polars as pl

from polaroc.base.checks import check_ratio, check_share, check_text
from polaroc.base.columns import HAS_BOTH, with_level
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import noted_by_kind
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.evidence import (
    FEWEST_CLUSTERS,
    Contrasts,
    Evidence,
    all_pairs,
    by_holm,
    common_variance,
    evidence_from_folds,
)
from polaroc.inference.test_sets import ScoredCases, evidence_from_cases
from polaroc.measures.catalog import CATALOG, higher_is_better, label, value_range
from polaroc.measures.scoring import case_loss
from polaroc.models.comparison import Comparison, Target
from polaroc.models.inputs import Inputs, compared_cases, read_inputs, single_prior, with_model
from polaroc.models.measure_rows import (
    FoldValues,
    below_chance,
    distinct,
    fold_values,
    of_one_range,
    refuse_places,
    rows_of,
)
from polaroc.models.paired_cases import limits_by_model, read_cases, single_measure
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Array, Prior, Table

OMNIBUS = {
    "test": pl.String, "statistic": pl.Float64, "df1": pl.Float64, "df2": pl.Float64,
    "p_value": pl.Float64,
}  # fmt: skip
WIDER_IN_GATE = "gate takes wider limits"
# In simulation, at a level of 95 % (tests/simulations/results/comparisons_folds.csv).
UNSTABLE = (
    "Where test sets of folds share cases, the test finds differences between equal algorithms that"
    " are unstable, such as nearest neighbours, too often: of two in up to 16 % of samples at a "
    "level of 95 %, of more still oftener."
)


def compare(
    table: Table | Cases[Any],
    measure: str = "iauprec",
    *,
    priors: Prior | Sequence[Prior] | None = None,
    over: Over | None = None,
    target: Target | None = None,
    level: float = 0.95,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> Comparison:
    """Test whether models differ on one measure, and which: over common folds or on common cases.

    Parameters
    ----------
    table
        Predictions, one row per model and case, as for `cases`, or its result: every model scores
        the cases of each fold, or of one test set. Of a single model over folds the mean is given
        with its interval. Or tidy measures with one estimate per `model` and `fold`, as `evaluate`
        returns them; they take no column keywords. A lazy frame is collected.
    measure
        The measure compared, such as "iauprec", "auprec", "auc", "accsens".
    priors
        The one prior at which the measure is taken, in (0, 1), or ``"observed"``: each key's own,
        the default for predictions. Measures have to be at one prior only, or `priors` names it.
    over
        The range (lo, hi) of priors, or the belief, that `measure` needs; of measures in a table,
        those over this range.
    target
        The population that the answer is about. ``"algorithm"``: models trained again on other
        samples of this size. ``"trained"``: these fitted models, on other cases. By default
        "trained" for predictions on one test set, else "algorithm".
    level
        Confidence of the intervals, in (0, 1). Two models differ if their adjusted p-value is below
        1 − `level`; only then does their adjusted interval leave out 0.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    test_train_ratio
        Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds, 0 where
        folds share no cases (each its own dataset). "algorithm" needs it, unless it follows from
        the `case` of predictions: a fold is taken to be trained on all cases that it does not test.
        A column "case" that is not given as `case` does not count where it may just number the
        rows: each value in one fold, and those of a fold before all of the next.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Comparison
        Its frames `models` (estimate and interval of each), `omnibus` and `pairs`, its `warnings`,
        and a `summary()` to print, in which models that share a letter (Piepho 2004) do not differ
        significantly.

    Raises
    ------
    InvalidArgument, InvalidTable
        For arguments outside what is allowed; fewer than two folds, or for "trained" than two
        models; cells that are missing (with their list), null (with their notes) or repeated with
        other numbers.
    NotSupported
        For `by`.

    Notes
    -----
    With I models, J folds and r = `test_train_ratio`, "algorithm" is F/(1 + J·r), F that of a
    two-way layout, with I−1 and (I−1)(J−1) degrees of freedom, and for pairs d̄/√(s²(1/J + r)) with
    J−1 (Nadeau and Bengio 2003). "trained" is the test of DeLong, DeLong and Clarke-Pearson (1988)
    for the AUC, for other measures the same with the influence of the cases; the omnibus p-value is
    the least adjusted one of the pairs. The interval of a model is that of its mean over folds,
    or on one test set that of `evaluate`.

    Where a difference shows no variation (models rank all cases alike, differ by the same amount in
    every fold, or separate the classes perfectly) there is neither an interval nor a p-value, and
    `warnings` says so. Folds that are copies of others, such as those of a repeat with the same
    seed, are used once.

    With `cluster` the influences of the cases of a class are summed within each cluster before they
    are squared (Obuchowski 1997), and Student's t has one degree of freedom less than there are
    clusters with cases of the rarer class. Over folds, `warnings` names clusters of which a fold
    tests some cases and has trained on others. Few cases may be most of the variance of the Brier
    score and the log loss: for each model it has one more case of each class, with the largest
    influence seen, and (Σd²)²/Σd⁴ − 1 degrees of freedom, d by how much each case moves the
    difference (``just calibration differences``).

    `lower` and `upper` are limits of a pair by itself. Holm's method multiplies the p-value of a
    pair by a factor c; its adjusted interval is the usual one with confidence 1 − (1 − `level`)/c.
    So each holds on its own with at least `level`, and all at once where no two models differ.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", over=(0.05, 0.20)
    ... )
    >>> comparison = pr.compare(measures, test_train_ratio=0.25)
    >>> comparison.models["model"].to_list()
    ['A', 'C', 'B']
    >>> comparison.omnibus["p_value"].round(3).to_list()
    [0.054]
    """
    check_text("measure", measure, "auprec")
    check_share("level", level)
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    # Of one model there is a mean over folds; on one test set there is nothing to compare.
    inputs = read_inputs(with_model(cases) if cases.fold and cases.truth else cases)
    prior = single_prior(priors)
    refuse_places(measure, over, prior)
    possible = "trained" if inputs.on_cases else "algorithm"
    if target not in (None, possible):
        check_choice("target", target, get_args(Target))
        what = "predictions on one test set" if inputs.on_cases else "several folds, 'fold'"
        raise InvalidArgument(
            f"target is {target!r}, and the table has {what}, of which it is {possible!r}.",
            hint="'trained' compares fitted models on the cases of one test set, 'algorithm' those "
            "that were fitted anew for each fold.",
        )
    at: Prior = OBSERVED if prior is None else prior
    if inputs.are_measures:
        measures, _ = of_one_range(inputs.cases.rows, measure, over)
    else:
        measures = evaluate(
            inputs.cases, measure=sorted({measure, "auc"}), priors=at, over=over,
            intervals=inputs.on_cases, level=level if inputs.on_cases else 0.95,
            score_prior=score_prior,
        )  # fmt: skip
    if inputs.on_cases:
        return _comparison_on_test_set(inputs, measures, measure, at, over, level)
    rows, ratio = rows_of(measures, measure), inputs.cases.test_train_ratio
    rows.check_prior(prior)
    values = fold_values(rows, [prior])
    check_ratio(ratio)
    values.check_folds()
    place, known = "", distinct(rows.frame["prior"])
    if prior == OBSERVED or (len(known) > 1 and prior is None):
        place = " at each fold's own prior"
    elif known:
        place = f" at prior {prior or known[0]:g}"
    return comparison_over_folds(
        values, evidence_from_folds(values.at_first, ratio, values.models), level, ratio,
        measure=measure, label=f"{measure}{place}",
        warnings=(*inputs.warnings, *below_chance(measures, measure)),
    )  # fmt: skip


def comparison_over_folds(
    values: FoldValues, evidence: Evidence, level: float, ratio: float | None, *,
    measure: str, label: str, warnings: Sequence[str] = (),
) -> Comparison:  # fmt: skip
    """The comparison of models over folds, whose `evidence` is that of `evidence_from_folds`."""
    assumption, *others = evidence.warnings
    omnibus = []
    if len(values.models) > 1:
        omnibus.append(("Nadeau-Bengio corrected F", *f_test(evidence)))
    lower, upper = (np.clip(limits[0], *value_range(measure)) for limits in evidence.limits(level))
    return _comparison(
        evidence, all_pairs(evidence), (lower, upper), omnibus, level, measure, label=label,
        target="algorithm", higher_is_better=higher_is_better(measure), size=len(values.values),
        test_train_ratio=ratio,
        warnings=(
            *warnings, *values.warnings,
            "The test asks whether the algorithms would differ if trained again on other samples "
            f"of this size. {assumption}",
            *others, *([UNSTABLE] if ratio else []),
        ),
    )  # fmt: skip


def _comparison_on_test_set(
    inputs: Inputs, measures: pl.DataFrame, name: str, at: Prior, over: Over | None, level: float
) -> Comparison:
    """The comparison of fitted models by a measure, of which they have these estimates."""
    measure = single_measure(name, at, over, inputs.cases.score_prior)
    cases, estimates = read_cases(inputs.cases), measures.filter(measure=name)
    lacking = estimates.filter(pl.col("estimate").is_null(), HAS_BOTH)
    if lacking.height:
        first, note = lacking.select("model", "note").row(0)
        raise InvalidPredictions(
            f"the {label(name)} of {first!r} is null: {note}.",
            hint="leave the model out, or take another measure.",
        )
    noted = estimates.drop_nulls("note").select("model", "note")
    return comparison_of_fitted(
        cases, evidence_from_cases(cases, [measure], unseen=case_loss(measure) is not None),
        limits_by_model(estimates, cases), name, level, at=at, warnings=inputs.warnings,
        score_warnings=(*noted_by_kind(noted.rows()), *below_chance(measures, name)),
    )  # fmt: skip


def comparison_of_fitted(
    cases: ScoredCases, evidence: Evidence, limits: tuple[Array, Array] | None, name: str,
    level: float, *, at: Prior | None, score_warnings: Sequence[str],
    warnings: Sequence[str] = (),
) -> Comparison:  # fmt: skip
    """The comparison of fitted models, paired by case, by a measure at a prior, if any.

    `limits` are those of each model by itself.
    """
    pairs = all_pairs(evidence)
    if np.isnan(pairs.std_error).any():
        raise InvalidPredictions(
            "there are too few cases or clusters of a class to compare the models by.",
            hint=f"every class needs two cases or more, or {FEWEST_CLUSTERS} clusters; of weighted "
            "ones their effective number counts, which is small where few have most of the weight.",
        )
    about = [
        f"The test is about {evidence.about}. It says nothing about models that are trained again."
    ]
    positives = cases.class_counts[0]
    # With fewer, tests of AUPREC on one test set find differences too often in simulation.
    if name in ("auprec", "iauprec") and positives < 200:
        about.append(
            f"With {positives} positives the test of AUPREC finds differences between equal models "
            f"somewhat too often; {WIDER_IN_GATE}."
        )
    # Models differ if a pair does, adjusted for the number of pairs.
    freedom = None if isinf(evidence.degrees_of_freedom) else evidence.degrees_of_freedom
    varies, omnibus = pairs.std_error > 0, (None, None, freedom, None)
    if varies.any():
        p_value = by_holm(pairs, level).p_value[varies].min()
        omnibus = (np.abs(pairs.statistic[varies]).max(), None, freedom, p_value)
    test = f"largest |{'z' if freedom is None else 't'}|, Holm"
    is_at_prior = at is not None and name in CATALOG and CATALOG[name].at_priors
    return _comparison(
        evidence, pairs, limits, [(test, *omnibus)], level, name, target="trained",
        label=f"{name} at prior {at}" if is_at_prior else name,
        higher_is_better=higher_is_better(name), size=cases.truth.size,
        warnings=(*warnings, *about, *score_warnings),
    )  # fmt: skip


def _comparison(
    evidence: Evidence, pairs: Contrasts, limits: tuple[Array, Array] | None,
    omnibus: Sequence[tuple[object, ...]], level: float, measure: str, *, label: str,
    warnings: Sequence[str], **fields: Any,
) -> Comparison:  # fmt: skip
    """The pairs with Holm's adjustment, and the models, as tidy tables."""
    models, adjusted = pl.Series("model", evidence.models), by_holm(pairs, level)
    low, high = value_range(measure)
    # No difference is larger than that of the ends of the measure.
    most_apart = inf if low is None or high is None else high - low
    (lower, upper), (least, most) = (
        np.clip(pairs.limits(one), -most_apart, most_apart) for one in (level, adjusted.level)
    )
    tests = pl.DataFrame({
        "std_error": pairs.std_error, "lower": lower, "upper": upper, "adjusted_lower": least,
        "adjusted_upper": most, "statistic": pairs.statistic, "p_value": pairs.p_value,
        "p_adjusted": adjusted.p_value,
    })  # fmt: skip
    errors = np.sqrt(evidence.covariance[0].diagonal())
    lower, upper = limits or np.full((2, len(models)), np.nan)
    intervals = pl.DataFrame({"std_error": errors, "lower": lower, "upper": upper})
    # Without variation there is neither a test nor an interval.
    known = pl.when(pl.col("std_error") > 0).then(pl.all().fill_nan(None))
    table = pl.DataFrame({
        "model_a": models[pairs.first], "model_b": models[pairs.second],
        "difference": pairs.difference,
    }).hstack(tests.select(known))  # fmt: skip
    constant = table.filter(pl.col("std_error").is_null()).select("model_a", "model_b")
    if constant.height:
        named = "; ".join(f"{a!r} and {b!r}" for a, b in constant.head(5).rows())
        more = f" and {constant.height - 5} more pairs" if constant.height > 5 else ""
        warnings = [
            *warnings,
            f"The difference of {named}{more} shows no variation, as where models rank alike or "
            "separate the classes perfectly: there is neither an interval nor a p-value for it.",
        ]
    estimates = models.to_frame().with_columns(estimate=evidence.estimates[0])
    ordered = estimates.hstack(intervals.select(known)).sort(
        "estimate", descending=fields["higher_is_better"], maintain_order=True
    )
    return Comparison(
        pl.DataFrame(omnibus, schema=OMNIBUS, orient="row"),
        with_level(table, level), with_level(ordered, level), tuple(warnings), label, level=level,
        **fields,
    )  # fmt: skip


def rounding_floor(values: Array) -> float:
    """Largest sum of squares due to rounding alone."""
    return values.size * (ROUNDING * float(np.abs(values).max(initial=0.0))) ** 2


def f_test(evidence: Evidence) -> tuple[float | None, float, float, float | None]:
    """F of models in a two-way layout with folds, its degrees of freedom and its p-value.

    Of evidence whose folds share nothing it is that of repeated measures; with the variance of
    Nadeau and Bengio it is that over 1 + J·r, of J folds. Without variation there is no test.
    """
    from scipy.special import fdtrc

    means = evidence.estimates[0]
    models = len(means) - 1
    freedom, variance = models * evidence.degrees_of_freedom, common_variance(evidence)
    if variance == 0:
        return None, models, freedom, None
    between = float(((means - means.mean()) ** 2).sum())
    statistic = between / models / variance if between > rounding_floor(means) else 0.0
    return statistic, models, freedom, float(fdtrc(models, freedom, statistic))
