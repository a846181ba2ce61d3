"""Which implementation does the work: the best that this machine has, unless told otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import SettingsError
from smartrag.kernels import _build, _native, _reference

VARIABLE = "SMARTRAG_KERNELS"
"""The environment variable that caps the choice."""

LADDER = (*_native.KNOWN_ISAS, "reference")
"""All implementations, best first on each architecture."""


class Implementation(Protocol):
    """What the library and the reference both offer, for arguments that are already checked."""

    def isa(self) -> str:
        """The instruction set in use, or "reference"."""
        ...

    def quantize(
        self, vectors: NDArray[np.float32]
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Codes and scales."""
        ...

    def scan(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        queries: NDArray[np.int8],
        query_scales: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Scores (q, n)."""
        ...

    def topk(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        queries: NDArray[np.int8],
        query_scales: NDArray[np.float32],
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows and scores (q, m)."""
        ...

    def sketch(self, codes: NDArray[np.int8], centre: NDArray[np.int8]) -> NDArray[np.uint64]:
        """Sketches (n, ⌈d / 64⌉)."""
        ...

    def topk_sketches(
        self,
        sketches: NDArray[np.uint64],
        dim: int,
        query: NDArray[np.uint64],
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The nearest rows and their distances (m,), and the distances of all allowed rows (n,)."""
        ...

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
        """Nodes and scores (m,), and the mass that still waits."""
        ...


_library: _native.Library | None = None
_looked = False  # for a library
_chosen: Implementation | None = None


def current() -> Implementation:
    """The implementation in use. The first call chooses, and may raise SettingsError.

    The choice waits until then because importing a package must not fail over a variable.
    """
    global _chosen
    if _chosen is None:
        cap = os.environ.get(VARIABLE) or LADDER[0]
        if cap not in LADDER:
            raise SettingsError(
                f"the environment variable {VARIABLE} names no kernels: '{cap}'",
                remedy=f"Leave it unset, or set it to one of: {', '.join(LADDER)}",
            )
        best = next(name for name in LADDER[LADDER.index(cap) :] if name in available())
        use(best)
        assert _chosen is not None
    return _chosen


def available() -> tuple[str, ...]:
    """The implementations that this machine has, best first; "reference" is always the last."""
    library = _loaded()
    return (*(library.isas if library is not None else ()), "reference")


def isa() -> str:
    """The implementation in use: an instruction set of the compiled library, or "reference"."""
    return current().isa()


def use(isa: str) -> None:
    """Do all further work with `isa`, one of `available()`.

    Raises ValueError, naming what is available, for any other name. Not while another thread is
    inside this package.
    """
    global _chosen
    if isa not in available():
        raise ValueError(f"no kernels named '{isa}' here; available: {', '.join(available())}")
    if isa == "reference":
        _chosen = _reference
    else:
        library = _loaded()
        assert library is not None
        library.use(isa)
        _chosen = library


def build() -> Path:
    """Compile the library on this device; the path of its file.

    It is used from now on where the installation brings none that loads. Raises KernelError, and
    then nothing has changed.
    """
    global _library, _chosen, _looked
    path = _build.build()
    _library, _chosen, _looked = None, None, False
    return path


def _loaded() -> _native.Library | None:
    global _library, _looked
    if not _looked:
        _library = _native.load()
        _looked = True
    return _library
