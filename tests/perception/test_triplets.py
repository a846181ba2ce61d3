"""What the shipped classifier says of a text, and by which names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartrag.perception import Encoder, EvoNER, Perception, evoner, relations
from smartrag.perception.relations import RelationClassifier
from smartrag.settings import PerceptionSettings
from smartrag.types import Document, Triplet


@pytest.fixture(scope="module")
def perception(minilm_shared: Encoder) -> Perception:
    classifier = RelationClassifier(relations.shipped(), evoner.shipped().graph)
    perceiver = EvoNER(evoner.shipped(), relations=classifier)
    return Perception(minilm_shared, perceiver, PerceptionSettings())


def said(perception: Perception, text: str, title: str = "") -> tuple[Triplet, ...]:
    document = Document("d", text, title)
    [seen] = perception.observe([(document, p) for p in perception.split(document)])
    return seen.triplets


def facts(found: tuple[Triplet, ...]) -> set[tuple[str, str, str]]:
    return {(t.head, t.relation, t.tail) for t in found}


def test_a_sentence_says_where_somebody_was_born_and_where_that_lies(
    perception: Perception,
) -> None:
    before = "Nobody can say any more what the weather was like. "
    fact = "Niels Abel was born in Nedstrand, a village in Norway."
    text = f"{before}{fact} But somebody may still know what they had for dinner."
    found = said(perception, text)
    assert ("Niels Abel", "place of birth", "Nedstrand") in facts(found)
    assert ("Nedstrand", "country", "Norway") in facts(found)
    for one in found:
        assert text[one.start : one.end] == fact
        assert 0 < one.score <= 1


def test_direction_is_kept(perception: Perception) -> None:
    found = facts(said(perception, "Anna Berg founded the Nordlys Company in 1990."))
    assert ("Nordlys Company", "founded by", "Anna Berg") in found
    assert ("Anna Berg", "founded by", "Nordlys Company") not in found


def test_a_pronoun_speaks_of_whom_the_text_is_about(perception: Perception) -> None:
    text = "Niels Abel was a mathematician. In those years he lived quietly. He was born in Oslo."
    assert ("Niels Abel", "place of birth", "Oslo") in facts(said(perception, text))


def test_a_title_says_of_whom_the_first_sentence_speaks(perception: Perception) -> None:
    found = said(perception, "He was born in Oslo.", title="Niels Abel")
    assert ("Niels Abel", "place of birth", "Oslo") in facts(found)
    assert {(t.start, t.end) for t in found} == {(0, 20)}


def test_a_title_alone_says_nothing(perception: Perception) -> None:
    assert said(perception, "It rained.", title="Niels Abel of Oslo, Norway") == ()


def test_nothing_is_said_where_nothing_is_related(perception: Perception) -> None:
    assert said(perception, "It rained, and nobody came.") == ()
    assert said(perception, "Niels Abel and Anna Berg disliked the music of the Beatles.") == ()


def test_without_a_classifier_nothing_is_said(minilm_shared: Encoder) -> None:
    perception = Perception(minilm_shared, EvoNER(evoner.shipped()), PerceptionSettings())
    assert said(perception, "Niels Abel was born in Oslo.") == ()


WORDS = st.sampled_from("Niels Abel he his Oslo Norway was born in 1802 . , ( ) 東京 é".split())


@settings(max_examples=30)
@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from(["", "Niels Abel", "Oslo."]))
def test_whatever_is_said_stands_in_the_text(perception: Perception, text: str, title: str) -> None:
    if not text.strip():
        return
    for one in said(perception, text, title):
        assert 0 <= one.start < one.end <= len(text)
        assert one.head in title + text
        assert one.tail in title + text
        assert one.head.casefold() != one.tail.casefold()
