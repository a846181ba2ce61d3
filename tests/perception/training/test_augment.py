from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.labelled import Entity, Sentence
from smartrag.perception.training.augment import with_copies

WORDS = st.sampled_from(["Ada", "sang", "in", "New", "York", "Queen"])
TYPES = st.sampled_from(["person", "band", ""])
"""Of a part of a sentence; "" for words that are no entity."""


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A sentence of one to six parts, each an entity or none."""
    tokens: list[str] = []
    entities: list[Entity] = []
    for type_ in draw(st.lists(TYPES, min_size=1, max_size=6)):
        words = draw(st.lists(WORDS, min_size=1, max_size=3))
        if type_:
            entities.append(Entity(len(tokens), len(tokens) + len(words) - 1, type_))
        tokens += words
    return Sentence("1", tuple(tokens), tuple(entities))


def mentions(sentence: Sentence) -> list[tuple[str, tuple[str, ...]]]:
    return [(e.type, sentence.tokens[e.first : e.last + 1]) for e in sentence.entities]


def others(sentence: Sentence) -> list[str]:
    """The words that belong to no entity."""
    named = {row for e in sentence.entities for row in range(e.first, e.last + 1)}
    return [token for row, token in enumerate(sentence.tokens) if row not in named]


@given(st.lists(sentences(), max_size=4), st.integers(0, 3), st.integers(0, 9))
def test_a_copy_names_other_things_of_the_same_types(
    found: list[Sentence], copies: int, seed: int
) -> None:
    shown = with_copies(found, copies, seed)
    assert shown[: len(found)] == found
    labelled = [sentence for sentence in found if sentence.entities]
    assert len(shown) == len(found) + copies * len(labelled)
    known = {mention for sentence in found for mention in mentions(sentence)}
    for copy, original in zip(shown[len(found) :], labelled * copies, strict=True):
        assert others(copy) == others(original)
        assert [e.type for e in copy.entities] == [e.type for e in original.entities]
        assert known.issuperset(mentions(copy))


def test_about_half_of_the_mentions_are_exchanged_and_the_seed_says_which() -> None:
    found = [Sentence(str(n), (f"Name{n}", "sang"), (Entity(0, 0, "person"),)) for n in range(200)]
    copies = with_copies(found, 1, seed=3)[200:]
    exchanged = sum(a.tokens != b.tokens for a, b in zip(copies, found, strict=True))
    assert 70 < exchanged < 130
    assert copies == with_copies(found, 1, seed=3)[200:]
    assert copies != with_copies(found, 1, seed=4)[200:]
