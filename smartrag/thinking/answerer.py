"""From packed evidence to a checked answer (paper §3.5, answering)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartrag.thinking.citations import confirmed, occurs
from smartrag.thinking.formats import ANSWER_SCHEMA, parse_answer
from smartrag.thinking.model import LanguageModel, OnText
from smartrag.thinking.prompts import answer_prompt, is_yes_no
from smartrag.types import AnswerSentence, AnswerStatus, ModelCall, Passage


@dataclass(frozen=True, slots=True)
class Answered:
    """The short answer, what bears it out, and the one call it took."""

    status: AnswerStatus
    text: str
    sentences: tuple[AnswerSentence, ...]
    call: ModelCall


def answer(
    question: str,
    passages: Sequence[Passage],
    model: LanguageModel,
    most_tokens: int,
    on_text: OnText | None = None,
) -> Answered:
    """Ask the model once and check what it says against `passages`.

    *not_found* when the model finds the passages insufficient or writes nothing; *unsupported* when
    neither a sentence nor the short answer is borne out. Raises GenerationError.
    """
    made = model.generate(
        answer_prompt(question, passages),
        schema=ANSWER_SCHEMA,
        most_tokens=most_tokens,
        on_text=on_text,
    )
    call = ModelCall("answer", made.tokens_in, made.tokens_out, made.first_token_s, made.seconds)
    draft = parse_answer(made.text)
    if draft is None or not draft.answer or not draft.sufficient:
        return Answered("not_found", draft.answer if draft else "", (), call)
    sentences = confirmed(draft, passages)
    grounded = bool(sentences) and (is_yes_no(question) or occurs(draft.answer, passages))
    return Answered("answered" if grounded else "unsupported", draft.answer, sentences, call)
