"""Ward clustering: the paper's distance, three implementations that agree, and any input."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from smartrag.errors import MissingExtra
from smartrag.perception import clustering
from smartrag.perception.clustering import Rung, ward_labels
from smartrag.types import FloatArray

RUNGS: tuple[Rung, ...] = ("scikit-learn", "scipy", "own")


def distance(a: FloatArray, b: FloatArray) -> float:
    """d(A, B) of equation 9, without a square root."""
    gap = a.mean(axis=0, dtype=np.float64) - b.mean(axis=0, dtype=np.float64)
    return float(len(a) * len(b) / (len(a) + len(b)) * gap @ gap)


def blobs(seed: int) -> FloatArray:
    chance = np.random.default_rng(seed)
    centres = 4 * chance.standard_normal((6, 8))
    points = [
        c + chance.standard_normal((n, 8)) for c, n in zip(centres, range(4, 28, 4), strict=True)
    ]
    return np.concatenate(points)[chance.permutation(84)].astype(np.float32)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("below", [True, False])
def test_two_points_are_merged_exactly_below_the_papers_d(rung: Rung, below: bool) -> None:
    points = np.array([[0.0, 0.0], [3.0, 4.0]], np.float32)
    d = distance(points[:1], points[1:])
    assert d == 12.5
    epsilon = d * (1.001 if below else 0.999)
    assert len(set(ward_labels(points, epsilon, rung))) == (1 if below else 2)


@pytest.mark.parametrize("rung", RUNGS)
def test_points_exactly_at_the_threshold_stay_apart(rung: Rung) -> None:
    """12.5 and the root of 25 are exact, so no rounding decides."""
    points = np.array([[0.0, 0.0], [3.0, 4.0]], np.float32)
    assert ward_labels(points, 12.5, rung).tolist() == [0, 1]


@pytest.mark.parametrize("rung", RUNGS)
def test_sizes_weigh_in_the_distance(rung: Rung) -> None:
    points = np.array([[0.0], [0.0], [0.0], [2.0], [2.0]], np.float32)
    d = distance(points[:3], points[3:])
    assert d == pytest.approx(4.8)
    assert ward_labels(points, d - 0.01, rung).tolist() == [0, 0, 0, 1, 1]
    assert ward_labels(points, d + 0.01, rung).tolist() == [0] * 5


@pytest.mark.parametrize("epsilon", [2.0, 20.0, 200.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_implementations_give_the_same_labels(seed: int, epsilon: float) -> None:
    points = blobs(seed)
    golden, *others = (ward_labels(points, epsilon, rung).tolist() for rung in RUNGS)
    assert 1 < len(set(golden)) < 84
    assert others == [golden, golden]


@pytest.mark.parametrize("missing", [[], ["_scikit_learn"], ["_scikit_learn", "_scipy"]])
def test_the_ladder_takes_the_first_that_is_installed(
    missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: object) -> NDArray[np.int64]:
        raise MissingExtra("a library", extra="clustering", stage="perception")

    for rung in missing:
        monkeypatch.setattr(clustering, rung, absent)
    assert ward_labels(blobs(1), 20.0).tolist() == ward_labels(blobs(1), 20.0, "own").tolist()


def test_many_points_do_without_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "LIBRARY_ROWS", 10)
    monkeypatch.setattr(clustering, "_scikit_learn", None)
    assert len(ward_labels(blobs(1), 20.0)) == 84


def test_duplicates_and_single_points() -> None:
    assert ward_labels(np.empty((0, 3), np.float32), 1.0).tolist() == []
    assert ward_labels(np.ones((1, 3), np.float32), 1.0).tolist() == [0]
    assert ward_labels(np.ones((9, 3), np.float32), 1e-6).tolist() == [0] * 9
    assert ward_labels(np.zeros((4, 2), np.float32), 1.0, "own").tolist() == [0] * 4


@pytest.mark.parametrize(
    ("points", "epsilon", "rung"),
    [
        (np.ones(3), 1.0, "own"),
        (np.ones((3, 0)), 1.0, "own"),
        (np.array([[np.nan], [0.0]]), 1.0, "own"),
        (np.ones((2, 2)), 0.0, "own"),
        (np.ones((2, 2)), math.inf, "own"),
        (np.ones((2, 2)), 1.0, "ours"),
    ],
)
def test_what_cannot_be_clustered_is_refused(
    points: FloatArray, epsilon: float, rung: Rung
) -> None:
    with pytest.raises(ValueError, match=r"must|no rung"):
        ward_labels(points, epsilon, rung)


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 24), st.integers(1, 4)),
        elements=st.floats(-50, 50, width=32),
    ),
    st.floats(0.01, 100),
    st.sampled_from(RUNGS),
)
def test_any_points_end_in_clusters_that_lie_apart(
    points: FloatArray, epsilon: float, rung: Rung
) -> None:
    labels = ward_labels(points, epsilon, rung)
    clusters = [points[labels == label] for label in range(labels.max() + 1)]
    for a, b in combinations(clusters, 2):
        assert distance(a, b) >= epsilon * (1 - 1e-6) - 1e-6


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(0, 12), st.integers(1, 3)),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from(RUNGS),
)
def test_any_finite_points_are_numbered_by_first_member(points: FloatArray, rung: Rung) -> None:
    labels = ward_labels(points, 1.0, rung).tolist()
    assert len(labels) == len(points)
    assert list(dict.fromkeys(labels)) == list(range(len(set(labels))))
