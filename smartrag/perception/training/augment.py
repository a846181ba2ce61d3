"""Copies of labelled sentences that name other things of the same types.

The hundred sentences of a lesson name few things, and a model learns their words instead of the
places where such a thing is named. Exchanging mentions breaks that (mention replacement: Dai and
Adel 2020, An Analysis of Simple Data Augmentation for Named Entity Recognition, §3).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from smartrag.perception.labelled import Entity, Sentence

SHARE = 0.5
"""Of the mentions, how many are exchanged."""


def with_copies(sentences: Sequence[Sentence], copies: int, seed: int) -> list[Sentence]:
    """The sentences, and after them `copies` copies of each that has entities."""
    chance = random.Random(seed)
    found = list(sentences)
    for _ in range(copies):
        found += with_other_mentions(sentences, chance)
    return found


def with_other_mentions(
    sentences: Sequence[Sentence], chance: random.Random, share: float = SHARE
) -> list[Sentence]:
    """A copy of each sentence that has entities, which must not overlap; each entity is with
    probability `share` a mention of its type drawn from all of the sentences."""
    mentions: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for sentence in sentences:
        for entity in sentence.entities:
            mentions[entity.type].append(_words(sentence, entity))

    def copy(sentence: Sentence) -> Sentence:
        tokens: list[str] = []
        entities: list[Entity] = []
        done = 0
        for entity in sentence.entities:
            said = _words(sentence, entity)
            if chance.random() < share:
                said = chance.choice(mentions[entity.type])
            tokens += sentence.tokens[done : entity.first]
            entities.append(Entity(len(tokens), len(tokens) + len(said) - 1, entity.type))
            tokens += said
            done = entity.last + 1
        tokens += sentence.tokens[done:]
        return Sentence(sentence.id, tuple(tokens), tuple(entities))

    return [copy(sentence) for sentence in sentences if sentence.entities]


def _words(sentence: Sentence, entity: Entity) -> tuple[str, ...]:
    return sentence.tokens[entity.first : entity.last + 1]
