"""Which implementation does the work, and how the environment caps the choice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartrag import kernels
from smartrag.errors import KernelError, SettingsError
from smartrag.kernels import _build, _choice, _native, _reference
from smartrag.kernels._choice import LADDER, VARIABLE

from .conftest import AVAILABLE, COMPILED, forget

LACKING = [name for name in LADDER if name not in AVAILABLE]


def test_the_exports_are_exactly_these() -> None:
    assert kernels.__all__ == [
        "Codes",
        "PageRank",
        "Sketches",
        "Transitions",
        "available",
        "build",
        "isa",
        "nearest",
        "pagerank",
        "quantize",
        "scan",
        "scan_sketched",
        "sketch",
        "sketch_recall",
        "topk",
        "use",
    ]
    assert all(hasattr(kernels, name) for name in kernels.__all__)


# --- use ----------------------------------------------------------------------------------------
def test_use_and_isa_agree(isa: str) -> None:
    assert kernels.isa() == isa


def test_the_reference_is_always_there_and_the_last() -> None:
    assert kernels.available()[-1] == "reference"
    assert kernels.available().count("reference") == 1


def test_where_there_is_a_library_it_runs_everywhere_in_plain_code() -> None:
    assert not COMPILED or COMPILED[-1] == "serial"


def test_what_is_available_comes_best_first() -> None:
    assert list(AVAILABLE) == [name for name in LADDER if name in AVAILABLE]
    assert (*_native.KNOWN_ISAS, _reference.isa()) == LADDER


@pytest.mark.parametrize("name", ["abacus", "", "AVX2", *LACKING])
def test_use_names_what_is_available(name: str) -> None:
    before = kernels.isa()
    with pytest.raises(ValueError) as caught:
        kernels.use(name)
    message = f"no kernels named '{name}' here; available: {', '.join(AVAILABLE)}"
    assert str(caught.value) == message
    assert kernels.isa() == before


# --- the environment ----------------------------------------------------------------------------
def chosen_under(monkeypatch: pytest.MonkeyPatch, cap: str) -> str:
    monkeypatch.setenv(VARIABLE, cap)
    forget()
    return kernels.isa()


@pytest.mark.parametrize("cap", AVAILABLE)
def test_the_environment_chooses_what_is_available(
    monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    assert chosen_under(monkeypatch, cap) == cap


@pytest.mark.parametrize("cap", LACKING)
def test_what_this_machine_lacks_gives_the_next_best(
    monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    later = LADDER[LADDER.index(cap) + 1 :]
    assert chosen_under(monkeypatch, cap) == next(name for name in later if name in AVAILABLE)


def test_the_best_is_chosen_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_under(monkeypatch, "") == AVAILABLE[0]
    monkeypatch.delenv(VARIABLE)
    forget()
    assert kernels.isa() == AVAILABLE[0]


def test_the_environment_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_under(monkeypatch, "reference") == "reference"
    monkeypatch.setenv(VARIABLE, "abacus")
    assert kernels.isa() == "reference"
    kernels.use(AVAILABLE[0])
    assert kernels.isa() == AVAILABLE[0]


def test_use_needs_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "abacus")
    forget()
    assert kernels.available() == AVAILABLE
    kernels.use("reference")
    assert kernels.isa() == "reference"


@pytest.mark.parametrize("cap", ["abacus", "AVX2", " "])
def test_an_unknown_name_is_an_error_at_every_use(
    monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    for _ in range(2):
        with pytest.raises(SettingsError) as caught:
            chosen_under(monkeypatch, cap)
        assert (
            caught.value.problem == f"the environment variable {VARIABLE} names no kernels: '{cap}'"
        )
        assert caught.value.remedy.endswith(f"set it to one of: {', '.join(LADDER)}")


def test_without_a_library_every_cap_means_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "load", lambda: None)
    for cap in LADDER:
        assert chosen_under(monkeypatch, cap) == "reference"
    assert kernels.available() == ("reference",)


# --- build --------------------------------------------------------------------------------------
def test_what_was_built_is_used_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _choice._library
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(_native, "load", lambda: None)
    forget()
    assert kernels.isa() == "reference"
    monkeypatch.setattr(_native, "load", lambda: found)
    assert kernels.available() == ("reference",)
    monkeypatch.setattr(_build, "build", lambda: Path("built.so"))
    assert _choice.build() == Path("built.so")
    assert kernels.available() == AVAILABLE
    assert kernels.isa() == AVAILABLE[0]


def test_a_build_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Path:
        raise KernelError("there is no C++ compiler", remedy="Install one")

    kernels.use(AVAILABLE[-1])
    monkeypatch.setattr(_build, "build", fail)
    monkeypatch.setattr(_native, "load", lambda: None)
    with pytest.raises(KernelError, match=r"no C\+\+ compiler"):
        _choice.build()
    assert kernels.available() == AVAILABLE
    assert kernels.isa() == AVAILABLE[-1]


# --- a new process ------------------------------------------------------------------------------
def run(code: str, cap: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, VARIABLE: cap},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("cap", ["serial", "reference", *LACKING[:1]])
def test_a_new_process_is_capped(cap: str) -> None:
    done = run("import smartrag.kernels as k; print(k.isa())", cap)
    best = next(name for name in LADDER[LADDER.index(cap) :] if name in AVAILABLE)
    assert (done.stdout, done.stderr) == (f"{best}\n", "")


def test_an_unknown_name_stops_the_first_use_and_not_the_import() -> None:
    done = run("import smartrag, smartrag.kernels as k; print('imported'); k.isa()", "abacus")
    assert done.stdout == "imported\n"
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("smartrag.errors.SettingsError: settings: the environment variable")
    assert last.endswith(
        f"names no kernels: 'abacus'. Leave it unset, or set it to one of: {', '.join(LADDER)}"
    )
