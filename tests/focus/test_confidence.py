"""Signals are plain facts, and more of any of them never makes the gate less sure."""

from __future__ import annotations

from dataclasses import astuple, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.focus.confidence import COEFFICIENTS, INTERCEPT, confidence, signals
from smartrag.types import Mention, Signals

UNIT = st.floats(0, 1)
ANY = st.builds(Signals, UNIT, UNIT, UNIT, UNIT)


def mention(name: str) -> Mention:
    return Mention(0, len(name), name, "name", 0.5)


def test_signals_are_counted_over_the_retrieved_passages() -> None:
    found = signals(
        "Who directed The Glass Orchard in 1987?",
        [mention("Glass Orchard"), mention("Mara Lindqvist")],
        ["The Glass Orchard: a film of 1987", "It was directed by nobody"],
        cosine=0.5,
        sentence=0.25,
    )
    # directed, glass, orchard, 1987 all occur; one of the two names does.
    assert found == Signals(cosine=0.5, sentence=0.25, coverage=1.0, named=0.5)


def test_coverage_is_the_share_of_content_words() -> None:
    assert signals("built lighthouse Torvik 1844?", [], ["a LIGHTHOUSE"], 0, 0).coverage == 0.25


def test_a_question_without_content_words_covers_nothing_and_names_nothing() -> None:
    assert signals("who is it?", [], ["it is"], 0, 0) == Signals(0, 0, 0, 1)


def test_cosines_are_cut_to_the_unit_range() -> None:
    found = signals("x", [], [], cosine=-0.2, sentence=1.0001)
    assert (found.cosine, found.sentence) == (0, 1)


@given(st.text(max_size=80), st.lists(st.text(max_size=20)), st.lists(st.text(max_size=40)))
def test_signals_of_any_text_lie_between_0_and_1(
    question: str, names: list[str], passages: list[str]
) -> None:
    found = signals(question, [mention(n) for n in names], passages, 0.3, 0.4)
    assert all(0 <= value <= 1 for value in astuple(found))


@given(ANY)
def test_confidence_lies_between_0_and_1(found: Signals) -> None:
    assert 0 < confidence(found) < 1


@pytest.mark.parametrize("name", [f.name for f in fields(Signals)])
@given(ANY, UNIT)
def test_confidence_grows_with_each_signal(name: str, found: Signals, value: float) -> None:
    low, high = sorted([value, getattr(found, name)])
    lower, higher = replace(found, **{name: low}), replace(found, **{name: high})
    assert getattr(COEFFICIENTS, name) >= 0
    assert confidence(lower) <= confidence(higher)


def test_the_gate_is_sure_of_a_perfect_retrieval_and_not_of_an_empty_one() -> None:
    assert INTERCEPT < 0
    assert confidence(Signals(1, 1, 1, 1)) > 0.5
    assert confidence(Signals(0, 0, 0, 0)) < 0.5
