"""What lies on the disk while a file is fetched, and how it is written."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from smartrag.errors import ModelError

BLOCK = 1 << 20
"""Bytes that are read and written at once."""

Progress = Callable[[str, int, int], None]
"""`progress(what, done, total)`: the name of a file and bytes."""


class SourceError(Exception):
    """A source cannot deliver; the message is the reason, and the next source is tried."""


def partial_of(target: Path) -> Path:
    """Where `target` grows until it is whole and checked."""
    return target.with_name(f"{target.name}.partial")


def tag_of(partial: Path) -> Path:
    """The hub's version tag of `partial`."""
    return partial.with_name(f"{partial.name}.etag")


def parts_of(folder: Path) -> Path:
    """Where the parts of a model's files wait to be joined."""
    return folder / ".parts"


def read_line(path: Path) -> str:
    """The text of a small file; empty where there is none."""
    try:
        return path.read_text(encoding="latin-1").strip()
    except OSError:
        return ""


def write(path: Path, blocks: Iterable[bytes], start: int, report: Callable[[int], None]) -> str:
    """Keep `start` bytes of the file, append `blocks`, sync it; returns the SHA-256 of it all."""
    digest = hashlib.sha256()
    with path.open("r+b" if start else "wb") as out:
        while out.tell() < start:
            digest.update(out.read(min(BLOCK, start - out.tell())))
        out.truncate()
        for block in blocks:
            out.write(block)
            digest.update(block)
            report(out.tell())
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def need_room(folder: Path, needed: int) -> None:
    """Raise ModelError if fewer than `needed` bytes are free."""
    if needed > shutil.disk_usage(folder).free:
        raise disk_full(folder, needed)


def disk_full(folder: Path, needed: int) -> ModelError:
    """The error that says how much room is missing; `needed` is 0 where nobody knows."""
    free = 0
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
    wanted = f"{needed:,} bytes are needed" if needed else "more is needed"
    return ModelError(
        f"the disk is too full: {wanted} and {free:,} are free",
        subject=str(folder),
        remedy="Make room and pull again, or set SMARTRAG_HOME to a folder on another disk",
    )
