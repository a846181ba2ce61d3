"""Reading: a document becomes observations, a question becomes a `Question`. No storage, no model
of language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from smartrag.perception.about import abouts
from smartrag.perception.chunks import chunk
from smartrag.perception.encoder import Encoder
from smartrag.settings import PerceptionSettings
from smartrag.text import sentence_spans, well_formed
from smartrag.types import Document, FloatArray, Mention, Observation, Paragraph, Question


class Perceiver(Protocol):
    """Finds entities. One method, on a batch."""

    def mentions(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """The mentions of each text, in text order."""
        ...


class Perception:
    """The reading side of the system: chunks, vectors, mentions and what a paragraph is about."""

    def __init__(
        self, encoder: Encoder, perceiver: Perceiver, settings: PerceptionSettings
    ) -> None:
        self._encoder = encoder
        self._perceiver = perceiver
        self._settings = settings

    def split(self, document: Document) -> list[Paragraph]:
        """The paragraphs of `document`."""
        return chunk(document, self._settings, self._encoder.token_spans)

    def observe(self, drafts: Sequence[tuple[Document, Paragraph]]) -> list[Observation]:
        """One observation for each paragraph, given with the document it belongs to."""
        paragraphs = [paragraph for _, paragraph in drafts]
        spans = [tuple(sentence_spans(p.text)) for p in paragraphs]
        texts = [p.text for p in paragraphs]
        vectors, sentence_vectors = self.vectors([p.label for p in paragraphs], texts, spans)
        mentions = self._perceiver.mentions(texts)
        return [
            Observation(
                paragraph=paragraph,
                vector=vectors[row],
                sentences=spans[row],
                sentence_vectors=sentence_vectors[row],
                mentions=mentions[row],
                abouts=abouts(document.title, paragraph),
            )
            for row, (document, paragraph) in enumerate(drafts)
        ]

    def vectors(
        self,
        labels: Sequence[str],
        texts: Sequence[str],
        sentences: Sequence[tuple[tuple[int, int], ...]],
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Paragraph vectors (n, d) and, for each paragraph, its sentence vectors (m, d).

        A paragraph is encoded behind its label, so a sentence that says "he" is still found by the
        name in its heading.
        """
        leads = [f"{label}. " if label else "" for label in labels]
        whole = [lead + text for lead, text in zip(leads, texts, strict=True)]
        parts = [
            [(len(lead) + start, len(lead) + end) for start, end in spans]
            for lead, spans in zip(leads, sentences, strict=True)
        ]
        return self._encoder.encode_parts(whole, parts)

    def ask(self, text: str) -> Question:
        """A question, read once."""
        clean = well_formed(text)
        return Question(clean, self.embed(clean), self._perceiver.mentions([clean])[0])

    def embed(self, text: str) -> FloatArray:
        """The vector of `text`, shape (d,)."""
        vector: FloatArray = self._encoder.encode([text])[0]
        return vector
