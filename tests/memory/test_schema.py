"""Opening a store: what is made, what is refused, and that a refused file stays as it was."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from smartrag import Document, Settings, SmartRAG
from smartrag.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreTooNew,
    StoreUnwritable,
)
from smartrag.memory import Store, connection, schema, vectors
from smartrag.text import sentence_spans
from tests.fakes import HashingEncoder, observation, open_memory

NEWEST = schema.SCHEMA_VERSION


def sql(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """Run statements on a file, past the store; the rows of the last one."""
    with closing(sqlite3.connect(path)) as raw:
        rows: list[tuple[object, ...]] = []
        for statement in statements:
            rows = raw.execute(statement).fetchall()
        raw.commit()
    return rows


def refused(path: Path, settings: Settings, *, write: bool) -> StoreError:
    """The error of opening `path`, which changes not a byte of the file."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as caught:
        Store(path, settings.memory, write=write)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_a_new_file_gets_the_newest_version(store: Store, store_path: Path) -> None:
    assert store.stats().schema_version == len(schema.MIGRATIONS) == NEWEST
    assert sql(store_path, "PRAGMA user_version") == [(NEWEST,)]
    assert sql(store_path, "PRAGMA application_id") == [(int.from_bytes(b"SMRG", "big"),)]
    assert sql(store_path, "PRAGMA journal_mode") == [("wal",)]


def test_a_new_file_may_be_read_by_its_owner_only(store: Store, store_path: Path) -> None:
    assert store_path.stat().st_mode & 0o077 == 0


def test_opening_again_changes_nothing(memory: SmartRAG, store_path: Path) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    memory.close()
    content = store_path.read_bytes()
    with open_memory(store_path) as again:
        assert again.store.dump() == before
    assert store_path.read_bytes() == content


