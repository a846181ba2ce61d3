"""What is named in a lens, and which mentions and descriptions are of one and the same thing.

A mention of a name is a mention of all that its document claims the name to mean, too. A name that
stands in the titles of several documents is several things unless they have a common acquaintance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from smartrag.memory.connection import Connection

IntArray = NDArray[np.int64]

TITLE = 1.0
"""The weight of an about edge from here on says that the name stands in a title or heading."""

COMMON = 5
"""What is named in more paragraphs makes nobody acquainted: with 10 or more, two dev questions of
2Wiki lose a passage; without this rule, MuSiQue loses 1.2 points of recall@5."""

MOST_NAMESAKES = 50
"""A title of more documents, such as "Introduction", is nobody's name."""

_FAMILY = """CASE kind WHEN '' THEN 3 WHEN 'person' THEN 1
             WHEN 'time' THEN 2 WHEN 'number' THEN 2 ELSE 0 END"""
"""Which things of one name are told apart: `perception.names.family`, as a number."""
_NAMED, _PERSON, _VALUE, _UNKNOWN = range(4)


@dataclass(frozen=True, slots=True)
class Rows:
    """Mentions or abouts, in the order of their paragraphs: in which document, of which entity and
    family, where in the paragraph, and how surely."""

    paragraph: IntArray
    document: IntArray
    entity: IntArray
    family: IntArray
    first: IntArray
    weight: NDArray[np.float32]

    def taken(self, rows: IntArray) -> Rows:
        """These rows."""
        return Rows(*(getattr(self, f.name)[rows] for f in fields(self)))


def mentions_of(connection: Connection, lens_id: int) -> Rows:
    """The mentions of a lens."""
    kind = "coalesce(nullif(x.base, ''), x.type)"
    return _rows(connection, lens_id, "mentions", kind, "x.first, 1 AS weight")


def abouts_of(connection: Connection, lens_id: int) -> Rows:
    """What the paragraphs of a lens are about."""
    return _rows(connection, lens_id, "abouts", "x.kind", "0 AS first, x.weight")


def _rows(connection: Connection, lens_id: int, table: str, kind: str, numbers: str) -> Rows:
    """The rows of a table, and one more of each whose name means another one in its document."""
    found = connection.rows(
        f"""WITH seen AS (
              SELECT x.paragraph_id, d.id AS document_id, x.entity_id, {kind} AS kind, {numbers}
                FROM {table} x JOIN paragraphs p ON p.id = x.paragraph_id
                JOIN documents d ON d.id = p.document_id WHERE d.lens_id = ?)
            SELECT paragraph_id, document_id, entity_id, {_FAMILY}, first, weight FROM seen
            UNION ALL
            SELECT paragraph_id, document_id, a.name_id, {_FAMILY}, first, weight
              FROM seen JOIN aliases a USING (document_id)
             WHERE a.other_id = entity_id
               AND a.family = CASE kind WHEN 'person' THEN 'person' ELSE '' END
             ORDER BY paragraph_id""",
        (lens_id,),
    )
    # Entity ids need all of their 63 bits, weights are fractions: objects keep both exactly.
    columns = np.array(found, dtype=object).reshape(-1, 6).T
    paragraph, document, entity, family, first = (c.astype(np.int64) for c in columns[:5])
    return Rows(paragraph, document, entity, family, first, columns[5].astype(np.float32))


# --- what is one thing ----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Things:
    """Thing t is called by entity `entity_ids[t]`.

    Mention row `mention_rows[k]` is of thing `mention[k]`: of several where nothing tells which.
    `about` (a,) is the thing that each about row describes.
    """

    entity_ids: IntArray
    mention_rows: IntArray
    mention: IntArray
    about: IntArray


