"""Replies are read tolerantly: nothing that a model may write raises."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.thinking.formats import (
    ANSWER_SCHEMA,
    PLAN_SCHEMA,
    Draft,
    DraftSentence,
    parse_answer,
    parse_plan,
)
from smartrag.types import Hop, Plan

REPLY = (
    '{"answer": "Oslo", "sentences": [{"text": "It is Oslo.", "evidence": [1]}],'
    ' "sufficient": true}'
)
DRAFT = Draft("Oslo", (DraftSentence("It is Oslo.", (1,)),), True)
PLAN_REPLY = '{"seeds": ["Oslo"], "hops": [{"relation": "mayor", "target": "person"}]}'
PLAN = Plan("model", ("Oslo",), (Hop("mayor", "person"),))


# --- answers --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "reply",
    [
        REPLY,
        f"```json\n{REPLY}\n```",
        f"<think>Where is it?</think>\n{REPLY}",
        f'<think>Perhaps {{x}} or {{"a": 1}} …</think> {REPLY}',
        f"{REPLY} {REPLY.replace('Oslo', 'Rome')}",
        f"  {REPLY}\nI hope this helps.",
    ],
)
def test_an_answer_is_read_whatever_stands_around_it(reply: str) -> None:
    assert parse_answer(reply) == DRAFT


@pytest.mark.parametrize("length", range(REPLY.index("lo") + 2, len(REPLY)))
def test_a_reply_that_was_cut_off_keeps_its_answer(length: int) -> None:
    cut = parse_answer(REPLY[:length])
    assert cut is not None
    assert (cut.answer, cut.sufficient) == ("Oslo", True)


def test_an_answer_that_was_cut_off_itself_keeps_its_beginning() -> None:
    assert parse_answer('{"answer": "Port Sav') == Draft("Port Sav", (), True)
    assert parse_answer('{"answer": "a \\"b\\" \\u00e9') == Draft('a "b" é', (), True)
    assert parse_answer('{"answer": "a\\') == Draft("a", (), True)


def test_half_a_character_is_no_character() -> None:
    assert parse_answer('{"answer": "a \\ud83d"}') == Draft("a ?", (), True)
    assert parse_answer('{"answer": "a \\ud83d\\ude00"}') == Draft("a 😀", (), True)


@pytest.mark.parametrize(
    ("reply", "draft"),
    [
        ('{"answer": 1987}', Draft("1987", (), True)),
        ('{"answer": 1.5, "sufficient": false}', Draft("1.5", (), False)),
        ('{"answer": "", "sufficient": true}', Draft("", (), True)),
        ('{"answer": " a \\n b "}', Draft("a b", (), True)),
        ('{"answer": "a", "sentences": "b"}', Draft("a", (), True)),
        (
            '{"answer": "a", "sentences": ["b", null, {"text": 1}, {"text": " "}]}',
            Draft("a", (), True),
        ),
        (
            '{"answer": "a", "sentences": [{"text": "b"}, {"text": "c", "evidence": 1}]}',
            Draft("a", (DraftSentence("b", ()), DraftSentence("c", ())), True),
        ),
        (
            '{"answer": "a", "sentences": [{"text": "b", "evidence": [2, "1", true, null, 1.0]}]}',
            Draft("a", (DraftSentence("b", (2,)),), True),
        ),
        ('{"answer": "a", "sufficient": "no"}', Draft("a", (), True)),
        ('[{"answer": "a"}]', Draft("a", (), True)),
    ],
)
def test_parts_of_the_wrong_kind_are_left_out(reply: str, draft: Draft) -> None:
    assert parse_answer(reply) == draft


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Oslo",
        "{",
        "{}",
        "[]",
        "null",
        '{"answer": null}',
        '{"answer": ["a"]}',
        '"answer"',
        "{{{",
    ],
)
def test_a_reply_without_an_answer_is_none(reply: str) -> None:
    assert parse_answer(reply) is None


# --- plans ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "reply",
    [PLAN_REPLY, f"```\n{PLAN_REPLY}```", f"{{x}} {PLAN_REPLY}", f"[{PLAN_REPLY}]"],
)
def test_a_plan_is_read_whatever_stands_around_it(reply: str) -> None:
    assert parse_plan(reply) == PLAN


@pytest.mark.parametrize(
    ("reply", "plan"),
    [
        ('{"seeds": [" a  b ", 1, ""], "hops": []}', Plan("model", ("a b",), ())),
        (
            '{"seeds": [], "hops": [{"relation": " a\\n b ", "target": null}, {"relation": ""}]}',
            Plan("model", (), (Hop("a b", ""),)),
        ),
        (
            '{"seeds": [], "hops": [{"relation": "a", "target": [1]}]}',
            Plan("model", (), (Hop("a"),)),
        ),
    ],
)
def test_parts_of_a_plan_of_the_wrong_kind_are_left_out(reply: str, plan: Plan) -> None:
    assert parse_plan(reply) == plan


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "{}",
        "no plan",
        '{"seeds": [], "hops": []}',
        '{"seeds": ["a"]}',
        '{"seeds": "a", "hops": []}',
        '{"seeds": ["a"], "hops": {}}',
        PLAN_REPLY[:-1],
    ],
)
def test_a_reply_that_plans_nothing_is_none(reply: str) -> None:
    assert parse_plan(reply) is None


# --- any reply ------------------------------------------------------------------------------------
def test_500_damaged_replies_never_raise() -> None:
    rng = random.Random(7)
    parts = [*'"{}[]:,\\-\n\0é', "\\u", "\\ud800", "null", "1e999", "NaN", "9" * 5000]
    parts += ["```json", "<think>", '"answer"', '"seeds"']
    for number in range(500):
        reply = list(PLAN_REPLY if number % 3 == 0 else REPLY)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(reply) + 1)
            reply[place : place + rng.choice((0, 0, 1, 5, 60))] = [rng.choice(parts)]
        draft, plan = parse_answer("".join(reply)), parse_plan("".join(reply))
        assert draft is None or draft.answer.encode() is not None
        assert plan is None or plan.source == "model"


@pytest.mark.parametrize("reply", ['{"answer":' * 3000, "[" * 9000, '{"a":[' * 2000, "{" * 3000])
def test_deeply_nested_replies_never_raise(reply: str) -> None:
    assert parse_answer(reply) is None
    assert parse_plan(reply) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "answer",
                    "sentences",
                    "sufficient",
                    "text",
                    "evidence",
                    "seeds",
                    "hops",
                    "relation",
                ]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.text(max_size=20), st.integers(0, 200))
def test_any_json_and_any_part_of_it_is_read_or_refused(
    value: object, lead: str, length: int
) -> None:
    whole = json.dumps(value)
    for reply in (whole, lead + whole, whole[:length]):
        draft = parse_answer(reply)
        assert draft is None or draft.answer == " ".join(draft.answer.split())
        plan = parse_plan(reply)
        assert plan is None or plan.seeds or plan.hops


@given(
    st.text(max_size=100), st.lists(st.tuples(st.text(max_size=40), st.lists(st.integers(0, 9))))
)
def test_what_was_written_to_the_schema_is_read_back(
    answer: str, sentences: list[tuple[str, list[int]]]
) -> None:
    reply = json.dumps(
        {
            "answer": answer,
            "sentences": [{"text": text, "evidence": numbers} for text, numbers in sentences],
            "sufficient": False,
        }
    )
    assert parse_answer(reply) == Draft(
        " ".join(answer.split()),
        tuple(
            DraftSentence(" ".join(text.split()), tuple(numbers))
            for text, numbers in sentences
            if text.strip()
        ),
        False,
    )


def test_the_schemas_ask_for_all_that_is_read() -> None:
    assert ANSWER_SCHEMA["required"] == ["answer", "sentences", "sufficient"]
    assert PLAN_SCHEMA["required"] == ["seeds", "hops"]
