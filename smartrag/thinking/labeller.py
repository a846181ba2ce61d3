"""A name for what several mentions have in common (paper §3.2, naming a discovered type)."""

from __future__ import annotations

from collections.abc import Sequence

from smartrag.thinking.formats import LABEL_SCHEMA, parse_label
from smartrag.thinking.model import LanguageModel
from smartrag.thinking.prompts import label_prompt
from smartrag.types import ModelCall

EXAMPLES = 8
"""Mentions that a model is shown: more make its prompt longer and its name no better."""
_MOST_TOKENS = 40


def label_by_model(
    mentions: Sequence[tuple[str, str]], model: LanguageModel
) -> tuple[str | None, ModelCall]:
    """What the mentions, each with its sentence, are called; None when they share no name.

    Different surfaces are shown before repeated ones. Raises GenerationError.
    """
    different = list({surface.casefold(): (surface, text) for surface, text in mentions}.values())
    made = model.generate(
        label_prompt(different[:EXAMPLES]), schema=LABEL_SCHEMA, most_tokens=_MOST_TOKENS
    )
    call = ModelCall("label", made.tokens_in, made.tokens_out, made.first_token_s, made.seconds)
    return parse_label(made.text), call
