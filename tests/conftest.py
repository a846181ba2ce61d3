"""Fixtures that all tests share: a system that reads with a fake encoder, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from experiments.capitalised import CapitalisedSpans
from smartrag import Document, Settings, SmartRAG
from smartrag.perception import Perception
from tests.fakes import SETTINGS, SMALL_CORPUS, HashingEncoder, open_memory

# A slow machine is no failure.
hypothesis.settings.register_profile("smartrag", deadline=None)
hypothesis.settings.load_profile("smartrag")


@pytest.fixture
def settings() -> Settings:
    return SETTINGS


@pytest.fixture
def encoder() -> HashingEncoder:
    return HashingEncoder()


@pytest.fixture
def perception(encoder: HashingEncoder, settings: Settings) -> Perception:
    return Perception(encoder, CapitalisedSpans(), settings.perception)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(store_path: Path, settings: Settings, encoder: HashingEncoder) -> Iterator[SmartRAG]:
    """An empty store, open for writing, that reads with the fake encoder."""
    with open_memory(store_path, settings, encoder=encoder) as opened:
        yield opened


@pytest.fixture
def small_corpus() -> tuple[Document, ...]:
    return SMALL_CORPUS
