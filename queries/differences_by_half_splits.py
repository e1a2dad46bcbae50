"""Which learners differ, when how much they vary is taken from halves that share no case?

``python queries/differences_by_half_splits.py [FILE]``, where FILE is a Parquet file with `model`,
`split`, `half`, `repeat`, `fold`, `truth` and `score`: the folds of all cases have no `split` and
no `half`. By default three learners on Sonar, five times divided into halves (needs scikit-learn).
"""

import sys

import polars as pl

import polaroc as pr

WITHIN = ["split", "half", "repeat", "fold"]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    columns = {"truth": "truth", "score": "score", "measures": "auc"}
    of_halves = pl.col("split").is_not_null()
    whole, halves = (
        pr.evaluate(rows, **columns, by=["model", *keys]).collect()
        for rows, keys in (
            (predictions.filter(~of_halves), ["repeat", "fold"]),
            (predictions.filter(of_halves), WITHIN),
        )
    )
    compared = pr.compare(whole, "auc", fold=["repeat", "fold"], halves=halves)
    return compared.pairs.lazy()


def sonar(splits: int = 5) -> pl.DataFrame:
    """Learners of three kinds, cross-validated on all cases and in halves of them."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import RepeatedStratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    table = pr.datasets.sonar()
    features, truth = table.drop("class"), table["class"] == "mine"
    learners = {
        "discriminant": LinearDiscriminantAnalysis(),
        "neighbours": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    whole = pr.sklearn.cross_val_predictions(learners, features, truth, cv=folds)
    halves = pr.sklearn.half_split_predictions(
        learners, features, truth, splits=splits, folds=3, repeats=1
    )
    return pl.concat([whole, halves], how="diagonal")


if __name__ == "__main__":
    asked = sys.argv[1:]
    print(query((pl.read_parquet(asked[0]) if asked else sonar()).lazy()).collect())
