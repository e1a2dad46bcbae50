"""Where the methods of a report come from, and what it was made with."""

from dataclasses import dataclass
from importlib import metadata

LIBRARIES = (
    "polaroc", "polars", "numpy", "scipy", "statsmodels", "altair", "vl-convert-python", "jinja2",
    "great-tables",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A publication, and what of it is used."""

    what: str
    cited: str


SOURCES = (
    Source(
        "Precision at any prior from the ROC curve; its area over a range of priors (P-ROC)",
        "Landgrebe, Paclík, Duin and Bradley: Precision-recall operating characteristic (P-ROC) "
        "curves in imprecise environments. ICPR 2006.",
    ),
    Source(
        "How precision runs between two points of a ROC curve",
        "Davis and Goadrich: The relationship between precision-recall and ROC curves. ICML 2006.",
    ),
    Source(
        "Sens, how far the operating point moves over a range of priors",
        "Landgrebe and Duin: Combining accuracy and prior sensitivity for classifier design under "
        "prior uncertainty. SSPR 2006.",
    ),
    Source(
        "The correction for training sets that overlap",
        "Nadeau and Bengio: Inference for the generalization error. Machine Learning 52, 2003.",
    ),
    Source(
        "Comparing fitted models on one test set",
        "DeLong, DeLong and Clarke-Pearson: Comparing the areas under two or more correlated "
        "receiver operating characteristic curves. Biometrics 44, 1988.",
    ),
    Source(
        "Adjusting p-values for the number of pairs",
        "Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 1979.",
    ),
    Source(
        "Letters for models that are not told apart",
        "Piepho: An algorithm for a letter-based representation of all-pairwise comparisons. "
        "Journal of Computational and Graphical Statistics 13, 2004.",
    ),
)


def versions() -> list[tuple[str, str]]:
    """The libraries that made the page, and their versions."""
    return [(name, metadata.version(name)) for name in LIBRARIES]
