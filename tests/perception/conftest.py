"""The real encoder, fetched once if it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartrag import models
from smartrag.perception import Encoder, evoner
from smartrag.settings import PerceptionSettings


@pytest.fixture(scope="session")
def minilm_file() -> Path:
    return models.pull("minilm-l6-int8")


@pytest.fixture(scope="session")
def minilm_head(minilm_file: Path) -> bytes:
    """The first bytes of its file."""
    return minilm_file.read_bytes()[:400]


@pytest.fixture(scope="session")
def minilm(minilm_file: Path) -> Encoder:
    return Encoder(minilm_file, PerceptionSettings())


@pytest.fixture(scope="session")
def minilm_shared(minilm_file: Path) -> Encoder:
    """The real encoder with the states that EvoNER reads."""
    return Encoder(minilm_file, PerceptionSettings(), shared=evoner.shipped().shared)
