"""1-bit sketches: a scan of an eighth of the memory finds the rows that are worth an exact look.

A sketch keeps of each code whether it lies above that of the centre of all vectors; the nearest in
Hamming distance are then scored exactly. Signs of a random rotation found as many of the true
neighbours on real vectors, before and after centring (experiments/results/kernels.md), and centring
costs nothing and holds for encoders whose vectors all lean to one side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels._choice import current
from smartrag.kernels._reference import MAX_CANDIDATES, MAX_K
from smartrag.kernels.codes import Codes, Mask, check_dim, check_k, check_mask, shape_of
from smartrag.kernels.search import scan, topk

CANDIDATES = 1024
"""Rows that are scored exactly unless the caller says otherwise."""

_CENTRE_ROWS = 4_096
"""Rows from which the centre is computed, evenly spaced; more do not move it."""

_LINE_ROWS = 512
"""Rows, evenly spaced, that join the candidates in fitting scores to distances."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """Sketches of n coded vectors of dimension d.

    `words` is uint64 of shape (n, ⌈d / 64⌉): bit i % 64 of word i // 64 says whether code i lies
    above `centre[i]` (int8[d]). Anything else, and arrays that are not contiguous and aligned,
    raise ValueError.
    """

    words: NDArray[np.uint64]
    centre: NDArray[np.int8]

    def __post_init__(self) -> None:
        if self.centre.dtype != np.int8 or self.centre.ndim != 1:
            raise ValueError(f"the centre must be int8 of shape (d,), not {shape_of(self.centre)}")
        check_dim(len(self.centre))
        n_words = -(-len(self.centre) // 64)
        if self.words.dtype != np.uint64 or self.words.shape[1:] != (n_words,):
            raise ValueError(
                f"sketches of {len(self.centre)} bits must be uint64 of shape (n, {n_words}),"
                f" not {shape_of(self.words)}"
            )
        for array in (self.words, self.centre):
            if not (array.flags.c_contiguous and array.flags.aligned):
                raise ValueError("sketches and their centre must be contiguous and aligned")

    def __len__(self) -> int:
        return len(self.words)

    def of(self, codes: Codes) -> NDArray[np.uint64]:
        """The sketches of other vectors around the same centre: uint64 of shape (m, ⌈d / 64⌉).

        Raises ValueError for vectors of another dimension.
        """
        if codes.dim != len(self.centre):
            raise ValueError(f"the dimension must be {len(self.centre)}, not {codes.dim}")
        return current().sketch(codes.codes, self.centre)


def sketch(codes: Codes) -> Sketches:
    """The sketches of `codes` around their own centre, a zero vector if there are none."""
    sample = codes.codes[:: max(1, len(codes) // _CENTRE_ROWS)]
    total = sample.sum(axis=0, dtype=np.int64)
    centre = np.rint(total / max(1, len(sample))).astype(np.int8)
    return Sketches(current().sketch(codes.codes, centre), centre)


def nearest(
    codes: Codes,
    sketches: Sketches,
    query: Codes,
    k: int,
    candidates: int = CANDIDATES,
    mask: Mask | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """`topk` for one query in two stages: int64 and float32 of shape (m,).

    The `candidates` rows with the nearest sketches are scored exactly and the best k of them are
    returned, in the order of `topk`; a true neighbour with a far sketch is missed (`sketch_recall`
    says how often). Raises ValueError unless 1 ≤ k ≤ 1024, k ≤ `candidates` ≤ 65536, the query is
    one row, and everything fits `codes`.
    """
    _check(codes, sketches, query, candidates)
    check_k(k, min(candidates, MAX_K))
    check_mask(mask, len(codes))
    rows, _, _ = current().topk_sketches(
        sketches.words, codes.dim, sketches.of(query)[0], candidates, mask
    )
    rows.sort()  # so that ties are broken by row number
    best, scores = topk(codes.rows(rows), query, k)
    return rows[best[0]], scores[0]


def scan_sketched(
    codes: Codes, sketches: Sketches, query: Codes, candidates: int = CANDIDATES
) -> NDArray[np.float32]:
    """`scan` for one query in two stages: float32 of shape (n,).

    The scores of the `candidates` rows with the nearest sketches are exact. All others are
    estimated from their distance, by the straight line that fits the candidates and an evenly
    spaced sample best, and none is above the lowest candidate's. Raises ValueError as `nearest`.
    """
    _check(codes, sketches, query, candidates)
    if len(codes) <= candidates:
        every: NDArray[np.float32] = scan(codes, query)[0]
        return every
    rows, near, distances = current().topk_sketches(
        sketches.words, codes.dim, sketches.of(query)[0], candidates, None
    )
    [exact] = scan(codes.rows(rows), query)
    sample = np.arange(0, len(codes), max(1, len(codes) // _LINE_ROWS))
    [of_sample] = scan(codes.rows(sample), query)
    slope, height = _line(
        np.concatenate([near, distances[sample]]),
        np.concatenate([exact, of_sample]).astype(np.float64),
    )
    # A table over all distances is cheaper than arithmetic on all rows. The bounds keep the
    # estimates below the exact scores and, for the largest vectors, finite.
    of_distance = slope * np.arange(codes.dim + 1) + height
    bounded = of_distance.clip(np.finfo(np.float32).min, exact.min())
    scores: NDArray[np.float32] = bounded.astype(np.float32)[distances]
    scores[rows] = exact
    return scores


def sketch_recall(
    codes: Codes, sketches: Sketches, queries: Codes, k: int = 10, candidates: int = CANDIDATES
) -> float:
    """Which share of the k true neighbours `nearest` finds, over all `queries`: 0 … 1."""
    if not len(codes) or not len(queries):
        return 1.0
    exact, _ = topk(codes, queries, k)
    found = 0
    for i, rows in enumerate(exact):
        query = queries.rows(slice(i, i + 1))
        found += len(np.intersect1d(rows, nearest(codes, sketches, query, k, candidates)[0]))
    return found / exact.size


def _check(codes: Codes, sketches: Sketches, query: Codes, candidates: int) -> None:
    if len(query) != 1 or query.dim != codes.dim:
        raise ValueError(f"the query must be one row of dimension {codes.dim}")
    if len(sketches) != len(codes) or len(sketches.centre) != codes.dim:
        raise ValueError("the sketches are not those of the codes")
    if not 1 <= candidates <= MAX_CANDIDATES:
        raise ValueError(f"candidates must lie within 1 and {MAX_CANDIDATES}, not be {candidates}")


def _line(x: NDArray[np.int32], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and height of the line through the points by least squares; flat if all x are equal."""
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ (y - y.mean())) / spread if spread else 0.0
    return slope, float(y.mean() - slope * x.mean())