def test_an_older_store_is_lifted_and_keeps_its_content(
    memory: SmartRAG, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    memory.close()
    later = (*schema.MIGRATIONS, "CREATE TABLE clusters (id INTEGER PRIMARY KEY); -- new")
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", NEWEST + 1)
    with open_memory(store_path) as lifted:
        assert lifted.stats().schema_version == NEWEST + 1
        assert lifted.store.dump() == before
    assert sql(store_path, "SELECT count(*) FROM clusters") == [(0,)]


def test_version_2_takes_the_sentence_vectors_out_of_the_blocks(
    store: Store, store_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "BLOCK_ROWS", 2)
    texts = ["Ada lives. Bo lives.", "", "Cy sings. Di sings.", "Ed.", "Flo dances. Gus too."]
    seen = [
        observation(text, n, sentences=tuple(sentence_spans(text)), encoder=HashingEncoder())
        for n, text in enumerate(texts)
    ]
    for lens in ("one", "other"):
        store.put(lens, Document("a", "a"), [seen[:3]])
        store.put(lens, Document("b", "b"), [seen[3:]])
    before = store.dump()
    blocks = "SELECT id, block_id FROM paragraphs ORDER BY id"
    kept = store._connection.rows(blocks)
    store.close()
    with closing(sqlite3.connect(store_path)) as raw:  # back to version 1, where blocks held them
        for column in ("sentence_codes", "sentence_scales"):
            raw.execute(f"ALTER TABLE vector_blocks ADD COLUMN {column} BLOB NOT NULL DEFAULT x''")
        for (block,) in raw.execute("SELECT id FROM vector_blocks").fetchall():
            rows = raw.execute(
                """SELECT s.codes, s.scales FROM sentence_vectors s
                     JOIN paragraphs p ON p.id = s.paragraph_id
                    WHERE p.block_id = ? ORDER BY p.id""",
                (block,),
            )
            codes, scales = (b"".join(column) for column in zip(*rows, strict=True))
            raw.execute(
                "UPDATE vector_blocks SET (sentence_codes, sentence_scales) = (?, ?) WHERE id = ?",
                (codes, scales, block),
            )
        raw.execute("DROP TABLE sentence_vectors")
        later = schema._LEARNING + schema._RELATIONS
        for table in re.findall(r"CREATE TABLE (\w+)", later):
            raw.execute(f"DROP TABLE {table}")
        for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", later):
            raw.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        raw.execute("PRAGMA user_version = 1")
        raw.commit()
    with Store(store_path, settings.memory, write=False) as lifted:  # a search opens it so
        assert lifted.dump() == before
        assert lifted._connection.rows(blocks) == kept
        assert lifted._connection.rows("PRAGMA foreign_key_check") == []
        # What was read before there were relations is read again for them.
        assert lifted.versions.n_queued() == lifted.stats().paragraphs
    assert len({block for _, block in kept}) > 2


def test_a_migration_that_fails_leaves_the_old_version(
    store: Store, store_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    broken = (*schema.MIGRATIONS, "CREATE TABLE clusters (id INTEGER); CREATE TABLE meta (a);")
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", NEWEST + 1)
    with pytest.raises(StoreError, match="already exists"):
        Store(store_path, settings.memory, write=True)
    assert sql(store_path, "PRAGMA user_version") == [(NEWEST,)]
    assert sql(store_path, "SELECT count(*) FROM sqlite_master WHERE name = 'clusters'") == [(0,)]


@pytest.mark.parametrize("write", [True, False])
def test_a_newer_store_is_refused(
    store: Store, store_path: Path, settings: Settings, write: bool
) -> None:
    store.close()
    sql(store_path, f"PRAGMA user_version = {NEWEST + 1}")
    error = refused(store_path, settings, write=write)
    assert isinstance(error, StoreTooNew)
    assert f"schema {NEWEST + 1}, this release reads up to {NEWEST}" in str(error)


@pytest.mark.parametrize("write", [True, False])
def test_a_database_of_another_program_is_refused(
    store_path: Path, settings: Settings, write: bool
) -> None:
    sql(store_path, "CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('x')")
    assert isinstance(refused(store_path, settings, write=write), StoreDamaged)


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "content", [b"# My notes\n" * 500, b"two", b"SQLite format 3\0" + b"?" * 900]
)
def test_a_file_that_is_no_database_is_refused(
    store_path: Path, settings: Settings, write: bool, content: bytes
) -> None:
    store_path.write_bytes(content)
    assert isinstance(refused(store_path, settings, write=write), StoreDamaged)


def test_an_empty_file_becomes_a_store(store_path: Path, settings: Settings) -> None:
    store_path.touch()
    with Store(store_path, settings.memory, write=True) as store:
        assert store.stats().documents == 0


def test_an_empty_file_cannot_be_read_as_a_store(store_path: Path, settings: Settings) -> None:
    store_path.touch()
    error = refused(store_path, settings, write=False)
    assert isinstance(error, StoreDamaged)
    assert "empty" in str(error)


def test_a_folder_is_no_store(tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "folder.db"
    folder.mkdir()
    assert isinstance(refused(folder, settings, write=True), StoreUnwritable)
    assert isinstance(refused(folder, settings, write=False), StoreMissing)


def test_a_path_below_a_file_is_unwritable(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").write_text("x")
    below = tmp_path / "file" / "memory.db"
    with pytest.raises(StoreUnwritable):
        Store(below, settings.memory, write=True)
    with pytest.raises(StoreMissing):
        Store(below, settings.memory, write=False)


def test_a_path_that_the_system_does_not_let_write_is_unwritable(
    store_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: Path, mode: int = 0o666, exist_ok: bool = True) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", denied)
    error = refused(store_path, settings, write=True)
    assert isinstance(error, StoreUnwritable)
    assert "Permission denied" in str(error)


def test_a_nul_in_a_path_is_an_error_of_the_store(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(StoreUnwritable):
        Store(tmp_path / "a\0b.db", settings.memory, write=True)
    with pytest.raises(StoreMissing):
        Store(tmp_path / "a\0b.db", settings.memory, write=False)


@pytest.mark.parametrize(
    "name",
    [
        "Übersicht 東京.db",
        "a b#c?d%20e&f=g.db",
        "?mode=memory",
        "file:x",
        "'; DROP TABLE documents; --",
        '"quoted"\n.db',
        "%",
        ".hidden",
        "no suffix",
        os.fsdecode(b"latin-\xe9.db"),
    ],
)
def test_any_file_name_works(tmp_path: Path, settings: Settings, name: str) -> None:
    path = tmp_path / "deep # folder" / name
    with Store(path, settings.memory, write=True) as store:
        before = store.dump()
    assert path.is_file()
    assert {p.name for p in path.parent.iterdir()} == {name}
    with Store(path, settings.memory, write=False) as store:
        assert store.dump() == before


def test_reading_a_store_that_is_not_there_says_how_to_make_one(
    store_path: Path, settings: Settings
) -> None:
    error = refused(store_path, settings, write=False)
    assert isinstance(error, StoreMissing)
    assert "smartrag ingest" in error.remedy


def test_a_store_that_is_open_for_reading_cannot_be_written(
    memory: SmartRAG, store_path: Path
) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    with open_memory(store_path, write=False) as reader:
        assert reader.store.dump() == before
        with pytest.raises(StoreUnwritable):
            reader.store.put("default", Document("b", "x"), [[observation("x")]])
        with pytest.raises(StoreUnwritable):
            reader.forget("a")
    assert memory.store.dump() == before


def test_a_store_on_a_medium_that_cannot_be_written_is_readable(
    memory: SmartRAG, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(Document("a", "Ada lives in Oslo."))
    before = memory.store.dump()
    memory.close()
    connect = connection._connect
    asked: list[str] = []

    def on_a_read_only_medium(uri: str, busy_timeout_s: float) -> sqlite3.Connection:
        asked.append(uri.partition("?")[2])
        if "immutable" not in uri:
            connect("file:/proc/nowhere/at.all?mode=ro", busy_timeout_s)  # raises SQLITE_CANTOPEN
        return connect(uri, busy_timeout_s)

    monkeypatch.setattr(connection, "_connect", on_a_read_only_medium)
    with open_memory(store_path, write=False) as reader:
        assert reader.store.dump() == before
        assert [p.document for p in reader.search("Who lives in Oslo?").passages] == ["a"]
    assert asked == ["mode=ro", "immutable=1"]


def test_a_damaged_page_is_reported_as_damage(
    memory: SmartRAG, store_path: Path, small_corpus: tuple[Document, ...]
) -> None:
    memory.add(small_corpus)
    memory.close()
    content = bytearray(store_path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    store_path.write_bytes(content)
    with pytest.raises(StoreDamaged), open_memory(store_path, write=False) as reader:
        reader.search("Torvik")


def test_a_locked_new_file_is_busy_and_not_damaged(store_path: Path, settings: Settings) -> None:
    store_path.touch()
    with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy):
            Store(store_path, settings.memory, write=True)
