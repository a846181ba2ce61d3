"""Which names of a document mean the same thing.

Merging is a claim of a document and never a change of what was seen in it: mentions keep the names
that they are written with, and a graph follows the claims when it is loaded. Without them it is
what it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from smartrag.memory import entities
from smartrag.memory.connection import Connection
from smartrag.types import About, Claim, Mention

SURE_ABOUT = 1.0
"""The weight of a name that stands in a title or heading as it is."""

Named = tuple[str, list[Mention]]
"""The text of a paragraph and its mentions."""


def named(connection: Connection, document_id: int) -> tuple[list[About], list[Named]]:
    """What a document is about by its titles, and its paragraphs with their mentions, in order."""
    abouts = [
        About(*row)
        for row in connection.rows(
            """SELECT e.name, a.weight, max(a.kind) FROM abouts a
                 JOIN entities e ON e.id = a.entity_id JOIN paragraphs p ON p.id = a.paragraph_id
                WHERE p.document_id = ? AND a.weight >= ?
                GROUP BY e.id ORDER BY min(p.position), e.name""",
            (document_id, SURE_ABOUT),
        )
    ]
    texts = connection.rows(
        "SELECT id, text FROM paragraphs WHERE document_id = ? ORDER BY position", (document_id,)
    )
    found: dict[int, Named] = {row: (text, []) for row, text in texts}
    for row, first, last, *typed in connection.rows(
        """SELECT m.paragraph_id, m.first, m.last, m.type, m.score, m.base FROM mentions m
             JOIN paragraphs p ON p.id = m.paragraph_id
            WHERE p.document_id = ? ORDER BY p.position, m.first, m.last""",
        (document_id,),
    ):
        text, mentions = found[row]
        mentions.append(Mention(first, last, text[first:last], *typed))
    return abouts, list(found.values())


def write(connection: Connection, document_id: int, claims: Sequence[Claim]) -> None:
    """Replace the claims of a document."""
    before = of_document(connection, document_id)
    connection.execute("DELETE FROM aliases WHERE document_id = ?", (document_id,))
    ids = {name: entities.entity_id(name) for claim in claims for name in (claim.name, claim.other)}
    connection.execute_many(
        "INSERT INTO entities (name, id) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        list(ids.items()),
    )
    connection.execute_many(
        "INSERT INTO aliases (document_id, other_id, family, name_id, rule) VALUES (?, ?, ?, ?, ?)",
        [(document_id, ids[c.other], c.family, ids[c.name], c.rule) for c in claims],
    )
    entities.remove_unsupported(connection, before)


def of_document(connection: Connection, document_id: int) -> set[int]:
    """The entities in a document's claims."""
    return {
        entity
        for row in connection.rows(
            "SELECT other_id, name_id FROM aliases WHERE document_id = ?", (document_id,)
        )
        for entity in row
    }
