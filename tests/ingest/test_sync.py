"""A folder and the store made equal: what was added, edited, moved, removed or cannot be read."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from smartrag import Document, SmartRAG
from smartrag.errors import ReadError
from smartrag.types import IngestReport, Outcome
from tests.fakes import SMALL_CORPUS, open_memory

BINARY = b"\0\1\2\3" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files, one of them in a folder below."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "ada.md").write_text(note("Ada lives in Oslo."))
    (folder / "bob.md").write_text(note("Bob lives in Bergen."))
    (folder / "deep" / "cleo.md").write_text(note("Cleo lives in Cadiz."))
    return folder


def note(text: str) -> str:
    """A file whose title is its own: that of a file without a heading is the file's name."""
    return f"# {text.split()[0]}\n\n{text}"


def synced(memory: SmartRAG, folder: Path) -> dict[str, str]:
    """Path below the folder → outcome."""
    outcomes = list(memory.sync(folder))
    assert len({o.name for o in outcomes}) == len(outcomes)
    prefix = folder.as_posix() + "/"
    return {o.name.removeprefix(prefix): o.outcome for o in outcomes}


def texts(memory: SmartRAG) -> dict[str, str]:
    """Last part of the name → text."""
    return {Path(p.document).name: p.text for _, p in memory.store.paragraphs()}


def test_a_new_folder_is_added_and_then_unchanged(memory: SmartRAG, folder: Path) -> None:
    assert set(synced(memory, folder).values()) == {"added"}
    before = memory.store.dump()
    assert synced(memory, folder) == {
        "ada.md": "unchanged",
        "bob.md": "unchanged",
        "deep/cleo.md": "unchanged",
    }
    assert memory.store.dump() == before


def test_every_kind_of_change_at_once(memory: SmartRAG, folder: Path) -> None:
    synced(memory, folder)
    for number in range(3):
        (folder / f"kept {number}.md").write_text(note(f"Kept {number}."))
    synced(memory, folder)
    ids = {p.text: p.id for _, p in memory.store.paragraphs()}
    (folder / "ada.md").write_text(note("Ada lives in Ålesund."))  # edited
    (folder / "bob.md").unlink()  # removed
    (folder / "deep" / "cleo.md").rename(folder / "cleopatra.md")  # moved …
    shutil.copy(folder / "cleopatra.md", folder / "zoe.md")  # … and copied
    (folder / "new.md").write_text(note("Dora lives in Delft."))  # added
    (folder / "broken.md").write_bytes(BINARY)  # unreadable
    (folder / "kept 2.md").write_bytes(BINARY)  # no longer readable
    outcomes = list(memory.sync(folder))
    prefix = folder.as_posix() + "/"
    assert {o.name.removeprefix(prefix): o.outcome for o in outcomes} == {
        "ada.md": "replaced",
        "bob.md": "removed",
        "cleopatra.md": "renamed",
        "zoe.md": "duplicate",
        "new.md": "added",
        "broken.md": "failed",
        "kept 0.md": "unchanged",
        "kept 1.md": "unchanged",
        "kept 2.md": "failed",
    }
    report = IngestReport(tuple(outcomes), 0.0)
    assert sum(report.count(kind) for kind in get_args(Outcome)) == len(outcomes) == 9
    assert (report.count("failed"), report.paragraphs) == (2, 2)
    assert texts(memory) == {
        "ada.md": "Ada lives in Ålesund.",
        "cleopatra.md": "Cleo lives in Cadiz.",
        "new.md": "Dora lives in Delft.",
        "kept 0.md": "Kept 0.",
        "kept 1.md": "Kept 1.",
        "kept 2.md": "Kept 2.",
    }
    now = {p.text: p.id for _, p in memory.store.paragraphs()}
    assert now["Cleo lives in Cadiz."] == ids["Cleo lives in Cadiz."]
    assert {d.name.removeprefix(prefix) for d in memory.documents() if d.status == "failed"} == {
        "broken.md"
    }


def test_a_failed_file_that_is_gone_is_no_longer_listed(memory: SmartRAG, folder: Path) -> None:
    (folder / "broken.md").write_bytes(BINARY)
    assert synced(memory, folder)["broken.md"] == "failed"
    (folder / "broken.md").unlink()
    assert synced(memory, folder)["broken.md"] == "removed"
    assert len(memory.documents()) == 3


def test_a_file_moved_onto_another_takes_its_place(memory: SmartRAG, folder: Path) -> None:
    synced(memory, folder)
    (folder / "ada.md").replace(folder / "bob.md")
    assert synced(memory, folder) == {"bob.md": "renamed", "deep/cleo.md": "unchanged"}
    assert texts(memory) == {"bob.md": "Ada lives in Oslo.", "cleo.md": "Cleo lives in Cadiz."}


def test_files_that_swap_their_names_swap_their_texts(memory: SmartRAG, folder: Path) -> None:
    synced(memory, folder)
    (folder / "ada.md").write_text(note("Bob lives in Bergen."))
    (folder / "bob.md").write_text(note("Ada lives in Oslo."))
    assert synced(memory, folder)["ada.md"] == "replaced"
    assert texts(memory)["ada.md"] == "Bob lives in Bergen."
    assert texts(memory)["bob.md"] == "Ada lives in Oslo."


