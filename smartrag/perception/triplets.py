"""What a text says of the things it names, as triplets: the classifier's relations between names.

A pronoun that surely stands for the main entity is one more place where it is named: half of what
an article says of a person, it says of "he" or "she".
"""

from __future__ import annotations

from collections.abc import Sequence

from smartrag.perception.coreference import antecedents
from smartrag.perception.relations import Place, RelationClassifier
from smartrag.perception.words import Words
from smartrag.text import normal_name, sentence_spans
from smartrag.types import FloatArray, Mention, Triplet


def triplets(
    text: str,
    words: Words,
    spans: FloatArray,
    mentions: Sequence[Mention],
    places: Sequence[Place],
    classifier: RelationClassifier,
) -> tuple[Triplet, ...]:
    """The triplets of a text by where they are said; `spans` are EvoNER's vectors (n, W, z), and
    `places` those of the mentions.

    Of one fact that a sentence states several times only the surest statement is kept.
    """
    places, names = with_references(text, words, mentions, places)
    found: dict[tuple[str, str, str, int], Triplet] = {}
    for said in classifier.relations(words, places, spans, sentence_spans(text)):
        head, tail = names[said.head], names[said.tail]
        key = (normal_name(head), said.name, normal_name(tail), said.start)
        if key[0] == key[2]:
            continue  # "Abel and his brother": two places, one name
        if key not in found or found[key].score < said.score:
            found[key] = Triplet(head, said.name, tail, said.start, said.end, said.score)
    return tuple(sorted(found.values(), key=lambda t: (t.start, t.head, t.relation, t.tail)))


def with_references(
    text: str, words: Words, mentions: Sequence[Mention], places: Sequence[Place]
) -> tuple[list[Place], list[str]]:
    """The places of mentions and of what stands for one of them, and the name of each."""
    found, names = list(places), [mention.surface for mention in mentions]
    types = {name: place.type for name, place in zip(names, places, strict=True)}
    starts = {start: word for word, (start, _) in enumerate(words.spans.tolist())}
    ends = {end: word for word, (_, end) in enumerate(words.spans.tolist())}
    for link in antecedents(text, mentions):
        first, last = starts.get(link.start), ends.get(link.end)
        if first is not None and last is not None:
            found.append(Place(first, last, types[link.name]))
            names.append(link.name)
    return found, names
