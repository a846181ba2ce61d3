"""The channels that score every paragraph for a text, each on its own scale brought to 0 … 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from smartrag.kernels import Codes, quantize, scan, scan_sketched
from smartrag.memory import StoreView
from smartrag.settings import FocusSettings
from smartrag.text import content_words
from smartrag.types import FloatArray


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well n paragraphs match one text.

    `lexical` and `dense` are float32[n] in 0 … 1 (minimum and maximum over the view); `cosine`,
    float32[n], is what `dense` was made of.
    """

    lexical: FloatArray
    dense: FloatArray
    cosine: FloatArray


def relevance(view: StoreView, text: str, query: Codes, settings: FocusSettings) -> Relevance:
    """Score every paragraph of `view`, which must not be empty, for a text and its vector."""
    cosine = cosines(view, query, settings)
    return Relevance(
        lexical=unit_range(view.lexical(content_words(text))),
        dense=unit_range(cosine),
        cosine=cosine,
    )


def cosines(view: StoreView, query: Codes, settings: FocusSettings) -> FloatArray:
    """The cosine of every paragraph, float32[n]; in a large view exact for the nearest only."""
    codes = view.vectors.paragraphs
    if len(codes) >= settings.sketch_rows:
        return scan_sketched(codes, view.sketches(), query, settings.sketch_candidates)
    exact: FloatArray = scan(codes, query)[0]
    return exact


def quantized(vector: FloatArray) -> Codes:
    """The encoder's vector, shape (d,), as a query of one row."""
    return quantize(vector[np.newaxis])


@dataclass(frozen=True, slots=True)
class SentenceCosines:
    """Cosines of single sentences with the question, for the paragraphs that are looked at.

    Sentences are most of a store's vectors, so they are read and scored for the best few hundred
    paragraphs only, and for others when somebody asks.
    """

    view: StoreView
    query: Codes
    _known: dict[int, FloatArray] = field(default_factory=dict, repr=False)
    _maxima: list[float] = field(default_factory=list, repr=False)
    missing: set[int] = field(default_factory=set, repr=False)  # rows without vectors any more

    def of(self, rows: Sequence[int]) -> list[FloatArray]:
        """For each paragraph row the cosines of its sentences, float32[sentences of the row]."""
        unknown = [row for row in rows if row not in self._known]
        for row in unknown:
            # What a paragraph deleted since the view was made would score; it is not shown.
            self._known[row] = np.zeros(self.view.n_sentences(row), np.float32)
        there, counts, codes = self.view.sentence_codes(unknown)
        self.missing.update(set(unknown) - set(there))
        [cosines] = scan(codes, self.query)
        if len(codes):
            self._maxima.append(float(cosines.max()))
        first = 0
        for row, n_sentences in zip(there, counts, strict=True):
            self._known[row] = cosines[first : first + n_sentences]
            first += n_sentences
        return [self._known[row] for row in rows]

    def best(self) -> float:
        """The highest cosine of all sentences scored so far; 0 if there are none."""
        return max(self._maxima, default=0.0)


def sentence_channel(
    scored: Relevance, sentences: SentenceCosines, settings: FocusSettings
) -> FloatArray:
    """The best sentence of each paragraph, float32[n] in 0 … 1.

    It is looked for in the paragraphs that lexical and dense relevance rank highest; all others,
    and a paragraph without a sentence, keep their own cosine.
    """
    fused = scored.lexical + settings.dense_weight * scored.dense
    candidates = highest(fused, settings.sentence_candidates)
    best = scored.cosine.copy()
    for row, cosines in zip(candidates, sentences.of(candidates), strict=True):
        if len(cosines) and row not in sentences.missing:
            best[row] = cosines.max()
    return unit_range(best)


def highest(scores: FloatArray, k: int) -> list[int]:
    """The rows of the k highest scores, best first; ties go to the lower row."""
    if 0 < k < len(scores):
        # Everything that reaches the k-th score, so that ties are decided below and not by chance.
        kth = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows = np.flatnonzero(scores >= kth)
    else:
        rows = np.arange(len(scores))
    best: list[int] = rows[np.argsort(-scores[rows], kind="stable")][:k].tolist()
    return best


def unit_range(scores: FloatArray) -> FloatArray:
    """Scores moved and stretched to 0 … 1; equal scores all become 0."""
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.zeros_like(scores)
    stretched: FloatArray = (scores - low) / (high - low)
    return stretched
