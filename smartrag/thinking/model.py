"""The seam to a language model: what the four roles need of it, and no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

OnText = Callable[[str], None]
"""Called with each piece of text as it is decoded."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told: constant instructions first, then what changes, the question last."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model wrote, and what it cost. Times are in seconds from the call."""

    text: str
    tokens_in: int
    tokens_out: int
    first_token_s: float
    seconds: float


class LanguageModel(Protocol):
    """A local language model. One call at a time."""

    @property
    def name(self) -> str:
        """The name under which results report the model."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that prompt and answer may have together."""
        ...

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt as the model will see it, chat template included."""
        ...

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: Mapping[str, object] | None,
        most_tokens: int,
        on_text: OnText | None = None,
    ) -> Generation:
        """Greedy continuation; with a JSON `schema` the decoder can write nothing else.

        Raises GenerationError when the prompt does not fit or decoding fails.
        """
        ...
