"""A language model that says what it was told to say: for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from smartrag.errors import GenerationError
from smartrag.thinking.model import Generation, OnText, Prompt

Reply = str | Callable[[Prompt], str]


@dataclass(slots=True)
class ScriptedModel:
    """Gives `replies` in turn, the last one again and again; counts words as tokens.

    A reply may be a function of the prompt. `prompts` keeps what the model was asked.
    """

    replies: Sequence[Reply] = ()
    name: str = "scripted"
    context_tokens: int = 2048
    prompts: list[Prompt] = field(default_factory=list)

    def count_tokens(self, prompt: Prompt) -> int:
        """Words of the prompt."""
        return len(prompt.system.split()) + len(prompt.user.split())

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: Mapping[str, object] | None,
        most_tokens: int,
        on_text: OnText | None = None,
    ) -> Generation:
        """The next reply, in pieces of one word."""
        if not self.replies:
            raise GenerationError(
                "the scripted model has no reply", remedy="Give ScriptedModel some replies"
            )
        reply = self.replies[min(len(self.prompts), len(self.replies) - 1)]
        self.prompts.append(prompt)
        text = reply if isinstance(reply, str) else reply(prompt)
        if on_text:
            on_text(text)
        return Generation(text, self.count_tokens(prompt), len(text.split()), 0.0, 0.0)
