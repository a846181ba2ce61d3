"""The real thing, in the smallest size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartrag.errors import GenerationError, ModelError
from smartrag.settings import ThinkingSettings
from smartrag.thinking import LlamaModel, Prompt, answer_prompt
from smartrag.thinking.formats import ANSWER_SCHEMA, parse_answer
from tests.focus.graphs import passage

TOWN = passage(1, "Torvik is a harbour town.", "Its lighthouse was built in 1844.", label="Torvik")
PROMPT = answer_prompt("When was the lighthouse of Torvik built?", [TOWN])
SHORT = Prompt("Answer as JSON.", "What is Torvik?")
OTHER = Prompt("Answer as JSON.", "Who is Hanna Roos?")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    for content in (b"", b"GGUF", b"not a model" * 100):
        file.write_bytes(content)
        with pytest.raises(ModelError) as caught:
            LlamaModel(file, ThinkingSettings())
        assert caught.value.subject == str(file)
    with pytest.raises(ModelError):
        LlamaModel(tmp_path / "missing.gguf", ThinkingSettings())


@pytest.mark.model
def test_the_tokens_that_are_counted_are_those_that_are_evaluated(
    smollm_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LlamaModel(smollm_file, ThinkingSettings(context_tokens=512, threads=1))
    evaluated: list[int] = []
    evaluate = model._llama.eval

    def watched(tokens: Any) -> None:
        evaluated.extend(tokens)
        evaluate(tokens)

    monkeypatch.setattr(model._llama, "eval", watched)
    made = model.generate(PROMPT, schema=None, most_tokens=1)
    model.close()
    assert made.tokens_in == model_count(smollm_file, PROMPT) == len(evaluated)


def model_count(file: Path, prompt: Prompt) -> int:
    model = LlamaModel(file, ThinkingSettings(context_tokens=512, threads=1))
    try:
        text = "".join(
            f"<|im_start|>{role}\n{content}<|im_end|>\n"
            for role, content in (("system", prompt.system), ("user", prompt.user))
        )
        whole = f"{text}<|im_start|>assistant\n".encode()
        expected = len(model._llama.tokenize(whole, special=True))
        assert model.count_tokens(prompt) == expected
        return expected
    finally:
        model.close()


@pytest.mark.model
def test_output_is_held_to_the_schema_and_streamed(smollm: LlamaModel) -> None:
    heard: list[str] = []
    made = smollm.generate(PROMPT, schema=ANSWER_SCHEMA, most_tokens=40, on_text=heard.append)
    assert "".join(heard) == made.text
    assert 0 < made.tokens_out <= 40
    assert 0 < made.first_token_s <= made.seconds
    assert parse_answer(made.text) is not None
    if made.tokens_out < 36:  # it ended by itself
        assert set(json.loads(made.text)) == {"answer", "sentences", "sufficient"}


@pytest.mark.model
def test_two_calls_say_the_same_and_a_reused_prefix_changes_nothing(
    smollm: LlamaModel, smollm_file: Path
) -> None:
    fresh = LlamaModel(smollm_file, ThinkingSettings(context_tokens=512, threads=1))
    alone = fresh.generate(OTHER, schema=ANSWER_SCHEMA, most_tokens=12)
    fresh.close()
    smollm.generate(SHORT, schema=ANSWER_SCHEMA, most_tokens=4)
    behind = smollm.generate(OTHER, schema=ANSWER_SCHEMA, most_tokens=12)
    again = smollm.generate(OTHER, schema=ANSWER_SCHEMA, most_tokens=12)
    assert alone.text == behind.text == again.text


@pytest.mark.model
def test_a_prompt_that_does_not_fit_is_refused_before_anything_is_evaluated(
    smollm: LlamaModel,
) -> None:
    long = Prompt("", "word " * 600)
    with pytest.raises(GenerationError, match="but the window holds 512"):
        smollm.generate(long, schema=None, most_tokens=1)
    room = 512 - smollm.count_tokens(PROMPT)
    with pytest.raises(GenerationError):
        smollm.generate(PROMPT, schema=None, most_tokens=room + 1)
