"""Relations of entities: one edge a fact, one row of evidence for every place that states it.

An edge is keyed by head, relation and tail and counts its evidence (paper §3.3). It is there as
long as some evidence is: triggers of the schema count, whoever deletes. That two names share a
sentence is no row here; such edges are made from the mentions when a graph is loaded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from smartrag.memory.connection import Connection
from smartrag.types import Fact, Statement

Row = tuple[int, str, int, int, int, int, float]
"""Head, relation, tail, paragraph, and where it is stated there: first, last, score."""


def write(connection: Connection, rows: Sequence[Row]) -> None:
    """Write observations of entities that are there.

    Chunks overlap, so two paragraphs may hold one statement: it is aligned to the one in which it
    is surer, and counts once.
    """
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
    for paragraph_id in sorted({row[3] for row in rows}):
        connection.execute_many(
            """DELETE FROM relation_evidence
                WHERE relation_id = ? AND paragraph_id = ? AND first = ?""",
            list(_said_twice(connection, paragraph_id)),
        )


def _said_twice(connection: Connection, paragraph_id: int) -> Iterator[tuple[int, int, int]]:
    """Of statements that a paragraph shares with a neighbour, the keys of the less sure rows."""
    for row in connection.rows(
        """SELECT e.relation_id, e.score, p.id, e.first, o.score, q.id, o.first
             FROM paragraphs p
             JOIN paragraphs q ON q.document_id = p.document_id AND q.position = p.position + 1
             JOIN relation_evidence e ON e.paragraph_id = p.id
             JOIN relation_evidence o ON o.paragraph_id = q.id AND o.relation_id = e.relation_id
            WHERE p.id IN (?1, (SELECT b.id FROM paragraphs a JOIN paragraphs b
                                 ON b.document_id = a.document_id AND b.position = a.position - 1
                                WHERE a.id = ?1))
              AND q.first + o.first < p.first + e.last
              AND p.first + e.first < q.first + o.last""",
        (paragraph_id,),
    ):
        relation, score, paragraph, first, later_score, later, later_first = row
        if score < later_score:
            yield relation, paragraph, first
        else:
            yield relation, later, later_first


def facts(connection: Connection, lens_id: int, entity_id: int) -> list[Fact]:
    """What the documents of a lens say of an entity, as head or as tail; most observed first.

    A document that claims another name to mean it says under that name what it says of it.
    """
    found = connection.rows(
        """WITH same (id, document_id) AS
             (SELECT ?2, NULL UNION SELECT other_id, document_id FROM aliases WHERE name_id = ?2)
           SELECT DISTINCT h.name, r.name, t.name, d.name, p.first, p.text, e.first, e.last, e.score
             FROM relations r
             JOIN entities h ON h.id = r.head_id JOIN entities t ON t.id = r.tail_id
             JOIN relation_evidence e ON e.relation_id = r.id
             JOIN paragraphs p ON p.id = e.paragraph_id JOIN documents d ON d.id = p.document_id
             JOIN same s ON s.id IN (r.head_id, r.tail_id)
                  AND coalesce(s.document_id, d.id) = d.id
            WHERE d.lens_id = ?1
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
