"""One table of calls that are refused: the call, its exception, and words of its message.

A row stands under the function that it calls. The names that calls may use are those of `NAMES`.
"""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

TABLE = pl.DataFrame({
    "model": ["A"] * 8 + ["B"] * 8,
    "fold": [1, 1, 1, 1, 2, 2, 2, 2] * 2,
    "case": [*range(8)] * 2,
    "truth": [True, False, True, False, True, False, False, True] * 2,
    "score": [0.9, 0.1, 0.8, 0.7, 0.6, 0.3, 0.4, 0.2, 0.5, 0.4, 0.9, 0.3, 0.8, 0.1, 0.6, 0.7],
})  # fmt: skip
CASES = pr.cases(TABLE, truth="truth", score="score", model="model", fold="fold", case="case")
# One model on one test set, and its scores in use.
ONE, OF_ONE = TABLE.filter(model="A").drop("model", "fold"), {"truth": "truth", "score": "score"}
# Two models on one test set, and on other cases.
ONCE = TABLE.drop("fold")
OTHER = ONCE.with_columns(pl.col("case") + 100, pl.col("score") + 0.01)
PAIRED = {"truth": "truth", "score": "score", "model": "model", "case": "case"}
NAMES = {
    "pr": pr, "pl": pl, "np": np, "table": TABLE, "cases": CASES,
    "roles": {"truth": "truth", "score": "score", "model": "model", "fold": "fold"},
    "measures": pr.evaluate(CASES, over=(0.05, 0.2)), "curve": pr.curve(CASES),
    "estimates": pl.DataFrame({
        "day": 1, "model": ["A", "B"], "method": "em", "prior": 0.2, "lower": 0.1, "upper": 0.3,
    }),
    "of_one": OF_ONE, "one": ONE, "used": ONE.select("score", day=1),
    "gaps": ONE.with_columns(day=pl.lit(None, pl.Int8)),
    "points": pr.operating_points(ONE[:6], "threshold", target=0.5, priors=0.2, **OF_ONE),
    "estimate": pl.DataFrame({"method": "em", "prior": 0.1, "lower": 0.05, "upper": 0.2}),
    "two": pr.cases(ONCE, **PAIRED), "other": pr.cases(OTHER, **PAIRED), "once": ONCE,
    "tuning": OTHER, "paired": PAIRED,
    "a_and_b": {"champion": "A", "challenger": "B"}, "one_curve": pr.curve(ONE, **OF_ONE),
    "many": pl.DataFrame({"case": range(3000), "truth": [True, False] * 1500, "score": 0.5}),
    "unseen": pr.warehouse.unseen("cases", ["truth", "score"]),
    "page": {"over": (0.05, 0.2), "path": "page.html"},
    "watched": pr.monitor(ONE, ONE.select("score", day=1), points=0.5, time="day", **OF_ONE),
    "of_400": pr.curve(
        pl.DataFrame({
            "model": [*range(400)] * 2, "truth": [1] * 400 + [0] * 400, "score": [0.5] * 800,
        }),
        truth="truth", score="score", model="model",
    ),
    "x": np.arange(16.0).reshape(8, 2) % 5, "y": [0, 1] * 4, "words": ["bad", "good"] * 4,
    "bayes": GaussianNB, "threshold_classifier": pr.sklearn.PriorThresholdClassifier,
}  # fmt: skip

