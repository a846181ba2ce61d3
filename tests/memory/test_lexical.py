"""Full-text search, with FTS5 and without: every word of a text finds it, in any script."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from smartrag import Document, SmartRAG
from smartrag.errors import StoreDamaged
from smartrag.memory import Store, StoreView, lexical
from smartrag.text import content_words
from tests.fakes import SETTINGS, SMALL_CORPUS, observation, open_memory

QUESTIONS = {
    "a composer at the conservatory": "Ines Calder.md",
    "the lighthouse was built in 1844": "Torvik.md",
    "comedy shot on the North Bay": "Winter Ferry.md",
    "who left the mines at nineteen": "Otto Brandl.md",
    "ÅBERG husband": "Jonas Åberg.md",
    "Port Savile is the capital": "Port Savile.md",
}

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture
def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "has_fts5", lambda _connection: False)


def scores(memory: SmartRAG, question: str) -> dict[str, float]:
    """Document → score of those with one paragraph that have any of the question's words."""
    view = memory.store.view("default")
    found = view.lexical(content_words(question))
    return {
        p.document: float(found[row]) for row, p in view.fetch(found.nonzero()[0].tolist()).items()
    }


def best(found: dict[str, float]) -> str:
    return max(found, key=lambda name: found[name])


def test_the_index_ranks_the_obvious_document_first(memory: SmartRAG) -> None:
    memory.add(SMALL_CORPUS)
    assert memory.stats().lexical == "fts5"
    for question, name in QUESTIONS.items():
        assert best(scores(memory, question)) == name


