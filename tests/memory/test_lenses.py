"""What is in one lens cannot be seen from another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smartrag import Document, SmartRAG
from tests.fakes import SMALL_CORPUS, open_memory

SECRET = Document(
    "secret",
    "Mara Lindqvist is the owner of the Gilded Heron. The Gilded Heron, also known as Aunt Pelican,"
    " is a boat in Torvik.",
    "Gilded Heron",
)
QUESTIONS = (
    "Who is the owner of the Gilded Heron?",
    "What is Aunt Pelican?",
    "Where was Mara Lindqvist born?",
    "Which boat lies in Torvik?",
)


@pytest.fixture
def both(store_path: Path) -> Path:
    """A store with the small corpus in one lens and a secret in the other."""
    with open_memory(store_path, lens="public") as memory:
        memory.add(SMALL_CORPUS)
    with open_memory(store_path, lens="private") as memory:
        memory.add(SECRET)
    return store_path


def test_a_search_answers_as_if_there_were_no_other_lens(both: Path, memory: SmartRAG) -> None:
    with open_memory(both.with_name("alone.db"), lens="public") as alone:
        alone.add(SMALL_CORPUS)
        with open_memory(both, lens="public", write=False) as public:
            for question in QUESTIONS:
                mine, theirs = alone.search(question), public.search(question)
                assert [p.text for p in mine.passages] == [p.text for p in theirs.passages]
                assert mine.linked == theirs.linked


def test_a_view_holds_nothing_of_another_lens(both: Path) -> None:
    with open_memory(both, lens="public", write=False) as memory:
        view = memory.store.view("public")
        assert {p.document for p in view.fetch(range(len(view.paragraph_ids))).values()} == {
            d.name for d in SMALL_CORPUS
        }
        assert not {"gilded heron", "aunt pelican", "pelican"} & set(view.graph.names)
        assert not {key for key in view.graph.aliases if "heron" in key or "pelican" in key}
        assert view.graph.n_paragraphs == len(view.vectors.owners) == 12
        assert not view.lexical(["heron", "pelican", "gilded"]).any()
        assert view.lexical(["torvik"]).any()


def test_a_row_of_one_lens_cannot_be_fetched_from_another(both: Path) -> None:
    with open_memory(both, lens="public", write=False) as memory:
        public, private = memory.store.view("public"), memory.store.view("private")
        stolen = type(public)(
            public.connection,
            public.lens_id,
            public.version,
            private.paragraph_ids,
            private.vectors,
            private.graph,
        )
        assert private.fetch([0])[0].document == "secret"
        assert stolen.fetch([0]) == {}


def test_frequencies_count_the_own_lens_only(both: Path) -> None:
    with open_memory(both, lens="private", write=False) as memory:
        graph = memory.store.view("private").graph
        assert graph.frequency[graph.names.index("torvik")] == 1
        assert np.all(graph.rarity == 1)


def test_documents_are_listed_forgotten_and_replaced_in_their_lens_only(both: Path) -> None:
    with open_memory(both, lens="private") as private, open_memory(both, lens="public") as public:
        before = public.documents()
        assert [d.name for d in private.documents()] == ["secret"]
        private.add(Document("Torvik.md", "Torvik is mine."))
        private.add(Document("Torvik.md", "Torvik was mine."))
        private.forget("Torvik.md")
        private.forget("secret")
        assert private.documents() == []
        assert public.documents() == before
        assert public.search("Where is the lighthouse of Torvik?").passages[0].document
