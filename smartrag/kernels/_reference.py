"""The kernels in numpy: the definition of right, and the stand-in where nothing is compiled.

Arguments are already checked by `smartrag.kernels`, whose docstrings say what they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_DIM = 131_071
"""Up to here an int32 holds any dot product of codes: 128² · d < 2³¹."""

MAX_K = 1024
"""The most rows that one search returns."""

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
    query: NDArray[np.int8],
    query_scale: np.float32,
) -> NDArray[np.float32]:
    """The score of every row; see `smartrag.kernels.scan`.

    Integer matrix products are slow in numpy. Those of floats are fast, and exact while the sums
    are: float32 serves the usual dimensions, float64 (2⁵³) all others.
    """
    exact: np.dtype[np.floating] = np.dtype(
        np.float32 if codes.shape[1] <= _EXACT_FLOAT32_DIM else np.float64
    )
    exact_query = query.astype(exact)
    dots = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        dots[chunk] = codes[chunk].astype(exact) @ exact_query
    return dots * (scales * query_scale)


def topk(
    codes: NDArray[np.int8],
    scales: NDArray[np.float32],
    query: NDArray[np.int8],
    query_scale: np.float32,
    k: int,
    mask: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best rows and their scores; see `smartrag.kernels.topk`."""
    scores = scan(codes, scales, query, query_scale)
    rows = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    # A stable sort leaves rows of equal score in ascending order.
    best = rows[np.argsort(-scores[rows], kind="stable")[:k]].astype(np.int64)
    return best, scores[best]
