"""The tables, as numbered migrations. Each runs in one transaction together with its number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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

-- Neighbours share a row, so that a store opens by reading blocks and not single vectors.
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

_SENTENCE_VECTORS = """
CREATE TABLE sentence_vectors (
  paragraph_id INTEGER PRIMARY KEY REFERENCES paragraphs ON DELETE CASCADE,
  codes        BLOB NOT NULL,       -- int8[m, d]
  scales       BLOB NOT NULL        -- float32[m]
);

CREATE TABLE slim_blocks (
  id               INTEGER PRIMARY KEY,
  lens_id          INTEGER NOT NULL REFERENCES lenses,
  owners           BLOB NOT NULL,   -- int64[n], paragraph ids, ascending
  codes            BLOB NOT NULL,   -- int8[n, d]
  scales           BLOB NOT NULL,   -- float32[n]
  sentence_counts  BLOB NOT NULL,   -- int32[n], m = their sum
  sentence_spans   BLOB NOT NULL    -- int32[m, 2], offsets in the paragraph
);
INSERT INTO slim_blocks
  SELECT id, lens_id, owners, codes, scales, sentence_counts, sentence_spans FROM vector_blocks;
"""

_SLIM_BLOCKS = """
UPDATE paragraphs SET block_id = NULL;  -- or the table they refer to could not be dropped
DROP TABLE vector_blocks;
ALTER TABLE slim_blocks RENAME TO vector_blocks;
CREATE INDEX vector_blocks_by_lens ON vector_blocks (lens_id);
"""


_LEARNING = """
-- What rounds of learning made of the weights that come with the package.
CREATE TABLE model_graphs (
  id           INTEGER PRIMARY KEY,
  parent_id    INTEGER REFERENCES model_graphs,   -- NULL: the shipped model
  base_sha256  TEXT NOT NULL,       -- of the shipped weights under it
  graph        BLOB NOT NULL,       -- ONNX, what runs
  changes      BLOB NOT NULL,       -- safetensors, what the round changed in its parent
  description  TEXT NOT NULL        -- JSON
);

CREATE TABLE model_versions (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  parent_id    INTEGER REFERENCES model_versions,
  time         TEXT NOT NULL,
  change       TEXT NOT NULL,
  inventory    TEXT NOT NULL,       -- JSON, the types
  graph_id     INTEGER REFERENCES model_graphs,   -- NULL: the shipped model's
  new_types    TEXT NOT NULL        -- JSON, name → broader type, of a learned version
);

-- Sentences that a version learned from. They are shown again in later rounds; those that stand in
-- a paragraph of the store go with it.
CREATE TABLE lessons (
  version_id   INTEGER NOT NULL REFERENCES model_versions ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  paragraph_id INTEGER REFERENCES paragraphs ON DELETE CASCADE,
  sentence     TEXT NOT NULL,       -- JSON
  PRIMARY KEY (version_id, position)
) WITHOUT ROWID;
CREATE INDEX lessons_by_paragraph ON lessons (paragraph_id);

CREATE TABLE learning_round (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  plan         TEXT NOT NULL,       -- a sum: only the same command goes on with it
  stages       INTEGER NOT NULL,    -- that are done
  changes      BLOB NOT NULL        -- safetensors
);

-- Mentions that no type fits, as the version in use sees them.
CREATE TABLE pending_mentions (
  paragraph_id INTEGER NOT NULL REFERENCES paragraphs ON DELETE CASCADE,
  first        INTEGER NOT NULL,    -- offsets in the text of the paragraph
  last         INTEGER NOT NULL,
  vector       BLOB NOT NULL,       -- float16[z]
  PRIMARY KEY (paragraph_id, first, last)
) WITHOUT ROWID;

-- Paragraphs that the version in use has not read yet.
CREATE TABLE retype_queue (
  paragraph_id INTEGER PRIMARY KEY REFERENCES paragraphs ON DELETE CASCADE
);
"""

_RELATIONS = """
CREATE TABLE relations (
  id           INTEGER PRIMARY KEY,
  head_id      INTEGER NOT NULL REFERENCES entities,
  name         TEXT NOT NULL,       -- as Wikidata calls it
  tail_id      INTEGER NOT NULL REFERENCES entities,
  observations INTEGER NOT NULL DEFAULT 0,   -- rows of evidence; triggers count
  UNIQUE (head_id, name, tail_id)
);
CREATE INDEX relations_by_tail ON relations (tail_id);

