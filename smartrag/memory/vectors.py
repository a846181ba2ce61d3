"""INT8 vectors in blocks: written a block at a time, read as whole matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels import Codes, quantize
from smartrag.memory.connection import Connection
from smartrag.types import FloatArray

BLOCK_ROWS = 64
"""Paragraphs in a block: a block of 384 dimensions is 24 kB, and appending rewrites at most one."""


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors of n paragraphs and of their m sentences, in the order of `owners`.

    owners int64[n]; paragraphs (n, d); sentence_counts int32[n]; sentence_spans int32[m, 2];
    sentences (m, d).
    """

    owners: NDArray[np.int64]
    paragraphs: Codes
    sentence_counts: NDArray[np.int32]
    sentence_spans: NDArray[np.int32]
    sentences: Codes

    def select(self, keep: NDArray[np.bool_]) -> VectorRows:
        """The rows where `keep` (bool[n]) is true."""
        of_sentence = np.repeat(keep, self.sentence_counts)
        return VectorRows(
            self.owners[keep],
            Codes(self.paragraphs.codes[keep], self.paragraphs.scales[keep]),
            self.sentence_counts[keep],
            self.sentence_spans[of_sentence],
            Codes(self.sentences.codes[of_sentence], self.sentences.scales[of_sentence]),
        )


VectorBatch = tuple[
    str, Sequence[int], FloatArray, Sequence[tuple[tuple[int, int], ...]], Sequence[FloatArray]
]
"""Lens, paragraph ids, their vectors, their sentence spans, their sentences' vectors."""


def quantized(
    owners: Sequence[int],
    vectors: FloatArray,
    spans: Sequence[tuple[tuple[int, int], ...]],
    sentence_vectors: Sequence[FloatArray],
) -> VectorRows:
    """Rows ready to be written: float32 vectors of unit length become INT8 codes."""
    flat = [span for of_paragraph in spans for span in of_paragraph]
    return VectorRows(
        np.array(owners, dtype=np.int64),
        quantize(vectors),
        np.array([len(s) for s in spans], dtype=np.int32),
        np.array(flat, dtype=np.int32).reshape(-1, 2),
        quantize(np.concatenate([vectors[:0], *sentence_vectors])),
    )


def append(connection: Connection, lens_id: int, rows: VectorRows, dimension: int) -> None:
    """Write `rows` behind the lens's last block, which is filled up first."""
    last = connection.rows(
        "SELECT id, length(owners) FROM vector_blocks WHERE lens_id = ? ORDER BY id DESC LIMIT 1",
        (lens_id,),
    )
    position = 0
    if last and (room := BLOCK_ROWS - last[0][1] // 8) > 0:
        (block_id, _), position = last[0], min(room, len(rows.owners))
        filled = _joined(
            [_read(connection, block_id, dimension), _slice(rows, 0, position)], dimension
        )
        _write(connection, lens_id, block_id, filled)
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
    """All vectors of a lens, in ascending order of the paragraph id."""
    blocks = connection.rows(
        f"SELECT {_COLUMNS} FROM vector_blocks WHERE lens_id = ? ORDER BY id", (lens_id,)
    )
    rows = _joined([_unpacked(block, dimension) for block in blocks], dimension)
    if np.all(rows.owners[:-1] < rows.owners[1:]):
        return rows
    return _reordered(rows, np.argsort(rows.owners, kind="stable"))


_COLUMNS = "owners, codes, scales, sentence_counts, sentence_spans, sentence_codes, sentence_scales"


def _read(connection: Connection, block_id: int, dimension: int) -> VectorRows:
    [block] = connection.rows(f"SELECT {_COLUMNS} FROM vector_blocks WHERE id = ?", (block_id,))
    return _unpacked(block, dimension)


def _unpacked(block: tuple[Any, ...], dimension: int) -> VectorRows:
    owners, codes, scales, counts, spans, sentence_codes, sentence_scales = block
    return VectorRows(
        np.frombuffer(owners, dtype=np.int64),
        Codes(
            np.frombuffer(codes, dtype=np.int8).reshape(-1, dimension),
            np.frombuffer(scales, dtype=np.float32),
        ),
        np.frombuffer(counts, dtype=np.int32),
        np.frombuffer(spans, dtype=np.int32).reshape(-1, 2),
        Codes(
            np.frombuffer(sentence_codes, dtype=np.int8).reshape(-1, dimension),
            np.frombuffer(sentence_scales, dtype=np.float32),
        ),
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
        rows.sentences.codes.tobytes(),
        rows.sentences.scales.tobytes(),
    )
    if block_id is None:
        block_id = connection.execute(
            f"INSERT INTO vector_blocks (lens_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (lens_id, *blobs),
        ).lastrowid
    else:
        connection.execute(
            f"UPDATE vector_blocks SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
            (*blobs, block_id),
        )
    connection.execute(
        f"UPDATE paragraphs SET block_id = ? WHERE id IN ({_marks(rows.owners)})",
        (block_id, *rows.owners.tolist()),
    )


def _joined(parts: Sequence[VectorRows], dimension: int) -> VectorRows:
    if not parts:
        none = Codes.empty(dimension)
        return VectorRows(
            np.empty(0, np.int64), none, np.empty(0, np.int32), np.empty((0, 2), np.int32), none
        )
    return VectorRows(
        np.concatenate([p.owners for p in parts]),
        Codes.concatenate([p.paragraphs for p in parts]),
        np.concatenate([p.sentence_counts for p in parts]),
        np.concatenate([p.sentence_spans for p in parts]),
        Codes.concatenate([p.sentences for p in parts]),
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
        Codes(rows.paragraphs.codes[order], rows.paragraphs.scales[order]),
        rows.sentence_counts[order],
        rows.sentence_spans[sentences],
        Codes(rows.sentences.codes[sentences], rows.sentences.scales[sentences]),
    )


def _marks(values: NDArray[np.int64]) -> str:
    return ", ".join("?" * len(values))
