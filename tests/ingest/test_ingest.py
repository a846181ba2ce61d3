"""Files and documents into the store: batches, slices, names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from smartrag import Document, SmartRAG
from smartrag.ingest import name_of, write
from smartrag.merging import merge_names
from smartrag.perception import Perception
from smartrag.types import DocumentOutcome, Observation, Paragraph
from tests.fakes import SETTINGS, HashingEncoder, NeighbouringSpans, open_memory

LONG = Document(
    "long",
    "\n\n".join(
        f"Part {n} tells of Count Number{n} and of how he crossed the river {n % 7} times in his"
        " life, which nobody believed who had seen the river or the count."
        + " More was never written about it, and little was ever asked."
        for n in range(150)
    ),
    "Counts",
)


class WatchedPerception(Perception):
    """Remembers how many paragraphs were observed at a time."""

    def __init__(self) -> None:
        super().__init__(HashingEncoder(), NeighbouringSpans(), SETTINGS.perception)
        self.batches: list[int] = []

    def observe(self, drafts: Sequence[tuple[Document, Paragraph]]) -> list[Observation]:
        self.batches.append(len(drafts))
        return super().observe(drafts)


@pytest.fixture
def watched(memory: SmartRAG) -> WatchedPerception:
    """The memory's perception, watched."""
    assert memory.perception  # claims the encoder
    memory.__dict__["perception"] = WatchedPerception()
    perception: WatchedPerception = memory.__dict__["perception"]
    return perception


def short(number: int) -> Document:
    return Document(f"short {number}", f"Number {number} lives in House {number}.")


def test_short_documents_share_a_batch(memory: SmartRAG, watched: WatchedPerception) -> None:
    outcomes = memory.add([short(n) for n in range(150)])
    assert watched.batches == [64, 64, 22]
    assert outcomes == [DocumentOutcome(f"short {n}", "added", 1) for n in range(150)]


def test_a_long_document_is_observed_in_slices_and_written_as_a_whole(
    memory: SmartRAG, watched: WatchedPerception, tmp_path: Path
) -> None:
    paragraphs = len(watched.split(LONG))
    assert 2 * 64 < paragraphs < 3 * 64
    outcomes = memory.add([short(1), LONG, short(2)])
    assert watched.batches == [1, 64, 64, paragraphs - 128, 1]
    assert [(o.name, o.paragraphs) for o in outcomes] == [
        ("short 1", 1),
        ("long", paragraphs),
        ("short 2", 1),
    ]
    with open_memory(tmp_path / "unsliced.db") as unsliced:
        for document in (short(1), LONG, short(2)):
            drafts = [(document, p) for p in unsliced.perception.split(document)]
            unsliced.store.put("default", document, [unsliced.perception.observe(drafts)])
            merge_names(unsliced.store, [unsliced.store.document_id("default", document.name)])
        assert memory.store.dump() == unsliced.store.dump()


def test_a_long_document_that_fails_in_a_later_slice_is_not_there_at_all(
    memory: SmartRAG, watched: WatchedPerception, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = watched.observe

    def failing(drafts: Sequence[tuple[Document, Paragraph]]) -> list[Observation]:
        if len(watched.batches) == 3:
            raise MemoryError
        return observe(drafts)

    monkeypatch.setattr(watched, "observe", failing)
    outcomes = []
    with pytest.raises(MemoryError):
        for outcome in write([short(1), LONG], watched, memory.store, "default"):
            outcomes.append(outcome.name)
    assert outcomes == ["short 1"]
    assert [d.name for d in memory.documents()] == ["short 1"]


def test_what_is_written_is_reported_while_the_rest_is_still_read(
    memory: SmartRAG, watched: WatchedPerception
) -> None:
    outcomes = write((short(n) for n in range(100)), watched, memory.store, "default")
    assert next(outcomes).name == "short 0"
    assert watched.batches == [64]
    assert [d.name for d in memory.documents()] == ["short 0"]
    del outcomes  # as after an interruption
    assert [o.outcome for o in memory.add([short(0), short(1)])] == ["unchanged", "added"]


def test_nothing_gives_nothing(memory: SmartRAG) -> None:
    assert memory.add([]) == []
    assert list(memory.ingest([])) == []


def test_the_last_version_of_a_name_counts(memory: SmartRAG) -> None:
    outcomes = memory.add([Document("a", "One."), Document("a", "Two."), Document("a", "One.")])
    assert [o.outcome for o in outcomes] == ["added", "replaced", "replaced"]
    assert [p.text for _, p in memory.store.paragraphs()] == ["One."]


def test_files_and_folders_are_read(memory: SmartRAG, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("Ada lives in Oslo.")
    (folder / "deep" / "b.md").write_text("# Bob\n\nBob lives in Bergen.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "c.unknown").write_text("Cleo lives in Cadiz.")
    missing = tmp_path / "missing.txt"
    outcomes = list(memory.ingest([folder, tmp_path / "c.unknown", missing]))
    assert {Path(o.name).name: o.outcome for o in outcomes} == {
        "a.txt": "added",
        "b.md": "added",
        "c.unknown": "added",
        "missing.txt": "failed",
    }
    assert memory.search("Who lives in Bergen?").passages[0].label == "Bob"


def test_a_name_is_the_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path.cwd().as_posix()
    assert name_of(Path("a.txt")) == f"{here}/a.txt"
    assert name_of(Path("x/../a.txt")) == f"{here}/a.txt"
    assert name_of(tmp_path / "Übung 東京.txt").endswith("/Übung 東京.txt")


def test_a_link_has_a_name_of_its_own(memory: SmartRAG, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Ada\n\nAda lives in Oslo.")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    outcomes = {Path(o.name).name: o.outcome for o in memory.ingest([tmp_path])}
    assert outcomes == {"a.md": "added", "link.md": "duplicate"}


def test_a_file_name_that_is_not_unicode_becomes_a_valid_name(
    memory: SmartRAG, tmp_path: Path
) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    try:
        path.write_text("Ada drinks coffee.")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    [outcome] = memory.ingest([path])
    assert outcome.name == f"{tmp_path.as_posix()}/caf\\udce9.txt"
    assert outcome.name.encode("utf-8")
    assert [d.name for d in memory.documents()] == [outcome.name]
    assert [o.outcome for o in memory.sync(tmp_path)] == ["unchanged"]
    memory.forget(outcome.name)
    assert memory.documents() == []
