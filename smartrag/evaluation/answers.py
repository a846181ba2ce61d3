"""`smartrag eval answers`: are questions answered, from how many tokens, with what citations?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from smartrag.evaluation.answer_methods import METHODS, EvidenceSource, Reply
from smartrag.evaluation.datasets import Item, Pool
from smartrag.evaluation.metrics import (
    bootstrap_interval,
    citation_scores,
    contains,
    exact_match,
    paired_bootstrap,
    token_f1,
)
from smartrag.evaluation.results import Row
from smartrag.system import SmartRAG
from smartrag.types import Citation


def evaluate(
    pool: Pool,
    memory: SmartRAG,
    methods: Sequence[str],
    source: EvidenceSource,
    seed: int,
    on_question: Callable[[str, int, int], None] = lambda method, done, total: None,
) -> list[Row]:
    """One row a method. F1, EM and containment are over answerable questions, where an abstention
    scores 0; `false_answer` is the share of unanswerable questions that got an answer."""
    replies: dict[str, list[Reply]] = {}
    for method in methods:
        replies[method] = []
        for done, item in enumerate(pool.items, start=1):
            replies[method].append(METHODS[method](memory, pool, item, source))
            on_question(method, done, len(pool.items))
    model = Path(memory.model.name).name
    return [
        {**_row(method, pool, replies, seed), "model": model, "evidence": source}
        for method in methods
    ]


# --- scores ---------------------------------------------------------------------------------------
def _row(method: str, pool: Pool, replies: Mapping[str, Sequence[Reply]], seed: int) -> Row:
    own = list(zip(pool.items, replies[method], strict=True))
    answerable = [(item, reply) for item, reply in own if not item.unanswerable]
    unanswerable = [reply for item, reply in own if item.unanswerable]
    f1 = _f1(pool, replies[method])
    cited = [
        citation_scores(_cited(pool, reply.citations), _gold_sentences(item))
        for item, reply in answerable
        if reply.text and reply.citations is not None and item.sentences
    ]
    row: dict[str, str | int | float | bool | None] = {
        "method": method,
        "n": len(own),
        "left_out": pool.left_out,
        "f1": _mean(f1),
        "em": _mean([exact_match(r.text, i.answers) for i, r in answerable]),
        "contains": _mean([contains(r.raw, i.answers) for i, r in answerable]),
        "f1_raw": _mean([token_f1(r.raw, i.answers) for i, r in answerable]),
        "abstained": _mean([float(not r.text) for _, r in answerable]),
        "false_answer": _mean([float(bool(r.text)) for r in unanswerable]),
        "citation_precision": _mean([precision for precision, _ in cited]),
        "citation_recall": _mean([recall for _, recall in cited]),
        "prompt_tokens": _mean([float(sum(c.tokens_in for c in r.calls)) for _, r in own]),
        "ttft_s": _mean([r.first_token_s for _, r in own]),
        "total_s": _mean([r.seconds for _, r in own]),
        "llm_calls": _mean([float(len(r.calls)) for _, r in own]),
    }
    if f1:
        row["f1_low"], row["f1_high"] = bootstrap_interval(f1, seed)
    if "naive_dense" in replies and method != "naive_dense" and f1:
        name = "f1_over_naive_dense"
        row[name], row[f"{name}_low"], row[f"{name}_high"] = paired_bootstrap(
            f1, _f1(pool, replies["naive_dense"]), seed
        )
    return row


def _f1(pool: Pool, replies: Sequence[Reply]) -> list[float]:
    pairs = zip(pool.items, replies, strict=True)
    return [token_f1(r.text, i.answers) for i, r in pairs if not i.unanswerable]


def _gold_sentences(item: Item) -> set[tuple[int, int]]:
    return {(p, s) for p, split in item.sentences.items() for s in split.supporting}


def _cited(pool: Pool, citations: Sequence[Citation]) -> set[tuple[int, int]]:
    """Citations as (passage, sentence of the data set's own split)."""
    splits = {p: split.sentences for item in pool.items for p, split in item.sentences.items()}
    return {_sentence_at(pool, c, splits.get(int(c.document), ())) for c in citations}


def _sentence_at(pool: Pool, citation: Citation, sentences: Sequence[str]) -> tuple[int, int]:
    """The sentence of the data set that a citation overlaps most; −1 in a passage without split."""
    place = int(citation.document)
    overlaps, first = [], 0
    text = pool.passages[place].text
    for sentence in sentences:
        found = text.find(sentence.strip(), first)
        first = found + len(sentence.strip()) if found >= 0 else first
        start = found if found >= 0 else first
        overlaps.append(min(citation.end, first) - max(citation.start, start))
    return place, max(range(len(overlaps)), key=overlaps.__getitem__) if overlaps else -1


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
