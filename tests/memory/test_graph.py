"""The graph arrays of a corpus that is small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from smartrag import Document
from smartrag.memory import Store
from smartrag.memory.graph import Edges, Graph
from smartrag.types import Observation
from tests.fakes import observation

LN5 = np.log(5)  # n + 1 for four paragraphs


@pytest.fixture
def graph(store: Store) -> Graph:
    """Four paragraphs: two that are about a Paris, one without sentences, one without mentions."""
    text = "Paris is in France. (Paris, again) The Seine runs through Paris."
    put(
        store,
        "city",
        # "(Paris, again)" lies between the two sentences.
        observation(
            text,
            sentences=((0, 19), (35, 64)),
            mentions=[(0, "Paris"), (12, "France"), (21, "Paris"), (39, "Seine"), (58, "Paris")],
            abouts=[("Paris", 1.0), ("Paris, France", 0.6)],
        ),
        observation("Rome, France and Oslo", 1, sentences=(), names=["France", "Rome", "Oslo"]),
    )
    text = "… Troy: Paris took Helen away."
    put(
        store,
        "hero",
        observation(
            text,
            sentences=((8, 30),),
            names=["Troy", "Paris", "Helen"],
            abouts=[("Paris", 0.5), ("PARIS", 0.8), ("Alexander", 0.25)],
        ),
    )
    put(store, "nothing", observation("it rains. and it rains.", sentences=((0, 9), (10, 23))))
    return store.view("l").graph


def put(store: Store, name: str, *seen: Observation) -> None:
    store.put("l", Document(name, name), [seen])


def entity(graph: Graph, name: str) -> int:
    return graph.names.index(name)


def named(graph: Graph, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> set[str]:
    return {graph.names[row] for row in rows.tolist()}


def test_every_entity_of_the_lens_has_one_row(graph: Graph) -> None:
    assert sorted(graph.names) == [
        "alexander",
        "france",
        "helen",
        "oslo",
        "paris",
        "paris france",
        "rome",
        "seine",
        "troy",
    ]
    assert graph.n_paragraphs == 4


def test_sentences_are_numbered_through(graph: Graph) -> None:
    assert graph.first_sentence.tolist() == [0, 2, 2, 3, 5]


def test_a_mention_belongs_to_the_sentence_in_or_behind_which_it_stands(graph: Graph) -> None:
    assert [named(graph, graph.entities_in.of(row)) for row in range(5)] == [
        {"paris", "france"},
        {"seine", "paris"},
        {"troy", "paris", "helen"},  # Troy stands before the first sentence
        set(),
        set(),
    ]


def test_a_paragraph_without_sentences_still_mentions(graph: Graph) -> None:
    assert graph.mentioned_by.of(entity(graph, "france")).tolist() == [0, 1]
    assert graph.mentioned_by.of(entity(graph, "oslo")).tolist() == [1]


def test_a_name_that_occurs_often_in_a_paragraph_is_one_edge(graph: Graph) -> None:
    assert graph.mentioned_by.of(entity(graph, "paris")).tolist() == [0, 2]
    assert graph.mentioned_by.of(entity(graph, "alexander")).tolist() == []


def test_frequency_counts_paragraphs_and_rarity_follows(graph: Graph) -> None:
    counted = {name: int(graph.frequency[row]) for row, name in enumerate(graph.names)}
    assert counted == dict.fromkeys(graph.names, 1) | {"paris": 2, "france": 2}
    assert graph.rarity[entity(graph, "rome")] == pytest.approx(1.0)
    assert graph.rarity[entity(graph, "paris")] == pytest.approx(np.log(5 / 2) / LN5)


def test_the_bearers_of_a_name_share_its_strength(graph: Graph) -> None:
    paragraphs, weights = graph.described_by.weighted(entity(graph, "paris"))
    assert paragraphs.tolist() == [0, 2]
    # The stronger of "Paris" and "PARIS" counts; both are divided by √2.
    assert weights.tolist() == pytest.approx([1 / np.sqrt(2), 0.8 / np.sqrt(2)])
    paragraphs, weights = graph.described_by.weighted(entity(graph, "alexander"))
    assert (paragraphs.tolist(), weights.tolist()) == ([2], [0.25])


def test_about_is_described_by_turned_round(graph: Graph) -> None:
    def pairs(edges: Edges, rows: int) -> set[tuple[int, int, float]]:
        return {
            (row, int(target), float(weight))
            for row in range(rows)
            for target, weight in zip(*edges.weighted(row), strict=True)
        }

    turned = {(p, e, w) for e, p, w in pairs(graph.described_by, len(graph.names))}
    assert pairs(graph.about, graph.n_paragraphs) == turned
    assert len(turned) == 4


def test_aliases_are_the_names_of_what_paragraphs_are_about(graph: Graph) -> None:
    assert graph.aliases == {
        ("paris",): (entity(graph, "paris"),),
        ("paris", "france"): (entity(graph, "paris france"),),
        ("alexander",): (entity(graph, "alexander"),),
    }
    assert graph.alias_lengths == {"paris": (2, 1), "alexander": (1,)}


def test_names_with_the_same_folded_words_share_an_alias(store: Store) -> None:
    put(store, "a", observation("x", abouts=[("Orléans", 1.0)]))
    put(store, "b", observation("y", abouts=[("Orleans", 1.0)]))
    graph = store.view("l").graph
    assert sorted(graph.names) == ["orleans", "orléans"]
    assert {graph.names[row] for row in graph.aliases[("orleans",)]} == {"orleans", "orléans"}


def test_a_name_without_a_word_is_no_entity(store: Store) -> None:
    put(store, "a", observation("… and —", names=["…", "—"], abouts=[("!?", 1.0), ("", 1.0)]))
    assert store.view("l").graph.names == ()
    assert store.stats().entities == 0


def test_an_empty_lens_has_an_empty_graph(store: Store) -> None:
    put(store, "a", observation("Ada", names=["Ada"], abouts=[("Ada", 1.0)]))
    graph = store.view("another").graph
    assert graph.n_paragraphs == 0
    assert graph.first_sentence.tolist() == [0]
    assert graph.names == ()
    assert not graph.aliases
    assert not graph.alias_lengths
    assert graph.rarity.shape == graph.frequency.shape == (0,)
    for edges in (graph.entities_in, graph.mentioned_by, graph.described_by, graph.about):
        assert (edges.offsets.tolist(), edges.targets.tolist()) == ([0], [])


def test_entity_ids_of_63_bits_are_kept_exactly(store: Store) -> None:
    names = [f"Entity {number}" for number in range(200)]
    put(store, "a", observation(". ".join(names), names=names))
    graph = store.view("l").graph
    assert set(graph.names) == {name.lower() for name in names}
    assert graph.entities_in.of(0).tolist() == list(range(200))
