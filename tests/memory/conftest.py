"""A bare store that knows the fake encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smartrag import Settings
from smartrag.memory import Store
from tests.fakes import HashingEncoder


@pytest.fixture
def store(store_path: Path, settings: Settings, encoder: HashingEncoder) -> Iterator[Store]:
    with Store(store_path, settings.memory, write=True) as opened:
        known = encoder.identity
        opened.claim_encoder(known.name, known.dimension, known.sha256)
        yield opened
