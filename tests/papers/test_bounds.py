import numpy as np
import pytest
from oracles import mixture_by_linear_programme
from papers.bounds import auprec_bounds
from papers.greatest import greatest_auprec
from scipy import sparse
from scipy.integrate import quad
from scipy.optimize import linprog

AREAS = [(0.5, 0.5), (0.7, 0.1), (0.8, 0.9), (0.905, 0.5), (0.943, 0.5), (0.95, 0.01), (0.99, 0.3)]


def least_by_linear_programme(auc: float, prior: float, n: int = 120) -> float:
    """Least mean of t/(t + λf) over steps that never fall, by its tangents in f."""
    skew = (1 - prior) / prior
    t = (np.arange(n) + 0.5) / n
    touched = np.concatenate([[0], np.geomspace(1e-4, 1, 200)])
    rows, limits = [], []
    for i in range(n):
        slope = -skew * t[i] / (t[i] + skew * touched) ** 2
        height = t[i] / (t[i] + skew * touched)
        block = sparse.lil_matrix((len(touched), 2 * n))
        block[:, i], block[:, n + i] = slope[:, None], -1
        rows.append(block.tocsr())
        limits.append(slope * touched - height)
    rising = sparse.hstack(
        [sparse.eye(n - 1, n) - sparse.eye(n - 1, n, k=1), sparse.csr_matrix((n - 1, n))]
    )
    answer = linprog(
        np.concatenate([np.zeros(n), np.full(n, 1 / n)]),
        A_ub=sparse.vstack([*rows, rising]).tocsr(),
        b_ub=np.concatenate([*limits, np.zeros(n - 1)]),
        A_eq=sparse.csr_matrix(np.concatenate([np.full(n, 1 / n), np.zeros(n)])),
        b_eq=[1 - auc],
        bounds=[(0, 1)] * (2 * n),
        method="highs",
    )
    assert answer.success
    return answer.fun


@pytest.mark.slow
@pytest.mark.parametrize(("auc", "prior"), AREAS[1::4])
def test_least_is_that_of_a_linear_programme(auc, prior):
    least, _ = auprec_bounds(auc, prior)
    found = least_by_linear_programme(auc, prior)
    assert least == pytest.approx(found, abs=2e-3)


@pytest.mark.parametrize(("auc", "prior"), AREAS)
def test_greatest_is_reached_by_the_curve_that_errs_last(auc, prior):
    skew = (1 - prior) / prior
    late, _ = quad(lambda t: t / (t + skew), auc, 1)
    assert auprec_bounds(auc, prior)[1] == pytest.approx(auc + late)


def test_bounds_hold_for_means_because_they_are_convex_and_concave():
    areas = np.linspace(0.5, 1, 201)
    least, greatest = np.array([auprec_bounds(auc, 0.2) for auc in areas]).T
    assert (np.diff(least, 2) > -1e-12).all()
    assert (np.diff(greatest, 2) < 1e-12).all()
    assert (least[-1], greatest[-1]) == (1, 1)


def test_least_is_smooth_where_the_form_of_the_curve_changes():
    # λ(1 − AUC) = 5/6, and where it is so small that a constant curve is as low.
    for area in (5 / 6, 2.65e-7):
        near = [auprec_bounds(1 - area * change / 4, 0.2)[0] for change in (1 - 1e-6, 1 + 1e-6)]
        assert near[0] == pytest.approx(near[1], abs=1e-5)


@pytest.mark.parametrize("prior", [0.1, 0.01])
def test_greatest_with_a_known_area_is_that_of_a_linear_programme(prior):
    size = {"positives": 12, "negatives": 15}
    bound = greatest_auprec(prior, auc=0.905, auprec={0.5: 0.803}, **size)
    found = mixture_by_linear_programme(prior, 0.905, {0.5: 0.803}, **size)
    assert bound == pytest.approx(found, abs=1e-5)


def test_greatest_without_a_known_area_is_the_closed_form():
    bound = greatest_auprec(0.3, auc=0.9, auprec={}, positives=200, negatives=200)
    assert bound == pytest.approx(auprec_bounds(0.9, 0.3)[1], abs=1e-4)
