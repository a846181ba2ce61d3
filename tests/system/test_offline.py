"""With its models in place, the whole path runs without any network."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import pytest

from smartrag import Settings, SmartRAG, models
from smartrag.system import NOT_FOUND


@pytest.fixture(scope="module", autouse=True)
def pulled() -> None:
    models.pull("minilm-l6-int8")
    models.pull("smollm2-135m")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> NoReturn:
        raise AssertionError("the network was touched")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.model
@pytest.mark.usefixtures("no_network")
def test_files_go_in_and_an_answer_comes_out_without_a_network(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "torvik.md").write_text(
        "# Torvik\n\nTorvik is a harbour town. Its lighthouse was built in 1844 by Hanna Roos.\n",
        encoding="utf-8",
    )
    (folder / "vellen.txt").write_text("Vellen is a mining town.\n", encoding="utf-8")
    settings = Settings.from_mapping(
        {
            "focus": {"confidence_threshold": 0},
            "thinking": {
                "model": "smollm2-135m",
                "context_tokens": 384,
                "evidence_tokens": 80,
                "answer_tokens": 40,
                "threads": 1,
            },
        }
    )
    with SmartRAG(tmp_path / "notes.db", settings) as memory:
        assert [o.outcome for o in memory.ingest([folder])] == ["added", "added"]
        found = memory.ask("When was the lighthouse of Torvik built?")
        assert "model" in memory.__dict__
    assert "model" not in memory.__dict__  # it was freed
    assert found.evidence.passages[0].text.startswith("Torvik is a harbour town.")
    assert found.status in ("answered", "not_found", "unsupported")
    assert (found.text == NOT_FOUND) == (found.status == "not_found")
    [call] = found.calls
    assert 0 < call.tokens_in <= 384 - 40
    assert 0 < call.tokens_out <= 42
