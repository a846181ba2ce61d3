"""Which mentions are paired, what may be said of a pair, and which models are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.errors import ModelError
from smartrag.perception import evoner, relations
from smartrag.perception.relations import (
    BETWEEN,
    HEAD,
    HIDDEN,
    LEFT,
    RIGHT,
    TAIL,
    Pairs,
    Place,
    RelationClassifier,
    RelationModel,
    RelationType,
    candidates,
    decode,
    sentence_of_words,
)
from smartrag.types import FloatArray

PEOPLE = frozenset({("person", "person")})
BORN = RelationType("place of birth", 0.5, frozenset({("person", "location")}))
SPOUSE = RelationType("spouse", 0.5, PEOPLE, symmetric=True)
CHILD = RelationType("child", 0.5, PEOPLE)
ADA, BEN, OSLO = Place(0, 0, "person"), Place(2, 2, "person"), Place(4, 4, "location")


def pairs_of(places: list[Place]) -> Pairs:
    return candidates([(p.first, p.last) for p in places], np.zeros(6, np.int64))


def said(
    places: list[Place], types: list[RelationType], high: dict[tuple[int, int, int], float]
) -> list[tuple[int, int, str, float]]:
    """What is said when all scores are 0 but those of (head, tail, column)."""
    pairs = pairs_of(places)
    scores = np.zeros((len(pairs), len(types)), np.float32)
    for row, ends in enumerate(zip(pairs.heads.tolist(), pairs.tails.tolist(), strict=True)):
        for column in range(len(types)):
            scores[row, column] = high.get((*ends, column), 0.0)
    return [(h, t, name, round(s, 4)) for h, t, name, s in decode(scores, places, pairs, types)]


# --- candidates -----------------------------------------------------------------------------------
def test_mentions_of_one_sentence_or_of_neighbours_are_paired_in_both_orders() -> None:
    owners = np.array([0, 0, 1, 1, 2, 2])
    pairs = candidates([(0, 0), (2, 3), (5, 5)], owners)
    assert list(zip(pairs.heads.tolist(), pairs.tails.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
    ]
    assert candidates([(1, 2), (0, 0)], owners).heads.tolist() == []  # over two sentences
    assert len(candidates([], owners)) == 0


def test_every_word_knows_where_it_stands() -> None:
    pairs = candidates([(3, 3), (1, 1)], np.array([0, 0, 0, 0, 0, 1]))
    assert pairs.regions.tolist() == [
        [LEFT, TAIL, BETWEEN, HEAD, RIGHT, HIDDEN],
        [LEFT, HEAD, BETWEEN, TAIL, RIGHT, HIDDEN],
    ]
    assert pairs.distances[0] != pairs.distances[1]


def test_a_word_belongs_to_the_sentence_in_which_it_begins() -> None:
    words = np.array([[0, 3], [4, 8], [10, 12]])
    assert sentence_of_words(words, [(1, 9), (9, 20)]).tolist() == [0, 0, 1]


# --- what is said ---------------------------------------------------------------------------------
def test_a_relation_is_said_above_its_threshold_of_types_that_it_holds_of() -> None:
    everyone = [ADA, OSLO]
    assert said(everyone, [BORN], {(0, 1, 0): 0.7}) == [(0, 1, "place of birth", 0.7)]
    assert said(everyone, [BORN], {(0, 1, 0): 0.4}) == []
    assert said(everyone, [BORN], {(1, 0, 0): 0.9}) == []  # Oslo was born nowhere


def test_of_two_directions_the_likelier_is_said() -> None:
    both = said([ADA, BEN], [CHILD], {(0, 1, 0): 0.6, (1, 0, 0): 0.8})
    assert [(head, tail) for head, tail, _, _ in both] == [(1, 0)]
    tied = said([ADA, BEN], [CHILD], {(0, 1, 0): 0.75, (1, 0, 0): 0.75})
    assert [(head, tail) for head, tail, _, _ in tied] == [(0, 1)]


def test_a_symmetric_relation_is_said_once_with_the_mean() -> None:
    assert said([ADA, BEN], [SPOUSE], {(0, 1, 0): 0.9, (1, 0, 0): 0.3}) == [(0, 1, "spouse", 0.6)]
    assert said([ADA, BEN], [SPOUSE], {(1, 0, 0): 0.9}) == []


@given(st.data())
def test_of_any_scores_no_mention_is_related_to_itself_and_one_direction_stays(
    data: st.DataObject,
) -> None:
    n = data.draw(st.integers(1, 9))
    owners = np.sort(np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))
    starts = data.draw(st.lists(st.integers(0, n - 1), max_size=5))
    places = [
        Place(first, data.draw(st.integers(first, n - 1)), data.draw(st.sampled_from("ab")))
        for first in starts
    ]
    any_types = frozenset({("a", "a"), ("a", "b")})
    types = [
        RelationType("x", 0.3, any_types),
        RelationType("y", 0.3, any_types | {("b", "a")}, symmetric=True),
    ]
    pairs = candidates([(p.first, p.last) for p in places], owners)
    assert pairs.regions.shape == (len(pairs), n)
    numbers = st.floats(0, 1, width=32)
    scores: FloatArray = np.array(
        [[data.draw(numbers) for _ in types] for _ in range(len(pairs))], np.float32
    ).reshape(-1, 2)
    found = {(head, tail, name) for head, tail, name, _ in decode(scores, places, pairs, types)}
    for head, tail, name in found:
        assert (places[head].first, places[head].last) != (places[tail].first, places[tail].last)
        assert (tail, head, name) not in found


# --- models ---------------------------------------------------------------------------------------
def test_a_classifier_of_another_entity_model_is_refused() -> None:
    alien = RelationModel(b"", (BORN,), ("person",), evoner="0" * 64)
    with pytest.raises(ModelError, match="another version of the entity model"):
        RelationClassifier(alien, evoner.shipped().graph)


@pytest.mark.parametrize("damage", ["nothing", "json", "graph", "keys"])
def test_a_damaged_classifier_is_refused(tmp_path: Path, damage: str) -> None:
    (tmp_path / relations.GRAPH).write_bytes(b"graph")
    described: dict[str, object] = {
        "sha256": "0",
        "types": [],
        "relations": [],
        "evoner_sha256": "",
    }
    if damage == "keys":
        described = {}
    if damage != "nothing":
        content = "{" if damage == "json" else json.dumps(described)
        (tmp_path / relations.DESCRIPTION).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        relations.load(tmp_path)