def test_the_copy_stays_when_the_original_is_removed(memory: SmartRAG, folder: Path) -> None:
    shutil.copy(folder / "ada.md", folder / "copy.md")
    assert synced(memory, folder)["copy.md"] == "duplicate"
    (folder / "ada.md").unlink()
    assert synced(memory, folder)["copy.md"] == "renamed"
    assert texts(memory)["copy.md"] == "Ada lives in Oslo."


def test_an_original_among_equal_texts_may_be_removed(memory: SmartRAG, folder: Path) -> None:
    synced(memory, folder)
    (folder / "bob.md").write_text(note("Ada lives in Oslo."))
    synced(memory, folder)
    before = {p.document: p.id for _, p in memory.store.paragraphs()}
    (folder / "ada.md").unlink()
    assert synced(memory, folder) == {
        "ada.md": "removed",
        "bob.md": "unchanged",
        "deep/cleo.md": "unchanged",
    }
    after = {p.document: p.id for _, p in memory.store.paragraphs()}
    assert after.items() <= before.items()


def test_only_what_is_below_the_folder_is_touched(memory: SmartRAG, folder: Path) -> None:
    memory.add(SMALL_CORPUS)
    neighbour = folder.with_name("notes2")
    neighbour.mkdir()
    (neighbour / "a.md").write_text(note("Something near."))
    list(memory.ingest([neighbour]))
    with open_memory(memory.store.path, lens="other") as other:
        synced(other, folder)
    synced(memory, folder)
    for path in folder.glob("*.md"):
        path.unlink()
    assert set(synced(memory, folder).values()) == {"removed", "unchanged"}
    assert len(memory.documents()) == len(SMALL_CORPUS) + 2
    with open_memory(memory.store.path, lens="other", write=False) as other:
        assert len(other.documents()) == 3


def test_an_emptied_folder_empties_its_part_of_the_store(memory: SmartRAG, folder: Path) -> None:
    synced(memory, folder)
    shutil.rmtree(folder)
    folder.mkdir()
    assert set(synced(memory, folder).values()) == {"removed"}
    assert memory.store.dump() == []


def test_a_folder_that_is_not_there_is_an_error_and_removes_nothing(
    memory: SmartRAG, folder: Path
) -> None:
    synced(memory, folder)
    before = memory.store.dump()
    for no_folder in (folder / "nowhere", folder / "ada.md", folder / "a\0b"):
        with pytest.raises(ReadError, match="no such folder"):
            list(memory.sync(no_folder))
    folder.rename(folder.with_name("unmounted"))
    with pytest.raises(ReadError):
        list(memory.sync(folder))
    assert memory.store.dump() == before


def test_a_renamed_file_without_a_heading_is_read_anew_since_its_name_is_its_title(
    memory: SmartRAG, folder: Path
) -> None:
    (folder / "dora.txt").write_text("Dora lives in Delft.")
    synced(memory, folder)
    (folder / "dora.txt").rename(folder / "Theodora.txt")
    outcomes = synced(memory, folder)
    assert (outcomes["dora.txt"], outcomes["Theodora.txt"]) == ("removed", "added")
    (folder / "Theodora.txt").rename(folder / "deep" / "Theodora.txt")
    assert synced(memory, folder)["deep/Theodora.txt"] == "renamed"


CONTENTS = st.sampled_from(["Ada lives in Oslo.", "Bob lives in Bergen.", "Cleo.", None])
FOLDERS = st.fixed_dictionaries(dict.fromkeys(("a.md", "b.md", "c.md"), CONTENTS))


@hypothesis_settings(max_examples=20)
@given(st.lists(FOLDERS, min_size=1, max_size=4))
def test_after_any_history_the_store_holds_exactly_the_texts_of_the_folder(
    history: list[dict[str, str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "notes")
        folder.mkdir()
        with open_memory(Path(place, "memory.db")) as memory:
            for state in history:
                for name, text in state.items():
                    (folder / name).unlink(missing_ok=True)
                    if text is not None:
                        (folder / name).write_text(note(text))
                outcomes = Counter(o.name for o in memory.sync(folder))
                assert set(outcomes.values()) <= {1}
                present = {name: text for name, text in state.items() if text is not None}
                stored = texts(memory)
                assert stored.items() <= present.items()
                assert set(stored.values()) == set(present.values())


def test_documents_that_are_no_files_are_never_removed(memory: SmartRAG, folder: Path) -> None:
    memory.add(Document("notes/of mine", "Mine."))
    synced(memory, folder)
    shutil.rmtree(folder)
    folder.mkdir()
    synced(memory, folder)
    assert [d.name for d in memory.documents()] == ["notes/of mine"]


def test_a_file_that_was_given_by_name_and_is_no_document_of_the_folder_stays(
    memory: SmartRAG, tmp_path: Path
) -> None:
    (tmp_path / "LICENSE").write_text("Anyone may read this.")
    (tmp_path / "a.txt").write_text("Ada lives in Oslo.")
    assert [o.outcome for o in memory.ingest([tmp_path / "LICENSE"])] == ["added"]
    assert [o.outcome for o in memory.sync(tmp_path)] == ["added"]
    assert len(memory.documents()) == 2


def test_words_that_an_edit_took_out_leave_the_file(memory: SmartRAG, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("The word is xylographquince.")
    list(memory.sync(tmp_path))
    path.write_text("The word is gone.")
    assert [o.outcome for o in memory.sync(tmp_path)] == ["replaced"]
    stored = memory.store.path
    for file in (stored, stored.with_name(stored.name + "-wal")):
        assert not file.exists() or b"xylographquince" not in file.read_bytes()
