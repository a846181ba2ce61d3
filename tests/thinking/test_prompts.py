"""What the model is told: constant first, the question last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.thinking import answer_prompt, render
from smartrag.thinking.prompts import is_yes_no, plan_prompt
from tests.focus.graphs import passage

TOWN = passage(1, "It is old.", "It is big.", label="Oslo")
BARE = passage(2, "No label.")


@pytest.mark.parametrize(
    ("question", "yes_no"),
    [
        ("Is Oslo a town?", True),
        ("  were they born in Torvik?", True),
        ("DID she leave?", True),
        ("Has it rained?", True),
        ("Is Oslo a town or a river?", False),
        ("Isn't it?", True),
        ("Where is Oslo?", False),
        ("Island of which sea?", False),
        ("Who is it", False),
        ("", False),
    ],
)
def test_a_yes_no_question_starts_with_an_auxiliary_and_offers_no_choice(
    question: str, yes_no: bool
) -> None:
    assert is_yes_no(question) is yes_no


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_instructions_are_the_same_for_all_questions_of_a_kind(one: str, other: str) -> None:
    first, second = answer_prompt(one, [TOWN]), answer_prompt(other, [])
    if is_yes_no(one) == is_yes_no(other):
        assert first.system == second.system
    else:
        assert first.system != second.system
    assert plan_prompt(one).system == plan_prompt(other).system


def test_only_a_yes_no_question_is_told_that_yes_and_no_are_answers() -> None:
    assert "or yes or no" in answer_prompt("Is it?", []).system
    assert "yes" not in answer_prompt("Where is it?", []).system


def test_the_question_comes_last_in_one_line() -> None:
    prompt = answer_prompt(" Where\n is  it? ", [TOWN])
    assert prompt.user == "Passages:\n[1] Oslo: It is old. It is big.\n\nQuestion: Where is it?"
    assert plan_prompt("Where\nis it?").user == "Question: Where is it?"


def test_every_passage_has_its_number_with_or_without_a_label() -> None:
    assert render([BARE, TOWN]) == "[1] No label.\n\n[2] Oslo: It is old. It is big."
    assert render([]) == ""
