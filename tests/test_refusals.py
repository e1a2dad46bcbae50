"""One table of calls that are refused: the call, its exception, and words of its message.

A row stands under the function that it calls. The names that calls may use are those of `NAMES`.
"""

import re

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

TABLE = pl.DataFrame({
    "model": ["A"] * 8 + ["B"] * 8,
    "fold": [1, 1, 1, 1, 2, 2, 2, 2] * 2,
    "case": [*range(8)] * 2,
    "truth": [True, False, True, False, True, False, False, True] * 2,
    "score": [0.9, 0.1, 0.8, 0.7, 0.6, 0.3, 0.4, 0.2, 0.5, 0.4, 0.9, 0.3, 0.8, 0.1, 0.6, 0.7],
})  # fmt: skip
CASES = pr.cases(TABLE, truth="truth", score="score", model="model", fold="fold", case="case")
NAMES = {
    "pr": pr, "pl": pl, "np": np, "table": TABLE, "cases": CASES,
    "roles": {"truth": "truth", "score": "score", "model": "model", "fold": "fold"},
    "measures": pr.evaluate(CASES, over=(0.05, 0.2)), "curve": pr.curve(CASES),
    "estimates": pl.DataFrame({
        "day": 1, "model": ["A", "B"], "method": "em", "prior": 0.2, "lower": 0.1, "upper": 0.3,
    }),
}  # fmt: skip

