"""`smartrag eval retrieval`: does the gold come up when a whole pool is searched?

Protocol of the HippoRAG family: all passages of a file share one store, every question is asked
over all of them, and gold is what the data set marks as supporting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from smartrag.errors import DataError
from smartrag.evaluation.datasets import Item, Pool
from smartrag.evaluation.metrics import (
    all_at,
    bootstrap_interval,
    paired_bootstrap,
    percentile,
    recall_at,
    reciprocal_rank,
)
from smartrag.evaluation.pools import PooledMemory, places
from smartrag.evaluation.results import Row
from smartrag.focus import gather
from smartrag.focus.channels import Relevance, quantized, relevance, unit_range
from smartrag.memory import StoreView
from smartrag.system import SmartRAG
from smartrag.text import content_words
from smartrag.thinking import plan_by_rules
from smartrag.types import FloatArray

_TOP = 8
Ranker = Callable[[SmartRAG, str], list[int]]
"""Ranks pool places for a question, best first; up to eight."""


@dataclass(frozen=True, slots=True)
class _Measured:
    items: Sequence[Item]
    rankings: Sequence[list[int]]
    seconds: Sequence[float]

    def each(self, score: Callable[[list[int], frozenset[int]], float]) -> list[float]:
        return [score(r, i.gold) for r, i in zip(self.rankings, self.items, strict=True)]


def evaluate(
    pool: Pool,
    pooled: PooledMemory,
    methods: Sequence[str],
    seed: int,
    on_question: Callable[[str, int, int], None] = lambda method, done, total: None,
) -> list[Row]:
    """One row a method, in the order of `methods`; unanswerable questions are left out.

    Fractions are 0 to 1. Intervals are 95 % bootstrap intervals over questions, and the paired
    differences in recall@5 are against the BM25 and the dense run where those took part.
    """
    items = [item for item in pool.items if item.gold]
    if not items:
        raise DataError(
            "no question has known gold passages",
            subject=pool.name,
            remedy="Give a file whose rows mark supporting paragraphs",
        )
    measured = {
        method: _measure(METHODS[method], pooled.memory, items, method, on_question)
        for method in methods
    }
    return [
        _row(method, measured, pool.left_out, pooled.paragraphs_per_s, seed) for method in methods
    ]


# --- methods --------------------------------------------------------------------------------------
def bm25(memory: SmartRAG, question: str) -> list[int]:
    """Full-text search alone."""
    view = memory.store.view(memory.lens)
    return _best(view, view.lexical(content_words(question)))


def dense(memory: SmartRAG, question: str) -> list[int]:
    """Cosine of paragraph vectors alone."""
    view = memory.store.view(memory.lens)
    return _best(view, _relevance(memory, view, question).cosine)


def fused(memory: SmartRAG, question: str) -> list[int]:
    """Minimum–maximum sum of both."""
    view = memory.store.view(memory.lens)
    scored = _relevance(memory, view, question)
    return _best(view, scored.lexical + unit_range(scored.cosine))


def smartrag(memory: SmartRAG, question: str) -> list[int]:
    """The product as it searches."""
    return places(memory.search(question).passages)


def without_hops(memory: SmartRAG, question: str) -> list[int]:
    """The product with every hop weight at 0: links and guaranteed places stay."""
    asked = memory.perception.ask(question)
    focus = replace(
        memory.settings.focus,
        forward_weight=0.0,
        backward_weight=0.0,
        shared_weight=0.0,
        residual_weight=0.0,
    )
    view = memory.store.view(memory.lens)
    found = gather(asked, plan_by_rules(asked), view, focus, memory.perception.embed)
    return places(found.passages)


METHODS: Mapping[str, Ranker] = {
    "bm25": bm25,
    "dense": dense,
    "fused": fused,
    "smartrag-no_hops": without_hops,
    "smartrag": smartrag,
}


def _relevance(memory: SmartRAG, view: StoreView, question: str) -> Relevance:
    query = quantized(memory.perception.embed(question))
    return relevance(view, question, query, memory.settings.focus)


def _best(view: StoreView, scores: FloatArray) -> list[int]:
    """Pool places of the best rows; more than eight, since one passage may have several rows."""
    order = np.argsort(-scores, kind="stable")[: 4 * _TOP].tolist()
    stored = view.fetch(order)
    return list(dict.fromkeys(int(stored[row].document) for row in order))[:_TOP]


# --- measuring ------------------------------------------------------------------------------------
def _measure(
    ranker: Ranker,
    memory: SmartRAG,
    items: Sequence[Item],
    method: str,
    on_question: Callable[[str, int, int], None],
) -> _Measured:
    ranker(memory, "warm-up")
    rankings, seconds = [], []
    for done, item in enumerate(items, start=1):
        begun = time.perf_counter()
        rankings.append(ranker(memory, item.question))
        seconds.append(time.perf_counter() - begun)
        on_question(method, done, len(items))
    return _Measured(items, rankings, seconds)


def _row(
    method: str,
    measured: Mapping[str, _Measured],
    left_out: int,
    paragraphs_per_s: float | None,
    seed: int,
) -> Row:
    own = measured[method]
    row: dict[str, str | int | float | bool | None] = {
        "method": method,
        "n": len(own.items),
        "left_out": left_out,
    }
    for k in (2, 5, 8):
        row[f"recall@{k}"] = _mean(own.each(partial(recall_at, k=k)))
    for k in (5, 8):
        row[f"all@{k}"] = _mean(own.each(partial(all_at, k=k)))
    row["mrr"] = _mean(own.each(reciprocal_rank))
    recall = own.each(partial(recall_at, k=5))
    complete = own.each(partial(all_at, k=5))
    row["recall@5_low"], row["recall@5_high"] = bootstrap_interval(recall, seed)
    row["all@5_low"], row["all@5_high"] = bootstrap_interval(complete, seed)
    for peer in ("bm25", "dense"):
        if peer in measured and peer != method:
            other = measured[peer].each(partial(recall_at, k=5))
            name = f"recall@5_over_{peer}"
            row[name], row[f"{name}_low"], row[f"{name}_high"] = paired_bootstrap(
                recall, other, seed
            )
    for kind in sorted({item.type for item in own.items if item.type}):
        of_kind = [r for r, item in zip(recall, own.items, strict=True) if item.type == kind]
        row[f"recall@5_{kind}"] = _mean(of_kind)
    row["p50_ms"] = 1000 * percentile(own.seconds, 50)
    row["p95_ms"] = 1000 * percentile(own.seconds, 95)
    row["ingest_paragraphs_per_s"] = paragraphs_per_s
    row["llm_calls"] = 0
    return row


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
