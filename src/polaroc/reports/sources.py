"""Publications and library versions behind a report."""

from dataclasses import dataclass
from importlib import metadata

from polaroc.reports.evidence import Evidence

LIBRARIES = (
    "polaroc", "polars", "numpy", "scipy", "statsmodels", "altair", "vl-convert-python", "jinja2",
    "great-tables",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A publication, what of it is used, and by which part of a report."""

    what: str
    cited: str
    used_by: str = "all"


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
        "overlap",
    ),
    Source(
        "Comparing fitted models on one test set",
        "DeLong, DeLong and Clarke-Pearson: Comparing the areas under two or more correlated "
        "receiver operating characteristic curves. Biometrics 44, 1988.",
        "cases",
    ),
    Source(
        "Adjusting p-values for the number of pairs",
        "Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 1979.",
        "pairs",
    ),
    Source(
        "Letters for models that are not told apart",
        "Piepho: An algorithm for a letter-based representation of all-pairwise comparisons. "
        "Journal of Computational and Graphical Statistics 13, 2004.",
        "pairs",
    ),
)


def sources(evidence: Evidence) -> list[Source]:
    """The publications of what a report uses: of the tests, only where they were made."""
    comparison = evidence.comparison
    used = {"all"}
    if comparison is not None:
        used.add("pairs")
        if comparison.plan.target == "trained":
            used.add("cases")
    if evidence.question.blocks and evidence.question.test_train_ratio is not None:
        used.add("overlap")
    return [source for source in SOURCES if source.used_by in used]


def versions() -> list[tuple[str, str]]:
    """The libraries that made the page, and their versions."""
    return [(name, metadata.version(name)) for name in LIBRARIES]
