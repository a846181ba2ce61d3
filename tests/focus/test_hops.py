"""Each kind of edge alone, with the number computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from smartrag.focus.hops import Hops, Seed, hops
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from tests.focus.graphs import f32, graph

NONE = FocusSettings(
    forward_weight=0, backward_weight=0, shared_weight=0, residual_weight=0, off_topic=0.4
)
FORWARD = replace(NONE, forward_weight=3.0)
BACKWARD = replace(NONE, backward_weight=0.5)
SHARED = replace(NONE, shared_weight=1.0)
RESIDUAL = replace(NONE, residual_weight=3.0)


def scored(
    graph: Graph,
    settings: FocusSettings,
    seeds: Sequence[int] = (0,),
    cosine: NDArray[np.float32] | None = None,
    rest: NDArray[np.float32] | None = None,
    named: set[int] | None = None,
) -> Hops:
    """Hops whose typical cosine is the median of `cosine`, which all sentences share out."""
    if cosine is None:
        cosine = np.ones(int(graph.first_sentence[-1]), dtype=np.float32)
    starts = [seed(graph, row, cosine) for row in seeds]
    typical, best = float(np.median(cosine)), float(cosine.max())
    return hops(graph, starts, typical, best, rest, named or set(), settings)


def seed(graph: Graph, row: int, cosine: NDArray[np.float32]) -> Seed:
    first, stop = graph.first_sentence[row : row + 2].tolist()
    mentioned = tuple(tuple(graph.entities_in.of(x).tolist()) for x in range(first, stop))
    return Seed(row, mentioned, cosine[first:stop])


# --- forward --------------------------------------------------------------------------------------
def test_forward_leads_from_a_mention_to_the_paragraph_about_it() -> None:
    # Paragraph 0 mentions entity 0 (rarity 0.5), which paragraph 1 is about with 0.8.
    film = graph(["calder"], [[[0]], [[]]], [{}, {0: 0.8}], rarity=[0.5])
    found = scored(film, FORWARD)
    # F = w · r(x) · rarity · about = 1 · 1 · 0.5 · 0.8 = 0.4, times 3.
    assert found.scores == pytest.approx([0.0, 1.2])
    assert found.via_entity.tolist() == [-1, 0]
    assert found.via_seed.tolist() == [-1, 0]


def test_the_second_seed_weighs_less_by_the_square_root_of_its_rank() -> None:
    film = graph(["calder"], [[[]], [[0]], [[]]], [{}, {}, {0: 1.0}])
    found = scored(film, FORWARD, seeds=[0, 1])
    assert found.scores == pytest.approx([0, 0, 3 / math.sqrt(2)])
    assert found.via_seed.tolist() == [-1, -1, 1]


def test_a_mention_in_a_sentence_unlike_the_question_counts_less() -> None:
    # Three sentences of paragraph 0 mention entities 0, 1, 2; cosines 0.8, 0.3, 0.2; median 0.3.
    film = graph(
        ["a1", "b1", "c1"],
        [[[0], [1], [2]], [], [], []],
        [{}, {0: 1.0}, {1: 1.0}, {2: 1.0}],
    )
    found = scored(film, FORWARD, cosine=f32(0.8, 0.3, 0.2))
    assert found.scores == pytest.approx([0, 3.0, 3 * 0.4, 3 * 0.4])
    # Half-way between the median and the best: 0.4 + 0.6 · 0.5.
    found = scored(film, FORWARD, cosine=f32(0.8, 0.2, 0.5))
    assert found.scores == pytest.approx([0, 3.0, 3 * 0.4, 3 * 0.4])
    four = graph(["a1", "b1"], [[[0], [1], [], []], [], []], [{}, {0: 1.0}, {1: 1.0}])
    found = scored(four, FORWARD, cosine=f32(1.0, 0.6, 0.1, -0.2))  # median 0.35
    assert found.scores == pytest.approx([0, 3.0, 3 * (0.4 + 0.6 * 0.25 / 0.65)])


def test_a_seed_never_gives_to_itself() -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{0: 1.0}, {}], frequency=[2])
    everything = FocusSettings()
    found = scored(film, everything, rest=f32(1, 0))
    assert found.scores[0] == 0
    assert found.via_entity[0] == -1


def test_one_seed_gives_to_another() -> None:
    film = graph(["calder"], [[[0]], []], [{}, {0: 1.0}])
    assert scored(film, FORWARD, seeds=[0, 1]).scores == pytest.approx([0, 3.0])


def test_a_name_in_the_question_still_leads_forward() -> None:
    film = graph(["calder"], [[[0]], []], [{}, {0: 1.0}])
    assert scored(film, FORWARD, named={0}).scores == pytest.approx([0, 3.0])


# --- backward -------------------------------------------------------------------------------------
def test_backward_leads_from_a_paragraph_to_those_that_mention_its_subject() -> None:
    film = graph(["calder"], [[[]], [[0]], [[]]], [{0: 0.8}, {}, {}], rarity=[0.5])
    found = scored(film, BACKWARD)
    # t = 1 · 0.5 · 0.8 = 0.4; two paragraphs hold the name, so B = 0.4 / (1 + ln 2); times 0.5.
    assert found.scores == pytest.approx([0, 0.5 * 0.4 / (1 + math.log(2)), 0])
    assert found.via_entity.tolist() == [-1, 0, -1]


# --- shared ---------------------------------------------------------------------------------------
def test_two_paragraphs_share_a_rare_entity() -> None:
    film = graph(["calder"], [[[0]], [[0]], [[]]], [{}, {}, {}], rarity=[0.5])
    assert scored(film, SHARED).scores == pytest.approx([0, 0.5 / 2**0.75, 0])


def test_shared_leaves_out_what_the_question_names() -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{}, {}])
    assert scored(film, SHARED, named={0}).scores.tolist() == [0, 0]


@pytest.mark.parametrize(("frequency", "given"), [(1, False), (2, True), (50, True), (51, False)])
def test_shared_counts_between_2_and_50_paragraphs(frequency: int, given: bool) -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{}, {}], frequency=[frequency])
    expected = frequency**-0.75 if given else 0
    assert scored(film, SHARED).scores == pytest.approx([0, expected])


# --- residual -------------------------------------------------------------------------------------
def test_residual_scores_neighbours_by_the_rest_of_the_question() -> None:
    film = graph(["calder"], [[[0]], [[0]], [[0]], [[]]], [{}] * 4, rarity=[0.5])
    found = scored(film, RESIDUAL, rest=f32(0.9, 0.2, 0.6, 1.0))
    assert found.scores == pytest.approx([0, 3 * 0.5 * 0.2, 3 * 0.5 * 0.6, 0])


def test_residual_needs_a_rest() -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{}, {}])
    assert scored(film, RESIDUAL, rest=None).scores.tolist() == [0, 0]


def test_residual_leaves_out_what_the_question_names() -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{}, {}])
    assert scored(film, RESIDUAL, rest=f32(1, 1), named={0}).scores.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("frequency", "given"), [(1, False), (2, True), (51, True), (400, True), (401, False)]
)
def test_residual_counts_between_2_and_400_paragraphs(frequency: int, given: bool) -> None:
    film = graph(["calder"], [[[0]], [[0]]], [{}, {}], frequency=[frequency])
    assert scored(film, RESIDUAL, rest=f32(1, 1)).scores == pytest.approx([0, 3.0 * given])


# --- together -------------------------------------------------------------------------------------
def test_each_kind_takes_its_best_edge_and_the_kinds_add_up() -> None:
    # Paragraph 1 is about entity 0 (forward 0.6 · 1.0 and, by entity 1, 0.9 · 0.5) and mentions
    # entity 1, which two paragraphs mention (shared and residual).
    film = graph(
        ["a1", "b1"],
        [[[0, 1]], [[1]]],
        [{}, {0: 1.0, 1: 0.5}],
        rarity=[0.6, 0.9],
        frequency=[2, 2],
    )
    found = scored(film, FocusSettings(), rest=f32(0, 0.5))
    forward, shared, rest = max(0.6, 0.45), 0.9 / 2**0.75, 0.9 * 0.5
    assert found.scores == pytest.approx([0, 3 * forward + shared + 3 * rest])
    assert found.via_entity.tolist() == [-1, 0]  # 3 · 0.6 is more than any other edge


def test_without_seeds_or_edges_nothing_is_scored() -> None:
    film = graph(["calder"], [[[0]], []], [{}, {0: 1.0}])
    assert scored(film, FocusSettings(), seeds=[]).scores.tolist() == [0, 0]
    empty = graph([], [[[]], [[]]], [{}, {}])
    found = scored(empty, FocusSettings(), rest=f32(1, 1))
    assert found.scores.tolist() == [0, 0]
    assert found.scores.dtype == np.float32
