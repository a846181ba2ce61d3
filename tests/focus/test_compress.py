"""Sentences are spent by rank, the most telling ones first."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import cast

from smartrag.focus.compress import telling_sentences
from smartrag.memory import StoreView
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from smartrag.types import FloatArray
from tests.focus.graphs import f32, graph


def view(of: Graph) -> StoreView:
    return cast(StoreView, SimpleNamespace(graph=of))


def kept(
    of: Graph, rows: list[int], cosine: list[float], named: set[int], *counts: int
) -> list[tuple[int, ...]]:
    settings = FocusSettings(sentences_per_passage=counts)
    return telling_sentences(view(of), rows, shared_out(of, rows, cosine), named, settings)


def shared_out(of: Graph, rows: Iterable[int], cosine: list[float]) -> list[FloatArray]:
    """The cosines of each paragraph's sentences, from those of all sentences."""
    firsts = of.first_sentence
    return [f32(*cosine[firsts[row] : firsts[row + 1]]) for row in rows]


def test_the_rank_of_a_passage_says_how_many_sentences_it_keeps() -> None:
    four = graph([], [[[]] * 4] * 6, [{}] * 6)
    cosines = shared_out(four, range(6), [0.0] * 24)
    found = telling_sentences(view(four), range(6), cosines, set(), FocusSettings())
    assert [len(k) for k in found] == [3, 3, 2, 1, 1, 0]


def test_a_passage_keeps_no_more_than_it_has() -> None:
    assert kept(graph([], [[[]]], [{}]), [0], [0.5], set(), 3) == [(0,)]
    assert kept(graph([], [[]], [{}]), [0], [], set(), 3) == [()]


def test_sentences_come_by_cosine_and_the_first_has_a_bonus() -> None:
    plain = graph([], [[[]] * 4], [{}])
    # The first has 0.30 + 0.10: behind 0.45, before 0.35.
    assert kept(plain, [0], [0.30, 0.35, 0.45, 0.20], set(), 3) == [(2, 0, 1)]


def test_equal_sentences_come_in_text_order() -> None:
    assert kept(graph([], [[[]] * 3], [{}]), [0], [0.1, 0.2, 0.2], set(), 3) == [(0, 1, 2)]


def test_a_sentence_that_mentions_what_another_passage_is_about_has_a_bonus() -> None:
    # Sentence 2 of the first passage mentions entity 0, which the second passage is about.
    bridge = graph(["calder"], [[[], [], [0]], [[]]], [{}, {0: 1.0}])
    cosine = [0.30, 0.41, 0.27, 0.0]  # 0.40, 0.41, 0.27 + 0.15
    assert kept(bridge, [0, 1], cosine, set(), 3, 1)[0] == (2, 1, 0)
    assert kept(bridge, [0], cosine, set(), 3)[0] == (1, 0, 2)


def test_a_mention_of_the_passages_own_subject_is_no_bridge() -> None:
    own = graph(["calder"], [[[], [0], []], [[]]], [{0: 1.0}, {0: 1.0}])
    assert kept(own, [0, 1], [0.3, 0.3, 0.39, 0.0], set(), 3, 1)[0] == (0, 2, 1)


def test_a_sentence_that_mentions_what_the_question_names_has_a_bonus() -> None:
    film = graph(["calder"], [[[], [0], []]], [{}])
    cosine = [0.30, 0.35, 0.42]  # 0.40, 0.35 + 0.10, 0.42
    assert kept(film, [0], cosine, {0}, 3) == [(1, 2, 0)]
    assert kept(film, [0], cosine, set(), 3) == [(2, 0, 1)]


def test_rows_are_passages_of_any_order() -> None:
    two = graph([], [[[], []], [[], []]], [{}, {}])
    assert kept(two, [1, 0], [0.0, 0.9, 0.1, 0.0], set(), 1, 1) == [(0,), (1,)]
