"""Ward clustering of vectors with a threshold (Ward 1963; paper §3.2, equation 9).

The distance of two clusters is what their union adds to the sum of squared distances to the centre,

    d(A, B) = |A| |B| / (|A| + |B|) · ‖μA − μB‖²,

without a square root. Libraries call sqrt(2 d) the Ward distance, so their threshold is sqrt(2 ε).
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import MissingExtra
from smartrag.types import FloatArray

Rung = Literal["auto", "scikit-learn", "scipy", "own"]
"""Which implementation clusters; "auto" is the first of the others that is installed and fits."""

Labels = NDArray[np.int64]

LIBRARY_ROWS = 8_000
"""Both libraries hold all n (n − 1) / 2 distances in 64 bits: 256 MB for so many vectors. Beyond
that "auto" takes our own, which needs memory for n vectors only."""

_BLOCK = 256
"""Clusters that are compared with all others at once."""


def ward_labels(vectors: FloatArray, epsilon: float, rung: Rung = "auto") -> Labels:
    """The cluster of each of n vectors, numbered 0, 1, … in the order of their first members.

    From n clusters of one vector (n, d), the two with the smallest d(A, B) are merged while it is
    below `epsilon`; so all clusters end at least `epsilon` apart. Which of several equally near
    pairs goes first is left to the implementation. Raises ValueError for anything but finite
    numbers in two dimensions and a finite `epsilon` above 0, and MissingExtra where `rung` names a
    library that is not installed.
    """
    points = np.asarray(vectors, dtype=np.float64)  # as both libraries do
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(f"vectors must have the shape (n, d) with d > 0, not {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError("vectors must be finite")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be finite and above 0, not {epsilon}")
    if rung not in ("auto", *_RUNGS):
        raise ValueError(f"there is no rung {rung!r}")
    if len(points) < 2:
        return np.zeros(len(points), dtype=np.int64)
    if rung != "auto":
        return _by_first_member(_RUNGS[rung](points, epsilon))
    return _by_first_member(_first_that_works(points, epsilon))


def _first_that_works(points: NDArray[np.float64], epsilon: float) -> Labels:
    if len(points) <= LIBRARY_ROWS:
        for rung in (_scikit_learn, _scipy):
            try:
                return rung(points, epsilon)
            except MissingExtra:
                continue
    return _own(points, epsilon)


def _by_first_member(labels: Labels) -> Labels:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


# --- the rungs ------------------------------------------------------------------------------------
def _scikit_learn(points: NDArray[np.float64], epsilon: float) -> Labels:
    cluster = _library("sklearn.cluster", "scikit-learn")
    ward = cluster.AgglomerativeClustering(
        n_clusters=None, linkage="ward", distance_threshold=math.sqrt(2 * epsilon)
    )
    with _quiet():
        return np.asarray(ward.fit_predict(points), dtype=np.int64)


def _scipy(points: NDArray[np.float64], epsilon: float) -> Labels:
    hierarchy = _library("scipy.cluster.hierarchy", "scipy")
    # Clusters exactly at scipy's threshold are merged, at ours and scikit-learn's they are not.
    below = math.nextafter(math.sqrt(2 * epsilon), 0)
    with _quiet():
        tree = hierarchy.ward(points)
    return np.asarray(hierarchy.fcluster(tree, below, "distance"), dtype=np.int64)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without scipy's doubt whether points that look like distances are points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(name, extra="clustering", stage="perception") from error


def _own(points: NDArray[np.float64], epsilon: float) -> Labels:
    """Merges of all pairs that are each other's nearest, round by round, in O(n d) memory.

    Ward's distance is reducible: a union is no nearer to a third cluster than the nearer of its
    parts was. So the pairs of a round do not disturb each other, the clusters are those of always
    merging the closest pair, and only clusters whose nearest was merged look for a new one.
    """
    centres = points - points.mean(axis=0)  # shorter vectors, smaller errors of rounding
    sizes = np.ones(len(points))
    labels = np.arange(len(points))
    nearest, apart = _nearest(np.arange(len(points)), centres, sizes)
    while apart.min() < epsilon:
        left = np.flatnonzero(apart < epsilon)
        left = left[(nearest[nearest[left]] == left) & (left < nearest[left])]
        if not len(left):  # equal distances, rounded unequally, can run in a circle
            left = np.array([apart.argmin()])
        right = nearest[left]
        both = sizes[left] + sizes[right]
        centres[left] += (centres[right] - centres[left]) * (sizes[right] / both)[:, None]
        sizes[left] = both
        merged = np.zeros(len(centres), dtype=bool)
        merged[left] = merged[right] = True
        stale = merged[nearest] | merged
        kept = np.ones(len(centres), dtype=bool)
        kept[right] = False
        number = np.cumsum(kept) - 1
        number[right] = number[left]
        labels = number[labels]
        centres, sizes, apart, stale = centres[kept], sizes[kept], apart[kept], stale[kept]
        nearest = number[nearest[kept]]
        nearest[stale], apart[stale] = _nearest(np.flatnonzero(stale), centres, sizes)
    return labels


def _nearest(
    rows: Labels, centres: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[Labels, NDArray[np.float64]]:
    """The nearest other cluster of each of `rows` and how far it is; infinitely, if there is none.

    Of equally near ones the first counts.
    """
    squares = np.einsum("nd,nd->n", centres, centres)
    nearest = np.empty(len(rows), dtype=np.int64)
    apart = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        d = squares[block, None] + squares - 2 * (centres[block] @ centres.T)  # (b, n)
        d *= sizes[block, None] * sizes / (sizes[block, None] + sizes)
        each = np.arange(len(block))
        d[each, block] = np.inf
        nearest[start : start + _BLOCK] = d.argmin(axis=1)
        apart[start : start + _BLOCK] = d.min(axis=1)
    return nearest, apart


_RUNGS: dict[str, Callable[[NDArray[np.float64], float], Labels]] = {
    "scikit-learn": _scikit_learn,
    "scipy": _scipy,
    "own": _own,
}
