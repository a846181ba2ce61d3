"""The one door to the compiled kernels (kernels/include/smartrag_kernels.h), through ctypes.

A missing or unfit library is no error: the reference does the work, and `unavailable_reason` says
why. ctypes releases the interpreter lock during a call.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from ctypes import c_char_p, c_float, c_int, c_size_t, c_void_p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels import _build
from smartrag.kernels._reference import BEYOND_RANGE

ABI_VERSION = 2
"""SR_ABI_VERSION of the header that this file was written against."""

KNOWN_ISAS = ("avx512vnni", "avx2", "i8mm", "dotprod", "neon", "serial")
"""All names that `sr_use` may know, best first; which of them a machine runs, the library says."""

_FILE_NAMES = tuple(f"libsmartrag_kernels{suffix}" for suffix in (".so", ".dylib", ".dll"))

_OK, _ERROR_VALUE = 0, 2

_CODES = (c_void_p, c_void_p, c_size_t, c_size_t)  # codes, scales, n_rows, dim
_QUERIES = (c_void_p, c_void_p, c_size_t)  # queries, query_scales, n_queries
_GRAPH = (c_void_p, c_void_p, c_void_p, c_size_t)  # offsets, targets, weights, n_nodes
_SEEDS = (c_void_p, c_void_p, c_size_t)  # seeds, masses, n_seeds
_SIGNATURES = {
    "sr_use": (c_int, (c_char_p,)),
    "sr_isa": (c_char_p, ()),
    "sr_quantize_i8": (c_int, (c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)),
    "sr_scan_i8": (c_int, (*_CODES, *_QUERIES, c_void_p)),
    "sr_topk_i8": (
        c_int,
        (*_CODES, *_QUERIES, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p),
    ),
    "sr_sketch_u1": (c_int, (c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)),
    "sr_topk_u1": (
        c_int,
        (
            *(c_void_p, c_size_t, c_size_t, c_void_p, c_void_p, c_size_t),
            *(c_void_p, c_void_p, c_void_p, c_void_p),
        ),
    ),
    "sr_push_f32": (
        c_int,
        (
            *(*_GRAPH, *_SEEDS, c_float, c_float, c_void_p, c_size_t),
            *(c_void_p, c_void_p, c_void_p, c_void_p),
        ),
    ),
}

_reason = ""


def load() -> Library | None:
    """The library of the installation, else the one that `smartrag build-kernels` made, or None."""
    # An editable installation puts the library into a second folder of this package.
    folders = sys.modules["smartrag.kernels"].__path__
    bundled = [Path(folder) / name for folder in folders for name in _FILE_NAMES]
    if (library := first_of(bundled)) is not None:
        return library
    # Only now: the name of its file holds a hash over all sources.
    built = _build.target()
    return first_of([*bundled, built]) if built is not None else None


def first_of(paths: Iterable[Path]) -> Library | None:
    """The first library among `paths` that loads and has our ABI version, or None."""
    global _reason
    _reason = "no compiled library in the installation"
    for path in paths:
        try:
            if not path.exists():
                continue
            library = Library(path)
        except (OSError, AttributeError) as error:  # not loadable, or a function is missing
            _reason = f"{path}: {error}"
        else:
            _reason = ""
            return library
    return None


def unavailable_reason() -> str:
    """Why the last `load` found no library, in one line; empty if it found one."""
    return _reason


class Library:
    """A loaded library. Raises OSError or AttributeError if it is not one of ours.

    Arguments of its methods are already checked by `smartrag.kernels`: dtypes, shapes, contiguity.
    `isas` are the instruction sets that this machine runs.
    """

    def __init__(self, path: Path) -> None:
        self._c = ctypes.CDLL(str(path))
        if (version := self._c.sr_abi_version()) != ABI_VERSION:
            raise OSError(f"has ABI version {version}, not {ABI_VERSION}")
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, arguments

        chosen = self.isa()
        self.isas = tuple(isa for isa in KNOWN_ISAS if self._c.sr_use(isa.encode()) == _OK)
        self.use(chosen)

    def isa(self) -> str:
        """The instruction set in use."""
        name: bytes = self._c.sr_isa()
        return name.decode("ascii")

    def use(self, isa: str) -> None:
        """Choose one of `isas`."""
        _check(self._c.sr_use(isa.encode()))

    def quantize(
        self, vectors: NDArray[np.float32]
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """See `smartrag.kernels.quantize`."""
        codes = np.empty(vectors.shape, np.int8)
        scales = np.empty(len(vectors), np.float32)
        _check(
            self._c.sr_quantize_i8(
                vectors.ctypes.data, *vectors.shape, codes.ctypes.data, scales.ctypes.data
            )
        )
        return codes, scales

    def scan(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        queries: NDArray[np.int8],
        query_scales: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """See `smartrag.kernels.scan`."""
        scores = np.empty((len(queries), len(codes)), np.float32)
        _check(
            self._c.sr_scan_i8(
                *(codes.ctypes.data, scales.ctypes.data, *codes.shape),
                *(queries.ctypes.data, query_scales.ctypes.data, len(queries)),
                scores.ctypes.data,
            )
        )
        return scores

    def topk(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        queries: NDArray[np.int8],
        query_scales: NDArray[np.float32],
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """See `smartrag.kernels.topk`."""
        bits = _bits(mask)
        rows = np.empty((len(queries), k), np.int64)
        scores = np.empty((len(queries), k), np.float32)
        n_found = c_size_t()
        _check(
            self._c.sr_topk_i8(
                *(codes.ctypes.data, scales.ctypes.data, *codes.shape),
                *(queries.ctypes.data, query_scales.ctypes.data, len(queries)),
                *(_address(bits), k),
                *(rows.ctypes.data, scores.ctypes.data, ctypes.byref(n_found)),
            )
        )
        return rows[:, : n_found.value], scores[:, : n_found.value]

    def sketch(self, codes: NDArray[np.int8], centre: NDArray[np.int8]) -> NDArray[np.uint64]:
        """See `smartrag.kernels.Sketches`."""
        sketches = np.empty((len(codes), -(-codes.shape[1] // 64)), np.uint64)
        _check(
            self._c.sr_sketch_u1(
                *(codes.ctypes.data, *codes.shape, centre.ctypes.data, sketches.ctypes.data)
            )
        )
        return sketches

    def topk_sketches(
        self,
        sketches: NDArray[np.uint64],
        dim: int,
        query: NDArray[np.uint64],
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """See `smartrag.kernels.nearest`. Distances of rows that are not allowed are not set."""
        bits = _bits(mask)
        rows = np.empty(k, np.int64)
        near = np.empty(k, np.int32)
        distances = np.empty(len(sketches), np.int32)
        n_found = c_size_t()
        _check(
            self._c.sr_topk_u1(
                *(sketches.ctypes.data, len(sketches), dim, query.ctypes.data),
                *(_address(bits), k),
                *(rows.ctypes.data, near.ctypes.data, distances.ctypes.data),
                ctypes.byref(n_found),
            )
        )
        return rows[: n_found.value], near[: n_found.value], distances

    def push(
        self,
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
        """See `smartrag.kernels.pagerank`."""
        nodes = np.empty(k, np.int64)
        scores = np.empty(k, np.float32)
        n_found, waiting = c_size_t(), c_float()
        _check(
            self._c.sr_push_f32(
                *(offsets.ctypes.data, targets.ctypes.data, weights.ctypes.data, len(offsets) - 1),
                *(seeds.ctypes.data, masses.ctypes.data, len(seeds)),
                *(restart, epsilon, scratch.ctypes.data, k),
                *(nodes.ctypes.data, scores.ctypes.data),
                *(ctypes.byref(n_found), ctypes.byref(waiting)),
            )
        )
        return nodes[: n_found.value], scores[: n_found.value], waiting.value


def _bits(mask: NDArray[np.bool_] | None) -> NDArray[np.uint8] | None:
    """The mask of the C interface. Keep it in a variable during the call: the address is not
    enough to keep it alive.
    """
    return None if mask is None else np.packbits(mask, bitorder="little")


def _address(array: NDArray[np.uint8] | None) -> int | None:
    return None if array is None else array.ctypes.data


def _check(status: int) -> None:
    if status == _ERROR_VALUE:
        raise ValueError(BEYOND_RANGE)
    if status != _OK:  # the callers check everything else, so this is a bug of ours
        raise AssertionError(f"the compiled kernels refused a call with status {status}")
