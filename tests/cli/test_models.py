from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from smartrag import models
from smartrag.errors import ModelError
from smartrag.models import registry

from .conftest import Run

Progress = Callable[[str, int, int], None]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small model that is on this device, under the name "toy"."""
    files = (models.ModelFile("toy.bin", 3, None, ()),)
    toy = models.Model("toy", "language", files, "MIT", "a toy")
    monkeypatch.setitem(registry._BY_NAME, "toy", toy)
    folder = tmp_path / "home" / "models" / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.bin").write_bytes(b"abc")
    return folder / "toy.bin"


@pytest.fixture(autouse=True)
def pulled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was pulled; nothing in these tests touches the network."""
    names: list[str] = []

    def pull(name: str, progress: Progress) -> Path:
        names.append(name)
        for done in (0, 50, 100):
            progress("weights.bin", done, 100)
        return Path("/models", name)

    monkeypatch.setattr(models, "pull", pull)
    return names


def test_the_list_is_the_default(run: Run) -> None:
    listed = run("models")
    assert listed.exit_code == 0
    assert listed.stdout == run("models", "list").stdout
    [row] = [line for line in listed.stdout.splitlines() if line.startswith("minilm-l6-int8")]
    assert row.split() == ["minilm-l6-int8", "encoder", "22.9", "MB", "missing", "Apache-2.0"]


def test_pull_shows_where_the_models_are(run: Run, pulled: list[str]) -> None:
    result = run("models", "pull", "smollm2-135m", "minilm-l6-int8")
    assert result.exit_code == 0
    assert pulled == ["smollm2-135m", "minilm-l6-int8"]
    assert result.stdout.splitlines() == [f"{name}: {Path('/models', name)}" for name in pulled]
    assert result.stderr == ""


def test_pull_shows_progress_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "smollm2-135m: weights.bin" in run("models", "pull", "smollm2-135m").stderr


def test_a_misspelt_name_stops_before_the_first_byte(run: Run, pulled: list[str]) -> None:
    result = run("models", "pull", "smollm2-135m", "smollm3")
    assert result.exit_code == 1
    assert "Known models are" in result.stderr
    assert pulled == []


def test_a_pull_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, progress: Progress) -> Path:
        raise ModelError("no source", subject=name, remedy="Check the connection")

    monkeypatch.setattr(models, "pull", fail)
    result = run("models", "pull", "smollm2-135m")
    assert result.exit_code == 1
    assert result.stderr == "error: models: smollm2-135m: no source. Check the connection\n"


def test_path_verify_remove(run: Run, put: Path) -> None:
    assert run("models", "path", "toy").stdout == f"{put}\n"
    assert run("models", "verify", "toy").stdout == "toy: the files are whole\n"
    put.write_bytes(b"xyz")
    damaged = run("models", "verify", "toy")
    assert damaged.exit_code == 1
    assert "damaged" in damaged.stderr
    assert run("models", "remove", "toy").stdout == "toy: removed\n"
    assert run("models", "remove", "toy").stdout == "toy: nothing to remove\n"


@pytest.mark.parametrize("verb", ["path", "verify", "remove", "pull"])
def test_an_unknown_model(run: Run, verb: str) -> None:
    result = run("models", verb, "nobody")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: models: nobody: there is no model")


@pytest.mark.parametrize("verb", ["path", "verify"])
def test_a_model_that_is_not_here(run: Run, verb: str) -> None:
    result = run("models", verb, "smollm2-135m")
    assert result.exit_code == 1
    assert "smartrag models pull smollm2-135m" in result.stderr
