"""Full-text search over paragraphs: FTS5 where SQLite has it, a scan of all words where not.

The index holds folded words, the same that a query consists of. FTS5's own folding is another one:
it would keep "ß", "ﬁ" and the accents of Greek, and no query with such a word would find it.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence

from smartrag.memory.connection import Connection
from smartrag.text import content_words

LABEL_WEIGHT = 1.5
"""A word in the title or heading counts this much more than one in the text."""

_K1, _B = 1.2, 0.75  # of BM25, as FTS5 has them

# For the tokenizer "ascii" every character beyond ASCII is part of a word.
_INDEX = (
    """CREATE VIEW paragraphs_folded AS
         SELECT id, folded(label) AS label, folded(text) AS text FROM paragraphs""",
    """CREATE VIRTUAL TABLE paragraphs_fts USING fts5(
         label, text, content='paragraphs_folded', content_rowid='id', tokenize='ascii')""",
    """CREATE TRIGGER paragraphs_fts_insert AFTER INSERT ON paragraphs BEGIN
         INSERT INTO paragraphs_fts (rowid, label, text)
         VALUES (new.id, folded(new.label), folded(new.text));
       END""",
    """CREATE TRIGGER paragraphs_fts_delete AFTER DELETE ON paragraphs BEGIN
         INSERT INTO paragraphs_fts (paragraphs_fts, rowid, label, text)
         VALUES ('delete', old.id, folded(old.label), folded(old.text));
       END""",
)

FOLDING = unicodedata.unidata_version
"""What the index depends on besides the texts: deletions must fold as the insertion did."""


def has_fts5(connection: Connection) -> bool:
    """Whether this SQLite was built with FTS5."""
    return bool(connection.rows("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"))


def has_index(connection: Connection) -> bool:
    """Whether this store has a full-text index."""
    return bool(connection.rows("SELECT 1 FROM sqlite_master WHERE name = 'paragraphs_fts'"))


def build_index(connection: Connection) -> None:
    """Create the full-text index if there is none, and fill it anew; called in a transaction."""
    if not has_index(connection):
        for statement in _INDEX:
            connection.execute(statement)
    connection.execute("INSERT INTO paragraphs_fts (paragraphs_fts) VALUES ('rebuild')")


def erase_traces(connection: Connection) -> None:
    """Merge the index into one segment: deleted words otherwise stay in the older ones."""
    if has_index(connection):
        connection.execute("INSERT INTO paragraphs_fts (paragraphs_fts) VALUES ('optimize')")


def search(connection: Connection, lens_id: int, terms: Sequence[str]) -> list[tuple[int, float]]:
    """`(paragraph id, BM25)` of every paragraph of the lens with at least one of `terms`.

    Terms are folded words, as `content_words` returns them. Scores are positive, larger is better;
    the order is by paragraph id.
    """
    distinct = list(dict.fromkeys(terms))
    if not distinct:
        return []
    if has_fts5(connection) and has_index(connection):
        return _search_index(connection, lens_id, distinct)
    return _scan(connection, lens_id, distinct)


def _search_index(
    connection: Connection, lens_id: int, terms: Sequence[str]
) -> list[tuple[int, float]]:
    # FTS5 reads a query up to the first NUL.
    clean = (term.replace('"', '""').replace("\0", " ") for term in terms)
    quoted = " OR ".join(f'"{term}"' for term in clean)
    return connection.rows(
        f"""SELECT f.rowid, -bm25(paragraphs_fts, {LABEL_WEIGHT}, 1.0)
              FROM paragraphs_fts f
              JOIN paragraphs p ON p.id = f.rowid
              JOIN documents d ON d.id = p.document_id
             WHERE paragraphs_fts MATCH ? AND d.lens_id = ? ORDER BY f.rowid""",
        (quoted, lens_id),
    )


def _scan(connection: Connection, lens_id: int, terms: Sequence[str]) -> list[tuple[int, float]]:
    """BM25 computed word by word: slow, and the same idea, for an SQLite without FTS5."""
    bags = {
        row: (Counter(content_words(f"{label} {text}")), Counter(content_words(str(label))))
        for row, label, text in connection.rows(
            """SELECT p.id, p.label, p.text FROM paragraphs p
                 JOIN documents d ON d.id = p.document_id WHERE d.lens_id = ? ORDER BY p.id""",
            (lens_id,),
        )
    }
    if not bags:
        return []
    lengths = {row: sum(bag.values()) for row, (bag, _) in bags.items()}
    mean_length = sum(lengths.values()) / len(bags) or 1.0
    scores: dict[int, float] = {}
    for term in terms:
        holders = {row: bag for row, bag in bags.items() if term in bag[0]}
        rarity = math.log(1 + (len(bags) - len(holders) + 0.5) / (len(holders) + 0.5))
        for row, (bag, label) in holders.items():
            count = bag[term] + (LABEL_WEIGHT - 1) * label[term]
            damped = count + _K1 * (1 - _B + _B * lengths[row] / mean_length)
            scores[row] = scores.get(row, 0.0) + rarity * count * (_K1 + 1) / damped
    return sorted(scores.items())
