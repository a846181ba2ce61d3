"""Times of several competitors in one run, interleaved, so that a noisy machine is noisy to all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def on_one_thread() -> None:
    """Go on with one thread in all libraries.

    They read the variables when they are loaded, so the program starts itself once more.
    """
    if any(os.environ.get(variable) != "1" for variable in _THREADS):
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        os.execv(sys.executable, sys.orig_argv)


def medians_ms(works: Mapping[str, Callable[[], object]], seconds: float = 3.0) -> dict[str, float]:
    """The median time of each work in milliseconds.

    After one round to warm up, all are called in turn until about `seconds` a work have passed, at
    least 5 and at most 200 rounds.
    """
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    begun = time.perf_counter()
    for rounds in range(200):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
        if rounds >= 4 and time.perf_counter() - begun > seconds * len(works):
            break
    return {name: float(np.median(times)) * 1e3 for name, times in taken.items()}
