"""Documents and their paragraphs: written, replaced, renamed and removed as wholes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

import numpy as np

from smartrag.memory import aliases, entities, vectors
from smartrag.memory.connection import Connection
from smartrag.types import Document, DocumentInfo, Observation, Paragraph


def content_hash(document: Document) -> str:
    """SHA-256 over all that makes a document's paragraphs, and so not over its name."""
    parts = [document.title, document.text, *(repr(s) for s in document.sections)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def lens_id(connection: Connection, lens: str) -> int | None:
    """The id of a lens; None when nothing was ever written to it."""
    for (found,) in connection.rows("SELECT id FROM lenses WHERE name = ?", (lens,)):
        return int(found)
    return None


def insert(
    connection: Connection,
    lens: str,
    document: Document,
    batches: Iterable[Sequence[Observation]],
) -> int:
    """Write an indexed document with all that was observed in it; the number of its paragraphs."""
    lens_row = _lens_row(connection, lens)
    document_id = _insert_row(connection, lens_row, document, status="indexed", reason="")
    written = 0
    for seen in batches:
        if not seen:
            continue
        paragraph_ids = [_insert_paragraph(connection, document_id, o.paragraph) for o in seen]
        entities.write(connection, paragraph_ids, seen)
        vectors.write(
            *(connection, lens_row, paragraph_ids),
            np.stack([o.vector for o in seen]),
            [o.sentences for o in seen],
            [o.sentence_vectors for o in seen],
        )
        written += len(seen)
    return written


def insert_failed(connection: Connection, lens: str, document: Document, reason: str) -> None:
    """Record that a document could not be indexed, and why; it holds no text."""
    _insert_row(connection, _lens_row(connection, lens), document, status="failed", reason=reason)


def remove(connection: Connection, document_id: int, dimension: int) -> None:
    """Remove a document and exactly what only it supported."""
    paragraph_ids = []
    for (paragraph_id,) in connection.rows(
        "SELECT id FROM paragraphs WHERE document_id = ? ORDER BY id", (document_id,)
    ):
        paragraph_ids.append(paragraph_id)
    candidates = entities.of_paragraphs(connection, paragraph_ids)
    candidates |= aliases.of_document(connection, document_id)
    vectors.remove(connection, paragraph_ids, dimension)
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
    entities.remove_unsupported(connection, candidates)
    connection.execute(
        """DELETE FROM lenses WHERE NOT EXISTS
             (SELECT 1 FROM documents WHERE documents.lens_id = lenses.id)"""
    )


def rename(connection: Connection, document_id: int, name: str) -> None:
    """Give a document another name; nothing else changes."""
    connection.execute("UPDATE documents SET name = ? WHERE id = ?", (name, document_id))


def listed(connection: Connection, lens: str) -> list[DocumentInfo]:
    """The documents of a lens, by name."""
    return [
        DocumentInfo(*row)
        for row in connection.rows(
            """SELECT d.name, d.title, l.name, d.status, d.reason, d.media_type, d.encoding,
                      (SELECT count(*) FROM paragraphs p WHERE p.document_id = d.id), d.characters
                 FROM documents d JOIN lenses l ON l.id = d.lens_id
                WHERE l.name = ? ORDER BY d.name""",
            (lens,),
        )
    ]


def _lens_row(connection: Connection, lens: str) -> int:
    connection.execute("INSERT INTO lenses (name) VALUES (?) ON CONFLICT DO NOTHING", (lens,))
    row = lens_id(connection, lens)
    assert row is not None
    return row


def _insert_paragraph(connection: Connection, document_id: int, paragraph: Paragraph) -> int:
    row = connection.execute(
        """INSERT INTO paragraphs
             (document_id, position, first, last, page, heading, label, text)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            document_id,
            paragraph.position,
            paragraph.start,
            paragraph.end,
            paragraph.page,
            json.dumps(paragraph.heading, ensure_ascii=False),
            paragraph.label,
            paragraph.text,
        ),
    ).lastrowid
    assert row is not None
    return row


def _insert_row(
    connection: Connection, lens_row: int, document: Document, *, status: str, reason: str
) -> int:
    row = connection.execute(
        """INSERT INTO documents (lens_id, name, title, media_type, encoding, time, characters,
                                  content_hash, status, reason)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            lens_row,
            document.name,
            document.title,
            document.media_type,
            document.encoding,
            document.time,
            len(document.text),
            content_hash(document),
            status,
            reason,
        ),
    ).lastrowid
    assert row is not None
    return row
