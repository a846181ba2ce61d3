"""One document, one transaction: an error in the middle leaves the store as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from smartrag import Document, Settings, SmartRAG
from smartrag.errors import StoreBusy, StoreFull
from smartrag.memory import Store
from smartrag.types import Observation
from tests.fakes import observation, open_memory


def test_an_error_while_a_document_is_observed_leaves_the_store_as_it_was(
    memory: SmartRAG, small_corpus: tuple[Document, ...]
) -> None:
    memory.add(small_corpus)
    before = memory.store.dump()

    def interrupted() -> Iterator[Sequence[Observation]]:
        yield [observation("Torvik has a second lighthouse.", names=["Torvik"])]
        yield [observation("It was built by Someone Else.", 1, names=["Someone Else"])]
        raise KeyboardInterrupt

    for name in ("Torvik.md", "a new one"):
        with pytest.raises(KeyboardInterrupt):
            memory.store.put("default", Document(name, "text"), interrupted())
        with pytest.raises(KeyboardInterrupt):
            memory.store.put("another lens", Document(name, "text"), interrupted())
        assert memory.store.dump() == before
    assert memory.store.put("default", Document("c", "c"), [[observation("c")]]).outcome == "added"


def test_several_writes_in_one_transaction_go_together(store: Store) -> None:
    before = store.dump()
    with pytest.raises(ZeroDivisionError), store.atomic():
        store.put("l", Document("a", "a"), [[observation("a")]])
        with store.atomic():
            store.put("l", Document("b", "b"), [[observation("b")]])
        raise ZeroDivisionError
    assert store.dump() == before
    with store.atomic():
        store.put("l", Document("a", "a"), [[observation("a")]])
        store.put("l", Document("b", "b"), [[observation("b")]])
    assert [d.name for d in store.listed("l")] == ["a", "b"]


def test_a_full_disk_leaves_the_store_as_it_was_and_space_cures_it(memory: SmartRAG) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    sql = memory.store._connection
    [[pages]] = sql.rows("PRAGMA page_count")
    sql.execute(f"PRAGMA max_page_count = {pages + 2}")
    long = Document("long", "\n\n".join(f"Paragraph {n} speaks of {n * n}." for n in range(4000)))
    with pytest.raises(StoreFull, match="disk is full"):
        memory.add(long)
    assert memory.store.dump() == before
    sql.execute(f"PRAGMA max_page_count = {pages + 5000}")
    assert [o.outcome for o in memory.add(long)] == ["added"]


def test_a_second_writer_is_told_that_the_store_is_busy(
    store: Store, store_path: Path, settings: Settings
) -> None:
    with Store(store_path, settings.memory, write=True) as second:
        with store.atomic():
            store.put("l", Document("a", "a"), [[observation("a")]])
            begun = time.monotonic()
            with pytest.raises(StoreBusy):
                second.put("l", Document("b", "b"), [[observation("b")]])
            waited = time.monotonic() - begun
        assert settings.memory.busy_timeout_s <= waited + 0.05
        assert [d.name for d in second.listed("l")] == ["a"]
        assert second.put("l", Document("b", "b"), [[observation("b")]]).outcome == "added"
    assert [d.name for d in store.listed("l")] == ["a", "b"]


def test_a_reader_sees_the_last_finished_state_while_a_document_is_written(
    memory: SmartRAG, store_path: Path
) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    with open_memory(store_path, write=False) as reader:
        before = reader.store.dump()

        def slow() -> Iterator[Sequence[Observation]]:
            yield [observation("first")]
            assert reader.store.dump() == before
            assert [p.document for p in reader.search("Who lives in Oslo?").passages] == ["a"]
            yield [observation("second", 1)]

        memory.store.put("default", Document("b", "text"), slow())
        assert reader.store.dump() == memory.store.dump() != before


def test_a_view_is_of_one_moment(memory: SmartRAG, store_path: Path) -> None:
    memory.add([Document("a", "Ada lives in Oslo."), Document("b", "Bob lives in Bergen.")])
    with open_memory(store_path, write=False) as reader:
        old = reader.store.view("default")
        assert reader.store.view("default") is old
        memory.forget("a")
        memory.add(Document("c", "Cleo lives in Oslo."))
        assert [p.document for p in old.fetch(range(2)).values()] == ["b"]
        assert old.lexical(["oslo"]).tolist() == [0.0, 0.0]
        new = reader.store.view("default")
        assert new is not old
        assert [p.document for p in new.fetch(range(2)).values()] == ["b", "c"]
        assert [score > 0 for score in new.lexical(["oslo"])] == [False, True]
