"""The kernels in numpy: the definition of right, and the stand-in where nothing is compiled.

Arguments are already checked by `smartrag.kernels`, whose docstrings say what they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_DIM = 131_071
"""Up to here an int32 holds any dot product of codes: 128² · d < 2³¹."""

MAX_K = 1024
"""The most rows or nodes that one search returns."""

MAX_CANDIDATES = 65_536
"""The most rows that a scan of sketches returns."""

MIN_EPSILON = 1e-9
"""The smallest residual that forward push in float32 can aim at."""

MIN_RESTART = 0.01
"""Below it a walk takes so many steps that float32 rounds too much away."""

SCRATCH = np.dtype([("score", "<f4"), ("waiting", "<f4"), ("queue", "<i4"), ("touched", "<i4")])
"""Working memory of a walk, one for each node: sr_push_scratch of the C interface."""

MAX_COMPONENT = np.float32(1e16)
"""The largest magnitude that is quantised; with it every score is finite in float32."""

MAX_SCALE = np.float32(1e14)
"""The largest scale, above MAX_COMPONENT / 127."""

BEYOND_RANGE = f"vectors must be finite and lie within ±{MAX_COMPONENT:g}"

_CHUNK_ROWS = 4096
"""Rows converted to float at a time: 6 MB at d = 384, never the whole matrix."""

_EXACT_FLOAT32_DIM = 1024
"""Up to here every partial sum is an integer of at most 2²⁴, 128² · d, and so exact in float32."""


def isa() -> str:
    """The name of this implementation."""
    return "reference"


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes and scales of `vectors`; see `smartrag.kernels.quantize`."""
    magnitudes = np.abs(vectors)
    if not (magnitudes <= MAX_COMPONENT).all():  # NaN compares false
        raise ValueError(BEYOND_RANGE)
    scales = magnitudes.max(axis=1) / np.float32(127)
    # Where the scale is 0, so are the components or nearly so, and all round to 0.
    divisors = np.where(scales > 0, scales, np.float32(1))
    rounded = np.rint(vectors / divisors[:, np.newaxis])
    # Only a subnormal scale, which is itself coarsely rounded, can lead beyond 127.
    return np.clip(rounded, -127, 127).astype(np.int8), scales


def scan(
    codes: NDArray[np.int8],
    scales: NDArray[np.float32],
    queries: NDArray[np.int8],
    query_scales: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The score of every row; see `smartrag.kernels.scan`.

    Integer matrix products are slow in numpy. Those of floats are fast, and exact while the sums
    are: float32 serves the usual dimensions, float64 (2⁵³) all others.
    """
    exact: np.dtype[np.floating] = np.dtype(
        np.float32 if codes.shape[1] <= _EXACT_FLOAT32_DIM else np.float64
    )
    exact_queries = queries.astype(exact).T
    dots = np.empty((len(queries), len(codes)), np.float32)
    for start in range(0, len(codes), _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        dots[:, chunk] = (codes[chunk].astype(exact) @ exact_queries).T
    return dots * (scales * query_scales[:, np.newaxis])


def topk(
    codes: NDArray[np.int8],
    scales: NDArray[np.float32],
    queries: NDArray[np.int8],
    query_scales: NDArray[np.float32],
    k: int,
    mask: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best rows and their scores; see `smartrag.kernels.topk`."""
    scores = scan(codes, scales, queries, query_scales)
    rows = _allowed(len(codes), mask)
    # A stable sort leaves rows of equal score in ascending order.
    best = rows[np.argsort(-scores[:, rows], axis=1, kind="stable")[:, :k]]
    return best, np.take_along_axis(scores, best, axis=1)


def sketch(codes: NDArray[np.int8], centre: NDArray[np.int8]) -> NDArray[np.uint64]:
    """The sketches of coded vectors; see `smartrag.kernels.Sketches`."""
    n, dim = codes.shape
    packed = np.zeros((n, -(-dim // 64) * 8), np.uint8)
    for start in range(0, n, _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        bits = np.packbits(codes[chunk] > centre, axis=1, bitorder="little")
        packed[chunk, : bits.shape[1]] = bits
    return packed.view("<u8").astype(np.uint64, copy=False)


def topk_sketches(
    sketches: NDArray[np.uint64],
    dim: int,
    query: NDArray[np.uint64],
    k: int,
    mask: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The k nearest rows, their distances, and those of all; see `smartrag.kernels.nearest`."""
    distances = np.empty(len(sketches), np.int32)
    for start in range(0, len(sketches), _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        differing = (sketches[chunk] ^ query).view(np.uint8)
        distances[chunk] = _BITS_OF_BYTE[differing].sum(axis=1, dtype=np.int32)
    rows = _allowed(len(sketches), mask)
    near = rows[np.argsort(distances[rows], kind="stable")[:k]]
    return near, distances[near], distances


def push(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    weights: NDArray[np.float32],
    seeds: NDArray[np.int32],
    masses: NDArray[np.float32],
    restart: float,
    epsilon: float,
    k: int,
    scratch: NDArray[np.void],
) -> tuple[NDArray[np.int64], NDArray[np.float32], float]:
    """The k best nodes by power iteration; see `smartrag.kernels.pagerank`.

    It starts from nothing and adds the walks of 0, 1, 2, … steps, so that like those of forward
    push its scores never exceed the exact ones. It ends when less than `epsilon` is left to add,
    and needs no `scratch`.
    """
    n = len(offsets) - 1
    n_edges = np.diff(offsets)
    source = np.repeat(np.arange(n), n_edges)
    start = np.bincount(seeds, masses.astype(np.float64), n)
    scores, walking = np.zeros(n), start.copy()
    while walking.sum() > epsilon:
        scores += restart * walking
        stuck = walking[n_edges == 0].sum()
        walking = (1 - restart) * (
            np.bincount(targets, walking[source] * weights, n) + stuck * start
        )
    reached = np.flatnonzero(scores)
    best = reached[np.argsort(-scores[reached].astype(np.float32), kind="stable")[:k]]
    return best.astype(np.int64), scores[best].astype(np.float32), float(walking.sum())


_BITS_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], np.uint8)


def _allowed(n_rows: int, mask: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    rows = np.arange(n_rows, dtype=np.int64)
    return rows if mask is None else rows[mask]