CREATE TABLE relation_evidence (
  relation_id  INTEGER NOT NULL REFERENCES relations,
  paragraph_id INTEGER NOT NULL REFERENCES paragraphs ON DELETE CASCADE,
  first        INTEGER NOT NULL,    -- offsets in the text of the paragraph
  last         INTEGER NOT NULL,
  score        REAL NOT NULL,
  PRIMARY KEY (relation_id, paragraph_id, first)
) WITHOUT ROWID;
CREATE INDEX relation_evidence_by_paragraph ON relation_evidence (paragraph_id);

ALTER TABLE mentions ADD COLUMN base TEXT NOT NULL DEFAULT '';  -- the base type; '': the type
ALTER TABLE abouts ADD COLUMN kind TEXT NOT NULL DEFAULT '';    -- the base type; '': unknown

-- In one document a name means what another one means. Mentions keep the name that they are written
-- with, so without a row here they are what they were.
CREATE TABLE aliases (
  document_id  INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  other_id     INTEGER NOT NULL REFERENCES entities,
  family       TEXT NOT NULL,       -- of the mentions that are meant: 'person' or ''
  name_id      INTEGER NOT NULL REFERENCES entities,
  rule         TEXT NOT NULL,       -- why
  PRIMARY KEY (document_id, other_id, family)
) WITHOUT ROWID;
CREATE INDEX aliases_by_other ON aliases (other_id);
CREATE INDEX aliases_by_name ON aliases (name_id);

INSERT OR IGNORE INTO retype_queue SELECT id FROM paragraphs;
"""

_COUNT_EVIDENCE = (
    """CREATE TRIGGER evidence_comes AFTER INSERT ON relation_evidence BEGIN
         UPDATE relations SET observations = observations + 1 WHERE id = new.relation_id;
       END""",
    """CREATE TRIGGER evidence_goes AFTER DELETE ON relation_evidence BEGIN
         UPDATE relations SET observations = observations - 1 WHERE id = old.relation_id;
         DELETE FROM relations WHERE id = old.relation_id AND observations = 0;
       END""",
)


def _sentences_by_paragraph(connection: Connection) -> None:
    """Give the sentence vectors of each paragraph a row of their own.

    They are four fifths of all vectors, and a question needs those of a few paragraphs only: out of
    the blocks, they are read for these few and never all at once. The blocks' table is made anew,
    since SQLite drops columns from 3.35 on only.
    """
    _run(connection, _SENTENCE_VECTORS)
    block_of: list[tuple[int, int]] = []
    for (block,) in connection.rows("SELECT id FROM vector_blocks"):
        [(owners, codes, scales, counts)] = connection.rows(
            """SELECT owners, sentence_codes, sentence_scales, sentence_counts
                 FROM vector_blocks WHERE id = ?""",
            (block,),
        )
        dimension = 4 * len(codes) // len(scales) if scales else 0
        first = 0
        for owner, count in zip(
            np.frombuffer(owners, np.int64).tolist(),
            np.frombuffer(counts, np.int32).tolist(),
            strict=True,
        ):
            end = first + count
            connection.execute(
                "INSERT INTO sentence_vectors VALUES (?, ?, ?)",
                (owner, codes[first * dimension : end * dimension], scales[4 * first : 4 * end]),
            )
            block_of.append((block, owner))
            first = end
    _run(connection, _SLIM_BLOCKS)
    connection.execute_many("UPDATE paragraphs SET block_id = ? WHERE id = ?", block_of)


def _relations(connection: Connection) -> None:
    """Add relations. What was read before them waits to be read again."""
    _run(connection, _RELATIONS)
    for trigger in _COUNT_EVIDENCE:
        connection.execute(trigger)


Migration = str | Callable[[Connection], None]
"""A script, or a function where SQL cannot say it."""

MIGRATIONS: tuple[Migration, ...] = (_FIRST, _sentences_by_paragraph, _LEARNING, _relations)
"""Migration i lifts a store from version i to i + 1. Never edit one that has been released."""

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: Connection) -> None:
    """Bring the store to the newest schema; a new file gets all migrations."""
    check(connection)
    while (version := version_of(connection)) < SCHEMA_VERSION:
        with connection.atomic():
            if version_of(connection) != version:
                continue  # another process was faster
            step = MIGRATIONS[version]
            if isinstance(step, str):
                _run(connection, step)
            else:
                step(connection)
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


def _run(connection: Connection, script: str) -> None:
    """Run the statements of a script one by one: sqlite3's own would end the transaction."""
    lines = (line.partition("--")[0] for line in script.splitlines())
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            connection.execute(statement.strip())