def things_of(mentions: Rows, abouts: Rows) -> Things:
    """Which thing every row is of.

    All of a name is one thing, but for two cases. A date is never what a paragraph describes as a
    person or a novel. And namesakes are apart: documents with one title that have no acquaintance
    in common (a rare name that the paragraphs of both mention). A mention is of the namesake with
    whom its paragraph has the most in common; where that does not tell, of those of its family;
    and else of all. Types alone tell no namesakes apart: a recogniser that wavers would cut one
    thing in two.
    """
    entity_ids, row = np.unique(
        np.concatenate([mentions.entity, abouts.entity]), return_inverse=True
    )
    n_mentions = len(mentions.entity)
    mention, about = row[:n_mentions].copy(), row[n_mentions:].copy()
    of_thing = list(range(len(entity_ids)))  # which name each thing has; the first has them all
    more_rows: list[int] = []
    more_things: list[int] = []

    described = np.zeros(len(entity_ids), dtype=bool)
    described[about[(abouts.family == _NAMED) | (abouts.family == _PERSON)]] = True
    dates = np.flatnonzero((mentions.family == _VALUE) & described[mention])
    dated, which = np.unique(mention[dates], return_inverse=True)
    mention[dates] = len(of_thing) + which
    of_thing += dated.tolist()

    acquaintances = _Acquaintances(mentions, mention)
    rows_of = _Index(mention)
    for name, described_by in _titles(abouts, about):
        namesakes = _namesakes(abouts, described_by, name, acquaintances)
        if len(namesakes) == 1:
            continue
        first = len(of_thing)
        of_thing += [name] * len(namesakes)
        for number, namesake in enumerate(namesakes):
            about[namesake.rows] = first + number
        for seen in rows_of[name]:
            meant = _meant(namesakes, mentions, seen, acquaintances)
            mention[seen] = first + meant[0]
            more_rows += [seen] * (len(meant) - 1)
            more_things += [first + number for number in meant[1:]]

    mention_rows = np.concatenate([np.arange(n_mentions), np.array(more_rows, dtype=np.int64)])
    all_of = np.concatenate([mention, np.array(more_things, dtype=np.int64), about])
    things, thing = np.unique(all_of, return_inverse=True)
    return Things(
        entity_ids=entity_ids[np.array(of_thing, dtype=np.int64)[things]],
        mention_rows=mention_rows,
        mention=thing[: len(mention_rows)],
        about=thing[len(mention_rows) :],
    )


# --- namesakes ------------------------------------------------------------------------------------
@dataclass(slots=True)
class _Namesake:
    """One of those who share a name: the about rows that describe it, and whom it knows."""

    rows: list[int]
    documents: set[int]
    families: set[int]
    knows: set[int]


class _Index:
    """The places at which each number stands in an array."""

    def __init__(self, numbers: IntArray) -> None:
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def __getitem__(self, number: int) -> list[int]:
        span = slice(*np.searchsorted(self._sorted, [number, number + 1]))
        found: list[int] = self._order[span].tolist()
        return found


class _Acquaintances:
    """The rare names, no dates, that each paragraph mentions."""

    def __init__(self, mentions: Rows, name: IntArray) -> None:
        pairs = np.unique(np.stack([name, mentions.paragraph]), axis=1)
        often = np.bincount(pairs[0], minlength=int(name.max(initial=0)) + 1)
        kept = (often[name] <= COMMON) & (mentions.family != _VALUE)
        self._names = name[kept]
        self._of = _Index(mentions.paragraph[kept])

    def of(self, paragraph: int) -> set[int]:
        """Those of a paragraph."""
        return set(self._names[self._of[paragraph]].tolist())


def _titles(abouts: Rows, name: IntArray) -> Iterator[tuple[int, list[int]]]:
    """Names that stand in titles of several documents, each with all about rows of it."""
    titled = abouts.weight >= TITLE
    pairs = np.unique(np.stack([name[titled], abouts.document[titled]]), axis=1)
    names, documents = np.unique(pairs[0], return_counts=True)
    index = _Index(name)
    for shared in names[(documents > 1) & (documents <= MOST_NAMESAKES)].tolist():
        yield shared, index[shared]


def _namesakes(
    abouts: Rows, rows: Sequence[int], name: int, acquaintances: _Acquaintances
) -> list[_Namesake]:
    """The about rows of one name, put together while they share a document or an acquaintance."""
    found: list[_Namesake] = []
    for row in rows:
        one = _Namesake(
            rows=[row],
            documents={int(abouts.document[row])},
            families={int(abouts.family[row])},
            knows=acquaintances.of(int(abouts.paragraph[row])) - {name},
        )
        apart = []
        for other in found:
            if one.documents & other.documents or one.knows & other.knows:
                one.rows += other.rows
                one.documents |= other.documents
                one.families |= other.families
                one.knows |= other.knows
            else:
                apart.append(other)
        found = [*apart, one]
    return found


def _meant(
    namesakes: Sequence[_Namesake], mentions: Rows, row: int, acquaintances: _Acquaintances
) -> list[int]:
    """The numbers of those whom a mention may mean, one or more."""
    document, family = int(mentions.document[row]), int(mentions.family[row])
    own = [i for i, namesake in enumerate(namesakes) if document in namesake.documents]
    if own:
        return own
    there = acquaintances.of(int(mentions.paragraph[row]))
    common = [len(there & namesake.knows) for namesake in namesakes]
    if max(common) > 0 and common.count(max(common)) == 1:
        return [common.index(max(common))]
    alike = [i for i, namesake in enumerate(namesakes) if {family, _UNKNOWN} & namesake.families]
    return alike or list(range(len(namesakes)))
