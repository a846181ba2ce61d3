"""One SQLite connection: how it is opened, what a transaction is, what its errors mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from smartrag.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMissing,
    StoreUnwritable,
)
from smartrag.text import folded_words


class Connection:
    """A connection with foreign keys on and with an SQL function `folded(text)`.

    `write=False` opens an existing file for reading only, also on a medium that cannot be written.
    """

    def __init__(self, path: Path, *, write: bool, busy_timeout_s: float) -> None:
        self.path = path
        self._depth = 0
        self._sql = _open(path, write=write, busy_timeout_s=busy_timeout_s)
        self._sql.create_function("folded", 1, _folded, deterministic=True)
        self.execute("PRAGMA foreign_keys = ON")
        self.execute("PRAGMA trusted_schema = ON")  # triggers and a view call `folded`

    def prepare_writing(self) -> None:
        """Switch the write-ahead log and secure deletion on; the log is noted in the file."""
        self.execute("PRAGMA journal_mode = WAL")
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute("PRAGMA secure_delete = ON")

    def execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """Run one statement; sqlite3's errors become StoreError."""
        with self.translated():
            return self._sql.execute(statement, values)

    def execute_many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run one statement for every row."""
        with self.translated():
            self._sql.executemany(statement, rows)

    def rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; the columns have the types that the schema gives them."""
        with self.translated():
            return self._sql.execute(statement, values).fetchall()

    def each(self, statement: str, values: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one, where all at once would need much memory."""
        with self.translated():
            yield from self._sql.execute(statement, values)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """One write transaction: all of it or nothing. Inside another one it is part of that."""
        if self._depth == 0:
            self.execute("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
        except BaseException:
            self._depth -= 1
            if self._depth == 0:
                self._roll_back()
            raise
        self._depth -= 1
        if self._depth == 0:
            try:
                self.execute("COMMIT")
            except StoreError:
                self._roll_back()
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One read transaction: everything read inside is of the same moment."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self._roll_back()

    def close(self) -> None:
        """Close; the write-ahead log is folded into the file where that is possible."""
        self._sql.close()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn sqlite3's errors into the store's own."""
        try:
            yield
        except sqlite3.Error as error:
            raise _translate(error, self.path) from error

    def _roll_back(self) -> None:
        # SQLite rolls back by itself after some errors (a full disk); a second one is no fault.
        with suppress(sqlite3.Error):
            self._sql.execute("ROLLBACK")


def _open(path: Path, *, write: bool, busy_timeout_s: float) -> sqlite3.Connection:
    if write:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)
        except (OSError, ValueError) as error:
            raise _unwritable(path, str(error)) from error
    elif not _is_file(path):
        raise StoreMissing(
            "there is no store here",
            subject=str(path),
            remedy="Make one with: smartrag ingest FOLDER",
        )
    modes = ["?mode=rw"] if write else ["?mode=ro", "?immutable=1"]
    for mode in modes:
        try:
            return _connect(path.absolute().as_uri() + mode, busy_timeout_s)
        except sqlite3.Error as error:
            # A read-only folder cannot hold the shared-memory file that the log needs; a file that
            # nobody can be writing may be read as immutable.
            if mode != modes[-1] and error.sqlite_errorname.startswith("SQLITE_CANTOPEN"):
                continue
            raise _translate(error, path) from error
    raise AssertionError("unreachable")


def _connect(uri: str, busy_timeout_s: float) -> sqlite3.Connection:
    sql = sqlite3.connect(
        uri, uri=True, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        sql.execute("SELECT count(*) FROM sqlite_master")  # opens the file, which connect does not
    except BaseException:
        sql.close()
        raise
    return sql


def _folded(text: str) -> str:
    return " ".join(folded_words(text))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorname", "")
    subject = str(path)
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            "another process is writing to the store",
            subject=subject,
            remedy="Wait until it is done and try again",
        )
    if code.startswith("SQLITE_FULL"):
        return StoreFull(
            "the disk is full", subject=subject, remedy="Free some space and run the command again"
        )
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
        return _unwritable(path, str(error))
    if code.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return StoreDamaged(
            "the file is not a SmartRAG store or is damaged",
            subject=subject,
            remedy="Choose another file with --store, or restore it from a backup",
        )
    return StoreError(
        f"SQLite reports: {str(error).rstrip('.')}",
        subject=subject,
        remedy="Run `smartrag doctor` and check that the file is a SmartRAG store",
    )


def _unwritable(path: Path, reason: str) -> StoreUnwritable:
    return StoreUnwritable(
        f"the store cannot be opened for this ({reason})",
        subject=str(path),
        remedy="Check the path, its permissions and the free space, or choose another with --store",
    )
