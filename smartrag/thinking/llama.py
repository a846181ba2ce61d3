"""llama.cpp in this process. The one door to llama_cpp."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smartrag.errors import GenerationError, MissingExtra, ModelError
from smartrag.settings import ThinkingSettings
from smartrag.thinking.model import Generation, OnText, Prompt

_SYSTEM, _USER = "@@system@@", "@@user@@"
"""Stand for the two texts while the chat template is filled in."""
_PLAIN_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    # In an expression, since jinja2 drops a line end at the end of a template.
    "{{ '<|im_start|>assistant\n' }}"
)


class LlamaModel:
    """A GGUF file, decoded greedily; the longest common prefix of two calls is evaluated once."""

    def __init__(self, path: Path, settings: ThinkingSettings) -> None:
        self.name = settings.model
        self.context_tokens = settings.context_tokens
        self._library = _library()
        try:
            self._llama = self._library.Llama(
                model_path=str(path),
                n_ctx=settings.context_tokens,
                n_batch=512,
                n_threads=settings.threads or _free_cores(),
                n_threads_batch=settings.threads or _free_cores(),
                seed=settings.seed,
                verbose=False,
            )
        except (ValueError, RuntimeError, OSError) as error:
            raise ModelError(
                f"llama.cpp cannot load the file ({error})",
                subject=str(path),
                remedy="Check that it is a GGUF file, or fetch it again with: smartrag models pull",
            ) from error
        pieces = _pieces(self._llama.metadata)
        if pieces is None:
            self.close()
            raise ModelError(
                "its chat template cannot be used",
                subject=str(path),
                remedy="Choose another file of this model, or another model",
            )
        self._pieces = pieces

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt, chat template included."""
        return len(self._tokens(prompt))

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: Mapping[str, object] | None,
        most_tokens: int,
        on_text: OnText | None = None,
    ) -> Generation:
        """Greedy decoding under the grammar of `schema`; raises GenerationError."""
        tokens = self._tokens(prompt)
        if len(tokens) + most_tokens > self.context_tokens:
            raise GenerationError(
                f"the prompt has {len(tokens)} tokens and the answer may have {most_tokens}, "
                f"but the window holds {self.context_tokens}",
                remedy="Raise thinking.context_tokens or lower thinking.evidence_tokens",
            )
        grammar = None
        if schema is not None:
            grammar = self._library.LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
        begun = time.perf_counter()
        first: float | None = None
        pieces: list[str] = []
        try:
            for chunk in self._llama.create_completion(
                tokens,
                max_tokens=max(1, most_tokens),
                temperature=0.0,
                grammar=grammar,
                stream=True,
            ):
                if first is None:
                    first = time.perf_counter() - begun
                pieces.append(chunk["choices"][0]["text"])
                if on_text:
                    on_text(pieces[-1])
        except (RuntimeError, ValueError) as error:
            raise GenerationError(
                f"llama.cpp stopped ({error})", remedy="Ask again, or choose another model"
            ) from error
        seconds = time.perf_counter() - begun
        text = "".join(pieces)
        written = len(self._llama.tokenize(text.encode(), add_bos=False))
        return Generation(text, len(tokens), written, seconds if first is None else first, seconds)

    def _tokens(self, prompt: Prompt) -> list[int]:
        """The prompt in the model's chat template.

        Only the template's own marks become control tokens: a document that contains "<|im_end|>"
        cannot end the user's turn.
        """
        texts = {_SYSTEM: prompt.system, _USER: prompt.user}
        tokens: list[int] = []
        for piece in self._pieces:
            text = texts.get(piece, piece).encode("utf-8", "replace")
            ours = piece not in texts
            tokens += self._llama.tokenize(text, add_bos=ours and not tokens, special=ours)
        return tokens


def _library() -> Any:
    """llama_cpp, which knows Android only under the name of Linux."""
    platform = sys.platform
    try:
        if platform == "android":
            sys.platform = "linux"
        import llama_cpp
    except ImportError as error:
        raise MissingExtra("llama-cpp-python", extra="llm", stage="thinking") from error
    finally:
        sys.platform = platform
    return llama_cpp


def _pieces(metadata: Mapping[str, str]) -> list[str] | None:
    """The file's chat template, filled with marks and split at them; None when it cannot be used.

    A file without a template gets the plain ChatML one. A template that knows no system role gets
    both texts in the user's turn.
    """
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    apart = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]
    together = [{"role": "user", "content": f"{_SYSTEM}\n\n{_USER}"}]
    for messages in (apart, together):
        try:
            template = environment.from_string(metadata.get("tokenizer.chat_template", _PLAIN_CHAT))
            rendered = template.render(
                messages=messages,
                add_generation_prompt=True,
                enable_thinking=False,  # reasoning models would spend the whole budget on it
                bos_token="",
                eos_token="",
            )
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
            continue  # a template is a program of somebody else
        pieces = re.split(f"({_SYSTEM}|{_USER})", rendered)
        if pieces.count(_SYSTEM) == pieces.count(_USER) == 1:
            return pieces
    return None


def _free_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
