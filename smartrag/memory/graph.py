"""The graph of one lens as arrays: paragraphs, sentences, entities and the edges between them.

Built from the tables once per graph version and only read afterwards. Rows number paragraphs,
sentences and entities from 0; paragraphs are in ascending order of their id. An entity of a graph
is one thing, so a name of the tables may be several of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.memory.connection import Connection
from smartrag.memory.things import abouts_of, mentions_of, things_of
from smartrag.memory.vectors import VectorRows
from smartrag.text import folded_words

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Edges:
    """Compressed sparse rows: the targets of row i are `targets[offsets[i]:offsets[i + 1]]`."""

    offsets: IntArray
    targets: IntArray
    weights: NDArray[np.float32]

    def of(self, row: int) -> IntArray:
        """The targets of a row."""
        return self.targets[self.offsets[row] : self.offsets[row + 1]]

    def weighted(self, row: int) -> tuple[IntArray, NDArray[np.float32]]:
        """The targets of a row and their weights."""
        span = slice(self.offsets[row], self.offsets[row + 1])
        return self.targets[span], self.weights[span]


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges between n paragraphs, m sentences and e entities.

    `about` and `described_by` carry the weight of the about edge divided by √(paragraphs with that
    name), so an ambiguous name shares its strength.
    `frequency[e]` counts the paragraphs that mention entity e or are about it; `rarity[e]` is
    ln((n + 1) / frequency) / ln(n + 1): 1 for a single paragraph, near 0 for a name in all of them.
    """

    first_sentence: IntArray  # int64[n + 1]: sentences of paragraph p are first[p]:first[p + 1]
    entities_in: Edges  # sentence → entities mentioned in it
    mentioned_by: Edges  # entity → paragraphs that mention it
    described_by: Edges  # entity → paragraphs about it
    about: Edges  # paragraph → entities it is about
    frequency: IntArray
    rarity: NDArray[np.float32]
    names: tuple[str, ...]
    aliases: dict[tuple[str, ...], tuple[int, ...]]  # folded words → entities with an about edge
    alias_lengths: dict[str, tuple[int, ...]]  # first word → lengths of aliases, longest first

    @property
    def n_paragraphs(self) -> int:
        """How many paragraphs there are."""
        return len(self.first_sentence) - 1


def load(connection: Connection, lens_id: int, paragraph_ids: IntArray, rows: VectorRows) -> Graph:
    """Read the graph of a lens; `rows` gives the sentences of `paragraph_ids`, in their order."""
    n = len(paragraph_ids)
    first_sentence = np.concatenate([[0], np.cumsum(rows.sentence_counts, dtype=np.int64)])
    mentions, abouts = mentions_of(connection, lens_id), abouts_of(connection, lens_id)
    things = things_of(mentions, abouts)
    names = _names(connection, things.entity_ids)
    mentions = mentions.taken(things.mention_rows)

    mention_paragraph = np.searchsorted(paragraph_ids, mentions.paragraph)
    in_sentence = rows.sentence_counts[mention_paragraph] > 0
    mention_sentence = _sentence_at(
        first_sentence, rows, mention_paragraph[in_sentence], mentions.first[in_sentence]
    )
    about_paragraph = np.searchsorted(paragraph_ids, abouts.paragraph)

    bearers = np.bincount(things.about, minlength=len(names))
    _, name = np.unique(things.entity_ids, return_inverse=True)
    shared = np.sqrt(np.bincount(name[things.about], minlength=len(names)))[name[things.about]]
    weight = (abouts.weight / shared).astype(np.float32)
    seen = np.unique(
        np.concatenate([things.mention, things.about]) * (n + 1)
        + np.concatenate([mention_paragraph, about_paragraph])
    )
    frequency = np.bincount(seen // (n + 1), minlength=len(names)).astype(np.int64)
    rarity = np.log((n + 1) / np.maximum(frequency, 1)) / np.log(n + 1) if n else np.empty(0)
    aliases, lengths = _alias_index(names, np.flatnonzero(bearers))
    return Graph(
        first_sentence=first_sentence,
        entities_in=_edges(mention_sentence, things.mention[in_sentence], int(first_sentence[-1])),
        mentioned_by=_edges(things.mention, mention_paragraph, len(names)),
        described_by=_edges(things.about, about_paragraph, len(names), weight),
        about=_edges(about_paragraph, things.about, n, weight),
        frequency=frequency,
        rarity=rarity.astype(np.float32),
        names=names,
        aliases=aliases,
        alias_lengths=lengths,
    )


def _names(connection: Connection, entity_ids: IntArray) -> tuple[str, ...]:
    """Names in the order of `entity_ids`, which may leave entities out and name some twice."""
    by_id: dict[int, str] = dict(connection.rows("SELECT id, name FROM entities"))
    return tuple(by_id[entity] for entity in entity_ids.tolist())


def _sentence_at(
    first_sentence: IntArray, rows: VectorRows, paragraph: IntArray, offset: IntArray
) -> IntArray:
    """The sentence in which each mention begins, in paragraphs that have one.

    A mention between two sentences belongs to the former, one before the first to the first.
    """
    reach = np.int64(1) << 32
    owner = np.repeat(np.arange(len(rows.owners), dtype=np.int64), rows.sentence_counts)
    starts = owner * reach + rows.sentence_spans[:, 0]
    found = np.searchsorted(starts, paragraph * reach + offset, side="right") - 1
    return np.maximum(found, first_sentence[paragraph])


def _edges(
    sources: IntArray, targets: IntArray, n_sources: int, weights: NDArray[np.float32] | None = None
) -> Edges:
    """Edges sorted by source, each pair once; the pair's weight is that of its first row."""
    width = int(targets.max(initial=0)) + 1
    pairs, first = np.unique(sources * width + targets, return_index=True)
    kept = np.ones(len(pairs), np.float32) if weights is None else weights[first].astype(np.float32)
    offsets = np.searchsorted(pairs // width, np.arange(n_sources + 1))
    return Edges(offsets.astype(np.int64), pairs % width, kept)


def _alias_index(
    names: Sequence[str], described: IntArray
) -> tuple[dict[tuple[str, ...], tuple[int, ...]], dict[str, tuple[int, ...]]]:
    aliases: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for entity in described.tolist():
        aliases[folded_words(names[entity])].append(entity)
    lengths: dict[str, set[int]] = defaultdict(set)
    for key in aliases:
        lengths[key[0]].add(len(key))
    return (
        {key: tuple(found) for key, found in aliases.items()},
        {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()},
    )
