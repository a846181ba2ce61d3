"""Entities: where they are mentioned, how they are related, which paragraphs are about them, and
what has no type yet."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from smartrag.memory import relations
from smartrag.memory.connection import Connection
from smartrag.text import normal_name
from smartrag.types import Observation


def entity_id(name: str) -> int:
    """A stable 63-bit hash of a normalised name: the same on every machine and in every store."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") >> 1


def write(
    connection: Connection, paragraph_ids: Sequence[int], seen: Sequence[Observation]
) -> None:
    """Write what was observed in these paragraphs."""
    names: dict[str, int] = {}

    def known(name: str) -> int | None:
        normal = normal_name(name)
        return names.setdefault(normal, entity_id(normal)) if normal else None

    mentions = [
        (
            *(paragraph_id, mention.start, mention.end, entity),
            *(mention.type, mention.score, mention.base),
        )
        for paragraph_id, observation in zip(paragraph_ids, seen, strict=True)
        for mention in observation.mentions
        if (entity := known(mention.surface)) is not None
    ]
    abouts = [
        (paragraph_id, entity, about.weight, about.kind)
        for paragraph_id, observation in zip(paragraph_ids, seen, strict=True)
        for about in observation.abouts
        if (entity := known(about.name)) is not None
    ]
    said = [
        (head, triplet.relation, tail, paragraph_id, triplet.start, triplet.end, triplet.score)
        for paragraph_id, observation in zip(paragraph_ids, seen, strict=True)
        for triplet in observation.triplets
        if (head := known(triplet.head)) is not None and (tail := known(triplet.tail)) is not None
    ]
    pending = [
        (paragraph_id, one.start, one.end, one.vector.astype(np.float16).tobytes())
        for paragraph_id, observation in zip(paragraph_ids, seen, strict=True)
        for one in observation.pending
    ]
    connection.execute_many(
        "INSERT INTO entities (name, id) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        list(names.items()),
    )
    connection.execute_many("INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?)", mentions)
    connection.execute_many("INSERT OR IGNORE INTO pending_mentions VALUES (?, ?, ?, ?)", pending)
    relations.write(connection, said)
    # Two spellings of one name may carry different weights; the stronger one counts.
    connection.execute_many(
        """INSERT INTO abouts VALUES (?, ?, ?, ?)
           ON CONFLICT (paragraph_id, entity_id) DO UPDATE SET
             weight = max(weight, excluded.weight), kind = max(kind, excluded.kind)
        """,
        abouts,
    )


def rewrite(
    connection: Connection, paragraph_ids: Sequence[int], seen: Sequence[Observation]
) -> None:
    """Replace what was observed in these paragraphs."""
    candidates = of_paragraphs(connection, paragraph_ids)
    for table in ("mentions", "abouts", "pending_mentions", "relation_evidence"):
        connection.execute_many(
            f"DELETE FROM {table} WHERE paragraph_id = ?", [(i,) for i in paragraph_ids]
        )
    write(connection, paragraph_ids, seen)
    remove_unsupported(connection, candidates)


def of_paragraphs(connection: Connection, paragraph_ids: Sequence[int]) -> set[int]:
    """The entities that these paragraphs support."""
    found: set[int] = set()
    for paragraph_id in paragraph_ids:
        for (entity,) in connection.rows(
            """SELECT entity_id FROM mentions WHERE paragraph_id = ?1
               UNION SELECT entity_id FROM abouts WHERE paragraph_id = ?1
               UNION SELECT head_id FROM relation_evidence JOIN relations ON id = relation_id
                WHERE paragraph_id = ?1
               UNION SELECT tail_id FROM relation_evidence JOIN relations ON id = relation_id
                WHERE paragraph_id = ?1""",
            (paragraph_id,),
        ):
            found.add(entity)
    return found


def count_up(connection: Connection) -> None:
    """Begin a new version of the graph: what was loaded of an older one is out of date."""
    connection.execute(
        "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'graph_version'"
    )


def remove_unsupported(connection: Connection, candidates: set[int]) -> None:
    """Remove those of `candidates` that no paragraph supports any more."""
    connection.execute_many(
        """DELETE FROM entities WHERE id = ?1
              AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = ?1)
              AND NOT EXISTS (SELECT 1 FROM abouts WHERE entity_id = ?1)
              AND NOT EXISTS (SELECT 1 FROM relations WHERE head_id = ?1)
              AND NOT EXISTS (SELECT 1 FROM relations WHERE tail_id = ?1)
              AND NOT EXISTS (SELECT 1 FROM aliases WHERE other_id = ?1 OR name_id = ?1)""",
        [(entity,) for entity in sorted(candidates)],
    )
