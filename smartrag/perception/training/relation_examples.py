"""Passages through EvoNER's eyes: what the relation classifier sees of a text when it learns.

EvoNER stays frozen, so every text is read once by the runtime's own INT8 graph and only vectors are
kept, in float16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.perception.encoder import Encoder, Tokens, open_session
from smartrag.perception.evoner import EvoNERModel
from smartrag.perception.labelled import Entity
from smartrag.perception.labels import BASE_TYPES
from smartrag.perception.relations import Pairs, candidates, sentence_of_words
from smartrag.perception.spans import Span, decode
from smartrag.perception.training.base import RE_DOCRED
from smartrag.perception.training.relation_data import RELATIONS, Passage
from smartrag.perception.words import Words, words_of
from smartrag.types import FloatArray

_READ_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class SpanReading:
    """A text of n words as EvoNER sees it: scores of its k − 1 base types, and span vectors."""

    words: Words
    labels: FloatArray  # (n, W, k)
    spans: FloatArray  # (n, W, z)


class SpanReader:
    """Reads texts with the runtime's graph, span vectors included."""

    def __init__(self, encoder: Encoder, evoner: EvoNERModel) -> None:
        self._encoder, self._caution = encoder, evoner.caution
        self._session = open_session(evoner.graph)

    def read(self, texts: Sequence[str]) -> list[SpanReading]:
        """The texts in order; one without words has none."""
        tokens = [reading.tokens for reading in self._encoder.read(texts, [()] * len(texts))]
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self._read_one, texts, tokens))

    def found(self, reading: SpanReading) -> list[Span]:
        """The mentions that EvoNER finds."""
        return decode(reading.labels, caution=self._caution)

    def _read_one(self, text: str, tokens: Tokens | None) -> SpanReading:
        assert tokens is not None, "the encoder was opened without shared states"
        words, rows = words_of(text, tokens), 1 + len(BASE_TYPES)
        if not len(words):
            return SpanReading(
                words, np.empty((0, 1, rows), np.float32), np.empty((0, 1, 1), np.float32)
            )
        feed = {"states": words.states, "first": words.first, "codes": words.codes}
        labels, spans = self._session.run(["labels", "spans"], feed)
        return SpanReading(words, labels[..., :rows], spans)


@dataclass(frozen=True, slots=True)
class RelationExample:
    """What the classifier sees of a passage, and what it should say.

    `places[i]` is the number of entity i among the m mentions, -1 where it cannot be seen: it cuts
    a word in two, is longer than EvoNER's spans, or beyond what the encoder read.
    """

    passage: Passage
    places: tuple[int, ...]
    words: NDArray[np.float16]  # (n, z)
    mentions: NDArray[np.float16]  # (m, z)
    types: NDArray[np.int64]  # (m,)
    pairs: Pairs
    gold: NDArray[np.int8]  # (p, r): 1 holds, 0 does not, -1 nobody knows


def relation_examples(
    passages: Sequence[Passage], reader: SpanReader, relations: Sequence[str] = RELATIONS
) -> list[RelationExample]:
    """The passages that have at least one pair to judge."""
    found = []
    for begin in range(0, len(passages), _READ_AT_ONCE):
        some = passages[begin : begin + _READ_AT_ONCE]
        readings = reader.read([p.sentence().text for p in some])
        for passage, reading in zip(some, readings, strict=True):
            extra = reader.found(reading) if passage.sparse else []
            example = _example(passage, reading, extra, relations)
            if len(example.pairs):
                found.append(example)
    return found


def _example(
    passage: Passage, reading: SpanReading, extra: Sequence[Span], relations: Sequence[str]
) -> RelationExample:
    """`extra` are mentions that stand in none of the relations that were asked for: a set that asks
    marks all arguments of what it asks for, pronouns too, and nothing else."""
    marked = list(marked_words(passage, reading))
    places: list[int] = []
    bounds: list[tuple[int, int]] = []
    types: list[int] = []
    for entity, (first, last) in zip(passage.entities, marked, strict=True):
        seen = 0 <= first <= last < first + reading.labels.shape[1]
        places.append(len(bounds) if seen else -1)
        if seen:
            bounds.append((first, last))
            types.append(likeliest_type(entity, reading.labels[first, last - first]))
    for span in extra:
        if all(span.last < first or last < span.first for first, last in marked):
            bounds.append((span.first, span.last))
            types.append(span.row - 1)
    owners = sentence_of_words(reading.words.spans, passage.sentence_spans())
    pairs = candidates(bounds, owners)
    first_words, last_words = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return RelationExample(
        passage=passage,
        places=tuple(places),
        words=reading.spans[:, 0].astype(np.float16),
        mentions=reading.spans[first_words, last_words - first_words].astype(np.float16),
        types=np.array(types, dtype=np.int64),
        pairs=pairs,
        gold=_gold(passage, places, pairs, relations),
    )


def marked_words(passage: Passage, reading: SpanReading) -> Iterator[tuple[int, int]]:
    """The first and the last word of each entity; -1 for an end that is no border of a word."""
    tokens = passage.sentence().spans()
    starts = {start: word for word, (start, _) in enumerate(reading.words.spans.tolist())}
    ends = {end: word for word, (_, end) in enumerate(reading.words.spans.tolist())}
    for entity in passage.entities:
        yield starts.get(tokens[entity.first][0], -1), ends.get(tokens[entity.last][1], -1)


def likeliest_type(entity: Entity, labels: FloatArray) -> int:
    """The number, from 0, of the base type that EvoNER gives, among those that gold leaves open."""
    rows = list(RE_DOCRED.rows_of.get(entity.type, range(1, 1 + len(BASE_TYPES))))
    return rows[int(labels[rows].argmax())] - 1


def _gold(
    passage: Passage, places: Sequence[int], pairs: Pairs, relations: Sequence[str]
) -> NDArray[np.int8]:
    column = {name: number for number, name in enumerate(relations)}
    ends = zip(pairs.heads.tolist(), pairs.tails.tolist(), strict=True)
    row = {pair: number for number, pair in enumerate(ends)}
    gold = np.zeros((len(pairs), len(relations)), dtype=np.int8)
    if passage.asked is not None:
        gold[:, [number for name, number in column.items() if name not in passage.asked]] = -1
    for facts, value in ((passage.unsure, -1), (passage.holds, 1)):
        for head, tail, name in facts:
            pair = row.get((places[head], places[tail]))
            if pair is not None and name in column:
                gold[pair, column[name]] = value
    return gold
