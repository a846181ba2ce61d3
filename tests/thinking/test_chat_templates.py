"""Chat templates of model files, as far as they can be filled in without a model."""

from __future__ import annotations

import pytest

from smartrag.thinking.llama import _SYSTEM, _USER, _pieces


def pieces(template: str) -> list[str] | None:
    return _pieces({"tokenizer.chat_template": template})


def test_a_file_without_a_template_gets_the_plain_one() -> None:
    found = _pieces({})
    assert found is not None
    assert found[0] == "<|im_start|>system\n"
    assert found[-1] == "<|im_end|>\n<|im_start|>assistant\n"


def test_a_template_that_refuses_a_system_role_gets_both_texts_in_the_users_turn() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
        "<u>{{ m.content }}</u>{% endfor %}<a>"
    )
    assert pieces(template) == ["<u>", _SYSTEM, "\n\n", _USER, "</u><a>"]


def test_a_template_that_drops_the_system_text_gets_it_in_the_users_turn() -> None:
    template = "{% for m in messages if m.role == 'user' %}<u>{{ m.content }}{% endfor %}"
    assert pieces(template) == ["<u>", _SYSTEM, "\n\n", _USER, ""]


@pytest.mark.parametrize("template", ["{% for %}", "nothing is filled in", "{{ 1 / 0 }}"])
def test_a_template_that_cannot_be_filled_in_is_refused(template: str) -> None:
    assert pieces(template) is None
