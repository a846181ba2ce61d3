"""The channels that score every paragraph for a text, each on its own scale brought to 0 … 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smartrag.kernels import quantize, scan
from smartrag.memory import StoreView
from smartrag.text import content_words
from smartrag.types import FloatArray


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well n paragraphs and their m sentences match one text.

    `lexical`, `dense` and `sentence` are float32[n] in 0 … 1 (minimum and maximum over the view);
    `cosine` (float32[n]) and `sentence_cosine` (float32[m]) are the raw cosines behind them.
    """

    lexical: FloatArray
    dense: FloatArray
    sentence: FloatArray
    cosine: FloatArray
    sentence_cosine: FloatArray


def relevance(view: StoreView, text: str, vector: FloatArray) -> Relevance:
    """Score every paragraph of `view`, which must not be empty."""
    query = quantize(vector[np.newaxis])
    cosine = scan(view.vectors.paragraphs, query)
    sentence_cosine = scan(view.vectors.sentences, query)
    return Relevance(
        lexical=unit_range(view.lexical(content_words(text))),
        dense=unit_range(cosine),
        sentence=unit_range(_best_of_each(sentence_cosine, view, cosine)),
        cosine=cosine,
        sentence_cosine=sentence_cosine,
    )


def unit_range(scores: FloatArray) -> FloatArray:
    """Scores moved and stretched to 0 … 1; equal scores all become 0."""
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.zeros_like(scores)
    stretched: FloatArray = (scores - low) / (high - low)
    return stretched


def _best_of_each(
    of_sentences: FloatArray, view: StoreView, of_paragraphs: FloatArray
) -> FloatArray:
    """The best sentence of each paragraph; one without a sentence keeps its own cosine."""
    best = of_paragraphs.copy()
    firsts = view.graph.first_sentence
    filled = np.flatnonzero(firsts[:-1] < firsts[1:])
    if len(filled):
        best[filled] = np.maximum.reduceat(of_sentences, firsts[filled])
    return best
