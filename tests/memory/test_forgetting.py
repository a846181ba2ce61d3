"""What is forgotten is gone: from the tables, the index, the graph and the bytes of the file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from smartrag import Document, SmartRAG
from smartrag.errors import UnknownDocument
from smartrag.merging import merge_names
from smartrag.text import fold
from tests.fakes import SMALL_CORPUS, open_memory

NAMES = st.sampled_from(["a", "b", "c"])
LENSES = st.sampled_from(["work", "home"])
TEXTS = st.sampled_from(
    [
        "Ada Lovelace met Charles Babbage in London.",
        "London is a town. Charles Babbage lived there.",
        "# Oslo\n\n"
        + "\n\n".join(f"Oslo has {n} parks and a park named Park {n}." for n in range(9)),
        "İstanbul, known as Tsargrad City, is no Straße.",
        "",
    ]
)


def write_past_ingest(memory: SmartRAG, lens: str, document: Document) -> None:
    paragraphs = memory.perception.split(document)
    seen = memory.perception.observe([(document, paragraph) for paragraph in paragraphs])
    memory.store.put(lens, document, [seen])
    merge_names(memory.store, [memory.store.document_id(lens, document.name)])


def assert_sound(memory: SmartRAG) -> None:
    """Whatever SQLite can check about the file is in order."""
    sql = memory.store._connection
    assert sql.rows("PRAGMA integrity_check") == [("ok",)]
    assert sql.rows("PRAGMA foreign_key_check") == []
    sql.execute("INSERT INTO paragraphs_fts (paragraphs_fts, rank) VALUES ('integrity-check', 1)")
    unused = "SELECT count(*) FROM lenses WHERE id NOT IN (SELECT lens_id FROM documents)"
    assert sql.rows(unused) == [(0,)]


class Forgetting(RuleBasedStateMachine):
    """After every step the store equals one that was built from what should be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.memory = open_memory(self.folder / "memory.db")
        self.indexed: dict[tuple[str, str], str] = {}
        self.failed: set[tuple[str, str]] = set()

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    @rule(lens=LENSES, name=NAMES, text=TEXTS)
    def add(self, lens: str, name: str, text: str) -> None:
        self.memory.lens = lens
        [outcome] = self.memory.add(Document(name, text))
        old = self.indexed.get((lens, name))
        in_lens = [t for (of, _), t in self.indexed.items() if of == lens]
        if old == text:
            assert outcome.outcome == "unchanged"
        elif old is None and text in in_lens:
            assert outcome.outcome == "duplicate"
        else:
            assert outcome.outcome == ("added" if old is None else "replaced")
            self.indexed[lens, name] = text
            self.failed.discard((lens, name))

    @rule(lens=LENSES, name=NAMES)
    def fail(self, lens: str, name: str) -> None:
        self.memory.store.put_failed(lens, Document(name, ""), "broken")
        if (lens, name) not in self.indexed:
            self.failed.add((lens, name))

    @rule(lens=LENSES, name=NAMES)
    def forget(self, lens: str, name: str) -> None:
        self.memory.lens = lens
        if (lens, name) in self.indexed or (lens, name) in self.failed:
            self.memory.forget(name)
        else:
            with pytest.raises(UnknownDocument):
                self.memory.forget(name)
        self.indexed.pop((lens, name), None)
        self.failed.discard((lens, name))

    @precondition(lambda self: self.indexed)
    @rule(data=st.data(), new=NAMES)
    def rename(self, data: st.DataObject, new: str) -> None:
        lens, old = data.draw(st.sampled_from(sorted(self.indexed)))
        self.memory.store.rename(lens, old, new)
        self.indexed[lens, new] = self.indexed.pop((lens, old))
        self.failed.discard((lens, new))

    @invariant()
    def equals_a_store_that_never_saw_anything_else(self) -> None:
        assert_sound(self.memory)
        fresh_path = self.folder / "fresh.db"
        with open_memory(fresh_path) as fresh:
            for (lens, name), text in self.indexed.items():
                write_past_ingest(fresh, lens, Document(name, text))
            for lens, name in self.failed:
                fresh.store.put_failed(lens, Document(name, ""), "broken")
            assert self.memory.store.dump() == fresh.store.dump()
        fresh_path.unlink()


TestForgetting = Forgetting.TestCase
TestForgetting.settings = hypothesis_settings(max_examples=12, stateful_step_count=10)


@pytest.fixture
def secret() -> Document:
    return Document(
        "files/Zyzzogeton.md",
        "Qwertzuiop Smith, known as Vexillographer Jones, lives in the Grüßgottstraße of"
        " ÇATALHÖYÜK.\n\nThe Xylophonist heard Torvik and Mara Lindqvist.",
        "Jabberwocky Report",
    )


SECRET_WORDS = (
    "Zyzzogeton Qwertzuiop Vexillographer Grüßgottstraße ÇATALHÖYÜK Xylophonist Jabberwocky".split()
)


def traces(path: Path) -> set[str]:
    """Those secret words of which a part of six characters stands in the file or beside it."""
    content = b"".join(p.read_bytes() for p in sorted(path.parent.glob(path.name + "*")))
    found = set()
    for word in SECRET_WORDS:
        for form in (word, word.lower(), fold(word)):
            pieces = [form[i : i + 6] for i in range(len(form) - 5)]
            if any(piece.encode() in content for piece in pieces):
                found.add(word)
    return found


@pytest.mark.parametrize("others", [0, 3, 12])
def test_no_word_of_a_forgotten_document_stays_in_the_file(
    memory: SmartRAG, store_path: Path, secret: Document, others: int
) -> None:
    memory.add(SMALL_CORPUS[: others // 2])
    memory.add(secret)
    memory.add(SMALL_CORPUS[others // 2 : others])
    assert traces(store_path) == set(SECRET_WORDS)
    memory.forget(secret.name)
    assert traces(store_path) == set()
    assert_sound(memory)
    memory.close()
    assert traces(store_path) == set()


def test_no_word_of_an_edited_document_stays_after_it_is_forgotten(
    memory: SmartRAG, store_path: Path, secret: Document
) -> None:
    memory.add(SMALL_CORPUS)
    memory.add(secret)
    memory.store.put_failed("default", Document("Xylophonist", ""), "Qwertzuiop")
    memory.add(Document(secret.name, "Something else.", "Report"))
    memory.forget("Xylophonist")
    memory.forget(secret.name)
    assert traces(store_path) == set()


def test_a_forgotten_document_leaves_what_others_support(
    memory: SmartRAG, secret: Document
) -> None:
    memory.add(SMALL_CORPUS)
    before = memory.store.dump()
    memory.add(secret)
    assert "qwertzuiop smith" in memory.store.view("default").graph.names
    memory.forget(secret.name)
    assert memory.store.dump() == before
    names = memory.store.view("default").graph.names
    assert "mara lindqvist" in names
    assert "qwertzuiop smith" not in names


def test_a_store_from_which_all_is_forgotten_is_as_new(memory: SmartRAG, tmp_path: Path) -> None:
    memory.add(SMALL_CORPUS)
    for document in SMALL_CORPUS:
        memory.forget(document.name)
    with open_memory(tmp_path / "new.db") as new:
        assert memory.store.dump() == new.store.dump() == []


def test_ids_of_forgotten_paragraphs_are_not_given_again(memory: SmartRAG) -> None:
    memory.add([Document("a", "Ada."), Document("b", "Bob.")])
    memory.forget("b")
    memory.add(Document("c", "Cleo."))
    assert [p.id for _, p in memory.store.paragraphs()] == [1, 3]
