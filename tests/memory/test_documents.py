"""What becomes of a document that is added again, edited, copied or unreadable."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartrag import Document, SmartRAG
from smartrag.errors import ReadError, UnknownDocument
from smartrag.ingest import Source, write
from smartrag.memory import Store
from smartrag.types import DocumentInfo, DocumentOutcome, Section
from tests.fakes import observation, open_memory


def ids(memory: SmartRAG) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for _, paragraph in memory.store.paragraphs():
        found.setdefault(paragraph.document, []).append(paragraph.id)
    return found


def test_a_known_document_is_left_alone(
    memory: SmartRAG, small_corpus: tuple[Document, ...]
) -> None:
    memory.add(small_corpus)
    before, version = memory.store.dump(), memory.store.view("default").version
    assert {o.outcome for o in memory.add(small_corpus)} == {"unchanged"}
    assert memory.store.dump() == before
    assert memory.store.view("default").version == version


def test_the_order_of_writing_leaves_no_trace(
    memory: SmartRAG, small_corpus: tuple[Document, ...], tmp_path: Path
) -> None:
    memory.add(small_corpus)
    with open_memory(tmp_path / "other.db") as other:
        for document in reversed(small_corpus):
            other.add(document)
        assert other.store.dump() == memory.store.dump()


def test_an_edited_document_replaces_its_own_paragraphs_only(
    memory: SmartRAG, small_corpus: tuple[Document, ...], tmp_path: Path
) -> None:
    memory.add(small_corpus)
    before = ids(memory)
    edited = Document("Torvik.md", "Torvik lost its lighthouse.\n\nHanna Roos wept.", "Torvik")
    assert memory.add(edited) == [DocumentOutcome("Torvik.md", "replaced", 1)]
    after = ids(memory)
    assert after.pop("Torvik.md") == [13] != before.pop("Torvik.md")
    assert after == before
    with open_memory(tmp_path / "fresh.db") as fresh:
        fresh.add([*(d for d in small_corpus if d.name != "Torvik.md"), edited])
        assert memory.store.dump() == fresh.store.dump()


@pytest.mark.parametrize(
    "edited",
    [
        Document("a", "Ada lives in Oslo!", "Title"),
        Document("a", "Ada lives in Oslo.", "Another title"),
        Document("a", "Ada lives in Oslo.", "Title", (Section(0, 18, ("A heading",)),)),
        Document("a", "Ada lives in Oslo.", "Title", (Section(0, 18, page=2),)),
    ],
)
def test_title_and_sections_are_content_too(memory: SmartRAG, edited: Document) -> None:
    memory.add(Document("a", "Ada lives in Oslo.", "Title"))
    assert [o.outcome for o in memory.add(edited)] == ["replaced"]


def test_the_same_content_under_another_name_is_not_written_twice(memory: SmartRAG) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    assert memory.add(
        [Document("b", "Ada lives in Oslo."), Document("b", "Ada lives in Oslo.")]
    ) == [
        DocumentOutcome("b", "duplicate", reason="same as a"),
        DocumentOutcome("b", "duplicate", reason="same as a"),
    ]
    assert memory.store.dump() == before


def test_a_copy_in_the_same_call_is_a_duplicate(memory: SmartRAG) -> None:
    outcomes = memory.add([Document("a", "Same."), Document("b", "Same."), Document("a", "Same.")])
    assert sorted((o.name, o.outcome) for o in outcomes) == [
        ("a", "added"),
        ("a", "unchanged"),
        ("b", "duplicate"),
    ]


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_copy_survives_when_its_original_is_edited(memory: SmartRAG, copy_first: bool) -> None:
    memory.add(Document("a", "Old text."))
    sources = [Document("a", "New text."), Document("b", "Old text.")]
    outcomes = memory.add(sources[::-1] if copy_first else sources)
    assert {o.name: o.outcome for o in outcomes} == {"a": "replaced", "b": "added"}
    assert {p.document: p.text for _, p in memory.store.paragraphs()} == {
        "a": "New text.",
        "b": "Old text.",
    }


def test_two_documents_may_swap_their_contents(memory: SmartRAG) -> None:
    memory.add([Document("a", "First text."), Document("b", "Second text.")])
    swapped = [Document("a", "Second text."), Document("b", "First text.")]
    assert [o.outcome for o in memory.add(swapped)] == ["replaced", "replaced"]
    assert {p.document: p.text for _, p in memory.store.paragraphs()} == {
        "a": "Second text.",
        "b": "First text.",
    }
    assert {o.outcome for o in memory.add(swapped)} == {"unchanged"}


def test_the_same_text_may_stand_in_two_lenses(store_path: Path) -> None:
    with open_memory(store_path, lens="work") as work, open_memory(store_path, lens="home") as home:
        for memory in (work, home):
            assert [o.outcome for o in memory.add(Document("a", "Same."))] == ["added"]
            assert [d.name for d in memory.documents()] == ["a"]


def test_a_failed_document_is_recorded_and_success_takes_its_place(
    memory: SmartRAG, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\0\1\2\3" * 100)
    for _ in range(2):
        [outcome] = memory.ingest([path])
        assert outcome.outcome == "failed"
        assert "binary" in outcome.reason
        [info] = memory.documents()
        assert (info.name, info.status, info.paragraphs) == (path.as_posix(), "failed", 0)
        assert info.reason == outcome.reason
    assert (memory.stats().documents, memory.stats().failed) == (0, 1)
    path.write_text("Ada lives in Oslo.")
    assert [o.outcome for o in memory.ingest([path])] == ["added"]
    assert (memory.stats().documents, memory.stats().failed) == (1, 0)


def test_a_file_that_became_unreadable_keeps_what_was_read_of_it(
    memory: SmartRAG, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Ada lives in Oslo.")
    list(memory.ingest([path]))
    before = memory.store.dump()
    path.write_bytes(b"\0\1\2\3" * 100)
    assert [o.outcome for o in memory.ingest([path])] == ["failed"]
    assert memory.store.dump() == before


def test_an_unreadable_source_among_good_ones_stops_nobody(memory: SmartRAG) -> None:
    wrong = ReadError("it is broken", subject="b", remedy="Mend it")
    sources: list[Source] = [Document("a", "Ada."), wrong, Document("c", "Cleo.")]
    outcomes = list(write(sources, memory.perception, memory.store, "default"))
    assert {o.name: o.outcome for o in outcomes} == {"a": "added", "b": "failed", "c": "added"}
    assert memory.documents()[1] == DocumentInfo(
        "b", "", "default", "failed", "read: b: it is broken. Mend it", "text/plain", "", 0, 0
    )


def test_a_document_without_words_is_indexed_without_paragraphs(memory: SmartRAG) -> None:
    assert memory.add(Document("a", " \n\n ")) == [DocumentOutcome("a", "added", 0)]
    assert memory.search("anything").passages == ()


def test_a_renamed_document_keeps_its_paragraphs(
    memory: SmartRAG, small_corpus: tuple[Document, ...]
) -> None:
    memory.add(small_corpus)
    before = ids(memory)
    memory.store.rename("default", "Torvik.md", "towns/Torvik.md")
    assert ids(memory)["towns/Torvik.md"] == before["Torvik.md"]
    assert memory.search("the lighthouse of Torvik").passages[0].document == "towns/Torvik.md"


def test_a_new_name_that_is_taken_goes_over_to_the_renamed_document(memory: SmartRAG) -> None:
    memory.add([Document("a", "Ada."), Document("b", "Bob.")])
    memory.store.rename("default", "a", "b")
    assert [(p.document, p.text) for _, p in memory.store.paragraphs()] == [("b", "Ada.")]


def test_renaming_to_the_same_name_or_from_an_unknown_one_loses_nothing(memory: SmartRAG) -> None:
    memory.add([Document("a", "Ada."), Document("b", "Bob.")])
    before = memory.store.dump()
    memory.store.rename("default", "a", "a")
    with pytest.raises(UnknownDocument):
        memory.store.rename("default", "nobody", "b")
    assert memory.store.dump() == before


def test_an_unknown_document_cannot_be_forgotten(memory: SmartRAG) -> None:
    memory.add(Document("a", "Ada."))
    before = memory.store.dump()
    with pytest.raises(UnknownDocument, match="nobody"):
        memory.forget("nobody")
    with pytest.raises(UnknownDocument):
        memory.store.forget("another lens", "a")
    assert memory.store.dump() == before


def test_everything_about_a_paragraph_comes_back(memory: SmartRAG) -> None:
    text = "Preface.\n\nAda lives in Oslo.\n\nBob lives in Bergen."
    sections = (Section(10, 28, ("Norway", "Øst")), Section(30, 50, ("Norway", "West"), page=7))
    document = Document("a.pdf", text, "People", sections, "application/pdf", "utf-8", "2024-05-01")
    memory.add(document)
    [(lens, first), (_, second)] = memory.store.paragraphs()
    assert lens == "default"
    assert (first.text, first.start, first.end, first.page) == ("Ada lives in Oslo.", 10, 28, None)
    assert (first.heading, first.label) == (("Norway", "Øst"), "People › Norway › Øst")
    assert (second.text, second.page) == ("Bob lives in Bergen.", 7)
    assert memory.documents() == [
        DocumentInfo("a.pdf", "People", "default", "indexed", "", "application/pdf", "utf-8", 2, 50)
    ]


def test_the_counts_of_a_store_add_up(store: Store, store_path: Path) -> None:
    text = "Ada met Bob. They went to Oslo."
    one = observation(text, sentences=((0, 12), (13, 31)), names=["Ada", "Bob", "Oslo"])
    two = observation("Oslo is a town.", 1, names=["Oslo"], abouts=[("Oslo", 1.0), ("Town", 0.5)])
    store.put("l", Document("a", text), [[one], [two]])
    store.put("m", Document("a", text), [[one]])
    store.put_failed("l", Document("b", ""), "broken")
    stats = store.stats()
    assert (stats.documents, stats.failed, stats.paragraphs, stats.sentences) == (2, 1, 3, 5)
    assert (stats.entities, stats.mentions) == (4, 7)
    wal = store_path.with_name(store_path.name + "-wal")
    assert stats.file_bytes == store_path.stat().st_size + wal.stat().st_size
    assert stats.encoder == "hashing"
