"""The graph of one lens as arrays: paragraphs, sentences, entities and the edges between them.

Built from the tables once per graph version and only read afterwards: a mention of a name is one of
all that the document claims the name to mean too, and namesakes are told apart. Rows number
paragraphs, sentences and entities from 0; paragraphs are in ascending order of their id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.memory.connection import Connection
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
    name), so an ambiguous name shares its strength and never picks one of its bearers.
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
    mentions, abouts = _mentions(connection, lens_id), _abouts(connection, lens_id)
    things = things_of(mentions, abouts)
    names = _names(connection, things.entity_ids)

    mention_paragraph = np.searchsorted(paragraph_ids, mentions.paragraph)
    in_sentence = rows.sentence_counts[mention_paragraph] > 0
    mention_sentence = _sentence_at(
        first_sentence, rows, mention_paragraph[in_sentence], mentions.first[in_sentence]
    )
    about_paragraph = np.searchsorted(paragraph_ids, abouts.paragraph)[things.about_rows]

    bearers = np.bincount(things.about, minlength=len(names))
    shared = np.sqrt(np.maximum(bearers, 1)).astype(np.float32)
    weight = abouts.weight[things.about_rows] / shared[things.about]
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


# --- rows of the tables ---------------------------------------------------------------------------
_FAMILY = """CASE kind WHEN '' THEN 3 WHEN 'person' THEN 1
             WHEN 'time' THEN 2 WHEN 'number' THEN 2 ELSE 0 END"""
"""Which things of one name are told apart: `perception.names.family`, as a number."""
_NAMED, _PERSON, _VALUE, _UNKNOWN = range(4)


@dataclass(frozen=True, slots=True)
class Rows:
    """Mentions or abouts, in the order of their paragraphs: of which entity and family; where they
    stand, and how surely."""

    paragraph: IntArray
    entity: IntArray
    family: IntArray
    first: IntArray
    weight: NDArray[np.float32]


def _mentions(connection: Connection, lens_id: int) -> Rows:
    kind = "coalesce(nullif(x.base, ''), x.type)"
    return _rows(connection, lens_id, "mentions", kind, "x.first, 1 AS weight")


def _abouts(connection: Connection, lens_id: int) -> Rows:
    return _rows(connection, lens_id, "abouts", "x.kind", "0 AS first, x.weight")


def _rows(connection: Connection, lens_id: int, table: str, kind: str, numbers: str) -> Rows:
    """The rows of a table, and one more of each whose name means another one in its document."""
    found = connection.rows(
        f"""WITH seen AS (
              SELECT x.paragraph_id, d.id AS document_id, x.entity_id, {kind} AS kind, {numbers}
                FROM {table} x JOIN paragraphs p ON p.id = x.paragraph_id
                JOIN documents d ON d.id = p.document_id WHERE d.lens_id = ?)
            SELECT paragraph_id, entity_id, {_FAMILY}, first, weight FROM seen
            UNION ALL
            SELECT paragraph_id, a.name_id, {_FAMILY}, first, weight
              FROM seen JOIN aliases a USING (document_id)
             WHERE a.other_id = entity_id
               AND a.family = CASE kind WHEN 'person' THEN 'person' ELSE '' END
             ORDER BY paragraph_id""",
        (lens_id,),
    )
    # Entity ids need all of their 63 bits, weights are fractions: objects keep both exactly.
    columns = np.array(found, dtype=object).reshape(-1, 5).T
    paragraph, entity, family, first = (column.astype(np.int64) for column in columns[:4])
    return Rows(paragraph, entity, family, first, columns[4].astype(np.float32))


# --- what is one thing ----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Things:
    """What is named: thing t is called by entity `entity_ids[t]`.

    `mention` (m,) is the thing of every mention. The about row `about_rows[k]` describes thing
    `about[k]`; a row of which no family is known describes every thing of its name.
    """

    entity_ids: IntArray
    mention: IntArray
    about_rows: IntArray
    about: IntArray


def things_of(mentions: Rows, abouts: Rows) -> Things:
    """Namesakes are two things where paragraphs describe both, a person and a place, say, and the
    paragraphs of the one name nothing that those of the other do.

    A recogniser that wavers would else cut things in two: so two paragraphs with a common
    acquaintance are of one thing, whatever its type, and a mention of a family that no paragraph
    describes is of the thing that is described. Only a date is never a person or a novel.
    """
    entity_ids, row = np.unique(
        np.concatenate([mentions.entity, abouts.entity]), return_inverse=True
    )
    mention_row, about_row = row[: len(mentions.entity)], row[len(mentions.entity) :]
    described = np.zeros((len(entity_ids), _UNKNOWN), dtype=bool)
    known = abouts.family != _UNKNOWN
    described[about_row[known], abouts.family[known]] = True
    anything = described.sum(axis=1) > 0
    described[~anything, _NAMED] = True
    family = abouts.family.copy()
    by_name = np.flatnonzero(known)[np.argsort(about_row[known], kind="stable")]
    for several in np.flatnonzero(described.sum(axis=1) > 1):
        inside = by_name[slice(*np.searchsorted(about_row[by_name], [several, several + 1]))]
        if _have_common_acquaintance(mentions, abouts, inside):
            first = described[several].argmax()
            described[several] = np.arange(_UNKNOWN) == first
            family[inside] = first
    own = described[mention_row, mentions.family]
    own |= (mentions.family == _VALUE) & anything[mention_row]
    of_mention = np.where(own, mentions.family, described.argmax(axis=1)[mention_row])

    # A row of unknown family stands for one row each of the families that are described.
    unknown = np.flatnonzero(~known)
    which, families = np.nonzero(described[about_row[unknown]])
    about_rows = np.concatenate([np.flatnonzero(known), unknown[which]])
    of_about = np.concatenate([family[known], families])

    keys = np.concatenate(
        [_UNKNOWN * mention_row + of_mention, _UNKNOWN * about_row[about_rows] + of_about]
    )
    things, thing = np.unique(keys, return_inverse=True)
    return Things(
        entity_ids=entity_ids[things // _UNKNOWN],
        mention=thing[: len(mention_row)],
        about_rows=about_rows,
        about=thing[len(mention_row) :],
    )


def _have_common_acquaintance(mentions: Rows, abouts: Rows, inside: IntArray) -> bool:
    """Whether paragraphs about one name, in the about rows `inside`, but of different families name
    one and the same other thing; dates are none."""
    named: list[set[int]] = []
    for family in np.unique(abouts.family[inside]):
        others: set[int] = set()
        for paragraph in abouts.paragraph[inside[abouts.family[inside] == family]]:
            # Mentions are in the order of their paragraphs.
            there = slice(*np.searchsorted(mentions.paragraph, [paragraph, paragraph + 1]))
            is_name = mentions.family[there] != _VALUE
            others.update(mentions.entity[there][is_name].tolist())
        others.discard(int(abouts.entity[inside[0]]))
        if any(others & before for before in named):
            return True
        named.append(others)
    return False


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
