"""The store: one SQLite file, one writer, many readers, every write all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from smartrag.errors import EncoderMismatch, StoreDamaged, UnknownDocument
from smartrag.memory import aliases, documents, entities, lexical, schema, vectors, view
from smartrag.memory.connection import Connection
from smartrag.memory.dump import dump
from smartrag.memory.relations import facts
from smartrag.memory.vectors import VectorBatch
from smartrag.memory.versions import Versions
from smartrag.memory.view import StoreView
from smartrag.settings import MemorySettings
from smartrag.text import normal_name
from smartrag.types import (
    About,
    Claim,
    Document,
    DocumentInfo,
    DocumentOutcome,
    Fact,
    Observation,
    StoredParagraph,
    StoreStats,
)


class Store:
    """Documents of several lenses with their graph, vectors and full-text index.

    A document is there wholly (*indexed*), or recorded as *failed* with the reason, or not at all.
    `versions` are those of the entity model.
    """

    def __init__(self, path: Path, settings: MemorySettings, *, write: bool) -> None:
        self.path = path
        self._connection = Connection(path, write=write, busy_timeout_s=settings.busy_timeout_s)
        self._views: dict[str, StoreView] = {}
        self._encoder: tuple[str, int, str] | None = None
        self.versions = Versions(self._connection)
        try:
            if write:
                self._prepare()
            else:
                schema.check(self._connection)
                if schema.version_of(self._connection) == 0:
                    raise StoreDamaged(
                        "the file is empty",
                        subject=str(path),
                        remedy="Fill it with: smartrag ingest FOLDER",
                    )
                if schema.version_of(self._connection) < schema.SCHEMA_VERSION:
                    # Reading needs the newest tables; a file that cannot be lifted is refused here.
                    Store(path, settings, write=True).close()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- writing ----------------------------------------------------------------------------------
    @contextmanager
    def atomic(self) -> Iterator[None]:
        """One write transaction over several calls: all of them or none."""
        with self._connection.atomic():
            yield

    def claim_encoder(self, name: str, dimension: int, sha256: str) -> None:
        """Record whose vectors the store holds; another encoder is refused (EncoderMismatch)."""
        self.require_encoder(name, dimension, sha256)
        if not self._meta("encoder_sha256"):
            with self.atomic():
                self.require_encoder(name, dimension, sha256)  # another process may be faster
                self._set_encoder(name, dimension, sha256)

    def require_encoder(self, name: str, dimension: int, sha256: str) -> None:
        """Refuse an encoder that did not write this store's vectors."""
        known = self._meta("encoder_sha256")
        if known and (known, self._dimension) != (sha256, dimension):
            raise EncoderMismatch(
                f"its vectors come from '{self._meta('encoder')}' ({known[:12]}), "
                f"the encoder in use is '{name}' ({sha256[:12]})",
                subject=str(self.path),
                remedy="Choose that encoder again, or renew the vectors with: smartrag reembed",
            )
        self._encoder = (name, dimension, sha256)

    def put(
        self, lens: str, document: Document, batches: Iterable[Sequence[Observation]]
    ) -> DocumentOutcome:
        """Write a document; an older one of the same name is replaced in the same transaction.

        `batches` are its observations in order. They are taken one by one inside the transaction,
        so a long document needs the memory of one batch only.
        """
        with self.atomic():
            self._check_encoder()
            replaced = "indexed" in self._remove(lens, document.name)
            written = documents.insert(self._connection, lens, document, batches)
            self.versions.queue_if_outdated(lens, document.name)
            entities.count_up(self._connection)
        return DocumentOutcome(document.name, "replaced" if replaced else "added", written)

    def claim(self, document_id: int, claims: Sequence[Claim]) -> None:
        """Write which names of a document mean the same; what it claimed before is replaced."""
        with self.atomic():
            aliases.write(self._connection, document_id, claims)
            entities.count_up(self._connection)

    def put_failed(self, lens: str, document: Document, reason: str) -> None:
        """Record that a document could not be read; what was indexed under its name stays."""
        with self.atomic():
            for info in self._find(lens, document.name):
                if info[1] == "indexed":
                    return
                documents.remove(self._connection, info[0], self._dimension)
            documents.insert_failed(self._connection, lens, document, reason)

    def forget(self, lens: str, name: str) -> None:
        """Remove a document and exactly what only it supported; nothing of it stays in the file.

        Raises UnknownDocument.
        """
        with self.atomic():
            self.remove(lens, name)
            lexical.erase_traces(self._connection)
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def remove(self, lens: str, name: str) -> None:
        """`forget` for one of several: words may stay in the file until `erase_traces`."""
        with self.atomic():
            if not self._remove(lens, name):
                raise _unknown(lens, name)
            entities.count_up(self._connection)

    def rename(self, lens: str, old: str, new: str) -> None:
        """Give a document another name, whose own document goes; its paragraphs keep their ids.

        Raises UnknownDocument.
        """
        with self.atomic():
            found = self._find(lens, old)
            if not found:
                raise _unknown(lens, old)
            if old != new:
                self._remove(lens, new)
                documents.rename(self._connection, found[0][0], new)
                entities.count_up(self._connection)

    def erase_traces(self) -> None:
        """Overwrite what deletions left in the full-text index and in the write-ahead log.

        While another process reads, the log keeps its content; it is emptied by the next call, or
        when the last process closes the store.
        """
        with self.atomic():
            lexical.erase_traces(self._connection)
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def renew_vectors(
        self,
        name: str,
        dimension: int,
        sha256: str,
        batches: Iterable[VectorBatch],
    ) -> None:
        """Replace all vectors by those of another encoder, in one transaction."""
        with self.atomic():
            self._connection.execute("UPDATE paragraphs SET block_id = NULL")
            self._connection.execute("DELETE FROM vector_blocks")
            self._connection.execute("DELETE FROM sentence_vectors")
            for lens, ids, paragraph_vectors, spans, sentence_vectors in batches:
                lens_row = documents.lens_id(self._connection, lens)
                assert lens_row is not None
                vectors.write(
                    *(self._connection, lens_row, ids, paragraph_vectors, spans, sentence_vectors)
                )
            self._set_encoder(name, dimension, sha256)
            entities.count_up(self._connection)
        self._encoder = (name, dimension, sha256)

    # --- reading ----------------------------------------------------------------------------------
    def view(self, lens: str) -> StoreView:
        """What retrieval may look at: one lens, as it is now; kept until the store changes."""
        version = int(self._meta("graph_version"))
        cached = self._views.get(lens)
        if cached is not None and cached.version == version:
            return cached
        with self._connection.snapshot():
            self._check_encoder()
            version = int(self._meta("graph_version"))
            lens_row = documents.lens_id(self._connection, lens)
            loaded = view.load(
                self._connection, -1 if lens_row is None else lens_row, self._dimension, version
            )
        self._views[lens] = loaded
        return loaded

    def hashes(self, lens: str) -> dict[str, str]:
        """Content hash of every indexed document of a lens, by name."""
        return dict(
            self._connection.rows(
                """SELECT d.name, d.content_hash FROM documents d JOIN lenses l ON l.id = d.lens_id
                    WHERE l.name = ? AND d.status = 'indexed'""",
                (lens,),
            )
        )

    def document_id(self, lens: str, name: str) -> int:
        """The number of an indexed document; raises UnknownDocument."""
        for row, status in self._find(lens, name):
            if status == "indexed":
                return row
        raise _unknown(lens, name)

    def documents_of(self, paragraph_ids: Sequence[int]) -> list[int]:
        """The documents that these paragraphs are of, each once."""
        found: dict[int, None] = {}
        for paragraph_id in paragraph_ids:
            for (row,) in self._connection.rows(
                "SELECT document_id FROM paragraphs WHERE id = ?", (paragraph_id,)
            ):
                found[row] = None
        return list(found)

    def named(self, document_id: int) -> tuple[list[About], list[aliases.Named]]:
        """What a document is about by its titles, and its paragraphs with their mentions."""
        return aliases.named(self._connection, document_id)

    def listed(self, lens: str) -> list[DocumentInfo]:
        """The documents of a lens, by name."""
        return documents.listed(self._connection, lens)

    def facts(self, lens: str, name: str) -> list[Fact]:
        """How the entity of that name is related to others, most observed first."""
        with self._connection.snapshot():
            lens_row = documents.lens_id(self._connection, lens)
            entity = entities.entity_id(normal_name(name))
            return [] if lens_row is None else facts(self._connection, lens_row, entity)

    def paragraphs(self) -> Iterator[tuple[str, StoredParagraph]]:
        """Every paragraph with the name of its lens: lens by lens, in the order of ids."""
        for lens, *values in self._connection.rows(
            f"""SELECT l.name, {view.COLUMNS} FROM paragraphs p
                 JOIN documents d ON d.id = p.document_id JOIN lenses l ON l.id = d.lens_id
                ORDER BY l.id, p.id"""
        ):
            yield lens, view.stored(*values)

    def stats(self) -> StoreStats:
        """Counts of what the store holds, over all lenses."""

        def count(query: str) -> int:
            [[number]] = self._connection.rows(query)
            return int(number)

        return StoreStats(
            documents=count("SELECT count(*) FROM documents WHERE status = 'indexed'"),
            failed=count("SELECT count(*) FROM documents WHERE status = 'failed'"),
            paragraphs=count("SELECT count(*) FROM paragraphs"),
            sentences=count(
                "SELECT coalesce(sum(length(sentence_spans)), 0) / 8 FROM vector_blocks"
            ),
            entities=count("SELECT count(*) FROM entities"),
            mentions=count("SELECT count(*) FROM mentions"),
            relations=count("SELECT count(*) FROM relations"),
            file_bytes=_file_bytes(self.path),
            schema_version=schema.version_of(self._connection),
            encoder=self._meta("encoder"),
            lexical="fts5" if lexical.has_index(self._connection) else "scan",
        )

    def dump(self) -> list[str]:
        """The canonical lines of the store: equal for stores that hold the same knowledge."""
        return dump(self._connection, self._dimension)

    # --- inside -----------------------------------------------------------------------------------
    def _prepare(self) -> None:
        schema.check(self._connection)  # before anything is written to a file of somebody else
        self._connection.prepare_writing()
        schema.migrate(self._connection)
        if lexical.has_fts5(self._connection) and self._meta("folding") != lexical.FOLDING:
            with self.atomic():
                lexical.build_index(self._connection)
                self._set_meta([("folding", lexical.FOLDING)])

    def _check_encoder(self) -> None:
        """Refuse to go on when another process has renewed the vectors with its own encoder."""
        if self._encoder is not None:
            self.require_encoder(*self._encoder)

    def _find(self, lens: str, name: str) -> list[tuple[int, str]]:
        return [
            (row, status)
            for row, status in self._connection.rows(
                """SELECT d.id, d.status FROM documents d JOIN lenses l ON l.id = d.lens_id
                    WHERE l.name = ? AND d.name = ?""",
                (lens, name),
            )
        ]

    def _remove(self, lens: str, name: str) -> list[str]:
        """Remove a document if it is there; the status it had, or nothing."""
        found = self._find(lens, name)
        for document_id, _ in found:
            documents.remove(self._connection, document_id, self._dimension)
        return [status for _, status in found]

    def _meta(self, key: str) -> str:
        for (value,) in self._connection.rows("SELECT value FROM meta WHERE key = ?", (key,)):
            return str(value)
        return ""

    def _set_encoder(self, name: str, dimension: int, sha256: str) -> None:
        self._set_meta(
            [("encoder", name), ("dimension", str(dimension)), ("encoder_sha256", sha256)]
        )

    def _set_meta(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._connection.execute_many(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            pairs,
        )

    @property
    def _dimension(self) -> int:
        return int(self._meta("dimension") or 1)


def _unknown(lens: str, name: str) -> UnknownDocument:
    return UnknownDocument(
        f"no document of that name is in lens '{lens}'",
        subject=name,
        remedy="See the names with: smartrag list",
    )


def _file_bytes(path: Path) -> int:
    siblings = (path, path.with_name(path.name + "-wal"))
    return sum(p.stat().st_size for p in siblings if p.exists())
