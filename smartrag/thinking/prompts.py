"""What the model is told. The instructions never change, so their state in the model is reused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smartrag.thinking.model import Prompt
from smartrag.types import Passage

_ANSWER = (
    "Answer the question from the numbered passages only, as JSON. "
    '"answer" is a short phrase copied from the passages{yes_no}. '
    '"sentences" gives one sentence that states the answer, with the numbers of the passages it '
    'rests on as "evidence". "sufficient" is false if the passages do not hold the answer.'
)
_YES_NO = ", or yes or no"
_PLAN = (
    "Plan how to look up the answer to a question, as JSON. "
    '"seeds" are the names in the question from which to start. "hops" are the steps in order: '
    '"relation" is what to look for about the thing found last, "target" is the kind of thing that '
    "is wanted (person, place, film, date, number, ...). Use at most four steps."
)
_LABEL = (
    "Say what kind of thing all of the marked names are, as JSON. "
    '"type" is one or two words in the singular, such as "rock band", or "none" if they are not '
    "of one kind."
)
_AUXILIARY = re.compile(
    r"\s*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might)(?:n['’]t)?\b",
    re.IGNORECASE,
)


def answer_prompt(question: str, passages: Sequence[Passage]) -> Prompt:
    """The prompt of the answer role: passages best first, the question last."""
    # The hint about yes and no only where it applies: small models otherwise answer "Yes" to all.
    system = _ANSWER.format(yes_no=_YES_NO if is_yes_no(question) else "")
    return Prompt(system, f"Passages:\n{render(passages)}\n\nQuestion: {_one_line(question)}")


def plan_prompt(question: str) -> Prompt:
    """The prompt of the plan role."""
    return Prompt(_PLAN, f"Question: {_one_line(question)}")


def label_prompt(mentions: Sequence[tuple[str, str]]) -> Prompt:
    """The prompt of the label role: names, each marked in its sentence."""
    lines = (
        f"- {_one_line(text.replace(surface, f'**{surface}**', 1))}" for surface, text in mentions
    )
    return Prompt(_LABEL, "\n".join(lines))


def render(passages: Sequence[Passage]) -> str:
    """The passages as they stand in the prompt: number, label, kept sentences."""
    return "\n\n".join(
        f"[{number}] {passage.label}: {passage.excerpt}"
        if passage.label
        else f"[{number}] {passage.excerpt}"
        for number, passage in enumerate(passages, start=1)
    )


def is_yes_no(question: str) -> bool:
    """Whether a question starts with an auxiliary verb and offers no choice with *or*."""
    return bool(_AUXILIARY.match(question)) and " or " not in question.lower()


def _one_line(question: str) -> str:
    return " ".join(question.split())
