"""The door to the compiled library: found where it was built, and quietly done without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smartrag import kernels
from smartrag.kernels import _native

COMPILERS = [os.environ["CXX"]] if "CXX" in os.environ else ["c++", "g++", "clang++"]
HAS_COMPILER = any(
    shutil.which(compiler)
    and subprocess.run([compiler, "--version"], capture_output=True, check=False).returncode == 0
    for compiler in COMPILERS
)
CHOSEN_BY_HAND = bool(os.environ.get("SMARTRAG_KERNELS"))

library = kernels._library
compiled = pytest.mark.skipif(library is None, reason="no compiled kernels in this installation")


def path_of_library() -> Path:
    assert library is not None
    return Path(library._c._name)


@pytest.fixture
def reason_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts back what `load` notes, since the tests load libraries of their own."""
    monkeypatch.setattr(_native, "_reason", _native._reason)


def isa_in_a_new_process(wanted: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import smartrag.kernels as k; print(k.isa())"],
        env={**os.environ, "SMARTRAG_KERNELS": wanted},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not HAS_COMPILER, reason="no working C++ compiler")
@pytest.mark.skipif(CHOSEN_BY_HAND, reason="SMARTRAG_KERNELS decides")
def test_where_there_is_a_compiler_the_library_is_loaded() -> None:
    # A fallback this quiet needs a loud test: a build that fails would only show as slowness.
    assert kernels.isa() != "reference", (
        f"{_native.unavailable_reason()}; install the package again: pip install -e ."
    )


def test_a_reason_is_given_exactly_when_there_is_no_library() -> None:
    assert (_native.unavailable_reason() == "") == (library is not None)


def test_the_environment_chooses() -> None:
    assert isa_in_a_new_process("reference").stdout == "reference\n"
    if library is not None:
        assert isa_in_a_new_process("serial").stdout == "serial\n"
        assert isa_in_a_new_process("").stdout == f"{library.isas[0]}\n"


def test_a_wish_of_the_environment_that_cannot_be_met_is_an_error() -> None:
    process = isa_in_a_new_process("abacus")
    assert process.returncode != 0
    assert "ValueError: no kernels named 'abacus' here; available: reference" in process.stderr


@pytest.mark.usefixtures("reason_kept")
def test_no_library_is_no_error(tmp_path: Path) -> None:
    assert _native.load([str(tmp_path)]) is None
    assert _native.unavailable_reason() == "no compiled library in the installation"


@pytest.mark.usefixtures("reason_kept")
def test_a_damaged_library_is_no_error(tmp_path: Path) -> None:
    damaged = tmp_path / "libsmartrag_kernels.so"
    damaged.write_bytes(b"not a library")
    assert _native.load([str(tmp_path)]) is None
    assert _native.unavailable_reason().startswith(f"{damaged}: ")


@compiled
@pytest.mark.usefixtures("reason_kept")
def test_a_library_of_another_version_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "ABI_VERSION", 99)
    assert _native.load([str(path_of_library().parent)]) is None
    assert _native.unavailable_reason().endswith("has ABI version 1, not 99")


@compiled
@pytest.mark.usefixtures("reason_kept")
def test_the_search_goes_on_behind_a_damaged_library(tmp_path: Path) -> None:
    (tmp_path / "libsmartrag_kernels.so").write_bytes(b"not a library")
    found = _native.load([str(tmp_path), str(path_of_library().parent)])
    assert found is not None
    assert found.isas[-1] == "serial"
    assert _native.unavailable_reason() == ""


@compiled
@pytest.mark.skipif(sys.platform != "linux", reason="nm -D reads ELF files")
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_the_library_exports_exactly_its_interface() -> None:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(path_of_library())],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {line.split()[-1] for line in listing.splitlines()} == {
        "sr_abi_version",
        "sr_isa",
        "sr_quantize_i8",
        "sr_scan_i8",
        "sr_topk_i8",
        "sr_use",
    }


@compiled
def test_the_c_functions_refuse_what_they_cannot_do() -> None:
    assert library is not None
    c = library._c
    refused = 1  # SR_ERROR_ARGUMENT
    assert c.sr_scan_i8(None, None, 1, 4, None, 1.0, None) == refused
    assert c.sr_quantize_i8(None, 1, 4, None, None) == refused
    assert c.sr_quantize_i8(None, 0, 0, None, None) == refused
    assert c.sr_quantize_i8(None, 0, 131_072, None, None) == refused
    assert c.sr_quantize_i8(None, 0, 131_071, None, None) == 0
    assert c.sr_topk_i8(None, None, 0, 4, b"1234", 1.0, None, 1025, None, None, None) == refused
    assert c.sr_use(None) == refused
    assert c.sr_use(b"abacus") == 3  # SR_ERROR_ISA
