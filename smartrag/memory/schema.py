"""The tables, as numbered migrations. Each runs in one transaction together with its number."""

from __future__ import annotations

from smartrag.errors import StoreDamaged, StoreTooNew
from smartrag.memory.connection import Connection

APPLICATION_ID = 0x534D5247  # "SMRG": tells a SmartRAG store from any other SQLite file

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lenses (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE documents (
  id           INTEGER PRIMARY KEY,
  lens_id      INTEGER NOT NULL REFERENCES lenses,
  name         TEXT NOT NULL,
  title        TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  encoding     TEXT NOT NULL,
  time         TEXT NOT NULL,
  characters   INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('indexed', 'failed')),
  reason       TEXT NOT NULL,
  UNIQUE (lens_id, name)
);
CREATE INDEX documents_by_hash ON documents (lens_id, content_hash);

-- 64 neighbours share a row, so that a store opens by reading blocks and not single vectors.
CREATE TABLE vector_blocks (
  id               INTEGER PRIMARY KEY,
  lens_id          INTEGER NOT NULL REFERENCES lenses,
  owners           BLOB NOT NULL,   -- int64[n], paragraph ids, ascending
  codes            BLOB NOT NULL,   -- int8[n, d]
  scales           BLOB NOT NULL,   -- float32[n]
  sentence_counts  BLOB NOT NULL,   -- int32[n], m = their sum
  sentence_spans   BLOB NOT NULL,   -- int32[m, 2], offsets in the paragraph
  sentence_codes   BLOB NOT NULL,   -- int8[m, d]
  sentence_scales  BLOB NOT NULL    -- float32[m]
);
CREATE INDEX vector_blocks_by_lens ON vector_blocks (lens_id);

-- AUTOINCREMENT: the id of a forgotten paragraph is never given to another one.
CREATE TABLE paragraphs (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id  INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  block_id     INTEGER REFERENCES vector_blocks,
  position     INTEGER NOT NULL,
  first        INTEGER NOT NULL,    -- offsets in the text of the document
  last         INTEGER NOT NULL,
  page         INTEGER,
  heading      TEXT NOT NULL,       -- JSON array, from the top down
  label        TEXT NOT NULL,
  text         TEXT NOT NULL,
  UNIQUE (document_id, position)
);
CREATE INDEX paragraphs_by_block ON paragraphs (block_id);

CREATE TABLE entities (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE mentions (
  paragraph_id INTEGER NOT NULL REFERENCES paragraphs ON DELETE CASCADE,
  first        INTEGER NOT NULL,    -- offsets in the text of the paragraph
  last         INTEGER NOT NULL,
  entity_id    INTEGER NOT NULL REFERENCES entities,
  type         TEXT NOT NULL,
  score        REAL NOT NULL,
  PRIMARY KEY (paragraph_id, first, last, entity_id)
) WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions (entity_id);

CREATE TABLE abouts (
  paragraph_id INTEGER NOT NULL REFERENCES paragraphs ON DELETE CASCADE,
  entity_id    INTEGER NOT NULL REFERENCES entities,
  weight       REAL NOT NULL,
  PRIMARY KEY (paragraph_id, entity_id)
) WITHOUT ROWID;
CREATE INDEX abouts_by_entity ON abouts (entity_id);

INSERT INTO meta VALUES ('graph_version', '0');
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""Migration i lifts a store from version i to i + 1. Never edit one that has been released."""

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: Connection) -> None:
    """Bring the store to the newest schema; a new file gets all migrations."""
    check(connection)
    while (version := version_of(connection)) < SCHEMA_VERSION:
        with connection.atomic():
            if version_of(connection) != version:
                continue  # another process was faster
            for statement in _statements(MIGRATIONS[version]):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + 1}")


def check(connection: Connection) -> None:
    """Refuse a file of another program and a store of a newer release."""
    version = version_of(connection)
    [[tables]] = connection.rows("SELECT count(*) FROM sqlite_master")
    [[application]] = connection.rows("PRAGMA application_id")
    if tables and application != APPLICATION_ID:
        raise StoreDamaged(
            "the file is a database, but not a SmartRAG store",
            subject=str(connection.path),
            remedy="Choose another file with --store",
        )
    if version > SCHEMA_VERSION:
        raise StoreTooNew(
            f"the store has schema {version}, this release reads up to {SCHEMA_VERSION}",
            subject=str(connection.path),
            remedy="Update SmartRAG with: pip install --upgrade smartrag",
        )


def version_of(connection: Connection) -> int:
    """The schema version of the store; 0 for an empty file."""
    [[version]] = connection.rows("PRAGMA user_version")
    return int(version)


def _statements(script: str) -> list[str]:
    lines = (line.partition("--")[0] for line in script.splitlines())
    return [s.strip() for s in "\n".join(lines).split(";") if s.strip()]
