"""The command line as a whole: its verbs, its options, and the process around it."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from smartrag import cli
from smartrag.cli.app import app
from smartrag.cli.options import Options
from smartrag.errors import SettingsError

from .conftest import Run

COMMANDS = set(
    "ingest sync ask search forget list stats facts reembed learn doctor build-kernels".split()
)
GROUPS = {"eval", "models", "train", "types"}
MODEL_COMMANDS = {"list", "pull", "path", "verify", "remove"}
TYPE_COMMANDS = set("list discover versions promote merge retire rollback retype".split())


def names(group: Any) -> set[str]:
    return set(group.commands)


def test_the_documented_commands() -> None:
    root: Any = get_command(app)
    assert names(root) == COMMANDS | GROUPS
    assert names(root.commands["eval"]) == {"answers", "ner", "retrieval"}
    assert names(root.commands["models"]) == MODEL_COMMANDS
    assert names(root.commands["train"]) == {"base", "relations"}
    assert names(root.commands["types"]) == TYPE_COMMANDS


@pytest.mark.parametrize("verb", sorted(COMMANDS | GROUPS))
def test_every_verb_explains_itself(run: Run, verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"smartrag {version('smartrag')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["list", "--fly"],
        ["ask"],
        ["ingest"],
        ["search", "x", "--top", "0"],
        ["ask", "x", "--planner", "oracle"],
        ["models", "fly"],
    ],
    ids=" ".join,
)
def test_usage_errors(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_the_store_can_come_from_the_environment(
    filled: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMARTRAG_STORE", str(tmp_path / "memory.db"))
    assert "notes/ada.md" in CliRunner().invoke(app, ["list"]).stdout


@pytest.mark.parametrize(
    ("platform", "variable", "place"),
    [
        ("linux", "XDG_DATA_HOME", "data/smartrag/memory.db"),
        ("win32", "LOCALAPPDATA", "data/smartrag/memory.db"),
        ("linux", "HOME", "data/.local/share/smartrag/memory.db"),
        ("darwin", "HOME", "data/Library/Application Support/smartrag/memory.db"),
    ],
)
def test_the_store_of_the_user(
    platform: str, variable: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "data"))
    assert Options(None, "default", None).store_path() == tmp_path / place


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(SettingsError, match="home folder"):
        Options(None, "default", None).store_path()


def test_without_typer_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit) as left:
        cli.main()
    monkeypatch.undo()
    assert left.value.code == 1
    assert capsys.readouterr().err == (
        "error: the command line needs the library 'typer'. "
        "Install it with: pip install 'smartrag[cli]'\n"
    )


def test_main_runs_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["smartrag", "fly"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2


def test_a_terminal_without_unicode(run: Run, filled: Path, tmp_path: Path) -> None:
    """A real process in the C locale, with a byte that is no text among its arguments."""
    (filled / "unicode.md").write_text("# Bolesław 東京\n\nText.", encoding="utf-8")
    run("ingest", str(filled))
    surroundings = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    command = [sys.executable, "-m", "smartrag", "--store", str(tmp_path / "memory.db")]
    listed = subprocess.run([*command, "list"], env=surroundings, capture_output=True, check=False)
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert b"Boles?aw ??" in listed.stdout
    unknown: list[str | bytes] = [*command, "forget", b"\xff\xe6\x97\xa5.md"]
    gone = subprocess.run(unknown, env=surroundings, capture_output=True, check=False)
    assert gone.returncode == 1
    assert b"no document of that name" in gone.stderr


def test_a_reader_that_leaves_early(filled: Path, tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "smartrag", "--store", str(tmp_path / "memory.db"), "list"]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (1, b"")


def test_no_verb_shows_the_help() -> None:
    assert "Commands" in CliRunner().invoke(app, []).output
