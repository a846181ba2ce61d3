"""Reading: a document becomes observations, a question becomes a `Question`. No storage, no model
of language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    Triplet,
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
        above, seen = self._seen(labels, texts, readings)
        return [
            Observation(
                paragraph=paragraph,
                vector=readings[row].vector,
                sentences=spans[row],
                sentence_vectors=readings[row].parts,
                mentions=seen[row].mentions,
                abouts=abouts(document.title, paragraph, seen[row].mentions, above[row]),
                pending=seen[row].pending,
                triplets=seen[row].triplets,
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
        _, [seen] = self._seen([""], [clean], [reading])
        return Question(clean, reading.vector, seen.mentions)

    def embed(self, text: str) -> FloatArray:
        """The vector of `text`, shape (d,)."""
        vector: FloatArray = self._encoder.encode([text])[0]
        return vector

    def _seen(
        self, labels: Sequence[str], texts: Sequence[str], readings: Sequence[Reading]
    ) -> tuple[list[tuple[Mention, ...]], list[Seen]]:
        """What the labels name, and what the texts name and say.

        A label helps to read what follows, and is what a first sentence speaks of: "Niels Abel. He
        was born in Finnøy."
        """
        leads = [_lead(label) for label in labels]
        whole = [lead + text for lead, text in zip(leads, texts, strict=True)]
        if self._reader is not None:
            readings = self._reader.read(whole, [()] * len(whole))
        found = self._perceiver.seen(whole, [reading.tokens for reading in readings])
        above = [
            tuple(m for m in seen.mentions if m.start < len(lead))
            for lead, seen in zip(leads, found, strict=True)
        ]
        return above, [
            Seen(
                _behind(len(lead), seen.mentions),
                _behind(len(lead), seen.pending),
                tuple(_said(text, len(lead), seen.triplets)),
            )
            for text, lead, seen in zip(texts, leads, found, strict=True)
        ]


Placed = TypeVar("Placed", Mention, PendingMention)


def _behind(lead: int, found: Sequence[Placed]) -> tuple[Placed, ...]:
    """What lies behind the first `lead` characters, with offsets from there."""
    return tuple(
        replace(one, start=one.start - lead, end=one.end - lead)
        for one in found
        if one.start >= lead
    )


def _said(text: str, lead: int, found: Sequence[Triplet]) -> Iterator[Triplet]:
    """What `text` says behind a lead of so many characters.

    It names one of the two itself at least; what the lead says alone is said by no paragraph.
    """
    for one in found:
        start, end = max(0, one.start - lead), max(0, one.end - lead)
        if one.head in text[start:end] or one.tail in text[start:end]:
            yield replace(one, start=start, end=end)


def _lead(label: str) -> str:
    return f"{label}. " if label else ""
