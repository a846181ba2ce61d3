"""Claims of documents: the graph follows them, mentions stay as they are, and nothing outlives."""

from __future__ import annotations

from dataclasses import replace

from smartrag.memory import Store
from smartrag.types import Claim, Document, Mention
from tests.fakes import observation

CLAIM = Claim("ada lovelace", "lovelace", "person", "surname")


def put(store: Store, name: str, text: str, *mentions: tuple[str, str], lens: str = "x") -> int:
    seen = replace(
        observation(text),
        mentions=tuple(
            Mention(text.index(surface), text.index(surface) + len(surface), surface, type_, 0.5)
            for surface, type_ in mentions
        ),
    )
    store.put(lens, Document(name, text), [[seen]])
    return store.document_id(lens, name)


def names(store: Store, row: int) -> set[str]:
    """What paragraph `row` mentions, by the graph."""
    graph = store.view("x").graph
    return {n for e, n in enumerate(graph.names) if row in graph.mentioned_by.of(e).tolist()}


def test_a_graph_follows_a_claim_only_in_its_document(store: Store) -> None:
    first = put(store, "a", "Lovelace wrote.", ("Lovelace", "person"))
    put(store, "b", "Lovelace sang.", ("Lovelace", "person"))
    store.claim(first, [CLAIM])
    assert names(store, 0) == {"ada lovelace", "lovelace"}
    assert names(store, 1) == {"lovelace"}


def test_what_a_paragraph_is_about_follows_claims_too(store: Store) -> None:
    seen = observation("She wrote.", abouts=[("Countess of Lovelace", 1.0)])
    store.put("x", Document("a", "She wrote."), [[seen]])
    claim = Claim("ada lovelace", "countess of lovelace", "", "known as")
    store.claim(store.document_id("x", "a"), [claim])
    graph = store.view("x").graph
    assert {graph.names[e] for e in graph.about.of(0)} == {"ada lovelace", "countess of lovelace"}


def test_a_claim_is_about_one_family(store: Store) -> None:
    document = put(store, "a", "Lovelace wrote.", ("Lovelace", "location"))
    store.claim(document, [CLAIM])
    assert names(store, 0) == {"lovelace"}


def test_taking_a_claim_back_leaves_everything_as_it_was(store: Store) -> None:
    document = put(store, "a", "Lovelace wrote.", ("Lovelace", "person"))
    before = store.dump()
    store.claim(document, [CLAIM])
    assert store.dump() != before
    store.claim(document, [])
    assert store.dump() == before
    assert names(store, 0) == {"lovelace"}


def test_claims_and_their_names_go_with_the_document(store: Store) -> None:
    document = put(store, "a", "Lovelace wrote.", ("Lovelace", "person"))
    store.claim(document, [CLAIM])
    store.forget("x", "a")
    assert store.dump() == []


def test_what_is_named_comes_back_in_order_with_its_titles(store: Store) -> None:
    parts = [
        observation("Ada sang.", names=["Ada"], abouts=[("Ada Lovelace", 1.0), ("Ada", 0.7)]),
        observation("Bob sang.", 1, names=["Bob"], abouts=[("Ada Lovelace", 1.0)]),
    ]
    store.put("x", Document("a", "Ada sang. Bob sang."), [parts])
    abouts, paragraphs = store.named(store.document_id("x", "a"))
    assert [a.name for a in abouts] == ["ada lovelace"]
    assert [(text, [m.surface for m in ms]) for text, ms in paragraphs] == [
        ("Ada sang.", ["Ada"]),
        ("Bob sang.", ["Bob"]),
    ]
