"""Whether models differ, by tests that hold for folds which share training cases."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from polaroc.base.checks import check_text
from polaroc.base.columns import as_lazy, column_names
from polaroc.comparison import caveats, omnibus
from polaroc.comparison.checks import refuse_score_prior
from polaroc.comparison.design import (
    Adjust,
    Design,
    Incomplete,
    Plan,
    Target,
    balanced,
    check_blocks,
    two_priors,
)
from polaroc.comparison.design import contrast as contrasted
from polaroc.comparison.half_splits import ModelMeans, half_split_means, halves_of, read_halves
from polaroc.comparison.largest_t import largest_t, largest_t_outcome
from polaroc.comparison.layout import Layout, layout_of, ratio_of
from polaroc.comparison.letters import check_result_name, letter_frame
from polaroc.comparison.measure_rows import Rows, below_chance, distinct, rows_of
from polaroc.comparison.pairwise import pair_frame, paired_t, tukey
from polaroc.comparison.result import Comparison
from polaroc.comparison.trained import compare_trained
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import higher_is_better
from polaroc.predictions.cases import keyed
from polaroc.predictions.row_checks import without_nulls
from polaroc.predictions.wide import MODEL, score_columns
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED
from polaroc.typing import IntoExpr, Label, Prior, Score, Table


def compare(
    measures: Table,
    measure: str = "iauprec",
    between: str = "model",
    block: str | Sequence[str] = "fold",
    *,
    prior: Prior | None = None,
    contrast: tuple[float, float] | None = None,
    target: Target = "algorithm",
    test_train_ratio: float | None = None,
    alpha: float = 0.005,
    level: float | None = None,
    adjust: Adjust = "holm",
    incomplete: Incomplete = "raise",
    permutations: int = 9_999,
    seed: int = 0,
    truth: IntoExpr | None = None,
    score: Score | None = None,
    by: str | Sequence[str] | None = None,
    case: str | None = "id",
    positive: Label | Sequence[Label] | None = None,
    over: tuple[float, float] | Belief | None = None,
    halves: Table | None = None,
    guarded: bool = False,
    score_prior: Prior = "observed",
) -> Comparison:
    """Whether models differ on one measure, and which: over common folds, or on common cases.

    Parameters
    ----------
    measures
        Tidy measures with one estimate per model and block, as `evaluate` gives
        them with ``by=["model", "fold"]``; a lazy frame is collected. For
        "trained": predictions on one test set, one row per model and case, or per
        case with one column of scores per model: any table that `curve` takes. Else
        with `truth` and `score`, predictions on folds, as `choose` takes them.
    measure
        The measure compared, such as "iauprec", "auprec", "auc", "accsens".
    between
        The key column that tells the models apart.
    block
        The key column, or columns, of the blocks: every model is measured once on
        each (the same training and test cases). For "trained" there are none: a
        table that has several is refused.
    prior
        Prior in (0, 1), or ``"observed"``, where the table has the measure at
        several.
    contrast
        Two priors (first, second): compares the measure at the first minus that
        at the second, block by block: who depends how much on the prior.
    target
        What the answer is about. ``"algorithm"``: models trained anew on other
        samples of this size. ``"dataset"``: this dataset only, over further splits.
        ``"trained"``: these fitted models, on other cases.
    test_train_ratio
        Test over training cases of a block, needed for "algorithm": 0.25 for
        80/20 hold-outs, 1/(k−1) for k folds (`experiments.test_train_ratio` works
        it out); 0 where no blocks share cases (each its own dataset). By default that of
        k folds where the table has a key `repeat`, within which each case is tested once;
        with `halves` it is not needed.
    alpha
        Chance of a false difference among all pairs that is accepted, in (0, 1):
        for the letters.
    level
        Confidence of the intervals, in (0, 1): an interval leaves out 0 where the
        adjusted p-value is below 1 − `level`. By default 1 − `alpha`: then a pair is
        told apart if and only if its interval leaves out 0.
    adjust
        ``"holm"``: paired t-tests, each pair with its own variance. ``"tukey"``,
        for "dataset" only: one error for all pairs.
    incomplete
        ``"raise"``: a model without an estimate in a block is an error;
        ``"drop"``: such blocks are left out, as `warnings` says.
    permutations, seed
        Draws of the permutation test, where there are more than 100,000
        arrangements, and their seed.
    truth, score, case, positive
        Of predictions, as in `delong`; `case` for "trained", and of folds for their ratio.
    by
        Of predictions on folds: first the key that tells the models apart, then those of
        the folds, in place of `between` and `block`; with one score column per model only
        those of the folds.
    over
        Of predictions: the range of priors or belief that `measure` needs.
    halves
        For "algorithm": the same measure in disjoint halves of the same cases, which
        tells the variance of the models' means: what `evaluate` gives of
        `sklearn.half_split_predictions` with ``by=["model", "split", "half", "repeat",
        "fold"]``. Of a table made elsewhere: `split` numbers the random, stratified
        divisions of the cases into two `half`; in each half models are
        cross-validated within it, so that in each `repeat` the folds test every case
        of the half once. `repeat` and `fold` may be missing. Name the repeats of the
        blocks `repeat` too: folds of which it is not known whether they
        test all cases are taken for hold-outs, whose means vary more.
    guarded
        With `halves`: the variance of a pair is that of the overlap of training sets,
        where that is greater. `test_train_ratio` is then needed as it is without `halves`.
    score_prior
        Of predictions, for measures of probabilities such as "brier": the prior at which
        scores are right, as in `evaluate`.

    Returns
    -------
    Comparison
        Its frames `omnibus`, `pairs` and `letters`, its `warnings`, and a
        `summary()` to print.

    Raises
    ------
    InvalidArgument, InvalidTable
        For arguments outside what is allowed; fewer than two models or blocks, or
        for "trained" more than one block;
        cells that are missing (with their list), null (with their notes) or
        repeated with other numbers.

    See Also
    --------
    delong : DeLong's test of AUCs on one test set.
    anova : Analysis of variance as in P-ROC.
    choose : Which model to take over uncertain priors.
    gate : Whether a challenger is worse than a champion by more than a margin.

    Notes
    -----
    With I models, J blocks and r = `test_train_ratio`: "algorithm" is
    F/(1 + J·r), F that of a two-way layout, with I−1 and (I−1)(J−1) degrees of
    freedom, and for pairs d̄/√(s²(1/J + r)) with J−1 (Nadeau and Bengio 2003);
    "dataset" is the repeated-measures F with Greenhouse and Geisser's degrees of
    freedom, that F with sphericity assumed (P-ROC's 2-way analysis), within-block
    permutation, Friedman, Iman and Davenport; "trained" is `delong`, and for other
    measures the same with their influence (there `sd` is the standard error, and
    the omnibus p-value is the least adjusted one of the pairs). A zero difference has p = 1.

    With `halves` the means have the covariance V/2, V half the mean square of the difference
    between the two halves of a split, which is unbiased at half the cases for any learner;
    for pairs Student's t with 1/(1/R + 1/(n − 1)) degrees of freedom, R splits, n the cases
    of the smaller class. Where there are more models, p-values are adjusted, and all intervals
    hold at once, by the largest absolute t, whose distribution under that covariance is drawn
    (`seed`). The omnibus p-value is the least adjusted one.

    Intervals are as wide as the adjusted p-value says. Holm's method multiplies the p-value
    of a pair by a factor c between 1 and the number of pairs; its interval is the usual one
    with confidence 1 − (1 − `level`)/c. So each holds on its own with at least `level`, and
    where no two models differ all hold at once with it; where models differ, Holm's method
    does not promise that. Tukey's hold at once with confidence `level`.

    References
    ----------
    Landgrebe, Paclík, Duin, Bradley, "Precision-recall operating characteristic (P-ROC)
    curves in imprecise environments", 2006.

    Nadeau, Bengio, "Inference for the generalization error", 2003.

    Piepho, "An algorithm for a letter-based representation of all-pairwise
    comparisons", 2004.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", by=["model", "fold"], over=(0.05, 0.20)
    ... )
    >>> found = pr.compare(measures, test_train_ratio=0.25)
    >>> found.letters.select("model", "letters").rows()
    [('A', 'a'), ('C', 'a'), ('B', 'a')]
    >>> found.omnibus["p_value"].round(3).to_list()
    [0.054]
    """
    check_text("measure", measure, "auprec")
    check_choice("target", target, get_args(Target))
    on_folds = False
    if target != "trained" and truth is not None and score is not None:
        on_folds = True
        keys = column_names(block, "block") if by is None else column_names(by, "by")
        if by is None and not score_columns(score):
            keys = [between, *keys]
        predictions = as_lazy(measures).collect()
        if (
            target == "algorithm"
            and halves is None
            and test_train_ratio is None
            and case in predictions.columns
        ):
            test_train_ratio = ratio_of(predictions, keys, case)
        at_prior: Prior = "observed" if prior is None else prior
        priors = at_prior if contrast is None else two_priors(contrast, prior)
        with without_nulls():
            measures = evaluate(
                keyed(
                    predictions, truth=truth, score=score, by=keys, positive=positive,
                    score_prior=score_prior,
                ),
                over=over, priors=priors, measures=sorted({measure, "auc"}),
            )  # fmt: skip
        between, *block = [MODEL, *keys] if score_columns(score) else keys or [between]
    # The ratio may follow from the folds.
    known = 0.0 if target == "algorithm" and test_train_ratio is None else test_train_ratio
    plan = Plan(
        target, known, alpha, level, adjust, permutations, seed, halves is not None, guarded
    )
    if target == "trained":
        if by is not None and not score_columns(score):
            between, *block = column_names(by, "by") or [between]
        if contrast is not None:
            raise InvalidArgument(
                "contrast is given with target 'trained', which does not use it.",
                hint=Hint(
                    "leave it out, or take {target} with measures at both priors.",
                    target="algorithm",
                ),
            )
        return compare_trained(
            measures, measure, between, column_names(block, "block"), plan,
            truth=truth, score=score, case=case, positive=positive, prior=prior, over=over,
            score_prior=score_prior, descending=higher_is_better(measure),
        )  # fmt: skip
    if not on_folds and (
        truth is not None or score is not None or over is not None or by is not None
    ):
        raise InvalidArgument(
            "truth, score, by or over is for predictions, which need both truth and score.",
            hint=Hint("name both columns, {truth}, {score}, or leave all of it out.",
                      truth="truth", score="score"),
        )  # fmt: skip
    if not on_folds:
        refuse_score_prior(score_prior)
    table = as_lazy(measures).collect()
    rows = rows_of(table, measure)
    blocks = column_names(block, "block")
    check_result_name(between)
    at: Sequence[Prior | None] = [prior] if contrast is None else two_priors(contrast, prior)
    for one in at:
        rows.check_prior(one)
    design = balanced(rows, at, between, blocks, incomplete)
    design = design if contrast is None else contrasted(design)
    layout = layout_of(rows, design, between)
    if target == "algorithm" and test_train_ratio is None:
        plan = replace(plan, test_train_ratio=layout.test_train_ratio)
    means = None
    if halves is not None:
        check_blocks(design)
        own = halves_of(as_lazy(halves).collect(), rows, table, measure)
        for one in at:
            own.check_prior(one)
        read = read_halves(own, at, between, design.models)
        if contrast is not None:
            read = replace(read, design=contrasted(read.design))
        means = half_split_means(design, layout, read)
    label = _label(measure, rows, prior, contrast)
    result = of_design(
        design, label, between, blocks, plan, descending=higher_is_better(measure), means=means,
        layout=layout,
    )  # fmt: skip
    return replace(result, warnings=(*result.warnings, *below_chance(table, measure)))


def _label(
    measure: str, rows: Rows, prior: Prior | None, contrast: tuple[float, float] | None
) -> str:
    """The measure and where it is taken, in words."""
    if contrast is not None:
        first, second = contrast
        return f"{measure} at prior {first:g} minus at {second:g}"
    if not rows.has_prior:
        return measure
    priors = distinct(rows.frame["prior"])
    if prior == OBSERVED or (prior is None and len(priors) > 1):
        return f"{measure} at each fold's own prior"
    return f"{measure} at prior {prior or priors[0]:g}"


def of_design(
    design: Design,
    label: str,
    between: str,
    block: Sequence[str],
    plan: Plan,
    *,
    descending: bool = True,
    means: ModelMeans | None = None,
    layout: Layout | None = None,
) -> Comparison:
    """The comparison of a balanced table, by the covariance of its means where that is known."""
    check_result_name(between)
    check_blocks(design)
    values = design.table
    if plan.adjust == "tukey":
        pairs = tukey(values, plan.confidence)
    else:
        pairs = paired_t(values, plan.confidence, plan.test_train_ratio or 0.0)
    if means is None:
        tests = omnibus.outcomes(values, plan)
    else:
        pairs = largest_t(
            means.means, means.covariance, means.df, plan.confidence,
            at_least=pairs.std_error**2 if plan.guarded else None, seed=plan.seed,
        )  # fmt: skip
        tests = [largest_t_outcome(pairs, means.df, plan)]
    letters = letter_frame(
        design.models.alias(between),
        values.mean(axis=0),
        values.std(axis=0, ddof=1),
        pairs.significant_pairs(plan.alpha),
        descending=descending,
    )
    return Comparison(
        omnibus=omnibus.frame(tests),
        pairs=pair_frame(pairs, design.models.alias(between)),
        letters=letters,
        warnings=(*caveats.of_design(design, pairs, plan, layout, means), *design.warnings),
        measure=label,
        between=between,
        block=tuple(block),
        blocks=len(values),
        plan=plan,
        higher_is_better=descending,
    )
