"""What is scored for every paragraph, and what for the best ones only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.focus.channels import (
    Relevance,
    SentenceCosines,
    cosines,
    highest,
    quantized,
    sentence_channel,
)
from smartrag.kernels import Codes, quantize, scan, sketch
from smartrag.memory import StoreView
from smartrag.settings import FocusSettings
from smartrag.types import FloatArray
from tests.focus.graphs import f32

QUERY = quantized(f32(1, 0))


@dataclass
class Sentences:
    """Stands for a view: the vectors of each paragraph's sentences, and which were read."""

    vectors: Sequence[Sequence[tuple[float, float]]]
    deleted: Sequence[int] = ()
    read: list[int] = field(default_factory=list)

    def n_sentences(self, row: int) -> int:
        return len(self.vectors[row])

    def sentence_codes(self, rows: Sequence[int]) -> tuple[list[int], list[int], Codes]:
        self.read += rows
        there = [row for row in rows if row not in self.deleted]
        flat = [vector for row in there for vector in self.vectors[row]]
        counts = [self.n_sentences(row) for row in there]
        return there, counts, quantize(np.array(flat, np.float32).reshape(-1, 2))


def cosines_of(view: Sentences) -> SentenceCosines:
    return SentenceCosines(cast(StoreView, view), QUERY)


def close(found: Sequence[FloatArray], expected: Sequence[Sequence[float]]) -> bool:
    return all(f == pytest.approx(e, abs=0.01) for f, e in zip(found, expected, strict=True))


# --- all paragraphs -------------------------------------------------------------------------------
def test_a_large_view_is_searched_in_two_stages() -> None:
    rng = np.random.default_rng(0)
    codes = quantize(rng.standard_normal((400, 16)).astype(np.float32))
    asked = codes.rows(slice(7, 8))
    sketches = sketch(codes)
    view = cast(
        StoreView,
        SimpleNamespace(vectors=SimpleNamespace(paragraphs=codes), sketches=lambda: sketches),
    )
    exact = cosines(view, asked, FocusSettings())
    rough = cosines(view, asked, FocusSettings(sketch_rows=400, sketch_candidates=50))
    assert exact.tolist() == scan(codes, asked)[0].tolist()
    assert rough.argmax() == exact.argmax() == 7
    assert 50 <= np.count_nonzero(rough == exact) < 400


# --- sentences ------------------------------------------------------------------------------------
def test_each_row_has_the_cosines_of_its_own_sentences_in_the_order_asked_for() -> None:
    found = cosines_of(Sentences([[(1, 0), (0.5, 0.5)], [], [(-1, 0)]]))
    assert close(found.of([2, 0, 1]), [[-1], [1, 0.5], []])
    assert found.best() == pytest.approx(1, abs=0.01)


def test_a_row_is_read_once() -> None:
    view = Sentences([[(1, 0)], [(0, 1)], [(0.5, 0)]])
    found = cosines_of(view)
    found.of([0, 1])
    found.of([1, 2, 0])
    assert view.read == [0, 1, 2]


def test_a_paragraph_deleted_meanwhile_scores_nothing() -> None:
    found = cosines_of(Sentences([[(1, 0)], [(1, 0), (1, 0)]], deleted=[1]))
    assert close(found.of([0, 1]), [[1], [0, 0]])


def test_a_paragraph_without_its_sentence_vectors_keeps_its_own_cosine() -> None:
    view = Sentences([[(0.2, 0)], [(0.9, 0)], [(0.1, 0)]], deleted=[1])
    scored = Relevance(lexical=f32(1, 1, 1), dense=f32(0, 0, 0), cosine=f32(0, 0.6, 0))
    channel = sentence_channel(scored, cosines_of(view), FocusSettings())
    assert channel == pytest.approx(f32((0.2 - 0.1) / 0.5, 1, 0), abs=0.01)


def test_nothing_scored_has_no_best() -> None:
    assert cosines_of(Sentences([[]])).best() == 0
    assert cosines_of(Sentences([[], []], deleted=[0])).of([0, 1])[1].shape == (0,)


def test_the_sentence_channel_looks_into_the_best_paragraphs_only() -> None:
    view = Sentences([[(0.2, 0), (0.8, 0)], [(1, 0)], [], [(0.1, 0)]])
    cosine = f32(0.3, 0.4, 0.2, 0.0)
    scored = Relevance(lexical=f32(1, 0, 0.9, 0.8), dense=f32(0, 0, 0, 0), cosine=cosine)
    channel = sentence_channel(scored, cosines_of(view), FocusSettings(sentence_candidates=3))
    # Row 1 is no candidate and row 2 has no sentence: 0.4 and 0.2 are their own. Highest is 0.8.
    assert view.read == [0, 2, 3]
    assert channel == pytest.approx(f32(1, (0.4 - 0.1) / 0.7, (0.2 - 0.1) / 0.7, 0), abs=0.01)


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=12), st.integers(0, 14)
)
def test_the_highest_rows_are_those_of_a_stable_sort(values: list[float], k: int) -> None:
    scores = f32(*values)
    assert highest(scores, k) == np.argsort(-scores, kind="stable")[:k].tolist()
