"""Names of options: in help, and in other libraries."""

# Placeholders of the values of options, by argument.
METAVARS = {
    **dict.fromkeys(
        ("truth", "score", "by", "weight", "between", "block", "case", "column", "time"), "COLUMN"
    ),
    "reference_time": "COLUMN",
    "prior": "PRIOR",
    "over": "LO HI",
    "contrast": "PRIOR PRIOR",
    **dict.fromkeys(("file", "folder", "path", "scratch", "points", "state", "labelled"), "PATH"),
    **dict.fromkeys(("level",), "SHARE"),
    "test_train_ratio": "RATIO",
    **dict.fromkeys(("cost_fn", "cost_fp"), "COST"),
    **dict.fromkeys(("grid", "holdouts", "seed", "rows"), "N"),
    "positive": "LABEL",
    "title": "TEXT",
    "measure": "MEASURE",
    "memory": "SIZE",
    "ranges": "N",
    "table": "TABLE",
    "name": "TABLE",
    **dict.fromkeys(("halves", "out", "apply", "tuning"), "PATH"),
    "constraint": "RATE=LIMIT",
    "rule": "RULE",
    "confidence": "SHARE",
    "threshold": "SCORE",
}
# Names that other libraries have for an option.
OTHER_OPTIONS = {
    "--truth": {"--y-true", "--label", "--labels", "--target-column", "--y"},
    "--score": {
        "--y-score", "--y-prob", "--y-proba", "--prob", "--proba", "--probability", "--prediction",
        "--predictions", "--scores",
    },
    "--positive": {"--pos-label", "--positive-label", "--event-level"},
    "--weight": {"--sample-weight", "--weights"},
    "--by": {"--group", "--groups", "--group-by", "--keys", "--key", "--model", "--fold"},
    "--between": {"--by", "--model", "--models"},
    "--block": {"--fold", "--folds"},
    "--prior": {"--prevalence", "--base-rate", "--pi"},
    "--over": {"--range", "--prior-range"},
    "--measure": {"--metric", "--metrics", "--scoring"},
    "--out": {"--output", "--output-dir", "--outfile", "--save", "--dest"},
    "--force": {"--overwrite", "--clobber", "--exist-ok"},
    "--quiet": {"--silent"},
    "--case": {"--id", "--case-id"},
    "--cost-fn": {"--false-negative", "--cost-false-negative", "--miss-cost"},
    "--cost-fp": {"--false-positive", "--cost-false-positive", "--false-alarm-cost"},
    "--level": {"--confidence", "--confidence-level", "--alpha", "--significance"},
}  # fmt: skip
