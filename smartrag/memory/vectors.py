"""INT8 vectors: those of paragraphs in blocks, read as one matrix; those of sentences one by one.

A question looks at every paragraph's vector, so they come from the file in blocks. Of the sentence
vectors, four fifths of all, it needs those of a few hundred paragraphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import StoreDamaged
from smartrag.kernels import Codes, quantize
from smartrag.memory.connection import Connection
from smartrag.types import FloatArray

BLOCK_ROWS = 256
"""Paragraphs in a block: a block of 384 dimensions is 100 kB, and appending rewrites at most one.
With a quarter of that, reading 100,000 paragraphs took twice as long."""

_VALUES_AT_ONCE = 500
"""SQLite limits the number of values in a statement; very old releases to 999."""


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors of n paragraphs, in the order of `owners`, and where their m sentences stand.

    owners int64[n]; paragraphs (n, d); sentence_counts int32[n]; sentence_spans int32[m, 2].
    """

    owners: NDArray[np.int64]
    paragraphs: Codes
    sentence_counts: NDArray[np.int32]
    sentence_spans: NDArray[np.int32]

    def select(self, keep: NDArray[np.bool_]) -> VectorRows:
        """The rows where `keep` (bool[n]) is true."""
        return VectorRows(
            self.owners[keep],
            self.paragraphs.rows(keep),
            self.sentence_counts[keep],
            self.sentence_spans[np.repeat(keep, self.sentence_counts)],
        )


VectorBatch = tuple[
    str, Sequence[int], FloatArray, Sequence[tuple[tuple[int, int], ...]], Sequence[FloatArray]
]
"""Lens, paragraph ids, their vectors, their sentence spans, their sentences' vectors."""


def write(
    connection: Connection,
    lens_id: int,
    owners: Sequence[int],
    vectors: FloatArray,
    spans: Sequence[tuple[tuple[int, int], ...]],
    sentence_vectors: Sequence[FloatArray],
) -> None:
    """Write the vectors of new paragraphs and of their sentences; float32 of unit length."""
    flat = [span for of_paragraph in spans for span in of_paragraph]
    rows = VectorRows(
        np.array(owners, dtype=np.int64),
        quantize(vectors),
        np.array([len(s) for s in spans], dtype=np.int32),
        np.array(flat, dtype=np.int32).reshape(-1, 2),
    )
    _append(connection, lens_id, rows)
    of_sentences = [quantize(of_paragraph) for of_paragraph in sentence_vectors]
    connection.execute_many(
        "INSERT INTO sentence_vectors VALUES (?, ?, ?)",
        [
            (owner, codes.codes.tobytes(), codes.scales.tobytes())
            for owner, codes in zip(owners, of_sentences, strict=True)
        ],
    )


