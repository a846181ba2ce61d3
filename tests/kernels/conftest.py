"""What the tests of the kernels share: every implementation, codes by hand and at random."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from smartrag import kernels
from smartrag.kernels import Codes, _choice, _native, use

AVAILABLE = kernels.available()
COMPILED = AVAILABLE[:-1]
AWKWARD_DIMS = (1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 63, 64, 65, 97, 384)
AWKWARD_ROWS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 256, 257, 600)

Arrays = Sequence[NDArray[np.generic]]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Puts back the implementation in use and all that the package remembers of the library."""
    before, library, reason = kernels.isa(), _choice._library, _native._reason
    yield
    _choice._library, _choice._looked, _native._reason = library, True, reason
    use(before)


def forget() -> None:
    """Leaves the package as it is before its first use: nothing looked for, nothing chosen."""
    _choice._library, _choice._looked, _choice._chosen = None, False, None


@pytest.fixture(params=AVAILABLE)
def isa(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    use(name)
    return name


def f32(*rows: Sequence[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def raw(rows: Sequence[Sequence[int]], scales: Sequence[float]) -> Codes:
    return Codes(np.array(rows, np.int8), np.array(scales, np.float32))


def random_codes(rng: np.random.Generator, n: int, dim: int) -> Codes:
    """Codes over the whole range, and scales from so small a set that scores tie."""
    return Codes(
        rng.integers(-127, 127, (n, dim), np.int8, endpoint=True),
        rng.choice(np.array([0, 0.5, 0.007], np.float32), n),
    )


def masks(n: int, seed: int) -> list[NDArray[np.bool_] | None]:
    """All rows; about half of them, in short runs; all but one, in long runs."""
    return [None, np.random.default_rng(seed).random(n) < 0.5, np.arange(n) != n // 3]


def assert_same(found: Arrays, expected: Arrays) -> None:
    """Equal in type, shape and every bit, so that even 0 and -0 differ."""
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype, kernels.isa()
        assert one.shape == other.shape, kernels.isa()
        assert one.tobytes() == other.tobytes(), f"{kernels.isa()}: {one} is not {other}"


def assert_agreement(work: Callable[[], Arrays]) -> None:
    """What `work` returns has the same bits whichever implementation does it."""
    use("reference")
    expected = work()
    for name in COMPILED:
        use(name)
        assert_same(work(), expected)


def has_compiler() -> bool:
    """Whether the build of the package found a C++ compiler that runs."""
    wanted = [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    return any(
        shutil.which(compiler)
        and subprocess.run([compiler, "--version"], capture_output=True, check=False).returncode
        == 0
        for compiler in wanted
    )
