"""One lens of a store as one moment saw it: all that retrieval may look at.

A view holds the rows of its lens and nothing else, so no ranking code can reach another lens's
content, whatever it does. (How rare a word is, BM25 counts over all lenses of the store.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from smartrag.kernels import Codes, Sketches, sketch, sketch_recall
from smartrag.memory import graph as graph_arrays
from smartrag.memory import lexical, vectors
from smartrag.memory.connection import Connection
from smartrag.memory.graph import Graph, IntArray
from smartrag.memory.vectors import VectorRows
from smartrag.types import FloatArray, StoredParagraph


@dataclass(frozen=True, slots=True)
class StoreView:
    """Paragraph rows 0 … n − 1 of one lens, their vectors and their graph."""

    connection: Connection
    lens_id: int
    version: int
    paragraph_ids: IntArray
    vectors: VectorRows
    graph: Graph
    _sketches: list[Sketches] = field(default_factory=list, repr=False)

    def sketches(self) -> Sketches:
        """1-bit sketches of the paragraph vectors, made when they are first asked for."""
        if not self._sketches:
            self._sketches.append(sketch(self.vectors.paragraphs))
        return self._sketches[0]

    def sketch_recall(self, candidates: int, questions: int = 100) -> float:
        """The share of the 10 nearest paragraphs among so many candidates: 0 … 1.

        Evenly spaced paragraphs, at most `questions` of them, stand in for questions. Each finds
        itself, which does not count; a view of one paragraph or none has nothing to miss.
        """
        codes = self.vectors.paragraphs
        if len(codes) < 2:
            return 1.0
        asked = codes.rows(np.arange(0, len(codes), -(-len(codes) // questions)))
        k = min(11, len(codes))
        found = k * sketch_recall(codes, self.sketches(), asked, k, candidates)
        return (found - 1) / (k - 1)

    def lexical(self, terms: Sequence[str]) -> FloatArray:
        """BM25 of every paragraph row for `terms`: float32[n], 0 where none of them occurs."""
        scores = np.zeros(len(self.paragraph_ids), dtype=np.float32)
        found = lexical.search(self.connection, self.lens_id, terms)
        if not found or not len(scores):
            return scores
        ids = np.array([paragraph_id for paragraph_id, _ in found], dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.paragraph_ids, ids), len(scores) - 1)
        here = self.paragraph_ids[rows] == ids  # a paragraph written since is not in this view
        scores[rows[here]] = np.array([score for _, score in found], dtype=np.float32)[here]
        return scores

    def fetch(self, rows: Sequence[int]) -> dict[int, StoredParagraph]:
        """The paragraphs of these rows; one deleted since the view was made is left out."""
        found = {}
        for row in rows:
            for values in self.connection.rows(
                f"""SELECT {COLUMNS} FROM paragraphs p JOIN documents d ON d.id = p.document_id
                    WHERE p.id = ? AND d.lens_id = ?""",
                (int(self.paragraph_ids[row]), self.lens_id),
            ):
                found[row] = stored(*values)
        return found

    def rows_of(self, document: str) -> list[int]:
        """The rows of a document's paragraphs, in text order; none when it is not in the lens."""
        found = self.connection.rows(
            """SELECT p.id FROM paragraphs p JOIN documents d ON d.id = p.document_id
                WHERE d.name = ? AND d.lens_id = ? ORDER BY p.position""",
            (document, self.lens_id),
        )
        ids = np.array([paragraph_id for (paragraph_id,) in found], dtype=np.int64)
        rows: list[int] = np.searchsorted(self.paragraph_ids, ids).tolist()
        last = len(self.paragraph_ids) - 1
        # A paragraph written since the view was made is not in it.
        return [
            r for r, i in zip(rows, ids, strict=True) if r <= last and self.paragraph_ids[r] == i
        ]

    def sentence_codes(self, rows: Sequence[int]) -> tuple[list[int], list[int], Codes]:
        """The sentence vectors of these rows.

        The rows that are there, how many sentences each has, and the vectors of all sentences in
        that order. A row deleted since the view was made is left out; so is one whose vectors
        another encoder has renewed, where they no longer fit the view.
        """
        by_id = dict(zip(self.paragraph_ids[np.array(rows, np.int64)].tolist(), rows, strict=True))
        dimension = self.vectors.paragraphs.dim
        expected = {i: self.n_sentences(row) for i, row in by_id.items()}
        ids, counts, codes = vectors.of_sentences(self.connection, expected, dimension)
        return [by_id[paragraph_id] for paragraph_id in ids], counts, codes

    def n_sentences(self, row: int) -> int:
        """How many sentences a paragraph row has."""
        return int(self.vectors.sentence_counts[row])

    def sentence_spans(self, row: int) -> tuple[tuple[int, int], ...]:
        """Sentence spans of a paragraph row."""
        first, stop = self.graph.first_sentence[row : row + 2]
        return tuple((int(a), int(b)) for a, b in self.vectors.sentence_spans[first:stop])


def load(connection: Connection, lens_id: int, dimension: int, version: int) -> StoreView:
    """Read a view; call it inside a snapshot."""
    rows = vectors.load(connection, lens_id, dimension)
    return StoreView(
        connection=connection,
        lens_id=lens_id,
        version=version,
        paragraph_ids=rows.owners,
        vectors=rows,
        graph=graph_arrays.load(connection, lens_id, rows.owners, rows),
    )


COLUMNS = "p.id, d.name, p.label, p.heading, p.page, p.first, p.last, p.text"
"""What `stored` takes, of paragraphs p and documents d."""


def stored(
    paragraph_id: int,
    document: str,
    label: str,
    heading: str,
    page: int | None,
    first: int,
    last: int,
    text: str,
) -> StoredParagraph:
    """The paragraph in a row of `COLUMNS`."""
    return StoredParagraph(
        id=paragraph_id,
        document=document,
        label=label,
        heading=tuple(json.loads(heading)),
        page=page,
        start=first,
        end=last,
        text=text,
    )