def _append(connection: Connection, lens_id: int, rows: VectorRows) -> None:
    """Write `rows` behind the lens's last block, which is filled up first."""
    last = connection.rows(
        "SELECT id, length(owners) FROM vector_blocks WHERE lens_id = ? ORDER BY id DESC LIMIT 1",
        (lens_id,),
    )
    position = 0
    if last and (room := BLOCK_ROWS - last[0][1] // 8) > 0:
        (block_id, _), position = last[0], min(room, len(rows.owners))
        block = _read(connection, block_id, rows.paragraphs.dim)
        _write(connection, lens_id, block_id, _joined([block, _slice(rows, 0, position)]))
    while position < len(rows.owners):
        _write(connection, lens_id, None, _slice(rows, position, position + BLOCK_ROWS))
        position += BLOCK_ROWS


def remove(connection: Connection, paragraph_ids: Sequence[int], dimension: int) -> None:
    """Take the vectors of these paragraphs out of their blocks; emptied blocks go."""
    gone = np.array(paragraph_ids, dtype=np.int64)
    blocks: set[int] = set()
    for paragraph_id in paragraph_ids:
        for (block_id,) in connection.rows(
            "SELECT block_id FROM paragraphs WHERE id = ? AND block_id IS NOT NULL", (paragraph_id,)
        ):
            blocks.add(block_id)
    for block_id in sorted(blocks):
        rows = _read(connection, block_id, dimension)
        kept = rows.select(~np.isin(rows.owners, gone))
        # Of this block only: SQLite limits the number of values, and a document has no limit.
        here = rows.owners[np.isin(rows.owners, gone)]
        connection.execute(
            f"UPDATE paragraphs SET block_id = NULL WHERE id IN ({_marks(here)})",
            tuple(here.tolist()),
        )
        if len(kept.owners):
            _write(connection, None, block_id, kept)
        else:
            connection.execute("DELETE FROM vector_blocks WHERE id = ?", (block_id,))


def load(connection: Connection, lens_id: int, dimension: int) -> VectorRows:
    """All paragraph vectors of a lens, in ascending order of the paragraph id.

    Each block is copied to its place as it comes from the file, so every page of the large matrix
    is touched once; to fetch all blocks and join them took twice as long.
    """
    [(n, m)] = connection.rows(
        """SELECT coalesce(sum(length(owners)), 0) / 8, coalesce(sum(length(sentence_spans)), 0) / 8
             FROM vector_blocks WHERE lens_id = ?""",
        (lens_id,),
    )
    rows = _room(n, m, dimension)
    columns = (
        rows.owners,
        rows.paragraphs.codes,
        rows.paragraphs.scales,
        rows.sentence_counts,
        rows.sentence_spans,
    )
    filled = [0] * len(columns)  # bytes
    targets = [column.reshape(-1).view(np.uint8) for column in columns]
    for block in connection.each(
        f"SELECT {_COLUMNS} FROM vector_blocks WHERE lens_id = ? ORDER BY id", (lens_id,)
    ):
        for i, blob in enumerate(block):
            end = filled[i] + len(blob)
            if end > targets[i].size:
                raise _damaged(connection)
            targets[i][filled[i] : end] = np.frombuffer(blob, np.uint8)
            filled[i] = end
    _check(connection, rows, filled == [target.size for target in targets])
    if np.all(rows.owners[:-1] < rows.owners[1:]):
        return rows
    return _reordered(rows, np.argsort(rows.owners, kind="stable"))


def _check(connection: Connection, rows: VectorRows, complete: bool) -> None:
    try:
        Codes(rows.paragraphs.codes, rows.paragraphs.scales)  # its scales were not there before
        fit = int(rows.sentence_counts.sum()) == len(rows.sentence_spans)
    except ValueError as error:
        raise _damaged(connection) from error
    if not (complete and fit):
        raise _damaged(connection)


def _damaged(connection: Connection) -> StoreDamaged:
    return StoreDamaged(
        "the vectors in the file do not fit together",
        subject=str(connection.path),
        remedy="Restore the file from a backup, or ingest the documents into a new store",
    )


def of_sentences(
    connection: Connection, expected: Mapping[int, int], dimension: int
) -> tuple[list[int], list[int], Codes]:
    """The sentence vectors of those paragraphs that are there with as many as `expected`.

    `expected` maps paragraph ids to numbers of sentences. Returns the ids, how many sentences each
    has, and the vectors of all sentences in that order.
    """
    found: list[tuple[int, bytes, bytes]] = []
    wanted = list(expected)
    for first in range(0, len(wanted), _VALUES_AT_ONCE):
        ids = tuple(wanted[first : first + _VALUES_AT_ONCE])
        found += [
            (paragraph_id, codes, scales)
            for paragraph_id, codes, scales in connection.rows(
                f"""SELECT paragraph_id, codes, scales FROM sentence_vectors
                     WHERE paragraph_id IN ({_marks(ids)})""",
                ids,
            )
            if len(codes) == dimension * expected[paragraph_id]
        ]
    # Joined before numpy sees them: an array for each paragraph took most of the time.
    return (
        [paragraph_id for paragraph_id, _, _ in found],
        [len(scales) // 4 for _, _, scales in found],
        Codes(
            np.frombuffer(b"".join(codes for _, codes, _ in found), np.int8).reshape(-1, dimension),
            np.frombuffer(b"".join(scales for _, _, scales in found), np.float32),
        ),
    )


_COLUMNS = "owners, codes, scales, sentence_counts, sentence_spans"


def _read(connection: Connection, block_id: int, dimension: int) -> VectorRows:
    [(owners, codes, scales, counts, spans)] = connection.rows(
        f"SELECT {_COLUMNS} FROM vector_blocks WHERE id = ?", (block_id,)
    )
    return VectorRows(
        np.frombuffer(owners, dtype=np.int64),
        Codes(
            np.frombuffer(codes, dtype=np.int8).reshape(-1, dimension),
            np.frombuffer(scales, dtype=np.float32),
        ),
        np.frombuffer(counts, dtype=np.int32),
        np.frombuffer(spans, dtype=np.int32).reshape(-1, 2),
    )


def _write(
    connection: Connection, lens_id: int | None, block_id: int | None, rows: VectorRows
) -> None:
    blobs = (
        rows.owners.tobytes(),
        rows.paragraphs.codes.tobytes(),
        rows.paragraphs.scales.tobytes(),
        rows.sentence_counts.tobytes(),
        rows.sentence_spans.tobytes(),
    )
    if block_id is None:
        block_id = connection.execute(
            f"INSERT INTO vector_blocks (lens_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (lens_id, *blobs),
        ).lastrowid
    else:
        connection.execute(
            f"UPDATE vector_blocks SET ({_COLUMNS}) = (?, ?, ?, ?, ?) WHERE id = ?",
            (*blobs, block_id),
        )
    connection.execute(
        f"UPDATE paragraphs SET block_id = ? WHERE id IN ({_marks(rows.owners)})",
        (block_id, *rows.owners.tolist()),
    )


def _room(n: int, m: int, dimension: int) -> VectorRows:
    """Rows to be filled: n paragraphs with m sentences."""
    return VectorRows(
        np.empty(n, np.int64),
        Codes(np.empty((n, dimension), np.int8), np.zeros(n, np.float32)),
        np.empty(n, np.int32),
        np.empty((m, 2), np.int32),
    )


def _joined(parts: Sequence[VectorRows]) -> VectorRows:
    return VectorRows(
        np.concatenate([p.owners for p in parts]),
        Codes.concatenate([p.paragraphs for p in parts]),
        np.concatenate([p.sentence_counts for p in parts]),
        np.concatenate([p.sentence_spans for p in parts]),
    )


def _slice(rows: VectorRows, start: int, stop: int) -> VectorRows:
    position = np.arange(len(rows.owners))
    return rows.select((position >= start) & (position < stop))


def _reordered(rows: VectorRows, order: NDArray[np.int64]) -> VectorRows:
    firsts = np.concatenate([[0], np.cumsum(rows.sentence_counts)])
    sentences = np.concatenate(
        [np.arange(firsts[row], firsts[row + 1]) for row in order] or [firsts[:0]]
    )
    return VectorRows(
        rows.owners[order],
        rows.paragraphs.rows(order),
        rows.sentence_counts[order],
        rows.sentence_spans[sentences],
    )


def _marks(values: Sequence[int] | NDArray[np.int64]) -> str:
    return ", ".join("?" * len(values))
