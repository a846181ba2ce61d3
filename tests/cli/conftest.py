"""A small folder of documents, a store made of it, and fakes of the two models."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from smartrag.cli.app import app
from smartrag.perception.encoder import EncoderIdentity, Reading
from smartrag.system import SmartRAG
from smartrag.thinking.scripted import Reply, ScriptedModel
from smartrag.types import FloatArray
from tests.fakes import NeighbouringSpans

_DIMENSION = 64

DOCUMENTS = {
    "ada.md": "# Ada Lovelace\n\nAda Lovelace was born in London in 1815. "
    "Her notes were about the engines of Charles Babbage.",
    "oslo.md": "# Oslo\n\n## History\n\nOslo is the capital of Norway. Harald Hardrada founded it.",
    "odd.md": "# Odd [bold]markup[/bold]\n\nThe \x1b[31mred[/red] Wombat lives in [i]Perth[/i].",
}

ANSWER = (
    '{"answer": "London", "sentences": [{"text": "Ada Lovelace was born in London in 1815.", '
    '"evidence": [1]}], "sufficient": true}'
)


class HashingEncoder:
    """Words hashed into a vector: texts that share words are near, and nothing is learnt."""

    def __init__(self, sha256: str = "0" * 64) -> None:
        self.identity = EncoderIdentity("hashing", _DIMENSION, sha256)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        return np.stack([_vector(text) for text in texts])

    def read(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Reading]:
        return [
            Reading(
                _vector(text),
                np.array([_vector(text[a:b]) for a, b in spans], np.float32).reshape(
                    -1, _DIMENSION
                ),
            )
            for text, spans in zip(texts, parts, strict=True)
        ]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def _vector(text: str) -> FloatArray:
    vector = np.full(_DIMENSION, 0.01, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        vector[zlib.crc32(word.encode("utf-8", "replace")) % _DIMENSION] += 1
    unit: FloatArray = vector / np.float32(np.linalg.norm(vector))
    return unit


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch) -> HashingEncoder:
    fake = HashingEncoder()
    monkeypatch.setattr(SmartRAG, "encoder", property(lambda self: fake))
    monkeypatch.setattr(SmartRAG, "perceiver", property(lambda self: NeighbouringSpans()))
    return fake


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the models, the store or the terminal of whoever runs it."""
    monkeypatch.setenv("SMARTRAG_HOME", str(tmp_path / "home"))
    for name in ("SMARTRAG_STORE", "SMARTRAG_DEBUG", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedModel]:
    """Makes the language model give these replies."""

    def script(*replies: Reply) -> ScriptedModel:
        model = ScriptedModel(replies)
        monkeypatch.setattr(SmartRAG, "model", property(lambda self: model))
        return model

    return script


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command line on the store `memory.db`; whatever it does, no traceback may show."""

    def call(*arguments: str, store: Path | None = None) -> Result:
        whole = ["--store", str(store or tmp_path / "memory.db"), *arguments]
        result = CliRunner().invoke(app, whole)
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    for name, text in DOCUMENTS.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def filled(run: Run, folder: Path) -> Path:
    """The folder, after it was read into the store."""
    assert run("ingest", str(folder)).exit_code == 0
    return folder
