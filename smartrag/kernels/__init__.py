"""Vectors as int8 codes, and the search for the nearest of them.

A float32 vector of dimension d is kept as d int8 codes and one float32 scale, a quarter of the
memory; nearness is the inner product of the codes. The work is done by a small compiled library
where the installation has one and by numpy where it has not; the results are the same to the last
bit, only the time differs. `_reference` is the definition of right, `_native` the one door to the
library.

The environment variable SMARTRAG_KERNELS names the implementation to start with, as `use` does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels import _native, _reference
from smartrag.kernels._reference import MAX_DIM, MAX_K, MAX_SCALE

__all__ = ["Codes", "isa", "quantize", "scan", "topk", "use"]


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
            raise ValueError(f"codes must be int8 of shape (n, d), not {_shape(self.codes)}")
        if self.scales.dtype != np.float32 or self.scales.shape != self.codes.shape[:1]:
            raise ValueError(
                f"scales must be float32, one for each of the {len(self.codes)} rows of codes,"
                f" not {_shape(self.scales)}"
            )
        for array in (self.codes, self.scales):
            if not (array.flags.c_contiguous and array.flags.aligned):
                raise ValueError("codes and scales must be contiguous and aligned")
        _check_dim(self.dim)
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
        raise ValueError(f"vectors must be float32 of shape (n, d), not {_shape(vectors)}")
    _check_dim(vectors.shape[1])
    return Codes(*_current.quantize(np.require(vectors, requirements=["C", "ALIGNED"])))


def scan(codes: Codes, query: Codes) -> NDArray[np.float32]:
    """The score of every row: float32 of shape (n,), the inner product with the one row of `query`.

    A score is float32(dot) · (scale_row · scale_query) with an exact integer dot. Raises ValueError
    if `query` has not exactly one row or another dimension than `codes`.
    """
    _check_query(codes, query)
    return _current.scan(codes.codes, codes.scales, query.codes[0], query.scales[0])


def topk(
    codes: Codes, query: Codes, k: int, mask: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The rows with the k highest scores, best first, and their scores as `scan` defines them.

    `mask`, bool of shape (n,), says which rows may be returned. Both results have shape (m,),
    int64 and float32, with m = min(k, rows allowed). Rows of equal score come in ascending order,
    and it is the lower ones that are kept. Raises ValueError unless 0 ≤ k ≤ 1024, and for a query
    or a mask that does not fit `codes`.
    """
    _check_query(codes, query)
    if not 0 <= k <= MAX_K:
        raise ValueError(f"k must lie within 0 and {MAX_K}, not be {k}")
    if mask is not None and (mask.dtype != np.bool_ or mask.shape != (len(codes),)):
        raise ValueError(f"mask must be bool of shape ({len(codes)},), not {_shape(mask)}")
    return _current.topk(codes.codes, codes.scales, query.codes[0], query.scales[0], k, mask)


def isa() -> str:
    """The implementation in use: an instruction set of the compiled library, or "reference"."""
    return _current.isa()


def use(isa: str) -> None:
    """Do all further work with `isa`: "reference", or an instruction set that this machine has.

    Raises ValueError, naming what is available, for any other name. Not while another thread is
    inside this module.
    """
    global _current
    if isa == "reference":
        _current = _reference
    elif _library is not None and isa in _library.isas:
        _library.use(isa)
        _current = _library
    else:
        raise ValueError(f"no kernels named '{isa}' here; available: {', '.join(_available())}")


class _Implementation(Protocol):
    """What the library and the reference both offer, for arguments that are already checked."""

    def isa(self) -> str: ...

    def quantize(
        self, vectors: NDArray[np.float32]
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]: ...

    def scan(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        query: NDArray[np.int8],
        query_scale: np.float32,
    ) -> NDArray[np.float32]: ...

    def topk(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        query: NDArray[np.int8],
        query_scale: np.float32,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...


def _available() -> tuple[str, ...]:
    return ("reference", *(_library.isas if _library is not None else ()))


def _shape(array: NDArray[np.generic]) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _check_dim(dim: int) -> None:
    if not 1 <= dim <= MAX_DIM:
        raise ValueError(f"the dimension must lie within 1 and {MAX_DIM}, not be {dim}")


def _check_query(codes: Codes, query: Codes) -> None:
    if len(query) != 1:
        raise ValueError(f"the query must have one row, not {len(query)}")
    if query.dim != codes.dim:
        raise ValueError(f"the query has dimension {query.dim}, the codes have {codes.dim}")


# An editable installation puts the library into a second folder of this package, so all are tried.
_library = _native.load(__path__)
_current: _Implementation = _reference if _library is None else _library

if _wanted := os.environ.get("SMARTRAG_KERNELS", ""):
    use(_wanted)  # a wish that cannot be met is an error: a measurement must not run on other code
