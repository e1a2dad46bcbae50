"""Help texts of options whose documentation in Python speaks of what only Python takes."""

RANGE = "Range of priors, such as 0.05 0.20"
LEVEL = "Confidence level of the intervals, in (0, 1)."
COST_FN, COST_FP = "Cost of a missed positive, > 0", "Cost of a false alarm, > 0"

# By command and option, or by option for all commands that have no text of their own.
TEXTS = {
    "level": LEVEL,
    "cost_fn": f"{COST_FN}.",
    "cost_fp": f"{COST_FP}.",
    "tuning": "Predictions of the same models on other cases, on which thresholds are set.",
    "evaluate priors": "Prior at which AUPREC is taken, in (0, 1), or 'observed', each key's own.",
    "evaluate over": f"{RANGE}, for the measures over a range.",
    "evaluate intervals": "Confidence intervals for the sampling error of the test set. Not with "
    "--interpolation hull or --memory.",
    "evaluate measures": "Any of auc, auprec, iauprec, sens, auc_range (one minus the mean error "
    "over the range), accsens and equal_error, by default all that the other options allow; by "
    "name only auprec_corrected, iauprec_corrected and, for scores that are probabilities, brier, "
    "log_loss, calibration_loss, refinement_loss and brier_skill.",
    "evaluate memory": "Memory that may be used: bytes, a size such as 4GB, or 'auto' for 60 % of "
    "what is available.",
    "sql priors": "Prior at which AUPREC is taken, in (0, 1), or 'observed', each key's own.",
    "sql over": f"{RANGE}, for the measures over a range.",
    "sql interpolation": "Between two points of the ROC: 'exact', straight in ROC space; 'linear', "
    "straight in precision-recall space; 'step', average precision.",
    "sql measures": "Any of auc, auprec, iauprec, sens, auc_range, accsens and equal_error; by "
    "default all that the other options allow.",
    "compare measure": "What is compared, such as iauprec, auprec, auc or accsens.",
    "compare prior": "Prior of the measure, in (0, 1), or 'observed'.",
    "compare over": f"{RANGE}, for a measure over a range.",
    "compare target": "What the answer is about. 'algorithm': models trained again on other "
    "samples of this size, which needs --test-train-ratio or --case. 'trained': these "
    "fitted models, on other cases. [default: trained on one test set, else algorithm]",
    "choose measure": "Measure taken at priors, such as auprec, brier or log_loss; or "
    "expected_cost, which sets the threshold of each model on --tuning or on the other folds and "
    "takes the model that costs least. [default: expected_cost with a cost or --tuning, else "
    "auprec]",
    "choose over": f"{RANGE}, or one prior twice. [default for measures: that of their iauprec]",
    "choose level": "Probability of the limits of each model's true measure, in (0, 1); tests are "
    "made at one minus it.",
    "choose tuning": "For expected_cost: predictions of the same models on other cases, on which "
    "thresholds are set.",
    "choose cost_fn": f"{COST_FN}, for the measure expected_cost.",
    "choose cost_fp": f"{COST_FP}, for the measure expected_cost.",
    "choose constraints": "With --tuning: limit that thresholds have to keep, such as "
    "precision=0.8.",
    "choose confidence": "With --tuning: probability that the true rates at the thresholds of all "
    "models keep each --constraint, in (0, 1).",
    "gate champion": "Model in use, by its value in the column of the models.",
    "gate challenger": "Model that may replace it, by its value in the column of the models.",
    "gate measure": "What is compared, such as iauprec, auprec or auc.",
    "gate over": f"{RANGE}, for a measure over a range.",
    "gate prior": "One prior in (0, 1), or 'observed', instead of --over.",
    "gate level": "Confidence level of the two-sided interval, in (0, 1).",
    "threshold rule": "By default 'cost' with a cost, 'max_recall' with --constraint, else "
    "'balanced'. 'balanced': as many missed positives as false alarms; 'cost': least expected "
    "cost; 'posterior': where a re-weighted score, read as a probability, makes an alarm pay; "
    "'recall', 'precision', 'fpr', 'capacity': --target is the least recall, the least precision, "
    "the greatest false positive rate or share of cases called positive; 'f_measure': greatest F; "
    "'informedness' or 'youden': greatest difference of true and false positive rate; 'threshold': "
    "--target is the score; 'max_recall': highest recall that each --constraint allows.",
    "threshold priors": "Prior in (0, 1), or 'observed', each key's own.",
    "threshold over": f"{RANGE}: constraints and targets are kept at every prior of it.",
    "threshold target": "What the rules recall, precision, fpr, capacity (0 to 1) and threshold "
    "aim at.",
    "threshold constraints": "Limit in (0, 1) that the threshold has to keep, such as "
    "precision=0.8 or posfrac=0.05: recall, precision, specificity, npv, accuracy and informedness "
    "are at least, fpr, fnr, posfrac and error at most their limit.",
    "threshold confidence": "Probability in (0, 1) that the true rates at the threshold keep each "
    "--constraint and the --target, at the prior or at every prior of --over.",
    "threshold cost_fn": f"{COST_FN}, for the rules cost and posterior.",
    "threshold cost_fp": f"{COST_FP}, for the rules cost and posterior.",
    "threshold beta": "Weight of recall, > 0, for the rule f_measure.",
    "threshold intervals": "With --apply: limits of what the thresholds do.",
    "threshold rates": "With --apply: a further rate, such as specificity, fnr, npv, f_measure, "
    "accuracy, error or informedness.",
    "monitor over": f"{RANGE}, that the thresholds were chosen for. [default: as --points says]",
    "monitor every": "How long a time is that is judged at once: 1d, 1w, for whole numbers 10i. "
    "[default: each value of --time]",
    "monitor level": "Probability in (0, 1) that all limits of all keys and times hold; of those "
    "from labels, that each does.",
    "monitor labelled": "File of some cases in use with their truth, of times that are given or in "
    "--state: all of a time, or a random sample.",
    "report over": f"{RANGE}, or one prior twice. Needed for predictions.",
    "report priors": "Further prior at which AUPREC is taken, in (0, 1).",
    "report level": "Confidence level of the intervals, in (0, 1); tests are made at one minus it.",
    "report confidence": "Probability that the promise of a threshold holds, in (0, 1).",
    "report recall": "Goal of the threshold: the least share of positives that it finds, in (0, "
    "1).",
    "report precision": "Goal of the threshold: the least share of alarms that are right, in (0, "
    "1), at every prior of the range.",
    "report capacity": "Goal of the threshold: how many of 1,000 cases can be looked at, 1 to "
    "1000.",
    "report cost_fn": f"{COST_FN}: the goal of the threshold is then the least expected cost.",
    "report cost_fp": f"{COST_FP}: the goal of the threshold is then the least expected cost.",
    "report tuning": "For one test set: predictions of the same models on other cases, on which "
    "the threshold is set.",
    "chart measure": "What the chart compares or ranks by, such as iauprec or auprec.",
    "chart over": f"{RANGE}.",
    "chart target": "What the answer is about. 'algorithm': models trained again on other samples "
    "of this size. 'trained': these fitted models, on other cases.",
    "chart constraints": "With --tuning: limit that thresholds have to keep, such as "
    "precision=0.8.",
    "chart confidence": "With --tuning: probability that each --constraint is kept, in (0, 1).",
}  # fmt: skip


def text_of(command: str, name: str) -> str | None:
    """The text of an option of a command; None if its documentation in Python will do."""
    return TEXTS.get(f"{command} {name}", TEXTS.get(name))