# call, exception, words of the message
REFUSALS = [
    # cases, check, curve: columns, labels and rows
    ("pr.cases(table, truth='label', score='score')", InvalidArgument, "no column 'label'"),
    ("pr.cases(table, **roles, weight='truth')", InvalidArgument, "which are different things"),
    ("pr.cases(table, **roles, count='case', weight='case')", InvalidArgument, "count and weight"),
    ("pr.cases(table, **roles, nulls='keep')", InvalidArgument, "nulls is 'keep'"),
    ("pr.cases(table, **roles, score_prior=0)", InvalidArgument, "score_prior is"),
    ("pr.cases(table, **roles, test_train_ratio=-1)", InvalidArgument, "test_train_ratio is"),
    ("pr.cases(table, **roles, clustre='case')", InvalidArgument, "no argument 'clustre'"),
    ("pr.cases(table, **roles, by=['case', 'case'])", InvalidArgument, "'case'"),
    ("pr.cases('none.parquet', **of_one)", InvalidArgument, "no file matches"),
    ("pr.cases([1, 0], **of_one)", InvalidTable, "is"),
    ("pr.check(one, truth='truth', score=[])", InvalidArgument, "score has no column"),
    ("pr.check(one, truth='truth', score='score', case='id')", InvalidArgument, "no column 'id'"),
    ("pr.check(one.with_columns(truth=2), **of_one)", InvalidPredictions, "unclear truth label"),
    ("pr.curve(one.with_columns(truth=None), **of_one)", InvalidPredictions, "8 null truths"),
    ("pr.curve(one.with_columns(score=None), **of_one)", InvalidPredictions, "8 null scores"),
    ("pr.curve(one, **of_one, positive='yes')", InvalidArgument, "positive"),
    (
        "pr.curve(one.with_columns(truth=pl.lit('yes')), **of_one)",
        InvalidPredictions,
        "has the labels 'yes'",
    ),
    (
        "pr.curve(one.with_columns(score=pl.lit('0,5')), **of_one)",
        InvalidPredictions,
        "the score column 'score' is String",
    ),
    (
        "pr.curve(one.with_columns(w=-1), **of_one, weight='w')",
        InvalidPredictions,
        "8 invalid weights",
    ),
    (
        "pr.curve(one.with_columns(score=2**53 + 1), **of_one)",
        InvalidPredictions,
        "8 inexact scores",
    ),
    ("pr.curve(one.rename({'case': 'tpr'}), **of_one, by='tpr')", InvalidArgument, "reserved"),
    ("pr.curve(one.rename({'case': '*'}), **of_one, by='*')", InvalidArgument, "a pattern"),
    # one_vs_rest
    ("pr.one_vs_rest(one, truth='kind', scores=['score'])", InvalidArgument, "no column 'kind'"),
    ("pr.one_vs_rest(one, truth='truth', scores=['p'])", InvalidArgument, "'p'"),
    ("pr.one_vs_rest(one, truth='truth', scores=3)", InvalidArgument, "scores"),
    # simulate
    ("pr.simulate()", InvalidArgument, "neither a pilot nor auc is given"),
    ("pr.simulate(auc=1.0)", InvalidArgument, "auc is 1.0, allowed is 0 < auc < 1"),
    ("pr.simulate(auc=[0.8, 0.9], models=3)", InvalidArgument, "auc has 2 values"),
    ("pr.simulate(auc=0.8, models=27)", InvalidArgument, "models is 27"),
    ("pr.simulate(auc=0.8, correlation=1.1)", InvalidArgument, "correlation is 1.1"),
    ("pr.simulate(auc=0.8, positives=0)", InvalidArgument, "positives is 0"),
    ("pr.simulate(auc=0.8, negatives=1.5)", InvalidArgument, "negatives is 1.5"),
    ("pr.simulate(auc=0.8, tables=10**9)", InvalidArgument, "1,000,000,000,000 cases in all"),
    ("pr.simulate(auc=0.8, clusters=9, rows_per_cluster=2)", InvalidArgument, "instead of"),
    ("pr.simulate(auc=0.8, clusters=2_000)", InvalidArgument, "clusters is 2000"),
    ("pr.simulate(auc=0.8, cluster_correlation=0.3)", InvalidArgument, "is for clusters"),
    ("pr.simulate(auc=0.8, truth='truth')", InvalidArgument, "truth is for a pilot"),
    ("pr.simulate(one, auc=0.8, **of_one)", InvalidArgument, "auc is for normal scores"),
    ("pr.simulate(one, **of_one, by='case')", InvalidArgument, "does not honour 'by'"),
    ("pr.simulate(cases)", InvalidArgument, "the pilot has several folds"),
    ("pr.simulate(one.clear(), **of_one)", InvalidPredictions, "has 0 cases with positives"),
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
    ("pr.evaluate(one, intervals=True, level=95, **of_one)", InvalidArgument, "0 < level < 1"),
    (
        "pr.evaluate(one, intervals=True, memory='1GB', **of_one)",
        InvalidArgument,
        "memory is '1GB'",
    ),
    (
        "pr.evaluate(one, intervals=True, interpolation='hull', measures='auprec', **of_one)",
        InvalidArgument,
        "hull",
    ),
    (
        "pr.evaluate(gaps, intervals=True, cluster='day', **of_one)",
        InvalidPredictions,
        "no cluster",
    ),
    (
        "pr.evaluate(one.with_columns(n=0.5), count='n', **of_one)",
        InvalidPredictions,
        "invalid counts",
    ),
    (
        "pr.evaluate(one.with_columns(n=1, w=0.5), count='n', weight='w', **of_one)",
        InvalidArgument,
        "count and weight are both given",
    ),
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
    # estimate_prior
    ("pr.estimate_prior(one, used, method='acc', **of_one)", InvalidArgument, "method is 'acc'"),
    ("pr.estimate_prior(one, used, level=1, **of_one)", InvalidArgument, "level is 1"),
    (
        "pr.estimate_prior(one, used, truth='truth', score='p')",
        InvalidArgument,
        "there is no column 'p'",
    ),
    (
        "pr.estimate_prior(one.with_columns(score=2 * pl.col('score')), used, **of_one)",
        InvalidPredictions,
        "reference: ",
    ),
    (
        "pr.estimate_prior(cases, used, score='score')",
        InvalidArgument,
        "deployed: there is no key 'model'",
    ),
    (
        "pr.estimate_prior(one, pr.cases(used, score='score', cluster='day'), **of_one)",
        InvalidArgument,
        "deployed: estimate_prior does not honour 'cluster'",
    ),
    # monitor
    ("pr.monitor(one, used, points=0.5, **of_one)", InvalidArgument, "'time' is not given"),
    (
        "pr.monitor(one, used, points=0.5, time='date', **of_one)",
        InvalidArgument,
        "there is no column 'date'",
    ),
    (
        "pr.monitor(one, used, points=float('nan'), time='day', **of_one)",
        InvalidArgument,
        "points is nan",
    ),
    (
        "pr.monitor(one, used, points=0.5, over=0.1, time='day', **of_one)",
        InvalidArgument,
        "over is 0.1, allowed is a pair",
    ),
    (
        "pr.monitor(one, used, points=0.5, level=95, time='day', **of_one)",
        InvalidArgument,
        "level is 95",
    ),
    (
        "pr.monitor(one, used, points=0.5, cost_fn=0, time='day', **of_one)",
        InvalidArgument,
        "cost_fn is 0",
    ),
    (
        "pr.monitor(one, used, points=points.with_columns(threshold=None), time='day', **of_one)",
        InvalidTable,
        "a threshold is null",
    ),
    (
        "pr.monitor(one, used, points=points.drop('threshold'), time='day', **of_one)",
        InvalidTable,
        "no column 'threshold'",
    ),
    (
        "pr.monitor(one, used, points=points.with_columns(share=7.0), time='day', **of_one)",
        InvalidTable,
        "a share that is no number from 0 to 1",
    ),
    (
        "pr.monitor(one, used, points=pl.concat([points, points]), time='day', **of_one)",
        InvalidTable,
        "have 2 rows",
    ),
    (
        "pr.monitor(one, used, points=points.with_columns(fold=1), time='day', **of_one)",
        InvalidTable,
        "no role of the cases names the key 'fold'",
    ),
    (
        "pr.monitor(one.filter('truth'), used, points=0.5, time='day', **of_one)",
        InvalidPredictions,
        "reference: no negatives",
    ),
    (
        "pr.monitor(one, gaps, points=0.5, time='day', **of_one)",
        InvalidPredictions,
        "8 rows have no 'day'",
    ),
    (
        "pr.monitor(one, used.with_columns(score=None), points=0.5, time='day', **of_one)",
        InvalidPredictions,
        "deployed: 8 null scores",
    ),
    (
        "pr.monitor(cases, table.with_columns(model=pl.lit('C'), day=1), points=0.5, time='day')",
        InvalidPredictions,
        "no reference for model='C'",
    ),
    # operating_points
    ("pr.operating_points(cases, 'best')", InvalidArgument, "rule is 'best'"),
    ("pr.operating_points(cases, 'recall')", InvalidArgument, "target is None"),
    ("pr.operating_points(cases, 'recall', target=1.1)", InvalidArgument, "target is 1.1"),
    ("pr.operating_points(cases, 'cost', target=0.5)", InvalidArgument, "target is 0.5"),
    ("pr.operating_points(cases, 'cost', cost_fn=0)", InvalidArgument, "cost_fn is 0"),
    ("pr.operating_points(cases, 'f_measure', beta=-1)", InvalidArgument, "beta is -1"),
    ("pr.operating_points(cases, 'cost', priors=2)", InvalidArgument, "prior is 2"),
    (
        "pr.operating_points(cases, 'posterior', score_prior=1.5)",
        InvalidArgument,
        "score_prior is 1.5",
    ),
    (
        "pr.operating_points(cases, 'cost', over=(0.1, 0.2), priors=0.1)",
        InvalidArgument,
        "priors and over are both given",
    ),
    (
        "pr.operating_points(cases, 'f_measure', over=(0.1, 0.2))",
        InvalidArgument,
        "'f_measure' needs one prior",
    ),
    ("pr.operating_points(cases, 'max_recall')", InvalidArgument, "'max_recall' needs constraints"),
    (
        "pr.operating_points(cases, 'balanced', constraints={'recall': 0.5})",
        InvalidArgument,
        "'balanced' leaves no choice",
    ),
    ("pr.operating_points(cases, constraints={})", InvalidArgument, "constraints is {}"),
    (
        "pr.operating_points(cases, constraints='precision')",
        InvalidArgument,
        "constraints is 'precision'",
    ),
    (
        "pr.operating_points(cases, constraints={'ppv': 0.8})",
        InvalidArgument,
        "constraints has 'ppv'; a threshold can be held to",
    ),
    (
        "pr.operating_points(cases, constraints={'precision': 80})",
        InvalidArgument,
        "precision = 80, allowed is 0 < precision < 1",
    ),
    (
        "pr.operating_points(cases, 'recall', target=0.8, constraints={'recall': 0.5})",
        InvalidArgument,
        "recall is limited twice",
    ),
    (
        "pr.operating_points(cases, over=pr.beta(2, 18), constraints={'recall': 0.5})",
        InvalidArgument,
        "a belief without ends",
    ),
    (
        "pr.operating_points(one, 'cost', confidence=0.9, **of_one)",
        InvalidArgument,
        "no constraint that could be promised",
    ),
    (
        "pr.operating_points(one, 'recall', target=0.5, confidence=95, **of_one)",
        InvalidArgument,
        "confidence is 95",
    ),
    (
        "pr.operating_points(one, 'recall', target=1, confidence=0.9, **of_one)",
        InvalidArgument,
        "target is 1, of which no sample",
    ),
    (
        "pr.operating_points(gaps, 'recall', target=0.5, confidence=0.9, cluster='day', **of_one)",
        InvalidPredictions,
        "8 cases have no cluster",
    ),
    (
        "pr.operating_points(curve, priors=pl.concat([estimate, estimate]))",
        InvalidTable,
        "several estimated",
    ),
    (
        "pr.operating_points(curve, priors=estimate.with_columns(model=1))",
        InvalidTable,
        "the key 'model' is String",
    ),
    (
        "pr.operating_points(one, 'recall', target=0.5, confidence=0.9, weight='case', **of_one)",
        InvalidPredictions,
        "weights",
    ),
    # apply_thresholds
    (
        "pr.apply_thresholds(one, points, intervals='wald', **of_one)",
        InvalidArgument,
        "intervals is 'wald'",
    ),
    (
        "pr.apply_thresholds(one, points, intervals=True, level=95, **of_one)",
        InvalidArgument,
        "level is 95, allowed is 0 < level < 1",
    ),
    (
        "pr.apply_thresholds(one, points, intervals=True, cost_fn=0, **of_one)",
        InvalidArgument,
        "cost_fn is 0",
    ),
    (
        "pr.apply_thresholds(one, points, priors=2, **of_one)",
        InvalidArgument,
        "prior is 2, allowed is 0 < prior < 1",
    ),
    ("pr.apply_thresholds(one, points, rates='nvp', **of_one)", InvalidArgument, "rates is 'nvp'"),
    ("pr.apply_thresholds(one, float('nan'), **of_one)", InvalidArgument, "points is nan"),
    (
        "pr.apply_thresholds(one, [0.5], **of_one)",
        InvalidArgument,
        "points is [0.5], allowed are a number",
    ),
    ("pr.apply_thresholds(one, {'A': 0.5}, **of_one)", InvalidArgument, "points=0.5"),
    (
        "pr.apply_thresholds(cases, {'A': 0.5, 'B': None})",
        InvalidArgument,
        "points is None for 'B', allowed are numbers",
    ),
    ("pr.apply_thresholds(one, {'threshold': [0.5]}, **of_one)", InvalidTable, "no column 'rule'"),
    (
        "pr.apply_thresholds(one, pr.operating_points(one, **of_one), **of_one)",
        InvalidTable,
        "same_table=True",
    ),
    (
        "pr.apply_thresholds(one[:6], points, tuning=one, **of_one)",
        InvalidTable,
        "all cases of the predictions are among tuning",
    ),
    # expected_cost
    ("pr.expected_cost(curve, over='x')", InvalidArgument, "over is 'x', allowed are a share"),
    ("pr.expected_cost(curve, over=1.5)", InvalidArgument, "over is 1.5, allowed is 0 < over < 1"),
    ("pr.expected_cost(curve, over=(0.2, 0.1))", InvalidArgument, "allowed is lo < hi"),
    (
        "pr.expected_cost(curve, over=0.1, cost=10)",
        InvalidArgument,
        "cost is 10, allowed is 0 < cost < 1",
    ),
    (
        "pr.expected_cost(curve, over=0.1, cost=0.7, cost_fn=3)",
        InvalidArgument,
        "cost is the share of a miss",
    ),
    ("pr.expected_cost(one, over=0.1, level=0.9, **of_one)", InvalidArgument, "level is for"),
    ("pr.expected_cost(curve, over=pr.prior_grid(0.1, 0.2, 2))", InvalidTable, "no column 'lower'"),
    (
        "pr.expected_cost(curve, over=pl.concat([estimate, estimate]))",
        InvalidTable,
        "several estimated priors",
    ),
    # cost_curve and decision_curve
    ("pr.cost_curve(curve, [1.5])", InvalidArgument, "1.5"),
    ("pr.cost_curve(curve, 'half')", InvalidArgument, "'half'"),
    ("pr.decision_curve(curve, [])", InvalidArgument, "thresholds"),
    ("pr.decision_curve(curve, 1)", InvalidArgument, "thresholds"),
    ("pr.decision_curve(curve, score_prior='own')", InvalidArgument, "score_prior is 'own'"),
    ("pr.decision_curve(curve, level=0.9)", InvalidArgument, "level is for intervals"),
    ("pr.decision_curve(curve, intervals='exact')", InvalidArgument, "intervals is 'exact'"),
    # priors that are estimated
    (
        "pr.auprec(curve, estimate.join(pl.DataFrame({'model': ['A', 'B']}), how='cross'))",
        InvalidArgument,
        "priors are 2 estimates, each of a key",
    ),
    ("pr.choose(cases, over=estimate.with_columns(lower=None))", InvalidTable, "has no interval"),
    ("pr.choose(cases, over=estimate.with_columns(prior=None))", InvalidTable, "not estimated"),
    ("pr.choose(cases, over=pr.prior_grid(0.1, 0.2, 2))", InvalidTable, "no column 'lower'"),
    ("pr.choose(measures, over=estimate)", InvalidArgument, "there are no predictions"),
    # compare
    ("pr.compare(measures)", InvalidArgument, "test_train_ratio is None"),
    ("pr.compare(measures, test_train_ratio=-0.1)", InvalidArgument, "test_train_ratio is -0.1"),
    ("pr.compare(measures, test_train_ratio=1, level=1)", InvalidArgument, "level is 1"),
    (
        "pr.compare(measures, test_train_ratio=1, prior=0.1)",
        InvalidArgument,
        "'iauprec' has no prior",
    ),
    ("pr.compare(measures, 'auprec', test_train_ratio=1)", InvalidArgument, "at several priors"),
    ("pr.compare(measures, 'auprec', test_train_ratio=1, prior=0.2)", InvalidArgument, "has it at"),
    ("pr.compare(measures, 'gini', test_train_ratio=1)", InvalidArgument, "no measure 'gini'"),
    ("pr.compare(measures, over=(0.05, 0.3), test_train_ratio=1)", InvalidArgument, "not over"),
    ("pr.compare(measures, test_train_ratio=1, weight='w')", InvalidArgument, "is for predictions"),
    ("pr.compare(measures.filter(fold=1), test_train_ratio=1)", InvalidArgument, "there is 1 fold"),
    (
        "pr.compare(measures.filter(model='A'), test_train_ratio=1)",
        InvalidArgument,
        "has 1 value(s)",
    ),
    (
        "pr.compare(measures[1:], 'auc', test_train_ratio=1)",
        InvalidTable,
        "1 of 4 cells are missing",
    ),
    (
        "pr.compare(pl.concat([measures, measures.with_columns(estimate=1.)]), test_train_ratio=1)",
        InvalidTable,
        "two different estimates",
    ),
    (
        "pr.compare(measures.drop('estimate'), test_train_ratio=1)",
        InvalidArgument,
        "there is no column 'truth'",
    ),
    (
        "pr.compare(measures.with_columns(estimate=None), test_train_ratio=1)",
        InvalidTable,
        "estimates are null",
    ),
    (
        "pr.compare(measures.rename({'model': 'mean'}), model='mean', test_train_ratio=1)",
        InvalidArgument,
        "also a column of the result",
    ),
    (
        "pr.compare(cases, target='population')",
        InvalidArgument,
        "allowed are 'algorithm', 'trained'",
    ),
    ("pr.compare(cases, 'auc', target='trained')", InvalidArgument, "several folds, 'fold'"),
    ("pr.compare(one, **of_one)", InvalidArgument, "needs two models"),
    (
        "pr.compare(once[1:], 'auc', **paired)",
        InvalidPredictions,
        "1 cases lack a score by some model",
    ),
    (
        "pr.compare(pl.concat([once, once[:2]]), 'auc', **paired)",
        InvalidPredictions,
        "2 cases are there twice",
    ),
    (
        "pr.compare(once, 'auc', **paired | {'case': None})",
        InvalidArgument,
        "which rows are the same case",
    ),
    (
        "pr.compare(once.with_columns(truth=pl.col('model') == 'B'), 'auc', **paired)",
        InvalidPredictions,
        "a truth that differs by model",
    ),
    (
        "pr.compare(once.filter(pl.col('case') < 2), 'auc', **paired)",
        InvalidPredictions,
        "two cases or more",
    ),
    ("pr.compare(two, 'recall')", InvalidArgument, "allowed are 'auc'"),
    ("pr.compare(two, 'refinement_loss', prior=0.1)", InvalidArgument, "no standard error"),
    ("pr.compare(two, 'auc', model='truth')", InvalidArgument, "'truth' is truth and model"),
    (
        "pr.compare(once.with_row_index('row'), 'auc', **paired, cluster='row')",
        InvalidPredictions,
        "have a cluster that differs",
    ),
    (
        "pr.compare(many, 'auc', model='case', fold=None, **of_one)",
        InvalidArgument,
        "has 3,000 values",
    ),
    # choose
    ("pr.choose(measures, over=(0.01, 0.3))", InvalidArgument, "needed are 8 or more"),
    ("pr.choose(measures, over=0.3)", InvalidArgument, "allowed are a pair"),
    ("pr.choose(measures, test_train_ratio=-1)", InvalidArgument, "test_train_ratio is -1"),
    ("pr.choose(measures, fold=None)", InvalidTable, "the key 'fold' varies"),
    (
        "pr.choose(measures, 'expected_cost', over=(0.1, 0.2))",
        InvalidArgument,
        "taken of predictions",
    ),
    ("pr.choose(cases)", InvalidArgument, "without a range of priors"),
    ("pr.choose(cases, over=(0.2, 0.1))", InvalidArgument, "allowed is lo < hi"),
    ("pr.choose(cases, 'auc', over=(0.1, 0.2))", InvalidArgument, "on the share of positives"),
    ("pr.choose(cases, over=(0.1, 0.2), by='case')", InvalidArgument, "'by'"),
    ("pr.choose(two, over=(0.1, 0.2), level=2)", InvalidArgument, "level is 2"),
    (
        "pr.choose(two, 'auprec', over=(0.1, 0.2), confidence=0.9)",
        InvalidArgument,
        "for measure='expected_cost'",
    ),
    (
        "pr.choose(two, 'brier', over=(0.1, 0.2), score_prior=2)",
        InvalidArgument,
        "score_prior is 2",
    ),
    ("pr.choose(one, over=(0.1, 0.2), **of_one)", InvalidArgument, "a comparison needs two models"),
    ("pr.choose(two, 'expected_cost', over=(0.1, 0.2))", InvalidArgument, "give tuning="),
    ("pr.choose(two, over=(0.1, 0.2), tuning=two, cost_fn=2)", InvalidTable, "same cases"),
    ("pr.choose(two, over=(0.1, 0.2), tuning=two, cost_fn=0)", InvalidArgument, "cost_fn is 0"),
    (
        "pr.choose(two, over=(0.1, 0.2), tuning=tuning.filter(model='A'), cost_fn=2)",
        InvalidPredictions,
        "tuning has no cases of 'B'",
    ),
    (
        "pr.choose(two, 'expected_cost', over=(0.1, 0.2), tuning=other, confidence=0.9)",
        InvalidArgument,
        "no constraint that could be promised",
    ),
    (
        "pr.choose(cases, over=(0.1, 0.2), tuning=other, cost_fn=2)",
        InvalidArgument,
        "belongs to one fitted model",
    ),
    (
        "pr.choose(cases, 'expected_cost', over=(0.1, 0.2), constraints={'recall': 0.5})",
        InvalidArgument,
        "constraints is for",
    ),
    # gate
    ("pr.gate(measures, **a_and_b)", InvalidArgument, "test_train_ratio is None"),
    (
        "pr.gate(two, champion='svm', challenger='B', measure='auc')",
        InvalidArgument,
        "'model' has no 'svm'",
    ),
    ("pr.gate(two, champion='A', challenger='A', measure='auc')", InvalidArgument, "are both 'A'"),
    ("pr.gate(two, **a_and_b, measure='auc', margin=-0.01)", InvalidArgument, "0 ≤ margin < 1"),
    ("pr.gate(two, **a_and_b, measure='log_loss', margin=-1)", InvalidArgument, "margin ≥ 0"),
    ("pr.gate(two, **a_and_b, measure='auc', margin='0.1')", InvalidArgument, "margin is '0.1'"),
    ("pr.gate(two, **a_and_b, measure='auc', level=0)", InvalidArgument, "level is 0"),
    ("pr.gate(two, **a_and_b, measure='auc', prior=0.1)", InvalidArgument, "'auc' has no prior"),
    ("pr.gate(two, **a_and_b, prior=0.1, over=(0.1, 0.2))", InvalidArgument, "over and prior"),
    ("pr.gate(two, **a_and_b)", InvalidArgument, "neither over nor prior"),
    ("pr.gate(two, **a_and_b, measure=['auc'])", InvalidArgument, "allowed is a name"),
    ("pr.gate(two, **a_and_b, measure='youden')", InvalidArgument, "measure is 'youden'"),
    ("pr.gate(table, **a_and_b)", InvalidArgument, "neither over nor prior is given"),
    ("pr.gate(measures, **a_and_b, score_prior=0.5)", InvalidArgument, "is for predictions"),
    (
        "pr.gate(once.with_columns(score=0.0), **a_and_b, **paired, measure='log_loss', prior=0.1)",
        InvalidPredictions,
        "log loss of 'A' is null: infinite",
    ),
    (
        "pr.gate(two, champion='A', challenger=float('nan'), measure='auc')",
        InvalidArgument,
        "is NaN",
    ),
    # anova
    ("pr.anova(measures, 'auc', factors='model')", InvalidArgument, "two or more columns"),
    ("pr.anova(measures, 'auc', factors=['model', 'model'])", InvalidArgument, "each once"),
    ("pr.anova(measures, 'auc', factors=['model', 'nope'])", InvalidArgument, "no column 'nope'"),
    ("pr.anova(measures, 'gini')", InvalidArgument, "no measure 'gini'"),
    ("pr.anova(measures, 'note')", InvalidArgument, "response 'note' is String"),
    (
        "pr.anova(measures, 'auc', factors=['model', 'positives'])",
        InvalidArgument,
        "fewer than two",
    ),
    ("pr.anova(measures[1:], 'auc', factors=['model', 'fold'])", InvalidTable, "cells are missing"),
    (
        "pr.anova(measures.with_columns(estimate=None), 'auc', factors=['model', 'fold'])",
        InvalidTable,
        "estimates are null",
    ),
    (
        "pr.anova(pl.concat([measures, measures]), 'auc', factors=['model', 'fold'])",
        InvalidTable,
        "several rows",
    ),
    # calibration, probabilities
    ("pr.calibration(one, 0, **of_one)", InvalidArgument, "prior is 0"),
    ("pr.calibration(one, score_prior=2, **of_one)", InvalidArgument, "prior is 2"),
    ("pr.calibration(one, level=95, **of_one)", InvalidArgument, "level is 95"),
    ("pr.calibration(one, draws=10, **of_one)", InvalidArgument, "draws is 10"),
    ("pr.calibration(one, seed=-1, **of_one)", InvalidArgument, "seed is -1"),
    ("pr.calibration(one.with_columns(score=None), **of_one)", InvalidPredictions, "null score"),
    ("pr.probabilities(used, one_curve, score='score', priors=0)", InvalidArgument, "prior is 0"),
    (
        "pr.probabilities(used, one_curve, score='score', priors=0.1)",
        InvalidTable,
        "those of the tuning table",
    ),
    (
        "pr.probabilities(used, one_curve, score='score', priors=0.1, same_table='yes')",
        InvalidArgument,
        "same_table is 'yes'",
    ),
    ("pr.probabilities(used, one, score='score', priors=0.1)", InvalidTable, "has no column"),
    (
        "pr.probabilities(used, curve, score='score', priors=0.1)",
        InvalidTable,
        "no role of the cases names the key",
    ),
    (
        "pr.probabilities(used.with_columns(note=1), one_curve, score='score', priors=0.1)",
        InvalidArgument,
        "'note', which the result adds",
    ),
    (
        "pr.probabilities(used.with_columns(score=None), one_curve, score='score', priors=0.1)",
        InvalidPredictions,
        "rows cannot be scored",
    ),
    ("pl.select(pr.expr.at_prior(pl.lit(0.1), prior=0.5, to=1))", InvalidArgument, "to is 1"),
    # warehouse
    ("pr.warehouse.unseen('a..b', ['truth'])", InvalidArgument, "schema"),
    (
        "pr.warehouse.sql(pr.warehouse.curve(unseen, **of_one), 'oracle')",
        InvalidArgument,
        "dialect",
    ),
    (
        "pr.warehouse.curve(unseen, truth='truth', score='scores')",
        InvalidArgument,
        "there is no column 'scores'",
    ),
    (
        "pr.warehouse.curve(unseen, truth=pl.col('truth'), score='score')",
        InvalidArgument,
        "truth is a column name (str), found polars.Expr",
    ),
    ("pr.warehouse.evaluate(unseen, intervals=True, **of_one)", InvalidArgument, "no connection"),
    ("pr.evaluate(unseen, memory='4GB', **of_one)", InvalidArgument, "memory is given"),
    ("pr.evaluate(unseen, progress=print, **of_one)", InvalidArgument, "progress is given"),
    ("pr.evaluate(unseen, prior=0.1, **of_one)", InvalidArgument, "there is no argument 'prior'"),
    ("pr.probabilities(unseen, curve, score='p', priors=0.1)", InvalidArgument, "no column 'p'"),
    # sklearn
    (
        "pr.sklearn.auprec_score(y, y[1:], prior=0.1)",
        InvalidArgument,
        "y_score has 7 numbers for 8 cases",
    ),
    ("pr.sklearn.auprec_score([], [], prior=0.1)", InvalidArgument, "y_true is empty"),
    (
        "pr.sklearn.auprec_score(y, np.full((8, 2), 0.5), prior=0.1)",
        InvalidArgument,
        "predict_proba(X)[:, 1]",
    ),
    ("pr.sklearn.auprec_score([*range(8)], y, prior=0.1)", InvalidArgument, "one_vs_rest"),
    (
        "pr.sklearn.auprec_score(y, x[:, 0] * np.nan, prior=0.1)",
        InvalidPredictions,
        "NaN for 8 cases",
    ),
    (
        "pr.sklearn.auprec_score(y, x[:, 0], prior=0.1, sample_weight=-x[:, 0] - 1)",
        InvalidPredictions,
        "invalid weights",
    ),
    ("pr.sklearn.auprec_score(y, x[:, 0], prior=1.5)", InvalidArgument, "prior is 1.5"),
    ("pr.sklearn.auprec_score(words, x[:, 0], prior=0.1)", InvalidArgument, "pos_label is None"),
    (
        "pr.sklearn.auprec_score(y, x[:, 0], prior=0.1, pos_label=2)",
        InvalidArgument,
        "pos_label is 2",
    ),
    (
        "pr.sklearn.auprec_score(y, x[:, 0], prior=0.1, interpolation='cubic')",
        InvalidArgument,
        "interpolation is 'cubic'",
    ),
    ("pr.sklearn.iauprec_score(y, x[:, 0], over=0.1)", InvalidArgument, "over is 0.1"),
    ("pr.sklearn.scorer('roc_auc')", InvalidArgument, "measure is 'roc_auc'"),
    ("pr.sklearn.scorer('iauprec')", InvalidArgument, "over is None"),
    (
        "pr.sklearn.scorer('auc', threshold=0.5)",
        InvalidArgument,
        "threshold is for rates and costs",
    ),
    ("pr.sklearn.scorer('auc', prior=0.1)", InvalidArgument, "prior is for measures at one prior"),
    (
        "pr.sklearn.scorer('precision', over=(0.1, 0.2))",
        InvalidArgument,
        "over is for areas and costs",
    ),
    (
        "pr.sklearn.scorer('recall', cost_fn=5)",
        InvalidArgument,
        "cost_fn is for costs and net benefit",
    ),
    ("pr.sklearn.scorer('expected_cost', cost_fn=0)", InvalidArgument, "cost_fn is 0"),
    (
        "pr.sklearn.scorer('auc')(bayes().fit(x, words), x, words)",
        InvalidArgument,
        "pos_label is None",
    ),
    (
        "pr.sklearn.scorer('auc')(bayes().fit(x, x[:, 1]), x, x[:, 1])",
        InvalidArgument,
        "one_vs_rest",
    ),
    ("pr.sklearn.cross_val_predictions({}, x, y)", InvalidArgument, "estimators is empty"),
    ("pr.sklearn.cross_val_predictions(bayes, x, y)", InvalidArgument, "no classifier under"),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x[1:], y)",
        InvalidArgument,
        "X has 7 rows and y 8",
    ),
    (
        "pr.sklearn.cross_val_predictions(bayes(), pl.LazyFrame(x), y)",
        InvalidArgument,
        "collect a lazy frame",
    ),
    ("pr.sklearn.cross_val_predictions(bayes(), x, words)", InvalidArgument, "pos_label is None"),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, x[:, 0] + 0.5)",
        InvalidArgument,
        "Unknown label type: continuous",
    ),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, 8 * [0])",
        InvalidPredictions,
        "y has 1 class, needed are 2",
    ),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, y, cv=1)",
        InvalidArgument,
        "8 cases cannot be split so",
    ),
    ("pr.sklearn.cross_val_predictions(bayes(), x, y, cv=[])", InvalidArgument, "cv has no splits"),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, y, groups=y[1:])",
        InvalidArgument,
        "groups has 7 values for 8 cases",
    ),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, y, cv=2, response_method='predict')",
        InvalidArgument,
        "response_method is 'predict'",
    ),
    (
        "pr.sklearn.cross_val_predictions(bayes(), x, y, sample_weight=np.zeros(8), cv=2)",
        InvalidPredictions,
        "weight is not zero",
    ),
    (
        "pr.sklearn.from_cross_validate({'indices': {}, 'test_score': [0.5]}, x, y)",
        InvalidArgument,
        "without return_estimator",
    ),
    ("threshold_classifier(bayes()).fit(x, y)", InvalidArgument, "needed is one of the two"),
    (
        "threshold_classifier(bayes(), prior=0.1, over=(0.1, 0.2)).fit(x, y)",
        InvalidArgument,
        "needed is one of the two",
    ),
    (
        "threshold_classifier(bayes(), prior=0.1, cv=2, rule='recall').fit(x, y)",
        InvalidArgument,
        "target is None",
    ),
    (
        "threshold_classifier(bayes(), prior=0.1, confidence=0.9, cv=0.5).fit(x, y)",
        InvalidArgument,
        "no constraint that could be promised",
    ),
    (
        "threshold_classifier(bayes(), over=(0.1, 0.2), cv=2, rule='balanced').fit(x, y)",
        InvalidArgument,
        "'balanced' needs one prior",
    ),
    (
        "threshold_classifier(bayes(), prior=0.1, cv=1.5).fit(x, y)",
        InvalidArgument,
        "cannot be split so",
    ),
    (
        "threshold_classifier(bayes(), prior=0.1).fit(x, words)",
        InvalidArgument,
        "pos_label is None",
    ),
    # report
    ("pr.report(cases, path='page.html')", InvalidArgument, "without a range of priors"),
    ("pr.report(table, path='page.html')", InvalidArgument, "without a range of priors"),
    (
        "pr.report(cases, over=(0.05, 0.2), path='page.pdf')",
        InvalidArgument,
        "a report is an HTML page or JSON",
    ),
    (
        "pr.report(cases, over=(0.2, 0.1), path='page.html')",
        InvalidArgument,
        "the range of priors is (0.2, 0.1)",
    ),
    ("pr.report(cases, **page, priors=[1.5])", InvalidArgument, "prior is 1.5"),
    ("pr.report(cases, **page, recall=2)", InvalidArgument, "recall is 2"),
    ("pr.report(cases, **page, precision=0)", InvalidArgument, "precision is 0"),
    ("pr.report(cases, **page, capacity=0.05)", InvalidArgument, "capacity is 0.05"),
    (
        "pr.report(cases, **page, recall=0.9, cost_fn=2)",
        InvalidArgument,
        "recall and costs are given",
    ),
    ("pr.report(cases, **page, level=0)", InvalidArgument, "level is 0"),
    ("pr.report(cases, **page, score_prior=1.5)", InvalidArgument, "score_prior is 1.5"),
    (
        "pr.report(cases, **page, constraints={'precision': 0.3})",
        InvalidArgument,
        "there is no argument 'constraints'",
    ),
    (
        "pr.report(table, **roles, **page, by='case')",
        InvalidArgument,
        "report does not honour 'by'",
    ),
    ("pr.report(cases, **page, tuning=one)", InvalidArgument, "there are folds ('fold')"),
    (
        "pr.report(one, **of_one, **page, tuning=one)",
        InvalidTable,
        "predictions and tuning are the same cases",
    ),
    (
        "pr.report(measures, path='page.html', over=(0.1, 0.3))",
        InvalidArgument,
        "at 1 prior(s) of (0.1, 0.3)",
    ),
    (
        "pr.report(measures, path='page.html', tuning=one)",
        InvalidArgument,
        "tuning is for predictions",
    ),
    (
        "pr.report(measures.with_row_index('sex'), path='page.html')",
        InvalidTable,
        "cells are repeated",
    ),
    ("pr.report(watched, path='page.json')", InvalidArgument, "is written as an HTML page"),
    (
        "pr.report(watched, path='page.html', truth='truth', by='model')",
        InvalidArgument,
        "truth and by are for predictions",
    ),
    (
        "pr.report(watched, path='page.html', recall=0.9, priors=[0.3])",
        InvalidArgument,
        "priors and recall are for",
    ),
    # charts
    ("pr.charts.roc(table)", InvalidTable, "the table has no column 'threshold'"),
    ("pr.charts.pr(table)", InvalidTable, "the table has no column 'precision'"),
    ("pr.charts.auprec_by_prior(table)", InvalidTable, "the table has no column 'measure'"),
    ("pr.charts.accsens_plane(table)", InvalidTable, "the table has no column 'measure'"),
    ("pr.charts.pairs(measures)", InvalidTable, "got a DataFrame"),
    ("pr.charts.reliability(table)", InvalidTable, "the table has no column 'prior'"),
    ("pr.charts.operating_drift(curve)", InvalidTable, "the table has no column 'rule'"),
    ("pr.charts.cost_curves(curve)", InvalidTable, "the table has no column 'probability_cost'"),
    ("pr.charts.decision_curves(curve)", InvalidTable, "the table has no column 'prior'"),
    (
        "pr.charts.monitor(watched.table.drop('lower'))",
        InvalidTable,
        "the table has no column 'lower'",
    ),
    (
        "pr.charts.monitor(watched.table, over=(0.3, 0.05))",
        InvalidArgument,
        "the range of priors is (0.3, 0.05)",
    ),
    (
        "pr.charts.monitor(pl.concat([watched.table] * 9_000))",
        InvalidArgument,
        "there are 36,000 points to draw",
    ),
    (
        "pr.charts.accsens_plane(measures, weights=(0, 0))",
        InvalidArgument,
        "weights are both 0, and so is AccSens",
    ),
    ("pr.charts.roc(curve, band=True)", InvalidArgument, "band is True"),
    ("pr.charts.roc(curve, title=3)", InvalidArgument, "title is 3"),
    ("pr.charts.roc(curve, colours=['red'])", InvalidArgument, "colours is ['red']"),
    ("pr.charts.roc(curve, colours={'A': 'red'})", InvalidArgument, "colours has none for 'B'"),
    ("pr.charts.roc(of_400)", InvalidArgument, "there are 400 curves to draw"),
    ("pr.charts.explorer(of_400)", InvalidArgument, "there are 400 curves to explore"),
    ("pr.charts.explorer(curve, over=0.1)", InvalidArgument, "over is 0.1"),
    ("pr.charts.explorer(curve, prior='0.1')", InvalidArgument, "prior is '0.1'"),
    (
        "pr.charts.explorer(curve, prior=0.5, over=(0.1, 0.2))",
        InvalidArgument,
        "the slider goes from 0.1 to 0.2",
    ),
    ("pr.charts.pr(curve, prior=0.03)", InvalidArgument, "unexpected keyword argument 'prior'"),
    (
        "pr.charts.pr(pr.surface(curve, 0.1), achievable=pr.achievable(curve, 0.2))",
        InvalidArgument,
        "the panels are 10 % positives",
    ),
    (
        "pr.charts.pr(pr.surface(curve, 0.1), achievable=curve)",
        InvalidTable,
        "the table has no column 'prior'",
    ),
    (
        "pr.charts.operating_drift(pr.operating_points(curve, priors=pr.prior_grid(0.1, 0.9, 7)))",
        InvalidArgument,
        "there are points at 7 priors",
    ),
    (
        "pr.charts.decision_curves(pr.decision_curve(curve.with_columns(pl.col('threshold') * 9)))",
        InvalidTable,
        "no key has a net benefit",
    ),
    (
        "pr.charts.pr(pr.surface(pr.curve(table[1:], **roles), 'observed'), band='fold')",
        InvalidArgument,
        "same priors",
    ),
]


@pytest.mark.parametrize(("call", "exception", "words"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_call_is_refused(call, exception, words):
    with pytest.raises(exception, match=re.escape(words)):
        eval(call, dict(NAMES))
