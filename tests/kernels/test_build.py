"""Compiling the kernels on the device: with its compiler, without one, and with bad ones."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import smartrag.kernels
from smartrag import kernels
from smartrag.errors import KernelError, ModelError
from smartrag.kernels import _build, _native, _reference

from .conftest import COMPILED, assert_same, forget, has_compiler, random_codes

needs_compiler = pytest.mark.skipif(not has_compiler(), reason="no working C++ compiler")
needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="fake compilers are shell scripts")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a real compiler makes; it takes seconds, so once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMARTRAG_HOME", str(tmp_path_factory.mktemp("home")))
        path = _build.build()
        assert path == _build.target()
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMARTRAG_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which alone programs are looked for; a library need only be there."""
    monkeypatch.setattr(_build, "_try_loading", Path.read_bytes)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    return folder


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, to be changed."""
    folder = tmp_path / "copy" / "kernels"
    shutil.copytree(_build.source(), folder)
    monkeypatch.setattr(_build, "source", lambda: folder)
    return folder


try_loading = _build._try_loading

WORKS = 'while [ "$1" != -o ]; do shift; done; echo library > "$2"'
FAILS = 'echo "In file included:" >&2; echo "a.cpp:1: error: too old" >&2; exit 1'
LEAVES_HALF = f"{WORKS}; exit 1"


def fake(folder: Path, name: str, script: str, machine: str = "x86_64-linux-gnu") -> Path:
    """A compiler that answers `script`."""
    path = folder / name
    head = f'#!/bin/sh\nif [ "$1" = -dumpmachine ]; then echo {machine}; exit; fi\n'
    path.write_text(head + script + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def left_in(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())


# --- a real compiler ----------------------------------------------------------------------------
@needs_compiler
def test_a_compiler_makes_one_file(built: Path) -> None:
    assert [path.name for path in built.parent.iterdir()] == [built.name]
    assert built.parent.name == "kernels"


@needs_compiler
def test_what_was_built_computes_like_the_reference(built: Path) -> None:
    library = _native.first_of([built])
    assert library is not None
    assert set(COMPILED) <= set(library.isas)
    rng = np.random.default_rng(1)
    codes, queries = random_codes(rng, 300, 97), random_codes(rng, 3, 97)
    vectors = rng.standard_normal((20, 97)).astype(np.float32)
    both = (codes.codes, codes.scales, queries.codes, queries.scales)
    centre = np.full(97, 3, np.int8)
    words = _reference.sketch(codes.codes, centre)
    mask = rng.random(300) < 0.5
    for isa in library.isas:
        library.use(isa)
        assert library.isa() == isa
        assert_same(library.quantize(vectors), _reference.quantize(vectors))
        assert_same([library.scan(*both)], [_reference.scan(*both)])
        assert_same(library.topk(*both, 9, mask), _reference.topk(*both, 9, mask))
        assert_same([library.sketch(codes.codes, centre)], [words])
        search = (words, 97, words[5], 9, None)
        assert_same(library.topk_sketches(*search), _reference.topk_sketches(*search))


@needs_compiler
def test_what_was_built_is_found_after_a_reset(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setattr(smartrag.kernels, "__path__", [str(tmp_path)])
    forget()
    assert kernels.available() == ("reference",)
    target = _build.target()
    assert target is not None
    target.parent.mkdir(parents=True)
    shutil.copy(built, target)
    assert kernels.available() == ("reference",)
    forget()
    assert kernels.available()[-2:] == ("serial", "reference")
    assert _native.unavailable_reason() == ""


# --- compilers ----------------------------------------------------------------------------------
@needs_shell
def test_compilers_are_tried_in_this_order(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _build.compilers() == []
    for name in ("g++", "clang++", "c++", "mine"):
        fake(bin_folder, name, WORKS)
    usual = [str(bin_folder / name) for name in ("c++", "clang++", "g++")]
    assert _build.compilers() == usual
    monkeypatch.setenv("CXX", "mine")
    assert _build.compilers() == [str(bin_folder / "mine"), *usual]
    monkeypatch.setenv("CXX", str(bin_folder / "g++"))
    assert _build.compilers() == [usual[2], usual[0], usual[1]]
    for nothing in ("", "nowhere++"):
        monkeypatch.setenv("CXX", nothing)
        assert _build.compilers() == usual


@pytest.mark.usefixtures("bin_folder")
def test_without_a_compiler_the_error_says_how_to_get_one(home: Path) -> None:
    with pytest.raises(KernelError) as caught:
        _build.build()
    assert caught.value.stage == "kernels"
    assert caught.value.problem == "there is no C++ compiler (looked for c++, clang++, g++)"
    assert "pkg install clang" in caught.value.remedy
    assert not home.exists()


@needs_shell
def test_the_first_compiler_that_works_is_taken(home: Path, bin_folder: Path) -> None:
    fake(bin_folder, "c++", WORKS)
    fake(bin_folder, "g++", FAILS)
    path = _build.build()
    assert path == _build.target()
    assert path.read_text(encoding="utf-8") == "library\n"
    assert left_in(home) == [f"kernels/{path.name}"]


@needs_shell
def test_a_library_that_does_not_load_here_is_no_success(
    home: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_build, "_try_loading", try_loading)
    fake(bin_folder, "c++", WORKS)
    with pytest.raises(KernelError, match="no compiler could build the kernels"):
        _build.build()
    assert left_in(home) == []


@needs_shell
@pytest.mark.parametrize("script", [FAILS, LEAVES_HALF, "exit 0", "kill -9 $$"])
def test_behind_a_compiler_that_fails_the_next_is_tried(
    home: Path, bin_folder: Path, script: str
) -> None:
    fake(bin_folder, "c++", script)
    fake(bin_folder, "g++", WORKS)
    path = _build.build()
    assert path.read_text(encoding="utf-8") == "library\n"
    assert left_in(home) == [f"kernels/{path.name}"]


@needs_shell
def test_behind_a_compiler_that_complains_in_another_encoding_the_next_is_tried(
    home: Path, bin_folder: Path
) -> None:
    # As for every compiler that fails. Its messages need not be UTF-8.
    fake(bin_folder, "c++", r"printf 'Fehler: \374bel\n' >&2; exit 1")
    fake(bin_folder, "g++", WORKS)
    path = _build.build()
    assert left_in(home) == [f"kernels/{path.name}"]


@needs_shell
@pytest.mark.usefixtures("home")
def test_a_program_that_is_no_compiler_is_passed_over(bin_folder: Path) -> None:
    (bin_folder / "c++").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (bin_folder / "clang++").write_bytes(b"\x7fELF no program at all")
    for name in ("c++", "clang++"):
        (bin_folder / name).chmod(0o755)
    fake(bin_folder, "g++", WORKS)
    assert _build.build().exists()


@needs_shell
def test_when_all_fail_the_error_has_their_reasons_and_nothing_is_left(
    home: Path, bin_folder: Path
) -> None:
    fake(bin_folder, "c++", FAILS)
    fake(bin_folder, "clang++", LEAVES_HALF)
    fake(bin_folder, "g++", "echo 'no such option' >&2; exit 1")
    with pytest.raises(KernelError) as caught:
        _build.build()
    assert caught.value.problem == (
        "no compiler could build the kernels ("
        f"{bin_folder / 'c++'}: a.cpp:1: error: too old; "
        f"{bin_folder / 'clang++'}: no library came out; "
        f"{bin_folder / 'g++'}: no such option)"
    )
    assert "newer g++ or clang" in caught.value.remedy
    assert list((home / "kernels").iterdir()) == []


@needs_shell
def test_a_build_that_fails_leaves_the_library_that_is_there(home: Path, bin_folder: Path) -> None:
    fake(bin_folder, "c++", WORKS)
    path = _build.build()
    fake(bin_folder, "c++", LEAVES_HALF)
    with pytest.raises(KernelError, match="no compiler could build"):
        _build.build()
    assert left_in(home) == [f"kernels/{path.name}"]
    assert path.read_text(encoding="utf-8") == "library\n"


@needs_shell
def test_a_home_that_is_no_folder_is_an_error_of_ours(home: Path, bin_folder: Path) -> None:
    # KernelError, as for every reason why nothing can be built.
    fake(bin_folder, "c++", WORKS)
    home.write_text("a file", encoding="utf-8")
    with pytest.raises(KernelError):
        _build.build()


def test_without_a_home_there_is_no_place_for_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise ModelError("no home", remedy="Set SMARTRAG_HOME to a folder")

    monkeypatch.setattr(_build, "home", nowhere)
    assert _build.target() is None
    with pytest.raises(KernelError, match="no folder to keep the compiled kernels in"):
        _build.build()


# --- the command --------------------------------------------------------------------------------
PAGES = "-Wl,-z,max-page-size=16384"


def command_for(machine: str) -> list[str]:
    folder, output = _build.source(), Path("out.so")
    command = list(_build.command("cc", folder, output, machine))
    assert command[0] == "cc"
    assert command[-2:] == ["-o", "out.so"]
    assert f"-I{folder / 'include'}" in command
    # Without these scores would differ from the reference in their last bits.
    assert "-ffp-contract=off" in command
    assert not {"-ffast-math", "-Ofast", "-march=native"} & set(command)
    return command


def sources_in(command: list[str]) -> set[str]:
    src = _build.source() / "src"
    return {Path(p).relative_to(src).as_posix() for p in command if p.endswith(".cpp")}


COMMON = {"dispatch.cpp", "push.cpp", "quantize.cpp", "search.cpp", "serial.cpp"}
ARM = {"aarch64/dotprod.cpp", "aarch64/i8mm.cpp", "aarch64/neon.cpp"}
INTEL = {"x86_64/avx2.cpp", "x86_64/avx512vnni.cpp"}


@pytest.mark.parametrize(
    ("machine", "extra", "pages"),
    [
        ("aarch64-linux-android", ARM, True),
        ("aarch64-unknown-linux-android24", ARM, True),
        ("aarch64-linux-gnu", ARM, True),
        ("arm64-apple-darwin23.1.0", ARM, False),
        ("x86_64-linux-gnu", INTEL, True),
        ("x86_64-w64-mingw32", INTEL, False),
        ("amd64-unknown-openbsd7.4", INTEL, False),
        ("armv7a-linux-androideabi", set(), True),
        ("i686-linux-gnu", set(), True),
        ("riscv64-linux-gnu", set(), True),
        ("", set(), False),
    ],
)
def test_the_command_suits_the_machine(machine: str, extra: set[str], pages: bool) -> None:
    command = command_for(machine)
    assert sources_in(command) == COMMON | extra
    assert (PAGES in command) == pages


@needs_shell
@pytest.mark.usefixtures("home")
def test_the_compiler_is_asked_for_its_machine(bin_folder: Path) -> None:
    script = f'all="$*"; {WORKS.replace("library", "$all")}'
    fake(bin_folder, "c++", script, machine="aarch64-linux-android")
    text = _build.build().read_text(encoding="utf-8")
    assert "aarch64/neon.cpp" in text
    assert "x86_64" not in text


# --- the sources and the name of the library ----------------------------------------------------
def test_the_sources_of_the_package_come_before_those_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "smartrag" / "kernels"
    monkeypatch.setattr(_build, "__file__", str(package / "_build.py"))
    with pytest.raises(KernelError) as caught:
        _build.source()
    assert caught.value.problem == "this installation has no sources of the kernels"
    assert "pip install --force-reinstall smartrag" in caught.value.remedy
    assert _build.target() is None

    for folder in (tmp_path / "kernels", package / "source" / "kernels"):
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "dispatch.cpp").touch()
        assert _build.source() == folder


def test_the_library_lies_in_the_folder_of_models_and_is_named_by_its_sources(home: Path) -> None:
    target = _build.target()
    assert target is not None
    assert target.parent == home / "kernels"
    assert target.name.startswith("libsmartrag_kernels-")
    assert target.suffix == ".so"
    assert _build.target() == target
    assert not home.exists()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "file", ["src/push.cpp", "src/best.h", "src/aarch64/neon.cpp", "include/smartrag_kernels.h"]
)
def test_the_name_changes_with_every_source(sources: Path, file: str) -> None:
    before = _build.target()
    with (sources / file).open("a", encoding="utf-8") as end:
        end.write("// changed\n")
    assert _build.target() != before
    assert before is not None


@pytest.mark.usefixtures("home")
def test_the_name_is_that_of_the_same_sources_elsewhere(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _build.target()
    moved = sources.parent.parent / "moved"
    sources.rename(moved)
    monkeypatch.setattr(_build, "source", lambda: moved)
    assert _build.target() == before


@pytest.mark.usefixtures("home")
def test_the_tests_of_the_sources_do_not_count(sources: Path) -> None:
    # A wheel leaves them out.
    before = _build.target()
    (sources / "tests").mkdir(exist_ok=True)
    (sources / "tests" / "new_test.cpp").write_text("int main() {}", encoding="utf-8")
    assert _build.target() == before


@pytest.mark.usefixtures("home")
def test_sources_below_a_folder_named_tests_count(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the `tests` within the sources are left out, wherever a checkout lies.
    below = sources.parent / "tests" / "kernels"
    shutil.copytree(sources, below)
    before = _build.target()
    monkeypatch.setattr(_build, "source", lambda: below)
    assert _build.target() == before
    (below / "src" / "push.cpp").write_text("// changed", encoding="utf-8")
    assert _build.target() != before


@pytest.mark.usefixtures("home")
def test_a_folder_with_the_name_of_a_source_is_no_source(sources: Path) -> None:
    # No change. clangd, for one, puts a folder named .cache beside the sources.
    before = _build.target()
    (sources / ".cache").mkdir()
    assert _build.target() == before


@pytest.mark.usefixtures("home")
def test_every_kind_of_machine_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {_build.target()}
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    names.add(_build.target())
    monkeypatch.setattr(platform, "system", lambda: "Plan9")
    names.add(_build.target())
    assert len(names) == 3
    assert None not in names
