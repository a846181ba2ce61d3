"""Compiling the kernels on the device itself, with whatever C++ compiler it has.

Wheels carry a compiled library for usual platforms. A phone under Termux has no wheel, and a
machine without a compiler got a package without a library: there `smartrag build-kernels` makes one
in the cache folder, under a name that holds a hash of the sources and of the platform, so that
another release never loads it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from smartrag.errors import KernelError, ModelError
from smartrag.models.registry import home

COMPILERS = ("c++", "clang++", "g++")
"""Tried in this order; $CXX, where it is set, comes first."""

FLAGS = (
    *("-std=c++17", "-O3", "-fPIC", "-shared", "-fvisibility=hidden"),
    # Scores agree with the reference to the last bit: no contraction, no fast math.
    *("-fno-exceptions", "-fno-rtti", "-ffp-contract=off"),
)

_LINUX_FLAGS = (
    "-Wl,--as-needed",  # nothing here needs the C++ library
    "-Wl,-z,max-page-size=16384",  # Android 15 has devices with pages of 16 KB
)

_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
"""Folders of the sources by what compilers call the processor."""


def source() -> Path:
    """The folder of the C++ sources; raises KernelError where the installation has none."""
    package = Path(__file__).parent
    # In the package when installed, beside it in a checkout.
    for folder in (package / "source" / "kernels", package.parent.parent / "kernels"):
        if (folder / "src" / "dispatch.cpp").is_file():
            return folder
    raise KernelError(
        "this installation has no sources of the kernels",
        remedy="Install the package again with: pip install --force-reinstall smartrag",
    )


def target() -> Path | None:
    """Where the library of these sources lies once it is built; None where that cannot be."""
    try:
        folder = source()
        made_with = (platform.machine(), platform.system(), FLAGS, _LINUX_FLAGS)
        digest = hashlib.sha256(repr(made_with).encode())
        for file in (*_files(folder / "include"), *_files(folder / "src")):
            digest.update(file.read_bytes())
        return home() / "kernels" / f"libsmartrag_kernels-{digest.hexdigest()[:16]}.so"
    except (KernelError, ModelError, OSError):
        return None


def compilers() -> list[str]:
    """The C++ compilers of this device, best first."""
    wanted = [os.environ.get("CXX", ""), *COMPILERS]
    return list(dict.fromkeys(found for name in wanted if name and (found := shutil.which(name))))


def build() -> Path:
    """Compile the kernels into the cache folder; raises KernelError and then leaves nothing."""
    folder = source()
    path = target()
    if path is None:
        raise KernelError(
            "there is no folder to keep the compiled kernels in",
            remedy="Set SMARTRAG_HOME to a folder",
        )
    tried = compilers()
    if not tried:
        raise KernelError(
            f"there is no C++ compiler (looked for {', '.join(COMPILERS)})",
            remedy="Install one, under Termux with: pkg install clang; elsewhere g++ or clang",
        )
    reasons = []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for compiler in tried:
            with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
                output = Path(scratch) / path.name
                reason = _compile(compiler, folder, output)
                if not reason:
                    output.replace(path)
                    return path
                reasons.append(f"{compiler}: {reason}")
    except OSError as error:
        raise KernelError(
            f"the compiled kernels cannot be written ({error})",
            remedy="Make room, correct the folder, or set SMARTRAG_HOME to another one",
        ) from error
    raise KernelError(
        f"no compiler could build the kernels ({'; '.join(reasons)})",
        remedy="Install a newer g++ or clang; until then numpy does the work, more slowly",
    )


def command(compiler: str, folder: Path, output: Path, machine: str) -> Sequence[str]:
    """The compiler's command line; `machine` is what it says with -dumpmachine."""
    architecture = _ARCHITECTURES.get(machine.split("-")[0].lower(), "")
    wanted = {"src", architecture}
    sources = [
        str(file)
        for file in _files(folder / "src")
        if file.suffix == ".cpp" and file.parent.name in wanted
    ]
    linux = _LINUX_FLAGS if "linux" in machine else ()
    return [compiler, *FLAGS, *linux, f"-I{folder / 'include'}", *sources, "-o", str(output)]


def _try_loading(library: Path) -> None:
    """Raise OSError for what a compiler for another device made."""
    ctypes.CDLL(str(library))


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _compile(compiler: str, folder: Path, output: Path) -> str:
    """Why it failed, in one line; empty if it did not."""
    try:
        machine = subprocess.run(
            [compiler, "-dumpmachine"],
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
            timeout=60,
        ).stdout.strip()
        done = subprocess.run(
            command(compiler, folder, output, machine),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=600,
        )
        if done.returncode == 0:
            _try_loading(output)
            return ""
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return (errors or done.stderr.splitlines() or ["no library came out"])[0].strip()
