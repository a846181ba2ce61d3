"""What tests use in place of the encoder, and a small corpus with names that lead to one another.

`from tests.fakes import …` works in every test file; the fixtures are in `conftest.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from experiments.capitalised import CapitalisedSpans
from smartrag import Document, Settings, SmartRAG
from smartrag.perception.encoder import Encoder, EncoderIdentity, Reading, Tokens
from smartrag.settings import MemorySettings, PerceptionSettings
from smartrag.text import content_words
from smartrag.thinking import LanguageModel
from smartrag.types import About, FloatArray, Mention, Observation, Paragraph, Seen, Triplet

_TOKEN = re.compile(r"\w+|[^\w\s]")

SETTINGS = Settings(
    perception=PerceptionSettings(chunk_tokens=60, overlap_tokens=10),
    memory=MemorySettings(busy_timeout_s=0.2),
)
"""Small chunks and little patience: what makes tests short."""


class HashingEncoder(Encoder):
    """The interface of `Encoder` without a model: the sum of one pseudo-random vector a word.

    Texts that share words are near to each other, the same text has the same vector on every
    machine, and another `seed` is another encoder. A token is a word or a punctuation mark.
    """

    def __init__(self, seed: str = "", dimension: int = 32) -> None:
        self.identity = EncoderIdentity(
            name=f"hashing{seed}",
            dimension=dimension,
            sha256=hashlib.sha256(f"{seed} {dimension}".encode()).hexdigest(),
        )
        self._seed = seed
        self._known: dict[str, FloatArray] = {}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of whole texts, (n, d)."""
        return self._stacked(texts)

    def read(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Reading]:
        """Vectors of whole texts and of spans in each; no token states."""
        return [
            Reading(self._unit(text), self._stacked([text[start:end] for start, end in spans]))
            for text, spans in zip(texts, parts, strict=True)
        ]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character offsets of each token of `text`."""
        return [match.span() for match in _TOKEN.finditer(text)]

    def _stacked(self, texts: Sequence[str]) -> FloatArray:
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._unit(text)
        return vectors

    def _unit(self, text: str) -> FloatArray:
        total = np.sum([self._word(word) for word in content_words(text) or [""]], axis=0)
        unit: FloatArray = (total / np.linalg.norm(total)).astype(np.float32)
        return unit

    def _word(self, word: str) -> FloatArray:
        if word not in self._known:
            digest = hashlib.shake_128(f"{self._seed} {word}".encode("utf-8", "surrogatepass"))
            raw = np.frombuffer(digest.digest(2 * self.identity.dimension), dtype="<u2")
            self._known[word] = raw.astype(np.float32) - 32767.5
        return self._known[word]


class NeighbouringSpans(CapitalisedSpans):
    """Each name of a text is next to the one that follows."""

    def seen(self, texts: Sequence[str], tokens: Sequence[Tokens | None]) -> list[Seen]:
        """The mentions of each text, and a triplet for every two that follow each other."""
        return [
            replace(
                seen,
                triplets=tuple(
                    Triplet(a.surface, "next to", b.surface, a.start, b.end, 0.5)
                    for a, b in pairwise(seen.mentions)
                    if a.surface != b.surface
                ),
            )
            for seen in super().seen(texts, tokens)
        ]


def open_memory(
    path: Path,
    settings: Settings = SETTINGS,
    *,
    lens: str = "default",
    write: bool = True,
    encoder: Encoder | None = None,
    model: LanguageModel | None = None,
) -> SmartRAG:
    """A SmartRAG that encodes with `encoder`, by default a `HashingEncoder`."""
    memory = SmartRAG(
        path, settings, lens=lens, write=write, model=model, perceiver=NeighbouringSpans()
    )
    memory.__dict__["encoder"] = encoder or HashingEncoder()  # the place of the cached property
    return memory


def observation(
    text: str,
    position: int = 0,
    *,
    label: str = "",
    sentences: tuple[tuple[int, int], ...] | None = None,
    names: Sequence[str] = (),
    mentions: Sequence[tuple[int, str]] = (),
    abouts: Sequence[tuple[str, float]] = (),
    triplets: Sequence[tuple[str, str, str]] = (),
    encoder: Encoder | None = None,
) -> Observation:
    """An observation by hand. By default the text is one sentence.

    `names` are mentioned where they first occur in the text, `mentions` at a given offset; `abouts`
    are names with their weights. The whole text says each of the `triplets`.
    """
    spans = ((0, len(text)),) if sentences is None else sentences
    [reading] = (encoder or HashingEncoder()).read([text], [spans])
    placed = [*mentions, *((text.index(name), name) for name in names)]
    return Observation(
        paragraph=Paragraph(position, 0, len(text), text, label=label),
        vector=reading.vector,
        sentences=spans,
        sentence_vectors=reading.parts,
        mentions=tuple(
            Mention(start, start + len(name), name, "name", 0.5) for start, name in placed
        ),
        abouts=tuple(About(name, weight) for name, weight in abouts),
        triplets=tuple(Triplet(*said, 0, len(text), 0.5) for said in triplets),
    )


def _about(name: str, text: str) -> Document:
    return Document(name=f"{name}.md", text=text, title=name, media_type="text/markdown")


SMALL_CORPUS: tuple[Document, ...] = (
    _about(
        "Mara Lindqvist",
        "Mara Lindqvist is a film director who was born in Torvik. She made The Glass Orchard in"
        " 1987 and never worked with a second composer.",
    ),
    _about(
        "The Glass Orchard",
        "The Glass Orchard is a drama film of 1987 directed by Mara Lindqvist. It stars Otto Brandl"
        " as a gardener, and its music was written by Ines Calder.",
    ),
    _about(
        "Otto Brandl",
        "Otto Brandl is an actor from Vellen. He left the mines at nineteen and first stood on a"
        " stage in Torvik.",
    ),
    _about(
        "Ines Calder",
        "Ines Calder, known as the Tin Nightingale, is a composer. She teaches harmony at the"
        " conservatory of Port Savile.",
    ),
    _about(
        "Torvik",
        "Torvik is a harbour town at the mouth of the Isel River. Its lighthouse was built in 1844"
        " by Hanna Roos.",
    ),
    _about(
        "Vellen",
        "Vellen is a mining town in the Karn Hills. Silver was found there in 1702, and the last"
        " shaft was closed in 1961.",
    ),
    _about(
        "Isel River",
        "The Isel River rises in the Karn Hills and flows past Vellen into the North Bay. It is 212"
        " kilometres long.",
    ),
    _about(
        "Karn Hills",
        "The Karn Hills are a range of low mountains. Their highest point is Mount Aster with 1,318"
        " metres.",
    ),
    _about(
        "Port Savile",
        "Port Savile is the capital of the province of Eastmark. Its conservatory was founded by"
        " Edmund Thorne in 1890.",
    ),
    _about(
        "Jonas Åberg",
        "Jonas Åberg is a film director and the husband of Ines Calder. His only comedy is Winter"
        " Ferry.",
    ),
    _about(
        "Winter Ferry",
        "Winter Ferry is a comedy film of 1993 directed by Jonas Åberg. Most of it was shot on the"
        " North Bay, and Otto Brandl plays the captain.",
    ),
    _about(
        "Hanna Roos",
        "Hanna Roos was an engineer from Port Savile. She built eleven lighthouses, the first of"
        " them in Torvik.",
    ),
)
"""People, films and places. "Where was the director of The Glass Orchard born?" takes two hops."""
