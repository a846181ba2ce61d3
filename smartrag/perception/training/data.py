"""Labelled sentences as tensors.

A data set may know fewer types than the model, or coarser ones. So a span does not carry one label
but the set of labels that its data set leaves open: an unlabelled span of a set that does not mark
dates is "no entity" *or* a date; a MISC span is a work, a product, an event or something else.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from smartrag.perception.encoder import Encoder
from smartrag.perception.labelled import Entity, Sentence
from smartrag.perception.spans import NO_ENTITY
from smartrag.perception.words import CHARACTERS, Words, words_of

_READ_AT_ONCE = 1024
_LENGTH_NOISE = 8.0


@dataclass(frozen=True, slots=True)
class Guideline:
    """What the labels of a data set say about the rows of the model.

    `rows_of` gives the rows that a type may stand for, `unmarked` the rows whose things the set
    leaves without a label. Types that `rows_of` does not know are left open altogether.
    """

    rows_of: Mapping[str, tuple[int, ...]]
    unmarked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """Words `first` to `last` (inclusive) are an entity of one of `rows`.

    `name` is the type in the data set's own words.
    """

    first: int
    last: int
    rows: tuple[int, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """One text of n words with its entities.

    `unmarked` are the rows that an unlabelled span may be beside "no entity"; with `open`, bool
    (n, W), only where that is true: span (i, w) covers words i … i + w.
    """

    words: Words
    gold: tuple[Gold, ...]
    unmarked: tuple[int, ...] = ()
    open: NDArray[np.bool_] | None = None


def examples(
    sentences: Sequence[Sentence], guideline: Guideline, encoder: Encoder, rows: int
) -> list[Example]:
    """The sentences as the encoder reads them; entities that cut a word in two are left out.

    States are kept as float16, half the memory, and read back as float32.
    """
    found = []
    for begin in range(0, len(sentences), _READ_AT_ONCE):
        some = sentences[begin : begin + _READ_AT_ONCE]
        readings = encoder.read([s.text for s in some], [()] * len(some))
        for sentence, reading in zip(some, readings, strict=True):
            assert reading.tokens is not None
            words = words_of(sentence.text, reading.tokens)
            if not len(words):
                continue
            gold = tuple(
                Gold(first, last, (), name) for first, last, name in gold_words(sentence, words)
            )
            half = replace(words, states=words.states.astype(np.float16))
            found.append(Example(half, gold))
    return labelled(found, guideline, rows)


def labelled(found: Iterable[Example], guideline: Guideline, rows: int) -> list[Example]:
    """The same texts with what a guideline says about the first `rows` rows, which may be more
    than when they were read. A thing of a type that it does not know is of none that it does."""
    known = {row for of_type in guideline.rows_of.values() for row in of_type}
    something_else = tuple(row for row in range(rows) if row not in known)
    return [
        replace(
            example,
            gold=tuple(
                replace(g, rows=guideline.rows_of.get(g.name, something_else)) for g in example.gold
            ),
            unmarked=guideline.unmarked,
        )
        for example in found
    ]


def gold_words(sentence: Sentence, words: Words) -> Iterator[tuple[int, int, str]]:
    """The entities of a sentence as (first word, last word, type), those of whole words only."""
    starts = {start: row for row, (start, _) in enumerate(words.spans.tolist())}
    ends = {end: row for row, (_, end) in enumerate(words.spans.tolist())}
    tokens = sentence.spans()
    for entity in sentence.entities:
        first, last = starts.get(tokens[entity.first][0]), ends.get(tokens[entity.last][1])
        if first is not None and last is not None:
            yield first, last, entity.type


def packed(sentences: Sequence[Sentence], words: int, seed: int) -> list[Sentence]:
    """Half of the sentences as they are, the others joined to texts of up to `words` tokens.

    Documents are read in paragraphs, questions in single sentences: the model must know both.
    """
    chance = random.Random(seed)
    texts: list[Sentence] = []
    pending: list[Sentence] = []
    for sentence in sentences:
        if chance.random() < 0.5 or len(sentence.tokens) > words:
            texts.append(sentence)
            continue
        if pending and sum(len(s.tokens) for s in pending) + len(sentence.tokens) > words:
            texts.append(_joined(pending))
            pending = []
        pending.append(sentence)
    if pending:
        texts.append(_joined(pending))
    return texts


def _joined(sentences: Iterable[Sentence]) -> Sentence:
    tokens: list[str] = []
    entities: list[Entity] = []
    names = []
    for sentence in sentences:
        shift = len(tokens)
        entities += [Entity(e.first + shift, e.last + shift, e.type) for e in sentence.entities]
        tokens += sentence.tokens
        names.append(sentence.id)
    return Sentence("+".join(names), tuple(tokens), tuple(entities))


@dataclass(frozen=True, slots=True)
class Batch:
    """B texts padded to t tokens and n words.

    `allowed` numbers, for each span, a row of `sets`, bool (sets, k): the labels that it may have;
    `valid` leaves out padding and spans that run over the end. `starts` and `ends` are 1, 0, or -1
    where nothing is known.
    """

    states: Tensor  # (B, t, d) float32
    mask: Tensor  # (B, t) bool
    first: Tensor  # (B, n) int64
    codes: Tensor  # (B, n, characters) int64
    valid: Tensor  # (B, n, W) bool
    allowed: Tensor  # (B, n, W) int64
    sets: Tensor  # (sets, k) bool
    starts: Tensor  # (B, n) float32
    ends: Tensor  # (B, n) float32


def collate(
    chosen: Sequence[Example],
    rows: int,
    widths: int,
    silent: frozenset[int] = frozenset(),
    lower: Sequence[bool] | None = None,
) -> Batch:
    """One batch. A border of an entity that may be of a `silent` row carries no boundary loss.

    `lower[b]` says that text b is read as if it were written without capitals.
    """
    t = max(len(e.words.states) for e in chosen)
    n = max(len(e.words) for e in chosen)
    states = np.zeros((len(chosen), t, chosen[0].words.states.shape[1]), dtype=np.float32)
    mask = np.zeros((len(chosen), t), dtype=bool)
    first = np.zeros((len(chosen), n), dtype=np.int64)
    codes = np.zeros((len(chosen), n, CHARACTERS), dtype=np.int64)
    valid = np.zeros((len(chosen), n, widths), dtype=bool)
    allowed = np.zeros((len(chosen), n, widths), dtype=np.int64)
    borders = np.full((2, len(chosen), n), -1, dtype=np.float32)
    sets: dict[tuple[int, ...], int] = {}

    def number(labels: Iterable[int]) -> int:
        return sets.setdefault(tuple(sorted(set(labels))), len(sets))

    start = np.arange(n)[:, None]  # (n, 1): first word of each span
    end = start + np.arange(widths)[None, :]  # (n, W): last word of each span
    for b, example in enumerate(chosen):
        size, own = len(example.words.states), len(example.words)
        states[b, :size], mask[b, :size] = example.words.states, True
        first[b, :own] = example.words.first
        codes[b, :own] = example.words.codes
        if lower and lower[b]:
            codes[b] = _lowered(codes[b])
        valid[b] = end < own
        allowed[b] = number((NO_ENTITY, *example.unmarked))
        borders[:, b, :own] = 0
        if example.open is not None:
            allowed[b, :own][~example.open] = number((NO_ENTITY,))
            borders[0, b, :own][example.open.any(axis=1)] = -1
            for word, width in np.argwhere(example.open & valid[b, :own]).tolist():
                borders[1, b, word + width] = -1
        for gold in example.gold:
            # Entities do not overlap: what crosses a labelled one is none, whatever is unmarked.
            allowed[b][(end >= gold.first) & (start <= gold.last)] = number((NO_ENTITY,))
        for gold in example.gold:
            if gold.last - gold.first < widths:
                allowed[b, gold.first, gold.last - gold.first] = number(gold.rows)
            known = -1 if silent.intersection(gold.rows) else 1
            borders[0, b, gold.first], borders[1, b, gold.last] = known, known
    table = np.zeros((len(sets), rows), dtype=bool)
    for labels, row in sets.items():
        table[row, list(labels)] = True
    arrays = (states, mask, first, codes, valid, allowed, table, *borders)
    return Batch(*map(torch.from_numpy, arrays))


def _lowered(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes of the same characters in lower case; "A" to "Z" are 34 to 59."""
    return np.where((codes >= 34) & (codes <= 59), codes + 32, codes)


def batches(
    found: Sequence[Example], tokens: int, chance: random.Random
) -> Iterator[list[Example]]:
    """All examples once, in batches of about `tokens` tokens; texts of like length share one."""
    order = sorted(
        found, key=lambda e: len(e.words.states) + chance.uniform(-_LENGTH_NOISE, _LENGTH_NOISE)
    )
    groups: list[list[Example]] = [[]]
    for example in order:
        size = max(len(e.words.states) for e in (*groups[-1], example))
        if groups[-1] and size * (len(groups[-1]) + 1) > tokens:
            groups.append([])
        groups[-1].append(example)
    chance.shuffle(groups)
    yield from groups
