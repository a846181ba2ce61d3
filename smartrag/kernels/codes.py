"""int8 codes of vectors: symmetric, one float32 scale a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels._choice import current
from smartrag.kernels._reference import MAX_DIM, MAX_SCALE

Mask = NDArray[np.bool_]
"""Which rows may be returned, bool of shape (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """n quantised vectors: row i stands for `codes[i] * scales[i]`.

    `codes` is int8 of shape (n, d), C-contiguous, 1 ≤ d ≤ 131071, with values −127 to 127 (−128
    is never written; it is not looked for here, since that would read a mapped file from end to
    end). `scales` is float32 of shape (n,), 0 to 1e14. Anything else raises ValueError. The arrays
    are kept as they are, not copied.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int8 or self.codes.ndim != 2:
            raise ValueError(f"codes must be int8 of shape (n, d), not {shape_of(self.codes)}")
        if self.scales.dtype != np.float32 or self.scales.shape != self.codes.shape[:1]:
            raise ValueError(
                f"scales must be float32, one for each of the {len(self.codes)} rows of codes,"
                f" not {shape_of(self.scales)}"
            )
        for array in (self.codes, self.scales):
            if not (array.flags.c_contiguous and array.flags.aligned):
                raise ValueError("codes and scales must be contiguous and aligned")
        check_dim(self.dim)
        # `initial` serves arrays without rows; NaN fails both comparisons.
        smallest, largest = self.scales.min(initial=0), self.scales.max(initial=0)
        if not (smallest >= 0 and largest <= MAX_SCALE):
            raise ValueError(f"scales must lie within 0 and {MAX_SCALE:g}")

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def dim(self) -> int:
        """The dimension d of the vectors."""
        return int(self.codes.shape[1])

    def rows(self, rows: NDArray[np.generic] | slice) -> Codes:
        """Some of the rows, by number, mask or slice of neighbours; a slice is not copied."""
        return Codes(self.codes[rows], self.scales[rows])

    @classmethod
    def empty(cls, dim: int) -> Codes:
        """No vectors, of dimension `dim`."""
        return cls(np.empty((0, dim), np.int8), np.empty(0, np.float32))

    @classmethod
    def concatenate(cls, parts: Sequence[Codes]) -> Codes:
        """The rows of all `parts` in order; no part or unequal dimensions raise ValueError."""
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.scales for part in parts]),
        )


def quantize(vectors: NDArray[np.float32]) -> Codes:
    """The codes of `vectors`, float32 of shape (n, d): symmetric, one scale per row.

    scale = max|x| / 127 and code = x / scale, rounded to the nearest integer (ties to even) and
    within [−127, 127]: −128 never occurs. The error of a component is at most half a scale. A row
    of zeros has scale 0 and codes 0. Raises ValueError for another dtype or shape, and for
    components that are not finite or lie beyond ±1e16 (so that every score is finite).
    """
    if vectors.dtype != np.float32 or vectors.ndim != 2:
        raise ValueError(f"vectors must be float32 of shape (n, d), not {shape_of(vectors)}")
    check_dim(vectors.shape[1])
    return Codes(*current().quantize(np.require(vectors, requirements=["C", "ALIGNED"])))


def shape_of(array: NDArray[np.generic]) -> str:
    """An array's dtype and shape, for messages."""
    return f"{array.dtype} of shape {array.shape}"


def check_dim(dim: int) -> None:
    """Raise ValueError for a dimension that the kernels cannot take."""
    if not 1 <= dim <= MAX_DIM:
        raise ValueError(f"the dimension must lie within 1 and {MAX_DIM}, not be {dim}")


def check_k(k: int, most: int) -> None:
    """Raise ValueError unless 1 ≤ k ≤ `most`."""
    if not 1 <= k <= most:
        raise ValueError(f"k must lie within 1 and {most}, not be {k}")


def check_mask(mask: Mask | None, n_rows: int) -> None:
    """Raise ValueError unless `mask` is None or bool of shape (n_rows,)."""
    if mask is not None and (mask.dtype != np.bool_ or mask.shape != (n_rows,)):
        raise ValueError(f"mask must be bool of shape ({n_rows},), not {shape_of(mask)}")
