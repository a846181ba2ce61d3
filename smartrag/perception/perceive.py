"""Reading: a document becomes observations, a question becomes a `Question`. No storage, no model
of language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from smartrag.perception.about import abouts
from smartrag.perception.chunks import chunk
from smartrag.perception.encoder import Encoder, Reading, Tokens
from smartrag.settings import PerceptionSettings
from smartrag.text import sentence_spans, well_formed
from smartrag.types import (
    Document,
    FloatArray,
    Mention,
    Observation,
    Paragraph,
    PendingMention,
    Question,
    Seen,
)


class Perceiver(Protocol):
    """Finds entities. One method, on a batch."""

    def seen(self, texts: Sequence[str], tokens: Sequence[Tokens | None]) -> list[Seen]:
        """What each text names.

        `tokens` are the texts as the encoder read them, None where it shares no states.
        """
        ...


class Perception:
    """The reading side of the system: chunks, vectors, mentions and what a paragraph is about.

    `reader` reads the texts for the perceiver where the encoder of the vectors cannot: when it is
    another one than the perceiver was trained on.
    """

    def __init__(
        self,
        encoder: Encoder,
        perceiver: Perceiver,
        settings: PerceptionSettings,
        reader: Encoder | None = None,
    ) -> None:
        self._encoder = encoder
        self._perceiver = perceiver
        self._settings = settings
        self._reader = reader

    def split(self, document: Document) -> list[Paragraph]:
        """The paragraphs of `document`."""
        return chunk(document, self._settings, self._encoder.token_spans)

    def observe(self, drafts: Sequence[tuple[Document, Paragraph]]) -> list[Observation]:
        """One observation for each paragraph, given with the document it belongs to."""
        paragraphs = [paragraph for _, paragraph in drafts]
        spans = [tuple(sentence_spans(p.text)) for p in paragraphs]
        labels, texts = [p.label for p in paragraphs], [p.text for p in paragraphs]
        readings = self.read(labels, texts, spans)
        seen = self._seen(labels, texts, readings)
        return [
            Observation(
                paragraph=paragraph,
                vector=readings[row].vector,
                sentences=spans[row],
                sentence_vectors=readings[row].parts,
                mentions=seen[row].mentions,
                abouts=abouts(document.title, paragraph, seen[row].mentions),
                pending=seen[row].pending,
            )
            for row, (document, paragraph) in enumerate(drafts)
        ]

    def read(
        self,
        labels: Sequence[str],
        texts: Sequence[str],
        sentences: Sequence[Sequence[tuple[int, int]]],
    ) -> list[Reading]:
        """Each paragraph read once, its sentences as parts.

        A paragraph is encoded behind its label, so a sentence that says "he" is still found by the
        name in its heading.
        """
        leads = [_lead(label) for label in labels]
        whole = [lead + text for lead, text in zip(leads, texts, strict=True)]
        parts = [
            [(len(lead) + start, len(lead) + end) for start, end in spans]
            for lead, spans in zip(leads, sentences, strict=True)
        ]
        return self._encoder.read(whole, parts)

    def ask(self, text: str) -> Question:
        """A question, read once."""
        clean = well_formed(text)
        [reading] = self.read([""], [clean], [()])
        [seen] = self._seen([""], [clean], [reading])
        return Question(clean, reading.vector, seen.mentions)

    def embed(self, text: str) -> FloatArray:
        """The vector of `text`, shape (d,)."""
        vector: FloatArray = self._encoder.encode([text])[0]
        return vector

    def _seen(
        self, labels: Sequence[str], texts: Sequence[str], readings: Sequence[Reading]
    ) -> list[Seen]:
        """What the texts name; what the labels name only helps to read what follows."""
        leads = [_lead(label) for label in labels]
        whole = [lead + text for lead, text in zip(leads, texts, strict=True)]
        if self._reader is not None:
            readings = self._reader.read(whole, [()] * len(whole))
        found = self._perceiver.seen(whole, [reading.tokens for reading in readings])
        return [
            Seen(_behind(len(lead), seen.mentions), _behind(len(lead), seen.pending))
            for lead, seen in zip(leads, found, strict=True)
        ]


Placed = TypeVar("Placed", Mention, PendingMention)


def _behind(lead: int, found: Sequence[Placed]) -> tuple[Placed, ...]:
    """What lies behind the first `lead` characters, with offsets from there."""
    return tuple(
        replace(one, start=one.start - lead, end=one.end - lead)
        for one in found
        if one.start >= lead
    )


def _lead(label: str) -> str:
    return f"{label}. " if label else ""
