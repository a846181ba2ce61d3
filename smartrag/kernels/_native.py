"""The one door to the compiled kernels (kernels/include/smartrag_kernels.h), through ctypes.

A missing or unfit library is no error: the reference does the work, and `unavailable_reason` says
why. ctypes releases the interpreter lock during a call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from ctypes import c_char_p, c_float, c_int, c_size_t, c_void_p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels._reference import BEYOND_RANGE

ABI_VERSION = 1
"""SR_ABI_VERSION of the header that this file was written against."""

KNOWN_ISAS = ("serial",)
"""All names that `sr_use` may know; which of them a machine runs, the library decides."""

_FILE_NAMES = tuple(f"libsmartrag_kernels{suffix}" for suffix in (".so", ".dylib", ".dll"))

_OK, _ERROR_VALUE = 0, 2

_MATRIX = (c_void_p, c_void_p, c_size_t, c_size_t)  # codes, scales, n_rows, dim
_QUERY = (c_void_p, c_float)
_SIGNATURES = {
    "sr_use": (c_int, (c_char_p,)),
    "sr_isa": (c_char_p, ()),
    "sr_quantize_i8": (c_int, (c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)),
    "sr_scan_i8": (c_int, (*_MATRIX, *_QUERY, c_void_p)),
    "sr_topk_i8": (
        c_int,
        (*_MATRIX, *_QUERY, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p),
    ),
}

_reason = ""


def load(folders: Iterable[str]) -> Library | None:
    """The first library among `folders` that loads and has our ABI version, or None."""
    global _reason
    _reason = "no compiled library in the installation"
    for path in (Path(folder) / name for folder in folders for name in _FILE_NAMES):
        if not path.exists():
            continue
        try:
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
        query: NDArray[np.int8],
        query_scale: np.float32,
    ) -> NDArray[np.float32]:
        """See `smartrag.kernels.scan`."""
        scores = np.empty(len(codes), np.float32)
        _check(
            self._c.sr_scan_i8(
                *(codes.ctypes.data, scales.ctypes.data, *codes.shape),
                *(query.ctypes.data, query_scale),
                scores.ctypes.data,
            )
        )
        return scores

    def topk(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        query: NDArray[np.int8],
        query_scale: np.float32,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """See `smartrag.kernels.topk`."""
        # The local name keeps the packed bits alive during the call.
        bits = None if mask is None else np.packbits(mask, bitorder="little")
        rows = np.empty(k, np.int64)
        scores = np.empty(k, np.float32)
        n_found = c_size_t()
        _check(
            self._c.sr_topk_i8(
                *(codes.ctypes.data, scales.ctypes.data, *codes.shape),
                *(query.ctypes.data, query_scale),
                *(None if bits is None else bits.ctypes.data, k),
                *(rows.ctypes.data, scores.ctypes.data, ctypes.byref(n_found)),
            )
        )
        return rows[: n_found.value], scores[: n_found.value]


def _check(status: int) -> None:
    if status == _ERROR_VALUE:
        raise ValueError(BEYOND_RANGE)
    if status != _OK:  # the callers check everything else, so this is a bug of ours
        raise AssertionError(f"the compiled kernels refused a call with status {status}")
