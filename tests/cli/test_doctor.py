from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartrag import kernels
from smartrag.cli import doctor
from smartrag.kernels import _build, _choice, _native
from smartrag.memory.schema import SCHEMA_VERSION

from .conftest import Run

Checks = dict[str, dict[str, str]]


def examined(run: Run, *options: str, store: Path | None = None) -> Checks:
    result = run(*options, "doctor", "--json", store=store)
    assert result.exit_code == 0
    return {check["name"]: check for check in json.loads(result.stdout)}


def test_a_bare_device(run: Run) -> None:
    found = examined(run)
    assert found["encoder"]["state"] == "missing"
    assert found["encoder"]["remedy"].endswith("smartrag models pull minilm-l6-int8")
    assert found["language model"]["remedy"].endswith("smartrag models pull qwen2.5-coder-1.5b")
    assert found["store"]["state"] == "missing"
    assert "smartrag ingest" in found["store"]["remedy"]
    for name in ("Python", "platform", "SQLite", "kernels", "typer", "rich", "pypdf"):
        assert name in found


def test_a_filled_store(run: Run, filled: Path) -> None:
    found = examined(run)
    assert found["store"]["state"] == "ok"
    assert (
        f"schema {SCHEMA_VERSION}, 3 documents, 0 failed, 3 paragraphs" in found["store"]["found"]
    )
    # The fake encoder is not the one that the settings name.
    assert found["store's encoder"]["remedy"].endswith("smartrag reembed")


def test_a_wrong_cap_on_the_kernels_is_reported_and_not_fatal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_choice, "_chosen", None)
    monkeypatch.setenv("SMARTRAG_KERNELS", "abacus")
    found = examined(run)["kernels"]
    assert found["state"] == "missing"
    assert "abacus" in found["found"]
    assert "avx2" in found["remedy"]


def test_the_kernels_can_be_built(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "build", lambda: Path("library.so"))
    result = run("build-kernels")
    assert result.exit_code == 0
    assert result.stdout == "compiled: library.so\n"


def test_a_device_without_a_compiler_is_told_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_build, "compilers", list)
    result = run("build-kernels")
    assert result.exit_code == 1
    assert "pkg install clang" in result.stderr


def test_a_store_that_cannot_be_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada, this is no database. " * 100, encoding="utf-8")
    assert examined(run, store=tmp_path / "letter.txt")["store"]["state"] == "missing"
    assert examined(run, store=tmp_path)["store"]["state"] == "missing"


def test_wrong_settings_are_reported_and_not_fatal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("[focus]\ntop = 3\n", encoding="utf-8")
    found = examined(run, "--settings", "s.toml")
    assert found["settings"]["state"] == "missing"
    assert "focus.top" in found["settings"]["found"]
    assert run("--settings", "s.toml", "search", "x").exit_code == 1


def test_what_is_not_installed_comes_with_its_command(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda module: None)
    found = examined(run)
    assert found["llama-cpp-python"]["state"] == "missing"
    assert found["llama-cpp-python"]["remedy"] == "pip install 'smartrag[llm]'"


def test_the_reference_kernels_are_a_fallback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "isa", lambda: "reference")
    assert examined(run)["kernels"]["state"] == "fallback"
    monkeypatch.setattr(_native, "unavailable_reason", lambda: "no library")
    assert "no library" in examined(run)["kernels"]["found"]


def test_every_line_starts_with_its_state(run: Run) -> None:
    lines = run("doctor").stdout.splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "fallback", "missing", "→"}
