"""A store knows whose vectors it holds, and can renew them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smartrag import Document
from smartrag.errors import EncoderMismatch
from smartrag.kernels import quantize
from tests.fakes import SMALL_CORPUS, HashingEncoder, observation, open_memory

OTHER = HashingEncoder("2")
LARGER = HashingEncoder("3", dimension=48)


@pytest.fixture
def filled(store_path: Path) -> Path:
    with open_memory(store_path) as memory:
        memory.add(SMALL_CORPUS)
    with open_memory(store_path, lens="second") as memory:
        memory.add([Document("a", "Ada lives in Oslo.\n\nBob."), Document("b", "")])
    return store_path


@pytest.mark.parametrize("other", [OTHER, LARGER, HashingEncoder("", dimension=48)])
@pytest.mark.parametrize("write", [True, False])
def test_another_encoder_is_refused(filled: Path, other: HashingEncoder, write: bool) -> None:
    with open_memory(filled, write=write, encoder=other) as memory:
        before = memory.store.dump()
        with pytest.raises(EncoderMismatch, match=r"'hashing' .* smartrag reembed"):
            memory.search("Torvik")
        with pytest.raises(EncoderMismatch):
            memory.add(Document("new", "text"))
        assert memory.store.dump() == before


def test_reading_a_store_that_no_encoder_has_written_claims_nothing(store_path: Path) -> None:
    open_memory(store_path).close()
    with open_memory(store_path, write=False) as reader:
        assert reader.search("anything").passages == ()
    with open_memory(store_path, encoder=OTHER) as memory:
        memory.add(SMALL_CORPUS)
        assert memory.stats().encoder == "hashing2"


def test_the_first_of_two_encoders_gets_a_new_store(store_path: Path) -> None:
    with open_memory(store_path) as first, open_memory(store_path, encoder=OTHER) as second:
        first.add(Document("a", "Ada lives in Oslo."))
        with pytest.raises(EncoderMismatch):
            second.add(Document("b", "Bob lives in Bergen."))
        assert [d.name for d in second.documents()] == ["a"]


@pytest.mark.parametrize("other", [OTHER, LARGER])
def test_renewed_vectors_are_those_of_a_store_built_with_the_new_encoder(
    filled: Path, other: HashingEncoder
) -> None:
    with open_memory(filled, encoder=other) as memory:
        before = list(memory.store.paragraphs())
        lines = [line for line in memory.store.dump() if not line.startswith("vector")]
        assert memory.reembed() == 14 - 1
        assert list(memory.store.paragraphs()) == before
        assert [line for line in memory.store.dump() if not line.startswith("vector")] == lines
        assert memory.search("the lighthouse of Torvik").passages[0].document == "Torvik.md"
        assert memory.stats().encoder == other.identity.name
        with open_memory(filled.with_name("fresh.db"), encoder=other) as fresh:
            fresh.add(SMALL_CORPUS)
            fresh.lens = "second"
            fresh.add([Document("a", "Ada lives in Oslo.\n\nBob."), Document("b", "")])
            assert memory.store.dump() == fresh.store.dump()
    with open_memory(filled) as old, pytest.raises(EncoderMismatch):
        old.search("Torvik")


def test_renewing_with_the_same_encoder_changes_nothing(filled: Path) -> None:
    with open_memory(filled) as memory:
        before = memory.store.dump()
        assert memory.reembed() == 13
        assert memory.store.dump() == before


def test_an_error_while_vectors_are_renewed_keeps_the_old_ones(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(filled, encoder=LARGER) as memory:
        before = memory.store.dump()
        monkeypatch.setattr(memory.encoder, "read", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.reembed()
        assert memory.store.dump() == before
        assert memory.stats().encoder == "hashing"


def test_a_writer_notices_that_another_has_renewed_the_vectors(filled: Path) -> None:
    with open_memory(filled) as writer, open_memory(filled, write=False) as reader:
        writer.add(Document("new", "A new text about Torvik."))
        assert reader.search("Torvik").passages
        with open_memory(filled, encoder=LARGER) as other:
            other.reembed()
            before = other.store.dump()
            with pytest.raises(EncoderMismatch):
                writer.add(Document("newer", "Another new text about Torvik."))
            with pytest.raises(EncoderMismatch):
                reader.search("Torvik")
            assert other.store.dump() == before


def test_stored_vectors_are_the_quantised_vectors_of_the_encoder(filled: Path) -> None:
    with open_memory(filled, lens="second") as memory:
        rows = memory.store.view("second").vectors
        text = "Ada lives in Oslo.\n\nBob."
        seen = observation(text, encoder=HashingEncoder())
        np.testing.assert_array_equal(
            rows.paragraphs.codes, quantize(seen.vector[np.newaxis]).codes
        )
