"""Relations of entities: one edge a fact, one row of evidence for every place that states it.

An edge is keyed by head, relation and tail and counts its evidence (paper §3.3). It is there as
long as some evidence is: triggers of the schema count, whoever deletes. That two names share a
sentence is no row here; such edges are made from the mentions when a graph is loaded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from smartrag.memory.connection import Connection
from smartrag.types import Fact, Statement

Row = tuple[int, str, int, int, int, int, float]
"""Head, relation, tail, paragraph, and where it is stated there: first, last, score."""


def write(connection: Connection, rows: Sequence[Row]) -> None:
    """Write observations of entities that are there; one that is known already is not counted."""
    connection.execute_many(
        """INSERT INTO relations (head_id, name, tail_id) VALUES (?, ?, ?)
           ON CONFLICT (head_id, name, tail_id) DO NOTHING""",
        [row[:3] for row in rows],
    )
    connection.execute_many(
        """INSERT OR IGNORE INTO relation_evidence (relation_id, paragraph_id, first, last, score)
           SELECT id, ?4, ?5, ?6, ?7 FROM relations
            WHERE head_id = ?1 AND name = ?2 AND tail_id = ?3""",
        rows,
    )


def facts(connection: Connection, lens_id: int, entity_id: int) -> list[Fact]:
    """What the documents of a lens say of an entity, as head or as tail; most observed first."""
    found = connection.rows(
        """SELECT h.name, r.name, t.name, d.name, p.first, p.text, e.first, e.last, e.score
             FROM relations r
             JOIN entities h ON h.id = r.head_id JOIN entities t ON t.id = r.tail_id
             JOIN relation_evidence e ON e.relation_id = r.id
             JOIN paragraphs p ON p.id = e.paragraph_id JOIN documents d ON d.id = p.document_id
            WHERE (r.head_id = ?2 OR r.tail_id = ?2) AND d.lens_id = ?1
            ORDER BY h.name, r.name, t.name, e.score DESC, d.name, p.id""",
        (lens_id, entity_id),
    )
    several = [
        Fact(head, relation, tail, tuple(_statement(*row[3:]) for row in rows))
        for (head, relation, tail), rows in itertools.groupby(found, key=lambda row: row[:3])
    ]
    return sorted(several, key=lambda fact: -len(fact.statements))


def _statement(
    document: str, offset: int, text: str, first: int, last: int, score: float
) -> Statement:
    """The statement at `text[first:last]` of the paragraph that begins at `offset`."""
    return Statement(document, offset + first, offset + last, text[first:last], score)
