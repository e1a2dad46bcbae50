"""The sources' experiments, run again from the raw data (extra `sklearn`).

`holdouts` and `kfold` score any models with the conventions of scikit-learn; the
sources' own classifiers are in `polaroc.experiments.classifiers`, their models in
`satellite` and `accsens`, their synthetic classes in `synthetic`.
"""

from polaroc.experiments.runs import holdouts, kfold, test_train_ratio

__all__ = ["holdouts", "kfold", "test_train_ratio"]