def test_without_fts5_the_same_documents_are_found(
    memory: SmartRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(SMALL_CORPUS)
    with_index = {question: scores(memory, question) for question in QUESTIONS}
    monkeypatch.setattr(lexical, "has_fts5", lambda _connection: False)
    with open_memory(tmp_path / "scanned.db") as scanned:
        scanned.add(SMALL_CORPUS)
        assert scanned.stats().lexical == "scan"
        for question, name in QUESTIONS.items():
            found = scores(scanned, question)
            assert found.keys() == with_index[question].keys()
            assert best(found) == name


def test_a_word_in_the_title_counts_more_than_one_in_the_text(memory: SmartRAG) -> None:
    memory.add([Document("a", "Gold and tin.", "Iron"), Document("b", "Iron and tin.", "Gold")])
    found = scores(memory, "gold")
    assert found["b"] > found["a"] > 0


@pytest.mark.usefixtures("without_fts5")
def test_the_scan_computes_bm25(memory: SmartRAG) -> None:
    memory.add([Document("a", "Gold tin."), Document("b", "Iron tin.", "Tin"), Document("c", "")])
    # Two paragraphs with 2 and 3 words: mean 2.5. "gold" is in one of them, "tin" in both.
    rare, common = 0.6931471805599453, 0.1823215567939546  # ln 2, ln 1.2
    assert scores(memory, "gold") == {"a": pytest.approx(rare * 2.2 / (1 + 1.2 * 0.85))}
    assert scores(memory, "tin") == {
        "a": pytest.approx(common * 2.2 / (1 + 1.2 * 0.85)),
        "b": pytest.approx(common * 2.5 * 2.2 / (2.5 + 1.2 * 1.15)),
    }


def test_a_store_made_without_fts5_gets_its_index_when_it_is_written_with_it(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(lexical, "has_fts5", lambda _connection: False)
        with open_memory(store_path) as memory:
            memory.add(SMALL_CORPUS)
    with open_memory(store_path, write=False) as memory:
        assert memory.stats().lexical == "scan"
        assert best(scores(memory, "the lighthouse was built in 1844")) == "Torvik.md"
    with open_memory(store_path) as memory, open_memory(store_path.with_name("b")) as fresh:
        fresh.add(SMALL_CORPUS)
        assert memory.stats().lexical == "fts5"
        assert memory.store.dump() == fresh.store.dump()
        memory.forget("Torvik.md")
        fresh.forget("Torvik.md")
        assert memory.store.dump() == fresh.store.dump()


def test_another_version_of_unicode_builds_the_index_anew(
    memory: SmartRAG, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(SMALL_CORPUS)
    before = memory.store.dump()
    memory.store._connection.execute(
        "INSERT INTO paragraphs_fts (paragraphs_fts) VALUES ('delete-all')"
    )
    memory.close()
    with open_memory(store_path) as same:
        assert same.store.dump() != before
    monkeypatch.setattr(lexical, "FOLDING", "another")
    with open_memory(store_path) as rebuilt:
        assert rebuilt.store.dump() == before


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Die Straße nach Gießen", "STRASSE"),
        ("Die Straße nach Gießen", "straße"),
        ("İstanbul ve Iğdır", "istanbul"),
        ("İstanbul ve Iğdır", "Iğdır"),
        ("the ﬁnal oﬃce", "final office"),
        ("the final office", "ﬁnal"),
        ("ＴＯＫＹＯ tower", "tokyo"),
        ("Tokyo tower", "ＴＯＫＹＯ"),
        ("Ο Οδυσσέας στην Ιθάκη", "ΟΔΥΣΣΈΑΣ"),
        ("Ο Οδυσσέας στην Ιθάκη", "ιθακη"),
        ("서울 대한민국", "대한민국"),
        ("ガンダム と ぱんだ", "ガンダム"),
        ("Łódź, Ærø, Þingvellir", "łódź ærø þingvellir"),
        ("10² m", "102"),
        ("Crème Brûlée", "creme brulee"),
        ("naïve résumé", "NAÏVE RÉSUMÉ"),
        ("snake_case_name", "snake"),
        ("the 北京 opera", "北京"),
        ("𐐔𐐯𐑅𐐨𐑉𐐯𐐻 alphabet", "𐐔𐐯𐑅𐐨𐑉𐐯𐐻"),
        ("𞤀𞤣𞤤𞤢𞤥 script", "𞤀𞤣𞤤𞤢𞤥"),
    ],
)
def test_words_are_found_however_they_are_written(
    memory: SmartRAG, text: str, question: str
) -> None:
    memory.add([Document("a", text), Document("b", "nothing of that kind")])
    assert set(scores(memory, question)) == {"a"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all examples: each writes a lens of its own."""
    path = tmp_path_factory.mktemp("lexical") / "memory.db"
    with open_memory(path, SETTINGS) as memory:
        assert memory.perception  # claims the encoder
        memory.store.put("kept", Document("a", "a"), [[observation("Ada lives in Oslo.")]])
        yield memory.store


def view_of(store: Store, text: str) -> StoreView:
    store.put("example", Document("a", text), [[observation(text, label=text[:10])]])
    return store.view("example")


@hypothesis_settings(max_examples=80)
@given(unicode_text)
@example("ŉ ǰ ΐ և ẖ ﷺ ½ ⑴ ª ĳ ς ſ K Å")
@example("a\u0301bc q\u0323\u0307x")
def test_every_word_of_a_text_finds_it(shared: Store, text: str) -> None:
    view = view_of(shared, text)
    for word in content_words(text):
        if any(c.isalnum() for c in word):
            assert view.lexical([word])[0] > 0, word


@hypothesis_settings(max_examples=150)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=50))
@example(["", "\0", 'a"b', '"', "\0oslo", "AND", "NEAR(", "*", "^oslo", "label:oslo", "-"])
@example(['" OR label : oslo OR "'])
def test_any_list_of_strings_is_a_query(shared: Store, terms: list[str]) -> None:
    assert shared.view("kept").lexical(terms).shape == (1,)


@hypothesis_settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=2000))
def test_any_text_is_a_question(shared: Store, text: str) -> None:
    assert shared.view("kept").lexical(content_words(text)).shape == (1,)


def test_a_query_may_have_thousands_of_words(shared: Store) -> None:
    terms = [f"w{number}" for number in range(5000)]
    assert shared.view("kept").lexical(terms).tolist() == [0.0]
    assert shared.view("kept").lexical([*terms, "oslo"])[0] > 0


def test_a_query_is_a_list_of_words_and_never_an_expression(shared: Store) -> None:
    view = shared.view("kept")
    assert view.lexical(["os*", "label", "NOT", "^ada x", "lives NEAR oslo"]).tolist() == [0.0]


def test_the_index_stays_consistent_with_the_texts(memory: SmartRAG) -> None:
    memory.add(SMALL_CORPUS)
    memory.add(Document("Torvik.md", "Torvik sank."))
    memory.forget("Vellen.md")
    check = "INSERT INTO paragraphs_fts (paragraphs_fts, rank) VALUES ('integrity-check', 1)"
    memory.store._connection.execute(check)
    memory.store._connection.execute("DELETE FROM paragraphs_fts_docsize")
    with pytest.raises(StoreDamaged):
        memory.store._connection.execute(check)


def test_another_program_cannot_delete_paragraphs_past_the_index(
    memory: SmartRAG, store_path: Path
) -> None:
    memory.add(SMALL_CORPUS)
    with (
        closing(sqlite3.connect(store_path)) as raw,
        pytest.raises(sqlite3.OperationalError, match="folded"),
    ):
        raw.execute("DELETE FROM paragraphs WHERE id = 1")
