"""Relations: one edge a fact, counted by its evidence, gone with it, and never in another lens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smartrag.memory import Store
from smartrag.types import Claim, Document, Fact, Statement
from tests.fakes import observation

BORN = ("Ada", "place of birth", "Oslo")
TEXT = "Ada was born in Oslo."


def put(store: Store, name: str, text: str = TEXT, *, lens: str = "default") -> None:
    seen = observation(text, names=["Ada", "Oslo"], triplets=[BORN])
    store.put(lens, Document(name, text), [[seen]])


def edges(store: Store) -> list[str]:
    return [line for line in store.dump() if line.startswith("relation")]


def test_a_fact_said_twice_is_one_edge_with_two_observations(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    assert edges(store) == ["relation ('ada', 'place of birth', 'oslo', 2)"]
    statements = tuple(Statement(name, 0, 21, TEXT, 0.5) for name in "ab")
    assert store.facts("default", "OSLO") == [Fact("ada", "place of birth", "oslo", statements)]
    assert store.stats().relations == 1


def test_an_edge_goes_with_its_last_evidence(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    store.forget("default", "a")
    assert edges(store) == ["relation ('ada', 'place of birth', 'oslo', 1)"]
    store.forget("default", "b")
    assert store.dump() == []


def test_an_edge_keeps_what_no_mention_names(store: Store) -> None:
    """The title of a paragraph names who is meant, and is no part of its text."""
    seen = observation("Born in Oslo.", names=["Oslo"], triplets=[BORN])
    store.put("default", Document("a", "Born in Oslo."), [[seen]])
    assert [fact.head for fact in store.facts("default", "Ada")] == ["ada"]
    store.forget("default", "a")
    assert store.dump() == []


def test_what_is_said_elsewhere_in_a_document_is_cited_at_its_place(store: Store) -> None:
    first, second = observation("Nothing."), observation(TEXT, 1, triplets=[BORN])
    second = replace(second, paragraph=replace(second.paragraph, start=10, end=31))
    store.put("default", Document("a", "Nothing.  " + TEXT), [[first, second]])
    [fact] = store.facts("default", "ada")
    [statement] = fact.statements
    assert (statement.start, statement.end, statement.text) == (10, 31, TEXT)


@pytest.mark.parametrize(("first", "second", "kept"), [(0.5, 0.9, 1), (0.9, 0.5, 0), (0.5, 0.5, 0)])
@pytest.mark.parametrize("together", [True, False])
def test_a_statement_in_the_overlap_of_two_chunks_is_aligned_to_the_better_one(
    store: Store, first: float, second: float, kept: int, together: bool
) -> None:
    text = "It rained. " + TEXT
    chunks = [observation(text, triplets=[BORN]), observation(text[20:], 1, triplets=[BORN])]
    chunks[1] = replace(chunks[1], paragraph=replace(chunks[1].paragraph, start=20, end=len(text)))
    seen = [
        replace(chunk, triplets=tuple(replace(t, score=score) for t in chunk.triplets))
        for chunk, score in zip(chunks, (first, second), strict=True)
    ]
    store.put("default", Document("a", text), [seen] if together else [seen[:1], seen[1:]])
    assert edges(store) == ["relation ('ada', 'place of birth', 'oslo', 1)"]
    [fact] = store.facts("default", "Ada")
    [statement] = fact.statements
    assert (statement.start, statement.score) == ((0, 20)[kept], (first, second)[kept])


def test_reading_again_replaces_the_evidence(store: Store) -> None:
    put(store, "a")
    store.versions.roll_back(None)
    store.versions.retype(None, [1], [observation(TEXT, triplets=[("Ada", "residence", "Oslo")])])
    assert edges(store) == ["relation ('ada', 'residence', 'oslo', 1)"]


def test_what_a_retired_type_named_stands_in_no_relation(store: Store) -> None:
    put(store, "a")
    store.versions.change(None, "{}", "retired name", {"name": ""})
    assert edges(store) == []
    assert store.facts("default", "Ada") == []


def test_facts_of_another_lens_are_not_shown(store: Store) -> None:
    put(store, "a", lens="work")
    assert store.facts("home", "Ada") == store.facts("default", "Ada") == []
    assert len(store.facts("work", "Ada")) == 1


def test_a_document_says_under_another_name_what_it_claims_that_name_to_mean(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    claim = Claim("ada lovelace", "ada", "person", "first name")
    store.claim(store.document_id("default", "b"), [claim])
    [fact] = store.facts("default", "Ada Lovelace")
    assert (fact.head, [s.document for s in fact.statements]) == ("ada", ["b"])
    [fact] = store.facts("default", "Ada")
    assert [s.document for s in fact.statements] == ["a", "b"]


def test_nameless_ends_are_no_edges(store: Store) -> None:
    seen = observation("-- was born in Oslo.", triplets=[("--", "place of birth", "Oslo")])
    store.put("default", Document("a", "-- was born in Oslo."), [[seen]])
    assert edges(store) == []
