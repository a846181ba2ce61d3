"""Stored names in a question, and what is left when they are cut out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.focus.linking import Link, links, named_in, residual
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from tests.focus.graphs import graph

NAMES = ["my cousin from warsaw", "my cousin", "mummy s boys", "the last day", "oslo", "it", "bo"]


@pytest.fixture
def films() -> Graph:
    """Paragraph p is about entity p; none has a sentence."""
    return graph(NAMES, [[]] * len(NAMES), [{e: 1.0} for e in range(len(NAMES))])


def linked(text: str, films: Graph) -> list[tuple[str, bool]]:
    return [(text[k.start : k.end], k.outermost) for k in links(text, films)]


def test_a_name_is_found_with_its_place_and_strength(films: Graph) -> None:
    assert links("Is Oslo old?", films) == [Link(3, 7, (4,), 1.0, outermost=True)]


def test_the_longest_name_is_outermost_and_one_inside_it_is_nested(films: Graph) -> None:
    text = "Who made My Cousin from Warsaw?"
    assert linked(text, films) == [("My Cousin from Warsaw", True), ("My Cousin", False)]


def test_a_single_word_inside_a_longer_name_is_no_link_of_its_own() -> None:
    oslo = graph(["oslo city hall", "hall"], [[], []], [{0: 1.0}, {1: 1.0}])
    assert linked("See Oslo City Hall and Hall", oslo) == [("Oslo City Hall", True), ("Hall", True)]


def test_of_two_overlapping_names_of_one_length_the_first_is_outermost() -> None:
    overlapping = graph(["abc def", "def ghi"], [[], []], [{0: 1.0}, {1: 1.0}])
    assert linked("Abc Def Ghi", overlapping) == [("Abc Def", True), ("Def Ghi", False)]


def test_a_question_in_lower_case_is_linked_all_the_same(films: Graph) -> None:
    assert linked("who directed my cousin?", films) == [("my cousin", True)]
    assert linked("where is oslo", films) == [("oslo", True)]


def test_a_question_with_capitals_links_no_name_without_one(films: Graph) -> None:
    assert linked("Was it the last day in Oslo?", films) == [("Oslo", True)]
    assert linked("Who plays in The last Day?", films) == [("The last Day", True)]


def test_changed_capitals_and_apostrophes_and_accents_do_not_matter(films: Graph) -> None:
    assert linked("Who made Mummy'S Boys?", films) == [("Mummy'S Boys", True)]
    assert linked("Is ÓSLO big?", films) == [("ÓSLO", True)]


def test_stop_words_and_single_words_of_two_letters_link_nothing(films: Graph) -> None:
    assert linked("Is It Bo?", films) == []


def test_strength_is_rarity_times_the_weight_of_the_best_paragraph() -> None:
    # Two paragraphs bear the name, so the store divided their weights by √2.
    shared = 1 / math.sqrt(2)
    two = graph(["oslo"], [[], []], [{0: shared}, {0: 0.8 * shared}], rarity=[0.5])
    [link] = links("Oslo", two)
    assert link.strength == pytest.approx(0.5 * shared)


def test_entities_that_fold_to_one_name_are_linked_together() -> None:
    accents = graph(["orléans", "orleans"], [[], []], [{0: 0.3}, {1: 0.7}])
    [link] = links("Orleans", accents)
    assert link.entities == (0, 1)
    assert link.strength == pytest.approx(0.7)


def test_a_text_names_what_it_writes_with_capitals(films: Graph) -> None:
    assert named_in("He saw My Cousin in Oslo.", films) == {1, 4}
    assert named_in("he saw my cousin in oslo, and It", films) == set()


def test_a_name_inside_a_longer_unknown_name_is_found_too() -> None:
    lincoln = graph(["lincoln"], [[]], [{0: 1.0}])
    assert named_in("Then President Lincoln spoke.", lincoln) == {0}


# --- the rest of the question ---------------------------------------------------------------------
SETTINGS = FocusSettings(slot_strength=0.4)


def test_strong_outermost_names_are_cut_out(films: Graph) -> None:
    text = "When did the director of My Cousin from Warsaw see Oslo ?"
    assert residual(text, links(text, films), SETTINGS) == "When did the director of see ?"


def test_weak_and_nested_names_stay() -> None:
    text = "See Oslo now"
    weak = [Link(4, 8, (0,), 0.39, outermost=True)]
    nested = [Link(4, 8, (0,), 1.0, outermost=False)]
    just = [Link(4, 8, (0,), 0.4, outermost=True)]
    assert residual(text, weak, SETTINGS) == text
    assert residual(text, nested, SETTINGS) == text
    assert residual(text, just, SETTINGS) == "See now"


def test_the_whole_question_comes_back_when_nothing_is_left(films: Graph) -> None:
    assert residual("Oslo?", links("Oslo?", films), SETTINGS) == "Oslo?"


def test_without_links_the_question_stays(films: Graph) -> None:
    assert residual("How high?", [], SETTINGS) == "How high?"


@given(
    st.text(st.sampled_from("My Cousin from Warsaw?OSLo'sİßﬁ東") | st.characters(), max_size=80),
)
def test_any_text_is_linked_within_its_bounds(text: str) -> None:
    films = graph(NAMES, [[]] * len(NAMES), [{e: 1.0} for e in range(len(NAMES))])
    found = links(text, films)
    assert all(0 <= k.start < k.end <= len(text) for k in found)
    assert len([k for k in found if k.outermost]) >= min(1, len(found))
    assert len(residual(text, found, SETTINGS)) <= len(text)