# call, exception, words of the message
REFUSALS = [
    # skew, prior, prior_grid
    ("pr.skew(1.5)", InvalidArgument, "1.5"),
    ("pr.skew(True)", InvalidArgument, "True"),
    ("pr.prior(-1.0)", InvalidArgument, "-1.0"),
    ("pr.prior_grid(0.2, 0.1, 3)", InvalidArgument, "lo < hi"),
    ("pr.prior_grid(0.1, 1, 3)", InvalidArgument, "prior is 1"),
    ("pr.prior_grid(0.1, 0.2, 1)", InvalidArgument, "n is 1"),
    ("pr.prior_grid(0.1, 0.2, 3, 'cubic')", InvalidArgument, "cubic"),
    ("pr.pr_from_roc(0.5, 0.5, 1.0)", InvalidArgument, "prior is 1.0"),
    ("pr.roc_from_pr(0.5, 0.5, 1.0)", InvalidArgument, "prior is 1.0"),
    # uniform, beta
    ("pr.uniform(0.2, 0.2)", InvalidArgument, "lo < hi"),
    ("pr.uniform(0, 0.2)", InvalidArgument, "prior is 0"),
    ("pr.uniform(float('nan'), 0.2)", InvalidArgument, "nan"),
    ("pr.uniform(0.1, 0.2, 'odds')", InvalidArgument, "odds"),
    ("pr.beta(0, 1)", InvalidArgument, "0"),
    ("pr.beta('2', 1)", InvalidArgument, "'2'"),
    ("pr.beta(0.1, 0.1)", InvalidArgument, "spread too widely"),
    ("pr.beta(1e-3, 1e-3)", InvalidArgument, "use larger"),
    ("pr.beta(1e7, 1)", InvalidArgument, "larger parameters are narrower"),
    # surface
    ("pr.surface(table, 0.1)", InvalidTable, "no column 'threshold'"),
    ("pr.surface(curve, [0])", InvalidArgument, "prior is 0"),
    ("pr.surface(curve, 'seen')", InvalidArgument, "seen"),
    ("pr.surface(curve, 0.1, 'presicion')", InvalidArgument, "no rate 'presicion'"),
    ("pr.surface(curve, 0.1, {'tp': pr.rates.recall})", InvalidArgument, "overwrite the column"),
    # hull, achievable
    ("pr.hull(curve.drop('fpr'))", InvalidTable, "'fpr'"),
    ("pr.achievable(curve, 0.5, recall=1)", InvalidArgument, "recall"),
    ("pr.achievable(curve, 0.5, recall=[1.5])", InvalidArgument, "1.5"),
    ("pr.achievable(curve, 0.5, recall=[])", InvalidArgument, "recall"),
    # dominance
    ("pr.dominance(curve, model='day')", InvalidArgument, "day"),
    ("pr.dominance(pr.curve(cases, model=None, fold=None))", InvalidArgument, "model"),
    # mean_curve
    ("pr.mean_curve(curve, 'block')", InvalidArgument, "block"),
    ("pr.mean_curve(curve, n=1)", InvalidArgument, "n is 1"),
    ("pr.mean_curve(curve, interval='range')", InvalidArgument, "range"),
    ("pr.mean_curve(curve, interval='t', level=1)", InvalidArgument, "level is 1"),
    ("pr.mean_curve(curve, test_train_ratio=0.25)", InvalidArgument, "test_train_ratio"),
    ("pr.mean_curve(curve.rename({'model': 'sd'}))", InvalidArgument, "also a column"),
    ("pr.mean_curve(curve.drop('fp'))", InvalidTable, "'fp'"),
    # auc
    ("pr.auc(curve.cast({'tp': pl.String}))", InvalidTable, "allowed are numbers"),
    ("pr.auc(pr.surface(curve, [0.5, 0.1]))", InvalidTable, "a curve is needed"),
    ("pr.auc(curve, fpr=(0.5, 0.1))", InvalidArgument, "0.5"),
    ("pr.auc(curve, tpr=(0.5, 1.1))", InvalidArgument, "1.1"),
    ("pr.auc(curve, fpr=0.1)", InvalidArgument, "range is 0.1"),
    ("pr.auc(curve, fpr=(0, 0.1), tpr=(0, 0.1))", InvalidArgument, "tpr"),
    ("pr.auc(curve, fpr=(0, 0.1), standardise='no')", InvalidArgument, "standardise"),
    # auprec, iauprec
    ("pr.auprec(curve, 0)", InvalidArgument, "prior is 0"),
    ("pr.auprec(curve, [0.1, float('nan')])", InvalidArgument, "nan"),
    ("pr.auprec(curve, pl.DataFrame({'p': [0.1]}))", InvalidArgument, "needs 'prior'"),
    ("pr.auprec(curve, 0.1, 'spline')", InvalidArgument, "interpolation is 'spline'"),
    ("pr.auprec(curve.lazy(), 0.1, start='two')", InvalidArgument, "start is 'two'"),
    ("pr.iauprec(curve, (0.2, 0.1))", InvalidArgument, "lo < hi"),
    ("pr.iauprec(curve, 0.2)", InvalidArgument, "a pair"),
    ("pr.iauprec(curve, (0.1, 0.2), measure='odds')", InvalidArgument, "measure is 'odds'"),
    ("pr.iauprec(curve, pr.beta(2, 18), measure='skew')", InvalidArgument, "measure='skew'"),
    # sens, accsens
    ("pr.sens(curve, pr.beta(2, 18))", InvalidArgument, "over"),
    ("pr.accsens(curve, (0.2, 0.1))", InvalidArgument, "lo < hi"),
    ("pr.accsens(curve, (0.1, 0.2), weights=(-1, 3))", InvalidArgument, "weights"),
    ("pr.accsens(curve, (0.1, 0.2), area='whole')", InvalidArgument, "whole"),
    # evaluate
    ("pr.evaluate(cases, over=(0.2, 0.1))", InvalidArgument, "0.2"),
    ("pr.evaluate(cases, over=(0.1, 0.2, 0.3))", InvalidArgument, "over"),
    ("pr.evaluate(cases, priors=0.0)", InvalidArgument, "prior is 0.0"),
    ("pr.evaluate(table.lazy(), **roles, interpolation='cubic')", InvalidArgument, "'cubic'"),
    ("pr.evaluate(cases, measures=['auc', 'gini'])", InvalidArgument, "measures is 'gini'"),
    ("pr.evaluate(cases, measures=[])", InvalidArgument, "measures"),
    ("pr.evaluate(cases, measures='iauprec')", InvalidArgument, "over is None"),
    ("pr.evaluate(cases, measures='auprec', priors=[])", InvalidArgument, "prior"),
    ("pr.evaluate(cases, measures='sens', over=pr.beta(2, 18))", InvalidArgument, "over"),
    ("pr.evaluate(table, **roles, measures='brier', score_prior=1)", InvalidArgument, "prior is 1"),
    (
        "pr.evaluate(cases, measures='auprec_corrected', interpolation='step')",
        InvalidArgument,
        "'exact'",
    ),
    ("pr.evaluate(cases, intervals='normal')", InvalidArgument, "normal"),
    ("pr.evaluate(cases, progress='bar')", InvalidArgument, "progress is 'bar'"),
    ("pr.evaluate(cases, priors=estimates)", InvalidTable, "names the key 'day'"),
    # expr
    ("pr.expr.auprec('truth', 'score', 1.5)", InvalidArgument, "1.5"),
    ("pr.expr.auprec('truth', 'score', interpolation='hull')", InvalidArgument, "'step'"),
    ("pr.expr.auprec('truth', 'score', start='two')", InvalidArgument, "two"),
    ("pr.expr.iauprec('truth', 'score', (0.5, 0.1))", InvalidArgument, "lo < hi"),
    ("pr.expr.rate('gini', 'truth', 'score', 0.5)", InvalidArgument, "gini"),
    ("pr.expr.rate('recall', 'truth', 'score', '0.5')", InvalidArgument, "threshold is"),
    ("pr.expr.rate('recall', 'truth', 'score', 2**53 + 1)", InvalidArgument, "threshold is"),
    ("pr.expr.measure('lift', 'truth', 'score')", InvalidArgument, "allowed are"),
    ("pr.expr.measure('sens', 'truth', 'score')", InvalidArgument, "over is None"),
]


@pytest.mark.parametrize(("call", "exception", "words"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_call_is_refused(call, exception, words):
    with pytest.raises(exception, match=re.escape(words)):
        eval(call, dict(NAMES))
