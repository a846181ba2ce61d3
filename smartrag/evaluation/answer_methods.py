"""The ways to answer that are compared: the product, naive retrieval, and the model alone.

Every method has the same store, model file, window and greedy decoding; none sees a gold answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from smartrag.evaluation.datasets import Item, Pool
from smartrag.evaluation.retrieval import bm25, dense
from smartrag.system import SmartRAG
from smartrag.thinking import Prompt, plan_by_rules
from smartrag.types import ChannelScores, Citation, Evidence, ModelCall, Passage, Signals

EvidenceSource = Literal["smartrag", "dense", "gold"]
_NAIVE_PASSAGES = 8
_NAIVE_TOKENS = 48
_NAIVE = (
    "Answer the question briefly, with a short phrase from the numbered passages. "
    'If they do not hold the answer, reply "unknown".'
)
_ALONE = 'Answer the question briefly, with a short phrase. If you do not know, reply "unknown".'
_NO_ANSWERS = frozenset({"unknown", "not found", ""})


@dataclass(frozen=True, slots=True)
class Reply:
    """What a method said: `text` is the short answer, empty when it abstained."""

    text: str
    raw: str
    calls: tuple[ModelCall, ...]
    seconds: float
    first_token_s: float
    citations: tuple[Citation, ...] | None = None


Method = Callable[[SmartRAG, Pool, Item, EvidenceSource], Reply]
"""Answers one question; the source of evidence is the product's only."""


def smartrag(memory: SmartRAG, pool: Pool, item: Item, source: EvidenceSource) -> Reply:
    """The product as it answers, from its own evidence or from what `source` says."""
    begun = time.perf_counter()
    if source == "smartrag":
        answer = memory.ask(item.question)
    else:
        found = sorted(item.gold) if source == "gold" else dense(memory, item.question)
        answer = memory.answer(_evidence(memory, item.question, found))
    seconds = time.perf_counter() - begun
    after_first_token = sum(c.seconds - c.first_token_s for c in answer.calls if c.role == "answer")
    text = "" if answer.status == "not_found" else answer.text
    first = seconds - after_first_token
    return Reply(text, answer.text, answer.calls, seconds, first, answer.citations)


def naive_dense(memory: SmartRAG, pool: Pool, item: Item, source: EvidenceSource) -> Reply:
    """The eight passages nearest by cosine, whole, in rank order."""
    return _naive(memory, pool, item.question, lambda: dense(memory, item.question))


def naive_bm25(memory: SmartRAG, pool: Pool, item: Item, source: EvidenceSource) -> Reply:
    """The eight best passages of full-text search, whole, in rank order."""
    return _naive(memory, pool, item.question, lambda: bm25(memory, item.question))


def llm_only(memory: SmartRAG, pool: Pool, item: Item, source: EvidenceSource) -> Reply:
    """The model alone."""
    return _generated(memory, Prompt(_ALONE, f"Question: {item.question}"), time.perf_counter())


METHODS: Mapping[str, Method] = {
    "llm_only": llm_only,
    "naive_bm25": naive_bm25,
    "naive_dense": naive_dense,
    "smartrag": smartrag,
}


def _evidence(memory: SmartRAG, question: str, found: Sequence[int]) -> Evidence:
    """Whole passages as evidence, taken as sufficient."""
    view = memory.store.view(memory.lens)
    rows = [row for place in found for row in view.rows_of(str(place))]
    passages = tuple(
        Passage(
            paragraph_id=p.id,
            document=p.document,
            label=p.label,
            heading=p.heading,
            page=p.page,
            start=p.start,
            end=p.end,
            text=p.text,
            sentences=view.sentence_spans(row),
            kept=tuple(range(len(view.sentence_spans(row)))),
            stage="dense",
            score=0.0,
            channels=ChannelScores(),
        )
        for row, p in view.fetch(rows).items()
    )
    plan = plan_by_rules(memory.perception.ask(question))
    given = Signals(cosine=1.0, sentence=1.0, coverage=1.0, named=1.0)
    return Evidence(question, plan, passages, (), given, confidence=1.0, sufficient=True)


def _naive(memory: SmartRAG, pool: Pool, question: str, retrieve: Callable[[], list[int]]) -> Reply:
    begun = time.perf_counter()
    found = retrieve()[:_NAIVE_PASSAGES]
    while True:
        passages = "\n\n".join(
            f"[{n}] {pool.passages[p].title}: {pool.passages[p].text}"
            for n, p in enumerate(found, start=1)
        )
        prompt = Prompt(_NAIVE, f"Passages:\n{passages}\n\nQuestion: {question}")
        fits = memory.model.count_tokens(prompt) + _NAIVE_TOKENS <= memory.model.context_tokens
        if fits or len(found) <= 1:
            return _generated(memory, prompt, begun)
        found = found[:-1]


def _generated(memory: SmartRAG, prompt: Prompt, begun: float) -> Reply:
    before = time.perf_counter() - begun
    made = memory.model.generate(prompt, schema=None, most_tokens=_NAIVE_TOKENS)
    call = ModelCall("answer", made.tokens_in, made.tokens_out, made.first_token_s, made.seconds)
    short = _short(made.text)
    text = "" if short.lower().rstrip(".") in _NO_ANSWERS else short
    seconds = time.perf_counter() - begun
    return Reply(text, made.text, (call,), seconds, before + made.first_token_s)


def _short(text: str) -> str:
    """The answer in a free reply: what follows a last "answer:", else its first line."""
    said = re.split("answer:", text, flags=re.IGNORECASE)[-1]
    return next((line.strip() for line in said.splitlines() if line.strip()), "")
