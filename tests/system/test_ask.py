"""From a question to an answer, with a model that says what it was told to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from smartrag import Document, Settings, SmartRAG
from smartrag.errors import SettingsError, SmartRAGError
from smartrag.system import NOT_FOUND
from smartrag.thinking import Generation, OnText, Prompt, ScriptedModel
from tests.fakes import SETTINGS, SMALL_CORPUS, open_memory

QUESTION = "When was the lighthouse of Torvik built?"


def reply(text: str, *sentences: str, sufficient: bool = True) -> str:
    drafted = [{"text": s, "evidence": [1]} for s in sentences]
    return json.dumps({"answer": text, "sentences": drafted, "sufficient": sufficient})


GOOD = reply("1844", "The lighthouse of Torvik was built in 1844 by Hanna Roos.")


class Silent(ScriptedModel):
    """A model that must not be called."""

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: Mapping[str, object] | None,
        most_tokens: int,
        on_text: OnText | None = None,
    ) -> Generation:
        raise AssertionError("the model was called")


def with_gate(threshold: float, settings: Settings = SETTINGS) -> Settings:
    return replace(settings, focus=replace(settings.focus, confidence_threshold=threshold))


@pytest.fixture
def filled(store_path: Path, small_corpus: tuple[Document, ...]) -> Path:
    """A store with the small corpus, written while a model that must not be called was there."""
    with open_memory(store_path, model=Silent()) as memory:
        assert {o.outcome for o in memory.add(small_corpus)} == {"added"}
        memory.search(QUESTION)
    return store_path


@contextmanager
def reader(store: Path, settings: Settings, model: ScriptedModel) -> Iterator[SmartRAG]:
    with open_memory(store, settings, write=False, model=model) as memory:
        yield memory


def test_an_answer_comes_with_citations_that_resolve(
    filled: Path, small_corpus: tuple[Document, ...]
) -> None:
    model = ScriptedModel([GOOD])
    with reader(filled, with_gate(0), model) as memory:
        heard: list[str] = []
        found = memory.ask(QUESTION, heard.append)
    assert (found.status, found.text) == ("answered", "1844")
    assert heard == [GOOD]
    [citation] = found.citations
    texts = {d.name: d.text for d in small_corpus}
    assert citation.document == "Torvik.md"
    assert citation.quote == "Its lighthouse was built in 1844 by Hanna Roos."
    assert texts["Torvik.md"][citation.start : citation.end] == citation.quote
    assert [c.role for c in found.calls] == ["answer"]
    assert set(found.seconds) == {"read", "plan", "focus", "load", "pack", "answer"}
    assert citation.quote in model.prompts[0].user


def test_below_the_gate_nothing_is_found_and_the_model_is_not_called(filled: Path) -> None:
    with reader(filled, with_gate(1), Silent()) as memory:
        found = memory.ask(QUESTION)
    assert (found.status, found.text) == ("not_found", NOT_FOUND)
    assert (found.calls, found.sentences) == ((), ())
    assert not found.evidence.sufficient
    assert len(found.evidence.passages) == 8


def test_an_empty_store_finds_nothing_without_a_model(store_path: Path) -> None:
    with open_memory(store_path, with_gate(0.1), model=Silent()) as memory:
        assert memory.ask(QUESTION).status == "not_found"


@pytest.mark.parametrize(
    ("said", "status", "text"),
    [
        (reply("1844", sufficient=False), "not_found", NOT_FOUND),
        ("no JSON", "not_found", NOT_FOUND),
        (reply("1745", "It was built in 1745."), "unsupported", "1745"),
        ('{"answer": "1844", "sen', "answered", "1844"),
    ],
)
def test_what_the_model_says_decides_the_status(
    filled: Path, said: str, status: str, text: str
) -> None:
    with reader(filled, with_gate(0), ScriptedModel([said])) as memory:
        found = memory.ask(QUESTION)
    assert (found.status, found.text) == (status, text)
    assert len(found.calls) == 1
    assert bool(found.citations) == (status == "answered")


def test_a_plan_by_the_model_is_a_call_of_its_own(filled: Path) -> None:
    plan = '{"seeds": ["Torvik"], "hops": [{"relation": "lighthouse built", "target": "date"}]}'
    settings = with_gate(0)
    settings = replace(settings, thinking=replace(settings.thinking, planner="model"))
    with reader(filled, settings, ScriptedModel([plan, GOOD])) as memory:
        found = memory.ask(QUESTION)
    assert [c.role for c in found.calls] == ["plan", "answer"]
    assert found.evidence.plan.source == "model"
    assert found.status == "answered"
    gated = with_gate(1, settings)
    with reader(filled, gated, ScriptedModel([plan])) as memory:
        assert [c.role for c in memory.ask(QUESTION).calls] == ["plan"]


@given(
    window=st.integers(256, 2048),
    evidence=st.integers(0, 500),
    answer=st.integers(0, 300),
    question=st.sampled_from([QUESTION, "Who made The Glass Orchard?", "word " * 150]),
)
@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_prompt_and_answer_never_exceed_the_window(
    filled: Path, window: int, evidence: int, answer: int, question: str
) -> None:
    settings = with_gate(0)
    thinking = replace(settings.thinking, evidence_tokens=evidence, answer_tokens=answer)
    model = ScriptedModel([GOOD], context_tokens=window)
    with reader(filled, replace(settings, thinking=thinking), model) as memory:
        try:
            memory.ask(question)
        except SettingsError as error:
            assert "thinking.context_tokens" in str(error) or evidence == 0
            return
    [prompt] = model.prompts
    assert model.count_tokens(prompt) + answer <= window
    empty = replace(
        prompt, user=re.sub(r"Passages:\n.*\n\nQ", "Passages:\n\n\nQ", prompt.user, flags=re.S)
    )
    assert model.count_tokens(prompt) - model.count_tokens(empty) <= evidence


def test_the_same_question_has_the_same_answer_every_time(filled: Path) -> None:
    with reader(filled, with_gate(0), ScriptedModel([GOOD])) as memory:
        found = [memory.ask(QUESTION) for _ in range(5)]
    plain = [replace(a, seconds={}, evidence=replace(a.evidence, seconds={})) for a in found]
    assert plain.count(plain[0]) == 5


def test_leaving_the_context_closes_the_store(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.add(SMALL_CORPUS[0])
    with pytest.raises(SmartRAGError, match="closed"):
        memory.documents()


def test_a_store_can_be_opened_again_after_an_error_inside_the_context(store_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_memory(store_path) as memory:
        memory.add(SMALL_CORPUS)
        raise ZeroDivisionError
    with open_memory(store_path, write=False) as again:
        assert len(again.documents()) == len(SMALL_CORPUS)
