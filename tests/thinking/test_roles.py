"""Planning and answering with a model that says what it was told to say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from smartrag.errors import GenerationError
from smartrag.thinking import (
    LanguageModel,
    Prompt,
    ScriptedModel,
    answer,
    answer_prompt,
    label_by_model,
    plan_by_model,
    plan_by_rules,
)
from smartrag.types import Hop, Mention, Plan, Question
from tests.focus.graphs import passage

TOWN = passage(1, "Torvik is a harbour town.", "Its lighthouse was built in 1844.", label="Torvik")
QUESTION = "When was the lighthouse of Torvik built?"


def reply(text: str, *sentences: str, sufficient: bool = True) -> str:
    drafted = [{"text": s, "evidence": [1]} for s in sentences]
    return json.dumps({"answer": text, "sentences": drafted, "sufficient": sufficient})


# --- the scripted model ---------------------------------------------------------------------------
def test_the_scripted_model_gives_its_replies_in_turn_and_repeats_the_last() -> None:
    model: LanguageModel = ScriptedModel(["a", lambda prompt: prompt.user.upper()])
    heard: list[str] = []
    prompt = Prompt("be brief", "who are you")
    for _ in range(3):
        made = model.generate(prompt, schema=None, most_tokens=9, on_text=heard.append)
    assert heard == ["a", "WHO ARE YOU", "WHO ARE YOU"]
    assert (made.text, made.tokens_in, made.tokens_out) == ("WHO ARE YOU", 5, 3)
    assert isinstance(model, ScriptedModel)
    assert model.prompts == [prompt] * 3


def test_the_scripted_model_without_replies_fails_as_a_model_does() -> None:
    with pytest.raises(GenerationError):
        ScriptedModel().generate(Prompt("", ""), schema=None, most_tokens=1)


# --- answers --------------------------------------------------------------------------------------
def test_a_borne_out_answer_is_answered_with_its_citations() -> None:
    model = ScriptedModel([reply("1844", "The lighthouse of Torvik was built in 1844.")])
    answered = answer(QUESTION, [TOWN], model, 160)
    assert (answered.status, answered.text) == ("answered", "1844")
    [sentence] = answered.sentences
    assert [c.quote for c in sentence.citations] == ["Its lighthouse was built in 1844."]
    prompt = answer_prompt(QUESTION, [TOWN])
    assert model.prompts == [prompt]
    assert (answered.call.role, answered.call.tokens_in) == ("answer", model.count_tokens(prompt))


@pytest.mark.parametrize(
    "said",
    [reply("1844", sufficient=False), reply(""), reply(" \n"), "I do not know.", "", "{}"],
)
def test_insufficient_or_empty_replies_are_not_found(said: str) -> None:
    answered = answer(QUESTION, [TOWN], ScriptedModel([said]), 160)
    assert (answered.status, answered.sentences) == ("not_found", ())


@pytest.mark.parametrize(
    "said",
    [
        reply("1845", "The lighthouse of Torvik was built in 1845."),
        reply("Vellen"),
        # The sentence stands, the short answer does not.
        reply("Vellen", "Torvik is a harbour town."),
    ],
)
def test_an_answer_that_is_not_borne_out_is_unsupported(said: str) -> None:
    assert answer(QUESTION, [TOWN], ScriptedModel([said]), 160).status == "unsupported"


def test_a_reply_that_was_cut_off_is_cited_word_for_word() -> None:
    answered = answer(QUESTION, [TOWN], ScriptedModel(['{"answer": "1844", "sent']), 160)
    assert answered.status == "answered"
    assert [s.text for s in answered.sentences] == ["1844"]


def test_yes_stands_when_a_sentence_stands_and_not_alone() -> None:
    asked = "Is Torvik a harbour town?"
    with_sentence = ScriptedModel([reply("Yes", "Torvik is a harbour town.")])
    assert answer(asked, [TOWN], with_sentence, 160).status == "answered"
    assert answer(asked, [TOWN], ScriptedModel([reply("Yes")]), 160).status == "unsupported"


def test_without_any_evidence_nothing_is_answered() -> None:
    said = reply("1844", "The lighthouse of Torvik was built in 1844.")
    assert answer(QUESTION, [], ScriptedModel([said]), 160).status == "unsupported"


def test_a_failing_model_is_not_hidden() -> None:
    with pytest.raises(GenerationError):
        answer(QUESTION, [TOWN], ScriptedModel(), 160)


# --- plans ----------------------------------------------------------------------------------------
def asked(*names: str) -> Question:
    text = " ".join(names)
    mentions = tuple(Mention(text.find(n), text.find(n) + len(n), n, "name", 0.5) for n in names)
    return Question(text, np.zeros(3, dtype=np.float32), mentions)


def test_rules_take_each_name_once_as_a_seed_and_leave_the_steps_open() -> None:
    assert plan_by_rules(asked("Oslo", "Bergen", "Oslo")) == Plan("rules", ("Oslo", "Bergen"))
    assert plan_by_rules(asked()) == Plan("rules")


def test_a_model_plans_and_its_call_is_accounted() -> None:
    said = '{"seeds": ["Oslo"], "hops": [{"relation": "mayor of", "target": "person"}]}'
    plan, call = plan_by_model(asked("Oslo"), ScriptedModel([said]))
    assert plan == Plan("model", ("Oslo",), (Hop("mayor of", "person"),))
    assert (call.role, call.tokens_out) == ("plan", 8)


@pytest.mark.parametrize("said", ["", "Sure!", "[]", '{"seeds": [], "hops": []}', '{"seeds": ["a'])
def test_nonsense_is_replaced_by_the_plan_of_the_rules(said: str) -> None:
    plan, call = plan_by_model(asked("Oslo"), ScriptedModel([said]))
    assert plan == Plan("rules", ("Oslo",))
    assert call.role == "plan"


def test_a_kind_of_thing_is_named_after_different_examples() -> None:
    model = ScriptedModel(['{"type": " Rock  band "}'])
    mentions = [("Queen", "They saw Queen live."), ("queen", "queen sang."), ("Muse", "By Muse.")]
    name, call = label_by_model(mentions, model)
    assert name == "Rock band"
    assert call.role == "label"
    [prompt] = model.prompts
    assert prompt.user == "- **queen** sang.\n- By **Muse**."


@pytest.mark.parametrize("reply", ['{"type": "none"}', '{"type": ""}', "no idea", '{"type": 3}'])
def test_things_of_no_kind_get_no_name(reply: str) -> None:
    assert label_by_model([("Queen", "Queen sang.")], ScriptedModel([reply]))[0] is None
