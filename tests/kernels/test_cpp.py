"""The kernels' own tests, in kernels/tests: compiled here with sanitizers, and run also where the
processor of this machine cannot: one instruction set in plain C++, those of phones in an emulator.

A test is skipped where its tools are missing, unless SMARTRAG_TEST_ALL=1 says that none may be.
"""

import os
import platform
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from smartrag.kernels import _build

KERNELS = Path(__file__).parents[2] / "kernels"
TESTS = KERNELS / "tests"

MACHINE = platform.machine().lower()
ARCHITECTURE = {"amd64": "x86_64", "arm64": "aarch64"}.get(MACHINE, MACHINE)

FLAGS = ["-std=c++17", "-ffp-contract=off", f"-I{KERNELS / 'include'}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED = ["-O1", "-g", *SANITIZERS, *FLAGS]
FOR_PHONES = ["-O2", "-static", "-march=armv8-a", *FLAGS]

N_INPUTS = 5000


def do_without(reason: str) -> NoReturn:
    if os.environ.get("SMARTRAG_TEST_ALL") == "1":
        pytest.fail(f"{reason}, and SMARTRAG_TEST_ALL=1 wants every test to run")
    pytest.skip(reason)


def tool(name: str) -> str:
    return shutil.which(name) or do_without(f"{name} is not installed")


def sources(architecture: str) -> list[str]:
    files = sorted((KERNELS / "src").glob("*.cpp"))
    return [str(file) for file in files + sorted((KERNELS / "src" / architecture).glob("*.cpp"))]


def programs(pattern: str) -> list[str]:
    return [str(file) for file in sorted(TESTS.glob(pattern))]


def run(*command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    # Looking for leaks needs ptrace, which containers deny; the kernels allocate nothing.
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **options},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )


def output(*command: str, folder: Path | None = None) -> str:
    """What a command prints that succeeds."""
    done = run(*command, folder=folder)
    assert done.returncode == 0, (
        f"{shlex.join(command)}\nended with {done.returncode}\n{done.stdout}"
    )
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="module")
def compiler(folder: Path) -> str:
    """A compiler whose sanitizers work: their runtime is a package of its own on some systems."""
    found = _build.compilers()
    if not found:
        do_without("there is no C++ compiler")
    empty = folder / "empty.cpp"
    empty.write_text("int main() {}\n")
    program = str(folder / "empty")
    if run(found[0], *SANITIZED, str(empty), "-o", program).returncode or run(program).returncode:
        do_without(f"{found[0]} has no working sanitizers")
    return found[0]


@pytest.fixture(scope="module")
def kernels(compiler: str, folder: Path) -> list[str]:
    """Object files of the kernels for this machine, with sanitizers."""
    output(compiler, *SANITIZED, "-c", *sources(ARCHITECTURE), folder=folder)
    return [str(file) for file in sorted(folder.glob("*.o"))]


@pytest.fixture(scope="module")
def for_phones(folder: Path) -> str:
    """The exactness test and the kernels in one static program for 64-bit ARM."""
    program = str(folder / "exactness-aarch64")
    files = sources("aarch64") + programs("exactness*.cpp")
    output(tool("aarch64-linux-gnu-g++"), *FOR_PHONES, *files, "-o", program)
    return program


def test_the_instruction_sets_of_this_machine_are_exact(
    compiler: str, kernels: list[str], folder: Path
) -> None:
    program = str(folder / "exactness")
    output(compiler, *SANITIZED, *kernels, *programs("exactness*.cpp"), "-o", program)
    printed = output(program)
    assert printed.startswith("ok ")
    assert printed.endswith(" serial\n")


@pytest.mark.skipif(ARCHITECTURE != "x86_64", reason="only x86-64 compilers know its name")
def test_avx512vnni_is_exact_in_emulation(compiler: str, folder: Path) -> None:
    program = str(folder / "vnni")
    files = [str(KERNELS / "src" / "x86_64" / "avx512vnni.cpp"), str(TESTS / "vnni_emulated.cpp")]
    output(compiler, *SANITIZED, f"-I{TESTS / 'emulated'}", *files, "-o", program)
    assert output(program) == "ok avx512vnni\n"


def test_no_arguments_lead_astray(compiler: str, kernels: list[str], folder: Path) -> None:
    program = str(folder / "fuzz")
    output(compiler, *SANITIZED, *kernels, *programs("fuzz_*.cpp"), "-o", program)
    assert output(program, str(N_INPUTS)) == f"ok {N_INPUTS} inputs\n"


@pytest.mark.parametrize(
    ("processor", "isas"),
    [
        ("cortex-a53", ["neon", "serial"]),
        ("cortex-a76", ["dotprod", "neon", "serial"]),
        ("max", ["i8mm", "dotprod", "neon", "serial"]),
    ],
)
def test_the_instruction_sets_of_phones_are_exact(
    processor: str, isas: list[str], for_phones: str
) -> None:
    emulator = tool("qemu-aarch64-static")
    printed = output(emulator, "-cpu", processor, for_phones, "--expect", isas[0])
    assert printed == f"ok {' '.join(isas)}\n"
