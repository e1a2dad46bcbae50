"""How many cases a study needs, and what can be promised with them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from polaroc.base.checks import check_share, check_whole, refuse_unused, unless
from polaroc.base.lazy import np
from polaroc.files.progress import Progress, progress_callback
from polaroc.planning.chances import Outcome
from polaroc.planning.folds import pilot_of_folds
from polaroc.planning.measured import DividedWish
from polaroc.planning.pilot import of_pilot
from polaroc.planning.promised import PromiseWish
from polaroc.planning.scores import Size, of_one, of_two, rows_of_clusters
from polaroc.planning.sizes import (
    DRAWN,
    MAX_ROWS,
    Sizes,
    counts,
    enough,
    given_sizes,
    sought,
    splits,
    tried_at,
)
from polaroc.planning.study_plan import StudyPlan, planned, split
from polaroc.planning.wishes import (
    Place,
    Wish,
    out_of_reach,
    pair_named,
    wanted_of,
    which_wish,
)
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import Columns
from polaroc.predictions.takes_cases import takes_cases_if_any
from polaroc.priors.beliefs import Belief


@takes_cases_if_any(
    ["truth", "score", "positive", "nulls", "model", "fold", "case", "cluster", "count",
     "test_train_ratio"],
    no_bearing=["time", "score_prior"],
)  # fmt: skip
def plan(
    pilot: Cases[Any] | None = None,
    *,
    auc: float | tuple[float, float] | None = None,
    shape: float = 1.0,
    over: tuple[float, float] | Belief | None = None,
    prior: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    width: float | None = None,
    measure: str | None = None,
    margin: float | None = None,
    difference: float | None = None,
    champion: object = None,
    challenger: object = None,
    correlation: float | tuple[float, float] | None = None,
    level: float = 0.95,
    positives: int | Sequence[int] | None = None,
    negatives: int | Sequence[int] | None = None,
    folds: int | Sequence[int] | None = None,
    cluster_rows: int | None = None,
    cluster_correlation: float | None = None,
    budget: float | None = None,
    cost_positive: float = 1.0,
    cost_negative: float = 1.0,
    chance: float = 0.8,
    seed: int = 24,
    progress: Progress | bool | None = None,
    **columns: Unpack[Columns],
) -> StudyPlan:
    """How many cases to label, and what can be promised with them, before there are any.

    One thing is wished for: a threshold that can be promised (`constraints`), limits of a width
    (`width`), or two models told apart (`margin`, `difference`, or a pilot's `champion` and
    `challenger`); with a `budget` also the first two at once.

    Parameters
    ----------
    pilot
        Predictions of a model on a few cases, whose curve the study is drawn from, with what the
        pilot does not know of it. Or None, with `auc`.
    **columns
    auc
        The AUC to expect, in (0, 1), or a range of it, instead of a pilot: scores are then taken as
        normal in both classes. With two models, that of the champion. A range gives the chance one.
    shape
        Of normal scores the standard deviation of negatives over that of positives, > 0.
    over
        The range (lo, hi) of priors in use. Or a belief about the prior.
    prior
        The one prior in use, in (0, 1), instead of `over`.
    constraints
        What a threshold is to keep, as in `operating_points`, such as ``{"precision": 0.8}``.
    confidence
        Of the promise, in (0, 1).
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, of which the promised threshold
        has the least; by default it has the highest recall.
    width
        Half the width of the limits that a measure is to have, in (0, 1).
    measure
        The measure of limits or of a difference. By default "iauprec" with `over`, "auprec" with
        `prior`, else "auc".
    margin
        By how much the challenger may be worse, as in `gate`, which is to pass it. Without it the
        challenger is to be found better, as in `compare`.
    difference
        The AUC of the challenger minus that of the champion, with `auc`.
    champion, challenger
        Two models of the pilot, paired by case.
    correlation
        With `auc`, of the scores of the two models within a class, in [0, 1), or a range of it; 0.5
        by default.
    level
        Of limits and tests, in (0, 1).
    positives, negatives
        How many cases to look at, one number or several. By default ever more positives are tried,
        with as many negatives as `prior`, or the middle of `over`, says; else as the pilot has.
    folds
        Of a pilot with several folds, how many such folds to look at, one number or several, ≥ 2.
        By default as many as it has, and 2, 5 and 10 times as many. Models are trained again for
        each, as in `compare` and `gate` with folds.
    cluster_rows
        How many rows a cluster has, such as a patient, all of one class. By default as in the
        pilot, with its `cluster`; else 1.
    cluster_correlation
        Of the scores of two rows of a cluster, in [0, 1). By default as in the pilot.
    budget
        What labels may cost in all, > 0: answers how to split it between positives and negatives;
        or, with both `constraints` and `width`, between tuning, by which the threshold is promised,
        and a test that gives the limits.
    cost_positive, cost_negative
        What the label of a positive and of a negative costs, > 0.
    chance
        The chance of success that is wanted, in (0, 1).
    seed
        Of the studies that are drawn.
    progress
        ``True`` draws a progress bar. Or a function of the sizes done and their number.

    Returns
    -------
    StudyPlan
        `answer` in a sentence; `table` with the chance by number of cases; the `positives` and
        `negatives` that are needed; `notes` on what was assumed.

    Raises
    ------
    InvalidArgument, InvalidPredictions
        For no wish or several, arguments outside what is allowed, a pilot with fewer than 5 cases
        of a class, or a chance that no number of cases reaches: the hint then names the nearest
        wish that can be had.

    Notes
    -----
    The chance is the share of studies, drawn from the curve, in which `operating_points`,
    `evaluate`, `compare` or `gate` does what is wished for (``just plan``). For a promise with
    independent cases only order statistics are drawn: the numbers of positives above each negative.
    A pilot's curve is smooth, from kernels on normal scores that leave mean and variance as they
    are (Silverman and Young 1987); curves that the pilot may as well come from weigh its cases, or
    clusters, at random (Rubin 1981).

    Examples
    --------
    >>> import polaroc as pr
    >>> found = pr.plan(auc=0.85, constraints={"recall": 0.9})
    >>> found.positives < 50
    True
    """
    pair = pair_named(champion, challenger)
    name = which_wish(constraints, width, margin, difference, pair is not None, budget)
    check_share("chance", chance)
    check_whole("seed", seed, 0)
    place = Place.of(over, prior)
    wanted = wanted_of(
        name, place, pair, constraints=constraints, confidence=confidence,
        costs=(cost_fn, cost_fp), width=width, measure=measure, margin=margin, level=level,
    )  # fmt: skip
    if name != "margin":
        refuse_unused("of two models", f"the wish is {name}", correlation=correlation)
    say, drawn = progress_callback(progress, "sizes"), partial(_generator, seed)
    if pilot is not None:
        refuse_unused(
            "instead of a pilot", "there is one", auc=auc, shape=unless(1, shape),
            difference=difference, correlation=correlation,
        )  # fmt: skip
        anew = pilot_of_folds(pilot, pair, wanted) if name == "margin" else None
        if anew is not None:
            refuse_unused(
                "of one test set", "the pilot has folds", positives=positives,
                negatives=negatives, cluster_rows=cluster_rows,
                cluster_correlation=cluster_correlation, budget=budget,
            )  # fmt: skip
            of_each = tried_at(anew.sizes(folds), lambda one: anew.outcome(one, drawn(one)), say)
            return planned(wanted, of_each, enough(of_each, chance), chance, anew.about)
        assumed = of_pilot(pilot, pair, np.random.default_rng([seed, 0]))
    else:
        refuse_unused("models of a pilot", "there is none", champion=champion)
        assumed = of_one(auc, shape)
        if name == "margin":
            assumed = of_two(assumed, auc, shape, difference, correlation, margin)
    refuse_unused("of a pilot with several folds of two models", "there is none", folds=folds)
    rows, alike = rows_of_clusters(cluster_rows, cluster_correlation, assumed)
    by_rank = isinstance(wanted.wish, PromiseWish) and (rows == 1 or not alike)
    skew = assumed.skew if place.middle is None else (1 - place.middle) / place.middle
    most = MAX_ROWS if by_rank else DRAWN
    of_neg = counts("negatives", negatives, most)
    fixed = of_neg[0] if len(of_neg) == 1 else None
    sizes = Sizes(skew, fixed, rows, alike, most, assumed.unit)

    def outcome(wish: Wish, size: Size) -> Outcome:
        return wish.outcome(assumed, size, drawn(size))

    at = partial(outcome, wanted.wish)
    if budget is not None:
        refuse_unused("not for a budget", "budget is given", positives=positives,
                      negatives=negatives)  # fmt: skip
        is_divided = isinstance(wanted.wish, DividedWish)
        paid = splits(budget, (cost_positive, cost_negative), sizes, is_divided)
        return split(wanted, tried_at(paid, at, say), budget, chance, assumed.about)
    refuse_unused("of a budget", "there is none", cost_positive=unless(1, cost_positive),
                  cost_negative=unless(1, cost_negative))  # fmt: skip
    if given := given_sizes(positives, negatives, sizes):
        tried = tried_at(given, at, say)
        return planned(wanted, tried, enough(tried, chance), chance, assumed.about)
    tried, least = sought(sizes, at, chance, say)
    if least is None:
        raise out_of_reach(wanted, outcome, tried[-1], chance)
    return planned(wanted, tried, least, chance, assumed.about)


def _generator(seed: int, size: Size) -> Any:
    """What draws studies of a size, the same for the same seed."""
    return np.random.default_rng([seed, size.positives, size.negatives])
