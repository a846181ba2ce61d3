"""The graph arrays of a corpus that is small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag import Document
from smartrag.memory import Store
from smartrag.memory.graph import Edges, Graph, Rows, Things, things_of
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


# --- namesakes ------------------------------------------------------------------------------------
PLAIN, PERSON, VALUE, UNKNOWN = range(4)


Seen = tuple[int, int, int]
"""Paragraph, entity and family."""


def rows_of(seen: list[Seen]) -> Rows:
    paragraph, entity, family = np.array(sorted(seen), np.int64).reshape(-1, 3).T
    return Rows(paragraph, entity, family, 0 * paragraph, np.ones(len(paragraph), np.float32))


def things(mentions: list[Seen], abouts: list[Seen]) -> Things:
    return things_of(rows_of(mentions), rows_of(abouts))


def test_a_person_and_a_place_that_are_described_apart_are_two_things() -> None:
    mentions = [(1, 7, PERSON), (1, 8, PLAIN), (2, 7, PLAIN), (2, 9, PLAIN), (3, 7, PLAIN)]
    found = things(mentions, [(1, 7, PERSON), (2, 7, PLAIN)])
    assert found.entity_ids.tolist() == [7, 7, 8, 9]
    assert found.mention.tolist() == [1, 2, 0, 3, 0]
    assert found.about[np.argsort(found.about_rows)].tolist() == [1, 0]


def test_a_common_acquaintance_shows_that_they_are_one() -> None:
    mentions = [(1, 7, PERSON), (1, 8, PLAIN), (2, 7, PLAIN), (2, 8, PLAIN)]
    found = things(mentions, [(1, 7, PERSON), (2, 7, PLAIN)])
    assert found.entity_ids.tolist() == [7, 8]
    # A year is nobody's acquaintance.
    mentions = [(1, 8, VALUE), (2, 8, VALUE)]
    assert len(things(mentions, [(1, 7, PERSON), (2, 7, PLAIN)]).entity_ids) == 3


def test_where_only_one_is_described_all_mentions_mean_it() -> None:
    found = things([(1, 7, PERSON), (2, 7, PLAIN)], [(2, 7, PLAIN)])
    assert found.entity_ids.tolist() == [7]
    assert found.mention.tolist() == [0, 0]


def test_a_date_is_never_a_novel() -> None:
    found = things([(1, 7, VALUE), (2, 7, PLAIN)], [(2, 7, PLAIN)])
    assert found.mention.tolist() == [1, 0]
    assert found.about.tolist() == [0]


def test_what_nobody_describes_is_one_thing_by_its_name() -> None:
    assert things([(1, 7, VALUE), (2, 7, PLAIN), (3, 7, PERSON)], []).mention.tolist() == [0, 0, 0]


def test_a_description_of_unknown_family_is_of_all_namesakes() -> None:
    found = things([(1, 7, PERSON)], [(1, 7, UNKNOWN), (2, 7, PERSON), (3, 7, PLAIN)])
    described = sorted(zip(found.about_rows.tolist(), found.about.tolist(), strict=True))
    assert described == [(0, 0), (0, 1), (1, 1), (2, 0)]
    assert things([(1, 7, PERSON)], [(1, 7, UNKNOWN)]).about.tolist() == [0]


PLACES = st.integers(0, 5)


@given(
    st.lists(st.tuples(PLACES, PLACES, st.integers(0, 2)), max_size=12),
    st.lists(st.tuples(PLACES, PLACES, st.integers(0, 3)), max_size=12),
)
def test_every_row_belongs_to_things_of_its_own_name(
    mentions: list[Seen], abouts: list[Seen]
) -> None:
    seen, described = rows_of(mentions), rows_of(abouts)
    found = things_of(seen, described)
    assert found.entity_ids[found.mention].tolist() == seen.entity.tolist()
    assert set(found.about_rows.tolist()) == set(range(len(abouts)))
    of_rows = described.entity[found.about_rows].tolist()
    assert found.entity_ids[found.about].tolist() == of_rows
    assert set(found.mention.tolist()) | set(found.about.tolist()) == set(
        range(len(found.entity_ids))
    )
