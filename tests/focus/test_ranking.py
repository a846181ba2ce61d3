"""Kept places first, then by score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.focus.channels import Relevance, unit_range
from smartrag.focus.hops import Hops
from smartrag.focus.linking import Link
from smartrag.focus.ranking import Ranked, Start, rank, seeds, start
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from tests.focus.graphs import f32, graph

SETTINGS = FocusSettings(top_k=4, seeds=2, linked_slots=2, dense_slots=1)


def relevance(lexical: Sequence[float], dense: Sequence[float] = ()) -> Relevance:
    dense = dense or [0.0] * len(lexical)
    return Relevance(f32(*lexical), f32(*dense), f32(*dense))


def begun(
    of: Graph,
    scored: Relevance,
    found: Sequence[Link],
    settings: FocusSettings,
    sentence: Sequence[float] = (),
) -> Start:
    channel = f32(*sentence) if sentence else np.zeros_like(scored.lexical)
    return start(of, scored, channel, found, settings)


def hopped(*scores: float) -> Hops:
    no_edge = np.full(len(scores), -1, dtype=np.int64)
    return Hops(f32(*scores), no_edge, no_edge)


def ordered(
    lexical: Sequence[float],
    dense: Sequence[float],
    hop: Sequence[float] | None = None,
    settings: FocusSettings = SETTINGS,
) -> list[Ranked]:
    bare = graph([], [[]] * len(lexical), [{}] * len(lexical))
    scored = relevance(lexical, dense)
    started = begun(bare, scored, [], settings)
    return rank(bare, scored, started, None if hop is None else hopped(*hop), [], settings)


# --- channels -------------------------------------------------------------------------------------
def test_scores_are_stretched_to_the_unit_range() -> None:
    assert unit_range(f32(2, 4, 3)).tolist() == [0, 1, 0.5]
    assert unit_range(f32(-1, 1)).tolist() == [0, 1]


@pytest.mark.parametrize("equal", [[0.0], [7.0, 7.0], [-0.5] * 3])
def test_equal_scores_all_become_0(equal: list[float]) -> None:
    assert unit_range(f32(*equal)).tolist() == [0.0] * len(equal)


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20))
def test_the_unit_range_keeps_the_order(values: list[float]) -> None:
    found = unit_range(f32(*values))
    assert found.min() >= 0
    assert found.max() <= 1
    best = int(np.argmax(f32(*values)))
    assert found[best] == found.max()


# --- start ----------------------------------------------------------------------------------------
def test_the_start_score_adds_the_channels_and_the_links() -> None:
    film = graph(["oslo"], [[], []], [{0: 0.5}, {}], rarity=[0.8])
    scored = relevance([1.0, 0.2], [0.0, 1.0])
    link = Link(0, 4, (0,), 0.4, outermost=True)
    started = begun(film, scored, [link], SETTINGS, [0.4, 0.6])
    assert started.fused == pytest.approx([1.0 + 0.5 * 0.4, 0.2 + 0.5 * 1.0 + 0.5 * 0.6])
    assert started.link == pytest.approx([0.8 * 0.5, 0])
    assert started.scores == pytest.approx([1.6, 1.0])


def test_a_nested_link_counts_for_less_and_the_best_link_counts() -> None:
    film = graph(["oslo", "oslo hall"], [[], []], [{0: 1.0}, {1: 1.0}])
    nested = Link(0, 4, (0,), 1.0, outermost=False)
    outer = Link(0, 9, (1,), 1.0, outermost=True)
    assert begun(film, relevance([0, 0]), [nested, outer], SETTINGS).link == pytest.approx(
        [0.35, 1]
    )
    again = Link(20, 24, (0,), 1.0, outermost=True)
    found = begun(film, relevance([0, 0]), [again, nested], SETTINGS).link
    assert found == pytest.approx([1.0, 0])


def test_seeds_are_the_best_rows_and_ties_go_to_the_lower_row() -> None:
    started = Start(f32(), f32(), f32(0.5, 0.9, 0.9, 0.1))
    assert seeds(started, FocusSettings(seeds=3)) == [1, 2, 0]
    assert seeds(started, FocusSettings(seeds=9)) == [1, 2, 0, 3]


# --- places ---------------------------------------------------------------------------------------
def test_kept_places_stand_first_in_the_order_of_the_start_score() -> None:
    # The two best starters (rows 0 and 1) keep a place, and so does the best dense row (4).
    found = ordered([1, 0.9, 0.5, 0.4, 0.1], [0, 0, 0, 0, 0.2], hop=[0, 0, 9, 8, 0])
    assert [(r.row, r.stage) for r in found] == [
        (0, "fused"),
        (1, "fused"),
        (4, "dense"),
        (2, "graph"),
    ]
    assert found[3].score == pytest.approx(9.5)
    assert found[2].score == pytest.approx(0.1 + 0.5 * 0.2)


def test_a_kept_row_that_hops_raise_stays_in_the_order_of_the_start_score() -> None:
    found = ordered([1, 0.9, 0.5], [1, 0, 0], hop=[0, 50, 0])
    assert [r.row for r in found] == [0, 1, 2]


def test_without_hops_the_rest_follows_in_the_fused_order() -> None:
    found = ordered([0.1, 0.4, 0.2, 0.3], [1, 0, 0, 0])
    assert [(r.row, r.stage) for r in found] == [
        (0, "fused"),
        (1, "fused"),
        (3, "fused"),
        (2, "fused"),
    ]


def test_rows_of_equal_score_come_in_their_own_order() -> None:
    assert [r.row for r in ordered([0.5] * 6, [0.5] * 6, hop=[0] * 6)] == [0, 1, 2, 3]


def test_a_strongly_linked_row_keeps_a_place_before_the_fused_ones() -> None:
    film = graph(["oslo", "bergen"], [[]] * 4, [{}, {}, {1: 0.3}, {0: 1.0}])
    strong = Link(0, 4, (0,), 1.0, outermost=True)
    weak = Link(9, 15, (1,), 0.3, outermost=True)
    scored = relevance([1.0, 0.9, 0.8, 0.0], [1, 0, 0, 0])
    started = begun(film, scored, [strong, weak], FocusSettings(link_weight=0))
    found = rank(film, scored, started, None, [strong, weak], FocusSettings(top_k=3))
    assert [(r.row, r.stage) for r in found] == [(0, "fused"), (3, "linked"), (1, "fused")]


def test_among_namesakes_the_one_that_fits_the_question_keeps_the_place() -> None:
    film = graph(["oslo"], [[]] * 3, [{0: 0.6}, {0: 0.55}, {}])
    link = Link(0, 4, (0,), 0.6, outermost=True)
    scored = relevance([0.0, 0.5, 1.0], [0, 0, 1])
    started = begun(film, scored, [link], FocusSettings(link_weight=0))
    # 0.6 + 0.2 · 0 against 0.55 + 0.2 · 0.5.
    found = rank(film, scored, started, None, [link], FocusSettings(top_k=3))
    assert [(r.row, r.stage) for r in found][:2] == [(2, "fused"), (1, "linked")]


def test_no_more_linked_rows_than_slots_the_strongest_names_first() -> None:
    film = graph(["a1", "b1", "c1"], [[]] * 3, [{0: 0.5}, {1: 0.9}, {2: 0.7}])
    found = [Link(9 * e, 9 * e + 2, (e,), s, outermost=True) for e, s in enumerate((0.5, 0.9, 0.7))]
    scored = relevance([0.3, 0.2, 0.1])
    started = begun(film, scored, found, FocusSettings(link_weight=0))
    ranked = rank(film, scored, started, None, found, FocusSettings(dense_slots=0))
    assert [(r.row, r.stage) for r in ranked] == [(1, "linked"), (2, "linked"), (0, "fused")]


@given(st.data())
def test_ranks_are_distinct_and_at_most_top_k(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    values = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=n, max_size=n)
    settings = FocusSettings(
        top_k=data.draw(st.integers(0, 9)),
        linked_slots=data.draw(st.integers(0, 3)),
        dense_slots=data.draw(st.integers(0, 3)),
        seeds=data.draw(st.integers(0, 9)),
    )
    found = ordered(data.draw(values), data.draw(values), data.draw(st.none() | values), settings)
    rows = [r.row for r in found]
    assert len(rows) == len(set(rows)) == min(n, settings.top_k)
