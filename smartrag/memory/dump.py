"""A store as sorted lines that do not depend on row numbers or on the order of writing.

Two stores that hold the same knowledge have the same dump. It is how tests show that a removed
document left nothing and that an interrupted ingest ended where an uninterrupted one ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from smartrag.memory import lexical, vectors
from smartrag.memory.connection import Connection


def dump(connection: Connection, dimension: int) -> list[str]:
    """The canonical lines of a store."""
    lines = [
        *_lines(
            connection,
            "document",
            """SELECT l.name, d.name, d.title, d.media_type, d.encoding, d.time, d.characters,
                      d.content_hash, d.status, d.reason
                 FROM documents d JOIN lenses l ON l.id = d.lens_id""",
        ),
        *_lines(
            connection,
            "paragraph",
            f"""SELECT {_PLACE}, p.first, p.last, p.page, p.heading, p.label, p.text
                 FROM paragraphs p {_JOIN}""",
        ),
        *_lines(
            connection,
            "mention",
            f"""SELECT {_PLACE}, m.first, m.last, e.name, m.type, m.score, m.base
                 FROM mentions m JOIN entities e ON e.id = m.entity_id
                 JOIN paragraphs p ON p.id = m.paragraph_id {_JOIN}""",
        ),
        *_lines(
            connection,
            "about",
            f"""SELECT {_PLACE}, e.name, a.weight, a.kind
                 FROM abouts a JOIN entities e ON e.id = a.entity_id
                 JOIN paragraphs p ON p.id = a.paragraph_id {_JOIN}""",
        ),
        *_lines(
            connection,
            "pending",
            f"""SELECT {_PLACE}, m.first, m.last, hex(m.vector) FROM pending_mentions m
                 JOIN paragraphs p ON p.id = m.paragraph_id {_JOIN}""",
        ),
        *_lines(
            connection,
            "relation",
            f"""SELECT h.name, r.name, t.name, r.observations FROM relations r {_ENDS}""",
        ),
        *_lines(
            connection,
            "evidence",
            f"""SELECT {_PLACE}, o.first, o.last, o.score, h.name, r.name, t.name
                 FROM relation_evidence o JOIN relations r ON r.id = o.relation_id {_ENDS}
                 JOIN paragraphs p ON p.id = o.paragraph_id {_JOIN}""",
        ),
        *_lines(
            connection,
            "alias",
            """SELECT l.name, d.name, h.name, a.family, t.name, a.rule FROM aliases a
                 JOIN entities h ON h.id = a.other_id JOIN entities t ON t.id = a.name_id
                 JOIN documents d ON d.id = a.document_id JOIN lenses l ON l.id = d.lens_id""",
        ),
        *_lines(connection, "entity", "SELECT id, name FROM entities"),
        *_vector_lines(connection, dimension),
        *_index_lines(connection),
    ]
    return sorted(lines)


_PLACE = "l.name, d.name, p.position"
_JOIN = "JOIN documents d ON d.id = p.document_id JOIN lenses l ON l.id = d.lens_id"

_ENDS = "JOIN entities h ON h.id = r.head_id JOIN entities t ON t.id = r.tail_id"


def _lines(connection: Connection, kind: str, query: str) -> Iterator[str]:
    for row in connection.rows(query):
        yield f"{kind} {row!r}"


def _vector_lines(connection: Connection, dimension: int) -> Iterator[str]:
    places = {
        row[0]: row[1:]
        for row in connection.rows(f"SELECT p.id, {_PLACE} FROM paragraphs p {_JOIN}")
    }
    for (lens,) in connection.rows("SELECT id FROM lenses"):
        rows = vectors.load(connection, lens, dimension)
        expected = dict(zip(rows.owners.tolist(), rows.sentence_counts.tolist(), strict=True))
        ids, counts, codes = vectors.of_sentences(connection, expected, dimension)
        ends = dict(zip(ids, np.cumsum(counts).tolist(), strict=True))
        first = 0
        for row, owner in enumerate(rows.owners.tolist()):
            stop = first + int(rows.sentence_counts[row])
            digest = hashlib.sha256()
            of_sentences = codes.rows(slice(ends[owner] - (stop - first), ends[owner]))
            for part in (rows.paragraphs.rows(slice(row, row + 1)), of_sentences):
                digest.update(part.codes.tobytes())
                digest.update(part.scales.tobytes())
            digest.update(rows.sentence_spans[first:stop].tobytes())
            yield f"vector {places[owner]!r} {digest.hexdigest()}"
            first = stop


def _index_lines(connection: Connection) -> Iterator[str]:
    """What the full-text index really holds, word by word, not what its content table says."""
    if not (lexical.has_fts5(connection) and lexical.has_index(connection)):
        return
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(main, paragraphs_fts, row)"
    )
    yield from _lines(connection, "word", "SELECT term, doc, cnt FROM temp.words")
