"""One process at a time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from smartrag.errors import ModelError

_WRITING_S = 10.0
"""A lock without a process number is being written, or after this time was left by a crash."""


@contextmanager
def only_one(lock: Path, subject: str) -> Iterator[None]:
    """Hold the file `lock` for the length of the block; raises ModelError where another does.

    The file holds the owner's process number. A lock whose owner is gone is taken over. Should two
    processes do that in the same instant both may go on; the sum of each file is still checked.
    """
    handle = _create(lock)
    if handle is None and _is_abandoned(lock):
        with suppress(OSError):  # on Windows: still open in a living process
            lock.unlink(missing_ok=True)
        handle = _create(lock)
    if handle is None:
        raise ModelError(
            "another process is fetching or removing this model",
            subject=subject,
            remedy=f"Wait for it; if there is none, delete {lock}",
        )
    try:
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)
        lock.unlink(missing_ok=True)


def _create(lock: Path) -> int | None:
    """A handle that stays open, for Windows lets nobody delete an open file; None if it exists."""
    try:
        return os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return None


def _is_abandoned(lock: Path) -> bool:
    try:
        owner = int(lock.read_text(encoding="ascii"))
    except FileNotFoundError:
        return True
    except ValueError:
        return time.time() - lock.stat().st_mtime > _WRITING_S
    if sys.platform == "win32":
        return True  # deleting will tell; os.kill would send the process Ctrl-C
    try:
        os.kill(owner, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
