"""The smallest real language model, fetched once if it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smartrag import models
from smartrag.settings import ThinkingSettings
from smartrag.thinking import LlamaModel


@pytest.fixture(scope="session")
def smollm_file() -> Path:
    return models.pull("smollm2-135m")


@pytest.fixture(scope="session")
def smollm(smollm_file: Path) -> Iterator[LlamaModel]:
    # One thread: two that share a busy core wait for each other.
    settings = ThinkingSettings(model="smollm2-135m", context_tokens=512, threads=1)
    model = LlamaModel(smollm_file, settings)
    yield model
    model.close()
