from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import Result

from smartrag.errors import SmartRAGError
from smartrag.system import SmartRAG

from .conftest import DOCUMENTS, HashingEncoder, Run


def counts(result: Result) -> dict[str, int]:
    record = json.loads(result.stdout)
    assert sum(record["counts"].values()) == record["total"] == len(record["outcomes"])
    return {name: n for name, n in record["counts"].items() if n}


# --- ingest and sync ------------------------------------------------------------------------------
def test_ingest_counts_every_document_once(run: Run, folder: Path) -> None:
    (folder / "copy.md").write_text(DOCUMENTS["ada.md"], encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    result = run("ingest", str(folder))
    assert result.exit_code == 0
    assert "5 documents: 3 added, 0 replaced, 0 unchanged, 1 duplicate, 1 failed" in result.stdout
    assert "3 paragraphs written in" in result.stdout
    [line] = result.stderr.strip().splitlines()
    assert line.startswith("failed: notes/empty.txt: it is empty")


def test_ingest_json(run: Run, folder: Path) -> None:
    assert counts(run("ingest", str(folder), "--json")) == {"added": 3}
    (folder / "ada.md").write_text("# Ada\n\nChanged.", encoding="utf-8")
    again = run("ingest", str(folder), str(folder / "none.md"), "--json")
    assert again.exit_code == 0
    assert counts(again) == {"replaced": 1, "unchanged": 2, "failed": 1}


def test_ingest_of_a_missing_path_alone_fails(run: Run, tmp_path: Path) -> None:
    result = run("ingest", str(tmp_path / "none.md"))
    assert result.exit_code == 1
    assert "failed: none.md: it cannot be opened" in result.stderr


def test_ingest_of_an_empty_folder_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run("ingest", "empty")
    assert result.exit_code == 1
    assert "nothing was found" in result.stderr
    assert result.stdout.startswith("0 documents: 0 added")


def test_progress_is_shown_on_a_terminal_only(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("ingest", str(folder)).stderr == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "reading" in run("ingest", str(folder)).stderr


def test_sync_follows_the_folder(run: Run, filled: Path) -> None:
    (filled / "ada.md").rename(filled / "lovelace.md")
    (filled / "oslo.md").unlink()
    (filled / "new.md").write_text("# New\n\nSomething new.", encoding="utf-8")
    result = run("sync", str(filled), "--json")
    assert result.exit_code == 0
    assert counts(result) == {"renamed": 1, "removed": 1, "added": 1, "unchanged": 1}
    nothing = run("sync", str(filled))
    assert nothing.exit_code == 0
    assert "3 unchanged" in nothing.stdout
    assert "0 renamed, 0 removed" in nothing.stdout


def test_sync_of_a_missing_folder_removes_nothing(run: Run, filled: Path) -> None:
    filled.rename(filled.with_name("elsewhere"))
    result = run("sync", str(filled))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: read: notes: there is no such folder")
    assert len(json.loads(run("list", "--json").stdout)) == 3


def test_sync_where_everything_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "empty.txt").touch()
    assert run("sync", "bad").exit_code == 1
    (tmp_path / "bad" / "empty.txt").unlink()
    assert run("sync", "bad").exit_code == 0


# --- forget, list, stats, reembed -----------------------------------------------------------------
def test_forget_takes_names_and_paths(run: Run, filled: Path) -> None:
    assert run("forget", str(filled / "ada.md")).stdout == "forgotten: notes/ada.md\n"
    assert run("forget", "notes/oslo.md").exit_code == 0
    again = run("forget", "notes/oslo.md")
    assert again.exit_code == 1
    assert "no document of that name" in again.stderr
    assert [Path(d["name"]).name for d in json.loads(run("list", "--json").stdout)] == ["odd.md"]


def test_list_shows_why_a_document_failed(run: Run, filled: Path) -> None:
    run("ingest", "none.md")
    text = run("list").stdout
    assert "notes/ada.md" in text
    assert "Odd [bold]markup[/bold]" in text  # a title is no markup
    [row] = [line for line in text.splitlines() if line.startswith("none.md")]
    assert "failed" in row
    assert "it cannot be opened" in row
    assert str(filled.parent) not in row


def test_lenses_are_apart(run: Run, filled: Path) -> None:
    assert run("--lens", "work", "list").stdout == "no documents in lens 'work'\n"
    assert json.loads(run("--lens", "work", "list", "--json").stdout) == []


def test_stats(run: Run, filled: Path) -> None:
    record = json.loads(run("stats", "--json").stdout)
    assert (record["documents"], record["failed"], record["encoder"]) == (3, 0, "hashing")
    assert "documents   3 (0 more failed)" in run("stats").stdout
    assert record["sketch_recall"] is None


def test_facts_are_shown_with_the_sentence_that_says_so(run: Run, filled: Path) -> None:
    shown = run("facts", "ada lovelace").stdout
    assert "ada lovelace —next to→ london" in shown.splitlines()
    assert "Ada Lovelace was born in London" in shown
    assert "notes/ada.md:" in shown
    facts = json.loads(run("facts", "London", "--json").stdout)
    assert "ada lovelace" in {fact["head"] for fact in facts}
    nobody = run("facts", "No[body]")
    assert (nobody.exit_code, nobody.stdout) == (0, "")
    assert "no relation of 'No[body]' is known" in nobody.stderr


def test_stats_measures_two_stage_search_when_asked(run: Run, filled: Path) -> None:
    assert json.loads(run("stats", "--recall", "--json").stdout)["sketch_recall"] == 1
    assert "two stages  find 100.0% of the 10 nearest paragraphs" in run("stats", "--recall").stdout


def test_reembed_takes_another_encoder(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = HashingEncoder("1" * 64)
    monkeypatch.setattr(SmartRAG, "encoder", property(lambda self: other))
    refused = run("search", "Ada")
    assert refused.exit_code == 1
    assert "smartrag reembed" in refused.stderr
    assert run("reembed").stdout == "3 paragraphs now with vectors of hashing\n"
    assert run("search", "Ada").exit_code == 0


# --- stores that cannot be used -------------------------------------------------------------------
READ_OR_CHANGE = [
    ["ask", "Who?"],
    ["search", "Who?"],
    ["list"],
    ["stats"],
    ["facts", "Ada"],
    ["forget", "a.md"],
    ["reembed"],
]


@pytest.mark.parametrize("verb", READ_OR_CHANGE, ids=lambda verb: verb[0])
def test_a_missing_store_is_named_and_not_made(run: Run, tmp_path: Path, verb: list[str]) -> None:
    result = run(*verb)
    assert result.exit_code == 1
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("error: store: ")
    assert "smartrag ingest" in line
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("verb", [*READ_OR_CHANGE, ["ingest", "."]], ids=lambda verb: verb[0])
def test_a_folder_as_store(run: Run, tmp_path: Path, verb: list[str]) -> None:
    result = run(*verb, store=tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: store: {tmp_path}: ")


@pytest.mark.parametrize("verb", [*READ_OR_CHANGE, ["ingest", "."]], ids=lambda verb: verb[0])
def test_a_file_that_is_no_store(run: Run, tmp_path: Path, verb: list[str]) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada, this is no database. " * 100, encoding="utf-8")
    result = run(*verb, store=tmp_path / "letter.txt")
    assert result.exit_code == 1
    assert "not a SmartRAG store" in result.stderr
    assert (tmp_path / "letter.txt").read_text(encoding="utf-8").startswith("Dear Ada")


@pytest.mark.parametrize("verb", [["search", "Who?"], ["ingest", "."]], ids=lambda verb: verb[0])
def test_a_store_of_a_newer_release(
    run: Run, filled: Path, tmp_path: Path, verb: list[str]
) -> None:
    sql = sqlite3.connect(tmp_path / "memory.db")
    sql.execute("PRAGMA user_version = 99")
    sql.close()
    result = run(*verb)
    assert result.exit_code == 1
    assert "schema 99" in result.stderr


# --- what else can go wrong -----------------------------------------------------------------------
def test_an_interruption_keeps_what_is_done(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: SmartRAG, paths: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SmartRAG, "ingest", interrupt)
    result = run("ingest", str(folder))
    assert result.exit_code == 130
    assert result.stderr == "interrupted; everything finished so far is kept\n"


def test_a_fault_of_smartrag_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SmartRAG, *arguments: object, **options: object) -> None:
        raise RuntimeError("the sky\nfell")

    monkeypatch.setattr(SmartRAG, "__init__", fail)
    result = run("list")
    assert result.exit_code == 70
    [line] = result.stderr.splitlines()
    assert line.startswith("internal error (RuntimeError: the sky fell)")
    assert "SMARTRAG_DEBUG=1" in line


def test_debug_lets_a_fault_through(monkeypatch: pytest.MonkeyPatch) -> None:
    from smartrag.cli.guard import reported

    monkeypatch.setenv("SMARTRAG_DEBUG", "1")
    with pytest.raises(RuntimeError, match="fell"), reported():
        raise RuntimeError("fell")


def test_a_closed_pipe_is_no_news(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(self: SmartRAG) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(SmartRAG, "documents", closed)
    result = run("list")
    assert (result.exit_code, result.output) == (1, "")


def test_other_errors_of_the_tree(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SmartRAG) -> None:
        raise SmartRAGError("it is closed", remedy="Come back tomorrow", subject="shop")

    monkeypatch.setattr(SmartRAG, "documents", refuse)
    result = run("list")
    assert result.stderr == "error: smartrag: shop: it is closed. Come back tomorrow\n"
    assert result.exit_code == 1
